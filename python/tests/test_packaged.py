"""`rocm-sdk test`: green on a sound installation, red with the reason on each kind of broken one."""

from __future__ import annotations

import json
import platform
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_sdk import script
from installation import DEVEL, Site

LIBRARIES = "_rocm_sdk_libraries_gfx103X_dgpu"
# Scripts exist only where an installer makes them; test_installed.py runs them.
NO_SCRIPTS: dict[str, list] = {"scripts": []}


@pytest.fixture
def plain(make_site: Callable[..., Site]) -> Site:
    return make_site("rocm_sdk_libraries_gfx94x", **NO_SCRIPTS)


def outcomes(site: Site, *arguments: str, code: int, **environ: str) -> dict[str, tuple[str, str]]:
    report = site.path.parent / "report.json"
    done = site.run("test", "--json", str(report), *arguments, **environ)
    assert done.returncode == code, done.stdout + done.stderr
    document = json.loads(report.read_text())
    assert document["schema"] == "rocm-sdk.test/1"
    assert document["version"] == "7.2.0"
    rows = document["rows"]
    found = {row["name"]: (row["outcome"], row["message"]) for row in rows}
    assert len(found) == len(rows)
    counted = {key: sum(row["outcome"] == name for row in rows) for key, name in COUNTED.items()}
    assert document["counts"] == counted
    failed = counted["failed"] + counted["errors"]
    assert done.stdout.splitlines()[-1] == f"{counted['passed']} passed, {failed} failed, {counted['skipped']} skipped"
    assert all(set(row) == {"name", "outcome", "message", "seconds"} for row in rows)
    return found


COUNTED = {"passed": "passed", "failed": "failed", "skipped": "skipped", "errors": "error"}


def only_failures(found: dict[str, tuple[str, str]]) -> dict[str, str]:
    return {name: message for name, (outcome, message) in found.items() if outcome in ("failed", "error")}


def test_a_sound_installation(plain: Site) -> None:
    found = outcomes(plain, code=0)
    skipped = {name for name, (outcome, _) in found.items() if outcome == "skipped"}
    assert skipped == {"libraries.family", "base.script"}
    for name in (
        "base.preload.environment", "core.load.lib/libamdhip64.so.5", "libraries.load.lib/libhipsparse.so.0",
        "devel.path.cmake", f"devel.mirror.{LIBRARIES}", "uninstall.rocm", "uninstall.rocm-sdk-devel",
    ):  # fmt: skip
        assert found[name] == ("passed", "")


def test_packages_that_are_not_there_are_skips(make_site: Callable[..., Site]) -> None:
    found = outcomes(make_site("rocm_sdk_libraries", "rocm_sdk_devel", **NO_SCRIPTS), code=0)
    assert found["libraries.installed"] == ("skipped", "rocm-sdk-libraries-{family} is not installed")
    assert found["devel.installed"] == ("skipped", "rocm-sdk-devel is not installed")
    assert not [name for name in found if name.startswith("devel.mirror")]


def test_core_must_be_there(make_site: Callable[..., Site]) -> None:
    found = outcomes(make_site("rocm_sdk_core", "rocm_sdk_devel", **NO_SCRIPTS), "--only", "core", code=1)
    assert found == {"core.installed": ("failed", "rocm-sdk-core is not installed")}


def test_a_library_removed_from_the_release(make_site: Callable[..., Site]) -> None:
    site = make_site("rocm_sdk_libraries_gfx94x", without=("librocsparse.so.0",), **NO_SCRIPTS)
    failures = only_failures(outcomes(site, code=1))
    assert set(failures) == {"libraries.load.lib/libhipsparse.so.0", "libraries.preload"}
    assert "librocsparse.so.0: cannot open shared object file" in failures["libraries.load.lib/libhipsparse.so.0"]


def test_a_library_deleted_after_installation(plain: Site) -> None:
    (plain.path / "_rocm_sdk_core/lib/libhiprtc.so.5").unlink()
    failures = only_failures(outcomes(plain, "--only", "core", "--only", "uninstall.rocm-sdk-core", code=1))
    assert failures == {
        "core.layout": "1 libraries are missing: lib/libhiprtc.so.5",
        "uninstall.rocm-sdk-core": "1 files are gone: _rocm_sdk_core/lib/libhiprtc.so.5",
    }


