"""Sets that are released together: two families of one run, each with its own `rocm`, and one channel for each."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions, small_artifacts  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry, refused  # noqa: E402

FAMILIES = ("gfx103X-dgpu", "gfx94X-dcgpu")
CHANNELS = ("stable-gfx103x-dgpu", "stable-gfx94x-dcgpu")

POLICY = smoke_policy(suite="rocm-sdk")


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> dict[str, Path]:
    """Packages of two jobs, each with the artifacts of one family."""
    out = {}
    for family in FAMILIES:
        place = tmp_path_factory.mktemp(family)
        artifacts = small_artifacts.make(place, (family,))
        good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", place / "out", "--version", "7.2.0", "--profile", "ci")
        out[family] = place / "out"
    sdists = {(packages / "dist/rocm-7.2.0.tar.gz").read_bytes() for packages in out.values()}
    assert len(sdists) == 2, "the jobs of two families make two `rocm` of one name"
    return out


class Line:
    def __init__(self, store: Path, policy: Path) -> None:
        self.store, self.policy = store, policy

    def __call__(self, *words, code: int = 0, **options):
        done = quarry(*words, "--store", f"file:{self.store}", "--json", **options)
        assert done.code == code, done.out + done.err
        return done

    def publish(self, packages: Path, family: str, *more):
        return self("publish", packages, "--run-id", "42", "--platform", "linux", "--artifact-group", family, *more)

    def waive(self, channel: str, *more):
        return self("waive", "--to", channel, "--everything", "--reason", "test of moves", "--approver", "lead", "--expires", "1h", "--policy", self.policy, *more)

    def release(self, *more) -> str:
        words = [word for family in FAMILIES for word in ("--from", f"run:42-linux@{family}")]
        return "release:" + self("release", "create", *words, *more).json["release"]

    def promote(self, source: str, *more, code: int = 0):
        return self("promote", "--from", source, "--to", "stable-{family}", "--policy", self.policy, *more, code=code)

    def files(self, channel: str) -> dict[str, str]:
        return {file["filename"]: file["sha256"] for file in self("channel", "show", channel).json["files"]}


@pytest.fixture
def line(built, tmp_path) -> Line:
    policy = tmp_path / "own.toml"
    policy.write_text(POLICY)
    line = Line(tmp_path / "store", policy)
    for family, packages in built.items():
        line.publish(packages, family)
    return line


def test_a_run_of_two_families_is_named_by_group(line):
    both = quarry("gate", "--from", "run:42-linux", "--to", "stable", "--store", f"file:{line.store}")
    assert both.code == 7 and "R018" in both.err
    assert "run:42-linux@gfx103X-dgpu" in both.err and "quarry release create" in both.err
    one = line("gate", "--from", "run:42-linux@gfx94X-dcgpu", "--to", "stable", "--policy", line.policy, code=10).json
    assert {cell["cell"]["family"] for cell in one["cells"]} == {"gfx94X-dcgpu"}
    refused("R013", 3, "gate", "--from", "run:42-linux@gfx1151", "--to", "stable", "--store", f"file:{line.store}")
    refused("L002", 2, "gate", "--from", "run:42-linux@", "--to", "stable", "--store", f"file:{line.store}")
    refused("L009", 2, "set", "adopt", "run:42-linux@gfx94X-dcgpu", "--store", f"file:{line.store}")


def test_what_publish_prints_names_the_group(line, built):
    again = quarry("publish", built[FAMILIES[1]], "--store", f"file:{line.store}", "--run-id", "42", "--platform", "linux", "--artifact-group", FAMILIES[1])
    assert again.code == 0 and f"--from run:42-linux@{FAMILIES[1]} " in again.err, again.err


def test_one_family_of_a_run_is_installed_and_tested(line, tmp_path):
    words = ("--from", "run:42-linux@gfx94X-dcgpu", "--packages", "rocm[libraries,devel]")
    line("venv", "install", *BY_UV, tmp_path / "env", *words, environment=clean_environment(ROCM_SDK_TARGET_FAMILY="gfx94X-dcgpu"))
    tested = line("test", "--venv", tmp_path / "env").json
    assert tested["result"] == "passed" and tested["cell"]["family"] == "gfx94X-dcgpu"


def test_two_families_do_not_share_a_channel(line, built, tmp_path):
    line.publish(built[FAMILIES[0]], FAMILIES[0], "--channel", "nightly")
    said = refused("R023", 7, "publish", built[FAMILIES[1]], "--store", f"file:{line.store}", "--run-id", "43", "--platform", "linux", "--artifact-group", FAMILIES[1], "--channel", "nightly").err
    assert "gfx103X-dgpu" in said and "nightly" in said and "quarry release create" in said


def test_the_gate_refuses_what_a_promotion_would(line, built):
    words = [word for family in FAMILIES for word in ("--from", f"run:42-linux@{family}")]
    at = ("--store", f"file:{line.store}")
    said = good("release", "create", *words, "--name", "7.2.0", *at).err
    (gate,) = re.findall(r"^next: quarry (.*)$", said, re.MULTILINE)
    assert shlex.split(gate)[:5] == ["gate", "--to", "stable-{family}", "--from", shlex.split(gate)[4]], gate
    one = good("release", "create", *words[:2], *at).err
    assert "--to stable --from" in one, "one family goes to one channel"
    for channel in ("fresh", CHANNELS[1]):
        line.waive(channel)
        for command in ("gate", "promote"):
            said = refused("R023", 7, command, "--from", "release:7.2.0", "--to", channel, "--policy", line.policy, *at).err
            assert FAMILIES[0] in said and FAMILIES[1] in said and "another version" not in said
    # The same for what the channel shows already.
    line.publish(built[FAMILIES[0]], FAMILIES[0], "--channel", "nightly")
    refused("R023", 7, "gate", "--from", f"run:42-linux@{FAMILIES[1]}", "--to", "nightly", "--policy", line.policy, *at)


def test_a_release_moves_family_by_family(line):
    release = line.release("--name", "7.2.0")
    assert release == line.release("--name", "7.2.0"), "a release has no time and no author"
    held = line.promote(release, code=10).json
    assert held["held"] and [channel["channel"] for channel in held["channels"]] == list(CHANNELS)
    line.waive(CHANNELS[0])
    line.promote(release, code=10)
    assert line("channel", "list").json["channels"] == [], "one that is held holds all"
    line.waive(CHANNELS[1])

    planned = line.promote(release, "--dry-run").json
    assert line("channel", "list").json["channels"] == []
    assert "O002" in line.promote(release, "--execute", "0" * 64, code=7).err
    done = line.promote(release, "--execute", planned["plan"]).json
    assert all(channel["moved"] and channel["generation"] == 1 for channel in done["channels"])
    contents = [line.files(channel) for channel in CHANNELS]
    assert contents[0]["rocm-7.2.0.tar.gz"] != contents[1]["rocm-7.2.0.tar.gz"]
    assert all(any(family.lower().replace("-", "_") in name for name in files) for family, files in zip(FAMILIES, contents))

    again = line.promote(release, "--execute", planned["plan"]).json
    assert not any(channel["moved"] for channel in again["channels"]), "the same digest is done once"
    assert line("status", "--policy", line.policy).json["unfinished"] == []
    shown = line("release", "show", release).json
    assert [one["channels"] for one in shown["sets"]] in ([[CHANNELS[0]], [CHANNELS[1]]], [[CHANNELS[1]], [CHANNELS[0]]])
    notes = good("release", "notes", release, "--store", f"file:{line.store}").out
    assert notes.startswith("# 7.2.0\n") and "**waived**" in notes and "by lead: test of moves" in notes
    assert "| rocm-sdk-core | 7.2.0 | 2 |" in notes
    (waived,) = {one["waiver"] for one in line("channel", "show", CHANNELS[0]).json["waived"]}
    assert waived[:12] in notes
    assert "waived      " + waived[:12] in good("channel", "show", CHANNELS[0], "--store", f"file:{line.store}").out
    for page in ("index.html", "simple/rocm/index.html"):
        assert "lead waived every suite on linux" in (line.store / f"channels/{CHANNELS[0]}" / page).read_text(), page


def test_a_release_that_was_interrupted_is_completed(line):
    """The second channel loses its move, as if the run was killed between the two."""
    release = line.release()
    for channel in CHANNELS:
        line.waive(channel)
    plan = line.promote(release, "--dry-run").json["plan"]
    line.promote(release, "--execute", plan)
    (line.store / f"channels/{CHANNELS[1]}.json").unlink()
    shutil.rmtree(line.store / f"channels/{CHANNELS[1]}")
    (unfinished,) = line("status", "--policy", line.policy).json["unfinished"]
    assert unfinished["plan"] == plan and unfinished["moved"] == [CHANNELS[0]] and unfinished["waiting"] == [CHANNELS[1]]
    said = good("status", "--policy", line.policy, "--store", f"file:{line.store}").out
    assert f"{CHANNELS[1]} has not moved yet: plan {plan} of " in said
    (pasted,) = re.findall(r"^next: quarry (promote .*)$", quarry("status", "--policy", line.policy, "--store", f"file:{line.store}").err, re.MULTILINE)
    assert pasted.endswith(f" --execute {plan}") or f" --execute {plan} " in pasted, "a script gets the whole digest"
    assert "16 of the 64 digits" in line.promote(release, "--execute", plan[:16], code=2).err
    done = line.promote(release, "--execute", plan).json
    assert [channel["moved"] for channel in done["channels"]] == [False, True]
    assert line("status", "--policy", line.policy).json["unfinished"] == []


def test_a_release_expects_what_nobody_built(line, tmp_path):
    expect = tmp_path / "expect.toml"
    expect.write_text('platforms = ["linux"]\nfamilies = ["gfx103X-dgpu", "gfx1151"]\n')
    release = line.release("--expect", expect)
    assert line("release", "show", release).json["expect"]["families"] == ["gfx103X-dgpu", "gfx1151"]
    for words in (("--from", release), ("--from", "run:42-linux@gfx103X-dgpu", "--from", "run:42-linux@gfx94X-dcgpu", "--expect", expect)):
        judged = line("gate", *words, "--to", "stable-{family}", "--policy", line.policy, code=10).json
        missing = {cell["cell"]["family"] for cell in judged["cells"] if not cell["set"]}
        assert missing == {"gfx1151"}
    refused("O021", 2, "release", "create", "--store", f"file:{line.store}")
    refused("O020", 2, "gate", "--from", release, "--to", "stable-{python}", "--store", f"file:{line.store}")
    refused("O022", 2, "status", "--from", release, "--store", f"file:{line.store}")
    expect.write_text('platforms = ["linux"]\nfamilies = ["gfx1O3X-dgpu"]\n')
    told = line("release", "create", "--from", "run:42-linux@gfx103X-dgpu", "--expect", expect, "--dry-run").json["findings"]
    assert [one["code"] for one in told] == ["G008"]
    (tmp_path / "typo.toml").write_text('platforms = ["linux"]\nfamilys = ["gfx1151"]\n')
    refused("G002", 2, "gate", "--from", release, "--to", "stable", "--expect", tmp_path / "typo.toml", "--store", f"file:{line.store}")


def test_a_release_expects_a_framework_for_each_python(line, tmp_path):
    """The bound policy expects torch; it is missing for one Python, then it comes."""
    line.policy.write_text(POLICY.replace("[[require]]", '[expect]\nplatforms = ["linux"]\npythons = ["3.12", "3.13"]\nframeworks = ["torch"]\n[[require]]', 1).replace('"nothing_expected", ', ""))
    for channel in CHANNELS:
        line("channel", "protect", channel, "--policy", line.policy, "--reason", "test of moves")
    sets = []

    def publish(python: str) -> str:
        dist = tmp_path / f"torch-{python}"
        dist.mkdir()
        distributions.wheel_of(dist, "torch", "2.10.0", files={"torch.py": ""}, tag=f"{python}-{python}-linux_x86_64")
        return line("publish", dist, "--run-id", python[2:], "--platform", "linux").json["set"]

    def missing() -> list[tuple[str, str]]:
        release = line.release(*[word for one in sets for word in ("--set", one)])
        judged = line("gate", "--from", release, "--to", "stable-{family}", code=10).json
        return [(cell["cell"]["framework"], cell["cell"].get("python", "")) for cell in judged["cells"] if not cell["set"]]

    assert set(missing()) == {("torch", "3.12"), ("torch", "3.13")}
    sets.append(publish("cp312"))
    assert set(missing()) == {("torch", "3.13")}
    sets.append(publish("cp313"))
    assert missing() == []

    only_policy = tmp_path / "jax.toml"
    only_policy.write_text('platforms = ["linux"]\nframeworks = ["jax"]\n')
    release = line.release(*[word for one in sets for word in ("--set", one)], "--expect", only_policy)
    assert line("release", "show", release).json["expect"]["frameworks"] == ["jax"]
    judged = line("gate", "--from", release, "--to", "stable-{family}", code=10).json
    assert {cell["cell"]["framework"] for cell in judged["cells"] if not cell["set"]} == {"jax"}


def test_a_distribution_gets_both_families(line, tmp_path):
    release = line.release()
    for channel in CHANNELS:
        line.waive(channel)
    words = ("--to-store", f"file:{tmp_path / 'dist'}")
    done = line.promote(release, *words).json["distribution"]
    assert {one["directory"] for one in done["sets"]} == {f"v2/{family}" for family in FAMILIES}
    for family in FAMILIES:
        assert (tmp_path / "dist/v2" / family / "rocm-7.2.0.tar.gz").is_file()
    assert line.promote(release, *words).json["distribution"]["writes"] == 0


@pytest.fixture
def next_built(built, tmp_path) -> dict[str, Path]:
    """The packages of `built` as another version."""
    out = {}
    for family in FAMILIES:
        artifacts = small_artifacts.make(tmp_path / family, (family,))
        good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", tmp_path / family / "out", "--version", "7.2.1", "--profile", "ci")
        out[family] = tmp_path / family / "out"
    return out


def test_a_release_is_taken_back_as_it_was_promoted(line, next_built, tmp_path):
    along = ("--to-store", f"file:{tmp_path / 'dist'}")
    for channel in CHANNELS:
        line.waive(channel)
    line.promote(line.release(), *along)
    for family, packages in next_built.items():
        line("publish", packages, "--run-id", "43", "--platform", "linux", "--artifact-group", family)
    words = [word for family in FAMILIES for word in ("--from", f"run:43-linux@{family}")]
    release = "release:" + line("release", "create", *words).json["release"]
    for channel in CHANNELS:
        line.waive(channel)
    done = good("promote", "--from", release, "--to", "stable-{family}", "--policy", line.policy, "--store", f"file:{line.store}", *along)
    (undo,) = re.findall(r"^undo: quarry (.*)$", done.err, re.MULTILINE)
    assert undo.startswith("rollback 'stable-{family}'") and along[1] in undo

    def versions(names) -> set[str]:
        return {version for name in names for version in re.findall(r"-(7\.2\.[01])", name)}

    def listed(family: str) -> set[str]:
        return versions([(tmp_path / "dist/v2" / family / "rocm/index.html").read_text()])

    dry = good(*shlex.split(undo), "--dry-run")
    assert all(f"{channel}@2 -> {channel}@3" in dry.out for channel in CHANNELS), dry.out
    assert all(versions(line.files(channel)) == {"7.2.0", "7.2.1"} for channel in CHANNELS)
    (pasted,) = re.findall(r"^next: quarry (.*)$", dry.out, re.MULTILINE)
    done = quarry(*shlex.split(pasted), "--json").json
    assert done["moved"] and [one["generation"] for one in done["channels"]] == [3, 3]
    assert {one["directory"] for one in done["distributions"]} == {f"v2/{family}" for family in FAMILIES}
    for channel, family in zip(CHANNELS, FAMILIES):
        assert versions(line.files(channel)) == listed(family) == {"7.2.0"}
    refused("O007", 7, *shlex.split(undo))
    refused("C006", 2, *shlex.split(undo), "--to", "1")

    # One channel of the pattern is rolled back by its name, from where the pattern had it copied to.
    back = line("rollback", CHANNELS[0], "--to", "2", *along).json
    assert [one["directory"] for one in back["distributions"]] == [f"v2/{FAMILIES[0]}"] and listed(FAMILIES[0]) == {"7.2.0", "7.2.1"}
    refused("O059", 7, *shlex.split(undo))
    refused("P040", 3, "rollback", CHANNELS[0] + "-hotfix", "--store", f"file:{line.store}", *along)


def test_a_waiver_is_taken_back(line):
    release = line.release()
    environment = clean_environment(GITHUB_ACTOR="mallory", GITHUB_REPOSITORY="acme/rocm", GITHUB_RUN_ID="77")
    waiver = line("waive", "--to", CHANNELS[0], "--everything", "--reason", "in a hurry", "--approver", "lead", "--expires", "1h", "--policy", line.policy, environment=environment).json["waiver"]
    line.waive(CHANNELS[1])
    (listed,) = [one for one in line("waiver", "list", "--channel", CHANNELS[0]).json["waivers"]]
    assert listed["requester"] == "mallory" and listed["run"] == "https://github.com/acme/rocm/actions/runs/77" and listed["revoked"] is None
    ready = line("gate", "--from", release, "--to", "stable-{family}", "--policy", line.policy).json
    assert any("asked for by mallory" in reason for cell in ready["cells"] for reason in cell["reasons"])
    assert waiver in [digest for cell in ready["cells"] for digest in cell["waivers"]]

    assert line("waiver", "revoke", waiver[:12], "--reason", "not agreed").json["written"]
    assert not line("waiver", "revoke", waiver, "--reason", "again").json["written"]
    held = line.promote(release, code=10).json
    reasons = [reason for channel in held["channels"] for cell in channel["gate"]["cells"] for reason in cell["reasons"]]
    assert any("it was revoked" in reason for reason in reasons)
    (listed,) = line("waiver", "list", "--channel", CHANNELS[0]).json["waivers"]
    assert listed["revoked"]["reason"] == "not agreed"
    # Whatever the object holds, the waiver stays revoked.
    (line.store / f"waivers/revoked/{waiver}.json").write_text("junk")
    line.promote(release, code=10)
    refused("R010", 3, "waiver", "revoke", "0" * 64, "--reason", "x", "--store", f"file:{line.store}")
    refused("O015", 2, "waiver", "revoke", waiver, "--reason", " ", "--store", f"file:{line.store}")


@pytest.mark.parametrize(("who", "mallory_may", "lead_may"), [("approver", False, True), ("another", True, False)])
def test_who_may_make_a_waiver(line, tmp_path, who, mallory_may, lead_may):
    policy = tmp_path / "four-eyes.toml"
    policy.write_text(POLICY.replace("[[require]]", f'waiver_requester = "{who}"\n[[require]]', 1))
    words = ("waive", "--to", "stable", "--everything", "--reason", "x", "--approver", "lead", "--expires", "1h", "--policy", policy, "--store", f"file:{line.store}")
    for actor, may in (("mallory", mallory_may), ("lead", lead_may)):
        done = quarry(*words, environment=clean_environment(GITHUB_ACTOR=actor))
        assert done.code == (0 if may else 2), done.err
        assert may or "G006" in done.err


def test_a_revocation_comes_in_while_a_promotion_is_judged(line):
    """It is listed with the records that judge, so a plan that was reviewed with the waiver is refused."""
    release = line.release()
    digests = [line.waive(channel).json["waiver"] for channel in CHANNELS]
    plan = line.promote(release, "--dry-run").json["plan"]
    line("waiver", "revoke", digests[0], "--reason", "not agreed")
    said = line.promote(release, "--execute", plan, code=7).err
    assert "O002" in said and re.search(r"reviewed +" + plan[:16], said)
    assert all(f"channel   {channel} does not exist" in said for channel in CHANNELS) and "gate      held" in said, said


def test_no_sets_are_no_release(line, tmp_path):
    line("channel", "protect", "empty", "--policy", line.policy, "--reason", "x")
    at = ("--store", f"file:{line.store}")
    refused("O020", 2, "gate", "--from", "channel:empty", "--to", "x-{platform}", "--policy", line.policy, *at)
    refused("O021", 2, "release", "create", "--from", "channel:empty", *at)
    notes = tmp_path / "notes.md"
    notes.write_bytes(b"a\0b")
    words = ("release", "create", "--from", f"run:42-linux@{FAMILIES[0]}", "--notes", notes, *at)
    refused("O027", 2, *words)
    notes.write_bytes(b"\xff")
    refused("O027", 2, *words)


def test_status_judges_what_is_to_come_first(line):
    done = line("status", "new", "--from", f"run:42-linux@{FAMILIES[0]}", "--policy", line.policy)
    assert done.json["channels"] == [] and done.json["candidate"]["cells"][0]["verdict"] == "held"


def test_the_notes_leave_out_what_is_of_another_release(line, tmp_path):
    (first, second) = (line("release", "create", "--from", f"run:42-linux@{family}").json["release"] for family in FAMILIES)
    made = line("waive", "--to", CHANNELS[0], "--everything", "--reason", "no machine", "--approver", "lead", "--expires", "1h", "--policy", line.policy)
    line("promote", "--from", f"release:{first}", "--to", CHANNELS[0], "--policy", line.policy)
    waiver = made.json["waiver"]
    assert waiver[:12] in line("release", "notes", first).json["markdown"]
    assert waiver[:12] not in line("release", "notes", second).json["markdown"]
    line("waiver", "revoke", waiver, "--reason", "a mistake")
    assert "revoked since: a mistake" in line("release", "notes", first).json["markdown"]
    (line.store / "waivers" / f"{waiver}.json").unlink()
    assert "the record is gone" in line("release", "notes", first).json["markdown"]
    assert line("release", "show", first).json["findings"] == []
    for verdict in (line.store / "verdicts").glob("*.json"):
        verdict.write_text(verdict.read_text().replace('"ready"', '"held"'))
    for verb in ("show", "notes"):
        assert [one["code"] for one in line("release", verb, first).json["findings"]] == ["R011"]


def test_a_release_is_called_by_its_name(line, tmp_path):
    assert line("release", "list").json["releases"] == []
    first = line.release("--name", "7.2.0")
    (listed,) = line("release", "list").json["releases"]
    assert "release:" + listed["release"] == first and listed["name"] == "7.2.0" and len(listed["sets"]) == 2
    assert "release:" + line("release", "show", "release:7.2.0").json["release"] == first
    assert line.promote("release:7.2.0", code=10).json["source"] == first, "receipts name the digest"
    assert good("release", "notes", "7.2.0", "--store", f"file:{line.store}").out.startswith("# 7.2.0\n")
    refused("R010", 3, "release", "show", "release:7.2", "--store", f"file:{line.store}")
    refused("R010", 3, "release", "show", "release:20261123", "--store", f"file:{line.store}")
    refused("L003", 2, "gate", "--from", "release: ", "--to", "stable", "--store", f"file:{line.store}")

    (tmp_path / "notes.md").write_text("The same sets, other notes.\n")
    second = line.release("--name", "7.2.0", "--notes", tmp_path / "notes.md")
    said = refused("R024", 2, "gate", "--from", "release:7.2.0", "--to", "stable-{family}", "--store", f"file:{line.store}").err
    assert first in said and second in said
    like_a_digest = ["release", "create", "--from", "run:42-linux", "--name", "20261123", "--store", f"file:{line.store}"]
    refused("R025", 2, *like_a_digest)
    dated = line.release("--name", "nightly-20261123")
    assert "release:" + line("release", "show", "release:nightly-20261123").json["release"] == dated
    (line.store / f"releases/{'0' * 64}.json").write_text("junk")
    listed = line("release", "list").json
    assert len(listed["releases"]) == 3 and [note["code"] for note in listed["notes"]] == ["R021"]
    refused("R021", 6, "release", "show", "release:nightly-20261123", "--store", f"file:{line.store}")
    assert "release:" + line("release", "show", dated).json["release"] == dated
