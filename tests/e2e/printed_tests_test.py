"""Packages whose `rocm-sdk test` writes no report, as the scripts of February and August make them: what their tests print is read, and a gate with
the shipped policy accepts it."""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions, public_bucket  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry, refused  # noqa: E402

VERSION = "7.1.0a1"
# rocm-sdk of both eras knows no --json, and prints with verbosity 3 to standard output.
PROGRAM = '''
import argparse, sys
def run(_):
    import unittest
    loader = unittest.TestLoader()
    print("NOTE: Skipping profiler tests (not installed)")
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=3).run(loader.loadTestsFromName("rocm_sdk.tests.base_test"))
    if not result.wasSuccessful(): sys.exit(1)
def main():
    parser = argparse.ArgumentParser(prog="rocm-sdk", usage="rocm-sdk {command} ...")
    commands = parser.add_subparsers(required=True)
    commands.add_parser("test", help="Run installation tests").set_defaults(func=run)
    commands.add_parser("version").set_defaults(func=lambda _: print("VERSION"))
    arguments = parser.parse_args()
    arguments.func(arguments)
'''
TESTS = '''
import subprocess, sys, unittest
class BaseTest(unittest.TestCase):
    def testCLI(self): subprocess.check_call([sys.executable, "-c", "print('from a child')"])
    def testLayout(self):
        """The modules are siblings."""
    def testLoads(self):
        for name in ("a", "b"):
            with self.subTest(msg="loads", name=name): self.assertTrue(name)
    @unittest.skip("no GPU here")
    def testGpu(self): pass
'''
# How the scripts unpack the development files: rows without digests, and the row of the archive stays. August makes hard links of links to files.
UNPACK = '''
import os, pathlib, tarfile
def unpack(august):
    site = pathlib.Path(__file__).resolve().parents[1]
    path = site / "rocm_sdk_devel/_devel.tar"
    (record,) = site.glob("rocm_sdk_devel-*.dist-info/RECORD")
    with open(record, "a") as rows, tarfile.open(path) as archive:
        for member in archive:
            place = site / member.name
            place.parent.mkdir(parents=True, exist_ok=True)
            rows.write(member.name + ",,\\n")
            target = place.parent / member.linkname
            kept = place.name == "amdclang" and place.parent == site / "_rocm_sdk_devel/bin"
            if august and member.issym() and not kept and target.is_file():
                os.link(target, place)
            else:
                archive.extract(member, site)
    path.unlink()
    if august: open(site / "_rocm_sdk_devel/.devel_reconcile.lock", "a").close()
'''
DEVEL_TEST = '''
    def testDevel(self):
        from rocm_sdk import _devel
        _devel.unpack({august})
        {then}
'''
LIBRARIES = {"feb": ["rocm_sdk_libraries_gfx110x_all"], "aug": ["rocm_sdk_libraries", "rocm_sdk_device_gfx1030"]}
EXTRAS = {"feb": "libraries", "aug": "libraries,device-gfx1030"}
FAMILY = {"feb": "gfx110X-all", "aug": "gfx1030"}


