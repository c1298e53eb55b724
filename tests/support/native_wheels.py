"""Wheels with libraries that gcc makes."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import zipfile
from pathlib import Path

ONE = "int one(void) { return 1; }\n"


def library(place: Path, name: str, *flags: str, source: str = ONE) -> bytes:
    place.mkdir(exist_ok=True)
    (place / "source.c").write_text(source)
    subprocess.run(["gcc", "-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{name}", str(place / "source.c"), "-o", str(place / name), *flags], check=True)
    return (place / name).read_bytes()


def wheel(place: Path, name: str, files: dict[str, bytes], tag: str = "py3-none-manylinux_2_28_x86_64", pure: str = "false") -> Path:
    info = f"{name}-1.0.dist-info"
    members = dict(files)
    members[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode()
    members[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode()
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()  # noqa: E731
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in members.items()) + f"{info}/RECORD,,\n"
    path = place / f"{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in [*members.items(), (f"{info}/RECORD", record.encode())]:
            entry = zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return path
