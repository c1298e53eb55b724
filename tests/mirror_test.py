"""`mirror sync` against an index on loopback: what it takes, what it refuses, and that installers work with it alone."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import distributions, static_server  # noqa: E402
from support.clients import client  # noqa: E402
from support.foreign_index import Index  # noqa: E402
from support.quarry import clean_environment, good, refused  # noqa: E402

DIRECT = clean_environment(NO_PROXY="127.0.0.1")


@pytest.fixture
def upstream(tmp_path):
    index = Index(tmp_path / "upstream")
    index.wheel("setuptools", "80.0")
    index.wheel("wheel", "0.45")
    index.wheel("demo-app", "1.0", requires=("demo-base>=1", "demo-win; sys_platform == 'win32'", "demo-old; python_version < '3.11'"))
    index.wheel("demo-base", "1.0")
    index.wheel("demo-base", "2.0.dev1")
    index.wheel("demo-base", "1.1", requires_python=">=3.10")
    index.wheel("demo-win", "1.0")
    index.wheel("demo-old", "1.0")
    index.publish()
    with static_server.serve(index.root) as (url, requested):
        index.url, index.requested = f"{url}/simple/", requested
        yield index


@pytest.fixture
def requirements(tmp_path) -> Path:
    path = tmp_path / "requirements.txt"
    path.write_text("demo-app >= 1  # what the packages need\n")
    return path


def words(upstream: Index, requirements: Path, store: Path, python: str = "3.12", platform: str = "linux") -> list:
    return ["mirror", "sync", requirements, "--store", f"file:{store}", "--python", python, "--platform", platform, "--index-url", upstream.url]


def names(done: dict) -> list[str]:
    return sorted(file["filename"].rpartition("-py3")[0] for file in done["files"])


def test_the_closure_for_each_python_and_platform(upstream, requirements, tmp_path):
    done = good(*words(upstream, requirements, tmp_path / "store", "3.10,3.12", "linux,windows"), "--json", environment=DIRECT).json
    assert names(done) == ["demo_app-1.0", "demo_base-1.1", "demo_old-1.0", "demo_win-1.0", "setuptools-80.0", "wheel-0.45"]
    by_target = {(t["python"], t["platform"]): {p["project"] for p in t["projects"]} - {"setuptools", "wheel"} for t in done["targets"]}
    assert by_target == {
        ("3.10", "linux"): {"demo-app", "demo-base", "demo-old"},
        ("3.10", "windows"): {"demo-app", "demo-base", "demo-old", "demo-win"},
        ("3.12", "linux"): {"demo-app", "demo-base"},
        ("3.12", "windows"): {"demo-app", "demo-base", "demo-win"},
    }
    good("index", "check", tmp_path / "store/python-deps")
    good("set", "verify", f"set:{done['set']}", "--store", f"file:{tmp_path}/store")
    page = json.loads((tmp_path / "store/python-deps/simple-json/demo-app/index.html").read_text())
    assert page["files"][0]["upload-time"] == "2026-01-02T03:04:05.000006Z"


def test_a_dry_run_needs_no_credentials(upstream, requirements, tmp_path):
    environment = clean_environment(HOME=str(tmp_path), AWS_EC2_METADATA_DISABLED="true", AWS_ENDPOINT_URL_S3="http://127.0.0.1:9", NO_PROXY="127.0.0.1")
    command = ["s3://no-such-bucket-here" if str(word).startswith("file:") else word for word in words(upstream, requirements, tmp_path)]
    done = good(*command, "--dry-run", "--json", environment=environment)
    assert [note["code"] for note in done.json["notes"]] == ["P072"] and len(done.json["files"]) == 4
    refused("K011", 4, *command, environment=environment)


def test_where_a_file_came_from_is_recorded(upstream, requirements, tmp_path):
    good(*words(upstream, requirements, tmp_path / "store"), environment=DIRECT)
    record = json.loads((tmp_path / "store/python-deps/provenance/demo_app-1.0-py3-none-any.whl.json").read_text())
    wheel = upstream.root / "files/demo_app-1.0-py3-none-any.whl"
    assert record["schema"] == "quarry.mirrored/1" and record["sha256"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert record["url"] == upstream.url.replace("/simple/", "/files/") + wheel.name and record["index"] == upstream.url
    assert record["fetched"].startswith("20") and record["tool"].startswith("quarry ")


def test_a_record_of_origin_that_cannot_be_written_is_an_error(upstream, requirements, tmp_path):
    """A file called `provenance` is in the way of the directory. It must not be taken for a record of another job."""
    (tmp_path / "store/python-deps").mkdir(parents=True)
    (tmp_path / "store/python-deps/provenance").write_text("not ours\n")
    refused("D002", 7, *words(upstream, requirements, tmp_path / "store"), environment=DIRECT)


def test_a_second_run_transfers_nothing(upstream, requirements, tmp_path):
    first = good(*words(upstream, requirements, tmp_path / "store"), "--json", environment=DIRECT).json
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*") if path.is_file()}
    upstream.requested.clear()
    second = good(*words(upstream, requirements, tmp_path / "store"), "--json", environment=DIRECT).json
    assert second["set"] == first["set"] and second["writes"] == 0 and second["files_fetched"] == 0 and second["bytes_fetched"] == 0
    assert not [path for path in upstream.requested if path.startswith("/files/")]
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*") if path.is_file()} == before


def test_the_address_is_where_readers_find_it(upstream, requirements, tmp_path):
    for more, variables in ((["--public-url", "https://cdn.example/x"], {}), ([], {"QUARRY_PUBLIC_URL": "https://cdn.example/x"})):
        done = good(*words(upstream, requirements, tmp_path / "store"), *more, environment={**DIRECT, **variables})
        assert done.out.count("--index-url https://cdn.example/x/python-deps/simple/\n") == 1, done.out


@pytest.mark.parametrize("metadata", [True, False])
def test_a_file_that_installers_cannot_read_is_left_out(metadata, upstream, requirements, tmp_path):
    upstream.wheel("demo-base", "1.2", requires=("six !!",))
    upstream.wheel("demo-base", "1.3", requires_python="banana")
    upstream.publish(metadata)
    assert good(*words(upstream, requirements, tmp_path / "store"), "--dry-run", environment=DIRECT).err.count("warning[U013]") == 2
    done = good(*words(upstream, requirements, tmp_path / "store"), "--json", environment=DIRECT).json
    assert "demo_base-1.1" in names(done)
    notes = [(note["code"], note["message"].split()[0]) for note in done["targets"][0]["notes"]]
    assert notes == [("U013", f"demo_base-1.{minor}-py3-none-any.whl") for minor in (2, 3)]
    assert not list((tmp_path / "store").rglob("*demo_base-1.[23]*"))


def test_what_is_new_joins_what_is_there(upstream, requirements, tmp_path):
    good(*words(upstream, requirements, tmp_path / "store"), environment=DIRECT)
    upstream.wheel("demo-base", "1.2")
    upstream.publish()
    second = good(*words(upstream, requirements, tmp_path / "store"), "--json", environment=DIRECT).json
    assert second["files_fetched"] == 1
    page = json.loads((tmp_path / "store/python-deps/simple-json/demo-base/index.html").read_text())
    assert page["versions"] == ["1.1", "1.2"]


def test_a_plan_writes_nothing(upstream, requirements, tmp_path):
    done = good(*words(upstream, requirements, tmp_path / "store"), "--dry-run", "--json", environment=DIRECT).json
    assert done["dry_run"] and done["writes"] == 0 and len(done["files"]) == 4
    assert not (tmp_path / "store").exists()


def test_an_index_without_metadata_files_is_read_by_its_wheels(upstream, requirements, tmp_path):
    for path in (upstream.root / "files").glob("*.metadata"):
        path.unlink()
    upstream.publish(metadata=False)
    done = good(*words(upstream, requirements, tmp_path / "store"), "--json", environment=DIRECT).json
    assert len(done["files"]) == 4
    assert done["bytes_fetched"] == sum(path.stat().st_size for path in (tmp_path / "store/python-deps/dist").glob("*.whl"))
    wheels = [path for path in upstream.requested if path.endswith(".whl")]
    assert len(wheels) == len(set(wheels)) == 4
    good("index", "check", tmp_path / "store/python-deps")


def test_the_index_may_be_named_as_for_pip(upstream, requirements, tmp_path):
    command = words(upstream, requirements, tmp_path / "store")[:-2]
    done = good(*command, "--json", environment={**DIRECT, "PIP_INDEX_URL": upstream.url}).json
    assert len(done["files"]) == 4


LIES = {
    "other bytes": ("U007", 6, {"hashes": {"sha256": "0" * 64}}),
    "another size": ("U007", 6, {"size": 10}),
    "other metadata": ("U007", 6, {"core-metadata": {"sha256": "0" * 64}}),
    "no digest": ("U006", 6, {"hashes": {"md5": "0" * 32}}),
    "a name that leads elsewhere": ("U004", 1, {"filename": "../demo_app-1.0-py3-none-any.whl"}),
    "a file that is not there": ("U006", 5, {"url": "../../files/absent.whl", "core-metadata": False}),
}


@pytest.mark.parametrize("lie", LIES)
def test_an_index_that_lies_is_not_believed(upstream, requirements, tmp_path, lie):
    code, exit_code, fields = LIES[lie]
    upstream.change("demo-app", **fields)
    refused(code, exit_code, *words(upstream, requirements, tmp_path / "store"), environment=DIRECT)
    assert not list((tmp_path / "store").rglob("*.whl")) and not list((tmp_path / "store").rglob("index.html"))


def test_metadata_that_is_not_the_wheels_is_refused(upstream, requirements, tmp_path):
    sidecar = upstream.root / "files/demo_base-1.1-py3-none-any.whl.metadata"
    sidecar.write_bytes(sidecar.read_bytes().replace(b"Requires-Python: >=3.10\n", b""))
    upstream_page = json.loads(upstream.page("demo-base").read_text())
    for file in upstream_page["files"]:
        if file["filename"] == sidecar.name.removesuffix(".metadata"):
            file["core-metadata"] = {"sha256": hashlib.sha256(sidecar.read_bytes()).hexdigest()}
    upstream.page("demo-base").write_text(json.dumps(upstream_page))
    refused("U008", 6, *words(upstream, requirements, tmp_path / "store"), environment=DIRECT)


def test_a_name_that_changed_upstream_is_a_conflict(upstream, requirements, tmp_path):
    good(*words(upstream, requirements, tmp_path / "store"), environment=DIRECT)
    upstream.wheel("demo-app", "1.0", requires=("demo-win",))
    upstream.publish()
    done = refused("U010", 7, *words(upstream, requirements, tmp_path / "store"), environment=DIRECT)
    assert "mirrored  sha256 " in done.err and "index     sha256 " in done.err


@pytest.mark.parametrize("name", ["torch", "rocm", "rocm-sdk-core", "rocm-sdk-libraries-gfx94x-dcgpu", "jaxlib"])
def test_names_that_recipes_make_are_refused(upstream, tmp_path, name):
    upstream.wheel(name, "99.0")
    upstream.wheel("innocent", "1.0", requires=(name,))
    upstream.publish()
    asked = tmp_path / "asked.txt"
    asked.write_text("innocent\n")
    done = refused("U005", 2, *words(upstream, asked, tmp_path / "store"), environment=DIRECT)
    assert f"{name} (asked for by innocent 1.0)" in done.err
    assert not [path for path in upstream.requested if path.startswith(f"/files/{name.replace('-', '_')}")]


def test_a_name_that_a_run_publishes_is_refused(upstream, requirements, tmp_path):
    packages = tmp_path / "packages"
    packages.mkdir()
    distributions.wheel(packages, "demo-base", "0.9")
    good("publish", packages, "--store", f"file:{tmp_path}/store", "--run-id", "42", "--platform", "linux", "--artifact-group", "g")
    done = refused("U005", 2, *words(upstream, requirements, tmp_path / "store"), environment=DIRECT)
    assert "42-linux/python/g" in done.err


def test_a_run_cannot_publish_a_name_that_is_mirrored(upstream, requirements, tmp_path):
    good(*words(upstream, requirements, tmp_path / "store"), environment=DIRECT)
    (tmp_path / "out").mkdir()
    mirrored = next((tmp_path / "store/python-deps/dist").glob("*.whl")).name.split("-")[0]
    distributions.wheel(tmp_path / "out", mirrored, "99.0")
    before = sorted((tmp_path / "store").rglob("*"))
    done = refused("P017", 7, "publish", tmp_path / "out", "--store", f"file:{tmp_path / 'store'}", "--run-id", "1", "--platform", "linux")
    assert "1-linux/python" in done.err and "python-deps" in done.err and "pip would take  99.0 of 1-linux/python" in done.err
    assert sorted((tmp_path / "store").rglob("*")) == before


def test_one_index_for_runs_and_dependencies(upstream, requirements, tmp_path):
    store, packages = tmp_path / "store", tmp_path / "packages"
    packages.mkdir()
    distributions.wheel(packages, "ours", "1.0", requires=("demo-app",))
    publish = ["publish", packages, "--store", f"file:{store}", "--platform", "linux", "--channel", "staging", "--json"]
    assert good(*publish, "--run-id", "1").json["merged_index_url"] is None
    synced = good(*words(upstream, requirements, store, "3.9,3.10,3.11,3.12,3.13"), "--json", environment=DIRECT).json
    assert synced["merged"] == ["channels/staging", "1-linux/python"]
    done = good(*publish, "--run-id", "2", environment=clean_environment(GITHUB_OUTPUT=str(tmp_path / "outputs"), GITHUB_STEP_SUMMARY=str(tmp_path / "summary"))).json
    assert done["merged_index_url"].endswith("/2-linux/python/merged/simple/") and done["channel"]["merged_index_url"].endswith("/channels/staging/merged/simple/")
    assert f"package_merged_index_url={done['merged_index_url']}\n" in (tmp_path / "outputs").read_text()
    assert f"--index-url {done['merged_index_url']} " in (tmp_path / "summary").read_text()
    for place in ("1-linux/python", "2-linux/python", "channels/staging"):
        root = json.loads((store / place / "merged/simple-json/index.html").read_text())
        assert [project["name"] for project in root["projects"]] == ["demo-app", "demo-base", "demo-old", "ours", "setuptools", "wheel"]
        good("index", "check", store / place / "merged")
    (store / "1-linux/python/merged/simple/ours/index.html").unlink()
    assert good("index", "repair", "run:1-linux", "--store", f"file:{store}", "--json").json["writes"] > 0
    assert good("index", "repair", "run:1-linux", "--store", f"file:{store}", "--json").json["writes"] == 0


def test_packages_that_lie_beside_a_mirrored_name_are_not_adopted(upstream, requirements, tmp_path):
    good(*words(upstream, requirements, tmp_path / "store"), environment=DIRECT)
    place = tmp_path / "store/7-linux/python"
    place.mkdir(parents=True)
    distributions.wheel(place, "demo-base", "9.0")
    refused("P017", 7, "set", "adopt", "run:7-linux", "--store", f"file:{tmp_path}/store")
    assert not (place / "seals").exists()


def test_what_contradicts_itself_is_told_with_all_who_ask(upstream, tmp_path):
    asked = tmp_path / "asked.txt"
    asked.write_text("demo-app\ndemo-base<1\n")
    done = refused("U004", 1, *words(upstream, asked, tmp_path / "store"), environment=DIRECT)
    assert "asked by  demo-app 1.0: demo-base>=1" in done.err and "asked.txt:2: demo-base<1" in done.err
    asked.write_text("demo-absent\n")
    refused("U003", 3, *words(upstream, asked, tmp_path / "store"), environment=DIRECT)
    asked.write_text("-r other.txt\n")
    refused("U001", 2, *words(upstream, asked, tmp_path / "store"), environment=DIRECT)
    refused("U002", 2, *words(upstream, asked, tmp_path / "store", python="2.7"), environment=DIRECT)


@pytest.mark.parametrize("name", ["pip-oldest", "pip-newest", "uv"])
def test_installers_need_nothing_else(upstream, requirements, tmp_path, name):
    good(*words(upstream, requirements, tmp_path / "store", "3.9,3.10,3.11,3.12,3.13"), environment=DIRECT)
    tool = client(name)
    install = ["pip", "install", "--python", tool.bin / "python", "--no-cache"] if name == "uv" else ["install", "--no-cache-dir"]
    with static_server.serve(tmp_path / "store") as (url, _):
        ended = tool.run(*install, "--index-url", f"{url}/python-deps/simple/", "--target", tmp_path / "t", "demo-app", "wheel")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (tmp_path / "t/demo_base.py").read_text() == "VERSION = '1.1'\n"


def test_a_file_whose_size_the_index_does_not_say_is_bounded(upstream, requirements, tmp_path):
    wheel = upstream.root / "files/demo_base-1.1-py3-none-any.whl"
    for entry in json.loads(upstream.page("demo-base").read_text())["files"]:
        assert entry["filename"].startswith("demo_base")
    content = json.loads(upstream.page("demo-base").read_text())
    for entry in content["files"]:
        entry.pop("size")
    upstream.page("demo-base").write_text(json.dumps(content))
    assert "of unknown size" in good(*words(upstream, requirements, tmp_path / "store"), "--dry-run", environment=DIRECT).out
    os.truncate(wheel, 17 << 30)  # a hole
    done = refused("U007", 6, *words(upstream, requirements, tmp_path / "store"), environment=DIRECT)
    assert "no size" in done.err
