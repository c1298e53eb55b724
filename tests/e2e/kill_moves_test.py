"""kill -9 at seeded moments of the moves that guard a channel, take files out of it, move several channels or a distribution, or remove
something: the same command run again completes, and nothing dangles in between.

A command that is killed leaves no lock behind: locks of directories are the kernel's, and vanish with the process. What it leaves is written
down for the next one: the plan of a release, the record of a set that retention takes away, the marks of `gc`.

QUARRY_LONG=1 takes 1000 moments of each instead of the few of an ordinary run; the seed is printed with a failure."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions  # noqa: E402
from support.memory import in_memory  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import good, quarry  # noqa: E402

from conftest import build, publish  # noqa: E402
from kill_test import MOMENTS, SEED, dangling, duration, killed, moments  # noqa: E402

MEASURED = 1 if MOMENTS < 100 else 5
REASON = ("--reason", "a test of moves")


@pytest.fixture
def tmp_path(tmp_path):
    with in_memory(tmp_path) as place:
        yield place


@dataclass
class Move:
    """A directory with the stores as they are before the move, and the move; `done` are the errors of a command that finds its move made."""

    before: Path
    command: list
    channels: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    facts: Callable[[Path], object] = lambda place: None  # what the same command, run again, must bring about besides
    visible: Callable[[Path], None] = lambda place: None  # what must hold right after the kill

    def words(self, place: Path) -> list:
        return [str(word).replace("PLACE", str(place)) for word in self.command] + ["--store", f"file:{place / 'store'}"]


def channels_of(store: Path, names: tuple[str, ...]) -> list:
    """What channels show, block and are bound to; not when."""
    shown = [good("channel", "show", name, "--store", f"file:{store}", "--json").json for name in names]
    return [{key: one[key] for key in ("files", "sets", "blocked", "policy", "generation", "view")} for one in shown]


def check(move: Move, tmp_path: Path) -> None:
    # The fastest of some: where other programs run beside, many moments would come after the end of a usual one.
    references = [tmp_path / f"reference-{i}" for i in range(MEASURED)]
    seconds = min(duration(move.words(shutil.copytree(move.before, reference))) for reference in references)
    reference, in_time = references[-1], 0
    expected = channels_of(reference / "store", move.channels), move.facts(reference)
    for i, moment in enumerate(moments(seconds)):
        here, place = f"seed {SEED} moment {i}", shutil.copytree(move.before, tmp_path / "place")
        in_time += killed(move.words(place), moment)
        assert not dangling(place), here
        move.visible(place)
        again = quarry(*move.words(place))
        assert again.code == 0 or any(f"error[{code}]" in again.err for code in move.done), f"{here}: {again.out}{again.err}"
        if again.code:
            for channel in move.channels:  # the command refuses to make its move twice: the pages may have to follow
                good("index", "repair", f"channel:{channel}", "--store", f"file:{place / 'store'}")
        assert (channels_of(place / "store", move.channels), move.facts(place)) == expected, here
        assert not dangling(place), here
        for channel in move.channels:
            good("channel", "verify", channel, "--store", f"file:{place / 'store'}")
        shutil.rmtree(place)
    print(f"{in_time} of {MOMENTS} were killed before they ended")
    assert in_time, "every move had ended before it was to be killed"


@pytest.fixture
def store_of(packages, next_packages, tmp_path):
    """A store with runs 1 and 2 in `staging`, and what is done to it before the move."""

    def made(*commands) -> Path:
        store = tmp_path / "before/store"
        publish(packages, store, "1", "--channel", "staging")
        publish(next_packages, store, "2", "--channel", "staging")
        for words in commands:
            good(*words, "--store", f"file:{store}")
        return store.parent

    return made


@pytest.fixture
def policy(tmp_path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(smoke_policy())
    return path


def test_protect(store_of, policy, tmp_path):
    check(Move(store_of(), ["channel", "protect", "staging", "--policy", policy, *REASON, "--trust-shown"], ("staging",)), tmp_path)


def test_unprotect(store_of, policy, tmp_path):
    before = store_of(("channel", "protect", "staging", "--policy", policy, *REASON, "--trust-shown"))
    check(Move(before, ["channel", "unprotect", "staging", *REASON], ("staging",)), tmp_path)


def set_of(store: Path, run: str) -> str:
    listed = good("set", "list", "--store", f"file:{store}", "--json").json["sets"]
    return "set:" + next(one["set"] for one in listed if one["run_id"] == run)


def test_unblock(store_of, tmp_path):
    before = store_of(("rollback", "staging", *REASON))
    check(Move(before, ["channel", "unblock", "staging", set_of(before / "store", "2"), *REASON], ("staging",), ("O013",)), tmp_path)


def test_yank(store_of, tmp_path):
    before = store_of()
    check(Move(before, ["yank", set_of(before / "store", "1"), "--channel", "staging", *REASON], ("staging",)), tmp_path)


# several channels, distributions

FAMILIES = ("gfx1100", "gfx1201")
PATTERN = tuple(f"stable-{family}" for family in FAMILIES)
REPORTING = smoke_policy().replace("max_age", 'mode = "report_only"\nmax_age', 1)


@pytest.fixture
def reporting(tmp_path) -> Path:
    path = tmp_path / "reporting.toml"
    path.write_text(REPORTING)
    return path


def test_a_release_over_several_channels(reporting, tmp_path):
    store = f"file:{tmp_path / 'before/store'}"
    sources = []
    for version in ("1.0", "2.0"):
        for family in FAMILIES:
            dist = tmp_path / f"{family}-{version}"
            dist.mkdir()
            distributions.wheel(dist, "rocm-sdk-core", version, payload=family.encode())
            distributions.wheel(dist, f"rocm-sdk-device-{family}", version)
            run = version[0]
            good("publish", dist, "--run-id", run, "--platform", "linux", "--artifact-group", family, "--store", store)
        sources.append([word for family in FAMILIES for word in ("--from", f"run:{run}-linux@{family}")])
    words = ["--to", "stable-{family}", "--policy", reporting]
    good("promote", *sources[0], *words, "--store", store)
    plan = good("promote", *sources[1], *words, "--dry-run", "--store", store, "--json").json["plan"]

    def whole(place: Path) -> None:
        """Each channel shows one release or the other, never a part."""
        for channel, family in zip(PATTERN, FAMILIES, strict=True):
            shown = channels_of(place / "store", (channel,))[0]
            assert {f["project"] for f in shown["files"]} == {"rocm-sdk-core", f"rocm-sdk-device-{family}"} and len(shown["files"]) in (2, 4)

    def unfinished(place: Path) -> list:
        return good("status", "--policy", reporting, "--store", f"file:{place / 'store'}", "--json").json["unfinished"]

    check(Move(tmp_path / "before", ["promote", *sources[1], *words, "--execute", plan], PATTERN, facts=unfinished, visible=whole), tmp_path)


def versions_in(page: Path) -> list[str]:
    return sorted(set(part.split("-")[1] for part in page.read_text().split('">')[1:] if ".whl<" in part)) if page.exists() else []


def distribution_of(place: Path) -> list:
    """What people install from, and what its pointer says."""
    directory = place / "dist/v2/x"
    pointer = json.loads((directory / "distribution.json").read_text())
    for set_ in pointer["sets"]:
        for file in json.loads((place / f"dist/sets/{set_['set']}.json").read_text())["files"]:
            assert (place / "dist" / file["key"]).exists(), "the pointer names a file that is not there"
    return [pointer["generation"], [set_["set"] for set_ in pointer["sets"]], [b["sha256"] for b in pointer.get("blocked", [])], versions_in(directory / "simple/demo/index.html")]


@pytest.fixture
def two_versions(reporting, tmp_path) -> Path:
    """Version 1.0 is in `stable` and in the distribution `v2/x`; 2.0 is run 2."""
    for version in ("1.0", "2.0"):
        dist = tmp_path / version
        dist.mkdir()
        distributions.wheel(dist, "demo", version)
        good("publish", dist, "--run-id", version[0], "--platform", "linux", "--store", f"file:{tmp_path / 'before/store'}")
    feed(tmp_path / "before", reporting, "1")
    return tmp_path / "before"


def feed(place: Path, policy: Path, run: str) -> None:
    good("promote", "--from", f"run:{run}", "--to", "stable", "--policy", policy, "--store", f"file:{place / 'store'}", *to_store(place))


def to_store(place) -> list[str]:
    return ["--to-store", f"file:{place}/dist", "--prefix", "v2/x"]


def test_a_promotion_with_its_distribution(two_versions, reporting, tmp_path):
    move = ["promote", "--from", "run:2", "--to", "stable", "--policy", reporting, *to_store("PLACE")]
    check(Move(two_versions, move, ("stable",), facts=distribution_of, visible=distribution_of), tmp_path)


def test_a_rollback_with_its_distribution(two_versions, reporting, tmp_path):
    feed(two_versions, reporting, "2")
    check(Move(two_versions, ["rollback", "stable", *to_store("PLACE"), *REASON], ("stable",), ("O007",), distribution_of, distribution_of), tmp_path)


# making a release of a candidate


def tree(directory: Path) -> dict[str, str]:
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.rglob("*") if path.is_file()}


def test_finalize(artifacts, tmp_path):
    """Of two sets: the run may be killed between them."""
    before = tmp_path / "before"
    publish(build(artifacts, tmp_path / "candidate", "7.2.0rc1"), before / "store", "41")
    more = tmp_path / "more"
    more.mkdir()
    distributions.wheel(more, "rocm-profiler", "7.2.0rc1")
    good("publish", more, "--run-id", "41", "--platform", "linux", "--artifact-group", "profiler", "--store", f"file:{before / 'store'}")
    move = ["release", "finalize", "run:41-linux", "--version", "7.2.0", "--output-dir", "PLACE/final"]

    def complete(place: Path) -> None:
        """What has a package's name is the whole package."""
        for wheel in (place / "final").rglob("*.whl"):
            good("wheel", "verify", wheel)

    check(Move(before, move, facts=lambda place: tree(place / "final"), visible=complete), tmp_path)


