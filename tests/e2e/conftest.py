"""Fixtures that several end-to-end tests share: small artifacts, packages of two versions, a store."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import radosgw, small_artifacts  # noqa: E402
from support.quarry import PROGRAM, good  # noqa: E402


# Files of a minute and more begin first, so that no worker has one left when the others are done.
LONG = ("plain_bucket", "object_storage", "real_packages", "split_line", "roles", "history", "evidence_gate", "workflows", "bucket_writers")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    names = [f"{name}_test.py" for name in LONG]
    items.sort(key=lambda item: names.index(item.path.name) if item.path.name in names else len(names))


@pytest.fixture(scope="session", autouse=True)
def program() -> Path:
    assert PROGRAM.exists(), f"{PROGRAM} is missing: cmake --preset release && cmake --build --preset release"
    return PROGRAM


@pytest.fixture(scope="session")
def ceph():
    """A radosgw; each test makes buckets of its own."""
    assert radosgw.available(), "radosgw is missing: tools/setup --test"
    with radosgw.serve() as server:
        yield server


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory) -> Path:
    """Read-only: copy it before changing anything."""
    return small_artifacts.make(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def archives(artifacts, tmp_path_factory) -> Path:
    """The small artifacts as archives with checksums. Read-only."""
    packed = tmp_path_factory.mktemp("packed")
    good("artifact", "pack", artifacts, "--output-dir", packed)
    return packed


@pytest.fixture
def own_artifacts(artifacts, tmp_path) -> Path:
    copy = tmp_path / "artifacts"
    shutil.copytree(artifacts, copy, symlinks=True)
    return copy


def build(artifacts: Path, out: Path, version: str, *more: str) -> Path:
    good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", out, "--version", version, "--profile", "ci", *more)
    return out


@pytest.fixture(scope="session")
def packages(artifacts, tmp_path_factory) -> Path:
    """OUT of `sdk build` with version 7.2.0."""
    return build(artifacts, tmp_path_factory.mktemp("packages"), "7.2.0")


@pytest.fixture(scope="session")
def next_packages(artifacts, tmp_path_factory) -> Path:
    return build(artifacts, tmp_path_factory.mktemp("next"), "7.2.1")


def publish(packages: Path, store: Path, run: str, *more: str):
    return good("publish", packages, "--store", f"file:{store}", "--run-id", run, "--platform", "linux", "--artifact-group", small_artifacts.FAMILY, *more)


@pytest.fixture
def store(tmp_path, packages) -> Path:
    """A store in which run 1 is published and in channel `staging`."""
    root = tmp_path / "store"
    publish(packages, root, "1", "--channel", "staging")
    return root


@pytest.fixture
def report_only_policy(tmp_path) -> Path:
    """The demo's policy, which says what it would hold and holds nothing: for tests of moves, not of verdicts."""
    path = tmp_path / "report-only.toml"
    text = (Path(__file__).resolve().parents[2] / "data/policies/demo.toml").read_text()
    path.write_text(text.replace('name = "demo"\n', 'name = "demo"\nmode = "report_only"\n', 1))
    return path


@pytest.fixture
def rules(tmp_path) -> Path:
    """Rules of retention by which everything that nothing names leaves at once, with a day to bring it back."""
    path = tmp_path / "rules.toml"
    path.write_text("""
schema = "quarry.retention/1"
name = "at-once"
grace = "24h"
[[rule]]
name = "everything"
keep = "0s"
""")
    return path
