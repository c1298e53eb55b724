"""`artifact` on what people have: stage directories with descriptors, tarballs of whole SDKs, sources with several components."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import small_artifacts  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402

STAGE = "math-libs/BLAS/stage"
DESCRIPTOR = f"""
[components.lib."{STAGE}"]
[components.run."{STAGE}"]
include = ["bin/**"]
[components.dev."{STAGE}"]
"""


@pytest.fixture
def build_tree(tmp_path) -> Path:
    """A build's tree, with a descriptor beside it."""
    for path, text in {"lib/libx.so.1": "x", "bin/tool": "t", "include/x.h": "h", "lib/cmake/x/x.cmake": "c"}.items():
        small_artifacts.write(tmp_path / "build" / STAGE / path, text)
    (tmp_path / "artifact-blas.toml").write_text(DESCRIPTOR)
    return tmp_path


def pack(root: Path, *more: str | Path) -> tuple:
    return ("artifact", "pack", root / "build", "--descriptor", root / "artifact-blas.toml", "--output-dir", root / "packed", *more)


@pytest.mark.parametrize("form", ["zst", "xz"])
def test_descriptors_make_what_a_fetch_takes(build_tree, form):
    done = good(*pack(build_tree, "--target", "gfx942", "--format", form, "--json"))
    assert [a["artifact"] for a in done.json["artifacts"]] == ["blas_dev_gfx942", "blas_lib_gfx942", "blas_run_gfx942"]
    good("artifact", "fetch", "--from", build_tree / "packed", "--output-dir", build_tree / "flat", "--flatten")
    made = {str(f.relative_to(build_tree / "flat")) for f in (build_tree / "flat").rglob("*") if f.is_file() and ".quarry-fetch" not in f.parts}
    assert made == {"lib/libx.so.1", "bin/tool", "include/x.h", "lib/cmake/x/x.cmake"}


def test_a_file_that_no_component_takes(build_tree):
    small_artifacts.write(build_tree / "build" / STAGE / "README", "r")
    done = refused("A026", 1, *pack(build_tree))
    assert f"{STAGE}/README" in done.err
    assert not (build_tree / "packed").exists()


def test_a_typo_in_a_descriptor(build_tree):
    descriptor = build_tree / "artifact-blas.toml"
    descriptor.write_text(DESCRIPTOR.replace("include =", "includes ="))
    done = refused("A024", 2, *pack(build_tree))
    assert f"artifact-blas.toml:4: components.run.{STAGE}.includes" in done.err


def test_a_stage_that_was_not_built(build_tree):
    descriptor = build_tree / "artifact-blas.toml"
    descriptor.write_text(DESCRIPTOR + '[components.doc."other/stage"]\n')
    done = refused("A025", 3, *pack(build_tree))
    assert "artifact-blas.toml:6" in done.err
    descriptor.write_text(DESCRIPTOR + '[components.doc."other/stage"]\noptional = "linux"\n')
    good(*pack(build_tree))


def archive_of(place: Path, name: str, *members: tuple[str, str]) -> None:
    """As a build uploads it, with these members in this order."""
    with tarfile.open(place / f"{name}.tar.xz", "w:xz") as tar:
        for path, text in members:
            member = tarfile.TarInfo(path)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    (place / f"{name}.tar.xz.sha256sum").write_text(hashlib.sha256((place / f"{name}.tar.xz").read_bytes()).hexdigest() + "\n")


