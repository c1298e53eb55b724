"""What TheRock's configure_ci of February decides about runs of CI.

    python tests/support/ci_february.py FEBRUARY > tests/data/incumbent-ci-february.json

records the facts from a checkout; tests/compat_ci_february_test.py asks ours the same.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.ci_runs import make_repository  # noqa: E402

LISTS = ("linux_variants", "linux_test_labels", "windows_variants", "windows_test_labels")
SOURCE = ["CMakeLists.txt"]


def labels(*names: str) -> dict[str, str]:
    return {"PR_LABELS": json.dumps({"labels": [{"name": name} for name in names]})}


# (name, event, branch, changed files, variables)
CASES: list[tuple[str, str, str, list[str], dict[str, str]]] = [
    ("a pull request", "pull_request", "1/merge", SOURCE, labels()),
    ("a pull request without labels told", "pull_request", "1/merge", SOURCE, {}),
    ("labels", "pull_request", "1/merge", SOURCE, labels("gfx950-dcgpu", "gfx103X", "test:rocPRIM", "test:nothing", "gfx9999")),
    ("every family", "pull_request", "1/merge", SOURCE, labels("run-all-archs-ci")),
    ("no CI", "pull_request", "1/merge", SOURCE, labels("gfx950", "test:rocprim", "skip-ci")),
    ("a kernel", "pull_request", "1/merge", SOURCE, labels("test_runner:oem", "gfx950")),
    ("documentation", "pull_request", "1/merge", ["docs/glossary.md", "x/.gitignore", "experimental/a/b.py", ".github/workflows/unit_tests.yml"], labels()),
    ("a workflow of CI", "pull_request", "1/merge", ["README.md", ".github/workflows/test_rocm_wheels.yml"], labels()),
    ("a push to main", "push", "main", SOURCE, {}),
    ("a push to a release branch", "push", "release/therock-7.2", SOURCE, {}),
    ("a push to another branch", "push", "users/a/b", SOURCE, {}),
    ("asan", "push", "main", SOURCE, {"BUILD_VARIANT": "asan"}),
    ("tsan", "push", "main", SOURCE, {"BUILD_VARIANT": "tsan"}),
    ("a schedule", "schedule", "main", [], {}),
    ("asan at night", "schedule", "main", [], {"BUILD_VARIANT": "asan"}),
    ("by name", "workflow_dispatch", "main", SOURCE, {"INPUT_LINUX_AMDGPU_FAMILIES": "gfx94X, gfx1151", "INPUT_WINDOWS_AMDGPU_FAMILIES": "gfx1151", "LINUX_TEST_LABELS": "test:rccl, test:hipblas", "WINDOWS_TEST_LABELS": "test:rocfft"}),
    ("nobody by name", "workflow_dispatch", "main", SOURCE, {"INPUT_LINUX_AMDGPU_FAMILIES": "", "INPUT_WINDOWS_AMDGPU_FAMILIES": ""}),
    ("a kernel by name", "workflow_dispatch", "main", SOURCE, {"INPUT_LINUX_AMDGPU_FAMILIES": "gfx1151", "ADDITIONAL_LABEL_OPTIONS": "test_runner:oem"}),
    ("all families in one row", "schedule", "main", [], {"MULTI_ARCH": "true"}),
    ("one row of a pull request", "pull_request", "1/merge", SOURCE, labels() | {"MULTI_ARCH": "true"}),
    ("one row of tsan", "push", "main", SOURCE, {"MULTI_ARCH": "true", "BUILD_VARIANT": "tsan"}),
]  # fmt: skip


def observe(command: list[str], case: str) -> tuple[int, dict, str]:
    """What one call ends with, the values that it tells the job, and what it says."""
    _, event, branch, changed, variables = next(row for row in CASES if row[0] == case)
    with tempfile.TemporaryDirectory() as place:
        work = Path(place, "work")
        work.mkdir()
        make_repository(work, changed)
        files = {name: str(Path(place, name)) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        job = {"PATH": os.environ["PATH"], "GITHUB_EVENT_NAME": event, "GITHUB_REF_NAME": branch, "BASE_REF": "HEAD^"}
        done = subprocess.run(command, cwd=work, env=job | files | variables, capture_output=True, text=True, timeout=60)
        output = Path(files["GITHUB_OUTPUT"])
        told = dict(line.split("=", 1) for line in output.read_text().splitlines()) if output.exists() else {}
        return done.returncode, sorted_values(told), done.stdout + done.stderr


def sorted_values(told: dict[str, str]) -> dict:
    """The script's order of families is that of a hash."""
    values: dict = {name: json.loads(text) if name in LISTS else text for name, text in told.items()}
    for name in LISTS:
        for row in values.get(name, []):
            if "matrix_per_family_json" in row:
                row["matrix_per_family_json"] = sorted(json.loads(row["matrix_per_family_json"]), key=lambda one: one["amdgpu_family"])
                row["dist_amdgpu_families"] = ";".join(sorted(row["dist_amdgpu_families"].split(";")))
        if name in values:
            values[name].sort(key=lambda one: one if isinstance(one, str) else one.get("family", ""))
    return values


def main() -> None:
    script = Path(sys.argv[1]).resolve() / "build_tools/github_actions/configure_ci.py"
    rows = []
    for name, *_ in CASES:
        code, told, _ = observe([sys.executable, "-B", str(script)], name)
        rows.append(json.dumps({"case": name, "exit": code, "told": told}, sort_keys=True))
    about = "What TheRock's configure_ci decides: facts observed by tests/support/ci_february.py on its sources, 527dea363 (2026-02-26)."
    lines = ",\n  ".join(rows)
    print(f'{{"about": "{about}",\n "rows": [\n  {lines}]}}')


if __name__ == "__main__":
    main()
