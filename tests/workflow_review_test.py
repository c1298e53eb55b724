"""`quarry workflow review` on repositories made to the figures of two reviews."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support.quarry import PROGRAM, ROOT, clean_environment, quarry, refused  # noqa: E402
from support.workflow_job import load  # noqa: E402

CHECKOUT = "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd"
OLD_REF, NEW_REF = "rocm-jaxlib-v0.8.0-fixdevtar", "rocm-jaxlib-v0.8.2"
PACKAGES = "release_portable_linux_packages"
JAX = "release_portable_linux_jax_wheels"
BUILD = "build_linux_jax_wheels"
PYTORCH = "release_portable_linux_pytorch_wheels"


def packages(target: str, more: str) -> str:
    return f"""\
on:
  workflow_dispatch:
    inputs:
      ref: {{type: string, default: ""}}
jobs:
  trigger:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    steps:
      - uses: benc-uk/workflow-dispatch@31e2b3319479a63f0ab15bf800eff9e913504e26
        env: {{REF: "${{{{ inputs.ref }}}}"}}
        with:
          workflow: {target}.yml
          inputs: |
            {{ "amdgpu_family": "gfx120X-all",
              "s3_subdir": "${{{{ vars.S3_SUBDIR }}}}",
              "s3_staging_subdir": "${{{{ vars.S3_STAGING_SUBDIR }}}}",
              "cloudfront_url": "${{{{ vars.URL }}}}",
              "cloudfront_staging_url": "${{{{ vars.STAGING_URL }}}}"{more} }}
"""


NAMES = ["amdgpu_family", "s3_subdir", "s3_staging_subdir", "cloudfront_url", "cloudfront_staging_url"]


def inputs(*more: str) -> str:
    return "".join(f"      {name}: {{type: string, required: true}}\n" for name in [*NAMES, *more])


def forwarded(indent: str = "      ") -> str:
    return "".join(f"{indent}{name}: ${{{{ inputs.{name} }}}}\n" for name in [*NAMES, "ref"])


def build(jax_ref: str, shared: bool) -> str:
    second = f"      - uses: {CHECKOUT}\n        with: {{repository: ROCm/jax, path: jax, ref: '${{{{ inputs.jax_ref }}}}'}}\n" if shared else ""
    fallback = "" if shared else f" || ''{OLD_REF}''"
    dispatch = "" if shared else "  workflow_dispatch:\n    inputs:\n" + inputs("python_version") + '      ref: {type: string, default: ""}\n' + f"      jax_ref: {{type: string, default: {jax_ref}}}\n"
    return f"""\
on:
  workflow_call:
    inputs:
{inputs("python_version")}      ref: {{type: string, default: ""}}
      jax_ref: {{type: string, default: {jax_ref}}}
{dispatch}jobs:
  build:
    name: Build ${{{{ inputs.amdgpu_family }}}} for ${{{{ inputs.python_version }}}}
    runs-on: ubuntu-24.04
    timeout-minutes: 100
    env:
      PLACES: ${{{{ inputs.s3_subdir }}}} ${{{{ inputs.s3_staging_subdir }}}} ${{{{ inputs.cloudfront_url }}}} ${{{{ inputs.cloudfront_staging_url }}}}
    steps:
      - uses: {CHECKOUT}
        with: {{ref: '${{{{ inputs.ref }}}}'}}
      - uses: {CHECKOUT}
        with: {{repository: ROCm/rocm-jax, path: rocm-jax, ref: '${{{{ inputs.jax_ref{fallback} }}}}'}}
{second}      - name: Build
        run: |
          pushd rocm-jax
          python3 build/ci_build dist_wheels
"""


def jax(pythons: str) -> str:
    return f"""\
on:
  workflow_dispatch:
    inputs:
{inputs()}      ref: {{type: string, default: ""}}
  workflow_call:
    inputs:
{inputs()}      ref: {{type: string, default: ""}}
jobs:
  release:
    strategy:
      fail-fast: false
      matrix:
        python_version: {pythons}
        jax_ref: ["{NEW_REF}"]
    uses: ./.github/workflows/{BUILD}.yml
    with:
      python_version: ${{{{ matrix.python_version }}}}
      jax_ref: ${{{{ matrix.jax_ref }}}}
{forwarded()}"""


class Repository:
    def __init__(self, directory: Path):
        self.directory = directory
        directory.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=A. Author", "-c", "user.email=a@example.org")
        return subprocess.run(["git", "-C", self.directory, *identity, *words], check=True, env=clean_environment(), capture_output=True, text=True).stdout

    def commit(self, title: str, **files: str) -> str:
        (self.directory / ".github/workflows").mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (self.directory / f".github/workflows/{name}.yml").write_text(text)
        self.git("add", ".")
        self.git("commit", "-q", "--allow-empty", "-m", title)
        return self.git("rev-parse", "HEAD").strip()

    def review(self, *words: str | Path, code: int | None = 1) -> dict:
        """`code` None: 0 or 1."""
        done = quarry("workflow", "review", self.directory, "--json", *words)
        assert done.code in ((0, 1) if code is None else (code,)), done.out + done.err
        return done.json


DESCRIPTION = """\
## Changes

- Fixed S3 path handling: `s3_subdir` from `S3_STAGING_SUBDIR` to `S3_SUBDIR`
- Added missing parameters `s3_staging_subdir`, `cloudfront_url`, `cloudfront_staging_url` and `ref`
- Added release_portable_linux_jax_wheels.yml
- This will not change `python_version` of anybody
- [ ] Removed `never_ticked`
"""


@pytest.fixture
def first(tmp_path) -> Repository:
    repository = Repository(tmp_path / "first")
    repository.commit("Begin", **{PACKAGES: packages(BUILD, ',\n              "python_version": "3.12"'), BUILD: build(OLD_REF, shared=False)})
    repository.git("switch", "-q", "-c", "change")
    repository.commit("Build JAX wheels by a matrix", **{PACKAGES: packages(JAX, ',\n              "ref": "${{ inputs.ref }}"'), JAX: jax('["3.12"]'), BUILD: build(NEW_REF, shared=True)})
    (tmp_path / "body.md").write_text(DESCRIPTION)
    return repository


def of(review: dict, code: str) -> list[dict]:
    return [finding for finding in review["findings"] if finding["code"] == code]


def test_the_first_review(first, tmp_path):
    review = first.review("--base", "main", "--description", tmp_path / "body.md")
    shared = of(review, "Y125")
    assert [(found["importance"], found["status"], Path(found["file"]).name) for found in shared] == [("important", "new", f"{BUILD}.yml")]
    claims = sorted((found["line"], found["message"]) for found in of(review, "Y161"))
    assert [line for line, _ in claims] == [3, 4]  # and neither the promise, nor the unticked box, nor the new file
    assert "claims `S3_SUBDIR`, which was there before" in claims[0][1]
    assert "claims `s3_staging_subdir`, `cloudfront_url`, `cloudfront_staging_url`, which were there before" in claims[1][1]
    assert "`ref`" in of(review, "Y161")[1]["fix"]
    assert [found["importance"] for found in of(review, "Y166")] == ["important"]
    assert "manual dispatch of release_portable_linux_jax_wheels.yml" in of(review, "Y166")[0]["message"]
    assert [found["importance"] for found in of(review, "Y138")] == ["suggestion"]  # a matrix of one
    assert OLD_REF in of(review, "Y167")[0]["message"]
    assert {finding["code"] for finding in review["findings"] if finding["importance"] == "important"} == {"Y125", "Y161", "Y166"}
    right = "\n".join(review["right"])
    assert "fixed: Y117" in right and "passes no `ref`" in right  # the dispatch passes a ref now
    assert "release_portable_linux_jax_wheels.yml\" has a change behind it" in right
    assert f"from `{OLD_REF}` to `{NEW_REF}`" in right


TWICE = """\
on: push
jobs:
  packages:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    steps:
