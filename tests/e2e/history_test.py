"""A bucket that today's scripts filled: a promotion into it takes over what is there, `set adopt` does so by hand, and runs that the scripts laid out are
installed from and sealed where they are. On Ceph, with plain pip and uv."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions, public_bucket, small_artifacts  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import BY_UV, clean_environment, good, quarry, refused  # noqa: E402
from support.usual import each_once  # noqa: E402

PREFIX = f"v2/{small_artifacts.FAMILY}"
DIRECT = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


@dataclass
class Bucket:
    place: public_bucket.Place

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment(NO_PROXY="127.0.0.1", **self.place.environment())

    def put(self, key: str, body: bytes) -> None:
        self.place.client().put(self.place.bucket, key, body)

    def get(self, key: str) -> str:
        return self.place.client().get(self.place.bucket, key).decode()

    def keys(self, prefix: str = "") -> set[str]:
        return set(self.place.client().list(self.place.bucket, prefix))

    def quarry(self, *words, **options):
        return quarry(*words, environment=self.environment, **options)

    def good(self, *words, **options):
        return good(*words, environment=self.environment, **options)

    def refused(self, *words, **options):
        return refused(*words, environment=self.environment, **options)

    def install(self, tool: str, target: Path, *words: str) -> set[str]:
        """Plain pip or uv, from the bucket's own URL; returns what is installed."""
        program = client(tool)
        words = ("--no-index", "--find-links", f"{self.place.bare_url}/{PREFIX}/index.html", "--no-deps", *words)
        if tool == "uv":
            ended = program.run("pip", "install", "--python", program.bin / "python", "--no-cache", "--prerelease=allow", *words, "--target", target, environment=DIRECT)
        else:
            ended = program.run("install", "--no-cache-dir", "--pre", *words, "--target", target, environment=DIRECT)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return {path.name.removesuffix(".dist-info") for path in target.glob("*.dist-info")}


@pytest.fixture
def bucket(ceph):
    with contextlib.ExitStack() as stack:
        yield Bucket(stack.enter_context(public_bucket.serve(ceph, listed=True)))


def page(*names: str, way: str = "") -> bytes:
    return ("<html><body>" + "".join(f'<a href="{way}{name}">{name.partition("#")[0]}</a><br>\n' for name in names) + "</body></html>").encode()


@pytest.fixture
def old(bucket, tmp_path) -> dict[str, bytes]:
    """What today's scripts left below the prefix: an older release, a dependency, and the pages of their index."""
    files = [distributions.wheel(tmp_path, "rocm-sdk-core", "7.1.0a1"), distributions.wheel(tmp_path, "numpy", "2.0", requires_python=">=3.8"), distributions.sdist(tmp_path, "rocm", "7.1.0a1")]
    content = {path.name: path.read_bytes() for path in files}
    core, numpy, rocm = content
    for name, body in content.items():
        bucket.put(f"{PREFIX}/{name}", body)
    bucket.put(f"{PREFIX}/index.html", page(core, rocm, "numpy/"))
    bucket.put(f"{PREFIX}/rocm-sdk-core/index.html", page(f"{core}#sha256={hashlib.sha256(content[core]).hexdigest()}", way="../"))
    bucket.put(f"{PREFIX}/numpy/index.html", page(numpy, way="../"))
    bucket.put(f"{PREFIX}/rocm/index.html", page(rocm, way="../"))
    return content


@pytest.fixture
def promote(packages, report_only_policy, tmp_path, bucket):
    source = f"file:{tmp_path / 'source'}"
    good("publish", packages, "--store", source, "--run-id", "1", "--platform", "linux", "--artifact-group", small_artifacts.FAMILY)
    return ("promote", "--from", "run:1", "--to", "stable", "--policy", report_only_policy, "--store", source, "--to-store", bucket.place.locator, "--prefix", "v2/{family}")


