"""What a store holds, and how a wrong store, name or locator is refused."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support.distributions import wheel  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two runs in channel staging, the first one also in channel stable."""
    root = tmp_path_factory.mktemp("listing")
    locator = f"file:{root / 'store'}"
    for run, version in (("42", "1.0"), ("43", "1.1")):
        packages = root / run
        packages.mkdir()
        wheel(packages, "demo", version)
        good("publish", packages, "--store", locator, "--run-id", run, "--platform", "linux", "--channel", "staging")
    good("publish", root / "42", "--store", locator, "--run-id", "42", "--platform", "linux", "--channel", "stable")
    return locator


def test_channels_are_listed(store: str):
    channels = good("channel", "list", "--store", store, "--json").json["channels"]
    assert [(c["name"], c["generation"], len(c["sets"])) for c in channels] == [("stable", 1, 1), ("staging", 2, 2)]
    text = good("channel", "list", "--store", store).out.splitlines()
    assert re.match(r"channel +generation +sets +projects +moved", text[0])
    assert re.match(r"stable +1 +1 +1 +20\d\d-.*Z  publish", text[1])


def test_sets_are_listed_newest_first(store: str):
    sets = good("set", "list", "--store", store, "--json").json["sets"]
    assert [(s["package"], s["run_id"], s["channels"]) for s in sets] == [("demo 1.1", "43", ["staging"]), ("demo 1.0", "42", ["stable", "staging"])]
    only = good("set", "list", "--store", store, "--channel", "stable", "--json").json["sets"]
    assert [s["package"] for s in only] == ["demo 1.0"]
    line = good("set", "list", "--store", store).out.splitlines()[1]
    locator = line.split()[0]
    assert good("set", "show", locator, "--store", store, "--json").json["sets"][0]["set"] == sets[0]["set"], "it can be pasted"


def test_runs_are_listed(store: str):
    runs = good("run", "list", "--store", store, "--json").json["runs"]
    assert sorted((r["run"], r["kinds"]) for r in runs) == [("run:42-linux", ["packages"]), ("run:43-linux", ["packages"])]
    locator = good("run", "list", "--store", store).out.splitlines()[1].split()[0]
    good("set", "show", locator, "--store", store)


def test_all_sets_of_a_channel_are_judged(tmp_path: Path):
    """An old set is installed, too: 17 of them, and what is wrong with the newest comes first."""
    at = ("--store", f"file:{tmp_path}/store")
    for number in range(17):
        packages = tmp_path / str(number)
        packages.mkdir()
        wheel(packages, "demo", f"1.{number}")
        good("publish", packages, *at, "--run-id", str(number + 1), "--platform", "linux", "--channel", "staging")
    (channel,) = good("status", *at, "--json").json["channels"]
    shown = channel["untested"]
    assert (channel["sets"], channel["sets_judged"]) == (17, 17) and len({one["set"] for one in shown}) == 17
    newest = good("set", "list", *at, "--json").json["sets"][0]["set"]
    assert shown[0]["set"] == newest
    text = good("status", *at).out
    assert "were judged" not in text and f"set:{newest[:12]}" in text.splitlines()[1]


def test_one_damaged_channel_does_not_hide_the_others(store: str, tmp_path: Path):
    copy = tmp_path / "store"
    shutil.copytree(store.removeprefix("file:"), copy)
    (copy / "channels/stable.json").write_text("{}")
    for command, of_stable in ((("channel", "list"), 0), (("set", "list"), 2)):
        done = quarry(*command, "--store", f"file:{copy}", "--json")
        assert done.code == 6
        (note,) = done.json["notes"]
        assert (note["code"], note["place"]) == ("B003", "channels/stable.json") and "from a copy" in note["fix"]
        assert "staging" in done.out and len(done.json.get("sets", [])) == of_stable
    done = quarry("status", "--store", f"file:{copy}", "--json")
    assert done.code == 6
    status = done.json
    assert [note["place"] for note in status["notes"]] == ["channels/stable.json"]
    assert [channel["name"] for channel in status["channels"]] == ["staging"]
    assert "restore channels/stable.json from a copy" in refused("B003", 6, "gc", "--store", f"file:{copy}").err
    assert "error[B003]" in refused("B003", 6, "status", "stable", "--store", f"file:{copy}").err


def test_a_lost_move_does_not_hide_what_a_channel_shows(store: str, tmp_path: Path):
    copy = tmp_path / "store"
    shutil.copytree(store.removeprefix("file:"), copy)
    shutil.rmtree(copy / "ledger")
    done = good("set", "list", "--channel", "stable", "--store", f"file:{copy}", "--json")
    assert done.json["sets"] and not done.json["notes"]


