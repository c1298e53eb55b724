"""`quarry workflow lint`: branches, tags and commits of other repositories, looked up in clones and on a server that git reads as files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support.quarry import clean_environment, quarry  # noqa: E402

CHECKOUT = "de0fac2e4500dabe0009e67214ff5f5447ce83dd"
MISSING = "0123456789012345678901234567890123456789"


def git(*words: str | Path) -> str:
    done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words], check=True, env=clean_environment(), capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def server(tmp_path) -> Path:
    """SERVER/ROCm/jax with branches main and release/0.8 and the tag v1; SERVER/actions/checkout with the tag v4."""
    for name, branches, tag in (("ROCm/jax", ("release/0.8",), "v1"), ("actions/checkout", (), "v4")):
        place = tmp_path / "server" / name
        place.mkdir(parents=True)
        git("init", "-q", "-b", "main", place)
        git("-C", place, "commit", "-q", "--allow-empty", "-m", "one")
        git("-C", place, "tag", tag)
        for branch in branches:
            git("-C", place, "branch", branch)
        git("-C", place, "commit", "-q", "--allow-empty", "-m", "two")
    return tmp_path / "server"


def workflow(ref: str, head: str = "on: push", more: str = "", uses: str = CHECKOUT, repository: str = "ROCm/jax") -> str:
    """`more`: lines of the job."""
    return f"""{head}
jobs:
  j:
    runs-on: x
    timeout-minutes: 5
{more}    steps:
      - uses: actions/checkout@{uses}
        with: {{repository: "{repository}", ref: "{ref}"}}
