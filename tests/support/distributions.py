"""Small wheels and source distributions, made with nothing but the standard library."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path


def _metadata(name: str, version: str, requires_python: str, requires: tuple[str, ...], extras: tuple[str, ...] = ()) -> str:
    lines = ["Metadata-Version: 2.2", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Python: {requires_python}"] if requires_python else []
    lines += [f"Provides-Extra: {extra}" for extra in extras]
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    return "\n".join(lines) + "\n"


def wheel(directory: Path, name: str, version: str, *, file_name: str = "", requires_python: str = "", requires: tuple[str, ...] = (), extras: tuple[str, ...] = (), module: str = "", payload: bytes = b"") -> Path:
    """A pure wheel that imports as `module` and knows its version. `file_name`: the form `{name}-{version}` in the file's name."""
    stem = file_name or f"{name.lower().replace('-', '_').replace('.', '_')}-{version}"
    module = module or stem.split("-")[0].lower()
    dist_info = f"{stem}.dist-info"
    files = {
        f"{module}.py": f"VERSION = {version!r}\n",
        f"{dist_info}/METADATA": _metadata(name, version, requires_python, requires, extras),
        f"{dist_info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if payload:
        files[f"{module}_payload.txt"] = payload.hex()
    record = "".join(f"{path},sha256={_digest(text)},{len(text.encode())}\n" for path, text in files.items())
    files[f"{dist_info}/RECORD"] = record + f"{dist_info}/RECORD,,\n"
    path = directory / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, text in files.items():
            info = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
            info.external_attr = 0o100644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)
    return path


def wheel_of(directory: Path, name: str, version: str, *, files: dict[str, str], metadata: list[str] = [], metadata_version: str = "2.1", entry_points: str = "", directories: list[str] = [], tag: str = "py3-none-any") -> Path:
    """A wheel of exactly these files, with a RECORD that is right. `metadata`: more lines of METADATA; `directories`: entries that end in '/'."""
    dist_info = f"{name}-{version}.dist-info"
    members = dict(files)
    lines = [f"Metadata-Version: {metadata_version}", f"Name: {name}", f"Version: {version}", *metadata]
    members[f"{dist_info}/METADATA"] = "".join(line + "\n" for line in lines)
    members[f"{dist_info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n"
    if entry_points:
        members[f"{dist_info}/entry_points.txt"] = entry_points
    record = "".join(f"{path},sha256={_digest(text)},{len(text.encode())}\n" for path, text in members.items())
    members[f"{dist_info}/RECORD"] = record + f"{dist_info}/RECORD,,\n"
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for entry in directories:
            archive.writestr(zipfile.ZipInfo(entry, (1980, 1, 1, 0, 0, 0)), "")
        for member, text in members.items():
            info = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
            info.external_attr = 0o100644 << 16
            archive.writestr(info, text)
    return path


def metadata_of(wheel: Path) -> bytes:
    """METADATA as it is in the wheel: the bytes that belong beside it."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA")))


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


BACKEND = '''
import base64, hashlib, os, zipfile
def get_requires_for_build_wheel(config_settings=None): return []
def _files():
    name = "{stem}.dist-info"
    return {{"{module}.py": "VERSION = '{version}'\\n",
            name + "/METADATA": "Metadata-Version: 2.2\\nName: {name}\\nVersion: {version}\\n{requires}",
            name + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: tests\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}}
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = _files()
    record = "".join(p + ",sha256=" + base64.urlsafe_b64encode(hashlib.sha256(t.encode()).digest()).rstrip(b"=").decode() + "," + str(len(t.encode())) + "\\n" for p, t in files.items())
    files["{stem}.dist-info/RECORD"] = record + "{stem}.dist-info/RECORD,,\\n"
    with zipfile.ZipFile(os.path.join(wheel_directory, "{stem}-py3-none-any.whl"), "w") as archive:
        for path, text in files.items(): archive.writestr(path, text)
    return "{stem}-py3-none-any.whl"
'''


def sdist(directory: Path, name: str, version: str, *, requires: tuple[str, ...] = (), fields: tuple[str, ...] = ()) -> Path:
    """A source distribution with a build backend of its own; what it requires is known only once it is built. `fields`: more lines of PKG-INFO."""
    module = name.replace("-", "_")
    stem = f"{module}-{version}"
    dynamic = "Dynamic: Requires-Dist\n" if requires else ""
    backend = BACKEND.format(stem=stem, module=module, name=name, version=version, requires="".join(f"Requires-Dist: {r}\\n" for r in requires))
    files = {
        "PKG-INFO": f"Metadata-Version: 2.2\nName: {name}\nVersion: {version}\n{dynamic}" + "".join(line + "\n" for line in fields),
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "backend.py": backend,
    }
    path = directory / f"{stem}.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for member, text in files.items():
            info = tarfile.TarInfo(f"{stem}/{member}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path
