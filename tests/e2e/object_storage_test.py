"""The commands on object storage: Ceph's radosgw, the strict double, and a double that ignores conditions. What we write, others
read, and the reverse."""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import radosgw, s3_server, small_artifacts  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry, refused  # noqa: E402

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


def publish(store: Store, packages: Path, run: str, *more: str, **options):
    return store.good("publish", packages, "--run-id", run, *RUN, *more, "--json", **options)


def test_a_set_lives_on_ceph(bucket, packages, next_packages, report_only_policy, tmp_path):
    first = publish(bucket, packages, "1", "--channel", "staging").json
    again = publish(bucket, packages, "1", "--channel", "staging").json
    assert again["set"] == first["set"] and again["writes"] == 0
    publish(bucket, next_packages, "2", "--channel", "staging")
    assert bucket.good("channel", "show", "staging", "--json").json["generation"] == 2
    assert bucket.good("set", "verify", "run:1").code == 0
    assert bucket.good("set", "show", "channel:staging", "--json").json["files"]

    env = tmp_path / "env"
    bucket.good("venv", "install", *BY_UV, env, "--from", "run:1", "--packages", "rocm[libraries,devel]")
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
    (directory,) = {key.rpartition("/")[0] for key in keys.values()}
    subprocess.run(["aws", "--endpoint-url", bucket.endpoint, "s3", "cp", "--quiet", "--recursive", f"s3://{bucket.bucket}/{directory}/", tmp_path / "aws"], env=environment, check=True)
    for name, key in keys.items():
        assert (tmp_path / "aws" / name).read_bytes() == wheels[name]
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
    environment = {**bucket.environment, "AWS_DEFAULT_REGION": "us-east-1"}
    subprocess.run(["aws", "--endpoint-url", bucket.endpoint, "s3", "cp", "--quiet", "--recursive", packed, f"s3://{bucket.bucket}/{bucket.prefix}/7-linux/"], env=environment, check=True)
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
        assert f"no credentials were found for {store.locator}/" in done.err, done.err


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


