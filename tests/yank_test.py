"""What a yank says about where the files can still be installed from."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import distributions  # noqa: E402
from support.quarry import good  # noqa: E402

APP, BASE = "demo_app-1.0-py3-none-any.whl", "demo_base-1.0-py3-none-any.whl"


@pytest.fixture
def store(tmp_path) -> tuple[str, str]:
    """Two wheels of one run in the channels nightly and weekly; another channel has neither."""
    for name, wheels in (("one", ("demo-app", "demo-base")), ("two", ("demo-more",))):
        (tmp_path / name).mkdir()
        for wheel in wheels:
            distributions.wheel(tmp_path / name, wheel, "1.0")
    words = ("--store", f"file:{tmp_path}/store")
    for name, run, channel in (("one", "1", "nightly"), ("one", "1", "weekly"), ("two", "2", "other")):
        good("publish", tmp_path / name, *words, "--run-id", run, "--platform", "linux", "--channel", channel)
    return words


def test_other_channels_and_the_run_list_the_files_on(store, tmp_path):
    yank = ("yank", APP, "--channel", "nightly", "--reason", "wrong compiler", *store)
    weekly = {"channel": "weekly", "generation": 1, "directory": "channels/weekly", "files": [APP]}
    run = {"channel": None, "generation": None, "directory": "1-linux/python", "files": [APP]}
    for more in (("--dry-run",), ()):
        assert good(*yank, *more, "--json").json["still_in"] == [weekly, run]
    for page in (run["directory"], "channels/weekly/simple/demo-app"):
        assert APP in (tmp_path / "store" / page / "index.html").read_text()
    assert good(*yank, "--json").json["still_in"] == [], "it takes nothing out"
    said = good("yank", APP, BASE, "--channel", "weekly", "--reason", "wrong compiler", *store).out
    assert "still in    channel nightly@2: 1 file\nstill in    1-linux/python: 2 files, on the pages of their run\n" in said, said


def test_a_channel_that_cannot_be_read_does_not_keep_the_files_in(store, tmp_path):
    (tmp_path / "store/channels/weekly.json").write_text("{")
    done = good("yank", APP, "--channel", "nightly", "--reason", "wrong compiler", *store)
    assert "yanked  nightly@2  1 file out" in done.out
    assert "channel weekly" in done.err and "whether it lists files that leave is not known" in done.err, done.err
