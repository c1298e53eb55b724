"""`run upload` and `compat post_build_upload`: all outputs of a build in its run's place, also when the build failed, when an upload is cut
short, and when jobs end at the same time."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import s3_server, small_artifacts, static_server  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402

FAMILY = small_artifacts.FAMILY
RUN = ("--run-id", "42", "--platform", "linux", "--artifact-group", FAMILY)


@pytest.fixture
def build(archives, tmp_path) -> Path:
    """A build's directory as today's builds leave it."""
    root = tmp_path / "build"
    shutil.copytree(archives, root / "artifacts")
    small_artifacts.write(root / "logs/blas.log", "built blas\n")
    small_artifacts.write(root / "logs/therock-build-prof/comp summary.md", "not a key")
    small_artifacts.write(root / "logs/therock-build-prof/comp-summary.html", "<p>")
    small_artifacts.write(root / "math-libs/blas/.ninja_log", "# ninja log v5\n")
    small_artifacts.write(root / "base/aux-overlay/build/therock_manifest.json", '{"the_rock_commit": "abc"}\n')
    return root


def names(store: Path) -> set[str]:
    return {str(f.relative_to(store / "42-linux")) for f in (store / "42-linux").rglob("*") if f.is_file()}


def upload(build: Path, store: Path, *more: str, **options):
    return good("run", "upload", build, *RUN, "--store", f"file:{store}", "--json", *more, **options)


def test_everything_is_there_and_a_fetch_takes_it(build, archives, tmp_path):
    store = tmp_path / "store"
    done = upload(build, store, "--ninja-logs")
    expected = {file.name for file in archives.iterdir()} | {
        "index.html", f"logs/{FAMILY}/index.html", f"logs/{FAMILY}/blas.log", f"logs/{FAMILY}/ninja_logs.tar.gz", f"logs/{FAMILY}/therock-build-prof/comp-summary.html",
        f"logs/{FAMILY}/therock-build-prof/comp_summary.md", f"logs/{FAMILY}/comp-summary.html",
        f"manifests/{FAMILY}/therock_manifest.json", f"manifests/{FAMILY}/upload.json",
    }  # fmt: skip
    assert names(store) == expected
    assert [finding["code"] for finding in done.json["findings"]] == ["A043"], "a name with a blank is uploaded under another one"
    for name in (file.name for file in archives.iterdir()):
        assert (store / "42-linux" / name).read_bytes() == (archives / name).read_bytes()
    record = json.loads((store / f"42-linux/manifests/{FAMILY}/upload.json").read_text())
    assert record["complete"] and len(record["archives"]) * 2 == len(list(archives.iterdir()))
    packed = gzip.decompress((store / f"42-linux/logs/{FAMILY}/ninja_logs.tar.gz").read_bytes())
    assert tarfile.open(fileobj=io.BytesIO(packed)).getnames() == ["math-libs/blas/.ninja_log"]
    page = (store / f"42-linux/logs/{FAMILY}/index.html").read_text()
    assert {"blas.log", "ninja_logs.tar.gz", "therock-build-prof/comp-summary.html"} <= set(re.findall(r'href="([^"]*)"', page))
    good("artifact", "fetch", "--from", "run:42", "--store", f"file:{store}", "--output-dir", tmp_path / "out")
    with static_server.serve(store) as (url, _):
        good("artifact", "fetch", "--from", f"{url}/42-linux", "--output-dir", tmp_path / "web")
    assert upload(build, store, "--ninja-logs").json["writes"] == 0


def test_tarballs_and_manifests_of_frameworks_go_along(build, tmp_path):
    store, tarball = tmp_path / "store", "therock-dist-linux-multiarch-7.2.0.tar.gz"
    small_artifacts.write(build / "tarballs" / tarball, "an SDK")
    small_artifacts.write(build / "manifests/therock-manifest_torch_py3.12_release-2.10.json", '{"pytorch": {"commit": "abc"}}\n')
    upload(build, store)
    assert (store / "42-linux/tarballs" / tarball).read_text() == "an SDK"
    (manifest,) = [name for name in names(store) if name.endswith("_release-2.10.json")]
    assert manifest.startswith("manifests/") and json.loads((store / "42-linux" / manifest).read_text())["pytorch"]["commit"] == "abc"
    assert tarball in (store / "42-linux/index.html").read_text(), "the page of the run lists it"
    (build / "tarballs" / tarball).write_text("another SDK")
    refused("R009", 7, "run", "upload", build, *RUN, "--store", f"file:{store}")


def test_logs_are_replaced_and_archives_are_not(build, tmp_path):
    store = tmp_path / "store"
    upload(build, store)
    (build / "logs/blas.log").write_text("built twice\n")
    done = upload(build, store)
    assert done.json["writes"] == 2 and (store / f"42-linux/logs/{FAMILY}/blas.log").read_text() == "built twice\n", "the log and its page, which shows sizes"
    small_artifacts.write(tmp_path / f"other/blas_lib_{FAMILY}/x/stage/lib", "other bytes")
    (tmp_path / f"other/blas_lib_{FAMILY}/artifact_manifest.txt").write_text("x/stage\n")
    good("artifact", "pack", tmp_path / "other", "--output-dir", build / "artifacts")
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    for more in ((), ("--ninja-logs",)):
        told = refused("R009", 7, "run", "upload", build, *RUN, "--store", f"file:{store}", *more).err
        assert f"run 42-linux has blas_lib_{FAMILY}.tar.zst already, with other bytes" in told and "there  sha256" in told and "--run-id" in told
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before, "the run is complete, as it was"
    good("artifact", "fetch", "--from", "run:42", "--store", f"file:{store}", "--output-dir", tmp_path / "out")
    assert upload(build, store, "--no-artifacts").json["writes"] == 0, "what may be replaced is there already"


def test_a_failed_build(build, tmp_path):
    store = tmp_path / "store"
    (build / f"artifacts/blas_lib_{FAMILY}.tar.zst.sha256sum").unlink()
    damaged = build / "artifacts/base_run_generic.tar.zst"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    (build / "base/aux-overlay/build/therock_manifest.json").unlink()
    done = upload(build, store, "--build-failed")
    assert sorted(finding["code"] for finding in done.json["findings"]) == ["A042", "A043", "A043", "A043"]
    stored = names(store)
    assert f"logs/{FAMILY}/blas.log" in stored and "core-hip_lib_generic.tar.zst" in stored
    assert not [name for name in stored if name.startswith(("blas_lib", "base_run"))]
    fetch = ("artifact", "fetch", "--from", "run:42", "--store", f"file:{store}", "--output-dir", tmp_path / "out")
    assert "failed" in refused("A035", 3, *fetch).err
    good(*fetch, "--allow-partial")
    # the build is repeated, and this time it is whole
    good("artifact", "pack", "--output-dir", build / "artifacts", small_artifacts.make(tmp_path / "again"))
    upload(build, store)
    good(*fetch)


def test_a_failed_build_without_its_packages(build, tmp_path):
    """The logs are what a failed build is uploaded for: packages that it did not come to keep nothing back."""
    (tmp_path / "wheels").mkdir()
    words = ("run", "upload", build, *RUN, "--store", f"file:{tmp_path / 'store'}", "--packages", tmp_path / "wheels")
    assert "nothing was uploaded" in refused("P001", 3, *words).err
    assert not (tmp_path / "store").exists() or not names(tmp_path / "store")
    done = upload(build, tmp_path / "store", "--build-failed", "--packages", tmp_path / "wheels")
    assert "P001" in [finding["code"] for finding in done.json["findings"]] and done.json["packages"] is None
    assert f"logs/{FAMILY}/blas.log" in names(tmp_path / "store")


def test_a_failed_build_that_left_nothing(tmp_path):
    (tmp_path / "build").mkdir()
    done = upload(tmp_path / "build", tmp_path / "store", "--build-failed")
    assert [finding["code"] for finding in done.json["findings"]] == ["A042"] * 3
    refused("A040", 3, "run", "upload", tmp_path / "build", *RUN, "--store", f"file:{tmp_path / 'store'}")
    refused("D001", 3, "run", "upload", tmp_path / "nowhere", *RUN, "--store", f"file:{tmp_path / 'store'}")


def test_a_wrong_checksum_is_an_error(build, tmp_path):
    (build / f"artifacts/blas_lib_{FAMILY}.tar.zst.sha256sum").write_text("0" * 64 + "\n")
    refused("A012", 6, "run", "upload", build, *RUN, "--store", f"file:{tmp_path / 'store'}")
    assert not (tmp_path / f"store/42-linux/blas_lib_{FAMILY}.tar.zst").exists()
    fetch = ("artifact", "fetch", "--from", "run:42", "--store", f"file:{tmp_path / 'store'}", "--output-dir", tmp_path / "out")
    assert "has not ended" in refused("A035", 3, *fetch).err


def test_an_archive_without_checksum_gets_one(build, tmp_path):
    sidecar = build / f"artifacts/blas_lib_{FAMILY}.tar.zst.sha256sum"
    expected = sidecar.read_text()
    sidecar.unlink()
    upload(build, tmp_path / "store")
    assert (tmp_path / "store/42-linux" / sidecar.name).read_text() == expected


def test_packages_and_the_job_hear_of_it(build, packages, tmp_path):
    variables = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    (tmp_path / "GITHUB_OUTPUT").write_text("left=open")
    done = upload(build, tmp_path / "store", "--packages", packages, environment=clean_environment(**variables))
    outputs = dict(line.split("=", 1) for line in (tmp_path / "GITHUB_OUTPUT").read_text().splitlines())
    assert set(outputs) == {"left", "build_logs_url", "artifacts_url", "manifest_url", "package_find_links_url", "package_index_url", "package_set"}
    assert outputs["build_logs_url"] == f"file://{tmp_path}/store/42-linux/logs/{FAMILY}/index.html" == done.json["build_logs_url"]
    assert outputs["package_set"] == done.json["packages"]["set"]
    summary = (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert all(f"[{name}](file://" in summary for name in ("Build Logs", "Artifacts", "TheRock Manifest"))
    good("set", "verify", "run:42", "--store", f"file:{tmp_path / 'store'}")


def test_a_dry_run_writes_nothing(build, tmp_path):
    done = upload(build, tmp_path / "store", "--dry-run")
    assert done.json["dry_run"] and f"42-linux/logs/{FAMILY}/blas.log" in {file["key"] for file in done.json["files"]}
    assert not (tmp_path / "store").exists() or not any((tmp_path / "store").iterdir())


def test_jobs_that_end_together_lose_nothing(archives, tmp_path):
    """Six jobs of one run and group, each with an archive and a log of its own."""
    files = sorted(archives.glob("*.tar.zst"))
    for number, file in enumerate(files):
        for name in (file.name, file.name + ".sha256sum"):
            small_artifacts.write(tmp_path / f"{number}/logs/{number}.log", str(number))
            (tmp_path / f"{number}/artifacts").mkdir(exist_ok=True)
            shutil.copy(archives / name, tmp_path / f"{number}/artifacts" / name)
    store = tmp_path / "store"
    with ThreadPoolExecutor(len(files)) as pool:
        list(pool.map(lambda number: upload(tmp_path / str(number), store), range(len(files))))
    record = json.loads((store / f"42-linux/manifests/{FAMILY}/upload.json").read_text())
    assert record["complete"] and [entry["file"] for entry in record["archives"]] == [file.name for file in files]
    logs = re.findall(r'href="(\d\.log)"', (store / f"42-linux/logs/{FAMILY}/index.html").read_text())
    assert logs == [f"{number}.log" for number in range(len(files))]
    good("artifact", "fetch", "--from", "run:42", "--store", f"file:{store}", "--output-dir", tmp_path / "out")


@pytest.fixture
def bucket():
    with s3_server.serve() as server:
        server.variables = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        server.client = s3_server.Client(server.endpoint, server.access, server.secret)
        yield server


def test_in_a_bucket_with_types_and_idempotent(bucket, build, tmp_path):
    words = ("run", "upload", build, *RUN, "--store", f"s3://{bucket.bucket}/ci", "--json")
    first = good(*words, environment=bucket.variables).json
    assert good(*words, environment=bucket.variables).json["writes"] == 0
    types = {}
    for file in [*(f["key"] for f in first["files"]), "42-linux/index.html", f"42-linux/logs/{FAMILY}/index.html"]:
        with s3_server.DIRECT.open(f"{bucket.endpoint}/public/{bucket.bucket}/ci/{file}") as answer:
            types[Path(file).suffix] = (answer.headers["Content-Type"], "immutable" in answer.headers["Cache-Control"])
    assert types == {".zst": ("application/zstd", True), ".log": ("text/plain; charset=utf-8", False), ".html": ("text/html; charset=utf-8", False), ".json": ("application/json", False), ".md": ("text/markdown; charset=utf-8", False)}
    good("artifact", "fetch", "--from", f"s3://{bucket.bucket}/ci/42-linux", "--output-dir", tmp_path / "out", environment=bucket.variables)


def test_links_are_where_readers_find_them(bucket, build, packages, tmp_path):
    locator, environment = f"s3://{bucket.bucket}/ci", bucket.variables
    public = "https://cdn.example/x"
    for words, more in ((("--public-url", public), {}), ((), {"QUARRY_PUBLIC_URL": f"{locator}={public}"})):
        outputs, summary = tmp_path / "outputs", tmp_path / "summary"
        told = {**environment, **more, "GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(summary)}
        done = good("run", "upload", build, *RUN, "--store", locator, "--packages", packages, *words, "--json", environment=told).json
        links = [done[name] for name in ("build_logs_url", "artifacts_url", "manifest_url")] + [done["packages"]["index_url"]]
        assert all(link.startswith(f"{public}/42-linux/") for link in links), links
        assert environment["AWS_ENDPOINT_URL"] not in outputs.read_text() + summary.read_text()
        outputs.unlink(), summary.unlink()


@pytest.mark.parametrize("skip", range(0, 14, 3))
def test_cut_short_anywhere_it_is_never_taken_for_complete(bucket, build, tmp_path, skip):
    words = ("run", "upload", build, *RUN, "--store", f"s3://{bucket.bucket}/ci")
    bucket.control("POST", {"faults": [{"method": "PUT", "key": "ci/42-linux/*", "action": "status:403:AccessDenied", "skip": skip, "times": 1000}]})
    done = quarry(*words, environment=bucket.variables)
    assert done.code != 0
    bucket.control("DELETE")
    fetched = quarry("artifact", "fetch", "--from", f"s3://{bucket.bucket}/ci/42-linux", "--output-dir", tmp_path / "early", environment=bucket.variables)
    assert fetched.code == 3 or (fetched.code == 0 and len(list((tmp_path / "early").iterdir())) == 7), fetched.err
    good(*words, environment=bucket.variables)
    good("artifact", "fetch", "--from", f"s3://{bucket.bucket}/ci/42-linux", "--output-dir", tmp_path / "out", environment=bucket.variables)


# ---- as today's script


def compat(build: Path, store: Path, *more: str, environment=None):
    return quarry("compat", "post_build_upload", "--build-dir", build, "--artifact-group", FAMILY, "--store", f"file:{store}", *more, environment=environment)


@pytest.mark.parametrize(("era", "page"), [("feb", f"index-{FAMILY}.html"), ("aug", "index.html")])
def test_post_build_upload(build, tmp_path, era, page):
    store = tmp_path / "store"
    summary = tmp_path / "summary"
    environment = clean_environment(CI="true", GITHUB_STEP_SUMMARY=str(summary))
    done = compat(build, store, "--run-id", "42", "--job-status=success", "--era", era, environment=environment)
    assert done.code == 0, done.err
    assert {page, f"logs/{FAMILY}/index.html", f"logs/{FAMILY}/ninja_logs.tar.gz", f"manifests/{FAMILY}/therock_manifest.json"} <= names(store)
    assert f"[Artifacts](file://{store}/42-linux/{page})" in summary.read_text()
    assert not (build / "logs/index.html").exists(), "the build's directory is left as it is"


def test_archives_beside_the_directories_that_they_were_made_from(build, archives, tmp_path):
    """TheRock's cmake leaves both below `artifacts/`: the archives go up. Two archives of one artifact are an error."""
    made = small_artifacts.make(tmp_path / "made")
    for directory in made.iterdir():
        shutil.copytree(directory, build / "artifacts" / directory.name, symlinks=True)
    store = tmp_path / "store"
    done = compat(build, store, "--run-id", "42", "--upload", "--era", "feb")
    assert done.code == 0, done.err
    assert {name for name in names(store) if "/" not in name and ".tar." in name} == {file.name for file in archives.iterdir()}
    good("artifact", "fetch", "--from", "run:42", "--store", f"file:{store}", "--output-dir", tmp_path / "out")
    twin = build / f"artifacts/blas_lib_{FAMILY}.tar.xz"
    shutil.copy(build / f"artifacts/blas_lib_{FAMILY}.tar.zst", twin)
    assert f"blas_lib_{FAMILY}.tar.xz and blas_lib_{FAMILY}.tar.zst are the same artifact" in refused("A006", 6, "run", "upload", build, *RUN, "--store", f"file:{tmp_path / 'other'}").err
    assert not (tmp_path / "other").exists() or not names(tmp_path / "other")


