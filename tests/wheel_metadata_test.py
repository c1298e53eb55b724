"""`wheel metadata`: METADATA of a far wheel by its last bytes. The large wheels here are holes: they take no room."""

from __future__ import annotations

import os
import struct
import sys
import zipfile
import zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import s3_server  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402
from support.static_server import serve  # noqa: E402

NAME = "large_sdk-7.2.0-py3-none-linux_x86_64.whl"
INFO = "large_sdk-7.2.0.dist-info"
LARGE = 3_500_000_000
READ_MAX = 128 * 1024  # beside the zip directory, which is read in whole
METADATA = b"Metadata-Version: 2.4\nName: large-sdk\nVersion: 7.2.0\nRequires-Python: >=3.10\nRequires-Dist: numpy>=2\nProvides-Extra: devel\n\nAbout it.\n"


def make(path: Path, files: int = 300, size: int = LARGE, metadata: bytes = METADATA, info: str = INFO) -> Path:
    """A stored wheel of `files` members whose first is a hole of `size`."""
    members = [("large_sdk/lib/librocblas.so", None)] + [(f"large_sdk/lib/rocblas/library/TensileLibrary_{i:05}.co", b"k") for i in range(files - 1)]
    members += [(f"{info}/METADATA", metadata), (f"{info}/WHEEL", b"Wheel-Version: 1.0\n"), (f"{info}/RECORD", b"r" * 300 * files)]
    central = b""
    with path.open("wb") as file:
        for name, data in members:
            length, crc = (size, 0) if data is None else (len(data), zlib.crc32(data))
            common = struct.pack("<HHHHHIIIHH", 20, 0x800, 0, 0, 0x21, crc, length, length, len(name), 0)
            central += b"PK\x01\x02" + struct.pack("<H", 0x314) + common + struct.pack("<HHHII", 0, 0, 0, 0o100644 << 16, file.tell()) + name.encode()
            file.write(b"PK\x03\x04" + common + name.encode())
            file.seek(length, os.SEEK_CUR) if data is None else file.write(data)
        begin = file.tell()
        file.write(central + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(central), begin, 0))
    return path


@pytest.fixture(scope="session")
def large(tmp_path_factory) -> Path:
    path = make(tmp_path_factory.mktemp("large") / NAME)
    assert path.stat().st_size > LARGE and path.stat().st_blocks * 512 < 10_000_000
    return path


def test_a_large_wheel_on_a_web_server_costs_less_than_128_kib(large):
    with serve(large.parent) as (url, requested):
        done = good("wheel", "metadata", f"{url}/{NAME}", "--json").json
        assert (done["bytes_read"] <= READ_MAX, done["size"], done["requests"]) == (True, large.stat().st_size, 3)
        assert len(requested) == 3
        assert (done["project"], done["version"], done["file"]) == ("large-sdk", "7.2.0", f"{url}/{NAME}")
        metadata = done["metadata"]
        assert (metadata["requires_dist"], metadata["provides_extra"], metadata["requires_python"]) == (["numpy>=2"], ["devel"], ">=3.10")
        assert good("wheel", "metadata", f"{url}/{NAME}").out.encode() == METADATA


def test_a_directory_of_thousands_of_files_costs_itself_and_no_more(tmp_path):
    wheel = make(tmp_path / NAME, files=6000)
    with zipfile.ZipFile(wheel) as public:  # what was made here is a zip file to others
        assert len(public.namelist()) == 6003
        directory = wheel.stat().st_size - public.start_dir
    with serve(tmp_path) as (url, _):
        done = good("wheel", "metadata", f"{url}/{NAME}", "--json").json
    assert directory < done["bytes_read"] <= directory + READ_MAX
    assert done["requests"] <= 4


