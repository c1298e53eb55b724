"""Do the installed ROCm packages belong together? Writes a JUnit report; needs no GPU."""

import importlib.metadata
import pathlib
import subprocess
import sys
import traceback
import xml.etree.ElementTree as xml


def distributions():
    found = {}
    for one in importlib.metadata.distributions():
        name = (one.metadata["Name"] or "").lower().replace("_", "-")
        if name == "rocm" or name.startswith("rocm-sdk-"):
            found[name] = one
    return found


def rocm_sdk(*words):
    program = pathlib.Path(sys.executable).with_name("rocm-sdk")
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, f"{program} {' '.join(words)}: {done.returncode}\n{done.stderr}"
    return done.stdout.strip()


def test_one_version():
    versions = {name: one.version for name, one in distributions().items()}
    assert "rocm" in versions, f"rocm is not installed: {versions}"
    assert len(set(versions.values())) == 1, versions


def test_the_program_says_the_same_version():
    assert rocm_sdk("version") == distributions()["rocm"].version


def test_targets():
    assert rocm_sdk("targets").split(), "rocm-sdk targets says nothing"


def libraries():
    for name, one in distributions().items():
        if not name.startswith(("rocm-sdk-core", "rocm-sdk-libraries")):
            continue
        for file in one.files or []:
            # Programs and plug-ins load others; the libraries that people link against load by themselves.
            if file.parent.name == "lib" and ".so." in file.name:
                yield str(file.locate())


def load(library):
    """What is wrong with the library; empty if it can be loaded. A process for each: no program loads all of them, and
    libLLVM and libclang-cpp end a process that has a second copy of their options."""
    words = [sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", library]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
    return "" if done.returncode == 0 else f"{library}: exit code {done.returncode}\n{done.stdout.strip()[-1000:]}"


def test_libraries_load():
    found = sorted(libraries())
    assert found, "no package holds a library"
    defects = [defect for defect in map(load, found) if defect]
    assert not defects, "\n".join(defects)


def main(report):
    suite = xml.Element("testsuite", name="rocm-smoke")
    for name, test in sorted(globals().items()):
        if not name.startswith("test_"):
            continue
        case = xml.SubElement(suite, "testcase", name=name)
        try:
            test()
        except Exception as error:  # each test is reported, whatever another one did
            xml.SubElement(case, "failure", message=str(error)[:1000]).text = traceback.format_exc()
    xml.ElementTree(suite).write(report)
    failed = len(suite.findall("testcase/failure"))
    print(f"{len(suite)} tests, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