""" + "".join(
    f"""\
      - uses: benc-uk/workflow-dispatch@31e2b3319479a63f0ab15bf800eff9e913504e26
        with:
          workflow: native.yml
          inputs: '{{ "kind": "{kind}", "suffix": "x" }}'
"""
    for kind in ("rpm", "deb")
)
NATIVE = "on:\n  workflow_dispatch:\n    inputs:\n      kind: {type: string}\n      suffix: {type: string}\njobs: {}\n"


def test_a_job_that_dispatches_one_workflow_twice(tmp_path):
    repository = Repository(tmp_path / "twice")
    repository.commit("Begin", packages=TWICE, native=NATIVE)
    repository.git("switch", "-q", "-c", "change")
    repository.commit("Say more", packages=TWICE, native=NATIVE + "# more\n")
    assert repository.review("--base", "main", code=0)["changes"] == []
    repository.commit("Pass another suffix for deb packages", packages=TWICE.replace('"deb", "suffix": "x"', '"deb", "suffix": "y"'), native=NATIVE)
    changes = repository.review("--base", "main", code=0)["changes"]
    assert [(change["name"], change["before"], change["after"]) for change in changes] == [("suffix", "x", "y")]


def test_rows_of_a_matrix_that_change(tmp_path):
    """Rows are mappings: each is shown, and a row that changes counts although there are as many as before."""
    repository = Repository(tmp_path / "rows")
    matrix = "on: push\njobs:\n  a:\n    strategy: {{matrix: {{include: [{}]}}}}\n    runs-on: x\n    timeout-minutes: 5\n    steps: [{{run: 'echo ${{{{ matrix.system }}}}'}}]\n"
    rows = [f"{{system: ubuntu-{number}.04, target: gfx94{number}}}" for number in range(5)]
    repository.commit("Begin", one=matrix.format(", ".join(rows)))
    repository.git("switch", "-q", "-c", "change")
    repository.commit("Other work", one=matrix.format(", ".join([*rows[:4], "{system: debian-13, target: gfx950}"])))
    review = repository.review("--base", "main", code=0)
    (found,) = of(review, "Y163")
    assert found["message"].endswith("gains `{system: debian-13, target: gfx950}`; loses `{system: ubuntu-4.04, target: gfx944}`") and "…" not in found["message"]
    repository.git("commit", "-q", "--amend", "-m", "Build for gfx950")
    assert not of(repository.review("--base", "main", code=0), "Y163")


def test_a_title_that_names_a_part_of_a_changed_name(tmp_path):
    repository = Repository(tmp_path / "title")
    matrix = "on: push\njobs:\n  a:\n    strategy: {{matrix: {{python_version: [{}], torch_ref: [{}]}}}}\n    runs-on: x\n    timeout-minutes: 5\n    steps: [{{run: echo}}]\n"
    repository.commit("Begin", jax=matrix.format('"3.12"', "release/2.7, release/2.8"), python_packages="on: push\njobs: {}\n", torch="on: push\njobs: {}\n")
    repository.git("switch", "-q", "-c", "change")
    repository.commit("Add python 3.14 for jax", jax=matrix.format('"3.12", "3.14"', "release/2.7, release/2.8"))
    assert not of(repository.review("--base", "main", code=0), "Y162")
    repository.commit("Drop support for torch 2.7", jax=matrix.format('"3.12", "3.14"', "release/2.8"))
    review = repository.review("--base", "main", code=0)
    assert not of(review, "Y163") and not of(review, "Y162")  # 2.7 is the end of `release/2.7`


def test_the_report_as_markdown(first, tmp_path):
    done = quarry("workflow", "review", first.directory, "--base", "main", "--description", tmp_path / "body.md", "--format", "markdown")
    assert done.code == 1
    titles = [line for line in done.out.splitlines() if line.startswith("#")]
    assert titles == ["# Review of workflows", "## Summary", "## Architecture", "### Before", "### After", "## Interfaces and calls that change", "## Findings", "### Important", "### Suggestion", "### Note", "## Test plan", "## Checked and found right", "## Not looked at"]  # fmt: skip
    assert done.out.count("```mermaid\nflowchart LR\n") == 2 and "changes requested" in done.out
    assert f"- [ ] manual dispatch of {JAX}.yml: `gh workflow run {JAX}.yml" in done.out
    scanning = json.loads(quarry("workflow", "review", first.directory, "--base", "main", "--description", tmp_path / "body.md", "--format", "sarif").out)
    files = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in scanning["runs"][0]["results"]}
    assert all((first.directory / file).is_file() for file in files)
    shown = quarry("workflow", "review", first.directory, "--base", "main")
    assert "error[Y125]" in shown.err and "not looked at\n" in shown.out


LOG = """\
2026-02-24T10:00:00.0000000Z ##[group]Run build
2026-02-24T10:00:01.0000000Z SetuptoolsDeprecationWarning: Cannot find any files for the given pattern `LICENSE.txt`.
2026-02-24T10:00:02.0000000Z         By 2026-Mar-20, you need to update your project and remove deprecated calls
2026-02-24T1{hour}:{minute:02}:00.0000000Z done
"""


@pytest.fixture
def second(tmp_path) -> Repository:
    repository = Repository(tmp_path / "second")
    (repository.directory / "Dockerfile").write_text("ENV TARGETS=gfx900,gfx906,gfx908,gfx90a,gfx942\n")
    repository.commit("Begin", **{PACKAGES: packages(JAX, ', "ref": "${{ inputs.ref }}"'), JAX: jax('["3.12"]'), BUILD: build(NEW_REF, shared=True), PYTORCH: "on: push\njobs: {}\n"})
    repository.git("switch", "-q", "-c", "change")
    repository.commit("Add python 3.14 for pytorch and 3.11, 3.13, 3.14 for jax", **{JAX: jax('["3.11", "3.12", "3.13", "3.14"]'), PYTORCH: "on: push\nname: more\njobs: {}\n"})
    repository.commit(f"Update {PYTORCH}.yml", **{PYTORCH: "on: push\njobs: {}\n"})
    (tmp_path / "body.md").write_text("More Pythons for JAX. Run: https://github.com/ROCm/TheRock/actions/runs/22368\n")
    return repository


def test_the_second_review(second, tmp_path):
    for python, minutes in {"3.13": 50, "3.12": 67, "3.14": 68, "3.11": 71}.items():
        (tmp_path / f"py{python}.log").write_text(LOG.format(hour=minutes // 60, minute=minutes % 60))
    junit = tmp_path / "tests.xml"
    junit.write_text('<testsuite><testcase classname="a" name="b" time="2"/></testsuite>')
    logs = [word for path in sorted(tmp_path.glob("*.log")) for word in ("--run", path)]
    review = second.review("--base", "main", "--description", tmp_path / "body.md", *logs, "--junit", f"py3.12={junit}", "--today", "2026-02-24")
    title = of(review, "Y162")
    assert len(title) == 1 and title[0]["importance"] == "important" and f"{PYTORCH}.yml is undone later" in title[0]["message"]
    assert not of(review, "Y161"), "the title of the commit that undoes it says nothing more"
    cost = of(review, "Y165")[0]
    assert cost["importance"] == "suggestion" and "from 1 to 4 combinations (x4): 50-71 minutes each, 189 minutes added" in cost["message"]
    family = of(review, "Y123")
    assert [found["status"] for found in family] == ["existed before, now x4"]
    assert [found["status"] for found in of(review, "Y131")] == ["existed before, now x4"]
    deadline = of(review, "X510")
    assert deadline and deadline[0]["importance"] == "important" and "24 days" in deadline[0]["message"]
    assert not of(review, "Y166") and not of(review, "Y163")
    assert any("fail-fast" in line for line in review["right"])


def test_tests_that_failed(second, tmp_path):
    junit = tmp_path / "tests.xml"
    junit.write_text('<testsuite><testcase classname="a" name="b"><failure message="no"/></testcase></testsuite>')
    assert of(second.review("--base", "main", "--junit", junit), "Y168")


def test_a_change_without_findings_and_one_that_nobody_mentions(tmp_path):
    repository = Repository(tmp_path / "quiet")
    text = "on:\n  workflow_dispatch:\n    inputs:\n      level: {type: string, default: a}\njobs:\n  one:\n    runs-on: x\n    timeout-minutes: 5\n    steps:\n      - run: echo ${{ inputs.level }}\n"
    base = repository.commit("Begin", one=text, two=text)
    repository.commit("Raise the level", one=text.replace("default: a", "default: b"))
    review = repository.review("--base", base, code=0)
    assert "stays `a` in .github/workflows/two.yml:4" in of(review, "Y164")[0]["message"] and not of(review, "Y163")
    repository.commit("Other work", two=text.replace("default: a", "default: b"))
    review = repository.review("--base", base, code=0)
    assert not of(review, "Y164") and not of(review, "Y163")
    repository.git("reset", "-q", "--hard", base)
    repository.commit("Other work", one=text.replace("level", "depth"))
    assert "`depth`" in of(repository.review("--base", base, code=0), "Y163")[0]["message"]


FILLER = "".join(f"  f{number}: 1\n" for number in range(5))  # more than the lines of context


@pytest.mark.parametrize(("claim", "importance"), [("Added `level`", "important"), ("Removed `level`", "important"), ("Fixed `level`", "suggestion"), ("Fixed `place`", None), ("Added `place`", "important"), ("Changed `level` from `a` to `c`", "important"), ("Added `depth`", None), ("Added DRIVER_ABI", None), ("Added `nowhere`", "important"), ("Removed `width`", None), ("We should have added `level`", None), ("About `level`", None), ("Updated two.yml", "suggestion")])
def test_claims(tmp_path, claim, importance):
    repository = Repository(tmp_path / "claims")
    base = repository.commit("Begin", one=f"on: push\nenv:\n  level: a\n{FILLER}  place: b\n  width: 1\njobs: {{}}\n")
    repository.commit("Work", one=f"on: push\nenv:\n  level: a\n{FILLER}  place: b\n  depth: 1\n  THEROCK_DRIVER_ABI_NEW: 1\njobs: {{}}\n")
    body = tmp_path / "body.md"
    body.write_text(f"- {claim}\n- run /actions/runs/1\n")
    review = repository.review("--base", base, "--description", body, code=1 if importance == "important" else 0)
    assert [found["importance"] for found in of(review, "Y161")] == ([importance] if importance else [])


@pytest.mark.parametrize(("claim", "importance"), [("The default of `level` is now `b`", None), ("`level` now defaults to `b`", None), ("The default of `level` is now `c`", "important"), ("The default of `width` is now `w`", "important"), ("Renames `old_name` to `new_name`", None), ("Rename `level` to `depth`", "important"), ("Renames gone.yml to come.yml", None), ("Replace `old_name` with `new_name`", None), ("Wire up `new_name`", None), ("Wire up `width`", "suggestion"), ("Passes `new_name` through to the job", None), ("Passes `width` through to the job", "suggestion"), ("Forwarding `width`", "note"), ("The job now passes `width`", "note"), ("Removing `width`", "note"), ("Threads `width` through", "suggestion")])  # fmt: skip
def test_claims_in_other_words(tmp_path, claim, importance):
    repository = Repository(tmp_path / "words")
    text = "on: {workflow_dispatch: {inputs: {level: {default: %s}}}}\n" + FILLER.replace("  f", "x") + "env:\n  %s: 1\njobs: {}\n"
    base = repository.commit("Begin", one=text % ("a", "old_name"), two="on: {workflow_dispatch: {inputs: {width: {default: w}}}}\njobs: {}\n", gone="on: push\njobs: {}\n")
    repository.git("mv", ".github/workflows/gone.yml", ".github/workflows/come.yml")
    repository.commit("Work", one=text % ("b", "new_name"))
    body = tmp_path / "body.md"
    body.write_text(f"- {claim}\n")
    review = repository.review("--base", base, "--description", body)  # important: no run is linked
    assert [found["importance"] for found in of(review, "Y161")] == ([importance] if importance else []), review["findings"]
    assert not [one for one in review["not_looked_at"] if "in other words" in one]


@pytest.mark.parametrize(("claim", "judged"), [
    ("Bump `actions/checkout` from v4 to v5", "false"), ("Changed default of `level` from a to c", "unsure"), ("Changed default of `level` from a to b", "right"),
    ("Fixed `gpu_arch` handling", "unsure"), ("Raise `timeout-minutes` of `build_it` from 5 to 10", "false"), ("Removed the timeout", "told"), ("Every job now has a deadline", ""),
])  # fmt: skip
def test_a_line_next_to_a_change_proves_nothing(tmp_path, claim, judged):
    """And what a text says of a deadline does not tell that it is lost."""
    repository = Repository(tmp_path / "near")
    text = "on: {workflow_call: {inputs: {level: {type: string, default: %s}, gpu_arch: {type: string, default: x}}}}\njobs:\n  build_it:\n    runs-on: x\n%s    steps:\n      - uses: actions/checkout@v4\n      - run: echo ${{ inputs.level }} ${{ inputs.gpu_arch }}\n"
    text = text.replace(", gpu_arch", ",\n gpu_arch").replace("{inputs: {level", "{inputs: {\n level")
    base = repository.commit("Begin", one=text % ("a", "    timeout-minutes: 5\n"))
    repository.commit("Work", one=text % ("b", ""))
    body = tmp_path / "body.md"
    body.write_text(f"- {claim}\n")
    review = repository.review("--base", base, "--description", body, code=None)
    assert bool(of(review, "Y161")) == (judged == "false"), review["findings"]
    assert any(claim in line and "behind it" in line for line in review["right"]) == (judged == "right"), review["right"]
    assert any(claim in line for line in review["not_looked_at"]) == (judged == "unsure"), review["not_looked_at"]
    lost = [found for found in of(review, "Y163") if "timeout-minutes" in found["message"]]
    assert bool(lost) == (judged != "told"), review["findings"]


def test_claims_that_are_not_understood_are_counted(tmp_path):
    repository = Repository(tmp_path / "counted")
    base = repository.commit("Begin", one="on: push\nenv: {level: a}\njobs: {}\n")
    repository.commit("Makes `level` lenient", one="on: push\nenv: {level: b}\njobs: {}\n")
    body = tmp_path / "body.md"
    body.write_text("About levels.\n\nLets `level` be what `two.yml` wants.\n\nChanged `level`.\n\nRemoves old lists. Honours `level`.\n")
    review = repository.review("--base", base, "--description", body, code=0)
    assert "3 statements of the description that may claim something in other words: lines 3, 7" in review["not_looked_at"]
    assert "1 title of commits that may claim something in other words" in review["not_looked_at"]


@pytest.mark.parametrize(("claim", "importance"), [("Add `depth` while preserving the existing `level`", None), ("They inherit the `level` policy added in #21195", None), ("Fixed the bug of `level` upstream in abc1234", None), ("Changes to `src/lib.rs` trigger tests", None), ("Deleted .github/workflows/gone.yml", None), ("Deleted `gone.yml`", None), ("Deleted .github/workflows/one.yml.old", None), ("The key `level` raised", "note"), ("Removed `.github/workflows/none.yml`", "important"), ("Fixed the `level` crash", None), ("Fixed `level`", "suggestion"), ("Updated `libdepth`", None), ("Once this lands, switch `level`", None)])  # fmt: skip
def test_claims_that_are_not_of_the_change(tmp_path, claim, importance):
    repository = Repository(tmp_path / "claims")
    base = repository.commit("Begin", one=f"on: push\nenv:\n  level: a\n{FILLER}  place: b\njobs: {{}}\n", gone="on: push\njobs: {}\n")
    repository.git("rm", "-q", ".github/workflows/gone.yml")
    repository.commit("Work", one=f"on: push\nenv:\n  level: a\n{FILLER}  place: b\n  depth: 1\njobs: {{}}\n")
    body = tmp_path / "body.md"
    body.write_text(f"- {claim}\n")
    review = repository.review("--base", base, "--description", body, code=1 if importance == "important" else 0)
    assert [found["importance"] for found in of(review, "Y161")] == ([importance] if importance else [])


@pytest.mark.parametrize(("claim", "says"), [("Removed `one.yml`", "is still there"), ("Removed the `build_all` job", "no changed line has it")])
def test_what_was_removed_and_is_still_there(tmp_path, claim, says):
    repository = Repository(tmp_path / "stays")
    text = "on: push\nenv:\n  level: a\njobs:\n  build_all:\n    runs-on: x\n    timeout-minutes: 5\n    steps: [{run: a}]\n"
    base = repository.commit("Begin", one=text)
    repository.commit("Work", one=text.replace("level: a", "level: b"))
    body = tmp_path / "body.md"
    body.write_text(f"- {claim}\n")
    review = repository.review("--base", base, "--description", body, code=1)
    (found,) = of(review, "Y161")
    assert says in found["message"] and found["importance"] == "important"


CALLER = "on: push\njobs:\n  one:\n    uses: ./.github/workflows/two.yml\n    with: {spot: a/b, host: rocm/jax}\n"
TAKES = "on:\n  workflow_call:\n    inputs:\n      depth: {type: string, default: v1}\n      spot: {type: string}\n      host: {type: string}\njobs: {}\n"


@pytest.mark.parametrize(("claim", "importance", "right"), [
    # The other file gains the name; the one that the claim names has had it.
    ("- **two.yml**: Added `depth` input", "important", False), ("Added the `depth` input to two.yml", "important", False), ("Added missing `depth` input to `three.yml`", None, True),
    ("Added `depth` to four.yml", None, False), ("Deleted `four.yml`", "important", False), ("Deleted four.yml from the list", None, True),
    ("Raised the default of some_depth to v9", None, False), ("Raised the default of `depth` to v2", None, True), ("Fixed paths: `OLD_PLACE` -> `NEW_PLACE`", None, False), ("Fixed depths: `v1` → `v2`", None, True),
    # Only the case of letters differs, and the old value begins with the new one.
    ("Changed the host from `rocm/jax` to `ROCm/jax`", None, True), ("Changed the spot from `a/b` to `a`", None, True), ("Replaced `rocm/jax` with `ROCm/jax`", None, True),
])  # fmt: skip
def test_claims_about_files_and_values(tmp_path, claim, importance, right):
    repository = Repository(tmp_path / "places")
    base = repository.commit("Begin", one=CALLER, two=TAKES, three=TAKES.replace("depth", "old_depth"), four="on: push\nenv: {LIST: four.yml}\njobs: {}\n")
    changed = {"one": CALLER.replace("{spot: a/b, host: rocm/jax}", "{spot: a, host: ROCm/jax}"), "two": TAKES.replace("v1", "v2"), "three": TAKES.replace("v1", "v2"), "four": "on: push\nenv: {LIST: none}\njobs: {}\n"}
    repository.commit("Work", **changed)
    body = tmp_path / "body.md"
    body.write_text(f"{claim}\n\n- run /actions/runs/1\n")
    review = repository.review("--base", base, "--description", body, code=1 if importance else 0)
    assert [found["importance"] for found in of(review, "Y161")] == ([importance] if importance else [])
    words = claim.lstrip("- ").rstrip(".")
    assert any(words in line and "has a change behind it" in line for line in review["right"]) == right, review["right"]


def test_a_new_matrix_that_lets_all_variants_end(tmp_path):
    repository = Repository(tmp_path / "matrix")
    job = "  {0}:\n    strategy: {{fail-fast: false, matrix: {{python: [a, b]}}}}\n    runs-on: x\n    timeout-minutes: 5\n    steps:\n      - run: echo ${{{{ matrix.python }}}}\n"
    base = repository.commit("Begin", one="on: push\njobs:\n" + job.format("old"))
    repository.commit("Add the job new", one="on: push\njobs:\n" + job.format("old") + job.format("new"))
    right = [line for line in repository.review("--base", base, code=None)["right"] if "fail-fast" in line]
    assert len(right) == 1 and right[0].startswith("job `new`:")


def test_arguments_of_a_call_with_another_target(tmp_path):
    repository = Repository(tmp_path / "targets")
    dispatch = "on: push\njobs:\n  one:\n    runs-on: x\n    timeout-minutes: 5\n    steps:\n      - uses: benc-uk/workflow-dispatch@v1\n        with:\n          workflow: {0}.yml\n{1}          inputs: '{{{2}}}'\n"
    takes = "on:\n  workflow_dispatch:\n    inputs: {a: {}, b: {}}\njobs: {}\n"
    base = repository.commit("Begin", one=dispatch.format("two", "", '"a": "1", "b": "2"'), two=takes, three=takes)
    repository.commit("Dispatch three.yml", one=dispatch.format("three", "          ref: main\n", '"a": "1"'))
    changes = "\n".join(str(one) for one in repository.review("--base", base, code=None)["changes"])
    assert "in place of two.yml" in changes and "'ref'" in changes and "'b'" in changes


@pytest.mark.parametrize("claim", ["Removed the `timeout-minutes` key of `one.yml`", "Removed dead code (`one.yml`)", "Removed `one.yml`'s timeout"])
def test_what_was_removed_from_something(tmp_path, claim):
    repository = Repository(tmp_path / "part")
    text = "on: push\njobs:\n  build_all:\n    runs-on: x\n    timeout-minutes: 5\n    steps: [{run: a}]\n"
    base = repository.commit("Begin", one=text)
    repository.commit("Work", one=text.replace("    timeout-minutes: 5\n", ""))
    body = tmp_path / "body.md"
    body.write_text(f"- {claim}\n")
    found = of(repository.review("--base", base, "--description", body, code=None), "Y161")  # the timeout may be Y163
    assert not [one for one in found if "still there" in one["message"]]


def test_an_option_that_is_gone(tmp_path):
    repository = Repository(tmp_path / "options")
    text = "on:\n  workflow_dispatch:\n    inputs:\n      kind: {type: choice, options: [dev, stable]}\njobs:\n  one:\n    runs-on: x\n    timeout-minutes: 5\n    steps: [{run: 'echo ${{ inputs.kind }}'}]\n"
    base = repository.commit("Begin", one=text)
    repository.commit("Work", one=text.replace("[dev, stable]", "[dev]"))
    (found,) = of(repository.review("--base", base, code=0), "Y163")
    assert "options `dev, stable` is now `dev`" in found["message"]


def test_an_action_that_nobody_uses_any_more_is_not_removed(tmp_path):
    repository = Repository(tmp_path / "unused")
    (repository.directory / ".github/actions/setup").mkdir(parents=True)
    (repository.directory / ".github/actions/setup/action.yml").write_text("runs:\n  using: composite\n  steps: [{run: a, shell: bash}]\n")
    uses = "on: push\njobs:\n  one:\n    runs-on: x\n    timeout-minutes: 5\n    steps:\n      - uses: actions/checkout@v4\n      - uses: ./.github/actions/setup\n"
    base = repository.commit("Begin", one=uses)
    repository.commit("Work", one=uses.replace("      - uses: ./.github/actions/setup\n", ""))
    done = quarry("workflow", "review", repository.directory, "--base", base, "--json")
    assert done.json and "action.yml removed" not in done.out


GUARDED = """\
on:
  push:
    branches: [main]
    paths: [src/**]
  pull_request:
    types: [opened]
permissions:
  contents: read
jobs:
  build:
    runs-on: ubuntu-22.04
    timeout-minutes: 30
    steps:
      - name: Compile
        run: |
          cmake -B out
          cmake --build out
      - name: Start the release
        uses: benc-uk/workflow-dispatch@31e2b3319479a63f0ab15bf800eff9e913504e26
        with: {workflow: release.yml, ref: "${{ github.sha }}"}
"""
GUARDS = {
    "branches": ("branches: [main]", "branches: [main, next]", "trigger `push`: branches `main` is now `main, next`", "suggestion", "Build the next branch as well"),
    "paths": ("    paths: [src/**]\n", "", "trigger `push` paths removed: `src/**`", "suggestion", "Run the workflow for all paths"),
    "types": ("types: [opened]", "types: [closed]", "trigger `pull_request`: types `opened` is now `closed`", "suggestion", "Start it when a pull request is closed"),
    "events": ("  pull_request:\n    types: [opened]\n", "", "trigger `pull_request` removed", "suggestion", "Do not run it on pull_request"),
    "strangers": ("  pull_request:\n", "  pull_request_target:\n", "trigger `pull_request_target` added", "important", "Use pull_request_target"),
    "permissions": ("contents: read", "contents: write", "permission `contents` (the workflow): `read` is now `write`", "important", "Let the token have the permission to push"),
    "all permissions": ("permissions:\n  contents: read\n", "", "permission `all` (the workflow): `{contents: read}` is now `not stated`", "important", "Leave permissions to the repository"),
    "read permission": ("contents: read", "contents: read\n  actions: read", "permission `actions` (the workflow): `none` is now `read`", "suggestion", "Permissions to look at runs"),
    "permissions of a job": ("    timeout-minutes: 30\n", "    timeout-minutes: 30\n    permissions: {id-token: write}\n", "permission `id-token` (job `build`): `none` is now `write`", "important", "Ask for an id-token"),
    "machine": ("ubuntu-22.04", "ubuntu-24.04", "key `runs-on` (job `build`): `ubuntu-22.04` is now `ubuntu-24.04`", "note", "Take the runners of 24.04"),
    "deadline": ("    timeout-minutes: 30\n", "", "key `timeout-minutes` (job `build`) removed: `30`", "important", "Drop the timeout"),
    "later deadline": ("timeout-minutes: 30", "timeout-minutes: 90", "key `timeout-minutes` (job `build`): `30` is now `90`", "note", "Raise timeouts"),
    "commands": ("cmake --build out", "cmake --build out --target install", "commands of step `Compile` (job `build`): gains `cmake --build out --target install`; loses `cmake --build out`", "note", "Build the target install, too"),
    "ref": ("${{ github.sha }}", "main", "argument `ref` (dispatch of release.yml in job `build`): `${{ github.sha }}` is now `main`", "suggestion", "Dispatch another ref"),
    "no ref": (', ref: "${{ github.sha }}"', "", "argument `ref` (dispatch of release.yml in job `build`) removed: `${{ github.sha }}`", "suggestion", "Dispatch without a ref"),
    "gate": ("    timeout-minutes: 30\n", "    timeout-minutes: 30\n    continue-on-error: true\n", "key `continue-on-error` (job `build`) added: `true`", "suggestion", "Make it continue-on-error"),
    "step": ("      - name: Compile\n", "      - {name: Look, run: ls}\n      - name: Compile\n", "step `Look` (job `build`) added", "note", "Look first"),
}  # fmt: skip


@pytest.mark.parametrize("what", GUARDS)
def test_what_starts_limits_and_runs_a_workflow(tmp_path, what):
    """Each is among the changes, and nobody mentions it until a title speaks of it."""
    old, new, says, importance, title = GUARDS[what]
    repository = Repository(tmp_path / "guards")
    release = "on: workflow_dispatch\njobs: {}\n"
    base = repository.commit("Begin", ci=GUARDED, release=release)
    assert old in GUARDED
    repository.commit("Other work", ci=GUARDED.replace(old, new))
    review = repository.review("--base", base, code=None)
    assert says in [change["sentence"] for change in review["changes"]]
    found = [one for one in of(review, "Y163") if says in one["message"]]
    assert [one["importance"] for one in found] == [importance], of(review, "Y163")
    assert review["important"] > 0 or importance != "important"
    repository.git("commit", "-q", "--amend", "-m", title)
    assert not [one for one in of(repository.review("--base", base, code=None), "Y163") if says in one["message"]]


@pytest.mark.parametrize(("old", "new"), [("cmake -B out\n", "# first\n          cmake -B out\n\n"), ("      - name: Compile\n        run: |\n", "      - run: |\n"), ("[main]", "\n      - main"), ('"${{ github.sha }}"', "'${{github.sha}}'")])  # fmt: skip
def test_what_is_only_written_another_way(tmp_path, old, new):
    repository = Repository(tmp_path / "same")
    assert old in GUARDED
    base = repository.commit("Begin", ci=GUARDED, release="on: workflow_dispatch\njobs: {}\n")
    repository.commit("Other work", ci=GUARDED.replace(old, new))
    assert repository.review("--base", base, code=0)["changes"] == []


def test_a_new_job_is_told_once(tmp_path):
    """Its permissions are spoken of by its name, and `needs` of others follows from it."""
    repository = Repository(tmp_path / "new")
    last = "  last: {needs: [%s], runs-on: x, timeout-minutes: 5, steps: [{run: a}]}\n"
    text = GUARDED + last % "build"
    base = repository.commit("Begin", ci=text, release="on: workflow_dispatch\njobs: {}\n")
    job = "  publish:\n    runs-on: x\n    timeout-minutes: 5\n    permissions: {packages: write}\n    steps: [{run: a}]\n"
    repository.commit("Other work", ci=text.replace(last % "build", job + last % "build, publish"))
    review = repository.review("--base", base, code=0)
    assert {one["importance"]: one["message"].partition("mentions: ")[2] for one in of(review, "Y163")} == {"suggestion": "permission `packages` (job `publish`): `none` is now `write`", "note": "job `publish` added"}
    assert "key `needs` (job `last`): `[build]` is now `[build, publish]`" in [one["sentence"] for one in review["changes"]]
    repository.git("commit", "-q", "--amend", "-m", "Publish packages")
    assert not of(repository.review("--base", base, code=0), "Y163")


def test_values_that_begin_alike_are_shown_where_they_differ(tmp_path):
    repository = Repository(tmp_path / "long")
    image = "    container:\n      image: example.org/" + "a" * 90 + "@sha256:%s\n"
    text = GUARDED.replace("    timeout-minutes", image + "    timeout-minutes")
    base = repository.commit("Begin", ci=text % "00ff", release="on: workflow_dispatch\njobs: {}\n")
    repository.commit("Other work", ci=text % "11ee")
    (change,) = repository.review("--base", base, code=0)["changes"]
    assert change["sentence"] == "key `container.image` (job `build`): `…aaaaaaaaaaaa@sha256:00ff` is now `…aaaaaaaaaaaa@sha256:11ee`"


@pytest.mark.parametrize("title", ["Work on the build job", "Update ci.yml", "Compile faster"])
def test_the_name_of_a_job_does_not_speak_of_its_guards(tmp_path, title):
    repository = Repository(tmp_path / "guards")
    base = repository.commit("Begin", ci=GUARDED, release="on: workflow_dispatch\njobs: {}\n")
    repository.commit(title, ci=GUARDED.replace("    timeout-minutes: 30\n", "").replace("contents: read", "contents: write"))
    (found,) = of(repository.review("--base", base), "Y163")
    assert found["importance"] == "important" and "timeout-minutes" in found["message"] and "contents" in found["message"]


@pytest.mark.parametrize(("step", "says"), [
    ("run: bash tools/setup.sh", "names tools/setup.sh, which does not exist in this repository: it existed before and is removed by this change"),
    ("run: bash once.sh && bash once.sh", "names once.sh, which does not exist in this repository: it existed before and is removed by this change"),
    ("run: pytest tools", None),  # pytest takes it for a word, not for a path
    ("run: pytest tools/tests", "names tools/tests, which does not exist in this repository: it existed before"),
    ("run: cd tools && make", "runs in tools, which does not exist in this repository: it existed before"),
    ("{run: make, working-directory: tools}", "runs in tools, which does not exist in this repository: it existed before"),
    ("uses: ./tools/act", "has no action.yml there: it existed before and is removed by this change"),
    ("run: mkdir tools && cd tools && make", None),
    ("run: echo make > once.sh && bash once.sh", None),
    ("run: bash made/setup.sh", None),
])  # fmt: skip
def test_what_the_change_removes_and_a_workflow_needs(tmp_path, step, says):
    repository = Repository(tmp_path / "gone")
    for name in ("tools/setup.sh", "tools/act/action.yml", "tools/tests/a_test.py", "once.sh"):
        path = repository.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("runs: {using: composite, steps: []}\n" if name.endswith(".yml") else "")
    text = f"on: push\njobs:\n  a:\n    runs-on: x\n    timeout-minutes: 5\n    steps:\n      - uses: {CHECKOUT}\n      - {step}\n"
    base = repository.commit("Begin", ci=text)
    repository.git("rm", "-q", "-r", "tools", "once.sh")
    repository.commit("Remove the tools")
    review = repository.review("--base", base, code=None)
    found = [one for one in review["findings"] if one["code"] in ("Y139", "Y143")]
    assert {says in one["message"] and one["status"] == "new" for one in found} == ({True} if says else set()), found
    linted = quarry("workflow", "lint", repository.directory, "--json", "--baseline", base).json
    assert [one["message"] for one in linted["findings"]] == [one["message"] for one in found]


def test_a_title_is_judged_once_and_words_are_not_names(tmp_path):
    repository = Repository(tmp_path / "words")
    text = "on: push\njobs:\n  build_all:\n    runs-on: x\n    timeout-minutes: 5\n    steps:\n      - run: a\n      - run: b\n      - run: c\n      - run: d\n      - run: e\n  test_all:\n    runs-on: x\n    timeout-minutes: 5\n    steps: [{run: x}]\n"
    base = repository.commit("Begin", one=text, lint=text, python_tools=text)
    title = "Add `level` for continuous lint of Python tooling (#12)"
    repository.commit(title, one=text.replace("run: a\n", "run: z\n"))
    body = tmp_path / "body.md"
    body.write_text(f"{title}\n\nMore.\n")
    review = repository.review("--base", base, "--description", body)
    assert len(of(review, "Y161")) == 1 and not of(review, "Y162")
    for title, importance in {"Speed up build_all": None, "Speed up test_all": "note", "Speed up lint": None, "Speed up `lint`": "note"}.items():
        repository.git("commit", "-q", "--amend", "-m", title)
        assert [found["importance"] for found in of(repository.review("--base", base, code=0), "Y162")] == ([importance] if importance else []), title


@pytest.mark.parametrize(("caller", "paths"), [("on: pull_request", 0), ("on: [push, pull_request]", 0), ("on: {pull_request: {paths: ['.github/**']}}", 0), ("on: {pull_request: {paths: ['src/**']}}", 2), ("on: {push: {branches: [main]}}", 2), ("on: {push: {branches: ['**']}}", 0), ("on: {workflow_dispatch: {inputs: {a: {}}}, pull_request: {}}", 0), ("on: {schedule: [{cron: '1 1 1 1 1'}]}", 2), ("on: pull_request_target", 2), ("on: merge_group", 2)])  # fmt: skip
def test_runs_that_the_pull_request_starts_need_no_link(tmp_path, caller, paths):
    repository = Repository(tmp_path / "runs")
    called = "on: workflow_call\njobs:\n  a:\n    runs-on: x\n    timeout-minutes: 5\n    steps: [{run: a}]\n"
    middle = "on: {workflow_call: {}, workflow_dispatch: {inputs: {b: {default: c}}}}\njobs: {a: {uses: ./.github/workflows/called.yml}, b: {runs-on: x, timeout-minutes: 1, steps: [{run: 'echo ${{ inputs.b }}'}]}}\n"
    base = repository.commit("Begin", called=called, middle=middle, ci=caller + "\njobs: {a: {uses: ./.github/workflows/middle.yml}}\n")
    repository.commit("Work", called=called.replace("run: a", "run: b"), middle=middle + "# more\n")
    body = tmp_path / "body.md"
    body.write_text("Work.\n")
    review = repository.review("--base", base, "--description", body)
    found = of(review, "Y166")
    assert [one["importance"] for one in found] == ["important"]  # the form of middle.yml has a field
    assert f"{paths + 1} trigger path" in found[0]["message"] and "manual dispatch of middle.yml" in found[0]["message"]
    assert sum("the pull request starts it" in line for line in review["test_plan"]) == 2 - paths


@pytest.mark.parametrize(("callee", "arguments", "right"), [
    ("{inputs: {flavor: {type: string, required: true}}}", "{flavor: a}", True),
    ("{inputs: {flavor: {type: string, required: true}}}", "{nonesuch: a}", False),
    ("{inputs: {flavor: {type: string, required: true}}}", "{}", False),
])  # fmt: skip
def test_calls_are_right_only_if_they_fit(tmp_path, callee, arguments, right):
    """No finding is about a call that actionlint refuses, and the report must not call it right."""
    repository = Repository(tmp_path / "calls")
    text = "on: {workflow_call: %s}\njobs: {a: {runs-on: x, timeout-minutes: 5, steps: [{run: 'echo ${{ inputs.flavor }}'}]}}\n"
    caller = "on: push\njobs: {a: {uses: ./.github/workflows/called.yml, with: %s}}\n"
    base = repository.commit("Begin", called=text % "{}", ci=caller % "{}")
    repository.commit("Work", called=text % callee, ci=caller % arguments)
    review = repository.review("--base", base, code=None)
    assert any("no input became missing" in one for one in review["right"]) == right


def test_a_file_that_cannot_be_read_repairs_nothing(tmp_path):
    repository = Repository(tmp_path / "broken")
    text = "on: {workflow_dispatch: {inputs: {level: {type: string}}}}\njobs: {a: {runs-on: x, steps: [{run: echo}]}}\n"
    base = repository.commit("Begin", one=text, two=text)
    repository.commit("Work", one=text + "broken: [\n", two=text + "# more\n")
    review = repository.review("--base", base)
    assert of(review, "Y101")
    assert not any("fixed" in one for one in review["right"])
    assert not any("one.yml" in one for one in review["test_plan"])
    assert any("cannot be read" in one for one in review["not_looked_at"])


def test_fewer_linked_runs_than_ways_to_start(tmp_path):
    repository = Repository(tmp_path / "runs")
    text = "on: {workflow_dispatch: {inputs: {level: {type: string, default: a}}}, schedule: [{cron: '1 1 1 1 1'}]}\njobs:\n  one:\n    runs-on: x\n    timeout-minutes: 5\n    steps:\n      - run: echo ${{ inputs.level }} %s\n"
    base = repository.commit("Begin", one=text % "a")
    repository.commit("Work", one=text % "b")
    body = tmp_path / "body.md"
    for links, importance in {"/actions/runs/": "important", "/actions/runs/1 /actions/runs/1": "note", "/actions/runs/1 /actions/runs/2": None}.items():
        body.write_text(f"Work, seen in {links}\n")
        found = of(repository.review("--base", base, "--description", body, code=1 if importance == "important" else 0), "Y166")
        assert [one["importance"] for one in found] == ([importance] if importance else []), links


def test_an_edit_that_a_later_commit_takes_back(tmp_path):
    repository = Repository(tmp_path / "undone")
    text = "on: push\njobs:\n  one:\n    runs-on: x\n    timeout-minutes: 5\n    steps: [{run: %s}]\n"
    base = repository.commit("Begin", build_wheels=text % "a", test=text % "a")
    repository.commit("Update build_wheels.yml", build_wheels=text % "b")
    repository.commit("More", build_wheels=text % "a", test=text % "b")
    found = of(repository.review("--base", base, code=1), "Y162")
    assert [one["importance"] for one in found] == ["important"] and "its edit of .github/workflows/build_wheels.yml is undone later" in found[0]["message"]


def test_a_finding_whose_list_changes_is_neither_new_nor_fixed(tmp_path):
    repository = Repository(tmp_path / "changed")
    text = "on: {workflow_dispatch: {inputs: {level: {type: string, default: %s}}}}\njobs:\n  one:\n    runs-on: x\n    timeout-minutes: 5\n    steps: [{run: 'echo ${{ inputs.level }}'}]\n"
    base = repository.commit("Begin", one=text % "a", two=text % "b", three=text % "b")
    repository.commit("Raise level to c", two=text % "c", three=text % "c")
    review = repository.review("--base", base, code=0)
    assert [one["status"] for one in of(review, "Y128")] == ["existed before, has changed"]
    assert not [line for line in review["right"] if "Y128" in line]


def test_refusals(first, tmp_path):
    for words in (("--base", "none"), ("--base", "main", "--head", "none")):
        refused("Y151", 3, "workflow", "review", first.directory, *words)
    refused("Y151", 2, "workflow", "review", first.directory, "--base=-x")
    refused("Y150", 3, "workflow", "review", tmp_path / "nowhere", "--base", "main")
    plain = tmp_path / "plain"
    plain.mkdir()
    done = refused("Y151", 3, "workflow", "review", plain, "--base", "main", environment=clean_environment(GIT_CEILING_DIRECTORIES=str(tmp_path)))
    assert "is not in a git repository" in done.err and "unshallow" not in done.err
    refused("C004", 2, "workflow", "review", first.directory)
    refused("D001", 3, "workflow", "review", first.directory, "--base", "main", "--description", tmp_path / "none.md")
    refused("X505", 2, "workflow", "review", first.directory, "--base", "main", "--today", "soon", "--run", tmp_path / "body.md")
    refused("X505", 2, "workflow", "review", first.directory, "--base", "main", "--today", "2026-99-99")
    other = Repository(tmp_path / "other")
    other.commit("Begin", one="on: push\njobs: {}\n")
    other.git("switch", "-q", "--orphan", "alone")
    other.commit("Alone", one="on: push\njobs: {}\n")
    refused("Y151", 3, "workflow", "review", other.directory, "--base", "main")


# workflows/review.yml


def test_actionlint_accepts_the_workflow(tmp_path):
    place = tmp_path / ".github/workflows"
    place.mkdir(parents=True)
    shutil.copy(ROOT / "workflows/review.yml", place)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    linted = subprocess.run([ROOT / "build/tools/bin/actionlint", "-no-color"], cwd=tmp_path, capture_output=True, text=True)
    assert linted.returncode == 0, linted.stdout + linted.stderr


def test_the_workflow_installs_quarry_as_the_action_does():
    steps = load("review.yml")["jobs"]["review"]["steps"]
    [install] = [step["run"] for step in steps if step["name"] == "Install quarry"]
    assert install == load("setup-quarry/action.yml")["runs"]["steps"][0]["run"]


def test_the_steps_of_the_workflow(first, tmp_path):
    """The review and the upload, with a double of gh that keeps what it is given."""
    programs, temporary = tmp_path / "bin", tmp_path / "runner"
    programs.mkdir(), temporary.mkdir()
    (programs / "quarry").symlink_to(PROGRAM.resolve())
    (programs / "gh").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\ncp "$6" {tmp_path}/upload.json\n')
    (programs / "gh").chmod(0o755)
    base, head = first.git("rev-parse", "main").strip(), first.git("rev-parse", "change").strip()
    environment = clean_environment(RUNNER_TEMP=str(temporary), GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"), GITHUB_REPOSITORY="o/r", BASE=base, HEAD=head, REF="refs/pull/7/head", DESCRIPTION=DESCRIPTION + '$(touch "$RUNNER_TEMP/executed")')
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    steps = {step["name"]: step for step in load("review.yml")["jobs"]["review"]["steps"]}

    def run(name: str) -> int:
        script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[name]["run"]]
        return subprocess.run(script, cwd=first.directory, env=environment, capture_output=True).returncode

    assert run("Review the change") == 1  # a finding is important
    assert "# Review of workflows" in (tmp_path / "summary.md").read_text()
    assert not (temporary / "executed").exists()
    assert run("Upload the findings to code scanning") == 0
    sent = json.loads((tmp_path / "upload.json").read_text())
    assert (sent["commit_sha"], sent["ref"]) == (head, "refs/pull/7/head")
    log = json.loads(gzip.decompress(base64.b64decode(sent["sarif"])))
    assert "Y125" in {result["ruleId"] for result in log["runs"][0]["results"]}
    assert (tmp_path / "words").read_text().startswith("api --method POST repos/o/r/code-scanning/sarifs")
