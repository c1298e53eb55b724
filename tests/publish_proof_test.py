"""The proof that packing leaves beside a wheel: what it spares `publish`, and what it can never hide."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from support import distributions
from support.quarry import clean_environment, good, quarry, refused

RUN = ("--run-id", "42", "--platform", "linux")


@pytest.fixture
def home(tmp_path) -> dict[str, str]:
    """The environment of a user whose key nobody has made yet."""
    return clean_environment(XDG_STATE_HOME=str(tmp_path / "state"))


def pack(tmp_path: Path, environment: dict[str, str], name: str = "demo") -> Path:
    made = distributions.wheel(tmp_path, name, "1.0")
    good("wheel", "unpack", made, "--output-dir", tmp_path / "tree")
    out = tmp_path / "dist"
    good("wheel", "pack", tmp_path / f"tree/{name}-1.0", "--output-dir", out, "--profile", "stored", environment=environment)
    return next(out.glob(f"{name}-*.whl"))


def proof_of(wheel: Path) -> Path:
    return wheel.parent / f".{wheel.name}.proof"


def alter(wheel: Path) -> None:
    """Another byte in a member: the size stays, and so does all that is read of a wheel with a proof."""
    data = wheel.read_bytes()
    wheel.write_bytes(data.replace(b"VERSION", b"version", 1))


def test_the_key_is_private_and_the_proof_is_not_published(tmp_path, home):
    wheel = pack(tmp_path, home)
    key = tmp_path / "state/quarry/proof.key"
    assert key.stat().st_mode & 0o777 == 0o600
    proof = json.loads(proof_of(wheel).read_text())
    assert (proof["schema"], proof["file"], proof["sha256"]) == ("quarry.proof/1", wheel.name, hashlib.sha256(wheel.read_bytes()).hexdigest())
    good("publish", wheel.parent, *RUN, "--store", f"file:{tmp_path}/store", environment=home)
    assert not list((tmp_path / "store").rglob("*.proof"))


def test_what_was_reviewed_is_not_replaced_by_what_changed_since(tmp_path, home):
    """The proof still names the reviewed bytes; the file beside it is another sound wheel of the same name and size."""
    wheel = pack(tmp_path, home)
    publish = ("publish", wheel.parent, *RUN, "--store", f"file:{tmp_path}/store")
    plan = next(line.split()[1] for line in good(*publish, "--dry-run", environment=home).out.splitlines() if line.startswith("plan "))
    swapped = distributions.wheel(tmp_path / "tree", "demo", "1.0", payload=b"")
    assert swapped.name == wheel.name
    wheel.write_bytes(swapped.read_bytes())
    done = refused("O011", 7, *publish, "--execute", plan, environment=home)
    assert "reviewed" in done.err and not list((tmp_path / "store").rglob("*.whl"))


def test_an_altered_file_is_verified_in_full_and_refused(tmp_path, home):
    wheel = pack(tmp_path, home)
    alter(wheel)
    refused("W010", 6, "publish", wheel.parent, *RUN, "--store", f"file:{tmp_path}/store", environment=home)
    assert not list((tmp_path / "store").rglob("*.whl"))


def test_a_file_that_was_packed_again_is_published_as_it_is(tmp_path, home):
    """The proof is of an older file of this name; the new one is sound, only nothing remembers it."""
    wheel = pack(tmp_path, home)
    old = proof_of(wheel).read_bytes()
    again = distributions.wheel(tmp_path, "demo", "1.0", requires_python=">=3.9")
    shutil.copy(again, wheel)
    proof_of(wheel).write_bytes(old)
    done = good("publish", wheel.parent, *RUN, "--store", f"file:{tmp_path}/store", "--json", environment=home)
    assert done.json["files"][0]["sha256"] == hashlib.sha256(wheel.read_bytes()).hexdigest()


def test_an_altered_file_whose_original_is_published_is_not_taken_for_it(tmp_path, home):
    wheel = pack(tmp_path, home)
    good("publish", wheel.parent, *RUN, "--store", f"file:{tmp_path}/store", environment=home)
    alter(wheel)
    done = quarry("publish", wheel.parent, *RUN, "--store", f"file:{tmp_path}/store", environment=home)
    assert done.code == 6, done.err


def forged(wheel: Path, key: bytes, verifier: str) -> str:
    """A record as somebody would write it who has read the sources."""
    data = wheel.read_bytes()
    metadata = distributions.metadata_of(wheel)
    fields = {"file": wheel.name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "metadata_sha256": hashlib.sha256(metadata).hexdigest()}
    lines = "".join(f"{line}\n" for line in ("quarry.proof/1", verifier, *fields.values()))
    return json.dumps({"schema": "quarry.proof/1", "verifier": verifier, **fields, "seal": hmac.new(key, lines.encode(), hashlib.sha256).hexdigest()})


def hostile(directory: Path) -> dict[str, Path]:
    """One wheel for each class of defect; each is refused when it is read in full."""
    init = {"demo/__init__.py": ""}
    made = {
        "two files for one place": distributions.wheel_of(directory / "twice", "demo", "1.0", files={**init, "demo-1.0.data/purelib/demo/__init__.py": "evil"}),
        "METADATA replaced at installation": distributions.wheel_of(directory / "meta", "demo", "1.0", files={**init, "demo-1.0.data/purelib/demo-1.0.dist-info/METADATA": "Name: evil\n"}),
        "unreadable requirement": distributions.wheel_of(directory / "requires", "demo", "1.0", files=init, metadata=["Requires-Dist: bad !!"]),
        "reserved script": distributions.wheel_of(directory / "script", "demo", "1.0", files={**init, "demo-1.0.data/scripts/python": "#!python\n"}),
    }
    altered = distributions.wheel_of(directory / "altered", "demo", "1.0", files={"demo/__init__.py": "good"})
    altered.write_bytes(altered.read_bytes().replace(b"good", b"evil", 1))
    missing = distributions.wheel_of(directory / "record", "demo", "1.0", files=init)
    with zipfile.ZipFile(missing, "a") as archive:
        archive.writestr("demo/extra.py", "not in RECORD")
    return {**made, "a member altered": altered, "a member that RECORD does not name": missing}


@pytest.mark.parametrize("key", ["none", "another user's", "a guess"])
def test_a_forged_record_never_hides_a_defect(tmp_path, home, key):
    own = pack(tmp_path, home)
    verifier = json.loads(proof_of(own).read_text())["verifier"]
    other = {**home, "XDG_STATE_HOME": str(tmp_path / "other")}
    pack(tmp_path, other, "other")
    secrets = {"none": b"", "another user's": (tmp_path / "other/quarry/proof.key").read_bytes(), "a guess": b"0" * 64}
    for defect, wheel in hostile(tmp_path / "hostile").items():
        honest = quarry("publish", wheel.parent, *RUN, "--store", f"file:{tmp_path}/store", environment=home)
        assert honest.code != 0, defect
        proof_of(wheel).write_text(forged(wheel, secrets[key], verifier))
        again = quarry("publish", wheel.parent, *RUN, "--store", f"file:{tmp_path}/store", environment=home)
        assert (again.code, again.err) == (honest.code, honest.err), defect
    assert not list((tmp_path / "store").rglob("*.whl"))


def test_a_key_that_others_can_read_is_not_used(tmp_path, home):
    wheel = pack(tmp_path, home)
    alter(wheel)
    os.chmod(tmp_path / "state/quarry/proof.key", 0o644)
    done = refused("W010", 6, "publish", wheel.parent, *RUN, "--store", f"file:{tmp_path}/store", environment=home)
    assert "[D015]" in done.err


def test_wheel_verify_reads_everything(tmp_path, home):
    wheel = pack(tmp_path, home)
    alter(wheel)
    assert quarry("wheel", "verify", wheel, environment=home).code == 6
