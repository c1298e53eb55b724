"""`quarry wheel edit`: what changes, what stays, what is refused."""

from __future__ import annotations

import email
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import distributions, static_server  # noqa: E402
from support.clients import client  # noqa: E402
from support.defective_wheels import Draft  # noqa: E402
from support.quarry import PROGRAM, clean_environment, good, refused  # noqa: E402


@pytest.fixture
def wheel(tmp_path) -> Path:
    return distributions.wheel(tmp_path, "demo", "1.0", requires=("numpy",), payload=b"x" * 1000)


def metadata_of(path: Path) -> email.message.Message:
    return email.message_from_bytes(distributions.metadata_of(path))


def edited(wheel: Path, *words) -> Path:
    made = Path(good("wheel", "edit", wheel, *words, "-d", wheel.parent / "out").out.strip())
    good("wheel", "verify", made)
    done = good("wheel", "verify", made, "--derived-from", wheel)
    assert "W024" not in done.err
    return made


def test_fields(wheel):
    made = edited(wheel, "--set", "Summary=for tests", "--set", "Requires-Dist=scipy>=1", "--add", "Requires-Dist=extra-one; python_version<'3.12'", "--add", "Classifier=Private :: Do Not Upload")
    fields = metadata_of(made)
    assert fields["Summary"] == "for tests" and fields.get_all("Requires-Dist") == ["scipy>=1", "extra-one; python_version<'3.12'"]
    assert fields["Metadata-Version"] == "2.2" and fields["Classifier"] == "Private :: Do Not Upload"
    assert metadata_of(edited(wheel, "--remove", "requires-dist")).get_all("Requires-Dist") is None


def test_wheels_on_a_server_are_compared(wheel):
    made = edited(wheel, "--set", "Summary=for tests")
    with static_server.serve(wheel.parent) as (url, _):
        for one, other in ((f"{url}/out/{made.name}", f"{url}/{wheel.name}"), (made, f"{url}/{wheel.name}"), (f"{url}/out/{made.name}", wheel)):
            done = good("wheel", "verify", one, "--derived-from", other, "--json", environment=clean_environment(NO_PROXY="127.0.0.1")).json
            (file,) = done["files"]
            assert file["derived"]["from"] == str(other) and file["derived"]["changed"] and file["derived"]["added"] == []
    refused("C042", 2, "wheel", "verify", made, wheel, "--derived-from", wheel)
    refused("D001", 3, "wheel", "verify", made, "--derived-from", wheel.parent / "none-1.0-py3-none-any.whl")


def test_licences_and_sboms(wheel, tmp_path):
    (tmp_path / "NOTICE").write_text("who wrote it")
    (tmp_path / "demo.cdx.json").write_text(json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.6", "components": []}))
    made = edited(wheel, "--license", tmp_path / "NOTICE", "--sbom", tmp_path / "demo.cdx.json")
    fields = metadata_of(made)
    assert (fields["Metadata-Version"], fields["License-File"]) == ("2.4", "NOTICE")
    with zipfile.ZipFile(made) as archive:
        assert archive.read("demo-1.0.dist-info/licenses/NOTICE") == b"who wrote it"
        assert b"CycloneDX" in archive.read("demo-1.0.dist-info/sboms/demo.cdx.json")
    ended = client("pip-newest").run("install", "--no-deps", "--no-index", "--target", tmp_path / "installed", made)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "installed/demo-1.0.dist-info/sboms/demo.cdx.json").exists()
    refused("W026", 2, "wheel", "edit", made, "--license", tmp_path / "NOTICE", "-d", tmp_path / "again")


def test_a_licence_of_an_old_wheel(tmp_path):
    old = distributions.wheel_of(tmp_path, "demo", "1.0", files={"demo.py": "", "demo-1.0.dist-info/LICENSE": "terms"}, metadata=["License-File: LICENSE"])
    (tmp_path / "NOTICE").write_text("who wrote it")
    made = edited(old, "--license", tmp_path / "NOTICE")
    assert metadata_of(made).get_all("License-File") == ["LICENSE", "NOTICE"]
    with zipfile.ZipFile(made) as archive:
        assert archive.read("demo-1.0.dist-info/licenses/LICENSE") == b"terms"
    (tmp_path / "LICENSE").write_text("new terms")
    assert metadata_of(edited(old, "--license", tmp_path / "LICENSE")).get_all("License-File") == ["LICENSE"]
    (tmp_path / "BINARY").write_bytes(b"\xff\xfe")
    refused("W026", 2, "wheel", "edit", old, "--license", tmp_path / "BINARY", "-d", tmp_path / "again")
    (tmp_path / "two\nlines").write_text("x")
    refused("W026", 2, "wheel", "edit", old, "--license", tmp_path / "two\nlines", "-d", tmp_path / "again")


