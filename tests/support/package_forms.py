"""Packages in the form that the scripts' builder gives them: how to record that form, and how to make packages of it.

The form is facts: names, order and modes of members, fields of METADATA, WHEEL and PKG-INFO, entry points, run paths, what a payload links to, the constants
of Python modules and what `__all__` lists. No text of another project is recorded: a Python module, a README or a summary is only said to be there, and
stand-ins take its place in what write() makes.

    python tests/support/package_forms.py DIST ARTIFACTS    prints the form of the packages in DIST, which were made of ARTIFACTS"""

from __future__ import annotations

import ast
import base64
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

STAND_IN = b"# Stands for a text of the other builder.\n"
DATE = (2026, 8, 20, 0, 0, 0)
UNSAID = ("Summary:",)  # fields whose value is a text
START = '#include <unistd.h>\nstatic const char target[] = "{}";\nint main(int count, char **words) {{ (void)count; return execv(target, words); }}\n'


def artifact_file(artifacts: Path, relative: str) -> Path | None:
    for manifest in sorted(artifacts.glob("*/artifact_manifest.txt")):
        for base in manifest.read_text().split():
            path = manifest.parent / base / relative
            if path.is_symlink() or path.exists():
                return path
    return None


# --- recording


COMPUTED = {"computed": True}  # a value that is not written down: a call, an operator, another name


