"""`set check`, rule profiles, suppressions and `wheel diff`, on packages made here; closure is compared with uv."""

from __future__ import annotations

import json
import random
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import distributions, static_server  # noqa: E402
from support.clients import client  # noqa: E402
from support.foreign_index import Index  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402
from support.usual import LONG  # noqa: E402

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def broken(tmp_path) -> Path:
    """A set whose torch wants another triton than the one that was built with it."""
    dist = tmp_path / "dist"
    dist.mkdir()
    distributions.wheel(dist, "torch", "2.10.0", requires=("triton==3.6.0", "numpy>=1.2"))
    distributions.wheel(dist, "triton", "3.5.1")
    return dist


def findings(*words, code: int = 1) -> list[dict]:
    done = quarry("set", "check", *words, "--json")
    assert done.code == code, done.out + done.err
    return done.json["findings"]


def codes(found: list[dict]) -> list[str]:
    return sorted(one["code"] for one in found)


def test_every_gap_is_told_at_once(broken):
    found = findings(broken)
    assert codes(found) == ["Q401", "Q402"]
    assert "the set has 3.5.1" in next(one["message"] for one in found if one["code"] == "Q402")
    assert codes(findings(broken, "--allow-missing", "numpy")) == ["Q402"]


def test_a_sealed_set_says_the_same_as_its_directory(broken, tmp_path):
    store = f"file:{tmp_path}/store"
    good("publish", broken, "--store", store, "--run-id", "1", "--platform", "linux")
    expected = [(one["code"], one["message"]) for one in findings(broken)]
    assert [(one["code"], one["message"]) for one in findings("run:1", "--store", store)] == expected
    refused("Q006", 2, "set", "check", "run:1")


def test_the_base_index_of_a_store(broken, tmp_path):
    refused("U003", 3, "set", "check", broken, "--base-index", f"file:{broken}")


def test_publish_warns_and_a_release_is_refused(broken, tmp_path):
    words = ["publish", broken, "--store", f"file:{tmp_path}/store", "--run-id", "1", "--platform", "linux"]
    done = refused("P091", 1, *words, "--profile", "release")
    assert "Q402" in done.err and "Q401" in done.err and not (tmp_path / "store").exists()
    notes = good(*words, "--json").json["notes"]
    assert [(one["code"], one["severity"]) for one in notes] == [("Q402", "warning")]


def test_publish_takes_what_a_resolver_cannot_judge(tmp_path):
    dist = tmp_path / "dist"
    distributions.wheel_of(dist, "odd", "1.0", files={"odd.py": ""}, metadata=["Requires-Dist: ???"], metadata_version="1.2")
    distributions.wheel_of(dist, "old", "1.0", files={"old.py": ""}, tag="cp36-cp36m-linux_x86_64")
    notes = good("publish", dist, "--store", f"file:{tmp_path}/store", "--run-id", "1", "--platform", "linux", "--json").json["notes"]
    assert {"Q408", "Q409"} <= {one["code"] for one in notes}, notes
    assert {"Q408", "Q409"} <= set(codes(findings(dist)))


def test_a_release_that_keeps_its_promises(tmp_path):
    dist = tmp_path / "dist"
    dist.mkdir()
    distributions.wheel(dist, "demo", "1.0")
    done = good("publish", dist, "--store", f"file:{tmp_path}/store", "--run-id", "1", "--platform", "linux", "--profile", "release", "--json")
    assert [one for one in done.json["notes"] if one["severity"] != "note"] == []


def test_wheels_that_compete(tmp_path):
    dist = tmp_path / "dist"
    for tag in ("cp312-cp312-linux_x86_64", "cp312-cp312-manylinux_2_28_x86_64"):
        distributions.wheel_of(dist, "demo", "1.0", files={"demo.py": ""}, tag=tag)
    assert codes(findings(dist)) == ["Q242"]
    distributions.wheel_of(dist, "demo", "1.0.0", files={"demo.py": ""}, tag="cp312-cp312-manylinux_2_28_x86_64")
    assert "Q241" in codes(findings(dist))


