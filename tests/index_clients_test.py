"""Real installers resolve and install from what `index build` writes: as files, and served as HTML and as JSON."""

from __future__ import annotations

import json
import shutil
import sys
import urllib.parse
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import distributions  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import good, refused  # noqa: E402
from support.static_server import serve  # noqa: E402
from support.usual import each_once  # noqa: E402

INSTALLERS = ["pip-oldest", "pip-newest", "uv"]
FORMS = ["file", "html", "json", "find-links"]


@pytest.fixture(scope="session")
def wheelhouse(tmp_path_factory) -> Path:
    house = tmp_path_factory.mktemp("wheelhouse")
    distributions.wheel(house, "demo-base", "1.0")
    distributions.wheel(house, "demo-base", "1.0+rocm.1", requires_python=">=3.6")
    distributions.wheel(house, "demo-base", "2.0.dev1")
    distributions.wheel(house, "Demo.App", "1.0", file_name="Demo_App-1.0", requires=("demo_base",))
    distributions.wheel(house, "demo-limited", "1.0")
    distributions.wheel(house, "demo-limited", "2.0", requires_python=">=4,<5")
    distributions.wheel(house, "demo-yanked", "1.0")
    distributions.wheel(house, "demo-yanked", "1.1")
    distributions.sdist(house, "demo-meta", "1.0", requires=("demo-base",))
    return house


@pytest.fixture(scope="session")
def index(wheelhouse, tmp_path_factory) -> Path:
    """An index in which demo-yanked 1.1 is yanked."""
    site = tmp_path_factory.mktemp("site dir")
    good("index", "build", wheelhouse, "--output-dir", site)
    page = site / "simple-json/demo-yanked/index.html"
    content = json.loads(page.read_text())
    content["files"][1]["yanked"] = 'broken & "bad"'
    page.write_text(json.dumps(content))
    good("index", "build", wheelhouse, "--output-dir", site)
    good("index", "check", site)
    return site


@pytest.fixture
def source(request, index):
    """Of one of FORMS: the words that name the index to an installer, and the requests that reached it (None: read as files)."""
    if request.param == "file":
        yield ["--index-url", f"file://{urllib.parse.quote(str(index))}/simple"], None
        return
    with serve(index) as (url, requested):
        words = {
            "html": ["--index-url", f"{url}/simple"],
            "json": ["--index-url", f"{url}/simple-json"],
            "find-links": ["--no-index", "--find-links", f"{url}/index.html"],
        }
        yield words[request.param], requested


def install(name: str, source: list[str], target: Path, *requirements: str) -> dict[str, str]:
    """Installs into `target` and returns what is there: project -> version."""
    tool = client(name)
    words = ["pip", "install", "--python", tool.bin / "python", "--no-build-isolation", "--no-cache"] if name == "uv" else ["install", "--no-cache-dir", "--no-warn-script-location"]
    ended = tool.run(*words, *source, "--target", target, *requirements)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return installed_in(target)


def installed_in(target: Path) -> dict[str, str]:
    metadata = [path.read_text() for path in target.glob("*.dist-info/METADATA")]
    fields = [dict(line.split(": ", 1) for line in text.splitlines() if ": " in line) for text in metadata]
    return {f["Name"].lower().replace(".", "-"): f["Version"] for f in fields}


@pytest.mark.parametrize(("name", "source"), each_once(INSTALLERS, FORMS, shift=1), indirect=["source"])
def test_installers_choose_the_same_files(name, source, tmp_path):
    words, _ = source
    found = install(name, words, tmp_path / "t", "demo.app", "Demo_Limited", "demo-yanked")
    # uv does not look at the yanks of a find-links page.
    unyanked = "1.1" if name == "uv" and "--find-links" in words else "1.0"
    assert found == {"demo-app": "1.0", "demo-base": "1.0+rocm.1", "demo-limited": "1.0", "demo-yanked": unyanked}


@pytest.mark.parametrize(("name", "source"), each_once(INSTALLERS, FORMS, shift=2), indirect=["source"])
def test_prereleases_yanked_and_local_versions_come_when_asked_for(name, source, tmp_path):
    words, _ = source
    prerelease = ["--prerelease", "allow"] if name == "uv" else ["--pre"]
    assert install(name, [*words, *prerelease], tmp_path / "pre", "demo-base") == {"demo-base": "2.0.dev1"}
    assert install(name, words, tmp_path / "pin", "demo-yanked==1.1", "demo-base==1.0") == {"demo-yanked": "1.1", "demo-base": "1.0+rocm.1"}


@pytest.mark.parametrize(("name", "source"), each_once(INSTALLERS, FORMS), indirect=["source"])
def test_a_source_distribution_brings_its_dependencies(name, source, tmp_path):
    words, _ = source
    assert install(name, words, tmp_path / "t", "demo-meta") == {"demo-meta": "1.0", "demo-base": "1.0+rocm.1"}


