"""The workflow files: GitHub's own checks accept them, and every Linux step does what it says, against Ceph's radosgw."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import environments, public_bucket, small_artifacts, small_windows_artifacts, static_server  # noqa: E402
from support.clients import client  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import BY_UV, PROGRAM, ROOT, good, quarry  # noqa: E402
from support.workflow_job import WORKFLOWS, Job, inputs_of, load, runner_environment  # noqa: E402

NAMES = ["build_rocm_packages.yml", "review.yml", "test_rocm_wheels.yml", "move_channel.yml", "ci_example.yml"]
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
RUN = "4711"


def jobs():
    return [pytest.param(job, id=f"{name}:{key}") for name in NAMES for key, job in load(name)["jobs"].items()]


# what GitHub and its reviewers look at


def test_actionlint_and_githubs_schema_accept_them(tmp_path):
    actionlint = ROOT / "build/tools/bin/actionlint"
    assert actionlint.exists(), "actionlint is missing: tools/setup --test"
    place = tmp_path / ".github/workflows"
    shutil.copytree(ROOT / ".github/workflows", place)
    shutil.copytree(WORKFLOWS, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.md", "setup-quarry"))
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    linted = subprocess.run([actionlint, "-no-color"], cwd=tmp_path, capture_output=True, text=True)
    assert linted.returncode == 0, linted.stdout + linted.stderr
    schema = client("check-jsonschema").bin / "check-jsonschema"
    checked = subprocess.run([schema, "--builtin-schema", "vendor.github-workflows", *sorted(place.iterdir())], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    broken = place / "broken.yml"
    broken.write_text((WORKFLOWS / "ci_example.yml").read_text().replace("rocm_version: ${{ inputs.rocm_version }}", "rocm_versoin: ${{ inputs.rocm_version }}", 1))
    assert subprocess.run([actionlint, "-no-color"], cwd=tmp_path, capture_output=True).returncode != 0, "the callee's inputs are looked at"


def test_githubs_schema_accepts_the_action():
    schema = client("check-jsonschema").bin / "check-jsonschema"
    checked = subprocess.run([schema, "--builtin-schema", "vendor.github-actions", WORKFLOWS / "setup-quarry/action.yml"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_program_is_installed_the_same_way_everywhere():
    action = load("setup-quarry/action.yml")
    scripts = {step["run"] for step in action["runs"]["steps"]}
    scripts |= {step["run"] for name in NAMES for job in load(name)["jobs"].values() for step in job.get("steps", []) if step["name"] == "Install quarry"}
    assert len(scripts) == 1


def test_every_workflow_is_looked_at():
    assert sorted(path.name for path in WORKFLOWS.glob("*.yml")) == sorted(NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if "workflow_call" in load(name)["on"]])
def test_both_ways_to_start_take_the_same(name):
    on = load(name)["on"]
    called, started = on["workflow_call"]["inputs"], on["workflow_dispatch"]["inputs"]
    # Started by hand, an input that only callers have is empty: what these stand for has a default of its own.
    assert set(started) <= set(called) and set(called) - set(started) <= {"build_runs_on", "platform", "package_extras", "package_set"}
    for key, one in started.items():
        assert one.get("default", "") == called[key].get("default", "") or one.get("required") != called[key].get("required"), key


def test_the_inputs_of_the_test_are_todays():
    called = set(load("test_rocm_wheels.yml")["on"]["workflow_call"]["inputs"])
    assert {"amdgpu_family", "test_runs_on", "package_index_url", "package_find_links_url", "package_set", "package_run_id", "artifact_group", "rocm_version", "python_version"} <= called


@pytest.mark.parametrize("name", NAMES)
def test_permissions_are_the_least(name):
    workflow = load(name)
    assert workflow["permissions"] == {"contents": "read"}
    # The review hands its findings to code scanning; the others get a token for a store.
    writes = "security-events" if name == "review.yml" else "id-token"
    for job in workflow["jobs"].values():
        assert job["permissions"].items() <= {"contents": "read", writes: "write"}.items()


@pytest.mark.parametrize("name", ["linux", "windows"])
def test_jobs_that_run_tests_have_no_token(name):
    job = load("test_rocm_wheels.yml")["jobs"][name]
    assert job["permissions"] == {"contents": "read"}
    assert not [name for name in job.get("env", {}) if "ROLE" in name or "TOKEN" in name or "KEY" in name]
    assert "secrets." not in str(job)


def test_only_the_steps_that_record_get_the_key():
    """A secret in the environment of a whole job would reach the installer of the program, too."""
    holders = set()
    for name in NAMES:
        for key, job in load(name)["jobs"].items():
            assert "secrets." not in str(job.get("env", {}))
            holders |= {(name, key, step["name"]) for step in job.get("steps", []) if "secrets." in str(step)}
    assert holders == {("test_rocm_wheels.yml", "record_linux", "Record it"), ("test_rocm_wheels.yml", "record", "Record it"), ("move_channel.yml", "move", "Show the plan, or move")}


@pytest.mark.parametrize("job", jobs())
def test_jobs_end_and_run_what_was_reviewed(job):
    if "uses" in job:
        assert job["uses"].startswith("./.github/workflows/")
        return
    assert 0 < job["timeout-minutes"] <= 120
    for step in job["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]), step["uses"]
        else:
            assert "${{" not in step["run"], f"{step['name']}: a value in a script is code; hand it over by env"


@pytest.mark.parametrize("job", jobs())
def test_images_can_be_pinned(job):
    if "container" in job:
        assert job["container"]["image"].startswith("${{ inputs.container_image || "), "callers must be able to name a digest"


# every Linux step, on a real server


@pytest.fixture(scope="module")
def place(ceph, artifacts, tmp_path_factory):
    """A public bucket with the archives of run 77 for both platforms, as a build uploads them."""
    assert public_bucket.available(), "radosgw or nginx is missing: tools/setup --test"
    with public_bucket.serve(ceph, listed=True) as running:
        windows = small_windows_artifacts.make(tmp_path_factory.mktemp("windows"), (small_artifacts.FAMILY,))
        split = small_artifacts.make_split(tmp_path_factory.mktemp("split"))
        split_windows = small_windows_artifacts.make_split(tmp_path_factory.mktemp("split-windows"))
        for run, tree in (("77-linux", artifacts), ("77-windows", windows), ("78-linux", split), ("78-windows", split_windows)):
            packed = tmp_path_factory.mktemp("packed")
            good("artifact", "pack", tree, "--output-dir", packed)
            for file in packed.iterdir():
                good("store", "put", file, f"{run}/{file.name}", "--store", running.locator, environment=runner_environment(**running.environment()))
        yield running


@pytest.fixture(scope="module")
def variables(place, tmp_path_factory):
    """Variables of the repository: where the store is, where the program comes from."""
    site = tmp_path_factory.mktemp("site")
    shutil.copy(PROGRAM, site / "quarry")
    with static_server.serve(site) as (url, _):
        yield {"QUARRY_STORE": place.locator, "QUARRY_URL": f"{url}/quarry", "QUARRY_SHA256": hashlib.sha256(PROGRAM.read_bytes()).hexdigest(), "QUARRY_REQUIREMENT": "", "AWS_ROLE_ARN": "", "AWS_TEST_ROLE_ARN": "", "AWS_PROMOTE_ROLE_ARN": "", "AWS_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def by_uv(variables, tmp_path_factory):
    """The variables with a program that installs by uv: pip, which the workflows use, has its turn with the packages of a run."""
    site = tmp_path_factory.mktemp("site-uv")
    script = f'#!/bin/sh\nif [ "$1 $2" = "venv install" ]; then shift 2; set -- venv install {" ".join(BY_UV)} "$@"; fi\nexec {PROGRAM} "$@"\n'
    (site / "quarry").write_text(script)
    with static_server.serve(site) as (url, _):
        yield variables | {"QUARRY_URL": f"{url}/quarry", "QUARRY_SHA256": hashlib.sha256(script.encode()).hexdigest()}


def run_job(place, variables: dict, directory: Path, workflow_name: str, job_name: str, expected: int = 0, needs: dict | None = None, secrets: bool = True, evidence_key: str = "", move_key: str = "", **inputs: str) -> Job:
    workflow = load(workflow_name)
    contexts = {"inputs": inputs_of(workflow, inputs), "vars": variables, "secrets": {"QUARRY_EVIDENCE_KEY": evidence_key, "QUARRY_MOVE_KEY": move_key}, "github": {"run_id": RUN}, "needs": needs or {}}
    environment = place.environment()
    if not secrets:
        environment = {name: value for name, value in environment.items() if not re.search("KEY|TOKEN|SECRET", name)}
    job = Job(directory, contexts, runner_environment(**environment))
    job.run(workflow["jobs"][job_name], expected)
    return job


def outputs_of(job: Job, workflow_name: str, job_name: str) -> dict[str, str]:
    return job.job_outputs(load(workflow_name)["jobs"][job_name])


@pytest.fixture(scope="module")
def built(place, variables, tmp_path_factory) -> dict[str, str]:
    """Outputs of the workflow that builds, for Linux."""
    job = run_job(place, variables, tmp_path_factory.mktemp("build"), "build_rocm_packages.yml", "build", artifact_run_id="77", artifact_group=small_artifacts.FAMILY, rocm_version="7.2.0", channel="dev")
    assert [step.name for step in job.steps] == ["Install quarry", "Fetch the artifacts", "Build the packages", "Verify the packages", "Publish them"]
    assert "pip install" in job.summary
    return outputs_of(job, "build_rocm_packages.yml", "build")


def store(place, *words: str):
    return good(*words, "--store", place.locator, "--json", environment=runner_environment(**place.environment())).json


def test_packages_are_built_and_published(place, built):
    assert built["package_run_id"] == RUN and len(built["package_set"]) == 64
    shown = store(place, "set", "show", f"run:{RUN}-linux")
    assert [one["set"] for one in shown["sets"]] == [built["package_set"]]
    assert shown["sets"][0]["origin"] | {"repository": "owner/repo", "commit": "c" * 40} == shown["sets"][0]["origin"]
    assert store(place, "channel", "show", "dev")["generation"] == 1
    page = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{place.url}/{RUN}-linux/python/{small_artifacts.FAMILY}/simple/rocm/").read()
    assert b"rocm-7.2.0.tar.gz" in page


def test_packages_of_a_run_are_tested_and_recorded(place, variables, built, tmp_path):
    inputs = {"amdgpu_family": small_artifacts.FAMILY, "test_runs_on": "gpu-linux", "package_run_id": built["package_run_id"], "artifact_group": small_artifacts.FAMILY, "rocm_version": "7.2.0", "python_version": PYTHON}
    job = run_job(place, variables, tmp_path, "test_rocm_wheels.yml", "linux", secrets=False, **inputs)
    assert len(job.steps) == 6 and "### ROCm 7.2.0 on " + small_artifacts.FAMILY in job.summary
    assert [one for one in store(place, "evidence", "list")["evidence"] if not one.get("reported")] == [], "the job that tests has written into the store"
    workspace = tmp_path / "job/workspace"
    shutil.copytree(tmp_path / "workspace/evidence", workspace / "evidence")  # as upload-artifact and download-artifact do

    def record(result: str, expected: int = 0, **more: str) -> Job:  # `evidence_key`: the secret
        return run_job(place, variables, tmp_path / "job", "test_rocm_wheels.yml", "record_linux", expected=expected, needs={"linux": {"result": result}}, **inputs | more)

    assert "X021" in record("success", expected=6, amdgpu_family="gfx1151").steps[-1].output
    assert "X023" in record("failure", expected=6).steps[-1].output
    record("success")
    evidence = store(place, "evidence", "list")["evidence"]
    assert [(one["result"], one["set"]) for one in evidence if not one.get("reported")] == [("passed", built["package_set"])]
    gate = quarry("gate", "--to", "stable", "--from", f"run:{RUN}-linux", "--policy", "demo", "--store", place.locator, environment=runner_environment(**place.environment()))
    assert gate.code == 0, gate.out + gate.err

    def judged_by_signer() -> int:
        return quarry("gate", "--to", "stable", "--from", f"run:{RUN}-linux", "--policy", signed, "--store", place.locator, environment=runner_environment(**place.environment())).code

    key, signed = tmp_path / "ci.pem", tmp_path / "signed.toml"
    public = good("key", "create", "--output", key, "--json").json["key"]
    signed.write_text(smoke_policy(suite="rocm-sdk", more=f'[[signer]]\nname = "ci"\nkey = "{public}"\nsigns = ["evidence"]\n'))
    assert judged_by_signer() == 10, "without the secret nothing is signed"
    secret = key.read_text().splitlines()[1]
    job = record("success", evidence_key=key.read_text())
    assert "signed" in job.steps[-1].output and secret not in job.steps[-1].output
    assert judged_by_signer() == 0
    assert not [path for path in (tmp_path / "job").rglob("*") if path.is_file() and secret in path.read_text(errors="replace")]


def test_exactly_the_set_of_the_build_is_tested_and_recorded(place, by_uv, built, tmp_path):
    """The digest says which packages are meant; a run may publish others, which the name of the run cannot tell from these."""
    inputs = {"amdgpu_family": small_artifacts.FAMILY, "test_runs_on": "gpu-linux", "package_set": built["package_set"], "package_run_id": "1", "artifact_group": "other", "rocm_version": "7.2.0", "python_version": PYTHON}

    def job(directory: str, name: str, **more) -> Job:
        return run_job(place, by_uv, tmp_path / directory, "test_rocm_wheels.yml", name, **more, **inputs)

    job("expect", "expect")
    job("tested", "linux", secrets=False)
    (kept,) = (tmp_path / "tested/workspace/evidence").glob("*.json")
    assert built["package_set"] in kept.read_text()
    shutil.copytree(tmp_path / "tested/workspace/evidence", tmp_path / "record/workspace/evidence")
    before = {one["evidence"] for one in store(place, "evidence", "list")["evidence"]}
    job("record", "record_linux", needs={"linux": {"result": "success"}})
    (new,) = [one for one in store(place, "evidence", "list")["evidence"] if one["evidence"] not in before]
    assert (new["result"], new["set"]) == ("passed", built["package_set"])
    job("ended", "ended", needs={"linux": {"result": "success"}, "windows": {"result": "skipped"}})


def test_the_example_hands_the_sets_on():
    """From the job that builds to the one that tests, and to the one that plans the promotion."""
    jobs = load("ci_example.yml")["jobs"]
    digests = {platform: f"${{{{ needs.build_{platform}.outputs.package_set }}}}" for platform in ("linux", "windows")}
    for platform, digest in digests.items():
        assert jobs[f"test_{platform}"]["with"]["package_set"] == digest
    assert jobs["plan_promotion"]["with"]["package_set"].split(" ${{") == [digests["linux"], digests["windows"].removeprefix("${{")]
    assert set(jobs["plan_promotion"]["needs"]) == {"build_linux", "build_windows", "test_linux", "test_windows"}
    assert "plan" not in jobs["plan_promotion"]["with"], "it shows the plan and moves nothing"


def test_sets_are_promoted_by_their_digests(place, variables, built, tmp_path):
    """The outputs of builds with a blank between them; that of a build that did not run is empty."""
    policy = tmp_path / "moves.toml"
    policy.write_text(smoke_policy(suite="rocm-sdk"))
    good("waive", "--to", "by-digest", "--everything", "--reason", "a test of moves", "--approver", "lead", "--expires", "1h", "--policy", policy, "--store", place.locator, environment=runner_environment(**place.environment()))
    inputs = {"action": "promote", "channel": "by-digest", "policy": str(policy), "package_set": f"{built['package_set']} "}
    shown = run_job(place, variables, tmp_path / "plan", "move_channel.yml", "move", **inputs)
    plan = outputs_of(shown, "move_channel.yml", "move")["plan"]
    run_job(place, variables, tmp_path / "done", "move_channel.yml", "move", plan=plan, **inputs)
    moved = store(place, "channel", "show", "by-digest")["files"]
    (wanted,) = store(place, "set", "show", f"set:{built['package_set']}")["sets"]
    assert {one["sha256"] for one in moved} == {one["sha256"] for one in wanted["files"]}
    lacking = run_job(place, variables, tmp_path / "lacking", "move_channel.yml", "move", expected=3, **inputs | {"package_set": f"{built['package_set']} {'0' * 64}"})
    assert "0000" in lacking.steps[-1].output, "every digest is looked at"


def test_a_channel_is_moved_and_signed(place, variables, built, tmp_path):
    """The plan first, then exactly this plan; a policy that wants signed moves takes the secret's key and no other."""
    keys = {name: tmp_path / f"{name}.pem" for name in ("lead", "stranger")}
    public = {name: good("key", "create", "--output", path, "--json").json["key"] for name, path in keys.items()}
    policy = tmp_path / "signed-moves.toml"
    policy.write_text(smoke_policy(suite="rocm-sdk", more=f'[[signer]]\nname = "lead"\nkey = "{public["lead"]}"\nsigns = ["moves"]\n'))
    at = ("--store", place.locator)
    environment = runner_environment(**place.environment())
    good("channel", "protect", "signed", "--policy", policy, "--reason", "people install from it", "--sign", keys["lead"], *at, environment=environment)
    good("waive", "--to", "signed", "--everything", "--reason", "a test of moves", "--approver", "lead", "--expires", "1h", "--policy", policy, *at, environment=environment)

    def move(directory: str, action: str, key: str, expected: int = 0, **more: str) -> Job:
        secret = keys[key].read_text() if key else ""
        return run_job(place, variables, tmp_path / directory, "move_channel.yml", "move", expected=expected, move_key=secret, action=action, channel="signed", reason="it's time", **more)

    def plan_of(job: Job) -> str:
        return outputs_of(job, "move_channel.yml", "move").get("plan", "")

    source = {"source": f"run:{RUN}-linux"}
    shown = move("plan", "promote", "lead", **source)
    assert len(plan_of(shown)) == 64 and "### promote signed" in shown.summary and store(place, "channel", "show", "signed")["generation"] == 1
    for key in ("", "stranger"):
        assert "O041" in move(f"refused-{key}", "promote", key, expected=10, plan=plan_of(shown), **source).steps[-1].output
    done = move("done", "promote", "lead", plan=plan_of(shown), **source)
    secret = keys["lead"].read_text().splitlines()[1]
    assert "moved       signed@2" in done.steps[-1].output and secret not in done.steps[-1].output
    assert not [path for path in (tmp_path / "done").rglob("*") if path.is_file() and secret in path.read_text(errors="replace")]
    back = move("back", "rollback", "lead", generation="1")
    move("rolled", "rollback", "lead", generation="1", plan=plan_of(back))
    assert store(place, "channel", "show", "signed")["files"] == []
    assert store(place, "channel", "verify", "signed")["findings"] == []
    assert [one["why"] for one in store(place, "channel", "log", "signed")["moves"][:2]] == ["it's time"] * 2
    assert "promote or rollback" in move("other", "yank", "lead", expected=2).steps[-1].output
    assert "not the name" in run_job(place, variables, tmp_path / "flag", "move_channel.yml", "move", expected=2, action="rollback", channel="--store=x").steps[-1].output


