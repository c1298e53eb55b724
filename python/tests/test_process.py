"""Finding and loading libraries, checking the version."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from installation import Site

MAPS = "import sys, rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=sys.argv[1:]); print(open('/proc/self/maps').read())"


def test_find_libraries_in_the_order_asked_for(sdk) -> None:
    found = sdk.find_libraries("hipsparse", "amdhip64")
    assert [path.name for path in found] == ["libhipsparse.so.0", "libamdhip64.so.5"]
    assert all(path.is_file() for path in found)


def test_unknown_name(sdk) -> None:
    with pytest.raises(ModuleNotFoundError, match="'amdhip' ?; did you mean 'amdhip64'|did you mean 'amdhip64'"):
        sdk.find_libraries("amdhip")
    with pytest.raises(ModuleNotFoundError, match="known: .*hipblas"):
        sdk.find_libraries("zzzz")


def test_a_library_that_its_package_lacks(sdk) -> None:
    with pytest.raises(FileNotFoundError, match="'hipblas' is not in rocm-sdk-libraries-gfx103X-dgpu 7.2.0"):
        sdk.find_libraries("hipblas")
    with pytest.raises(sdk.RocmSdkError):
        sdk.preload_libraries("hipblas")


def test_an_optional_library_may_be_absent(sdk) -> None:
    sdk.preload_libraries("rocm_kpack", "hipdnn")
    with pytest.raises(FileNotFoundError):
        sdk.find_libraries("rocm_kpack")


def test_a_library_whose_package_is_missing(make_site: Callable[..., Site]) -> None:
    site = make_site("rocm_sdk_libraries")
    code = "import rocm_sdk\ntry: rocm_sdk.find_libraries('hipblas')\nexcept ModuleNotFoundError as e: print(e.name, '|', e)"
    done = site.python(code)
    assert done.stdout.strip() == (
        "rocm_sdk_libraries_gfx103X_dgpu | the package rocm-sdk-libraries-gfx103X-dgpu 7.2.0 is not installed; "
        'pip install "rocm[libraries]==7.2.0"'
    )


def test_the_only_installed_family_is_used_though_it_is_not_the_default(make_site: Callable[..., Site]) -> None:
    site = make_site("rocm_sdk_libraries_gfx103x")
    done = site.python("import rocm_sdk; print(rocm_sdk.find_libraries('hipsparse')[0])")
    assert done.stdout.strip() == str(site.path / "_rocm_sdk_libraries_gfx94X_dcgpu/lib/libhipsparse.so.0")


def test_a_family_that_is_asked_for_and_not_installed(make_site: Callable[..., Site]) -> None:
    site = make_site("rocm_sdk_libraries_gfx103x")
    done = site.python("import rocm_sdk; rocm_sdk.find_libraries('hipsparse')", ROCM_SDK_TARGET_FAMILY="gfx103X-dgpu")
    assert "rocm-sdk-libraries-gfx103X-dgpu 7.2.0 is not installed (installed: gfx94X-dcgpu)" in done.stderr


def test_of_two_families_the_gpu_decides(make_site: Callable[..., Site], tmp_path: Path) -> None:
    program = tmp_path / "bin/offload-arch"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho gfx942\n")
    program.chmod(0o755)
    site = make_site()
    code = "import rocm_sdk; print(rocm_sdk.find_libraries('hipsparse')[0].parent.parent.name)"
    assert site.python(code).stdout.strip() == "_rocm_sdk_libraries_gfx103X_dgpu"
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    assert site.python(code, PATH=path).stdout.strip() == "_rocm_sdk_libraries_gfx94X_dcgpu"


def test_preload_by_argument_and_by_environment(site: Site) -> None:
    done = site.python(MAPS, "amd_comgr", ROCM_SDK_PRELOAD_LIBRARIES="amdhip64; hiprtc,")
    assert done.returncode == 0, done.stderr
    for name in ("libamd_comgr.so.2", "libamdhip64.so.5", "libhiprtc.so.5"):
        assert str(site.path / "_rocm_sdk_core/lib" / name) in done.stdout
    assert "librocsparse" not in done.stdout


def test_libraries_find_each_other_across_packages(site: Site) -> None:
    done = site.python(MAPS, "hipsparse")
    assert done.returncode == 0, done.stderr
    assert str(site.path / "_rocm_sdk_core/lib/libamdhip64.so.5") in done.stdout


def test_a_nonce_in_the_names_of_the_platform_directories(make_site: Callable[..., Site]) -> None:
    site = make_site("rocm_sdk_libraries", nonce="_abc")
    done = site.python("import rocm_sdk; print(rocm_sdk.find_libraries('amdhip64')[0].parent.parent.name)")
    assert done.stdout.strip() == "_rocm_sdk_core_abc"


@pytest.mark.parametrize("pattern", ["7.2.0", "7.2.*", "7.*", "*"])
def test_versions_that_fit(sdk, pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sdk.initialize_process(check_version=pattern, fail_on_version_mismatch=True)


def test_a_version_that_does_not_fit(sdk) -> None:
    with pytest.warns(RuntimeWarning, match="ROCm SDK 7.2.0 is installed, 7.1.* was asked for"):
        sdk.initialize_process(check_version="7.1.*")
    with pytest.raises(sdk.RocmSdkError, match="7.2.0 is installed"):
        sdk.initialize_process(check_version="7.2", fail_on_version_mismatch=True)


def test_windows_looks_in_bin_for_dlls(sdk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from rocm_sdk import _packages, _process
    from rocm_sdk._registry import LIBRARIES

    monkeypatch.setattr(_process.sys, "platform", "win32")
    package = _packages.Package("core", "rocm-sdk-core", "rocm_sdk_core", tmp_path, "_rocm_sdk_core")
    (tmp_path / "_rocm_sdk_core/bin").mkdir(parents=True)
    for name in ("hiprtc0505.dll", "hiprtc-builtins0505.dll", "amdhip64.dll"):
        (tmp_path / "_rocm_sdk_core/bin" / name).touch()
    assert [path.name for path in _process.candidates(LIBRARIES["hiprtc"], package)] == ["hiprtc0505.dll"]
    assert _process.candidates(LIBRARIES["roctx64"], package) == []


def test_windows_looks_beside_a_dll_and_in_core(site: Site) -> None:
    """What a DLL of the libraries needs from core is found without preloading; each directory is added once."""
    code = """
