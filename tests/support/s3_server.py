"""The S3 double as a process, and a client that needs nothing but Python."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import hmac
import json
import subprocess
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as tree
from pathlib import Path

SCRIPT = Path(__file__).with_name("s3_double.py")
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Server:
    def __init__(self, said: dict):
        self.endpoint, self.access, self.secret, self.bucket = said["endpoint"], said["access_key"], said["secret_key"], said["bucket"]

    def environment(self) -> dict[str, str]:
        return {"AWS_ENDPOINT_URL": self.endpoint, "AWS_ACCESS_KEY_ID": self.access, "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_REGION": "us-east-1"}

    def control(self, method: str, body: dict | None = None) -> dict:
        request = urllib.request.Request(f"{self.endpoint}/_control", method=method, data=json.dumps(body).encode() if body else None)
        return json.load(DIRECT.open(request, timeout=30))


@contextlib.contextmanager
def serve(*flags: str):
    process = subprocess.Popen([sys.executable, "-B", SCRIPT, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Server(json.loads(process.stdout.readline()))
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


class Client:
    """Signs and sends; path style. An implementation of its own, so that it can contradict ours."""

    def __init__(self, endpoint: str, access: str, secret: str):
        self.endpoint, self.access, self.secret = endpoint, access, secret

    def send(self, method: str, path: str, query: dict[str, str], body: bytes | None = None, more: dict[str, str] | None = None) -> bytes:
        """`more`: headers with lower-case names, signed like the others."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        day, host = now[:8], self.endpoint.partition("//")[2]
        path = urllib.parse.quote(path, safe="/-_.~")
        pairs = "&".join(sorted(f"{urllib.parse.quote(k, safe='-_.~')}={urllib.parse.quote(v, safe='-_.~')}" for k, v in query.items()))
        signed = {"host": host, "x-amz-content-sha256": "UNSIGNED-PAYLOAD", "x-amz-date": now, **(more or {})}
        names = ";".join(sorted(signed))
        lines = "".join(f"{name}:{signed[name]}\n" for name in sorted(signed))
        canonical = f"{method}\n{path}\n{pairs}\n{lines}\n{names}\nUNSIGNED-PAYLOAD"
        scope = f"{day}/us-east-1/s3/aws4_request"
        key = ("AWS4" + self.secret).encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        headers = {name: value for name, value in signed.items() if name != "host"} | {"Authorization": f"AWS4-HMAC-SHA256 Credential={self.access}/{scope}, SignedHeaders={names}, Signature={signature}"}
        url = f"{self.endpoint}{path}" + (f"?{pairs}" if pairs else "")
        return DIRECT.open(urllib.request.Request(url, method=method, data=body, headers=headers), timeout=60).read()

    def get(self, bucket: str, key: str) -> bytes:
        return self.send("GET", f"/{bucket}/{key}", {})

    def put(self, bucket: str, key: str, body: bytes, more: dict[str, str] | None = None) -> None:
        self.send("PUT", f"/{bucket}/{key}", {}, body, more)

    def delete(self, bucket: str, key: str) -> None:
        self.send("DELETE", f"/{bucket}/{key}", {})

    def make_bucket(self, bucket: str) -> None:
        self.send("PUT", f"/{bucket}", {}, b"")

    def list(self, bucket: str, prefix: str = "") -> list[str]:
        keys, token = [], ""
        while True:
            query = {"list-type": "2", "encoding-type": "url", "prefix": prefix, **({"continuation-token": token} if token else {})}
            root = tree.fromstring(self.send("GET", f"/{bucket}", query))
            values = [(node.tag.rpartition("}")[2], node.text or "") for node in root.iter()]
            keys += [urllib.parse.unquote(text) for name, text in values if name == "Key"]
            token = next((text for name, text in values if name == "NextContinuationToken"), "")
            if not token:
                return keys