# removing

AT_ONCE = """schema = "quarry.retention/1"
name = "at-once"
grace = "24h"
[[rule]]
name = "everything"
keep = "0s"
"""


def kept_files(place: Path) -> list:
    """Sealed sets and their files: a set that is there is there as a whole."""
    store = place / "store"
    sealed = good("set", "list", "--store", f"file:{store}", "--json").json["sets"]
    for one in sealed:
        good("set", "verify", f"set:{one['set']}", "--store", f"file:{store}")
    return sorted(one["set"] for one in sealed)


def states(place: Path) -> list:
    return [kept_files(place), sorted(json.loads(path.read_text())["state"] for path in place.rglob("retired/*.json")), sorted(path.name for path in place.rglob("*.whl"))]


@pytest.fixture
def old_runs(packages, next_packages, tmp_path) -> tuple[Path, Path]:
    """Run 1 is in `staging`, run 2 in no channel; and the rules."""
    publish(packages, tmp_path / "before/store", "1", "--channel", "staging")
    publish(next_packages, tmp_path / "before/store", "2")
    rules = tmp_path / "rules.toml"
    rules.write_text(AT_ONCE)
    return tmp_path / "before", rules


def test_retention_tombstones(old_runs, tmp_path):
    before, rules = old_runs
    check(Move(before, ["retain", "apply", "--rules", rules], ("staging",), facts=states, visible=kept_files), tmp_path)


