"""kill -9 at seeded moments of fetch, publish and promote: the same command run again completes, nothing dangles in between.

QUARRY_LONG=1 takes 1000 moments instead of the few of an ordinary run; the seed is printed with a failure."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import s3_server, small_artifacts  # noqa: E402
from support.memory import in_memory  # noqa: E402
from support.quarry import PROGRAM, ROOT, clean_environment, good, quarry  # noqa: E402

from conftest import publish  # noqa: E402

MOMENTS = 1000 if os.environ.get("QUARRY_LONG") else 12
SEED = int(os.environ.get("QUARRY_SEED", "20260917"))
POLICY = ROOT / "data/policies/demo.toml"


@pytest.fixture
def tmp_path(tmp_path):
    with in_memory(tmp_path) as place:
        yield place


def killed(arguments: list, seconds: float, environment: dict[str, str] | None = None) -> bool:
    """Starts the program and kills it after so many seconds; True when that came before its end."""
    child = subprocess.Popen([str(a) for a in (PROGRAM, *arguments)], env=environment or clean_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.wait()
        return True


def dangling(store: Path) -> list[str]:
    """Links on pages below the store that lead to no file."""
    bad = []
    for page in store.rglob("index.html"):
        for href in re.findall(r'href="([^"]+)"', page.read_text(errors="replace")):
            target = page.parent / unquote(href.split("#")[0])
            if not (target / "index.html" if target.is_dir() else target).exists():
                bad.append(f"{page.relative_to(store)} -> {href}")
    return bad


def moments(seconds: float) -> list[float]:
    rng = random.Random(SEED)
    return [rng.uniform(0, seconds * 1.05) for _ in range(MOMENTS)]


def duration(arguments: list, **options) -> float:
    begin = time.monotonic()
    good(*arguments, **options)
    return time.monotonic() - begin


def test_fetch(artifacts, tmp_path):
    good("artifact", "pack", artifacts, "--output-dir", tmp_path / "store/7-linux")
    command = ["artifact", "fetch", "--from", "run:7", "--store", f"file:{tmp_path / 'store'}", "--output-dir"]
    expected = tmp_path / "expected"
    seconds = duration([*command, expected])
    names = sorted(str(p.relative_to(expected)) for p in expected.rglob("*") if not p.name.startswith("."))
    assert len(names) > 30
    for i, moment in enumerate(moments(seconds)):
        out = tmp_path / f"out-{i}"
        killed([*command, out], moment)
        for artifact in out.glob("*_*_*") if out.exists() else ():
            assert (artifact / "artifact_manifest.txt").exists(), f"seed {SEED} moment {i}: {artifact.name} is half there"
        good(*command, out)
        assert sorted(str(p.relative_to(out)) for p in out.rglob("*") if not p.name.startswith(".")) == names, f"seed {SEED} moment {i}"
        shutil.rmtree(out)


def digests_of(directory: Path) -> dict[str, str]:
    return {str(f.relative_to(directory)): hashlib.sha256(f.read_bytes()).hexdigest() for f in directory.rglob("*") if f.is_file() and ".quarry-fetch" not in f.parts}


def test_upload_to_a_bucket_and_fetch_from_it(artifacts, tmp_path):
    build = tmp_path / "build"
    good("artifact", "pack", artifacts, "--output-dir", build / "artifacts")
    small_artifacts.write(build / "logs/a.log", "a")
    with s3_server.serve() as server:
        environment = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")

        def upload(run: str) -> list:
            return ["run", "upload", build, "--run-id", run, "--platform", "linux", "--store", f"s3://{server.bucket}"]

        def fetch(run: str, out: Path) -> list:
            return ["artifact", "fetch", "--from", f"s3://{server.bucket}/{run}-linux", "--output-dir", out]

        uploading = duration(upload("reference"), environment=environment)
        fetching = duration(fetch("reference", tmp_path / "reference"), environment=environment)
        expected = digests_of(tmp_path / "reference")
        assert len(expected) > 10
        for i, (first, second) in enumerate(zip(moments(uploading), reversed(moments(fetching)), strict=True)):
            here, out = f"seed {SEED} moment {i}", tmp_path / "out"
            killed(upload(str(i)), first, environment)
            early = quarry(*fetch(str(i), tmp_path / "early"), environment=environment)
            assert early.code == 3 or digests_of(tmp_path / "early") == expected, f"{here}: half a run was taken for a whole one\n{early.err}"
            good(*upload(str(i)), environment=environment)
            killed(fetch(str(i), out), second, environment)
            assert digests_of(out).items() <= expected.items(), here
            good(*fetch(str(i), out), environment=environment)
            assert digests_of(out) == expected, here
            shutil.rmtree(out)
            shutil.rmtree(tmp_path / "early", ignore_errors=True)


def files_of(store: Path, channel: str) -> list[tuple[str, str]]:
    shown = good("channel", "show", channel, "--store", f"file:{store}", "--json").json
    return sorted((f["filename"], f["sha256"]) for f in shown["files"])


def test_publish(packages, next_packages, tmp_path):
    reference = tmp_path / "reference"
    publish(packages, reference, "1", "--channel", "staging")
    command = ["publish", next_packages, "--run-id", "2", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY, "--channel", "staging", "--store"]
    before = tmp_path / "before"
    shutil.copytree(reference, before)
    seconds = duration([*command, f"file:{reference}"])
    expected = files_of(reference, "staging")
    for i, moment in enumerate(moments(seconds)):
        store = tmp_path / "store"
        shutil.copytree(before, store)
        killed([*command, f"file:{store}"], moment)
        assert not dangling(store), f"seed {SEED} moment {i}"
        good(*command, f"file:{store}")
        assert files_of(store, "staging") == expected, f"seed {SEED} moment {i}"
        assert not dangling(store), f"seed {SEED} moment {i}"
        good("index", "check", f"file:{store}/channels/staging")
        shutil.rmtree(store)


def test_promote(packages, next_packages, tmp_path, report_only_policy):
    before = tmp_path / "before"
    publish(packages, before, "1", "--channel", "staging")
    publish(next_packages, before, "2", "--channel", "staging")
    command = ["promote", "--from", "channel:staging", "--to", "stable", "--policy", report_only_policy, "--store"]
    reference = tmp_path / "reference"
    shutil.copytree(before, reference)
    seconds = duration([*command, f"file:{reference}"])
    expected = files_of(reference, "stable")
    assert len(expected) == 8
    for i, moment in enumerate(moments(seconds)):
        store = tmp_path / "store"
        shutil.copytree(before, store)
        killed([*command, f"file:{store}"], moment)
        assert not dangling(store), f"seed {SEED} moment {i}"
        again = quarry(*command, f"file:{store}")
        assert again.code == 0, f"seed {SEED} moment {i}: {again.out}{again.err}"
        assert files_of(store, "stable") == expected, f"seed {SEED} moment {i}"
        assert not dangling(store), f"seed {SEED} moment {i}"
        log = good("channel", "log", "stable", "--store", f"file:{store}", "--json").json
        assert len(json.dumps(log)) > 0
        shutil.rmtree(store)
