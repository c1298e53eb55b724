"""`promote --cells ready` moves only what people can install afterwards; compared with uv."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions, static_server  # noqa: E402
from support.clients import client  # noqa: E402
from support.foreign_index import Index  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402
from support.usual import LONG  # noqa: E402

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
LOCAL = {"NO_PROXY": "127.0.0.1", "QUARRY_ALLOW_PLAIN_HTTP": "1"}


class Line:
    """Small sets in a store; what is waived is ready."""

    def __init__(self, place: Path) -> None:
        self.place, self.store, self.runs = place, place / "store", 0
        self.policy = self.write_policy()

    def write_policy(self, keys: str = "") -> Path:
        path = self.place / "own.toml"
        path.write_text(smoke_policy().replace("[[require]]", f"{keys}[[require]]", 1))
        return path

    def __call__(self, *words, code: int = 0, **options):
        done = quarry(*words, "--store", f"file:{self.store}", "--json", **options)
        assert done.code == code, done.out + done.err
        return done

    def publish(self, dist: Path) -> str:
        """The set's locator."""
        self.runs += 1
        return "set:" + self("publish", dist, "--run-id", str(self.runs), "--platform", "linux").json["set"]

    def waive(self, *scope: str) -> None:
        self("waive", "--to", "stable", *scope, "--reason", "test", "--approver", "lead", "--expires", "1h", "--policy", self.policy)

    def promote(self, sources: list[str], *more, code: int = 0, **options) -> dict:
        words = [word for source in sources for word in ("--from", source)]
        return self("promote", *words, "--to", "stable", "--cells", "ready", "--policy", self.policy, *more, code=code, **options).json

    def shown(self) -> set[str]:
        return {file["filename"] for file in self("channel", "show", "stable").json["files"]}


@pytest.fixture
def line(tmp_path) -> Line:
    return Line(tmp_path)


def release_of_two(dist: Path) -> Path:
    dist.mkdir()
    families = ("gfx942", "gfx1100")
    for family in families:
        distributions.wheel(dist, f"rocm-sdk-device-{family}", "7.2.0")
    distributions.wheel(dist, "rocm-sdk-core", "7.2.0")
    fields = ["Dynamic: Requires-Dist", "Dynamic: Provides-Extra", "Requires-Dist: rocm-sdk-core==7.2.0"]
    for family in families:
        fields += [f"Provides-Extra: device-{family}", f'Requires-Dist: rocm-sdk-device-{family}==7.2.0 ; extra == "device-{family}"']
    distributions.sdist(dist, "rocm", "7.2.0", fields=tuple(fields))
    return dist


def test_a_held_family_is_named_until_it_follows(line, tmp_path):
    source = line.publish(release_of_two(tmp_path / "dist"))
    release = "release:" + line("release", "create", "--from", source, "--name", "7.2.0").json["release"]
    line.waive("--family", "gfx942", "--any-set")
    held = line.promote([release], code=10)
    reasons = [reason for cell in held["gate"]["cells"] for reason in cell["reasons"]]
    assert any("could not be installed with its extra device-gfx1100" in reason and "which channel stable lacks" in reason for reason in reasons), reasons
    said = quarry("promote", "--from", release, "--to", "stable", "--cells", "ready", "--policy", line.policy, "--store", f"file:{line.store}")
    assert said.code == 10 and "could not be installed" in said.out and "gfx1100" in said.out

    line.write_policy('empty_extras = ["rocm[device-gfx1100]"]\n')
    moved = line.promote([release])
    assert moved["moved"] and not any("gfx1100" in name for name in line.shown())
    (extra,) = line("status", "stable", "--policy", line.policy).json["channels"][0]["empty_extras"]
    assert extra == {"project": "rocm", "version": "7.2.0", "extra": "device-gfx1100", "lacks": "rocm-sdk-device-gfx1100"}
    told = "rocm[device-gfx1100] 7.2.0"
    assert told in good("status", "stable", "--policy", line.policy, "--store", f"file:{line.store}").out
    assert told in good("release", "notes", release, "--store", f"file:{line.store}").out
    for page in ("index.html", "simple/rocm/index.html"):
        assert told in (line.store / "channels/stable" / page).read_text(), page

    line.waive("--family", "gfx1100", "--any-set")
    assert line.promote([release])["moved"]
    assert line("status", "stable", "--policy", line.policy).json["channels"][0]["empty_extras"] == []
    assert told not in good("release", "notes", release, "--store", f"file:{line.store}").out
    for page in ("index.html", "simple/rocm/index.html"):
        assert told not in (line.store / "channels/stable" / page).read_text(), page


