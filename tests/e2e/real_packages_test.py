"""`sdk build` on Debian's real ROCm packages (1.6 GB, once), the recorded facts, and every client that must accept the result."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import dist_facts  # noqa: E402
from support.clients import tool, venv_with  # noqa: E402
from support.quarry import ROOT, clean_environment, good  # noqa: E402

ARTIFACTS = ROOT / "build/downloads/demo/artifacts"


@pytest.fixture(scope="module")
def real() -> Path:
    """OUT of `sdk build`, kept below build/ until the next run."""
    subprocess.run([ROOT / "tools/demo-artifacts", ROOT / "build/downloads/demo", "gfx103X-dgpu"], check=True)
    out = ROOT / "build/e2e-real"
    good("sdk", "build", "--artifact-dir", ARTIFACTS, "--dest-dir", out, "--version", "7.2.0", "--profile", "release")
    return out / "dist"


def test_members_agree_with_the_recorded_facts(real):
    recorded = json.loads((ROOT / "tests/data/incumbent-debian-wheels.json").read_text())
    recorded.pop("_input")
    allowed = dist_facts.read_allowed(ROOT / "docs/differences.tsv")
    agree, bad = dist_facts.differences(recorded, dist_facts.facts(real), allowed)
    assert not bad, "\n".join(bad[:40])
    assert agree > 400


def test_quarry_verifies_its_own_wheels(real):
    good("wheel", "verify", *sorted(real.glob("*.whl")))


@pytest.mark.parametrize("check", ["zipfile", "installer", "twine"])
def test_public_tools_accept_them(real, check):
    python = tool("python")
    for wheel in sorted(real.glob("*.whl")):
        if check == "zipfile":
            command = [python, "-m", "zipfile", "-t", wheel]
        elif check == "installer":
            script = "import sys; from installer.sources import WheelFile\nwith WheelFile.open(sys.argv[1]) as w: w.validate_record(validate_contents=True)"
            command = [python, "-c", script, wheel]
        else:
            command = [python, "-m", "twine", "check", "--strict", wheel]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_twine_accepts_the_sdist(real):
    done = subprocess.run([tool("python"), "-m", "twine", "check", "--strict", next(real.glob("*.tar.gz"))], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["core", "libraries"])
def test_auditwheel_reads_them(real, name):
    wheel = next(real.glob(f"rocm_sdk_{name}*.whl"))
    done = subprocess.run([tool("auditwheel"), "show", wheel], capture_output=True, text=True, env=clean_environment(PATH=f"{Path(tool('python')).parent}:/usr/bin:/bin"))
    assert done.returncode == 0 and "is consistent with the following platform tag" in re.sub(r"\s+", " ", done.stdout), done.stdout + done.stderr


def test_installed_sdk_passes_its_own_tests(real, tmp_path):
    """The newest pip, nothing but these packages: every library loads in its own process."""
    venv = venv_with("pip", tmp_path / "venv")
    done = subprocess.run([venv / "bin/pip", "install", "-q", "--no-index", "--find-links", real, "rocm[libraries,devel]"], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0, done.stderr
    done = subprocess.run([venv / "bin/rocm-sdk", "test"], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert re.search(r"\b0 failed", done.stdout)
