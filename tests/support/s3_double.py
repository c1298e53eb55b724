"""A strict S3 server in memory, for tests: checks every signature with an implementation of its own, keeps conditions atomic,
verifies checksums, and misbehaves on request.

    python3 tests/support/s3_double.py [--part-min BYTES] [--without conditions,if-match,complete-conditions,checksums,checksum-headers,slash-keys,etag,last-modified,ranges] [--unquoted-if-match] [--tls PEM]

prints one line of JSON (endpoint, access_key, secret_key, bucket) and serves until its input ends. Objects can also be read
without a signature below /public/BUCKET/. /_control: POST {"faults": [...]} arms faults ("age": objects
were written so many seconds earlier; "objects": {"prefix", "count"} makes that many objects), GET gives the ledger of requests
and the bytes sent by key, DELETE forgets them. A fault is {"method", "key" (glob), "query" (a name), "skip", "times", "action"}; see `Fault`.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import datetime
import fnmatch
import hashlib
import hmac
import http.server
import json
import ssl
import sys
import threading
import time
import urllib.parse
import uuid
from dataclasses import dataclass, field
from email.utils import formatdate
from xml.sax.saxutils import escape

ACCESS, SECRET, BUCKET = "DOUBLEACCESSKEY", "double/secret+key", "bucket"
SKEW_SECONDS = 900
SYSTEM_METADATA = ("content-type", "cache-control", "content-encoding", "content-disposition", "content-language", "expires")


def crc_table() -> list[int]:
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ 0x9A6C9329AC4BC9B5 if i & 1 else i >> 1
        table.append(i)
    return table


CRC_TABLE = crc_table()


def crc64nvme(data: bytes) -> str:
    crc = 0xFFFFFFFFFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return base64.b64encode((crc ^ 0xFFFFFFFFFFFFFFFF).to_bytes(8, "big")).decode()


class Refused(Exception):
    def __init__(self, status: int, code: str, message: str = "", **extra: str):
        super().__init__(code)
        self.status, self.code, self.message, self.extra = status, code, message, extra


@dataclass
class Stored:
    body: bytes
    etag: str
    headers: dict[str, str]
    modified: float = field(default_factory=time.time)


@dataclass
class Upload:
    key: str
    headers: dict[str, str]
    parts: dict[int, Stored] = field(default_factory=dict)
    started: float = field(default_factory=time.time)


@dataclass
class Fault:
    """action: `status:503:SlowDown` answers so; `before` closes the connection unread; `after` does the work, then closes;
    `error-in-200` does nothing and says 200 with an error, `empty-200` says 200 and no more; `cut:N` sends N bytes of the body, then closes; `other-range`
    shifts Content-Range; `skew` believes another time; `moved:REGION` says where the bucket is; `stall:N` sends N bytes of
    the body and no more; `replaced` gives the object other bytes of the same length before it is read; `replace` gives the
    source of a copy other bytes before; `stuck` lists the first page whatever is asked for, and says that it deletes; `redirect:STATUS:URL` leads
    away; `page:STATUS` answers as a captive portal does; `no-etag` does the work and leaves the ETag out; `no-length` the size;
    `garbled` does the work and answers with XML that nobody can read; `page-after` does the work, and a gateway's page answers; `error-after` does the work and answers 500."""

    action: str
    method: str = "*"
    key: str = "*"
    query: str = ""
    skip: int = 0
    times: int = 1


class State:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.lock = threading.RLock()
        self.objects: dict[str, Stored] = {}
        self.uploads: dict[str, Upload] = {}
        self.faults: list[Fault] = []
        self.ledger: list[list] = []
        self.sent: dict[str, int] = {}  # bytes of bodies by key
        self.lifecycle: list[list] = []  # rules that delete: id, prefix, days; told, never applied

    def without(self, feature: str) -> bool:
        return feature in self.options.without.split(",")

    def fault_for(self, method: str, key: str, query: dict[str, str]) -> str:
        with self.lock:
            for fault in self.faults:
                if fault.method in ("*", method) and fnmatch.fnmatchcase(key, fault.key) and (not fault.query or fault.query in query):
                    if fault.skip > 0:
                        fault.skip -= 1
                    elif fault.times > 0:
                        fault.times -= 1
                        return fault.action
        return ""