def test_what_became_of_a_test_is_told(place, variables, built, tmp_path):
    """The jobs before and after the test, for a Python that nobody tests."""
    inputs = {"amdgpu_family": small_artifacts.FAMILY, "package_run_id": built["package_run_id"], "artifact_group": small_artifacts.FAMILY, "rocm_version": "7.2.0", "python_version": "3.9"}
    policy = tmp_path / "p.toml"
    policy.write_text(smoke_policy(suite="rocm-sdk").replace('pythons = ["*"]', 'pythons = ["3.9"]'))

    def state() -> str:
        judged = quarry("gate", "--to", "stable", "--from", f"run:{RUN}-linux", "--policy", policy, "--store", place.locator, "--json", environment=runner_environment(**place.environment()))
        assert judged.code == 10, judged.err
        return judged.json["cells"][0]["suites"][0]["state"]

    def job(directory: str, name: str, runner: str, result: str = "") -> None:
        run_job(place, variables, tmp_path / directory, "test_rocm_wheels.yml", name, needs={"linux": {"result": result}, "windows": {"result": "skipped"}}, test_runs_on=runner, **inputs)

    assert state() == "untested"
    job("a", "expect", runner="")
    assert state() == "no_runner"
    job("b", "expect", runner="gpu-linux")
    assert state() == "waiting"
    job("c", "ended", runner="gpu-linux", result="cancelled")
    assert state() == "cancelled"