def test_a_promotion_takes_over_what_the_scripts_left(bucket, old, promote, tmp_path):
    before = bucket.keys()
    planned = bucket.good(*promote, "--dry-run")
    assert "history     would take over 3 files of other tools" in planned.out, planned.out
    assert bucket.keys() == before
    done = bucket.good(*promote, "--json").json
    (history,) = done["distribution"]["history"]
    known = {file["filename"]: file["digest_from"] for file in history["files"]}
    core, numpy, rocm = old
    assert known == {core: "page", numpy: None, rocm: "read"}
    assert all(file["size"] == len(old[file["filename"]]) and file["etag"] for file in history["files"])
    assert "3 files of untested history" in bucket.get(f"{PREFIX}/index.html")
    moves = bucket.good("channel", "log", f"{bucket.place.locator}/{PREFIX}", "--json").json["moves"]
    assert [(move["generation"], move["action"], move["sets"]) for move in moves] == [(2, "promote", 1), (1, "adopt", 0)], moves
    assert {bucket.place.client().get(bucket.place.bucket, f"{PREFIX}/{name}") for name in old} == set(old.values())
    for tool in ("pip-newest", "uv"):
        assert bucket.install(tool, tmp_path / f"{tool}-old", "rocm-sdk-core==7.1.0a1", "numpy") == {"rocm_sdk_core-7.1.0a1", "numpy-2.0"}
        assert bucket.install(tool, tmp_path / f"{tool}-new", "rocm-sdk-core") == {"rocm_sdk_core-7.2.0"}
    checked = bucket.good("index", "check", f"{bucket.place.locator}/{PREFIX}", "--json").json
    assert {finding["severity"] for finding in checked["findings"]} == {"warning"}, checked["findings"]
    unhashed = [finding["place"] for finding in checked["findings"] if finding["code"] == "I011"]
    assert unhashed and all(place.endswith(numpy) for place in unhashed), checked["findings"]
    assert bucket.good(*promote, "--json").json["distribution"]["history"] == []
    assert len(bucket.keys(f"{PREFIX}/history/")) == 1


@pytest.mark.parametrize("store", ["file", "s3"])
def test_taking_over_is_a_move_with_a_reason(bucket, old, store, tmp_path):
    place = f"{bucket.place.locator}/{PREFIX}"
    adopt = ("set", "adopt", place)
    if store == "file":
        place = f"file:{tmp_path / 'F'}/{PREFIX}"
        adopt = ("set", "adopt", PREFIX, "--store", f"file:{tmp_path / 'F'}")
        (tmp_path / "F" / PREFIX).mkdir(parents=True)
        for name, body in old.items():
            (tmp_path / "F" / PREFIX / name).write_bytes(body)
    adopted = bucket.good(*adopt, "--reason", "was here first", "--json").json
    assert len(adopted["history"][0]["files"]) == 3
    done = bucket.good("channel", "log", place, "--json")
    (move,) = done.json["moves"]
    assert (move["generation"], move["action"], move["why"], move["sets"]) == (1, "adopt", "was here first", 0) and move["who"] and move["when"]
    assert "earlier version" not in done.err and "was here first" in bucket.good("channel", "log", place).out
    # Nothing new, no move; a run that was killed before its move is completed, as it was asked for then.
    bucket.good(*adopt)
    assert len(bucket.good("channel", "log", place, "--json").json["moves"]) == 1
    if store == "file":
        directory = tmp_path / "F" / PREFIX
        (directory / "distribution.json").unlink()
        shutil.rmtree(directory / "views")
        bucket.good(*adopt, "--reason", "again")
        assert [each["why"] for each in bucket.good("channel", "log", place, "--json").json["moves"]] == ["was here first"]


