"""Wheels on which installers disagree, or that harm an environment: what pip and uv do with them, and that they are refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import distributions  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402
from support.usual import each_once  # noqa: E402

INSTALLERS = ["pip-oldest", "pip-newest", "uv"]
SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
KEYS = ["purelib", "platlib", f"data/{SITE}"]
SCRIPT = "[console_scripts]\nfoo = foo:main\n"
EVIL = "Metadata-Version: 2.1\nName: evil\nVersion: 9\n"


def findings(wheel: Path) -> list[tuple[str, str]]:
    """Code and severity, each once in order."""
    return list(dict.fromkeys((f["code"], f["severity"]) for f in quarry("wheel", "verify", wheel, "--json").json["findings"]))


@dataclass
class Installed:
    returncode: int
    output: str
    home: Path

    def read(self, path: str) -> str:
        return (self.home / path).read_text(errors="replace")

    def projects(self) -> dict[str, str]:
        """As importlib.metadata lists them."""
        code = "import importlib.metadata as m, json, sys; print(json.dumps({d.metadata['Name']: d.version for d in m.distributions(path=[sys.argv[1]])}))"
        return json.loads(subprocess.run([sys.executable, "-c", code, self.home / SITE], check=True, capture_output=True, text=True).stdout)


@pytest.fixture(scope="session")
def empty_environment(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    return home


@pytest.fixture
def install(empty_environment, tmp_path):
    def run(name: str, wheel: Path) -> Installed:
        home = tmp_path / f"environment-{name}"
        shutil.copytree(empty_environment, home, symlinks=True)
        tool = client(name)
        words = ["pip", "install", "--offline"] if name == "uv" else ["--python", home / "bin/python", "install", "--no-index"]
        ended = tool.run(*words, *(["--python", home / "bin/python"] if name == "uv" else []), "--no-deps", wheel)
        return Installed(ended.returncode, ended.stdout + ended.stderr, home)

    return run


def foo(directory: Path, **more) -> Path:
    return distributions.wheel_of(directory, "foo", "1.0", **more)


def data(path: str) -> str:
    return f"foo-1.0.data/{path}"


@pytest.mark.parametrize(("name", "key"), each_once(INSTALLERS, KEYS))
def test_metadata_below_data_replaces_what_was_checked(name, key, install, tmp_path):
    wheel = foo(tmp_path, files={"foo.py": "", data(f"{key}/foo-1.0.dist-info/METADATA"): EVIL})
    assert ("W019", "error") in findings(wheel)
    assert install(name, wheel).projects() == {"evil": "9"}


@pytest.mark.parametrize(("name", "key"), each_once(INSTALLERS, KEYS, shift=1))
def test_two_files_for_one_place(name, key, install, tmp_path):
    wheel = foo(tmp_path, files={"foo.py": "checked", data(f"{key}/foo.py"): "other"})
    assert findings(wheel) == [("W018", "error")]
    assert install(name, wheel).read(f"{SITE}/foo.py") == "other"
    assert client("installer").python("-m", "installer", "--destdir", tmp_path / "dest", wheel).returncode or key.startswith("data")


@pytest.mark.parametrize("name", INSTALLERS)
def test_a_script_file_and_an_entry_point(name, install, tmp_path):
    wheel = foo(tmp_path, files={"foo.py": "", data("scripts/foo"): "#!python\nprint('file')\n"}, entry_points=SCRIPT)
    assert findings(wheel) == [("W018", "error")]
    assert "print('file')" not in install(name, wheel).read("bin/foo")
    assert client("installer").python("-m", "installer", "--destdir", tmp_path / "dest", wheel).returncode


@pytest.mark.parametrize(("name", "path"), each_once(INSTALLERS, ["scripts/python", "data/bin/python3.99", "scripts/Python3.12", "scripts/pypy3"]))
def test_a_script_that_replaces_the_interpreter(name, path, install, tmp_path):
    wheel = foo(tmp_path, files={"foo.py": "", data(path): "text"})
    assert findings(wheel) == [("W020", "error")]
    done = install(name, wheel)
    assert ("reserved name" in done.output) == (name == "uv"), done.output
    assert (done.returncode == 0) == (name != "uv"), done.output


@pytest.mark.parametrize("name", INSTALLERS)
def test_a_directory_of_scripts(name, install, tmp_path):
    wheel = foo(tmp_path, files={"foo.py": "", data("scripts/sub/run"): "text"})
    assert findings(wheel) == [("W011", "error")]
    assert (install(name, wheel).returncode == 0) == (name != "uv")


@pytest.mark.parametrize("name", INSTALLERS)
@pytest.mark.parametrize("directory, code", [("bar-2.0.dist-info/", "W006"), ("foo_-1.0.dist-info/", "W006")])
def test_an_empty_directory_beside_dist_info(name, directory, code, install, tmp_path):
    wheel = foo(tmp_path, files={"foo.py": ""}, directories=[directory])
    assert findings(wheel) == [(code, "error")]
    assert install(name, wheel).returncode


@pytest.mark.parametrize("directory", ["bar-2.0.data/", "foo-1.0.data/etc/", "foo-1.0.data/scripts/sub/"])
def test_an_empty_directory_below_data(directory, install, tmp_path):
    wheel = foo(tmp_path, files={"foo.py": ""}, directories=[directory])
    assert findings(wheel) == [("W011", "error")]
    assert install("pip-newest", wheel).returncode == 0
    assert (install("uv", wheel).returncode == 0) == (directory == "bar-2.0.data/")


@pytest.mark.parametrize("name", INSTALLERS)
@pytest.mark.parametrize(("mode", "executable"), [(0o755, {"uv"}), (0o100755, set(INSTALLERS)), (0o100644, set())], ids=["untyped", "whole", "plain"])
def test_execute_bits_without_a_file_type(name, mode, executable, install, tmp_path):
    tools = {"foo/tool", data("scripts/foo-tool")}
    sound = foo(tmp_path / "sound", files={tool: "#!/bin/sh\n" for tool in tools})
    wheel = tmp_path / sound.name
    with zipfile.ZipFile(sound) as source, zipfile.ZipFile(wheel, "w") as target:
        for entry in source.infolist():
            entry.external_attr = (mode if entry.filename in tools else 0o100644) << 16
            target.writestr(entry, source.read(entry))
    done = install(name, wheel)
    assert done.returncode == 0, done.output
    scripts = executable | {"uv"}  # uv makes every script executable
    for place, expected in ((f"{SITE}/foo/tool", executable), ("bin/foo-tool", scripts)):
        assert bool((done.home / place).stat().st_mode & 0o111) == (name in expected), place
    found = [one for one in quarry("wheel", "check", wheel, "--json").json["findings"] if one["code"] == "Q260"]
    assert len(found) == (mode == 0o755)


def test_what_installers_agree_on_is_sound(install, tmp_path):
    files = {"foo/__init__.py": "", data("purelib/foo/a.py"): "a", data("platlib/foo/b.py"): "b", data("scripts/run"): "#!python\n", data("data/share/foo/a.py"): "c", data("headers/a.h"): "h"}
    wheel = foo(tmp_path, files=files, entry_points=SCRIPT, directories=["foo/", "foo-1.0.data/", "foo-1.0.data/purelib/foo/"])
    assert findings(wheel) == []
    for name in INSTALLERS:
        done = install(name, wheel)
        assert done.returncode == 0, done.output
        assert done.read(f"{SITE}/foo/a.py") + done.read(f"{SITE}/foo/b.py") + done.read("share/foo/a.py") == "abc"
        assert done.projects() == {"foo": "1.0"}


REQUIREMENTS = """six|six>=1|six >= 1 , < 2|six (>=1,<2)|six ()|six (>=1|six)|six[a]|six[a,b]>=1|six[]|six[a,]|six[a b]|six[,a]|-six|six-|s!x|bad !!|
six >=1,|six ,>=1|six >=1,,<2|six (>=1,,<2)|six (,)|six >=1 <2|six (>dev)|six >=1.*|six ==1.*|six ~=1|six ~=1.0|six === any|six =1|six >=|six 1.0|six==1.0+local|six>=1.0+local|
six @ https://h.example/s.whl|six@https://h.example/s.whl|six @ https://h.example/s.whl ; os_name == 'nt'|six @ https://h.example/s.whl; os_name == 'nt'|six @ https://h.example/a b.whl|six @|six @ ; os_name == 'nt'|six >=1 @ https://h.example/s.whl|
six; os_name == 'nt'|six;os_name=='nt'|six; |six;|six; bogus == 'x'|six; os_name|six; os_name ==|six; os_name == nt|six; os_name == 'nt|six; 'nt' == os_name|six; os_name = 'nt'|six; os_name === 'nt'|six; os_name in 'nt posix'|six; os_name not in 'nt'|six; os_name not 'nt'|
six; os_name == 'nt' and python_version < '3'|six; os_name == 'nt' & python_version < '3'|six; (os_name == 'nt' or extra == 'x') and python_version >= '3.8'|six; (os_name == 'nt'|six; os_name == 'nt')|six; os_name == 'nt' or|six; not os_name == 'nt'|six; and os_name == 'nt'|
six; python_version > '3'and os_name == 'nt'|six; os.name == 'nt'|six; python_implementation == 'x'|six; platform_python_implementation == 'x'|six; OS_NAME == 'nt'|six; python_version == 3|six[a]>=1;extra=='a'|six # comment|six --hash=sha256:00|./six.whl|https://h.example/s.whl"""
PYTHONS = [">=3.8", ">=3.8,", ">=3.8,<4", ">=3.8,,<4", ",>=3.8", ">=3.8 <4", ">=3.6.*", "!=3.9.*", "==3.*", "banana", "3.8", ">3", "~=3", "~=3.8", ">=3.8;", "(>=3.8)", ">= 3.8", ">=3.8.0rc1", "===3.8", "'>=3.8'", "*", ">=3.8|<3"]
EXTRAS = ["dev", "Test_Extra", "a.b", "1", "a b c!", "a]", "-a", "a-", "é", "a,b"]


