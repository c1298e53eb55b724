"""A channel that was set back, by an old copy of its store: a machine that has seen more does not install from it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.quarry import BY_UV, clean_environment, quarry  # noqa: E402

from conftest import publish  # noqa: E402


class Machine:
    """With a memory of its own."""

    def __init__(self, store: Path, place: Path):
        self.store, self.place = store, place
        self.environment = clean_environment(XDG_STATE_HOME=str(place / "state"))

    def install(self, name: str, *more: str, code: int = 0):
        done = quarry("venv", "install", *BY_UV, self.place / name, "--from", "channel:staging", "--packages", "rocm", "--store", f"file:{self.store}", *more, "--json", environment=self.environment)
        assert done.code == code, done.out + done.err
        return done

    def memory(self) -> dict:
        (file,) = (self.place / "state/quarry/channels").iterdir()
        return json.loads(file.read_text())

    def replace(self, copy: Path) -> None:
        shutil.rmtree(self.store)
        shutil.copytree(copy, self.store)


@pytest.fixture
def line(store, next_packages, tmp_path) -> tuple[Machine, Path]:
    """The store with channel staging at generation 2, and a copy from before."""
    old = tmp_path / "old"
    shutil.copytree(store, old)
    publish(next_packages, store, "2", "--channel", "staging")
    machine = Machine(store, tmp_path)
    assert machine.install("first").json["generation"] == 2
    return machine, old


def test_an_older_generation_is_refused(line):
    machine, old = line
    machine.replace(old)
    for name, more in (("first", ()), ("fresh", ()), ("first", ("--clean",))):
        said = machine.install(name, *more, code=6).err
        assert "[V040]" in said and "is at generation 1, and this machine has seen generation 2" in said
    assert not (machine.place / "fresh").exists() and (machine.place / "first/quarry-receipt.json").exists(), "nothing was changed"
    shutil.rmtree(machine.place / "state")
    assert "this environment has seen generation 2" in machine.install("first", code=6).err, "the receipt remembers, too"
    assert machine.install("first", "--allow-older").json["generation"] == 1
    assert machine.memory()["generation"] == 1
    machine.install("fresh")


def test_a_failed_installation_forgets_nothing(line):
    """It leaves no receipt, so somebody could make one fail before he sets the store back."""
    machine, old = line
    said = quarry("venv", "install", *BY_UV, machine.place / "first", "--from", "channel:staging", "--packages", "rocm[bogus]", "--store", f"file:{machine.store}", environment=machine.environment)
    assert said.code != 0 and not (machine.place / "first/quarry-receipt.json").exists()
    machine.replace(old)
    assert "this machine has seen generation 2" in machine.install("first", code=6).err


def test_a_rollback_is_newer(line):
    machine, _ = line
    assert quarry("rollback", "staging", "--store", f"file:{machine.store}").code == 0
    assert machine.install("first").json["generation"] == 3
    assert machine.memory()["generation"] == 3


def test_another_history_of_the_same_length_is_refused(line, packages):
    machine, old = line
    machine.replace(old)
    done = quarry("yank", next(packages.rglob("rocm_sdk_devel*.whl")).name, "--channel", "staging", "--reason", "x", "--store", f"file:{machine.store}")
    assert done.code == 0, done.err
    assert "is at generation 2 with other packages" in machine.install("first", code=6).err
