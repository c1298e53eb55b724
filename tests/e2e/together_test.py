"""A framework that was tested on a ROCm: one environment, evidence for the sets of both."""

from __future__ import annotations

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import small_artifacts  # noqa: E402
from support.quarry import BY_UV, good, quarry, refused  # noqa: E402

POLICY = """schema = "quarry.policy/1"
name = "both"
max_age = "14d"
[[require]]
platforms = ["*"]
families = ["*"]
pythons = ["*"]
suites = ["rocm-sdk"]
[[require]]
platforms = ["*"]
families = ["*"]
pythons = ["*"]
frameworks = ["torch"]
suites = ["torch-smoke"]
"""


def torch_wheel(place: Path, version: str) -> Path:
    place.mkdir(parents=True)
    info = f"torch-{version}.dist-info"
    members = {
        "torch/__init__.py": f'__version__ = "{version}"\n',
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip('=')},{len(text)}" for name, text in members.items()]
    with zipfile.ZipFile(place / f"torch-{version}-py3-none-any.whl", "w") as archive:
        for name, text in {**members, f"{info}/RECORD": "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"}.items():
            archive.writestr(name, text)
    return place


@pytest.fixture
def both(store, tmp_path) -> tuple[Path, Path]:
    """A store with ROCm and torch in staging, and an environment with both."""
    wheels = torch_wheel(tmp_path / "torch", "2.9.0")
    good("publish", wheels, "--store", f"file:{store}", "--run-id", "5", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY, "--area", "pytorch", "--channel", "staging")
    env = tmp_path / "env"
    good("venv", "install", *BY_UV, env, "--from", "channel:staging", "--packages", "rocm[libraries,devel] torch", "--store", f"file:{store}")
    return store, env


def test_one_environment_is_evidence_for_both_sets(both, tmp_path):
    store, env = both
    policy = tmp_path / "both.toml"
    policy.write_text(POLICY)
    at = ("--store", f"file:{store}")

    def gate(source: str, code: int, to: str = "stable") -> dict:
        done = quarry("gate", "--to", to, "--from", source, "--policy", policy, *at, "--json")
        assert done.code == code, done.out + done.err
        return done.json

    frameworks = {cell["cell"]["framework"] for cell in gate("channel:staging", 10)["cells"]}
    assert frameworks == {"", "torch"}
    refused("X017", 2, "test", "--venv", env, "--framework", "jax", "--suite", "jax-smoke", *at, "--", env / "bin/python", "-c", "pass")
    good("test", "--venv", env, *at)
    tested = good("test", "--venv", env, "--framework", "torch", "--suite", "torch-smoke", *at, "--json", "--", env / "bin/python", "-c", "import torch").json
    assert tested["cell"]["framework"] == "torch" and len(tested["sets"]) == 2 and tested["set"] == ""
    ready = gate("channel:staging", 0)
    assert {cell["verdict"] for cell in ready["cells"]} == {"ready"}

    # torch alone would go to a channel whose ROCm it was not tested with.
    torch = next(one["set"] for one in good("set", "list", *at, "--json").json["sets"] if one["run_id"] == "5")
    alone = gate(f"set:{torch}", 10)
    assert "neither this release nor the channel has" in alone["cells"][0]["reasons"][0]
    rocm = next(one["set"] for one in good("set", "list", *at, "--json").json["sets"] if one["run_id"] == "1")
    together = quarry("gate", "--to", "stable", "--from", f"set:{rocm}", "--from", f"set:{torch}", "--policy", policy, *at, "--json")
    assert together.code == 0, together.out
    moved = good("promote", "--from", f"set:{rocm}", "--from", f"set:{torch}", "--to", "stable", "--policy", policy, *at, "--json").json
    assert moved["moved"] and len(moved["sets"]) == 2


def test_a_suite_must_be_the_one_that_the_policy_means(both, tmp_path):
    store, env = both
    at = ("--store", f"file:{store}")
    policy = tmp_path / "suites.toml"
    rule = '[[suite]]\nname = "torch-smoke"\n'
    policy.write_text(POLICY + rule + f'digest = ["{"0" * 64}"]\n')
    good("test", "--venv", env, *at)
    good("test", "--venv", env, "--framework", "torch", "--suite", "torch-smoke", *at, "--", "true")
    held = quarry("gate", "--to", "stable", "--from", "channel:staging", "--policy", policy, *at)
    assert held.code == 10 and "ran another definition of torch-smoke" in held.out
    policy.write_text(POLICY + rule + "min_passed = 2\n")
    held = quarry("gate", "--to", "stable", "--from", "channel:staging", "--policy", policy, *at)
    assert held.code == 10 and "passed 1 tests, and the policy asks for 2" in held.out
    policy.write_text(POLICY + rule + "gpu = true\n")
    held = quarry("gate", "--to", "stable", "--from", "channel:staging", "--policy", policy, *at)
    assert "shows no GPU which the tests could open" in held.out or Path("/dev/kfd").exists()
    policy.write_text(POLICY + '[[suite]]\nname = "rocm-sdk"\npackaged = true\nmin_passed = 5\n')
    assert good("gate", "--to", "stable", "--from", "channel:staging", "--policy", policy, *at)


