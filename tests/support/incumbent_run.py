"""A run as the scripts of February and August 2026 lay it out: keys, pages, step outputs, and packages in the form of their builder.

Made from facts: names of step outputs and the form of packages are those recorded in tests/data (of real packages, for these same artifacts); keys and
pages are those of docs/formats/run-layout.md for each era. So what differs is what the two builders really do differently."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from support import package_forms

ROOT = Path(__file__).resolve().parents[2]
URL = "https://bucket.s3.amazonaws.com"


def recorded_outputs(script: str, era: str) -> list[str]:
    scripts = json.loads((ROOT / "tests/data/incumbent-cli.json").read_text())["scripts"]
    return next(each["outputs"] for each in scripts if each["name"] == script and each["era"] == era)


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


FACTS = {"linux": "incumbent-packages.json", "windows": "incumbent-windows-packages.json"}


def recorded_packages(era: str, platform: str = "linux") -> dict:
    return json.loads((ROOT / "tests/data" / FACTS[platform]).read_text())[era]


def packages_of_one_target() -> dict:
    """August's packages of artifacts that have device code of gfx1030 alone: `rocm` then has no extra of a target."""
    forms = {name: form for name, form in recorded_packages("aug").items() if "gfx942" not in name}
    for form in forms.values():
        for member in form["members"]:
            module = member[-1].get("module", {}) if isinstance(member[-1], dict) else {}
            if "AVAILABLE_TARGET_FAMILIES" in module:
                module["AVAILABLE_TARGET_FAMILIES"] = ["gfx1030"]
    for name, form in json.loads((ROOT / "tests/data" / FACTS["linux"]).read_text())["aug_one_target"].items():
        forms[name] |= form
    return forms


def make(bucket: Path, run_id: str, artifacts: Path, era: str, group: str, upload: str = "true", platform: str = "linux", forms: dict | None = None) -> Run:
    """`artifacts`: unpacked, those of small_artifacts, or of small_windows_artifacts without links; `upload`: what the script decided that guards releases (February alone);
    `forms`: of the packages, if they are not those that are recorded for all targets."""
    place = bucket / f"{run_id}-{platform}"
    packages = place / "python" / (group if era == "feb" else "")
    packages.mkdir(parents=True)
    package_forms.write(packages, forms or recorded_packages(era, platform), artifacts)
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
    values = {"package_find_links_url": f"{URL}/{run_id}-{platform}/python/{group + '/' if era == 'feb' else ''}index.html", "kpack_split": "true"}
    lines = [f"{name}={values[name]}\n" for name in recorded_outputs("upload_python_packages", era)]
    outputs = bucket / f"outputs-{era}.env"
    outputs.write_text("".join(lines) + (f"upload={upload}\n" if era == "feb" else ""))
    return Run(place, packages, outputs)


def archives(place: Path, built: Path, era: str) -> None:
    """The archives of a build, as both tools upload them; February has a page for each group of artifacts, August one for the run."""
    for path in built.iterdir():
        shutil.copyfile(path, place / path.name)
    (place / ("index-gfx103X-dgpu.html" if era == "feb" else "index.html")).write_text("<html></html>")
