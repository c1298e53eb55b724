"""`set check` and rule profiles on packages that `sdk build` made."""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import static_server  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402


def test_the_packages_of_a_build_are_closed(packages):
    done = good("set", "check", packages, "--json").json
    assert [one for one in done["findings"] if one["severity"] != "note"] == []
    assert all(one["requirements_known"] for one in done["packages"])


def test_the_source_distribution_says_what_it_requires_on_every_machine(packages, store):
    sdist = next((packages / "dist").glob("*.tar.gz"))
    with tarfile.open(sdist) as archive:
        info = archive.extractfile(next(each for each in archive.getnames() if each.endswith("/PKG-INFO"))).read().decode()
    assert "Dynamic: Requires-Dist\n" in info and "Requires-Dist: rocm-sdk-core==7.2.0\n" in info
    record = next(one for path in (store / "sets").glob("*.json") for one in json.loads(path.read_text())["files"] if one["filename"] == sdist.name)
    assert "rocm-sdk-core==7.2.0" in record["requires_dist"]
    shown = good("set", "check", "run:1", "--store", f"file:{store}", "--json").json
    assert next(one for one in shown["packages"] if one["filename"] == sdist.name)["requirements_known"]


def test_a_set_without_the_package_that_all_need(packages, tmp_path):
    part = tmp_path / "part"
    shutil.copytree(packages / "dist", part, ignore=shutil.ignore_patterns("rocm_sdk_core*"))
    done = quarry("set", "check", part, "--json")
    assert done.code == 1
    missing = [one["message"] for one in done.json["findings"] if one["code"] == "Q401"]
    assert any("rocm 7.2.0 requires rocm-sdk-core==7.2.0" in message for message in missing), missing
    refused("P091", 1, "publish", part, "--store", f"file:{tmp_path}/store", "--run-id", "1", "--platform", "linux", "--profile", "release")
    notes = good("publish", part, "--store", f"file:{tmp_path}/store", "--run-id", "1", "--platform", "linux", "--json").json["notes"]
    assert not [one for one in notes if one["severity"] == "error"]


def test_claimed_targets_are_looked_for_wherever_the_set_is(packages, store, tmp_path):
    claims = tmp_path / "claims.toml"
    digest = next((store / "sets").glob("*.json")).stem
    made = {row["target"] for row in good("gpu", "list", packages / "dist", "--json").json["targets"]}
    claims.write_text(f'schema = "quarry.claims/1"\ntargets = {json.dumps([*sorted(made), "gfx1012"])}\n')
    with static_server.serve(store) as (url, _):
        environment = clean_environment(NO_PROXY="127.0.0.1", QUARRY_ALLOW_PLAIN_HTTP="1")
        said = [
            [one for one in quarry("set", "check", f"set:{digest}", "--store", place, "--claims", claims, "--json", environment=environment).json["findings"] if one["code"] == "Q433"]
            for place in (f"file:{store}", url)
        ]
    assert said[0] == said[1] and ["gfx1012" in one["message"] for one in said[0]] == [True]
