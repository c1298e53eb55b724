"""Calls of TheRock's scripts that ask GitHub or S3, made against doubles on this machine: what they end with, and what they write.

    python tests/support/incumbent_network.py FEBRUARY AUGUST > tests/data/incumbent-network.json

records the facts from two checkouts, with a Python that has boto3, awscli (its `aws` in PATH) and the scripts' requirements;
tests/compat_exits_test.py makes the same calls of `quarry compat`. The words are those of incumbent_cases.py; the last column is
the world that a call meets.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support import github_double, incumbent_cases, s3_server  # noqa: E402
from support.incumbent_cases import AUG, BOTH, FEB  # noqa: E402

LOOPBACK = Path(__file__).with_name("loopback")
COMMIT = "b2" * 20
FAMILY = "gfx94X-dcgpu"
FAILS = "status:500:InternalError"


@dataclass(frozen=True)
class World:
    """What the doubles hold and how they answer. The store has run 42, releases and one prefix of packages."""

    keys: str = "good"  # "good", "wrong", or "" for none
    private: bool = False  # reads need a signature, too
    s3: str = ""  # the answer to each request
    key: str = "*"  # the glob of keys that `s3` is about
    method: str = "*"
    github: tuple[int, dict, str] | None = None
    token: str = ""  # that GitHub wants; calls bring "t"


WORLDS = {
    "well": World(),
    "without keys": World(keys=""),
    "private": World(keys="", private=True),
    "wrong keys": World(keys="wrong"),
    "store fails": World(s3=FAILS),
    "downloads fail": World(s3=FAILS, key="*.tar.*", method="GET"),
    "token refused": World(token="another"),
    "GitHub fails": World(github=(500, {}, '{"message": "Server Error"}')),
    "rate limit": World(github=(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "4102444800"}, '{"message": "API rate limit exceeded for 192.0.2.1."}')),
}
READING = ("well", "without keys", "private", "store fails")
WRITING = ("well", "without keys", "wrong keys", "store fails")
JOB = {"GITHUB_REPOSITORY": "ROCm/TheRock", "GITHUB_RUN_ID": "42", "GITHUB_TOKEN": "t"}
FETCH = ["--artifact-group", FAMILY, "--output-dir", "{out}/tree"]
STAGED = ["--stage", "runtime", "--topology", "{in}/topology.toml", "--platform", "linux"]
FIND = ["--artifact-group", FAMILY, "--platform", "linux", "--commit"]
BUILD = ["--build-dir", "{in}/build", "--run-id", "42"]
PACKAGES = ["--input-packages-dir", "{in}/sdk", "--artifact-group", FAMILY, "--run-id", "43"]
ROCM = ["--platform", "linux", "--release-type", "dev", "--kpack-split", "true", "--skip-native-packages", "--structured"]


def each(script: str, eras: tuple[str, ...], case: str, words: list[str], worlds: tuple[str, ...], variables: dict[str, str] | None = None) -> list:
    return [(script, eras, f"{case}, {world}", words, JOB | (variables or {}), world) for world in worlds]


# (script, months, name of the case, words, variables, world)
CASES = [
    *each("artifact_manager", BOTH, "a push", ["push", *STAGED, *BUILD], WRITING),
    *each("artifact_manager", BOTH, "a fetch", ["fetch", *STAGED[2:], "--stage", "all", "--run-id", "42", "--output-dir", "{out}/tree"], (*READING, "downloads fail")),
    *each("artifact_manager", AUG, "a copy", ["copy", *STAGED, "--source-run-id", "42", "--run-id", "44"], WRITING),
    *each("fetch_artifacts", BOTH, "a run", ["--run-id", "42", *FETCH], (*READING, "downloads fail")),
    *each("fetch_artifacts", BOTH, "no such run", ["--run-id", "7", *FETCH], ("well",)),
    *each("fetch_artifacts", BOTH, "another repository's run", ["--run-id", "42", "--run-github-repo", "ROCm/TheRock", *FETCH], ("well", "token refused", "GitHub fails")),
    *each("find_artifacts_for_commit", BOTH, "a commit", [*FIND, COMMIT], ("well", "token refused", "GitHub fails", "rate limit", "store fails")),
    *each("find_artifacts_for_commit", BOTH, "no such commit", [*FIND, "c3" * 20], ("well",)),
    *each("find_artifacts_for_commit", BOTH, "no such group", ["--artifact-group", "gfx1151", "--platform", "linux", "--commit", COMMIT], ("well",)),
    *each("install_rocm_from_artifacts", BOTH, "a run", ["--run-id", "42", *FETCH], READING),
    *each("install_rocm_from_artifacts", BOTH, "no such run", ["--run-id", "7", *FETCH], ("well",)),
    *each("install_rocm_from_artifacts", BOTH, "a release", ["--release", "7.11.0a20260119", *FETCH], READING),
    *each("install_rocm_from_artifacts", BOTH, "no such release", ["--release", "7.11.0a20260120", *FETCH], ("well",)),
    *each("install_rocm_from_artifacts", BOTH, "not a version", ["--release", "7.11.0", *FETCH], ("well",)),
    *each("install_rocm_from_artifacts", BOTH, "the newest release", ["--latest-release", *FETCH], ("well", "private", "store fails")),
    *each("install_rocm_from_artifacts", BOTH, "the newest release of nothing", ["--latest-release", "--artifact-group", "gfx1151", "--output-dir", "{out}/tree"], ("well",)),
    *each("manage", FEB, "a prefix", ["v2/gfx94X-dcgpu"], WRITING, {"S3_BUCKET_PY": "therock-dev-python"}),
    *each("manage", AUG, "a prefix", ["v2/gfx94X-dcgpu", "--bucket", "therock-dev-python"], WRITING),
    *each("manage", FEB, "an empty prefix", ["v2/gfx110X-all"], ("well",), {"S3_BUCKET_PY": "therock-dev-python"}),
    *each("manage", AUG, "an empty prefix", ["v2/gfx110X-all", "--bucket", "therock-dev-python"], ("well",)),
    *each("post_build_upload", FEB, "a build", ["--artifact-group", FAMILY, *BUILD, "--upload", "--job-status", "success"], WRITING),
    *each("post_build_upload", AUG, "a build", ["--artifact-group", FAMILY, *BUILD, "--upload"], WRITING),
    *each("post_stage_upload", AUG, "a stage", ["--stage", "runtime", *BUILD], WRITING),
    *each("publish_jax_to_release_bucket", AUG, "wheels", ["--source-dir", "{in}/jax", "--release-type", "dev", "--structured"], WRITING),
    *each("publish_pytorch_to_release_bucket", AUG, "wheels", ["--source-dir", "{in}/torch", "--release-type", "dev"], WRITING),
    *each("publish_rocm_to_release_buckets", AUG, "a run", ["--run-id", "42", *ROCM], WRITING),
    *each("publish_rocm_to_release_buckets", AUG, "no such run", ["--run-id", "7", *ROCM], ("well",)),
    *each("publish_rocm_to_release_buckets", AUG, "a dry run", ["--run-id", "42", *ROCM, "--dry-run"], ("well", "without keys")),
    *each("update_dependencies", FEB, "PyPI out of reach", ["--package", "torch"], ("well", "without keys"), {"S3_BUCKET_PY": "therock-dev-python"}),
    *each("update_dependencies", AUG, "PyPI out of reach", ["--package", "torch", "--bucket", "therock-dev-python", "--prefix", "v4/whl"], ("well", "without keys")),
    *each("upload_python_packages", BOTH, "packages", PACKAGES, WRITING),
    *each("upload_python_packages", BOTH, "a dry run", [*PACKAGES, "--dry-run"], ("well", "without keys", "store fails")),
]  # fmt: skip

# Words that ours needs beside them, so that it asks nobody but the doubles.
OURS = {"update_dependencies": ["--index-url", "http://127.0.0.1:9/simple/"]}


def archive(stage: str, name: str) -> bytes:
    """An artifact with one file, as TheRock packs it: the list of its directories comes first."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as tar:
        for path, data in (("artifact_manifest.txt", f"{stage}\n"), (f"{stage}/share/{name}", name)):
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data.encode()))
    return out.getvalue()


