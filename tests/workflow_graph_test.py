"""`quarry workflow graph`: edges and inputs, three formats, bounds."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support.quarry import good, refused  # noqa: E402

CALLER = """\
on: push
jobs:
  one:
    uses: ./.github/workflows/build.yml
    with: {family: gfx942, ref: main}
  two:
    uses: ./.github/workflows/build.yml
    with: {family: gfx90a}
  other:
    uses: ROCm/jax/.github/workflows/ci.yml@main
"""
BUILD = """\
on:
  workflow_call:
    inputs: {family: {type: string}, ref: {type: string}}
  workflow_dispatch:
jobs:
  build:
    runs-on: ubuntu-24.04
    steps:
      - run: |
          gh workflow run test.yml --ref main -f a=1 -f b=2 -f c=3 -f d=4
          gh workflow run none.yml --ref main
          gh workflow run "$TARGET" --ref main
      - uses: ./.github/actions/setup
        with: {token: x}
"""
TEST = "on: workflow_dispatch\njobs:\n  again:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: gh workflow run build.yml --ref main\n"


@pytest.fixture
def repository(tmp_path):
    place = tmp_path / "tree/.github/workflows"
    place.mkdir(parents=True)
    for name, text in {"caller": CALLER, "build": BUILD, "test": TEST, "alone": "on: push\njobs: {}\n"}.items():
        (place / f"{name}.yml").write_text(text)
    action = place.parent / "actions/setup"
    action.mkdir(parents=True)
    (action / "action.yml").write_text("inputs: {token: {}}\nruns: {using: composite, steps: []}\n")
    return tmp_path / "tree"


def test_edges_with_their_inputs(repository):
    graph = good("workflow", "graph", repository, "--json").json
    assert [(edge["from"], edge["to"], edge["kind"], edge["times"], edge["inputs"]) for edge in graph["edges"]] == [
        ("build.yml", "none.yml", "dispatch", 1, []),
        ("build.yml", "test.yml", "dispatch", 1, ["a", "b", "c", "d"]),
        ("caller.yml", "ROCm/jax/ci.yml", "call", 1, []),
        ("caller.yml", "build.yml", "call", 2, ["family", "ref"]),
        ("test.yml", "build.yml", "dispatch", 1, []),
    ]
    assert (graph["alone"], graph["unknown"]) == (1, 1)
    assert {node["name"] for node in graph["nodes"] if node["foreign"]} == {"ROCm/jax/ci.yml"}
    assert {node["name"] for node in graph["nodes"] if node["missing"]} == {"none.yml"}
    more = good("workflow", "graph", repository, "--actions", "--format", "json").json
    assert ("build.yml", "setup") in {(edge["from"], edge["to"]) for edge in more["edges"]}


def test_mermaid(repository):
    assert good("workflow", "graph", repository, "--format", "mermaid").out == """\
flowchart LR
  n0["ROCm/jax/ci.yml (another repository)"]
  n1["build.yml"]
  n2["caller.yml"]
  n3["none.yml (does not exist)"]
  n4["test.yml"]
  n1 -.-> n3
  n1 -.->|"4 inputs"| n4
  n2 --> n0
  n2 -->|"x2: family, ref"| n1
  n4 -.-> n1
"""


def test_picture(repository):
    shown = good("workflow", "graph", repository).out
    assert shown == good("workflow", "graph", repository).out
    root = ElementTree.fromstring(shown)
    space = "{http://www.w3.org/2000/svg}"
    boxes = {text.text: rect for group in root.iter(f"{space}g") if (rect := group.find(f"{space}rect")) is not None for text in group.iter(f"{space}text")}
    assert set(boxes) == {"ROCm/jax/ci.yml", "build.yml", "caller.yml", "none.yml", "test.yml"}
    left = {name: float(rect.get("x")) for name, rect in boxes.items()}
    assert left["caller.yml"] < left["build.yml"] < left["test.yml"]  # though test.yml dispatches build.yml
    assert all(float(rect.get("x")) + float(rect.get("width")) <= float(root.get("width")) for rect in boxes.values())
    titles = [title.text for title in root.iter(f"{space}title")]
    assert "build.yml dispatches test.yml: a, b, c, d" in titles
    assert "1 more call nobody" in shown and "prefers-color-scheme: dark" in shown


@pytest.mark.parametrize(("edges", "format", "ends"), [(501, "mermaid", "Y160"), (501, "svg", ""), (5001, "svg", "Y160"), (5001, "json", "")])
def test_bounds(tmp_path, edges, format, ends):
    jobs = "".join(f"  j{i}: {{uses: a/b/.github/workflows/w{i}.yml@main}}\n" for i in range(edges))
    (tmp_path / "many.yml").write_text("on: push\njobs:\n" + jobs)
    if ends:
        refused(ends, 12, "workflow", "graph", tmp_path, "--format", format)
    else:
        good("workflow", "graph", tmp_path, "--format", format)


def test_without_workflows(tmp_path):
    refused("Y152", 3, "workflow", "graph", tmp_path)
