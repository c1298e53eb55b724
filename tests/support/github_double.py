"""GitHub's REST API as its documentation describes it (docs.github.com, version 2022-11-28), as far as runs, commits and pull requests go: answers from
what a test put there, with rate limits and refusals on request."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
import urllib.parse

HOME = "ROCm/TheRock"


def run_object(run_id: int, sha: str, conclusion: str | None = "success", branch: str = "main", head: str | None = HOME, repository: str = HOME, minute: int = 0, workflow: str = "ci.yml", title: str = "Update README.md") -> dict:
    """A workflow run with the fields of the documented example."""
    owner = {"login": repository.split("/")[0], "id": 1, "type": "Organization"}
    return {
        "id": run_id, "name": "CI", "node_id": "MDEyOldvcmtmbG93IFJ1bjI2OTI4OQ==", "check_suite_id": 42, "head_branch": branch, "head_sha": sha,
        "path": f".github/workflows/{workflow}@{branch}", "run_number": 562, "run_attempt": 1, "event": "push", "display_title": title,
        "status": "completed" if conclusion else "in_progress", "conclusion": conclusion, "workflow_id": 159038,
        "url": f"https://api.github.com/repos/{repository}/actions/runs/{run_id}", "html_url": f"https://github.com/{repository}/actions/runs/{run_id}",
        "pull_requests": [], "created_at": f"2026-01-22T19:{minute:02}:08Z", "updated_at": f"2026-01-22T20:{minute:02}:08Z", "run_started_at": f"2026-01-22T19:{minute:02}:08Z",
        "actor": owner, "triggering_actor": owner, "head_commit": {"id": sha, "tree_id": "d23f6eedb1e1b9610bbc754ddb5197bfe7271223", "message": "Create linter.yaml"},
        "repository": {"id": 1296269, "full_name": repository, "owner": owner, "private": False},
        "head_repository": {"id": 1296270, "full_name": head, "owner": owner, "private": False, "fork": head != repository} if head else None,
    }  # fmt: skip


def pull_object(number: int, sha: str, head: str | None = HOME, repository: str = HOME) -> dict:
    """A pull request with the fields of the documented example that say where it comes from."""
    return {
        "id": number + 1_000_000, "node_id": "MDExOlB1bGxSZXF1ZXN0MQ==", "number": number, "state": "open", "title": "Amazing new feature", "merged": False,
        "merge_commit_sha": "e5bd3914e2e596debea16f433f57875b5b90bcd6", "html_url": f"https://github.com/{repository}/pull/{number}",
        "head": {"label": "octocat:new-topic", "ref": "new-topic", "sha": sha, "repo": {"id": 1296270, "full_name": head, "fork": head != repository} if head else None},
        "base": {"label": "octocat:main", "ref": "main", "sha": "6dcb09b5b57875f334f61aebed695e2e4193db5e", "repo": {"id": 1296269, "full_name": repository, "fork": False}},
    }  # fmt: skip


class GitHub:
    def __init__(self):
        self.runs: list[dict] = []
        self.pulls: dict[str, dict] = {}  # by number
        self.default_branch = "main"
        self.token = ""  # which the requests must carry, when it is not empty
        self.refusal: tuple[int, dict, str] | None = None  # status, headers, body: for every request
        self.requests: list[tuple[str, str]] = []  # path with query, authorization

    def answer(self, path: str, query: dict[str, str], authorization: str, accept: str) -> tuple[int, dict, str]:
        if self.refusal:
            return self.refusal
        if self.token and authorization != f"Bearer {self.token}":
            return (401, {}, '{"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest", "status": "401"}') if authorization else self.missing()
        if not path.startswith(f"/repos/{HOME}"):
            return self.missing()
        rest = path.removeprefix(f"/repos/{HOME}").strip("/").split("/")
        if rest == [""]:
            return 200, {}, json.dumps({"id": 1296269, "full_name": HOME, "default_branch": self.default_branch})
        if rest[0] == "commits" and len(rest) == 2:
            assert accept == "application/vnd.github.sha"
            found = [run["head_sha"] for run in self.runs if run["head_sha"].startswith(rest[1])]
            return (200, {"Content-Type": "application/vnd.github.sha; charset=utf-8"}, found[0]) if found else (422, {}, json.dumps({"message": f"No commit found for SHA: {rest[1]}"}))
        if rest[0] == "pulls" and len(rest) == 2:
            return (200, {}, json.dumps(self.pulls[rest[1]])) if rest[1] in self.pulls else self.missing()
        if rest[:2] == ["actions", "runs"] and len(rest) == 3:
            found = [run for run in self.runs if str(run["id"]) == rest[2]]
            return (200, {}, json.dumps(found[0])) if found else self.missing()
        if rest[0] == "actions" and rest[-1] == "runs":
            return self.list_runs(query, rest[2] if rest[1] == "workflows" else "")
        return self.missing()

    def list_runs(self, query: dict[str, str], workflow: str) -> tuple[int, dict, str]:
        wanted = [
            run for run in self.runs
            if query.get("head_sha", run["head_sha"]) == run["head_sha"] and query.get("branch", run["head_branch"]) == run["head_branch"]
            and query.get("status", run["conclusion"]) in (run["status"], run["conclusion"]) and (not workflow or f"/{workflow}@" in run["path"])
        ]  # fmt: skip
        size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        assert size <= 100
        return 200, {}, json.dumps({"total_count": len(wanted), "workflow_runs": wanted[size * (page - 1) : size * page]})

    @staticmethod
    def missing() -> tuple[int, dict, str]:
        return 404, {}, '{"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"}'


@contextlib.contextmanager
def serve():
    """Yields (GitHub, its base URL)."""
    github = GitHub()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self):
            split = urllib.parse.urlsplit(self.path)
            authorization = self.headers.get("Authorization", "")
            github.requests.append((self.path, authorization))
            status, headers, body = github.answer(urllib.parse.unquote(split.path.removeprefix("/api/v3")), dict(urllib.parse.parse_qsl(split.query)), authorization, self.headers.get("Accept", ""))
            self.send_response(status)
            for name, value in {"Content-Type": "application/json; charset=utf-8", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield github, f"http://127.0.0.1:{server.server_port}/api/v3"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
