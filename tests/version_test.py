"""`version`, `version compute` and `version write` as a workflow's script calls them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402

SHA = "0123456789abcdef0123456789abcdef01234567"
COMPUTE = ["version", "compute", "--base", "7.12.0", "--date", "20261121", "--sha", SHA]
TAGS = "cp312-cp312-manylinux_2_28_x86_64.whl"


def test_the_program_still_says_which_it_is():
    assert good("version").out.startswith("quarry ")
    assert good("version", "--json").json["schema"] == "quarry.version/1"
    assert good("--version").out == good("version").out


def test_outputs_have_todays_names(tmp_path: Path):
    output = tmp_path / "output"
    output.write_text("before=1\n")
    done = good(*COMPUTE, "--release-type", "prerelease", "--prerelease-version", "3", "--json", environment=clean_environment(GITHUB_OUTPUT=str(output)))
    versions = {"rocm_package_version": "7.12.0rc3", "rocm_deb_package_version": "7.12.0~pre3", "rocm_rpm_package_version": "7.12.0~rc3"}
    assert versions.items() <= done.json.items()
    assert output.read_text() == "before=1\n" + "".join(f"{name}={version}\n" for name, version in versions.items())


@pytest.mark.parametrize(("package", "version"), [("wheel", f"7.12.0.dev0+{SHA}"), ("deb", "7.12.0~dev20261121"), ("rpm", "7.12.0~20261121g01234567")])
def test_one_package_type_prints_the_version_alone(package: str, version: str):
    assert good(*COMPUTE, "--release-type", "dev", "--package-type", package).out == version + "\n"


def test_the_version_file_and_the_repository(tmp_path: Path):
    (tmp_path / "version.json").write_text(json.dumps({"rocm-version": "10.1.0", "release-metadata": {"base-date": "20260801"}}))
    assert good("version", "compute", "--release-type", "nightly-bkc", "--date", "20260818", "--package-type", "wheel", cwd=tmp_path).out == "10.1.0a20260801+bkc.20260818\n"
    environment = clean_environment(GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.com", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.com")
    arguments = ["version", "compute", "--release-type", "ci", "--package-type", "wheel"]
    done = refused("N004", 2, *arguments, cwd=tmp_path, environment={**environment, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    assert "--sha" in done.err
    subprocess.run(["git", "init", "-q", tmp_path], check=True, env=environment)
    subprocess.run(["git", "-C", tmp_path, "commit", "-q", "--allow-empty", "-m", "x"], check=True, env=environment)
    head = subprocess.run(["git", "-C", tmp_path, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert good(*arguments, cwd=tmp_path, environment=environment).out == f"10.1.0.dev0+{head}\n"
    for empty in (["--sha", ""], ["--sha="]):  # as workflows pass an input that nobody has set
        assert good(*arguments, *empty, cwd=tmp_path, environment=environment).out == f"10.1.0.dev0+{head}\n"
        assert good(*arguments, *empty, cwd=tmp_path, environment={**environment, "GITHUB_SHA": SHA}).out == f"10.1.0.dev0+{SHA}\n"
    script = ["compat", "compute_rocm_package_version", "--release-type", "dev", "--override-git-sha", ""]
    assert f"10.1.0.dev0+{head}" in good(*script, cwd=tmp_path, environment=environment).out
    assert good(*arguments, cwd=tmp_path, environment={**environment, "GITHUB_SHA": SHA}).out == f"10.1.0.dev0+{SHA}\n"


def test_the_release_type_of_the_job():
    environment = clean_environment(RELEASE_TYPE="nightly")
    assert good(*COMPUTE, "--package-type", "wheel", environment=environment).out == "7.12.0a20261121\n"
    refused("N001", 2, *COMPUTE, environment=clean_environment(RELEASE_TYPE=""))


@pytest.mark.parametrize(
    ("code", "exit_code", "arguments"),
    [
        ("N001", 2, [*COMPUTE]),
        ("N001", 2, [*COMPUTE, "--release-type", "weekly"]),
        ("N001", 2, [*COMPUTE, "--release-type", "ci", "--era", "feb"]),
        ("N001", 2, [*COMPUTE, "--release-type", "dev", "--custom-version-suffix", "rc1"]),
        ("N002", 2, ["version", "compute", "--release-type", "release", "--base", "7.12.0rc1"]),
        ("N002", 2, ["version", "compute", "--release-type", "release", "--base", "07.12.0"]),
        ("N003", 2, ["version", "compute", "--release-type", "nightly", "--base", "7.12.0", "--date", "20261131"]),
        ("N003", 2, [*COMPUTE, "--release-type", "nightly-bkc", "--base-date", "20261122"]),
        ("N004", 2, ["version", "compute", "--release-type", "dev", "--base", "7.12.0", "--sha", "0123456"]),
        ("N005", 2, [*COMPUTE, "--release-type", "prerelease"]),
        ("N005", 2, [*COMPUTE, "--release-type", "prerelease", "--prerelease-version", "None"]),
        ("N006", 2, [*COMPUTE, "--custom-version-suffix", "-rc1"]),
        ("N006", 2, [*COMPUTE, "--custom-version-suffix", "~pre1"]),
        ("N007", 2, ["version", "compute", "--release-type", "release", "--version-file", "version.json"]),
        ("N008", 2, [*COMPUTE, "--release-type", "nightly", "--previous", "7.12.0rc1"]),
        ("N008", 2, [*COMPUTE, "--release-type", "release", "--package-type", "deb", "--previous", "7.11.0"]),
        ("M004", 2, [*COMPUTE, "--release-type", "release", "--previous", "yesterday"]),
        ("D001", 3, ["version", "compute", "--release-type", "release", "--version-file", "no-such-file"]),
        ("C006", 2, [*COMPUTE, "--release-type", "release", "--package-type", "msi"]),
    ],
)
def test_wrong_input(code: str, exit_code: int, arguments: list, tmp_path: Path):
    (tmp_path / "version.json").write_text("{}")
    output = tmp_path / "output"
    done = refused(code, exit_code, *arguments, cwd=tmp_path, environment=clean_environment(GITHUB_OUTPUT=str(output)))
    assert done.out == "" and not output.exists()


@pytest.mark.parametrize("command", [[*COMPUTE, "--release-type", "release"], ["compat", "compute_rocm_package_version", "--release-type", "release", "--override-base-version", "7.12.0"]])
def test_a_line_that_an_earlier_step_left_open(command: list, tmp_path: Path):
    """The script's command needs no version.json when the base is said."""
    output = tmp_path / "output"
    output.write_text("before=1")
    good(*command, cwd=tmp_path, environment=clean_environment(GITHUB_OUTPUT=str(output), GITHUB_SHA=SHA))
    assert output.read_text().startswith("before=1\nrocm_package_version=7.12.0\n")