def is_requirement(text: str) -> bool:
    try:
        Requirement(text)
    except InvalidRequirement:
        return False
    return True


def is_specifier(text: str) -> bool:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return True


def verified(tmp_path: Path, lines: list[str], **more) -> list[dict]:
    wheel = foo(tmp_path, files={"foo.py": ""}, metadata=lines, **more)
    return quarry("wheel", "verify", wheel, "--json").json["findings"]


@pytest.mark.parametrize("text", [text.strip("\n") for text in REQUIREMENTS.split("|")])
def test_requirements_are_read_as_packaging_reads_them(text, tmp_path):
    codes = {f["code"] for f in verified(tmp_path, [f"Requires-Dist: {text}"])}
    assert codes == (set() if is_requirement(text) else {"M010"})


@pytest.mark.parametrize("text", PYTHONS)
def test_pythons_are_read_as_packaging_reads_them(text, tmp_path):
    codes = {f["code"] for f in verified(tmp_path, [f"Requires-Python: {text}"])}
    assert codes == (set() if is_specifier(text) else {"M005"})


@pytest.mark.parametrize("text", EXTRAS)
def test_extras_are_names(text, tmp_path):
    codes = {f["code"] for f in verified(tmp_path, [f"Provides-Extra: {text}"])}
    assert codes == (set() if is_requirement(f"foo[{text}]") and "," not in text else {"M011"})


