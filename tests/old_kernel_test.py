"""What works where the kernel, or a container's filter, refuses newer system calls: memfd_create, openat2, statx, copy_file_range."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from support import seccomp, small_artifacts
from support.quarry import PROGRAM, clean_environment

FAMILY = "gfx94X-dcgpu"


@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EPERM])
def test_from_artifacts_to_a_sealed_set(error: int, tmp_path: Path):
    artifacts = small_artifacts.make(tmp_path, (FAMILY,))

    def run(*words: str | Path) -> str:
        command = [sys.executable, seccomp.__file__, str(error), PROGRAM, *map(str, words)]
        ended = subprocess.run(command, capture_output=True, text=True, env=clean_environment(), cwd=tmp_path)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    probe = [sys.executable, seccomp.__file__, str(error), sys.executable, "-c", "import os; os.memfd_create('x')"]
    assert subprocess.run(probe, capture_output=True).returncode != 0, "the filter lets calls through"
    run("artifact", "pack", artifacts, "--output-dir", tmp_path / "packed")
    run("artifact", "fetch", "--from", tmp_path / "packed", "--output-dir", tmp_path / "fetched")
    run("artifact", "fetch", "--from", tmp_path / "packed", "--output-dir", tmp_path / "flat", "--flatten")
    run("sdk", "build", "--artifact-dir", tmp_path / "fetched", "--dest-dir", tmp_path / "out", "--version", "1.0", "--profile", "ci")
    run("wheel", "verify", tmp_path / "out/dist")
    store = f"file:{tmp_path}/store"
    run("publish", tmp_path / "out", "--store", store, "--run-id", "1", "--platform", "linux", "--channel", "staging")
    run("set", "verify", "run:1", "--store", store)
    assert "sound" in run("index", "check", tmp_path / "store/channels/staging/simple")