def test_the_last_good_set_budgets_and_claims(tmp_path):
    before, now = tmp_path / "before", tmp_path / "now"
    before.mkdir(), now.mkdir()
    distributions.wheel(before, "torch", "2.10.0+rocm7", payload=bytes(range(256)) * 64)
    distributions.wheel(before, "gone", "1.0")
    distributions.wheel(now, "torch", "2.10.0+rocm10")
    assert codes(findings(now, "--against", before)) == ["Q421", "Q423", "Q424"]
    assert findings(before, "--against", before, code=0) == []
    assert codes(findings(before, "--budget", "100B", "--budget", "torch=1kB")) == ["Q422", "Q422"]
    refused("C006", 2, "set", "check", now, "--budget", "much")
    claims = tmp_path / "claims.toml"
    claims.write_text('schema = "quarry.claims/1"\nfiles = ["torch-*", "vision-*"]\npythons = ["3.12"]\nprojects = ["torch"]\ntargets = ["gfx942"]\n')
    assert codes(findings(now, "--claims", claims)) == ["Q431", "Q432", "Q433"]
    claims.write_text('schema = "quarry.claims/1"\nfile = ["torch-*"]\n')
    refused("Q434", 2, "set", "check", now, "--claims", claims)


def test_publish_asks_for_what_was_expected(tmp_path):
    """--against, --budget and --claims mean what they mean for `set check`: told in profile store, refused in release."""
    before, now, store = tmp_path / "before", tmp_path / "now", ("--store", f"file:{tmp_path}/store", "--platform", "linux")
    before.mkdir(), now.mkdir()
    distributions.wheel(before, "torch", "2.10.0+rocm7", payload=bytes(range(256)) * 64)
    distributions.wheel(before, "gone", "1.0")
    distributions.wheel(now, "torch", "2.10.0+rocm10")
    good("publish", before, *store, "--run-id", "1", "--channel", "stable")
    claims = tmp_path / "claims.toml"
    claims.write_text('schema = "quarry.claims/1"\nfiles = ["torch-*", "vision-*"]\ntargets = ["gfx942"]\n')
    asked = ("--against", "channel:stable", "--budget", "torch=100B", "--claims", claims)
    expected = ["Q421", "Q422", "Q423", "Q424", "Q431", "Q433"]
    assert codes(findings(now, *store[:2], *asked)) == expected
    done = refused("P091", 1, "publish", now, *store, "--run-id", "2", *asked, "--profile", "release")
    assert all(code in done.err for code in expected)
    notes = good("publish", now, *store, "--run-id", "2", *asked, "--json").json["notes"]
    assert codes(notes) == expected and {one["severity"] for one in notes} == {"warning"}
    kept = good("publish", before, *store, "--run-id", "3", "--against", "run:1-linux", "--budget", "1MB", "--profile", "release", "--json").json["notes"]
    assert not [one for one in kept if one["code"].startswith("Q4")], kept
    refused("C006", 2, "publish", now, *store, "--run-id", "4", "--budget", "much")
    refused("Q434", 2, "publish", now, *store, "--run-id", "4", "--claims", tmp_path / "now" / next(now.iterdir()).name)


def test_publish_compares_versions_with_those_of_the_channel(tmp_path):
    """Without --against: a version that sorts below what the channel shows is told in profile store, and refused in release."""
    store = ("--store", f"file:{tmp_path}/store", "--platform", "linux", "--channel", "stable")
    for version in ("2.10.0+rocm7", "2.10.0+rocm10", "2.11.0+rocm10"):
        (tmp_path / version).mkdir()
        distributions.wheel(tmp_path / version, "torch", version)
    shown, below, above = tmp_path / "2.10.0+rocm7", tmp_path / "2.10.0+rocm10", tmp_path / "2.11.0+rocm10"
    notes = lambda directory, run, *more: [one for one in good("publish", directory, *store, "--run-id", run, "--json", *more).json["notes"] if one["code"] == "Q421"]  # noqa: E731
    assert notes(shown, "1") == []
    done = refused("P091", 1, "publish", below, *store, "--run-id", "2", "--profile", "release")
    assert "torch 2.10.0+rocm10 sorts below 2.10.0+rocm7 of channel stable" in done.err
    assert [one["severity"] for one in notes(below, "2")] == ["warning"]
    assert notes(below, "3", "--against", "run:2-linux") == []
    assert notes(shown, "1") == [] and notes(above, "4") == []


