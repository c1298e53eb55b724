"""The program as a Python package: tools/program-wheel makes it, foreign tools check it, old and new installers install it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support import clients
from support.quarry import PROGRAM, ROOT, clean_environment, good


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    made = subprocess.run([sys.executable, ROOT / "tools/program-wheel", "--program", PROGRAM, "--output-dir", out, "--profile", "ci"], capture_output=True, text=True, env=clean_environment())
    assert made.returncode == 0, made.stderr
    return next(out.glob("*.whl"))


def test_foreign_tools_accept_it(wheel):
    good("wheel", "verify", wheel)
    checked = clients.client("twine").run("check", "--strict", wheel)
    assert checked.returncode == 0, checked.stdout
    shown = clients.client("auditwheel").run("show", wheel).stdout
    tag = wheel.name.split("-")[-1].removesuffix(".whl")
    assert f'"{tag}"' in " ".join(shown.split()), shown


@pytest.mark.parametrize("installer", ["pip-oldest", "pip-newest", "uv"])
def test_installers_bring_the_program_its_pages_and_completions(wheel, tmp_path, installer):
    env = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    words = ("pip", "install", "--python", env / "bin/python") if installer == "uv" else ("--python", env / "bin/python", "install")
    installed = clients.client(installer).run(*words, "--no-index", wheel)
    assert installed.returncode == 0, installed.stderr
    version = good("version").out
    for command in ([env / "bin/quarry"], [env / "bin/quarry-ship"], [env / "bin/python", "-m", "quarry_ship"]):
        ran = subprocess.run([*command, "version"], capture_output=True, text=True, env=clean_environment())
        assert (ran.returncode, ran.stdout) == (0, version), ran.stderr
    failed = subprocess.run([env / "bin/quarry-ship", "nonsense"], capture_output=True, env=clean_environment())
    assert failed.returncode == 2
    assert (env / "share/man/man1/quarry-publish.1").is_file()
    for place in ("bash-completion/completions/quarry", "zsh/site-functions/_quarry", "fish/vendor_completions.d/quarry.fish"):
        assert "quarry" in (env / "share" / place).read_text()
