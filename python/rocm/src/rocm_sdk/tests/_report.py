"""The results for people and for programs."""

from __future__ import annotations

import json
import platform
import re
import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path

from .. import _dist_info, _families, _packages
from . import _installed, _machine
from ._case import ERROR, FAILED, PASSED, SKIPPED, Row

JSON_SCHEMA = "rocm-sdk.test/1"
# What XML 1.0 cannot hold.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LABELS = {PASSED: "passed ", FAILED: "FAILED ", SKIPPED: "skipped", ERROR: "ERROR  "}


def line(row: Row) -> str:
    """One row; what a failure says stands indented below its name, a skip's reason beside it."""
    text = f"{_LABELS[row.outcome]}  {row.name}"
    if row.outcome == SKIPPED:
        return f"{text}  ({row.message})"
    if row.message:
        return text + "".join(f"\n           {each}" for each in row.message.splitlines())
    return text


def counts(rows: Iterable[Row]) -> dict[str, int]:
    found = Counter(row.outcome for row in rows)
    return {"passed": found[PASSED], "failed": found[FAILED], "skipped": found[SKIPPED], "errors": found[ERROR]}


def closing_line(rows: Iterable[Row]) -> str:
    """An error is a failure here: what matters is that it did not pass."""
    found = counts(rows)
    return f"{found['passed']} passed, {found['failed'] + found['errors']} failed, {found['skipped']} skipped"


def write_json(path: Path, rows: list[Row], started: datetime, only: list[str]) -> None:
    listed = [{"name": row.name, "outcome": row.outcome, "message": row.message, "seconds": row.seconds} for row in rows]
    ours = _installed.distributions()
    document = {
        "schema": JSON_SCHEMA, "version": _dist_info.__version__, "counts": counts(rows), "rows": listed, "only": only,
        "started": rfc3339(started), "ended": rfc3339(now()), "platform": _machine.PLATFORM, "python": platform.python_version(),
        "family": _family(), "machine": _machine.facts(), "distributions": ours, "others": _installed.others(ours),
    }  # fmt: skip
    path.write_text(json.dumps(document, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")


def now() -> datetime:
    return datetime.now(timezone.utc)


def rfc3339(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _family() -> str:
    """Whose libraries were tested; empty where none are installed or it cannot be told."""
    try:
        return _packages.libraries_family() if _packages.installed_families() else ""
    except _families.FamilyError:
        return ""


def write_junit(path: Path, rows: list[Row]) -> None:
    found = counts(rows)
    totals = {
        "tests": str(len(rows)), "failures": str(found["failed"]), "errors": str(found["errors"]),
        "skipped": str(found["skipped"]), "time": f"{sum(row.seconds for row in rows):.3f}",
    }  # fmt: skip
    suites = xml.Element("testsuites", totals)
    suite = xml.SubElement(suites, "testsuite", {"name": "rocm-sdk", **totals})
    for row in rows:
        group, _, name = row.name.partition(".")
        case = xml.SubElement(suite, "testcase", {"classname": group, "name": name, "time": f"{row.seconds:.3f}"})
        tag = {FAILED: "failure", ERROR: "error", SKIPPED: "skipped"}.get(row.outcome)
        if tag:
            text = _NOT_XML.sub("?", row.message)
            xml.SubElement(case, tag, {"message": text.partition("\n")[0]}).text = text
    xml.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)
