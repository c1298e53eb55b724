"""The line of artifacts that are split by GPU target, in two buckets of Ceph's radosgw: built, published, tested in a clean environment, promoted into a
prefix that already held older releases of another tool, installed by plain pip and uv from the bucket's own URL, and rolled back."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import environments, public_bucket, small_artifacts  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry  # noqa: E402

PREFIX = "v4/whl"
# Whatever does not go to this machine ends here: nobody listens on the discard port.
HERE_ONLY = {name: "http://127.0.0.1:9" for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")} | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
WANTED = "rocm[libraries,device-gfx942]"


@dataclass
class Line:
    """Two buckets: builds, and the one that people install from."""

    builds: public_bucket.Place
    dist: public_bucket.Place

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment(NO_PROXY="127.0.0.1", **self.builds.environment())

    def good(self, *words, **options):
        return good(*words, "--store", self.builds.locator, environment=self.environment, **options)

    def quarry(self, *words, **options):
        return quarry(*words, "--store", self.builds.locator, environment=self.environment, **options)

    def keys(self) -> set[str]:
        return set(self.dist.client().list(self.dist.bucket, ""))

    def page(self, project: str) -> str:
        return self.dist.client().get(self.dist.bucket, f"{PREFIX}/{project}/index.html").decode()


@pytest.fixture(scope="module")
def line(ceph):
    with contextlib.ExitStack() as stack:
        yield Line(*(stack.enter_context(public_bucket.serve(ceph, listed=True)) for _ in range(2)))


def build(root: Path, version: str) -> Path:
    artifacts = small_artifacts.make_split(root)
    small_artifacts.kernels(artifacts, "gfx942", f"code of {version}")
    good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", root / "out", "--version", version, "--profile", "ci")
    return root / "out"


def upload_by_scripts(line: Line, packages: Path, root: Path) -> dict[str, bytes]:
    """An older release as today's tools publish it: files in a flat prefix, and a page for each project."""
    content = {path.name: path.read_bytes() for path in packages.glob("[!.]*")}
    projects: dict[str, list[str]] = {}
    for name in content:
        projects.setdefault(name.split("-")[0].replace("_", "-"), []).append(name)
    s3 = line.dist.client()
    for name, body in content.items():
        s3.put(line.dist.bucket, f"{PREFIX}/{name}", body)
    for project, names in projects.items():
        links = "".join(f'<a href="../{name}">{name}</a><br/>\n' for name in names)
        s3.put(line.dist.bucket, f"{PREFIX}/{project}/index.html", f"<!DOCTYPE html><html><body><h1>Links for {project}</h1>\n{links}</body></html>".encode())
    root_page = "".join(f'<a href="{project}/">{project}</a><br/>\n' for project in projects)
    s3.put(line.dist.bucket, f"{PREFIX}/index.html", f"<!DOCTYPE html><html><body>\n{root_page}</body></html>".encode())
    return content


class Environment:
    """A clean one, which plain pip or uv fills from a bare URL."""

    def __init__(self, place: Path, tool: str):
        self.place, self.tool = place, tool
        self.python = environments.make(place) / "bin/python"

    def run(self, *command: str | Path) -> str:
        ended = subprocess.run([str(each) for each in command], capture_output=True, text=True, env=clean_environment(UV_NO_CONFIG="1", **HERE_ONLY))
        assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
        return ended.stdout + ended.stderr

    def install(self, index_url: str, *packages: str) -> set[str]:
        if self.tool == "uv":
            self.run(client("uv").bin / "uv", "pip", "install", "--python", self.python, "--no-cache", "--prerelease=allow", "--index-url", index_url, *packages)
        else:
            environments.pip_install(self.place, "--no-cache-dir", "--pre", "--index-url", index_url, *packages, environment=HERE_ONLY)
        return {path.name.removesuffix(".dist-info") for path in self.place.glob("lib/python3*/site-packages/rocm*.dist-info")}

    def test(self) -> str:
        said = self.run(self.place / "bin/rocm-sdk", "test", "-q")
        assert "0 failed" in said, said
        return said

    def kernel(self) -> str:
        (found,) = self.place.glob("lib/python3*/site-packages/_rocm_sdk_libraries/lib/.kpack/blas_lib_gfx942.kpack")
        return found.read_text()


