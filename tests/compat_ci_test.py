"""`quarry compat configure_multi_arch_ci` beside recorded answers of TheRock's script (tests/data/incumbent-ci-runs.json)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import ci_runs  # noqa: E402
from support.quarry import PROGRAM, ROOT, quarry  # noqa: E402

FACTS = json.loads((ROOT / "tests/data/incumbent-ci-runs.json").read_text())["rows"]
OURS = [str(PROGRAM), "compat", "configure_multi_arch_ci"]


def corrected(told: dict) -> dict:
    """The script offers the machines of the release build for packages of a sanitizer, too (docs/guides/drop-in.md)."""
    for build in (told["linux_build_config"], told["windows_build_config"]):
        for family in build["per_family_info"] if build else []:
            labels = {one["label"] for one in family.get("test-runs-on-labels", [])}
            if labels and family["test-runs-on"] not in labels:
                del family["test-runs-on-labels"]
                tests = build["test_python_packages_matrix"]
                tests["machines"] = [machine.replace("*", family["test-runs-on"]) if machine.startswith(family["amdgpu_family"]) else machine for machine in tests["machines"]]
    return told


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["case"].replace(" ", "-"))
def test_answers_are_those_of_the_script(fact: dict):
    code, told, _ = ci_runs.observe(OURS, fact["case"])
    assert (code, told) == (fact["exit"], corrected(fact["told"]))


def test_every_case_is_recorded():
    assert [fact["case"] for fact in FACTS] == [row[0] for row in ci_runs.CASES]


def asked(tmp_path: Path, event: str, **variables: str):
    job = {"PATH": os.environ["PATH"], "GITHUB_EVENT_NAME": event, "GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    return quarry(*OURS[1:], environment=job | variables, cwd=tmp_path)


@pytest.mark.parametrize(
    ("code", "event", "variables"),
    [
        ("F032", "release", {}),
        ("F032", "schedule", {"RELEASE_TYPE": "weekly"}),
        ("F032", "schedule", {"LINUX_TEST_LABELS": "test_filter:some"}),
        ("F003", "workflow_dispatch", {"LINUX_AMDGPU_FAMILIES": "gfx94Y"}),
        ("F006", "schedule", {"BUILD_VARIANT": "msan"}),
        ("C042", "schedule", {"BUILD_JAX": "yes"}),
        ("C042", "schedule", {"STAGE_REUSE_MODE": "reuse-stage"}),
        ("B002", "schedule", {"EXTERNAL_FAMILY_OVERRIDES": "{"}),
        ("F010", "schedule", {"EXTERNAL_FAMILY_OVERRIDES": '["gfx94x"]'}),
        ("F010", "schedule", {"EXTERNAL_FAMILY_OVERRIDES": '{"gfx94x": {"linux": {"test-run-on": "a"}}}'}),
        ("F010", "schedule", {"EXTERNAL_FAMILY_OVERRIDES": '{"gfx94x": {"linux": {"family": "gfx950-dcgpu"}}}'}),
        ("F002", "schedule", {"EXTERNAL_FAMILY_OVERRIDES": '{"gfx94x": {"linux": {"build_variants": ["msan"]}}}'}),
        ("C042", "schedule", {"EXTERNAL_REPO": "{}"}),
        ("C042", "push", {}),
        ("C042", "", {}),
    ],
)
def test_runs_that_cannot_be_meant(code: str, event: str, variables: dict, tmp_path: Path):
    done = asked(tmp_path, event, **variables)
    assert done.code == (6 if code == "B002" else 2) and code in done.err
    assert not (tmp_path / "output").exists()


def test_a_base_that_git_does_not_know(tmp_path: Path):
    (tmp_path / "event.json").write_text(json.dumps({"before": "1" * 40}))
    done = asked(tmp_path, "push", GITHUB_EVENT_PATH=str(tmp_path / "event.json"))
    assert done.code == 3 and "Y151" in done.err


def test_a_family_that_is_not_built_there_is_named(tmp_path: Path):
    done = asked(tmp_path, "workflow_dispatch", LINUX_AMDGPU_FAMILIES="gfx1151", WINDOWS_AMDGPU_FAMILIES="gfx94X,gfx1151")
    assert done.code == 0 and "gfx94x is not built on windows" in done.err
    summary = (tmp_path / "summary").read_text()
    assert "| linux release | `gfx1151` | `linux-gfx1151-gpu-rocm` |" in summary and "gfx94x is not built on windows" in summary


def test_every_stage_of_the_topology(tmp_path: Path):
    (tmp_path / "stages.toml").write_text('[build_stages.a]\nartifact_groups = []\n[build_stages.b]\nartifact_groups = []\n')
    done = quarry(*OURS[1:], "--topology", tmp_path / "stages.toml", "--json", environment={"GITHUB_EVENT_NAME": "schedule", "PREBUILT_STAGES": "all"}, cwd=tmp_path)
    assert json.loads(done.out)["linux_build_config"]["prebuilt_stages"] == "a,b"


def test_packages_of_a_sanitizer_are_tested_on_its_machines(tmp_path: Path):
    """The script takes the machines of the release build for them."""
    done = quarry(*OURS[1:], "--json", environment={"GITHUB_EVENT_NAME": "workflow_dispatch", "BUILD_VARIANT": "host-asan", "LINUX_AMDGPU_FAMILIES": "gfx94x", "GITHUB_RUN_ID": "7"}, cwd=tmp_path)
    build = json.loads(done.out)["linux_build_config"]
    assert {row["test_runs_on"] for row in build["test_python_packages_matrix"]} == {"linux-mi325-gpu-rocm-cpu-sandbox"}


def test_what_has_no_effect_is_told(tmp_path: Path):
    overrides = {"gfx9999": {"linux": {"test-runs-on": "a"}}, "gfx94x": {"windows": {"test-runs-on": "a"}}, "_comment": "for people"}
    done = asked(tmp_path, "schedule", EXTERNAL_FAMILY_OVERRIDES=json.dumps(overrides))
    assert done.code == 0 and done.err.count("it has no effect") == 2, done.err
    (tmp_path / "empty").mkdir()
    assert "holds neither runner-config-v2.json" in asked(tmp_path, "schedule", CI_CONFIG_PATH="empty").err


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [("runner-config-v2.json", "{", "B002"), ("runner-config.json", "{}", "F010"), ("runner-config-v2.json", '{"gpu_runner_labels": {"gfx94x": {"linux": {"test-runs-on": 1}}}}', "F010")],
)
def test_machines_that_cannot_be_read(name: str, text: str, code: str, tmp_path: Path):
    """The script falls back to its own machines, which nobody chose."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / name).write_text(text)
    done = asked(tmp_path, "schedule", CI_CONFIG_PATH="config")
    assert done.code == (6 if code == "B002" else 2) and code in done.err and name in done.err


def test_machines_of_the_first_version(tmp_path: Path):
    (tmp_path / "config").mkdir()
    labels = [{"label": "a", "weight": 0.25}, {"label": "b", "weight": 0.75}]
    families = {"presubmit": {"gfx94x": {"linux": {"family": "other", "build_variants": [], "test-runs-on-labels": labels}}}}
    (tmp_path / "config/runner-config.json").write_text(json.dumps({"version": "1", "gpu_families": families}))
    for script, words, key in (
        ("configure_pytorch_test_matrix", ["--build-amdgpu-families", "gfx94X-dcgpu"], "test_runs_on"),
        ("configure_jax_test_matrix", ["--target", "gfx94X-dcgpu", "--test-size", "small"], "test_runs_on"),
    ):
        done = quarry("compat", script, *words, "--json", environment={"PATH": os.environ["PATH"], "CI_CONFIG_PATH": "config"}, cwd=tmp_path)
        assert [row[key] for row in json.loads(done.out)["matrix"]["include"]] == ["b"], done.err
