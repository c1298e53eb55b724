"""`artifact find`: which run has the artifacts, by GitHub's API as documented and a store; and what is said when GitHub does not answer."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import github_double, s3_server, small_artifacts  # noqa: E402
from support.github_double import pull_object, run_object  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402

OLD, NEW = "a1" * 20, "b2" * 20
FAMILY = small_artifacts.FAMILY
TOKEN = "canary-token-that-must-not-show"


class World:
    def __init__(self, github: github_double.GitHub, url: str, root: Path):
        self.github, self.root = github, root
        self.environment = clean_environment(GITHUB_API_URL=url, QUARRY_STORE=f"file:{root}", GITHUB_TOKEN=TOKEN)

    def add(self, archives: Path, prefix: str, without: str = " ") -> None:
        shutil.copytree(archives, self.root / prefix, ignore=lambda _, names: [name for name in names if without in name])

    def find(self, *words: str):
        return quarry("artifact", "find", *words, "--json", environment=self.environment)

    def found(self, *words: str) -> dict:
        done = self.find(*words)
        assert done.code == 0, done.err
        return done.json["run"]

    def refused(self, code: str, exit_code: int, *words: str):
        done = refused(code, exit_code, "artifact", "find", *words, environment=self.environment)
        assert TOKEN not in done.out + done.err
        return done


@pytest.fixture
def world(tmp_path, archives):
    """Newest first: 13 runs still and has nothing, 12 failed without the family, 11 succeeded, 10 is of an older commit."""
    with github_double.serve() as (github, url):
        made = World(github, url, tmp_path / "store")
        github.runs = [run_object(13, NEW, None, minute=13), run_object(12, NEW, "failure", minute=12), run_object(11, NEW, minute=11), run_object(10, OLD, minute=10, branch="release/7")]
        made.add(archives, "12-linux", without=FAMILY)
        made.add(archives, "11-linux")
        made.add(archives, "10-linux")
        (tmp_path / "store/13-linux").mkdir()
        yield made


def test_by_commit_whole_or_short(world):
    for sha in (NEW, NEW.upper()):
        assert world.found("--commit", sha, "--artifact-group", FAMILY)["run_id"] == "11"
    assert not [path for path, _ in world.github.requests if "/commits/" in path]
    assert world.found("--commit", OLD[:12])["run_id"] == "10"
    done = world.find("--commit", NEW)
    assert done.json["run"]["run_id"] == "12", "without a group any artifact will do"
    assert [(run["run_id"], run["lacks"]) for run in done.json["passed_over"]] == [("13", "has no artifacts")]


def test_by_branch_and_by_what_must_be_there(world):
    assert world.found("--branch", "release/7")["run_id"] == "10"
    assert "branch=release%2F7" in world.github.requests[-1][0]
    assert world.found("--branch", "main", "--require", "blas_lib")["run_id"] == "11"
    done = world.refused("Y010", 3, "--branch", "main", "--require", "miopen")
    assert "run 13  in_progress  has no artifacts" in done.err and "run 11  success  has nothing for /miopen/" in done.err


def test_latest_good_is_of_the_default_branch(world):
    run = world.found("--latest-good")
    assert (run["run_id"], run["conclusion"]) == ("11", "success")
    world.github.default_branch = "release/7"
    assert world.found("--latest-good")["run_id"] == "10"
    assert world.found("--latest-good", "--branch", "main")["run_id"] == "11"


def test_by_run_id(world):
    run = world.found("--run-id", "11")
    assert run["prefix"] == "11-linux" and run["bucket"] == "therock-ci-artifacts"
    assert run["https_url"] == "https://therock-ci-artifacts.s3.amazonaws.com/11-linux"
    assert run["workflow"] == "ci.yml" and FAMILY in run["targets"] and run["artifacts"] == 6
    world.refused("Y004", 3, "--run-id", "99")
    world.refused("Y004", 3, "--run-id", "v1.2")
    world.refused("Y010", 3, "--run-id", "12", "--artifact-group", FAMILY)
    world.refused("Y010", 3, "--run-id", "11", "--platform", "windows")


def test_a_workflow_can_be_named(world):
    world.github.runs[2]["path"] = ".github/workflows/multi_arch_ci.yml@main"
    assert world.found("--commit", NEW, "--workflow", "multi_arch_ci.yml")["run_id"] == "11"
    done = world.refused("Y010", 3, "--commit", NEW, "--workflow", "nightly.yml")
    assert "lists no workflow run" in done.err


def test_a_release_lies_in_the_bucket_of_its_type(world):
    """The run of a release workflow says its type in its name; TheRock's script looks into the bucket of CI."""
    run = world.github.runs[2] = run_object(11, NEW, minute=11, workflow="multi_arch_release.yml", title="Multi-Arch Release (dev) | Linux: gfx94x | Windows: none") | {"event": "workflow_dispatch"}
    words = ("--commit", NEW, "--workflow", "multi_arch_release.yml")
    found = world.found(*words, "--artifact-group", FAMILY)
    assert (found["run_id"], found["bucket"], found["prefix"]) == ("11", "therock-dev-artifacts", "11-linux")
    run["display_title"] = "Multi-Arch Release (nightly-bkc) | Linux: all | Windows: all"
    assert world.found(*words)["bucket"] == "therock-nightly-artifacts"
    assert world.found(*words, "--release-type", "prerelease")["bucket"] == "therock-prerelease-artifacts"
    run["event"] = "push"
    assert world.found(*words)["bucket"] == "therock-dev-artifacts", "the title of a push is that of a commit"
    run["event"] = "schedule"
    run |= {"path": ".github/workflows/release_portable_linux_packages.yml@main", "display_title": "Release portable Linux packages (default, nightly)"}
    assert world.found("--run-id", "11", "--era", "feb")["bucket"] == "therock-nightly-artifacts"
    done = quarry("compat", "find_artifacts_for_commit", "--commit", NEW, "--workflow", "release_portable_linux_packages.yml", "--artifact-group", FAMILY, "--era", "feb", "--json", environment=world.environment)
    assert done.code == 0, done.err
    assert done.json["results"][0]["s3_uri"] == "s3://therock-nightly-artifacts/11-linux/"


