"""What a test result depends on besides the files: the machine, its system, its GPUs. Plain facts, none of them secret."""

from __future__ import annotations

import os
import platform
import sys

from .. import _packages

PLATFORM = {"win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)


def facts() -> dict[str, str]:
    """Empty facts are left out. On GitHub's runners the host is the runner's name."""
    targets = _packages.detected_targets()
    gpu = ", ".join(targets) or ("AMD GPU driver present" if os.path.exists("/dev/kfd") else "none")
    found = {
        "host": os.environ.get("RUNNER_NAME", "").strip() or platform.node(),
        "host_class": f"{platform.machine()}, {os.cpu_count()} CPUs, {'no GPU' if gpu == 'none' else 'AMD GPU'}",
        "cpu": platform.processor(),
        "kernel": platform.release(),
        "os": platform.platform(),
        "gpu": gpu,
    }
    return {key: value for key, value in found.items() if value}
