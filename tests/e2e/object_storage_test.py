"""The commands on object storage: Ceph's radosgw, the strict double, and a double that ignores conditions. What we write, others
read, and the reverse."""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import radosgw, s3_server, small_artifacts  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402

RUN = ("--platform", "linux", "--artifact-group", small_artifacts.FAMILY)


class Store:
    """A store at an endpoint, and the program with its environment."""

    def __init__(self, endpoint: str, variables: dict[str, str], bucket: str, prefix: str):
        self.endpoint, self.bucket, self.prefix = endpoint, bucket, prefix
        self.locator = f"s3://{bucket}/{prefix}"
        self.environment = clean_environment(**variables, AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")

    def good(self, *words, **options):
        return good(*words, "--store", self.locator, environment=self.environment, **options)

    def quarry(self, *words, **options):
        return quarry(*words, "--store", self.locator, environment=self.environment, **options)

    def refused(self, code: str, exit_code: int, *words):
        return refused(code, exit_code, *words, "--store", self.locator, environment=self.environment)


@pytest.fixture(scope="session")
def ceph():
    assert radosgw.available(), "radosgw is missing: tools/setup --test"
    with radosgw.serve() as server:
        yield server


@pytest.fixture
def bucket(ceph) -> Store:
    name = radosgw.bucket_name()
    store = Store(ceph.endpoint, ceph.environment(), name, "some/prefix")
    subprocess.run(["curl", "--silent", "--fail", "--noproxy", "*", "-X", "PUT", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{radosgw.ACCESS}:{radosgw.SECRET}", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", f"{ceph.endpoint}/{name}"], check=True)
    return store


@contextlib.contextmanager
def double(*flags: str):
    with s3_server.serve(*flags) as server:
        yield server, Store(server.endpoint, server.environment(), server.bucket, "p")


def objects_of(store: Store) -> dict[str, bytes]:
    client = s3_server.Client(store.endpoint, store.environment["AWS_ACCESS_KEY_ID"], store.environment["AWS_SECRET_ACCESS_KEY"])
    return {key: client.get(store.bucket, key) for key in client.list(store.bucket)}


def publish(store: Store, packages: Path, run: str, *more: str):
    return store.good("publish", packages, "--run-id", run, *RUN, *more, "--json")


def test_a_set_lives_on_ceph(bucket, packages, next_packages, report_only_policy, tmp_path):
    first = publish(bucket, packages, "1", "--channel", "staging").json
    again = publish(bucket, packages, "1", "--channel", "staging").json
    assert again["set"] == first["set"] and again["writes"] == 0
    publish(bucket, next_packages, "2", "--channel", "staging")
    assert bucket.good("channel", "show", "staging", "--json").json["generation"] == 2
    assert bucket.good("set", "verify", "run:1").code == 0
    assert bucket.good("set", "show", "channel:staging", "--json").json["files"]

    env = tmp_path / "env"
    bucket.good("venv", "install", env, "--from", "run:1", "--packages", "rocm[libraries,devel]")
    tested = bucket.quarry("test", "--venv", env, "--json")
    assert tested.code == 0, tested.err
    assert bucket.good("evidence", "list", "--json").json["evidence"]
    report = tmp_path / "report.json"
    subprocess.run([env / "bin/rocm-sdk", "test", "--quiet", "--json", report], check=True, env=clean_environment(TMPDIR=str(tmp_path)))
    reported = bucket.good("evidence", "record", "--from-report", report, "--from", "run:1", "--json").json
    assert reported["result"] == "passed" and len(reported["subjects"]) == 4
    gate = bucket.quarry("gate", "--to", "stable", "--from", "run:1", "--policy", "demo", "--json")
    assert gate.code == 0, gate.out + gate.err

    promoted = bucket.good("promote", "--from", "run:1", "--to", "stable", "--policy", report_only_policy, "--json")
    assert promoted.code == 0
    bucket.good("promote", "--from", "run:2", "--to", "stable", "--policy", report_only_policy)
    assert bucket.good("channel", "show", "stable", "--json").json["generation"] == 2
    bucket.good("rollback", "stable")
    assert len(bucket.good("channel", "log", "stable", "--json").json["moves"]) == 3
    bucket.good("gc")
    assert bucket.good("set", "verify", "channel:stable").code == 0


def test_what_we_write_others_read(bucket, packages, tmp_path):
    publish(bucket, packages, "1", "--channel", "staging")
    good("publish", packages, "--store", f"file:{tmp_path}/files", "--run-id", "1", *RUN, "--channel", "staging")
    wheels = {path.name: path.read_bytes() for path in packages.rglob("*") if path.suffix in (".whl", ".gz")}
    keys = {key.rpartition("/")[2]: key for key in objects_of(bucket) if "/dist/" in key and not key.endswith(".metadata")}
    assert set(keys) == set(wheels)
    environment = {**bucket.environment, "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "2"}
    for name, key in keys.items():
        got = tmp_path / "aws"
        subprocess.run(["aws", "--endpoint-url", bucket.endpoint, "s3", "cp", "--quiet", f"s3://{bucket.bucket}/{key}", got], env=environment, check=True)
        assert got.read_bytes() == wheels[name]
        curl = subprocess.run(["curl", "--silent", "--fail", "--noproxy", "*", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{radosgw.ACCESS}:{radosgw.SECRET}", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "--path-as-is", f"{bucket.endpoint}/{bucket.bucket}/{key}"], capture_output=True)
        assert curl.returncode == 0 and curl.stdout == wheels[name]
    python = "/usr/bin/python3"  # Debian's boto3
    script = "import boto3, sys, hashlib; c = boto3.client('s3', endpoint_url=sys.argv[1], region_name='us-east-1'); [print(hashlib.sha256(c.get_object(Bucket=sys.argv[2], Key=k)['Body'].read()).hexdigest()) for k in sys.argv[3:]]"
    ended = subprocess.run([python, "-c", script, bucket.endpoint, bucket.bucket, *keys.values()], env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == [hashlib.sha256(wheels[name]).hexdigest() for name in keys]


def test_what_others_write_we_read(bucket, artifacts, tmp_path):
    """Archives of a run that aws uploaded are listed, fetched and verified."""
    packed = tmp_path / "packed"
    good("artifact", "pack", artifacts, "--output-dir", packed)
    files = sorted(packed.iterdir())
    environment = {**bucket.environment, "AWS_DEFAULT_REGION": "us-east-1"}
    for file in files:
        subprocess.run(["aws", "--endpoint-url", bucket.endpoint, "s3", "cp", "--quiet", file, f"s3://{bucket.bucket}/{bucket.prefix}/7-linux/{file.name}"], env=environment, check=True)
    fetched = bucket.good("artifact", "list", "run:7-linux", "--json").json
    assert fetched["artifacts"]
    out = tmp_path / "out"
    bucket.good("artifact", "fetch", "--from", "run:7-linux", "--output-dir", out)
    assert sorted(path.name for path in out.rglob("*.so*")) == sorted(path.name for path in artifacts.rglob("*.so*"))


def test_without_conditional_writes_runs_work_and_channels_are_refused(packages):
    with double("--without", "conditions,checksums") as (server, store):
        publish(store, packages, "1")
        assert store.good("set", "verify", "run:1").code == 0
        again = publish(store, packages, "1").json
        assert again["writes"] == 0
        before = objects_of(store)
        done = store.refused("R031", 1, "publish", packages, "--run-id", "2", *RUN, "--channel", "staging")
        assert "ignores conditional writes" in done.err
        assert objects_of(store) == before


def test_a_web_server_is_a_store_to_read(packages, tmp_path):
    with double() as (server, store):
        publish(store, packages, "1", "--channel", "staging")
        web = f"{server.endpoint}/public/{server.bucket}/p"
        shown = good("channel", "show", "staging", "--store", web, "--json").json
        assert shown["generation"] == 1
        assert good("set", "verify", "channel:staging", "--store", web).code == 0
        refused("R030", 2, "publish", packages, "--store", web, "--run-id", "2", *RUN)


def test_an_interrupted_publish_is_completed(packages):
    """Every reply to a write is lost once; the commands look, and end with the same store."""
    with double() as (_, store):
        publish(store, packages, "1", "--channel", "staging")
        expected = objects_of(store)
    with double() as (server, store):
        server.control("POST", {"faults": [{"method": "PUT", "key": "p/*", "action": "after", "times": 1, "skip": n} for n in range(8)]})
        for _ in range(10):
            done = store.quarry("publish", packages, "--run-id", "1", *RUN, "--channel", "staging")
            if done.code == 0:
                break
            assert done.code == 8, done.err
        names = {key for key in objects_of(store) if "/seals/" not in key and not key.startswith(("p/sets", "p/ledger", "p/views"))}
        assert names == {key for key in expected if "/seals/" not in key and not key.startswith(("p/sets", "p/ledger", "p/views"))}
        assert store.good("set", "verify", "channel:staging").code == 0


CANARY = "canary/secret/that/must/not/show"


@pytest.mark.parametrize("action", ["status:403:SignatureDoesNotMatch", "status:503:SlowDown", "before"])
def test_no_secret_in_any_output(packages, action):
    with double() as (server, store):
        store.environment |= {"AWS_SECRET_ACCESS_KEY": CANARY, "AWS_SESSION_TOKEN": CANARY + "-token"}
        server.control("POST", {"faults": [{"action": action, "times": 1000}]})
        done = store.quarry("channel", "show", "staging", timeout=300)
        assert done.code != 0
        assert "canary" not in done.out + done.err
        assert "authorization" not in (done.out + done.err).lower()


def test_profiles_are_read_as_aws_does(packages, tmp_path):
    with double() as (server, store):
        config, credentials = tmp_path / "config", tmp_path / "credentials"
        config.write_text(f"[profile ci]\nregion = eu-west-1\nendpoint_url = {server.endpoint}\n")
        variables = server.environment()
        credentials.write_text(f"[ci]\naws_access_key_id = {variables['AWS_ACCESS_KEY_ID']}\naws_secret_access_key = {variables['AWS_SECRET_ACCESS_KEY']}\n")
        environment = clean_environment(AWS_PROFILE="ci", AWS_CONFIG_FILE=str(config), AWS_SHARED_CREDENTIALS_FILE=str(credentials))
        good("publish", packages, "--run-id", "1", *RUN, "--store", store.locator, environment=environment)
        done = quarry("set", "verify", "run:1", "--store", store.locator, environment={**environment, "AWS_PROFILE": "absent"})
        assert "[K012]" in done.err
        none = clean_environment(AWS_ENDPOINT_URL=server.endpoint, AWS_EC2_METADATA_DISABLED="true", HOME=str(tmp_path))
        done = quarry("set", "verify", "run:1", "--store", store.locator, environment=none)
        assert "[K011]" in done.err and "AWS_ACCESS_KEY_ID is not set" in done.err


def test_a_certificate_that_nobody_vouches_for_is_refused(packages, tmp_path):
    pem = tmp_path / "server.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", pem, "-out", tmp_path / "cert.pem"], check=True, capture_output=True)
    pem.write_text(pem.read_text() + (tmp_path / "cert.pem").read_text())
    with double("--tls", str(pem)) as (server, store):
        store.environment.pop("SSL_CERT_FILE", None)
        store.refused("H003", 12, "publish", packages, "--run-id", "1", *RUN)
        store.environment["SSL_CERT_FILE"] = str(tmp_path / "cert.pem")
        publish(store, packages, "1")
        assert store.good("set", "verify", "run:1").code == 0
