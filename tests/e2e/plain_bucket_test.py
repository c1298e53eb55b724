"""A bucket is an index by itself: every line that is printed installs from its own URL, whether readers may list it or not, and so it
does through nginx and from a directory. What `index check` says of it, and what a promotion into it must not hide."""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import base_index, distributions, public_bucket, s3_server, small_artifacts  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import clean_environment, good, quarry, refused  # noqa: E402
from support.usual import each_once  # noqa: E402

TOOLS = ["pip-oldest", "pip-newest", "uv"]
PLACES = ["listed", "hidden", "nginx", "directory"]
RUN = f"1-linux/python/{small_artifacts.FAMILY}"
DISTRIBUTION = f"v2/{small_artifacts.FAMILY}"
POLICY = Path(__file__).resolve().parents[2] / "data/policies/demo.toml"
# Whatever does not go to this machine ends here: nobody listens on the discard port.
NOWHERE = {name: "http://127.0.0.1:9" for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")}
HERE_ONLY = NOWHERE | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


@dataclass
class Shop:
    """A store with run 1, the channels staging and stable, a distribution and a base index, and what the commands said about it."""

    locator: str
    url: str
    environment: dict[str, str]
    said: dict[str, str]

    def good(self, *words, **options):
        return good(*words, "--store", self.locator, environment=self.environment, **options)


def fill(locator: str, url: str, variables: dict[str, str], packages: Path, upstream: Path, home: Path, *more: str) -> Shop:
    home.mkdir()
    environment = clean_environment(NO_PROXY="127.0.0.1", **variables)
    policy = home / "policy.toml"
    policy.write_text(POLICY.read_text().replace('name = "demo"\n', 'name = "demo"\nmode = "report_only"\n', 1))
    shop = Shop(locator, url, environment, {})
    run = ("publish", packages, "--run-id", "1", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY, *more)
    for name, words in {"run": run, "channel": (*run, "--channel", "staging")}.items():
        for file in ("outputs", "summary"):
            (home / f"{name}.{file}").write_text("")
        shop.environment = environment | {"GITHUB_OUTPUT": str(home / f"{name}.outputs"), "GITHUB_STEP_SUMMARY": str(home / f"{name}.summary")}
        shop.said[name] = shop.good(*words).out
        shop.said[f"{name} outputs"], shop.said[f"{name} summary"] = ((home / f"{name}.{file}").read_text() for file in ("outputs", "summary"))
    shop.environment = environment
    shop.said["mirror"] = base_index.sync(upstream, locator, environment, *more)[0].out
    shop.said["merged"] = shop.good(*run, "--channel", "staging").out
    promote = ("promote", "--from", "channel:staging", "--to", "stable", "--policy", policy, "--to-store", locator, "--prefix", "v2/{family}", *more)
    shop.said["promote"] = shop.good(*promote).out
    shop.said["show"] = shop.good("channel", "show", "stable", *more).out
    return shop


@pytest.fixture(scope="module")
def upstream(tmp_path_factory) -> Path:
    return base_index.upstream(tmp_path_factory.mktemp("upstream"))


@pytest.fixture(scope="module")
def shops(ceph, packages, upstream, tmp_path_factory):
    home = tmp_path_factory.mktemp("shops")
    with contextlib.ExitStack() as stack:
        made = {}
        for name in ("listed", "hidden", "nginx"):
            place = stack.enter_context(public_bucket.serve(ceph, listed=name == "listed"))
            url, more = (place.url, ("--public-url", place.url)) if name == "nginx" else (place.bare_url, ())
            made[name] = fill(place.locator, url, place.environment(), packages, upstream, home / name, *more)
        store = home / "a store"
        made["directory"] = fill(f"file:{store}", store.as_uri(), {}, packages, upstream, home / "directory")
        yield made


def install(tool: str, target: Path, words: list[str], **variables: str):
    """`pip install WORDS`, or what uv calls the same."""
    program = client(tool)
    if tool == "uv":
        words = [word if word != "--pre" else "--prerelease=allow" for word in words]
        return program.run("pip", "install", "--python", program.bin / "python", "--no-cache", *words, "--target", target, environment=HERE_ONLY | variables)
    return program.run("install", "--no-cache-dir", *words, "--target", target, environment=HERE_ONLY)


def installed(target: Path) -> set[str]:
    return {path.name.removesuffix(".dist-info") for path in target.glob("*.dist-info")}


def lines(text: str) -> list[list[str]]:
    """The words after `pip install` of each such line."""
    return [shlex.split(line)[2:] for line in text.splitlines() if line.startswith("pip install ")]


def good_install(tool: str, target: Path, words: list[str], *expected: str) -> None:
    ended = install(tool, target, words)
    assert ended.returncode == 0, f"{tool} {words}\n{ended.stdout}{ended.stderr}"
    assert set(expected) <= installed(target), installed(target)


@pytest.mark.parametrize(("place", "tool"), each_once(PLACES, TOOLS))
def test_the_printed_lines_install(shops, place, tool, tmp_path):
    shop = shops[place]
    printed = {name: lines(shop.said[name]) for name in ("run", "channel", "merged")}
    assert [len(found) for found in printed.values()] == [1, 1, 1]
    urls = {name: found[0][found[0].index("--index-url") + 1] for name, found in printed.items()}
    assert urls == {"run": f"{shop.url}/{RUN}/simple/", "channel": f"{shop.url}/channels/staging/simple/", "merged": f"{shop.url}/channels/staging/merged/simple/"}
    good_install(tool, tmp_path / "merged", printed["merged"][0], "rocm-7.2.0", "rocm_sdk_core-7.2.0", "rocm_sdk_devel-7.2.0")
    for name in ("run", "channel"):  # the same packages: without the source distribution, which takes the time
        good_install(tool, tmp_path / name, ["--no-deps", "rocm-sdk-core", *printed[name][0][1:]], "rocm_sdk_core-7.2.0")


@pytest.mark.parametrize("place", PLACES)
def test_summaries_say_the_lines_that_are_printed(shops, place):
    said = shops[place].said
    outputs = dict(line.split("=", 1) for line in said["run outputs"].splitlines())
    page = [lines(said["run"])[0][0], f"--find-links={outputs['package_find_links_url']}"]  # as summaries of today's scripts say it
    assert lines(said["run summary"]) == [page, *lines(said["run"])]
    assert lines(said["channel summary"]) == [page, *lines(said["run"]), *lines(said["channel"])]


@pytest.mark.parametrize(("place", "tool"), each_once(PLACES, TOOLS, shift=2))
def test_every_other_url_that_is_told_installs(shops, place, tool, tmp_path):
    shop = shops[place]
    outputs = dict(line.split("=", 1) for line in (shop.said["run outputs"] + shop.said["channel outputs"]).splitlines())
    told = {name: ["--index-url", outputs[name]] for name in ("package_index_url", "channel_index_url")}
    told["package_find_links_url"] = ["--no-index", "--find-links", outputs["package_find_links_url"]]
    for name in ("promote", "show"):
        for label, url in re.findall(r"^(index|merged|repository) +(\S+)$", shop.said[name], re.MULTILINE):
            told[f"{name} {label}"] = ["--index-url", url]
    assert {"promote index", "promote merged", "promote repository", "show index", "show merged"} <= set(told)
    for number, words in enumerate({tuple(words) for words in told.values()}):
        good_install(tool, tmp_path / str(number), ["--no-deps", "rocm-sdk-core", *words], "rocm_sdk_core-7.2.0")
    base = next(line.split() for line in shop.said["mirror"].splitlines() if line.startswith("--index-url "))
    good_install(tool, tmp_path / "base", ["demo-app", *base], "demo_app-1.0", "demo_base-1.0+up.1")


def two_indexes(shop: Shop) -> list[str]:
    return ["rocm[libraries,devel]", "demo-app", f"--index-url={shop.url}/python-deps/simple/", f"--extra-index-url={shop.url}/{RUN}/simple/"]


@pytest.mark.parametrize(("place", "tool"), each_once(PLACES, TOOLS, shift=1))
def test_two_indexes_install(shops, place, tool, tmp_path):
    if (place, tool) == ("hidden", "uv"):
        ended = install(tool, tmp_path, two_indexes(shops[place]))
        assert ended.returncode != 0 and "403" in ended.stderr  # uv stops at the first index that says 403 for what it lacks
        return
    good_install(tool, tmp_path, two_indexes(shops[place]), "rocm-7.2.0", "rocm_sdk_core-7.2.0", "demo_app-1.0", "demo_base-1.0+up.1")


@pytest.mark.parametrize("place", PLACES)
def test_what_is_there_is_sound(shops, place):
    shop = shops[place]
    for directory in (RUN, "channels/stable", DISTRIBUTION, "python-deps", "channels/stable/merged"):
        checked = good("index", "check", f"{shop.locator.removeprefix('file:')}/{directory}", "--json", environment=shop.environment).json
        assert [found for found in checked["findings"] if found["code"] in ("I040", "I041")] == []
    for what in ("run:1", "channel:stable"):
        assert shop.good("index", "repair", what, "--json").json["writes"] == 0
    assert shop.good("gc", "--grace", "0s", "--json").json["keys"] == []


def findings(*words, environment, code: int) -> list[dict]:
    done = quarry("index", "check", *words, "--no-content", "--json", environment=environment)
    assert done.code == code, done.out + done.err
    return done.json["findings"]


def test_check_compares_the_copies_and_repair_restores_them(ceph, packages):
    with public_bucket.serve(ceph) as place:
        environment = clean_environment(NO_PROXY="127.0.0.1", **place.environment())
        good("publish", packages, "--store", place.locator, "--run-id", "1", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY, environment=environment)
        s3, index = place.client(), f"{place.locator}/{RUN}"
        keys = s3.list(place.bucket, RUN)
        copies = [key for key in keys if key.endswith("/")]
        assert sorted(key + "index.html" for key in copies) == sorted(key for key in keys if key.endswith("/index.html") and "/simple-json/" not in key)
        for key in copies:
            assert s3.get(place.bucket, key) == s3.get(place.bucket, key + "index.html")
        s3.put(place.bucket, f"{RUN}/simple/rocm-sdk-core/", b"<!DOCTYPE html>another page")
        s3.delete(place.bucket, f"{RUN}/simple/rocm/")
        found = {(f["code"], f["place"]) for f in findings(index, environment=environment, code=1)}
        assert {("I040", "simple/rocm-sdk-core/"), ("I040", "simple/rocm/")} <= found
        for key in copies:
            s3.delete(place.bucket, key)
        assert [(f["code"], f["severity"]) for f in findings(index, environment=environment, code=0)] == [("I041", "note")]
        assert good("index", "repair", "run:1", "--store", place.locator, "--json", environment=environment).json["pages_written"] == len(copies)
        assert findings(index, environment=environment, code=0) == []
        s3.put(place.bucket, f"{RUN}/simple/gone/", b"<!DOCTYPE html>of a project that is gone")
        assert good("index", "repair", "run:1", "--store", place.locator, "--json", environment=environment).json["pages_removed"] == 1
        assert s3.list(place.bucket, RUN) == keys


def test_check_names_the_cause_of_a_refusal(ceph, packages):
    def cause(url: str) -> str:
        return refused("I001", 3, "index", "check", url).err

    def denied(url: str) -> str:
        return next(f["message"] for f in findings(url, environment=None, code=1) if f["code"] == "I024" and "page is refused" in f["message"])

    with public_bucket.serve(ceph) as hidden, public_bucket.serve(ceph, readable=f"{RUN}/index.html", listed=True) as listed, public_bucket.serve(ceph, readable="none/*") as closed:
        for place in (hidden, listed, closed):
            environment = clean_environment(NO_PROXY="127.0.0.1", **place.environment())
            good("publish", packages, "--store", place.locator, "--run-id", "1", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY, environment=environment)
        assert "may not list the bucket, so the server says 403 for both" in cause(f"{hidden.bare_url}/{RUN}/nothing/")
        assert "may not list the bucket, so the server says 403 for both" in cause(f"{closed.bare_url}/{RUN}/")
        assert "the page exists and readers may not read it" in cause(f"{listed.bare_url}/{RUN}/")
        hidden.client().delete(hidden.bucket, f"{RUN}/simple/rocm/")
        assert "the key that ends in a slash does not exist" in denied(f"{hidden.bare_url}/{RUN}/simple/")
        missing = [f for f in findings(f"{hidden.bare_url}/{RUN}/simple/", environment=None, code=1) if "does not exist is refused" in f["message"]]
        assert missing and "s3:ListBucket" in missing[0]["fix"]
        stranger = clean_environment(NO_PROXY="127.0.0.1", AWS_ENDPOINT_URL=hidden.ceph.endpoint, AWS_REGION="us-east-1", QUARRY_S3_ANONYMOUS="1")
        by_pages = findings(f"{hidden.locator}/{RUN}", environment=stranger, code=1)  # it cannot list, and believes the pages
        assert {(f["code"], f["place"]) for f in by_pages if f["severity"] == "error"} >= {("I040", "simple/rocm/"), ("I024", "simple/quarry-asks-for-what-is-not-there/index.html")}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_server_without_such_keys_is_installed_from_by_links(packages, upstream, tool, tmp_path):
    with s3_server.serve("--without", "slash-keys") as server:
        shop = fill(f"s3://{server.bucket}/p", f"{server.endpoint}/{server.bucket}/p", server.environment() | {"AWS_EC2_METADATA_DISABLED": "true"}, packages, upstream, tmp_path / "home")
        said = shop.said
        assert "--index-url" not in "".join(said.values()) and "index_url" not in said["run outputs"] + said["channel outputs"]
        assert lines(said["run"])[0][1:] == ["--no-index", "--find-links", f"{shop.url}/{RUN}/index.html"]
        assert lines(said["merged"])[0][1:] == ["--no-index", "--find-links", f"{shop.url}/channels/staging/index.html", "--find-links", f"{shop.url}/python-deps/index.html"]
        assert re.findall(r"^find-links +(\S+)$", said["promote"], re.MULTILINE) == [f"{shop.url}/channels/stable/index.html", f"{shop.url}/python-deps/index.html", f"{shop.url}/{DISTRIBUTION}/index.html"]
        shown = shop.good("channel", "show", "stable", "--json").json
        assert shown["index_url"] is None and shown["find_links_urls"] == [f"{shop.url}/channels/stable/index.html", f"{shop.url}/python-deps/index.html"]
        public = [word.replace(f"{server.endpoint}/", f"{server.endpoint}/public/") for word in lines(said["merged"])[0]]
        good_install(tool, tmp_path / "t", [*public, "demo-app"], "rocm-7.2.0", "rocm_sdk_core-7.2.0", "rocm_sdk_devel-7.2.0", "demo_app-1.0")
        if tool != "uv":
            return
        # Another job of the run: what both have together is an index, which this server does not give by its address.
        (tmp_path / "wheels").mkdir()
        distributions.wheel(tmp_path / "wheels", "demo_torch", "2.9", requires=["demo-app"])
        again = ("publish", tmp_path / "wheels", "--run-id", "1", "--platform", "linux", "--area", "pytorch", "--artifact-group", small_artifacts.FAMILY)
        done = shop.good(*again, "--json").json
        assert done["run_merged_index_url"] is None and "--index-url" not in shop.good(*again).out


FOREIGN = {
    "index.html": b'<html><body><a href="rocm-7.1.0a1.tar.gz">rocm-7.1.0a1.tar.gz</a><a href="numpy/">numpy</a></body></html>',
    "rocm/index.html": b'<html><body><a href="../rocm-7.1.0a1.tar.gz#sha256=00">rocm-7.1.0a1.tar.gz</a></body></html>',
    "numpy/index.html": b'<html><body><a href="../numpy-2.0-py3-none-any.whl">numpy-2.0-py3-none-any.whl</a></body></html>',
    "rocm-7.1.0a1.tar.gz": b"bytes",
    "numpy-2.0-py3-none-any.whl": b"bytes",
}


@pytest.mark.parametrize("kind", ["directory", "radosgw"])
def test_a_promotion_hides_nothing_of_another_tool(request, kind, packages, report_only_policy, tmp_path):
    """The prefix has pages and packages that today's scripts put there."""
    source = tmp_path / "source"
    good("publish", packages, "--store", f"file:{source}", "--run-id", "1", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY)
    with contextlib.ExitStack() as stack:
        if kind == "directory":
            environment, locator, root = clean_environment(), f"file:{tmp_path / 'dist'}", tmp_path / "dist"

            def put(key: str, body: bytes) -> None:
                (root / key).parent.mkdir(parents=True, exist_ok=True)
                (root / key).write_bytes(body)

            def keys() -> list[str]:
                return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
        else:
            place = stack.enter_context(public_bucket.serve(request.getfixturevalue("ceph")))
            environment, locator, s3 = clean_environment(NO_PROXY="127.0.0.1", **place.environment()), place.locator, place.client()

            def put(key: str, body: bytes) -> None:
                s3.put(place.bucket, key, body)

            def keys() -> list[str]:
                return sorted(s3.list(place.bucket))
        for name, body in FOREIGN.items():
            put(f"v9/{small_artifacts.FAMILY}/{name}", body)
        before = keys()
        promote = ("promote", "--from", "run:1", "--to", "stable", "--policy", report_only_policy, "--store", f"file:{source}", "--to-store", locator, "--prefix")
        for more in ([], ["--dry-run"]):
            done = refused("P090", 7, *promote, "v9/{family}", *more, environment=environment)
            for lost in ("rocm-7.1.0a1.tar.gz  in ", "numpy-2.0-py3-none-any.whl  in ", "--prefix"):
                assert lost in done.err, done.err
        assert keys() == before
        refused("R015", 3, "channel", "show", "stable", "--store", f"file:{source}")
        good(*promote, "quarry/v9/{family}", environment=environment)
        assert set(before) < set(keys())