def test_what_channels_show_is_judged_again(both, tmp_path):
    """A failure that comes in after a set was promoted."""
    store, env = both
    at = ("--store", f"file:{store}")
    policy = tmp_path / "both.toml"
    policy.write_text(POLICY)
    words = ("test", "--venv", env, "--framework", "torch", "--suite", "torch-smoke", *at, "--")
    good("test", "--venv", env, *at)
    good(*words, "true")
    good("promote", "--from", "channel:staging", "--to", "stable", "--policy", policy, *at)
    (calm,) = good("status", "stable", "--policy", policy, *at, "--json").json["channels"]
    assert calm["failing"] == [] and calm["untested"] == [] and calm["sets_judged"] == 2
    assert quarry(*words, "false").code == 1
    (status,) = good("status", "stable", "--policy", policy, *at, "--json").json["channels"]
    assert len(status["failing"]) == 1 and "torch" in status["failing"][0]["cell"]
    said = good("status", "stable", "--policy", policy, *at)
    assert "FAILS" in said.out and "next: quarry evidence log" in said.err
    candidate = good("status", "stable", "--from", "channel:staging", "--policy", policy, *at, "--json").json["candidate"]
    assert candidate["cells"] == [], "stable has all of it"


def test_the_support_page_has_rows_of_the_framework(both, tmp_path):
    """A row for ROCm and one for torch, each with its own version, Python and state; the HTML page says the same."""
    store, env = both
    policy = tmp_path / "both.toml"
    policy.write_text(POLICY)
    at = ("--store", f"file:{store}")

    def rows(*more: str) -> dict[tuple[str, str], dict]:
        done = good("support", "--channel", "staging", "--policy", policy, *at, "--json", *more).json
        return {(row["project"], row["family"].lower()): row for row in done["rows"] if row["state"] != "not released"}

    family = small_artifacts.FAMILY.lower()
    good("test", "--venv", env, *at)
    before = rows()
    assert before["rocm", family]["state"] == "tested" and before["rocm", family]["version"] == "7.2.0"
    (torch,) = [row for (project, _), row in before.items() if project == "torch"]
    assert (torch["version"], torch["platform"], torch["state"]) == ("2.9.0", "linux", "not tested") and torch["note"]
    good("test", "--venv", env, "--framework", "torch", "--suite", "torch-smoke", *at, "--", env / "bin/python", "-c", "import torch")
    (torch,) = [row for (project, _), row in rows().items() if project == "torch"]
    assert torch["state"] == "tested" and torch["note"][:2] == "20"
    page = good("support", "--channel", "staging", "--policy", policy, *at).out
    assert "| torch | 2.9.0 | linux |" in page and "| rocm | 7.2.0 | linux |" in page
    html = good("support", "--channel", "staging", "--policy", policy, *at, "--format", "html").out
    assert "torch" in html and "2.9.0" in html
    bad = quarry("test", "--venv", env, "--framework", "torch", "--suite", "torch-smoke", *at, "--", env / "bin/python", "-c", "raise SystemExit(1)")
    assert bad.code != 0
    (torch,) = [row for (project, _), row in rows().items() if project == "torch"]
    assert torch["state"] == "fails"


def test_evidence_shows_the_tests_that_were_skipped(both, tmp_path):
    store, env = both
    at = ("--store", f"file:{store}")
    report = tmp_path / "report.xml"
    script = f"open({str(report)!r}, 'w').write('<testsuite><testcase classname=\"a\" name=\"runs\"/><testcase classname=\"a\" name=\"needs_gpu\"><skipped message=\"no GPU\"/></testcase></testsuite>')"
    done = good("test", "--venv", env, "--suite", "own", "--junit", report, *at, "--json", "--", env / "bin/python", "-c", script).json
    shown = good("evidence", "show", done["evidence"], *at).out
    assert "1 passed, 1 skipped" in shown and "needs_gpu: no GPU" in shown and "skipped  " in shown
