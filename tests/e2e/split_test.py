"""Artifacts that are split by GPU target: packages of device code, from artifacts to an installation, and what must not be built."""

from __future__ import annotations

import csv
import itertools
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import debian_rocm, environments, kpack, small_artifacts  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry, refused  # noqa: E402
from support.usual import LONG  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = "base_lib_generic/base/aux-overlay/stage/share/therock/therock_manifest.json"
DIST_INFO = "base_lib_generic/base/aux-overlay/stage/share/therock/dist_info.json"
HOST = "blas_lib_generic/math-libs/BLAS/stage"
NAMES = ("rocm_sdk_core", "rocm_profiler", "rocm_sdk_libraries", "rocm_sdk_device_gfx1030", "rocm_sdk_device_gfx942", "rocm_sdk_devel")


def words(artifacts: Path, out: Path, *more: str | Path) -> list:
    return ["sdk", "build", "--artifact-dir", artifacts, "--dest-dir", out, "--version", "7.2.0", "--profile", "ci", *more]


@pytest.fixture(scope="module")
def split(tmp_path_factory) -> Path:
    """Read-only."""
    return small_artifacts.make_split(tmp_path_factory.mktemp("split"))


@pytest.fixture
def own(split, tmp_path) -> Path:
    shutil.copytree(split, tmp_path / "own", symlinks=True)
    return tmp_path / "own"


