"""Fixtures: a small release, and directories in which it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import fake_sdk  # noqa: E402
from fake_sdk import Release  # noqa: E402
from installation import Site  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--heavy", action="store_true", help="also install with real installers, and kill at every step")
    parser.addoption("--uv", default="", help="the program uv")
    parser.addoption("--pip-wheels", default="", help="a directory of wheels of pip, each of which is tried")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--heavy"):
        left_out = [item for item in items if item.path.name == "test_installed.py"]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def heavy(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--heavy"))


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_", "ROCM_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_sdk.compile_objects(tmp_path_factory.mktemp("objects"))


@pytest.fixture(scope="session")
def make_dist(tmp_path_factory: pytest.TempPathFactory, objects: Path) -> Callable[..., Path]:
    """Distributions of a release, each release made once."""
    made: dict[str, Path] = {}

    def make(**changes: Any) -> Path:
        key = repr(sorted(changes.items()))
        if key not in made:
            made[key] = Release(**changes).make(tmp_path_factory.mktemp("dist"), objects)
        return made[key]

    return make


@pytest.fixture(scope="session")
def make_template(tmp_path_factory: pytest.TempPathFactory, make_dist: Callable[..., Path]) -> Callable[..., Path]:
    """A site-packages directory with a release installed in it; copy it, do not change it."""
    made: dict[str, Path] = {}

    def make(*without: str, **changes: Any) -> Path:
        key = repr((without, sorted(changes.items())))
        if key not in made:
            dist = make_dist(**changes)
            wheels = tmp_path_factory.mktemp("wheels")
            for wheel in dist.glob("*.whl"):
                shutil.copy(wheel, wheels)
            build_wheel(Release(**changes).source_tree(wheels / "source"), wheels)
            made[key] = fake_sdk.install_by_unzipping(wheels, tmp_path_factory.mktemp("site"), without)
        return made[key]

    return make


@pytest.fixture
def make_site(tmp_path: Path, make_template: Callable[..., Path]) -> Iterator[Callable[..., Site]]:
    count = 0

    def make(*without: str, **changes: Any) -> Site:
        nonlocal count
        count += 1
        path = tmp_path / f"site{count}"
        shutil.copytree(make_template(*without, **changes), path, symlinks=True)
        return Site(path)

    yield make
    for path in tmp_path.glob("site*"):
        subprocess.run(["chmod", "-R", "u+w", str(path)], check=False)


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    return make_site("rocm_sdk_libraries_gfx94x")


@pytest.fixture(scope="session")
def sdk(make_template: Callable[..., Path]) -> ModuleType:
    """The run-time package in this process, of a release installed without devel."""
    sys.path.insert(0, str(make_template("rocm_sdk_devel", "rocm_sdk_libraries_gfx94x")))
    import rocm_sdk

    return rocm_sdk


def build_wheel(tree: Path, destination: Path, environ: dict[str, str] | None = None) -> Path:
    """What an installer does with the sdist: the hooks in a process of their own, the working directory in the tree."""
    code = "import sys; sys.path.insert(0, 'backend'); import rocm_build; print(rocm_build.build_wheel(sys.argv[1]))"
    command = [sys.executable, "-S", "-c", code, str(destination)]
    done = subprocess.run(command, cwd=tree, env={**os.environ, **(environ or {})}, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return destination / done.stdout.strip()