def test_one_damaged_set_does_not_hide_the_others(store: str, tmp_path: Path):
    copy = tmp_path / "store"
    shutil.copytree(store.removeprefix("file:"), copy)
    damaged = next(copy.glob("sets/*.json"))
    damaged.write_text(damaged.read_text() + " ")
    done = quarry("set", "list", "--store", f"file:{copy}", "--json")
    assert done.code == 6 and len(done.json["sets"]) == 1
    assert [(note["code"], note["place"]) for note in done.json["notes"]] == [("R011", f"sets/{damaged.name}")]


def test_an_empty_store_is_not_an_error(tmp_path: Path):
    for noun in ("channel", "set", "run"):
        done = good(noun, "list", "--store", f"file:{tmp_path}")
        assert not done.out and " has no " in done.err


READERS = [
    ("channel", "list"),
    ("channel", "show", "stable"),
    ("channel", "log", "stable"),
    ("set", "list"),
    ("set", "show", "channel:stable"),
    ("set", "verify", "run:42"),
    ("set", "adopt", "run:42"),
    ("set", "diff", "run:42", "run:43"),
    ("run", "list"),
    ("evidence", "list"),
    ("evidence", "show", "0123456789ab"),
    ("gate", "--from", "channel:staging", "--to", "stable"),
    ("promote", "--from", "channel:staging", "--to", "stable", "--policy", "default"),
    ("rollback", "stable"),
    ("venv", "install", "v", "--from", "channel:stable", "--packages", "rocm"),
    ("index", "check", "channel:stable"),
    ("index", "repair", "channel:stable"),
    ("index", "rebuild", "run:42"),
    ("artifact", "list", "run:42"),
    ("artifact", "fetch", "--from", "run:42", "--output-dir", "o"),
    ("gc",),
]


@pytest.mark.parametrize("words", READERS, ids=lambda words: " ".join(words[:2]))
def test_a_store_that_does_not_exist_is_not_an_empty_one(words: tuple[str, ...], tmp_path: Path):
    done = refused("C050", 3, *words, "--store", "file:nowhere", cwd=tmp_path)
    assert f"there is no store at {tmp_path}/nowhere" in done.err
    assert not any(tmp_path.iterdir()), "nothing was created"


def test_a_file_is_not_a_store(tmp_path: Path):
    (tmp_path / "store").write_text("x")
    assert "is not a directory" in refused("R006", 2, "channel", "list", "--store", f"file:{tmp_path}/store").err


def test_a_source_outside_the_store_needs_no_store(tmp_path: Path):
    """QUARRY_STORE may name a store that the first publish will create."""
    done = quarry("venv", "install", tmp_path / "v", "--from", tmp_path / "nothing", "--packages", "demo", "--store", f"file:{tmp_path}/store")
    assert "C050" not in done.err and "V008" in done.err


@pytest.mark.parametrize(("more", "code", "exit_code"), [
    (("--channel", "Stable"), "R016", 2),
    (("--artifact-group", "gfx103X dgpu"), "L020", 2),
    (("--artifact-group", "simple"), "L020", 2),
    (("--external-repo", "a b"), "L020", 2),
    (("--store", "https://example.com/store"), "R030", 2),
])  # fmt: skip
def test_wrong_names_are_refused_before_packages_are_read(more: tuple[str, ...], code: str, exit_code: int, tmp_path: Path):
    (tmp_path / "broken-1.0-py3-none-any.whl").write_bytes(b"reading this would be another error")
    store = () if "--store" in more else ("--store", f"file:{tmp_path}/store")
    done = quarry("publish", tmp_path, "--run-id", "1", "--platform", "linux", *more, *store)
    assert f"[{code}]" in done.err and done.code != 6, done.err
    assert code == "R030" or done.code == exit_code


@pytest.mark.parametrize("place", ["/proc/quarry-store", "/proc/1/quarry/store", "/dev/null/store"])
def test_a_store_that_cannot_be_written_is_refused_before_packages_are_read(place: str, tmp_path: Path):
    (tmp_path / "broken-1.0-py3-none-any.whl").write_bytes(b"reading this would be another error")
    done = quarry("publish", tmp_path, "--run-id", "1", "--platform", "linux", "--store", f"file:{place}")
    assert done.code not in (0, 6) and "broken" not in done.err, done.err
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/a.log").write_text("x")
    assert quarry("run", "upload", tmp_path, "--run-id", "1", "--platform", "linux", "--store", f"file:{place}").code not in (0, 6)


@pytest.mark.parametrize(("words", "meant"), [
    (("set", "show", "staging"), "channel:staging"),
    (("set", "show", "43"), "run:43"),
    (("set", "show", "43-linux"), "run:43-linux"),
    (("set", "show", "0e66efc9cb8b"), "set:0e66efc9cb8b"),
    (("gate", "--to", "stable", "--from", "43"), "run:43"),
    (("promote", "--to", "stable", "--policy", "default", "--from", "staging"), "channel:staging"),
    (("venv", "install", "v", "--packages", "demo", "--from", "staging"), "channel:staging"),
    (("set", "diff", "staging", "stable"), "channel:staging"),
    (("artifact", "list", "43"), "run:43"),
])  # fmt: skip
def test_a_bare_word_gets_the_locator_that_was_meant(words: tuple[str, ...], meant: str, store: str, tmp_path: Path):
    done = quarry(*words, "--store", store, cwd=tmp_path)
    assert done.code in (2, 3)
    assert f"hint: did you mean `{meant}`" in done.err, done.err
    assert "promote" not in done.err.split("hint:")[0] or words[0] == "promote"