def test_post_build_upload_into_a_directory(build, tmp_path):
    """August's way to try it without a bucket."""
    words = ("compat", "post_build_upload", "--build-dir", build, "--artifact-group", FAMILY, "--run-id", "42", "--upload", "--output-dir", tmp_path / "out")
    done = quarry(*words, "--dry-run")
    assert done.code == 0 and "would upload" in done.out and not (tmp_path / "out").exists(), done.err
    done = quarry(*words)
    assert done.code == 0, done.err
    assert (tmp_path / "out/42-linux/logs" / FAMILY / "blas.log").exists()
    for flag in ("--dry-run", "--output-dir=out"):
        assert "[C040]" in quarry(*words[:9], "--era", "feb", flag).err


def test_post_build_upload_after_a_failure(build, tmp_path):
    store = tmp_path / "store"
    shutil.rmtree(build / "base")
    done = compat(build, store, "--run-id", "42", "--upload", "--job-status", "failure")
    assert done.code == 0, done.err
    assert f"logs/{FAMILY}/blas.log" in names(store) and not [name for name in names(store) if ".tar.zst" in name]


def test_post_build_upload_says_what_it_needs(build, tmp_path):
    store = tmp_path / "store"
    done = compat(build, store, "--upload")
    assert done.code == 2 and "[C042]" in done.err
    done = compat(build, store, environment=clean_environment(CI=""))
    assert done.code == 0 and not store.exists(), "without CI nothing is uploaded"
    done = compat(build, store, "--upload", "--no-upload", "--run-id", "42")
    assert done.code == 2
