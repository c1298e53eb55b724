"""Packages that somebody overwrites after they were sealed, with the tested digest written beside them: a protected channel promotes
and copies none of them."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import s3_server, small_artifacts  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import clean_environment, quarry  # noqa: E402

FORGED = "x-amz-meta-quarry-sha256"


class Directory:
    """A store and a distribution in directories, which record no digests."""

    def __init__(self, place: Path):
        self.place, self.environment = place, clean_environment()
        self.source, self.target = f"file:{place}/source", f"file:{place}/dist"

    def path(self, locator: str, key: str) -> Path:
        return Path(locator.removeprefix("file:")) / key

    def overwrite(self, locator: str, key: str, body: bytes, sha256: str) -> None:
        self.path(locator, key).unlink(missing_ok=True)
        self.path(locator, key).parent.mkdir(parents=True, exist_ok=True)
        self.path(locator, key).write_bytes(body)

    def get(self, locator: str, key: str) -> bytes:
        return self.path(locator, key).read_bytes()

    def keys(self, locator: str) -> list[str]:
        root = self.path(locator, "")
        return [str(found.relative_to(root)) for found in root.rglob("*") if found.is_file()]


class Bucket:
    """Both in one bucket, whose server copies by itself."""

    def __init__(self, server: s3_server.Server):
        self.bucket, self.source, self.target = server.bucket, f"s3://{server.bucket}/source", f"s3://{server.bucket}/dist"
        self.environment = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        self.client = s3_server.Client(server.endpoint, server.access, server.secret)

    def key(self, locator: str, key: str) -> str:
        return f"{locator.rpartition('/')[2]}/{key}"

    def overwrite(self, locator: str, key: str, body: bytes, sha256: str) -> None:
        self.client.put(self.bucket, self.key(locator, key), body, {FORGED: sha256})

    def get(self, locator: str, key: str) -> bytes:
        return self.client.get(self.bucket, self.key(locator, key))

    def keys(self, locator: str) -> list[str]:
        root = self.key(locator, "")
        return [key.removeprefix(root) for key in self.client.list(self.bucket, root)]


class Line:
    """Run 1 is published; channel stable is protected, and everything is waived: only bytes can hold."""

    def __init__(self, stores, packages: Path, place: Path):
        self.stores = stores
        policy = place / "own.toml"
        policy.write_text(smoke_policy())
        self("publish", packages, "--run-id", "1", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY)
        self("channel", "protect", "stable", "--policy", policy, "--reason", "what people install")
        self("waive", "--to", "stable", "--everything", "--reason", "only bytes can hold", "--approver", "lead", "--expires", "1h")
        (digest,) = [one["set"] for one in self("set", "list", "--json").json["sets"]]
        self.files = json.loads(stores.get(stores.source, f"sets/{digest}.json"))["files"]
        (self.wheel,) = [file for file in self.files if "core" in file["filename"]]
        self.tested = stores.get(stores.source, self.wheel["key"])
        self.altered = bytes([*self.tested[:-1], self.tested[-1] ^ 1])
        self.copy_key = f"v2/{small_artifacts.FAMILY}/{self.wheel['filename']}"

    def __call__(self, *words, code: int = 0):
        done = quarry(*words, "--store", self.stores.source, environment=self.stores.environment)
        assert done.code == code, done.out + done.err
        return done

    def promote(self, *more: str, code: int = 0):
        return self("promote", "--from", "run:1", "--to", "stable", *more, "--json", code=code)

    def copy(self, code: int = 0):
        return self.promote("--to-store", self.stores.target, code=code)

    def overwrite(self, body: bytes) -> None:
        self.stores.overwrite(self.stores.source, self.wheel["key"], body, self.wheel["sha256"])

    def copied(self) -> bytes | None:
        return self.stores.get(self.stores.target, self.copy_key) if self.copy_key in self.stores.keys(self.stores.target) else None

    def shown_there(self) -> bool:
        return any(key.endswith("rocm-sdk-core/index.html") for key in self.stores.keys(self.stores.target))


@pytest.fixture(params=["directory", "bucket"])
def line(request, packages, tmp_path):
    with contextlib.ExitStack() as stack:
        stores = Directory(tmp_path) if request.param == "directory" else Bucket(stack.enter_context(s3_server.serve()))
        yield Line(stores, packages, tmp_path)


def test_what_was_overwritten_before_the_promotion_is_not_promoted(line):
    line.overwrite(line.altered)
    for more in ((), ("--to-store", line.stores.target)):
        said = line.promote(*more, code=6).err
        assert "O003" in said and line.wheel["filename"] in said
    assert line("channel", "show", "stable", "--json").json["files"] == [] and line.copied() is None
    line.overwrite(line.tested)
    assert line.copy().json["moved"] and line.copied() == line.tested


def test_what_was_overwritten_after_the_promotion_is_not_copied(line):
    """Nothing is new to the channel, so nothing of it is read again but by the copy."""
    assert line.promote().json["moved"]
    line.overwrite(line.altered)
    said = line.copy(code=6).err
    assert "R008" in said and line.wheel["filename"] in said
    assert line.copied() is None and not line.shown_there()
    line.overwrite(line.tested)
    done = line.copy().json
    assert not done["moved"] and line.copied() == line.tested and line.shown_there()
    # What the distribution shows was hashed when it came there; it is not read again.
    assert line.copy().json["distribution"]["bytes_through"] == 0


def test_what_lies_at_the_target_already_is_read(line):
    line.stores.overwrite(line.stores.target, line.copy_key, line.altered, line.wheel["sha256"])
    said = line.copy(code=7).err
    assert "R009" in said and line.wheel["filename"] in said
    assert line("channel", "show", "stable", "--json").json["files"] == [] and not line.shown_there()


def test_a_bucket_copies_on_the_server_what_was_hashed_here(packages, tmp_path):
    """The bytes pass through here once, to be hashed; the server sends them on."""
    with s3_server.serve() as server:
        line = Line(Bucket(server), packages, tmp_path)
        server.control("DELETE")
        done = line.copy().json
        sizes = sum(file["size"] for file in line.files)
        assert sizes <= done["distribution"]["bytes_through"] < sizes + sizes // 10
        (sent,) = [row for row in server.control("GET")["ledger"] if row[0] == "PUT" and row[1].endswith(line.copy_key) and "partNumber" in row[2]][:1]
        assert sent[3] == 200
