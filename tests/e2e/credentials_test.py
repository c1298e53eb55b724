"""Credentials of a job stay with the job: not in the environment of tests, not in arguments, not in what is printed or stored."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import http.server
import os
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions  # noqa: E402
from support.quarry import BY_UV, ROOT, clean_environment, good, quarry  # noqa: E402

TOKEN = "S3CR3T-TOKEN-0123456789"
QUERY = "signature=a1b2c3d4e5f6"
WITH_UV = clean_environment(PATH=f"{ROOT}/build/tools/bin:{os.environ['PATH']}")


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Wants the user's name and the token, and looks who shows them to other users of the machine."""

    def do_GET(self):
        for arguments in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = arguments.read_bytes()
                ours = f":{self.server.server_port}/".encode() in words and b"quarry\0" not in words
                self.server.shown += [words] if TOKEN.encode() in words and ours else []
        expected = "Basic " + base64.b64encode(f"ci-user:{TOKEN}".encode()).decode()
        if self.headers.get("Authorization") != expected:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="index"')
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.server.passed += 1
        return super().do_GET()

    def log_message(self, format, *args):
        pass


@pytest.fixture
def index(tmp_path):
    """An index that needs a password: the server, and its address without one."""
    directory = tmp_path / "index"
    project = directory / "simple" / "demo"
    project.mkdir(parents=True)
    wheel = distributions.wheel(project, "demo", "1.0")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (project / "index.html").write_text(f'<a href="{wheel.name}#sha256={digest}">{wheel.name}</a>')
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, directory=str(directory)))
    server.shown, server.passed = [], 0
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server, f"127.0.0.1:{server.server_port}/simple/"
    server.shutdown()
    server.server_close()
    thread.join()


def texts_below(directory: Path, names: str) -> str:
    return "".join(path.read_text(errors="replace") for path in directory.rglob(names) if path.is_file())


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_credentials_of_an_index_stay_out_of_sight(index, tmp_path, installer):
    server, place = index
    environment, store = tmp_path / "env", tmp_path / "store"
    done = good("venv", "install", environment, "--index-url", f"http://ci-user:{TOKEN}@{place}", "--packages", "demo", "--installer", installer, environment=WITH_UV)
    assert server.passed and server.shown == []
    tested = good("test", "--venv", environment, "--store", f"file:{store}", "--", "true")
    for text in (done.out, done.err, tested.out, tested.err, texts_below(environment, "quarry-*.json"), texts_below(store, "*")):
        assert TOKEN not in text and "ci-user" not in text
    assert place in texts_below(environment, "quarry-receipt.json") and place in texts_below(store, "*.json")


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_a_failure_shows_no_credentials(index, tmp_path, installer):
    server, place = index
    words = ("--packages", "no-such-package", "--install-retry-timeout-seconds", "0", "--installer", installer)
    for source in (("--index-url", f"http://ci-user:{TOKEN}@{place}?{QUERY}"), ("--find-links", f"http://ci-user:{TOKEN}@{place}?{QUERY}")):
        done = quarry("venv", "install", tmp_path / "env", *source, *words, environment=WITH_UV)
        assert done.code in (1, 5), done.err
        assert TOKEN not in done.err + done.out and QUERY not in done.err + done.out
    assert server.shown == []


def test_the_code_under_test_gets_no_credentials(tmp_path, packages):
    environment, store = tmp_path / "env", tmp_path / "store"
    job = {name: f"{TOKEN}-{name}" for name in ("AWS_SECRET_ACCESS_KEY", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "GITHUB_TOKEN", "DEPLOY_SECRET")}
    job |= {"GITHUB_ENV": str(tmp_path / "github_env"), "WANTED": "it is here", "HIP_VISIBLE_DEVICES": "0"}
    good("venv", "install", *BY_UV, environment, "--from", packages, "--packages", "rocm", environment=clean_environment(**job))
    done = good("test", "--venv", environment, "--store", f"file:{store}", "--pass-env", "WANTED", "--", "env", environment=clean_environment(**job))
    log = texts_below(store / "evidence" / "logs", "*.txt")
    assert "WANTED=it is here" in log and "HIP_VISIBLE_DEVICES=0" in log and "PATH=" in log
    assert not [name for name in (*job, TOKEN) if name in log and name not in ("WANTED", "HIP_VISIBLE_DEVICES")]
    assert TOKEN not in done.out + done.err
    assert "HOME=" in log and f"HOME={job.get('HOME', 'none')}" not in log
    # The values are not in the parent's environment either, in any encoding: nor those whose names are on no list of secrets.
    unlisted = {name: f"{TOKEN}-{name}" for name in ("GH_PAT", "DB_PASSPHRASE", "DOCKER_AUTH", "NPM_CONFIG__AUTH")}
    unlisted |= {"DB_URL": f"postgres://user:{TOKEN}@host/db", "PIP_INDEX_URL": f"https://user:{TOKEN}@host/simple"}
    reader = "tr '\\0' '\\n' < /proc/$PPID/environ | rev"
    good("test", "--venv", environment, "--store", f"file:{store}", "--", "sh", "-c", reader, environment=clean_environment(**job, **unlisted))
    log = texts_below(store / "evidence" / "logs", "*.txt")
    assert "=TAP_HG" in log and "=HTAP" in log, "the reader has read"
    assert TOKEN[::-1] not in log
    leak = tmp_path / "leak"
    leak.write_text(f"found {job['GITHUB_TOKEN']} in a file\n")
    good("test", "--venv", environment, "--store", f"file:{store}", "--", "cat", leak, environment=clean_environment(**job))
    assert TOKEN not in texts_below(store, "*") and "found *** in a file" in texts_below(store / "evidence" / "logs", "*.txt")
