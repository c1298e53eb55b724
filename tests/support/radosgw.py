"""Ceph's S3 server on loopback: one monitor, one disk in memory, one gateway; started for a test and stopped with it.

    with radosgw.serve() as server: server.environment()      in pytest
    python3 tests/support/radosgw.py [DIR]                    prints one line of JSON, serves until its input ends

Needs Debian's radosgw, ceph-mon and ceph-osd (`tools/setup --test`). About 2 s to start, 150 MB of memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass, field
from pathlib import Path

ACCESS, SECRET = "quarrytest", "quarry-test-" + "s" * 28
START_SECONDS = 120
MEMORY_BYTES = 6 << 30  # of the disk in memory; it is taken as objects come
# The monitor waits a second for other changes before it makes one, and a start makes a dozen pools, one after the other.
MONITOR = "paxos propose interval = 0.05\npaxos min wait = 0.01"
# Without it the gateway's second packet of an answer waits 40 ms for the client's acknowledgement of the first.
FRONTEND = "tcp_nodelay=1"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def available() -> bool:
    return all(shutil.which(program) for program in ("radosgw", "ceph-mon", "ceph-osd", "radosgw-admin", "ceph-authtool", "monmaptool"))


@dataclass
class Server:
    directory: Path
    endpoint: str = ""
    tls_endpoint: str = ""
    processes: list[subprocess.Popen] = field(default_factory=list)

    def environment(self) -> dict[str, str]:
        return {"AWS_ENDPOINT_URL": self.endpoint, "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1"}

    def run(self, *command: str, timeout: float = 60) -> str:
        ended = subprocess.run([*command], capture_output=True, text=True, timeout=timeout, cwd=self.directory)
        if ended.returncode:
            raise RuntimeError(f"{' '.join(command)}: {ended.stderr[-2000:]}")
        return ended.stdout

    def ceph(self, *words: str) -> str:
        return self.run("ceph", "-c", self.conf, "-n", "client.admin", "-k", self.keyring, *words)

    @property
    def conf(self) -> str:
        return str(self.directory / "ceph.conf")

    @property
    def keyring(self) -> str:
        return str(self.directory / "keyring")

    def user(self, name: str) -> dict[str, str]:
        """Another user, who may do what the policy of a bucket says; its environment."""
        access, secret = f"quarry{name}", f"{name}-" + "s" * 28
        self.run("radosgw-admin", "-c", self.conf, "-n", "client.rgw", "-k", self.keyring, "user", "create", f"--uid={name}", f"--display-name={name}", f"--access-key={access}", f"--secret={secret}")
        return {**self.environment(), "AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": secret}

    def spawn(self, *command: str) -> None:
        log = open(self.directory / f"{command[0]}.log", "wb")
        self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.directory, start_new_session=True))

    def stop(self) -> None:
        """At once: everything that they keep is thrown away, and a gateway that may end by itself takes more than five seconds for it."""
        for process in reversed(self.processes):
            process.kill()
        for process in reversed(self.processes):
            process.wait()


def _configure(server: Server, monitor: int, gateway: int, tls: str) -> str:
    fsid, home = str(uuid.uuid4()), server.directory
    settings = f"""
