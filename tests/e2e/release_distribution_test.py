"""A release that is copied to a distribution: what stops the copy is found before a channel moves, and else people learn what has moved."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.quarry import good, quarry  # noqa: E402

from release_test import CHANNELS, FAMILIES, built, line  # noqa: E402, F401


def waive_all(line) -> str:
    for channel in CHANNELS:
        line.waive(channel)
    return line.release()


def moved(line) -> list[str]:
    return [channel["name"] for channel in line("channel", "list").json["channels"]]


def test_two_families_do_not_share_a_repository(line, tmp_path):
    release, rules = waive_all(line), tmp_path / "flat.toml"
    rules.write_text('schema = "quarry.distributions/1"\nname = "flat"\n[[distribution]]\nchannel = "stable"\nprefix = "v4/whl"\n')
    for place in (("--prefix", "v4/whl"), ("--distributions", rules)):
        words = ("--to-store", f"file:{tmp_path / 'dist'}", *place)
        for more in (("--dry-run",), ()):
            said = line.promote(release, *words, *more, code=7).err
            assert "R023" in said and all(family in said for family in FAMILIES) and "--prefix 'v2/{family}'" in said, said
    assert moved(line) == [] and not [path for path in (tmp_path / "dist").rglob("*") if path.is_file() and ".quarry" not in path.parts]
    # What is held goes nowhere, so the others fit.
    for waiver in (line.store / "waivers").glob("*.json"):
        if CHANNELS[1] in waiver.read_text():
            waiver.unlink()
    line.promote(release, "--cells", "ready", "--to-store", f"file:{tmp_path / 'dist'}", "--prefix", "v4/whl")
    assert moved(line) == [CHANNELS[0]] and (tmp_path / "dist/v4/whl/rocm-7.2.0.tar.gz").is_file()


def test_a_place_that_cannot_be_written_is_found_before_a_channel_moves(line):
    release = waive_all(line)
    for to in ("stable-{family}", CHANNELS[0]):
        source = release if "{" in to else f"run:42-linux@{FAMILIES[0]}"
        said = quarry("promote", "--from", source, "--to", to, "--policy", line.policy, "--store", f"file:{line.store}", "--to-store", "file:/proc/none", "--prefix", "v2/{family}")
        assert said.code != 0 and "D001" in said.err and "nothing was moved" in said.err, said.out + said.err
        assert moved(line) == []


@pytest.mark.parametrize("to", ["stable-{family}", CHANNELS[0]])
def test_a_copy_that_fails_says_what_has_moved(line, tmp_path, to):
    release, dist = waive_all(line), tmp_path / "dist"
    in_the_way = dist / "v2" / FAMILIES[0] / "rocm-7.2.0.tar.gz"
    in_the_way.mkdir(parents=True)
    source = release if "{" in to else f"run:42-linux@{FAMILIES[0]}"
    said = quarry("promote", "--from", source, "--to", to, "--policy", line.policy, "--store", f"file:{line.store}", "--to-store", f"file:{dist}", "--prefix", "v2/{family}", "--on-move", f"cat > {tmp_path}/told")
    channels = list(CHANNELS) if "{" in to else [to]
    assert said.code != 0 and moved(line) == channels, said.out + said.err
    assert all(f"moved       {channel}@1" in said.out and f"channel {channel}" in said.err for channel in channels), said.out + said.err
    assert f"moved; the copy to file:{dist} is not complete" in said.err
    assert json.loads((tmp_path / "told").read_text())["action"] == "promote", "the channel has moved"
    assert ("undo: quarry rollback" in said.err) == ("{" in to), "one channel had no view before"
    (again,) = re.findall(r"`(quarry promote [^`]*)` completes the copy", said.err)
    in_the_way.rmdir()
    assert quarry(*shlex.split(again)[1:]).code == 0
    assert (dist / "v2" / FAMILIES[0] / "simple/rocm/index.html").is_file()


@pytest.mark.parametrize("command", ["gate", "promote"])
def test_what_is_ready_of_a_release_moves_by_the_printed_command(line, command):
    release, words = line.release(), ("--policy", line.policy, "--store", f"file:{line.store}")
    held = quarry(command, "--from", release, "--to", "stable-{family}", *words)
    assert held.code == 10 and "--cells ready" not in held.out
    for channel in CHANNELS:
        assert f"quarry waive --to {channel} " in held.out, held.out
    line.waive(CHANNELS[1])
    held = quarry(command, "--from", release, "--to", "stable-{family}", *words)
    (ready,) = re.findall(r"^  (quarry promote .* --cells ready .*)$", held.out, re.M)
    done = quarry(*shlex.split(ready)[1:])
    assert done.code == 0, done.out + done.err
    assert moved(line) == [CHANNELS[1]]
    good("channel", "show", CHANNELS[1], "--store", f"file:{line.store}")
