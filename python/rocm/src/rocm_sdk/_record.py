"""RECORD of an installed package: what an uninstallation will remove. Replaced atomically, never half-written."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """A line of RECORD; path with `/`, relative to the directory that holds the dist-info directory."""

    path: str
    digest: str = ""  # "sha256=…", or empty
    size: str = ""


def read(record: Path) -> list[Row]:
    """The rows, the first one of each path."""
    rows: dict[str, Row] = {}
    with record.open(newline="", encoding="utf-8") as text:
        for fields in csv.reader(text):
            if fields:
                row = Row(*(fields + ["", ""])[:3])
                rows.setdefault(row.path, row)
    return list(rows.values())


def render(rows: Iterable[Row]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def temporary(record: Path) -> Path:
    """Where replace() writes before it renames."""
    return record.with_name("RECORD.new")


def announce_temporary(record: Path) -> None:
    """Lists the temporary file, so that an uninstallation removes it if this process is killed while it exists.

    The only change in place: one short line at the end. Passed over if the file is shared (an installer may hard-link it
    from its cache) or lists it already.
    """
    row = Row(temporary(record).relative_to(record.parent.parent).as_posix())
    if row in read(record) or record.stat().st_nlink > 1:
        return
    text = record.read_bytes()
    separator = b"" if text.endswith(b"\n") or not text else b"\n"
    descriptor = os.open(record, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, separator + render([row]))
    finally:
        os.close(descriptor)


def replace(record: Path, rows: Iterable[Row]) -> None:
    """Puts `rows` in place of what RECORD says: whoever reads it sees the old or the new, after a crash too."""
    new = temporary(record)
    try:
        with new.open("wb") as file:
            file.write(render(rows))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(new, record.stat().st_mode & 0o777)
        os.replace(new, record)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
