"""`quarry shadow`: a run as the scripts of February and August lay it out, beside ours. What the table explains passes, everything else is named."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import base_index, incumbent_run, package_forms, public_bucket, small_artifacts  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import ROOT, clean_environment, good, quarry, refused  # noqa: E402

GROUP = small_artifacts.FAMILY
TABLE = ROOT / "docs/differences.tsv"
CORE, DEVEL, LIBRARIES = (f"rocm_sdk_{name}-7.2.0-py3-none-linux_x86_64.whl" for name in ("core", "devel", "libraries"))
DEVICE, PROFILER = (f"rocm_{name}-7.2.0-py3-none-linux_x86_64.whl" for name in ("sdk_device_gfx1030", "profiler"))
HIP, BLAS = "_rocm_sdk_core/lib/libamdhip64.so.5", "_rocm_sdk_libraries/lib/libhipblas.so.2"
STARTER = "rocm-sdk-core!_rocm_sdk_core/lib/llvm/bin/amdclang"
TOPICS = ("keys", "packages", "pages", "outputs", "verdicts")
RUN = {"feb": "42", "aug": "43"}


@dataclass
class Pair:
    era: str
    store: Path
    outputs: Path  # of our jobs
    theirs: incumbent_run.Run

    def words(self, *more: str | Path) -> list:
        return ["shadow", f"run:{RUN[self.era]}-linux", "--store", f"file:{self.store}", "--against", self.theirs.place, "--outputs", self.outputs, "--against-outputs", self.theirs.outputs, *more]

    def packages(self) -> Path:
        return self.theirs.packages


def build_tree(root: Path, archives: Path) -> Path:
    """The directory of a build, as `run upload` takes it."""
    shutil.copytree(archives, root / "artifacts")
    for name, text in {"logs/core_build.log": "ninja: no work to do\n", "base/aux-overlay/build/therock_manifest.json": "{}\n"}.items():
        small_artifacts.write(root / name, text)
    return root


def make(root: Path, era: str, artifacts: Path, packages: Path, archives: Path, forms: dict | None = None) -> Pair:
    pair = Pair(era, root / "store", root / "ours.env", incumbent_run.make(root / "theirs", RUN[era], artifacts, era, GROUP, forms=forms))
    environment = clean_environment(GITHUB_OUTPUT=str(pair.outputs))
    group = ("--artifact-group", GROUP) if era == "feb" else ("--multiarch",)
    good("compat", "upload_python_packages", "--era", era, "--input-packages-dir", packages, "--run-id", RUN[era], "--output-dir", pair.store, *group, environment=environment)
    built = build_tree(root / "build", archives)
    good("run", "upload", built, "--store", f"file:{pair.store}", "--run-id", RUN[era], "--platform", "linux", "--artifact-group", GROUP, "--layout", era, environment=environment)
    incumbent_run.archives(pair.theirs.place, built / "artifacts", era)
    return pair


@pytest.fixture(scope="module")
def split_artifacts(tmp_path_factory) -> Path:
    return small_artifacts.make_split(tmp_path_factory.mktemp("split"))


@pytest.fixture(scope="module")
def split_packages(split_artifacts, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("split-packages")
    good("sdk", "build", "--artifact-dir", split_artifacts, "--dest-dir", out, "--version", "7.2.0", "--profile", "ci")
    return out


@pytest.fixture(scope="module")
def pairs(artifacts, packages, split_artifacts, split_packages, archives, tmp_path_factory) -> dict[str, Pair]:
    """Read-only."""
    held = {"feb": (artifacts, packages), "aug": (split_artifacts, split_packages)}
    return {era: make(tmp_path_factory.mktemp(era), era, *held[era], archives) for era in held}


@pytest.fixture(scope="module")
def one_target(archives, tmp_path_factory) -> Pair:
    """A run of August whose artifacts have device code of one target. Read-only."""
    root = tmp_path_factory.mktemp("one-target")
    artifacts = small_artifacts.make_split(root, ("gfx1030",))
    good("sdk", "build", "--artifact-dir", artifacts, "--dest-dir", root / "out", "--version", "7.2.0", "--profile", "ci")
    return make(root / "pair", "aug", artifacts, root / "out", archives, incumbent_run.packages_of_one_target())


@pytest.fixture
def own(pairs, tmp_path):
    """A copy of one pair, to change."""

    def copy(era: str) -> Pair:
        pair = pairs[era]
        shutil.copytree(pair.store.parent, tmp_path / era)
        theirs = incumbent_run.Run(*(tmp_path / era / each.relative_to(pair.store.parent) for each in (pair.theirs.place, pair.theirs.packages, pair.theirs.outputs)))
        return Pair(era, tmp_path / era / "store", tmp_path / era / "ours.env", theirs)

    return copy


@pytest.fixture(scope="module")
def ready(pairs, tmp_path_factory) -> Path:
    """The gate's document on our run of February, by a policy that lets it pass."""
    root = tmp_path_factory.mktemp("gate")
    policy = root / "policy.toml"
    policy.write_text((ROOT / "data/policies/demo.toml").read_text().replace('name = "demo"\n', 'name = "demo"\nmode = "report_only"\n', 1))
    (root / "ready.json").write_text(good("gate", "--from", "run:42-linux", "--to", "stable", "--policy", policy, "--store", f"file:{pairs['feb'].store}", "--json").out)
    return root / "ready.json"


