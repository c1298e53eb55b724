"""`quarry compat publish_…_to_release_bucket(s)` and `update_dependencies`: what a run made, in the buckets that people install from."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import distributions, s3_server, small_artifacts, static_server  # noqa: E402
from support.clients import client  # noqa: E402
from support.foreign_index import Index  # noqa: E402
from support.quarry import ROOT, clean_environment, good, quarry, refused  # noqa: E402

ROCM, TORCH, JAX = "publish_rocm_to_release_buckets", "publish_pytorch_to_release_bucket", "publish_jax_to_release_bucket"
NATIVE = {"deb": ["pool/main/rocm_7.1.0_amd64.deb", "dists/stable/Release"], "rpm": ["rocm-7.1.0.rpm", "repodata/repomd.xml"]}


def compat(script: str, *words: str | Path, **options):
    return good("compat", script, *words, **options)


def refuses(code: str, exit_code: int, script: str, *words: str | Path, **options):
    return refused(code, exit_code, "compat", script, *words, **options)


def job(place: Path, **variables: str) -> dict[str, str]:
    (place / "output").write_text("")
    return clean_environment(GITHUB_OUTPUT=str(place / "output"), GITHUB_RUN_ID="42", **variables)


def output(place: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in (place / "output").read_text().splitlines())


def wheels(place: Path, *names: str) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    for name in names:
        distributions.wheel(place, name, "1.0+rocm7.1.0")
    return place


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A store with run 42: packages of the SDK, wheels of PyTorch beside them, tarballs, native packages."""
    store = tmp_path / "artifacts"
    upload = ["upload_python_packages", "--run-id", "42", "--multiarch", "--output-dir", store, "--input-packages-dir"]
    compat(*upload, wheels(tmp_path / "sdk", "rocm-sdk-core", "rocm-sdk-device-gfx942"))
    compat(*upload, wheels(tmp_path / "fat", "torch", "amd-torch-device-gfx942"))
    small_artifacts.write(store / "42-linux/tarballs/therock-dist-linux-multiarch-7.1.0.tar.gz", "a tarball")
    small_artifacts.write(store / "42-linux/tarballs/index.html", "a page is no tarball")
    for kind, names in NATIVE.items():
        for name in names:
            small_artifacts.write(store / "42-linux/packages" / kind / name, name)
    return store


def words(store: Path, to: Path, *more: str) -> list:
    return ["--run-id", "42", "--platform=linux", "--release-type", "nightly", "--store", f"file:{store}", "--to-store", f"file:{to}", *more]


def files(place: Path) -> set[str]:
    """What a reader of packages, tarballs and native packages finds; not our records and pages."""
    found = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    return {name for name in found if name.endswith((".whl", ".tar.gz", ".deb", ".rpm", "Release", "repomd.xml"))}


def today() -> str:
    return datetime.now(timezone.utc).strftime("%Y%m%d")


TARBALL = "v5/rocm/core/tarball/therock-dist-linux-multiarch-7.1.0.tar.gz"


def native(prefix: str) -> set[str]:
    return {f"{prefix.format(kind=kind)}/{name}" for kind, names in NATIVE.items() for name in names}


def test_a_structured_release(run: Path, tmp_path: Path):
    to = tmp_path / "releases"
    before = today()
    planned = compat(ROCM, *words(run, to, "--kpack-split", "true", "--structured", "--dry-run", "--json")).json
    assert planned["dry_run"] and planned["writes"] == 0 and not files(to)
    done = compat(ROCM, *words(run, to, "--kpack-split=TRUE", "--structured"))
    assert "another product (pytorch)" in done.err
    core = {f"v5/rocm/core/whl-next/{name}/{name.replace('-', '_')}-1.0+rocm7.1.0-py3-none-any.whl" for name in ("rocm-sdk-core", "rocm-sdk-device-gfx942")}
    days = {path.name for path in (to / "v5/rocm/core/packages/deb").iterdir() if path.is_dir()}
    assert days <= {f"{before}-42", f"{today()}-42"} and len(days) == 1, "the day of the upload, also around midnight"
    assert files(to) == core | {TARBALL} | native(f"v5/rocm/core/packages/{{kind}}/{days.pop()}")
    assert compat(ROCM, *words(run, to, "--kpack-split", "true", "--structured", "--json")).json["writes"] == 0, "again, nothing is copied"
    with static_server.serve(to) as (url, _):
        where = ["--no-deps", "--index-url", f"{url}/v5/rocm/core/whl-next/", "--target", tmp_path / "installed"]
        ended = client("pip-newest").run("install", *where, "rocm-sdk-core")
    assert ended.returncode == 0 and (tmp_path / "installed/rocm_sdk_core.py").exists(), ended.stderr
    moves = good("channel", "log", f"file:{to}/v5/rocm/core/whl-next", "--json").json["moves"]
    assert [move["action"] for move in moves] == ["promote"]


