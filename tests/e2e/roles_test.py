"""Bucket policies as the guide's table of roles gives them, on Ceph: neither who tests nor who publishes gets an untested file into
`stable`, by ordinary commands or by objects that they write by hand."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import urllib.error
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import radosgw, s3_server, small_artifacts  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import BY_UV, ROOT, clean_environment, good, quarry  # noqa: E402

GUIDE = ROOT / "docs/guides/object-storage.md"
ROLES = ("test", "publish", "promote", "approve")
PREFIX = "quarry/"
RUN = ("--platform", "linux", "--artifact-group", small_artifacts.FAMILY)
NOBODYS = ["policies/", "python-deps/", "gc/", "settings.json"]  # the guide's list beside the table


def rows() -> dict[str, tuple[list[str], bool]]:
    """What each role of the guide's table writes, and whether it deletes the same."""
    cells = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in GUIDE.read_text().splitlines() if line.startswith("| ")]
    found = {row[0]: (re.findall(r"`([^`]+)`", row[2]), row[3] == "the same") for row in cells if row[0] in ROLES and len(row) == 4}
    assert set(found) == set(ROLES) and all(keys for keys, _ in found.values())
    assert all(f"`{key}`" in GUIDE.read_text() for key in NOBODYS)
    return found


def policy_of(bucket: str) -> dict:
    def resources(keys: list[str]) -> list[str]:
        return [f"arn:aws:s3:::{bucket}/{PREFIX}{key}{'*' if key.endswith('/') else ''}" for key in keys]

    everything = [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]
    table, statements = rows(), [{"Effect": "Allow", "Principal": {"AWS": ["arn:aws:iam:::user/test"]}, "Action": ["s3:*"], "Resource": everything}]
    for role, (keys, deletes) in table.items():
        who = {"AWS": [f"arn:aws:iam:::user/role-{role}"]}
        others = sorted({key for other in table for key in table[other][0] if key not in keys} | set(NOBODYS))
        actions = ["s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"] + ["s3:DeleteObject"] * deletes
        reading = ["s3:ListBucket", "s3:ListBucketMultipartUploads", "s3:GetLifecycleConfiguration", "s3:GetObject"]
        statements += [
            {"Effect": "Allow", "Principal": who, "Action": reading, "Resource": everything},
            {"Effect": "Allow", "Principal": who, "Action": actions, "Resource": resources(keys)},
            {"Effect": "Deny", "Principal": who, "Action": ["s3:PutObject", "s3:DeleteObject"], "Resource": resources(others)},
        ]
    return {"Version": "2012-10-17", "Statement": statements}