@pytest.mark.parametrize("version, severity", [("1.2", "warning"), ("2.0", "warning"), ("2.1", "error"), ("2.4", "error")])
def test_old_metadata_is_a_warning(version, severity, tmp_path):
    found = verified(tmp_path, ["Requires-Dist: pytz (>dev)"], metadata_version=version)
    assert [(f["code"], f["severity"]) for f in found] == [("M010", severity)]


@pytest.mark.parametrize("field", ["Requires-Dist: six; bogus == 'x'", "Requires-Dist: bad !!"])
def test_no_installer_reads_such_a_requirement(field, tmp_path):
    wheel = foo(tmp_path, files={"foo.py": ""}, metadata=[field])
    for name in INSTALLERS:
        words = ["pip", "install", "--offline", "--python", client(name).bin / "python"] if name == "uv" else ["install", "--no-index"]
        assert client(name).run(*words, "--dry-run", wheel).returncode, name


def publish(tmp_path: Path, *more: str) -> list:
    return ["publish", tmp_path / "out", "--store", f"file:{tmp_path}/store", "--run-id", "1", *(more or ("--platform", "linux"))]


def test_a_wheel_with_a_bad_field_is_not_published(tmp_path):
    foo(tmp_path / "out", files={"foo.py": ""}, metadata=["Requires-Python: banana"])
    assert "M005" in refused("W010", 1, *publish(tmp_path)).err
    assert not (tmp_path / "store/1-linux").exists()


def test_a_source_distribution_with_a_bad_field_is_not_published(tmp_path):
    (tmp_path / "out").mkdir()
    sdist = distributions.sdist(tmp_path / "out", "foo", "1.0", requires=("bar",), fields=("Requires-Python: banana",))
    assert sdist.name in refused("M005", 1, *publish(tmp_path)).err


