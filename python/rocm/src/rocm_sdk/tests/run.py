"""`rocm-sdk test`: collects the cases, runs them, prints each, writes the reports. Exit code 0 if and only if nothing failed."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from pathlib import Path

from .. import _dist_info
from . import _base, _devel_tree, _files, _report, _uninstall
from ._case import ERROR, FAILED, PASSED, Case, Row, run_all, select


def main(arguments: argparse.Namespace) -> int:
    chosen = select(all_cases(), arguments.only or [])
    if not chosen:
        print(f"error: no test is called {' or '.join(arguments.only)}", file=sys.stderr)
        return 2
    print(f"rocm-sdk {_dist_info.__version__}  Python {platform.python_version()}  {sys.platform} {platform.machine()}")
    start, started = time.monotonic(), _report.now()
    rows = run(chosen, arguments.jobs or os.cpu_count() or 1, arguments.quiet)
    if arguments.json:
        _report.write_json(Path(arguments.json), rows, started, arguments.only or [])
    if arguments.junit:
        _report.write_junit(Path(arguments.junit), rows)
    print(f"{len(rows)} tests in {time.monotonic() - start:.1f} s")
    print(_report.closing_line(rows))
    return int(any(row.outcome in (FAILED, ERROR) for row in rows))


def all_cases() -> list[Case]:
    return [*_base.cases(), *_files.cases(), *_devel_tree.cases(), *_uninstall.cases()]


def run(cases: list[Case], jobs: int, quiet: bool) -> list[Row]:
    rows = []
    for row in run_all(cases, jobs):
        rows.append(row)
        if not (quiet and row.outcome == PASSED):
            print(_report.line(row), flush=True)
    return rows