def unexplained(done) -> list[tuple[str, str]]:
    assert done.code == 1, done.out + done.err
    return [(topic, each["place"]) for topic in TOPICS for each in done.json["sections"][topic]["differences"] if not each["explained"]]


@pytest.mark.parametrize("era", ["feb", "aug"])
def test_the_table_explains_a_run_of_each_era(pairs, ready, era):
    pair = pairs[era]
    verdict = ("--verdict", ready) if era == "feb" else ()
    done = good(*pair.words(*verdict, "--json"))
    assert done.json["schema"] == "quarry.shadow/1" and done.json["unexplained"] == 0 and done.json["findings"] == []
    sections = done.json["sections"]
    assert sections["keys"]["equal"] > 10 and sections["packages"]["equal"] > 30 and sections["pages"]["equal"] >= 7
    assert sections["outputs"]["equal"] == (1 if era == "feb" else 2)
    assert sections["verdicts"]["equal"] == (1 if era == "feb" else 0)
    text = good(*pair.words(*verdict)).out
    assert "ours    file:" in text and "explained:" in text and "METADATA beside its wheel" in text
    assert "python/gfx103X-dgpu/rocm_sdk" not in text or era == "aug"
    assert ".whl.metadata!ours" in good(*pair.words(*verdict, "--all")).out


def test_the_table_explains_a_run_of_one_target(one_target):
    """Theirs has no extra of a target then; ours has those of every other run. Each value is with the side that has it."""
    done = quarry(*one_target.words("--json"))
    assert done.json["unexplained"] == 0, unexplained(done)
    extras = {each["place"]: each for each in done.json["sections"]["packages"]["differences"] if "device" in each["place"] and each["place"].startswith("rocm (sdist)!metadata:")}
    ours = {place: each["ours"] for place, each in extras.items() if place.endswith("!ours")}
    assert ours == {
        "rocm (sdist)!metadata:Provides-Extra:device-all!ours": "device-all",
        "rocm (sdist)!metadata:Provides-Extra:device-gfx1030!ours": "device-gfx1030",
        'rocm (sdist)!metadata:Requires-Dist:rocm-sdk-device-gfx1030; extra == "device-all"!ours': 'rocm-sdk-device-gfx1030==7.2.0; extra == "device-all"',
        'rocm (sdist)!metadata:Requires-Dist:rocm-sdk-device-gfx1030; extra == "device-gfx1030"!ours': 'rocm-sdk-device-gfx1030==7.2.0; extra == "device-gfx1030"',
    }
    assert {(each["kind"], each["theirs"]) for place, each in extras.items() if place in ours} == {("only-left", "")}
    assert {(each["kind"], each["ours"], each["theirs"]) for place, each in extras.items() if place.endswith("device!theirs")} == {("only-right", "", "device")}


@pytest.mark.parametrize("era", ["feb", "aug"])
def test_theirs_has_the_recorded_form(pairs, artifacts, split_artifacts, era):
    """If the artifacts change, the form must be recorded again from packages of the scripts (package_forms.py)."""
    made = package_forms.read(pairs[era].packages(), artifacts if era == "feb" else split_artifacts)
    assert made == incumbent_run.recorded_packages(era)


def needed_rows(done, rows: list[list[str]]) -> set[int]:
    """The rows that are the first to fit a difference, as the program takes them."""
    needed = set()
    for topic in TOPICS:
        for each in done.json["sections"][topic]["differences"]:
            fits = [i for i, row in enumerate(rows) if row[0] == f"#{topic}" and row[2] == each["reason"] and glob(row[1]).fullmatch(each["place"])]
            needed |= set(fits[:1])
    return needed


def glob(pattern: str) -> re.Pattern:
    """docs/formats/differences.md: `*` stays within a directory, `**/` is any number of directories."""
    return re.compile("".join({"**/": "(?:.*/)?", "*": "[^/]*"}.get(part, re.escape(part)) for part in re.split(r"(\*\*/|\*)", pattern)))


