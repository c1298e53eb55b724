"""A store made of records, as docs/formats/records.md has them: for measurements and counts that need more of them than
publishing makes in time."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

TIME = "2026-11-20T10:00:00.000000Z"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Store:
    def __init__(self, root: Path):
        self.root = root

    def put(self, key: str, record: dict) -> None:
        path = self.root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text(record))

    @staticmethod
    def text(record: dict) -> str:
        return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def proven(self, key: str, record: dict) -> None:
        self.put(key, {**record, "digest": sha256(self.text(record))})

    def named(self, prefix: str, record: dict) -> str:
        digest = sha256(self.text(record))
        self.put(f"{prefix}{digest}.json", record)
        return digest

    def sealed(self, run: str, files: list[dict]) -> str:
        """A sealed set of run `run` for Linux; returns its digest."""
        directory = f"{run}-linux/python"
        digest = self.named("sets/", {"schema": "quarry.set/1", "origin": {"run_id": run, "platform": "linux"}, "directory": directory, "files": sorted(files, key=lambda f: f["filename"])})
        self.proven(f"{directory}/seals/{digest}.json", {"schema": "quarry.seal/1", "set": digest, "directory": directory, "time": TIME})
        return digest

    def view(self, sets: list[str], shards: dict[str, list[dict]]) -> str:
        view = {"schema": "quarry.view/1", "sets": sets, "shards": {}}
        for name, files in shards.items():
            view["shards"][name] = self.named("views/shards/", {"schema": "quarry.shard/1", "project": name, "files": sorted(files, key=lambda f: f["filename"])})
        return self.named("views/", view)

    def channel(self, name: str, views: list[str]) -> None:
        """A channel that was published once for each view; it shows the last."""
        ledger = ""
        for generation, view in enumerate(views, 1):
            before = {"previous": ledger, "from_view": views[generation - 2]} if generation > 1 else {}
            ledger = self.named("ledger/", {"schema": "quarry.ledger/1", "channel": name, "action": "publish", "to_view": view, "when": TIME, "generation": generation, "guard": {"keeps_from": 0}, **before})
        earlier = {"previous": views[-2]} if len(views) > 1 else {}
        self.proven(f"channels/{name}.json", {"schema": "quarry.channel/1", "name": name, "generation": len(views), "view": views[-1], "ledger": ledger, **earlier})


def file_record(project: str, version: str, directory: str) -> dict:
    name = f"{project}-{version}-py3-none-any.whl"
    return {"filename": name, "project": project, "version": version, "size": 123456, "sha256": sha256(name), "metadata_sha256": sha256("metadata of " + name), "requires_python": ">=3.10", "upload_time": TIME, "key": f"{directory}/dist/{name}", "tags": "py3-none-any"}