@pytest.mark.parametrize("source", ["package_index_url", "package_find_links_url"])
def test_packages_of_an_index_are_tested(place, variables, by_uv, built, tmp_path, source):
    base = f"{place.url}/{RUN}-linux/python/{small_artifacts.FAMILY}"
    page = {"package_index_url": f"{base}/simple/", "package_find_links_url": f"{base}/index.html"}[source]
    program = by_uv if source == "package_index_url" else variables  # uv does not tell what it takes from a page of links (V013)
    job = run_job(place, program, tmp_path, "test_rocm_wheels.yml", "linux", secrets=False, amdgpu_family=small_artifacts.FAMILY, test_runs_on="gpu-linux", rocm_version="7.2.0", python_version=PYTHON, **{source: page})
    assert "passed" in job.steps[-1].output


def test_packages_for_windows_are_built_on_linux(place, variables, tmp_path):
    run_job(place, variables, tmp_path, "build_rocm_packages.yml", "build", artifact_run_id="77", artifact_group=small_artifacts.FAMILY, rocm_version="7.2.0", platform="windows")
    files = store(place, "set", "show", f"run:{RUN}-windows")["files"]
    assert any(one["filename"].endswith("-win_amd64.whl") for one in files)


def build_together(place, variables, directory, run: str, **more: str) -> dict[str, str]:
    """One set of all families of a run whose artifacts are split by target; published below a run of its own."""
    workflow = load("build_rocm_packages.yml")
    inputs = inputs_of(workflow, {"artifact_run_id": "78", "artifact_group": "multi-arch-release", "rocm_version": "7.2.0", **more})
    job = Job(directory, {"inputs": inputs, "vars": variables, "github": {"run_id": run}, "needs": {}}, runner_environment(**place.environment()) | {"GITHUB_RUN_ID": run})
    job.run(workflow["jobs"]["build"])
    return outputs_of(job, "build_rocm_packages.yml", "build")


