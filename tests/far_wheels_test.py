"""Wheels in a bucket and on a web server: the commands that look into wheels say of them what they say of a file, and fetch no more than they
need."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import s3_server  # noqa: E402
from support.native_wheels import library, wheel  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402
from support.static_server import serve  # noqa: E402

MIB = 1 << 20
KERNEL = "__attribute__((amdgpu_kernel)) void kernel(int *p) { *p = 1; }\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A directory with a wheel of 13 MiB: 9 MiB that no command but those who verify needs, a library, device code for one target."""
    root = tmp_path_factory.mktemp("far")
    (root / "kernel.c").write_text(KERNEL)
    subprocess.run(["clang-19", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx942", "-nogpulib", "-O1", "-c", root / "kernel.c", "-o", root / "kernel.o"], check=True)
    noise = random.Random(14)
    served = root / "served"
    served.mkdir()
    files = {"far/data.bin": noise.randbytes(9 * MIB), "far/liba.so": library(root / "a", "liba.so", "-Wl,-rpath,/opt/rocm/lib"), "far/k_gfx942.hsaco": (root / "kernel.o").read_bytes()}
    wheel(served, "far", {**files, "far/more.bin": noise.randbytes(4 * MIB)})
    return served


@pytest.fixture(scope="module")
def made(place) -> Path:
    return next(place.iterdir())


@pytest.fixture(scope="module")
def bucket(made):
    """(address in a bucket, environment, server)"""
    with s3_server.serve() as server:
        environment = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        good("store", "put", made, f"v2/{made.name}", "--store", f"s3://{server.bucket}", environment=environment)
        yield f"s3://{server.bucket}/v2/{made.name}", environment, server


COMMANDS = [("wheel", "inspect"), ("wheel", "check"), ("wheel", "check", "--amdgpu-family", "gfx120X-all"), ("wheel", "verify"), ("gpu", "list"), ("gpu", "list", "--amdgpu-family", "gfx120X-all"), ("wheel", "metadata")]


def answers(command: tuple[str, ...], address: str | Path, called: Path, environment: dict[str, str] | None = None) -> tuple:
    """What a command says of a wheel at `address`, for people and for programs, as if it were at `called`. Columns are as wide as the
    paths in them."""
    text, data = (quarry(*command, *json, address, environment=environment) for json in ([], ["--json"]))
    here = lambda said: said.replace(str(address), str(called))  # noqa: E731
    flat = lambda said: [line.split() for line in here(said).splitlines() if not line.startswith("read ")]  # noqa: E731
    document = {name: value for name, value in data.json.items() if name not in ("bytes_read", "requests")}
    return text.code, flat(text.out), flat(text.err), data.code, here(str(document))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_far_wheel_gets_the_answer_of_a_file(place, made, bucket, command):
    here = answers(command, made, made)
    address, environment, _ = bucket
    assert answers(command, address, made, environment) == here
    with serve(place) as (url, _):
        assert answers(command, f"{url}/{made.name}", made) == here
    with serve(place, ranges=False) as (url, _):
        assert answers(command, f"{url}/{made.name}", made) == here
    assert answers(command, f"file:{made}", made) == here


def test_json_of_a_far_wheel_is_that_of_the_file_byte_for_byte(place, made):
    with serve(place) as (url, _):
        for command in COMMANDS[:-1]:
            far = quarry(*command, "--json", f"{url}/{made.name}").out
            assert far.replace(f"{url}/{made.name}", str(made)) == quarry(*command, "--json", made).out


def test_two_far_wheels_are_compared(place, made, bucket, tmp_path):
    other = wheel(tmp_path, "far", {"far/liba.so": library(tmp_path / "a", "liba.so")})
    address, environment, _ = bucket
    here = quarry("wheel", "diff", "--json", made, other)
    assert here.code == 1
    assert quarry("wheel", "diff", "--json", address, other, environment=environment).json == here.json
    with serve(place) as (url, _):
        assert quarry("wheel", "diff", "--json", f"{url}/{made.name}", other).json == here.json
        good("wheel", "diff", f"{url}/{made.name}", made)


def sent(server, address: str) -> int:
    key = address.split("/", 3)[3]
    return server.control("GET")["sent"].get(key, 0)


def test_device_code_is_listed_from_a_part_of_the_wheel(made, bucket):
    address, environment, server = bucket
    server.control("DELETE")
    listed = good("gpu", "list", "--json", address, environment=environment).json
    assert [row["target"] for row in listed["code_objects"]] == ["gfx942"]
    ledger = [row[0] for row in server.control("GET")["ledger"]]
    assert ledger.count("HEAD") == 1 and len(ledger) <= 12
    assert sent(server, address) < MIB < made.stat().st_size


def test_what_proves_all_bytes_fetches_each_of_them_once(made, bucket):
    address, environment, server = bucket
    for command in (("wheel", "inspect"), ("wheel", "check"), ("wheel", "verify")):
        server.control("DELETE")
        quarry(*command, address, environment=environment)
        assert sent(server, address) == made.stat().st_size
        assert len(server.control("GET")["ledger"]) <= 1 + 4 + made.stat().st_size // (2 * MIB)


def test_nothing_stays_behind(place, made, tmp_path):
    with serve(place) as (url, _):
        for command in (("wheel", "inspect"), ("gpu", "list")):
            good(*command, f"{url}/{made.name}", environment=clean_environment(TMPDIR=str(tmp_path)))
    assert not list(tmp_path.iterdir())


LOOKS = [("wheel", "inspect"), ("wheel", "check"), ("wheel", "verify"), ("gpu", "list")]


@pytest.mark.parametrize("command", LOOKS, ids=" ".join)
def test_what_cannot_be_fetched_is_said(place, made, bucket, command, tmp_path):
    address, environment, _ = bucket
    refused("R001", 3, *command, address.replace("/far-", "/none-"), environment=environment)
    nobody = clean_environment(HOME=str(tmp_path), AWS_ENDPOINT_URL=environment["AWS_ENDPOINT_URL"], AWS_REGION="us-east-1", AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
    refused("K011", 4, *command, address, environment=nobody)
    with serve(place) as (url, requested):
        refused("R001", 3, *command, f"{url}/none-1.0-py3-none-any.whl")
        requested.clear()
        done = refused("W017", 2, *command, f"{url}/{made.name}?X-Amz-Signature=secret")
        assert (requested, "secret" in done.err) == ([], False)
        done = refused("W017", 2, *command, f"{url.replace('://', '://user:secret@')}/{made.name}?x")
        assert "secret" not in done.err
        good(*command, f"{url}/{made.name}#sha256=00")
    with s3_server.serve("--without", "ranges") as server:
        rangeless = clean_environment(**server.environment(), AWS_EC2_METADATA_DISABLED="true", NO_PROXY="127.0.0.1")
        good("store", "put", made, made.name, "--store", f"s3://{server.bucket}", environment=rangeless)
        refused("K021", 6, *command, f"s3://{server.bucket}/{made.name}", environment=rangeless)


@pytest.mark.parametrize("command", LOOKS, ids=" ".join)
@pytest.mark.parametrize("change", ["shrinks", "is replaced", "is removed"])
def test_a_wheel_that_changes_while_it_is_read(made, tmp_path, command, change):
    """From the second range on: then the first one was of another wheel."""
    ranges = []

    def before_range(path: Path):
        ranges.append(path)
        if len(ranges) != 2:
            return
        if change == "is removed":
            path.unlink()
        else:
            path.write_bytes(made.read_bytes()[::-1] if change == "is replaced" else made.read_bytes()[: 9 * MIB])

    (tmp_path / made.name).write_bytes(made.read_bytes())
    with serve(tmp_path, before_range=before_range) as (url, _):
        refused("K022", 6, *command, f"{url}/{made.name}")


def test_an_address_that_is_no_wheel_is_refused_before_it_is_fetched(place, made):
    with serve(place) as (url, requested):
        (place / "notes.txt").write_text("text")
        try:
            refused("W022", 2, "wheel", "inspect", f"{url}/notes.txt")
            assert len(requested) == 1
        finally:
            (place / "notes.txt").unlink()
