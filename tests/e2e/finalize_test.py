"""A tested candidate becomes the release: the packages with another version, installed by pip, and what the gate makes of both."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import environments, small_artifacts  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry, refused  # noqa: E402

from conftest import build, publish  # noqa: E402

PACKAGES = "rocm[libraries,devel]"
ACCEPTING = smoke_policy(suite="rocm-sdk").replace("[[require]]", 'derived = "accept"\nderived_suites = ["smoke"]\n[[require]]', 1)


@pytest.fixture(scope="module")
def candidate(artifacts, tmp_path_factory) -> Path:
    return build(artifacts, tmp_path_factory.mktemp("candidate"), "7.2.0rc1")


class Line:
    """A store in which the candidate was published as run 41 and tested."""

    def __init__(self, place: Path, candidate: Path) -> None:
        self.place, self.store = place, place / "store"
        self.policy = place / "accepting.toml"
        self.policy.write_text(ACCEPTING)
        publish(candidate, self.store, "41")
        self.test("run:41", "candidate")
        self.release = "release:" + self("release", "create", "--from", "run:41-linux", "--name", "7.2.0rc1").json["release"]

    def __call__(self, *words, code: int = 0):
        cut = words.index("--") if "--" in words else len(words)  # what follows is the suite's own command
        done = quarry(*words[:cut], "--store", f"file:{self.store}", "--json", *words[cut:])
        assert done.code == code, done.out + done.err
        return done

    def test(self, source: str, name: str, *suite) -> None:
        env = self.place / name
        if not env.exists():
            self("venv", "install", *BY_UV, env, "--from", source, "--packages", PACKAGES)
        assert self("test", "--venv", env, *suite).json["result"] == "passed"

    def finalize(self, out: str = "final", *more):
        return self("release", "finalize", self.release, "--version", "7.2.0", "--output-dir", self.place / out, *more)

    def gate(self, source: str = "run:42-linux", policy: Path | None = None, channel: str = "stable"):
        return quarry("gate", "--from", source, "--to", channel, "--policy", policy or self.policy, "--store", f"file:{self.store}", "--json")


@pytest.fixture(scope="module")
def line(candidate, tmp_path_factory) -> Line:
    return Line(tmp_path_factory.mktemp("line"), candidate)


@pytest.fixture(scope="module")
def final(line) -> Path:
    """The directory of the release's one set, published as run 42."""
    done = line.finalize().json
    (made,) = done["sets"]
    assert done["candidate_version"] == "7.2.0rc1" and made["directory"] == f"linux-python-{small_artifacts.FAMILY}"
    publish(Path(made["path"]), line.store, "42")
    return Path(made["path"])


def test_only_names_metadata_and_versions_change(line, final, candidate):
    names = sorted(path.name for path in (final / "dist").iterdir())
    assert names == sorted(path.name.replace("7.2.0rc1", "7.2.0") for path in (candidate / "dist").iterdir() if not path.name.startswith("."))
    record = json.loads((final / "derivation.json").read_text())
    assert record["schema"] == "quarry.derivation/1" and [file["filename"] for file in record["files"]] == names
    for wheel in (final / "dist").glob("*.whl"):
        good("wheel", "verify", wheel)
        old = candidate / "dist" / wheel.name.replace("7.2.0", "7.2.0rc1")
        with zipfile.ZipFile(wheel) as now, zipfile.ZipFile(old) as before:
            changed = {info.filename for info in now.infolist() if now.read(info) != before.read(info.filename.replace("-7.2.0.", "-7.2.0rc1."))}
        (file,) = (file for file in record["files"] if file["filename"] == wheel.name)
        assert changed == set(file["changed"])
        assert all(name.endswith(("/_dist_info.py", ".dist-info/METADATA", ".dist-info/RECORD")) for name in changed)


def test_pip_installs_the_release_and_its_own_tests_pass(final, tmp_path):
    env = environments.make(tmp_path / "env")
    family = {"ROCM_SDK_TARGET_FAMILY": small_artifacts.FAMILY}
    plain = clean_environment(**family)
    environments.pip_install(env, "--no-index", "--find-links", final / "dist", PACKAGES, environment=family)
    listed = environments.pip(env, "list", "--format", "json")
    versions = {one["name"]: one["version"] for one in json.loads(listed.stdout) if one["name"].startswith("rocm")}
    assert len(versions) >= 4 and set(versions.values()) == {"7.2.0"}
    assert environments.pip(env, "check").returncode == 0
    said = subprocess.run([env / "bin/rocm-sdk", "version"], check=True, env=plain, capture_output=True, text=True)
    assert said.stdout.strip() == "7.2.0"
    assert subprocess.run([env / "bin/rocm-sdk", "test"], env=plain, capture_output=True).returncode == 0


