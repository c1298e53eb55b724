"""RECORD: read as installers write it, replaced at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def record(sdk, tmp_path: Path):
    path = tmp_path / "rocm_sdk_devel-1.dist-info" / "RECORD"
    path.parent.mkdir()
    path.write_bytes(b'a/b,sha256=x,3\r\n"c,""d",,\r\n\r\na/b,,\r\nshort\r\n')
    return path


@pytest.fixture
def module(sdk):
    from rocm_sdk import _record

    return _record


def test_read_and_render(module, record: Path) -> None:
    rows = module.read(record)
    assert rows == [module.Row("a/b", "sha256=x", "3"), module.Row('c,"d'), module.Row("short")]
    assert module.render(rows) == b'a/b,sha256=x,3\n"c,""d",,\nshort,,\n'


def test_replace_keeps_mode_and_breaks_links_to_a_cache(module, record: Path, tmp_path: Path) -> None:
    record.chmod(0o640)
    os.link(record, tmp_path / "cache")
    before = record.read_bytes()
    module.replace(record, [module.Row("x")])
    assert record.read_bytes() == b"x,,\n"
    assert record.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "cache").read_bytes() == before
    assert [path.name for path in record.parent.iterdir()] == ["RECORD"]


def test_replace_that_fails_leaves_everything(module, record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = record.read_bytes()
    monkeypatch.setattr(module.os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        module.replace(record, [module.Row("x")])
    assert record.read_bytes() == before
    assert [path.name for path in record.parent.iterdir()] == ["RECORD"]


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_the_temporary_file_is_announced_once(module, record: Path, end: str) -> None:
    record.write_bytes(f"a,,{end}".encode())
    module.announce_temporary(record)
    module.announce_temporary(record)
    paths = [row.path for row in module.read(record)]
    assert paths == ["a", "rocm_sdk_devel-1.dist-info/RECORD.new"]
    assert record.read_text().count("RECORD.new") == 1


def test_a_shared_record_is_not_written_in_place(module, record: Path, tmp_path: Path) -> None:
    os.link(record, tmp_path / "cache")
    before = record.read_bytes()
    module.announce_temporary(record)
    assert record.read_bytes() == before
