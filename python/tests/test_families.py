"""Which family an installation is for: the order, the match of targets, what is refused."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

FILE = Path(__file__).resolve().parent.parent / "rocm/src/rocm_sdk/_families.py"


@pytest.fixture(scope="module")
def families() -> ModuleType:
    spec = importlib.util.spec_from_file_location("families_under_test", FILE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def facts(*available: str, default: str = "", linux: list[str] | None = None, windows: tuple[str, ...] = (), targets=None):
    found = SimpleNamespace(
        AVAILABLE_TARGET_FAMILIES=list(available),
        LINUX_TARGET_FAMILIES=list(available) if linux is None else linux,
        WINDOWS_TARGET_FAMILIES=list(windows),
        DEFAULT_TARGET_FAMILY=default or (available[0] if available else ""),
    )
    if targets:
        found.FAMILY_TARGETS = targets
    return found


ALL = ("gfx103X-dgpu", "gfx110X-all", "gfx110X-dgpu", "gfx1151", "gfx90X-dcgpu", "gfx90a", "gfx950-dcgpu")


@pytest.mark.parametrize(
    ("targets", "family"),
    [
        (["gfx1030"], "gfx103X-dgpu"),
        (["gfx1151"], "gfx1151"),
        (["gfx908"], "gfx90X-dcgpu"),
        (["gfx90a"], "gfx90a"),  # a family of its own comes before a pattern
        (["gfx950"], "gfx950-dcgpu"),
        (["gfx1100"], "gfx110X-all"),  # of several, the one that says all
        (["gfx1999", "gfx1151", "gfx1030"], "gfx1151"),  # the first GPU that is covered
        ([], "gfx103X-dgpu"),
    ],
)
def test_family_of_the_targets_found(families: ModuleType, targets: list[str], family: str) -> None:
    assert families.resolve(facts(*ALL), {}, lambda: targets) == family


def test_the_environment_comes_first_and_is_not_case_sensitive(families: ModuleType) -> None:
    environ = {"ROCM_SDK_TARGET_FAMILY": " GFX1151 "}
    assert families.resolve(facts(*ALL), environ, lambda: ["gfx1030"], "gfx90a") == "gfx1151"


def test_what_was_resolved_at_installation_replaces_the_default_but_not_a_gpu(families: ModuleType) -> None:
    assert families.resolve(facts(*ALL), {}, list, "gfx90a") == "gfx90a"
    assert families.resolve(facts(*ALL), {}, lambda: ["gfx1030"], "gfx90a") == "gfx103X-dgpu"


def test_listed_targets_replace_the_guess_from_the_name(families: ModuleType) -> None:
    listed = facts("gfx90X-dcgpu", "gfx90X-igpu", targets={"gfx90X-dcgpu": ["gfx908", "gfx90a"], "gfx90X-igpu": ["gfx90c"]})
    assert families.resolve(listed, {}, lambda: ["gfx90c"]) == "gfx90X-igpu"
    with pytest.raises(families.FamilyError, match="no family of this release covers the GPU gfx906"):
        families.resolve(listed, {}, lambda: ["gfx906"])


@pytest.mark.parametrize(
    ("available", "environ", "targets", "message"),
    [
        (
            ("gfx103X-dgpu",),
            {"ROCM_SDK_TARGET_FAMILY": "gfx94X"},
            [],
            "gfx94X: this release has no such family .* it has gfx103X-dgpu",
        ),
        (("gfx103X-dgpu",), {}, ["gfx942"], "covers the GPU gfx942; it has gfx103X-dgpu; set ROCM_SDK_TARGET_FAMILY"),
        (("gfx110X-dgpu", "gfx110X-igpu"), {}, ["gfx1100"], "belongs to gfx110X-dgpu, gfx110X-igpu; set ROCM_SDK_TARGET_FAMILY"),
        ((), {"ROCM_SDK_TARGET_FAMILY": "gfx1151"}, [], "it has none"),
    ],
)
def test_never_guesses(families: ModuleType, available, environ, targets, message: str) -> None:
    with pytest.raises(families.FamilyError, match=message):
        families.resolve(facts(*available), environ, lambda: targets)


def test_a_family_whose_name_says_nothing_leaves_the_default(families: ModuleType) -> None:
    assert families.resolve(facts("dcgpu-all"), {}, lambda: ["gfx942"]) == "dcgpu-all"


def test_no_families_at_all(families: ModuleType) -> None:
    assert families.resolve(facts(), {}, lambda: pytest.fail("asked for GPUs")) == ""


def test_only_families_of_this_platform_count(families: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    release = facts("gfx1151", "gfx94X-dcgpu", default="gfx94X-dcgpu", linux=["gfx94X-dcgpu"], windows=("gfx1151",))
    assert families.resolve(release, {}, list) == "gfx94X-dcgpu"
    monkeypatch.setattr(sys, "platform", "win32")
    assert families.resolve(release, {}, list) == "gfx1151"
    with pytest.raises(families.FamilyError, match="no such family for win32; it has gfx1151"):
        families.resolve(release, {"ROCM_SDK_TARGET_FAMILY": "gfx94X-dcgpu"}, list)


def test_output_of_offload_arch(families: ModuleType) -> None:
    assert families.parse_targets("gfx90a:sramecc+:xnack-\ngfx90a\n\nerror: x\n gfx1030 \n") == ["gfx90a", "gfx1030"]


@pytest.mark.parametrize(
    ("body", "found"), [("echo gfx1030; echo gfx1036", ["gfx1030", "gfx1036"]), ("echo gfx1030; exit 1", [])]
)
def test_detection_runs_offload_arch(families: ModuleType, tmp_path: Path, monkeypatch, body: str, found: list[str]) -> None:
    program = tmp_path / "offload-arch"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert families.detect_targets() == found


def test_detection_without_offload_arch(families: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert families.detect_targets() == []