"""


class Found:
    def __init__(self, place: Path, files: dict[str, str], *words: str, server: Path | None = None) -> None:
        directory = place / "tree/.github/workflows"
        directory.mkdir(parents=True)
        for name, text in files.items():
            (directory / name).write_text(text)
        environment = clean_environment() | ({"GITHUB_SERVER_URL": f"file://{server}"} if server else {})
        report = quarry("workflow", "lint", place / "tree", "--json", *words, environment=environment).json
        self.refs = [one for one in report["findings"] if one["code"] == "Y142"]
        self.names = {one["message"].split("`")[1] for one in self.refs}
        self.lines = [one["line"] for one in self.refs]
        self.not_looked_at = {what: count for what, count in report["not_looked_at"].items() if "refs" in what}


INPUT = "on: {workflow_dispatch: {inputs: {ref: {type: %s, default: '%s'}}}}"
ROWS = [
    (workflow("main"), set()),
    (workflow("release/0.8"), set()),
    (workflow("refs/heads/release/0.8"), set()),
    (workflow("v1"), set()),
    (workflow("0.8"), {"0.8"}),
    (workflow("release/0.9"), {"release/0.9"}),
    (workflow("refs/heads/v1"), {"refs/heads/v1"}),
    (workflow("ma*"), {"ma*"}),
    (workflow("${{ inputs.ref }}", INPUT % ("string", "v2")), {"v2"}),
    (workflow("${{ inputs.ref || 'v3' }}", INPUT % ("string", "main")), {"v3"}),
    (workflow("${{ inputs.ref }}", INPUT.replace("default", "options: [main, v5], default") % ("choice", "main")), {"v5"}),
    (workflow("${{ matrix.ref }}", more="    strategy: {matrix: {ref: [main, v6], include: [{ref: v7}]}}\n"), {"v6", "v7"}),
    (workflow("main", uses="v4"), set()),
]  # fmt: skip


@pytest.mark.parametrize("online", [False, True])
@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_names(tmp_path, server, text, expected, online):
    words = ("--online",) if online else ("--with", f"ROCm/jax={server}/ROCm/jax")
    found = Found(tmp_path, {"a.yml": text}, *words, server=server)
    assert found.names == expected and not found.not_looked_at


def test_what_a_caller_passes_is_reported_at_the_call(tmp_path, server):
    called = workflow("${{ inputs.ref }}", "on: {workflow_call: {inputs: {ref: {type: string}}}}")
    caller = "on: push\njobs:\n  c:\n    uses: ./.github/workflows/a.yml\n    with:\n      ref: v9\n"
    found = Found(tmp_path, {"a.yml": called, "b.yml": caller}, "--online", server=server)
    assert [(one["file"], one["line"]) for one in found.refs] == [(".github/workflows/b.yml", 6)]


def test_one_default_that_many_steps_take_is_one_finding(tmp_path, server):
    text = workflow("${{ inputs.ref }}", INPUT % ("string", "v2"))
    text += text[text.index("      - uses") :]
    found = Found(tmp_path, {"a.yml": text}, "--online", server=server)
    assert found.lines == [1] and "and 1 more" in found.refs[0]["message"]


def test_commits_are_looked_up_in_a_clone_only(tmp_path, server):
    commit = git("-C", server / "ROCm/jax", "rev-parse", "HEAD")
    clone = ("--with", f"ROCm/jax={server}/ROCm/jax")
    assert not Found(tmp_path / "1", {"a.yml": workflow(commit)}, *clone).not_looked_at
    assert Found(tmp_path / "2", {"a.yml": workflow(MISSING)}, *clone).not_looked_at == {"refs of ROCm/jax (a commit)": 1}
    assert Found(tmp_path / "3", {"a.yml": workflow(commit)}, "--online", server=server).not_looked_at == {"refs of ROCm/jax (a commit)": 1}


def test_an_action_of_a_tag_that_does_not_exist(tmp_path, server):
    found = Found(tmp_path, {"a.yml": workflow("main", uses="v44")}, "--online", server=server)
    assert found.names == {"v44"} and "actions/checkout" in found.refs[0]["message"]


def test_nothing_is_guessed(tmp_path, server):
    """Without a clone, with a part of one, with two possible repositories, and with a repository that nobody can read."""
    tree = {"a.yml": workflow("v2")}
    assert Found(tmp_path / "1", tree).not_looked_at == {"refs of ROCm/jax (give a clone by --with, or ask with --online)": 1}
    git("clone", "-q", "--single-branch", "-b", "main", f"file://{server}/ROCm/jax", tmp_path / "part")
    git("clone", "-q", "--depth", "1", "--no-single-branch", f"file://{server}/ROCm/jax", tmp_path / "shallow")
    git("clone", "-q", f"file://{server}/ROCm/jax", tmp_path / "whole")
    for number, (name, whole) in enumerate({"part": False, "shallow": False, "whole": True}.items()):
        found = Found(tmp_path / f"c{number}", tree, "--with", f"ROCm/jax={tmp_path}/{name}")
        assert (found.names == {"v2"}) == whole and (found.not_looked_at == {"refs of ROCm/jax (the clone is not whole)": 1}) == (not whole), name
        assert not Found(tmp_path / f"d{number}", {"a.yml": workflow("main")}, "--with", f"ROCm/jax={tmp_path}/{name}").refs
    assert not Found(tmp_path / "whole-branch", {"a.yml": workflow("release/0.8")}, "--with", f"ROCm/jax={tmp_path}/whole").refs, "a branch of the remote"
    two = workflow("v2", repository="${{ matrix.r }}", more="    strategy: {matrix: {r: [ROCm/jax, ROCm/xla]}}\n")
    assert Found(tmp_path / "2", {"a.yml": two}, "--online", server=server).not_looked_at == {"refs of repositories that expressions name": 1}
    none = Found(tmp_path / "3", {"a.yml": workflow("v2", repository="ROCm/none")}, "--online", server=server)
    assert not none.refs and len(none.not_looked_at) == 1 and "ROCm/none" in next(iter(none.not_looked_at))


def test_the_reason_of_git_is_told_without_a_password(tmp_path, server):
    """The file system has it in one line of several; a server may refuse with a URL that holds a password."""
    none = Found(tmp_path / "1", {"a.yml": workflow("v2", repository="ROCm/none")}, "--online", server=server)
    (said,) = none.not_looked_at
    assert "git says: fatal:" in said and "does not appear to be a git repository" in said, said
    programs = tmp_path / "bin"
    programs.mkdir()
    double = programs / "git"
    double.write_text("#!/bin/sh\ncase \"$*\" in *ls-remote*)\n  echo \"warning: slow\" >&2\n  echo \"fatal: unable to access 'https://me:hunter22@example.org/a/b/': refused\" >&2\n  exit 128;; esac\nexit 1\n")
    double.chmod(0o755)
    directory = tmp_path / "tree/.github/workflows"
    directory.mkdir(parents=True)
    (directory / "a.yml").write_text(workflow("v2"))
    environment = clean_environment() | {"GITHUB_SERVER_URL": "https://me:hunter22@example.org"}
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    done = quarry("workflow", "lint", tmp_path / "tree", "--json", "--online", environment=environment)
    assert "git says: fatal: unable to access 'https://example.org/a/b/': refused" in done.out and "hunter22" not in done.out + done.err


def test_what_a_clone_does_not_fetch_is_not_guessed(tmp_path, server):
    git("-C", server / "ROCm/jax", "branch", "users/x/topic")
    git("clone", "-q", f"file://{server}/ROCm/jax", tmp_path / "whole")
    git("clone", "-q", "--no-tags", f"file://{server}/ROCm/jax", tmp_path / "untagged")

    def found(name: str, ref: str) -> Found:
        return Found(tmp_path / f"{name}-{ref.replace('/', '-')}", {"a.yml": workflow(ref)}, "--with", f"ROCm/jax={tmp_path}/{name}")

    for name, refs in {"untagged": ("v1", "refs/tags/v1", "refs/pull/12/head"), "whole": ("refs/pull/12/head",)}.items():
        for ref in refs:
            answer = found(name, ref)
            assert not answer.refs and answer.not_looked_at == {"refs of ROCm/jax (the clone is not whole)": 1}, (name, ref)
    assert found("untagged", "refs/heads/none").names == {"refs/heads/none"}
    for ref in ("v1", "refs/tags/v1", "users/x/topic", "refs/heads/users/x/topic", "main"):
        assert not found("whole", ref).refs, ref
    for ref in ("topic", "x/topic", "refs/heads/topic", "v2"):
        assert found("whole", ref).names == {ref}, "a branch is its whole name"
