"""What works where the kernel, or a container's filter, refuses newer system calls: memfd_create, openat2, statx, copy_file_range."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import seccomp, small_artifacts
from support.quarry import PROGRAM, ROOT, clean_environment, good

FAMILY = "gfx94X-dcgpu"


@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EPERM])
def test_from_artifacts_to_a_sealed_set(error: int, tmp_path: Path):
    artifacts = small_artifacts.make(tmp_path, (FAMILY,))
    probe = [sys.executable, seccomp.__file__, str(error), sys.executable, "-c", "import os; os.memfd_create('x')"]
    assert subprocess.run(probe, capture_output=True).returncode != 0, "the filter lets calls through"
    line = [sys.executable, seccomp.__file__, str(error), ROOT / "tests/support/small_line.sh", PROGRAM, artifacts, tmp_path / "line"]
    ended = subprocess.run(line, capture_output=True, text=True, env=clean_environment())
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "sound" in ended.stdout.splitlines()[-1]


@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EPERM])
def test_the_doctor_says_which_calls_are_refused_and_what_is_done_instead(error: int, tmp_path: Path):
    shown = good("doctor", "--self", "--json", cwd=tmp_path).json
    found = {check["name"]: check for check in shown["checks"]}
    assert {found[call]["health"] for call in seccomp.CALLS} == {"ok"}
    command = [sys.executable, seccomp.__file__, str(error), PROGRAM, "doctor", "--self", "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    found = {check["name"]: check for check in json.loads(ended.stdout)["checks"]}
    for call in seccomp.CALLS:
        assert (found[call]["health"], found[call]["found"]) == ("note", os.strerror(error))
        assert "instead" in found[call]["next"]