def test_retention_purges(old_runs, tmp_path):
    before, rules = old_runs
    good("retain", "apply", "--rules", rules, "--store", f"file:{before / 'store'}")
    (record,) = before.rglob("retired/*.json")
    said = json.loads(record.read_text())
    record.write_text(json.dumps(said | {"until": "2020-01-01T00:00:00.000000Z"}, sort_keys=True, separators=(",", ":")))
    check(Move(before, ["retain", "apply", "--rules", rules], ("staging",), facts=states, visible=kept_files), tmp_path)


def records_in(place: Path) -> list[str]:
    return sorted(str(path.relative_to(place)) for kind in ("views", "ledger", "sets", "gc") for path in (place / "store" / kind).rglob("*") if path.is_file())


def test_gc(store_of, tmp_path):
    before = store_of()
    for name in ("views", "ledger", "sets"):  # what a killed job leaves: nothing names it
        junk = json.dumps({"name": name}).encode()
        (before / f"store/{name}/{hashlib.sha256(junk).hexdigest()}.json").write_bytes(junk)
    good("gc", "--grace", "0s", "--store", f"file:{before / 'store'}")
    check(Move(before, ["gc", "--grace", "0s"], ("staging",), facts=records_in), tmp_path)


def test_prune(store_of, tmp_path):
    before = store_of(("rollback", "staging", *REASON), ("rollback", "staging", "--to", "2", *REASON))
    check(Move(before, ["channel", "prune", "staging", "--keep", "2", *REASON], ("staging",)), tmp_path)
