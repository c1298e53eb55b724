"""Blocked bytes do not come back into a distribution under another spelling of their name."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions  # noqa: E402
from support.quarry import good, refused  # noqa: E402

REASON = ("--reason", "it breaks")


class Fed:
    """Channel q1 and the directory p of another store, from which demo 2.0 was rolled back; demo 3.0 is published."""

    def __init__(self, place: Path, policy: Path) -> None:
        self.place, self.dist = place, place / "dist"
        self.words = ("--store", f"file:{place / 'store'}")
        self.along = ("--to-store", f"file:{self.dist}", "--prefix", "p")
        self.policy = policy
        for run in ("1", "2", "3"):
            packages = place / run
            packages.mkdir()
            distributions.wheel(packages, "demo", f"{run}.0", payload=bytes(64))
            good("publish", packages, "--run-id", run, "--platform", "linux", *self.words)
        self.promote("1")
        self.promote("2")
        good("rollback", "q1", *REASON, *self.words, *self.along)

    def promote(self, run: str):
        return good("promote", "--from", f"run:{run}", "--to", "q1", "--policy", self.policy, *self.words, *self.along)

    def adopt(self):
        return good("set", "adopt", "p/", "--store", f"file:{self.dist}")

    def offer(self, name: str, version: str = "2.0") -> None:
        """As another tool does: the bytes under another name, and a page that links to them."""
        shutil.copy(self.dist / f"p/demo-{version}-py3-none-any.whl", self.dist / f"p/{name}")
        (self.dist / "p/demo/index.html").write_text(f'<html><body><a href="../{name}">{name}</a></body></html>')

    def listed(self, name: str) -> bool:
        """On a page of ours: that of the other tool stays as it is."""
        pages = set((self.dist / "p").rglob("*.html")) - {self.dist / "p/demo/index.html"}
        return any(name in page.read_text() for page in pages)


@pytest.fixture
def fed(tmp_path, report_only_policy) -> Fed:
    return Fed(tmp_path, report_only_policy)


NAMES = ["Demo-2.0-py3-none-any.whl", "demo-2.0-1-py3-none-any.whl", "demo-2.0.0-py3-none-any.whl"]


@pytest.mark.parametrize("name", NAMES)
def test_a_promotion_does_not_take_them_over(fed, name):
    fed.offer(name)
    done = fed.promote("3")
    assert "warning[P126]" in done.err and "has the bytes of demo-2.0-py3-none-any.whl" in done.err
    assert not fed.listed(name)


@pytest.mark.parametrize("name", NAMES)
def test_set_adopt_does_not_take_them_over(fed, name):
    fed.offer(name)
    done = fed.adopt()
    assert "warning[P126]" in done.err and "took over" not in done.out
    assert not (fed.dist / "p/history").exists() or not list((fed.dist / "p/history").glob("*.json"))


def test_a_page_that_says_another_sha256_is_not_believed(fed):
    name = NAMES[0]
    fed.offer(name)
    page = fed.dist / "p/demo/index.html"
    page.write_text(page.read_text().replace('whl"', f'whl#sha256={"0" * 64}"'))
    assert "warning[P126]" in fed.adopt().err


def test_other_bytes_of_that_version_are_taken_over(fed, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    built = distributions.wheel(other, "demo", "2.0", payload=b"something else entirely" * 9)
    shutil.copy(built, fed.dist / "p/demo-2.0-7-py3-none-any.whl")
    done = fed.adopt()
    assert "P126" not in done.err and "took over" in done.out


def test_they_are_taken_over_once_nothing_blocks_them(fed):
    fed.offer(NAMES[0])
    sha256 = next(file["sha256"] for file in good("channel", "show", "q1", *fed.words, "--json").json["blocked"])
    good("channel", "unblock", str(fed.dist / "p"), sha256, *REASON)
    assert "P126" not in fed.adopt().err


def test_a_set_is_let_in_again_by_its_digest_in_either_store(fed):
    source = good("set", "show", "run:2", *fed.words, "--json").json["sets"][0]["set"]
    refused("O013", 3, "channel", "unblock", str(fed.dist / "p"), "demo-9.whl", *REASON)
    done = good("channel", "unblock", str(fed.dist / "p"), f"set:{source[:12]}", *REASON, "--json").json
    assert [file["filename"] for file in done["unblocked"]] == ["demo-2.0-py3-none-any.whl"] and done["blocked"] == []
