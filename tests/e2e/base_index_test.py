"""An environment whose only network is the store: ROCm packages of a run, and all that they need from the base index beside them."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import base_index, distributions, public_bucket, s3_server, small_artifacts, static_server  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry  # noqa: E402
from support.usual import each_once  # noqa: E402

TOOLS = ["pip-oldest", "pip-newest", "uv"]
TREES = ["simple", "simple-json"]
TOOLS_AND_TREES = [("pip-oldest", "simple"), ("pip-newest", "simple-json"), ("uv", "simple"), ("uv", "simple-json")]
# Whatever does not go to the store ends here: nobody listens on the discard port.
NOWHERE = {name: "http://127.0.0.1:9" for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")}
ONLY_THE_STORE = NOWHERE | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


@pytest.fixture(scope="module")
def store(ceph, packages, tmp_path_factory):
    """A bucket behind nginx with run 1 and a base index; what the base index was filled from is gone."""
    assert public_bucket.available(), "radosgw or nginx is missing: tools/setup --test"
    upstream = base_index.upstream(tmp_path_factory.mktemp("upstream"))
    with public_bucket.serve(ceph) as place:
        environment = clean_environment(NO_PROXY="127.0.0.1", **place.environment())
        good("publish", packages, "--store", place.locator, "--run-id", "1", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY, "--channel", "staging", environment=environment)
        first, again = (done.json for done in base_index.sync(upstream, place.locator, environment, "--json", times=2))
        assert first["merged"] == ["channels/staging", f"1-linux/python/{small_artifacts.FAMILY}"]
        assert first["files_fetched"] == 4 and (again["files_fetched"], again["writes"], again["set"]) == (0, 0, first["set"])
        good("set", "verify", f"set:{first['set']}", "--store", place.locator, environment=environment)
        yield place


@pytest.mark.parametrize(("tree", "name"), each_once(TREES, TOOLS))
def test_an_install_needs_no_other_network(store, tmp_path, name, tree):
    tool = client(name)
    group = f"{store.url}/1-linux/python/{small_artifacts.FAMILY}/{tree}/"
    words = ["--index-url", f"{store.url}/python-deps/{tree}/", "--extra-index-url", group, "--target", tmp_path / "t", "rocm[libraries,devel]", "demo-app"]
    install = ["pip", "install", "--python", tool.bin / "python", "--no-cache", "--prerelease", "allow"] if name == "uv" else ["install", "--no-cache-dir", "--pre"]
    ended = tool.run(*install, *words, environment=ONLY_THE_STORE)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    installed = {path.name.removesuffix(".dist-info") for path in (tmp_path / "t").glob("*.dist-info")}
    assert {"rocm-7.2.0", "rocm_sdk_core-7.2.0", "rocm_sdk_devel-7.2.0", "demo_app-1.0", "demo_base-1.0+up.1"} <= installed


@pytest.mark.parametrize(("tree", "place", "name"), each_once(TREES, [f"1-linux/python/{small_artifacts.FAMILY}", "channels/staging"], TOOLS, shift=1))
def test_one_merged_index_is_enough(store, tmp_path, name, tree, place):
    tool = client(name)
    words = ["--index-url", f"{store.url}/{place}/merged/{tree}/", "--target", tmp_path / "t", "rocm[libraries,devel]", "demo-app"]
    install = ["pip", "install", "--python", tool.bin / "python", "--no-cache", "--prerelease", "allow"] if name == "uv" else ["install", "--no-cache-dir", "--pre"]
    before = len(store.requested())
    ended = tool.run(*install, *words, environment=ONLY_THE_STORE)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    installed = {path.name.removesuffix(".dist-info") for path in (tmp_path / "t").glob("*.dist-info")}
    assert {"rocm-7.2.0", "rocm_sdk_core-7.2.0", "rocm_sdk_devel-7.2.0", "demo_app-1.0", "demo_base-1.0+up.1"} <= installed
    pages = {path for path in store.requested()[before:] if path.endswith("/")}
    assert pages and all(f"{place}/merged/{tree}/" in path for path in pages), pages


@pytest.mark.parametrize("index", ["of the store", "by its URL"])
def test_a_lock_names_files_of_the_base_index(store, tmp_path, index):
    environment = clean_environment(NO_PROXY="127.0.0.1", QUARRY_ALLOW_PLAIN_HTTP="1", **store.environment())
    named = ["--base-index", f"{store.url}/python-deps/simple/"] if index == "by its URL" else []
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    file = tmp_path / "pylock.toml"
    good("lock", "rocm-sdk-core", "demo-app", *named, "--from", "channel:staging", "--python", python, "--output", file, "--store", store.locator, "--public-url", store.url, environment=environment)
    urls = {package["name"]: package["wheels"][0]["url"] for package in tomllib.loads(file.read_text())["packages"]}
    assert urls["demo-base"] == f"{store.url}/python-deps/dist/demo_base-1.0%2Bup.1-py3-none-any.whl"
    tool = client("uv")
    ended = tool.run("pip", "install", "--python", tool.bin / "python", "--no-cache", "--target", tmp_path / "t", "-r", file, environment=ONLY_THE_STORE)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    installed = {path.name.removesuffix(".dist-info") for path in (tmp_path / "t").glob("*.dist-info")}
    assert installed == {"rocm_sdk_core-7.2.0", "demo_app-1.0", "demo_base-1.0+up.1"}


def test_a_merged_index_is_sound_and_comes_back(store):
    environment = clean_environment(NO_PROXY="127.0.0.1", **store.environment())
    for place in (f"1-linux/python/{small_artifacts.FAMILY}", "channels/staging"):
        checked = good("index", "check", f"{store.url}/{place}/merged/", "--json", environment=environment).json
        assert checked["projects"] >= 7 and not [found for found in checked["findings"] if found["severity"] == "error"]
    assert good("index", "repair", "channel:staging", "--store", store.locator, "--json", environment=environment).json["writes"] == 0
    shown = good("channel", "show", "staging", "--store", store.locator, "--public-url", store.url, "--json", environment=environment).json
    assert shown["merged_index_url"] == f"{store.url}/channels/staging/merged/simple/" and shown["merged_current"]


def test_pages_are_what_installers_are_told_they_are(store):
    pages = json.loads(_get(f"{store.url}/python-deps/simple-json/demo-base/"))
    assert [file["filename"] for file in pages["files"]] == ["demo_base-1.0+up.1-py3-none-any.whl"]
    assert b"demo-base" in _get(f"{store.url}/python-deps/simple/")


def test_the_web_server_hands_on_what_was_asked_for(store):
    requested = store.requested()
    assert any("%2Bup.1-py3-none-any.whl" in path for path in requested)


def _get(url: str) -> bytes:
    return s3_server.DIRECT.open(url, timeout=30).read()


@pytest.fixture(scope="module")
def with_framework(store, tmp_path_factory):
    """Another job of run 1 publishes wheels of a framework, which need ROCm's and those of the base index."""
    wheels = tmp_path_factory.mktemp("framework")
    distributions.wheel(wheels, "demo_torch", "2.9", requires=["rocm-sdk-core==7.2.0", "demo-app"])
    environment = clean_environment(NO_PROXY="127.0.0.1", **store.environment())
    done = good("publish", wheels, "--store", store.locator, "--run-id", "1", "--platform", "linux", "--area", "pytorch", "--artifact-group", small_artifacts.FAMILY, "--public-url", store.url, "--json", environment=environment).json
    assert done["run_merged_index_url"] == f"{store.url}/1-linux/merged/simple/"
    return done["run_merged_index_url"].removesuffix("simple/")