def targets_of(place, run: str) -> set[str]:
    files = [one["filename"] for one in store(place, "set", "show", f"run:{run}-linux")["files"]]
    return {name.split("-")[0].removeprefix("rocm_sdk_device_") for name in files if name.startswith("rocm_sdk_device_")}


def test_all_families_are_one_set(place, by_uv, tmp_path):
    built = build_together(place, by_uv, tmp_path / "build", "4712")
    assert built["package_group"] == "" and targets_of(place, "4712") == {"gfx942", "gfx1030"}
    assert built["package_find_links_url"].endswith("/4712-linux/python/index.html")
    inputs = {"amdgpu_family": "gfx942", "test_runs_on": "gpu-linux", "package_run_id": built["package_run_id"], "artifact_group": built["package_group"], "package_extras": "libraries,devel,device-gfx942", "rocm_version": "7.2.0", "python_version": PYTHON}
    job = run_job(place, by_uv, tmp_path / "test", "test_rocm_wheels.yml", "linux", secrets=False, **inputs)
    (kept,) = (tmp_path / "test/workspace/evidence").glob("*.json")
    assert "0 failed" in job.steps[-1].output and "rocm_sdk_device_gfx942" in kept.read_text()


def test_some_families_are_one_set(place, variables, tmp_path):
    built = build_together(place, variables, tmp_path / "build", "4713", amdgpu_families="gfx94X-dcgpu")
    assert built["package_group"] == "" and targets_of(place, "4713") == {"gfx942"}
    lacking = run_job(place, variables, tmp_path / "lacking", "build_rocm_packages.yml", "build", expected=3, artifact_run_id="78", artifact_group="multi-arch-release", linux_amdgpu_families="gfx94X-dcgpu;gfx1151", rocm_version="7.2.0")
    assert lacking.steps[-1].name == "Build the packages" and "gfx1151" in lacking.steps[-1].output


