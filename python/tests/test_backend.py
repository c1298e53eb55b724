"""The build backend of `rocm`: metadata for this machine, the same bytes every time, nothing needed but Python."""

from __future__ import annotations

import email
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from conftest import build_wheel
from fake_sdk import Release, record_digest

try:
    import tomllib
except ImportError:
    tomllib = None


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return Release().source_tree(tmp_path / "source")


def metadata(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def built(tmp_path: Path, environ: dict[str, str] | None = None, **changes) -> Path:
    return build_wheel(Release(**changes).source_tree(tmp_path / "source"), tmp_path, environ)


def hook(tree: Path, name: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path.insert(0, 'backend'); import rocm_build; print(rocm_build.{name}(*sys.argv[1:]))"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=tree, env={**os.environ, **environ}, capture_output=True, text=True)


@pytest.mark.skipif(tomllib is None, reason="this Python cannot read TOML")
def test_project_file_asks_for_nothing(tree: Path) -> None:
    system = tomllib.loads((tree / "pyproject.toml").read_text())["build-system"]
    assert system == {"requires": [], "build-backend": "rocm_build", "backend-path": ["backend"]}


def test_hooks_require_nothing(tree: Path) -> None:
    assert hook(tree, "get_requires_for_build_wheel").stdout == "[]\n"
    assert hook(tree, "get_requires_for_build_sdist").stdout == "[]\n"


def test_wheel_holds_the_package_and_its_record(tree: Path, tmp_path: Path) -> None:
    wheel = build_wheel(tree, tmp_path)
    assert wheel.name == "rocm-7.2.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        info = "rocm-7.2.0.dist-info"
        assert names[-1] == f"{info}/RECORD"
        assert {f"{info}/METADATA", f"{info}/WHEEL", f"{info}/entry_points.txt", f"{info}/licenses/LICENSE"} < set(names)
        assert {"rocm_sdk/__init__.py", "rocm_sdk/_dist_info.py", "rocm_sdk/tests/run.py"} < set(names)
        assert not [name for name in names if name.endswith(".pyc")]
        rows = [line.split(",") for line in archive.read(f"{info}/RECORD").decode().splitlines()]
        assert sorted(row[0] for row in rows) == sorted(names)
        for path, digest, size in rows[:-1]:
            assert (digest, size) == (record_digest(archive.read(path)), str(len(archive.read(path))))
        assert b"rocm-sdk = rocm_sdk.__main__:main" in archive.read(f"{info}/entry_points.txt")
        assert archive.read("rocm_sdk/_install_info.py").decode().endswith("TARGET_FAMILY = 'gfx103X-dgpu'\n")


def test_metadata_is_that_of_the_sdist_with_the_dynamic_fields_filled_in(tree: Path, tmp_path: Path) -> None:
    found = metadata(build_wheel(tree, tmp_path))
    assert found["Metadata-Version"] == "2.4"
    assert found["License-File"] == "LICENSE"
    assert found.get_all("Dynamic") is None
    assert "Text with Requires-Dist: in it." in found.get_payload()
    assert found.get_all("Requires-Dist") == [
        "rocm-sdk-core==7.2.0",
        'rocm-sdk-devel==7.2.0 ; extra == "devel"',
        'rocm-sdk-libraries-gfx103X-dgpu==7.2.0 ; extra == "libraries"',
        'rocm-sdk-libraries-gfx103X-dgpu==7.2.0 ; extra == "libraries-gfx103x-dgpu"',
        'rocm-sdk-libraries-gfx94X-dcgpu==7.2.0 ; extra == "libraries-gfx94x-dcgpu"',
    ]
    assert found.get_all("Provides-Extra") == ["devel", "libraries", "libraries-gfx103x-dgpu", "libraries-gfx94x-dcgpu"]


def test_one_family_needs_no_extra_of_its_own(tmp_path: Path) -> None:
    found = metadata(built(tmp_path, families=("gfx1151",)))
    assert found.get_all("Provides-Extra") == ["devel", "libraries"]


def test_without_families_there_is_no_extra_for_libraries(tmp_path: Path) -> None:
    found = metadata(built(tmp_path, families=()))
    assert found.get_all("Provides-Extra") == ["devel"]
    assert found.get_all("Requires-Dist") == ["rocm-sdk-core==7.2.0", 'rocm-sdk-devel==7.2.0 ; extra == "devel"']


def test_extras_that_the_release_names(tmp_path: Path) -> None:
    found = metadata(built(tmp_path, families=("gfx1151",), extras={"all": ["devel", "libraries"], "other": ["unknown"]}))
    assert found.get_all("Provides-Extra") == ["all"]
    assert found.get_all("Requires-Dist")[1:] == [
        'rocm-sdk-devel==7.2.0 ; extra == "all"',
        'rocm-sdk-libraries-gfx1151==7.2.0 ; extra == "all"',
    ]


def test_the_environment_names_the_family(tmp_path: Path) -> None:
    wheel = built(tmp_path, {"ROCM_SDK_TARGET_FAMILY": "gfx94X-dcgpu"})
    assert 'rocm-sdk-libraries-gfx94X-dcgpu==7.2.0 ; extra == "libraries"' in metadata(wheel).get_all("Requires-Dist")


def test_a_gpu_names_the_family(tmp_path: Path) -> None:
    program = tmp_path / "bin/offload-arch"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho gfx942\n")
    program.chmod(0o755)
    wheel = built(tmp_path, {"PATH": f"{program.parent}:{os.environ['PATH']}"})
    assert 'rocm-sdk-libraries-gfx94X-dcgpu==7.2.0 ; extra == "libraries"' in metadata(wheel).get_all("Requires-Dist")


def test_an_unknown_family_is_one_clear_line(tree: Path, tmp_path: Path) -> None:
    done = hook(tree, "build_wheel", str(tmp_path), ROCM_SDK_TARGET_FAMILY="gfx1")
    assert done.returncode == 1
    assert "gfx1: this release has no such family" in done.stderr
    assert "gfx103X-dgpu, gfx94X-dcgpu" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.whl"))


def test_a_family_of_one_platform_gets_a_marker(tmp_path: Path) -> None:
    found = metadata(built(tmp_path, families=("gfx1151", "gfx94X-dcgpu"), windows_families=("gfx1151", "gfx110X-all")))
    requires = found.get_all("Requires-Dist")
    assert 'rocm-sdk-libraries-gfx94X-dcgpu==7.2.0 ; sys_platform == "linux" and extra == "libraries-gfx94x-dcgpu"' in requires
    assert 'rocm-sdk-libraries-gfx110X-all==7.2.0 ; sys_platform == "win32" and extra == "libraries-gfx110x-all"' in requires
    assert 'rocm-sdk-libraries-gfx1151==7.2.0 ; extra == "libraries-gfx1151"' in requires


def test_metadata_hook_agrees_with_the_wheel(tree: Path, tmp_path: Path) -> None:
    name = hook(tree, "prepare_metadata_for_build_wheel", str(tmp_path)).stdout.strip()
    wheel = build_wheel(tree, tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        for path in sorted((tmp_path / name).rglob("*")):
            if path.is_file():
                assert archive.read(path.relative_to(tmp_path).as_posix()) == path.read_bytes()


def test_the_same_input_gives_the_same_bytes(tree: Path, tmp_path: Path) -> None:
    other = Release().source_tree(tmp_path / "elsewhere" / "source")
    for path in other.rglob("*"):
        os.utime(path, (1, 1))
    (other / "src/rocm_sdk/__pycache__").mkdir()
    (other / "src/rocm_sdk/__pycache__/x.pyc").write_bytes(b"x")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = build_wheel(tree, tmp_path / "a", {"TZ": "UTC", "LC_ALL": "C"})
    second = build_wheel(other, tmp_path / "b", {"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "7"})
    assert first.read_bytes() == second.read_bytes()
    for name in ("a", "b"):
        hook(tree if name == "a" else other, "build_sdist", str(tmp_path / name))
    assert (tmp_path / "a/rocm-7.2.0.tar.gz").read_bytes() == (tmp_path / "b/rocm-7.2.0.tar.gz").read_bytes()


def test_sdist_makes_the_same_wheel(tree: Path, tmp_path: Path) -> None:
    assert hook(tree, "build_sdist", str(tmp_path)).stdout == "rocm-7.2.0.tar.gz\n"
    with tarfile.open(tmp_path / "rocm-7.2.0.tar.gz") as archive:
        assert {name.split("/")[0] for name in archive.getnames()} == {"rocm-7.2.0"}
        for member in archive:
            target = tmp_path / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.extractfile(member).read())
    (tmp_path / "again").mkdir()
    assert build_wheel(tmp_path / "rocm-7.2.0", tmp_path / "again").read_bytes() == build_wheel(tree, tmp_path).read_bytes()


def test_the_project_has_the_name_that_the_recipe_gave_it(tree: Path, tmp_path: Path) -> None:
    info = tree / "PKG-INFO"
    info.write_text(info.read_text().replace("Name: rocm\n", "Name: Acme-rocm.sdk\n"))
    wheel = build_wheel(tree, tmp_path)
    assert wheel.name == "acme_rocm_sdk-7.2.0-py3-none-any.whl"
    assert metadata(wheel)["Name"] == "Acme-rocm.sdk"
    assert {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()} == {"rocm_sdk", "acme_rocm_sdk-7.2.0.dist-info"}
    assert hook(tree, "build_sdist", str(tmp_path)).stdout == "acme_rocm_sdk-7.2.0.tar.gz\n"


def test_local_version(tmp_path: Path) -> None:
    wheel = built(tmp_path, version="7.2.0.dev0+0123abc")
    assert wheel.name == "rocm-7.2.0.dev0+0123abc-py3-none-any.whl"
    assert "rocm-sdk-core==7.2.0.dev0+0123abc" in metadata(wheel).get_all("Requires-Dist")


def test_facts_are_parsed_and_never_run(tree: Path, tmp_path: Path) -> None:
    facts = tree / "src/rocm_sdk/_dist_info.py"
    facts.write_text(facts.read_text() + f"THIS_TARGET_FAMILY = open({str(tmp_path / 'run')!r}, 'w')\n")
    assert hook(tree, "build_wheel", str(tmp_path)).returncode != 0
    assert not (tmp_path / "run").exists()


def test_versions_that_disagree_are_refused(tree: Path, tmp_path: Path) -> None:
    (tree / "PKG-INFO").write_text(Release(version="7.1.0").package_info())
    done = hook(tree, "build_wheel", str(tmp_path))
    assert done.returncode == 1
    assert "PKG-INFO says version 7.1.0, _dist_info.py says 7.2.0" in done.stderr


def test_an_incomplete_tree_is_refused(tree: Path, tmp_path: Path) -> None:
    (tree / "src/rocm_sdk/_dist_info.py").unlink()
    done = hook(tree, "build_wheel", str(tmp_path))
    assert done.returncode == 1
    assert "is not a complete sdist" in done.stderr