def test_each_line_of_the_table_is_needed(pairs, one_target, own, ready):
    runs = [good(*one_target.words("--json")), *(good(*pair.words(*(("--verdict", ready) if era == "feb" else ()), "--json")) for era, pair in pairs.items())]
    uploaded = own("aug")
    (uploaded.packages() / "index.html").unlink()  # as the script uploads it: the bucket writes the page later
    edit_library(uploaded.store / "43-linux/python" / CORE, HIP, "--rpath", core_run_path(uploaded) + ":$ORIGIN")
    edit_library(uploaded.packages() / LIBRARIES, BLAS, "--rpath", core_run_path(uploaded, LIBRARIES, BLAS) + ":/opt/rocm/lib")
    rebuild_wheel(uploaded.packages() / DEVEL, repacked(link=("lib/libgone.so", "libgone.so.1")))
    add_library(uploaded.store / "43-linux/python" / LIBRARIES, "libodd.so.1.2", "libodd.so.1")
    list_features(uploaded)
    fill_base_index(uploaded)
    runs.append(good(*uploaded.words("--json")))
    rows = [line.split("\t") for line in TABLE.read_text().splitlines() if line.startswith(tuple(f"#{topic}\t" for topic in TOPICS))]
    assert len(rows) > 60
    needed = set().union(*(needed_rows(done, rows) for done in runs))
    assert [row for i, row in enumerate(rows) if i not in needed] == []


@pytest.mark.parametrize("tool", ["pip-newest", "uv"])
@pytest.mark.parametrize("era", ["feb", "aug"])
def test_installers_find_the_same_on_both_pages(pairs, era, tool, tmp_path):
    """The oracle for the section of pages: what pip and uv install from each."""
    pair = pairs[era]
    found = []
    for name, directory in {"ours": pair.store / f"{RUN[era]}-linux/python" / (GROUP if era == "feb" else ""), "theirs": pair.packages()}.items():
        target = tmp_path / name
        words = ("--no-index", "--find-links", str(directory / "index.html"), "--no-deps", "rocm-sdk-core", "rocm-sdk-devel", "--target", target)
        ended = client(tool).run(*(("pip", "install", "--python", client(tool).bin / "python", "--no-cache") if tool == "uv" else ("install", "--no-cache-dir")), *words)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        found.append({path.name for path in target.glob("*.dist-info")})
    assert found[0] == found[1] == {"rocm_sdk_core-7.2.0.dist-info", "rocm_sdk_devel-7.2.0.dist-info"}


def fill_base_index(pair: Pair) -> None:
    upstream = pair.store.parent / "upstream"
    upstream.mkdir()
    base_index.sync(base_index.upstream(upstream), f"file:{pair.store}", clean_environment())


def test_a_store_with_a_base_index(own, ready):
    """Its runs have a merged index, which the scripts do not make."""
    for era in RUN:
        pair = own(era)
        fill_base_index(pair)
        done = good(*pair.words(*(("--verdict", ready) if era == "feb" else ()), "--json"))
        place = "python/" + (f"{GROUP}/" if era == "feb" else "") + "merged/pages.json!ours"
        assert done.json["unexplained"] == 0 and place in {each["place"] for each in done.json["sections"]["keys"]["differences"]}


def list_features(pair: Pair) -> None:
    """As the script lists a target of which there are archives of one setting alone."""

    def change(members: dict) -> None:
        (module,) = [name for name in members if name.endswith("_dist_info.py")]
        data, mode = members[module]
        members[module] = (data + b"\nAVAILABLE_TARGET_FAMILIES = ['gfx1030', 'gfx942:xnack-']\n", mode)

    rebuild_wheel(pair.packages() / LIBRARIES, change)


def test_a_target_with_a_feature_alone(own):
    pair = own("aug")
    list_features(pair)
    place = "rocm-sdk-libraries!rocm_sdk_libraries/_dist_info.py!value:AVAILABLE_TARGET_FAMILIES!processors"
    assert place in {each["place"] for each in good(*pair.words("--json")).json["sections"]["packages"]["differences"]}


# --- what is named


def test_a_key_that_we_lack_and_one_of_theirs(own):
    pair = own("feb")
    archive = "blas_lib_gfx103X-dgpu.tar.zst"
    for name in (archive, archive + ".sha256sum"):
        (pair.store / "42-linux" / name).unlink()
    (pair.theirs.place / "core-hip_lib_generic.tar.zst.sha256sum").write_text("0" * 64 + "  core-hip_lib_generic.tar.zst\n")
    (pair.theirs.place / f"manifests/{GROUP}/therock_manifest.json").write_text('{"the_rock_commit": "another"}\n')
    done = quarry(*pair.words("--json"))
    found = unexplained(done)
    assert [place for topic, place in found if topic == "keys"] == [
        "core-hip_lib_generic.tar.zst.sha256sum!sha256",
        f"manifests/{GROUP}/therock_manifest.json!content",
        f"{archive}!theirs",
        f"{archive}.sha256sum!theirs",
    ]
    assert {each["code"] for each in done.json["findings"]} == {"Q510", "Q514"}
    assert "error[Q510]: blas_lib_gfx103X-dgpu.tar.zst!theirs: only theirs has it" in quarry(*pair.words()).err