def test_what_cannot_move_is_not_suggested(line, tmp_path):
    """`--cells ready` is the next step only where something would move by it."""
    source = line.publish(release_of_two(tmp_path / "dist"))
    line.waive("--family", "gfx942", "--any-set")
    store = ("--store", f"file:{line.store}", "--policy", line.policy)

    def said(*words: str) -> bool:
        return "--cells ready" in quarry(*words, *store).out

    asking = [("promote", "--from", source, "--to", "stable"), ("gate", "--from", source, "--to", "stable"), ("status", "stable", "--from", source)]
    assert [said(*words) for words in asking[:2]] == [False, False], "rocm could not be installed with its extra"
    line.write_policy('empty_extras = ["rocm[device-gfx1100]"]\n')
    assert [said(*words) for words in asking[:2]] == [True, True]
    assert line.promote([source])["moved"]
    assert [said(*words) for words in asking] == [False, False, False], "what is ready is there already"


def test_a_policy_names_extras_in_full(line, tmp_path):
    source = line.publish(release_of_two(tmp_path / "dist"))
    for bad in ("rocm", "rocm[libraries-*]", "rocm[a]==1"):
        line.write_policy(f'empty_extras = ["{bad}"]\n')
        refused("G002", 2, "gate", "--from", source, "--to", "stable", "--policy", line.policy, "--store", f"file:{line.store}")


def test_a_source_distribution_says_what_it_requires_or_stays(line, tmp_path):
    dist = tmp_path / "dist"
    dist.mkdir()
    distributions.sdist(dist, "late", "1.0", requires=("numpy",))
    source = line.publish(dist)
    line.waive("--everything")
    held = line.promote([source], code=10)
    assert "known only once it is built" in held["gate"]["cells"][0]["reasons"][0]


def test_dependencies_from_elsewhere(line, tmp_path):
    dist = tmp_path / "dist"
    dist.mkdir()
    distributions.wheel(dist, "torch", "2.10.0", requires=("numpy>=2",))
    source = line.publish(dist)
    line.waive("--everything")
    base = Index(tmp_path / "base")
    base.wheel("numpy", "1.26")
    base.publish()
    refused("C006", 2, "promote", "--from", source, "--to", "stable", "--policy", line.policy, "--base-index", "https://127.0.0.1:1/simple/", "--store", f"file:{line.store}")
    with static_server.serve(base.root) as (url, _):
        held = line.promote([source], "--base-index", f"{url}/simple/", code=10, environment=clean_environment(**LOCAL))
    assert "numpy>=2" in held["gate"]["cells"][0]["reasons"][0] and "1.26" in held["gate"]["cells"][0]["reasons"][0]
    moved = line.promote([source])
    assert moved["moved"] and [note["code"] for note in moved["notes"]] == ["O028"] and "numpy" in moved["notes"][0]["message"]


def random_release(place: Path, base: Index, chance: random.Random) -> dict[str, Path]:
    """Packages with requirements on each other and on an index, each in a directory of its own."""
    own, others = [f"own{i}" for i in range(6)], ["lib0", "lib1"]
    for name in others:
        for version in chance.sample(["1.0", "2.0"], chance.randint(1, 2)):
            base.wheel(name, version)
    base.publish()
    versions = {name: f"{chance.randint(1, 2)}.0" for name in own}
    made = {}
    for name in own:
        rest = [each for each in own if each != name]
        requires = [f"{other}{chance.choice(['', '==' + versions[other], '==' + versions[other], '>=9'])}" for other in chance.sample(rest, chance.randint(0, 2))]
        requires += [f"{other}{chance.choice(['', '<2', '>=2'])}" for other in chance.sample(others, chance.randint(0, 1))]
        extras = ("more",) if chance.random() < 0.4 else ()
        requires += [f"{chance.choice(rest)}; extra == 'more'"] if extras else []
        dist = place / name
        dist.mkdir(parents=True)
        distributions.wheel(dist, name, versions[name], requires=tuple(requires), extras=extras)
        made[name] = dist
    return made


