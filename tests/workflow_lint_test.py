"""`quarry workflow lint` on trees made to the figures of two reviews, on broken files, and on our own workflows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support.quarry import ROOT, clean_environment, good, quarry, refused  # noqa: E402

CHECKOUT = "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd"
RELEASE = """\
on:
  workflow_dispatch:
    inputs:
      ref: {type: string, default: ""}
      release_type: {type: string, default: dev}
jobs:
  trigger:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    steps:
      - uses: benc-uk/workflow-dispatch@31e2b3319479a63f0ab15bf800eff9e913504e26
        env: {REF: "${{ inputs.ref }}", TYPE: "${{ inputs.release_type }}"}
        with:
          workflow: wheels.yml
          inputs: |
            { "amdgpu_family": "gfx120X-all",
              "s3_subdir": "v2" }
"""
WHEELS = """\
on:
  workflow_dispatch:
    inputs:
      amdgpu_family: {type: string, required: true}
      ref: {type: string, default: ""}
  workflow_call:
    inputs:
      amdgpu_family: {type: string, required: true}
      ref: {type: string, default: ""}
jobs:
  release:
    strategy:
      matrix:
        python_version: ["3.12"]
        jax_ref: ["rocm-jaxlib-v0.8.2"]
    uses: ./.github/workflows/build.yml
    with:
      amdgpu_family: ${{ inputs.amdgpu_family }}
      python_version: ${{ matrix.python_version }}
      jax_ref: ${{ matrix.jax_ref }}
      ref: ${{ inputs.ref }}
"""
BUILD = f"""\
on:
  workflow_call:
    inputs:
      amdgpu_family: {{type: string, required: true}}
      python_version: {{type: string, required: true}}
      jax_ref: {{type: string, default: rocm-jaxlib-v0.8.2}}
      ref: {{type: string, default: ""}}
jobs:
  build:
    name: Build ${{{{ inputs.amdgpu_family }}}} for ${{{{ inputs.python_version }}}}
    runs-on: ubuntu-24.04
    steps:
      - uses: {CHECKOUT}
        with:
          ref: ${{{{ inputs.ref }}}}
      - uses: {CHECKOUT}
        with:
          repository: ROCm/rocm-jax
          path: rocm-jax
          ref: ${{{{ inputs.jax_ref }}}}
      - uses: {CHECKOUT}
        with:
          repository: ROCm/jax
          path: jax
          ref: ${{{{inputs.jax_ref}}}}
      - name: Build
        run: |
          python tools/missing.py
          pushd rocm-jax
          python3 build/ci_build dist_wheels
      - name: Test
        run: pytest jax/jax_tests/tests/core_test.py
