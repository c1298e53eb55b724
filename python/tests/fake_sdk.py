"""A tiny SDK release, laid out like a real one: shared objects that need each other, programs, a link farm.

Stands in for what builds the distributions, so that these tests need nothing but Python (and a C compiler if there is one).
"""

from __future__ import annotations

import base64
import glob
import hashlib
import io
import json
import pprint
import shutil
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PYTHON = Path(__file__).resolve().parent.parent
FAMILIES = ("gfx103X-dgpu", "gfx94X-dcgpu")
Members = dict[str, tuple[bytes, bool]]  # path -> bytes, executable

# name of the file -> (directory, libraries that it needs, their directories relative to its own)
CORE_LIBRARIES = {
    "libamd_comgr.so.2": ("lib", [], []),
    "libamdhip64.so.5": ("lib", ["libamd_comgr.so.2"], ["."]),
    "libhiprtc.so.5": ("lib", ["libamdhip64.so.5"], ["."]),
}
FAMILY_LIBRARIES = {
    "librocsparse.so.0": ("lib", ["libamdhip64.so.5"], ["../../_rocm_sdk_core/lib"]),
    "libhipsparse.so.0": ("lib", ["librocsparse.so.0", "libamdhip64.so.5"], [".", "../../_rocm_sdk_core/lib"]),
}
PROGRAMS = {
    "bin/hipcc": 'echo "OVERVIEW: clang LLVM compiler"',
    "bin/hipconfig": 'echo "HIP version: 5.2 in $0 with $*"',
    "bin/rocminfo": "exit 1",
    "bin/roc-obj": 'echo "USAGE:"',
    "bin/amdclang": 'echo "clang LLVM compiler"',
    "lib/llvm/bin/amdclang++": 'echo "clang LLVM compiler"',
    "bin/shows": 'echo "at $SDK_COMPILER_PATH"',
    "bin/fails": 'echo "text" && exit 7',
}


def script(name: str, program: str, expect: str, *needs: str, arguments: tuple[str, ...] = ("--help",)) -> dict[str, Any]:
    return {
        "name": name, "program": program, "arguments": list(arguments), "expect": expect, "needs": list(needs), "required": True,
    }  # fmt: skip


SCRIPTS = [
    script("amdclang", "bin/amdclang", "clang LLVM compiler"),
    script("amdclang++", "lib/llvm/bin/amdclang++", "clang LLVM compiler"),
    script("hipcc", "bin/hipcc", "clang LLVM compiler"),
    script("hipconfig", "bin/hipconfig", "HIP version:", arguments=("-a b", "--c")),
    script("rocminfo", "bin/rocminfo", "", "gpu"),
    script("roc-obj", "bin/roc-obj", "USAGE:", "perl:No::Such::Module"),
    script("sdk-fails", "bin/fails", "text"),
    {**script("sdk-shows", "bin/shows", "_rocm_sdk_core/lib/llvm/bin"), "environment": {"SDK_COMPILER_PATH": "lib/llvm/bin"}},
]