MANIFEST = ("artifact_manifest.txt", "a/stage\n")


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ([MANIFEST, ("a/stage/lib/liba.so", "x")], 0),
        ([("a/stage/lib/liba.so", "x"), MANIFEST], 6),
        ([("a/stage/lib/liba.so", "x")], 6),
        ([MANIFEST, ("elsewhere/liba.so", "x")], 6),
    ],
)
def test_the_structure_of_a_run_is_checked(tmp_path, members, code):
    """What TheRock's validation of archives looks at, without unpacking them; two that bring one path are refused where they are merged."""
    archive_of(tmp_path, "a_lib_generic", *members)
    archive_of(tmp_path, "b_lib_generic", MANIFEST, ("a/stage/lib/liba.so", "other"))
    assert quarry("artifact", "verify", tmp_path).code == code
    assert sorted(path.name.split(".")[0] for path in tmp_path.iterdir()) == ["a_lib_generic"] * 2 + ["b_lib_generic"] * 2, "nothing is unpacked"
    if code == 0:
        refused("A015", 7, "artifact", "fetch", "--from", tmp_path, "--output-dir", tmp_path / "out", "--flatten")


def test_list_totals_components_and_targets(artifacts):
    listed = good("artifact", "list", artifacts, "--json").json
    assert sum(row["size"] for row in listed["totals"]) == listed["size"]
    rows = {(row["component"], row["target"]): row["artifacts"] for row in listed["totals"]}
    assert rows == {("lib", "generic"): 1, ("run", "generic"): 2, ("dev", "generic"): 1, ("lib", small_artifacts.FAMILY): 1, ("dev", small_artifacts.FAMILY): 1}


@pytest.fixture
def release(build_tree) -> Path:
    """A store in which run 7 has the tarball of a whole SDK."""
    tarballs = build_tree / "store/7-linux/tarballs"
    tarballs.mkdir(parents=True)
    tarball = tarballs / "x-dist-linux-gfx94X-dcgpu-1.0.tar.gz"
    subprocess.run(["tar", "-C", build_tree / "build" / STAGE, "-czf", tarball, "."], check=True)
    return tarball


def test_tarballs_of_a_run(release, tmp_path):
    source = ("run:7", "--store", f"file:{tmp_path / 'store'}", "--tarballs")
    listed = good("artifact", "list", *source, "--json").json["artifacts"]
    assert [(a["name"], a["target"], a["form"]) for a in listed] == [("x-dist-linux-gfx94X-dcgpu-1.0", "gfx94X-dcgpu", "tar.gz")]
    refused("A010", 6, "artifact", "fetch", "--from", *source, "--output-dir", tmp_path / "out")
    digest = hashlib.sha256(release.read_bytes()).hexdigest()
    release.with_name(release.name + ".sha256sum").write_text(digest + "\n")
    good("artifact", "verify", *source)
    good("artifact", "fetch", "--from", *source, "--output-dir", tmp_path / "out")
    assert (tmp_path / "out/x-dist-linux-gfx94X-dcgpu-1.0/bin/tool").read_text() == "t"


def test_a_tarball_is_no_artifact_to_package(own_artifacts, release, tmp_path):
    build = ("sdk", "build", "--dest-dir", tmp_path / "out", "--version", "1.0", "--dry-run", "--artifact-dir")
    refused("S004", 3, *build, release.parent)
    (own_artifacts / release.name).write_bytes(release.read_bytes())
    done = good(*build, own_artifacts)
    assert "A028" in done.err and release.name in done.err


def test_what_is_read_is_not_written(own_artifacts, tmp_path):
    refused("A090", 2, "artifact", "pack", own_artifacts, "--output-dir", own_artifacts)
    good("artifact", "pack", own_artifacts, "--output-dir", tmp_path / "archives")
    before = sorted((tmp_path / "archives").iterdir())
    refused("A090", 2, "artifact", "fetch", "--from", tmp_path / "archives", "--output-dir", tmp_path / "archives" / ".")
    assert sorted((tmp_path / "archives").iterdir()) == before


