"""From a published set to a verdict: environments that hold exactly the set, evidence bound to it, and what the gate makes of both."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.quarry import BY_UV, clean_environment, good, quarry  # noqa: E402

from conftest import publish  # noqa: E402

PACKAGES = "rocm[libraries,devel]"


def install(store: Path, env: Path, source: str, *more: str):
    return quarry("venv", "install", *BY_UV, env, "--from", source, "--packages", PACKAGES, "--store", f"file:{store}", *more)


def test_env(store: Path, env: Path, *more: str):
    return quarry("test", "--venv", env, "--store", f"file:{store}", "--json", *more)


test_env.__test__ = False


def gate(store: Path, source: str, policy: str = "demo"):
    return quarry("gate", "--to", "stable", "--from", source, "--policy", policy, "--store", f"file:{store}", "--json")


def site_packages(env: Path) -> Path:
    return next(env.glob("lib/python3.*/site-packages"))


@pytest.fixture(scope="module")
def tested_once(packages, tmp_path_factory) -> tuple[Path, Path]:
    place = tmp_path_factory.mktemp("tested")
    store, env = place / "store", place / "env"
    publish(packages, store, "1", "--channel", "staging")
    done = install(store, env, "channel:staging")
    assert done.code == 0, done.err
    done = test_env(store, env)
    assert done.code == 0, done.err
    return store, env


@pytest.fixture
def tested(tested_once, tmp_path) -> tuple[Path, Path]:
    """A store of its own whose staging channel was installed and tested, and the environment, which all tests share."""
    shutil.copytree(tested_once[0], tmp_path / "store")
    return tmp_path / "store", tested_once[1]


def test_evidence_on_exactly_these_files_opens_the_gate(store, tmp_path):
    held = gate(store, "channel:staging")
    assert held.code == 10
    assert held.json["cells"][0]["reasons"] == ["no evidence of rocm-sdk"]

    env = tmp_path / "env"
    assert install(store, env, "channel:staging").code == 0
    receipt = json.loads((env / "quarry-receipt.json").read_text())
    assert receipt["sealed"] and len(receipt["sets"]) == 1 and len(receipt["files"]) == 4

    tested = test_env(store, env)
    assert tested.code == 0, tested.err
    assert {s["filename"] for s in tested.json["subjects"]} == {f["filename"] for f in receipt["files"]}
    shown = good("evidence", "show", tested.json["evidence"][:12], "--store", f"file:{store}", "--json").json["record"]
    assert shown["set"] == receipt["sets"][0] and shown["machine"]["kernel"]

    ready = gate(store, "channel:staging")
    assert ready.code == 0, ready.out
    cell = ready.json["cells"][0]
    assert cell["verdict"] == "ready" and cell["cell"]["platform"] == "linux" and cell["evidence"] == [tested.json["evidence"]]

    # The same tests without the development files say nothing about the set as a whole.
    partial = tmp_path / "partial"
    assert quarry("venv", "install", *BY_UV, partial, "--from", "run:1", "--packages", "rocm[libraries]", "--store", f"file:{store}").code == 0
    for record in (store / "evidence").glob("*.json"):
        record.unlink()
    assert test_env(store, partial).code == 0
    held = gate(store, "channel:staging")
    assert held.code == 10 and "covers 3 of 4 files" in held.json["cells"][0]["reasons"][0]


def test_a_second_version_needs_evidence_of_its_own(tested, next_packages, tmp_path):
    store, _ = tested
    publish(next_packages, store, "2", "--channel", "staging")
    verdict = gate(store, "channel:staging")
    assert verdict.code == 10
    assert sorted(c["verdict"] for c in verdict.json["cells"]) == ["held", "ready"]
    assert gate(store, "run:1").code == 0
    assert gate(store, "run:2").code == 10


def test_an_altered_environment_gives_no_evidence(tested):
    store, env = tested
    library = next(site_packages(env).glob("_rocm_sdk_core/lib/*.so*"))
    sound = library.read_bytes()
    library.write_bytes(sound + b"!")
    before = len(list((store / "evidence").glob("*.json")))
    try:
        done = test_env(store, env)
    finally:
        library.write_bytes(sound)
    assert done.code == 6, done.err
    assert "V031" in done.err and library.name in done.err
    again = next(line for line in done.err.splitlines() if "hint:" in line)
    assert re.search(rf"`quarry venv install {env} --clean --from \S+ --store file:{store} --packages '?rocm.*`", again), again
    assert len(list((store / "evidence").glob("*.json"))) == before


def test_a_failing_suite_is_evidence_that_holds(tested):
    store, env = tested
    failed = test_env(store, env, "--suite", "smoke", "--", "false")
    assert failed.code == 1 and failed.json["result"] == "failed"
    assert gate(store, "channel:staging").code == 0, "no policy asks for smoke"
    late = test_env(store, env, "--deadline", "1ms")
    assert late.code == 124 and late.json["result"] == "timed_out"
    held = gate(store, "channel:staging")
    assert held.code == 10 and "deadline" in held.json["cells"][0]["reasons"][0]


def test_forged_evidence_stops_the_gate(tested):
    store, _ = tested
    record = next((store / "evidence").glob("*.json"))
    record.write_text(record.read_text().replace('"failed":0', '"failed":7'))
    done = gate(store, "channel:staging")
    assert done.code == 10, "an altered record counts for nothing"
    shown = quarry("gate", "--to", "stable", "--from", "channel:staging", "--policy", "demo", "--store", f"file:{store}")
    assert "R021" in shown.err and "was altered" in shown.err


def test_waivers(store):
    base = ("waive", "--to", "stable", "--reason", "no machine", "--store", f"file:{store}", "--policy", "demo", "--everything")
    assert quarry(*base, "--approver", "eve", "--expires", "1h").code == 2
    assert quarry(*base, "--approver", "demo", "--expires", "30d").code == 2
    assert quarry(*base, "--approver", "demo", "--expires", "2020-01-01").code == 2
    assert quarry(*base, "--approver", "demo", "--expires", "1h", "-n").code == 0
    assert gate(store, "channel:staging").code == 10, "a dry run writes nothing"
    assert quarry(*base, "--approver", "demo", "--expires", "1h").code == 0
    waived = gate(store, "channel:staging")
    assert waived.code == 0 and waived.json["cells"][0]["waived"]
    assert gate(store, "channel:staging", "default").code == 10, "another policy has other approvers"


def test_sources_that_are_refused(store, packages, tmp_path):
    env = tmp_path / "env"
    (store / "2-linux/python/g/dist").mkdir(parents=True)
    wheel = next((packages / "dist").glob("*.whl"))
    (store / "2-linux/python/g/dist" / wheel.name).write_bytes(wheel.read_bytes())
    unsealed = install(store, env, "run:2")
    assert unsealed.code == 3 and "not sealed" in unsealed.err
    assert not env.exists(), "nothing is made for a source that is refused"

    altered = next((store / "1-linux").glob("python/*/dist/*core*.whl"))
    data = bytearray(altered.read_bytes())
    data[len(data) // 2] ^= 1
    altered.unlink()
    altered.write_bytes(data)
    done = install(store, env, "channel:staging")
    assert done.code == 6 and altered.name in done.err
    assert not (env / "quarry-receipt.json").exists()


def test_a_directory_is_an_unsealed_source(store, packages, tmp_path):
    env = tmp_path / "env"
    done = install(store, env, str(packages))
    assert done.code == 0 and "unsealed source" in done.err + done.out
    assert (env / "quarry-lock.json").exists()
    tested = test_env(store, env)
    assert tested.code == 0 and tested.json["sealed"] is False
    assert gate(store, "channel:staging").code == 10


def test_python_and_installer_must_be_there(store, tmp_path):
    missing = install(store, tmp_path / "env", "run:1", "--python", "3.99")
    assert missing.code == 12 and "here are: 3." in missing.err
    environment = clean_environment(PATH="/usr/bin:/bin")
    no_uv = quarry("venv", "install", tmp_path / "env", "--from", "run:1", "--packages", "rocm", "--store", f"file:{store}", "--installer", "uv", environment=environment)
    assert no_uv.code in (0, 12), "12, or there is an uv in /usr/bin"
    failing = quarry("venv", "install", *BY_UV, tmp_path / "env", "--from", "run:1", "--packages", "no-such", "--store", f"file:{store}")
    assert failing.code == 1 and "V010" in failing.err
    assert re.search(r"hint: run:1-linux has no no-such; it has: .*rocm", failing.err), failing.err
    other = quarry("venv", "install", *BY_UV, tmp_path / "env", "--from", "run:1", "--packages", "rocm==9.9", "--store", f"file:{store}")
    assert other.code == 1 and re.search(r"hint: run:1-linux has rocm \d", other.err), other.err
    assert not (tmp_path / "env/quarry-receipt.json").exists()


def test_github_actions_get_one_line_each(store, tmp_path):
    path, variables = tmp_path / "path", tmp_path / "env-file"
    path.write_text("/before\n")
    environment = clean_environment(GITHUB_PATH=str(path), GITHUB_ENV=str(variables))
    done = quarry("venv", "create", "--use-uv", tmp_path / "env", "--activate-in-future-github-actions-steps", environment=environment)
    assert done.code == 0, done.err
    assert path.read_text() == f"/before\n{tmp_path}/env/bin\n"
    assert variables.read_text() == f"VIRTUAL_ENV={tmp_path}/env\n"