class Example:
    """A run of ci_example.yml: each job of it with the inputs that its `with` gives, and `needs` as the jobs before have left it."""

    RUN = "4720"

    def __init__(self, place, variables: dict, root: Path, **inputs: str) -> None:
        self.place, self.variables, self.root, self.needs = place, variables, root, {}
        self.workflow = load("ci_example.yml")
        self.inputs = inputs_of(self.workflow, inputs)

    def given(self, key: str, **more: str) -> tuple[dict, dict[str, str]]:
        """The workflow that a job calls, and the inputs that it gets."""
        job = self.workflow["jobs"][key]
        before = job.get("needs", [])
        assert {before} if isinstance(before, str) else set(before) <= set(self.needs)
        words = Job(self.root, {"inputs": self.inputs, "needs": self.needs, "github": {"run_id": self.RUN}}, {})
        called = load(Path(job["uses"]).name)
        return called, inputs_of(called, {name: words.value(text) for name, text in job["with"].items()} | more)

    def run(self, key: str, name: str, needs: dict | None = None, expected: int = 0, secrets: bool = True, **more: str) -> Job:
        called, inputs = self.given(key, **more)
        environment = {each: value for each, value in self.place.environment().items() if secrets or not re.search("KEY|TOKEN|SECRET", each)}
        contexts = {"inputs": inputs, "vars": self.variables, "secrets": {}, "github": {"run_id": self.RUN}, "needs": needs or {}}
        job = Job(self.root / key, contexts, runner_environment(**environment) | {"GITHUB_RUN_ID": self.RUN})
        job.run(called["jobs"][name], expected)
        values = {name: {"outputs": job.job_outputs(called["jobs"][name])}}
        outputs = called["on"]["workflow_call"].get("outputs", {})
        self.needs[key] = {"outputs": {each: Job(self.root, {"jobs": values}, {}).value(one["value"]) for each, one in outputs.items()}}
        return job