def literal(node: ast.AST) -> object:
    """What an assignment says. An entry of ALL_PACKAGES counts as its key."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "ALL_PACKAGES":
        node = node.slice
    try:
        value = ast.literal_eval(node)
        return value if json.loads(json.dumps(value)) == value else COMPUTED
    except (TypeError, ValueError):
        return COMPUTED


def constants(text: bytes) -> dict[str, object]:
    """What a module gives names to, as it leaves them."""
    found: dict[str, object] = {}
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and node.value:
                found[target.id] = literal(node.value)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute) and node.value.func.attr == "append":
            name = node.value.func.value
            if isinstance(name, ast.Name) and isinstance(found.get(name.id), list):
                found[name.id].append(literal(node.value.args[0]))
    return {name: sorted(value) if name == "__all__" or name.endswith("FAMILIES") else value for name, value in found.items()}


def module(text: bytes) -> object:
    said = constants(text)
    return {"module": said} if said else "module"


def stand_in(what: object) -> bytes:
    """A module that says the same."""
    said = what["module"] if isinstance(what, dict) else {}
    return STAND_IN + "".join(f"{name} = {'stand_in()' if value == COMPUTED else repr(value)}\n" for name, value in said.items()).encode()


def described(name: str, data: bytes, artifacts: Path) -> object:
    """What the member is: enough to make one of the same form."""
    if ".dist-info/" in name:
        return "dist-info"
    if "/.devel_links/" in name:
        return {"links": json.loads(data)["links"], "keys": list(json.loads(data)), "newline": data.endswith(b"\n")}
    if name.endswith(".tar"):
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            return {"payload": [[each.name, each.linkname if each.issym() else "/" if each.isdir() else ""] for each in tar]}
    if not data.startswith(b"\x7fELF"):
        return "empty" if not data else module(data) if name.endswith(".py") else "file"
    source = artifact_file(artifacts, name.partition("/")[2])
    if source and source.is_symlink() and ".so" not in name:
        return {"starts": str(source.readlink())}
    tags = {tag.entry.d_tag: tag for tag in ELFFile(io.BytesIO(data)).get_section_by_name(".dynamic").iter_tags()}
    return {"rpath": tags["DT_RPATH"].rpath if "DT_RPATH" in tags else None, "runpath": tags["DT_RUNPATH"].runpath if "DT_RUNPATH" in tags else None}


def lines_of(data: bytes) -> list[str]:
    """Header fields; a value that is a text is left out."""
    lines = data.decode().splitlines()
    return [next((field for field in UNSAID if line.startswith(field)), line) for line in lines]


def wheel_form(path: Path, artifacts: Path) -> dict:
    form: dict = {"members": []}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            data = archive.read(info)
            form["members"].append([info.filename, bool(info.external_attr >> 16 & 0o111), described(info.filename, data, artifacts)])
            _, mark, name = info.filename.rpartition(".dist-info/")
            if mark and name == "RECORD":
                *rows, last = [row.partition(",")[2].partition("=")[0] for row in data.decode().splitlines()]
                form["RECORD"] = [*sorted(set(rows)), last]  # how the rows begin behind the name, and the last one
            elif mark:
                form[name] = lines_of(data)
    return form


def sdist_form(path: Path) -> dict:
    form: dict = {"members": []}
    with tarfile.open(path) as archive:
        for member in archive:
            name = member.name.partition("/")[2]
            data = archive.extractfile(member).read() if member.isfile() else b""
            form["members"].append([name, "/" if member.isdir() else "empty" if not data else module(data) if name.endswith(".py") else "text"])
            if name == "PKG-INFO":
                form[name] = lines_of(data)
    return form


def read(dist: Path, artifacts: Path) -> dict:
    """The form of all packages of a directory."""
    return {path.name: wheel_form(path, artifacts) if path.suffix == ".whl" else sdist_form(path) for path in sorted(dist.glob("*-*"))}


# --- making


def record_of(members: dict[str, tuple[bytes, int]], dist_info: str) -> bytes:
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}" for name, (data, _) in members.items()]
    return "\n".join([*rows, f"{dist_info}/RECORD,,", ""]).encode()


def patched(source: Path, rpath: str | None) -> bytes:
    """As the builder does it: one more run path for each package that is needed, then all of them as DT_RPATH."""
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory, "file")
        copy.write_bytes(source.read_bytes())
        if rpath:
            for each in rpath.split(":"):
                subprocess.run(["patchelf", "--add-rpath", each, copy], check=True)
            subprocess.run(["patchelf", "--force-rpath", "--set-rpath", rpath, copy], check=True)
        return copy.read_bytes()


def starter(target: str) -> bytes:
    """A program for a link to one: dynamic, made by the compiler."""
    with tempfile.TemporaryDirectory() as directory:
        command = ["gcc", "-O1", "-g0", "-x", "c", "-", "-o", "program", "-Wl,--build-id=none"]
        subprocess.run(command, input=START.format(target).encode(), cwd=directory, check=True)
        return Path(directory, "program").read_bytes()


def payload(form: list, artifacts: Path) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, link in form:
            entry = tarfile.TarInfo(name)
            entry.mtime, entry.uname, entry.gname, entry.mode = 1787000000, "root", "root", 0o755 if link == "/" else 0o644
            source = None if link else artifact_file(artifacts, name.partition("/")[2])
            data = source.read_bytes() if source else b""
            entry.type = tarfile.DIRTYPE if link == "/" else tarfile.SYMTYPE if link else tarfile.REGTYPE
            entry.linkname, entry.size = (link if link != "/" else ""), len(data)
            if source and source.stat().st_mode & 0o111:
                entry.mode = 0o755
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def content(name: str, what: object, version: str, artifacts: Path) -> bytes:
    relative = name.partition("/")[2]
    if isinstance(what, dict):
        if "links" in what:
            document = {"version": version, "links": what["links"]}
            return json.dumps({key: document[key] for key in what["keys"]}, indent=2).encode() + (b"\n" if what["newline"] else b"")
        if "module" in what:
            return stand_in(what)
        if "payload" in what:
            return payload(what["payload"], artifacts)
        return starter(what["starts"]) if "starts" in what else patched(artifact_file(artifacts, relative), what["rpath"])
    if what == "file":
        return artifact_file(artifacts, relative).read_bytes()
    return b"" if what == "empty" else STAND_IN


def write_wheel(path: Path, form: dict, artifacts: Path) -> None:
    dist_info = "-".join(path.name.split("-")[:2]) + ".dist-info"
    version = path.name.split("-")[1]
    members: dict[str, tuple[bytes, int]] = {}
    for name, executable, what in form["members"]:
        mode = (0o100755 if executable else 0o100644) << 16
        short = name.rpartition("/")[2]
        if what != "dist-info":
            members[name] = (content(name, what, version, artifacts), mode)
        elif short == "RECORD":
            members[name] = (record_of(members, dist_info), mode)
        else:
            lines = [line + " a text" if line in UNSAID else line for line in form[short]]
            members[name] = (("\n".join(lines) + "\n").encode(), mode)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (data, attributes) in members.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.external_attr, entry.compress_type = attributes, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def write_sdist(path: Path, form: dict) -> None:
    top = path.name.removesuffix(".tar.gz")
    with tarfile.open(path, "w:gz") as archive:
        for name, what in form["members"]:
            entry = tarfile.TarInfo(f"{top}/{name}" if name else top)
            text = ("\n".join(form["PKG-INFO"]) + "\n").encode() if name.endswith("PKG-INFO") else STAND_IN
            data = b"" if what in ("/", "empty") else stand_in(what) if name.endswith(".py") else text
            entry.type, entry.mode, entry.size = (tarfile.DIRTYPE, 0o755, 0) if what == "/" else (tarfile.REGTYPE, 0o644, len(data))
            archive.addfile(entry, io.BytesIO(data))


def write(directory: Path, forms: dict, artifacts: Path) -> None:
    """Makes packages of the recorded form from artifacts of the same files."""
    for name, form in forms.items():
        write_wheel(directory / name, form, artifacts) if name.endswith(".whl") else write_sdist(directory / name, form)


def text_of(forms: dict) -> str:
    """One member or field a line, so that a change is seen."""
    packages = []
    for name, form in forms.items():
        fields = [f" {json.dumps(key)}: [\n" + ",\n".join("  " + json.dumps(each) for each in values) + "]" for key, values in form.items()]
        packages.append(f"{json.dumps(name)}: {{\n" + ",\n".join(fields) + "}")
    return "{" + ",\n".join(packages) + "}"


if __name__ == "__main__":
    print(text_of(read(Path(sys.argv[1]), Path(sys.argv[2]))))
