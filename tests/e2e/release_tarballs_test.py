"""Tarballs of whole SDKs, one by its address, and the newest of a bucket, of a page that a script in the browser fills, and of a server's listing."""

from __future__ import annotations

import functools
import http.server
import json
import re
import shutil
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import s3_server, small_artifacts  # noqa: E402
from support.quarry import clean_environment, good, refused  # noqa: E402

FAMILY = small_artifacts.FAMILY
VERSIONS = ("7.9.0", "7.10.0a20260817", "7.10.0a20260818")


def name(version: str, platform: str = "linux", family: str = FAMILY) -> str:
    return f"therock-dist-{platform}-{family}-{version}.tar.gz"


@pytest.fixture(scope="module")
def releases(artifacts, tmp_path_factory) -> Path:
    """A directory of releases: three versions for Linux, the newest of all for Windows, another family."""
    root = tmp_path_factory.mktemp("releases")
    good("artifact", "tarball", "--from", artifacts, "--family", FAMILY, "--version", VERSIONS[0], "--output-dir", root)
    first = root / name(VERSIONS[0])
    digest = (root / (first.name + ".sha256sum")).read_text().split()[0]
    for other in (name(VERSIONS[1]), name(VERSIONS[2]), name("7.11.0", platform="windows"), name("7.8.0", family="gfx94X-dcgpu")):
        shutil.copyfile(first, root / other)
        (root / (other + ".sha256sum")).write_text(f"{digest}  {other}\n")
    return root


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    servers = []

    def start(root: Path) -> str:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root)))
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


