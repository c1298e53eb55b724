"""`venv install`, `venv create` and `compat setup_venv` with real pip: build tools of old sdists, several pages of links, extras, locks, full disks,
and dependencies from a store's base index."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import clients, distributions, environments, static_server  # noqa: E402
from support.quarry import BY_UV, ROOT, clean_environment, good, quarry, refused  # noqa: E402
from support.usual import each_once  # noqa: E402

SETUP = """from setuptools import setup
setup(name="rocm", version="7.1", py_modules=["rocm_here"], install_requires=["rocm-core-part==7.1"], extras_require={"libraries": ["rocm-lib-part==7.1"], "devel": []})
"""


@pytest.fixture(autouse=True)
def uv_is_on_path(monkeypatch):
    """The one that tools/setup installs; a new environment inherits no other."""
    assert (ROOT / "build/tools/bin/uv").exists(), "run tools/setup --test"
    monkeypatch.setenv("PATH", f"{ROOT}/build/tools/bin:{os.environ['PATH']}")


def legacy_sdist(directory: Path) -> None:
    """A sdist of the kind that needs setuptools and wheel: a setup.py and nothing that says so."""
    with tarfile.open(directory / "rocm-7.1.tar.gz", "w:gz") as archive:
        for name, text in (("setup.py", SETUP), ("rocm_here.py", "HERE = True\n"), ("PKG-INFO", "Metadata-Version: 2.1\nName: rocm\nVersion: 7.1\n")):
            info = tarfile.TarInfo(f"rocm-7.1/{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))


@pytest.fixture
def dist(tmp_path) -> Path:
    """What another builder ships: a legacy sdist and two wheels that it needs."""
    directory = tmp_path / "dist"
    directory.mkdir()
    legacy_sdist(directory)
    distributions.wheel(directory, "rocm-core-part", "7.1")
    distributions.wheel(directory, "rocm-lib-part", "7.1")
    return directory


@pytest.fixture(scope="session")
def tools(tmp_path_factory) -> Path:
    """setuptools and wheel as pip downloads them: where the user's own pip looks."""
    directory = tmp_path_factory.mktemp("tools")
    ended = subprocess.run([sys.executable, "-m", "pip", "download", "--dest", directory, "setuptools", "wheel"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return directory


def installed(env: Path) -> dict[str, str]:
    rows = json.loads(environments.pip(env, "list", "--format", "json").stdout)
    return {row["name"]: row["version"] for row in rows if row["name"] not in ("pip", "setuptools", "wheel", "packaging")}


WHOLE = {"rocm": "7.1", "rocm-core-part": "7.1", "rocm-lib-part": "7.1"}


def python_312() -> Path | None:
    return next((path for version, path in clients.pythons().items() if version >= (3, 12)), None)


@pytest.mark.parametrize(("newer", "form"), each_once([True, False], ["links-without-index", "links", "directory"]))
def test_a_legacy_sdist_gets_its_build_tools(dist, tools, tmp_path, form, newer):
    python = python_312() if newer else Path(sys.executable)
    if not python:
        pytest.skip("there is no Python from 3.12 on, whose environments have no setuptools")
    environment = clean_environment(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tools))
    env = tmp_path / "env"
    if form == "directory":
        done = good("venv", "install", env, "--from", dist, "--packages", "rocm[libraries]", "--python", python, environment=environment)
    else:
        links = ["--index-url=", "--find-links", dist] if form == "links-without-index" else ["--find-links", dist]
        done = good("compat", "setup_venv", env, "--packages", "rocm[libraries]", *links, "--python", python, environment=environment)
    assert installed(env) == WHOLE
    assert "rocm-7.1.tar.gz" in done.out


def test_without_its_build_tools_a_legacy_sdist_is_refused_and_says_what_it_needs(dist, tmp_path):
    env = tmp_path / "env"
    environment = clean_environment(PIP_NO_INDEX="1")
    done = refused("V014", 1, "venv", "install", env, "--from", dist, "--packages", "rocm", environment=environment)
    assert f"{env}/bin/python -m pip install setuptools wheel" in done.err
    assert not (env / "quarry-receipt.json").exists()


def test_several_pages_of_links(tmp_path):
    for name, requires in (("first-part", ("second-part",)), ("second-part", ())):
        (tmp_path / name).mkdir()
        distributions.wheel(tmp_path / name, name, "1.0", requires=requires)
    links = [word for name in ("first-part", "second-part") for word in ("--find-links", tmp_path / name)]
    for number, command in enumerate((("venv", "install", *BY_UV), ("compat", "setup_venv"))):
        env = tmp_path / f"env{number}"
        good(*command, env, "--packages", "first-part", *links)
        assert installed(env) == {"first-part": "1.0", "second-part": "1.0"}
        receipt = json.loads((env / "quarry-receipt.json").read_text())
        assert {file["project"] for file in receipt["files"]} == {"first-part", "second-part"}


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_packages_that_do_not_fit_what_is_there_get_no_receipt(tmp_path, installer):
    links, env = tmp_path / "links", tmp_path / "env"
    links.mkdir()
    for version in ("1.0", "1.1"):
        distributions.wheel(links, "core-part", version)
        distributions.wheel(links, "lib-part", version, requires=(f"core-part=={version}", "not-here>3; extra == 'more'", "core-part<1; sys_platform == 'win32'"))
    words = ["venv", "install", env, "--from", links, "--installer", installer, "--packages"]
    good(*words, "lib-part==1.0")
    done = refused("V018", 1, *words, "core-part==1.1")
    assert "lib-part 1.0 requires core-part==1.0, and 1.1 is installed" in done.err
    assert not (env / "quarry-receipt.json").exists()
    good(*words, "core-part==1.1 lib-part==1.1")


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_a_misspelt_extra_is_an_error_that_lists_the_extras(packages_with_extras, tmp_path, installer):
    env = tmp_path / "env"
    words = ["venv", "install", env, "--from", packages_with_extras, "--installer", installer, "--packages"]
    done = refused("V015", 2, *words, "demo-app[libaries,devel]")
    assert "demo-app 1.0 has no extra libaries" in done.err
    assert "devel, device-gfx942, libraries" in done.err and "demo-app[libraries]" in done.err
    assert not (env / "quarry-receipt.json").exists()
    good(*words, "demo-app[Libraries,device_gfx942]")
    allowed = good(*words, "demo-app[nonsense]", "--allow-unknown-extras", "--json")
    assert [finding["code"] for finding in allowed.json["findings"]] == ["V015"]


def test_the_script_warns_of_a_misspelt_extra(packages_with_extras, tmp_path):
    done = good("compat", "setup_venv", tmp_path / "env", "--packages", "demo-app[libaries]", "--index-url=", "--find-links", packages_with_extras)
    assert "warning[V015]" in done.err and "does not provide the extra 'libaries'" in done.err


@pytest.fixture
def packages_with_extras(tmp_path) -> Path:
    directory = tmp_path / "extras"
    directory.mkdir()
    requires = ("demo-lib; extra == 'libraries'",)
    path = distributions.wheel(directory, "demo-app", "1.0", requires=requires, extras=("libraries", "devel", "device_gfx942"))
    assert path.exists()
    distributions.wheel(directory, "demo-lib", "1.0")
    return directory


@contextmanager
def held(directory: Path):
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def test_two_commands_do_not_work_in_one_environment(packages_with_extras, tmp_path):
    env = tmp_path / "env"
    install = ["venv", "install", *BY_UV, env, "--from", packages_with_extras, "--packages", "demo-app"]
    with held(env):
        refused("V017", 7, *install)
        refused("V017", 7, "venv", "create", env)
    good(*install)
    with held(env):
        refused("V017", 7, *install)
    assert (env / "quarry-receipt.json").exists(), "a command that was refused changes nothing"


def test_what_the_lock_made_does_not_stay(tmp_path):
    done = quarry("venv", "create", tmp_path / "env", "--python", "3.99")
    assert done.code == 12 and not (tmp_path / "env").exists()


@contextmanager
def mounted(directory: Path, options: str):
    directory.mkdir(parents=True)
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", directory], capture_output=True).returncode != 0:
        pytest.skip("this test mounts a small file system, and may not")
    try:
        yield
    finally:
        subprocess.run(["umount", directory], check=True)


def test_a_full_disk_while_packages_are_installed(tmp_path):
    large = tmp_path / "large"
    large.mkdir()
    distributions.wheel(large, "demo-app", "1.0", payload=os.urandom(8 << 20))
    with mounted(tmp_path / "small", "size=40m"):
        env = tmp_path / "small/env"
        good("venv", "create", env)
        free = os.statvfs(env).f_bavail * os.statvfs(env).f_bsize
        (tmp_path / "small/filler").write_bytes(bytes(free - (2 << 20)))
        done = quarry("venv", "install", env, "--from", large, "--packages", "demo-app")
        assert done.code == 12, done.err
        assert str(env) in done.err and "no space left on device" in done.err.lower()
        assert done.err.count("error[") == 1 and not (env / "quarry-receipt.json").exists()


def test_a_full_disk_while_an_environment_is_created(tmp_path):
    with mounted(tmp_path / "small", "size=1m"):
        done = refused("V016", 12, "venv", "create", tmp_path / "small/env")
        assert f"{tmp_path}/small/env could not be made: no space left on device" in done.err
        assert not (tmp_path / "small/env").exists()


def test_an_environment_on_a_read_only_disk(tmp_path):
    with mounted(tmp_path / "small", "size=1m,ro"):
        done = quarry("venv", "create", tmp_path / "small/env")
        assert done.code == 12
        assert "small/env: Read-only file system" in done.err and "cannot remove" not in done.err


@pytest.fixture(scope="module")
def store_with_base(tmp_path_factory) -> Path:
    """A store with a run of one framework wheel, in channel `staging`, and a base index with what it depends on."""
    root = tmp_path_factory.mktemp("base")
    upstream, ours = root / "upstream", root / "packages"
    (upstream / "files").mkdir(parents=True)
    ours.mkdir()
    for name, version, requires in (("demo-dep", "2.0", ("demo-deeper>=1",)), ("demo-deeper", "1.5", ()), ("demo-unneeded", "1.0", ()), ("setuptools", "80.0", ()), ("wheel", "0.45", ())):
        path = distributions.wheel(upstream / "files", name, version, requires=requires)
        page = upstream / "simple" / name / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(f'<!DOCTYPE html><a href="../../files/{path.name}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}">{path.name}</a>')
    (upstream / "requirements.txt").write_text("demo-dep\ndemo-unneeded\n")
    distributions.wheel(ours, "demo-torch", "3.0", requires=("demo-dep>=2",))
    store = ["--store", f"file:{root / 'store'}"]
    good("publish", ours, *store, "--run-id", "7", "--platform", "linux", "--artifact-group", "gfx94X-dcgpu", "--channel", "staging")
    with static_server.serve(upstream) as (url, _):
        good("mirror", "sync", upstream / "requirements.txt", *store, "--python", "3.10,3.11,3.12,3.13", "--platform", "linux", "--index-url", f"{url}/simple/", environment=clean_environment(NO_PROXY="127.0.0.1"))
    return root / "store"


@pytest.mark.parametrize(("installer", "source"), each_once(["pip", "uv"], ["run:7", "channel:staging"]))
def test_dependencies_come_from_the_base_index(store_with_base, tmp_path, source, installer):
    env = tmp_path / "env"
    good("venv", "create", env, *(["--use-uv"] if installer == "uv" else []))
    good("venv", "install", env, "--from", source, "--store", f"file:{store_with_base}", "--packages", "demo-torch", "--installer", installer)
    assert installed(env) == {"demo-torch": "3.0", "demo-dep": "2.0", "demo-deeper": "1.5"}
    receipt = json.loads((env / "quarry-receipt.json").read_text())
    assert receipt["sealed"] and [file["project"] for file in receipt["files"]] == ["demo-torch"]
    assert {"demo-dep", "demo-deeper"} <= {other["project"] for other in receipt["others"]}


def test_an_altered_file_of_the_base_index_is_refused(store_with_base, tmp_path):
    store = tmp_path / "store"
    shutil.copytree(store_with_base, store)
    wheel = next(store.rglob("demo_deeper-*.whl"))
    wheel.write_bytes(wheel.read_bytes()[:-1] + b"!")
    refused("V007", 6, "venv", "install", *BY_UV, tmp_path / "env", "--from", "run:7", "--store", f"file:{store}", "--packages", "demo-torch")


def test_what_is_not_a_requirement_is_refused_before_an_environment_is_made(packages_with_extras, tmp_path):
    for wrong in ("rocm[", "rocm==", "--pre"):
        done = refused("V005", 2, "venv", "install", tmp_path / "env", "--from", packages_with_extras, f"--packages={wrong}")
        assert f"`{wrong}` is not a requirement" in done.err and "hint: write names as pip takes them" in done.err
    for wrong in ("a-1-py3-none-any.whl[x]", "A-1.WHL", "a-1.zip", "a-1.tar.bz2", "./a", "https://localhost/a-1.tar.gz"):
        done = refused("V005", 2, "venv", "install", tmp_path / "env", "--from", packages_with_extras, f"--packages={wrong}")
        assert f"`{wrong}` is a file or a URL" in done.err
    assert not (tmp_path / "env").exists()


def test_wheels_for_windows_are_not_called_pre_releases(tmp_path):
    dist = tmp_path / "dist"
    dist.mkdir()
    distributions.wheel_of(dist, "demo", "1.0", files={"demo.py": ""}, tag="py3-none-win_amd64")
    done = refused("V010", 1, "venv", "install", tmp_path / "env", "--from", dist, "--packages", "demo")
    assert "are for Windows" in done.err and "--pre" not in done.err


def test_a_pause_says_why_pip_failed(tmp_path):
    words = ["--index-url=http://127.0.0.1:9/simple/", "--install-retry-timeout-seconds", "2", "--install-retry-wait-between-seconds", "1"]
    done = quarry("compat", "setup_venv", tmp_path / "env", "--packages", "rocm", *words, timeout=300)
    assert done.code == 5 and "pip failed: No matching distribution found for rocm (Connection refused); trying again in 1 s" in done.err, done.err


def test_the_script_names_its_own_flags(tmp_path):
    done = refused("V005", 2, "compat", "setup_venv", tmp_path / "env", "--packages", "rocm")
    assert "--index-name NAME, --index-url URL, --find-links URL, or --from-run-id ID" in done.err and "--from LOCATOR" not in done.err
    assert not (tmp_path / "env").exists()