def rebuild_wheel(path: Path, change) -> None:
    """Writes a wheel again with changed members and a RECORD that is right."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: (archive.read(info), info.external_attr) for info in archive.infolist()}
    change(members)
    record = next(name for name in members if name.endswith(".dist-info/RECORD"))
    members.pop(record)
    members[record] = (package_forms.record_of(members, record.partition("/")[0]), 0o100644 << 16)
    with zipfile.ZipFile(path, "w") as archive:
        for name, (data, mode) in members.items():
            entry = zipfile.ZipInfo(name, (2026, 2, 26, 0, 0, 0))
            entry.external_attr = mode
            archive.writestr(entry, data)


def rebuild_sdist(path: Path, change) -> None:
    with tarfile.open(path) as archive:
        files = {each.name: archive.extractfile(each).read() for each in archive if each.isfile()}
    change(files)
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


def edit_library(wheel: Path, library: str, *words: str) -> None:
    def change(members: dict) -> None:
        before, after = wheel.parent.parent / "before.so", wheel.parent.parent / "after.so"
        before.write_bytes(members[library][0])
        good("elf", "edit", before, *words, "--output", after)
        members[library] = (after.read_bytes(), members[library][1])
        before.unlink()
        after.unlink()

    rebuild_wheel(wheel, change)


def add_library(wheel: Path, name: str, soname: str) -> None:
    """A copy of hipblas under another name."""

    def change(members: dict) -> None:
        before, after = wheel.parent.parent / "before.so", wheel.parent.parent / "after.so"
        before.write_bytes(members[BLAS][0])
        good("elf", "edit", before, "--soname", soname, "--output", after)
        members[f"{BLAS.rpartition('/')[0]}/{name}"] = (after.read_bytes(), members[BLAS][1])
        before.unlink()
        after.unlink()

    rebuild_wheel(wheel, change)


def core_run_path(pair: Pair, wheel: str = CORE, library: str = HIP) -> str:
    with zipfile.ZipFile(pair.packages() / wheel) as archive:
        dynamic = ELFFile(io.BytesIO(archive.read(library))).get_section_by_name(".dynamic")
    return next(tag.rpath for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_RPATH")


# --- defects: none of them may hide behind a line of the table


def replaced(name: str, old: bytes, new: bytes):
    """A change of the only member whose name ends so."""

    def change(members: dict) -> None:
        (member,) = [each for each in members if each.endswith(name)]
        data, mode = members[member]
        assert old in data, (member, old)
        members[member] = (data.replace(old, new), mode)

    return change


def without(name: str):
    return lambda members: members.pop(next(each for each in members if each.endswith(name)))


def with_member(name: str):
    return lambda members: members.update({name: (b"x = 1\n", 0o100644 << 16)})


def not_executable(members: dict) -> None:
    members["_rocm_sdk_core/bin/hipconfig"] = (members["_rocm_sdk_core/bin/hipconfig"][0], 0o100644 << 16)


def starts_another(members: dict) -> None:
    members["_rocm_sdk_core/lib/llvm/bin/amdclang"] = (package_forms.starter("lld"), 0o100755 << 16)


def other_code(members: dict) -> None:
    data, mode = members[HIP]
    text = ELFFile(io.BytesIO(data)).get_section_by_name(".text")
    at = text["sh_offset"] + text["sh_size"] - 1
    members[HIP] = (data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], mode)


def repacked(leave_out: str = "/nothing", link: tuple[str, str] | None = None):
    """The development files without one, or with a link more."""

    def change(members: dict) -> None:
        data, mode = members["rocm_sdk_devel/_devel.tar"]
        out = io.BytesIO()
        with tarfile.open(fileobj=io.BytesIO(data)) as old, tarfile.open(fileobj=out, mode="w") as new:
            for each in old:
                if not each.name.endswith(leave_out):
                    new.addfile(each, old.extractfile(each) if each.isfile() else None)
            if link:
                entry = tarfile.TarInfo("_rocm_sdk_devel/" + link[0])
                entry.type, entry.linkname = tarfile.SYMTYPE, link[1]
                new.addfile(entry)
        members["rocm_sdk_devel/_devel.tar"] = (out.getvalue(), mode)

    return change


OURS, THEIRS = True, False
DEFECTS = {
    "a library that we lack": (OURS, LIBRARIES, without(BLAS), [f"rocm-sdk-libraries!{BLAS}!theirs"]),
    "other code of a library": (OURS, CORE, other_code, [f"rocm-sdk-core!{HIP}!code"]),
    "another symbol": (OURS, CORE, replaced("libamdhip64.so.5", b"amdhip64_version\0", b"amdhip64_vorsion\0"), [f"rocm-sdk-core!{HIP}!code"]),
    "a launcher of another program": (THEIRS, CORE, starts_another, [f"{STARTER}!code", f"{STARTER}!interpreter", f"{STARTER}!needs:libc.so.6!theirs", f"{STARTER}!type", f"{STARTER}!versions"]),
    "a program that is not executable": (OURS, CORE, not_executable, ["rocm-sdk-core!_rocm_sdk_core/bin/hipconfig"]),
    "another version in a module": (OURS, CORE, replaced("_dist_info.py", b'__version__ = "7.2.0"', b'__version__ = "7.2.1"'), ["rocm-sdk-core!rocm_sdk_core/_dist_info.py!value:__version__"]),
    "another version behind quotes in a comment": (OURS, CORE, replaced("_dist_info.py", b'__version__ = "7.2.0"', b'# quotes like """ here\n__version__ = "7.2.1"'), ["rocm-sdk-core!rocm_sdk_core/_dist_info.py!value:__version__"]),
    "a version that is not written down": (OURS, CORE, replaced("_dist_info.py", b'__version__ = "7.2.0"', b'__version__ = str("7.2.1")'), ["rocm-sdk-core!rocm_sdk_core/_dist_info.py!value:__version__"]),
    "a module that ends inside a text": (OURS, CORE, replaced("_dist_info.py", b"LIBRARIES = [", b"'''LIBRARIES = ["), ["rocm-sdk-core!rocm_sdk_core/_dist_info.py!unread"]),
    "a family less in a module": (OURS, LIBRARIES, replaced("_dist_info.py", b'FAMILIES = ["gfx1030", "gfx942"]', b'FAMILIES = ["gfx1030"]'), ["rocm-sdk-libraries!rocm_sdk_libraries/_dist_info.py!value:AVAILABLE_TARGET_FAMILIES"]),
    "a console script that we lack": (OURS, CORE, replaced("entry_points.txt", b"hipconfig = rocm_sdk_core._cli:hipconfig\n", b""), ["rocm-sdk-core!script:hipconfig!theirs"]),
    "another entry point": (OURS, CORE, replaced("entry_points.txt", b"_cli:hipconfig", b"_cli:amdclang"), ["rocm-sdk-core!script:hipconfig"]),
    "a console script for a program that is there": (
        THEIRS,
        CORE,
        replaced("entry_points.txt", b"[console_scripts]\n", b"[console_scripts]\nclang = rocm_sdk_core._cli:clang\n"),
        ["rocm-sdk-core!script:clang!theirs"],
    ),
    "a requirement that we lack": (OURS, DEVICE, replaced("METADATA", b"Requires-Dist: rocm-sdk-libraries==7.2.0\n", b""), ["rocm-sdk-device-gfx1030!metadata:Requires-Dist:rocm-sdk-libraries!theirs"]),
    "a requirement of another version": (OURS, DEVICE, replaced("METADATA", b"libraries==7.2.0", b"libraries==7.1.0"), ["rocm-sdk-device-gfx1030!metadata:Requires-Dist:rocm-sdk-libraries"]),
    "a requirement that nobody needs": (OURS, CORE, replaced("METADATA", b"Keywords:", b"Requires-Dist: numpy\nKeywords:"), ["rocm-sdk-core!metadata:Requires-Dist:numpy!ours"]),
    "a requirement of theirs": (THEIRS, LIBRARIES, replaced("METADATA", b"Version: 7.2.0\n", b"Version: 7.2.0\nRequires-Dist: numpy\n"), ["rocm-sdk-libraries!metadata:Requires-Dist:numpy!theirs"]),
    "fewer Pythons": (OURS, PROFILER, replaced("METADATA", b"Requires-Python: >=3.10", b"Requires-Python: >=3.13"), ["rocm-profiler!metadata:Requires-Python:>=3.13|>=3.8"]),
    "a module that we lack": (THEIRS, CORE, with_member("rocm_sdk_core/_more.py"), ["rocm-sdk-core!rocm_sdk_core/_more.py!theirs"]),
    "the module of the console scripts": (OURS, CORE, without("rocm_sdk_core/_cli.py"), ["rocm-sdk-core!rocm_sdk_core/_cli.py!theirs"]),
    "a link that the device package lacks": (OURS, DEVICE, replaced("gfx1030.json", b"lib/libkernels", b"lib/libother"), ["rocm-sdk-device-gfx1030!_rocm_sdk_libraries/.devel_links/gfx1030.json"]),
    "device code that differs": (OURS, DEVICE, replaced(".kpack", b"code", b"cold"), ["rocm-sdk-device-gfx1030!_rocm_sdk_libraries/lib/.kpack/blas_lib_gfx1030.kpack"]),
    "a header that the development files lack": (OURS, DEVEL, repacked("hipblas.h"), ["rocm-sdk-devel!rocm_sdk_devel/_devel.tar!_rocm_sdk_devel/include/hipblas/hipblas.h!theirs"]),
    "a link that the development files lack": (OURS, DEVEL, repacked("libhipblas.so"), ["rocm-sdk-devel!rocm_sdk_devel/_devel.tar!_rocm_sdk_devel/lib/libhipblas.so!theirs"]),
}


