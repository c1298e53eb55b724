"""A web server as static hosting is: files by path, JSON pages with their own type, `+` in a path means what it says."""

from __future__ import annotations

import contextlib
import http.server
import threading
from pathlib import Path


class _Handler(http.server.SimpleHTTPRequestHandler):
    def guess_type(self, path):
        if "/simple-json/" in str(path) and str(path).endswith("index.html"):
            return "application/vnd.pypi.simple.v1+json"
        return super().guess_type(path)

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
