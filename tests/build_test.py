"""What the build makes beside the program: its version from a tag, and the files that `cmake --install` puts beside it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from support.quarry import PROGRAM, ROOT, clean_environment, good

IDENTITY = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}


def version_of(source: Path) -> dict[str, str]:
    out = source.parent / "version.cpp"
    subprocess.run(["cmake", f"-DSOURCE={source}", "-DVERSION=0.1.0", f"-DOUTPUT={out}", "-P", ROOT / "cmake/version.cmake"], check=True)
    return dict(re.findall(r'(\w+)\(\) { return "(.*)"; }', out.read_text()))


@pytest.fixture
def checkout(tmp_path):
    source = tmp_path / "source"
    (source / "src").mkdir(parents=True)
    (source / "src/a.cpp").write_text("int a;\n")

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", source, *words], check=True, capture_output=True, text=True, env=os.environ | IDENTITY).stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "a")
    return source, git


def test_a_tag_says_the_version(checkout):
    source, git = checkout
    commit = git("rev-parse", "HEAD")
    assert version_of(source) == {"program_version": "0.1.0", "build_commit": commit, "build_tag": ""}
    git("tag", "experiment")
    assert version_of(source)["build_tag"] == ""
    git("tag", "-a", "v1.2.0", "-m", "release")
    assert version_of(source) == {"program_version": "1.2.0", "build_commit": commit, "build_tag": "v1.2.0"}


def test_changed_files_are_no_release(checkout):
    source, git = checkout
    git("tag", "v1.2.0")
    (source / "src/a.cpp").write_text("int b;\n")
    assert version_of(source) == {"program_version": "0.1.0", "build_commit": git("rev-parse", "HEAD") + "+changes", "build_tag": ""}


def test_a_source_archive_knows_no_commit(tmp_path):
    (tmp_path / "source").mkdir()
    assert version_of(tmp_path / "source") == {"program_version": "0.1.0", "build_commit": "", "build_tag": ""}


def test_cmake_installs_the_program_its_pages_and_completions(tmp_path):
    subprocess.run(["cmake", "--install", PROGRAM.parent, "--prefix", tmp_path], check=True, stdout=subprocess.DEVNULL)
    ran = subprocess.run([tmp_path / "bin/quarry", "version"], capture_output=True, text=True, env=clean_environment())
    assert ran.stdout == good("version").out
    assert (tmp_path / "share/doc/quarry/LICENSE").is_file()
    assert ".TH" in (tmp_path / "share/man/man1/quarry-publish.1").read_text()
    for place in ("bash-completion/completions/quarry", "zsh/site-functions/_quarry", "fish/vendor_completions.d/quarry.fish"):
        assert "quarry" in (tmp_path / "share" / place).read_text()