def installable(installer: str, wanted: str, places: list[Path], scratch: Path) -> bool:
    """What the installer says."""
    links = [word for place in places for word in ("--find-links", place)]
    if installer == "pip":
        ended = client("pip-newest").run("install", "--dry-run", "--ignore-installed", "--no-index", "--only-binary", ":all:", *links, wanted)
        assert ended.returncode == 0 or "No matching distribution" in ended.stderr or "ResolutionImpossible" in ended.stderr, ended.stderr
        return ended.returncode == 0
    scratch.write_text(wanted + "\n")
    ended = client("uv").run("pip", "compile", scratch, "--no-build", "--no-index", "--python-version", PYTHON, *links)
    assert ended.returncode == 0 or "No solution found" in ended.stderr, ended.stderr
    return ended.returncode == 0


@pytest.mark.parametrize(("installer", "seed"), [("uv", seed) for seed in range(8)] + [("pip", seed) for seed in range(4 if LONG else 2)])
def test_what_moves_agrees_with_the_installers(installer, seed, line, tmp_path):
    """What moves can be installed from the channel and the index, with its extras; what is ready and stays could not be installed there."""
    chance = random.Random(seed)
    base = Index(tmp_path / "base")
    made = random_release(tmp_path / "made", base, chance)
    sets = {name: line.publish(dist) for name, dist in made.items()}
    ready = chance.sample(sorted(made), 5)
    for name in ready:
        line.waive("--set", sets[name])
    with static_server.serve(base.root) as (url, _):
        done = quarry("promote", *[w for s in sets.values() for w in ("--from", s)], "--to", "stable", "--cells", "ready", "--policy", line.policy, "--base-index", f"{url}/simple/", "--store", f"file:{line.store}", "--json", environment=clean_environment(**LOCAL))
    assert done.code in (0, 10), done.err
    moved = {name for name in made if any(file.startswith(name + "-") for file in (line.shown() if done.code == 0 else set()))}
    assert moved <= set(ready)

    def can_be_had(name: str, among: set[str]) -> bool:
        places = [made[each] for each in sorted(among)] + [base.root / "files"]
        (wheel,) = made[name].glob("*.whl")
        extras = ["", "[more]"] if b"Provides-Extra" in distributions.metadata_of(wheel) else [""]
        return all(installable(installer, f"{name}{extra}=={wheel.name.split('-')[1]}", places, tmp_path / "wanted.txt") for extra in extras)

    for name in ready:
        assert can_be_had(name, moved | {name}) == (name in moved), (name, moved, ready)


def test_the_generated_releases_are_of_all_kinds(tmp_path):
    """Otherwise the comparison would compare nothing."""
    moved = []
    for seed in range(8):
        place = tmp_path / str(seed)
        place.mkdir()
        line, chance = Line(place), random.Random(seed)
        base = Index(place / "base")
        made = random_release(place / "made", base, chance)
        sets = {name: line.publish(dist) for name, dist in made.items()}
        for name in chance.sample(sorted(made), 5):
            line.waive("--set", sets[name])
        with static_server.serve(base.root) as (url, _):
            done = quarry("promote", *[w for s in sets.values() for w in ("--from", s)], "--to", "stable", "--cells", "ready", "--policy", line.policy, "--base-index", f"{url}/simple/", "--store", f"file:{line.store}", environment=clean_environment(**LOCAL))
        moved.append(len(line.shown()) if done.code == 0 else 0)
    assert len(set(moved)) >= 3 and any(0 < count < 5 for count in moved), moved
