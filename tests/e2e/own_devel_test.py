"""Development files of a recipe with names of its own: they are unpacked, proven, and an altered one is found."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import small_artifacts  # noqa: E402
from support.quarry import BY_UV, ROOT, clean_environment, good, quarry  # noqa: E402

from conftest import build, publish  # noqa: E402

DEVEL = "_acme_devel"


@pytest.fixture(scope="module")
def own_packages(artifacts, tmp_path_factory) -> Path:
    """The SDK's packages under other names: beside `rocm`, no project, module or directory is called after the SDK."""
    directory = tmp_path_factory.mktemp("acme")
    named = re.compile(r'^(dist|pure|platform|name) = "(_?)rocm[-_]sdk', re.MULTILINE)
    scripts = re.compile(r"^\[\[package\.core\.script\]\]\n(?:.+\n)+", re.MULTILINE)
    text = (ROOT / "data/recipes/rocm-sdk.toml").read_text()
    recipe = directory / "acme.toml"
    recipe.write_text(named.sub(r'\1 = "\2acme', scripts.sub("", text)))
    assert 'platform = "_acme_libraries_{family}"' in recipe.read_text()
    return build(artifacts, directory / "out", "1.0", "--recipe", str(recipe))


@pytest.fixture
def unpacked(own_packages, tmp_path) -> tuple[Path, Path]:
    """A store with the packages, and an environment in which their development files were unpacked."""
    store, env = tmp_path / "store", tmp_path / "env"
    publish(own_packages, store, "1")
    good("venv", "install", *BY_UV, env, "--from", "run:1", "--packages", "rocm[libraries,devel]", "--store", f"file:{store}")
    subprocess.run([env / "bin/rocm-sdk", "init"], check=True, capture_output=True, env=clean_environment())
    return store, next(env.glob("lib/python3.*/site-packages"))


def run_suite(store: Path, site: Path):
    words = ("--venv", site.parents[2], "--family", small_artifacts.FAMILY, "--suite", "smoke", "--store", f"file:{store}")
    return quarry("test", *words, "--json", "--", "true")


def test_the_wheel_says_what_it_unpacks(own_packages):
    (wheel,) = (own_packages / "dist").glob("acme_devel-*.whl")
    with zipfile.ZipFile(wheel) as held:
        said = json.loads(held.read("acme_devel-1.0.dist-info/unpacking.json"))
        assert said["payload"] in held.namelist()
    assert said["into"] == DEVEL and said["beside"] == ["_acme_libraries_*"]


def test_unpacked_files_are_proven(unpacked):
    store, site = unpacked
    assert (site / DEVEL / "include/hip/hip_runtime.h").is_file() and (site / DEVEL / "lib/libhipblas.so.2").exists()
    done = run_suite(store, site)
    assert done.code == 0, done.err
    assert any(subject["filename"].startswith("acme_devel-") for subject in done.json["subjects"])


@pytest.mark.parametrize("path", ["include/hip/hip_runtime.h", "lib/libhipblas.so.2"])
def test_an_altered_one_is_found(unpacked, path):
    store, site = unpacked
    file = site / DEVEL / path
    text = file.read_bytes()
    file.unlink()  # a hard link: the library itself stays as it is
    file.write_bytes(text + b"!")
    done = run_suite(store, site)
    assert done.code == 6 and "V031" in done.err and f"{DEVEL}/{path}" in done.err, done.err


def test_the_word_of_the_package_counts_as_it_was_sealed(unpacked):
    """Whoever widens what an environment says of itself changes a file of the wheel."""
    store, site = unpacked
    said = next(site.glob("acme_devel-*.dist-info/unpacking.json"))
    said.write_text(said.read_text().replace("_acme_libraries_*", "_*"))
    done = run_suite(store, site)
    assert done.code == 6 and "V031" in done.err and "unpacking.json" in done.err, done.err
