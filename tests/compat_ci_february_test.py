"""`quarry compat configure_ci` beside recorded answers of TheRock's script of February (tests/data/incumbent-ci-february.json)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import ci_february, ci_runs  # noqa: E402
from support.quarry import PROGRAM, ROOT, quarry  # noqa: E402

FACTS = json.loads((ROOT / "tests/data/incumbent-ci-february.json").read_text())["rows"]
OURS = [str(PROGRAM), "compat", "configure_ci"]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["case"].replace(" ", "-"))
def test_answers_are_those_of_the_script(fact: dict):
    code, told, said = ci_february.observe(OURS, fact["case"])
    assert (code, told) == (fact["exit"], fact["told"]), said


def test_every_case_is_recorded():
    assert [fact["case"] for fact in FACTS] == [row[0] for row in ci_february.CASES]


def asked(place: Path, event: str = "schedule", **variables: str):
    job = {"PATH": os.environ["PATH"], "GITHUB_EVENT_NAME": event, "GITHUB_REF_NAME": "main", "GITHUB_OUTPUT": str(place / "output"), "GITHUB_STEP_SUMMARY": str(place / "summary")}
    return quarry(*OURS[1:], environment=job | variables, cwd=place)


def test_a_moved_submodule_is_tested_in_full(tmp_path: Path):
    """The script looks for the submodules of its own checkout."""
    (tmp_path / "work").mkdir()
    ci_runs.make_repository(tmp_path / "work", ["rocm-libraries"])
    assert "test_type=full" in asked(tmp_path / "work", "push").out


@pytest.mark.parametrize(
    ("code", "event", "variables"),
    [
        ("C042", "release", {}),
        ("C042", "schedule", {"GITHUB_REF_NAME": ""}),
        ("C042", "pull_request", {"PR_LABELS": "[]"}),
        ("B002", "pull_request", {"PR_LABELS": "{"}),
        ("F003", "workflow_dispatch", {"INPUT_LINUX_AMDGPU_FAMILIES": "gfx94Y"}),
        ("F006", "schedule", {"BUILD_VARIANT": "msan"}),
    ],
)
def test_runs_that_cannot_be_meant(code: str, event: str, variables: dict, tmp_path: Path):
    done = asked(tmp_path, event, **variables)
    assert done.code == (6 if code == "B002" else 2) and code in done.err
    assert not (tmp_path / "output").exists()


def test_what_labels_do_not_mean_is_told(tmp_path: Path):
    ci_runs.make_repository(tmp_path, ["CMakeLists.txt"])
    done = asked(tmp_path, "pull_request", PR_LABELS=json.dumps({"labels": [{"name": "gfx9999"}, {"name": "test:nothing"}]}))
    assert "the label gfx9999 names no family" in done.err and "the label test:nothing names no test" in done.err
    assert "| linux release | `gfx94X-dcgpu` | linux-mi325-1gpu-ossci-rocm |" in (tmp_path / "summary").read_text()