@pytest.fixture(scope="module")
def built(split, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("built")
    done = good(*words(split, out), "--json")
    assert done.json["recipe"] == "rocm-sdk-aug"
    return out / "dist"


@pytest.fixture(scope="module")
def page(built, tmp_path_factory) -> Path:
    """The directory of the run's packages, as they are published."""
    store = tmp_path_factory.mktemp("store")
    good("publish", built.parent, "--store", f"file:{store}", "--run-id", "42", "--platform", "linux", "--layout", "aug")
    return store / "42-linux/python"


def members(dist: Path, name: str) -> list[str]:
    (wheel,) = dist.glob(f"{name}-7.2.0-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def read(dist: Path, name: str, member: str) -> str:
    (wheel,) = dist.glob(f"{name}-7.2.0-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(member).decode()


# --- what is built


def test_the_packages(built):
    assert sorted(path.name for path in built.glob("[!.]*")) == sorted(["rocm-7.2.0.tar.gz", *(f"{name}-7.2.0-py3-none-linux_x86_64.whl" for name in NAMES)])


def test_the_profiler_is_recorded_for_linux_alone(built):
    with tarfile.open(built / "rocm-7.2.0.tar.gz") as archive:
        info = archive.extractfile("rocm-7.2.0/PKG-INFO").read().decode()
    assert 'Requires-Dist: rocm-profiler==7.2.0 ; sys_platform == "linux" and extra == "profiler"\n' in info


def test_the_readme_says_how_to_ask_for_a_target(built):
    with tarfile.open(built / "rocm-7.2.0.tar.gz") as archive:
        info = archive.extractfile("rocm-7.2.0/PKG-INFO").read().decode()
    assert "rocm[libraries,device-gfx942]" in info and "The target, or the family, is chosen" in info and "of your GPU's family" not in info


def test_no_file_belongs_to_two_packages(built):
    owners: dict[str, str] = {}
    for name in NAMES:
        for member in members(built, name):
            assert owners.setdefault(member, name) == name, member


def test_a_device_package_holds_device_code_and_a_list_of_it(built):
    held = members(built, "rocm_sdk_device_gfx942")
    assert [name for name in held if not name.startswith("rocm_sdk_device_gfx942-7.2.0.dist-info/")] == [
        "_rocm_sdk_libraries/.devel_links/gfx942.json",
        "_rocm_sdk_libraries/.rocm-sdk-device-gfx942",
        "_rocm_sdk_libraries/lib/.kpack/blas_lib_gfx942.kpack",
    ]
    listed = json.loads(read(built, "rocm_sdk_device_gfx942", "_rocm_sdk_libraries/.devel_links/gfx942.json"))
    target = "../../../_rocm_sdk_libraries/lib/.kpack/blas_lib_gfx942.kpack"
    assert listed == {"version": "7.2.0", "links": [{"relpath": "lib/.kpack/blas_lib_gfx942.kpack", "target": target}]}
    assert "Requires-Dist: rocm-sdk-libraries==7.2.0" in read(built, "rocm_sdk_device_gfx942", "rocm_sdk_device_gfx942-7.2.0.dist-info/METADATA")
    assert "_rocm_sdk_libraries/lib/libkernels_gfx1030.so" in members(built, "rocm_sdk_device_gfx1030")


@pytest.mark.parametrize("form", ["zst", "xz"])
def test_archives_make_the_same_packages(form, split, built, tmp_path):
    good("artifact", "pack", split, "--output-dir", tmp_path / "packed", "--format", form)
    good(*words(tmp_path / "packed", tmp_path / "out"))
    for path in built.glob("[!.]*"):
        assert path.read_bytes() == (tmp_path / "out/dist" / path.name).read_bytes(), path.name


def test_variants_of_a_target_are_one_package(own, tmp_path):
    small_artifacts.kernels(own, "gfx942:xnack+")
    good(*words(own, tmp_path / "out"))
    held = members(tmp_path / "out/dist", "rocm_sdk_device_gfx942")
    assert {"_rocm_sdk_libraries/lib/.kpack/blas_lib_gfx942.kpack", "_rocm_sdk_libraries/lib/.kpack/blas_lib_gfx942-xnack+.kpack"} <= set(held)


def test_without_a_manifest_the_names_tell(own, built, tmp_path):
    (own / MANIFEST).unlink()
    good(*words(own, tmp_path / "out"))
    assert {path.name for path in built.glob("[!.]*")} == {path.name for path in (tmp_path / "out/dist").glob("[!.]*")}


def test_families_mean_their_targets(own, tmp_path):
    """gfx94X-dcgpu is gfx942 alone; the list of the other platform is what its own build holds."""
    done = good(*words(own, tmp_path / "out"), "--linux-amdgpu-families", "gfx94X-dcgpu", "--windows-amdgpu-families", "gfx1151", "--json")
    assert not [each for each in done.json["packages"] if "gfx1030" in each["file"]]
    assert done.json["unused"] and not [each for each in done.json["unused"] if each["asked"] or "gfx1030" not in each["artifact"]]
    subprocess.run(["tar", "-C", tmp_path, "-xf", tmp_path / "out/dist/rocm-7.2.0.tar.gz"], check=True)
    facts = (tmp_path / "rocm-7.2.0/src/rocm_sdk/_dist_info.py").read_text()
    assert 'AVAILABLE_TARGET_FAMILIES = ["gfx1151", "gfx942"]' in facts and 'LINUX_TARGET_FAMILIES = ["gfx942"]' in facts


def test_the_script_of_today_builds_them(split, built, tmp_path):
    good("compat", "build_python_packages", "--artifact-dir", split, "--dest-dir", tmp_path / "out", "--version", "7.2.0")
    assert {path.name for path in built.glob("[!.]*")} == {path.name for path in (tmp_path / "out/dist").glob("[!.]*")}
    refused("S053", 1, "compat", "build_python_packages", "--era", "feb", "--artifact-dir", split, "--dest-dir", tmp_path / "feb", "--version", "7.2.0")


def test_the_line_to_install_brings_device_code(built, tmp_path):
    words = ("--store", f"file:{tmp_path / 'store'}", "--run-id", "42", "--platform", "linux", "--layout", "aug")
    assert "rocm[libraries,devel,profiler,device-all]" in good("publish", built.parent, *words).out
    one = tmp_path / "one"
    shutil.copytree(built, one, ignore=shutil.ignore_patterns("*gfx1030*"))
    assert "rocm[libraries,devel,profiler,device-gfx942]" in good("publish", one, "--store", f"file:{tmp_path / 'other'}", *words[2:]).out


# --- what is installed


class Environment:
    def __init__(self, place: Path, installer: str):
        self.place, self.installer = place, installer
        self.python = environments.make(place) / "bin/python"
        (self.site,) = place.glob("lib/python3.*/site-packages")

    def run(self, *command: str | Path, code: int = 0) -> str:
        done = subprocess.run([str(each) for each in command], capture_output=True, text=True, env=clean_environment(UV_CACHE_DIR=str(self.place / "cache")))
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def install(self, page: Path, *packages: str) -> None:
        if self.installer == "uv":
            self.run(client("uv").bin / "uv", "pip", "install", "--python", self.python, "--no-index", "--find-links", page, *packages)
        else:
            environments.pip_install(self.place, "--no-index", "--find-links", page, *packages)

    def uninstall(self, *packages: str) -> None:
        if self.installer == "uv":
            self.run(client("uv").bin / "uv", "pip", "uninstall", "--python", self.python, *packages)
        else:
            ended = environments.pip(self.place, "uninstall", "-q", "-y", *packages)
            assert ended.returncode == 0, ended.stderr

    def sdk(self, *words: str, code: int = 0) -> str:
        return self.run(self.place / "bin/rocm-sdk", *words, code=code)

    def rows(self, dist: str) -> set[str]:
        (record,) = self.site.glob(f"{dist}-*.dist-info/RECORD")
        with record.open(newline="") as file:
            return {row[0] for row in csv.reader(file)}


# For tests of what rocm-sdk does with files that are there.
WHOEVER_INSTALLED = pytest.mark.parametrize("environment", ["pip", "uv"] if LONG else ["uv"], indirect=True)


@pytest.fixture(params=["pip", "uv"])
def environment(request, tmp_path) -> Environment:
    return Environment(tmp_path / "env", request.param)


KERNELS = "lib/.kpack/blas_lib_gfx942.kpack"


def test_device_code_comes_and_goes(environment, page):
    environment.install(page, "rocm[libraries,devel,device-gfx942]==7.2.0")
    assert not list(environment.site.glob("rocm_sdk_device_gfx1030*"))
    link, source = environment.site / "_rocm_sdk_devel" / KERNELS, environment.site / "_rocm_sdk_libraries" / KERNELS
    environment.sdk("test", "-q")
    assert link.samefile(source) and f"_rocm_sdk_devel/{KERNELS}" in environment.rows("rocm_sdk_device_gfx942")
    environment.uninstall("rocm-sdk-device-gfx942")
    assert not link.exists() and not source.exists() and (environment.site / "_rocm_sdk_libraries/__init__.py").exists()
    environment.sdk("test", "-q")
    environment.install(page, "rocm[device-all]==7.2.0")
    environment.sdk("init")
    environment.sdk("init")  # nothing is left to do
    assert link.samefile(source)
    environment.sdk("test", "-q")


def test_nothing_stays_behind_in_any_order(environment, page):
    """No directory either: pip removes one with the last package that has a file right in it."""
    environment.install(page, "rocm[profiler]==7.2.0")
    before = set(environment.site.glob("*rocm*"))
    orders = [*itertools.permutations(("devel", "libraries", "device-gfx942"))]
    # By pip, which takes half a second for each command, an ordinary run takes those in which each package is once the first and once the last.
    for order in [*(orders if LONG or environment.installer == "uv" else (orders[0], orders[3], orders[4])), ("libraries", "device-gfx942", "device-gfx1030", "devel")]:
        projects = [f"rocm-sdk-{each}" for each in order]
        environment.install(page, *(f"{project}==7.2.0" for project in projects))
        environment.sdk("init")
        environment.uninstall(*projects)  # one after the other
        assert set(environment.site.glob("*rocm*")) == before, order
    environment.uninstall("rocm", "rocm-sdk-core", "rocm-profiler")
    assert not list(environment.site.glob("*rocm*"))


@WHOEVER_INSTALLED
def test_device_code_of_another_release_is_passed_over(environment, page, split, tmp_path):
    good("sdk", "build", "--artifact-dir", split, "--dest-dir", tmp_path / "next", "--version", "7.3.0", "--profile", "ci")
    environment.install(page, "rocm[libraries,devel]==7.2.0")
    wheel = next((tmp_path / "next/dist").glob("rocm_sdk_device_gfx942-*"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(environment.site)
    assert "warning: rocm-sdk-device-gfx942 7.3.0 is passed over: this SDK is 7.2.0" in environment.sdk("init")
    assert not (environment.site / "_rocm_sdk_devel" / KERNELS).exists()
    tested = environment.sdk("test", "-q", code=1)
    assert "device wheel rocm-sdk-device-gfx942 is version 7.3.0, rocm-sdk-core is 7.2.0: install matching versions" in tested
    assert ", 1 failed," in tested, tested


@WHOEVER_INSTALLED
def test_device_code_of_an_unknown_target_is_told(environment, page, tmp_path):
    """Another build of the same version made it: its files fit, and nobody has tried them with these libraries."""
    artifacts = small_artifacts.make_split(tmp_path, ("gfx1100",))
    good(*words(artifacts, tmp_path / "other"))
    (wheel,) = (tmp_path / "other/dist").glob("rocm_sdk_device_gfx1100-*.whl")
    environment.install(page, "rocm[libraries,devel,device-gfx942]==7.2.0")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(environment.site)
    warning = "warning: rocm-sdk-device-gfx1100 is of another build: rocm 7.2.0 was built for gfx1030, gfx942"
    assert warning in environment.sdk("init")
    assert (environment.site / "_rocm_sdk_devel/lib/.kpack/blas_lib_gfx1100.kpack").exists()
    assert warning not in environment.sdk("path", "--root"), "it is told when the files are linked, not at each call"
    environment.sdk("test", "-q")
    environment.uninstall("rocm-sdk-device-gfx1100")
    assert "of another build" not in environment.sdk("init")


def test_device_code_of_an_unknown_target_in_a_set(built, tmp_path):
    artifacts = small_artifacts.make_split(tmp_path, ("gfx1100",))
    good(*words(artifacts, tmp_path / "other"))
    shutil.copytree(built, tmp_path / "set")
    good("set", "check", tmp_path / "set")
    shutil.copy(next((tmp_path / "other/dist").glob("rocm_sdk_device_gfx1100-*.whl")), tmp_path / "set")
    told = "rocm has no extra device-gfx1100: it was built for gfx1030, gfx942"
    assert told in good("set", "check", tmp_path / "set").err
    done = good("publish", tmp_path / "set", "--store", f"file:{tmp_path}/store", "--run-id", "43", "--platform", "linux", "--layout", "aug")
    assert told in done.err


@pytest.mark.parametrize("lacks", ["rocm-sdk-libraries", "rocm-sdk-device-gfx942"])
def test_a_set_without_a_package_that_its_rocm_names(built, lacks, tmp_path):
    """A store takes it and says so; nobody gets it as a release."""
    part = tmp_path / "part"
    shutil.copytree(built, part, ignore=shutil.ignore_patterns(lacks.replace("-", "_") + "-*"))
    words = ("publish", part, "--store", f"file:{tmp_path}/store", "--run-id", "43", "--platform", "linux", "--layout", "aug")
    refusal = refused("P091", 1, *words, "--profile", "release")
    assert f"Q401: rocm-7.2.0.tar.gz: rocm[device-all] 7.2.0 requires {lacks}==7.2.0" in refusal.err or "rocm[libraries] 7.2.0 requires rocm-sdk-libraries==7.2.0" in refusal.err
    told = [(one["code"], one["severity"]) for one in good(*words, "--json").json["notes"] if f"{lacks}==7.2.0" in one["message"]]
    assert set(told) == {("Q401", "warning")}
    assert "Q401" in quarry("set", "check", "run:43", "--store", f"file:{tmp_path}/store").err, "the same rule"
    good(*words, "--allow-missing", lacks, "--profile", "release")


def test_a_libraries_package_without_a_library(built, tmp_path):
    part = tmp_path / "part"
    shutil.copytree(built, part)
    (wheel,) = part.glob("rocm_sdk_libraries-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        kept = {name: archive.read(name) for name in archive.namelist() if ".so" not in name}
    record = next(name for name in kept if name.endswith("/RECORD"))
    kept[record] = b"".join(line for line in kept[record].splitlines(keepends=True) if b".so" not in line)
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in kept.items():
            archive.writestr(name, data)
    refused("P060", 2, "publish", part, "--store", f"file:{tmp_path}/store", "--run-id", "43", "--platform", "linux")
    assert not (tmp_path / "store").exists()


def test_a_report_of_no_device_code(built, tmp_path):
    """Another machine reports what `quarry test` refuses to record here: it is refused by the same rule."""
    store = ("--store", f"file:{tmp_path / 'store'}")
    good("publish", built.parent, *store, "--run-id", "42", "--platform", "linux", "--layout", "aug")
    environment = Environment(tmp_path / "env", "pip")
    environment.install(built, "rocm[libraries]==7.2.0")
    environment.sdk("test", "-q", "--json", str(tmp_path / "report.json"))
    words = ("evidence", "record", "--from-report", tmp_path / "report.json", "--from", "run:42-linux", *store)
    for more in ((), ("--backend", "gpu")):
        assert "not tested  rocm-sdk-device-gfx1030, rocm-sdk-device-gfx942" in refused("X031", 2, *words, *more).err
    assert not (tmp_path / "store/evidence").exists()
    assert good(*words, "--backend", "cpu", "--json").json["cell"]["backend"] == "cpu"
    environment.install(built, "rocm-sdk-device-gfx942==7.2.0")
    environment.sdk("test", "-q", "--json", str(tmp_path / "report.json"))
    assert good(*words, "--json").json["cell"]["family"] == "gfx942"


@WHOEVER_INSTALLED
def test_a_list_that_leads_out_is_refused(environment, page):
    environment.install(page, "rocm[libraries,devel,device-gfx942]==7.2.0")
    listed = environment.site / "_rocm_sdk_libraries/.devel_links/gfx942.json"
    listed.write_text('{"links": [{"relpath": "../../pyvenv.cfg"}]}')
    assert "may lead out" in environment.sdk("init", code=1)


@WHOEVER_INSTALLED
def test_what_stands_in_the_way_of_a_link_is_left(environment, page):
    environment.install(page, "rocm[libraries,devel,device-gfx942]==7.2.0")
    listed = environment.site / "_rocm_sdk_libraries/.devel_links/gfx942.json"
    kept = listed.read_text()
    listed.write_text('{"links": []}')
    environment.sdk("init")
    listed.write_text(kept)
    link = environment.site / "_rocm_sdk_devel" / KERNELS
    link.mkdir(parents=True)
    said = environment.sdk("init", code=1)
    assert "is a directory" in said and str(link) in said
    link.rmdir()
    (record,) = environment.site.glob("rocm_sdk_devel-*.dist-info/RECORD")
    with record.open("a") as file:
        file.write(f"_rocm_sdk_devel/{KERNELS},,\n")
    link.write_text("of devel")
    assert "belongs to the development files" in environment.sdk("init", code=1) and link.read_text() == "of devel"
    record.write_text(record.read_text().replace(f"_rocm_sdk_devel/{KERNELS},,\n", ""))
    link.unlink()
    closed = "import rocm_sdk._device as d, rocm_sdk\ndef closed(*_): raise PermissionError(13, 'closed')\nd._record.replace = closed\nd._record.announce_temporary = closed\nimport rocm_sdk._devel as v; v.get_devel_root()"
    assert "cannot be written to" in environment.run(environment.python, "-c", closed)


# --- what is refused


def test_a_target_of_the_list_without_artifacts(split, tmp_path):
    done = refused("S005", 3, *words(split, tmp_path / "out"), "--linux-amdgpu-families", "gfx94X-dcgpu,gfx1151")
    assert "gfx1151" in done.err and not (tmp_path / "out").exists()


def test_an_empty_profiler(own, tmp_path):
    shutil.rmtree(own / "rocprofiler-systems_run_generic")
    assert "rocm-profiler" in refused("S007", 3, *words(own, tmp_path / "out")).err


def test_a_target_that_the_build_does_not_know(own, tmp_path):
    (own / DIST_INFO).write_text('{"dist_amdgpu_targets": "gfx1030"}')
    done = refused("S030", 1, *words(own, tmp_path / "out"))
    assert "error[S061] gfx942" in done.err


def test_a_target_that_the_host_does_not_know(own, tmp_path):
    """Without the build's list of targets, the manifest beside the host's libraries says which code belongs to them."""
    (own / DIST_INFO).unlink()
    manifest = own / HOST / "lib/.kpack/blas_lib.kpm"
    good(*words(own, tmp_path / "out"), "--dry-run")  # it cannot be read, and says nothing
    with open(manifest, "r+b") as file:
        file.truncate((16 << 20) + 1)
    good(*words(own, tmp_path / "out"), "--dry-run")  # nor can one that is larger than any build's
    manifest.write_bytes(kpack.pack({"format_version": 1, "kpack_files": {"gfx1030": "a.kpack", "gfx942:xnack-": {"file": "b.kpack"}}}))
    good(*words(own, tmp_path / "out"), "--dry-run")
    (own / "blas_lib_gfx942").rename(own / "blas_lib_gfx1201")
    done = refused("S030", 1, *words(own, tmp_path / "out"), "--dry-run")
    assert "error[S061] gfx1201: blas_lib_gfx1201 holds device code, and the host's libraries were built for gfx1030, gfx942" in done.err


def test_a_target_whose_code_the_host_has_already(own, tmp_path):
    archive = "lib/.kpack/blas_lib_gfx942.kpack"
    shutil.copy(own / "blas_lib_gfx942/math-libs/BLAS/stage" / archive, own / HOST / archive)
    done = refused("S006", 3, *words(own, tmp_path / "out"))
    said = " ".join(done.err.split())
    assert f"gfx942 has no files of its own for rocm-sdk-device-gfx942: {archive} is in rocm-sdk-libraries, too" in said


def test_all_targets_without_artifacts_are_named(split, tmp_path):
    done = refused("S005", 3, *words(split, tmp_path / "out"), "--linux-amdgpu-families", "gfx103X-dgpu")
    assert "is for target gfx1031, gfx1032" in " ".join(done.err.split())


def test_a_target_of_the_build_without_artifacts(own, tmp_path):
    (own / DIST_INFO).write_text('{"dist_amdgpu_targets": "gfx1030;gfx942;gfx908"}')
    said = " ".join(good(*words(own, tmp_path / "out")).err.split())
    assert "warning[S063]: gfx908: the build was for these targets, too" in said
    assert "say which families are wanted: --linux-amdgpu-families, --windows-amdgpu-families" in said
    chosen = good(*words(own, tmp_path / "chosen"), "--linux-amdgpu-families", "gfx942")
    assert "S063" not in chosen.err


def test_a_target_that_lacks_an_artifact(own, tmp_path):
    """A job of one target failed: the packages are made, and the build says what they lack."""
    for target in small_artifacts.TARGETS:
        stage = small_artifacts.stage(own, "rand", "lib", target, "math-libs/rocRAND/stage")
        small_artifacts.write(stage / f"lib/.kpack/rand_lib_{target}.kpack", f"KPAK of {target}")
    assert "S063" not in good(*words(own, tmp_path / "whole")).err
    shutil.rmtree(own / "rand_lib_gfx942")
    done = good(*words(own, tmp_path / "out"))
    assert "warning[S063]: gfx942: other targets have device code in rand_lib, and this one has none there" in done.err
    assert "S063]: gfx1030" not in done.err


def test_a_file_of_two_targets(own, tmp_path):
    for target in small_artifacts.TARGETS:
        small_artifacts.write(own / f"blas_lib_{target}/math-libs/BLAS/stage/lib/shared.dat", "the same")
    done = refused("S030", 1, *words(own, tmp_path / "out"))
    assert "error[S062] rocm-sdk-device-gfx942!lib/shared.dat" in done.err and "rocm-sdk-device-gfx1030" in done.err


def test_a_file_that_the_libraries_hold(own, tmp_path):
    host, device = (own / f"blas_lib_{target}/math-libs/BLAS/stage/lib/shared.dat" for target in ("generic", "gfx942"))
    for path in (host, device):
        small_artifacts.write(path, "the same")
    good(*words(own, tmp_path / "out"))
    assert "_rocm_sdk_libraries/lib/shared.dat" not in members(tmp_path / "out/dist", "rocm_sdk_device_gfx942")
    device.write_text("another")
    assert "error[S062]" in refused("S030", 1, *words(own, tmp_path / "again")).err


def test_a_manifest_that_contradicts_the_files(own, tmp_path):
    (own / MANIFEST).write_text('{"flags": {"KPACK_SPLIT_ARTIFACTS": false}}')
    done = refused("S059", 6, *words(own, tmp_path / "out"))
    assert ".kpack" in done.err and not (tmp_path / "out").exists()


def test_split_and_unsplit_artifacts_together(own, tmp_path):
    rand = small_artifacts.stage(own, "rand", "lib", "gfx942", "math-libs/rocRAND/stage")
    small_artifacts.library(rand, "rocrand", "1", "1.0")
    assert "rand_lib_gfx942" in refused("S059", 6, *words(own, tmp_path / "out")).err
    shutil.rmtree(own / "rand_lib_gfx942")
    rand = small_artifacts.stage(own, "rand", "lib", "gfx94X-dcgpu", "math-libs/rocRAND/stage")
    small_artifacts.library(rand, "rocrand", "1", "1.0")
    assert "gfx94X-dcgpu" in refused("S059", 6, *words(own, tmp_path / "out")).err
    fetched = good("artifact", "fetch", "--from", own, "--artifact-group", "gfx94X-dcgpu", "--output-dir", tmp_path / "fetched")
    assert "A098" in fetched.err and "gfx942" in fetched.err and (tmp_path / "fetched/rand_lib_gfx94X-dcgpu").is_dir() and not (tmp_path / "fetched/blas_lib_gfx942").exists()
    both = good("artifact", "fetch", "--from", own, "--artifact-group", "gfx94X-dcgpu", "--amdgpu-targets", "gfx942", "--output-dir", tmp_path / "both")
    assert "A098" not in both.err and (tmp_path / "both/blas_lib_gfx942").is_dir()
    for family in ("gfx94X-dcgpu", "multiarch"):
        done = refused("A098", 6, "artifact", "tarball", "--from", own, "--family", family, "--version", "7.2.0", "--output-dir", tmp_path / "tarballs")
        assert "gfx94X-dcgpu" in done.err and "gfx942" in done.err and not (tmp_path / "tarballs").exists()


def test_a_recipe_of_another_era(split, artifacts, tmp_path):
    assert "rocm-sdk-aug" in refused("S053", 1, *words(split, tmp_path / "out"), "--recipe", "rocm-sdk").err
    assert "say --recipe rocm-sdk\n" in refused("S060", 2, *words(artifacts, tmp_path / "out"), "--recipe", "rocm-sdk-aug").err
    copy = tmp_path / "artifacts"
    shutil.copytree(artifacts, copy, symlinks=True)
    small_artifacts.write(small_artifacts.stage(copy, "rocgdb", "run", "generic", "debug/stage") / "bin/rocgdb", "x")
    done = refused("S060", 2, *words(copy, tmp_path / "out"), "--recipe", "rocm-sdk")
    assert "rocgdb" in done.err and "say --recipe rocm-sdk-aug" in done.err


def test_artifacts_of_august_that_are_not_split(artifacts, tmp_path):
    copy = tmp_path / "artifacts"
    shutil.copytree(artifacts, copy, symlinks=True)
    small_artifacts.write(small_artifacts.stage(copy, "rocgdb", "run", "generic", "debug/stage") / "bin/rocgdb", "x")
    small_artifacts.write(small_artifacts.stage(copy, "rocprofiler-compute", "run", "generic", "prof/stage") / "libexec/rocprofiler-compute/rocprof-compute", "x")
    done = good(*words(copy, tmp_path / "out"), "--json")
    assert done.json["recipe"] == "rocm-sdk-aug" and done.json["unused"] == []
    assert "_rocm_sdk_core/bin/rocgdb" in members(tmp_path / "out/dist", "rocm_sdk_core")
    assert {path.name.split("-")[0] for path in (tmp_path / "out/dist").glob("*.whl")} == {"rocm_sdk_core", "rocm_profiler", "rocm_sdk_libraries_gfx103x_dgpu", "rocm_sdk_devel"}


# --- fetching, and real device code


def test_a_group_means_its_targets(split, tmp_path):
    good("artifact", "pack", split, "--output-dir", tmp_path / "run")
    done = good("artifact", "fetch", "--from", tmp_path / "run", "--output-dir", tmp_path / "fetched", "--artifact-group", "gfx94X-dcgpu", "--json")
    targets = {each["target"] for each in done.json["artifacts"]}
    assert targets == {"generic", "gfx942"} and "gfx942" in done.err
    refused("A022", 3, "artifact", "fetch", "--from", tmp_path / "run", "--output-dir", tmp_path / "none", "--artifact-group", "gfx1151")


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("multi-arch-release", {"generic", "gfx942", "gfx1030"}),
        ("multi-arch-asan", {"generic", "gfx942", "gfx1030"}),
        ("gfx94X-dcgpu;gfx103X-dgpu", {"generic", "gfx942", "gfx1030"}),
        ("gfx94X-dcgpu, gfx942", {"generic", "gfx942"}),
    ],
)
def test_a_group_of_several_families(split, tmp_path, group, expected):
    """As workflows of August name all families of a run, and lists of them."""
    done = good("artifact", "list", split, "--artifact-group", group, "--json")
    assert {each["target"] for each in done.json["artifacts"]} == expected
    good("artifact", "fetch", "--from", split, "--output-dir", tmp_path / "fetched", "--artifact-group", group)


def test_a_group_that_is_not_there_among_several(split, tmp_path):
    words = ["artifact", "fetch", "--from", split, "--output-dir", tmp_path / "none", "--artifact-group"]
    assert "no artifact for gfx1151" in refused("A022", 3, *words, "gfx94X-dcgpu;gfx1151").err
    refused("A047", 2, *words, " ; ")


def forged_library(path: Path, targets: list[str]) -> None:
    """A library with code objects that clang makes for each target, bundled as a compiler of HIP does it."""
    place = path.parent
    small_artifacts.write(place / "kernel.c", "__attribute__((amdgpu_kernel)) void fill(__attribute__((address_space(1))) int *out) { *out = 7; }\n")
    (place / "host").write_bytes(b"")
    for number, target in enumerate(targets):
        subprocess.run(["clang-19", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-O1", "-c", "kernel.c", "-o", f"{number}.o"], cwd=place, check=True)
    labels = ",".join(["host-x86_64-unknown-linux", *(f"hipv4-amdgcn-amd-amdhsa--{target}" for target in targets)])
    inputs = ["-input=host", *(f"-input={number}.o" for number in range(len(targets)))]
    subprocess.run(["clang-offload-bundler-19", "-type=o", "-bundle-align=4096", f"-targets={labels}", *inputs, "-output=fatbin"], cwd=place, check=True)
    (place / "library.s").write_text('.section .hip_fatbin,"a",@progbits\n.p2align 12\n.incbin "fatbin"\n.section .note.GNU-stack,"",@progbits\n')
    subprocess.run(["gcc", "-shared", "-nostdlib", "library.s", f"-Wl,-soname,{path.name}", "-o", path.name], cwd=place, check=True)
    for each in place.iterdir():
        if each != path:
            each.unlink()


def test_real_device_code(tmp_path):
    """Of two libraries, which meet in one package for each target: Debian's librocrand, and one that clang makes."""
    rocrand = good("gpu", "list", "--json", debian_rocm.library("librocrand.so.1.1")).json
    targets = sorted({each["target"] for each in rocrand["code_objects"]})
    forged_library(small_artifacts.stage(tmp_path / "family", "fft", "lib", small_artifacts.FAMILY, "math-libs/rocFFT/stage") / "lib/libhipfft.so.0", targets)
    artifacts = debian_rocm.split_artifacts(tmp_path / "split", tmp_path / "family")
    done = good(*words(artifacts, tmp_path / "out"), "--json", timeout=1200)
    devices = [each for each in done.json["packages"] if each["package"] == "device"]
    assert {"gfx1030", "gfx90a", "gfx906"} <= {each["family"] for each in devices}
    (wheel,) = (tmp_path / "out/dist").glob("rocm_sdk_device_gfx90a-*.whl")
    listed = good("gpu", "list", "--json", wheel).json
    assert {each["target"] for each in listed["code_objects"]} == {"gfx90a:xnack+", "gfx90a:xnack-"} and not listed["findings"]
    both = [f"_rocm_sdk_libraries/lib/.kpack/{name}_lib_gfx1030.kpack" for name in ("fft", "rand")]
    held = members(tmp_path / "out/dist", "rocm_sdk_device_gfx1030")
    assert [name for name in held if name.endswith(".kpack")] == both
    rows = good("gpu", "list", "--json", *(tmp_path / "out/dist").glob("rocm_sdk_device_gfx1030-*.whl")).json["code_objects"]
    assert {each["target"] for each in rows} == {"gfx1030"} and sum(each["count"] for each in rows) == 2
    assert {"_rocm_sdk_libraries/lib/libhipfft.so.0", "_rocm_sdk_libraries/lib/librocrand.so.1"} <= set(members(tmp_path / "out/dist", "rocm_sdk_libraries"))
    (host,) = (tmp_path / "out/dist").glob("rocm_sdk_libraries-*.whl")
    assert good("gpu", "list", "--json", host).json["code_objects"] == []


def test_a_run_is_installed_tested_and_promoted(built, report_only_policy, tmp_path):
    """From the run's sealed set: what is tested includes the device code, also once it is linked into the development files."""
    store = ("--store", f"file:{tmp_path / 'store'}")
    good("publish", built.parent, *store, "--run-id", "42", "--platform", "linux", "--layout", "aug", "--channel", "staging")
    good("venv", "install", *BY_UV, tmp_path / "env", "--from", "run:42-linux", "--packages", "rocm[libraries,devel,device-gfx942]", *store)
    for _ in range(2):  # before and after the development files are unpacked
        done = good("test", "--venv", tmp_path / "env", *store, "--json")
        subjects = {each["filename"].split("-7.2.0")[0] for each in done.json["subjects"]}
        assert subjects == {"rocm", "rocm_sdk_core", "rocm_sdk_libraries", "rocm_sdk_device_gfx942", "rocm_sdk_devel"}
        assert done.json["result"] == "passed" and done.json["cell"]["family"] == "gfx942"
    refused("X002", 2, "test", "--venv", tmp_path / "env", *store, "--family", "gfx1030")
    (link,) = (tmp_path / "env").glob(f"lib/python3.*/site-packages/_rocm_sdk_devel/{KERNELS}")
    original = link.read_bytes()
    link.unlink()
    link.write_bytes(original[:-1] + b"!")  # the libraries' own file stays as it was
    refused("V031", 6, "test", "--venv", tmp_path / "env", *store)
    promoted = good("promote", "--from", "run:42", "--to", "stable", *store, "--policy", report_only_policy)
    assert re.search(r"linux gfx1030 .* HELD +no evidence", promoted.out + promoted.err), "the other target was not tested"
    assert not re.search(r"linux gfx942 .* no evidence", promoted.out + promoted.err)
    assert "rocm_sdk_device_gfx942" in good("set", "show", "channel:stable", *store, "--json").out
