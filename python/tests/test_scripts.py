"""The trampolines of the core package."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import fake_sdk
import pytest
from installation import Site

KNOWN = (
    "amd-smi amdclang amdclang++ amdclang-cl amdclang-cpp amdflang amdlld hipInfo hipcc hipconfig hipify-clang hipify-perl "
    "offload-arch roc-obj roc-obj-extract roc-obj-ls rocgdb rocm-smi rocm_agent_enumerator rocminfo roccoremerge rocpd rocpd2csv "
    "rocprofv3 rocprofv3-attach rocprofv3-avail"
).split()


@pytest.fixture
def cli(sdk):
    return importlib.import_module("rocm_sdk_core._cli")


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("amdclang++", "amdclang_pp"),
        ("hipify-perl", "hipify_perl"),
        ("roc.x", "roc_x"),
        ("a+b", "a_pb"),
        ("7z", "_7z"),
        ("é", "_"),
    ],
)
def test_attribute_of_a_name(cli, name: str, attribute: str) -> None:
    assert cli.entry_point_attribute(name) == attribute


def test_no_two_names_share_an_attribute(cli) -> None:
    attributes = {cli.entry_point_attribute(name) for name in KNOWN}
    assert len(attributes) == len(KNOWN)
    assert all(attribute.isidentifier() for attribute in attributes)
    assert {name: cli.entry_point_attribute(name) for name in KNOWN} == {
        name: fake_sdk.entry_point_attribute(name) for name in KNOWN
    }


def test_scripts_are_data(cli) -> None:
    assert callable(cli.amdclang_pp)
    assert {"amdclang_pp", "rocminfo"} <= set(dir(cli))
    with pytest.raises(AttributeError, match="no attribute 'rocgdb'"):
        cli.rocgdb  # noqa: B018


def call(site: Site, attribute: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return site.python(f"import rocm_sdk_core._cli as c; c.{attribute}()", *arguments)


def test_the_program_replaces_the_script(site: Site) -> None:
    done = call(site, "hipconfig", "a b", "--c")
    program = site.path / "_rocm_sdk_core/bin/hipconfig"
    assert done.stdout == f"HIP version: 5.2 in {program} with a b --c\n"


def test_the_exit_code_is_the_programs(site: Site) -> None:
    assert call(site, "sdk_fails").returncode == 7


def test_variables_of_a_script_are_set_unless_the_user_has(site: Site) -> None:
    assert call(site, "sdk_shows").stdout == f"at {site.path}/_rocm_sdk_core/lib/llvm/bin\n"
    done = site.python("import rocm_sdk_core._cli as c; c.sdk_shows()", SDK_COMPILER_PATH="/mine")
    assert done.stdout == "at /mine\n"


def test_a_missing_program_says_what_to_do(site: Site) -> None:
    (site.path / "_rocm_sdk_core/bin/hipcc").unlink()
    done = call(site, "hipcc")
    assert done.returncode == 127
    assert "error: hipcc: cannot run" in done.stderr
    assert "hint: install rocm-sdk-core again" in done.stderr


def test_on_windows_a_child_runs_and_its_code_is_taken(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    class Child:
        def __init__(self, arguments: list[str]) -> None:
            started.append(arguments)
            self.interrupts = 1

        def wait(self) -> int:
            self.interrupts -= 1
            if self.interrupts >= 0:
                raise KeyboardInterrupt
            return 5

    monkeypatch.setattr(cli.sys, "platform", "win32")
    monkeypatch.setattr(cli.subprocess, "Popen", Child)
    monkeypatch.setattr(sys, "argv", ["hipcc", "-v"])
    with pytest.raises(SystemExit) as stopped:
        cli.hipcc()
    assert stopped.value.code == 5
    assert started == [[str(cli.platform_directory() / "bin" / "hipcc.exe"), "-v"]]
    assert os.path.isabs(started[0][0])