def test_one_file_name_with_different_bytes(tmp_path):
    """The first operand's file is judged, and the other one is told: a store would keep one of them."""
    places = [tmp_path / name for name in "abcd"]
    for place, payload in zip(places, (b"x", b"x", b"y", b"long")):
        place.mkdir()
        distributions.wheel(place, "demo", "1.0", payload=payload)
    assert findings(places[0], places[1], code=0) == []
    for other in places[2:]:
        found = findings(places[0], other)
        assert codes(found) == ["Q437"] and str(other) in found[0]["message"]
    good("publish", places[0], "--store", f"file:{tmp_path}/store", "--run-id", "1", "--platform", "linux")
    store = ("--store", f"file:{tmp_path}/store")
    assert findings("run:1-linux", places[1], *store, code=0) == []
    assert codes(findings(places[2], "run:1-linux", *store)) == ["Q437"]
    document = quarry("set", "check", places[0], places[2], "--json").json
    assert len(document["packages"]) == 1


def suppressions(place: Path, until: str, code: str = "Q402") -> Path:
    path = place / "accepted.toml"
    path.write_text(f'schema = "quarry.suppressions/1"\n[[suppress]]\ncode = "{code}"\nplace = "torch-*"\nreason = "known"\nowner = "us"\nuntil = "{until}"\n')
    return path


def test_suppressions_end_and_must_fit(broken, tmp_path):
    done = quarry("set", "check", broken, "--suppressions", suppressions(tmp_path, "2999-01-01"), "--json")
    assert codes(done.json["findings"]) == ["Q401"] and done.json["suppressed"][0]["owner"] == "us"
    assert codes(findings(broken, "--suppressions", suppressions(tmp_path, "2020-01-01"))) == ["Q251", "Q401", "Q402"]
    assert codes(findings(broken, "--suppressions", suppressions(tmp_path, "2999-01-01", "Q411"))) == ["Q252", "Q401", "Q402"]
    refused("Q011", 2, "set", "check", broken, "--suppressions", suppressions(tmp_path, "soon"))
    done = refused("Q011", 2, "set", "check", broken, "--suppressions", suppressions(tmp_path, "2999-01-01", "Q498"))
    assert "accepted.toml:3: suppress.code: Q498 does not exist" in done.err
    refused("Q013", 3, "set", "check", broken, "--profile", "max")
    refused("C006", 2, "set", "check", broken, "--profile", "")
    refused("C006", 2, "publish", broken, "--store", f"file:{tmp_path}/store", "--channel", "")


def test_one_file_of_suppressions_serves_several_commands(broken, tmp_path):
    accepted = suppressions(tmp_path, "2999-01-01", "Q411")
    done = quarry("wheel", "check", broken, "--suppressions", accepted, "--json").json
    assert "Q252" not in codes(done["findings"])  # `wheel check` has no such rule
    accepted.write_text(accepted.read_text().replace("Q411", "G104"))
    assert "Q252" not in codes(quarry("wheel", "check", broken, "--suppressions", accepted, "--json").json["findings"])
    family = ("--amdgpu-family", "gfx120X-all")
    assert "Q252" in codes(quarry("wheel", "check", broken, "--suppressions", accepted, *family, "--json").json["findings"])
    accepted.write_text(accepted.read_text().replace("G104", "Q402").replace("torch-*", "*/torch*"))
    done = quarry("set", "check", broken, "--suppressions", accepted)
    assert "this run has 1 of Q402, such as torch-2.10.0-py3-none-any.whl" in done.err and 'place = "torch-2.10.0-py3-none-any.whl"' in done.err