@pytest.mark.parametrize(("name", "tree"), TOOLS_AND_TREES)
def test_the_index_of_a_run_has_its_rocm_its_frameworks_and_all_that_they_need(with_framework, tmp_path, name, tree):
    tool = client(name)
    install = ["pip", "install", "--python", tool.bin / "python", "--no-cache", "--prerelease", "allow"] if name == "uv" else ["install", "--no-cache-dir", "--pre"]
    ended = tool.run(*install, "--index-url", with_framework + tree + "/", "--target", tmp_path / "t", "demo-torch", environment=ONLY_THE_STORE)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    installed = {path.name.removesuffix(".dist-info") for path in (tmp_path / "t").glob("*.dist-info")}
    assert installed == {"demo_torch-2.9", "rocm_sdk_core-7.2.0", "demo_app-1.0", "demo_base-1.0+up.1"}


def test_an_environment_of_a_run_has_its_rocm_its_frameworks_and_all_that_they_need(store, with_framework, tmp_path):
    environment = clean_environment(NO_PROXY="127.0.0.1", **store.environment(), **NOWHERE)
    good("venv", "install", tmp_path / "env", "--from", "run:1-linux", "--packages", "demo-torch", "--store", store.locator, environment=environment)
    installed = {path.name.removesuffix(".dist-info") for path in (tmp_path / "env").rglob("*.dist-info")}
    assert {"demo_torch-2.9", "rocm_sdk_core-7.2.0", "demo_app-1.0", "demo_base-1.0+up.1"} <= installed


