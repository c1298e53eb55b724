"""`index check` of indexes that others serve: each fault of pages, files and headers is a finding with a code and a place."""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import distributions  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402
from support.static_server import serve  # noqa: E402

SHORT = {"Cache-Control": "public, max-age=60"}


@pytest.fixture(scope="session")
def sound(tmp_path_factory) -> Path:
    house, site = tmp_path_factory.mktemp("check-wheels"), tmp_path_factory.mktemp("check site")
    distributions.wheel(house, "demo-base", "1.0+rocm.1", requires_python=">=3.6")
    distributions.wheel(house, "demo-app", "1.0", requires=("demo_base",))
    distributions.sdist(house, "demo-meta", "1.0")
    good("index", "build", house, "--output-dir", site)
    return site


@pytest.fixture
def site(sound, tmp_path) -> Path:
    return shutil.copytree(sound, tmp_path / "site")


def findings(locator: str, *more: str, code: int = 1) -> list[tuple[str, str, str]]:
    done = quarry("index", "check", locator, *more, "--json")
    assert done.code == code, done.out + done.err
    return [(f["code"], f["severity"], f["place"]) for f in done.json["findings"]]


def test_a_sound_index_is_sound_in_every_form(site):
    with serve(site, SHORT) as (url, requested):
        done = good("index", "check", url, "--json").json
        assert (done["projects"], done["files"], done["findings"]) == (3, 3, [])
        assert sum(path.endswith(".whl") for path in requested) >= 4  # looked at and read
        requested.clear()
        for root in ("/simple", "/simple/", "/simple-json/", "/index.html"):
            assert findings(url + root, "--no-content", code=0) == []
        assert good("index", "check", f"{url}/simple/", "--project", "Demo.App", "--no-content", "--json").json["files"] == 1
    assert findings(str(site), code=0) == []


def edit(page: Path, old: str, new: str) -> None:
    text = page.read_text()
    assert old in text
    page.write_text(text.replace(old, new))


def json_edit(page: Path, change) -> None:
    document = json.loads(page.read_text())
    change(document)
    page.write_text(json.dumps(document))


