"""Running a command and what it cost: wall and CPU seconds, peak RSS, bytes written to disk."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float
    rss_mb: float
    written_mb: float
    output: str

    def __str__(self) -> str:
        return f"{self.wall:.2f} s, {self.cpu:.2f} CPU-s, {self.rss_mb:.0f} MB RSS"


def run(*command: str | Path, environment: dict[str, str] | None = None, cwd: Path | None = None, successes: tuple[int, ...] = (0,)) -> Cost:
    """Runs to the end; an exit code that is not one of `successes` stops the benchmark. RSS and blocks are the largest and the sum over
    the command and its children."""
    begin = time.monotonic()
    child = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, cwd=cwd)
    output = child.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in successes:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {child.returncode}\n{output[-3000:]}")
    return Cost(time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, usage.ru_oublock * 512 / 1e6, output)


def median(costs: list[Cost]) -> Cost:
    """The run with the median wall time."""
    middle = statistics.median_low([c.wall for c in costs])
    return next(c for c in costs if c.wall == middle)


def repeat(times: int, prepare, *command: str | Path, **options) -> Cost:
    costs = []
    for _ in range(times):
        prepare()
        costs.append(run(*command, **options))
    return median(costs)


def machine() -> str:
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "unknown CPU")
    return f"{len(os.sched_getaffinity(0))} cores of {model}, Linux {os.uname().release.split('-')[0]}"
