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
    answer: str  # standard output alone: warnings stand beside it

    def describe(self) -> str:
        how = f"signal {signal.Signals(-self.code).name}" if self.code < 0 else f"exit code {self.code}"
        return f"{how}: {self.output.strip()[-MESSAGE_CHARACTERS_MAX:] or 'no output'}"


def run(command: Sequence[str], environ: Mapping[str, str] | None = None) -> Finished:
    """Runs to the end; raises Failed if it takes too long (what it has started is ended too) or cannot be started.

    It stays in this process group, so that whoever ends the group ends everything.
    """
    try:
        child = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**_inherited(), **(environ or {})},
        )
    except OSError as error:
        raise Failed(f"cannot run {command[0]}: {error.strerror}") from None
    try:
        output, errors = child.communicate(timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        _end(child)
        raise Failed(f"{' '.join(command)} did not end within {TIMEOUT_SECONDS} s") from None
    return Finished(child.returncode, (output + b"\n" + errors).decode("utf-8", "replace"), output.decode("utf-8", "replace"))


def python(code: str, *arguments: str, environ: Mapping[str, str] | None = None) -> Finished:
    return run([sys.executable, "-c", code, *arguments], {**_same_packages(), **(environ or {})})


def command_line(*arguments: str, environ: Mapping[str, str] | None = None) -> Finished:
    """`rocm-sdk` with these arguments."""
    return run([sys.executable, "-m", "rocm_sdk", *arguments], {**_same_packages(), **(environ or {})})


def _inherited() -> dict[str, str]:
    """This process's environment without what would preload libraries; nothing is written beside what is tested."""
    kept = {key: value for key, value in os.environ.items() if key != "ROCM_SDK_PRELOAD_LIBRARIES"}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}


def _same_packages() -> dict[str, str]:
    """Makes a Python find the packages that this one has found, whatever lies in the current directory."""
    site = str(Path(__file__).resolve().parents[2])
    paths = [site, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), "PYTHONSAFEPATH": "1"}


def _end(child: subprocess.Popen[bytes]) -> None:
    for pid in [*_descendants(child.pid), child.pid]:
        try:
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        except ProcessLookupError:
            pass
    child.communicate()


def _descendants(pid: int) -> list[int]:
    """The processes below `pid` as /proc shows them; none on a system without it."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()  # after the name, which may hold anything
        except OSError:  # it has ended
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = list(children.get(pid, []))
    for each in found:
        found += children.get(each, [])
    return found