@dataclass
class Release:
    """What is made; change a field before make()."""

    version: str = "7.2.0"
    families: tuple[str, ...] = FAMILIES
    built_families: tuple[str, ...] | None = None
    nonce: str = ""
    payload: str = ".tar"
    windows_families: tuple[str, ...] = ()
    family_targets: dict[str, list[str]] | None = None
    extras: dict[str, list[str]] | None = None
    device_package: str = ""  # what packages of device code are called, with {family}
    scripts: list[dict[str, Any]] = field(default_factory=lambda: [dict(each) for each in SCRIPTS])
    without: tuple[str, ...] = ()  # file names left out of the packages
    extra_devel: dict[str, bytes | str] = field(default_factory=dict)  # bytes: a file, str: a link

    @property
    def default_family(self) -> str:
        return self.families[0] if self.families else ""

    def platform(self, logical: str, family: str = "") -> str:
        suffix = "_" + family.replace("-", "_") if logical == "libraries" else ""
        return f"_rocm_sdk_{logical}{suffix}{self.nonce}"

    def dist_info(self, entry: str, family: str | None = None, scripts: Any = (), libraries: Any = ()) -> bytes:
        facts: dict[str, Any] = {
            "__version__": self.version,
            "PY_PACKAGE_SUFFIX_NONCE": self.nonce,
            "DEFAULT_TARGET_FAMILY": self.default_family,
            "AVAILABLE_TARGET_FAMILIES": sorted({*self.families, *self.windows_families}),
            "LINUX_TARGET_FAMILIES": list(self.families),
            "WINDOWS_TARGET_FAMILIES": list(self.windows_families),
            "ALL_PACKAGES": {
                "core": _package("rocm-sdk-core", "rocm_sdk_core", True),
                "libraries": _package("rocm-sdk-libraries-{family}", "rocm_sdk_libraries_{family}", False),
                "devel": _package("rocm-sdk-devel", "rocm_sdk_devel", False),
            },
            "THIS_PACKAGE_ENTRY": entry,
            "THIS_TARGET_FAMILY": family,
            "CONSOLE_SCRIPTS": list(scripts),
            "LIBRARIES": list(libraries),
        }
        if self.family_targets is not None:
            facts["FAMILY_TARGETS"] = self.family_targets
        if self.extras is not None:
            facts["EXTRAS"] = self.extras
        if self.device_package:
            facts["DEVICE_PACKAGE"] = self.device_package
        return "".join(f"{name} = {pprint.pformat(value, width=120)}\n" for name, value in facts.items()).encode()

    # --- the parts ---------------------------------------------------------------------------------------------------------------

    def core(self, objects: Path) -> Members:
        top = self.platform("core")
        members: Members = {f"{top}/__init__.py": (b"", False), f"{top}/include/hip/hip.h": (b"#define HIP 1\n", False)}
        targets = json.dumps({"dist_amdgpu_targets": "gfx1030;gfx1031;gfx942"}).encode()
        members[f"{top}/share/therock/dist_info.json"] = (targets, False)
        members.update(self._libraries(objects, CORE_LIBRARIES, top))
        for path, body in PROGRAMS.items():
            members[f"{top}/{path}"] = (f"#!/bin/sh\n{body}\n".encode(), True)
        return members

    def libraries(self, objects: Path, family: str) -> Members:
        top = self.platform("libraries", family)
        return {f"{top}/__init__.py": (b"", False), **self._libraries(objects, FAMILY_LIBRARIES, top)}

    def devel(self, core: Members, libraries: Members) -> bytes:
        """The payload: own files, an alias, a link to a directory, and a link for each file of the other packages."""
        top = self.platform("devel")
        entries: dict[str, bytes | str] = {
            "__init__.py": b"",
            "include/hip/dev.h": b"int dev;\n" * 4000,
            "lib/cmake/hip/hip-config.cmake": b"# config\n",
            "bin/devtool": b"#!/bin/sh\necho devtool\n",
            "lib/libamdhip64.so": "libamdhip64.so.5",
            "lib/libamdhip64.so.5.2": "libamdhip64.so",
            "include/hip/detail": "amd_detail",
            "include/hip/amd_detail/a.h": b"int a;\n",
            "llvm": "lib/llvm",
            **self.extra_devel,
        }
        for path in [*core, *libraries]:
            owner, _, relative = path.partition("/")
            if relative != "__init__.py":
                ups = "../" * (relative.count("/") + 1)
                entries[relative] = f"{ups}{owner}/{relative}"
        return _tar(top, entries, self.payload)

    def _libraries(self, objects: Path, table: dict[str, Any], top: str) -> Members:
        found: Members = {}
        for name, (directory, _, _) in table.items():
            if name not in self.without:
                found[f"{top}/{directory}/{name}"] = ((objects / name).read_bytes(), False)
        return found

    # --- the distributions -------------------------------------------------------------------------------------------------------

    def make(self, destination: Path, objects: Path) -> Path:
        """Writes the distributions to `destination` and returns it."""
        destination.mkdir(parents=True, exist_ok=True)
        core = self.core(objects)
        libraries: Members = {}
        facts = self.dist_info("core", None, self.scripts, [f"lib/{name}" for name in CORE_LIBRARIES if name not in self.without])
        self._wheel(destination, "rocm-sdk-core", {**core, **_pure("core", "rocm_sdk_core", facts)}, self.scripts)
        for family in self.families if self.built_families is None else self.built_families:
            libraries = self.libraries(objects, family)
            module = "rocm_sdk_libraries_" + family.replace("-", "_")
            members = {**libraries, **_pure("libraries", module, self.dist_info("libraries", family))}
            self._wheel(destination, f"rocm-sdk-libraries-{family}", members)
            if family == self.default_family:
                pure = _pure("devel", "rocm_sdk_devel", self.dist_info("devel", family))
                pure[f"rocm_sdk_devel/_devel{self.payload}"] = (self.devel(core, libraries), False)
                self._wheel(destination, "rocm-sdk-devel", pure)
        self.sdist(destination)
        return destination

    def sdist(self, destination: Path) -> Path:
        tree = self.source_tree(destination / "tree")
        path = destination / f"rocm-{self.version}.tar.gz"
        with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
            archive.add(tree, f"rocm-{self.version}")
        shutil.rmtree(tree)
        return path

    def source_tree(self, tree: Path) -> Path:
        """What `sdk build` puts into the sdist, as a directory."""
        shutil.copytree(PYTHON / "rocm", tree, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        (tree / "src/rocm_sdk/_dist_info.py").write_bytes(self.dist_info("meta"))
        (tree / "PKG-INFO").write_text(self.package_info(), newline="\n")
        (tree / "LICENSE").write_text("Apache-2.0\n")
        return tree

    def package_info(self) -> str:
        return (
            f"Metadata-Version: 2.4\nName: rocm\nVersion: {self.version}\nSummary: The ROCm SDK\nRequires-Python: >=3.10\n"
            "License-Expression: Apache-2.0\nLicense-File: LICENSE\nDynamic: Requires-Dist\nDynamic: Provides-Extra\n"
            "Description-Content-Type: text/markdown\n\n# rocm\n\nText with Requires-Dist: in it.\n"
        )

    def _wheel(self, destination: Path, dist: str, members: Members, scripts: list[dict[str, Any]] | None = None) -> None:
        stem = f"{dist.lower().replace('-', '_')}-{self.version}"
        info = stem + ".dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {dist}\nVersion: {self.version}\nRequires-Python: >=3.10\n"
        wheel = "Wheel-Version: 1.0\nGenerator: fake\nRoot-Is-Purelib: false\nTag: py3-none-any\n"
        members = {**members, f"{info}/METADATA": (metadata.encode(), False), f"{info}/WHEEL": (wheel.encode(), False)}
        if scripts:
            members[f"{info}/entry_points.txt"] = (_entry_points(scripts).encode(), False)
        members[f"{info}/RECORD"] = (_record(members, info), False)
        with zipfile.ZipFile(destination / f"{stem}-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as archive:
            for path, (data, executable) in members.items():
                entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
                entry.create_system = 3
                entry.external_attr = (0o100755 if executable else 0o100644) << 16
                archive.writestr(entry, data)


def entry_point_attribute(name: str) -> str:
    """The rule of python/README.md, written down a second time: the tests compare the two."""
    text = "".join(each if each.isalnum() or each == "+" else "_" for each in name)
    while "+" in text:
        start = text.index("+")
        end = start
        while end < len(text) and text[end] == "+":
            end += 1
        text = text[:start] + "_" + "p" * (end - start) + text[end:]
    return "_" + text if text[0].isdigit() else text


def simple_index(dist: Path, destination: Path) -> Path:
    """A package index in plain files, for `--index-url file:…`."""
    projects: dict[str, list[Path]] = {}
    for path in sorted(dist.iterdir()):
        name = path.name.split("-")[0].replace("_", "-").lower()
        projects.setdefault(name, []).append(path)
    for name, files in projects.items():
        page = destination / name / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        links = "".join(
            f'<a href="{path.as_uri()}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}">{path.name}</a><br>\n'
            for path in files
        )
        page.write_text(f"<!DOCTYPE html><html><body>\n{links}</body></html>\n")
    names = "".join(f'<a href="{name}/">{name}</a>\n' for name in projects)
    (destination / "index.html").write_text(f"<!DOCTYPE html><html><body>\n{names}</body></html>\n")
    return destination


def compile_objects(directory: Path) -> Path:
    """The shared objects of the release, made once. Without a compiler they are copies of a library of this system."""
    directory.mkdir(parents=True, exist_ok=True)
    compiler = shutil.which("cc") or shutil.which("gcc")
    for name, (_, needs, search) in [*CORE_LIBRARIES.items(), *FAMILY_LIBRARIES.items()]:
        target = directory / name
        if compiler:
            source = f"int {name.split('.')[0]}_answer(void) {{ return 42; }}\n"
            rpath = [f"-Wl,-rpath,$ORIGIN/{each}" for each in search]
            command = [compiler, "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-o", str(target), f"-Wl,-soname,{name}"]
            libraries = [
                "-x",
                "none",
                f"-L{directory}",
                f"-Wl,-rpath-link,{directory}",
                "-Wl,--no-as-needed",
                *(f"-l:{each}" for each in needs),
            ]
            subprocess.run([*command, *rpath, *libraries], input=source.encode(), check=True)
        else:
            found = sorted(glob.glob("/usr/lib/*/libutil.so.1") + glob.glob("/lib/*/libutil.so.1"))
            shutil.copyfile(found[0], target)
    return directory


def _package(dist: str, module: str, required: bool) -> dict[str, Any]:
    return {"dist": dist, "pure": module, "platform": "_" + module, "required": required}


def _pure(logical: str, module: str, facts: bytes) -> Members:
    source = PYTHON / f"rocm-sdk-{logical}" / f"rocm_sdk_{logical}"
    members: Members = {f"{module}/{path.name}": (path.read_bytes(), False) for path in sorted(source.glob("*.py"))}
    return {**members, f"{module}/_dist_info.py": (facts, False)}


def _entry_points(scripts: list[dict[str, Any]]) -> str:
    lines = [f"{each['name']} = rocm_sdk_core._cli:{entry_point_attribute(each['name'])}" for each in scripts]
    return "\n".join(["[console_scripts]", *lines, ""])


def _record(members: Members, info: str) -> bytes:
    rows = [f"{path},{record_digest(data)},{len(data)}\n" for path, (data, _) in members.items()]
    return "".join([*rows, f"{info}/RECORD,,\n"]).encode()


def record_digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _tar(top: str, entries: dict[str, bytes | str], suffix: str) -> bytes:
    buffer = io.BytesIO()
    mode = {".tar": "w", ".tar.xz": "w:xz", ".tar.zst": "w"}[suffix]
    with tarfile.open(fileobj=buffer, mode=mode, format=tarfile.PAX_FORMAT) as archive:
        for path, content in sorted(entries.items()):
            member = tarfile.TarInfo(f"{top}/{path}")
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                archive.addfile(member)
            else:
                member.size, member.mode = len(content), 0o755 if path.startswith("bin/") else 0o644
                archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def install_by_unzipping(dist: Path, site: Path, without: tuple[str, ...] = ()) -> Path:
    """The wheels (and a wheel of `rocm`, if one is there) in `site`, as an installer leaves them but for scripts."""
    for wheel in sorted(dist.glob("*.whl")):
        if not wheel.name.startswith(without or ("-",)):
            with zipfile.ZipFile(wheel) as archive:
                for entry in archive.infolist():
                    path = Path(archive.extract(entry, site))
                    path.chmod(entry.external_attr >> 16 & 0o777)
    return site