def test_a_tarball_that_is_not_what_its_checksum_file_says_is_not_published(run: Path, tmp_path: Path):
    tarball = run / "42-linux/tarballs/therock-dist-linux-multiarch-7.1.0.tar.gz"
    checksum = tarball.with_name(tarball.name + ".sha256sum")
    checksum.write_text(f"{hashlib.sha256(tarball.read_bytes()).hexdigest()}  {tarball.name}\n")
    to = tmp_path / "releases"
    asked = words(run, to, "--kpack-split", "true", "--structured")
    tarball.chmod(0o644)
    whole = tarball.read_bytes()
    tarball.write_bytes(whole[:-1])
    told = refuses("A012", 6, ROCM, *asked).err
    assert "tarballs/therock-dist-linux-multiarch-7.1.0.tar.gz does not match its checksum" in told and not files(to)
    tarball.write_bytes(whole)
    compat(ROCM, *asked)
    assert TARBALL in files(to)


def test_frameworks_in_directories_of_their_own_stay(run: Path, tmp_path: Path):
    """As the script, which copies `python/` alone."""
    to = tmp_path / "releases"
    good("publish", wheels(tmp_path / "february", "jax"), "--store", f"file:{run}", "--run-id", "42", "--platform", "linux", "--area", "pytorch", "--artifact-group", "gfx94X-dcgpu")
    done = compat(ROCM, *words(run, to, "--skip-native-packages", "--kpack-split", "true"))
    assert "lies in 42-linux/pytorch/gfx94X-dcgpu, not in 42-linux/python" in done.err
    found = {Path(name).name for name in files(to)}
    assert "torch-1.0+rocm7.1.0-py3-none-any.whl" in found and "jax-1.0+rocm7.1.0-py3-none-any.whl" not in found
    shutil.rmtree(run / "42-linux/python")
    refuses("R013", 3, ROCM, *words(run, tmp_path / "other", "--skip-native-packages", "--kpack-split", "true"))
    assert not files(tmp_path / "other")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--kpack-split", "true"], {"v4/whl"}),
        (["--kpack-split", "true", "--python-index", "whl", "--structured"], {"v5/rocm/core/whl"}),
        (["--build-variant", "asan"], set()),
    ],
)
def test_where_packages_go(more: list, expected: set, run: Path, tmp_path: Path):
    to = tmp_path / "releases"
    compat(ROCM, *words(run, to, "--skip-native-packages", *more))
    found = files(to)
    assert {name.split("/")[0] + "/" + "/".join(name.split("/")[1:-1]) for name in found if name.endswith(".whl") and "v4" in name} == {name for name in expected if "v4" in name}
    assert {name.rsplit("/", 2)[0] for name in found if "v5" in name and name.endswith(".whl")} == {name for name in expected if "v5" in name}
    tarball = TARBALL.replace("/tarball/", "/tarball-asan/") if "asan" in more else TARBALL
    assert tarball in found and not [name for name in found if name.endswith((".deb", ".rpm"))]


def test_families_go_to_two_repositories(tmp_path: Path):
    store, to = tmp_path / "artifacts", tmp_path / "releases"
    upload = ["upload_python_packages", "--run-id", "42", "--artifact-group", "gfx1151", "--output-dir", store]
    compat(*upload, "--input-packages-dir", wheels(tmp_path / "sdk", "rocm-sdk-core"))
    small_artifacts.write(store / "42-linux/tarballs/t.tar.gz", "a tarball")
    compat(ROCM, *words(store, to, "--skip-native-packages", "--kpack-split", "false"))
    assert {name for name in files(to) if name.endswith(".whl")} == {f"v3/{name}/gfx1151/rocm_sdk_core-1.0+rocm7.1.0-py3-none-any.whl" for name in ("whl", "whl-staging")}