def canonical(record: dict) -> bytes:
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Role:
    """A user of the bucket: the program, and requests made by hand."""

    def __init__(self, bucket: str, variables: dict[str, str]):
        self.bucket = bucket
        self.environment = clean_environment(**variables, AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        self.client = s3_server.Client(variables["AWS_ENDPOINT_URL"], variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"])

    def __call__(self, *words):
        cut = words.index("--") if "--" in words else len(words)  # what follows is the suite's own command
        return quarry(*words[:cut], "--store", f"s3://{self.bucket}/{PREFIX.rstrip('/')}", *words[cut:], environment=self.environment)

    def good(self, *words):
        done = self(*words)
        assert done.code == 0, done.out + done.err
        return done

    def keys(self, below: str = "") -> list[str]:
        return [key.removeprefix(PREFIX) for key in self.client.list(self.bucket, PREFIX + below)]

    def get(self, key: str) -> bytes:
        return self.client.get(self.bucket, PREFIX + key)

    def put(self, key: str, body: bytes, more: dict[str, str] | None = None) -> None:
        self.client.put(self.bucket, PREFIX + key, body, more)

    def may(self, act) -> bool:
        try:
            act()
            return True
        except urllib.error.HTTPError as error:
            assert error.code == 403, error
            return False


class Line:
    """Run 1 was tested and is in `stable`; run 2 is in `staging` and was not tested."""

    def __init__(self, server, packages: Path, next_packages: Path, place: Path):
        self.bucket, self.place = radosgw.bucket_name(), place
        self.owner = Role(self.bucket, server.environment())
        self.owner.client.make_bucket(self.bucket)
        self.roles = {name: Role(self.bucket, server.user(f"role-{name}")) for name in ROLES}
        self.owner.client.send("PUT", f"/{self.bucket}", {"policy": ""}, json.dumps(policy_of(self.bucket)).encode())
        keys = {name: good("key", "create", "--output", place / f"{name}.pem", "--json").json["key"] for name in ("tester", "lead", "thief")}
        signers = "".join(f'[[signer]]\nname = "{name}"\nkey = "{keys[name]}"\nsigns = ["{kind}"]\n' for name, kind in (("tester", "evidence"), ("lead", "waivers")))
        self.policy, self.lax = place / "signed.toml", place / "lax.toml"
        self.policy.write_text(smoke_policy("signed", "rocm-sdk", signers))
        self.lax.write_text(smoke_policy("lax", "rocm-sdk").replace('name = "lax"\n', 'name = "lax"\nmode = "report_only"\n'))
        self.owner.good("doctor")
        self.publish(packages, "1")
        self.owner.good("channel", "protect", "stable", "--policy", self.policy, "--reason", "what people install", "--demand", "evidence-signers", "--demand", "waiver-signers")
        self.roles["test"].good("venv", "install", *BY_UV, place / "env", "--from", "run:1", "--packages", "rocm[libraries,devel]")
        self.roles["test"].good("test", "--venv", place / "env", "--sign", place / "tester.pem")
        assert self.promote("run:1").code == 0, "each role can do its work"
        self.publish(next_packages, "2")
        sets = {one["run_id"]: one["set"] for one in self.owner.good("set", "list", "--json").json["sets"]}
        self.tested_set, self.untested_set = sets["1"], sets["2"]
        self.tested = {file["sha256"] for file in self.record(self.tested_set)["files"]}
        self.stable = self.objects_of_stable()

    def publish(self, packages: Path, run: str) -> None:
        self.roles["publish"].good("publish", packages, "--run-id", run, *RUN, "--channel", "staging")

    def promote(self, source: str):
        return self.roles["promote"]("promote", "--from", source, "--to", "stable")

    def record(self, digest: str) -> dict:
        return json.loads(self.owner.get(f"sets/{digest}.json"))

    def objects_of_stable(self) -> dict[str, bytes]:
        return {key: self.owner.get(key) for key in self.owner.keys() if key.startswith(("channels/stable", "policies/", "waivers/", "verdicts/"))}

    def shown(self) -> set[str]:
        """The sha256 of every file to which a page of `stable` leads."""
        found = set()
        for key, text in self.objects_of_stable().items():
            if key.startswith("channels/stable/"):
                found |= set(re.findall(rb"#sha256=([0-9a-f]{64})", text)) | set(re.findall(rb'"hashes":\s*{"sha256":\s*"([0-9a-f]{64})"', text))
        return {one.decode() for one in found}

    def check(self, *sources: str, codes: tuple[int, ...] = (10,)) -> None:
        """What runs every night moves nothing that was not tested."""
        for source in ("run:2", "channel:staging", *sources):
            done = self.promote(source)
            assert done.code in codes, done.out + done.err
        assert self.objects_of_stable() == self.stable
        assert self.shown() == self.tested
        assert {file["sha256"] for file in self.owner.good("channel", "show", "stable", "--json").json["files"]} == self.tested


@pytest.fixture(scope="module")
def line(ceph, packages, next_packages, tmp_path_factory) -> Line:
    return Line(ceph, packages, next_packages, tmp_path_factory.mktemp("roles"))


@pytest.mark.parametrize("name", ROLES)
def test_a_role_writes_what_its_row_says(line, name):
    """Every object of the store, and keys that a wildcard or a path might reach."""
    role, (prefixes, deletes) = line.roles[name], rows()[name]
    reached = ["channels/stable/simple/x-linux/index.html", "channels/stable/merged/simple/x-windows/index.html", "channels/stable-x.json", "evidence/../channels/stable.json", "x-linux/../channels/stable.json", "settings.json", "python-deps/simple/x/index.html", "gc/marks.json", "policies/x.json", "waivers/x.json", "waivers/revoked/x.json", "verdicts/x.json", "evidence/x.json", "signatures/x/y.json", "9-linux/python/g/dist/x.whl", ".quarry/x", "plans/x.json"]
    table = {key for keys, _ in rows().values() for key in keys} | set(NOBODYS)

    def covers(prefix: str, key: str) -> bool:
        pattern = re.escape(prefix).replace(r"\*", ".*") + (".*" if prefix.endswith("/") else "")
        return re.fullmatch(pattern, key) is not None

    for key in sorted(set(line.owner.keys()) | set(reached)):
        known = key in line.owner.keys() if key in reached else True
        body = line.owner.get(key) if known else b"x"
        own = any(covers(prefix, key) for prefix in prefixes)
        denied = any(covers(prefix, key) for prefix in table - set(prefixes))
        if not own or denied:
            assert not role.may(lambda: role.put(key, body)), f"{name} wrote {key}"
            assert not role.may(lambda: role.client.delete(role.bucket, PREFIX + key)), f"{name} removed {key}"
        elif not known:
            assert role.may(lambda: role.put(key, body)), f"{name} may write {key}"
            assert role.may(lambda: role.client.delete(role.bucket, PREFIX + key)) == deletes, key
            line.owner.client.delete(line.bucket, PREFIX + key)
    line.check()


@pytest.mark.parametrize("name", ["test", "publish"])
def test_ordinary_commands_do_not_move_the_channel(line, name, next_packages):
    role = line.roles[name]
    (wheel, *_) = [file["filename"] for file in line.record(line.tested_set)["files"]]
    reason = ("--reason", "x")
    attempts = [
        ("publish", next_packages, "--run-id", "3", *RUN, "--channel", "stable"),
        ("promote", "--from", "run:2", "--to", "stable"),
        ("promote", "--from", "run:2", "--to", "stable", "--cells", "ready"),
        ("promote", "--from", "run:2", "--to", "stable", "--policy", line.lax),
        ("promote", "--from", "run:2", "--to", "stable-x", "--policy", line.lax),
        ("waive", "--to", "stable", "--everything", *reason, "--approver", "lead", "--expires", "1h", "--policy", line.lax),
        ("waive", "--to", "stable", "--everything", *reason, "--approver", "lead", "--expires", "1h", "--sign", line.place / "thief.pem"),
        ("channel", "unprotect", "stable", *reason),
        ("channel", "protect", "stable", "--policy", line.lax, *reason),
        ("key", "revoke", "tester", "--channel", "stable", *reason),
        ("rollback", "stable", *reason),
        ("yank", wheel, "--channel", "stable", *reason),
        ("store", "setting", "--find-links", "other"),
        ("release", "create", "--from", "run:2"),
        ("gc", "--grace", "0s"),
    ]
    for words in attempts:
        done = role(*words)
        assert done.code in (2, 3, 4, 10), f"{words}: {done.code}\n{done.out}{done.err}"
    line.check()


def test_results_made_by_hand_count_for_nothing(line):
    role, place = line.roles["test"], line.place
    (key,) = [key for key in line.owner.keys("evidence/") if re.fullmatch(r"evidence/[0-9a-f]{64}\.json", key)]
    genuine = role.get(key)
    (signature,) = line.owner.keys(f"signatures/{sha256(genuine)}/")
    files = [{name: file[name] for name in ("filename", "project", "version", "size", "sha256")} for file in line.record(line.untested_set)["files"]]
    forged = canonical({**json.loads(genuine), "set": line.untested_set, "subjects": sorted(files, key=lambda file: file["sha256"])})
    for record in (forged, canonical({**json.loads(forged), "machine": {"gpu": "x"}})):
        role.put(f"evidence/{sha256(record)}.json", record)
        role.put(f"evidence/attempts/{line.untested_set}/{sha256(record)}", b"")
    line.check()
    reasons = line.owner("gate", "--from", "run:2", "--to", "stable", "--json").json["cells"][0]["reasons"]
    assert "not signed by tester" in reasons[0], "it was read"
    envelope = json.loads(role.get(signature))
    payload = base64.b64decode(envelope["payload"]).replace(sha256(genuine).encode(), sha256(forged).encode())
    for body in (role.get(signature), canonical({**envelope, "payload": base64.b64encode(payload).decode()})):
        role.put(signature.replace(sha256(genuine), sha256(forged)), body)
        line.check()
    # Run by Quarry and signed: by another key.
    role.good("venv", "install", *BY_UV, place / "next", "--from", "run:2", "--packages", "rocm[libraries,devel]")
    assert "X003" in role("test", "--venv", place / "next", "--suite", "rocm-sdk", "--sign", place / "thief.pem", "--", "true").err
    role.good("test", "--venv", place / "next", "--sign", place / "thief.pem")
    role.good("evidence", "expect", "--cell", f"linux/{small_artifacts.FAMILY}/3.11", "--from", "run:2", "--runner", "x", "--state", "success", "--job", "https://ci.example/1")
    line.check()
    # A record that was signed says something else now.
    role.put(key, forged)
    line.check()
    line.owner.put(key, genuine)


def seal(record: dict, place: str) -> tuple[str, bytes]:
    body = {"schema": "quarry.seal/1", "set": sha256(canonical(record)), "directory": place, "time": "2026-01-01T00:00:00.000000Z"}
    return f"{place}/seals/{body['set']}.json", canonical({**body, "digest": sha256(canonical(body))})


def test_sets_made_by_hand_are_not_tested_ones(line):
    role, tested, untested = line.roles["publish"], line.record(line.tested_set), line.record(line.untested_set)
    stolen = [{**file, "key": other["key"], "size": other["size"]} for file, other in zip(tested["files"], untested["files"], strict=True)]
    sets = [
        {**untested, "subset_of": line.tested_set},  # a part of what was tested
        {**tested, "files": stolen, "subset_of": line.tested_set},  # its digests for other objects
        {**untested, "directory": tested["directory"]},  # beside it
    ]
    written = []
    for record in sets:
        key, body = seal(record, record["directory"])
        role.put(f"sets/{sha256(canonical(record))}.json", canonical(record))
        role.put(key, body)
        written.append(key)
        line.check(f"set:{sha256(canonical(record))}", "run:1", codes=(0, 3, 6, 7, 10))  # 0: nothing to do
        line.owner.client.delete(line.bucket, PREFIX + key)
    derivation = {"schema": "quarry.derivation/1", "set": line.untested_set, "from": line.tested_set}
    role.put(f"derivations/{line.untested_set}.json", canonical(derivation))
    line.check()


def test_overwritten_records_are_refused(line):
    role = line.roles["publish"]
    pointer = json.loads(line.owner.get("channels/stable.json"))
    staging = json.loads(line.owner.get("channels/staging.json"))
    untested = line.owner.get(f"views/{staging['view']}.json")
    for key, body in ((f"views/{pointer['view']}.json", untested), (f"sets/{line.tested_set}.json", canonical(line.record(line.untested_set)))):
        before = line.owner.get(key)
        role.put(key, body)
        for source in ("run:2", "channel:staging"):
            assert line.promote(source).code in (6, 10)
        assert line.objects_of_stable() == line.stable
        shown = line.owner("channel", "show", "stable", "--json")
        assert shown.code == 6 or {file["sha256"] for file in shown.json["files"]} == line.tested
        line.owner.put(key, before)
    line.check()
    # A channel that is theirs to write, and says that it is another.
    before = line.owner.get("channels/staging.json")
    body = {name: value for name, value in {**staging, "view": pointer["view"], "policy": pointer["policy"]}.items() if name != "digest"}
    role.put("channels/staging.json", canonical({**body, "digest": sha256(canonical(body))}))
    line.check(codes=(0, 3, 6, 10))
    line.owner.put("channels/staging.json", before)


def test_an_overwritten_package_is_not_installed(line, tmp_path):
    """Before and after it moved. The object says of itself that it has the digest of what was tested."""
    role, record = line.roles["publish"], line.record(line.tested_set)
    (wheel,) = [file for file in record["files"] if "core" in file["filename"]]
    before = line.owner.get(wheel["key"])
    altered = bytes([*before[:-1], before[-1] ^ 1])
    line.owner.good("channel", "protect", "lts", "--policy", line.policy, "--reason", "x")
    role.put(wheel["key"], altered)
    said = line.owner("promote", "--from", "run:1", "--to", "lts")
    assert said.code == 6 and "O003" in said.err, said.out + said.err
    role.put(wheel["key"], altered, {"x-amz-meta-quarry-sha256": wheel["sha256"]})
    said = line.owner("promote", "--from", "run:1", "--to", "lts")
    assert said.code == 6 and "O003" in said.err, said.out + said.err
    line.check()
    for source in ("channel:stable", "run:1"):
        done = line.roles["test"]("venv", "install", *BY_UV, tmp_path / "env", "--from", source, "--packages", "rocm[libraries]")
        assert done.code == 6 and wheel["filename"] in done.err, done.out + done.err
    found = line.owner("channel", "verify", "stable", "--deep", "--json")
    assert found.code == 6 and [one["code"] for one in found.json["findings"]] == ["P021"]
    line.owner.put(wheel["key"], before, {"x-amz-meta-quarry-sha256": wheel["sha256"]})
    assert line.owner("channel", "verify", "stable", "--deep").code == 0
    line.check()
