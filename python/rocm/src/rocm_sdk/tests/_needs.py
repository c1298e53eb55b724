"""What a test needs of the machine."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys

# A Perl that takes longer to say whether it has a module is broken.
PROBE_TIMEOUT_SECONDS = 30


def unmet(needs: list[str]) -> str:
    """Why the first of `needs` is not met here; empty if all are."""
    return next((reason for need in needs if (reason := _why_not(need))), "")


@functools.cache
def _why_not(need: str) -> str:
    kind, _, value = need.partition(":")
    if kind == "gpu":
        return _why_no_gpu()
    if kind == "perl":
        return _why_no_perl_module(value)
    if kind == "program":
        return "" if shutil.which(value) else f"needs the program {value}, which is not on PATH"
    if kind == "file":
        return "" if os.path.exists(value) else f"needs {value}, which this machine does not have"
    return f"needs {need!r}, which this version cannot look for"


def _why_no_gpu() -> str:
    if sys.platform == "win32":
        return "" if shutil.which("hipInfo") else "needs a GPU, and no driver was found"
    if not os.path.exists("/dev/kfd"):
        return "needs a GPU: there is no /dev/kfd"
    return "" if os.access("/dev/kfd", os.R_OK | os.W_OK) else "needs a GPU: /dev/kfd may not be opened"


def _why_no_perl_module(module: str) -> str:
    perl = shutil.which("perl")
    if not perl:
        return f"needs Perl with {module}, and there is no Perl"
    command = [perl, f"-M{module}", "-e1"]
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=PROBE_TIMEOUT_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        return f"needs the Perl module {module}: {error}"
    return "" if done.returncode == 0 else f"needs the Perl module {module}, which is not installed"
