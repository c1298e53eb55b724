"""`artifact list|verify|fetch` from the places where runs really lie: buckets and web servers, healthy and not."""

from __future__ import annotations

import contextlib
import hashlib
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import radosgw, s3_server, small_artifacts, static_server  # noqa: E402
from support.quarry import PROGRAM, clean_environment, good, quarry, refused  # noqa: E402

LARGE = 3 << 20  # several ranges: 64 KiB, 256 KiB, 1 MiB, then the rest
FAMILY = small_artifacts.FAMILY


@pytest.fixture(scope="session")
def archives(artifacts, tmp_path_factory) -> Path:
    """What a run's place holds: small archives, and one that does not compress."""
    root = tmp_path_factory.mktemp("run")
    shutil.copytree(artifacts, root / "artifacts", symlinks=True)
    stage = small_artifacts.stage(root / "artifacts", "rand", "lib", FAMILY, "math-libs/rand/stage")
    (stage / "large.bin").write_bytes(random.Random(1).randbytes(LARGE))
    good("artifact", "pack", root / "artifacts", "--output-dir", root / "packed")
    return root / "packed"


def tree_of(directory: Path) -> dict[str, str]:
    """Every file but a fetch's own state, by its sha256."""
    return {str(f.relative_to(directory)): hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(directory.rglob("*")) if f.is_file() and ".quarry-fetch" not in f.parts}


@pytest.fixture(scope="session")
def expected(archives, tmp_path_factory) -> dict[str, str]:
    out = tmp_path_factory.mktemp("expected")
    good("artifact", "fetch", "--from", archives, "--output-dir", out)
    return tree_of(out)


class Run:
    """A run in the double: the same objects by s3:// and, unsigned, by http://."""

    def __init__(self, server: s3_server.Server):
        self.server = server
        self.environment = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1", QUARRY_STALL_SECONDS="1")
        self.s3 = f"s3://{server.bucket}/7-linux"
        self.http = f"{server.endpoint}/public/{server.bucket}/7-linux"
        self.client = s3_server.Client(server.endpoint, server.access, server.secret)

    def put(self, name: str, body: bytes) -> None:
        self.client.put(self.server.bucket, f"7-linux/{name}", body)

    def fetch(self, source: str, out: Path, *more: str):
        return quarry("artifact", "fetch", "--from", source, "--output-dir", out, *more, environment=self.environment)

    def fault(self, action: str, key: str = f"7-linux/rand_lib_{FAMILY}.tar.zst", **more) -> None:
        self.server.control("POST", {"faults": [{"method": "GET", "key": key, "action": action, **more}]})

    def requests(self) -> list[tuple[str, str]]:
        return [(method, key.removeprefix("7-linux/")) for method, key, *_ in self.server.control("GET")["ledger"]]


def page_of(names: list[str], link: str = '<td><a href="{}">') -> bytes:
    return ("<!DOCTYPE html><html><body><a href='..'>up</a>" + "".join(link.format(name.replace("+", "%2B")) for name in names) + "</body></html>").encode()


@contextlib.contextmanager
def double_run(archives: Path):
    with s3_server.serve() as server:
        run = Run(server)
        for file in archives.iterdir():
            run.put(file.name, file.read_bytes())
        run.put("index.html", page_of([file.name for file in archives.iterdir()]))
        run.put("logs/deep_lib_generic.tar.zst", b"not an artifact of the run")
        server.control("DELETE")
        yield run


@pytest.fixture
def run(archives):
    with double_run(archives) as made:
        yield made


@pytest.fixture(params=["s3", "http"])
def place(request, run) -> str:
    return getattr(run, request.param)


def test_a_run_root_is_listed_verified_and_fetched(run, place, expected, tmp_path):
    listed = good("artifact", "list", place, "--json", environment=run.environment).json
    assert {a["artifact"] for a in listed["artifacts"]} == {path.split("/")[0] for path in expected}
    assert all(a["size"] > 0 and a["sha256"] for a in listed["artifacts"])
    good("artifact", "verify", place, environment=run.environment)
    done = run.fetch(place, tmp_path / "out", "--json")
    assert done.code == 0, done.err
    assert tree_of(tmp_path / "out") == expected
    again = run.fetch(place, tmp_path / "out", "--json").json
    assert {a["state"] for a in again["artifacts"]} == {"kept"}


def test_what_is_kept_is_not_read_again(run, tmp_path):
    assert run.fetch(run.s3, tmp_path / "out").code == 0
    run.server.control("DELETE")
    assert run.fetch(run.s3, tmp_path / "out").code == 0
    assert not [key for method, key in run.requests() if key.endswith(".tar.zst")]


def test_only_what_is_chosen_is_asked_for(run, tmp_path):
    assert run.fetch(run.s3, tmp_path / "out", "rand").code == 0
    asked = [key for _, key in run.requests() if "_" in key]
    assert asked and all(key.startswith("rand_lib") for key in asked)


