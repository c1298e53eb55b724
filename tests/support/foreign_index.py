"""An index of somebody else, made by hand."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from . import distributions


class Index:
    """An index that others run: files in a directory, made by hand so that it can lie."""

    def __init__(self, root: Path):
        self.root, self.url, self.requested = root, "", []
        (root / "files").mkdir(parents=True)

    def wheel(self, name: str, version: str, **more) -> Path:
        return distributions.wheel(self.root / "files", name, version, **more)

    def publish(self, metadata: bool = True) -> None:
        """Pages of all wheels, JSON under the address of a project, as PyPI answers who asks for it."""
        projects: dict[str, list[dict]] = {}
        for path in sorted((self.root / "files").glob("*.whl")):
            name, version = path.name.split("-")[:2]
            sidecar = distributions.metadata_of(path)
            entry = {"filename": path.name, "url": f"../../files/{path.name}", "hashes": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}, "size": path.stat().st_size, "upload-time": "2026-01-02T03:04:05.000006Z", "yanked": False}
            requires = [line.partition(": ")[2] for line in sidecar.decode().splitlines() if line.startswith("Requires-Python")]
            entry |= {"requires-python": requires[0]} if requires else {}
            if metadata:
                entry["core-metadata"] = {"sha256": hashlib.sha256(sidecar).hexdigest()}
                path.with_name(path.name + ".metadata").write_bytes(sidecar)
            projects.setdefault(name.replace("_", "-"), []).append(entry)
        for project, files in projects.items():
            self.page(project).parent.mkdir(parents=True, exist_ok=True)
            self.page(project).write_text(json.dumps({"meta": {"api-version": "1.1"}, "name": project, "files": files}))

    def page(self, project: str) -> Path:
        return self.root / "simple" / project / "index.html"

    def change(self, project: str, **fields) -> None:
        content = json.loads(self.page(project).read_text())
        content["files"][0] |= fields
        self.page(project).write_text(json.dumps(content))
