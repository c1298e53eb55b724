"""Child processes of the tests: bounded in time and output, with the same packages in sight."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ._case import Failed

# A library of 1.5 GB loads within seconds from a cold disk; a program prints its help at once.
TIMEOUT_SECONDS = 120
# Enough to tell what went wrong.
MESSAGE_CHARACTERS_MAX = 2000


@dataclass(frozen=True)
class Finished:
    code: int
    output: str  # standard output, then standard error

    def describe(self) -> str:
        how = f"signal {signal.Signals(-self.code).name}" if self.code < 0 else f"exit code {self.code}"
        return f"{how}: {self.output.strip()[-MESSAGE_CHARACTERS_MAX:] or 'no output'}"


def run(command: Sequence[str], environ: Mapping[str, str] | None = None) -> Finished:
    """Runs to the end; raises Failed if it takes too long or cannot be started. Its whole process group is ended then."""
    try:
        child = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child_environment(environ or {}),
            start_new_session=True,
        )
    except OSError as error:
        raise Failed(f"cannot run {command[0]}: {error.strerror}") from None
    try:
        output, errors = child.communicate(timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        _end_group(child)
        raise Failed(f"{' '.join(command)} did not end within {TIMEOUT_SECONDS} s") from None
    return Finished(child.returncode, (output + b"\n" + errors).decode("utf-8", "replace"))


def python(code: str, *arguments: str, environ: Mapping[str, str] | None = None) -> Finished:
    return run([sys.executable, "-c", code, *arguments], environ)


def command_line(*arguments: str, environ: Mapping[str, str] | None = None) -> Finished:
    """`rocm-sdk` with these arguments."""
    return run([sys.executable, "-m", "rocm_sdk", *arguments], environ)


def child_environment(changes: Mapping[str, str]) -> dict[str, str]:
    """This process's, without what would preload libraries, and with the directory that this package was found in."""
    site = str(Path(__file__).resolve().parents[2])
    inherited = {key: value for key, value in os.environ.items() if key != "ROCM_SDK_PRELOAD_LIBRARIES"}
    paths = [site, *filter(None, inherited.get("PYTHONPATH", "").split(os.pathsep))]
    return {**inherited, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), "PYTHONDONTWRITEBYTECODE": "1", **changes}


def _end_group(child: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.wait()
