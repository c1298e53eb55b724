"""One run with two families on each of two platforms: every family of it installs, and tests green where its platform is at hand."""

from __future__ import annotations

import base64
import csv
import hashlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import small_artifacts, small_windows_artifacts  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry  # noqa: E402

pytestmark = pytest.mark.skipif(not small_windows_artifacts.available(), reason="needs gcc-mingw-w64-x86-64 (tools/setup --test)")

LINUX = ("gfx103X-dgpu", "gfx94X-dcgpu")
WINDOWS = ("gfx103X-dgpu", "gfx110X-all")
LISTS = ("--linux-amdgpu-families", ",".join(LINUX), "--windows-amdgpu-families", ",".join(WINDOWS))


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A store with run 7 of both platforms."""
    place = tmp_path_factory.mktemp("two-platforms")
    trees = {"linux": small_artifacts.make(place / "linux", LINUX), "windows": small_windows_artifacts.make(place / "windows", WINDOWS)}
    for platform, artifacts in trees.items():
        out = place / "out" / platform
        good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", out, "--version", "7.2.0", "--profile", "ci", "--platform", platform, *LISTS)
        good("publish", out, "--store", f"file:{place / 'store'}", "--run-id", "7", "--platform", platform)
    sdists = {(place / "out" / platform / "dist/rocm-7.2.0.tar.gz").read_bytes() for platform in trees}
    assert len(sdists) == 1, "one meta package for both"
    return place / "store"


@pytest.mark.parametrize("family", LINUX)
def test_each_family_of_linux_installs_and_tests_green(run, family, tmp_path):
    environment = clean_environment(ROCM_SDK_TARGET_FAMILY=family)
    words = ("--from", "run:7-linux", "--packages", "rocm[libraries,devel]", "--store", f"file:{run}")
    done = quarry("venv", "install", *BY_UV, tmp_path / "env", *words, environment=environment)
    assert done.code == 0, done.err
    done = quarry("test", "--venv", tmp_path / "env", "--store", f"file:{run}", "--family", family, "--json", environment=environment)
    assert done.code == 0, done.err
    installed = {s["filename"].split("-7.2.0")[0] for s in done.json["subjects"]}
    assert installed == {"rocm", "rocm_sdk_core", "rocm_sdk_devel", "rocm_sdk_libraries_" + family.lower().replace("-", "_")}
    assert done.json["result"] == "passed" and done.json["cell"]["family"] == family


@pytest.mark.parametrize("family", WINDOWS)
def test_each_family_of_windows_installs_as_recorded(run, family, tmp_path):
    """What pip does on Windows but running it: chooses the wheels by their tags, resolves, checks hashes, lays the files out."""
    project = f"rocm-sdk-libraries-{family.lower()}"
    index = run / "7-windows/python/simple"
    words = ("--platform", "win_amd64", "--only-binary", ":all:", "--no-compile", "--target", tmp_path / "site")
    done = client("pip-newest").run("install", *words, "--index-url", index.as_uri() + "/", project)
    assert done.returncode == 0, done.stderr
    for name in ("rocm_sdk_core", project.replace("-", "_")):
        rows = list(csv.reader((tmp_path / "site" / f"{name}-7.2.0.dist-info/RECORD").read_text().splitlines()))
        checked = [row for row in rows if row[1] and not row[0].startswith("..") and not row[0].endswith("RECORD")]
        for path, digest, _ in checked:
            found = base64.urlsafe_b64encode(hashlib.sha256((tmp_path / "site" / path).read_bytes()).digest()).rstrip(b"=")
            assert "sha256=" + found.decode() == digest, path
        assert any(path.endswith(".dll") for path, _, _ in checked)
