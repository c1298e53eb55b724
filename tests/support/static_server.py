"""A web server as static hosting is: files by path, ranges and ETags, JSON pages with their own type, `+` in a path means what
it says."""

from __future__ import annotations

import contextlib
import http.server
import io
import threading
from pathlib import Path


class _Handler(http.server.SimpleHTTPRequestHandler):
    def end_headers(self):
        path = Path(self.translate_path(self.path))
        if path.is_file():
            self.send_header("ETag", f'"{path.stat().st_mtime_ns:x}-{path.stat().st_size:x}"')
        for name, value in (self.server.page_headers if self.path.endswith(("/", ".html")) else self.server.file_headers).items():
            self.send_header(name, value)
        super().end_headers()

    def send_error(self, code, message=None, explain=None):
        super().send_error(self.server.missing if code == 404 else code, message, explain)

    def send_header(self, keyword, value):
        if keyword == "Content-type" and self.server.page_type and self.path.endswith("/"):
            value = self.server.page_type
        super().send_header(keyword, value)

    def list_directory(self, path):  # static hosting lists nothing
        self.send_error(404)

    def guess_type(self, path):
        if "/simple-json/" in str(path) and str(path).endswith("index.html"):
            return "application/vnd.pypi.simple.v1+json"
        return super().guess_type(path)

    def send_head(self):
        """As SimpleHTTPRequestHandler, and `Range: bytes=A-B` of a file."""
        path, span = Path(self.translate_path(self.path)), self.headers.get("Range", "")
        if not span or not path.is_file():
            return super().send_head()
        if not self.server.ranges:
            return super().send_head()
        if self.server.before_range:
            self.server.before_range(path)
        size, (first, last) = path.stat().st_size, span.removeprefix("bytes=").split("-")
        begin, end = int(first), min(int(last or size), size - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{end}/{size}")
        self.send_header("Content-Length", str(end - begin + 1))
        self.end_headers()
        with path.open("rb") as file:
            file.seek(begin)
            return io.BytesIO(file.read(end - begin + 1))

    def log_message(self, format, *args):
        self.server.requested.append(self.path)


@contextlib.contextmanager
def serve(directory: Path, page_headers: dict[str, str] | None = None, file_headers: dict[str, str] | None = None, missing: int = 404, page_type: str = "", ranges: bool = True, before_range=None):
    """Yields (base URL, list of request lines' paths so far). `missing`: the status for what is not there; `before_range(path)` is called
    before a range is read."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: _Handler(*a, directory=str(directory)))
    server.requested = []
    server.page_headers, server.file_headers, server.missing, server.page_type = page_headers or {}, file_headers or {}, missing, page_type
    server.ranges, server.before_range = ranges, before_range
    # Every 0.05 s it looks whether it is to stop; by itself it would each half second.
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.requested
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