FAULTS = {
    "cut": ("cut:1000", {"skip": 2}),
    "cut three times": ("cut:70000", {"times": 3}),
    "closed": ("before", {"times": 2}),
    "busy": ("status:503:SlowDown", {"skip": 1}),
    "stalled": ("stall:5000", {"skip": 1}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fetch_goes_on_after_trouble(run, place, expected, tmp_path, name):
    action, more = FAULTS[name]
    run.fault(action, **more)
    done = run.fetch(place, tmp_path / "out")
    assert done.code == 0, done.err
    assert run.server.control("GET")["armed"] == 0, "the fault was met"
    assert tree_of(tmp_path / "out") == expected


def test_an_object_that_changes_is_never_mixed(run, place, expected, tmp_path):
    run.fault("replaced", skip=2)
    done = run.fetch(place, tmp_path / "out")
    assert done.code == 6 and "[K022]" in done.err, done.err
    found = tree_of(tmp_path / "out")
    assert not [path for path in found if path.startswith("rand_lib")]
    assert found == {path: digest for path, digest in expected.items() if not path.startswith("rand_lib")}
    done = run.fetch(place, tmp_path / "out")  # the new object does not have the announced checksum
    assert done.code == 6 and "[A012]" in done.err, done.err


def test_a_wrong_range_is_not_believed(run, place, tmp_path):
    run.fault("other-range", times=100)
    done = run.fetch(place, tmp_path / "out")
    assert done.code == 6 and "[K021]" in done.err, done.err
    assert not (tmp_path / f"out/rand_lib_{FAMILY}").exists()


def test_some_complete_and_some_not_is_8_and_the_rest_follows(run, place, expected, tmp_path):
    run.fault("before", times=100)
    done = run.fetch(place, tmp_path / "out", "--json")
    assert done.code == 8, done.err
    states = {a["artifact"]: a["state"] for a in done.json["artifacts"]}
    assert states.pop(f"rand_lib_{FAMILY}") == "failed" and set(states.values()) == {"fetched"}
    assert "complete" in done.err
    run.server.control("DELETE")
    assert run.fetch(place, tmp_path / "out").code == 0
    assert tree_of(tmp_path / "out") == expected
    asked = {key for method, key in run.requests() if method == "GET" and key.endswith(".tar.zst")}
    assert asked == {f"rand_lib_{FAMILY}.tar.zst"}


def test_nothing_complete_is_no_partial_success(run, tmp_path):
    run.fault("before", key="7-linux/*.tar.zst", times=1000)
    done = run.fetch(run.s3, tmp_path / "out", "rand")
    assert done.code == 5 and "[H005]" in done.err, done.err


def test_a_set_that_is_not_complete_is_refused(run, place, expected, tmp_path):
    run.client.delete(run.server.bucket, f"7-linux/rand_lib_{FAMILY}.tar.zst")
    done = run.fetch(place, tmp_path / "out")
    assert done.code == 3 and "[A035]" in done.err and "rand_lib" in done.err
    assert not (tmp_path / "out").exists()
    assert run.fetch(place, tmp_path / "out", "--exclude", "rand").code == 0, "what is not wanted may be absent"
    done = run.fetch(place, tmp_path / "all", "--allow-partial")
    assert done.code == 0 and "A035" in done.err
    assert tree_of(tmp_path / "all") == {path: digest for path, digest in expected.items() if not path.startswith("rand_lib")}
    assert quarry("artifact", "verify", place, environment=run.environment).code == 3


def test_an_archive_without_checksum_is_refused(run, place, tmp_path):
    run.client.delete(run.server.bucket, f"7-linux/rand_lib_{FAMILY}.tar.zst.sha256sum")
    done = run.fetch(place, tmp_path / "out")
    assert done.code == 6 and "[A010]" in done.err
    assert run.fetch(place, tmp_path / "out", "--allow-unverified").code == 0


def test_damage_is_told_by_the_checksum_and_read_once(run, place, tmp_path):
    damaged = bytearray(run.client.get(run.server.bucket, f"7-linux/rand_lib_{FAMILY}.tar.zst"))
    damaged[100_000] ^= 1
    run.put(f"rand_lib_{FAMILY}.tar.zst", bytes(damaged))
    done = run.fetch(place, tmp_path / "out")
    assert done.code == 6 and "[A012]" in done.err
    assert not (tmp_path / f"out/rand_lib_{FAMILY}").exists()


@pytest.mark.parametrize("name", ["readme.txt", "build.json"])
def test_a_url_of_another_file(name, run, expected, archives, tmp_path):
    done = run.fetch(f"{run.http}/{name}", tmp_path / "out")
    assert done.code == 3 and "[A034]" in done.err and f"{name} is not the name of an archive" in done.err and "therock-dist-linux-gfx94X-dcgpu-7.1.0.tar.gz" in done.err
    assert "is not the name" not in run.fetch(f"{run.http}/v7.1", tmp_path / "out").err


def test_a_page_of_february(run, expected, archives, tmp_path):
    run.client.delete(run.server.bucket, "7-linux/index.html")
    done = run.fetch(run.http, tmp_path / "out")
    assert done.code == 3 and "[A034]" in done.err and "s3://" in done.err and not re.search(r"\b403\b", done.err) and "name the family" in done.err
    done = run.fetch(run.http, tmp_path / "out", "--artifact-group", "gfx906")
    assert done.code == 3 and "[A034]" in done.err and "name the family" not in done.err and "(gfx906)" in done.err
    run.fault("status:403:AccessDenied", key="*.html", times=1000)
    done = run.fetch(run.http, tmp_path / "out")
    assert done.code == 3 and "[A034]" in done.err and "answers with status 403" in done.err
    run.server.control("DELETE")
    run.fault("redirect:302:http://plain.example/", key="*.html", times=1000)
    done = run.fetch(run.http, tmp_path / "out")
    assert done.code == 12 and "[H010]" in done.err
    run.server.control("DELETE")
    run.put(f"index-{FAMILY}.html", page_of([file.name for file in archives.iterdir()], '<a class=x href="./{}?versionId=1">'))
    done = run.fetch(run.http, tmp_path / "out", "--artifact-group", FAMILY)
    assert done.code == 0, done.err
    assert tree_of(tmp_path / "out") == expected


def test_a_password_in_a_url_is_not_shown():
    for file in ("", "/blas_lib_generic.tar.xz"):
        done = refused("H001", 2, "artifact", "list", f"https://user:s3cret@host.example/x{file}")
        assert "s3cret" not in done.out + done.err


def test_a_run_by_its_id_on_a_web_server(run, expected, tmp_path):
    store = ("--store", run.http.removesuffix("/7-linux"))
    refused("A030", 2, "artifact", "list", "run:7", *store, environment=run.environment)
    assert run.fetch("run:7-linux", tmp_path / "out", *store).code == 0
    assert tree_of(tmp_path / "out") == expected


def test_a_plain_web_server(archives, expected, tmp_path):
    root = tmp_path / "www/some/7-linux"
    shutil.copytree(archives, root)
    (root / "index.html").write_bytes(page_of([file.name for file in archives.iterdir()]))
    with static_server.serve(tmp_path / "www") as (url, _):
        good("artifact", "fetch", "--from", f"{url}/some/7-linux", "--output-dir", tmp_path / "out")
    assert tree_of(tmp_path / "out") == expected


def test_a_large_archive_is_read_in_order_once_and_within_bounds(run, artifacts, tmp_path):
    stage = small_artifacts.stage(tmp_path / "big", "big", "lib", "generic", "big/stage")
    (stage / "big.bin").write_bytes(random.Random(2).randbytes(200 << 20))
    good("artifact", "pack", tmp_path / "big", "--output-dir", tmp_path / "packed")
    for file in (tmp_path / "packed").iterdir():
        run.put(file.name, file.read_bytes())
    script = "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
    ended = subprocess.run([sys.executable, "-c", script, PROGRAM, "artifact", "fetch", "big", "--from", run.s3, "--output-dir", tmp_path / "out", "--quiet"], env=run.environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    ranges = [key for method, key in run.requests() if method == "GET" and key == "big_lib_generic.tar.zst"]
    assert len(ranges) < 110, f"{len(ranges)} requests for 200 MiB in ranges of 2 MiB"
    resident_mib = int(ended.stdout.split()[-1]) / 1024
    assert resident_mib < 64, f"{resident_mib:.0f} MiB for an archive of 200 MiB"
    shutil.rmtree(tmp_path / "out")


def test_a_full_disk_on_the_way(run, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("this container may not mount")
    try:
        done = run.fetch(run.s3, small / "out")
        assert done.code == 12, done.err
        assert "error[D003]" in done.err or ("error[A013]" in done.err and ": D003: " in done.err), done.err  # one archive, or several at once
        assert not (small / f"out/rand_lib_{FAMILY}").exists()
        assert not list((small / "out/.quarry-fetch").glob("staging/*"))
    finally:
        subprocess.run(["umount", small], check=True)


def test_on_ceph(ceph, archives, expected, tmp_path):
    client = s3_server.Client(ceph.endpoint, radosgw.ACCESS, radosgw.SECRET)
    name = radosgw.bucket_name()
    client.make_bucket(name)
    for file in archives.iterdir():
        client.put(name, f"o-r/7-linux/{file.name}", file.read_bytes())
    environment = clean_environment(**ceph.environment(), AWS_EC2_METADATA_DISABLED="true")
    for source in ((f"s3://{name}/o-r/7-linux",), ("run:o-r/7-linux", "--store", f"s3://{name}")):
        out = tmp_path / str(len(source))
        good("artifact", "fetch", "--from", *source, "--output-dir", out, "--transfers", "3", environment=environment)
        assert tree_of(out) == expected