[global]
fsid = {fsid}
mon host = [v2:127.0.0.1:{monitor}]
public addr = 127.0.0.1
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = {server.keyring}
run dir = {home}
admin socket =
log file = {home}/$name.log
log to stderr = false
err to stderr = true
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data = {home}/mon
mon data avail crit = 1
{MONITOR}
mon max pg per osd = 1000
osd objectstore = memstore
osd data = {home}/osd
memstore device bytes = {MEMORY_BYTES}
rgw data = {home}/rgw
rgw gc obj min wait = 1
rgw gc processor period = 2
rgw gc max objs = 2
rgw frontends = beast endpoint=127.0.0.1:{gateway} {FRONTEND}{tls}
rgw thread pool size = 64
rgw enable usage log = false
rgw relaxed s3 bucket names = false
"""
    (home / "ceph.conf").write_text(settings)
    for name in ("mon", "osd", "rgw"):
        (home / name).mkdir()
    return fsid


def _start_monitor(server: Server, fsid: str, port: int) -> None:
    run, keyring = server.run, server.keyring
    run("ceph-authtool", "--create-keyring", keyring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *")
    run("ceph-authtool", keyring, "--gen-key", "-n", "client.admin", "--cap", "mon", "allow *", "--cap", "osd", "allow *", "--cap", "mgr", "allow *")
    run("ceph-authtool", keyring, "--gen-key", "-n", "client.rgw", "--cap", "mon", "allow rwx", "--cap", "osd", "allow rwx")
    run("ceph-authtool", keyring, "--gen-key", "-n", "osd.0", "--cap", "mon", "allow profile osd", "--cap", "osd", "allow *")
    run("monmaptool", "--create", "--addv", "a", f"[v2:127.0.0.1:{port}]", "--fsid", fsid, "monmap")
    run("ceph-mon", "-c", server.conf, "--mkfs", "-i", "a", "--monmap", "monmap", "--keyring", keyring)
    server.spawn("ceph-mon", "-c", server.conf, "-i", "a", "-f")


def _start_disk(server: Server) -> None:
    osd = str(uuid.uuid4())
    server.ceph("osd", "new", osd)
    server.run("ceph-osd", "-c", server.conf, "-i", "0", "--mkfs", "--osd-uuid", osd, "-k", server.keyring)
    server.spawn("ceph-osd", "-c", server.conf, "-i", "0", "-f", "--setuser", "root", "--setgroup", "root")


def _answers(endpoint: str) -> bool:
    try:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(endpoint, timeout=2).close()
        return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def start(directory: Path, tls: Path | None = None) -> Server:
    server = Server(directory)
    try:
        monitor, gateway = free_port(), free_port()
        secure = free_port() if tls else 0
        fsid = _configure(server, monitor, gateway, f" ssl_endpoint=127.0.0.1:{secure} ssl_certificate={tls}" if tls else "")
        server.tls_endpoint = f"https://127.0.0.1:{secure}" if tls else ""
        _start_monitor(server, fsid, monitor)
        _start_disk(server)
        server.spawn("radosgw", "-c", server.conf, "-n", "client.rgw", "-k", server.keyring, "-f")
        server.endpoint = f"http://127.0.0.1:{gateway}"
        deadline = time.monotonic() + START_SECONDS
        while not _answers(server.endpoint):
            if time.monotonic() > deadline or any(process.poll() is not None for process in server.processes):
                raise RuntimeError("radosgw does not start: " + "; ".join(f"{log.name}: {log.read_text(errors='replace')[-400:]}" for log in directory.glob("*.log")))
            time.sleep(0.2)
        server.run("radosgw-admin", "-c", server.conf, "-n", "client.rgw", "-k", server.keyring, "user", "create", "--uid=test", "--display-name=test", f"--access-key={ACCESS}", f"--secret={SECRET}")
        return server
    except BaseException:
        server.stop()
        raise


@contextlib.contextmanager
def serve(tls: Path | None = None):
    """`tls`: a certificate with its key; the server then answers at tls_endpoint too."""
    directory = Path(tempfile.mkdtemp(prefix="quarry-rgw-"))
    server = None
    try:
        server = start(directory, tls)
        yield server
    finally:
        if server:
            server.stop()
        shutil.rmtree(directory, ignore_errors=True)


def bucket_name() -> str:
    return "quarry-" + secrets.token_hex(6)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with serve() as running:
        print(json.dumps({"endpoint": running.endpoint, "access_key": ACCESS, "secret_key": SECRET, "pid": os.getpid()}), flush=True)
        sys.stdin.read()