"""


def tree(directory: Path, **files: str) -> Path:
    place = directory / ".github/workflows"
    place.mkdir(parents=True)
    (directory / "tools").mkdir()
    (directory / "tools/other.py").touch()
    for name, text in files.items():
        (place / f"{name}.yml").write_text(text)
    return directory


def found(directory: Path, *more: str) -> dict[str, list[tuple[str, int]]]:
    codes: dict[str, list[tuple[str, int]]] = {}
    for finding in quarry("workflow", "lint", directory, "--json", *more).json["findings"]:
        codes.setdefault(finding["code"], []).append((Path(finding["file"]).name, finding["line"]))
    return codes


@pytest.fixture
def reviewed(tmp_path):
    return tree(tmp_path / "tree", release=RELEASE, wheels=WHEELS, build=BUILD)


def test_the_findings_of_the_review_and_nothing_else(reviewed):
    assert found(reviewed) == {
        "Y112": [("release.yml", 17)],  # s3_subdir is not an input of the target
        "Y117": [("release.yml", 14)],  # the dispatch passes no ref
        "Y123": [("build.yml", 26)],  # the family does not reach the build
        "Y125": [("build.yml", 25)],  # one ref for two repositories
        "Y134": [("build.yml", 9)],
        "Y136": [("build.yml", 20), ("build.yml", 25)],  # a note: no caller passes an empty ref today
        "Y138": [("wheels.yml", 11)],  # a matrix of one
        "Y139": [("build.yml", 28)],
    }  # fmt: skip
    done = quarry("workflow", "lint", reviewed)
    assert done.code == 1 and "ROCm/rocm-jax, ROCm/jax" in done.err
    assert "not looked at: paths in ROCm/jax (give it by --with), 1 place" in done.out


def test_paths_in_another_repository(reviewed, tmp_path):
    other = tmp_path / "jax"
    (other / "tests").mkdir(parents=True)
    assert ("build.yml", 32) in found(reviewed, "--with", f"ROCm/jax={other}")["Y139"]
    (other / "jax_tests/tests").mkdir(parents=True)
    (other / "jax_tests/tests/core_test.py").touch()
    assert ("build.yml", 32) not in found(reviewed, "--with", f"ROCm/jax={other}")["Y139"]
    refused("C006", 2, "workflow", "lint", reviewed, "--with", "ROCm/jax")


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ('# quarry: ignore Y138 reason="a second Python follows" until=2999-12-31', set()),
        ('# quarry: ignore Y138 reason="it was to follow" until=2001-01-01', {"Y106", "Y138"}),
        ("# quarry: ignore Y138 until=2999-12-31", {"Y105", "Y138"}),
        ('# quarry: ignore Y138 reason="no such day" until=2999-02-30', {"Y105", "Y138"}),
        ('# quarry: ignore Y140 reason="no" until=2999-12-31', {"Y107", "Y138"}),
    ],
)
def test_suppressions(reviewed, comment, expected):
    path = reviewed / ".github/workflows/wheels.yml"
    path.write_text(WHEELS.replace("  release:\n", f"  {comment}\n  release:\n"))
    assert {code for code, places in found(reviewed).items() if places[0][0] == "wheels.yml"} == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [("on: push\njobs:\n\tbuild: 1\n", "Y101"), ("on: push\non: push\njobs: {}\n", "Y103"), ("on: push\njobs: &a [*a]\n", "Y101"), ("on: push\nname: ${{ 'x }}-${{ y\nrun-name: ${{ a || }}\n", "Y104"), ("#" * 10_000_000 + "\n", "Y102"), ("#" * 40_000_000 + "\n", "Y102"), ("", "Y101"), ("just text\n", "Y101"), ("- a\n", "Y101")],
)  # fmt: skip
def test_broken_files(tmp_path, text, code):
    assert code in found(tree(tmp_path, bad=text))


def test_what_is_no_file_is_a_finding(tmp_path):
    """A pipe would be waited for, a device never ends. No message says the file's name twice."""
    place = tree(tmp_path, good="on: push\njobs: {}\n") / ".github/workflows"
    os.mkfifo(place / "pipe.yml")
    (place / "directory.yml").mkdir()
    (place / "loop.yml").symlink_to("loop.yml")
    (place / "zero.yml").symlink_to("/dev/zero")
    done = quarry("workflow", "lint", tmp_path, "--json")
    assert done.code == 1
    assert sorted((one["file"].split("/")[-1], one["code"]) for one in done.json["findings"]) == [("loop.yml", "Y150"), ("pipe.yml", "Y150"), ("zero.yml", "Y102")]  # a directory is no workflow
    only = quarry("workflow", "graph", tmp_path)
    assert only.code == 1 and only.err.count("Y150") == 2 and only.err.count("Y102") == 1


def test_a_long_expression_is_shown_by_its_begin(tmp_path):
    message = quarry("workflow", "lint", tree(tmp_path, bad="on: push\nname: ${{ " + "(" * 5000 + " }}\njobs: {}\n"), "--json").json["findings"][0]["message"]
    assert message.startswith("the expression `" + "(" * 80 + "…` cannot be parsed")