def test_prereleases_share_one_native_repository(run: Path, tmp_path: Path):
    """The second run's repodata does not name the first one's packages: refused before anything is copied, where the script overwrites it."""
    to = tmp_path / "releases"
    release = [*words(run, to, "--kpack-split", "true", "--structured"), "--release-type", "prerelease"]
    release = [word for word in release if word != "nightly"]
    release.pop(release.index("--release-type"))
    compat(ROCM, *release)
    assert native("v5/rocm/core/packages/{kind}") <= files(to)
    small_artifacts.write(run / "42-linux/packages/rpm/repodata/repomd.xml", "of another run")
    small_artifacts.write(run / "42-linux/tarballs/second.tar.gz", "a second tarball")
    assert "repodata/repomd.xml" in refuses("R009", 7, ROCM, *release).err
    assert "v5/rocm/core/tarball/second.tar.gz" not in files(to)


@pytest.mark.parametrize(
    ("code", "exit_code", "lost", "more"),
    [
        ("C048", 3, "tarballs", []),
        ("C048", 3, "packages/deb", []),
        ("R013", 3, "python", []),
        ("C042", 2, "", ["--structured"]),
        ("C006", 2, "", ["--build-variant", "tsan"]),
        ("C006", 2, "", ["--python-index", "whl-old"]),
        ("C006", 2, "", ["--kpack-split", "maybe"]),
        ("C006", 2, "", ["--kpack-split", ""]),
        ("C002", 2, "", ["--product", "core"]),
    ],
)
def test_a_run_without_its_parts_is_not_published_in_part(code: str, exit_code: int, lost: str, more: list, run: Path, tmp_path: Path):
    to = tmp_path / "releases"
    if lost:
        os.rename(run / "42-linux" / lost, tmp_path / "lost")
    plain = bool({"--structured", "--kpack-split"} & set(more))
    told = refuses(code, exit_code, ROCM, *words(run, to, *([] if plain else ["--kpack-split", "true"]), *more)).err
    assert not to.exists() or not files(to)
    if code == "C048":
        assert "42-linux has  " in told and "packages/ (" in told and "python/ (" in told, told
    if code == "C006":
        assert "must be one of" in told and more[-1] in told, told


def test_a_run_that_does_not_exist_is_not_published(run: Path, tmp_path: Path):
    asked = ["43" if word == "42" else word for word in words(run, tmp_path / "to", "--kpack-split", "true")]
    told = refuses("C048", 3, ROCM, *asked).err
    assert "43-linux has  nothing" in told and "--run-id" in told


@pytest.mark.parametrize(
    ("script", "product", "projects"),
    [(TORCH, "pytorch", ["torch", "torchvision", "amd-torch-device-gfx942"]), (JAX, "jax", ["jax-rocm7-plugin", "jax-rocm7-pjrt", "jaxlib"])],
)
def test_wheels_of_a_framework(script: str, product: str, projects: list, tmp_path: Path):
    to, dist = tmp_path / "releases", wheels(tmp_path / "dist", *projects)
    given = ["--source-dir", dist, "--release-type", "nightly", "--to-store", f"file:{to}"]
    before = {path: path.stat().st_mtime_ns for path in dist.iterdir()}
    compat(script, *given, "--structured", "--dry-run", environment=job(tmp_path))
    assert not files(to) and output(tmp_path)["package_index_url"] == f"file://{to}/v5/rocm/{product}/whl-next/"
    compat(script, *given, "--structured", environment=job(tmp_path))
    assert files(to) == {f"v5/rocm/{product}/whl-next/{name}/{name.replace('-', '_')}-1.0+rocm7.1.0-py3-none-any.whl" for name in projects}
    compat(script, *given, "--structured", "--python-index", "whl", environment=job(tmp_path))
    assert output(tmp_path)["package_index_url"] == f"file://{to}/v5/rocm/{product}/whl/"
    compat(script, *given, environment=job(tmp_path))
    assert {name for name in files(to) if name.startswith("v4/whl/")} == {f"v4/whl/{name.replace('-', '_')}-1.0+rocm7.1.0-py3-none-any.whl" for name in projects}
    assert {path: path.stat().st_mtime_ns for path in dist.iterdir()} == before, "nothing is written beside the wheels"
    compat(script, *given, environment=job(tmp_path))
    assert len(good("channel", "log", f"file:{to}/v4/whl", "--json").json["moves"]) == 1, "the same wheels are the same set"