APP, APP_JSON, BASE = "simple/demo-app/index.html", "simple-json/demo-app/index.html", "demo_base-1.0+rocm.1-py3-none-any.whl"
FAULTS = {
    "dangling": (lambda s: (s / "dist/demo_app-1.0-py3-none-any.whl").unlink(), "I010", "simple/demo-app/: demo_app-1.0-py3-none-any.whl", 1),
    "no hash": (lambda s: json_edit(s / APP_JSON, lambda d: d["files"][0].update(hashes={})), "I011", "simple-json/demo-app/: demo_app-1.0-py3-none-any.whl", 1),
    "altered": (lambda s: (s / "dist/demo_meta-1.0.tar.gz").write_bytes(b"other"), "I012", "simple/demo-meta/: demo_meta-1.0.tar.gz", 6),
    "no sidecar": (lambda s: (s / f"dist/{BASE}.metadata").unlink(), "I014", f"simple/demo-base/: {BASE}", 1),
    "other sidecar": (lambda s: edit(s / f"dist/{BASE}.metadata", "demo-base", "demo-other"), "I014", f"simple/demo-base/: {BASE}", 6),
    "null": (lambda s: json_edit(s / APP_JSON, lambda d: d["files"][0].update(size=None)), "I016", "simple-json/demo-app/: demo_app-1.0-py3-none-any.whl", 1),
    "disagreement": (lambda s: json_edit(s / APP_JSON, lambda d: d["files"][0].update(yanked=True)), "I015", "simple/demo-app", 1),
    "page missing": (lambda s: (s / APP).unlink(), "I018", "simple/demo-app/", 1),
    "no page": (lambda s: (s / APP_JSON).write_text('{"files": 3}'), "I021", "simple-json/demo-app/", 1),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_served_index_is_found(site, name):
    make, code, place, exit_code = FAULTS[name]
    make(site)
    with serve(site, SHORT) as (url, _):
        found = findings(url, code=exit_code)
    assert (code, "error", place) in found, found


HEADERS = {
    "no cache control": ({"page_headers": {}}, "I023", "warning", "simple/demo-app/", 0),
    "immutable page": ({"page_headers": {"Cache-Control": "public, max-age=31536000, immutable"}}, "I023", "warning", "simple/", 0),
    "kept for a day": ({"page_headers": {"Cache-Control": "max-age=86400"}}, "I023", "warning", "simple/demo-app/", 0),
    "packed file": ({"page_headers": SHORT, "file_headers": {"Content-Encoding": "gzip"}}, "I023", "error", "dist/demo_app-1.0-py3-none-any.whl", 6),
    "wrong type": ({"page_headers": SHORT, "page_type": "binary/octet-stream"}, "I022", "error", "simple-json/demo-app/", 1),
    "refused, not missing": ({"page_headers": SHORT, "missing": 403}, "I024", "error", "simple/quarry-asks-for-what-is-not-there/", 1),
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_mislead_are_found(site, name):
    server, code, severity, place, exit_code = HEADERS[name]
    with serve(site, **server) as (url, _):
        found = findings(url, "--no-content", code=exit_code)
    assert any(f[0] == code and f[1] == severity and f[2].endswith(place) for f in found), found


def test_what_is_no_index_and_what_cannot_be_repaired(site, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with serve(empty, SHORT) as (url, _):
        refused("I001", 3, "index", "check", url)
        refused("R030", 2, "index", "repair", url)
    with serve(empty, SHORT, missing=403) as (url, _):
        assert "status 403" in refused("I001", 3, "index", "check", url).err
    for control in ("\x1b[31mx", "a\nb"):
        refused("R005", 2, "index", "check", f"s3://builds/{control}")
    refused("L009", 2, "index", "repair", site)
    refused("H010", 12, "index", "check", "http://index.example/simple/")


def test_the_metadata_of_a_signed_link_is_beside_its_path(site):
    page = site / "simple/demo-app/index.html"
    edit(page, "demo_app-1.0-py3-none-any.whl#", "demo_app-1.0-py3-none-any.whl?X-Signature=abc#")
    with serve(site, SHORT) as (url, requested):
        found = quarry("index", "check", url, "--project", "demo-app", "--json").json["findings"]
        assert [f for f in found if f["code"] in ("I010", "I014")] == []
        assert any(path.partition("?")[0].endswith("demo_app-1.0-py3-none-any.whl.metadata") for path in requested)


@pytest.fixture
def plain(request):
    """python -m http.server, which knows no header for pages and lists directories."""

    def start(directory: Path) -> str:
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(directory))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        handler.func.log_message = lambda *_: None
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        request.addfinalizer(server.server_close)
        request.addfinalizer(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    return start


def test_a_directory_behind_a_plain_web_server_is_sound(site, plain):
    done = good("index", "check", plain(site))
    assert "  sound\n" in done.out
    found = good("index", "check", plain(site), "--json").json["findings"]
    assert {(f["code"], f["severity"]) for f in found} == {("I022", "warning"), ("I023", "warning")}
    assert {f["place"].split("/")[0] for f in found if f["code"] == "I022"} == {"simple-json"}
    assert done.err.count("warning[I022]") == 1 and done.err.count("warning[I023]") == 1, "equal findings are said once"
    assert done.err.count("hint:") <= 2 and " more: " in done.err


def test_the_listing_of_a_directory_is_not_an_index(site, plain, tmp_path):
    store = tmp_path / "store"
    good("publish", site / "dist", "--store", f"file:{store}", "--run-id", "1", "--platform", "linux", "--channel", "staging")
    url = plain(store)
    done = refused("I008", 3, "index", "check", url)
    assert f"`quarry index check {url}/channels/NAME/`" in done.err and len(done.err.splitlines()) < 6
    good("index", "check", f"{url}/channels/staging/", "--no-content")
    listed = tmp_path / "listed"
    shutil.copytree(site / "simple", listed / "simple")
    shutil.copytree(site / "dist", listed / "dist")
    (listed / "simple/index.html").unlink()
    assert good("index", "check", plain(listed), "--no-content", "--json").json["projects"] == 3, "a listing that leads to simple/"


def test_a_store_is_not_an_index_at_any_of_its_directories(plain, tmp_path):
    packages, store = tmp_path / "packages", tmp_path / "store"
    packages.mkdir()
    distributions.wheel(packages, "demo", "1.0")
    good("publish", packages, "--store", f"file:{store}", "--run-id", "42", "--platform", "linux", "--artifact-group", "gfx94X-dcgpu", "--channel", "stable")
    url = plain(store)
    for below in ("", "/channels/", "/42-linux/", "/42-linux/python/"):
        done = refused("I008", 3, "index", "check", url + below)
        assert "`quarry index check " in done.err or "name the directory" in done.err, below
    assert f"`quarry index check {url}/channels/stable/`" in refused("I008", 3, "index", "check", f"{url}/channels/").err
    findings(f"{url}/channels/stable/", "--no-content", code=0)
    assert "one of its channels" in refused("I001", 3, "index", "check", store).err
    assert "nowhere does not exist" in refused("I001", 3, "index", "check", tmp_path / "nowhere").err
