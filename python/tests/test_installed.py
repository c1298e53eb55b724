"""With real installers: an index of plain files and nothing else, every command, and nothing left after uninstalling."""

from __future__ import annotations

import compileall
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_sdk import simple_index
from installation import Site

KILL_AT = Path(__file__).with_name("kill_at.py")
EVERYTHING = ("rocm-sdk-devel", "rocm-sdk-libraries-gfx103x-dgpu", "rocm-sdk-core", "rocm")
# The oldest pip that must do runs on these.
PIP_22_UP_TO = (3, 11)


@dataclass
class Environment:
    """A virtual environment without anything in it, and an installer from outside."""

    path: Path
    installer: Sequence[str]

    def bin(self, name: str) -> str:
        return str(self.path / "bin" / name)

    @property
    def is_uv(self) -> bool:
        return Path(self.installer[0]).name == "uv-pip"

    @property
    def site(self) -> Site:
        return Site(next(self.path.glob("lib/python3*/site-packages")))

    def run(self, *command: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environ})

    def install(self, index: Path, *packages: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return self.run(*self.installer, "install", "--index-url", index.as_uri(), *packages, **environ)

    def uninstall(self, *packages: str) -> None:
        confirmed = [] if self.is_uv else ["-y"]
        done = self.run(*self.installer, "uninstall", *confirmed, *packages)
        assert done.returncode == 0, done.stderr

    def content(self) -> list[str]:
        """Everything in the environment but caches and uv's lock."""
        found = [str(path.relative_to(self.path)) for path in self.path.rglob("*")]
        return sorted(path for path in found if "__pycache__" not in path and path != ".lock")


@pytest.fixture(scope="session")
def index(make_dist: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simple_index(make_dist(), tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="session")
def pips(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The versions of pip, oldest first, unpacked and compiled for this Python: they start in half the time."""
    found = []
    for wheel in sorted(Path(pytestconfig.getoption("--pip-wheels") or "/nonexistent").glob("pip-*.whl")):
        directory = tmp_path_factory.mktemp(wheel.name.split("-py")[0])
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(directory)
        compileall.compile_dir(directory, quiet=2, workers=0)
        found.append(directory / "pip")
    return found


@pytest.fixture(params=["pip oldest", "pip newest", "uv"])
def environment(request: pytest.FixtureRequest, pytestconfig: pytest.Config, tmp_path: Path) -> Environment:
    uv = pytestconfig.getoption("--uv")
    path = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(path)], check=True)
    python = str(path / "bin/python")
    if request.param == "uv":
        if not uv:
            pytest.skip("there is no uv")
        wrapper = tmp_path / "uv-pip"
        options = f'--no-config --offline --cache-dir "{tmp_path}/cache"'
        wrapper.write_text(f'#!/bin/sh\nverb=$1; shift\nexec "{uv}" {options} pip "$verb" --python "{python}" "$@"\n')
        wrapper.chmod(0o755)
        return Environment(path, [str(wrapper)])
    if request.param == "pip oldest" and sys.version_info[:2] > PIP_22_UP_TO:
        pytest.skip("the oldest pip does not run on this Python")
    pips = request.getfixturevalue("pips")
    if len(pips) < 2:
        pytest.skip("two wheels of pip are needed: --pip-wheels")
    pip = pips[0] if request.param == "pip oldest" else pips[-1]
    return Environment(path, [python, str(pip), "--isolated", "--disable-pip-version-check", "--no-cache-dir"])


def test_from_an_index_with_nothing_else(environment: Environment, index: Path, tmp_path: Path) -> None:
    before = environment.content()
    done = environment.install(index, "rocm[libraries,devel]")
    assert done.returncode == 0, done.stdout + done.stderr
    site = environment.site

    command = environment.bin("rocm-sdk")
    assert environment.run(command, "version").stdout == "7.2.0\n"
    assert environment.run(environment.bin("amdclang++"), "--help").stdout == "clang LLVM compiler\n"
    assert environment.run(environment.bin("hipconfig"), "a b").stdout.endswith("with a b\n")

    both = [subprocess.Popen([command, "path", "--root"], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == [f"{site.devel}\n"] * 2
    assert site.left_by_uninstalling() == []

    report = tmp_path / "report.json"
    tested = environment.run(command, "test", "--json", str(report))
    assert tested.returncode == 0, tested.stdout
    rows = {row["name"]: row["outcome"] for row in json.loads(report.read_text())["rows"]}
    assert (
        rows["base.script"]
        == rows["core.script.amdclang++"]
        == rows["core.script.hipconfig"]
        == rows["uninstall.rocm"]
        == "passed"
    )
    expected_skips = {"core.script.rocminfo", "core.script.roc-obj", "libraries.family"}
    if not Path("/dev/kfd").exists():
        assert {name for name, outcome in rows.items() if outcome == "skipped"} == expected_skips

    environment.uninstall("rocm-sdk-devel")
    assert not site.devel.exists()
    assert (site.path / "_rocm_sdk_core/bin/hipcc").exists()
    environment.uninstall(*EVERYTHING[1:])
    assert environment.content() == before


def test_the_family_is_chosen_when_installing_and_kept(environment: Environment, index: Path) -> None:
    done = environment.install(index, "rocm[libraries]", ROCM_SDK_TARGET_FAMILY="gfx94X-dcgpu")
    assert done.returncode == 0, done.stdout + done.stderr
    found = environment.run(environment.bin("python"), "-c", "import rocm_sdk; print(rocm_sdk.find_libraries('hipsparse')[0])")
    assert "_rocm_sdk_libraries_gfx94X_dcgpu" in found.stdout, found.stderr


def test_an_unknown_family_is_refused_with_the_names(environment: Environment, index: Path) -> None:
    before = environment.content()
    done = environment.install(index, "rocm[libraries]", ROCM_SDK_TARGET_FAMILY="gfx12")
    assert done.returncode != 0
    assert "gfx12: this release has no such family" in done.stdout + done.stderr
    assert "gfx103X-dgpu, gfx94X-dcgpu" in done.stdout + done.stderr
    assert environment.content() == before


def test_uninstalling_after_a_kill_leaves_nothing(environment: Environment, index: Path, tmp_path: Path) -> None:
    before = environment.content()
    assert environment.install(index, "rocm[libraries,devel]").returncode == 0
    saved = tmp_path / "saved"
    shutil.copytree(environment.path, saved, symlinks=True)
    changes = int(environment.run(environment.bin("python"), str(KILL_AT), str(environment.site.path), "0").stdout)
    for step in (2, 4, 5, changes // 3, changes - 6, changes - 3, changes - 1, changes):
        shutil.rmtree(environment.path)
        shutil.copytree(saved, environment.path, symlinks=True)
        done = environment.run(environment.bin("python"), str(KILL_AT), str(environment.site.path), str(step))
        assert done.returncode == -signal.SIGKILL, (step, done.stdout, done.stderr)
        environment.uninstall("rocm-sdk-devel")
        site = environment.site
        assert not [path for path in site.tree() if "devel" in path.split("/")[0]], step
        if not environment.is_uv:  # which leaves directories in which it has removed nothing
            assert not list(site.path.glob("*devel*")), step
    if not environment.is_uv:
        environment.uninstall(*EVERYTHING[1:])
        assert environment.content() == before


def test_uninstalling_from_where_unpacking_was_refused_leaves_nothing(environment: Environment, index: Path) -> None:
    """A read-only site-packages refuses; once it is writable again nothing of the try is left to remove."""
    if not os.geteuid() and not shutil.which("setpriv"):
        pytest.skip("runs as root, and there is no setpriv")
    before = environment.content()
    assert environment.install(index, "rocm[libraries,devel]").returncode == 0
    subprocess.run(["chmod", "-R", "a-w", str(environment.site.path)], check=True)
    unprivileged = () if os.geteuid() else ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    done = environment.run(*unprivileged, environment.bin("rocm-sdk"), "init")
    subprocess.run(["chmod", "-R", "u+w", str(environment.site.path)], check=True)
    assert done.returncode == 1 and "is not writable" in done.stderr
    environment.uninstall(*EVERYTHING)
    assert environment.content() == before