def test_an_entry_within_the_extra_field_of_another_is_not_taken(tmp_path):
    """The directory's last 60 KiB begin inside an extra field that holds an entry for other bytes."""
    wheel = tmp_path / NAME
    evil = METADATA.replace(b"numpy>=2", b"evil")

    def record(data: bytes) -> bytes:
        return struct.pack("<HHHHHIII", 20, 0x800, 0, 0, 0x21, zlib.crc32(data), len(data), len(data))

    def local(name: str, data: bytes) -> bytes:
        return b"PK\x03\x04" + record(data) + struct.pack("<HH", len(name), 0) + name.encode() + data

    def central(name: str, data: bytes, offset: int, extra: bytes = b"") -> bytes:
        places = struct.pack("<HHHHHII", len(name), len(extra), 0, 0, 0, 0o100644 << 16, offset)
        return b"PK\x01\x02" + struct.pack("<H", 0x314) + record(data) + places + name.encode() + extra

    held = local(f"{INFO}/METADATA", evil)
    hidden = b"-" * 40_000 + central(f"{INFO}/METADATA", evil, 30 + len("large_sdk/data"))
    members = [("large_sdk/data", held), (f"{INFO}/METADATA", METADATA), ("large_sdk/long", b"l")] + [(f"large_sdk/{i:04}", b"f") for i in range(500)]
    body = directory = b""
    for name, data in members:
        extra = struct.pack("<HH", 0xCAFE, len(hidden)) + hidden if name == "large_sdk/long" else b""
        directory += central(name, data, len(body), extra)
        body += local(name, data)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    wheel.write_bytes(body + directory + end)
    with zipfile.ZipFile(wheel) as public:
        assert public.read(f"{INFO}/METADATA") == METADATA
    assert good("wheel", "metadata", wheel).out.encode() == METADATA


def test_a_file_and_a_key_of_a_store(large):
    for done in (good("wheel", "metadata", large, "--json").json, good("wheel", "metadata", NAME, "--store", f"file:{large.parent}", "--json").json):
        assert (done["bytes_read"] <= READ_MAX, done["requests"], done["metadata"]["name"]) == (True, 2, "large-sdk")


def test_a_wheel_in_a_bucket(tmp_path):
    wheel = make(tmp_path / NAME, size=2_000_000)
    with s3_server.serve() as server:
        environment = clean_environment(**server.environment())
        good("store", "put", wheel, f"v2/{NAME}", "--store", f"s3://{server.bucket}", environment=environment)
        done = good("wheel", "metadata", f"s3://{server.bucket}/v2/{NAME}", "--json", environment=environment).json
        assert (done["bytes_read"] <= READ_MAX, done["size"], done["metadata"]["version"]) == (True, wheel.stat().st_size, "7.2.0")
        refused("R001", 3, "wheel", "metadata", f"s3://{server.bucket}/v2/other-1.0-py3-none-any.whl", environment=environment)


REFUSED = {
    "not a wheel's name": ("M002", 2, lambda d: make(d / "some.zip", 3, 10), {}),
    "METADATA of another version": ("W007", 1, lambda d: make(d / NAME, 3, 10, METADATA.replace(b"7.2.0", b"7.2.1")), {}),
    "another dist-info": ("W006", 1, lambda d: make(d / NAME, 3, 10, info="other-7.2.0.dist-info"), {}),
    "a web page": ("W016", 6, lambda d: (d / NAME).write_text("<!DOCTYPE html><title>Sign in</title>"), {}),
    "no zip": ("Z008", 6, lambda d: (d / NAME).write_bytes(b"nothing" * 9000), {}),
    "cut off": ("Z008", 6, lambda d: os.truncate(make(d / NAME), LARGE // 2), {}),
    "replaced in between": ("K022", 6, lambda d: make(d / NAME, 3, 5_000_000), {"before_range": lambda path: path.write_bytes(path.read_bytes()[::-1])}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_looked_at_is_refused(tmp_path, case):
    code, exit_code, prepare, serving = REFUSED[case]
    prepare(tmp_path)
    (name,) = (path.name for path in tmp_path.iterdir())
    with serve(tmp_path, **serving) as (url, _):
        refused(code, exit_code, "wheel", "metadata", f"{url}/{name}")


def test_a_server_without_ranges_is_read_whole(tmp_path):
    (tmp_path / "served").mkdir()
    (tmp_path / "temporary").mkdir()
    wheel = make(tmp_path / "served" / NAME, 3, 5_000_000)
    with serve(wheel.parent, ranges=False) as (url, requested):
        done = good("wheel", "metadata", f"{url}/{NAME}", "--json", environment=clean_environment(TMPDIR=str(tmp_path / "temporary"))).json
    assert (done["metadata"]["name"], done["bytes_read"], len(requested)) == ("large-sdk", wheel.stat().st_size, 3)
    assert not list((tmp_path / "temporary").iterdir())


def test_an_absent_file_and_an_address_with_a_query_are_refused(tmp_path):
    with serve(tmp_path) as (url, requested):
        refused("R001", 3, "wheel", "metadata", f"{url}/{NAME}")
        requested.clear()
        done = refused("W017", 2, "wheel", "metadata", f"{url}/{NAME}?X-Amz-Signature=secret")
        assert (requested, "secret" in done.err) == ([], False)
    assert quarry("wheel", "metadata", tmp_path / NAME).code == 3