def test_a_library_that_is_no_library(plain: Site) -> None:
    path = plain.path / "_rocm_sdk_core/lib/libamd_comgr.so.2"
    path.write_bytes(path.read_bytes()[:2000])
    failures = only_failures(outcomes(plain, "--only", "core.load", code=1))
    assert set(failures) == {f"core.load.lib/{name}" for name in ("libamd_comgr.so.2", "libamdhip64.so.5", "libhiprtc.so.5")}


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_a_library_that_crashes_only_fails_itself(plain: Site) -> None:
    source = "__attribute__((constructor)) static void f(void) { *(volatile int*)0 = 1; }"
    target = plain.path / "_rocm_sdk_core/lib/libcrash.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(target)], input=source.encode(), check=True)
    failures = only_failures(outcomes(plain, "--only", "core.load", code=1))
    assert list(failures) == ["core.load.lib/libcrash.so"]
    assert signal.SIGSEGV.name in failures["core.load.lib/libcrash.so"]


def test_libraries_that_do_not_load_alone(plain: Site) -> None:
    path = plain.path / "_rocm_sdk_core/lib/libclang_rt.asan.so"
    shutil.copy(plain.path / "_rocm_sdk_core/lib/libamdhip64.so.5", path)
    foreign = bytearray(path.read_bytes())
    foreign[18:20] = (224).to_bytes(2, "little")  # EM_AMDGPU
    (plain.path / "_rocm_sdk_core/lib/kernel.so").write_bytes(foreign)
    (plain.path / "_rocm_sdk_core/lib/text.so").write_text("INPUT(libx.so.1)")
    found = outcomes(plain, "--only", "core.load.*", code=0)
    assert found["core.load.lib/libclang_rt.asan.so"] == ("skipped", "does not load on its own (clang_rt)")
    assert found["core.load.lib/kernel.so"][0] == "skipped"
    assert "core.load.lib/text.so" not in found


def launcher(path: Path, target: str, mode: int = 0o755) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF" + bytes(100) + b"QUARRY-LAUNCHER-TARGET-SLOT-1:\n\0" + target.encode().ljust(4096, b"\0"))
    path.chmod(mode)