def test_baseline_and_formats(reviewed):
    def git(*words):
        subprocess.run(["git", "-C", reviewed, "-c", "user.name=a", "-c", "user.email=a@example.org", *words], check=True, env=clean_environment(), capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    assert good("workflow", "lint", reviewed, "--baseline", "HEAD", "--json").json["known"] == 9
    path = reviewed / ".github/workflows/release.yml"
    path.write_text("# a line above\n" + RELEASE.replace("    timeout-minutes: 5\n", ""))
    assert found(reviewed, "--baseline", "HEAD") == {"Y134": [("release.yml", 8)]}
    refused("Y151", 3, "workflow", "lint", reviewed, "--baseline", "no-such-branch")
    log = good("workflow", "lint", reviewed, "--baseline", "HEAD", "--format", "sarif").out
    assert '"ruleId": "Y134"' in log and '"startLine": 8' in log
    shown = quarry("workflow", "lint", reviewed, "--format", "github").out.splitlines()
    assert "::error file=.github/workflows/build.yml,line=25,col=16,title=Y125::" in "\n".join(shown) and len(shown) == 10


CALLER = f"""\
# quarry: ignore Y140 reason="it is gone" until=2999-12-31
on: push
jobs:
  build:
    uses: ./.github/workflows/called.yml
    with:
      fast: "true"  # quarry: ignore Y141 reason="so is this" until=2999-12-31
      depth: '3'
      name: "true"
      slow: "perhaps"
  look:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    steps:
      - uses: {CHECKOUT.replace("actions/", "Actions/")}
      - uses: {CHECKOUT}
      - uses: {CHECKOUT}
"""
CALLED = """\
on:
  workflow_call:
    inputs:
      fast: {type: boolean}
      slow: {type: boolean}
      depth: {type: number}
      name: {type: string}
jobs:
  build:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    steps:
      - run: echo "$A"
        env: {A: "${{ inputs.fast }}${{ inputs.slow }}${{ inputs.depth }}${{ inputs.name }}"}
"""


def test_fixes_are_certain_and_the_rest_stays(tmp_path):
    root = tree(tmp_path, caller=CALLER, called=CALLED)
    path = root / ".github/workflows/caller.yml"
    path.write_bytes(CALLER.replace("\n", "\r\n").encode())
    path.chmod(0o664)
    done = quarry("workflow", "lint", root, "--fix", "--json")
    assert done.code == 1  # "perhaps" is no boolean: the value is somebody's to choose
    assert sorted(one["code"] for one in done.json["fixed"]) == ["Y107", "Y107", "Y110", "Y110", "Y137"]
    assert [(one["code"], one["line"]) for one in done.json["findings"]] == [("Y110", 9)]
    expected = CALLER.split("\n", 1)[1].replace('fast: "true"', "fast: true").replace("'3'", "3").replace("Actions/", "actions/")
    expected = "".join(line.split("  # quarry")[0].rstrip("\n") + "\r\n" for line in expected.splitlines())
    assert path.read_bytes().decode() == expected and path.stat().st_mode & 0o777 == 0o664
    assert (root / ".github/workflows/called.yml").read_text() == CALLED
    assert quarry("workflow", "lint", root, "--fix", "--json").json["fixed"] == []


VALUES = {
    "{fast: 'true', depth: \"07\", name: \"true\"}": "{fast: true, depth: 07, name: \"true\"}",
    "{name: \"3.10\", depth: '3.10'}": "{name: \"3.10\", depth: 3.10}",
    "{name: \"é x 'true'\", fast: 'true', slow: 'true'} # 'true'": "{name: \"é x 'true'\", fast: true, slow: true} # 'true'",
    "\n      fast:\n        'true'\n      name: 'true'": "\n      fast:\n        true\n      name: 'true'",
    "{fast: !!str 'true', depth: \"\\x33\"}": None,
    "{fast: &x 'true', name: *x}": None,
}


@pytest.mark.parametrize("values", VALUES)
def test_a_fix_edits_the_value_that_is_reported(tmp_path, values):
    text = f"on: push\njobs:\n  build:\n    uses: ./.github/workflows/called.yml\n    with: {values}\n"
    root = tree(tmp_path, caller=text, called=CALLED)
    done = quarry("workflow", "lint", root, "--fix", "--json").json
    after = (root / ".github/workflows/caller.yml").read_text()
    assert after == text.replace(values, VALUES[values] or values)
    assert [one["code"] for one in done["findings"]] == ([] if VALUES[values] else ["Y110"] * (2 if "depth" in values else 1))
    places = [(one["line"], one["column"]) for one in done["fixed"]]
    assert len(places) == len(set(places)) == (0 if VALUES[values] is None else 2 if ", slow" in values or "07" in values else 1)


def test_a_value_with_two_names_is_told_and_edited_once(tmp_path):
    use = "uses: ./.github/workflows/called.yml\n    with: "
    text = f"on: push\njobs:\n  one:\n    {use}&w {{fast: 'true'}}\n  two:\n    {use}*w\n"
    done = quarry("workflow", "lint", tree(tmp_path, caller=text, called=CALLED), "--json").json
    assert [(one["code"], one["line"]) for one in done["findings"]] == [("Y110", 5)]


UNNEEDED = '# quarry: ignore Y125 reason="x" until=2999-12-31'


@pytest.mark.parametrize(
    ("script", "kept"),
    [
        (f"|\n          echo 1 {UNNEEDED}\n          echo 2", True),  # a line of a script
        (f"echo 1 {UNNEEDED} # keep me", True),
        (f"echo 1 {UNNEEDED}", False),
    ],
)
def test_only_comments_of_yaml_are_removed(tmp_path, script, kept):
    text = f"on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    timeout-minutes: 5\n    steps:\n      - run: {script}\n"
    root = tree(tmp_path, a=text)
    path = root / ".github/workflows/a.yml"
    done = quarry("workflow", "lint", root, "--fix", "--json").json
    assert path.read_text() == (text if kept else text.replace(f" {UNNEEDED}", ""))
    assert [one["code"] for one in done["findings"]] == (["Y107"] if kept else [])


def test_a_suppression_stays_when_a_file_cannot_be_read(tmp_path):
    text = CALLED.replace("  build:\n", f"  build: {UNNEEDED}\n")
    root = tree(tmp_path, a=text, bad="on: [\n")
    assert quarry("workflow", "lint", root, "--fix", "--json").json["fixed"] == []
    assert (root / ".github/workflows/a.yml").read_text() == text


def test_a_link_to_a_workflow_stays_a_link(tmp_path):
    root = tree(tmp_path, a=CALLED.replace("  build:\n", f"  build: {UNNEEDED}\n"))
    path, real = root / ".github/workflows/a.yml", root / "tools/a.yml"
    path.rename(real)
    path.symlink_to("../../tools/a.yml")
    assert len(quarry("workflow", "lint", root, "--fix", "--json").json["fixed"]) == 1
    assert path.is_symlink() and real.read_text() == CALLED


@pytest.mark.parametrize(("value", "fixed"), [("1e3", True), (".5", True), ("1.2.3", False), ("e", False)])
def test_numbers_are_those_of_yaml(tmp_path, value, fixed):
    caller = f"on: push\njobs:\n  build:\n    uses: ./.github/workflows/called.yml\n    with: {{depth: '{value}'}}\n"
    root = tree(tmp_path, caller=caller, called=CALLED)
    done = quarry("workflow", "lint", root, "--fix", "--json").json
    assert [one["code"] for one in done["fixed"]] == (["Y110"] if fixed else [])
    assert [one["code"] for one in done["findings"]] == ([] if fixed else ["Y110"])


def test_a_suppression_stays_when_something_was_not_looked_at(reviewed):
    path = reviewed / ".github/workflows/wheels.yml"
    path.write_text(f'# quarry: ignore Y140 reason="no" until=2999-12-31\n{WHEELS}')
    done = quarry("workflow", "lint", reviewed, "--fix", "--json").json
    assert done["not_looked_at"] and done["fixed"] == [] and path.read_text().startswith("# quarry")


def test_a_step_of_an_action_has_no_job(tmp_path):
    (tmp_path / ".github/workflows").mkdir(parents=True)
    (tmp_path / ".github/workflows/a.yml").write_text(f"on: push\njobs:\n  j:\n    runs-on: x\n    timeout-minutes: 5\n    steps: [{{uses: {CHECKOUT}}}, {{uses: ./act}}]\n")
    (tmp_path / "act").mkdir()
    (tmp_path / "act/action.yml").write_text(f"name: a\nruns:\n  using: composite\n  steps:\n    - uses: {CHECKOUT}\n      with: {{repository: a/b}}\n")
    found = quarry("workflow", "lint", tmp_path, "--json").json["findings"]
    assert [finding["message"].split(" checks out")[0] for finding in found] == ["step `actions/checkout`"], found


def test_outputs_made_of_outputs_end(tmp_path):
    """3,000 outputs, each made of the next in 60 parentheses, the last of the first: bad input, not the end of the stack."""
    jobs = "".join(f"  j{n}:\n    runs-on: x\n    timeout-minutes: 5\n    outputs: {{o: '${{{{ {'(' * 60}needs.j{(n + 1) % 3000}.outputs.o{')' * 60} }}}}'}}\n    steps: [{{run: make}}]\n" for n in range(3000))
    called = "on: {workflow_call: {outputs: {o: {value: '${{ jobs.j0.outputs.o }}'}}}}\njobs:\n" + jobs
    caller = "on: push\njobs:\n  m:\n    strategy: {matrix: {p: [1, 2]}}\n    uses: ./.github/workflows/called.yml\n  r:\n    runs-on: x\n    timeout-minutes: 5\n    needs: m\n    steps: [{run: 'echo ${{ needs.m.outputs.o }}'}]\n"
    (tmp_path / ".github/workflows").mkdir(parents=True)
    (tmp_path / ".github/workflows/called.yml").write_text(called)
    (tmp_path / ".github/workflows/caller.yml").write_text(caller)
    found = quarry("workflow", "lint", tmp_path, "--json").json["findings"]
    assert [finding["code"] for finding in found if finding["place"].startswith(".github/workflows/caller.yml")] == ["Y132"]


def test_no_workflows(tmp_path):
    refused("Y152", 3, "workflow", "lint", tmp_path)
    refused("Y150", 3, "workflow", "lint", tmp_path / "none")


def test_our_own_workflows():
    assert good("workflow", "lint", ROOT / "workflows", "--json").json["errors"] == 0
