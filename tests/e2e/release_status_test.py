"""What `status` and pages say of a release: the command that completes it, in channels and in a distribution, and waivers that are gone."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.policies import smoke_policy  # noqa: E402
from support.quarry import good, quarry  # noqa: E402

from release_test import CHANNELS, FAMILIES, built, line  # noqa: E402, F401


def test_status_says_all_that_completes_an_interrupted_release(line, tmp_path):
    release = line.release()
    along = ("--to-store", f"file:{tmp_path / 'dist'}", "--prefix", "own/{family}")
    for channel in CHANNELS:
        line.waive(channel)
    plan = line.promote(release, *along, "--dry-run").json["plan"]
    line.promote(release, *along, "--execute", plan)
    (line.store / f"channels/{CHANNELS[1]}.json").unlink()
    shutil.rmtree(line.store / f"channels/{CHANNELS[1]}")
    said = quarry("status", "--store", f"file:{line.store}").err
    (pasted,) = re.findall(r"^next: quarry (promote .*)$", said, re.MULTILINE)
    assert "FILE: the file that the release was planned with, for --policy" in said
    words = shlex.split(pasted)
    assert words[words.index("--prefix") + 1] == "own/{family}" and words[words.index("--policy") + 1] == "FILE"
    words[words.index("--policy") + 1] = str(line.policy)
    assert good(*words, "--json").json["channels"][1]["moved"]
    assert line("status").json["unfinished"] == []


def test_what_status_prints_for_a_distribution_that_lacks_a_release_moves_all_of_it(line, tmp_path):
    expected = ", ".join(f'"{family}"' for family in FAMILIES)
    line.policy.write_text(smoke_policy(suite="rocm-sdk", more=f'[expect]\nplatforms = ["linux"]\nfamilies = [{expected}]\n'))
    release = line.release()
    for channel in CHANNELS:
        line.waive(channel)
    line.promote(release)
    words = ("status", "--policy", line.policy, "--to-store", f"file:{tmp_path / 'dist'}", "--store", f"file:{line.store}")
    (tmp_path / "dist").mkdir()
    said = quarry(*words, CHANNELS[0])
    (pasted,) = re.findall(r"^next: quarry (promote .*)$", said.err, re.MULTILINE)
    assert f"--from {release[:20]}" in pasted and "--to 'stable-{family}'" in pasted
    good(*shlex.split(pasted))
    assert "BEHIND" not in good(*words).out


def test_pages_say_that_a_waiver_was_revoked(line):
    release = line.release()
    for channel in CHANNELS:
        line.waive(channel)
    line.promote(release)
    (waived,) = {one["waiver"] for one in line("channel", "show", CHANNELS[0]).json["waived"]}
    line("waiver", "revoke", waived, "--reason", "the machine is back")
    line("index", "repair", f"channel:{CHANNELS[0]}")
    for page in ("index.html", "simple/rocm/index.html"):
        assert f"(waiver {waived[:12]}, revoked since)" in (line.store / f"channels/{CHANNELS[0]}" / page).read_text(), page
    assert line("index", "repair", f"channel:{CHANNELS[0]}").json["writes"] == 0


def test_a_lock_of_two_families_says_to_make_one_for_each(line):
    refused_by = quarry("lock", "--from", line.release(), "--store", f"file:{line.store}", "--python", "3.12", "--output", "-")
    assert refused_by.code != 0 and "a lock is for one family, so make one for each" in refused_by.err, refused_by.err
    assert all(f"({family})" in refused_by.err for family in FAMILIES)