def packages_of(version: str) -> set[str]:
    return {f"{name}-{version}" for name in ("rocm", "rocm_sdk_core", "rocm_sdk_libraries", "rocm_sdk_device_gfx942")}


def test_the_line(line, tmp_path_factory, report_only_policy):
    root = tmp_path_factory.mktemp("line")
    index_url = f"{line.dist.bare_url}/{PREFIX}/simple/"

    # What lies there: an older release, published by other tools.
    old = upload_by_scripts(line, build(root / "old", "7.1.0") / "dist", root)
    before = line.keys()

    # The new one, from split artifacts into a run, and from the run into a clean environment, where it is tested.
    packages = build(root / "new", "7.2.0")
    line.good("publish", packages, "--run-id", "42", "--platform", "linux", "--layout", "aug", "--channel", "staging")
    environment = root / "tested"
    line.good("venv", "install", *BY_UV, environment, "--from", "run:42", "--packages", WANTED)
    tested = line.good("test", "--venv", environment, "--from", "run:42", "--json").json
    assert tested["result"] == "passed" and tested["evidence"]

    # Promoted: the channel moves, and the bucket of releases gets it beside what it had.
    words = ("--policy", report_only_policy, "--to-store", line.dist.locator, "--distributions", "therock-v4")
    planned = line.good("promote", "--from", "channel:staging", "--to", "stable", *words, "--dry-run")
    assert f"would take over {len(old)} files of other tools" in planned.out and line.keys() == before
    promoted = line.good("promote", "--from", "channel:staging", "--to", "stable", *words, "--json").json["distribution"]
    (history,) = promoted["history"]
    assert {file["filename"] for file in history["files"]} == set(old)
    assert {name: line.dist.client().get(line.dist.bucket, f"{PREFIX}/{name}") for name in old} == old
    for tool in ("pip", "uv"):
        new = Environment(root / f"new-{tool}", tool)
        assert new.install(index_url, WANTED) == packages_of("7.2.0")
        assert "code of 7.2.0" in new.kernel()
        new.test()
        kept = Environment(root / f"kept-{tool}", tool)
        assert kept.install(index_url, f"{WANTED}==7.1.0") == packages_of("7.1.0")

    # The next release, and back: the bucket lists the release before again, everything else stays.
    line.good("publish", build(root / "bad", "7.3.0"), "--run-id", "43", "--platform", "linux", "--layout", "aug")
    line.good("promote", "--from", "run:43", "--to", "stable", *words)
    assert "7.3.0" in line.page("rocm-sdk-core")
    place = ("--to-store", line.dist.locator, "--distributions", "therock-v4")
    told = line.good("rollback", "stable", *place, "--dry-run").out
    assert f"would move  {PREFIX}@" in told and "1 set out, 0 back, 7 files blocked" in told and "7.3.0" in line.page("rocm-sdk-core")
    rolled_back = line.good("rollback", "stable", *place, "--reason", "breaks import torch", "--json").json
    (moved,) = rolled_back["distributions"]
    assert (moved["directory"], moved["moved"], moved["sets_left"], moved["blocked"]) == (PREFIX, True, 1, 7)
    assert f"{PREFIX}/rocm-7.3.0.tar.gz" in line.keys() and "7.3.0" not in line.page("rocm-sdk-core")
    for tool in ("pip", "uv"):
        back = Environment(root / f"back-{tool}", tool)
        assert back.install(index_url, WANTED) == packages_of("7.2.0")
        back.test()
        channel = Environment(root / f"channel-{tool}", tool)
        assert channel.install(f"{line.builds.bare_url}/channels/stable/simple/", WANTED) == packages_of("7.2.0")
        kept = Environment(root / f"still-{tool}", tool)
        assert kept.install(index_url, f"{WANTED}==7.1.0") == packages_of("7.1.0")
    after = line.keys()
    again = line.quarry("rollback", "stable", *place)
    assert again.code == 7 and "O007" in again.err and line.keys() == after, again
    line.good("channel", "verify", "stable")
    checked = quarry("index", "check", f"{line.dist.locator}/{PREFIX}", "--json", environment=line.environment).json
    assert {finding["code"] for finding in checked["findings"]} <= {"I011", "I023", "I024"}, checked["findings"]
