"""A run as the scripts of February and August 2026 lay it out: keys, pages, step outputs, and packages in the form of their builder.

Made from facts: names of step outputs and console scripts are those recorded in tests/data; keys and pages are those of docs/formats/run-layout.md for
each era. The content of the packages is the same as ours, so that every difference is one of form."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
URL = "https://bucket.s3.amazonaws.com"


def recorded_outputs(script: str, era: str) -> list[str]:
    scripts = json.loads((ROOT / "tests/data/incumbent-cli.json").read_text())["scripts"]
    return next(each["outputs"] for each in scripts if each["name"] == script and each["era"] == era)


def recorded_scripts(project: str) -> list[str]:
    facts = json.loads((ROOT / "tests/data/incumbent-debian-wheels.json").read_text())[project]
    return [name.removeprefix("script:") for name in facts if name.startswith("script:")]


def record_of(members: dict[str, tuple[bytes, int]], dist_info: str) -> bytes:
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}" for name, (data, _) in members.items()]
    return "\n".join([*rows, f"{dist_info}/RECORD,,", ""]).encode()


def wheel(ours: Path, directory: Path, era: str) -> Path:
    """One of our wheels in the form of setuptools: name and version alone in METADATA, a console script for every known name."""
    stem = "-".join(ours.name.split("-")[:2])
    dist_info, members = f"{stem}.dist-info", {}
    with zipfile.ZipFile(ours) as archive:
        for info in archive.infolist():
            name = info.filename
            if name.endswith((".dist-info/RECORD", ".dist-info/WHEEL")) or ".dist-info/licenses/" in name:
                continue
            members[name] = (archive.read(name), info.external_attr)
    project = stem.split("-")[0].replace("_", "-")
    version = stem.split("-")[1]
    plain = 0o100644 << 16
    requires = [f"Requires-Dist: rocm-sdk-libraries=={version}"] if "-device-" in project else []
    members[f"{dist_info}/METADATA"] = ("\n".join(["Metadata-Version: 2.1", f"Name: {project}", f"Version: {version}", *requires, ""]).encode(), plain)
    members[f"{dist_info}/WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: setuptools (80.9.0)\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n", plain)
    modules = sorted({name.split("/")[0] for name in members if "/" in name and ".dist-info" not in name})
    members[f"{dist_info}/top_level.txt"] = ("".join(f"{each}\n" for each in modules).encode(), plain)
    if project == "rocm-sdk-core":
        scripts = "".join(f"{name} = rocm_sdk_core._cli:{name.replace('-', '_').replace('+', 'p')}\n" for name in recorded_scripts(project))
        members[f"{dist_info}/entry_points.txt"] = (b"[console_scripts]\n" + scripts.encode(), plain)
    if "-device-" in project:
        members["_rocm_sdk_libraries/__init__.py"] = (b"", plain)
    members[f"{dist_info}/RECORD"] = (record_of(members, dist_info), plain)
    name = ours.name.replace("103x_dgpu", "103X_dgpu")
    with zipfile.ZipFile(directory / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, (data, mode) in members.items():
            entry = zipfile.ZipInfo(member, (2026, 2, 26, 0, 0, 0))
            entry.external_attr, entry.compress_type = mode, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return directory / name


def sdist(ours: Path, directory: Path) -> Path:
    """The source distribution of `rocm` in the form of setuptools."""
    files = {}
    with tarfile.open(ours) as archive:
        for member in archive:
            path = member.name.partition("/")[2]
            if member.isfile() and path.startswith("src/"):
                files[path] = archive.extractfile(member).read()
    stem = ours.name.removesuffix(".tar.gz")
    version = stem.partition("-")[2]
    files["PKG-INFO"] = f"Metadata-Version: 2.1\nName: rocm\nVersion: {version}\n".encode()
    files["setup.py"] = b"from setuptools import setup\nsetup()\n"
    files["pyproject.toml"] = b'[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    path = directory / ours.name
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{stem}/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


@dataclass
class Run:
    place: Path  # of the run: BUCKET/42-linux
    packages: Path
    outputs: Path


def page(directory: Path) -> str:
    """The table that the indexer writes: names with their percent-encoding, no digest."""
    names = sorted(path.name for path in directory.iterdir() if path.name.endswith((".whl", ".tar.gz")))
    rows = "".join(f'<tr><td><a href="{name.replace("+", "%2B")}">{name}</a></td></tr>\n' for name in names)
    return f"<!DOCTYPE html>\n<html><body><h1>Index</h1><table>\n{rows}</table></body></html>\n"


def make(bucket: Path, run_id: str, ours: Path, era: str, group: str, upload: str = "true") -> Run:
    """`ours`: the directory of our packages; `upload`: what the script decided that guards releases (February alone)."""
    place = bucket / f"{run_id}-linux"
    packages = place / "python" / (group if era == "feb" else "")
    packages.mkdir(parents=True)
    for path in sorted(ours.glob("[!.]*")):
        wheel(path, packages, era) if path.suffix == ".whl" else sdist(path, packages)
    (packages / "index.html").write_text(page(packages))
    manifest = place / "manifests" / group / "therock_manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text("{}\n")
    logs = place / "logs" / group
    logs.mkdir(parents=True)
    (logs / "core_build.log").write_text("ninja: no work to do\n")
    (logs / "index.html").write_text("<html></html>")
    if era == "aug":
        (packages / ".kpack_staging").mkdir()
        (packages / ".kpack_staging/blas.kpack").write_text("KPAK")
        (place / "logs/index.html").write_text("<html></html>")
        (place / "manifests/index.html").write_text("<html></html>")
    values = {"package_find_links_url": f"{URL}/{run_id}-linux/python/{group + '/' if era == 'feb' else ''}index.html", "kpack_split": "true"}
    lines = [f"{name}={values[name]}\n" for name in recorded_outputs("upload_python_packages", era)]
    outputs = bucket / f"outputs-{era}.env"
    outputs.write_text("".join(lines) + (f"upload={upload}\n" if era == "feb" else ""))
    return Run(place, packages, outputs)


def archives(place: Path, built: Path, era: str) -> None:
    """The archives of a build, as both tools upload them; February has a page for each group of artifacts, August one for the run."""
    for path in built.iterdir():
        shutil.copyfile(path, place / path.name)
    (place / ("index-gfx103X-dgpu.html" if era == "feb" else "index.html")).write_text("<html></html>")
