"""Signed evidence and waivers: what other tools accept and refuse, and what a policy that names signers lets count."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.clients import client  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import BY_UV, good, quarry, refused  # noqa: E402

POLICY = smoke_policy("signed", "rocm-sdk")

VERIFY = """
import json, sys
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey
keyid, raw, path = sys.argv[1:]
envelope = Envelope.from_dict(json.load(open(path)))
key = SSlibKey(keyid, "ed25519", "ed25519", {"public": raw})
accepted = envelope.verify([key], 1)
assert list(accepted) == [keyid], accepted
statement = json.loads(envelope.payload)
assert statement["_type"] == "https://in-toto.io/Statement/v1"
print(statement["subject"][0]["digest"]["sha256"])
"""


def key(place: Path, name: str) -> dict:
    path = place / f"{name}.pem"
    made = good("key", "create", "--output", path, "--json").json
    assert path.stat().st_mode & 0o777 == 0o600
    return {**made, "path": path, "name": name}


def signer(key: dict, *kinds: str, revoked: str = "") -> str:
    more = f'revoked = "{revoked}"\n' if revoked else ""
    return f'[[signer]]\nname = "{key["name"]}"\nkey = "{key["key"]}"\nsigns = {json.dumps(list(kinds))}\n{more}'


@pytest.fixture
def keys(tmp_path) -> tuple[dict, dict]:
    return key(tmp_path, "tester"), key(tmp_path, "lead")


def with_signers(place: Path, *signers: str) -> Path:
    policy = place / "signed.toml"
    policy.write_text(smoke_policy("signed", "rocm-sdk", "".join(signers)))
    return policy


def gate(store: Path, policy: Path, code: int) -> dict:
    done = quarry("gate", "--to", "stable", "--from", "channel:staging", "--policy", policy, "--store", f"file:{store}", "--json")
    assert done.code == code, done.out + done.err
    return done.json


@pytest.fixture
def environment_of(store, tmp_path) -> Path:
    env = tmp_path / "env"
    good("venv", "install", *BY_UV, env, "--from", "channel:staging", "--packages", "rocm[libraries,devel]", "--store", f"file:{store}")
    return env


def test_only_signed_results_count_where_the_policy_names_signers(store, environment_of, keys, tmp_path):
    tester, lead = keys
    policy = with_signers(tmp_path, signer(tester, "evidence"))
    words = ("test", "--venv", environment_of, "--store", f"file:{store}", "--json")
    good(*words)
    held = gate(store, policy, 10)
    assert "not signed by tester" in held["cells"][0]["reasons"][0]
    good(*words, "--sign", lead["path"])
    gate(store, policy, 10)
    tested = good(*words, "--sign", tester["path"]).json
    ready = gate(store, policy, 0)
    assert ready["cells"][0]["evidence"] == [tested["evidence"]]
    # Without signers in the policy, nobody asks.
    assert gate(store, with_signers(tmp_path), 0)
    revoked = gate(store, with_signers(tmp_path, signer(tester, "evidence", revoked="leaked")), 10)
    assert "tester (revoked: leaked)" in revoked["cells"][0]["reasons"][0]
    # An envelope that was moved to another record, or altered, is no signature.
    policy = with_signers(tmp_path, signer(tester, "evidence"))
    (envelope,) = (store / "signatures" / tested["evidence"]).glob("*.json")
    text = json.loads(envelope.read_text())
    text["payload"] = base64.b64encode(base64.b64decode(text["payload"]).replace(b"evidence", b"Evidence")).decode()
    envelope.chmod(0o644)
    envelope.write_text(json.dumps(text))
    gate(store, policy, 10)


def test_a_waiver_is_signed_by_its_approver(store, keys, tmp_path):
    tester, lead = keys
    policy = with_signers(tmp_path, signer(lead, "waivers"))
    unsigned = tmp_path / "unsigned.toml"
    unsigned.write_text(POLICY)

    def base(policy: Path) -> tuple:
        return ("waive", "--to", "stable", "--everything", "--reason", "x", "--approver", "lead", "--expires", "1h", "--policy", policy, "--store", f"file:{store}", "--json")

    good(*base(unsigned))
    held = gate(store, policy, 10)
    assert "it is not signed by lead" in held["cells"][0]["reasons"][0]
    said = quarry("gate", "--to", "stable", "--from", "channel:staging", "--policy", policy, "--store", f"file:{store}").out
    assert "--approver lead" in said and "--sign KEY" in said
    assert "--sign KEY, with a key of lead" in refused("G006", 2, *base(policy)).err
    refused("G006", 2, *base(policy), "--sign", tester["path"])
    good(*base(unsigned), "--sign", tester["path"])
    gate(store, policy, 10)
    good(*base(policy), "--sign", lead["path"])
    assert gate(store, policy, 0)["cells"][0]["waived"]
    other = with_signers(tmp_path, signer(tester, "waivers"))
    assert "has no key of lead" in gate(store, other, 10)["cells"][0]["reasons"][0]


def test_a_key_is_revoked_for_a_channel(store, environment_of, keys, tmp_path):
    tester, _ = keys
    policy = with_signers(tmp_path, signer(tester, "evidence"))
    at = ("--store", f"file:{store}")
    assert "channel staging is not protected" in refused("O023", 3, "key", "revoke", "tester", "--channel", "staging", "--reason", "leaked", *at).err
    good("channel", "protect", "stable", "--policy", policy, "--reason", "release channel", *at)
    good("test", "--venv", environment_of, "--sign", tester["path"], *at)
    gate_words = ("gate", "--to", "stable", "--from", "channel:staging", *at)
    good(*gate_words)
    refused("O023", 3, "key", "revoke", "nobody", "--channel", "stable", "--reason", "leaked", *at)
    refused("O015", 2, "key", "revoke", "tester", "--channel", "stable", "--reason", " ", *at)
    assert good("key", "revoke", "tester", "--channel", "stable", "--reason", "leaked in a log", *at, "--json").json["moved"]
    assert not good("key", "revoke", tester["key"], "--channel", "stable", "--reason", "leaked in a log", *at, "--json").json["moved"]
    held = quarry(*gate_words)
    assert held.code == 10 and "revoked: leaked in a log" in held.out
    moves = good("channel", "log", "stable", *at, "--json").json["moves"]
    assert [move["why"] for move in moves] == ["leaked in a log", "release channel"]


def test_a_name_with_two_keys_is_revoked_key_by_key(store, keys, tmp_path):
    tester, rotated = keys
    policy = with_signers(tmp_path, signer(tester, "evidence"), signer({**rotated, "name": "tester"}, "evidence"))
    at = ("--channel", "stable", "--reason", "leaked", "--store", f"file:{store}")
    good("channel", "protect", "stable", "--policy", policy, "--reason", "release channel", "--store", f"file:{store}")
    said = refused("O025", 2, "key", "revoke", "tester", *at).err
    assert tester["key"] in said and rotated["key"] in said
    revoked = good("key", "revoke", tester["id"], *at, "--json").json
    assert revoked["moved"] and revoked["key"] == tester["key"]
    assert good("key", "revoke", "tester", *at, "--json").json["key"] == rotated["key"], "only one counts by now"
    assert not good("key", "revoke", "tester", *at, "--json").json["moved"]


def test_other_tools_agree(store, environment_of, keys, tmp_path):
    tester, lead = keys
    tested = good("test", "--venv", environment_of, "--sign", tester["path"], "--store", f"file:{store}", "--json").json
    (path,) = (store / "signatures" / tested["evidence"]).glob("*.json")
    assert path.stem == tester["id"]
    envelope = json.loads(path.read_text())
    payload, signature = (base64.b64decode(text) for text in (envelope["payload"], envelope["signatures"][0]["sig"]))
    kind = envelope["payloadType"].encode()
    encoded = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    (tmp_path / "message").write_bytes(encoded)
    (tmp_path / "signature").write_bytes(signature)

    def openssl(key: dict) -> int:
        (tmp_path / "public.pem").write_text(key["public_pem"])
        command = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "public.pem", "-in", "message", "-sigfile", "signature"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True).returncode

    assert openssl(tester) == 0 and openssl(lead) != 0
    shown = subprocess.run(["openssl", "pkey", "-in", tester["path"], "-pubout"], capture_output=True, text=True, check=True).stdout
    assert shown == tester["public_pem"] == good("key", "show", tester["path"], "--json").json["public_pem"]

    def securesystemslib(key: dict, path: Path):
        return client("securesystemslib").python("-c", VERIFY, key["id"], base64.b64decode(key["key"]).hex(), path)

    accepted = securesystemslib(tester, path)
    assert accepted.returncode == 0, accepted.stderr
    assert accepted.stdout.strip() == tested["evidence"]
    assert securesystemslib(lead, path).returncode != 0
    # What they refuse we refuse, too: another payload under the same signature.
    envelope["payload"] = base64.b64encode(payload.replace(tested["evidence"].encode(), b"0" * 64)).decode()
    altered = tmp_path / "altered.json"
    altered.write_text(json.dumps(envelope))
    assert securesystemslib(tester, altered).returncode != 0
    path.chmod(0o644)
    path.write_text(altered.read_text())
    policy = with_signers(tmp_path, signer(tester, "evidence"))
    gate(store, policy, 10)


def test_keys_of_openssl_are_taken_and_others_refused(tmp_path):
    theirs = tmp_path / "theirs.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", theirs], check=True, capture_output=True)
    assert len(base64.b64decode(good("key", "show", theirs, "--json").json["key"])) == 32
    for words in (("-algorithm", "rsa"), ("-algorithm", "ed25519", "-aes256", "-pass", "pass:x"), ("-algorithm", "x25519")):
        other = tmp_path / "other.pem"
        other.unlink(missing_ok=True)
        subprocess.run(["openssl", "genpkey", *words, "-out", other], check=True, capture_output=True)
        refused("B006", 2, "key", "show", other)
    refused("D002", 7, "key", "create", "--output", theirs)


class Signed:
    """Channel stable with the policy of these signers; everything is waived, so that only signatures hold."""

    def __init__(self, store: Path, place: Path, signers: list[str], sign: Path | None):
        self.store, self.place = store, place
        self.policy = with_signers(place, *signers)
        self("channel", "protect", "stable", "--policy", self.policy, "--reason", "x", *(("--sign", sign) if sign else ()))
        if not any('"waivers"' in one for one in signers):
            self("waive", "--to", "stable", "--everything", "--reason", "x", "--approver", "lead", "--expires", "1h")

    def __call__(self, *words, code: int = 0, says: str = ""):
        done = quarry(*words, "--store", f"file:{self.store}", "--json")
        assert done.code == code and says in done.err, done.out + done.err
        return done

    def bytes(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.store)): p.read_bytes() for p in self.store.rglob("*") if p.is_file() and ".quarry" not in p.parts}

    def put(self, key: str, record: dict) -> None:
        """By hand, as canonical JSON with its own digest."""
        body = {name: value for name, value in record.items() if name != "digest"}
        text = lambda value: json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        path = self.store / key
        path.unlink(missing_ok=True)
        path.write_text(text({**body, "digest": hashlib.sha256(text(body).encode()).hexdigest()}))


def test_moves_are_signed_by_whom_the_policy_lets(store, keys, tmp_path):
    release, oncall = keys
    thief = key(tmp_path, "thief")
    promote = ("promote", "--from", "channel:staging", "--to", "stable")
    policy = with_signers(tmp_path, signer(release, "moves"), signer(oncall, "rollback", "yank"))
    protect = ("channel", "protect", "stable", "--policy", policy, "--reason", "x", "--store", f"file:{store}")
    assert "is not signed by tester" in refused("O041", 10, *protect).err
    refused("O041", 10, *protect, "--sign", oncall["path"])
    line = Signed(store, tmp_path, [signer(release, "moves"), signer(oncall, "rollback", "yank")], release["path"])
    before = line.bytes()
    for more, says in (((), "is not signed by tester"), (("--sign", thief["path"]), "does not have"), (("--sign", oncall["path"]), "is signed by lead")):
        assert "O041" in line(*promote, *more, code=10, says=says).err
    assert line.bytes() == before
    assert line(*promote, "--sign", release["path"]).json["moved"]
    lifts = ("channel", "unprotect", "stable", "--reason", "x")
    for words in (lifts, ("rollback", "stable", "--to", "1"), ("yank", "set:" + line("channel", "show", "stable").json["sets"][0], "--channel", "stable", "--reason", "x")):
        for more in ((), ("--sign", thief["path"])):
            line(*words, *more, code=10, says="O041")
    line(*lifts, "--sign", oncall["path"], code=10, says="O041")
    line("key", "revoke", "lead", "--channel", "stable", "--reason", "left", code=10, says="and this revocation of a key is not signed")
    # What others verify is the entry of the ledger.
    moved = line("channel", "log", "stable").json["moves"][0]
    (envelope,) = (store / "signatures" / moved["ledger"]).glob("*.json")
    raw = base64.b64decode(release["key"]).hex()
    done = client("securesystemslib").python("-c", VERIFY, release["id"], raw, envelope)
    assert done.stdout.strip() == moved["ledger"], done.stderr
    verified = line("channel", "verify", "stable").json
    assert [(move["action"], move["signed_by"]) for move in verified["moves"]] == [("promote", "tester"), ("protect", "tester")]
    installed = quarry("venv", "install", *BY_UV, tmp_path / "signed", "--from", "channel:stable", "--packages", "rocm", "--store", f"file:{store}")
    assert installed.code == 0 and "promote of stable@2 by tester" in installed.err, installed.err
    assert line("rollback", "stable", "--to", "1", "--reason", "x", "--sign", oncall["path"]).json["moved"]
    assert line("key", "revoke", "lead", "--channel", "stable", "--reason", "left", "--sign", release["path"]).json["moved"]
    assert line("channel", "verify", "stable").json["findings"] == []


def printed(text: str, command: str) -> str:
    (line,) = re.findall(rf"^(?:next: |  )?(quarry {command} .*)$", text, re.MULTILINE)
    return line


def test_commands_to_paste_are_signed_where_the_policy_wants_it(store, keys, tmp_path):
    tester, lead = keys
    at = ("--store", f"file:{store}")
    policy = with_signers(tmp_path, signer(tester, "evidence"), signer(lead, "moves", "waivers"))
    good("channel", "protect", "stable", "--policy", policy, "--reason", "x", "--sign", lead["path"], *at)
    held = quarry("gate", "--from", "channel:staging", "--to", "stable", *at)
    assert held.code == 10 and "--sign KEY" in printed(held.out, "test"), held.out
    good("waive", "--to", "stable", "--everything", "--reason", "x", "--approver", "lead", "--expires", "1h", "--sign", lead["path"], *at)

    def after(*words) -> list[str]:
        command = printed(good(*words, "--dry-run", *at).out, words[0])
        assert command.endswith("--sign KEY") or "--sign KEY " in command, command
        return [str(lead["path"]) if word == "KEY" else word for word in shlex.split(command)[1:]]

    good(*after("promote", "--from", "channel:staging", "--to", "stable"))
    good(*after("rollback", "stable", "--reason", "x"))
    assert good("channel", "verify", "stable", *at, "--json").json["findings"] == []


def test_a_move_by_hand_is_not_installed(store, keys, tmp_path):
    """Somebody who may write every object of the store, and has no key."""
    release, _ = keys
    line = Signed(store, tmp_path, [signer(release, "moves")], release["path"])
    line("promote", "--from", "channel:staging", "--to", "stable", "--sign", release["path"])
    good_pointer = json.loads((store / "channels/stable.json").read_text())
    entry = json.loads((store / f"ledger/{good_pointer['ledger']}.json").read_text())
    forged = {**entry, "generation": 3, "previous": good_pointer["ledger"], "from_view": good_pointer["view"], "why": "by hand"}
    text = json.dumps(forged, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    (store / f"ledger/{digest}.json").write_text(text)
    (store / "signatures" / digest).mkdir()
    (old,) = (store / "signatures" / good_pointer["ledger"]).glob("*.json")
    (store / "signatures" / digest / old.name).write_bytes(old.read_bytes())  # a statement about another move
    line.put("channels/stable.json", {**good_pointer, "generation": 3, "ledger": digest, "previous": good_pointer["view"]})
    install = ("venv", "install", *BY_UV, tmp_path / "forged", "--from", "channel:stable", "--packages", "rocm", "--store", f"file:{store}")
    told = refused("O044", 6, *install).err
    assert "is not signed by tester" in told and "quarry channel acknowledge stable 3 --reason TEXT --sign KEY" in told
    assert not (tmp_path / "forged").exists()
    found = line("channel", "verify", "stable", code=6).json["findings"]
    (unsigned,) = [one for one in found if one["code"] != "P094"]
    assert unsigned["code"] == "O044" and "quarry channel acknowledge stable 3 --reason TEXT --sign KEY" in unsigned["fix"]
    status = ("status", "stable", "--store", f"file:{store}")
    shown = quarry(*status)
    assert shown.code == 6 and "\n  UNSIGNED  promote of stable@3 is not signed by tester\n" in shown.out, shown.out + shown.err
    assert quarry(*status, "--json").json["channels"][0]["unsigned_moves"] == [unsigned]
    assert quarry(*status, "--json").json["channels"][0]["altered"] is False
    # A record that leaves the policy out is told from the moves that bound it.
    line.put("channels/stable.json", {k: v for k, v in {**good_pointer, "schema": "quarry.channel/1"}.items() if k != "policy"})
    found = line("channel", "verify", "stable", code=6).json["findings"]
    assert "its moves bound" in found[0]["message"] and "quarry channel protect stable --policy FILE --reason TEXT --sign KEY" in found[0]["fix"]
    assert "\n  UNSIGNED  channel stable is bound to no policy, and its moves bound " in quarry(*status).out
    # So is one that shows another view.
    line.put("channels/stable.json", {**good_pointer, "view": good_pointer["previous"]})
    for words in (status, ("status", "--store", f"file:{store}")):
        shown = quarry(*words)
        assert shown.code == 6 and "\n  ALTERED   the ledger of channel stable is broken" in shown.out, shown.out + shown.err
        assert "channel verify stable" in shown.err and "UNSIGNED" not in shown.out
    assert quarry(*status, "--json").json["channels"][0]["altered"] is True
    line.put("channels/stable.json", good_pointer)
    assert line("channel", "verify", "stable").json["findings"] == []
    assert "UNSIGNED" not in good(*status).out


def test_an_acknowledged_move_is_unsigned_no_more(store, keys, tmp_path):
    """Two generations by hand before a policy asks for signatures are nobody's fault; one after it is answered for."""
    release, _ = keys
    line = Signed(store, tmp_path, [signer(release, "moves")], release["path"])
    line("promote", "--from", "channel:staging", "--to", "stable", "--sign", release["path"])
    pointer = json.loads((store / "channels/stable.json").read_text())
    (envelope,) = (store / "signatures" / pointer["ledger"]).glob("*.json")
    envelope.unlink()
    status = ("status", "stable", "--store", f"file:{store}")
    assert "\n  UNSIGNED  promote of stable@2 is not signed by tester\n" in quarry(*status).out
    (found,) = line("channel", "verify", "stable", code=6).json["findings"]
    words = found["fix"].split("`")[1].removeprefix("quarry ").replace("TEXT", "outage").replace("KEY", str(release["path"])).split()
    assert words[:4] == ["channel", "acknowledge", "stable", "2"]
    line(*words)  # the command of the hint does what it says
    assert "UNSIGNED" not in quarry(*status).out and line("channel", "verify", "stable").json["findings"] == []