@pytest.mark.parametrize("name", ["pip-newest", "uv"])
@pytest.mark.parametrize("tree", ["simple", "simple-json"])
def test_resolvers_read_the_metadata_file_and_each_page_once(name, tree, index, tmp_path):
    with serve(index) as (url, requested):
        install(name, ["--index-url", f"{url}/{tree}"], tmp_path / "t", "demo-app")
    paths = [path.partition("?")[0] for path in requested]
    assert f"/{tree}/demo-app/" in paths and f"/{tree}/demo-base/" in paths
    assert "/dist/Demo_App-1.0-py3-none-any.whl.metadata" in paths
    assert "/dist/demo_base-1.0%2Brocm.1-py3-none-any.whl" in paths
    assert len([p for p in paths if p.endswith("/")]) == 2
    assert not [p for p in paths if p in (f"/{tree}/", f"/{tree}")]


@pytest.mark.parametrize("name", ["pip-newest", "uv"])
def test_an_altered_file_is_refused(name, index, tmp_path):
    site = tmp_path / "site"
    shutil.copytree(index, site)
    wheel = site / "dist/demo_limited-1.0-py3-none-any.whl"
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    tool = client(name)
    words = ["pip", "install", "--python", tool.bin / "python", "--no-cache"] if name == "uv" else ["install", "--no-cache-dir"]
    with serve(site) as (url, _):
        require = tmp_path / "lock.txt"
        digest = next(f for f in json.loads((site / "simple-json/demo-limited/index.html").read_text())["files"] if "1.0" in f["filename"])["hashes"]["sha256"]
        require.write_text(f"demo-limited==1.0 --hash=sha256:{digest}\n")
        ended = tool.run(*words, "--index-url", f"{url}/simple", "--target", tmp_path / "t", "-r", require)
    assert ended.returncode != 0
    assert not (tmp_path / "t/demo_limited.py").exists()
    refused_by_check = refused("I012", 6, "index", "check", site)
    assert "demo_limited-1.0-py3-none-any.whl" in refused_by_check.err


def test_pages_are_html5(index):
    pages = sorted(str(p) for p in [index / "index.html", *(index / "simple").rglob("index.html")])
    program = (
        "import html5lib, sys\n"
        "for page in sys.argv[1:]:\n"
        "    parser = html5lib.HTMLParser(strict=True)\n"
        "    parser.parse(open(page, 'rb').read(), transport_encoding='utf-8')\n"
    )
    ended = client("html5lib").python("-c", program, *pages)
    assert ended.returncode == 0, ended.stderr
    assert len(pages) == 7


def test_json_pages_hold_what_the_interface_demands(index):
    for page in (index / "simple-json").glob("*/index.html"):
        content = json.loads(page.read_text())
        assert content["meta"] == {"api-version": "1.4"}
        assert content["name"] == page.parent.name
        assert set(content["versions"]) == {f["filename"].removesuffix(".tar.gz").split("-")[1] for f in content["files"]}
        for file in content["files"]:
            assert isinstance(file["size"], int) and len(file["hashes"]["sha256"]) == 64
            assert file["upload-time"].endswith("Z") and len(file["upload-time"]) == 27
            assert file["yanked"] is False or file["yanked"]
            assert None not in file.values()
            assert ("core-metadata" in file) == file["filename"].endswith(".whl")
            assert (page.parent / urllib.parse.unquote(file["url"])).is_file()


def test_building_again_and_in_place(wheelhouse, tmp_path):
    house = tmp_path / "house"
    shutil.copytree(wheelhouse, house)
    first = good("index", "build", house, "--json").json
    assert first["schema"] == "quarry.index-build/1" and len(first["files"]) == 9
    again = good("index", "build", house, "--json").json
    assert again["writes"] == {"files": 0, "sidecars": 0, "pages": 0, "removed": 0}
    assert good("index", "check", house, "--json").json["findings"] == []


def test_a_dry_run_writes_nothing(wheelhouse, tmp_path):
    good("index", "build", wheelhouse, "--output-dir", tmp_path / "site", "--dry-run")
    assert not (tmp_path / "site").exists()


def test_the_index_of_a_channel_is_checked_by_name(wheelhouse, tmp_path):
    store = tmp_path / "store"
    good("publish", wheelhouse, "--store", f"file:{store}", "--run-id", "7", "--platform", "linux", "--artifact-group", "g", "--channel", "staging", "--several-versions")
    for locator in ("channel:staging", "run:7"):
        report = good("index", "check", locator, "--store", f"file:{store}", "--json").json
        assert report["findings"] == [] and report["files"] == 9
    wheel = store / "7-linux/python/g/dist/demo_limited-1.0-py3-none-any.whl"
    wheel.chmod(0o644)
    wheel.write_bytes(wheel.read_bytes()[:-1])
    refused("I012", 6, "index", "check", "channel:staging", "--store", f"file:{store}")
    refused("I006", 2, "index", "check", "channel:staging")


def test_refusals(tmp_path, wheelhouse):
    refused("I001", 3, "index", "build", tmp_path)
    refused("I001", 3, "index", "check", tmp_path)
    original = wheelhouse / "demo_base-1.0-py3-none-any.whl"
    shutil.copy(original, tmp_path / "Demo_Base-1.0-py3-none-any.whl")
    shutil.copy(original, tmp_path)
    refused("I003", 7, "index", "build", tmp_path)
    (tmp_path / "Demo_Base-1.0-py3-none-any.whl").unlink()
    (tmp_path / original.name).write_bytes(original.read_bytes()[:-1])
    refused("W010", 6, "index", "build", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [original.name]
