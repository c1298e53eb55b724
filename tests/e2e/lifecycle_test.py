"""Lifecycle rules of a bucket: the doctor lists those that delete, and a protected channel takes nothing that one of them covers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import radosgw  # noqa: E402
from support.policies import smoke_policy  # noqa: E402

from object_storage_test import bucket, checks_of, double, publish  # noqa: E402, F401


@pytest.fixture
def policy(tmp_path) -> Path:
    path = tmp_path / "own.toml"
    expect = '[expect]\nplatforms = ["linux"]\nprojects = ["rocm"]\n'
    path.write_text(smoke_policy(more=expect))
    return path


def publish_and_waive(store, packages, policy) -> None:
    """These are tests of rules, not of verdicts."""
    publish(store, packages, "1", "--channel", "staging")
    store.good("waive", "--to", "stable", "--everything", "--reason", "test of rules", "--approver", "lead", "--expires", "1h", "--policy", policy)


def rules(server, *lines: tuple[str, str, int]) -> None:
    server.control("POST", {"lifecycle": lines})


def test_a_protected_channel_takes_nothing_that_a_rule_deletes(packages, policy):
    with double() as (server, store):
        publish_and_waive(store, packages, policy)
        move = ("promote", "--from", "run:1", "--to", "stable", "--policy", policy)
        rules(server, ("clean", "p/1-linux/", 30))
        store.good(*move, "--dry-run")  # not protected: whoever made the rule may want it
        store.good("channel", "protect", "stable", "--policy", policy, "--reason", "what people install")
        for more in (("--dry-run",), ()):
            said = store.refused("O031", 10, *move, *more).err
            assert "the rule `clean` of the bucket deletes 1-linux/python/" in said and "after 30 days, and " in said
        rules(server, ("views", "p/views/", 365))
        assert "records below views/" in store.refused("O031", 10, *move).err
        assert store.quarry("channel", "show", "stable", "--json").json["files"] == []
        rules(server, ("others", "p/2-linux/", 30), ("elsewhere", "q/", 1))
        store.good(*move)
        assert len(store.quarry("channel", "show", "stable", "--json").json["files"]) >= 4


def pinned_promotion(store, policy) -> None:
    """Refused without `--pin`; with it the channel names copies, which the gate knows as the run's packages."""
    move = ("promote", "--from", "run:1", "--to", "stable", "--policy", policy)
    assert "--pin" in store.refused("O031", 10, *move).err
    plan = store.good(*move, "--pin", "--dry-run").out
    assert "(copied to pinned/)" in plan
    store.good(*move, "--pin")
    assert len(store.good("channel", "show", "stable", "--json").json["files"]) >= 4
    shown = store.good("set", "show", "channel:stable", "--json").json["sets"]
    assert [one["directory"].split("/")[0] for one in shown] == ["pinned"], shown
    store.good("channel", "verify", "stable", "--deep")
    assert "nothing to do" in store.good(*move, "--pin").out
    assert store.quarry("status", "stable", "--json").json["channels"][0]["failing"] == []


def test_pinned_packages_are_not_deleted(packages, policy):
    with double() as (server, store):
        publish_and_waive(store, packages, policy)
        store.good("channel", "protect", "stable", "--policy", policy, "--reason", "what people install")
        rules(server, ("everything", "p/pinned/", 30), ("clean", "p/1-linux/", 30))
        move = ("promote", "--from", "run:1", "--to", "stable", "--policy", policy, "--pin")
        assert "pinned/" in store.refused("O031", 10, *move).err
        rules(server, ("clean", "p/1-linux/", 30))
        pinned_promotion(store, policy)


def test_rules_that_cannot_be_read_are_told(packages, policy):
    with double() as (server, store):
        publish_and_waive(store, packages, policy)
        store.good("channel", "protect", "stable", "--policy", policy, "--reason", "what people install")
        server.control("POST", {"faults": [{"action": "status:403:AccessDenied", "method": "GET", "query": "lifecycle", "times": 1000}]})
        move = ("promote", "--from", "run:1", "--to", "stable", "--policy", policy)
        done = store.good(*move, "--dry-run")
        assert "K023" in done.err
        done = store.good(*move)
        assert "K023" in done.err and "s3:GetLifecycleConfiguration" in done.err
        checks = checks_of(store, 0)
        assert checks["lifecycle"]["health"] == "note" and "K003" in checks["lifecycle"]["found"]


def test_a_lost_answer_opens_no_gate(packages, policy):
    with double() as (server, store):
        publish_and_waive(store, packages, policy)
        store.good("channel", "protect", "stable", "--policy", policy, "--reason", "what people install")
        rules(server, ("clean", "p/1-linux/", 30))
        move = ("promote", "--from", "run:1", "--to", "stable", "--policy", policy)
        server.control("POST", {"faults": [{"action": "status:400:InvalidArgument", "method": "GET", "query": "lifecycle", "times": 1}]})
        assert store.quarry(*move).code not in (0, 10)
        store.refused("O031", 10, *move)


def test_the_doctor_lists_the_rules():
    with double() as (server, store):
        assert "no rule deletes" in checks_of(store, 0)["lifecycle"]["found"]
        rules(server, ("clean", "p/1-linux/", 30), ("elsewhere", "q/", 1))
        found = checks_of(store, 0)["lifecycle"]
        assert found["health"] == "note" and "clean: below 1-linux/ after 30 days" in found["found"] and "elsewhere" not in found["found"]
        rules(server, ("everything", "", 30))
        found = checks_of(store, 1)["lifecycle"]
        assert found["health"] == "failed" and "everything: everything after 30 days" in found["found"] and "lifecycle.md" in found["next"]


RULES = """<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<Rule><ID>runs</ID><Filter><Prefix>some/prefix/9-linux/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>30</Days></Expiration></Rule>
<Rule><ID>uploads</ID><Filter><Prefix></Prefix></Filter><Status>Enabled</Status><AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>
</LifecycleConfiguration>"""


def set_rules(bucket, place: Path, text: str) -> None:  # noqa: F811
    (place / "rules.xml").write_text(text)
    signed = ["curl", "--silent", "--show-error", "--fail-with-body", "--noproxy", "*", "-X", "PUT", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{radosgw.ACCESS}:{radosgw.SECRET}", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"]
    put = subprocess.run([*signed, "--data-binary", f"@{place}/rules.xml", f"{bucket.endpoint}/{bucket.bucket}?lifecycle="], capture_output=True, text=True)
    assert put.returncode == 0, put.stdout + put.stderr


def test_ceph_tells_its_rules(bucket, tmp_path):  # noqa: F811
    assert "no rule deletes" in checks_of(bucket, 0)["lifecycle"]["found"]
    set_rules(bucket, tmp_path, RULES)
    assert checks_of(bucket, 0)["lifecycle"]["found"] == "rules delete objects: runs: below 9-linux/ after 30 days"


def test_ceph_copies_what_it_would_delete(bucket, packages, policy, tmp_path):  # noqa: F811
    publish_and_waive(bucket, packages, policy)
    bucket.good("channel", "protect", "stable", "--policy", policy, "--reason", "what people install")
    set_rules(bucket, tmp_path, RULES.replace("9-linux", "1-linux"))
    pinned_promotion(bucket, policy)
