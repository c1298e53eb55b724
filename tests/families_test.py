"""The shipped families against the recorded facts of the incumbent's tables, both eras; the importer; the page."""

from __future__ import annotations

import fnmatch
import json
import pprint
import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import dist_facts  # noqa: E402
from support.quarry import ROOT, Done, clean_environment, good, quarry, refused  # noqa: E402

FACTS = json.loads((ROOT / "tests/data/incumbent-families.json").read_text())
TABLE = {"feb": ["--families-file", "therock-2026-02"], "aug": ["--families-file", str(ROOT / "data/families.toml")]}
EVENTS = {"runs_on_pull_request": "pull_request", "runs_on_push": "push", "runs_on_schedule": "schedule"}
SCOPES = {"sanity": "sanity_check_only_for_family", "nightly": "nightly_check_only_for_family", "full": "run-full-tests-only", "submodule": "submodule_bump_tests_only"}
PURPOSES = {"test": "test-runs-on", "sandbox": "test-runs-on-sandbox", "multi-gpu": "test-runs-on-multi-gpu", "benchmark": "benchmark-runs-on"}


@cache
def shown(era: str) -> dict:
    return good("matrix", "show", "--json", *TABLE[era]).json


def targets(era: str, *names: str) -> Done:
    return quarry("matrix", "targets", "--json", *TABLE[era], *names)


def trigger_group(era: str, inputs: dict) -> object:
    found: dict[str, list[str]] = {}
    for platform in ("linux", "windows"):
        done = quarry("matrix", "expand", "--json", "--trigger", ",".join(inputs["trigger_types"]), "--platform", platform, *TABLE[era])
        if done.code:
            return done.json["code"]
        for cell in done.json["cells"]:
            found.setdefault(cell["family"], []).append(platform)
    order = [family["key"] for family in shown(era)["families"] if family["key"] in found]
    return {"families": sorted(found), "order": order, "platforms": found}


def place_of(era: str, key: str, platform: str) -> tuple[dict, dict] | None:
    for family in shown(era)["families"]:
        for place in family["platforms"]:
            if family["key"] == key and place["platform"] == platform:
                return family, place
    return None


def runner_fields(place: dict, recorded: dict) -> dict:
    """The single label, and the list of labels where the incumbent has one; else the label must stand alone with weight 1."""
    fields: dict[str, object] = {"test-runs-on": place["runs_on"]}
    for purpose, field in PURPOSES.items():
        runners = place["runners"].get(purpose)
        if not runners:
            continue
        fields[field] = max(runners, key=lambda r: r["weight"])["label"]
        if f"{field}-labels" in recorded or len(runners) > 1 or runners[0]["weight"] != 1:
            fields[f"{field}-labels"] = sorted(({"label": r["label"], "count": r["weight"]} for r in runners), key=str)
    return fields


def family_entry(era: str, inputs: dict, expected: dict) -> object:
    found = place_of(era, inputs["key"], inputs["platform"])
    if not found:
        return {"absent": True}
    family, place = found
    recorded = expected.get("entry", {})
    entry = {"family": family["name"], "fetch-gfx-targets": place["fetch"], "build_variants": place["variants"], **runner_fields(place, recorded)}
    if place["kernels"]:
        entry["test-runs-on-kernel"] = place["kernels"]
    if place["tests"] != "all":
        entry[SCOPES[place["tests"]]] = True
    for what in place["expected_failure"]:
        entry["expect_pytorch_failure" if what == "pytorch" else "expect_failure"] = True
    if place["release_untested"]:
        entry["bypass_tests_for_releases"] = True
    triggers = shown(era)["triggers"]
    return {"introduced_by": [family["tier"]], "entry": entry, **{field: family["tier"] in triggers[event] for field, event in EVENTS.items()}}


def without_false(entry: dict) -> dict:
    """A field that says False says what its absence says; lists of labels have no order."""
    return {k: sorted(v, key=str) if k.endswith("-labels") else v for k, v in entry.items() if v is not False}


def variants(era: str) -> dict:
    return {
        platform: {
            v["name"]: {"build_variant_label": v["name"], "build_variant_suffix": v["suffix"], "build_variant_cmake_preset": v["preset"], **({"expect_failure": True} if v["expected_failure"] else {})}
            for v in listed
        }
        for platform, listed in shown(era)["variants"].items()
    }


def build_runner(era: str, inputs: dict) -> object:
    platform = inputs["platform"]
    kind = next((v["build"] for v in shown(era)["variants"].get(platform, []) if v["name"] == inputs["build_variant"]), None)
    if kind is None:
        return "no such variant"
    return {"result": max(shown(era)["build_runners"][platform][kind], key=lambda r: r["weight"])["label"]}


def expanded_targets(done: Done) -> object:
    return {"result": done.json["targets"]} if done.code == 0 else {"error": {"type": "ValueError"}}


