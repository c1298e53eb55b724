"""Structured repositories on Ceph: `v5/rocm/{product}/whl-next/{project}/`, which another tool has begun, filled by the drop-ins of the release
scripts, installed by plain pip and uv through a plain web server, and rolled back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions, public_bucket, small_artifacts  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import clean_environment, good, refused  # noqa: E402

CORE, TORCH = "v5/rocm/core/whl-next", "v5/rocm/pytorch/whl-next"
DIRECT = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


@pytest.fixture(scope="module")
def place(ceph):
    with public_bucket.serve(ceph, listed=True) as place:
        yield place


def wheels(directory: Path, version: str, *names: str) -> Path:
    directory.mkdir(parents=True)
    for name in names:
        distributions.wheel(directory, name, version)
    return directory


def installed(place, tool: str, target: Path, prefix: str, *words: str) -> set[str]:
    program, index = client(tool), ("--index-url", f"{place.url}/{prefix}/", "--no-deps", "--target", target, *words)
    if tool == "uv":
        ended = program.run("pip", "install", "--python", program.bin / "python", "--no-cache", *index, environment=DIRECT)
    else:
        ended = program.run("install", "--no-cache-dir", *index, environment=DIRECT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return {path.name.removesuffix(".dist-info") for path in target.glob("*.dist-info")}


def test_two_products_are_published_installed_and_rolled_back(place, tmp_path):
    environment = clean_environment(NO_PROXY="127.0.0.1", GITHUB_RUN_ID="42", **place.environment())
    writer = place.client()
    old = next(wheels(tmp_path / "old", "7.0.0", "rocm-sdk-core").iterdir())
    writer.put(place.bucket, f"{CORE}/rocm-sdk-core/{old.name}", old.read_bytes())

    store = f"file:{tmp_path / 'artifacts'}"
    for version in ("7.1.0", "7.2.0"):
        run = version.replace(".", "")
        good("compat", "upload_python_packages", "--run-id", run, "--multiarch", "--store", store, "--input-packages-dir", wheels(tmp_path / version, version, "rocm-sdk-core", "rocm-sdk-device-gfx942"))
        small_artifacts.write(tmp_path / f"artifacts/{run}-linux/tarballs/therock-dist-linux-multiarch-{version}.tar.gz", version)
        given = ["--run-id", run, "--platform", "linux", "--release-type", "nightly", "--kpack-split", "true", "--structured", "--skip-native-packages", "--store", store, "--to-store", place.locator]
        good("compat", "publish_rocm_to_release_buckets", *given, environment=environment)
    torch = wheels(tmp_path / "torch", "2.10.0+rocm7.2.0", "torch", "amd-torch-device-gfx942")
    good("compat", "publish_pytorch_to_release_bucket", "--source-dir", torch, "--release-type", "nightly", "--structured", "--to-store", place.locator, environment=environment)

    keys = set(writer.list(place.bucket, "v5/"))
    assert {f"{CORE}/rocm-sdk-core/rocm_sdk_core-{version}-py3-none-any.whl" for version in ("7.0.0", "7.1.0", "7.2.0")} <= keys
    assert {f"v5/rocm/core/tarball/therock-dist-linux-multiarch-{version}.tar.gz" for version in ("7.1.0", "7.2.0")} <= keys
    assert f"{TORCH}/amd-torch-device-gfx942/amd_torch_device_gfx942-2.10.0+rocm7.2.0-py3-none-any.whl" in keys
    for tool in ("pip-newest", "uv"):
        assert installed(place, tool, tmp_path / f"{tool}-new", CORE, "rocm-sdk-core", "rocm-sdk-device-gfx942") == {"rocm_sdk_core-7.2.0", "rocm_sdk_device_gfx942-7.2.0"}
        assert installed(place, tool, tmp_path / f"{tool}-old", CORE, "rocm-sdk-core==7.0.0") == {"rocm_sdk_core-7.0.0"}
        assert installed(place, tool, tmp_path / f"{tool}-torch", TORCH, "torch") == {"torch-2.10.0+rocm7.2.0"}

    good("rollback", f"{place.locator}/{CORE}", "--reason", "breaks import torch", environment=environment)
    for tool in ("pip-newest", "uv"):
        assert installed(place, tool, tmp_path / f"{tool}-back", CORE, "rocm-sdk-core") == {"rocm_sdk_core-7.1.0"}
        assert installed(place, tool, tmp_path / f"{tool}-kept", TORCH, "torch") == {"torch-2.10.0+rocm7.2.0"}
    assert set(writer.list(place.bucket, f"{CORE}/rocm-sdk-core/")) >= {f"{CORE}/rocm-sdk-core/rocm_sdk_core-7.2.0-py3-none-any.whl"}, "a rollback removes no file"
    refused("R022", 10, "compat", "publish_rocm_to_release_buckets", *given, environment=environment)
