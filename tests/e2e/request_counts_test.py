"""How many requests a gate, a promotion and a rollback send to a bucket: what is judged and what changes decides, not what the store holds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions, evidence, records, s3_server  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import clean_environment, good  # noqa: E402


class Bucket:
    def __init__(self, server: s3_server.Server, place: Path) -> None:
        self.server, self.place, self.policy = server, place, place / "own.toml"
        self.environment = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        self.client = s3_server.Client(server.endpoint, server.access, server.secret)
        self.policy.write_text(smoke_policy())

    def __call__(self, *words):
        return good(*words, "--store", f"s3://{self.server.bucket}", "--json", environment=self.environment)

    def requests(self, *words) -> list[tuple[str, str]]:
        """Method and key of each request of a command; a listing has no key."""
        self.server.control("DELETE")
        self(*words)
        return [(method, key) for method, key, _, _ in self.server.control("GET")["ledger"]]

    def publish(self, version: str) -> str:
        dist = self.place / version
        dist.mkdir()
        distributions.wheel(dist, "demo", version)
        return self("publish", dist, "--run-id", version[0], "--platform", "linux").json["set"]

    def tested(self, sealed: str, times: int) -> None:
        files = json.loads(self.client.get(self.server.bucket, f"sets/{sealed}.json"))["files"]
        for number in range(times):
            result = evidence.result(sealed, files, {"platform": "linux"}, "smoke", passed=number + 1)
            self("evidence", "record", "--kept", evidence.keep(self.place / "kept.json", result))


@pytest.fixture
def bucket(tmp_path):
    with s3_server.serve() as server:
        yield Bucket(server, tmp_path)


def of_results(requests: list[tuple[str, str]]) -> int:
    return sum(key.startswith("evidence/") and key.count("/") == 1 for _, key in requests)


def test_a_gate_reads_what_is_about_the_judged_set(bucket):
    judged, other = bucket.publish("1.0"), bucket.publish("2.0")
    bucket.tested(judged, 5)
    bucket.tested(other, 12)
    requests = bucket.requests("gate", "--from", f"set:{judged}", "--to", "stable", "--policy", bucket.policy)
    assert of_results(requests) == 5
    # Set and seal; the channel; whether all is marked; listings of the set's evidence, the verdicts on it, waivers and revocations.
    assert len(requests) - 5 <= 9, requests


def test_a_promotion_lists_evidence_twice(bucket):
    judged = bucket.publish("1.0")
    bucket.tested(judged, 3)
    requests = bucket.requests("promote", "--from", f"set:{judged}", "--to", "stable", "--policy", bucket.policy)
    assert of_results(requests) == 3, "what was read is not read again"
    assert requests.count(("GET", "evidence/attempts/marked.json")) == 2


def test_a_rollback_does_not_look_at_the_sets_of_the_channel(bucket, tmp_path):
    """A channel of 1,200 sets, in which the last move changed one project."""
    store, shards, sets, views = records.Store(tmp_path / "store"), {}, [], []
    for number in range(1200):
        record = records.file_record(f"demo{number % 100}", f"1.{number // 100}", f"{number + 1}-linux/python")
        sets.append(store.sealed(str(number + 1), [record]))
        shards.setdefault(record["project"], []).append(record)
        if number >= 1198:
            views.append(store.view(sets, shards))
    store.channel("stable", views)
    for path in store.root.rglob("*.json"):
        if "seals" not in path.parts and "sets" not in path.parts:  # they are not needed, and it shows
            bucket.client.put(bucket.server.bucket, str(path.relative_to(store.root)), path.read_bytes())
    bucket("index", "repair", "channel:stable")
    requests = bucket.requests("rollback", "stable")
    project = "demo99"
    beside = [one for one in requests if not one[1].startswith("channels/stable/") and not one[1].startswith("1200-linux/") and project not in one[1]]
    assert len(beside) <= 20, beside
    pages = [key for method, key in requests if method == "PUT" and key.startswith("channels/stable/")]
    assert sorted(pages) == sorted(["channels/stable/pages.json", "channels/stable/simple-json/demo99/index.html", "channels/stable/simple/demo99/", "channels/stable/simple/demo99/index.html"])
