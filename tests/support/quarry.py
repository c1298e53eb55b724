"""Running the program under test."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What a machine remembers: uploads in progress, channels that it has seen. Paths of stores come again in another run of the tests.
STATE = tempfile.TemporaryDirectory(prefix="quarry-state-")
# For a test that needs an environment and asks nothing about pip: uv makes one in a tenth of a second, pip's takes four.
BY_UV = ("--installer", "uv")
PROGRAM = Path(os.environ.get("QUARRY", ROOT / "build/release/quarry"))


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        return json.loads(self.out)


def clean_environment(**more: str) -> dict[str, str]:
    """What a fresh login has: nothing that pip, uv or quarry would read."""
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TMPDIR", "SSL_CERT_FILE")}
    keep["PATH"] = f"{keep.get('PATH', os.defpath)}:{ROOT / 'build/tools/bin'}"
    return {**keep, "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1", "XDG_STATE_HOME": STATE.name, **more}


def quarry(*arguments: str | Path, environment: dict[str, str] | None = None, cwd: Path | None = None, timeout: float = 600, input: str | None = None) -> Done:
    ended = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, input=None if input is None else input.encode(), env=environment or clean_environment(), cwd=cwd, timeout=timeout)
    return Done(ended.returncode, ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace"))


def good(*arguments: str | Path, **options) -> Done:
    """Must end with 0."""
    done = quarry(*arguments, **options)
    assert done.code == 0, f"quarry {' '.join(map(str, arguments))} ended with {done.code}\n{done.out}\n{done.err}"
    return done


def refused(code: str, exit_code: int, *arguments: str | Path, **options) -> Done:
    """Must end with `exit_code` and name the error `code`; says nothing on stdout that a script could take for a result."""
    done = quarry(*arguments, **options)
    assert done.code == exit_code, f"ended with {done.code}, expected {exit_code}\n{done.out}\n{done.err}"
    assert f"[{code}]" in done.err, f"expected [{code}] in\n{done.err}"
    return done