def add_archive(inputs: Path) -> None:
    """A build that has packed its artifact, and keeps the archive alone."""
    shutil.rmtree(inputs / "build/artifacts/base_run_generic")
    name, data = "base_run_generic.tar.xz", archive("base/aux-overlay/stage", "base_run_generic")
    (inputs / "build/artifacts" / name).write_bytes(data)
    (inputs / f"build/artifacts/{name}.sha256sum").write_text(f"{hashlib.sha256(data).hexdigest()}  {name}\n")


def stored() -> dict[str, bytes]:
    """Keys of every bucket: the double serves the same under each name."""
    objects = {}
    for name, stage in (("base_run_generic", "base/aux-overlay/stage"), (f"blas_lib_{FAMILY}", "math-libs/BLAS/stage")):
        data = archive(stage, name)
        objects[f"42-linux/{name}.tar.xz"] = data
        objects[f"42-linux/{name}.tar.xz.sha256sum"] = f"{hashlib.sha256(data).hexdigest()}  {name}.tar.xz\n".encode()
    objects["42-linux/index.html"] = objects[f"42-linux/index-{FAMILY}.html"] = b"<html></html>"
    release = io.BytesIO()
    with tarfile.open(fileobj=release, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("share/rocm"), io.BytesIO())
    for place in ("", "v4/tarball/"):
        objects[f"{place}therock-dist-linux-{FAMILY}-7.11.0a20260119.tar.gz"] = release.getvalue()
    objects["42-linux/tarballs/therock-dist-linux-multiarch-7.1.0.tar.gz"] = release.getvalue()
    with tempfile.TemporaryDirectory() as place:
        incumbent_cases.make_inputs(Path(place, "in"))
        for path in Path(place, "in/sdk/dist").iterdir():
            objects[f"42-linux/python/{path.name}"] = path.read_bytes()
        for path in Path(place, "in/torch").iterdir():
            objects[f"v2/{FAMILY}/{path.name}"] = path.read_bytes()
    return objects