def quote(text: str, safe: str) -> str:
    return urllib.parse.quote(text, safe=safe + "-_.~")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    state: State

    def log_message(self, *arguments):
        pass

    def do(self):
        split = urllib.parse.urlsplit(self.path)
        self.raw_path, self.query = split.path, dict(urllib.parse.parse_qsl(split.query, keep_blank_values=True))
        self.answered = 0
        if self.raw_path == "/_control":
            return self.control()
        path = urllib.parse.unquote(self.raw_path)
        public = path.startswith("/public/")
        bucket, _, self.key = path.removeprefix("/public").lstrip("/").partition("/")
        self.action = self.state.fault_for(self.command, self.key, self.query)
        try:
            self.serve(bucket, public)
        except Refused as refused:
            self.refuse(refused)
        finally:
            if not self.answered:
                self.remember(0)

    def remember(self, status: int):
        self.answered = status
        with self.state.lock:
            self.state.ledger.append([self.command, self.key, sorted(self.query), status])

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do

    # requests

    def serve(self, bucket: str, public: bool):
        if self.action == "before":
            self.close_connection = True
            return
        if self.action.startswith("status:"):
            _, status, code = self.action.split(":")
            self.drain()
            raise Refused(int(status), code)
        if self.action.startswith("redirect:"):
            _, status, place = self.action.split(":", 2)
            self.drain()
            return self.page(int(status), {"Location": place})
        if self.action.startswith("page:"):
            self.drain()
            return self.page(int(self.action.split(":")[1]))
        if self.action.startswith("moved:"):
            self.drain()
            raise Refused(400, "AuthorizationHeaderMalformed", "the region is wrong", Region=self.action.split(":")[1])
        if public and self.command in ("GET", "HEAD"):
            return self.get_object()
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.early_conditions()
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.authenticate()
        if not fnmatch.fnmatchcase(bucket, self.state.options.bucket):
            raise Refused(404, "NoSuchBucket", "The specified bucket does not exist")
        if self.action == "empty-200":
            return self.reply(200)
        if self.action == "error-in-200":
            return self.xml(200, "<Error><Code>InternalError</Code><Message>after the headers</Message></Error>")
        self.dispatch()

    def page(self, status: int, headers: dict[str, str] | None = None):
        """Of somebody who is no store."""
        self.remember(status)
        body = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Log in to the network first</body></html>"
        self.send_response_only(status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_expect_100(self):
        return True  # decided in serve()

    def early_conditions(self):
        with self.state.lock:
            if self.command == "PUT" and not self.state.without("conditions"):
                try:
                    self.check_conditions()
                except Refused as refused:
                    self.close_connection = True
                    raise refused
        self.send_response_only(100)
        self.end_headers()

    def drain(self):
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.close_connection = True
        else:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def dispatch(self):
        q, m = self.query, self.command
        if not self.key and "lifecycle" in q:
            return self.lifecycle()
        if not self.key:
            return self.list_uploads() if "uploads" in q else self.list_objects() if m == "GET" else self.reply(200)
        if m in ("GET", "HEAD"):
            return self.list_parts() if "uploadId" in q else self.get_object()
        if m == "POST":
            return self.create_upload() if "uploads" in q else self.complete()
        if m == "DELETE":
            return self.abort() if "uploadId" in q else self.delete()
        source = self.headers.get("x-amz-copy-source")
        if "uploadId" in q:
            return self.copy_part(source) if source else self.put_part()
        return self.copy_object(source) if source else self.put_object()

    # signatures (docs.aws.amazon.com, Signature Version 4)

    def authenticate(self):
        given = self.headers.get("Authorization", "")
        if not given and self.state.options.anonymous and self.command in ("GET", "HEAD"):
            return
        if not given.startswith("AWS4-HMAC-SHA256 "):
            raise Refused(403, "AccessDenied", "unsigned")
        fields = dict(part.strip().split("=", 1) for part in given.removeprefix("AWS4-HMAC-SHA256 ").split(","))
        access, day, region, service, _ = fields["Credential"].split("/")
        if access != ACCESS:
            raise Refused(403, "InvalidAccessKeyId")
        if self.headers.get("x-amz-security-token") == "expired":
            raise Refused(400, "ExpiredToken")
        names = fields["SignedHeaders"].split(";")
        for needed in [name.lower() for name in self.headers if name.lower().startswith("x-amz-") or name.lower() == "host"]:
            if needed not in names:
                raise Refused(403, "AccessDenied", f"{needed} is not signed")
        signature = self.signature(names, day, region, service)
        if not hmac.compare_digest(signature, fields["Signature"]):
            raise Refused(403, "SignatureDoesNotMatch")
        self.check_time()
        hashed = self.headers.get("x-amz-content-sha256", "")
        if hashed != "UNSIGNED-PAYLOAD" and hashed != hashlib.sha256(self.body).hexdigest():
            raise Refused(400, "XAmzContentSHA256Mismatch")

    def signature(self, names: list[str], day: str, region: str, service: str) -> str:
        pairs = sorted((quote(k, ""), quote(v, "")) for k, v in urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))
        headers = "".join(f"{name}:{' '.join(self.headers.get(name, '').split())}\n" for name in names)
        canonical = "\n".join([self.command, quote(urllib.parse.unquote(self.raw_path), "/"), "&".join(f"{k}={v}" for k, v in pairs), headers, ";".join(names), self.headers.get("x-amz-content-sha256", "")])
        scope = f"{day}/{region}/{service}/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", self.headers.get("x-amz-date", ""), scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + SECRET).encode()
        for part in (day, region, service, "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()

    def check_time(self):
        said = datetime.datetime.strptime(self.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc).timestamp()
        if self.action == "skew" or abs(said - time.time()) > SKEW_SECONDS:
            raise Refused(403, "RequestTimeTooSkewed")

    # answers

    def reply(self, status: int, headers: dict[str, str] | None = None, body: bytes = b""):
        if self.raw_path != "/_control":
            self.remember(status)  # before the client can know, and look
        if self.action == "after":
            self.close_connection = True
            return
        if self.action == "error-after":
            self.action = ""
            status, headers, body = 500, {}, b"<Error><Code>InternalError</Code><Message>after the work</Message></Error>"
        self.send_response_only(status)
        self.send_header("Date", formatdate(usegmt=True))
        self.send_header("x-amz-request-id", uuid.uuid4().hex[:16])
        for name, value in (headers or {}).items():
            if (self.action, name) not in (("no-etag", "ETag"), ("no-length", "Content-Length")):
                self.send_header(name, value)
        if "Content-Length" not in (headers or {}) and status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD" or not body:
            return
        if self.action.startswith("cut:"):
            body = body[: int(self.action.split(":")[1])]
            self.close_connection = True
        if self.action.startswith("stall:"):
            self.wfile.write(body[: int(self.action.split(":")[1])])
            self.wfile.flush()
            self.close_connection = True
            self.rfile.read(1)  # until the client gives up
            return
        if self.raw_path != "/_control":
            with self.state.lock:
                self.state.sent[self.key] = self.state.sent.get(self.key, 0) + len(body)
        self.wfile.write(body)

    def xml(self, status: int, text: str):
        if self.action == "page-after":
            return self.reply(403, {"Content-Type": "text/html"}, b"<html><body>blocked by the gateway</body></html>")
        text = text[: len(text) // 2] if self.action == "garbled" else text
        self.reply(status, {"Content-Type": "application/xml"}, ('<?xml version="1.0" encoding="UTF-8"?>\n' + text).encode())

    def refuse(self, refused: Refused):
        self.action = ""
        extra = "".join(f"<{k}>{escape(v)}</{k}>" for k, v in refused.extra.items())
        body = f"<Error><Code>{refused.code}</Code><Message>{escape(refused.message)}</Message>{extra}</Error>"
        self.xml(refused.status, body if self.command != "HEAD" else "")

    # objects

    def check_conditions(self):
        present = self.state.objects.get(self.key)
        if self.headers.get("If-None-Match") == "*" and present:
            raise Refused(412, "PreconditionFailed")
        wanted = self.headers.get("If-Match")
        if wanted is None or self.state.without("if-match"):
            return
        if not present:
            raise Refused(404, "NoSuchKey")
        expected = present.etag if self.state.options.unquoted_if_match else f'"{present.etag}"'
        if wanted != expected:
            raise Refused(412, "PreconditionFailed")

    def checksummed(self, body: bytes) -> None:
        given = self.headers.get("x-amz-checksum-crc64nvme")
        if given and self.state.without("checksum-headers"):
            raise Refused(400, "InvalidArgument", "a header that this server does not know")
        if given and not self.state.without("checksums") and given != crc64nvme(body):
            raise Refused(400, "BadDigest", "the CRC64NVME is another one")
        md5 = self.headers.get("Content-MD5")
        if md5 and md5 != base64.b64encode(hashlib.md5(body).digest()).decode():
            raise Refused(400, "BadDigest")

    def kept_headers(self) -> dict[str, str]:
        return {k: v for k, v in self.headers.items() if k.lower().startswith("x-amz-meta-") or k.lower() in SYSTEM_METADATA}

    def put_object(self):
        self.checksummed(self.body)
        if self.key.endswith("/") and self.body and self.state.without("slash-keys"):
            raise Refused(400, "InvalidArgument", "a directory has no content")
        with self.state.lock:
            if not self.state.without("conditions"):
                self.check_conditions()
            stored = Stored(self.body, hashlib.md5(self.body).hexdigest(), self.kept_headers())
            self.state.objects[self.key] = stored
        self.reply(200, {"ETag": f'"{stored.etag}"'})

    def source(self, source: str) -> Stored:
        bucket, _, key = urllib.parse.unquote(source).lstrip("/").partition("/")
        found = self.state.objects.get(key) if fnmatch.fnmatchcase(bucket, self.state.options.bucket) else None
        if not found:
            raise Refused(404, "NoSuchKey")
        if self.action == "replace":
            found = self.state.objects[key] = Stored(found.body[::-1], "f" * 32, found.headers)
        pinned = self.headers.get("x-amz-copy-source-if-match")
        if pinned and pinned.strip('"') != found.etag:
            raise Refused(412, "PreconditionFailed")
        return found

    def copy_object(self, source: str):
        with self.state.lock:
            found = self.source(source)
            headers = self.kept_headers() if self.headers.get("x-amz-metadata-directive") == "REPLACE" else found.headers
            made = self.state.objects[self.key] = Stored(found.body, hashlib.md5(found.body).hexdigest(), headers)
        self.xml(200, f"<CopyObjectResult><ETag>&quot;{made.etag}&quot;</ETag></CopyObjectResult>")

    def get_object(self):
        with self.state.lock:
            found = self.state.objects.get(self.key)
            if found and self.action == "replaced":
                other = bytes(byte ^ 1 for byte in found.body)
                found = self.state.objects[self.key] = Stored(other, hashlib.md5(other).hexdigest(), found.headers)
        if not found:
            raise Refused(404, "NoSuchKey")
        if (pinned := self.headers.get("If-Match")) and not self.state.without("if-match-of-reads") and pinned.strip('"') != found.etag:
            raise Refused(412, "PreconditionFailed")
        headers = {**found.headers, "ETag": f'"{found.etag}"', "Last-Modified": formatdate(found.modified, usegmt=True), "Accept-Ranges": "bytes"}
        headers = {name: value for name, value in headers.items() if not self.state.without(name.lower())}
        body, status = found.body, 200
        if (span := self.headers.get("Range")) and not self.state.without("ranges"):
            first, last = span.removeprefix("bytes=").split("-")
            begin, end = int(first), min(int(last), len(body) - 1)
            if begin >= len(body):
                raise Refused(416, "InvalidRange")
            shift = 1 if self.action == "other-range" else 0
            status, headers["Content-Range"] = 206, f"bytes {begin + shift}-{end + shift}/{len(body)}"
            body = body[begin : end + 1]
        self.reply(status, {**headers, "Content-Length": str(len(body))}, body)

    def delete(self):
        with self.state.lock:
            if self.action != "stuck":
                self.state.objects.pop(self.key, None)
        self.reply(204)

    def list_objects(self):
        prefix, token = self.query.get("prefix", ""), "" if self.action == "stuck" else self.query.get("continuation-token", "")
        count = min(int(self.query.get("max-keys", 1000)), self.state.options.page)
        with self.state.lock:
            keys = sorted((k for k in self.state.objects if k.startswith(prefix)), key=lambda k: k.encode())
            after = base64.b64decode(token).decode() if token else ""
            delimiter = self.query.get("delimiter", "")
            if delimiter:  # a name up to the delimiter stands for all keys below it
                cut = (prefix + rest[: rest.index(delimiter) + 1] if delimiter in (rest := k.removeprefix(prefix)) else k for k in keys)
                keys = list(dict.fromkeys(cut))
            keys = [k for k in keys if k.encode() > after.encode()]
            shown = [(k, self.state.objects[k]) for k in keys[:count] if not (delimiter and k.endswith(delimiter))]
            common = [k for k in keys[:count] if delimiter and k.endswith(delimiter)]
        more = len(keys) > count
        entries = "".join(
            f"<Contents><Key>{quote(k, '/')}</Key><LastModified>{iso(o.modified)}</LastModified><ETag>&quot;{o.etag}&quot;</ETag><Size>{len(o.body)}</Size><Owner><ID>x</ID></Owner></Contents>" for k, o in shown
        )
        entries += "".join(f"<CommonPrefixes><Prefix>{quote(k, '/')}</Prefix></CommonPrefixes>" for k in common)
        following = f"<NextContinuationToken>{base64.b64encode(keys[count - 1].encode()).decode()}</NextContinuationToken>" if more else ""
        self.xml(200, f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType><IsTruncated>{str(more).lower()}</IsTruncated>{following}{entries}</ListBucketResult>')

    # uploads in parts

    def upload(self) -> Upload:
        found = self.state.uploads.get(self.query.get("uploadId", ""))
        if not found or found.key != self.key:
            raise Refused(404, "NoSuchUpload")
        return found

    def create_upload(self):
        name = uuid.uuid4().hex
        with self.state.lock:
            self.state.uploads[name] = Upload(self.key, self.kept_headers())
        self.xml(200, f"<InitiateMultipartUploadResult><Key>{escape(self.key)}</Key><UploadId>{name}</UploadId></InitiateMultipartUploadResult>")

    def keep_part(self, body: bytes) -> Stored:
        part = Stored(body, hashlib.md5(body).hexdigest(), {})
        with self.state.lock:
            self.upload().parts[int(self.query["partNumber"])] = part
        return part

    def put_part(self):
        self.checksummed(self.body)
        self.reply(200, {"ETag": f'"{self.keep_part(self.body).etag}"'})

    def copy_part(self, source: str):
        with self.state.lock:
            body = self.source(source).body
        if span := self.headers.get("x-amz-copy-source-range"):
            first, last = span.removeprefix("bytes=").split("-")
            body = body[int(first) : int(last) + 1]
        self.xml(200, f"<CopyPartResult><ETag>&quot;{self.keep_part(body).etag}&quot;</ETag></CopyPartResult>")

    def complete(self):
        wanted = [(int(number), etag) for number, etag in parts_of(self.body)]
        with self.state.lock:
            upload = self.upload()
            if not self.state.without("complete-conditions") and not self.state.without("conditions"):
                self.check_conditions()
            if wanted != sorted(wanted) or not wanted:
                raise Refused(400, "InvalidPartOrder")
            bodies = []
            for number, etag in wanted:
                if number not in upload.parts or upload.parts[number].etag != etag:
                    raise Refused(400, "InvalidPart")
                bodies.append(upload.parts[number].body)
            if any(len(body) < self.state.options.part_min for body in bodies[:-1]):
                raise Refused(400, "EntityTooSmall")
            body = b"".join(bodies)
            self.checksummed(body)
            digests = b"".join(binascii.unhexlify(etag) for _, etag in wanted)
            etag = f"{hashlib.md5(digests).hexdigest()}-{len(wanted)}"
            self.state.objects[self.key] = Stored(body, etag, upload.headers)
            del self.state.uploads[self.query["uploadId"]]
        self.xml(200, f"<CompleteMultipartUploadResult><Key>{escape(self.key)}</Key><ETag>&quot;{etag}&quot;</ETag></CompleteMultipartUploadResult>")

    def abort(self):
        with self.state.lock:
            self.upload()
            del self.state.uploads[self.query["uploadId"]]
        self.reply(204)

    def list_parts(self):
        with self.state.lock:
            parts = sorted(self.upload().parts.items())
        after = 0 if self.action == "stuck" else int(self.query.get("part-number-marker", 0))
        rest = [(n, p) for n, p in parts if n > after]
        shown, more = rest[: self.state.options.page], len(rest) > self.state.options.page
        entries = "".join(f"<Part><PartNumber>{n}</PartNumber><Size>{len(p.body)}</Size><ETag>&quot;{p.etag}&quot;</ETag></Part>" for n, p in shown)
        following = f"<NextPartNumberMarker>{shown[-1][0]}</NextPartNumberMarker>" if more else ""
        self.xml(200, f"<ListPartsResult><IsTruncated>{str(more).lower()}</IsTruncated>{following}{entries}</ListPartsResult>")

    def list_uploads(self):
        prefix = "" if self.state.without("upload-prefix") else self.query.get("prefix", "")
        with self.state.lock:
            found = sorted((u.key, name, u.started) for name, u in self.state.uploads.items() if u.key.startswith(prefix))
        entries = "".join(f"<Upload><Key>{escape(k)}</Key><UploadId>{n}</UploadId><Initiated>{iso(t)}</Initiated></Upload>" for k, n, t in found)
        self.xml(200, f"<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>{entries}</ListMultipartUploadsResult>")

    def lifecycle(self):
        if not self.state.lifecycle:
            raise Refused(404, "NoSuchLifecycleConfiguration")
        rules = "".join(f"<Rule><ID>{escape(name)}</ID><Filter><Prefix>{escape(prefix)}</Prefix></Filter><Status>Enabled</Status><Expiration><Days>{days}</Days></Expiration></Rule>" for name, prefix, days in self.state.lifecycle)
        self.xml(200, f"<LifecycleConfiguration>{rules}</LifecycleConfiguration>")

    # the test's side

    def control(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.action = ""
        with self.state.lock:
            if self.command == "POST":
                self.state.faults += [Fault(**fault) for fault in json.loads(body).get("faults", [])]
                self.state.lifecycle = json.loads(body).get("lifecycle", self.state.lifecycle)
                for stored in self.state.objects.values():
                    stored.modified -= json.loads(body).get("age", 0)
                if many := json.loads(body).get("objects"):  # more than requests could put
                    self.state.objects |= {f"{many['prefix']}{number:06}": Stored(b"x", "9dd4e461268c8034f5c8564e155c67a6", {}) for number in range(many["count"])}
            if self.command == "DELETE":
                self.state.faults.clear()
                self.state.ledger.clear()
                self.state.sent.clear()
            text = json.dumps({"ledger": self.state.ledger, "sent": self.state.sent, "uploads": len(self.state.uploads), "armed": sum(f.times for f in self.state.faults)})
        self.reply(200, {"Content-Type": "application/json"}, text.encode())


def iso(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def parts_of(body: bytes) -> list[tuple[str, str]]:
    import xml.etree.ElementTree as tree

    found = []
    for part in tree.fromstring(body):
        values = {child.tag.rpartition("}")[2]: child.text or "" for child in part}
        found.append((values["PartNumber"], values["ETag"].strip('"')))
    return found


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bucket", default=BUCKET, help="the name of its one bucket, or a glob of names for it")
    parser.add_argument("--anonymous", action="store_true", help="reads need no signature")
    parser.add_argument("--part-min", type=int, default=5 << 20)
    parser.add_argument("--page", type=int, default=1000)
    parser.add_argument("--without", default="")
    parser.add_argument("--unquoted-if-match", action="store_true")
    parser.add_argument("--tls", metavar="PEM", help="certificate and key")
    state = State(parser.parse_args())
    server = Server(("127.0.0.1", 0), type("Bound", (Handler,), {"state": state}))
    if state.options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(state.options.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"endpoint": f"{'https' if state.options.tls else 'http'}://127.0.0.1:{server.server_port}", "access_key": ACCESS, "secret_key": SECRET, "bucket": state.options.bucket}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