def test_the_example_over_several_families_in_one_job(place, by_uv, tmp_path):
    """Today's form: one job packages all families of a run, and one machine tests one target of them; the other platform has no machine."""
    example = Example(place, by_uv, tmp_path, artifact_run_id="78", artifact_group="multi-arch-release", test_family="gfx942", package_extras="libraries,devel,profiler,device-gfx942", rocm_version="7.2.0", linux_test_runs_on="gpu-linux", promote_to="together")
    for platform, tag in (("linux", "linux_x86_64"), ("windows", "win_amd64")):
        example.run(f"build_{platform}", "build")
        built = example.needs[f"build_{platform}"]["outputs"]
        files = {one["filename"] for one in store(place, "set", "show", f"set:{built['package_set']}")["files"]}
        assert {f"rocm_sdk_device_{target}-7.2.0-py3-none-{tag}.whl" for target in ("gfx942", "gfx1030")} <= files
        assert built["package_group"] == "" and any("rocm_profiler" in name for name in files) == (platform == "linux")
    here = {"python_version": PYTHON}  # the image of the example has 3.12
    for name, more in (("expect", {}), ("linux", {"secrets": False}), ("record_linux", {"needs": {"linux": {"result": "success"}}}), ("ended", {"needs": {"linux": {"result": "success"}, "windows": {"result": "skipped"}}})):
        example.run("test_linux", name, **more, **here)
    example.run("test_windows", "expect", **here)
    (evidence,) = [one for one in store(place, "evidence", "list")["evidence"] if one["set"] == example.needs["build_linux"]["outputs"]["package_set"]]
    assert evidence["result"] == "passed" and "gfx942" in json.dumps(evidence)
    plan = example.run("plan_promotion", "move", expected=10).steps[-1].output
    assert re.search(r"linux gfx942 .*READY", plan) and "1 of 4 cells ready" in plan, plan
    assert re.search(r"linux gfx1030 .*HELD +no evidence", plan) and re.search(r"windows gfx942 .*its job names no machine", plan), plan