def test_a_baseline_hides_what_was_known(broken, tmp_path):
    baseline = tmp_path / "baseline.json"
    baseline.write_text(quarry("set", "check", broken, "--json").out)
    done = good("set", "check", broken, "--baseline", baseline, "--json").json
    assert done["findings"] == [] and done["known"] == 2
    for text in ("[]", "[1", '{"schema": "quarry.set-check/1"}', '{"findings": []}', '{"schema": "quarry.set-check/2", "findings": []}', '{"schema": "quarry.set-check/1", "findings": [{"code": 1}]}'):
        baseline.write_text(text)
        refused("Q012", 6, "set", "check", broken, "--baseline", baseline)
    baseline.write_text(quarry("wheel", "check", broken, "--json").out)
    done = refused("Q012", 6, "set", "check", broken, "--baseline", baseline)
    assert "it is a quarry.wheel-check/1 document, not quarry.set-check/1" in done.err


def test_files_of_rules_are_read_before_the_packages(broken, tmp_path):
    """`wheel check` of a large set takes minutes, so a mistyped file is refused before."""
    (broken / "damaged-1.0-py3-none-any.whl").write_bytes(b"not a zip archive")
    (tmp_path / "rules.toml").write_text("x\n")
    for command in ("set", "wheel"):
        assert quarry(command, "check", broken).code == 6 or command == "wheel"
        refused("Q011", 2, command, "check", broken, "--suppressions", tmp_path / "rules.toml")
        refused("Q012", 6, command, "check", broken, "--baseline", tmp_path / "rules.toml")
        refused("Q013", 3, command, "check", broken, "--profile", "none")


def test_two_documents_at_once_are_refused(broken):
    for form in ("sarif", "github", "junit"):
        assert f"--json and --format {form} ask for two documents" in refused("C042", 2, "set", "check", broken, "--json", "--format", form).err