def test_forks_lie_elsewhere_also_deleted_ones(world, archives):
    world.github.runs = [run_object(21, NEW, head=None, minute=2), run_object(20, NEW, head="someone/TheRock", minute=1)]
    world.add(archives, "ROCm-TheRock/20-linux")
    run = world.found("--commit", NEW)
    assert (run["run_id"], run["prefix"], run["bucket"]) == ("20", "ROCm-TheRock/20-linux", "therock-ci-artifacts-external")


def test_many_runs_come_in_pages_and_are_bounded(world):
    world.github.runs = [run_object(1000 + n, NEW, "failure", minute=30) for n in range(120)] + [run_object(11, NEW, minute=11)]
    world.refused("Y010", 3, "--commit", NEW)
    assert world.found("--commit", NEW, "--limit", "200")["run_id"] == "11"
    assert [path.split("page=")[2].split("&")[0] for path, _ in world.github.requests[-2:]] == ["1", "2"]


def test_what_is_found_is_fetched(world, tmp_path):
    good("artifact", "fetch", "--from", f"commit:{NEW}", "--artifact-group", FAMILY, "--output-dir", tmp_path / "out", environment=world.environment)
    assert (tmp_path / f"out/blas_lib_{FAMILY}").is_dir()
    run = world.found("--run-id", "11")
    good("artifact", "fetch", "--from", run["locator"], "--store", run["store"], "--output-dir", tmp_path / "again", environment=world.environment)


def test_by_pull_request_the_newest_run_that_has_ended(world, tmp_path):
    world.github.pulls = {"7": pull_object(7, NEW), "8": pull_object(8, "c3" * 20)}
    for said in (("7",), ("ROCm/TheRock#7", "--repo", "someone/else"), ("pr:ROCm/TheRock#7",)):
        done = world.find("--pr", *said)
        assert done.json["run"]["run_id"] == "12" and done.json["repository"] == "ROCm/TheRock"
        assert [(run["run_id"], run["lacks"]) for run in done.json["passed_over"]] == [("13", "has not ended")]
    assert world.found("--pr", "7", "--artifact-group", FAMILY)["run_id"] == "11"
    world.refused("Y010", 3, "--pr", "8")
    world.refused("Y004", 3, "--pr", "9")
    world.refused("L005", 2, "--pr", "ROCm/TheRock")
    world.refused("Y011", 2, "--pr", "7", "--branch", "main")
    world.github.pulls["7"]["head"] = None
    world.refused("Y006", 5, "--pr", "7")


def test_artifacts_of_a_pull_request(world, tmp_path):
    world.github.pulls = {"7": pull_object(7, NEW, head="someone/TheRock")}
    locator = "pr:ROCm/TheRock#7"
    listed = quarry("artifact", "list", locator, "--json", environment=world.environment)
    assert listed.code == 0 and "run 12 of commit b2b2b2b2b2b2" in listed.err, listed.err
    good("artifact", "verify", locator, environment=world.environment)
    good("artifact", "fetch", "--from", locator, "--artifact-group", FAMILY, "--output-dir", tmp_path / "out", environment=world.environment)
    assert (tmp_path / f"out/blas_lib_{FAMILY}").is_dir()


