"""`quarry lock`: a pylock.toml that uv and pip install from, and that keeps its files; and `--on-move`."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conftest import publish  # noqa: E402
from support import environments  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
WHEELS = ("rocm-sdk-core",)


def lock(store: Path, out: Path, *words: str, source: str = "channel:staging") -> dict:
    done = good("lock", *words, "--from", source, "--python", PYTHON, "--output", out, "--store", f"file:{store}", "--json")
    return done.json


def installed(environment: Path) -> dict[str, str]:
    listed = environments.pip(environment, "list", "--format", "json")
    return {one["name"].lower(): one["version"] for one in json.loads(listed.stdout)}


@pytest.fixture
def environment(tmp_path) -> Path:
    return environments.make(tmp_path / "env")


def test_a_lock_names_exactly_the_files_of_the_set(store, tmp_path):
    made = lock(store, tmp_path / "pylock.toml", "rocm[libraries]")
    read = tomllib.loads((tmp_path / "pylock.toml").read_text())
    assert read["lock-version"] == "1.0" and made["packages"]
    shown = {file["filename"]: file for file in good("channel", "show", "staging", "--store", f"file:{store}", "--json").json["files"]}
    for package in read["packages"]:
        for file in package.get("wheels", []) + ([package["sdist"]] if "sdist" in package else []):
            assert file["hashes"]["sha256"] == shown[file["name"]]["sha256"] and file["size"] == shown[file["name"]]["size"]
            assert file["url"].startswith("file:///")
    names = {package["name"] for package in read["packages"]}
    assert "rocm" in names and "rocm-sdk-core" in names and "rocm-sdk-devel" not in names, "only what was asked for and what it needs"
    again = (tmp_path / "pylock.toml").read_text()
    lock(store, tmp_path / "pylock.toml", "rocm[libraries]")
    assert (tmp_path / "pylock.toml").read_text() == again


def test_uv_installs_from_the_lock(store, tmp_path, environment):
    made = lock(store, tmp_path / "pylock.toml", *WHEELS)
    for words in (["pip", "sync"], ["pip", "install", "--reinstall", "-r"]):
        done = client("uv").run(*words, tmp_path / "pylock.toml", "--python", environment / "bin/python", "--offline", "--no-cache")
        assert done.returncode == 0, done.stderr
        places = {path.name.partition("-")[0] for path in environment.glob("lib/python*/site-packages/*.dist-info")}
        assert {package["name"].replace("-", "_") for package in made["packages"]} <= {place.lower() for place in places}


def test_pip_installs_from_the_lock(store, tmp_path, environment):
    made = lock(store, tmp_path / "pylock.toml", *WHEELS)
    done = environments.pip(environment, "install", "--no-index", "-r", tmp_path / "pylock.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    found = installed(environment)
    assert all(found[package["name"]] == package["version"] for package in made["packages"])


def test_an_altered_file_is_not_installed(store, tmp_path, environment):
    lock(store, tmp_path / "pylock.toml", *WHEELS)
    text = (tmp_path / "pylock.toml").read_text()
    digest = tomllib.loads(text)["packages"][0]["wheels"][0]["hashes"]["sha256"]
    (tmp_path / "pylock.toml").write_text(text.replace(digest, "0" * 64))
    done = client("uv").run("pip", "sync", tmp_path / "pylock.toml", "--python", environment / "bin/python", "--offline", "--no-cache")
    assert done.returncode != 0 and "hash" in done.stderr.lower()


def test_a_kept_lock_keeps_its_files(store, next_packages, rules, tmp_path):
    publish(next_packages, store, "2")
    digest = json.loads(good("set", "show", "run:2-linux", "--store", f"file:{store}", "--json").out)["sets"][0]["set"]

    def plan() -> dict:
        return good("retain", "plan", "--rules", rules, "--store", f"file:{store}", "--json").json

    assert [one["set"] for one in plan()["tombstone"]] == [digest]
    kept = good("lock", *WHEELS, "--from", f"set:{digest}", "--python", PYTHON, "--output", tmp_path / "p.toml", "--keep", "30d", "--store", f"file:{store}", "--json").json
    assert kept["sets"] == [digest] and (store / f"locks/{kept['lock']}.json").exists()
    after = plan()
    assert after["tombstone"] == [] and any("a lock until" in one["why"] for one in after["kept"])


def test_what_cannot_be_locked_is_told(store, tmp_path):
    done = refused("O301", 1, "lock", "no-such-project", "--from", "channel:staging", "--python", PYTHON, "--output", tmp_path / "p.toml", "--store", f"file:{store}")
    assert "no-such-project" in done.err and not (tmp_path / "p.toml").exists()
    for until in ("yesterday", "2020-01-01", "0d", "0s", "31.12.2027"):
        refused("O303", 2, "lock", "--from", "channel:staging", "--keep", until, "--output", tmp_path / "p.toml", "--store", f"file:{store}")


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("rocm[nosuch]", "rocm 7.2.0 has no extra `nosuch`"),
        ("rocm[libraries,nosuch]>=7", "rocm 7.2.0 has no extra `nosuch`"),
        ("rocm[librarys]", "did you mean `libraries`?"),
        ("rocm[]", "`rocm[]` names no extra"),
        ("rocm[ ]>=7", "`rocm[ ]>=7` names no extra"),
    ],
)
def test_an_extra_that_does_not_exist_is_refused_with_those_that_do(store, tmp_path, word, says):
    done = refused("O305", 2, "lock", word, "--from", "channel:staging", "--python", PYTHON, "--output", tmp_path / "p.toml", "--store", f"file:{store}", "--keep", "30d")
    assert says in done.err and "it has  devel" in done.err and "libraries" in done.err, done.err
    assert not (tmp_path / "p.toml").exists() and not list(store.glob("locks/*"))


# --- --on-move


def test_commands_are_told_what_has_moved(store, report_only_policy, tmp_path):
    told = tmp_path / "told.json"
    hook = f"cat > {told}; env > {tmp_path}/env"
    secrets = {"AWS_SECRET_ACCESS_KEY": "hidden-value-1", "GITHUB_TOKEN": "hidden-value-2"}
    promote = ("promote", "--from", "channel:staging", "--to", "stable", "--policy", report_only_policy, "--store", f"file:{store}")
    dry = quarry(*promote, "--dry-run", "--on-move", hook)
    assert dry.code == 0 and not told.exists()
    moved = quarry(*promote, "--on-move", hook, environment=clean_environment(**secrets))
    assert moved.code == 0, moved.err
    document = json.loads(told.read_text())
    assert document["schema"] == "quarry.move/1" and document["action"] == "promote" and document["move"]["generation"] == 1
    assert "hidden-value" not in (tmp_path / "env").read_text() + told.read_text()
    told.unlink()
    assert quarry(*promote, "--on-move", hook).code == 0 and not told.exists(), "nothing has moved"
    failed = quarry("yank", "rocm-7.2.0.tar.gz", "--channel", "stable", "--reason", "test", "--on-move", "echo no mail today >&2; exit 3", "--store", f"file:{store}")
    assert failed.code == 1 and "O300" in failed.err and "no mail today" in failed.err
    assert good("channel", "show", "stable", "--store", f"file:{store}", "--json").json["generation"] == 2, "the move stays"
    back = quarry("rollback", "stable", "--on-move", hook, "--store", f"file:{store}", "--json")
    assert back.code == 0 and json.loads(told.read_text())["action"] == "rollback"
