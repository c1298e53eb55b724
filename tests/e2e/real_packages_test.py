"""`sdk build` on Debian's real ROCm packages (1.6 GB, once), the recorded facts, and every client that must accept the result."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import debian_rocm, dist_facts, environments  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import ROOT, clean_environment, good  # noqa: E402
from support.usual import LONG, long  # noqa: E402


@pytest.fixture(scope="module")
def real() -> Path:
    """OUT of `sdk build`, kept below build/ until the next run."""
    out = ROOT / "build/e2e-real"
    good("sdk", "build", "--artifact-dir", debian_rocm.artifacts(), "--dest-dir", out, "--version", "7.2.0", "--profile", "release" if LONG else "ci")
    return out / "dist"


def test_members_agree_with_the_recorded_facts(real):
    recorded = json.loads((ROOT / "tests/data/incumbent-debian-wheels.json").read_text())
    recorded.pop("_input")
    rows = dist_facts.read_allowed(ROOT / "docs/differences.tsv", "recorded")
    allowed = [(*place.split("!", 1), reason) for _, place, reason in rows]
    agree, bad = dist_facts.differences(recorded, dist_facts.facts(real), allowed)
    assert not bad, "\n".join(bad[:40])
    assert agree > 400


def test_quarry_verifies_its_own_wheels(real):
    good("wheel", "verify", *sorted(real.glob("*.whl")))


RECORD_CHECK = "import sys; from installer.sources import WheelFile\nwith WheelFile.open(sys.argv[1]) as w: w.validate_record(validate_contents=True)"


# Every byte of the libraries is read through zipfile, which compares its CRC, when facts are taken.
@pytest.mark.parametrize("name", ["core", "devel", pytest.param("libraries", marks=long)])
def test_zipfile_accepts_them(real, name):
    (wheel,) = real.glob(f"rocm_sdk_{name}*.whl")
    subprocess.run([sys.executable, "-m", "zipfile", "-t", wheel], check=True, capture_output=True)


@pytest.mark.parametrize("name", ["core", "devel", pytest.param("libraries", marks=long)])
def test_installer_accepts_their_records(real, name):
    (wheel,) = real.glob(f"rocm_sdk_{name}*.whl")
    done = client("installer").python("-c", RECORD_CHECK, wheel)
    assert done.returncode == 0, done.stdout + done.stderr


def test_twine_accepts_their_metadata(real):
    done = client("twine").run("check", "--strict", *sorted(real.glob("[!.]*")))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", [pytest.param("core", marks=long), "libraries"])
def test_auditwheel_reads_them(real, name):
    done = client("auditwheel").run("show", next(real.glob(f"rocm_sdk_{name}*.whl")))
    assert done.returncode == 0 and "is consistent with the following platform tag" in re.sub(r"\s+", " ", done.stdout), done.stdout + done.stderr


@pytest.mark.parametrize("name", ["pip-oldest", "pip-newest"])
def test_pip_accepts_them(real, tmp_path, name):
    """Downloads them through the resolver and unpacks core: what an installation does, without the minute that 1.3 GB take."""
    pip = client(name)
    done = pip.run("install", "--no-index", "--find-links", real, "--target", tmp_path / "site", "--no-compile", "rocm-sdk-core")
    assert done.returncode == 0, done.stderr


def test_installed_sdk_passes_its_own_tests(real, tmp_path):
    """Nothing but these packages: every library loads in its own process, every script that can run here does."""
    environment = environments.make(tmp_path / "venv")
    environments.pip_install(environment, "--no-index", "--find-links", real, "rocm[libraries,devel]")
    done = subprocess.run([environment / "bin/rocm-sdk", "test"], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert re.search(r"\b0 failed", done.stdout)