@pytest.mark.parametrize(
    ("target", "mode", "message"),
    [
        ("../lib/llvm/bin/clang-22", 0o755, ""),
        ("../llvm/bin/clang-22", 0o755, "runs ../llvm/bin/clang-22, which does not exist"),  # through a link that wheels cannot hold
        ("../lib/llvm/bin", 0o755, "which does not exist"),
        ("../lib/llvm/bin/text", 0o755, "runs ../lib/llvm/bin/text, which is not executable"),
        ("../lib/llvm/bin/clang-22", 0o644, "bin/amdclang is not executable"),
        ("", 0o755, "which does not exist"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="launchers are programs for Linux")
def test_launchers_find_their_programs(target: str, mode: int, message: str, plain: Site) -> None:
    core = plain.path / "_rocm_sdk_core"
    (core / "lib/llvm/bin").mkdir(parents=True, exist_ok=True)
    for name, bits in (("clang-22", 0o755), ("text", 0o644)):
        (core / "lib/llvm/bin" / name).write_text("#!/bin/sh\n")
        (core / "lib/llvm/bin" / name).chmod(bits)
    launcher(core / "bin/amdclang", target, mode)
    launcher(core / "bin/sound", "../lib/llvm/bin/clang-22")
    found = outcomes(plain, "--only", "core.launchers", code=1 if message else 0)
    outcome, text = found["core.launchers"]
    assert outcome == ("failed" if message else "passed")
    assert message in text and "sound" not in text
    assert text.startswith("1 launchers cannot run: ") or not message


def test_without_launchers_there_is_no_test_of_them(plain: Site) -> None:
    assert "core.launchers" not in outcomes(plain, "--only", "core.layout", "--only", "core.launchers", code=0)


def test_a_file_that_is_not_in_record(plain: Site) -> None:
    (plain.path / "_rocm_sdk_core/share/extra").write_text("x")
    assert plain.run("init").returncode == 0
    (plain.devel / "include/extra.h").write_text("x")
    failures = only_failures(outcomes(plain, "--only", "uninstall", code=1))
    assert failures == {
        "uninstall.rocm-sdk-core": "1 files would stay behind: _rocm_sdk_core/share/extra",
        "uninstall.rocm-sdk-devel": f"1 files would stay behind: {DEVEL}/include/extra.h",
    }


def test_a_file_of_another_size(plain: Site) -> None:
    with (plain.path / LIBRARIES / "lib/librocsparse.so.0").open("ab") as file:
        file.write(b"x")
    failures = only_failures(outcomes(plain, "--only", "uninstall.rocm-sdk-libraries*", code=1))
    assert "another size" in failures["uninstall.rocm-sdk-libraries-gfx103X-dgpu"]


def test_a_file_with_other_bytes_of_the_same_size(plain: Site) -> None:
    header = plain.path / "_rocm_sdk_core/include/hip/hip.h"
    header.write_bytes(header.read_bytes()[::-1])
    failures = only_failures(outcomes(plain, "--only", "uninstall", code=1))
    assert "not what was installed" in failures["uninstall.rocm-sdk-core"]


def test_the_report_says_what_was_tested_where(plain: Site) -> None:
    report = plain.path.parent / "report.json"
    assert plain.run("test", "--only", "base.version", "--json", str(report), RUNNER_NAME="job-7").returncode == 0
    document = json.loads(report.read_text())
    projects = [each["project"] for each in document["distributions"]]
    assert {"rocm-sdk-core", "rocm-sdk-devel"} <= set(projects) and len(projects) == len(set(projects))
    assert all(len(each["content_sha256"]) == 64 for each in document["distributions"])
    assert document["only"] == ["base.version"] and document["machine"]["host"] == "job-7"
    assert document["python"] == platform.python_version() and document["started"] <= document["ended"]
    devel = next(each for each in document["distributions"] if each["project"] == "rocm-sdk-devel")
    assert "payload_sha256" in devel and "expanded_sha256" not in devel
    assert plain.run("init").returncode == 0
    plain.run("test", "--only", "base.version", "--json", str(report))
    unpacked = next(each for each in json.loads(report.read_text())["distributions"] if each["project"] == "rocm-sdk-devel")
    assert "expanded_sha256" in unpacked and "payload_sha256" not in unpacked
    assert unpacked["content_sha256"] == devel["content_sha256"], "unpacking does not change what was installed"


def test_a_devel_tree_that_lacks_a_file(plain: Site) -> None:
    plain.run("init")
    (plain.devel / "lib/libhipsparse.so.0").unlink()
    (plain.devel / "include/hip/hip.h").unlink()
    (plain.devel / "include/hip/hip.h").write_text("other")
    failures = only_failures(outcomes(plain, "--only", "devel", code=1))
    assert set(failures) == {f"devel.mirror.{LIBRARIES}", "devel.mirror._rocm_sdk_core"}
    assert "1 files of rocm-sdk-core are missing or differ" in failures["devel.mirror._rocm_sdk_core"]


def test_a_devel_link_that_leads_nowhere_or_out(plain: Site) -> None:
    plain.run("init")
    link = plain.devel / "lib/broken.so"
    for target, message in (("nowhere.so", "leads nowhere"), ("/bin/sh", "leads out of")):
        link.symlink_to(target)
        assert message in only_failures(outcomes(plain, "--only", "devel.links", code=1))["devel.links"]
        link.unlink()


def test_devel_without_libraries_fails_with_the_command(make_site: Callable[..., Site]) -> None:
    failures = only_failures(outcomes(make_site("rocm_sdk_libraries", **NO_SCRIPTS), "--only", "devel.expand", code=1))
    assert 'pip install "rocm[libraries,devel]==7.2.0"' in failures["devel.expand"]


def test_packages_of_two_releases(plain: Site) -> None:
    facts = plain.path / "rocm_sdk_core/_dist_info.py"
    facts.write_text(facts.read_text().replace("7.2.0", "7.1.0"))
    failures = only_failures(outcomes(plain, "--only", "base.one-release", code=1))
    assert failures == {"base.one-release": "rocm-sdk-core is 7.1.0, rocm is 7.2.0"}


def test_device_code_of_another_release(make_site: Callable[..., Site]) -> None:
    """One test names it, and no other blames a package that is sound."""
    site = make_site("rocm_sdk_libraries_gfx94x", device_package="rocm-sdk-device-{family}", **NO_SCRIPTS)
    held = {f"{LIBRARIES}/.devel_links/gfx1030.json": '{"links": [{"relpath": "lib/kernels.co"}, {"relpath": "lib/libkernels.so"}]}'}
    held |= {f"{LIBRARIES}/lib/kernels.co": "code", f"{LIBRARIES}/lib/libkernels.so": "\x7fELF\x02\x01" + 10 * "\0" + "\x03\0>\0"}
    info = "rocm_sdk_device_gfx1030-7.3.0.dist-info"
    held |= {f"{info}/METADATA": "Metadata-Version: 2.1\nName: rocm-sdk-device-gfx1030\nVersion: 7.3.0\n"}
    held[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*held, f"{info}/RECORD"])
    for path, text in held.items():
        (site.path / path).parent.mkdir(exist_ok=True)
        (site.path / path).write_text(text)
    assert only_failures(outcomes(site, code=1)) == {
        "base.one-release": "device wheel rocm-sdk-device-gfx1030 is version 7.3.0, rocm-sdk-core is 7.2.0: install matching versions, "
        "as with pip install rocm-sdk-device-gfx1030==7.2.0"
    }


def test_libraries_of_another_family_than_the_gpu(plain: Site, tmp_path: Path) -> None:
    program = tmp_path / "bin/offload-arch"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho gfx942\n")
    program.chmod(0o755)
    failures = only_failures(outcomes(plain, "--only", "libraries.family", code=1, PATH=f"{program.parent}:/usr/bin:/bin"))
    assert failures == {"libraries.family": "this machine needs gfx94X-dcgpu; installed: gfx103X-dgpu"}


def test_two_families(make_site: Callable[..., Site]) -> None:
    found = outcomes(make_site(**NO_SCRIPTS), code=0)
    assert found["libraries._rocm_sdk_libraries_gfx94X_dcgpu.preload"] == ("passed", "")
    assert found[f"libraries.{LIBRARIES}.load.lib/libhipsparse.so.0"] == ("passed", "")
    assert found[f"devel.mirror.{LIBRARIES}"] == ("passed", "")
    assert "devel.mirror._rocm_sdk_libraries_gfx94X_dcgpu" not in found  # devel was made for one family


SCRIPT_CASES = [
    (script("x", "bin/hipcc", "clang LLVM compiler"), "passed", ""),
    (script("x", "bin/hipcc", "something else"), "failed", "'something else' was expected; exit code 0: OVERVIEW"),
    (script("x", "bin/fails", "text"), "passed", ""),  # the text decides
    (script("x", "bin/fails", ""), "failed", "exit code 7: text"),
    (script("x", "bin/hipcc", ""), "passed", ""),
    (script("x", "bin/none", ""), "failed", "_rocm_sdk_core/bin/none is missing"),
    (script("x", "bin/fails", "", "gpu"), "skipped", "needs a GPU: there is no /dev/kfd"),
    (script("x", "bin/fails", "", "perl:No::Such"), "skipped", "needs the Perl module No::Such"),
    (script("x", "bin/fails", "", "program:no-such-program"), "skipped", "needs the program no-such-program"),
    (script("x", "bin/fails", "", "file:/no/such/file"), "skipped", "needs /no/such/file"),
    (script("x", "bin/fails", "", "moon"), "skipped", "needs 'moon'"),
    (script("x", "bin/fails", "text", "program:sh", "file:/"), "passed", ""),
]

RUN_SCRIPT = """
import pathlib, sys
from rocm_sdk import _packages
from rocm_sdk.tests import _case, _files
package = _packages.locate("core")
_files.script_path = lambda dist, name: package.platform / package.dist_info.CONSOLE_SCRIPTS[0]["program"]
(case,) = _case.select(_files.cases(), ["core.script.x"])
row = _case.run_one(case)
print(row.outcome, row.message)
"""


@pytest.mark.parametrize(("row", "outcome", "message"), SCRIPT_CASES)
def test_console_scripts(make_site: Callable[..., Site], row: dict, outcome: str, message: str) -> None:
    if row["needs"] == ["gpu"] and Path("/dev/kfd").exists():
        pytest.skip("this machine has a GPU")
    if "perl:" in str(row["needs"]) and not shutil.which("perl"):
        message = "there is no Perl"
    site = make_site("rocm_sdk_libraries", "rocm_sdk_devel", scripts=[])
    facts = site.path / "rocm_sdk_core/_dist_info.py"
    facts.write_text(facts.read_text() + f"CONSOLE_SCRIPTS = [{row!r}]\n")
    done = site.python(RUN_SCRIPT)
    assert done.stdout.startswith(outcome), done.stdout + done.stderr
    assert message in done.stdout


def test_a_script_that_is_not_installed(make_site: Callable[..., Site]) -> None:
    site = make_site("rocm_sdk_libraries", "rocm_sdk_devel", scripts=[script("no-such-script", "bin/hipcc", "")])
    assert only_failures(outcomes(site, "--only", "core.script", code=1)) == {
        "core.script.no-such-script": "the script no-such-script is not installed"
    }


HANG = """
from rocm_sdk.tests import _case, _child
_child.TIMEOUT_SECONDS = 0.2
row = _case.run_one(_case.Case("x", lambda: _child.run(["/bin/sh", "-c", "sleep 600.25 & sleep 600.25"])))
print(row.outcome, row.message)
"""
BREAK = """
from rocm_sdk.tests import _case, _report
rows = list(_case.run_all([_case.Case("a", lambda: 1 / 0), _case.Case("b", lambda: None)], 2))
print([(row.name, row.outcome, row.message) for row in rows])
print(_report.closing_line(rows))
"""


def test_a_test_that_hangs_is_ended_with_what_it_started(site: Site) -> None:
    assert "failed /bin/sh -c sleep 600.25 & sleep 600.25 did not end within 0.2 s" in site.python(HANG).stdout
    running = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert b"sleep\x00600.25\x00" not in running


def test_a_test_that_breaks_is_an_error_and_the_others_run(site: Site) -> None:
    assert site.python(BREAK).stdout.splitlines() == [
        "[('a', 'error', 'ZeroDivisionError: division by zero'), ('b', 'passed', '')]",
        "1 passed, 1 failed, 0 skipped",
    ]


def test_a_report_that_cannot_be_written(plain: Site) -> None:
    done = plain.run("test", "--only", "base.version", "--json", str(plain.path / "no/such/directory/r.json"))
    assert done.returncode == 1
    assert "error: " in done.stderr and "Traceback" not in done.stderr


def test_junit(plain: Site, tmp_path: Path) -> None:
    (plain.path / "_rocm_sdk_core/share/extra\x01").write_text("x")
    done = plain.run("test", "--junit", str(tmp_path / "r.xml"), "--only", "uninstall", "--only", "libraries.family")
    assert done.returncode == 1
    suite = xml.parse(tmp_path / "r.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("5", "1", "1")
    failure = next(case for case in suite if case.find("failure") is not None)
    assert (failure.get("classname"), failure.get("name")) == ("uninstall", "rocm-sdk-core")
    assert "share/extra?" in failure.find("failure").text


def test_only(plain: Site) -> None:
    assert set(outcomes(plain, "--only", "base.version", code=0)) == {"base.version"}
    assert set(outcomes(plain, "--only", "*.preload", code=0)) == {"core.preload", "libraries.preload"}
    done = plain.run("test", "--only", "nothing-like-it")
    assert (done.returncode, done.stderr) == (2, "error: no test is called nothing-like-it\n")


def test_quiet_shows_what_is_not_green(plain: Site) -> None:
    lines = plain.run("test", "-q", "--only", "libraries").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:-2]] == ["skipped"]
    assert sys.version.split()[0] in lines[0]