TABLES = {  # what our own table of packages says wrongly: theirs has none to compare it with
    "a name": (CORE, b'"dist": "rocm-sdk-devel"', b'"dist": "rocm-sdk-develop"', "no entry names rocm_sdk_devel-7.2.0"),
    "a directory of modules": (CORE, b'"pure": "rocm_profiler"', b'"pure": "rocm_profilers"', "holds no directory rocm_profilers"),
    "a directory of files": (CORE, b'"platform": "_rocm_sdk_devel"', b'"platform": "_rocm_sdk_development"', "holds no directory _rocm_sdk_development"),
    "what is required": (CORE, b'"dist": "rocm-sdk-libraries", "pure": "rocm_sdk_libraries", "platform": "_rocm_sdk_libraries", "required": False', b'"dist": "rocm-sdk-libraries", "pure": "rocm_sdk_libraries", "platform": "_rocm_sdk_libraries", "required": True', "does not require rocm-sdk-libraries"),
    "a requirement": (PROFILER, b'"requires": ["core"]', b'"requires": []', "requires rocm-sdk-core"),
    "a package more": (DEVEL, b'ALL_PACKAGES = {', b'ALL_PACKAGES = {"more": {"dist": "rocm-more", "pure": "rocm_more", "platform": "_rocm_more", "required": False}, ', "names rocm-more"),
    "a package less": (DEVEL, b'ALL_PACKAGES = {"core"', b'ALL_PACKAGES = {"core": {"dist": "rocm-x"}}\nOTHER = {"core"', "not written down"),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_table_of_packages_is_held_against_the_packages(own, case):
    pair = own("aug")
    wheel, old, new, said = TABLES[case]
    place = {CORE: "rocm-sdk-core!rocm_sdk_core", PROFILER: "rocm-profiler!rocm_profiler", DEVEL: "rocm-sdk-devel!rocm_sdk_devel"}[wheel]
    rebuild_wheel(pair.store / "43-linux/python" / wheel, lambda members: members.update({name: (data.replace(old, new), mode) for name, (data, mode) in members.items() if name.endswith("/_dist_info.py") and old in data}))
    done = quarry(*pair.words("--json"))
    assert unexplained(done) == [("packages", f"{place}/_dist_info.py!value:ALL_PACKAGES")]
    assert said in done.json["findings"][0]["message"]


def test_the_extras_are_held_against_the_source_distribution(own):
    pair = own("aug")
    name = "rocm-7.2.0/src/rocm_sdk/_dist_info.py"

    def change(files: dict) -> None:
        assert b'"libraries": ["libraries"]' in files[name]
        files[name] = files[name].replace(b'"libraries": ["libraries"]', b'"libraries": ["devel"]')

    rebuild_sdist(pair.store / "43-linux/python/rocm-7.2.0.tar.gz", change)
    assert unexplained(quarry(*pair.words("--json"))) == [("packages", "rocm (sdist)!src/rocm_sdk/_dist_info.py!value:EXTRAS")]


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_not_explained(own, defect):
    pair = own("aug")
    ours, wheel, change, expected = DEFECTS[defect]
    rebuild_wheel((pair.store / "43-linux/python" if ours else pair.packages()) / wheel, change)
    done = quarry(*pair.words("--json"))
    assert sorted(unexplained(done)) == [("packages", place) for place in expected]


def test_a_wheel_of_ours_that_says_it_is_pure(own):
    """The line about that field is about the two values, not about the field."""
    pair = own("aug")
    for directory, old, new in ((pair.store / "43-linux/python", b"false", b"true"), (pair.packages(), b"true", b"false")):
        rebuild_wheel(directory / CORE, replaced("WHEEL", b"Purelib: " + old, b"Purelib: " + new))
    assert unexplained(quarry(*pair.words("--json"))) == [("packages", "rocm-sdk-core!wheel:Root-Is-Purelib:true|false")]


@pytest.mark.parametrize(
    "words, place",
    [
        (("--rpath", "$ORIGIN/elsewhere"), "RPATH"),
        (("--rpath", "{old}:$ORIGIN/more"), "run-path!theirs"),
        (("--rpath", "{old}", "--runpath"), "run-path!theirs"),
        (("--rpath", "{old}:{old}/."), "run-path!spelling"),
        (("--rpath", "$ORIGIN/../lib:$ORIGIN/elsewhere"), "RPATH"),
        (("--replace-needed", "libamdhip64.so.5=libamdhip64.so.6"), "needs:libamdhip64.so.6!theirs"),
        (("--soname", "libhipblas.so.3"), "SONAME"),
    ],
)
def test_an_edit_of_a_library_is_not_explained(own, words, place):
    """What theirs has and ours does not: the first that is named."""
    pair = own("aug")
    old = core_run_path(pair, LIBRARIES, BLAS)
    edit_library(pair.packages() / LIBRARIES, BLAS, *(word.replace("{old}", old) for word in words))
    assert ("packages", f"rocm-sdk-libraries!{BLAS}!{place}") in unexplained(quarry(*pair.words("--json")))


def test_a_library_without_a_file_of_its_soname(own):
    """Theirs drops it, and its link in the development files leads nowhere. Another library that we alone have is not explained."""
    pair = own("aug")
    ours, theirs = pair.store / "43-linux/python", pair.packages()
    add_library(ours / LIBRARIES, "libodd.so.1.2", "libodd.so.1")
    rebuild_wheel(ours / DEVEL, repacked(link=("lib/libodd.so.1.2", "../../_rocm_sdk_libraries/lib/libodd.so.1.2")))
    rebuild_wheel(theirs / DEVEL, repacked(link=("lib/libodd.so.1.2", "libodd.so.1")))
    assert "is kept under its own name" in good(*pair.words()).out
    sound = (ours / DEVEL).read_bytes()
    rebuild_wheel(ours / DEVEL, repacked("libodd.so.1.2", ("lib/libodd.so.1.2", f"../../{BLAS}")))
    assert unexplained(quarry(*pair.words("--json"))) == [("packages", "rocm-sdk-devel!rocm_sdk_devel/_devel.tar!_rocm_sdk_devel/lib/libodd.so.1.2")]
    (ours / DEVEL).write_bytes(sound)
    add_library(ours / LIBRARIES, "libodd.so.2.1", "libhipblas.so.2")
    assert unexplained(quarry(*pair.words("--json"))) == [("packages", "rocm-sdk-libraries!_rocm_sdk_libraries/lib/libodd.so.2.1!ours")]


def test_the_sdist_asks_for_everything(own):
    pair = own("aug")
    text = {b'Requires-Dist: rocm-sdk-devel==7.2.0 ; extra == "devel"\n': b"", b"Provides-Extra: device-gfx942\n": b"", b'sys_platform == "linux"': b'sys_platform == "win32"'}

    def change(files: dict) -> None:
        for old, new in text.items():
            assert old in files["rocm-7.2.0/PKG-INFO"], old
            files["rocm-7.2.0/PKG-INFO"] = files["rocm-7.2.0/PKG-INFO"].replace(old, new)
        del files["rocm-7.2.0/src/rocm_sdk/__main__.py"]
        module = "rocm-7.2.0/src/rocm_sdk/__init__.py"
        files[module] = files[module].replace(b'"find_libraries", ', b"")

    rebuild_sdist(pair.store / "43-linux/python/rocm-7.2.0.tar.gz", change)
    places = [
        "metadata:Provides-Extra:device-gfx942!theirs",
        'metadata:Requires-Dist:rocm-profiler; extra == "profiler"!marker:sys_platform == "win32" and extra == "profiler"|extra == "profiler"',
        'metadata:Requires-Dist:rocm-sdk-devel; extra == "devel"!theirs',
        "src/rocm_sdk/__init__.py!exports:find_libraries!theirs",
        "src/rocm_sdk/__main__.py!theirs",
        "src/rocm_sdk/_dist_info.py!value:EXTRAS",
    ]
    assert unexplained(quarry(*pair.words("--json"))) == [("packages", f"rocm (sdist)!{place}") for place in places]


def test_a_run_path_a_member_and_a_requirement(own, tmp_path):
    """Three differences of one wheel are three findings, and a file of differences explains them."""
    pair = own("aug")
    edit_library(pair.packages() / LIBRARIES, BLAS, "--rpath", "$ORIGIN/elsewhere")

    def change(members: dict) -> None:
        with_member("_rocm_sdk_libraries/lib/libextra.so")(members)
        DEFECTS["a requirement of theirs"][2](members)

    rebuild_wheel(pair.packages() / LIBRARIES, change)
    done = quarry(*pair.words("--json"))
    assert unexplained(done) == [
        ("packages", "rocm-sdk-libraries!_rocm_sdk_libraries/lib/libextra.so!theirs"),
        ("packages", f"rocm-sdk-libraries!{BLAS}!RPATH"),
        ("packages", "rocm-sdk-libraries!metadata:Requires-Dist:numpy!theirs"),
    ]
    (run_path,) = [each for each in done.json["findings"] if each["place"].startswith(f"rocm-sdk-libraries!{BLAS}")]
    assert "elsewhere" in run_path["message"] and run_path["place"].endswith(" in python")
    assert good(*pair.words("--no-packages")).out.count("packages ") == 0
    rows = tmp_path / "more.tsv"
    rows.write_text("".join(f"#packages\t{place}\tan experiment\n" for _, place in unexplained(done)))
    assert "     3  packages  an experiment" in good(*pair.words("--differences", rows)).out


def test_a_page_that_offers_less_or_leads_nowhere(own):
    pair = own("feb")
    page = pair.packages() / "index.html"
    text = page.read_text()
    core, devel = (f"rocm_sdk_{name}-7.2.0-py3-none-linux_x86_64.whl" for name in ("core", "devel"))
    page.write_text(text.replace(f'<a href="{core}">{core}</a>', "").replace(f'href="{devel}"', f'href="gone/{devel}"'))
    found = unexplained(quarry(*pair.words("--json")))
    assert [place for topic, place in found if topic == "pages"] == [f"python/{GROUP}/index.html!{core}!ours", f"python/{GROUP}/index.html!{devel}!leads"]


def test_outputs_and_verdicts(own, ready, pairs, report_only_policy):
    pair = own("feb")
    text = pair.theirs.outputs.read_text()
    pair.theirs.outputs.write_text(text.replace("index.html", "other.html") + "gpu=gfx94X\n")
    found = unexplained(quarry(*pair.words("--verdict", ready, "--json")))
    assert found == [("outputs", "package_find_links_url"), ("outputs", "gpu!theirs")]
    pair.theirs.outputs.write_text(text)
    held = quarry("gate", "--from", "run:42-linux", "--to", "stable", "--policy", "demo", "--store", f"file:{pair.store}", "--json")
    assert held.code == 10
    document = pair.store.parent / "held.json"
    document.write_text(held.out)
    done = quarry(*pair.words("--verdict", document))
    assert done.code == 1 and "error[Q514]: upload: ours held, theirs true" in done.err
    rows = pair.store.parent / "rows.tsv"
    rows.write_text("#verdicts\tupload\tthe script releases what nobody tested\n")
    good(*pair.words("--verdict", document, "--differences", rows))


# --- what is refused


def test_what_is_no_run_and_no_input(pairs, tmp_path):
    pair = pairs["feb"]
    words = ["shadow", "run:42-linux", "--store", f"file:{pair.store}", "--against"]
    (tmp_path / "empty").mkdir()
    assert "42-linux" in refused("Q501", 3, *words, tmp_path / "empty").err
    refused("Q006", 2, "shadow", "run:42-linux", "--against", pair.theirs.place, environment=clean_environment())
    refused("L009", 2, *words, "channel:stable")
    broken = tmp_path / "broken"
    broken.write_text("nonsense\n")
    assert "broken:1" in refused("Q502", 2, *words, pair.theirs.place, "--outputs", broken).err
    refused("Q503", 2, *words, pair.theirs.place, "--verdict", broken)
    broken.write_text("#keys\tplace\n")
    assert "broken:1" in refused("Q500", 2, *words, pair.theirs.place, "--differences", broken).err


def test_a_broken_package_of_theirs(own):
    pair = own("aug")
    (pair.packages() / "rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl").write_bytes(b"not a zip file")
    assert "their python" in refused("W010", 6, *pair.words()).err


# --- in a bucket


@pytest.fixture(scope="module")
def bucket(ceph):
    with public_bucket.serve(ceph) as place:
        yield place


def test_their_run_in_its_bucket(pairs, bucket):
    """Theirs is read where it is: s3://bucket/43-linux."""
    pair = pairs["aug"]
    for path in sorted(pair.theirs.place.rglob("*")):
        if path.is_file():
            bucket.client().put(bucket.bucket, f"43-linux/{path.relative_to(pair.theirs.place)}", path.read_bytes())
    words = [f"{bucket.locator}/43-linux" if word == pair.theirs.place else word for word in pair.words("--json")]
    before = set(bucket.client().list(bucket.bucket, ""))
    done = good(*words, environment=clean_environment(NO_PROXY="127.0.0.1", **bucket.environment()))
    assert done.json["unexplained"] == 0 and done.json["theirs"] == f"{bucket.locator}/43-linux"
    assert done.json["sections"]["packages"]["equal"] == good(*pair.words("--json")).json["sections"]["packages"]["equal"]
    assert set(bucket.client().list(bucket.bucket, "")) == before
