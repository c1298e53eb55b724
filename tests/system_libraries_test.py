"""The ELF rules on the libraries of this machine: what a distribution's linker wrote has no findings but those of a reviewed list.

Every library of /usr/lib with QUARRY_LONG=1 (docs/campaigns.md), else a part that the seed chooses (QUARRY_SEED)."""

from __future__ import annotations

import os
import random
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from support.quarry import ROOT, quarry  # noqa: E402

LIBRARIES = Path("/usr/lib")
LONG = bool(os.environ.get("QUARRY_LONG"))
SEED = int(os.environ.get("QUARRY_SEED", "20260917"))
USUAL = 60
WHOLE_MIN = 500  # the whole form says something about this many or it fails


def is_elf(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\177ELF"


def libraries() -> list[Path]:
    found = (path for path in LIBRARIES.rglob("*.so*") if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK))
    return sorted(path for path in found if is_elf(path))


def expected() -> list[dict[str, str]]:
    return tomllib.loads((ROOT / "tests/data/system-libraries.toml").read_text())["expected"]


def findings(path: Path) -> list[str]:
    done = quarry("elf", "show", "--json", path)
    if not done.out:
        return [f"{path}: {done.err}"]
    rows = expected()
    said = done.json["findings"]
    return [f"{path}: {one['code']} {one['message']}" for one in said if not any(row["code"] == one["code"] and fnmatchcase(str(path), row["path"]) for row in rows)]


def test_libraries_of_the_system_have_no_findings():
    chosen = libraries()
    assert len(chosen) >= (WHOLE_MIN if LONG else USUAL), f"only {len(chosen)} libraries in {LIBRARIES}"
    if not LONG:
        chosen = random.Random(SEED).sample(chosen, USUAL)
    with ThreadPoolExecutor(2) as pool:
        found = [line for lines in pool.map(findings, chosen) for line in lines]
    assert not found, f"seed {SEED}:\n" + "\n".join(found)


def test_each_exception_has_a_reason():
    assert all(row["reason"] and row["path"] and set(row) == {"code", "path", "reason"} for row in expected())