def test_a_report_of_a_machine_with_python_alone_is_recorded(place, variables, built, tmp_path):
    """What the Windows job leaves is a report; here pip and the packages' own tests make one."""
    environments.make(tmp_path / "env")
    base = f"{place.url}/{RUN}-linux/python/{small_artifacts.FAMILY}"
    workspace = tmp_path / "job/workspace"
    workspace.mkdir(parents=True)
    environments.pip_install(tmp_path / "env", "--index-url", f"{base}/simple/", "rocm[libraries,devel]==7.2.0", environment={"NO_PROXY": "127.0.0.1"})
    subprocess.run([tmp_path / "env/bin/rocm-sdk", "test", "--quiet", "--json", workspace / "report.json"], check=True, env=runner_environment())
    run_job(place, variables, tmp_path / "job", "test_rocm_wheels.yml", "record", needs={"windows": {"result": "success"}}, amdgpu_family=small_artifacts.FAMILY, test_runs_on="gpu-linux", package_run_id=RUN, rocm_version="7.2.0")
    assert [one["result"] for one in store(place, "evidence", "list")["evidence"] if one.get("reported")] == ["passed"]


def test_another_program_is_not_run(place, variables, tmp_path):
    other = variables | {"QUARRY_SHA256": "0" * 64}
    job = run_job(place, other, tmp_path, "build_rocm_packages.yml", "build", expected=1, artifact_group="g", rocm_version="1")
    assert [step.name for step in job.steps] == ["Install quarry"]


