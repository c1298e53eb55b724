"""The rules on the libraries of this machine: what a distribution's linker wrote has no findings but those of a reviewed list. `elf show` has
the ELF rules (E); in wheels, `wheel check` has those of machine code as well (Q).

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
from support.native_wheels import wheel  # noqa: E402
from support.quarry import ROOT, quarry  # noqa: E402

LIBRARIES = Path("/usr/lib")
LONG = bool(os.environ.get("QUARRY_LONG"))
SEED = int(os.environ.get("QUARRY_SEED", "20260917"))
USUAL = 60
OF_OUR_WHEEL = ("Q215",)  # about the tag that the test gives the wheel, not about the library
WHOLE_MIN = 500  # the whole form says something about this many or it fails


def is_elf(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\177ELF"


def libraries() -> list[Path]:
    found = (path for path in LIBRARIES.rglob("*.so*") if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK))
    return sorted(path for path in found if is_elf(path))


def expected() -> list[dict[str, str]]:
    return tomllib.loads((ROOT / "tests/data/system-libraries.toml").read_text())["expected"]


def is_expected(code: str, path: str) -> bool:
    return code in OF_OUR_WHEEL or any(row["code"] == code and fnmatchcase(path, row["path"]) for row in expected())


def findings(path: Path) -> list[str]:
    done = quarry("elf", "show", "--json", path)
    if not done.out:
        return [f"{path}: {done.err}"]
    return [f"{path}: {one['code']} {one['message']}" for one in done.json["findings"] if not is_expected(one["code"], str(path))]


def packed_findings(path: Path, place: Path) -> list[str]:
    """The library in a wheel of its own, so that a finding about the wheel is about the library."""
    place.mkdir()
    made = wheel(place, "x", {f"x/{path.name}": path.read_bytes()}, "py3-none-linux_x86_64")
    done = quarry("wheel", "check", "--json", "--allow-library", "*", made)
    made.unlink()
    if not done.out:
        return [f"{path}: {done.err}"]
    return [f"{path}: {one['code']} {one['message']}" for one in done.json["findings"] if not is_expected(one["code"], str(path))]


def chosen() -> list[Path]:
    found = libraries()
    assert len(found) >= (WHOLE_MIN if LONG else USUAL), f"only {len(found)} libraries in {LIBRARIES}"
    return found if LONG else random.Random(SEED).sample(found, USUAL)


def test_libraries_of_the_system_have_no_findings():
    with ThreadPoolExecutor(2) as pool:
        found = [line for lines in pool.map(findings, chosen()) for line in lines]
    assert not found, f"seed {SEED}:\n" + "\n".join(found)


def test_libraries_of_the_system_have_no_findings_in_a_wheel(tmp_path):
    places = ((path, tmp_path / str(number)) for number, path in enumerate(chosen()))
    with ThreadPoolExecutor(2) as pool:
        found = [line for lines in pool.map(lambda one: packed_findings(*one), places) for line in lines]
    assert not found, f"seed {SEED}:\n" + "\n".join(found)


def test_each_exception_has_a_reason():
    assert all(row["reason"] and row["path"] and set(row) == {"code", "path", "reason"} for row in expected())
