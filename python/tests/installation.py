"""A directory with the packages installed, seen from outside: run things in it, list it, compare it with RECORD."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

DEVEL = "_rocm_sdk_devel"


@dataclass
class Site:
    path: Path

    def environ(self, **changes: str) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.path), **changes}

    def run(self, *arguments: str, prefix: tuple[str, ...] = (), **changes: str) -> subprocess.CompletedProcess[str]:
        """`rocm-sdk` with these arguments."""
        command = [*prefix, sys.executable, "-m", "rocm_sdk", *arguments]
        return subprocess.run(command, env=self.environ(**changes), capture_output=True, text=True)

    def python(self, code: str, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, env=self.environ(**changes), capture_output=True, text=True)

    @property
    def record(self) -> Path:
        return next(self.path.glob("rocm_sdk_devel-*.dist-info")) / "RECORD"

    @property
    def devel(self) -> Path:
        return self.path / DEVEL

    def payload(self) -> list[Path]:
        return sorted((self.path / "rocm_sdk_devel").glob("_devel.tar*"))

    def tree(self, top: str = "") -> dict[str, str]:
        """Every file and link below `top`, with what it is: link text, or kind and content."""
        found = {}
        for directory, names, files in os.walk(self.path / top):
            for name in sorted(names + files):
                path = Path(directory, name)
                if path.is_symlink():
                    found[path.relative_to(self.path).as_posix()] = "-> " + os.readlink(path)
                elif path.is_file():
                    found[path.relative_to(self.path).as_posix()] = f"{path.stat().st_mode & 0o777:o} {path.read_bytes()!r}"
        return found

    def rows(self, record: Path | None = None) -> list[list[str]]:
        with (record or self.record).open(newline="") as text:
            return list(csv.reader(text))

    def left_by_uninstalling(self) -> list[str]:
        """What would stay if each package removed what its RECORD lists, as pip does: it passes over what os.path.exists denies."""
        listed = {row[0] for record in self.path.glob("*.dist-info/RECORD") for row in self.rows(record) if row}
        return [path for path in self.tree() if path not in listed or not (self.path / path).exists()]