def python_table(era: str) -> str:
    """A module like the incumbent's, from the recorded facts."""
    rows = [row for row in FACTS if row["era"] == era]
    order = next(row["expected"]["order"] for row in rows if row["case"].startswith("trigger group schedule"))
    tiers: dict[str, dict] = {"presubmit": {}, "postsubmit": {}, "nightly": {}}
    for row in rows:
        if row["case"].startswith("family ") and "entry" in row["expected"]:
            for tier in row["expected"]["introduced_by"]:
                tiers[tier].setdefault(row["inputs"]["key"], {})[row["inputs"]["platform"]] = row["expected"]["entry"]
    text = '"""Families.\n\nx = {"not": this}\n"""\nimport os\n\n'
    for tier, table in tiers.items():
        text += f"# the families of {tier}\namdgpu_family_info_matrix_{tier} = {pprint.pformat({key: table[key] for key in order if key in table}, sort_dicts=False)}\n\n\n"
    text += f"all_build_variants = {pprint.pformat(next(row['expected'] for row in rows if row['case'] == 'build variants'), sort_dicts=False)}\n"
    constant = [row["expected"] for row in rows if row["case"] == "constant BUILD_RUNNER_LABELS"]
    if constant:
        text += f"BUILD_RUNNER_LABELS: dict[str, dict[str, list]] = {pprint.pformat(constant[0], sort_dicts=False)}\n"
    return text + "\n\ndef get_all_families(trigger_types):\n    return {t: os.environ[t] for t in trigger_types}\n"


def weighted_label(labels: list, place: Path) -> object:
    """Through the importer, which is where such lists come from."""
    entry = {"family": "gfx942", "test-runs-on": "", "test-runs-on-labels": labels, "fetch-gfx-targets": [], "build_variants": ["release"]}
    table = place / "weighted.py"
    table.write_text(f"m_nightly = {{'gfx942': {{'linux': {entry!r}}}}}\n")
    done = quarry("matrix", "import", table, "--json")
    return {"result": done.json["families"][0]["platforms"][0]["runs_on"]} if done.code == 0 else {"error": True}


def ours(row: dict, tmp_path: Path) -> tuple[object, object]:
    """(what we say, what is expected), in one form."""
    era, case, inputs, expected = row["era"], row["case"], row["inputs"], row["expected"]
    if case.startswith("trigger group"):
        return trigger_group(era, inputs), expected
    if case.startswith("family "):
        if "entry" in expected:
            expected = {**expected, "entry": without_false(expected["entry"])}
        return family_entry(era, inputs, row["expected"]), expected
    if case == "build variants":
        return variants(era), expected
    if case == "constant BUILD_RUNNER_LABELS":
        return shown(era)["build_runners"], expected
    if case == "cmake target table":
        return [[t["name"], t["product"], t["groups"]] for t in shown(era)["targets"]], expected
    if case.startswith("cmake family"):
        return {"targets": targets(era, inputs["family"]).json["targets"]}, expected
    if case.startswith("expanded "):
        family, place = place_of(era, inputs["key"], inputs["platform"])
        inside = set(place["fetch"]) <= set(family["targets"])
        return {"targets": targets(era, family["name"]).json["targets"], "fetch_gfx_targets": place["fetch"], "fetch_targets_inside_family": inside}, expected
    if case.startswith("expand_amdgpu_families"):
        done = quarry("matrix", "targets", *TABLE[era], inputs["argv"][1], *(["--device-extras"] if "device-extras" in inputs["argv"] else []))
        return (done.out.strip() if done.code == 0 else "refused"), (expected["stdout_first"] if expected["stdout_first"] is not None else "refused")
    if case.startswith("expand "):
        error = {"error": {"type": "ValueError"}}
        return expanded_targets(targets(era, *inputs["families"])), error if "error" in expected else expected
    if case.startswith("build runner"):
        return build_runner(era, inputs), expected
    if case.startswith("weighted label"):
        return weighted_label(inputs["labels"], tmp_path), {"error": True} if "error" in expected else expected
    return "not reproduced", expected


def test_the_recorded_facts(tmp_path: Path):
    allowed = dist_facts.read_allowed(ROOT / "docs/differences.tsv", "matrix")
    agree, bad, used = 0, [], set()
    for row in FACTS:
        name = f"{row['era']} {row['case']}"
        said, expected = ours(row, tmp_path)
        line = next((i for i, (_, glob, _) in enumerate(allowed) if fnmatch.fnmatchcase(name, glob)), None)
        if said == expected:
            agree += 1
        elif line is None:
            bad.append(f"{name}\n    ours     {said}\n    recorded {expected}")
        else:
            used.add(line)
    bad += [f"allowed but never seen: {row}" for i, row in enumerate(allowed) if i not in used]
    assert not bad, "\n".join(bad)
    assert agree > len(FACTS) * 0.9


