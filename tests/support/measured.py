"""What a command costs, whatever the memory of the process that runs the tests: Linux counts what a process had before it became the
command, and a child of pytest begins with all of its memory. A small Python in between has 10 MB."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

BETWEEN = """
import json, os, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"code": done.returncode, "said": done.stdout.decode(errors="replace"), "seconds": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss * 1024}))
"""


@dataclass(frozen=True)
class Measured:
    code: int
    said: str  # both streams
    seconds: float  # of processors
    peak: int  # bytes of memory


def measured(*command: str | Path, environment: dict[str, str] | None = None) -> Measured:
    between = [sys.executable, "-I", "-S", "-c", BETWEEN, *map(str, command)]
    return Measured(**json.loads(subprocess.run(between, stdout=subprocess.PIPE, check=True, env=environment).stdout))
