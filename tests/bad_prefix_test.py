"""Prefixes of a bucket that nobody should trust: 50,000 keys, pages that are broken, packages that change while they are looked at. The
command ends with a coded error or a finding, and nothing is half moved."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import distributions, s3_server, small_artifacts  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402

PREFIX = "v4/whl"
MANY = 50_000


class Bucket:
    def __init__(self, server: s3_server.Server):
        self.server, self.client = server, s3_server.Client(server.endpoint, server.access, server.secret)
        self.environment = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        self.locator = f"s3://{server.bucket}/{PREFIX}"

    def keys(self) -> set[str]:
        return set(self.client.list(self.server.bucket, "v4/"))

    def put(self, key: str, body: bytes) -> None:
        self.client.put(self.server.bucket, key, body)

    def arm(self, **control) -> None:
        self.server.control("POST", control)


@pytest.fixture
def bucket(tmp_path: Path):
    """Two packages of another tool below the prefix."""
    with s3_server.serve() as server:
        bucket = Bucket(server)
        for name in ("rocm-sdk-core", "numpy"):
            path = distributions.wheel(tmp_path, name, "1.0")
            bucket.put(f"{PREFIX}/{path.name}", path.read_bytes())
        yield bucket


def listings(bucket: Bucket) -> int:
    return len([one for one in bucket.server.control("GET")["ledger"] if one[0] == "GET" and "list-type" in one[2]])


def test_a_prefix_with_fifty_thousand_other_keys_is_not_adopted(bucket: Bucket):
    before = bucket.keys()
    bucket.arm(objects={"prefix": f"{PREFIX}/logs/", "count": MANY})
    done = refused("P052", 7, "set", "adopt", bucket.locator, environment=bucket.environment)
    assert f"{PREFIX}/logs/000000" in done.err
    assert {key for key in bucket.keys() if "/logs/" not in key} == before


def test_a_run_with_fifty_thousand_keys_is_listed(bucket: Bucket, tmp_path: Path):
    """Fifty pages of a listing, and one archive among them: no other object is read."""
    good("artifact", "pack", small_artifacts.make(tmp_path), "--output-dir", tmp_path / "packed")
    archive = next((tmp_path / "packed").glob("blas_lib_*.tar.zst"))
    for path in (archive, archive.with_name(archive.name + ".sha256sum")):
        bucket.put(f"42-linux/{path.name}", path.read_bytes())
    bucket.arm(objects={"prefix": "42-linux/zz-", "count": MANY})
    bucket.server.control("DELETE")
    done = good("artifact", "list", f"s3://{bucket.server.bucket}/42-linux", "--json", environment=bucket.environment).json
    assert [entry["name"] for entry in done["artifacts"]] == ["blas"] and listings(bucket) >= MANY / 1000
    assert not [one for one in bucket.server.control("GET")["ledger"] if "zz-" in one[1]]


@pytest.mark.parametrize(
    "page",
    [
        b"",
        b"\x00\xff\xfe<a href=",
        b'<a href="numpy-1.0-py3-none-any.whl#sha256=zz">numpy',
        b'<!DOCTYPE html><a href="javascript:alert(1)">numpy-1.0-py3-none-any.whl</a>',
        b'<a href="' + b"../" * 2000 + b'etc/passwd">x</a>',
        b'{"files": [{"filename": "numpy-1.0-py3-none-any.whl"',
        b"<a>" * 200_000,
    ],
    ids=["empty", "binary", "cut-off", "no-address", "leads-out", "json-cut-off", "nested"],
)
def test_an_index_with_broken_pages(page: bytes, bucket: Bucket):
    """A page that says nothing hides no package; one that would lose a link, or cannot be read, stops the move, with the page's name."""
    bucket.put(f"{PREFIX}/index.html", page)
    bucket.put(f"{PREFIX}/numpy/index.html", page)
    before = bucket.keys()
    done = quarry("set", "adopt", bucket.locator, environment=bucket.environment)
    assert done.code in (0, 7), done.err
    shown = bucket.client.get(bucket.server.bucket, f"{PREFIX}/index.html")
    if done.code == 0:
        assert b"numpy-1.0" in shown and b"rocm_sdk_core-1.0" in shown and b"javascript" not in shown and b"passwd" not in shown
    else:
        assert ("[P090]" in done.err or "[P121]" in done.err) and shown == page and bucket.keys() == before


def test_a_prefix_that_changes_while_it_is_adopted(bucket: Bucket):
    """The wheel gets other bytes between the look and the move: nothing is taken over, and the next run takes what is there then."""
    before = bucket.keys()
    bucket.arm(faults=[{"action": "replaced", "method": "GET", "key": "*/numpy-1.0*", "times": 1}])
    done = quarry("set", "adopt", bucket.locator, environment=bucket.environment)
    assert done.code != 0 and ("[K022]" in done.err or "[P111]" in done.err or "[P090]" in done.err), done.err
    assert {key for key in bucket.keys() - before if "/history/notes/" not in key} == set(), "half moved"


def test_a_listing_that_never_ends(bucket: Bucket):
    bucket.arm(objects={"prefix": f"{PREFIX}/logs/", "count": 3000})
    bucket.arm(faults=[{"action": "stuck", "method": "GET", "query": "list-type", "times": 1000}])
    done = quarry("set", "adopt", bucket.locator, environment=bucket.environment)
    assert done.code not in (0, 13) and "error[K" in done.err, done.err
