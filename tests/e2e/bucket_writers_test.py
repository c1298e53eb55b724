"""Channels in object storage under rivals and crashes: many writers at once with readers that watch, and kill -9 at seeded moments.

QUARRY_LONG=1: 32 writers of 25 publishes each on Ceph, and 1000 moments. The seed is printed with a failure."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from posixpath import join, normpath
from urllib.parse import unquote

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions, radosgw, s3_server, small_artifacts  # noqa: E402
from support.quarry import PROGRAM, clean_environment, good, quarry  # noqa: E402

LONG = bool(os.environ.get("QUARRY_LONG"))
WRITERS, PUBLISHES, READERS = (32, 25, 4) if LONG else (4, 3, 2)
MOMENTS = 1000 if LONG else 6
SEED = int(os.environ.get("QUARRY_SEED", "20261122"))
PAGE = "p/channels/staging/simple/demo/index.html"
COPY = "p/channels/staging/simple/demo/"


class Bucket:
    """A store at a prefix of a bucket; keys are as the bucket has them."""

    def __init__(self, server, name: str, prefix: str):
        variables = server.environment()
        self.name, self.prefix, self.locator = name, prefix + "/", f"s3://{name}/{prefix}"
        self.environment = clean_environment(**variables, AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        self.client = s3_server.Client(server.endpoint, variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"])

    def good(self, *words):
        return good(*words, "--store", self.locator, environment=self.environment)

    def files(self, channel: str) -> list[tuple[str, str]]:
        shown = self.good("channel", "show", channel, "--json").json
        return sorted((f["filename"], f["sha256"]) for f in shown["files"])

    def links(self, page: str) -> dict[str, str] | None:
        """File name -> key of what the page links to; None while there is no page."""
        try:
            text = self.client.get(self.name, page).decode()
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise
        assert text.rstrip().endswith("</html>"), "a torn page"
        found = [normpath(join(page.rpartition("/")[0], unquote(href.partition("#")[0]))) for href in re.findall(r'href="([^"]+)"', text)]
        return {key.rpartition("/")[2]: key for key in found}

    def dangling(self) -> list[str]:
        keys = set(self.client.list(self.name, self.prefix))
        pages = [key for key in keys if key.endswith(("/index.html", "/")) and "/simple-json/" not in key]
        links = [(page, key) for page in pages for key in (self.links(page) or {}).values()]
        return [f"{page} -> {key}" for page, key in links if key not in keys and f"{key}/index.html" not in keys]


    def differing(self) -> list[str]:
        """Pages whose copy under the key that installers ask for is missing or has other bytes, and copies without a page."""
        keys = set(self.client.list(self.name, self.prefix))
        pages = {key for key in keys if key.endswith("/index.html") and "/simple-json/" not in key}
        copies = {key for key in keys if key.endswith("/")}
        alone = {key.removesuffix("index.html") for key in pages} ^ copies
        return sorted(alone) + [key for key in copies - alone if self.client.get(self.name, key) != self.client.get(self.name, key + "index.html")]


class Watcher(threading.Thread):
    """Reads one page of the channel again and again: each link leads to an object, and no page is older than one before."""

    def __init__(self, bucket: Bucket, page: str, stop: threading.Event):
        super().__init__()
        self.bucket, self.page, self.ended, self.wrong, self.reads = bucket, page, stop, [], 0

    def run(self) -> None:
        known: dict[str, str] = {}
        try:
            while not self.ended.is_set():
                seen = self.bucket.links(self.page) or {}
                self.reads += 1
                if not set(known) <= set(seen):
                    self.wrong.append(f"an older page: {sorted(set(known) - set(seen))[:3]} were there before")
                for name in set(seen) - set(known):
                    self.bucket.client.get(self.bucket.name, seen[name])
                known = seen
        except Exception as error:  # noqa: BLE001: whatever it is, the test must hear of it
            self.wrong.append(repr(error))


def test_many_writers_share_one_channel(ceph, tmp_path):
    bucket = Bucket(ceph, radosgw.bucket_name(), "p")
    bucket.client.make_bucket(bucket.name)
    stop = threading.Event()
    watchers = [Watcher(bucket, page, stop) for page in (PAGE, COPY) * (READERS // 2)]
    for watcher in watchers:
        watcher.start()

    def write(writer: int) -> list[str]:
        failures = []
        for number in range(PUBLISHES):
            directory = tmp_path / f"{writer}-{number}"
            directory.mkdir()
            distributions.wheel(directory, "demo", f"{writer}.{number}")
            words = ["publish", directory, "--run-id", f"{writer}{number:03}", "--platform", "linux", "--channel", "staging", "--store", bucket.locator]
            for _ in range(20):  # exit 5, 7 and 8 say that the same command may succeed: others were faster for long
                done = quarry(*words, environment=bucket.environment)
                if done.code not in (5, 7, 8):
                    break
            failures += [done.err] if done.code else []
        return failures

    with ThreadPoolExecutor(WRITERS) as pool:
        failures = [failure for each in pool.map(write, range(1, WRITERS + 1)) for failure in each]
    stop.set()
    for watcher in watchers:
        watcher.join()
    assert not failures, failures[0]
    assert not [wrong for watcher in watchers for wrong in watcher.wrong]
    assert all(watcher.reads > 10 for watcher in watchers)
    expected = {f"demo-{writer}.{number}-py3-none-any.whl" for writer in range(1, WRITERS + 1) for number in range(PUBLISHES)}
    assert {name for name, _ in bucket.files("staging")} == expected, "nothing is lost"
    assert set(bucket.links(PAGE)) == expected
    assert not bucket.dangling() and not bucket.differing()


def kill_after(words: list, seconds: float, environment: dict[str, str]) -> None:
    child = subprocess.Popen([str(word) for word in (PROGRAM, *words)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.wait()


@pytest.mark.parametrize("action", ["publish", "promote", "rollback"])
def test_killed_anywhere_the_same_command_completes(action, packages, next_packages, report_only_policy):
    def words(bucket: Bucket, *more) -> list:
        return [*more, "--store", bucket.locator]

    def publish(bucket: Bucket, which: Path, run: str) -> list:
        return words(bucket, "publish", which, "--run-id", run, "--platform", "linux", "--artifact-group", small_artifacts.FAMILY, "--channel", "staging")

    def promote(bucket: Bucket, run: str) -> list:
        return words(bucket, "promote", "--from", f"run:{run}", "--to", "stable", "--policy", report_only_policy)

    def prepared(server, prefix: str) -> tuple[Bucket, list, str]:
        """A store in which the action is the next thing to do, that action, and the channel that it changes."""
        bucket = Bucket(server, server.bucket, prefix)
        before = [publish(bucket, packages, "1")]
        if action != "publish":
            before += [publish(bucket, next_packages, "2"), promote(bucket, "1")]
        if action == "rollback":
            before.append(promote(bucket, "2"))
        for command in before:
            good(*command, environment=bucket.environment)
        todo = {"publish": publish(bucket, next_packages, "2"), "promote": promote(bucket, "2"), "rollback": words(bucket, "rollback", "stable")}
        return bucket, todo[action], "staging" if action == "publish" else "stable"

    with s3_server.serve() as server:
        reference, command, channel = prepared(server, "reference")
        begin = time.monotonic()
        good(*command, environment=reference.environment)
        seconds = time.monotonic() - begin
        expected = reference.files(channel)
        rng = random.Random(SEED)
        for i in range(MOMENTS):
            here = f"seed {SEED} moment {i}"
            bucket, command, channel = prepared(server, f"killed-{i}")
            kill_after(command, rng.uniform(0, seconds * 1.05), bucket.environment)
            assert not bucket.dangling(), here
            again = quarry(*command, environment=bucket.environment)
            # A rollback that had been made completely is not made a second time.
            assert again.code == 0 or (action == "rollback" and "error[O007]" in again.err), f"{here}: {again.err}"
            assert bucket.files(channel) == expected, here
            assert not bucket.dangling() and not bucket.differing(), here
            bucket.good("gc", "--grace", "0s")
            assert bucket.good("set", "verify", f"channel:{channel}").code == 0, here
            for key in bucket.client.list(bucket.name, bucket.prefix):
                bucket.client.delete(bucket.name, key)
