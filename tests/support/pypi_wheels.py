"""Wheels of PyPI with recorded digests (tests/data/pypi-wheels.toml), fetched once by pip and kept below build/downloads/wheels."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

from .clients import client
from .quarry import ROOT

RECORDED = ROOT / "tests/data/pypi-wheels.toml"
KEPT = ROOT / "build/downloads/wheels"


@dataclass(frozen=True)
class Recorded:
    project: str
    file: str
    sha256: str
    size: int
    why: str
    usual: bool = False
    device_code: bool = False  # for AMD's GPUs

    @property
    def is_for_linux(self) -> bool:
        return "linux" in self.file.rsplit("-", 1)[1]

    @property
    def version(self) -> str:
        return self.file.split("-")[1]


def recorded() -> list[Recorded]:
    return [Recorded(**row) for row in tomllib.loads(RECORDED.read_text())["wheel"]]


def _is_sound(path: Path, wheel: Recorded) -> bool:
    return path.is_file() and path.stat().st_size == wheel.size and hashlib.sha256(path.read_bytes()).hexdigest() == wheel.sha256


def fetched(wheel: Recorded) -> Path:
    """The wheel as a local file, with exactly the recorded bytes; pip takes it from the index that this machine is set up for."""
    path = KEPT / wheel.file
    KEPT.mkdir(parents=True, exist_ok=True)
    with open(KEPT / f".{wheel.file}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_sound(path, wheel):
            path.unlink(missing_ok=True)
            _download(wheel)
            assert _is_sound(path, wheel), f"{path} does not have the recorded bytes"
    return path


def _download(wheel: Recorded) -> None:
    python, abi, platforms = wheel.file.removesuffix(".whl").split("-")[-3:]
    requirement = KEPT / f".{wheel.file}.txt"
    requirement.write_text(f"{wheel.project}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
    version = python[2:] if len(python) > 3 else "312"  # py3: any that the project supports
    tags = ["--implementation", python[:2], "--python-version", version, "--abi", abi]
    tags += [word for platform in platforms.split(".") for word in ("--platform", platform)]
    environment = {k: v for k, v in os.environ.items() if k not in ("PIP_FIND_LINKS", "PIP_NO_INDEX", "PYTHONPATH")}
    command = [client("pip-newest").bin / "python", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    ended = subprocess.run([*command, *tags, "--dest", KEPT, "--requirement", requirement], env=environment, capture_output=True, text=True)
    requirement.unlink()
    if ended.returncode:
        raise RuntimeError(f"cannot fetch {wheel.file}: {ended.stderr}")