def header_of(store: Store, key: str, name: str) -> str:
    """As anybody's client sees it: HEAD on the object."""
    ended = subprocess.run(["curl", "--silent", "--fail", "--head", "--noproxy", "*", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{radosgw.ACCESS}:{radosgw.SECRET}", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "--path-as-is", f"{store.endpoint}/{store.bucket}/{urllib.parse.quote(key)}"], capture_output=True, text=True, check=True)
    return next((line.partition(":")[2].strip() for line in ended.stdout.splitlines() if line.lower().startswith(name.lower() + ":")), "")


def test_caches_keep_what_never_changes_and_ask_again_for_the_rest(bucket, packages):
    publish(bucket, packages, "1", "--channel", "staging")
    for key in objects_of(bucket):
        if "/.quarry/" in key:
            continue
        cache = header_of(bucket, key, "cache-control")
        page = key.endswith(("index.html", "pages.json", "/"))
        pointer = "/channels/" in key and key.endswith(".json") and not page
        expected = "public, max-age=60" if page else "no-cache" if pointer else "public, max-age=31536000, immutable"
        assert cache == expected, key
        if page and not key.endswith("pages.json"):
            assert header_of(bucket, key, "content-type") == ("application/vnd.pypi.simple.v1+json" if "/simple-json/" in key else "text/html"), key


def put(store: Store, key: str, text: bytes, **headers: str) -> None:
    words = [word for name, value in headers.items() for word in ("-H", f"{name.replace('_', '-')}: {value}")]
    subprocess.run(["curl", "--silent", "--fail", "--noproxy", "*", "-X", "PUT", "--data-binary", "@-", *words, "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{radosgw.ACCESS}:{radosgw.SECRET}", "-H", f"x-amz-content-sha256: {hashlib.sha256(text).hexdigest()}", "--path-as-is", f"{store.endpoint}/{store.bucket}/{urllib.parse.quote(key)}"], input=text, check=True, capture_output=True)


def test_an_index_in_object_storage_is_checked_and_made_again(bucket, packages):
    publish(bucket, packages, "1", "--channel", "staging")
    tree = f"{bucket.locator}/channels/staging"
    environment = bucket.environment

    def check(*words: str, code: int = 1):
        done = quarry("index", "check", *words, "--json", environment=environment)
        assert done.code == code, done.out + done.err
        return {(f["code"], f["place"].partition(":")[0]) for f in done.json["findings"] if f["severity"] == "error"}

    assert check(tree, code=0) == set()
    assert check("channel:staging", "--store", bucket.locator, code=0) == set()
    assert check("run:1", "--store", bucket.locator, "--no-content", code=0) == set()
    before = objects_of(bucket)
    page = "some/prefix/channels/staging/simple/rocm/index.html"
    put(bucket, page, before[page], content_type="binary/octet-stream")
    assert check(tree, "--no-content") == {("I022", "simple/rocm/index.html")}
    put(bucket, page, before[page].replace(b"rocm-", b"mocr-"), content_type="text/html")
    assert ("I017", "simple/rocm/index.html") in check(tree, "--no-content")
    assert good("index", "repair", tree, environment=environment, timeout=300).code == 0
    assert check(tree, code=0) == set()
    sidecar = next(key for key in before if key.endswith(".metadata"))
    put(bucket, sidecar, b"other", content_type="text/plain")
    assert {code for code, _ in check(tree, "--no-content", code=6)} == {"I014"}
    directory = sidecar.partition("/dist/")[0]
    good("index", "rebuild", f"s3://{bucket.bucket}/{directory}", environment=environment)
    assert header_of(bucket, sidecar, "cache-control").endswith("immutable")
    assert check(tree, code=0) == set()
    after = objects_of(bucket)
    assert {k: v for k, v in after.items() if "/.quarry/" not in k} == {k: v for k, v in before.items() if "/.quarry/" not in k}
    refused("L009", 2, "index", "repair", f"s3://{bucket.bucket}/elsewhere", environment=environment)


def test_links_lead_through_the_public_url(bucket, packages, tmp_path):
    outputs, summary = tmp_path / "outputs", tmp_path / "summary"
    bucket.environment |= {"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(summary)}
    (tmp_path / "quarry.toml").write_text(f'public-url = "s3://{bucket.bucket}=https://cdn.example.org/rocm"\n')
    done = publish(bucket, packages, "1", "--channel", "staging", "--external-repo", "o-r", cwd=tmp_path)
    base = "https://cdn.example.org/rocm/some/prefix"
    assert done.json["channel"]["index_url"] == f"{base}/channels/staging/simple/"
    assert done.json["index_url"].startswith(f"{base}/o-r/1-linux/python/")
    said = outputs.read_text() + summary.read_text()
    assert bucket.endpoint not in said and f"channel_index_url={base}/channels/staging/simple/\n" in said
    shown = bucket.good("channel", "show", "staging", "--public-url", "https://other.example/x", "--json").json
    assert shown["index_url"] == "https://other.example/x/channels/staging/simple/"
    bucket.refused("P013", 2, "channel", "show", "staging", "--public-url", "https://other.example/?x")


def test_what_is_promoted_is_copied_to_a_distribution_bucket(ceph, bucket, packages, next_packages, report_only_policy):
    """Files, records, pages, pointer; on the server; with the shipped prefixes; again, and it is there already."""
    other = radosgw.bucket_name()
    subprocess.run(["curl", "--silent", "--fail", "--noproxy", "*", "-X", "PUT", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{radosgw.ACCESS}:{radosgw.SECRET}", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", f"{ceph.endpoint}/{other}"], check=True)
    dist = Store(ceph.endpoint, ceph.environment(), other, "")
    dist.locator = f"s3://{other}"
    family = small_artifacts.FAMILY
    publish(bucket, packages, "1")
    publish(bucket, next_packages, "2")

    def promote(source: str, channel: str, *more: str):
        return bucket.good("promote", "--from", source, "--to", channel, "--policy", report_only_policy, "--to-store", dist.locator, *more, "--json").json

    dry = promote("run:1", "staging", "--dry-run")
    assert objects_of(dist) == {} and dry["distribution"]["sets"][0]["directory"] == f"v2-staging/{family}"
    elsewhere = bucket.quarry("promote", "--from", "run:1", "--to", "staging", "--policy", report_only_policy, "--execute", dry["plan"])
    assert elsewhere.code == 7, "the plan names its destination"
    public = ("--public-url", f"{dist.locator}=https://repo.example.org")
    done = promote("run:1", "staging", "--execute", dry["plan"], *public)["distribution"]
    assert done["repositories"] == [f"https://repo.example.org/v2-staging/{family}/"]
    assert done["bytes_through"] > 0, "a copy on this server cannot keep its condition, and so passes through the client"
    assert done["files"] == len([p for p in packages.rglob("*") if p.suffix in (".whl", ".gz")])
    copied = {key.rpartition("/")[2]: bytes_ for key, bytes_ in objects_of(dist).items() if key.endswith((".whl", ".gz"))}
    assert copied == {path.name: path.read_bytes() for path in packages.rglob("*") if path.suffix in (".whl", ".gz")}

    moved = promote("channel:staging", "stable")["distribution"]
    assert [row["directory"] for row in moved["sets"]] == [f"v2/{family}"]
    promote("run:2", "stable")
    before = objects_of(dist)
    assert promote("run:2", "stable")["distribution"]["writes"] == 0
    pointer = json.loads(before[f"v2/{family}/distribution.json"])
    assert len(pointer["sets"]) == 2 and all(row["source"] for row in pointer["sets"])
    for tree in (f"v2/{family}", f"v2-staging/{family}"):
        assert good("index", "check", f"{dist.locator}/{tree}", environment=dist.environment).code == 0
    assert header_of(dist, f"v2/{family}/rocm/index.html", "cache-control") == "public, max-age=60"
    wheel = next(key for key in before if key.endswith(".whl"))
    assert header_of(dist, wheel, "cache-control").endswith("immutable")
    assert header_of(dist, wheel, "content-type") == "application/zip"

    # what a killed copy leaves is completed; a name with other bytes is a conflict
    lost = next(key for key in before if key.startswith("v2/") and key.endswith(".whl"))
    for key in (lost, f"v2/{family}/rocm/index.html"):
        subprocess.run(["curl", "--silent", "--fail", "--noproxy", "*", "-X", "DELETE", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{radosgw.ACCESS}:{radosgw.SECRET}", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "--path-as-is", f"{ceph.endpoint}/{other}/{urllib.parse.quote(key)}"], check=True)
    for run in ("1", "2"):
        promote(f"run:{run}", "stable")
    after = objects_of(dist)
    assert after == before
    put(dist, lost, b"somebody else's")
    refusals = [bucket.quarry("promote", "--from", f"run:{run}", "--to", "stable", "--policy", report_only_policy, "--to-store", dist.locator) for run in ("1", "2")]
    assert any(done.code == 7 and "[R009]" in done.err for done in refusals), refusals
    bucket.refused("O008", 2, "promote", "--from", "run:1", "--to", "stable", "--policy", report_only_policy, "--prefix", "v2")

    # what would stop the copy is found before the channel moves
    for more in (["--prefix", "../x"], ["--prefix", "v2/{bogus}"]):
        bucket.refused("P041", 2, "promote", "--from", "run:1", "--to", "fresh", "--policy", report_only_policy, "--to-store", dist.locator, *more)
    bucket.refused("R009", 7, "promote", "--from", "channel:stable", "--to", "fresh", "--policy", report_only_policy, "--to-store", dist.locator, "--prefix", f"v2/{family}")
    bucket.refused("R030", 2, "promote", "--from", "run:1", "--to", "fresh", "--policy", report_only_policy, "--to-store", "http://127.0.0.1:9/x", "--prefix", "v2")
    bucket.refused("R015", 3, "channel", "show", "fresh")


def test_distributions_are_installed_from(ceph, bucket, packages, report_only_policy, tmp_path):
    """A directory as the target: the same tree, which a plain installer reads through a web server."""
    from support.clients import client
    from support.static_server import serve

    publish(bucket, packages, "1")
    dist = tmp_path / "dist"
    done = bucket.good("promote", "--from", "run:1", "--to", "stable", "--policy", report_only_policy, "--to-store", f"file:{dist}", "--prefix", "v2/{family}", "--json").json["distribution"]
    assert done["bytes_through"] > 0  # another kind of store: through us, hashed on the way
    with serve(dist) as (url, _):
        ended = client("pip-newest").run("download", "--no-cache-dir", "--no-deps", "--pre", "--dest", tmp_path / "got", "--index-url", f"{url}/v2/{small_artifacts.FAMILY}/", "rocm-sdk-core")
        assert ended.returncode == 0, ended.stdout + ended.stderr
    got = next((tmp_path / "got").iterdir())
    assert got.read_bytes() == next(path for path in packages.rglob(got.name)).read_bytes()


def checks_of(store: Store, code: int) -> dict[str, dict]:
    done = store.quarry("doctor", "--json")
    assert done.code == code, done.out + done.err
    return {check["name"]: check for check in done.json["checks"]}


def test_the_doctor_looks_at_a_store(bucket):
    checks = checks_of(bucket, 0)
    assert list(checks) == ["place", "credentials", "clock", "conditions", "lifecycle", "write", "read", "copy", "list", "delete"]
    assert checks["credentials"]["found"] == "from the environment" and "conditional writes" in checks["conditions"]["found"]
    assert not [key for key in objects_of(bucket) if "probe" in key or "doctor" in key]


@pytest.mark.parametrize(
    ("faults", "variables", "failing", "says"),
    [
        ([], {"AWS_SECRET_ACCESS_KEY": "canary"}, "bucket", "K004"),
        ([], {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": "/nonexistent"}, "credentials", "K011"),
        ([{"action": "skew", "times": 1000}], {}, "clock", "K009"),
        ([{"action": "status:403:AccessDenied", "method": "PUT", "key": "*/probe-*", "times": 1000}], {}, "conditions", "K003"),
        ([{"action": "status:403:AccessDenied", "method": "PUT", "key": "*/quarry-doctor/*", "times": 1000}], {}, "write", "K003"),
        ([{"action": "status:403:AccessDenied", "method": "GET", "key": "*/quarry-doctor/*", "times": 1000}], {}, "read", "K003"),
        ([{"action": "status:403:AccessDenied", "method": "GET", "query": "list-type", "times": 1000}], {}, "list", "K003"),
        ([{"action": "status:403:AccessDenied", "method": "DELETE", "times": 1000}], {}, "delete", "K003"),
    ],
)
def test_each_failure_of_a_store_names_the_next_step(faults, variables, failing, says):
    with double() as (server, store):
        store.environment |= variables
        server.control("POST", {"faults": faults})
        checks = checks_of(store, 1)
        assert checks[failing]["health"] == "failed" and f"[{says}]" in checks[failing]["found"] and checks[failing]["next"]
        assert "canary" not in json.dumps(checks)


def test_the_doctor_believes_only_what_it_sees():
    with double() as (server, store):
        checks_of(store, 0)
        server.control("POST", {"faults": [{"action": "replaced", "method": "GET", "key": "*/quarry-doctor/*", "times": 1000}]})
        assert checks_of(store, 1)["read"]["health"] == "failed"
        server.control("DELETE")
        server.control("POST", {"faults": [{"action": "stuck", "method": "DELETE", "key": "*/quarry-doctor/*", "times": 1000}]})
        assert checks_of(store, 1)["delete"]["health"] == "failed"


def test_the_doctor_leaves_no_trace_in_a_directory(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for place, code, names in (
        (f"{tmp_path}/empty", 0, ["write", "read", "copy", "list", "delete"]),
        (f"{tmp_path}/empty/not/yet", 0, ["write", "read", "copy", "list", "delete", "store"]),
        (f"{tmp_path}/file/below/x", 1, ["store"]),
        ("/proc/x", 1, ["store"]),
    ):
        done = quarry("doctor", "--store", f"file:{place}", "--json")
        assert (done.code, [check["name"] for check in done.json["checks"]]) == (code, names), done.out
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["empty", "file"]
    good("store", "put", tmp_path / "file", "k", "--store", f"file:{tmp_path}/empty")
    before = sorted(tmp_path.rglob("k")), (tmp_path / "empty/quarry-doctor").exists()
    good("doctor", "--store", f"file:{tmp_path}/empty")
    assert before == (sorted(tmp_path.rglob("k")), (tmp_path / "empty/quarry-doctor").exists())


@pytest.mark.parametrize("action", ["page:200", "page:403", "redirect:302:https://login.example/?token=canary"])
def test_what_is_not_the_stores_answer_is_told_by_every_command(packages, tmp_path, action):
    with double() as (server, store):
        publish(store, packages, "1", "--channel", "staging")
        server.control("POST", {"faults": [{"action": action, "times": 100000}]})
        for words in (
            ("publish", packages, "--run-id", "2", *RUN),
            ("channel", "show", "staging"),
            ("rollback", "staging"),
            ("set", "show", "run:1-linux"),
            ("artifact", "list", "run:1-linux"),
            ("store", "put", next(packages.rglob("*.whl")), "k"),
        ):
            assert "canary" not in store.refused("K020", 6, *words).err
        if action == "page:200":
            refused("K020", 6, "channel", "show", "staging", "--store", f"{server.endpoint}/public/{server.bucket}/p", environment=store.environment)


@pytest.mark.parametrize(("action", "code", "exit_code"), [("status:500:InternalError", "K006", 5), ("status:507:InsufficientStorage", "K014", 5), ("before", "R004", 8)])
def test_a_store_that_fails_each_write_is_no_rival(packages, archives, action, code, exit_code):
    with double() as (server, store):
        publish(store, packages, "1", "--channel", "staging")
        server.control("DELETE")
        for key in ("*upload.json", "*channels/staging.json"):
            server.control("POST", {"faults": [{"action": action, "method": "PUT", "key": key, "times": 100000}]})
        store.refused(code, exit_code, "run", "upload", archives, "--run-id", "63", "--platform", "linux")
        assert len([row for row in server.control("GET")["ledger"] if row[0] == "PUT"]) <= 6
        if code != "R004":
            store.refused(code, exit_code, "publish", packages, "--run-id", "2", *RUN, "--channel", "staging")


def test_what_is_denied_ends_with_4(packages):
    with double() as (server, store):
        store.environment |= {"QUARRY_S3_ANONYMOUS": "1"}
        assert "credentials" in store.refused("K003", 4, "channel", "show", "staging").err
        server.control("DELETE")
        store.environment |= {"QUARRY_S3_ANONYMOUS": "", "AWS_SECRET_ACCESS_KEY": "canary\n"}
        done = store.refused("K015", 4, "channel", "show", "staging")
        assert "AWS_SECRET_ACCESS_KEY" in done.err and "canary" not in done.err
        assert server.control("GET")["ledger"] == []


def test_a_channel_that_cannot_be_read_is_a_note(packages, next_packages):
    """A role that may not read the channel plans all the same, and is told what was not compared."""
    with double() as (server, store):
        publish(store, packages, "1", "--channel", "staging")
        words = ("publish", next_packages, "--run-id", "2", *RUN, "--channel", "staging", "--dry-run")
        assert "could not be read" not in store.good(*words).err
        server.control("POST", {"faults": [{"action": "status:403:AccessDenied", "method": "GET", "key": "p/channels/staging.json", "times": 1000}]})
        done = store.good(*words)
        said = " ".join(done.err.split())
        assert "note[Q421]: channel staging: the channel could not be read (K003: " in said, done.err
        assert "so versions are not compared with what it shows" in said


def test_an_object_that_vanishes_while_put_looks_at_it_is_stored(tmp_path):
    """The server says that the key exists; by the time it is compared, somebody has removed it."""
    (tmp_path / "a.bin").write_bytes(b"one")
    with double() as (server, store):
        store.good("store", "put", tmp_path / "a.bin", "probed")
        server.control("DELETE")
        server.control("POST", {"faults": [{"action": "status:412:PreconditionFailed", "method": "PUT", "key": "p/k", "times": 1}]})
        assert store.good("store", "put", tmp_path / "a.bin", "k").out == "k  3 bytes\n"
        assert objects_of(store)["p/k"] == b"one"
        assert len([row for row in server.control("GET")["ledger"] if row[:2] == ["PUT", "p/k"]]) == 2
        store.good("store", "put", tmp_path / "a.bin", "k")  # now it is there, with these bytes
        (tmp_path / "a.bin").write_bytes(b"two")
        store.refused("R009", 7, "store", "put", tmp_path / "a.bin", "k")


def test_a_directory_of_a_bucket_names_its_sets(bucket, packages):
    digest = publish(bucket, packages, "1").json["set"]
    directory = f"1-linux/python/{small_artifacts.FAMILY}"
    for place in (directory, directory + "/", f"{bucket.locator}/{directory}"):
        assert bucket.good("set", "show", place, "--json").json["sets"][0]["set"] == digest
        assert bucket.good("set", "verify", place).code == 0
    for place in ("s3://elsewhere/1-linux", "/1-linux", f"{bucket.locator}-2/{directory}"):
        assert f"{place} is not inside {bucket.locator}" in bucket.refused("P012", 2, "set", "show", place).err
    bucket.refused("R005", 2, "set", "show", "../1-linux")
    bucket.refused("R013", 3, "set", "show", "2-linux/python")


def test_a_store_without_conditions_is_a_warning():
    with double("--without", "conditions,checksums") as (_, store):
        assert checks_of(store, 0)["conditions"]["health"] == "warning"