@pytest.mark.parametrize(("words", "flag"), [(["compute_rocm_package_version", "--release-type", "release"], "--override-base-version"),
                                             (["build_python_packages", "--artifact-dir", ".", "--dest-dir", "out"], "--version")])  # fmt: skip
def test_scripts_name_their_own_flags(words: list, flag: str, tmp_path: Path):
    hint = refused("D001", 3, "compat", *words, cwd=tmp_path).err.rpartition("hint: ")[2]
    assert f"{flag}," in hint and "--base," not in hint


def test_two_development_builds_have_no_order():
    done = good(*COMPUTE, "--release-type", "dev", "--previous", f"7.12.0.dev0+{'f' * 40}")
    assert "differ in the commit only" in done.err


def torch_wheels(place: Path, *names: str) -> Path:
    place.mkdir(exist_ok=True)
    for name in names or ("torch-2.10.0+rocm7.12.0", "torchaudio-2.10.0+rocm7.12.0", "torchvision-0.25.0+rocm7.12.0", "triton-3.6.0+rocm7.12.0", "apex-1.10.0+rocm7.12.0"):
        (place / f"{name}-{TAGS}").touch()
    return place


def test_versions_of_built_wheels(tmp_path: Path):
    output = tmp_path / "output"
    done = good("version", "write", "torch", "--dist-dir", torch_wheels(tmp_path / "dist"), "--json", environment=clean_environment(GITHUB_OUTPUT=str(output)))
    assert done.json["torch_version"] == "2.10.0+rocm7.12.0" and done.json["triton_version"] == "3.6.0+rocm7.12.0"
    assert "torchvision_version=0.25.0+rocm7.12.0\n" in output.read_text()
    jax = torch_wheels(tmp_path / "jax", "jax_rocm7_plugin-0.8.2+rocm7.12.0", "jax_rocm7_pjrt-0.8.2+rocm7.12.0")
    assert good("version", "write", "jax", "--dist-dir", jax).out == "0.8.2\n"


def test_the_order_of_the_directory_decides_nothing(tmp_path: Path):
    place = torch_wheels(tmp_path / "dist")
    (place / "torch-2.9.1+rocm7.12.0-cp312-cp312-manylinux_2_28_x86_64.whl").touch()
    done = refused("N011", 2, "version", "write", "torch", "--dist-dir", place)
    assert "would be shipped  torch-2.10.0+rocm7.12.0-" in done.err and "torch-2.9.1+rocm7.12.0-" in done.err
    (place / "torch-2.9.1+rocm7.12.0-cp312-cp312-manylinux_2_28_x86_64.whl").rename(place / "torch-2.10.0+rocm7.12.0-cp312-cp312-linux_x86_64.whl")
    done = refused("N011", 2, "version", "write", "torch", "--dist-dir", place)
    assert "one as it was built and one repaired" in done.err


def test_wheels_that_cannot_be_meant(tmp_path: Path):
    refused("N010", 3, "version", "write", "torch", "--dist-dir", tmp_path)
    refused("D001", 3, "version", "write", "torch", "--dist-dir", tmp_path / "nowhere")
    refused("C006", 2, "version", "write", "tensorflow", "--dist-dir", tmp_path)
    refused("N012", 2, "version", "write", "jax", "--dist-dir", tmp_path, "--python", "cp312")
    (tmp_path / f"torch-2.10.0-{TAGS}").mkdir()
    refused("N012", 2, "version", "write", "torch", "--dist-dir", tmp_path)
    encoded = torch_wheels(tmp_path / "encoded", "torch-2.10.0%2Brocm7.12.0")
    assert "%2B stands for +" in refused("N012", 2, "version", "write", "torch", "--dist-dir", encoded).err
    jax = torch_wheels(tmp_path / "jax", "jax_rocm7_plugin-0.8.2", "jax_rocm10_pjrt-0.8.2")
    refused("N013", 2, "version", "write", "jax", "--dist-dir", jax)


def test_rocm_10_must_not_hide_behind_rocm_7(tmp_path: Path):
    place = torch_wheels(tmp_path / "dist", *(f"{name}+rocm10.1.0" for name in ("torch-2.10.0", "torchaudio-2.10.0", "torchvision-0.25.0", "triton-3.6.0", "apex-1.10.0")))
    done = refused("N008", 2, "version", "write", "torch", "--dist-dir", place, "--previous", "2.10.0+rocm7.12.0")
    assert "as text" in done.err
    assert quarry("version", "write", "torch", "--dist-dir", place, "--previous", "2.9.0+rocm7.12.0").code == 0