def test_formats(broken, tmp_path):
    summary = tmp_path / "summary"
    github = quarry("set", "check", broken, "--format", "github", environment=clean_environment(GITHUB_STEP_SUMMARY=str(summary)))
    assert github.code == 1 and "::error file=torch-2.10.0-py3-none-any.whl,line=1,col=1,title=Q402::" in github.out
    assert "| Q401 | error |" in summary.read_text() and "<br>fix: " in summary.read_text()
    assert "%0A" in github.out  # each annotation says what to do
    github = quarry("set", "check", broken, "--format", "github", "--suppressions", suppressions(tmp_path, "2020-01-01"))
    assert f"::error file={tmp_path}/accepted.toml,line=2,col=1,title=Q251::" in github.out
    sarif = json.loads(quarry("set", "check", broken, "--format", "sarif").out)
    assert sarif["version"] == "2.1.0" and {rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]} == {"Q401", "Q402"}
    assert all(rule[text]["text"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"] for text in ("shortDescription", "fullDescription", "help"))
    suite = ElementTree.fromstring(quarry("wheel", "check", broken, "--format", "junit").out.encode())[0]
    assert suite.get("failures") == str(sum(1 for case in suite if case.find("failure") is not None))
    suite = ElementTree.fromstring(quarry("set", "check", broken, "--format", "junit").out.encode())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert json.loads(quarry("set", "check", broken, "--format", "json").out)["schema"] == "quarry.set-check/1"
    assert good("set", "check", broken, "--profile", "store").out.strip() == "2 packages: 0 errors, 2 warnings"


def test_annotations_beyond_ten_are_counted(tmp_path):
    place = tmp_path / "set"
    place.mkdir()
    for i in range(13):
        distributions.wheel(place, f"part{i}", "1.0", requires=("missing",))
    summary = tmp_path / "summary"
    shown = quarry("set", "check", place, "--format", "github", environment=clean_environment(GITHUB_STEP_SUMMARY=str(summary))).out
    assert shown.count("::error ") == 10 and "3 more: in the step summary" in shown
    assert summary.read_text().count("| Q401 | error |") == 13
    assert "3 more: shown with `--format text`" in quarry("set", "check", place, "--format", "github", environment=clean_environment()).out


def test_what_two_wheels_differ_in(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.mkdir(), b.mkdir()
    first = distributions.wheel(a, "demo", "1.0")
    second = distributions.wheel(b, "demo", "1.1", payload=b"x" * 4096, requires=("numpy",))
    done = quarry("wheel", "diff", first, second, "--json")
    assert done.code == 1
    changes = {one["file"]: one for one in done.json["size_changes"]}
    assert changes["demo_payload.txt"]["added"] and changes["demo_payload.txt"]["installed"] == 8192
    places = {one["place"] for one in done.json["package"]["differences"]}
    assert {"demo_payload.txt", "metadata:Requires-Dist"} <= places
    assert done.json["download_bytes"]["right"] == second.stat().st_size
    assert good("wheel", "diff", first, first).code == 0
    assert "new file" in quarry("wheel", "diff", first, second).out
    refused("W022", 2, "wheel", "diff", first, distributions.sdist(b, "other", "1.0"))


def test_a_defect_does_not_hide_the_difference(tmp_path):
    """As of the wheels of another tool whose RECORD names other sizes; a broken archive stops it."""
    a, b = tmp_path / "a", tmp_path / "b"
    a.mkdir(), b.mkdir()
    first = distributions.wheel(a, "demo", "1.0", payload=b"x" * 100)
    second = b / first.name
    with zipfile.ZipFile(first) as old, zipfile.ZipFile(second, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, b"y" * 300 if name == "demo_payload.txt" else old.read(name))
    done = quarry("wheel", "diff", first, second, "--json")
    assert done.code == 1 and {one["code"] for one in done.json["findings"]} == {"W003"}
    assert "error[W003]" in quarry("wheel", "diff", first, second).err
    assert [one["file"] for one in done.json["size_changes"]] == ["demo_payload.txt"]
    assert [one["place"] for one in done.json["package"]["differences"]] == ["demo_payload.txt"]
    second.write_bytes(second.read_bytes()[:-40])
    refused("W010", 6, "wheel", "diff", first, second)


def random_set(dist: Path, base: Index, seed: int) -> dict[str, str]:
    """Five packages of a set over four dependencies of an index; now and then something does not fit. Returns the set's versions."""
    chance = random.Random(seed)
    dist.mkdir()
    own, others = [f"own{i}" for i in range(5)], [f"lib{i}" for i in range(4)]
    versions = {name: f"{chance.randint(1, 3)}.{chance.randint(0, 2)}" for name in own}
    for name in others:
        for version in chance.sample(["1.0", "1.5", "2.0", "3.0"], chance.randint(1, 3)):
            later = [other for other in others if other > name]
            wanted = chance.sample(later, chance.randint(0, min(1, len(later))))
            base.wheel(name, version, requires=tuple(f"{other}{chance.choice(['', '>=1.5', '<2', '!=1.0', '~=1.0'])}" for other in wanted))
    base.publish()
    for name, version in versions.items():
        rest = [each for each in own if each != name]
        requires = [f"{other}{chance.choice(['', '>=1', '==' + versions[other], '<3', '!=9'])}" for other in chance.sample(rest, chance.randint(0, 2))]
        requires += [f"{other}{chance.choice(['', '>=1', '<2', '>=1.5', '==1.*', '>1.0,<3'])}" for other in chance.sample(others, chance.randint(0, 2))]
        requires += [f"lib0{chance.choice(['<2', '>=2'])}; extra == 'more'"] if chance.random() < 0.3 else []
        requires += ["nowhere; python_version < '3'"] if chance.random() < 0.5 else []
        distributions.wheel(dist, name, version, requires=tuple(requires), extras=("more",))
    return versions


def installable(wanted: str, places: list[Path], scratch: Path) -> bool:
    """What uv says."""
    scratch.write_text(wanted + "\n")
    links = [word for place in places for word in ("--find-links", place)]
    ended = client("uv").run("pip", "compile", scratch, "--no-build", "--no-index", "--python-version", PYTHON, *links)
    assert ended.returncode == 0 or "No solution found" in ended.stderr, ended.stderr
    return ended.returncode == 0


@pytest.mark.parametrize("seed", range(14 if LONG else 7))
def test_closure_agrees_with_uv(seed, tmp_path):
    """uv resolves each package, alone and with its extra, from the same files: the set is closed if and only if each of them can be had."""
    base = Index(tmp_path / "base")
    versions = random_set(tmp_path / "dist", base, seed)
    places = [tmp_path / "dist", base.root / "files"]
    expected = {f"{name}{extra}": installable(f"{name}{extra}=={version}", places, tmp_path / "wanted.txt") for name, version in versions.items() for extra in ("", "[more]")}
    with static_server.serve(base.root) as (url, _):
        done = quarry("set", "check", tmp_path / "dist", "--python", PYTHON, "--base-index", f"{url}/simple/", "--json", environment=clean_environment(NO_PROXY="127.0.0.1"))
    gaps = [one["message"] for one in done.json["findings"] if one["code"] in ("Q401", "Q402", "Q403", "Q404", "Q405")]
    assert (done.code == 0) == (not gaps) and (not gaps) == all(expected.values()), (expected, gaps)


def test_the_generated_sets_are_of_both_kinds(tmp_path):
    """Otherwise the comparison would compare nothing."""
    closed = []
    for seed in range(14):
        base = Index(tmp_path / f"base{seed}")
        random_set(tmp_path / f"dist{seed}", base, seed)
        with static_server.serve(base.root) as (url, _):
            closed.append(quarry("set", "check", tmp_path / f"dist{seed}", "--python", PYTHON, "--base-index", f"{url}/simple/", environment=clean_environment(NO_PROXY="127.0.0.1")).code == 0)
    assert 3 <= sum(closed) <= 11, closed


def test_two_projects_that_install_one_file(tmp_path):
    """In a directory, in a store here or far away, and at `publish`: told in profile store, refused in release."""
    dist, store = tmp_path / "dist", f"file:{tmp_path}/store"
    distributions.wheel_of(dist, "one", "1.0", files={"both/lib.so": "first", "both/__init__.py": "", "one/a.py": ""})
    distributions.wheel_of(dist, "two", "1.0", files={"both/lib.so": "other", "both/__init__.py": "", "two/a.py": ""})
    expected = "one-1.0-py3-none-any.whl also installs both/lib.so, with other bytes"
    found = findings(dist)
    assert [(one["code"], one["severity"], one["place"], one["message"]) for one in found] == [("Q438", "error", "two-1.0-py3-none-any.whl", expected)]
    publish = ("publish", dist, "--store", store, "--run-id", "1", "--platform", "linux")
    assert expected in refused("P091", 1, *publish, "--profile", "release", "--allow-missing", "*").err
    assert expected in good(*publish).err
    assert [one["message"] for one in findings("run:1-linux", "--store", store)] == [expected]
    with static_server.serve(tmp_path / "store") as (url, _):
        far = quarry("set", "check", f"set:{next((tmp_path / 'store/sets').glob('*.json')).stem}", "--store", url, "--json", environment=clean_environment(NO_PROXY="127.0.0.1", QUARRY_ALLOW_PLAIN_HTTP="1"))
    assert [one["message"] for one in far.json["findings"]] == [expected]
    # The same bytes are a note, which stops nobody.
    distributions.wheel_of(dist, "two", "1.0", files={"both/__init__.py": "", "two/a.py": ""})
    assert [(one["code"], one["severity"]) for one in findings(dist, code=0)] == [("Q438", "note")]