@pytest.fixture(scope="module")
def two_groups(tmp_path_factory):
    """A directory with a base index, and run 7 of two groups, each with a `rocm` and a framework of its own."""
    place = tmp_path_factory.mktemp("groups")
    (place / "upstream").mkdir()
    locator, environment = f"file:{place}/store", clean_environment(NO_PROXY="127.0.0.1")
    base_index.sync(base_index.upstream(place / "upstream"), locator, environment)
    told = ""
    for group in ("one", "two"):
        rocm, torch = place / group / "rocm", place / group / "torch"
        rocm.mkdir(parents=True)
        torch.mkdir()
        distributions.wheel(rocm, "rocm", "7.2.0", requires=[f"rocm-kernels-{group}==7.2.0"])
        distributions.wheel(rocm, f"rocm-kernels-{group}", "7.2.0")
        distributions.wheel(torch, "demo_torch", "2.9", requires=["rocm==7.2.0", "demo-app"], payload=group.encode())
        for area, wheels in (("python", rocm), ("pytorch", torch)):
            told = good("publish", wheels, "--store", locator, "--run-id", "7", "--platform", "linux", "--area", area, "--artifact-group", group, environment=environment).err
    return place / "store", told


def test_publish_says_what_the_index_of_a_run_leaves_out(two_groups):
    store, told = two_groups
    assert "[P053]" in told and "--index-url STORE/7-linux/merged/GROUP/simple/" in told
    assert not (store / "7-linux/merged/simple/rocm/index.html").exists() and (store / "7-linux/merged/simple/rocm-kernels-one/index.html").exists()


GROUP_INDEXES = {
    "of the group": ["--index-url", "merged/two/{tree}/"],
    "of its ROCm, and a page of links": ["--index-url", "python/two/merged/simple/", "--find-links", "pytorch/two/index.html"],
}


@pytest.mark.parametrize(("where", "tool_and_tree"), each_once(list(GROUP_INDEXES), TOOLS_AND_TREES))
def test_all_of_one_group_can_be_installed(two_groups, tmp_path, where, tool_and_tree):
    name, tree = tool_and_tree
    tool = client(name)
    install = ["pip", "install", "--python", tool.bin / "python", "--no-cache", "--prerelease", "allow"] if name == "uv" else ["install", "--no-cache-dir", "--pre"]
    with static_server.serve(two_groups[0]) as (url, _):
        words = [word if word.startswith("--") else f"{url}/7-linux/{word.format(tree=tree)}" for word in GROUP_INDEXES[where]]
        ended = tool.run(*install, *words, "--target", tmp_path / "t", "demo-torch", environment=ONLY_THE_STORE)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    installed = {path.name.removesuffix(".dist-info") for path in (tmp_path / "t").glob("*.dist-info")}
    assert installed == {"demo_torch-2.9", "rocm-7.2.0", "rocm_kernels_two-7.2.0", "demo_app-1.0", "demo_base-1.0+up.1"}


def test_the_index_of_a_group_is_sound_and_comes_back(two_groups, tmp_path):
    store, _ = two_groups
    page = store / "7-linux/merged/one/simple/demo-torch/index.html"
    whole = page.read_bytes()
    page.unlink()
    with static_server.serve(store) as (url, _):
        assert quarry("index", "check", f"{url}/7-linux/merged/one/").code == 1
        good("index", "repair", "run:7-linux@one", "--store", f"file:{store}")
        good("index", "check", f"{url}/7-linux/merged/one/")
    assert page.read_bytes() == whole


def test_an_environment_of_one_group(two_groups, tmp_path):
    environment = clean_environment(NO_PROXY="127.0.0.1", **NOWHERE)
    good("venv", "install", *BY_UV, tmp_path / "env", "--from", "run:7-linux@two", "--packages", "demo-torch", "--store", f"file:{two_groups[0]}", environment=environment)
    installed = {path.name.removesuffix(".dist-info") for path in (tmp_path / "env").rglob("*.dist-info")}
    assert {"demo_torch-2.9", "rocm-7.2.0", "rocm_kernels_two-7.2.0", "demo_app-1.0"} <= installed