def test_the_store_decides_what_a_bare_word_means(store: str, tmp_path: Path):
    digest = good("set", "list", "--store", store, "--json").json["sets"][0]["set"][:12]
    hint = refused("P012", 2, "set", "show", digest, "--store", store, cwd=tmp_path).err
    assert f"did you mean `set:{digest}`?" in hint and "did you mean `channel:" not in hint and "or `channel:" not in hint
    done = refused("P012", 2, "promote", "--to", "stable", "--from", "nowhere", "--store", store, cwd=tmp_path)
    assert "`nowhere` is not a locator" in done.err and "did you mean" not in done.err and "set:DIGEST" in done.err


def test_a_directory_of_the_store_is_adopted_by_its_key(store: str, tmp_path: Path):
    for place in ("1-linux/python/g", "v2/x"):
        (tmp_path / "foreign" / place).mkdir(parents=True)
        wheel(tmp_path / "foreign" / place, "demo", "1.0")
    for place in ("1-linux/python/g", "1-linux/python/g/", "foreign/1-linux/python/g"):
        done = good("set", "adopt", place, "--store", "file:foreign", cwd=tmp_path)
        assert "sealed      set:" in done.out
    assert "(was sealed before)" in done.out
    done = good("set", "adopt", "v2/x", "--store", "file:foreign", cwd=tmp_path)
    assert "history     took over 1 file of other tools in v2/x" in done.out, done.out
    (tmp_path / "foreign/1-linux/logs").mkdir()
    refused("P001", 3, "set", "adopt", "1-linux/logs", "--store", "file:foreign", cwd=tmp_path)
    refused("P012", 2, "set", "adopt", "v2/y", "--store", "file:foreign", cwd=tmp_path)


def test_a_waiver_warns_of_names_that_do_not_exist(store: str):
    words = ["waive", "--reason", "a test", "--approver", "demo", "--policy", "demo", "--store", store, "--any-set", "--dry-run"]
    done = good(*words, "--to", "stabel", "--family", "gfx999", "--expires", "12h", "--json")
    assert [note["place"] for note in done.json["notes"]] == ["--to", "--family"]
    done = good(*words, "--to", "stabel", "--family", "gfx999", "--expires", "12h")
    assert "warning[G008]" in done.err and "channel stabel does not exist" in done.err and "`stable`" in done.err
    assert good(*words, "--to", "stable", "--family", "gfx942", "--expires", "12h", "--json").json["notes"] == []
    more = [word for word in words if word != "--any-set"] + ["--set", "0" * 64, "--suite", "nosuch", "--platform", "solaris", "--python", "312"]
    notes = good(*more, "--to", "stable", "--expires", "12h", "--json").json["notes"]
    assert [note["place"] for note in notes] == ["--platform", "--python", "--suite", "--set"]
    assert "such as 7d" in refused("G004", 2, *words, "--to", "stable", "--family", "gfx942", "--expires", "7y").err


def test_a_name_with_a_slash_stays_a_path(store: str, tmp_path: Path):
    assert "did you mean" not in quarry("set", "show", "./staging", "--store", store, cwd=tmp_path).err


def test_channels_are_completed(store: str):
    environment = clean_environment(QUARRY_STORE=store)
    assert good("complete", "--", "channel", "show", "sta", environment=environment).out == f"stable\tchannel of {store}\nstaging\tchannel of {store}\n"
    assert good("complete", "--", "promote", "--from", "channel:stab", environment=environment).out.startswith("channel:stable\t")
    named = good("complete", "--", "channel", "show", "--store", store, "stag")
    assert named.out.startswith("staging\t")
    assert good("complete", "--", "channel", "show", "", environment=clean_environment(QUARRY_STORE="file:nowhere")).out == ""


def test_verbose_says_where_settings_come_from(store: str, tmp_path: Path):
    done = good("-v", "channel", "list", environment=clean_environment(QUARRY_STORE=store))
    assert f"trace: --store {store} from QUARRY_STORE" in done.err
    (tmp_path / "quarry.toml").write_text(f'store = "{store}"\n')
    done = good("channel", "list", "--verbose", cwd=tmp_path)
    assert f"trace: settings file {tmp_path}/quarry.toml" in done.err
    assert f"trace: --store {store} from {tmp_path}/quarry.toml:1" in done.err
    assert "trace:" not in good("channel", "list", "--store", store).err
    secret = quarry("-v", "channel", "list", environment=clean_environment(QUARRY_STORE="https://me:hunter2@localhost:1/"))
    assert "hunter2" not in secret.out + secret.err