def test_in_a_bucket(world, archives, tmp_path):
    with s3_server.serve() as server:
        client = s3_server.Client(server.endpoint, server.access, server.secret)
        for file in archives.iterdir():
            client.put(server.bucket, f"11-linux/{file.name}", file.read_bytes())
        world.environment |= server.environment()
        world.environment.pop("QUARRY_STORE")
        run = world.found("--commit", NEW, "--bucket", server.bucket)
        assert run["store"] == f"s3://{server.bucket}" and run["run_id"] == "11"
        good("artifact", "fetch", "--from", run["s3_uri"], "--output-dir", tmp_path / "out", environment=world.environment)


def test_which_token(world, tmp_path):
    def sent(**variables: str) -> str:
        environment = {k: v for k, v in world.environment.items() if k != "GITHUB_TOKEN"} | variables
        good("artifact", "find", "--run-id", "11", environment=environment)
        return world.github.requests[-1][1]

    gh = tmp_path / "bin/gh"
    gh.parent.mkdir()
    gh.write_text('#!/bin/sh\n[ "$1 $2 $3 $4" = "auth token --hostname 127.0.0.1" ] && echo from-gh || exit 1\n')
    gh.chmod(0o755)
    with_gh, without = f"{gh.parent}:{os.environ['PATH']}", str(tmp_path)
    assert sent(PATH=without) == ""
    assert sent(PATH=with_gh) == "Bearer from-gh"
    assert sent(PATH=with_gh, GITHUB_TOKEN="b") == "Bearer b"
    assert sent(PATH=with_gh, GITHUB_TOKEN="b", GH_TOKEN="a") == "Bearer a"
    gh.write_text("#!/bin/sh\nexit 4\n")
    assert sent(PATH=with_gh, GITHUB_TOKEN="") == "", "not logged in"
    world.environment["GH_TOKEN"] = "two words"
    world.refused("Y001", 2, "--run-id", "11")


def test_refusals_are_told_apart(world):
    world.github.token = "another"
    world.refused("Y003", 4, "--run-id", "11")
    world.environment["GITHUB_TOKEN"] = "another"
    world.refused("Y004", 3, "--repo", "ROCm/private", "--run-id", "11")
    world.environment.pop("GITHUB_TOKEN")
    world.environment["PATH"] = "/usr/bin:/bin"
    done = world.refused("Y004", 3, "--run-id", "11")
    assert "a private repository needs GH_TOKEN" in done.err


REFUSALS = [
    ("primary limit", (403, {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "{reset}"}, '{"message": "API rate limit exceeded for 192.0.2.1."}'), "Y002", 5),
    ("limit as 429", (429, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "{reset}", "Retry-After": "600"}, "{}"), "Y002", 5),
    ("secondary limit", (403, {"Retry-After": "600"}, '{"message": "You have exceeded a secondary rate limit."}'), "Y002", 5),
    ("forbidden", (403, {"X-RateLimit-Remaining": "59"}, '{"message": "Resource not accessible by integration"}'), "Y005", 4),
    ("a proxy", (200, {"Content-Type": "text/html"}, "<html>please log in</html>"), "Y006", 5),
    ("another service", (200, {}, "[]"), "Y006", 5),
    ("a field is missing", (200, {}, '{"id": 11, "status": "completed"}'), "Y006", 5),
    ("an error", (418, {}, "{}"), "Y006", 5),
]


@pytest.mark.parametrize(("answer", "code", "exit_code"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS])
def test_answers_that_are_none(world, answer, code, exit_code):
    status, headers, body = answer
    reset = int(time.time()) + 600
    world.github.refusal = (status, {k: v.format(reset=reset) for k, v in headers.items()}, body)
    done = world.refused(code, exit_code, "--run-id", "11")
    if code == "Y002":
        assert time.strftime("%Y-%m-%dT%H:%M", time.gmtime(reset)) in done.err or "Retry-After" in headers
        assert "ends      " in done.err and "token     GITHUB_TOKEN" in done.err
    if code == "Y005":
        assert "Resource not accessible" in done.err and "actions: read" in done.err


def test_usage(world):
    world.refused("Y011", 2)
    world.refused("Y011", 2, "--run-id", "1", "--branch", "main")
    world.refused("Y011", 2, "--latest-good", "--limit", "0")
    world.refused("L022", 2, "--run-id", "1", "--repo", "nobody")
    world.environment["GITHUB_API_URL"] = "ftp://x"
    world.refused("H001", 2, "--run-id", "1")
    world.environment["GITHUB_API_URL"] = "http://api.example.com"
    world.refused("H010", 12, "--run-id", "1")
