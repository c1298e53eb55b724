"""`quarry shadow`: a run as the scripts of February and August lay it out, beside ours. What the table explains passes, everything else is named."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import incumbent_run, public_bucket, small_artifacts  # noqa: E402
from support.clients import client  # noqa: E402
from support.quarry import ROOT, clean_environment, good, quarry, refused  # noqa: E402

GROUP = small_artifacts.FAMILY
TABLE = ROOT / "docs/differences.tsv"
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


def make(root: Path, era: str, packages: Path, archives: Path) -> Pair:
    pair = Pair(era, root / "store", root / "ours.env", incumbent_run.make(root / "theirs", RUN[era], packages / "dist", era, GROUP))
    environment = clean_environment(GITHUB_OUTPUT=str(pair.outputs))
    group = ("--artifact-group", GROUP) if era == "feb" else ("--multiarch",)
    good("compat", "upload_python_packages", "--era", era, "--input-packages-dir", packages, "--run-id", RUN[era], "--output-dir", pair.store, *group, environment=environment)
    built = build_tree(root / "build", archives)
    good("run", "upload", built, "--store", f"file:{pair.store}", "--run-id", RUN[era], "--platform", "linux", "--artifact-group", GROUP, "--layout", era, environment=environment)
    incumbent_run.archives(pair.theirs.place, built / "artifacts", era)
    return pair


@pytest.fixture(scope="module")
def split_packages(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("split")
    good("sdk", "build", "--artifact-dir", small_artifacts.make_split(root), "--dest-dir", root / "out", "--version", "7.2.0", "--profile", "ci")
    return root / "out"


@pytest.fixture(scope="module")
def pairs(packages, split_packages, archives, tmp_path_factory) -> dict[str, Pair]:
    """Read-only."""
    held = {"feb": packages, "aug": split_packages}
    return {era: make(tmp_path_factory.mktemp(era), era, held[era], archives) for era in held}


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
    assert sections["keys"]["equal"] > 10 and sections["packages"]["equal"] > 50 and sections["pages"]["equal"] >= 7
    assert sections["outputs"]["equal"] == (1 if era == "feb" else 2)
    assert sections["verdicts"]["equal"] == (1 if era == "feb" else 0)
    text = good(*pair.words(*verdict)).out
    assert "ours    file:" in text and "explained:" in text and "METADATA beside its wheel" in text
    assert "python/gfx103X-dgpu/rocm_sdk" not in text or era == "aug"
    assert ".whl.metadata!ours" in good(*pair.words(*verdict, "--all")).out


def test_each_line_of_the_table_is_needed(pairs, ready):
    reasons = set()
    for era, pair in pairs.items():
        sections = good(*pair.words(*(("--verdict", ready) if era == "feb" else ()), "--json")).json["sections"]
        reasons |= {(topic, each["reason"]) for topic in TOPICS for each in sections[topic]["differences"]}
    rows = [line.split("\t") for line in TABLE.read_text().splitlines() if line.startswith(tuple(f"#{topic}\t" for topic in TOPICS))]
    assert len(rows) > 20
    assert [row for row in rows if (row[0][1:], row[2]) not in reasons] == []


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
    import zipfile

    with zipfile.ZipFile(path) as archive:
        members = {info.filename: (archive.read(info), info.external_attr) for info in archive.infolist()}
    change(members)
    record = next(name for name in members if name.endswith(".dist-info/RECORD"))
    members.pop(record)
    members[record] = (incumbent_run.record_of(members, record.partition("/")[0]), 0o100644 << 16)
    with zipfile.ZipFile(path, "w") as archive:
        for name, (data, mode) in members.items():
            entry = zipfile.ZipInfo(name, (2026, 2, 26, 0, 0, 0))
            entry.external_attr = mode
            archive.writestr(entry, data)


def test_a_run_path_a_member_and_a_requirement(own, tmp_path):
    pair = own("aug")
    wheel = pair.packages() / "rocm_sdk_libraries-7.2.0-py3-none-linux_x86_64.whl"
    library = "_rocm_sdk_libraries/lib/libhipblas.so.2"

    def change(members: dict) -> None:
        (tmp_path / "lib.so").write_bytes(members[library][0])
        good("elf", "edit", tmp_path / "lib.so", "--rpath", "$ORIGIN/elsewhere", "--output", tmp_path / "edited.so")
        members[library] = ((tmp_path / "edited.so").read_bytes(), members[library][1])
        members["_rocm_sdk_libraries/lib/libextra.so"] = (b"extra", 0o100644 << 16)
        metadata = next(name for name in members if name.endswith("/METADATA"))
        members[metadata] = (members[metadata][0].rstrip(b"\n") + b"\nRequires-Dist: numpy\n", members[metadata][1])

    rebuild_wheel(wheel, change)
    done = quarry(*pair.words("--json"))
    assert unexplained(done) == [
        ("packages", "rocm-sdk-libraries!_rocm_sdk_libraries/lib/libextra.so!theirs"),
        ("packages", f"rocm-sdk-libraries!{library}"),
        ("packages", "rocm-sdk-libraries!metadata:Requires-Dist"),
    ]
    (run_path,) = [each for each in done.json["findings"] if each["place"].startswith(f"rocm-sdk-libraries!{library}")]
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