def test_a_page_that_would_lose_a_link_stops_the_move(bucket, old, promote):
    bucket.put(f"{PREFIX}/broken-1.0-py3-none-any.whl", b"not a zip file")
    bucket.put(f"{PREFIX}/far/index.html", page("https://example.org/far-1.0-py3-none-any.whl"))
    before = bucket.keys()
    done = bucket.refused("P090", 7, *promote)
    for lost in ("broken-1.0-py3-none-any.whl  in ", "far-1.0-py3-none-any.whl  in ", "--replace NAME"):
        assert lost in done.err, done.err
    bucket.refused("P110", 2, *promote, "--replace", "broken", "--replace", "far", "--replace", "nmupy")
    assert bucket.keys() == before
    done = bucket.good(*promote, "--replace", "broken", "--replace", "far-1.0-py3-none-any.whl")
    assert "given up    broken-1.0-py3-none-any.whl" in done.out and "took over 3 files" in done.out, done.out


def test_adopting_many_wheels_reads_little_of_each(bucket, tmp_path):
    count, payload = 24, b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(12_000))
    for number in range(count):
        path = distributions.wheel(tmp_path, "many", f"1.{number}", payload=payload)
        bucket.put(f"{PREFIX}/{path.name}", path.read_bytes())
    assert path.stat().st_size > 384 << 10
    locator = f"{bucket.place.locator}/{PREFIX}"
    planned = bucket.good("set", "adopt", locator, "--dry-run", "--json").json
    assert len(planned["history"][0]["files"]) == count and planned["writes"] == 0
    assert planned["bytes_read"] / count < 256 << 10, planned["bytes_read"]
    done = bucket.good("set", "adopt", locator)
    assert f"took over {count} files" in done.out
    assert "nothing: every package here is known already" in bucket.good("set", "adopt", locator).out
    assert bucket.keys(f"{PREFIX}/history/notes/") == set()


STRUCTURED = "v5/rocm/core/whl-next"


@pytest.fixture
def structured(bucket, tmp_path) -> dict[str, bytes]:
    """What today's scripts leave in a structured repository: a directory for each project, with its page; by key."""
    files = [distributions.wheel(tmp_path, "rocm-sdk-core", "7.1.0a1"), distributions.wheel(tmp_path, "rocm-sdk-device-gfx942", "7.1.0a1"), distributions.sdist(tmp_path, "rocm", "7.1.0a1")]
    content = {}
    for path in files:
        project = path.name.split("-")[0].replace("_", "-")
        content[f"{STRUCTURED}/{project}/{path.name}"] = path.read_bytes()
        bucket.put(f"{STRUCTURED}/{project}/index.html", page(path.name))
    for key, body in content.items():
        bucket.put(key, body)
    bucket.put(f"{STRUCTURED}/index.html", page("rocm/", "rocm-sdk-core/", "rocm-sdk-device-gfx942/"))
    return content


