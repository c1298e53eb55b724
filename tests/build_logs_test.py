"""`quarry log`, `quarry time` and `quarry test report` against logs with the figures of a review: they find exactly those."""

from __future__ import annotations

import datetime
import json
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import review_logs as review  # noqa: E402
from support.quarry import PROGRAM, clean_environment, good, quarry, refused  # noqa: E402

VARIANTS = list(review.JOB_MINUTES)


@pytest.fixture(scope="session")
def logs(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("logs")
    for variant in VARIANTS:
        review.build_log(variant).write(directory / f"{variant}.log")
    review.test_log().write(directory / "tests.log")
    return directory


@cache
def read(*words: str) -> dict:
    return good(*words, "--json").json


def log_of(path: Path) -> dict:
    return read("log", "report", str(path), "--today", review.TODAY)["logs"][0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_line_of_noise_is_counted_and_no_other(logs, variant):
    log = log_of(logs / f"{variant}.log")
    expected = review.build_log(variant)
    assert log["lines"] == review.LINES
    assert {row["source"]: row["lines"] for row in log["noise"]} == expected.noise
    assert 0.77 <= log["noise_lines"] / log["lines"] <= 0.83
    stuck = next(row for row in log["noise"] if "stuck" in row["source"])
    assert stuck["remark"] == f"1,489 of {review.STUCK}"


def test_warnings_are_said_once(logs):
    log = log_of(logs / "py3.12.log")
    assert sum(warning["count"] for warning in log["warnings"]) == 584
    assert {warning["kind"] for warning in log["warnings"]} == {"-Wattributes", "-Wdangling-reference"}
    assert len(log["warnings"]) == 40  # the kinds that the log was made with


def test_findings_of_a_build_log_are_those_of_the_review(logs):
    document = read("log", "report", str(logs / "py3.12.log"), "--today", review.TODAY)
    found = [(f["severity"], f["code"]) for f in document["findings"]]
    assert sorted(found) == [("note", "X515"), ("warning", "X510"), ("warning", "X512"), ("warning", "X513"), ("warning", "X513"), ("warning", "X513")]
    by_code = {f["code"]: f["message"] for f in document["findings"]}
    assert "2026-Mar-20, 24 days left" in by_code["X510"] and "LICENSE.txt" in by_code["X510"] and "2 times" in by_code["X510"]
    assert "verbose for jaxlib and not for jax_rocm7_pjrt, jax_rocm7_plugin: 1,700 lines" in by_code["X512"]
    copies = document["logs"][0]["wheel_copies"]
    assert sorted(copy["project"] for copy in copies) == sorted(review.PROJECTS)
    assert document["logs"][0]["failure"] is None


def test_findings_of_a_test_log_are_those_of_the_review(logs):
    document = read("log", "report", str(logs / "tests.log"), "--today", review.TODAY)
    assert sorted(f["code"] for f in document["findings"]) == ["X511", "X514", "X514"]
    log = document["logs"][0]
    assert log["insecure_requests"] == 333
    assert {row["source"]: row["lines"] for row in log["noise"]} == {"insecure requests": 666} and log["lines"] == 3_000
    assert {p["name"]: p["count"] for p in log["passing_warnings"]} == {"`rocm_plugin_extension` is not found": 3, "tar archives are extracted without `filter`": 3}
    assert [(d["deadline"], d["days_left"], d["count"]) for d in log["deprecations"]] == [("Python 3.14", None, 3)]


@pytest.mark.parametrize(("days", "code"), [("23d", 0), ("24d", 1), ("60", 1)])
def test_a_near_deadline_fails(logs, days, code):
    done = quarry("log", "report", logs / "py3.12.log", "--today", review.TODAY, "--fail-within", days)
    assert done.code == code, done.err


def test_the_phases_are_those_of_the_review(logs):
    log = read("time", "report", str(logs / "py3.11.log"))["logs"][0]
    assert log["total"] == pytest.approx(72 * 60, abs=1)
    share = {phase["name"]: phase["seconds"] / log["total"] for phase in log["phases"]}
    expected = review.SHARES | review.SET_UP_SHARES
    assert set(share) == set(expected)
    for name, value in expected.items():
        assert share[name] == pytest.approx(value, abs=0.005), name
    assert log["unattributed"] / log["total"] == pytest.approx(1 - sum(expected.values()), abs=0.005)
    longest = log["actions"][0]
    assert longest["name"] == review.STUCK and 10 * 60 <= longest["seconds"] <= 20 * 60 and longest["phase"] == "Bazel pjrt"


def test_what_changes_would_save(logs):
    document = read("time", "report", *(str(logs / f"{v}.log") for v in VARIANTS), "--targets", "9=2", "--cached", "llvm", "--shared", "pjrt")
    targets, cached, shared = document["savings"]
    stuck = [log["actions"][0]["seconds"] for log in document["logs"]]
    assert targets["seconds"] == pytest.approx([seconds * 7 / 9 for seconds in stuck], rel=0.02)
    assert 36 * 60 <= cached["total"] <= 52 * 60
    pjrt = [next(p["seconds"] for p in log["phases"] if p["name"] == "Bazel pjrt") for log in document["logs"]]
    assert shared["total"] == pytest.approx(sum(pjrt) - max(pjrt), abs=0.1)


def test_the_runner_is_slow_and_not_the_content(logs):
    document = read("time", "compare", *(str(logs / f"{v}.log") for v in VARIANTS))
    factors = {v["variant"]: v["factor"] for v in document["variants"]}
    for variant, minutes in review.JOB_MINUTES.items():
        assert factors[variant] == pytest.approx(minutes / 51, abs=0.01)
    assert document["runner_share"] > 0.99 and document["same_actions"] and document["effects"] == []


def job_of_steps(path: Path, seconds: dict[str, float]) -> Path:
    """A job's log in which no rule finds a phase: steps with what they took."""
    lines, clock = [], datetime.datetime(2026, 11, 29, 10)
    for step, length in seconds.items():
        for text, after in ((f"##[group]Run {step}", 0), ("##[endgroup]", length)):
            lines.append(f"{clock:%Y-%m-%dT%H:%M:%S}.0000000Z {text}\n")
            clock += datetime.timedelta(seconds=after)
    path.write_text("".join(lines) + f"{clock:%Y-%m-%dT%H:%M:%S}.0000000Z end\n")
    return path


def test_jobs_without_phases_are_compared_by_steps(tmp_path):
    steps = {"Checkout": 10, "Install": 60, "Build": 900, "Test": 300, "Upload": 40}
    fast = job_of_steps(tmp_path / "fast.log", steps)
    slow = job_of_steps(tmp_path / "slow.log", {name: 2 * length for name, length in steps.items()} | {"Upload": 400})
    document = read("time", "compare", fast, slow)
    assert document["by_steps"] and document["common"] == 5
    assert [v["factor"] for v in document["variants"]] == pytest.approx([1, 2], abs=0.01)
    assert [(e["variant"], e["what"]) for e in document["effects"]][0] == ("slow", "step Upload")
    assert "from 5 steps that all variants have" in good("time", "compare", fast, slow).out
    refused("X504", 2, "time", "compare", fast, job_of_steps(tmp_path / "other.log", {"Checkout": 10, "Install": 60, "Deploy": 50}))


def test_the_page_stands_alone(logs, tmp_path):
    good("time", "report", logs / "py3.12.log", "--html", tmp_path / "times.html", "--cached", "llvm")
    log = tmp_path / "own.log"
    shutil.copy(logs / "py3.12.log", log)
    (tmp_path / "link.html").symlink_to(log)
    for page in (log, tmp_path / "link.html"):
        refused("C042", 2, "time", "report", f"3.12={log}", "--html", page)
    refused("C042", 2, "time", "report", tmp_path, "--html", log)
    refused("C006", 2, "time", "report", log, "--html", "-")
    with (tmp_path / "appended").open("ab") as out:
        out.write(b"before\n")
        out.flush()
        subprocess.run([PROGRAM, "time", "report", log, "--html", "/dev/stdout"], stdout=out, check=True)
    text = (tmp_path / "appended").read_text()
    assert text.startswith("before\n<!doctype html>") and "phase" in text.rpartition("</html>")[2]
    assert log.read_bytes() == (logs / "py3.12.log").read_bytes()
    page = (tmp_path / "times.html").read_text()
    assert page.startswith("<!doctype html>") and "Bazel pjrt" in page and "--cached llvm" in page
    assert "http" not in page and "<script" not in page and "src=" not in page


def test_reports_of_tests(tmp_path):
    for variant in VARIANTS:
        (tmp_path / f"{variant}.xml").write_text(review.junit(review.SKIPPED, 181))
    document = read("test", "report", str(tmp_path))
    assert {v["variant"]: (v["run"], v["failed"], v["skipped"], round(v["seconds"])) for v in document["variants"]} == {v: (1_482, 0, 11, 182) for v in VARIANTS}
    assert sorted(s["test"].split("::")[1] for s in document["skipped_everywhere"]) == sorted(review.SKIPPED)
    assert document["skipped_in_some"] == document["failed"] == document["flaky"] == []
    markdown = good("test", "report", tmp_path, "--format", "markdown").out
    assert "| py3.11 | 1,482 | 1,482 | 0 | 11 | 3 min 02 s |" in markdown


def test_failures_skips_of_some_and_flaky_tests(tmp_path):
    (tmp_path / "a.xml").write_text(review.junit(review.SKIPPED, 10, 20, ("test_3", "test_4")))
    (tmp_path / "b.xml").write_text(review.junit(review.SKIPPED[1:], 10, 20, ("test_3",)))
    apart = quarry("test", "report", f"x={tmp_path}/a.xml", f"y={tmp_path}/b.xml", "--json")
    assert apart.code == 1
    assert [(f["test"].split("::")[1], f["variants"]) for f in apart.json["failed"]] == [("test_3", ["x", "y"]), ("test_4", ["x"])]
    assert [(s["test"].split("::")[1], s["variants"]) for s in apart.json["skipped_in_some"]] == [(review.SKIPPED[0], ["x"])]
    together = quarry("test", "report", f"x={tmp_path}/a.xml", f"x={tmp_path}/b.xml", "--json").json
    assert [f["test"].split("::")[1] for f in together["flaky"]] == ["test_4"] and len(together["failed"]) == 1


def test_impossible_times_are_said(tmp_path):
    (tmp_path / "x.xml").write_text('<testsuite><testcase name="a" time="-5"/><testcase name="b" time="1e308"/><testcase name="c" time="2"/></testsuite>')
    text = good("test", "report", tmp_path / "x.xml").out
    assert "x: the time of 2 tests is not a duration of up to a year and counts as 0 s" in text
    (variant,) = read("test", "report", str(tmp_path / "x.xml"))["variants"]
    assert (variant["impossible_times"], variant["seconds"]) == (2, 2)


def test_a_near_deadline_behind_a_far_one(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("DeprecationWarning: foo will be removed in 2027-12-01\nDeprecationWarning: foo will be removed in 2026-12-01\n")
    done = quarry("log", "report", path, "--today", "2026-11-27", "--fail-within", "60d", "--json")
    assert done.code == 1 and [d["days_left"] for d in done.json["logs"][0]["deprecations"]] == [4, 369]
    assert sorted(f["severity"] for f in done.json["findings"]) == ["error", "warning"]


def test_logs_beside_one_that_cannot_be_read(tmp_path):
    for name, data in {"ok.log": b"one\n", "empty.log": b"", "bytes.log": bytes(range(256)) * 300, "bad.log": b"make: *** [a.o] Error 1\n"}.items():
        (tmp_path / name).write_bytes(data)
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as zipped:
        zipped.writestr("0_a.txt", "changed later\n")
        zipped.writestr("1_b.txt", "make: *** [b.o] Error 1\n")
    (tmp_path / "run.zip").write_bytes((tmp_path / "run.zip").read_bytes().replace(b"changed later", b"changed LATER", 1))
    names = ["ok.log", "empty.log", "missing.log", "bytes.log", "run.zip", "bad.log"]
    done = quarry("log", "report", *(tmp_path / name for name in names), "--json")
    assert done.code == 6 and [log["variant"] for log in done.json["logs"]] == ["ok", "1_b", "bad"]
    found = {Path(f["place"]).name: f for f in done.json["findings"]}
    assert {name: f["code"] for name, f in found.items()} == {"empty.log": "X502", "missing.log": "D001", "bytes.log": "X502", "run.zip!0_a.txt": "Z005", "run.zip!1_b.txt:1": "X517", "bad.log:1": "X517"}
    assert found["empty.log"]["message"] == "it is empty"
    refused("X502", 2, "log", "report", tmp_path / "empty.log", tmp_path / "empty.log")


def test_logs_and_reports_of_one_name(tmp_path):
    for variant, outcome in (("py3.11", "<failure/>"), ("py3.12", "")):
        (tmp_path / variant).mkdir()
        (tmp_path / variant / "junit.xml").write_text(f'<testsuite><testcase name="a">{outcome}</testcase></testsuite>')
        (tmp_path / variant / "build.log").write_text("2026-02-24T10:11:12.1234567Z a\n2026-02-24T10:11:14.1234567Z b\n")
    for words in ([tmp_path], [tmp_path / "py3.11" / "junit.xml", tmp_path / "py3.12" / "junit.xml"]):
        done = quarry("test", "report", *words, "--json")
        assert done.code == 1 and [v["variant"] for v in done.json["variants"]] == ["py3.11", "py3.12"]
    for command in ("log", "time"):
        document = read(command, "report", str(tmp_path / "py3.11" / "build.log"), str(tmp_path / "py3.12" / "build.log"))
        assert [log["variant"] for log in document["logs"]] == ["py3.11", "py3.12"]


def test_names_of_tests_are_shown_without_controls(tmp_path):
    (tmp_path / "a.xml").write_text('<testsuite><testcase name="a&#10;::warning::b&#9;&#x9b;31m&#x202e;&#x61c;c"><failure message="no&#x9b;"/></testcase><testcase name="::error::d"><skipped/></testcase></testsuite>')
    for form in ("text", "markdown"):
        shown = quarry("test", "report", tmp_path / "a.xml", "--format", form).out
        assert not [line for line in shown.splitlines() if line.strip().startswith("::")], shown
        assert not set("\t\x9b\u202e\u061c") & set(shown) and "::warning::b" in shown


def test_an_unpacked_zip_of_a_run(tmp_path):
    for name in ("0_build (x).txt", "build (x)/1_Set up.txt", "build (x)/system.txt", "build (x)/notes.txt", "1_test.txt", "other/1_a.txt", "lint.log", "lint/1_a.txt"):
        path = tmp_path / "run" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("make: *** [a.o] Error 1\n")
    for root in (tmp_path, tmp_path / "run"):
        logs = quarry("log", "report", root, "--json").json["logs"]
        assert sorted(str(Path(log["name"]).relative_to(tmp_path / "run")) for log in logs) == ["0_build (x).txt", "1_test.txt", "build (x)/notes.txt", "lint.log", "lint/1_a.txt", "other/1_a.txt"]


def test_messages_say_what_to_do(tmp_path):
    (tmp_path / "a.log").write_text("one\n")
    assert "BAD: the log of a job that failed" in quarry("log", "diff", tmp_path / "a.log").err
    for command in ("log", "time", "test"):
        assert '"a=" does not name a file' in refused("X502", 2, command, "report", "a=").err
    assert "is a directory" in refused("C006", 2, "time", "report", tmp_path / "a.log", "--html", tmp_path).err
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as zipped:
        zipped.writestr("../a.txt", "one\n")
    (finding,) = read("log", "report", str(tmp_path / "run.zip"))["findings"]
    assert finding["code"] == "Z014" and "wheel" not in finding["fix"] and "nothing is unpacked" in finding["fix"]
    for data, why in ((b"<testsuite time=", "cut off before the value of time"), (b"<testsuite name='\xe9'/>", "not UTF-8"), ("<testsuite/>".encode("utf-16"), "UTF-16")):
        (tmp_path / "a.xml").write_bytes(data)
        error = refused("X010", 6, "test", "report", tmp_path / "a.xml").err
        assert why in error and "iconv" in error


def test_a_zip_of_a_run(logs, tmp_path):
    text = (logs / "tests.log").read_bytes()
    with zipfile.ZipFile(tmp_path / "run.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("0_build (py3.12).txt", (logs / "py3.12.log").read_bytes())
        zipped.writestr("1_test.txt", text)
        zipped.writestr("test/3_Run tests.txt", text)
        zipped.writestr("test/system.txt", b"runner\n")
    document = read("log", "report", str(tmp_path / "run.zip"), "--today", review.TODAY)
    assert [(log["variant"], log["lines"]) for log in document["logs"]] == [("0_build (py3.12)", review.LINES), ("1_test", 3_000)]
    whole = (tmp_path / "run.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    refused("X502", 6, "log", "report", tmp_path / "cut.zip")
    changed = bytearray(whole)
    changed[500] ^= 1
    (tmp_path / "changed.zip").write_bytes(changed)
    assert quarry("log", "report", tmp_path / "changed.zip").code == 6
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as zipped:
        zipped.writestr("image.png", b"x")
    refused("X502", 2, "log", "report", tmp_path / "empty.zip")


def test_findings_of_a_matrix_for_programs(logs, tmp_path):
    variants = sorted(logs.glob("py3.*.log"))
    assert len(variants) == 4
    words = ("log", "report", *variants, "--today", review.TODAY)
    found = read(*map(str, words))["findings"]
    assert [f["code"] for f in found if "all 4 logs" in f["message"]] == ["X512", "X513", "X513", "X513", "X515"]
    assert len(found) == 6 and "8 times in 4 logs" in found[0]["message"]
    summary = tmp_path / "summary"
    shown = good(*words, "--format", "github", environment=clean_environment(GITHUB_STEP_SUMMARY=str(summary))).out
    assert shown.count("::warning ") == 5 and shown.count("::notice ") == 1 and f"::warning file={variants[0]},line=" in shown
    assert summary.read_text().startswith("### quarry log report: 0 errors, 5 warnings, 1 note")
    run = json.loads(good(*words, "--format", "sarif").out)["runs"][0]
    assert run["tool"]["driver"]["name"] == "quarry log report" and [result["ruleId"] for result in run["results"]] == [f["code"] for f in found]


def test_the_first_failure_and_what_is_new_in_a_bad_log(logs, tmp_path):
    lines = (logs / "py3.12.log").read_text().splitlines()
    at = lines[20_000][:29]
    bad = [*lines[:20_000], f"{at}gcc -c /tmp/build-12/a.c", f"{at}a.c:3:1: error: expected ';'", f"{at}make: *** [a.o] Error 1", f"{at}##[error]Process completed with exit code 2."]
    (tmp_path / "bad.log").write_text("\n".join(bad) + "\n")
    done = quarry("log", "report", tmp_path / "bad.log", "--today", review.TODAY)
    assert done.code == 1 and "error[X517]" in done.err and ":20002: compiler error: a.c:3:1: error: expected ';'" in done.err
    new = quarry("log", "diff", logs / "py3.13.log", tmp_path / "bad.log", "--json")
    assert new.code == 1
    assert [line["text"] for line in new.json["lines"]] == ["gcc -c /tmp/build-12/a.c", "a.c:3:1: error: expected ';'", "make: *** [a.o] Error 1", "##[error]Process completed with exit code 2."]
    same = quarry("log", "diff", logs / "py3.13.log", logs / "py3.12.log", "--json")
    assert same.code == 0 and same.json["new_lines"] == 0


GH = "{job}\t{step}\t2026-02-24T10:{minute:02}:00.0000000Z {text}\n"


def gh_log() -> str:
    lines = [("build", "UNKNOWN STEP", 0, "\ufeff-- Installing: /x"), ("build", "UNKNOWN STEP", 1, "a.c:1:2: warning: unused variable 'x' [-Wunused-variable]"), ("build", "UNKNOWN STEP", 10, "done")]
    lines += [("test (py3.12)", "Compile", 0, "gcc -c a.c"), ("test (py3.12)", "Compile", 1, "a.c:3:1: error: expected ';'"), ("test (py3.12)", "Compile", 2, "make: *** [a.o] Error 1"), ("test (py3.12)", "Compile", 3, "##[error]Process completed with exit code 2.")]
    return "".join(GH.format(job=job, step=step, minute=minute, text=text) for job, step, minute, text in lines)


def test_the_log_that_gh_prints(tmp_path):
    path = tmp_path / "gh.log"
    path.write_text(gh_log())
    document = quarry("log", "report", path, "--json", "--today", review.TODAY).json
    assert [(log["variant"], log["lines"]) for log in document["logs"]] == [("build", 3), ("test (py3.12)", 4)]
    build, test = document["logs"]
    assert [(warning["kind"], warning["place"]) for warning in build["warnings"]] == [("-Wunused-variable", "a.c:1:2")]
    assert build["failure"] is None and (test["failure"]["step"], test["failure"]["line"]) == ("Compile", 5)
    assert [finding["place"] for finding in document["findings"]] == [f"{path}:5"]
    times = read("time", "report", str(path))["logs"]
    assert [(log["stamped"], log["total"]) for log in times] == [(True, 600), (True, 180)]
    done = refused("X502", 2, "log", "diff", path, path)
    assert "holds 2 logs (build, test (py3.12))" in done.err and "gh run view --log --job ID" in done.err and "unpack" not in done.err


def test_a_log_from_a_pipe(tmp_path):
    for words in (("-",), ("/dev/stdin",), ("x=-",)):
        done = quarry("log", "report", *words, "--json", input=gh_log())
        assert done.code == 1 and len(done.json["logs"]) == 2, done.err
    assert [log["variant"] for log in quarry("log", "report", "x=-", "--json", input="one\ntwo\n").json["logs"]] == ["x"]
    assert quarry("log", "report", "-", "--json", input="one\ntwo\n").json["logs"][0]["lines"] == 2
    assert quarry("log", "report", "-", input="PK\x03\x04").code == 2
    assert "standard input: it is empty" in refused("X502", 2, "log", "report", "-", input="").err


def test_reports_of_tests_from_a_pipe(tmp_path):
    report = review.junit(review.SKIPPED, 10, 20, ("test_3",))
    (tmp_path / "other.xml").write_text(review.junit(review.SKIPPED, 10, 20))
    done = quarry("test", "report", "-", "--json", input=report)
    assert done.code == 1 and [(v["variant"], v["failed"]) for v in done.json["variants"]] == [("stdin", 1)]
    named = quarry("test", "report", "x=-", f"y={tmp_path / 'other.xml'}", "--json", input=report).json
    assert [(v["variant"], v["failed"]) for v in named["variants"]] == [("x", 1), ("y", 0)]
    assert "standard input:1:" in refused("X010", 6, "test", "report", "-", input="").err


def test_files_that_are_not_what_their_names_say(tmp_path):
    (tmp_path / "run.zip").write_text("<html>not found</html>\n")
    (tmp_path / "wide.log").write_bytes("a.c:1:2: error: no\n".encode("utf-16"))
    for name, code in {"run.zip": "X518", "wide.log": "X519"}.items():
        assert [finding["code"] for finding in read("log", "report", str(tmp_path / name))["findings"]] == [code]


def test_warnings_beyond_the_bound_are_counted(tmp_path):
    path = tmp_path / "many.log"
    word = "abcdefghij"
    path.write_text("".join(f"{''.join(word[int(digit)] for digit in f'{number:05}')}.c: warning: w [-Wx]\n" for number in range(10_007)))
    log = read("log", "report", str(path))["logs"][0]
    assert len(log["warnings"]) == 10_000 and log["warnings_left_out"] == 7
    assert "7 warnings more beyond 10,000 different ones are not kept" in good("log", "report", path).out


@pytest.mark.parametrize("text", ["`a` is deprecated since 2026-03-01", "As of March 20, 2026, `a` is deprecated", "2026-02-24 10:11:12 WARNING: `a` is deprecated", "[2026-02-24] `a` is deprecated", "x 2026-02-24T10:11:12 `a` is deprecated"])
def test_days_that_are_not_deadlines(tmp_path, text):
    path = tmp_path / "a.log"
    path.write_text(text + "\n")
    log = read("log", "report", str(path))["logs"][0]
    assert [deprecation["deadline"] for deprecation in log["deprecations"]] == [None]


def test_reports_of_tests_with_one_that_cannot_be_read(tmp_path):
    (tmp_path / "a.xml").write_text('<testsuite><testcase name="a"/></testsuite>')
    (tmp_path / "b.xml").write_text("<testsuite>")
    done = quarry("test", "report", tmp_path, "--json")
    assert done.code == 6 and [variant["variant"] for variant in done.json["variants"]] == ["a"]
    assert [(finding["code"], finding["severity"]) for finding in done.json["findings"]] == [("X010", "error")]


def test_reports_without_a_test(tmp_path):
    for name, text in {"a": "<testsuites/>", "b": '<testsuite name="x" tests="0"/>', "c": review.junit([], 3), "d": '<testsuite><testcase name="x"><skipped/></testcase></testsuite>'}.items():
        (tmp_path / f"{name}.xml").write_text(text)
    done = quarry("test", "report", tmp_path, "--json")
    assert done.code == 1 and [(one["code"], one["place"]) for one in done.json["findings"]] == [("X520", "a"), ("X520", "b")]
    assert good("test", "report", tmp_path / "c.xml", tmp_path / "d.xml", "--json").json["findings"] == []


POWERSHELL = {
    "exception": ("\x1b[31;1mException: \x1b[0mD:\\a\\_temp\\x.ps1:5", ["\x1b[36;1mLine |", "     | \x1b[31;1m The wheel is missing."]),
    "cmdlet": ("\x1b[31;1mGet-Item: \x1b[0mD:\\a\\build.ps1:12", ["     | Cannot find path 'D:\\out' because it does not exist."]),
    "old": ("At D:\\a\\build.ps1:12 char:3", ["+ Get-Item D:\\out", "    + CategoryInfo          : ObjectNotFound: (D:\\out:String) [Get-Item], ItemNotFoundException"]),
    "written": ("Write-Error: the wheel is missing", []),
}


@pytest.mark.parametrize("form", POWERSHELL)
def test_errors_of_powershell(form, tmp_path):
    line, more = POWERSHELL[form]
    lines = ["Building wheels", "built.ps1 is done", line, *more, "Cleaning up", "##[error]Process completed with exit code 1."]
    (tmp_path / "windows.log").write_text("".join(f"2026-02-24T10:11:12.1234567Z {each}\r\n" for each in lines))
    failure = quarry("log", "report", tmp_path / "windows.log", "--json").json["logs"][0]["failure"]
    assert failure["name"] == "PowerShell error" and failure["line"] == 3, failure
    assert len(failure["behind"]) == len(more) + 2


def test_a_new_line_below_a_warning_that_both_have(tmp_path):
    (tmp_path / "good.log").write_text("a.cpp:1:2: warning: unused\n    1 | int a;\nmore\n")
    (tmp_path / "bad.log").write_text("a.cpp:1:2: warning: unused\n    1 | int b;\n      | ^\nnew.cpp:1: warning: x\n   1 | int c;\nmore\n")
    document = good("log", "diff", tmp_path / "good.log", tmp_path / "bad.log", "--json").json
    assert [(one["text"], one.get("under")) for one in document["lines"]] == [("1 | int b;", "a.cpp:1:2: warning: unused"), ("| ^", "a.cpp:1:2: warning: unused"), ("new.cpp:1: warning: x", None), ("1 | int c;", None)]
    shown = good("log", "diff", tmp_path / "good.log", tmp_path / "bad.log").out
    assert shown.count("in both") == 1 and shown.index("in both") < shown.index("int b")


def test_bad_input(tmp_path):
    binary = tmp_path / "binary.log"
    binary.write_bytes(b"a line\n" * 10_000 + bytes(range(256)) * 2_000 + b"a" * (1 << 20) + b"\n\xff\xfe no end")
    document = read("log", "report", str(binary))
    assert document["logs"][0]["bytes"] == binary.stat().st_size and document["findings"] == []
    for name, data, why in (("program", bytes(range(256)) * 300, "not text"), ("short.log", b"\0" * 16, "not text"), ("log.gz", b"\x1f\x8b" + b"\1" * 100, "gunzip")):
        (tmp_path / name).write_bytes(data)
        assert why in refused("X502", 2, "log", "report", tmp_path / name).err
    (tmp_path / "empty.log").write_bytes(b"")
    assert "empty.log: it is empty" in refused("X502", 2, "log", "report", tmp_path / "empty.log").err
    (tmp_path / "of_a_run").mkdir()
    for name, text in {"a.log": "", "b.log": "one\n"}.items():
        (tmp_path / "of_a_run" / name).write_text(text)
    assert [log["lines"] for log in read("log", "report", str(tmp_path / "of_a_run"))["logs"]] == [0, 1]
    refused("D001", 3, "log", "report", tmp_path / "missing.log")
    refused("X502", 2, "time", "report", tmp_path / "empty.log")
    refused("X503", 2, "time", "compare", binary)
    refused("X505", 2, "log", "report", binary, "--today", "24.2.2026")
    refused("X505", 2, "log", "report", binary, "--fail-within", "soon")
    refused("X505", 2, "time", "report", binary, "--targets", "2=9")
    (tmp_path / "bomb.xml").write_text('<!DOCTYPE a [<!ENTITY x "y">]><testsuite name="&x;"/>')
    assert "bomb.xml:1:" in refused("X010", 6, "test", "report", tmp_path / "bomb.xml").err
    (tmp_path / "rules.toml").write_text('schema = "quarry.log-rules/1"\n[[noise]]\nname = "a"\nlinse = ["b"]\n')
    assert "rules.toml:2" in refused("X501", 2, "log", "report", binary, "--rules", tmp_path / "rules.toml").err


def test_times_of_a_log_without_stamps(tmp_path):
    """`pytest -q` prints its end alone; how long the other phase took, and the whole job, nobody knows."""
    (tmp_path / "a.log").write_text("+ auditwheel repair a.whl\nINFO:auditwheel.main_repair:Fixed-up wheel written to a.whl\n1068 passed, 3 skipped in 1190.55s (0:19:50)\n")
    done = good("time", "report", tmp_path / "a.log")
    rows = {line.split("  ")[0].strip() or line.split()[0]: line.split() for line in done.out.splitlines() if line.strip()}
    assert any(row[:2] == ["tests", "19"] for row in rows.values()), done.out
    assert any(row[:2] == ["auditwheel", "unknown"] for row in rows.values()) and any(row[:2] == ["unattributed", "unknown"] for row in rows.values()), done.out
    assert "%" not in done.out