@pytest.mark.parametrize("name", ["rand_lib_gfx803", "rccl_lib_generic", "rccl_lib_generic.tar.zst"])
def test_a_link_that_leads_nowhere_is_no_missing_artifact(own_artifacts, tmp_path, name):
    (own_artifacts / name).symlink_to("/nonexistent/mount")
    said = f"{name} is a link to /nonexistent/mount, which cannot be reached"
    done = refused("S030", 1, "sdk", "build", "--artifact-dir", own_artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0")
    assert "error[A053]" in done.err and said in done.err
    assert said in refused("A053", 6, "artifact", "verify", own_artifacts, "--allow-unverified").err
    assert said in refused("A053", 6, "artifact", "list", own_artifacts).err
    if not name.endswith(".zst"):  # archives are nothing to pack
        assert said in refused("A053", 6, "artifact", "pack", own_artifacts, "--output-dir", tmp_path / "packed").err
        assert not (tmp_path / "packed").exists()
    assert said in quarry("artifact", "fetch", "--from", own_artifacts, "--output-dir", tmp_path / "fetched", "--allow-unverified").err


def test_what_is_not_read_is_a_finding_with_its_bytes(own_artifacts, tmp_path):
    for name in ("fft_lib_generic.tar.gz", "miopen_lib_generic.tar", "rand_lib_gfx1031.tar.gz", "extra-stuff/file"):
        small_artifacts.write(own_artifacts / name, "x" * 2048)
    places = {("A054", "fft_lib_generic.tar.gz"), ("A054", "miopen_lib_generic.tar"), ("A054", "rand_lib_gfx1031.tar.gz"), ("A001", "extra-stuff")}
    build = ("sdk", "build", "--artifact-dir", own_artifacts, "--dest-dir", tmp_path / "out", "--version", "1.0", "--dry-run")
    fetch = ("artifact", "fetch", "--from", own_artifacts, "--output-dir", tmp_path / "fetched")
    for words in (build, fetch, ("artifact", "list", own_artifacts), ("artifact", "verify", own_artifacts)):
        found = [f for f in good(*words, "--json").json["findings"] if "its 2.05 kB are left alone" in f["message"]]
        assert {(f["code"], Path(f["place"]).name) for f in found} == places, words
    alone = tmp_path / "alone"
    small_artifacts.write(alone / "fft_lib_generic.tar.gz", "x")
    assert "A054 fft_lib_generic.tar.gz" in refused("A021", 3, "artifact", "fetch", "--from", alone, "--output-dir", tmp_path / "none").err


def test_a_group_that_is_there_in_part(own_artifacts, tmp_path):
    for directory in own_artifacts.glob(f"*_{small_artifacts.FAMILY}"):
        directory.rename(own_artifacts / directory.name.replace(small_artifacts.FAMILY, "gfx1030"))
    words = ("artifact", "fetch", "--from", own_artifacts, "--output-dir", tmp_path / "out", "--artifact-group", small_artifacts.FAMILY)
    assert "warning[A022]: gfx103X-dgpu: gfx103X-dgpu is taken without gfx1031, gfx1032, gfx1034" in good(*words).err
    assert [f["code"] for f in good(*words, "--json").json["findings"]] == ["A022"]


def test_archives_named_by_target_are_those_of_a_group(own_artifacts, tmp_path):
    """The group's targets are in the families table; the archives carry a target's name."""
    archives = tmp_path / "archives"
    archives.mkdir()
    for directory in own_artifacts.iterdir():
        shutil.copytree(directory, archives / directory.name.replace(small_artifacts.FAMILY, "gfx942"), symlinks=True)
    done = good("artifact", "fetch", "--from", archives, "--output-dir", tmp_path / "a", "--artifact-group", "gfx94X-dcgpu")
    assert "those of gfx94X-dcgpu are taken, of gfx942" in done.err and (tmp_path / "a/blas_lib_gfx942").is_dir()
    good("artifact", "fetch", "--from", archives, "--output-dir", tmp_path / "b", "--amdgpu-targets", "gfx942")
    done = refused("A022", 3, "artifact", "fetch", "--from", archives, "--output-dir", tmp_path / "b", "--artifact-group", "gfx906")
    assert "it has: generic, gfx942" in done.err