@contextlib.contextmanager
def serve(world: World):
    """Yields the variables that lead a call to the doubles."""
    flags = ["--bucket", "*", *([] if world.private else ["--anonymous"])]
    with s3_server.serve(*flags) as store, github_double.serve() as (github, url):
        client = s3_server.Client(store.endpoint, store.access, store.secret)
        for key, body in stored().items():
            client.put("any", key, body)
        if world.s3:
            store.control("POST", {"faults": [{"method": world.method, "key": world.key, "times": 10_000, "action": world.s3}]})
        github.runs = [github_double.run_object(42, COMMIT, workflow=workflow) for workflow in ("ci.yml", "multi_arch_ci.yml")]
        github.token, github.refusal = world.token, world.github
        keys = {"AWS_ACCESS_KEY_ID": store.access, "AWS_SECRET_ACCESS_KEY": store.secret if world.keys == "good" else "wrong", "AWS_SESSION_TOKEN": "t"}
        yield {"AWS_ENDPOINT_URL": store.endpoint, "GITHUB_API_URL": url, "NO_PROXY": "*", "AWS_EC2_METADATA_DISABLED": "true", **(keys if world.keys else {})}


def observe(command: list, place: Path, words: list[str], case: tuple, surroundings: dict[str, str]) -> dict:
    script, _, _, _, variables, world = case
    with serve(WORLDS[world]) as doubles:
        return incumbent_cases.observe(command, place, words, variables, surroundings | doubles, add_archive if script == "post_build_upload" else lambda inputs: None)


def main() -> None:
    roots = {"feb": Path(sys.argv[1]).resolve(), "aug": Path(sys.argv[2]).resolve()}
    paths = incumbent_cases.script_paths()
    only = sys.argv[3:]
    rows = []
    for case in CASES:
        for era in case[1]:
            if only and case[0] not in only:
                continue
            with tempfile.TemporaryDirectory() as place:
                surroundings = {"PATH": os.environ["PATH"], "HOME": place, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(LOOPBACK), "AWS_DEFAULT_REGION": "us-east-2", "AWS_MAX_ATTEMPTS": "1", "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required"}
                seen = observe([sys.executable, roots[era] / paths[era, case[0]]], Path(place), case[3], case, surroundings)
            last = (seen.pop("error").strip().splitlines() or [""])[-1]
            print(f"{era} {case[0]}: {case[2]}: {seen['exit']} {last[:110]}", file=sys.stderr)
            rows.append({"era": era, "script": case[0], "case": case[2], **seen})
    incumbent_cases.write_facts("tests/support/incumbent_network.py on their sources and doubles of GitHub and S3", rows)


if __name__ == "__main__":
    main()
