"""A bucket that people install from: Ceph's radosgw keeps it, nginx in front of it serves its pages. On loopback only.

    with public_bucket.serve() as place: place.environment(), place.locator, place.url      in pytest
    python3 tests/support/public_bucket.py                prints one line of JSON, serves until its input ends

Needs Debian's radosgw, ceph-mon, ceph-osd and nginx-light (`tools/setup --storage`). Writing takes the bucket's keys; reading
through nginx takes none.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import radosgw, s3_server  # noqa: E402

START_SECONDS = 30
# What a site needs to serve a bucket of quarry's: a page for a directory, `+` and its like as they were asked for, no listing,
# and "not there" for what is not there (a bucket that may not be listed says 403, which installers take for a wrong password).
NGINX = """
daemon off;
worker_processes 1;
pid {home}/nginx.pid;
error_log {home}/error.log warn;
events {{ worker_connections 512; }}
http {{
  access_log {home}/access.log;
  client_body_temp_path {home}/body;
  proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/fastcgi;
  uwsgi_temp_path {home}/uwsgi;
  scgi_temp_path {home}/scgi;
  map $request_uri $object {{
    "~^(?<directory>[^?]*/)([?]|$)" "${{directory}}index.html";
    "~^(?<file>[^?]*)" "$file";
  }}
  upstream gateway {{ server {gateway}; keepalive 16; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      limit_except GET {{ deny all; }}
      proxy_pass http://gateway/{bucket}$object;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host {gateway};
      proxy_set_header Authorization "";
      proxy_max_temp_file_size 0;
      proxy_intercept_errors on;
      error_page 403 404 = @missing;
    }}
    location @missing {{ return 404; }}
  }}
}}
"""


def available() -> bool:
    return radosgw.available() and bool(shutil.which("nginx", path=_path()))


def _path() -> str:
    return os.environ.get("PATH", "") + ":/usr/sbin"  # where Debian has it, and PATH of a plain user has not


@dataclass
class Place:
    ceph: radosgw.Server
    bucket: str
    url: str  # of the bucket's root, as plain clients see it
    home: Path
    nginx: subprocess.Popen

    @property
    def locator(self) -> str:
        return f"s3://{self.bucket}"

    @property
    def bare_url(self) -> str:
        """Of the bucket itself: Ceph answers, as Amazon does, without a web server that knows of index.html."""
        return f"{self.ceph.endpoint}/{self.bucket}"

    def client(self) -> s3_server.Client:
        return s3_server.Client(self.ceph.endpoint, radosgw.ACCESS, radosgw.SECRET)

    def environment(self) -> dict[str, str]:
        return {**self.ceph.environment(), "AWS_EC2_METADATA_DISABLED": "true"}

    def requested(self) -> list[str]:
        """The paths that plain clients asked for so far."""
        return [line.split('"')[1].split()[1] for line in (self.home / "access.log").read_text().splitlines()]


def make_bucket(ceph: radosgw.Server, name: str, readable: str = "", listed: bool = False) -> None:
    """`readable`: the keys that strangers may read ("*"); `listed`: whether they may list, so that a missing key is 404 and not 403."""
    client = s3_server.Client(ceph.endpoint, radosgw.ACCESS, radosgw.SECRET)
    client.send("PUT", f"/{name}", {})
    statements = []
    if readable:
        statements.append({"Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject"], "Resource": [f"arn:aws:s3:::{name}/{readable}"]})
    if listed:
        statements.append({"Effect": "Allow", "Principal": "*", "Action": ["s3:ListBucket"], "Resource": [f"arn:aws:s3:::{name}"]})
    if statements:
        client.send("PUT", f"/{name}", {"policy": ""}, json.dumps({"Version": "2012-10-17", "Statement": statements}).encode())


def start_nginx(ceph: radosgw.Server, bucket: str, home: Path) -> Place:
    port = radosgw.free_port()
    (home / "nginx.conf").write_text(NGINX.format(home=home, gateway=ceph.endpoint.partition("//")[2], bucket=bucket, port=port))
    process = subprocess.Popen([shutil.which("nginx", path=_path()), "-p", home, "-c", home / "nginx.conf", "-e", home / "error.log"], stdin=subprocess.DEVNULL, start_new_session=True)
    place = Place(ceph, bucket, f"http://127.0.0.1:{port}", home, process)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _serves(place.url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("nginx does not start: " + (home / "error.log").read_text()[-400:])
            time.sleep(0.05)
        return place
    except BaseException:
        stop_nginx(place)
        raise


def _serves(url: str) -> bool:
    try:
        s3_server.DIRECT.open(url + "/nothing", timeout=5).close()
    except urllib.error.HTTPError as answer:
        return answer.code == 404
    except OSError:
        return False
    return True


def stop_nginx(place: Place) -> None:
    place.nginx.terminate()
    try:
        place.nginx.wait(10)
    except subprocess.TimeoutExpired:
        place.nginx.kill()
        place.nginx.wait()


@contextlib.contextmanager
def serve(ceph: radosgw.Server | None = None, readable: str = "*", listed: bool = False):
    """A bucket of its own; `ceph`: on a gateway that runs already; the others as for make_bucket."""
    with contextlib.ExitStack() as stack:
        gateway = ceph or stack.enter_context(radosgw.serve())
        home = Path(tempfile.mkdtemp(prefix="quarry-nginx-"))
        stack.callback(shutil.rmtree, home, ignore_errors=True)
        name = radosgw.bucket_name()
        make_bucket(gateway, name, readable, listed)
        place = start_nginx(gateway, name, home)
        stack.callback(stop_nginx, place)
        yield place


def _end(*_: object) -> None:
    """Once: a second signal must not cut the cleaning short."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)
    with serve() as running:
        print(json.dumps({"locator": running.locator, "url": running.url, "environment": running.environment(), "pid": os.getpid()}), flush=True)
        sys.stdin.read()