def test_the_candidates_evidence_opens_the_gate_once_the_release_has_passed_its_own_suite(line, final, tmp_path):
    refusing = tmp_path / "refusing.toml"
    refusing.write_text(smoke_policy(suite="rocm-sdk"))
    held = line.gate(policy=refusing)
    assert held.code == 10 and held.json["cells"][0]["reasons"] == ["no evidence of rocm-sdk"]

    held = line.gate()
    assert held.code == 10
    reasons = held.json["cells"][0]["reasons"]
    assert "passed on the files of 7.2.0rc1, of which these were made" in reasons[0] and reasons[1] == "no evidence of smoke"

    line.test("run:42", "release", "--suite", "smoke", "--", "python", "-c", "import rocm_sdk")
    assert line.gate().code == 0
    assert line.gate(policy=refusing).code == 10
    moved = line("promote", "--from", "run:42-linux", "--to", "stable", "--policy", line.policy)
    assert moved.json["moved"]
    shown = line("status", "--policy", line.policy).json["channels"][0]
    assert not shown["failing"] and not shown["untested"], shown

    # What cannot be proven counts for nothing: the candidate's bytes are gone.
    old = next(line.store.glob("41-linux/**/rocm_sdk_core-*.whl"))
    kept = old.read_bytes()
    old.unlink()
    held = line.gate()
    assert held.code == 0 and not held.json["cells"], "what the channel shows is not judged again"
    old.write_bytes(kept)


def test_a_release_that_was_tampered_with_does_not_inherit(line, final, tmp_path):
    """The publishing role changes a library and writes a record that names the new bytes."""
    import hashlib
    import shutil

    evil = tmp_path / "evil"
    shutil.copytree(final, evil)
    wheel = next((evil / "dist").glob("rocm_sdk_core-*.whl"))
    good("wheel", "unpack", wheel, "--output-dir", tmp_path / "tree")
    tree = next((tmp_path / "tree").iterdir())
    library = next(path for path in sorted(tree.rglob("*.so*")) if path.is_file())
    library.write_bytes(library.read_bytes() + b"evil")
    wheel.unlink()
    good("wheel", "pack", tree, "--output-dir", evil / "dist", "--profile", "ci")  # packs the rest as the candidate is
    record = json.loads((evil / "derivation.json").read_text())
    refused("P095", 2, "publish", evil, "--store", f"file:{line.store}", "--run-id", "43", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY)
    for file in record["files"]:
        if file["filename"] == wheel.name:
            file["sha256"] = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (evil / "derivation.json").write_text(json.dumps(record))
    publish(evil, line.store, "43")
    line.test("run:43", "evil", "--suite", "smoke", "--", "python", "-c", "import rocm_sdk")
    # Not into stable: there the names have other bytes, which alone would be refused (R018).
    held = line.gate("run:43-linux", channel="untouched")
    assert held.code == 10
    assert any(note["code"] == "G024" and "lib" in note["message"] for note in held.json["notes"]), held.json["notes"]
    assert held.json["cells"][0]["reasons"] == ["no evidence of rocm-sdk"]


def test_what_cannot_be_made_is_refused(line, final, tmp_path):
    store = ("--store", f"file:{line.store}")
    made = {path: path.read_bytes() for path in final.rglob("*") if path.is_file()}
    good("release", "finalize", line.release, "--version", "7.2.0", "--output-dir", final.parent, *store)  # again: it is there
    assert made == {path: path.read_bytes() for path in final.rglob("*") if path.is_file()}
    other = tmp_path / "other" / final.name / "dist"
    other.mkdir(parents=True)
    (other / "rocm-1.tar.gz").write_text("somebody's")
    refused("O103", 7, "release", "finalize", line.release, "--version", "7.2.0", "--output-dir", tmp_path / "other", *store)
    refused("M016", 2, "release", "finalize", line.release, "--version", "7.3.0", "--output-dir", tmp_path / "a", *store)
    refused("O106", 2, "release", "finalize", line.release, "--version", "7.1.0", "--candidate", "7.1.0rc1", "--output-dir", tmp_path / "a", *store)
    refused("R010", 3, "release", "finalize", "release:00000000", "--version", "7.2.0", "--output-dir", tmp_path / "a", *store)
    planned = line.finalize(str(tmp_path / "a"), "--dry-run").json
    assert not planned["written"] and not (tmp_path / "a").exists()
    assert {file["version"] for file in planned["sets"][0]["files"]} == {"7.2.0"}
