"""A web server as static hosting is: files by path, ranges and ETags, JSON pages with their own type, `+` in a path means what
it says."""

from __future__ import annotations

import contextlib
import http.server
import io
import threading
from pathlib import Path


class _Handler(http.server.SimpleHTTPRequestHandler):
    def guess_type(self, path):
        if "/simple-json/" in str(path) and str(path).endswith("index.html"):
            return "application/vnd.pypi.simple.v1+json"
        return super().guess_type(path)

    def send_head(self):
        """As SimpleHTTPRequestHandler, and `Range: bytes=A-B` of a file."""
        path, span = Path(self.translate_path(self.path)), self.headers.get("Range", "")
        if not span or not path.is_file():
            return super().send_head()
        size, (first, last) = path.stat().st_size, span.removeprefix("bytes=").split("-")
        begin, end = int(first), min(int(last or size), size - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{end}/{size}")
        self.send_header("Content-Length", str(end - begin + 1))
        self.end_headers()
        with path.open("rb") as file:
            file.seek(begin)
            return io.BytesIO(file.read(end - begin + 1))

    def end_headers(self):
        path = Path(self.translate_path(self.path))
        if path.is_file():
            self.send_header("ETag", f'"{path.stat().st_mtime_ns:x}-{path.stat().st_size:x}"')
        super().end_headers()

    def log_message(self, format, *args):
        self.server.requested.append(self.path)


@contextlib.contextmanager
def serve(directory: Path):
    """Yields (base URL, list of request lines' paths so far)."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: _Handler(*a, directory=str(directory)))
    server.requested = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.requested
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