import ctypes, os, sys
from rocm_sdk import _packages, _process
core, libraries = (_packages.locate(each).platform / "bin" for each in ("core", "libraries"))
libraries.mkdir()
added = []
sys.platform = "win32"
os.add_dll_directory = added.append
ctypes.CDLL = lambda path, mode: path
for name in ("a.dll", "b.dll"):
    _process._load(libraries / name)
assert added == [str(libraries), str(core)], added
sys.platform = "linux"
assert _process.dll_directories(libraries / "a.dll") == []
print("good")
"""
    done = site.python(code)
    assert done.stdout == "good\n", done.stderr


def test_command_line_basics(site: Site) -> None:
    assert site.run("version").stdout == "7.2.0\n"
    assert site.run("targets").stdout == "gfx1030;gfx1031;gfx942\n"
    assert site.run().returncode == 2
    assert site.run("path").returncode == 2
    assert site.run("path", "--bin", "--root").returncode == 2
    for command in ("path", "init", "targets", "version", "test"):
        assert command in site.run("--help").stdout


def test_targets_without_the_packages_list(site: Site) -> None:
    (site.path / "_rocm_sdk_core/share/therock/dist_info.json").unlink()
    assert site.run("targets").stdout == "gfx103X-dgpu;gfx94X-dcgpu\n"


def test_commands_that_need_devel_say_so(make_site: Callable[..., Site]) -> None:
    site = make_site("rocm_sdk_devel")
    for arguments in (("path", "--root"), ("init",)):
        done = site.run(*arguments)
        assert done.returncode == 1
        assert done.stderr == (
            'error: the package rocm-sdk-devel 7.2.0 is not installed\nhint: pip install "rocm[devel]==7.2.0"\n'
        )
