"""What TheRock's configure_multi_arch_ci of August decides about runs of CI.

    python tests/support/ci_runs.py AUGUST > tests/data/incumbent-ci-runs.json

records the facts from a checkout; tests/compat_ci_test.py asks ours the same.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

NULL = "0" * 40
WORKFLOWS = {"multi_arch_ci.yml": "multi_arch_ci_linux.yml", "multi_arch_ci_linux.yml": "test_rocm_wheels.yml", "test_rocm_wheels.yml": "", "unit_tests.yml": ""}
ALL_WHEELS = {"BUILD_JAX": "true"}
# The machines of a repository of their own, in the form of its second version; TheRock's script reads them through a module beside the file.
MACHINES = {
    "version": 2,
    "build_runners": {
        "linux": {"default": [{"label": "retired-builder", "weight": 0.0}, {"label": "new-builder", "weight": 1.0}], "sanitizer": [{"label": "large-builder", "weight": 1.0}]},
        "windows": {"default": [{"label": "new-windows-builder", "weight": 1.0}]},
    },
    "gpu_runner_labels": {
        "gfx94x": {"linux": {"_comment": "two", "test-runs-on": "new-gfx942", "test-runs-on-labels": [{"label": "new-gfx942", "weight": 1.0, "count": 28}, {"label": "more-gfx942", "weight": 1.0, "count": 4}]}},
        "gfx1151": {"linux": {"test-runs-on": ""}, "windows": {"test-runs-on": "new-windows-gfx1151"}},
        "gfx9999": {"linux": {"test-runs-on": "nobody"}},
    },
}
API = """import json, pathlib
def load_runner_config(place): return json.loads((pathlib.Path(place) / "runner-config-v2.json").read_text())
def get_gpu_runner_labels(config): return config["gpu_runner_labels"]
"""
OVERRIDES = {
    "gfx1151": {"linux": {"test-runs-on": "bringup", "test_labels_for_family": ["test:rocprim"], "sanity_check_only_for_family": True}},
    "gfx94x": {"linux": {"fetch-gfx-targets": [], "test-runs-on-labels": [{"label": "bringup-a", "count": 2}, {"label": "bringup-b", "count": 1}], "test-runs-on": "bringup-a"}, "windows": {"test-runs-on": "nobody"}},
    "gfx9999": {"linux": {"test-runs-on": "nobody"}},
}


def pull(*labels: str) -> dict:
    return {"pull_request": {"labels": [{"name": label} for label in labels]}}


# (name, event, payload, changed files, variables). A push with `before` None begins at the commit before.
CASES: list[tuple[str, str, dict, list[str], dict[str, str]]] = [
    ("a pull request", "pull_request", pull(), ["CMakeLists.txt"], {}),
    ("labels", "pull_request", pull("gfx950", "gfx103X-linux", "test:rocPRIM"), ["CMakeLists.txt"], {}),
    ("every family", "pull_request", pull("ci:run-all-archs", "test_filter:comprehensive", "test_runner:oem"), ["CMakeLists.txt"], {"BUILD_PYTORCH": "false"}),
    ("no CI", "pull_request", pull("ci:skip"), ["CMakeLists.txt"], {}),
    ("documentation", "pull_request", pull(), ["docs/guides/drop-in.md", "x/.gitignore", "experimental/x/y.py", ".github/workflows/unit_tests.yml"], {}),
    ("a workflow of CI", "pull_request", pull(), ["README.md", ".github/workflows/test_rocm_wheels.yml"], {}),
    ("asan without a label", "pull_request", pull(), ["CMakeLists.txt"], {"BUILD_VARIANT": "asan"}),
    ("asan with a label", "pull_request", pull("ci:asan"), ["CMakeLists.txt"], {"BUILD_VARIANT": "asan"}),
    ("a push", "push", {"before": None}, ["CMakeLists.txt"], {"LINUX_TEST_LABELS": "test_filter:full"}),
    ("a moved submodule", "push", {"before": None}, ["rocm-libraries"], {}),
    ("a push without a word of before", "push", {}, ["docs/glossary.md"], {}),
    ("a new branch", "push", {"before": NULL}, ["docs/glossary.md"], {"BUILD_VARIANT": "tsan"}),
    ("a schedule", "schedule", {}, [], ALL_WHEELS),
    ("a nightly asan", "schedule", {}, [], {"BUILD_VARIANT": "asan", "WINDOWS_AMDGPU_FAMILIES": "none"}),
    ("a nightly release", "workflow_dispatch", {}, [], {"LINUX_AMDGPU_FAMILIES": "all", "RELEASE_TYPE": "nightly", **ALL_WHEELS}),
    ("a prerelease", "workflow_dispatch", {}, [], {"LINUX_AMDGPU_FAMILIES": "gfx94X, gfx90c", "WINDOWS_AMDGPU_FAMILIES": "gfx1151", "RELEASE_TYPE": "prerelease", "PYTHON_VERSION": "3.13"}),
    ("stages of another run", "workflow_dispatch", {}, [], {"LINUX_AMDGPU_FAMILIES": "gfx94X", "PREBUILT_STAGES": "math-libs,comm-libs", "BASELINE_RUN_ID": "42", "THEROCK_REPOSITORY": "ROCm/TheRock", "BUILD_PYTHON_PACKAGES": "false"}),
    ("named tests", "workflow_dispatch", {}, [], {"LINUX_AMDGPU_FAMILIES": "gfx950", "LINUX_TEST_LABELS": "test:rccl, test:hipblas", "WINDOWS_TEST_LABELS": "test:rocfft"}),
    ("no family", "workflow_dispatch", {}, [], {"LINUX_AMDGPU_FAMILIES": "none"}),
    ("machines of another file", "schedule", {}, [], {"CI_CONFIG_PATH": "ci-config", "LINUX_AMDGPU_FAMILIES": "gfx94X, gfx1151", "WINDOWS_AMDGPU_FAMILIES": "gfx1151"}),
    ("machines of no file", "schedule", {}, [], {"CI_CONFIG_PATH": "nothing", "LINUX_AMDGPU_FAMILIES": "gfx1151", "WINDOWS_AMDGPU_FAMILIES": "none"}),
    ("settings of the caller", "workflow_dispatch", {}, [], {"EXTERNAL_FAMILY_OVERRIDES": json.dumps(OVERRIDES), "LINUX_AMDGPU_FAMILIES": "gfx94X, gfx1151"}),
    ("settings of the caller beside machines", "schedule", {}, [], {"EXTERNAL_FAMILY_OVERRIDES": json.dumps(OVERRIDES), "CI_CONFIG_PATH": "ci-config", "LINUX_AMDGPU_FAMILIES": "gfx94X, gfx1151", "WINDOWS_AMDGPU_FAMILIES": "none"}),
    ("no settings of the caller", "schedule", {}, [], {"EXTERNAL_FAMILY_OVERRIDES": "null", "LINUX_AMDGPU_FAMILIES": "gfx1151", "WINDOWS_AMDGPU_FAMILIES": "none"}),
    ("another repository", "push", {"before": NULL}, [], {"EXTERNAL_REPO": '{"repository": "ROCm/rocm-libraries", "ref": "develop"}'}),
]  # fmt: skip


def make_repository(place: Path, changed: list[str]) -> str:
    """Two commits; the second changes the files. Returns the first."""

    def git(*words: str) -> str:
        identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": "/dev/null"}
        return subprocess.run(["git", *words], cwd=place, env=os.environ | identity, check=True, capture_output=True, text=True).stdout.strip()

    flows = place / ".github/workflows"
    flows.mkdir(parents=True)
    for name, called in WORKFLOWS.items():
        jobs = f"  a:\n    uses: ./.github/workflows/{called}\n" if called else "  a:\n    runs-on: x\n    steps:\n      - run: 'true'\n"
        (flows / name).write_text(f"on:\n  workflow_call:\njobs:\n{jobs}")
    (place / ".gitmodules").write_text('[submodule "rocm-libraries"]\n  path = rocm-libraries\n  url = https://example.invalid/rocm-libraries\n')
    (place / "rocm-libraries").mkdir()  # as git leaves a submodule that nobody checked out
    git("init", "-q", ".")
    git("add", "-A")
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},rocm-libraries")
    git("commit", "-q", "-m", "before")
    before = git("rev-parse", "HEAD")
    for file in changed:
        if file == "rocm-libraries":
            git("update-index", "--cacheinfo", f"160000,{'2' * 40},rocm-libraries")
            continue
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        with (place / file).open("a") as out:
            out.write("\n")
        git("add", file)
    git("commit", "-q", "--allow-empty", "-m", "after")
    return before


def observe(command: list[str], case: str) -> tuple[int, dict, str]:
    """What one call ends with, the values it tells the job, and the summary."""
    _, event, payload, changed, variables = next(row for row in CASES if row[0] == case)
    with tempfile.TemporaryDirectory() as place:
        work = Path(place, "work")
        work.mkdir()
        before = make_repository(work, changed)
        if variables.get("CI_CONFIG_PATH") == "ci-config":
            (work / "ci-config").mkdir()
            (work / "ci-config/runner-config-v2.json").write_text(json.dumps(MACHINES))
            (work / "ci-config/ci_config_api.py").write_text(API)
        payload = {name: before if value is None else value for name, value in payload.items()}
        Path(place, "event.json").write_text(json.dumps(payload))
        files = {name: str(Path(place, name)) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        job = {"PATH": os.environ["PATH"], "GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": str(Path(place, "event.json")), "GITHUB_REF_NAME": "main", "GITHUB_RUN_ID": "42"}
        done = subprocess.run(command, cwd=work, env=job | files | variables, capture_output=True, text=True, timeout=60)
        told = dict(line.split("=", 1) for line in Path(files["GITHUB_OUTPUT"]).read_text().splitlines()) if Path(files["GITHUB_OUTPUT"]).exists() else {}
        summary = Path(files["GITHUB_STEP_SUMMARY"])
        return done.returncode, shortened(told), (summary.read_text() if summary.exists() else "") + done.stderr


def shortened(told: dict[str, str]) -> dict:
    """The values, with short forms of the matrices. Machines that are drawn by lot are `*`."""
    values: dict = {}
    for name, text in told.items():
        if name.endswith("_labels"):
            values[name] = ast.literal_eval(text)
        elif name.endswith("_build_config") and text:
            build = values[name] = json.loads(text)
            drawn = {}
            for family in build["per_family_info"]:
                family.get("test-runs-on-labels", []).sort(key=lambda one: one["label"])
                for one in family.get("test-runs-on-labels", []):
                    one.pop("weight", None)  # the count is what the workflows read
                drawn[family["amdgpu_family"]] = {one["label"] for one in family.get("test-runs-on-labels", [])}
            tests = build["test_python_packages_matrix"]
            for row in tests:
                row["test_runs_on"] = "*" if row["test_runs_on"] in drawn[row["amdgpu_family"]] else row["test_runs_on"]
            machines = dict.fromkeys(f"{row['amdgpu_family']} {row['test_runs_on']}" for row in tests)
            environments = dict.fromkeys(f"{row['python_version']} {row['container_image_name']} {row['container_image_url'][-20:]}" for row in tests)
            build["test_python_packages_matrix"] = {"rows": len(tests), "machines": list(machines), "environments": list(environments)}
            families = build["dist_amdgpu_families"].split(";")
            for row in build["pytorch_build_matrix"]:
                row["amdgpu_families"] = "without " + ";".join(name for name in families if name not in row["amdgpu_families"].split(";"))
            for matrix in ("pytorch_build_matrix", "jax_build_matrix"):
                build[matrix] = [" ".join(f"{key}={value}" for key, value in sorted(row.items())) for row in build[matrix]]
        else:
            values[name] = text
    return values


def main() -> None:
    script = Path(sys.argv[1]).resolve() / "build_tools/github_actions/configure_multi_arch_ci.py"
    rows = []
    for name, *_ in CASES:
        code, told, _ = observe([sys.executable, "-B", str(script)], name)
        rows.append(json.dumps({"case": name, "exit": code, "told": told}, sort_keys=True))
    about = "What TheRock's configure_multi_arch_ci decides: facts observed by tests/support/ci_runs.py on its sources, 89553ce37 (2026-08-22)."
    lines = ",\n  ".join(rows)
    print(f'{{"about": "{about}",\n "rows": [\n  {lines}]}}')


if __name__ == "__main__":
    main()
