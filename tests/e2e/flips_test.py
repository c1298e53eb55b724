"""One bit changed, or the end cut off, on the way or at rest: never taken for the real thing.

QUARRY_LONG=1 takes 10,000 changes instead of the few of an ordinary run; the seed is printed with a failure."""

from __future__ import annotations

import hashlib
import http.server
import os
import random
import shutil
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import s3_server  # noqa: E402
from support.quarry import clean_environment, good, quarry  # noqa: E402

LONG = bool(os.environ.get("QUARRY_LONG"))
FETCHES, AT_REST = (3000, 4000) if LONG else (40, 40)  # fetches from each of two kinds of servers
SEED = int(os.environ.get("QUARRY_SEED", "20261122"))


def changed(rng: random.Random, data: bytes) -> bytes:
    """`data` with one bit flipped, or without its end."""
    if rng.random() < 0.25:
        return data[: rng.randrange(len(data))]
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def contents(directory: Path) -> dict[str, str]:
    return {str(f.relative_to(directory)): hashlib.sha256(f.read_bytes()).hexdigest() for f in directory.rglob("*") if f.is_file() and not f.is_symlink() and ".quarry-fetch" not in f.parts} if directory.exists() else {}


@contextmanager
def bucket(root: Path):
    """`root` in object storage: read in ranges that are pinned by an ETag. Yields its locator, the environment, and what replaces
    an object."""
    with s3_server.serve() as place:
        client = s3_server.Client(place.endpoint, place.access, place.secret)
        for path in root.rglob("*"):
            if path.is_file():
                client.put(place.bucket, str(path.relative_to(root)), path.read_bytes())
        yield f"s3://{place.bucket}", clean_environment(**place.environment(), NO_PROXY="127.0.0.1"), lambda name, data: client.put(place.bucket, name, data)


@contextmanager
def server(root: Path):
    """`root` on a web server that knows neither ETag nor ranges; headers fit what is sent."""
    spoiled: dict[str, bytes] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self.answer(body=False)

        def do_GET(self):
            self.answer(body=True)

        def answer(self, body: bool):
            path = root / self.path.lstrip("/")
            data = spoiled.get(self.path.lstrip("/"), path.read_bytes() if path.is_file() else None)
            self.send_response(404 if data is None else 200)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            if body and data:
                self.wfile.write(data)

        def log_message(self, *words):
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}", clean_environment(), spoiled.__setitem__
    finally:
        listening.shutdown()
        listening.server_close()


@pytest.mark.parametrize("serving", [server, bucket])
def test_archives_on_their_way(artifacts, tmp_path, serving):
    root = tmp_path / "root"
    good("artifact", "pack", artifacts, "--output-dir", root / "7-linux")
    archives = sorted(p.name for p in (root / "7-linux").glob("*.tar.*") if not p.name.endswith(".sha256sum"))
    good("artifact", "fetch", "--from", root / "7-linux", "--output-dir", tmp_path / "expected")
    expected = contents(tmp_path / "expected")
    (root / "7-linux/index.html").write_text("".join(f'<a href="{p.name}">{p.name}</a>\n' for p in sorted((root / "7-linux").iterdir())))
    rng = random.Random(SEED)
    detected = 0
    with serving(root) as (place, environment, replace):
        good("artifact", "fetch", "--from", f"{place}/7-linux", "--output-dir", tmp_path / "plain", environment=environment)
        assert contents(tmp_path / "plain") == expected
        for i in range(FETCHES):
            name = rng.choice(archives) + rng.choice(["", "", "", ".sha256sum"])
            data = (root / "7-linux" / name).read_bytes()
            replace(f"7-linux/{name}", changed(rng, data))
            out = tmp_path / "out"
            ended = quarry("artifact", "fetch", "--from", f"{place}/7-linux", "--output-dir", out, environment=environment)
            replace(f"7-linux/{name}", data)
            here = f"seed {SEED} change {i} of {name}: {ended.code}\n{ended.err}"
            assert contents(out).items() <= expected.items(), here  # nothing else ever becomes visible
            if ended.code == 0:  # a checksum file says the same with another case, blank or name
                assert name.endswith(".sha256sum") and contents(out) == expected, here
            else:
                detected += 1
                assert ended.code in (1, 3, 4, 6, 8), here
            shutil.rmtree(out, ignore_errors=True)
    assert detected > FETCHES * 0.7


def test_a_store_at_rest(store):
    def files(*patterns: str) -> list[Path]:
        return sorted(f for pattern in patterns for f in store.glob(pattern))

    ledger = files("ledger/*.json")
    proven = ledger + files("*-linux/python/*/dist/*", "sets/*.json", "*-linux/python/*/seals/*.json", "views/*.json", "views/shards/*.json", "channels/staging.json")
    pages = files("channels/staging/simple*/*/index.html", "channels/staging/index.html")
    assert len(proven) > 10 and len(pages) > 4
    rng = random.Random(SEED + 1)
    good("set", "verify", "channel:staging", "--store", f"file:{store}")
    for i in range(AT_REST):
        path = rng.choice(proven + pages)
        data = path.read_bytes()
        path.write_bytes(changed(rng, data))
        words = ("channel", "log", "staging") if path in ledger else ("set", "verify", "channel:staging")
        verified = quarry(*words, "--store", f"file:{store}").code
        checked = quarry("index", "check", "channel:staging", "--store", f"file:{store}").code if path in pages else 0
        here = f"seed {SEED + 1} change {i} of {path.relative_to(store)}"
        if path in pages:
            repaired = good("index", "repair", "channel:staging", "--store", f"file:{store}")
            assert path.read_bytes() == data, f"{here}: not repaired (check said {checked})\n{repaired.err}"
        else:
            assert verified != 0 or path.read_bytes() == data, f"{here}: not noticed"
            path.write_bytes(data)
    good("set", "verify", "channel:staging", "--store", f"file:{store}")


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