@pytest.mark.parametrize(
    ("release_type", "more", "bucket", "url"),
    [
        ("nightly", ["--structured"], "therock-repo-amd-nightly-pytorch", "https://nightly.repo.amd.com/rocm/whl-next/"),
        ("prerelease", ["--structured"], "therock-repo-amd-rc-pytorch", "https://rc.repo.amd.com/rocm/whl-next/"),
        ("dev-bkc", ["--structured"], "therock-repo-amd-bkc-pytorch", "https://bkc.repo.amd.com/rocm/whl-next/"),
        ("dev", [], "therock-dev-python", "https://rocm.devreleases.amd.com/whl-multi-arch/"),
        ("nightly-bkc", [], "therock-nightly-python", "https://rocm.nightlies.amd.com/whl-multi-arch/"),
        ("prerelease", [], "therock-prerelease-python", "https://rocm.prereleases.amd.com/whl-multi-arch/"),
    ],
)
def test_buckets_of_today(release_type: str, more: list, bucket: str, url: str, tmp_path: Path):
    with s3_server.serve("--bucket", bucket) as server:
        environment = job(tmp_path, **server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        compat(TORCH, "--source-dir", wheels(tmp_path / "dist", "torch"), "--release-type", release_type, *more, environment=environment)
        stored = s3_server.Client(server.endpoint, server.access, server.secret).list(bucket)
    assert [key for key in stored if key.endswith("torch-1.0+rocm7.1.0-py3-none-any.whl")]
    assert output(tmp_path) == {"package_index_url": url}


@pytest.mark.parametrize(
    ("code", "exit_code", "projects", "more"),
    [("C048", 3, [], []), ("C049", 2, ["rocm-sdk-core"], []), ("P041", 2, ["torch", "jaxlib"], []), ("C006", 2, ["torch"], ["--release-type", "ci"]), ("C004", 2, ["torch"], ["-"])],
)
def test_wheels_that_cannot_be_published(code: str, exit_code: int, projects: list, more: list, tmp_path: Path):
    to = tmp_path / "releases"
    kind = [] if more else ["--release-type", "nightly"]
    refuses(code, exit_code, TORCH, "--source-dir", wheels(tmp_path / "dist", *projects), "--to-store", f"file:{to}", *kind, *[word for word in more if word != "-"], environment=job(tmp_path))
    assert not to.exists() or not files(to)
    assert output(tmp_path) == {}


def built_wheels(place: Path, elsewhere: Path) -> Path:
    """What a build leaves: a wheel, a symbolic link to another one, and things that are not published."""
    dist = wheels(place / "dist", "torch", "torchvision")
    linked = next(dist.glob("torchvision-*"))
    elsewhere.mkdir(exist_ok=True)
    shutil.move(linked, elsewhere / linked.name)
    os.symlink(elsewhere / linked.name, linked)
    small_artifacts.write(dist / "notes.txt", "not a wheel")
    small_artifacts.write(dist / "sub/other-1.0-py3-none-any.whl", "not looked at")
    return dist


@pytest.fixture
def memory(tmp_path: Path):
    """A directory on another file system than `tmp_path`, where hard links cannot lead."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="quarry-test-") as place:
        if Path(place).stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("there is one file system only")
        yield Path(place)


def test_wheels_are_staged_beside_the_build_and_leave_nothing(memory: Path, tmp_path: Path):
    """The run that is published is made of hard links, so that gigabytes are not copied only to be sent; of copies from another file system."""
    dist, to = built_wheels(tmp_path, memory), tmp_path / "releases"

    def told(path: Path) -> tuple:
        status = path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_nlink

    before = {path: told(path) for path in dist.rglob("*") if path.is_file()}
    changed = {path.name.split("-")[0]: path.stat().st_ctime_ns for path in dist.glob("*.whl")}
    given = [TORCH, "--source-dir", dist, "--release-type", "nightly", "--to-store", f"file:{to}"]
    compat(*given, environment=job(tmp_path, TMPDIR=str(tmp_path / "nowhere")))
    assert {path: told(path) for path in dist.rglob("*") if path.is_file()} == before and sorted(path.name for path in dist.iterdir() if path.is_dir()) == ["sub"]
    linked = {path.name.split("-")[0] for path in dist.glob("*.whl") if path.stat().st_ctime_ns != changed[path.name.split("-")[0]]}
    assert linked == {"torch"}, "a hard link that came and went changes only the time of the inode"
    assert {name.rsplit("/", 1)[1].split("-")[0] for name in files(to)} == {"torch", "torchvision"}
    for wheel in dist.glob("*.whl"):
        (published,) = to.rglob(wheel.name)
        assert published.read_bytes() == wheel.read_bytes() and published.stat().st_nlink == 1 and not published.is_symlink()


def test_staging_that_fails_leaves_nothing(tmp_path: Path):
    dist, to = built_wheels(tmp_path, tmp_path / "elsewhere"), tmp_path / "releases"
    next((tmp_path / "elsewhere").iterdir()).unlink()
    before = sorted(dist.rglob("*"))
    done = quarry("compat", TORCH, "--source-dir", dist, "--release-type", "nightly", "--to-store", f"file:{to}", environment=job(tmp_path))
    assert done.code == 3 and "torchvision-1.0" in done.err, done.err
    assert sorted(dist.rglob("*")) == before and not to.exists()


def test_a_damaged_wheel_is_not_published(tmp_path: Path):
    dist = wheels(tmp_path / "dist", "torch", "torchvision")
    broken = next(dist.glob("torchvision*"))
    broken.write_bytes(broken.read_bytes()[:-30])
    done = quarry("compat", TORCH, "--source-dir", dist, "--release-type", "nightly", "--to-store", f"file:{tmp_path / 'releases'}", environment=job(tmp_path))
    assert done.code == 6 and not (tmp_path / "releases").exists()


# ---- update_dependencies


LISTS = {path.stem: [line.split("#")[0].split()[0] for line in path.read_text().splitlines() if line.split("#")[0].strip()] for path in (ROOT / "data/dependencies").glob("*.txt")}


@pytest.fixture
def pypi(tmp_path: Path):
    index = Index(tmp_path / "pypi")
    for name in {name for names in LISTS.values() for name in names} | {"setuptools", "wheel"}:
        index.wheel(name, {"mpmath": "1.3.0", "setuptools": "81.0.0"}.get(name, "2.0"))
    index.wheel("mpmath", "1.4.0")
    index.publish()
    with static_server.serve(index.root) as (url, _):
        yield f"{url}/simple/"


@pytest.mark.parametrize(
    ("given", "lists"),
    [
        (["--era", "feb"], ["torch"]),
        (["--package", "jax", "--era", "feb", "--only-pypi"], ["jax"]),
        (["--package", "rocm", "--prefix", "v4/whl"], ["rocm"]),
        (["--package", "torch", "--auto-detect-prefixes", "--base-prefix", "v2/"], ["torch"]),
        (["--structured", "--index", "whl-next"], ["jax", "rocm", "torch"]),
        (["--package", "all"], ["jax", "rocm", "torch"]),
    ],
)
def test_dependencies_of_a_project(given: list, lists: list, pypi: str, tmp_path: Path):
    store = tmp_path / "store"
    common = [*given, "--store", f"file:{store}", "--index-url", pypi, "--json"]
    environment = clean_environment(NO_PROXY="127.0.0.1")
    compat("update_dependencies", *common, "--dry-run", environment=environment)
    assert not store.exists()
    compat("update_dependencies", *common, environment=environment)
    expected = {name for each in lists for name in LISTS[each]} | {"setuptools", "wheel"}
    found = {path.name.split("-")[0].replace("_", "-"): path.name.split("-")[1] for path in (store / "python-deps/dist").glob("*.whl")}
    assert set(found) == expected and found.get("mpmath", "1.3.0") == "1.3.0"


def test_one_dependency(pypi: str, tmp_path: Path):
    environment = clean_environment(NO_PROXY="127.0.0.1")
    common = ["update_dependencies", "--store", f"file:{tmp_path / 'store'}", "--index-url", pypi, "--python", "3.12"]
    compat(*common, "--dependency-package", "Typing_Extensions", environment=environment)
    assert {path.name.split("-")[0] for path in (tmp_path / "store/python-deps/dist").glob("*.whl")} == {"typing_extensions", "setuptools", "wheel"}
    refuses("C042", 2, *common, "--dependency-package", "tomli", environment=environment)
    refuses("C042", 2, *common, "--structured", "--prefix", "v4/whl", environment=environment)
    refuses("C040", 2, *common, "--era", "feb", "--structured", environment=environment)


def test_dependencies_go_to_the_named_bucket(pypi: str, tmp_path: Path):
    with s3_server.serve() as server:
        environment = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        reader = s3_server.Client(server.endpoint, server.access, server.secret)
        for more, variables in ((["--bucket", server.bucket], {"S3_BUCKET_PY": "another"}), ([], {"S3_BUCKET_PY": server.bucket})):
            compat("update_dependencies", "--package", "jax", "--index-url", pypi, *more, environment={**environment, **variables})
        assert [key for key in reader.list(server.bucket) if key.startswith("python-deps/dist/ml_dtypes-2.0")]
