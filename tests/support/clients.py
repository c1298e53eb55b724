"""Foreign tools in virtual environments of their own, made once and kept under build/clients.

    client("pip-oldest").run("download", …)    the tool itself
    client("html5lib").python("-c", …)         its interpreter

Names and versions are in tests/requirements.txt.
"""

from __future__ import annotations

import fcntl
import functools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .quarry import ROOT, clean_environment

REQUIREMENTS = ROOT / "tests/requirements.txt"
CLIENTS = Path(os.environ.get("QUARRY_TEST_CLIENTS", ROOT / "build/clients"))
# pip 22.3 imports modules that Python 3.12 dropped.
NEWEST_PYTHON = {"pip-oldest": (3, 11)}


@dataclass(frozen=True)
class Client:
    name: str
    version: str
    home: Path

    @property
    def bin(self) -> Path:
        return self.home / "bin"

    def _run(self, command: list, timeout: float, **options) -> subprocess.CompletedProcess:
        environment = clean_environment(UV_NO_CONFIG="1", UV_CACHE_DIR=str(self.home / "uv-cache"), **options.pop("environment", {}))
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment, timeout=timeout, **options)

    def run(self, *words, timeout: float = 600, **options) -> subprocess.CompletedProcess:
        """The tool with these words, in an environment that holds no setting of this machine."""
        tool = self.name.split("-")[0]
        command = [self.bin / "python", "-m", "pip", "--isolated", "--disable-pip-version-check"] if tool == "pip" else [self.bin / tool]
        return self._run([*command, *words], timeout, **options)

    def python(self, *words, timeout: float = 600, **options) -> subprocess.CompletedProcess:
        return self._run([self.bin / "python", *words], timeout, **options)


def pins() -> dict[str, str]:
    """Client name -> requirement."""
    found = re.findall(r"^(\S+==\S+)\s+# client: (\S+)", REQUIREMENTS.read_text(), re.MULTILINE)
    return {name: requirement for requirement, name in found}


def pythons() -> dict[tuple[int, int], Path]:
    """Interpreters by version: on PATH, and what pyenv keeps."""
    candidates = [Path(sys.executable).with_name("python3")]
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        candidates += sorted(Path(directory).glob("python3.[0-9]*")) if directory else []
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates += sorted(pyenv.glob("3.*/bin/python3"))
    found: dict[tuple[int, int], Path] = {}
    for candidate in candidates:
        if not re.fullmatch(r"python[0-9.]*", candidate.name) or "shims" in candidate.parts:
            continue
        version = _version_of(candidate)
        if version:
            found.setdefault(version, candidate)
    return found


def _version_of(python: Path) -> tuple[int, int] | None:
    ended = subprocess.run([python, "-c", "import sys, venv; print(*sys.version_info[:2])"], capture_output=True, text=True)
    return tuple(map(int, ended.stdout.split())) if ended.returncode == 0 else None


def _python_for(name: str) -> Path:
    newest = NEWEST_PYTHON.get(name)
    if not newest or sys.version_info[:2] <= newest:
        return Path(sys.executable)
    fitting = {version: path for version, path in pythons().items() if (3, 8) <= version <= newest}
    if not fitting:
        raise LookupError(f"{name} needs a Python of at most {newest[0]}.{newest[1]}")
    return fitting[max(fitting)]


@functools.cache
def client(name: str) -> Client:
    """The client of that name; made on first use, by one process at a time."""
    requirement = pins()[name]
    home = CLIENTS / requirement.replace("==", "-")
    CLIENTS.mkdir(parents=True, exist_ok=True)
    with open(CLIENTS / f"{home.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "complete").exists():
            shutil.rmtree(home, ignore_errors=True)
            _make(home, requirement, _python_for(name))
            (home / "complete").touch()
    return Client(name, requirement.partition("==")[2], home)


def _make(home: Path, requirement: str, python: Path) -> None:
    subprocess.run([python, "-m", "venv", "--without-pip", home], check=True, capture_output=True)
    # Installing needs the network as this machine is set up for it, but never a local directory that shadows the pins.
    environment = {k: v for k, v in os.environ.items() if k not in ("PIP_FIND_LINKS", "PIP_NO_INDEX", "PYTHONPATH")}
    command = [sys.executable, "-m", "pip", "--python", home / "bin/python", "install", "--quiet", requirement]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode:
        raise RuntimeError(f"cannot install {requirement}: {ended.stderr}")
