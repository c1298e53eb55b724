"""A base index of four small distributions, filled from an upstream that is gone afterwards."""

from __future__ import annotations

import hashlib
from pathlib import Path

from . import distributions, static_server
from .quarry import good

PACKAGES = (("setuptools", "80.0", ()), ("wheel", "0.45", ()), ("demo-app", "1.0", ("demo-base>=1",)), ("demo-base", "1.0+up.1", ()))


def upstream(directory: Path) -> Path:
    """An index of the packages, and `requirements.txt`, which wants demo-app."""
    (directory / "files").mkdir()
    for name, version, requires in PACKAGES:
        path = distributions.wheel(directory / "files", name, version, requires=requires)
        page = directory / "simple" / name / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(f'<!DOCTYPE html><a href="../../files/{path.name.replace("+", "%2B")}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}">{path.name}</a>')
    (directory / "requirements.txt").write_text("demo-app\n")
    return directory


def sync(directory: Path, locator: str, environment: dict[str, str], *more: str, times: int = 1) -> list:
    """Results of `mirror sync` of that upstream into a store."""
    with static_server.serve(directory) as (url, _):
        command = ("mirror", "sync", directory / "requirements.txt", "--store", locator, "--python", "3.10,3.11,3.12,3.13", "--platform", "linux,windows", "--index-url", f"{url}/simple/", *more)
        return [good(*command, environment=environment) for _ in range(times)]