def archive_of_devel(era: str) -> str:
    out = io.BytesIO()
    library = f"{LIBRARIES[era][0]}/lib/lib{LIBRARIES[era][0]}.so.1"
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, text in {"include/hip.h": "#pragma once\n", "__init__.py": ""}.items():
            entry = tarfile.TarInfo("_rocm_sdk_devel/" + name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
        for name, target in {"lib/liba.so.1": f"../../_{library}", "lib/liba.so": "liba.so.1", "bin/amdclang": "../lib/liba.so", "lib64": "lib", "include/hip2.h": "../include/hip.h"}.items():
            entry = tarfile.TarInfo("_rocm_sdk_devel/" + name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return out.getvalue().decode("ascii")


def lay_out(root: Path, era: str, tests: str, run: str = "900") -> str:
    """A run as the scripts lay it out; returns the locator of its store. It has development files if the tests unpack them."""
    directory = root / "S" / f"{run}-linux/python" / ("gfx110X-all" if era == "feb" else "")
    extra = [f"Provides-Extra: {name}" for name in EXTRAS[era].split(",")]
    needs = [f"Requires-Dist: rocm-sdk-core=={VERSION}"]
    needs += [f"Requires-Dist: {name.replace('_', '-')}=={VERSION} ; extra == '{extra}'" for name, extra in zip(LIBRARIES[era], EXTRAS[era].split(","))]
    files = {"rocm_sdk/__init__.py": "", "rocm_sdk/__main__.py": PROGRAM, "rocm_sdk/_devel.py": UNPACK, "rocm_sdk/tests/__init__.py": "", "rocm_sdk/tests/base_test.py": tests}
    paths = [distributions.wheel_of(directory, "rocm", VERSION, files=files, metadata=extra + needs, entry_points="[console_scripts]\nrocm-sdk = rocm_sdk.__main__:main\n")]
    for name in ["rocm_sdk_core", *LIBRARIES[era]]:
        paths.append(distributions.wheel_of(directory, name, VERSION, files={f"{name}/__init__.py": f"# {name}\n", f"_{name}/lib/lib{name}.so.1": "of a test\n"}))
    if "_devel.unpack" in tests:
        paths.append(distributions.wheel_of(directory, "rocm_sdk_devel", VERSION, files={"rocm_sdk_devel/__init__.py": "", "rocm_sdk_devel/_devel.tar": archive_of_devel(era)}))
    (directory / "index.html").write_text("".join(f'<a href="{path.name}">{path.name}</a><br>\n' for path in paths))
    return f"file:{root / 'S'}"


def packages_of(era: str, tests: str) -> str:
    return f"rocm[{EXTRAS[era]}]" + (" rocm-sdk-devel" if "_devel.unpack" in tests else "")


def outcome_of(root: Path, era: str, tests: str, *, seal: bool = True):
    store = lay_out(root, era, tests)
    at = ("--store", store)
    if seal:
        good("set", "adopt", "run:900", *at)
    good("venv", "install", *BY_UV, root / "env", "--from", "run:900", "--packages", packages_of(era, tests), *at)
    return store, quarry("test", "--venv", root / "env", "--from", "run:900", *at, "--json")


@pytest.mark.parametrize("era", ["feb", "aug"])
def test_a_run_of_the_scripts_passes_the_gate(era, tmp_path):
    store, done = outcome_of(tmp_path, era, TESTS)
    assert done.code == 0, done.out + done.err
    assert done.json["counts"] == {"passed": 3, "failed": 0, "skipped": 1, "errors": 0} and done.json["cell"]["family"] == FAMILY[era]
    at = ("--store", store)
    shown = good("evidence", "show", done.json["evidence"][:12], *at)
    assert "what unittest printed" in shown.out and "no GPU here" in shown.out
    record = good("evidence", "show", done.json["evidence"][:12], *at, "--json").json["record"]
    assert record["suite"] == "rocm-sdk" and record["sealed"] and record["tools"]["report"] == "what unittest printed"
    assert {row["name"]: row["outcome"] for row in record["rows"]} == {f"rocm_sdk.tests.base_test.BaseTest.test{name}": "skipped" if name == "Gpu" else "passed" for name in ("CLI", "Gpu", "Layout", "Loads")}
    log = good("evidence", "log", done.json["evidence"][:12], *at).out
    assert "does not know --json" in log and "from a child" in log and "Ran 4 tests" in log
    move = ("--from", "run:900", "--to", "stable", "--policy", "default", *at)
    good("gate", *move)
    good("promote", *move)
    assert len(good("channel", "show", "stable", *at, "--json").json["files"]) == 2 + len(LIBRARIES[era])


@pytest.mark.parametrize(
    ("tests", "result", "says"),
    [
        (TESTS.replace("pass\n", "pass\n    def testBroken(self): self.fail('broken\\nlibrary')\n"), "failed", "BaseTest.testBroken: AssertionError: broken"),
        (TESTS.replace("assertTrue(name)", "assertNotEqual(name, 'b')"), "failed", "BaseTest.testLoads [loads] (name='b'): AssertionError: 'b' == 'b'"),
        ("import absent\n", "error", "No module named 'absent'"),
        ("import os\nos._exit(0)\n", "error", "it does not say `Ran N tests in`; `quarry explain X030`"),
        ("", "error", "no test ran"),
        (TESTS + "print('Ran 4 tests in 0.1s')\n", "error", "twice"),
    ],
)
def test_what_did_not_pass_or_cannot_be_read(tests, result, says, tmp_path):
    store, done = outcome_of(tmp_path, "aug", tests)
    assert (done.code, done.json["result"]) == (1, result), done.out + done.err
    shown = good("evidence", "show", done.json["evidence"][:12], "--store", store).out
    assert says in shown, shown
    assert quarry("gate", "--from", "run:900", "--to", "stable", "--policy", "default", "--store", store).code == 10


def test_a_source_that_is_not_sealed_is_tested_too(tmp_path):
    store, done = outcome_of(tmp_path, "aug", TESTS, seal=False)
    assert done.code == 0 and not done.json["sealed"], done.out + done.err


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("era", ["feb", "aug"])
def test_development_files_that_the_scripts_unpack_are_proven(era, sealed, tmp_path):
    tests = TESTS + DEVEL_TEST.format(august=era == "aug", then="")
    store, done = outcome_of(tmp_path, era, tests, seal=sealed)
    assert done.code == 0 and done.json["counts"]["passed"] == 4, done.out + done.err
    site = next((tmp_path / "env").glob("lib/python*/site-packages"))
    assert (site / "_rocm_sdk_devel/lib/liba.so").is_symlink() == (era == "feb") and not (site / "rocm_sdk_devel/_devel.tar").exists()
    if sealed:
        good("gate", "--from", "run:900", "--to", "stable", "--policy", "default", "--store", store)
    again = quarry("test", "--venv", tmp_path / "env", "--from", "run:900", "--store", store, "--suite", "own", "--", "true")
    assert again.code == 0, again.err


@pytest.mark.parametrize("era", ["feb", "aug"])
def test_the_wheels_of_an_unsealed_run_prove_what_was_unpacked(era, tmp_path):
    """Without `--from`: they are where the receipt says. Nobody else can say what the files must be."""
    tests = TESTS + DEVEL_TEST.format(august=era == "aug", then="")
    at = ("--store", lay_out(tmp_path, era, tests))
    good("venv", "install", *BY_UV, tmp_path / "env", "--from", "run:900", "--packages", packages_of(era, tests), *at)
    words = ("test", "--venv", tmp_path / "env")
    done = good(*words, *at, "--json")
    assert done.json["result"] == "passed" and done.json["counts"]["passed"] == 4 and not done.json["sealed"]
    own = ("--suite", "own", "--", "true")
    good(*words, *at, *own)
    (wheel,) = tmp_path.glob("S/900-linux/python/**/rocm_sdk_core-*.whl")
    content = wheel.read_bytes()
    wheel.write_bytes(content + b" ")
    for elsewhere in at, ("--store", f"file:{tmp_path}/other"):  # other wheels of that name, and none
        said = refused("V031", 6, *words, *elsewhere, *own).err
        assert "_rocm_sdk_devel/include/hip.h was unpacked, and RECORD has no digest of it" in said and "install again" not in said, said
        assert f"`quarry test --venv {tmp_path}/env --from run:900 --store STORE`" in said, said
    wheel.write_bytes(content)
    good(*words, *at, *own)
    (header,) = (tmp_path / "env").glob("lib/python*/site-packages/_rocm_sdk_devel/include/hip.h")
    header.write_text("#pragma more\n")
    assert "include/hip.h was altered" in refused("V031", 6, *words, *at, *own).err


def test_they_do_so_in_a_bucket(ceph, tmp_path):
    tests = TESTS + DEVEL_TEST.format(august=True, then="")
    lay_out(tmp_path, "aug", tests)
    with public_bucket.serve(ceph, listed=True) as place:
        for path in (tmp_path / "S").rglob("*.*"):
            if path.is_file():
                place.client().put(place.bucket, path.relative_to(tmp_path / "S").as_posix(), path.read_bytes())
        at = {"environment": clean_environment(NO_PROXY="127.0.0.1", **place.environment())}
        at["environment"]["PATH"] = f"{client('uv').bin}:{at['environment']['PATH']}"
        words = ("--store", place.locator)
        good("venv", "install", *BY_UV, tmp_path / "env", "--from", "run:900", "--packages", packages_of("aug", tests), *words, **at)
        own = ("--suite", "own", "--", "true")
        for more in (), own:  # the first unpacks the files
            done = good("test", "--venv", tmp_path / "env", *words, "--json", *more, **at)
            assert done.json["result"] == "passed" and not done.json["sealed"]


@pytest.mark.parametrize(
    ("then", "says"),
    [
        ("open(_devel.__file__.replace('rocm_sdk/_devel.py', '_rocm_sdk_devel/include/more.h'), 'w').close()", "include/more.h belongs to no installed distribution"),
        ("open(_devel.__file__.replace('rocm_sdk/_devel.py', '_rocm_sdk_devel/include/hip.h'), 'a').write('more')", "include/hip.h has 17 bytes, not 13"),
        ("import os; os.unlink(_devel.__file__.replace('rocm_sdk/_devel.py', '_rocm_sdk_devel/lib/liba.so'))", "lib/liba.so is missing"),
        ("open(_devel.__file__.replace('rocm_sdk/_devel.py', '_rocm_sdk_devel/.devel_reconcile.lock'), 'w').write('x')", ".devel_reconcile.lock belongs to no installed distribution"),
    ],
)
def test_what_is_not_of_the_archive_is_not_accepted(then, says, tmp_path):
    _, done = outcome_of(tmp_path, "aug", TESTS + DEVEL_TEST.format(august=True, then=then))
    assert done.code == 6 and "V031" in done.err and says in done.err, done.err


def test_device_code_that_was_asked_for_in_vain(tmp_path):
    """`rocm` lacks the extra: a warning if that is allowed. Then there is nothing to say about that GPU, and the next command names what there is."""
    store = lay_out(tmp_path, "aug", TESTS)
    (rocm,) = tmp_path.glob("S/900-linux/python/rocm-*.whl")
    rocm.unlink()
    sources = {"rocm_sdk/__init__.py": "", "rocm_sdk/__main__.py": PROGRAM, "rocm_sdk/tests/__init__.py": "", "rocm_sdk/tests/base_test.py": TESTS}
    needs = ["Provides-Extra: libraries", "Provides-Extra: device"] + [f"Requires-Dist: rocm-sdk-{name}=={VERSION} ; extra == '{extra}'" for name, extra in (("libraries", "libraries"), ("device-gfx1030", "device"))]
    distributions.wheel_of(rocm.parent, "rocm", VERSION, files=sources, metadata=[f"Requires-Dist: rocm-sdk-core=={VERSION}", *needs], entry_points="[console_scripts]\nrocm-sdk = rocm_sdk.__main__:main\n")
    at = ("--store", store)
    good("set", "adopt", "run:900", *at)
    install = ("venv", "install", *BY_UV, tmp_path / "env", "--from", "run:900", *at, "--packages")
    assert quarry(*install, "rocm[libraries,device-gfx1030]").code == 2
    for words in ("--from", "run:900"), ("--from", "run:900", "--family", "gfx1030"):
        done = quarry("test", "--venv", tmp_path / "env", *words, *at)
        assert done.code == 2 and "X031" in done.err and "not tested  rocm-sdk-device-gfx1030" in done.err, done.err
    good(*install, "rocm[libraries,device-gfx1030]", "--allow-unknown-extras")
    assert "X031" in quarry("test", "--venv", tmp_path / "env", *at).err
    assert good("evidence", "list", *at, "--json").json["evidence"] == []
    assert good("test", "--venv", tmp_path / "env", "--backend", "cpu", *at, "--json").json["cell"]["backend"] == "cpu"
    good(*install, "rocm[libraries,device]")
    assert good("test", "--venv", tmp_path / "env", *at, "--json").json["cell"]["family"] == "gfx1030"
