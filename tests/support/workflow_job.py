"""Runs the bash steps of one job of a GitHub workflow as a runner does: expressions in `env` and `if`, a bash for each step, and
the four files that steps talk to the runner with."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from .quarry import ROOT, clean_environment

WORKFLOWS = ROOT / "workflows"


def load(name: str) -> dict:
    """The workflow, or the action, which has no `on`; YAML 1.1 reads that key as true."""
    workflow = yaml.safe_load((WORKFLOWS / name).read_text())
    if True in workflow:
        workflow["on"] = workflow.pop(True)
    return workflow


def inputs_of(workflow: dict, given: dict[str, str]) -> dict[str, str]:
    """What a caller gives, and the defaults; what is not declared, or required and missing, is an error."""
    declared = workflow["on"]["workflow_call"]["inputs"]
    assert set(given) <= set(declared), set(given) - set(declared)
    missing = [name for name, one in declared.items() if one.get("required") and name not in given]
    assert not missing, missing
    return {name: given.get(name, one.get("default", "")) for name, one in declared.items()}


@dataclass
class Step:
    name: str
    code: int
    output: str


@dataclass
class Job:
    """`contexts`: inputs, vars, secrets, github, needs, as nested dictionaries."""

    directory: Path  # of the runner: workspace, temporary files
    contexts: dict
    environment: dict[str, str]
    path: list[str] = field(default_factory=list)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    summary: str = ""
    steps: list[Step] = field(default_factory=list)

    def value(self, text: object) -> str:
        return re.sub(r"\$\{\{(.*?)\}\}", lambda found: _text(self._evaluate(found[1])), str(text))

    def _evaluate(self, expression: str) -> object:
        """Of GitHub's language what the workflows use, as Python: names, texts, ==, !=, !, &&, ||, contains()."""

        def word(found: re.Match) -> str:
            token = found[0]
            if token[0] == "'":
                return repr(token[1:-1])
            if token in ("&&", "||", "!=", "==", "!", "(", ")", ","):
                return {"&&": " and ", "||": " or ", "!": " not "}.get(token, token)
            return token if token in ("contains", "always", "cancelled") else f"look({token!r})"

        python = re.sub(r"'[^']*'|&&|\|\||!=|==|[!(),]|[\w.-]+", word, expression.strip())
        functions = {"contains": lambda text, part: part.lower() in text.lower(), "always": lambda: True, "cancelled": lambda: False, "look": self._look}
        return eval(python, {"__builtins__": {}}, functions)

    def _look(self, name: str) -> object:
        place: object = {**self.contexts, "steps": {step: {"outputs": values} for step, values in self.outputs.items()}}
        for part in name.split("."):
            place = place.get(part, "") if isinstance(place, dict) else ""
        return place

    def run(self, job: dict, expected: int = 0) -> None:
        """Every bash step in order; ends at the first that fails, which only the last may do when `expected` says so."""
        assert job["defaults"]["run"]["shell"] == "bash"
        self.environment |= {name: self.value(text) for name, text in job.get("env", {}).items()}
        (self.directory / "workspace").mkdir(parents=True, exist_ok=True)
        (self.directory / "temp").mkdir(exist_ok=True)
        for step in job["steps"]:
            if "run" in step:
                done = self._run_step(step)
                self.steps.append(done)
                if done.code:
                    break
        last = self.steps[-1]
        assert last.code == expected, f"step '{last.name}' ended with {last.code}\n{last.output}"

    def _run_step(self, step: dict) -> Step:
        number = len(self.steps)
        files = {name: self.directory / f"{name.lower()}-{number}" for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.touch()
        script = self.directory / f"step-{number}.sh"
        script.write_text(step["run"])
        own = {name: self.value(text) for name, text in step.get("env", {}).items()}
        environment = {**self.environment, **own, **{name: str(path) for name, path in files.items()}, "RUNNER_TEMP": str(self.directory / "temp"), "GITHUB_ACTIONS": "true", "CI": "true"}
        environment["PATH"] = os.pathsep.join([*reversed(self.path), environment["PATH"]])
        ended = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.directory / "workspace", env=environment, capture_output=True, text=True, timeout=900)
        self._take(files, step.get("id", ""))
        return Step(step["name"], ended.returncode, ended.stdout + ended.stderr)

    def _take(self, files: dict[str, Path], step: str) -> None:
        self.environment |= _pairs(files["GITHUB_ENV"].read_text())
        self.path += files["GITHUB_PATH"].read_text().splitlines()
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        if step:
            self.outputs[step] = _pairs(files["GITHUB_OUTPUT"].read_text())

    def job_outputs(self, job: dict) -> dict[str, str]:
        return {name: self.value(text) for name, text in job.get("outputs", {}).items()}


def _text(value: object) -> str:
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _pairs(text: str) -> dict[str, str]:
    """`name=value` lines, and `name<<END` … `END` for several lines."""
    pairs, lines = {}, iter(text.splitlines())
    for line in lines:
        name, mark, end = line.partition("<<")
        if mark and "=" not in name:
            value = []
            for inner in lines:
                if inner == end:
                    break
                value.append(inner)
            pairs[name] = "\n".join(value)
        elif line:
            name, equals, value = line.partition("=")
            assert equals, f"not a line of a runner's file: {line!r}"
            pairs[name] = value
    return pairs


def runner_environment(**more: str) -> dict[str, str]:
    return clean_environment(NO_PROXY="127.0.0.1", no_proxy="127.0.0.1", GITHUB_RUN_ID="4711", GITHUB_REPOSITORY="owner/repo", GITHUB_SHA="c" * 40, RUNNER_NAME="runner-1", **more)