def test_a_channel_may_want_signed_verdicts(store, keys, tmp_path):
    judge, lead = keys
    line = Signed(store, tmp_path, [signer(judge, "verdicts"), signer(lead, "waivers", "moves")], lead["path"])
    gate_words = ("gate", "--from", "channel:staging", "--to", "stable")
    promote = ("promote", "--from", "channel:staging", "--to", "stable", "--sign", lead["path"])
    held = line(*gate_words, "--sign", judge["path"], code=10).json
    assert held["verdict"] == "held" and (store / f"verdicts/{held['stored']}.json").exists(), "a verdict that holds is signed, too"
    line("waive", "--to", "stable", "--everything", "--reason", "x", "--approver", "lead", "--expires", "1h", "--sign", lead["path"])
    line(*promote, code=10, says="O042")
    assert "O042" in line(*gate_words, "--sign", lead["path"], code=10, says="is signed by").err
    line(*promote, code=10, says="O042")
    line(*promote, "--dry-run", code=10, says="O042")
    line("gate", "--from", "channel:staging", "--to", "rehearsal", "--policy", line.policy, "--sign", judge["path"], code=10)
    line(*promote, code=10, says="O042")
    assert "stored" not in line(*gate_words).json, "without a key nothing is written"
    signed = line(*gate_words, "--sign", judge["path"]).json["stored"]
    moved = line(*promote).json
    assert moved["moved"] and line("channel", "log", "stable").json["moves"][0]["verdict"] == signed


def test_a_key_on_the_command_line_is_not_repeated(store, keys, tmp_path):
    """A secret of CI is its content, and what a command prints is kept in the job's log."""
    release, _ = keys
    pem = Path(release["path"]).read_text()
    for words in (("promote", "--from", "channel:staging", "--to", "stable", "--sign", pem), ("key", "show", pem), ("key", "show", "--", pem)):
        for more in ((), ("--json",)):
            done = quarry(*words, *more, "--store", f"file:{store}") if words[0] == "promote" else quarry(*words, *more)
            assert done.code == 2 and pem.splitlines()[1] not in done.err + done.out, words
    assert "is a variable unset?" in quarry("promote", "--from", "channel:staging", "--to", "stable", "--sign", "", "--store", f"file:{store}").err