def test_pip_installs_the_program_by_its_hash(place, variables, tmp_path):
    made = subprocess.run([sys.executable, ROOT / "tools/program-wheel", "--program", PROGRAM, "--output-dir", tmp_path / "wheels", "--profile", "ci"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    wheel = next((tmp_path / "wheels").glob("*.whl"))
    digest, version = hashlib.sha256(wheel.read_bytes()).hexdigest(), wheel.name.split("-")[1]
    step = load("setup-quarry/action.yml")["runs"]["steps"][0]

    def install(name: str, digest: str) -> subprocess.CompletedProcess[str]:
        temporary = tmp_path / name
        temporary.mkdir()
        environment = runner_environment(RUNNER_TEMP=str(temporary), GITHUB_PATH=str(temporary / "path"), QUARRY_REQUIREMENT=f"quarry-ship=={version} --hash=sha256:{digest}", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheel.parent))
        return subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], env=environment, capture_output=True, text=True)

    done = install("same", digest)
    assert done.returncode == 0, done.stderr
    ran = subprocess.run([Path((tmp_path / "same/path").read_text().strip()) / "quarry", "version"], capture_output=True, text=True, env=runner_environment())
    assert ran.stdout == good("version").out
    other = install("other", "0" * 64)
    assert other.returncode != 0 and "hash" in other.stderr.lower() and not (tmp_path / "other/path").exists()


def test_an_input_is_never_code(place, variables, tmp_path):
    job = run_job(place, variables, tmp_path, "build_rocm_packages.yml", "build", expected=2, artifact_run_id="77", artifact_group=small_artifacts.FAMILY, rocm_version='1"; touch "$RUNNER_TEMP/owned"; $(touch owned) "')
    assert job.steps[-1].name == "Build the packages"
    assert not list(tmp_path.rglob("owned"))
