"""docs/guides/own-recipe.md, run as it stands; and what a recipe of one's own can get wrong."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.quarry import PROGRAM, ROOT, clean_environment, good, refused  # noqa: E402

GUIDE = ROOT / "docs/guides/own-recipe.md"


def blocks() -> list[list[str]]:
    """The indented paragraphs of the guide: commands after `$`, or a file whose first line is `# NAME`."""
    found: list[list[str]] = [[]]
    for line in GUIDE.read_text().splitlines():
        if line.startswith("    "):
            # A new file or a command ends the file before; empty lines inside one do not.
            if re.match(r"    (# [\w./-]+$|\$ )", line):
                found.append([])
            found[-1].append(line[4:])
        elif line:
            found.append([])
        elif found[-1]:
            found[-1].append("")
    return [block for block in found if any(block)]


def follow(directory: Path) -> list[str]:
    """Does what the guide says below `directory`; returns what its commands said."""
    programs = directory / "programs"
    programs.mkdir()
    (programs / "quarry").symlink_to(PROGRAM)
    environment = clean_environment()
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    said = []
    for block in blocks():
        if block[0].startswith("# "):
            file = directory / block[0][2:]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(block[1:]).strip("\n") + "\n")
            continue
        assert block[0].startswith("$ "), f"neither a file nor a command: {block}"
        done = subprocess.run(block[0][2:], shell=True, cwd=directory, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{block[0]}\n{done.stdout}{done.stderr}"
        said.append(done.stdout)
    return said


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> tuple[Path, list[str]]:
    directory = tmp_path_factory.mktemp("guide")
    return directory, follow(directory)


@pytest.fixture
def toolkit(followed, tmp_path) -> Path:
    copy = tmp_path / "toolkit"
    shutil.copytree(followed[0], copy, symlinks=True, ignore=shutil.ignore_patterns("venv", "out", "programs"))
    return copy


def test_the_guide_leads_where_it_says(followed):
    directory, said = followed
    assert said[-1] == "hello from acme\n"
    assert {f.name.split("-")[0] for f in (directory / "out/dist").glob("[!.]*")} == {"acme_runtime", "acme_headers"}
    with zipfile.ZipFile(next((directory / "out/dist").glob("acme_runtime*"))) as wheel:
        names = set(wheel.namelist())
    assert "_acme_runtime/lib/libacme.so.1" in names and "acme_runtime/_cli.py" in names
    assert "_acme_runtime/include/acme.h" not in names


def build_refused(code: str, exit_code: int, toolkit: Path, *expected: str):
    done = refused(code, exit_code, "sdk", "build", "--recipe", toolkit / "acme.toml", "--artifact-dir", toolkit / "artifacts", "--dest-dir", toolkit / "out", "--version", "1.0")
    assert all(text in done.err for text in expected), done.err
    assert not (toolkit / "out/dist").exists() or not list((toolkit / "out/dist").iterdir())
    return done


def line_of(recipe: str, text: str) -> int:
    return 1 + next(i for i, line in enumerate(recipe.splitlines()) if text in line)


@pytest.mark.parametrize(
    "before, after, at",
    [
        ('tree = "python/acme_headers"', 'tree = "python/nothing"', "package.headers.tree: python/nothing holds no file"),
        ('tree = "python/acme_headers"', 'tree = "../acme_headers"', "package.headers.tree"),
        ('license_files = ["LICENSE"]', 'license_files = ["COPYING"]', "metadata.license_files: COPYING does not exist"),
        ('summary = "Acme: headers"', 'summary = "x"; readme = "README.md"', "package.headers.readme: README.md does not exist"),
        ('pure = "acme_headers"', 'pure = "acme-headers"', "package.headers.pure"),
        ('pure = "acme_headers"', 'pure = "acme_runtime"', "package.headers.pure"),
        ('platform = "_acme_headers"', 'platform = "acme_headers"', "package.headers.platform"),
        ('dist = "acme-headers"', 'dist = "acme headers!"', "package.headers.dist"),
        ('dist = "acme-headers"', 'dist = "acme-{family}"', "package.headers.dist"),
        ('requires = ["runtime"]', 'requires = ["runtimes"]', "package.headers.requires"),
    ],
)
def test_what_cannot_be_is_refused_with_file_line_and_key(toolkit, before, after, at):
    recipe = toolkit / "acme.toml"
    text = recipe.read_text()
    assert before in text
    after = after.replace("; ", "\n")
    recipe.write_text(text.replace(before, after))
    line = line_of(text, before) + after.count("\n")
    build_refused("S003", 2, toolkit, f"acme.toml:{line}: {at}")


def test_nothing_for_a_required_package(toolkit):
    recipe = toolkit / "acme.toml"
    recipe.write_text(recipe.read_text().replace('components = ["lib", "run"]', 'components = ["test"]'))
    line = line_of(recipe.read_text(), "[[package.runtime.select]]")
    build_refused("S007", 3, toolkit, f"acme.toml:{line}: package.runtime.select")


def test_nothing_for_a_package_that_another_requires(toolkit):
    recipe = toolkit / "acme.toml"
    text = recipe.read_text().replace('components = ["lib", "run"]', 'components = ["test"]').replace("required = true\n[[package.runtime.select", "[[package.runtime.select")
    recipe.write_text(text)
    build_refused("S030", 1, toolkit, "S027", f"acme.toml:{line_of(text, 'requires =')}: package.headers.requires")


def test_a_package_that_nobody_needs_is_left_out_and_said(toolkit):
    recipe = toolkit / "acme.toml"
    recipe.write_text(recipe.read_text().replace('include = ["include/**"]', 'include = ["none/**"]'))
    done = good("sdk", "build", "--recipe", recipe, "--artifact-dir", toolkit / "artifacts", "--dest-dir", toolkit / "out", "--version", "1.0")
    assert "S026" in done.err and "package.headers.select" in done.err
    assert [f.name.split("-")[0] for f in (toolkit / "out/dist").glob("[!.]*")] == ["acme_runtime"]


def test_the_same_artifact_twice(toolkit):
    archive = toolkit / "artifacts/acme_lib_generic.tar.zst"
    good("artifact", "pack", toolkit / "build", "--descriptor", toolkit / "artifact-acme.toml", "--format", "xz", "--output-dir", toolkit / "xz")
    for file in (toolkit / "xz").glob("acme_lib_generic*"):
        shutil.copy(file, archive.parent)
    build_refused("S030", 1, toolkit, "A006", "acme_lib_generic.tar.zst", "acme_lib_generic.tar.xz")


def test_a_tree_of_ones_own_wins(toolkit):
    """A module `_cli.py` of the tree is taken as it is, and what Python leaves behind is not."""
    tree = toolkit / "python/acme_runtime"
    (tree / "_cli.py").write_text("def acme_hello():\n    print('my own')\n")
    (tree / "__pycache__").mkdir()
    (tree / "__pycache__/x.cpython-311.pyc").write_bytes(b"left over")
    good("sdk", "build", "--recipe", toolkit / "acme.toml", "--artifact-dir", toolkit / "artifacts", "--dest-dir", toolkit / "out", "--version", "1.0")
    with zipfile.ZipFile(next((toolkit / "out/dist").glob("acme_runtime*"))) as wheel:
        assert b"my own" in wheel.read("acme_runtime/_cli.py")
        assert not any("pycache" in name for name in wheel.namelist())