def install_structured(bucket, tool: str, target: Path, *words: str) -> set[str]:
    program, words = client(tool), ("--index-url", f"{bucket.place.url}/{STRUCTURED}/", "--no-deps", "--target", target, *words)
    if tool == "uv":
        ended = program.run("pip", "install", "--python", program.bin / "python", "--no-cache", "--prerelease=allow", *words, environment=DIRECT)
    else:
        ended = program.run("install", "--no-cache-dir", "--pre", *words, environment=DIRECT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return {path.name.removesuffix(".dist-info") for path in target.glob("*.dist-info")}


@pytest.mark.parametrize("way", ["", "/{project}"])
def test_a_structured_repository_is_taken_over(bucket, structured, way, tmp_path):
    before = bucket.keys()
    where = f"{bucket.place.locator}/{STRUCTURED}{way}"
    assert "would take over 3 files" in bucket.good("set", "adopt", where, "--dry-run").out and bucket.keys() == before
    (history,) = bucket.good("set", "adopt", where, "--json").json["history"]
    assert {file["key"] for file in history["files"]} == set(structured)
    assert {key: bucket.place.client().get(bucket.place.bucket, key) for key in structured} == structured
    assert "3 files of untested history" in bucket.get(f"{STRUCTURED}/index.html")
    for tool in ("pip-newest", "uv"):
        assert install_structured(bucket, tool, tmp_path / tool, "rocm-sdk-core", "rocm-sdk-device-gfx942") == {"rocm_sdk_core-7.1.0a1", "rocm_sdk_device_gfx942-7.1.0a1"}
    assert "nothing: every package here is known already" in bucket.good("set", "adopt", where).out


def test_a_structured_repository_is_sealed(bucket, structured, tmp_path):
    where = f"{bucket.place.locator}/{STRUCTURED}"
    (made,) = bucket.good("set", "adopt", where, "--seal", "--reason", "it was there first", "--json").json["sets"]
    assert made["directory"] == STRUCTURED and {file["filename"] for file in made["files"]} == {key.rpartition("/")[2] for key in structured}
    assert not [key for key in bucket.keys(STRUCTURED) if "/notes/" in key]
    assert {f"{key}.metadata" for key in structured if key.endswith(".whl")} <= bucket.keys()
    assert install_structured(bucket, "uv", tmp_path / "uv", "rocm-sdk-core") == {"rocm_sdk_core-7.1.0a1"}
    assert "nothing: every package here is in a sealed set or given up" in bucket.good("set", "adopt", where, "--seal").out
    (move,) = bucket.good("channel", "log", where, "--json").json["moves"]
    assert move["action"] == "adopt" and move["who"] and move["why"] == "it was there first", move


def test_sealing_a_structured_repository_goes_on_where_it_ended(bucket, structured):
    where = f"{bucket.place.locator}/{STRUCTURED}"
    broken = f"{STRUCTURED}/rocm-sdk-zlib/rocm_sdk_zlib-7.1.0a1-py3-none-any.whl"
    bucket.put(broken, b"not a wheel")
    assert bucket.quarry("set", "adopt", where, "--seal").code == 6
    noted = [key for key in bucket.keys(STRUCTURED) if "/notes/" in key]
    assert noted and all(key.startswith(f"{STRUCTURED}/history/notes/") for key in noted)
    bucket.place.client().delete(bucket.place.bucket, broken)
    bucket.good("set", "adopt", where, "--seal")
    assert not [key for key in bucket.keys(STRUCTURED) if "/notes/" in key]


def test_a_place_above_the_indexes_is_not_one(bucket, structured):
    done = bucket.refused("P001", 3, "set", "adopt", f"{bucket.place.locator}/v5/rocm")
    assert "v5/rocm/core/whl-next" in done.err


def test_sealing_goes_on_where_it_ended(bucket, tmp_path):
    for version in ("1.0", "1.1"):
        path = distributions.wheel(tmp_path, "demo", version)
        bucket.put(f"{PREFIX}/{path.name}", path.read_bytes())
    bucket.put(f"{PREFIX}/demo-1.2-py3-none-any.whl", b"not uploaded to its end")
    words = ("set", "adopt", f"{bucket.place.locator}/{PREFIX}", "--seal", "--jobs", "1")
    failed = bucket.refused("W010", 6, *words)
    assert "reads 3 files" in failed.err, failed.err
    assert bucket.keys(f"{PREFIX}/seals/") == set() and len(bucket.keys(f"{PREFIX}/history/notes/")) == 2
    path = distributions.wheel(tmp_path, "demo", "1.2")
    bucket.put(f"{PREFIX}/{path.name}", path.read_bytes())
    done = bucket.good(*words)
    assert "reads 1 file" in done.err and "sealed      set:" in done.out, done.err + done.out
    assert bucket.keys(f"{PREFIX}/history/notes/") == set()
    assert bucket.install("pip-newest", tmp_path / "t", "demo==1.1") == {"demo-1.1"}
    bucket.good("set", "verify", PREFIX, "--store", bucket.place.locator)


def test_another_writer_of_the_page_is_named_and_left_alone(bucket, packages, next_packages):
    store = ("--store", bucket.place.locator, "--platform", "linux", "--artifact-group", small_artifacts.FAMILY)
    directory = f"1-linux/python/{small_artifacts.FAMILY}"
    bucket.good("publish", packages, *store, "--run-id", "1")
    theirs = page("dist/rocm-7.2.0.tar.gz")
    bucket.put(f"{directory}/index.html", theirs)
    for _ in range(2):
        done = bucket.good("publish", next_packages, *store, "--run-id", "1", "--several-versions")
        assert "[P113]" in done.err and f"{directory}/index.html" in done.err, done.err
        assert bucket.get(f"{directory}/index.html").encode() == theirs
    checked = bucket.quarry("index", "check", "run:1", "--store", bucket.place.locator, "--json").json
    assert [finding["place"] for finding in checked["findings"] if finding["code"] == "I025"] == ["index.html"]
    setting = ("store", "setting", "--store", bucket.place.locator)
    assert bucket.good(*setting).out == "find-links  ours\n"
    assert bucket.good(*setting, "--find-links", "other").out == "find-links  other  (changed)\n"
    assert "[P113]" not in bucket.good("publish", packages, *store, "--run-id", "1", "--several-versions").err
    bucket.good("publish", packages, *store, "--run-id", "2")
    assert f"2-linux/python/{small_artifacts.FAMILY}/index.html" not in bucket.keys()


def test_the_index_of_another_tool_over_ours_is_named_page_by_page(bucket, tmp_path):
    """Its root page links to directories alone. The trees of the store, seals and history are not projects of that index."""
    for name in ("demo-base", "demo-app"):
        path = distributions.wheel(tmp_path, name, "1.0")
        bucket.put(f"{PREFIX}/{path.name}", path.read_bytes())
    place = f"{bucket.place.locator}/{PREFIX}"
    bucket.good("set", "adopt", place, "--seal")
    assert bucket.good("index", "check", place, "--json").json["findings"] == []
    bucket.put(f"{PREFIX}/index.html", page("demo-app/", "demo-base/"))
    bucket.put(f"{PREFIX}/demo-app/index.html", page("demo_app-1.0-py3-none-any.whl", way="../"))

    def check() -> list[tuple[str, str, str]]:
        found = bucket.good("index", "check", place, "--json").json["findings"]
        return [(finding["code"], finding["severity"], finding["place"]) for finding in found]

    theirs = ("I025", "warning", "demo-app/index.html")
    assert check() == [theirs, ("I025", "warning", "index.html")]
    bucket.good("store", "setting", "--find-links", "other", "--store", bucket.place.locator)
    assert check() == [theirs, ("I025", "note", "index.html")]


@pytest.mark.parametrize(("era", "installer"), each_once(["feb", "aug"], ["pip", "uv"]))
def test_a_run_of_the_scripts_is_installed_from_the_bucket(bucket, era, installer, tmp_path):
    """February: a directory for each family. August: one for the run."""
    groups = ["gfx110X-all/", "gfx94X-dcgpu/"] if era == "feb" else [""]
    for number, group in enumerate(groups):
        path = distributions.wheel(tmp_path, "demo", "1.0", payload=bytes([number]))
        bucket.put(f"900-linux/python/{group}{path.name}", path.read_bytes())
        bucket.put(f"900-linux/python/{group}index.html", page(path.name))
    uv = client("uv").bin
    environment = bucket.environment
    environment["PATH"] = f"{uv}:{environment['PATH']}"
    store = ("--store", bucket.place.locator)
    source = "run:900-linux"
    install = ("venv", "install", tmp_path / "env", "--packages", "demo", *store)
    if era == "feb":
        done = refused("V036", 2, *install, *BY_UV, "--from", source, environment=environment)
        assert f"{source}@gfx" in done.err
        source = "run:900-linux@gfx94X-dcgpu"
    done = good(*install, "--installer", installer, "--from", source, "--json", environment=environment).json
    (file,) = done["files"]
    assert file["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    sealed = bucket.good("set", "adopt", "run:900-linux", *store)
    assert sealed.out.count("sealed      set:") == len(groups) and "to the last byte" in sealed.err
    assert not [key for key in bucket.keys() if "/notes/" in key]
    shutil.rmtree(tmp_path / "env")
    good(*install, *BY_UV, "--from", source, environment=environment)
    tested = good("test", "--venv", tmp_path / "env", *store, "--json", "--", "true", environment=environment).json
    shown = bucket.good("evidence", "show", tested["evidence"][:12], *store, "--json").json["record"]
    assert shown["sealed"] and shown["set"] and [subject["filename"] for subject in shown["subjects"]] == [path.name]


def test_the_first_promotion_is_taken_out_again_and_what_was_there_stays(bucket, old, promote, tmp_path):
    """A channel and a distribution with one move have no state to go back to but the one before it: `--to 0`."""
    bucket.good(*promote)
    ours = [key for key in bucket.keys(f"{PREFIX}/") if key.endswith("7.2.0.tar.gz")]
    assert ours and "7.2.0" in bucket.get(f"{PREFIX}/rocm/index.html")
    store = promote[promote.index("--store") + 1]
    rollback = ("rollback", "stable", "--store", store, "--to-store", bucket.place.locator, "--prefix", "v2/{family}", "--reason", "it breaks")
    assert "`--to 0` takes everything out" in bucket.refused("O001", 3, *rollback).err
    done = bucket.good(*rollback, "--to", "0", "--json").json
    (moved,) = done["distributions"]
    assert done["moved"] and (moved["directory"], moved["sets_left"], moved["moved"]) == (PREFIX, 1, True)
    for page in ("index.html", "rocm/index.html", "rocm-sdk-core/index.html"):
        assert "7.2.0" not in bucket.get(f"{PREFIX}/{page}") and "7.1.0a1" in bucket.get(f"{PREFIX}/{page}"), page
    assert set(ours) <= bucket.keys(f"{PREFIX}/")  # no file is removed
    for tool in ("pip-newest", "uv"):
        assert bucket.install(tool, tmp_path / tool, "rocm-sdk-core", "numpy") == {"rocm_sdk_core-7.1.0a1", "numpy-2.0"}
    assert good("channel", "show", "stable", "--store", store, "--json").json["files"] == []
    refused("R022", 10, "promote", "--from", "run:1", "--to", "stable", "--policy", promote[promote.index("--policy") + 1], "--store", store)
    # Back again, by the number of the first move; and the distribution alone.
    bucket.good(*rollback, "--to", "1")
    assert "7.2.0" in bucket.get(f"{PREFIX}/rocm/index.html")
    place = f"{bucket.place.locator}/{PREFIX}"
    bucket.good("rollback", place, "--to", "0", "--reason", "it breaks")
    assert "7.2.0" not in bucket.get(f"{PREFIX}/rocm/index.html") and "7.1.0a1" in bucket.get(f"{PREFIX}/rocm/index.html")


def test_a_directory_belongs_to_the_store_that_is_there(bucket, promote, tmp_path):
    """The store may be a prefix of its bucket: records then name keys of that store, whoever adopts without saying so."""
    inner = f"{bucket.place.locator}/inner"
    bucket.good(*("/inner".join((word, "")) if word == bucket.place.locator else word for word in promote))
    for directory, version in ((PREFIX, "6.0"), ("v2/other", "6.1")):
        wheel = distributions.wheel(tmp_path, "numpy", version, requires_python=">=3.8")
        bucket.put(f"inner/{directory}/{wheel.name}", wheel.read_bytes())
        for named in (("--store", inner, directory), ("--bucket", bucket.place.bucket, f"inner/{directory}")):
            planned = bucket.good("compat", "manage", *named, "--do-not-upload")
            assert f"in {directory} " in planned.out and "1 file" in planned.out, planned.out
        adopted = bucket.good("set", "adopt", f"{inner}/{directory}", "--json").json
        (history,) = adopted["history"]
        assert history["directory"] == directory and [file["filename"] for file in history["files"]] == [wheel.name]
        assert wheel.name in bucket.get(f"inner/{directory}/numpy/index.html")
    assert bucket.quarry("index", "check", f"{inner}/{PREFIX}", "--json").json["projects"] > 1