def test_old_metadata_is_published_with_a_warning(tmp_path):
    foo(tmp_path / "out", files={"foo.py": ""}, metadata=["Requires-Dist: pytz (>dev)"], metadata_version="1.2")
    assert [note["code"] for note in good(*publish(tmp_path), "--json").json["notes"]] == ["M010", "Q409"]


def test_adoption_judges_as_publishing_does(tmp_path):
    area = tmp_path / "store/1-linux/python/g"
    adopt = ["set", "adopt", "run:1-linux", "--store", f"file:{tmp_path}/store"]
    wheel = foo(area, files={"foo.py": ""}, metadata=["Requires-Dist: bad !!"])
    assert "M010" in refused("W010", 1, *adopt).err
    wheel.unlink()
    for tag in ("linux_x86_64", "manylinux_2_28_x86_64"):
        foo(area, files={"foo.py": ""}, tag=f"py3-none-{tag}")
    refused("P061", 2, *adopt)
    (area / "foo-1.0-py3-none-linux_x86_64.whl").unlink()
    good(*adopt)


@pytest.mark.parametrize("library, sound", [("", False), ("kernels.co", False), ("librocblas.so.4.2", True), ("rocblas.dll", True)])
def test_a_libraries_package_needs_a_library(library, sound, tmp_path):
    files = {"rocm_sdk_libraries_gfx942.py": ""} | ({f"_libs/{library}": "bytes"} if library else {})
    distributions.wheel_of(tmp_path / "out", "rocm_sdk_libraries_gfx942", "1.0", files=files, tag="py3-none-linux_x86_64")
    if sound:
        good(*publish(tmp_path), "--dry-run")
    else:
        refused("P060", 2, *publish(tmp_path), "--dry-run")


def test_jax_for_windows_is_refused(tmp_path):
    foo(tmp_path / "out", files={"foo.py": ""})
    done = refused("P062", 2, *publish(tmp_path, "--platform", "windows", "--area", "jax"))
    assert "JAX wheels for Windows do not exist" in done.err
    good(*publish(tmp_path, "--platform", "linux", "--area", "jax"))


def test_jax_for_windows_is_refused_in_every_area(tmp_path):
    for area in ("python", "pytorch"):
        directory = tmp_path / area
        distributions.wheel_of(directory / "out", "jax_rocm7_plugin", "0.8.0", files={"jax_rocm7_plugin/x.py": ""}, tag="cp312-cp312-win_amd64")
        done = refused("P062", 2, *publish(directory, "--platform", "windows", "--area", area))
        assert "jax_rocm7_plugin-0.8.0-cp312-cp312-win_amd64.whl" in done.err
        assert not (directory / "store").exists()


def test_a_wheel_named_twice_is_verified_once(tmp_path):
    foo(tmp_path / "out/dist", files={"foo.py": ""})
    done = good("wheel", "verify", tmp_path / "out/dist", tmp_path / "out", "--json")
    assert len(done.json["files"]) == 1


def test_one_error_for_a_file_that_is_not_a_wheel(tmp_path):
    sdist = distributions.sdist(tmp_path, "foo", "1.0")
    (tmp_path / "notes.txt").write_text("text")
    assert "foo-1.0.tar.gz is a source distribution, not a wheel" in refused("W022", 2, "wheel", "verify", sdist).err
    for path in (sdist, tmp_path / "notes.txt", Path("/dev/null")):
        assert refused("W022", 2, "wheel", "verify", path).err.count("error[") == 1


def test_a_directory_stands_for_its_wheels(tmp_path):
    (tmp_path / "out/dist").mkdir(parents=True)
    refused("W022", 3, "wheel", "verify", tmp_path / "out")
    distributions.sdist(tmp_path / "out/dist", "foo", "1.0")
    first, second = (distributions.wheel(tmp_path / "out/dist", name, "1.0") for name in ("a", "b"))
    for directory in (tmp_path / "out", tmp_path / "out/dist"):
        done = good("wheel", "verify", directory)
        assert done.out.splitlines() == [f"{first}: sound", f"{second}: sound"]
        assert "foo-1.0.tar.gz is a source distribution: skipped" in done.err
    second.write_bytes(b"damaged")
    assert quarry("wheel", "verify", tmp_path / "out").code == 6
