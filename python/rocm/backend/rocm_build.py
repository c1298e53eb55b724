"""Build backend (PEP 517) of the `rocm` package: the standard library is all it needs.

It runs on the machine of whoever installs `rocm`. The sdist carries the run-time package, `_dist_info.py` with the facts of the
release, and PKG-INFO; the wheel made here adds what depends on this machine: the requirements, with the family of GPUs resolved.
The same machine, environment and sdist give the same bytes.
"""

from __future__ import annotations

import ast
import base64
import functools
import gzip
import hashlib
import importlib.util
import io
import os
import re
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "rocm_sdk"
ENTRY_POINTS = "[console_scripts]\nrocm-sdk = rocm_sdk.__main__:main\n"
GENERATOR = "rocm_build (1)"
# The earliest time that a zip entry can have; constant, so that equal input gives equal bytes.
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
METADATA_FALLBACK = """\
Metadata-Version: 2.2
Name: rocm
Version: {version}
Summary: The ROCm SDK for Python environments
Requires-Python: >=3.10
Dynamic: Requires-Dist
Dynamic: Provides-Extra
"""

PLATFORM_MARKERS = {"linux": 'sys_platform == "linux"', "windows": 'sys_platform == "win32"'}

Settings = dict[str, Any] | None


# --- the hooks -------------------------------------------------------------------------------------------------------------------


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return []


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    facts = read_facts()
    name = f"{file_name(facts)}.dist-info"
    for path, data in dist_info_files(facts).items():
        target = Path(metadata_directory, name, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return name


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    facts = read_facts()
    dist_info = f"{file_name(facts)}.dist-info"
    members = {"rocm_sdk/" + path: data for path, data in tree_files(PACKAGE).items()}
    members["rocm_sdk/_install_info.py"] = install_info(facts)
    members.update({f"{dist_info}/{path}": data for path, data in dist_info_files(facts).items()})
    members[f"{dist_info}/RECORD"] = record_text(members, f"{dist_info}/RECORD")
    filename = f"{file_name(facts)}-py3-none-any.whl"
    write_zip(Path(wheel_directory, filename), members)
    return filename


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    facts = read_facts()
    top = file_name(facts)
    members = dict(tree_files(ROOT))
    members["PKG-INFO"] = package_info(facts).encode()
    write_tar_gz(Path(sdist_directory, top + ".tar.gz"), top, members)
    return top + ".tar.gz"


# --- facts -----------------------------------------------------------------------------------------------------------------------


def read_facts() -> SimpleNamespace:
    """The assignments of `_dist_info.py`. They are literals; they are parsed, never executed."""
    path = PACKAGE / "_dist_info.py"
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SystemExit(f"error: {path} is missing; this is not a complete sdist") from None
    values: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            values.update(dict.fromkeys(names, ast.literal_eval(node.value)))
    return SimpleNamespace(**values)


@functools.cache
def families_module() -> ModuleType:
    """The run-time package's own rules for families, loaded without importing the package."""
    spec = importlib.util.spec_from_file_location("_rocm_build_families", PACKAGE / "_families.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    wrote = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = wrote
    return module


@functools.cache
def detected_targets() -> list[str]:
    return list(families_module().detect_targets())


def target_family(facts: SimpleNamespace) -> str:
    families = families_module()
    try:
        if device_package(facts) and not os.environ.get(families.FAMILY_VARIABLE, "").strip() and not detected_targets():
            return ""
        return str(families.resolve(facts, os.environ, detected_targets))
    except families.FamilyError as error:
        # The packages are the same for every GPU, but for device code, which the user may choose by name.
        if device_package(facts) and not os.environ.get(families.FAMILY_VARIABLE, "").strip():
            return ""
        raise SystemExit(f"error: {error}") from None


def device_package(facts: SimpleNamespace) -> str:
    """The pattern of the packages of device code; "" where the libraries hold it."""
    return str(getattr(facts, "DEVICE_PACKAGE", ""))


def install_info(facts: SimpleNamespace) -> bytes:
    text = f'"""Written when this package was built on this machine."""\n\nTARGET_FAMILY = {target_family(facts)!r}\n'
    return text.encode()


# --- metadata --------------------------------------------------------------------------------------------------------------------


def requirements(facts: SimpleNamespace) -> tuple[list[str], list[str]]:
    """The values of Requires-Dist and of Provides-Extra for this machine."""
    family = target_family(facts)
    packages = {name: each for name, each in sorted(facts.ALL_PACKAGES.items()) if family or "{family}" not in each["dist"]}
    required = [requirement(facts, each["dist"], family) for each in packages.values() if each["required"]]
    optional: list[str] = []
    extras: list[str] = []
    for label, names in sorted(extras_of(facts).items()):
        chosen = [packages[name] for name in names if name in packages]
        choices = {label: family}
        if any("{family}" in package["dist"] for package in chosen) and len(facts.AVAILABLE_TARGET_FAMILIES) > 1:
            choices.update({f"{label}-{each}": each for each in facts.AVAILABLE_TARGET_FAMILIES})
        for extra, each in choices.items() if chosen else ():
            extras.append(normalized(extra))
            optional += [requirement(facts, package["dist"], each, normalized(extra), package.get("platforms", [])) for package in chosen]
    for extra, targets in device_extras(facts, family).items():
        extras.append(normalized(extra))
        optional += [requirement(facts, device_package(facts), each, normalized(extra)) for each in targets]
    return required + optional, sorted(extras)


def device_extras(facts: SimpleNamespace, target: str) -> dict[str, list[str]]:
    """`device-gfx942` for each target, `device-all` for all; `device` only where the target of this machine is known."""
    if not device_package(facts):
        return {}
    every = list(facts.AVAILABLE_TARGET_FAMILIES)
    own = {"device": [target]} if target else {}
    return {**own, "device-all": every, **{f"device-{each}": [each] for each in every}}


def extras_of(facts: SimpleNamespace) -> dict[str, list[str]]:
    """The packages of each extra: as the release says, else each package that is not required under its own name."""
    own = {name: [name] for name, package in facts.ALL_PACKAGES.items() if not package["required"]}
    return getattr(facts, "EXTRAS", own)


def requirement(facts: SimpleNamespace, pattern: str, family: str, extra: str | None = None, platforms: Sequence[str] = ()) -> str:
    clauses = [platform_marker(facts, family)] if "{family}" in pattern else []
    if len(platforms) == 1:  # of the two that there are
        clauses.append(PLATFORM_MARKERS[platforms[0]])
    clauses += [f'extra == "{extra}"'] if extra else []
    marker = " and ".join(clause for clause in clauses if clause)
    text = f"{pattern.format(family=family)}=={facts.__version__}"
    return f"{text} ; {marker}" if marker else text


def platform_marker(facts: SimpleNamespace, family: str) -> str:
    """A condition on the platform, where both platforms are part of the release and the family exists on one only."""
    linux, windows = facts.LINUX_TARGET_FAMILIES, facts.WINDOWS_TARGET_FAMILIES
    if not linux or not windows or (family in linux) == (family in windows):
        return ""
    return PLATFORM_MARKERS["linux" if family in linux else "windows"]


def package_info(facts: SimpleNamespace) -> str:
    """PKG-INFO of the sdist; without one (a source tree) the least that is valid."""
    path = ROOT / "PKG-INFO"
    text = path.read_bytes().decode("utf-8") if path.exists() else METADATA_FALLBACK.format(version=facts.__version__)
    stated = [line.partition(":")[2].strip() for line in header_lines(text) if line.lower().startswith("version:")]
    if stated != [facts.__version__]:
        raise SystemExit(f"error: PKG-INFO says version {' '.join(stated) or 'nothing'}, _dist_info.py says {facts.__version__}")
    return text


def header_lines(text: str) -> list[str]:
    """The header fields, each with its continuation lines."""
    fields: list[str] = []
    for line in text.partition("\n\n")[0].splitlines():
        if line[:1] in (" ", "\t") and fields:
            fields[-1] += "\n" + line
        elif line:
            fields.append(line)
    return fields


def metadata_text(facts: SimpleNamespace) -> str:
    """METADATA: what PKG-INFO states, and in place of its dynamic fields their values on this machine."""
    text = package_info(facts).replace("\r\n", "\n")
    dynamic = ("dynamic:", "requires-dist:", "provides-extra:")
    fields = [field for field in header_lines(text) if not field.lower().startswith(dynamic)]
    requires, extras = requirements(facts)
    fields += [f"Requires-Dist: {value}" for value in requires]
    fields += [f"Provides-Extra: {value}" for value in extras]
    body = text.partition("\n\n")[2]
    return "\n".join(fields) + "\n" + ("\n" + body if body else "")


def dist_info_files(facts: SimpleNamespace) -> dict[str, bytes]:
    wheel = f"Wheel-Version: 1.0\nGenerator: {GENERATOR}\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {"METADATA": metadata_text(facts).encode(), "WHEEL": wheel.encode(), "entry_points.txt": ENTRY_POINTS.encode()}
    for field in header_lines(package_info(facts)):
        key, _, value = field.partition(":")
        if key.lower() == "license-file":
            files["licenses/" + value.strip()] = (ROOT / value.strip()).read_bytes()
    return files


def file_name(facts: SimpleNamespace) -> str:
    """"rocm-7.2.0", as names of files begin. The project is the one of PKG-INFO: a recipe may call it otherwise."""
    names = [field.partition(":")[2].strip() for field in header_lines(package_info(facts)) if field.lower().startswith("name:")]
    project = re.sub(r"[-_.]+", "_", "".join(names)).lower()
    if not project:
        raise SystemExit("error: PKG-INFO has no Name; this is not a complete sdist")
    return f"{project}-{escaped(facts.__version__)}"


def escaped(version: str) -> str:
    return re.sub(r"[^\w.+!]+", "_", version)


def normalized(extra: str) -> str:
    return re.sub(r"[-_.]+", "-", extra).lower()


# --- archives --------------------------------------------------------------------------------------------------------------------


def tree_files(top: Path) -> dict[str, bytes]:
    """The files below `top` by path, sorted, without what Python and tools leave behind."""
    found: dict[str, bytes] = {}
    for path in sorted(top.rglob("*"), key=lambda each: each.relative_to(top).as_posix()):
        relative = path.relative_to(top)
        if path.is_file() and path.suffix != ".pyc" and not any(part == "__pycache__" for part in relative.parts):
            found[relative.as_posix()] = path.read_bytes()
    return found


def record_text(members: dict[str, bytes], own_path: str) -> bytes:
    rows = []
    for path, data in sorted(members.items(), key=lambda item: (".dist-info/" in item[0], item[0])):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(data)}\n")
    return "".join(rows + [f"{own_path},,\n"]).encode()


def write_zip(path: Path, members: dict[str, bytes]) -> None:
    order = sorted(members, key=lambda name: (name.endswith("/RECORD"), ".dist-info/" in name, name))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in order:
            entry = zipfile.ZipInfo(name, ZIP_TIME)
            entry.create_system = 3  # Unix, on every system: permission bits count, and the bytes are the same
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, members[name])


def write_tar_gz(path: Path, top: str, members: dict[str, bytes]) -> None:
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, data in sorted(members.items()):
                entry = tarfile.TarInfo(f"{top}/{name}")
                entry.size = len(data)
                entry.mode = 0o644
                archive.addfile(entry, io.BytesIO(data))
