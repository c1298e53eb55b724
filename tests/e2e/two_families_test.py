"""Debian's ROCm libraries as the packages of two families: a channel for each, one release that moves both, and a distribution for
each, from which pip and uv install by its bare URL. HIP and rocRAND are enough for that: rocSPARSE and LLVM have 1.5 GB, which would
take minutes to install."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import debian_rocm, environments  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import ROOT, clean_environment, good, refused  # noqa: E402
from support.static_server import serve  # noqa: E402

FAMILIES = ("gfx103X-dgpu", "gfx110X-all")
RUN, VERSION = "42", "7.2.0"


def channel(line: str, family: str) -> str:
    return f"{line}-{family.lower()}"


def artifacts_of(family: str, into: Path) -> Path:
    """What the job of one family fetches: generic artifacts, and rocRAND as the family's own."""
    into.mkdir(parents=True)
    for artifact in debian_rocm.artifacts().iterdir():
        name, _, target = artifact.name.rpartition("_")
        if target == "generic" and not name.startswith(("amd-llvm", "core-hip_run")):  # hipcc is nothing without clang
            (into / artifact.name).symlink_to(artifact)
        elif name == "rand_lib":
            (into / f"{name}_{family}").symlink_to(artifact)
    return into


class Line:
    def __init__(self, place: Path) -> None:
        self.place, self.store, self.policy = place, place / "store", place / "own.toml"
        self.policy.write_text(smoke_policy(suite="rocm-sdk"))
        self.at = ("--store", f"file:{self.store}")
        self.site = ""

    def publish(self, family: str, into: str, run: str = RUN) -> tuple:  # words of the command
        return ("publish", self.place / family, "--run-id", run, "--platform", "linux", "--artifact-group", family, "--channel", into, *self.at)

    def promote(self, *more: str):
        return good("promote", "--from", f"release:{VERSION}", "--to", "stable-{family}", "--policy", self.policy, "--to-store", f"file:{self.store}", *more, *self.at, "--json").json


def install(installer: str, env: Path, url: str, packages: str) -> None:
    """Nothing but the address of the index; no file of this machine may stand in for one of the index."""
    if installer == "pip":
        environments.pip_install(environments.make(env), "--no-cache-dir", "--index-url", url, packages)
    else:
        uv = ROOT / "build/tools/bin/uv"
        subprocess.run([uv, "venv", "-q", "--no-config", "--python", sys.executable, env], check=True, env=clean_environment())
        command = [uv, "pip", "install", "-q", "--no-config", "--no-cache", "--python", env, "--index-url", url, packages]
        done = subprocess.run(command, capture_output=True, text=True, env=clean_environment())
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def line(tmp_path_factory) -> Line:
    """Both families are published into channels of their own, and what uv installs from there is tested."""
    line = Line(tmp_path_factory.mktemp("two-families"))
    with serve(line.store) as (line.site, _):
        for family in FAMILIES:
            artifacts = artifacts_of(family, line.place / "artifacts" / family)
            good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", line.place / family, "--version", VERSION, "--profile", "ci")
            good(*line.publish(family, channel("staging", family)))
            env = line.place / "env"
            install("uv", env, f"{line.site}/channels/{channel('staging', family)}/simple/", "rocm[libraries,devel]")
            good("test", "--venv", env, "--from", f"run:{RUN}@{family}", "--family", family, *line.at)
            shutil.rmtree(env)
        words = [word for family in FAMILIES for word in ("--from", f"run:{RUN}@{family}")]
        good("release", "create", *words, "--name", VERSION, *line.at)
        plan = line.promote("--dry-run")["plan"]
        assert all(one["moved"] for one in line.promote("--execute", plan)["channels"]), "one plan moves both"
        yield line


def test_each_family_has_a_rocm_of_its_own(line):
    sdists = {(line.place / family / f"dist/rocm-{VERSION}.tar.gz").read_bytes() for family in FAMILIES}
    assert len(sdists) == 2


def test_the_rocm_of_one_family_does_not_get_into_the_channel_of_the_other(line):
    one, other = FAMILIES
    before = (line.store / f"channels/{channel('staging', one)}.json").read_bytes()
    said = refused("R023", 7, *line.publish(other, channel("staging", one), "43")).err
    assert one in said and other in said and "rocm" in said
    assert (line.store / f"channels/{channel('staging', one)}.json").read_bytes() == before
    words = ("--policy", line.policy, *line.at)
    good("waive", "--to", channel("stable", one), "--everything", "--reason", "the test", "--approver", "lead", "--expires", "1h", *words)
    refused("R023", 7, "promote", "--from", f"run:{RUN}@{other}", "--to", channel("stable", one), *words)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_people_install_each_family_by_the_address_of_its_distribution(line, tmp_path, installer, family):
    env = tmp_path / "env"
    install(installer, env, f"{line.site}/v2/{family}/", "rocm[libraries]")
    names = {path.name for path in env.glob("lib/python*/site-packages/*.dist-info")}
    of_family = f"rocm_sdk_libraries_{family.lower().replace('-', '_')}-{VERSION}.dist-info"
    assert {name for name in names if name.startswith("rocm_sdk_libraries_")} == {of_family}, names
    loads = "import rocm_sdk; rocm_sdk.preload_libraries('hiprand'); print(rocm_sdk.__version__, *rocm_sdk.find_libraries('hiprand'))"
    done = subprocess.run([env / "bin/python", "-c", loads], capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{VERSION} ") and f"_libraries_{family.replace('-', '_')}/lib/libhiprand.so" in done.stdout