HERE = clean_environment(NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")


def fetched(tmp_path: Path, place: str | Path, *more: str, environment: dict = HERE) -> list[str]:
    done = good("artifact", "fetch", "--from", place, "--output-dir", tmp_path / "tree", "--flatten", *more, "--json", environment=environment)
    assert (tmp_path / "tree/lib/libhipblas.so.2").exists() and (tmp_path / "tree/include/hip/hip_runtime.h").exists()
    return [each["artifact"] + ".tar.gz" for each in done.json["artifacts"]]


def test_the_page_beside_the_tarballs_leads_to_them(releases, artifacts, tmp_path):
    page = (releases / "index.html").read_text()
    data = json.loads(re.search(r"const files = (\[.*\]);", page)[1])  # what readers of today's pages look for
    assert {one["name"]: one["mtime"] for one in data} == {name(VERSIONS[0]): pytest.approx((releases / name(VERSIONS[0])).stat().st_mtime, abs=1)}
    assert f'href="{name(VERSIONS[0])}"' in page
    (tmp_path / "index.html").write_text("somebody else's")
    done = good("artifact", "tarball", "--from", artifacts, "--family", FAMILY, "--version", "1.0", "--output-dir", tmp_path)
    assert "[A091]" in done.err and (tmp_path / "index.html").read_text() == "somebody else's"


def test_a_job_that_makes_only_tarballs_uploads_them(artifacts, tmp_path):
    store = f"file:{tmp_path / 'store'}"
    run = ("--store", store, "--run-id", "7", "--platform", "linux")
    good("artifact", "tarball", "--from", artifacts, "--family", FAMILY, "--version", "1.0", "--output-dir", tmp_path / "build/tarballs")
    done = good("run", "upload", tmp_path / "build", *run, "--no-logs", "--json").json
    (name,) = (path.name for path in (tmp_path / "build/tarballs").glob("*.tar.gz"))
    assert [(file["kind"], Path(file["key"]).name) for file in done["files"]] == [("tarball", name)]
    assert [finding["code"] for finding in done["findings"]] == ["A042"]  # without archives
    good("artifact", "fetch", "--from", "run:7", "--store", store, "--tarballs", "--output-dir", tmp_path / "got", "--no-extract")
    assert (tmp_path / "got" / name).read_bytes() == (tmp_path / "build/tarballs" / name).read_bytes()


def test_one_by_its_address(releases, serve, tmp_path):
    url = serve(releases.parent)
    assert fetched(tmp_path, f"{url}/{releases.name}/{name(VERSIONS[1])}") == [name(VERSIONS[1])]
    refused("A048", 3, "artifact", "fetch", "--from", f"{url}/{releases.name}/{name('9.9')}", "--output-dir", tmp_path / "no", environment=HERE)
    refused("A046", 2, "artifact", "fetch", "--from", f"{url}/{releases.name}/other.tgz", "--output-dir", tmp_path / "no", environment=HERE)


def test_the_newest_of_a_directory(releases, tmp_path):
    assert fetched(tmp_path, releases, "--newest", "--artifact-group", FAMILY) == [name(VERSIONS[2])]


def test_the_newest_of_a_listing_of_a_server(releases, serve, tmp_path):
    """The server's own listing: there is no page."""
    bare = tmp_path / "bare"
    shutil.copytree(releases, bare, ignore=shutil.ignore_patterns("index.html"))
    url = f"{serve(tmp_path)}/bare"
    assert "say `--tarballs`" in refused("A034", 3, "artifact", "list", url, environment=HERE).err
    assert fetched(tmp_path / "a", url, "--tarballs", "--newest", "--artifact-group", FAMILY) == [name(VERSIONS[2])]
    assert fetched(tmp_path / "b", url + "/", "--tarballs", "--newest", "--artifact-group", FAMILY, "--date", "20260817") == [name(VERSIONS[1])]
    root = serve(bare)
    for number, place in enumerate((root, root + "/")):
        assert fetched(tmp_path / f"root-{number}", place, "--tarballs", "--newest", "--artifact-group", FAMILY) == [name(VERSIONS[2])]


def test_the_newest_of_a_page_that_a_script_fills(releases, serve, tmp_path):
    place = tmp_path / "site"
    shutil.copytree(releases, place)
    files = [{"name": path.name, "mtime": 1} for path in place.glob("*.tar.gz")]
    (place / "index.html").write_text(f"<!DOCTYPE html><html><body><div id='t'></div><script>const files = {json.dumps(files)};</script></body></html>")
    url = f"{serve(tmp_path)}/site"
    assert fetched(tmp_path, url, "--tarballs", "--newest", "--artifact-group", FAMILY, "--sdk-version", "7.9.*") == [name(VERSIONS[0])]
    listed = good("artifact", "list", url, "--tarballs", "--json", environment=HERE).json["artifacts"]
    assert {each["artifact"] + ".tar.gz" for each in listed} == {path.name for path in releases.glob("*.tar.gz")}
    newest = good("artifact", "list", url, "--tarballs", "--newest", "--platform", "windows", "--json", environment=HERE).json["artifacts"]
    assert [each["artifact"] for each in newest] == ["therock-dist-windows-gfx103X-dgpu-7.11.0"]


def test_the_newest_of_a_bucket(releases, tmp_path):
    with s3_server.serve() as server:
        environment = clean_environment(**server.environment(), NO_PROXY="127.0.0.1")
        client = s3_server.Client(server.endpoint, environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"])
        for path in releases.glob("*.tar.gz*"):
            client.put(server.bucket, f"v4/tarball/{path.name}", path.read_bytes())
        place = f"s3://{server.bucket}/v4/tarball"
        assert fetched(tmp_path / "a", place, "--tarballs", "--newest", "--artifact-group", FAMILY, environment=environment) == [name(VERSIONS[2])]
        assert fetched(tmp_path / "b", f"{place}/{name(VERSIONS[0])}", environment=environment) == [name(VERSIONS[0])]
        # Today's buckets hold no checksum files.
        for path in releases.glob("*.tar.gz"):
            client.delete(server.bucket, f"v4/tarball/{path.name}.sha256sum")
        client.put(server.bucket, name(VERSIONS[1]), (releases / name(VERSIONS[1])).read_bytes())  # where February looks
        words = ("compat", "install_rocm_from_artifacts", "--amdgpu-family", FAMILY, "--store", f"s3://{server.bucket}", "--json")
        for number, (asked, version) in enumerate(([["--release", VERSIONS[1]], VERSIONS[1]], [["--latest-release"], VERSIONS[2]], [["--release", VERSIONS[1], "--era", "feb"], VERSIONS[1]])):
            done = good(*words, *asked, "--output-dir", tmp_path / f"rocm{number}", environment=environment)
            assert [each["artifact"] + ".tar.gz" for each in done.json["artifacts"]] == [name(version)]
            assert (tmp_path / f"rocm{number}/lib/libhipblas.so.2").exists()
        refused("A048", 3, *words, "--release", "7.99.0a20260101", "--output-dir", tmp_path / "no", environment=environment)
        refused("C042", 2, *words, "--release", "7.10.0", "--output-dir", tmp_path / "no", environment=environment)
        refused("C042", 2, *words, "--release", VERSIONS[1], "--latest-release", "--output-dir", tmp_path / "no", environment=environment)


def test_what_is_refused(releases, artifacts, tmp_path):
    words = ("artifact", "fetch", "--from", releases, "--output-dir", tmp_path / "no", "--flatten")
    done = refused("A049", 3, *words, "--sdk-version", "6.*")
    assert "7.11.0" in done.err
    refused("A049", 2, *words, "--date", "yesterday")
    refused("A049", 3, "artifact", "fetch", "--from", artifacts, "--output-dir", tmp_path / "no", "--newest")