def test_a_lost_file_stays_visible(wheel, tmp_path):
    """A new RECORD would not list what the wheel lost, and nobody could tell any more."""
    lossy = tmp_path / "lossy" / wheel.name
    lossy.parent.mkdir()
    with zipfile.ZipFile(wheel) as archive, zipfile.ZipFile(lossy, "w") as copy:
        for entry in archive.infolist():
            text = archive.read(entry)
            copy.writestr(entry, text + b"demo/lost.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n" if entry.filename.endswith("/RECORD") else text)
    for words in (("edit", lossy, "--set", "Summary=x"), ("retag", lossy, "--build", "2")):
        assert "demo/lost.py" in refused("W010", 1, "wheel", *words, "-d", tmp_path / "out").err


def test_a_broken_archive_is_defective(wheel, tmp_path):
    broken = tmp_path / "broken-1.0-py3-none-any.whl"
    broken.write_bytes(b"no archive")
    refused("W010", 6, "wheel", "edit", broken, "--set", "Summary=x", "-d", tmp_path / "out")
    refused("D001", 3, "wheel", "check", tmp_path / "nodir")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--set", "Summary=one", "--set", "summary=two"],
        ["--set", "Version=2.0"],
        ["--set", "Metadata-Version=9.9"],
        ["--set", "Name=other"],
        ["--set", "Summary=two\nlines"],
        ["--set", "Summary="],
        ["--set", "not a field=x"],
        ["--set", "Sumary=x"],
        ["--add", "Lisense-File=x"],
        ["--add", "Requires-Dist=not a requirement"],
        ["--add", "Summary=one", "--add", "Summary=two"],
        ["--remove", "Author"],
        ["--sbom", "NOTICE"],
    ],
)
def test_what_cannot_be_edited(wheel, tmp_path, words):
    (tmp_path / "NOTICE").write_text("{}")
    words = [tmp_path / word if word == "NOTICE" else word for word in words]
    refused("W026", 2, "wheel", "edit", wheel, *words, "-d", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_field_that_nobody_knows_can_only_be_removed(tmp_path):
    odd = distributions.wheel_of(tmp_path, "demo", "1.0", files={"demo.py": ""}, metadata=["Sumary: misspelled"])
    assert metadata_of(edited(odd, "--remove", "Sumary", "--set", "Summary=right")).items()[-1] == ("Summary", "right")
    error = refused("W026", 2, "wheel", "edit", odd, "--set", "Sumary=x", "-d", tmp_path / "again").err
    assert "`Sumary` is not a field of METADATA" in error and "summary" in error


def memory_of(*words: str | Path) -> int:
    """KiB. The memory of who starts a program counts for it, so a small Python stands between."""
    script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    return int(subprocess.run([sys.executable, "-ISc", script, PROGRAM, *words], check=True, capture_output=True, text=True, env=clean_environment()).stdout)


def test_a_retag_needs_no_buffers_of_whole_chunks(tmp_path):
    """Two small files are new; 4 MiB of buffers for them were a quarter of all memory."""
    large = distributions.wheel(tmp_path, "demo", "1.0", payload=os.urandom(8 << 20))
    needed = memory_of("wheel", "retag", large, "--build", "2", "-d", tmp_path / "out") - memory_of("wheel", "retag", "--help")
    assert needed < 6 << 10, needed


def test_the_original_is_never_replaced(wheel):
    before = wheel.read_bytes()
    refused("W026", 2, "wheel", "edit", wheel, "--set", "Summary=x", "-d", wheel.parent)
    refused("C006", 2, "wheel", "edit", wheel, "--set", "Summary", "-d", wheel.parent / "out")
    assert wheel.read_bytes() == before


def test_a_missing_record_is_said_of_the_wheel(tmp_path):
    made = Draft(without=("RECORD",)).save(tmp_path)
    done = refused("W010", 1, "wheel", "retag", made, "--platform-tag", "linux_x86_64", "-d", tmp_path / "out")
    assert f"quarry wheel verify {made}" in done.err and "foo-1.0.dist-info/RECORD is missing" in done.err
