"""Calls of TheRock's scripts that need no network, what they end with, and what they write.

    python tests/support/incumbent_cases.py FEBRUARY AUGUST > tests/data/incumbent-exits.json

records the facts from two checkouts, with a Python that has their requirements; tests/compat_exits_test.py makes the same calls of `quarry compat`.
`{in}` is a directory of inputs, `{out}` a place to write to; both are new for each call.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support import distributions  # noqa: E402

BOTH, FEB, AUG = ("feb", "aug"), ("feb",), ("aug",)
JOB_FILES = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
TOPOLOGY = """
[source_sets.a]
submodules = []
[build_stages.runtime]
description = "all"
artifact_groups = ["runtime"]
[artifact_groups.runtime]
description = "all"
type = "generic"
source_sets = ["a"]
[artifacts.base]
artifact_group = "runtime"
type = "target-neutral"
"""
RELEASE = {"TEST_RUNS_ON": "gpu", "BYPASS_TESTS_FOR_RELEASES": "", "GITHUB_REF_NAME": "main"}
UPLOAD = ["--run-id", "42", "--output-dir", "{out}"]
STAGED = ["--topology", "{in}/topology.toml", "--platform", "linux", "--local-staging-dir", "{out}/store"]
PUBLISH = ["--release-type", "dev", "--dry-run"]
BUILD = ["--artifact-dir", "{in}/artifacts", "--dest-dir", "{out}"]
CI = {"GITHUB_EVENT_PATH": "{in}/event.json", "GITHUB_REF_NAME": "main", "GITHUB_RUN_ID": "42"}
FAMILIES = ["--amdgpu-families", "gfx94X-dcgpu"]

# (script, months, name of the case, words, variables)
CASES: list[tuple[str, tuple[str, ...], str, list[str], dict[str, str]]] = [
    ("artifact_manager", BOTH, "no action", [], {}),
    ("artifact_manager", BOTH, "an unknown flag", ["push", "--stage", "runtime", "--build-dir", "{in}/build", "--nonsense"], {}),
    ("artifact_manager", BOTH, "an unknown action", ["pull"], {}),
    ("artifact_manager", BOTH, "the stages", ["list-stages", "--topology", "{in}/topology.toml"], {}),
    ("artifact_manager", BOTH, "a stage", ["info", "--topology", "{in}/topology.toml", "--stage", "runtime"], {}),
    ("artifact_manager", BOTH, "no such stage", ["info", "--topology", "{in}/topology.toml", "--stage", "nothing"], {}),
    ("artifact_manager", BOTH, "no topology", ["list-stages", "--topology", "{in}/none.toml"], {}),
    ("artifact_manager", BOTH, "a push", ["push", "--stage", "runtime", "--build-dir", "{in}/build", "--run-id", "42", *STAGED], {}),
    ("artifact_manager", BOTH, "a push of nothing", ["push", "--stage", "runtime", "--build-dir", "{in}/empty", "--run-id", "42", *STAGED], {}),
    ("artifact_manager", BOTH, "a fetch of nothing", ["fetch", "--stage", "all", "--output-dir", "{out}/build", "--run-id", "7", *STAGED], {}),
    ("artifact_manager", AUG, "a copy of nothing", ["copy", "--stage", "runtime", "--source-run-id", "7", "--run-id", "8", *STAGED], {}),
    ("build_python_packages", BOTH, "no flags", [], {}),
    ("build_python_packages", BOTH, "an unknown flag", [*BUILD, "--nonsense"], {}),
    ("build_python_packages", BOTH, "no artifacts", ["--artifact-dir", "{in}/none", "--dest-dir", "{out}", "--version", "7.1.0"], {}),
    ("capture_job_summary", AUG, "a summary", [], {"RUNNER_TEMP": "{in}/temp"}),
    ("capture_job_summary", AUG, "no summary", [], {"RUNNER_TEMP": "{in}/empty"}),
    ("capture_job_summary", AUG, "another name", ["--output-name", "told"], {"RUNNER_TEMP": "{in}/temp"}),
    ("capture_job_summary", AUG, "an unknown flag", ["--nonsense"], {}),
    ("compute_jax_package_version", BOTH, "no flags", [], {}),
    ("compute_jax_package_version", BOTH, "a pin", ["--rocm-version", "7.1.0", "--jax-requirements", "{in}/jax.txt"], {}),
    ("compute_jax_package_version", BOTH, "no pin", ["--rocm-version", "7.1.0", "--jax-requirements", "{in}/event.json"], {}),
    ("compute_jax_package_version", BOTH, "no file", ["--rocm-version", "7.1.0", "--jax-requirements", "{in}/none.txt"], {}),
    ("compute_jax_package_version", BOTH, "no version", ["--rocm-version", "7.x", "--jax-requirements", "{in}/jax.txt"], {}),
    ("compute_rocm_package_version", BOTH, "no flags", [], {}),
    ("compute_rocm_package_version", BOTH, "a prerelease", ["--release-type", "prerelease", "--prerelease-version", "2"], {}),
    ("compute_rocm_package_version", BOTH, "a prerelease without number", ["--release-type", "prerelease"], {}),
    ("compute_rocm_package_version", BOTH, "a suffix", ["--custom-version-suffix", ".dev0"], {}),
    ("compute_rocm_package_version", AUG, "a commit", ["--release-type", "dev", "--override-git-sha", "0123456789abcdef0123456789abcdef01234567"], {}),
    ("compute_rocm_package_version", BOTH, "another base", ["--release-type", "nightly", "--override-base-version", "7.99.0"], {}),
    ("compute_rocm_package_version", BOTH, "an unknown type", ["--release-type", "weekly"], {}),
    ("compute_rocm_package_version", AUG, "a bkc without base date", ["--release-type", "nightly-bkc"], {}),
    ("compute_rocm_package_version", FEB, "a deb version", ["--release-type", "nightly", "--package-type", "deb"], {}),
    ("configure_ci", FEB, "no variables", [], {}),
    ("configure_ci", FEB, "a schedule", [], {"GITHUB_EVENT_NAME": "schedule", "GITHUB_REF_NAME": "main"}),
    ("configure_ci", FEB, "an unknown event", [], {"GITHUB_EVENT_NAME": "release", "GITHUB_REF_NAME": "main"}),
    ("configure_ci", FEB, "outside a repository", [], {"GITHUB_EVENT_NAME": "push", "GITHUB_REF_NAME": "main"}),
    ("configure_ci", FEB, "labels that cannot be read", [], {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF_NAME": "main", "PR_LABELS": "{"}),
    ("configure_ci", FEB, "an unknown variant", [], {"GITHUB_EVENT_NAME": "schedule", "GITHUB_REF_NAME": "main", "BUILD_VARIANT": "msan"}),
    ("configure_jax_release_matrix", AUG, "a release type", ["--release-type", "ci", "--platform", "linux"], {}),
    ("configure_jax_release_matrix", AUG, "an unknown type", ["--release-type", "weekly", "--platform", "linux"], {}),
    ("configure_jax_release_matrix", AUG, "an unknown ref", ["--release-type", "ci", "--jax-refs", "nothing", "--platform", "linux"], {}),
    ("configure_jax_test_matrix", AUG, "no flags", [], {}),
    ("configure_jax_test_matrix", AUG, "a family", ["--target", "gfx94X-dcgpu", "--platform", "linux", "--test-size", "small"], {}),
    ("configure_jax_test_matrix", AUG, "an unknown family", ["--target", "gfx94Y", "--platform", "linux", "--test-size", "small"], {}),
    ("configure_jax_test_matrix", AUG, "an unknown size", ["--target", "gfx94X-dcgpu", "--platform", "linux", "--test-size", "huge"], {}),
    ("configure_multi_arch_ci", AUG, "no variables", [], {}),
    ("configure_multi_arch_ci", AUG, "families", [], {**CI, "GITHUB_EVENT_NAME": "workflow_dispatch", "LINUX_AMDGPU_FAMILIES": "gfx94X"}),
    ("configure_multi_arch_ci", AUG, "a label against it", [], {**CI, "GITHUB_EVENT_NAME": "pull_request"}),
    ("configure_multi_arch_ci", AUG, "no payload", [], {**CI, "GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": "{in}/none"}),
    ("configure_multi_arch_ci", AUG, "outside a repository", [], {**CI, "GITHUB_EVENT_NAME": "push"}),
    ("configure_multi_arch_ci", AUG, "an unknown event", [], {**CI, "GITHUB_EVENT_NAME": "release"}),
    ("configure_multi_arch_ci", AUG, "an unknown family", [], {**CI, "GITHUB_EVENT_NAME": "schedule", "LINUX_AMDGPU_FAMILIES": "gfx94Y"}),
    ("configure_multi_arch_ci", AUG, "an unknown amount of tests", [], {**CI, "GITHUB_EVENT_NAME": "schedule", "LINUX_TEST_LABELS": "test_filter:some"}),
    ("configure_multi_arch_ci", AUG, "an unknown variant", [], {**CI, "GITHUB_EVENT_NAME": "schedule", "BUILD_VARIANT": "msan"}),
    ("configure_multi_arch_ci", AUG, "no repository by name", [], {**CI, "GITHUB_EVENT_NAME": "push", "EXTERNAL_REPO": "{}"}),
    ("configure_pytorch_release_matrix", AUG, "a release type", ["--release-type", "ci", "--platform", "linux", *FAMILIES], {}),
    ("configure_pytorch_release_matrix", AUG, "an unknown type", ["--release-type", "weekly", "--platform", "linux", *FAMILIES], {}),
    ("configure_pytorch_release_matrix", AUG, "an unknown family", ["--release-type", "ci", "--platform", "linux", "--amdgpu-families", "gfx94Y"], {}),
    ("configure_pytorch_release_matrix", AUG, "no family", ["--release-type", "ci", "--platform", "linux", "--amdgpu-families="], {}),
    ("configure_pytorch_test_matrix", AUG, "what was built", ["--build-amdgpu-families", "gfx94X-dcgpu", "--platform", "linux"], {}),
    ("configure_pytorch_test_matrix", AUG, "no tests", ["--build-amdgpu-families", "gfx94X-dcgpu", "--test-amdgpu-families", "none", "--platform", "linux"], {}),
    ("configure_pytorch_test_matrix", AUG, "a word among families", ["--build-amdgpu-families", "gfx94X-dcgpu", "--test-amdgpu-families", "gfx94X-dcgpu;none", "--platform", "linux"], {}),
    ("configure_pytorch_test_matrix", AUG, "an unknown family", ["--build-amdgpu-families", "gfx94X-dcgpu", "--test-amdgpu-families", "gfx94Y", "--platform", "linux"], {}),
    ("configure_target_run", FEB, "a family", [], {"TARGET": "gfx94X-dcgpu", "PLATFORM": "linux"}),
    ("configure_target_run", FEB, "an unknown family", [], {"TARGET": "gfx94Y", "PLATFORM": "linux"}),
    ("determine_version", BOTH, "no flags", [], {}),
    ("determine_version", BOTH, "a version", ["--rocm-version", "7.10.0a20251124"], {}),
    ("determine_version", BOTH, "without a file of the job", ["--rocm-version", "7.10.0", "--no-write-env-file"], {}),
    ("determine_version", BOTH, "a version that cannot be", ["--rocm-version", "7.x"], {}),
    ("expand_amdgpu_families", AUG, "no flags", [], {}),
    ("expand_amdgpu_families", AUG, "targets", FAMILIES, {}),
    ("expand_amdgpu_families", AUG, "extras", [*FAMILIES, "--output-mode", "device-extras"], {}),
    ("expand_amdgpu_families", AUG, "an unknown family", ["--amdgpu-families", "gfx94Y"], {}),
    ("expand_amdgpu_families", AUG, "an unknown mode", [*FAMILIES, "--output-mode", "names"], {}),
    ("fetch_artifacts", BOTH, "no flags", [], {}),
    ("fetch_artifacts", BOTH, "an unknown flag", ["--run-id", "42", "--artifact-group", "gfx942", "--nonsense"], {}),
    ("fetch_artifacts", BOTH, "an unknown platform", ["--run-id", "42", "--artifact-group", "gfx942", "--platform", "darwin"], {}),
    ("find_artifacts_for_commit", BOTH, "no flags", [], {}),
    ("find_artifacts_for_commit", BOTH, "an unknown flag", ["--commit", "abc", "--artifact-group", "gfx942", "--nonsense"], {}),
    ("indexer", BOTH, "a directory", ["{in}/copy"], {}),
    ("indexer", BOTH, "a filter", ["{in}/copy", "--filter", "*.whl", "--output-file", "list.html"], {}),
    ("indexer", BOTH, "no such directory", ["{in}/none"], {}),
    ("indexer", BOTH, "an unknown flag", ["{in}/copy", "--nonsense"], {}),
    ("install_rocm_from_artifacts", BOTH, "an unknown flag", ["--run-id", "42", "--artifact-group", "gfx942", "--nonsense"], {}),
    ("install_rocm_from_artifacts", BOTH, "no family", ["--run-id", "42"], {}),
    ("install_rocm_from_artifacts", BOTH, "two sources", ["--run-id", "42", "--release", "7.1.0", "--artifact-group", "gfx942"], {}),
    ("manage", BOTH, "an unknown flag", ["v2/gfx94X-dcgpu", "--nonsense"], {}),
    ("post_build_upload", BOTH, "without uploading", ["--artifact-group", "gfx942", "--build-dir", "{in}/build", "--no-upload", "--job-status", "success"], {"GITHUB_RUN_ID": "42"}),
    ("post_build_upload", BOTH, "an unknown flag", ["--artifact-group", "gfx942", "--nonsense"], {}),
    ("post_build_upload", AUG, "into a directory", ["--artifact-group", "gfx942", "--build-dir", "{in}/build", "--upload", "--run-id", "42", "--output-dir", "{out}"], {}),
    ("post_stage_upload", AUG, "no flags", [], {}),
    ("post_stage_upload", AUG, "into a directory", ["--stage", "math-libs", "--build-dir", "{in}/build", "--run-id", "42", "--output-dir", "{out}"], {}),
    ("post_stage_upload", AUG, "a dry run", ["--stage", "math-libs", "--build-dir", "{in}/build", "--run-id", "42", "--dry-run"], {}),
    ("post_stage_upload", AUG, "no directory", ["--stage", "math-libs", "--build-dir", "{in}/none", "--run-id", "42", "--output-dir", "{out}"], {}),
    ("promote_wheels_based_on_policy", FEB, "all passed", [], {**RELEASE, "BUILD_RESULT": "success", "TEST_RESULT": "success"}),
    ("promote_wheels_based_on_policy", FEB, "tests failed", [], {**RELEASE, "BUILD_RESULT": "success", "TEST_RESULT": "failure"}),
    ("promote_wheels_based_on_policy", FEB, "a release branch", [], {**RELEASE, "BUILD_RESULT": "failure", "TEST_RESULT": "skipped", "GITHUB_REF_NAME": "release/therock-7.2"}),
    ("publish_jax_to_release_bucket", AUG, "no flags", [], {}),
    ("publish_jax_to_release_bucket", AUG, "a dry run", ["--source-dir", "{in}/jax", "--structured", *PUBLISH], {}),
    ("publish_jax_to_release_bucket", AUG, "no wheel", ["--source-dir", "{in}/empty", *PUBLISH], {}),
    ("publish_pytorch_to_release_bucket", AUG, "no flags", [], {}),
    ("publish_pytorch_to_release_bucket", AUG, "a dry run", ["--source-dir", "{in}/torch", *PUBLISH], {}),
    ("publish_pytorch_to_release_bucket", AUG, "the structured form", ["--source-dir", "{in}/torch", "--structured", *PUBLISH], {}),
    ("publish_pytorch_to_release_bucket", AUG, "no directory", ["--source-dir", "{in}/none", *PUBLISH], {}),
    ("publish_pytorch_to_release_bucket", AUG, "no wheel", ["--source-dir", "{in}/empty", "--structured", *PUBLISH], {}),
    ("publish_pytorch_to_release_bucket", AUG, "a type without release", ["--source-dir", "{in}/torch", "--release-type", "ci"], {}),
    ("publish_rocm_to_release_buckets", AUG, "no flags", [], {}),
    ("publish_rocm_to_release_buckets", AUG, "structured families", ["--run-id", "42", "--platform", "linux", "--release-type", "dev", "--structured"], {}),
    ("publish_rocm_to_release_buckets", AUG, "a type without release", ["--run-id", "42", "--platform", "linux", "--release-type", "ci"], {}),
    ("python_to_cp_version", BOTH, "a version", ["--python-version", "3.12"], {}),
    ("python_to_cp_version", BOTH, "no flags", [], {}),
    ("python_to_cp_version", BOTH, "not a version", ["--python-version", "312"], {}),
    ("sanity_check_wheel", BOTH, "no wheel", ["{in}/empty"], {}),
    ("sanity_check_wheel", BOTH, "small wheels", ["{in}/torch"], {}),
    ("sanity_check_wheel", BOTH, "no words", [], {}),
    ("sanity_check_wheel", BOTH, "no directory", ["{in}/none"], {}),
    ("setup_venv", BOTH, "no words", [], {}),
    ("setup_venv", BOTH, "an unknown flag", ["{out}/env", "--nonsense"], {}),
    ("setup_venv", BOTH, "an unknown index", ["{out}/env", "--packages", "rocm", "--index-name", "weekly"], {}),
    ("update_dependencies", BOTH, "an unknown flag", ["--nonsense"], {}),
    ("update_dependencies", BOTH, "an unknown project", ["--package", "numpy"], {}),
    ("update_dependencies", AUG, "structured, and a prefix", ["--structured", "--prefix", "v2", "--bucket", "b"], {}),
    ("update_dependencies", AUG, "an unknown index", ["--structured", "--index", "old", "--bucket", "b"], {}),
    ("upload_python_packages", BOTH, "no flags", [], {}),
    ("upload_python_packages", BOTH, "into a directory", ["--input-packages-dir", "{in}/sdk", "--artifact-group", "gfx94X-dcgpu", *UPLOAD], {}),
    ("upload_python_packages", BOTH, "no packages", ["--input-packages-dir", "{in}/empty", "--artifact-group", "gfx94X-dcgpu", *UPLOAD], {}),
    ("upload_python_packages", BOTH, "no directory", ["--input-packages-dir", "{in}/none", "--artifact-group", "gfx94X-dcgpu", *UPLOAD], {}),
    ("upload_python_packages", BOTH, "no group", ["--input-packages-dir", "{in}/sdk", *UPLOAD], {}),
    ("upload_python_packages", BOTH, "a dry run", ["--input-packages-dir", "{in}/sdk", "--artifact-group", "gfx94X-dcgpu", *UPLOAD, "--dry-run"], {}),
    ("upload_python_packages", BOTH, "a bucket and a directory", ["--input-packages-dir", "{in}/sdk", "--artifact-group", "g", "--bucket", "b", *UPLOAD], {}),
    ("upload_python_packages", AUG, "for all targets", ["--input-packages-dir", "{in}/sdk", "--multiarch", *UPLOAD], {}),
    ("write_jax_versions", BOTH, "wheels", ["--dist-dir", "{in}/jax"], {}),
    ("write_jax_versions", BOTH, "by a variable", [], {"PACKAGE_DIST_DIR": "{in}/jax"}),
    ("write_jax_versions", BOTH, "no wheel", ["--dist-dir", "{in}/empty"], {}),
    ("write_jax_versions", BOTH, "no directory", ["--dist-dir", "{in}/none"], {}),
    ("write_jax_versions", BOTH, "nothing said", [], {}),
    ("write_torch_versions", BOTH, "wheels", ["--dist-dir", "{in}/torch"], {}),
    ("write_torch_versions", BOTH, "by a variable", [], {"PACKAGE_DIST_DIR": "{in}/torch"}),
    ("write_torch_versions", BOTH, "no wheel", ["--dist-dir", "{in}/empty"], {}),
    ("write_torch_versions", BOTH, "no directory", ["--dist-dir", "{in}/none"], {}),
    ("write_torch_versions", BOTH, "nothing said", [], {}),
]  # fmt: skip


def make_inputs(place: Path) -> None:
    for name in ("empty", "temp", "torch", "jax", "sdk/dist", "copy", "build/logs", "build/base/aux-overlay/build"):
        (place / name).mkdir(parents=True)
    for name in ("torch", "torchaudio", "torchvision", "triton", "apex"):
        distributions.wheel(place / "torch", name, "2.10.0+rocm7.1.0")
    for name in ("jax_rocm7_plugin", "jax_rocm7_pjrt", "jaxlib"):
        distributions.wheel(place / "jax", name, "0.8.2+rocm7.1.0")
    distributions.wheel(place / "sdk/dist", "rocm_sdk_core", "7.1.0")
    distributions.sdist(place / "sdk/dist", "rocm", "7.1.0")
    shutil.copy(next((place / "sdk/dist").glob("*.whl")), place / "copy")
    (place / "copy/notes.txt").write_text("notes\n")
    (place / "topology.toml").write_text(TOPOLOGY)
    (place / "jax.txt").write_text("jax==0.8.0\n")
    (place / "event.json").write_text('{"pull_request": {"labels": [{"name": "ci:skip"}]}}')
    (place / "temp/job_summary.md").write_text("what was built\n")
    (place / "build/logs/rocBLAS_build.log").write_text("[1/1] Linking librocblas.so\n")
    artifact = place / "build/artifacts/base_run_generic"
    (artifact / "base/aux-overlay/stage/bin").mkdir(parents=True)
    (artifact / "base/aux-overlay/stage/bin/rocm-env").write_text("#!/bin/sh\n")
    (artifact / "artifact_manifest.txt").write_text("base/aux-overlay/stage\n")
    (place / "build/.ninja_log").write_text("# ninja log v5\n")
    (place / "build/base/aux-overlay/build/therock_manifest.json").write_text('{"the_rock_commit": "a"}\n')


def observe(command: list, place: Path, words: list[str], variables: dict[str, str], surroundings: dict[str, str], add_inputs=lambda inputs: None) -> dict:
    """What one call ends with and writes: files below {in}, {out} and the working directory, and the names of values for the job."""
    inputs, out, work = place / "in", place / "out", place / "work"
    make_inputs(inputs)
    add_inputs(inputs)
    work.mkdir()
    (work / "version.json").write_text('{"rocm-version": "7.1.0"}')  # the scripts read that of their own checkout
    for name in JOB_FILES:
        (place / name).write_text("")

    def fill(text: str) -> str:
        return text.replace("{in}", str(inputs)).replace("{out}", str(out))

    (place / "temporary").mkdir()
    surroundings = surroundings | {name: str(place / name) for name in JOB_FILES} | {"TMPDIR": str(place / "temporary"), "RUNNER_TEMP": str(place / "temporary")}
    before = {path for path in place.rglob("*") if path.is_file()}
    done = subprocess.run([str(word) for word in command] + [fill(word) for word in words], cwd=work, env=surroundings | {name: fill(value) for name, value in variables.items()}, capture_output=True, text=True, timeout=120)
    made = sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file() and path not in before and "__pycache__" not in path.parts)
    told = {name: names_in((place / name).read_text()) for name in JOB_FILES if (place / name).read_text()}
    return {"exit": done.returncode, "files": made, "told": told, "error": done.stderr}


def names_in(text: str) -> list[str]:
    """The names of `name=value` and `name<<END` in a file of the job."""
    return sorted(set(re.findall(r"^([A-Za-z_][\w-]*)(?:=|<<)", text, re.MULTILINE)))


def script_paths() -> dict[tuple[str, str], str]:
    """(month, script) -> its path in a checkout."""
    commands = json.loads((Path(__file__).resolve().parents[1] / "data/incumbent-cli.json").read_text())["scripts"]
    return {(fact["era"], fact["name"]): fact["path"] for fact in commands}


def write_facts(source: str, rows: list[dict]) -> None:
    about = f"What calls of TheRock's scripts end with, and what they write: facts observed by {source}, feb = 527dea363 (2026-02-26), aug = 89553ce37 (2026-08-22), on Linux."
    lines = ",\n  ".join(json.dumps(row, sort_keys=True) for row in rows)
    print(f'{{"about": "{about}",\n "rows": [\n  {lines}]}}')


def main() -> None:
    paths = script_paths()
    roots = {"feb": Path(sys.argv[1]).resolve(), "aug": Path(sys.argv[2]).resolve()}
    rows = []
    for script, eras, case, words, variables in CASES:
        for era in eras:
            with tempfile.TemporaryDirectory() as place:
                surroundings = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "AWS_EC2_METADATA_DISABLED": "true", "AWS_DEFAULT_REGION": "us-east-2"}
                seen = observe([sys.executable, roots[era] / paths[era, script]], Path(place), words, variables, surroundings)
            last = (seen.pop("error").strip().splitlines() or [""])[-1]
            print(f"{era} {script}: {case}: {seen['exit']} {last[:110]}", file=sys.stderr)
            rows.append({"era": era, "script": script, "case": case, **seen})
    write_facts("tests/support/incumbent_cases.py on their sources", rows)


if __name__ == "__main__":
    main()