@pytest.mark.parametrize("era", ["feb", "aug"])
def test_an_imported_table_is_the_shipped_one(era: str, tmp_path: Path):
    table, output = tmp_path / "table.py", tmp_path / "families.toml"
    table.write_text(python_table(era))
    good("matrix", "import", table, "--output", output, *TABLE[era])
    imported = good("matrix", "show", "--json", "--families-file", output).json
    assert imported.keys() == shown(era).keys()
    for key in imported.keys() - {"name", "file"}:
        assert imported[key] == shown(era)[key], key


def test_a_table_is_never_executed(tmp_path: Path):
    mark = tmp_path / "mark"
    table = tmp_path / "table.py"
    table.write_text(f"import os\nos.system('touch {mark}')\nm_nightly = {{'x': os.system('touch {mark}')}}\n")
    done = refused("F009", 2, "matrix", "import", table)
    assert f"{table}:3: os is a name" in done.err
    assert not mark.exists()


def test_a_new_family_needs_no_new_program(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "data").mkdir()
    text = (ROOT / "data/families.toml").read_text()
    text += '\n[target.gfx1300]\nproduct = "next"\n\n[family.gfx1300]\nname = "gfx1300"\ntier = "presubmit"\nlinux.variants = ["release"]\n'
    (tmp_path / "data/families.toml").write_text(text)
    arguments = ["matrix", "expand", "--trigger", "pull_request", "--platform", "linux", "--json"]
    for where in ({"cwd": tmp_path}, {"cwd": ROOT / "docs", "environment": clean_environment(QUARRY_FAMILIES=str(tmp_path / "data/families.toml"))}):
        cell = good(*arguments, **where).json["cells"][-1]
        assert (cell["family"], cell["state"], cell["held"], cell["test_runs_on"]) == ("gfx1300", "no_runner", True, "")
    assert "gfx1300" not in good(*arguments, cwd=ROOT).out


def test_a_typing_error_is_named_with_file_line_and_key(tmp_path: Path):
    file = tmp_path / "families.toml"
    file.write_text((ROOT / "data/families.toml").read_text().replace("runners.sandbox", "runners.sandbocks"))
    line = next(i for i, text in enumerate(file.read_text().splitlines(), 1) if "sandbocks" in text)
    done = refused("F002", 2, "matrix", "check", file)
    assert f"{file}:{line}: family.gfx94x.linux.runners.sandbocks: is not a known key" in done.err


def test_github_reads_the_matrix(tmp_path: Path):
    output = tmp_path / "output"
    environment = clean_environment(GITHUB_OUTPUT=str(output), GITHUB_RUN_ID="42")
    arguments = ["matrix", "expand", "--trigger", "push", "--platform", "linux", "--variant", "all", "--format", "github"]
    done = good(*arguments, environment=environment, cwd=ROOT)
    outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
    assert outputs["matrix"] + "\n" == done.out == good(*arguments, "--seed", "42", cwd=ROOT).out
    cells = json.loads(outputs["matrix"])["include"]
    assert len(cells) == int(outputs["cell_count"]) and outputs["has_cells"] == "true"
    assert len({cell["artifact_group"] for cell in cells}) == len(cells)


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("F005", ["--trigger", "tuesday", "--platform", "linux"]),
        ("F004", ["--trigger", "workflow_dispatch", "--platform", "linux"]),
        ("F004", ["--trigger", "pull_request", "--platform", "windows", "--families", "gfx94x"]),
        ("F003", ["--trigger", "push", "--platform", "linux", "--families", "gfx9"]),
        ("F003", ["--trigger", "push", "--platform", "linux", "--families", " ; "]),
        ("F006", ["--trigger", "push", "--platform", "linux", "--variant", "msan"]),
        ("C006", ["--trigger", "push", "--platform", "macos"]),
    ],
)
def test_what_nobody_runs_is_refused(code: str, arguments: list[str]):
    refused(code, 2, "matrix", "expand", *arguments, cwd=ROOT)


def test_a_missing_file_is_not_found():
    refused("F008", 3, "matrix", "check", "no-such-table")
    refused("D001", 3, "matrix", "import", "no-such-file.py")


def test_the_page_is_fresh():
    assert good("matrix", "show", cwd=ROOT).out == (ROOT / "docs/families.md").read_text()


def test_a_policy_and_the_families_can_be_compared():
    codes = lambda *arguments: {f["code"] for f in good("matrix", "check", *arguments, "--json", cwd=ROOT).json["findings"]}  # noqa: E731
    assert not {"G020", "G021", "G022"} & codes("therock-2026-02", "--policy", "incumbent-feb")
    assert "G021" in codes("--policy", "incumbent-feb")  # since then gfx110X has a runner on Linux
    refused("G007", 3, "matrix", "check", "--policy", "no-such-policy", cwd=ROOT)
