"""core, libraries: the packages' own files. Each library loads in a process of its own, each script prints what it must."""

from __future__ import annotations

import functools
import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from .. import _device, _dist_info, _packages, _process
from . import _base, _child, _needs
from ._case import Case, Failed, Skipped

# Loads as a program that needs it would: everything resolved now, nothing else of the SDK in the process.
LOAD = """import ctypes, os, sys
for directory in sys.argv[2:]: os.add_dll_directory(directory)
ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW if hasattr(os, 'RTLD_NOW') else 0)"""
# Parts of paths of libraries that load only inside a certain program, or on a certain machine.
NOT_ALONE = (
    "amd_smi", "goamdsmi", "clang_rt", "libLLVMOffload", "lib/roctracer", "share/roctracer", "lib/rocprofiler-sdk/",
    "libexec/rocprofiler-sdk/", "libpyrocpd", "libpyroctx", "libtest_linking_lib", "opencl",
)  # fmt: skip
ELF_SHARED_OBJECT = 3  # e_type of the ELF specification
# What launcher/launcher.c has before its target; the program that stands for a link to another program.
LAUNCHER_MARK = b"QUARRY-LAUNCHER-TARGET-SLOT-1:\n\0"
LAUNCHER_BYTES_MIN, LAUNCHER_BYTES_MAX = 4096, 64 << 10  # it has 9 kB, 4 of them for the path; no other file is read
ELF_MACHINES = {"x86_64": 62, "amd64": 62, "aarch64": 183, "arm64": 183}  # e_machine


def cases() -> Iterator[Case]:
    yield Case("base.script", _own_script)
    for logical in ("core", "libraries"):
        packages = _base.installed(logical)
        if not packages:
            yield Case(f"{logical}.installed", functools.partial(_not_installed, logical))
        for package in packages:
            yield from package_cases(package, logical if len(packages) == 1 else f"{logical}.{package.platform_name}")
    yield Case("libraries.family", _family_fits)


def package_cases(package: _packages.Package, prefix: str) -> Iterator[Case]:
    yield Case(f"{prefix}.layout", functools.partial(_layout, package))
    yield Case(f"{prefix}.preload", functools.partial(_preload, package))
    if launchers(package.platform):
        yield Case(f"{prefix}.launchers", functools.partial(_launchers, package))
    for path in _own_objects(package):
        relative = path.relative_to(package.platform).as_posix()
        yield Case(f"{prefix}.load.{relative}", functools.partial(_load, path, relative))
    for script in getattr(package.dist_info, "CONSOLE_SCRIPTS", []):
        yield Case(f"{prefix}.script.{script['name']}", functools.partial(_script, package, script))


def shared_objects(top: Path) -> list[Path]:
    """The shared objects below `top`, each once: a link to one beside it is not another."""
    pattern = "*.dll" if sys.platform == "win32" else "*.so*"
    return sorted(path for path in top.rglob(pattern) if path.is_file() and not path.is_symlink() and _is_shared_object(path))


def _own_objects(package: _packages.Package) -> list[Path]:
    passed_over = _device.laid_by_others(package.site)
    return [path for path in shared_objects(package.platform) if path not in passed_over]


def _is_shared_object(path: Path) -> bool:
    if sys.platform == "win32":
        return True
    if not (path.name.endswith(".so") or ".so." in path.name):
        return False
    header = _elf_header(path)
    return header is not None and header[0] == ELF_SHARED_OBJECT


def _elf_header(path: Path) -> tuple[int, int] | None:
    """Type and machine of a 64-bit little-endian ELF file."""
    with path.open("rb") as file:
        head = file.read(20)
    if len(head) < 20 or head[:6] != b"\x7fELF\x02\x01":
        return None
    kind, machine = struct.unpack_from("<HH", head, 16)
    return kind, machine


def launchers(top: Path) -> dict[Path, str]:
    """The launchers below `top`, each with the path that it runs, relative to its own directory."""
    found = {path: _launched(path) for path in sorted(top.rglob("*")) if path.is_file() and not path.is_symlink()}
    return {path: target for path, target in found.items() if target is not None}


def _launched(path: Path) -> str | None:
    if sys.platform == "win32" or not LAUNCHER_BYTES_MIN <= path.stat().st_size <= LAUNCHER_BYTES_MAX:
        return None
    data = path.read_bytes()
    if not data.startswith(b"\x7fELF"):
        return None
    _, mark, slot = data.partition(LAUNCHER_MARK)
    return os.fsdecode(slot.partition(b"\0")[0]) if mark else None


def _launchers(package: _packages.Package) -> None:
    """The kernel will find the program of each: the path in it is relative to the launcher's directory."""
    wrong = []
    for path, target in launchers(package.platform).items():
        program = os.path.join(path.parent, target)
        if not target or not os.path.isfile(program):
            wrong.append(f"{path} runs {target}, which does not exist")
        elif not os.access(program, os.X_OK):
            wrong.append(f"{path} runs {target}, which is not executable")
        elif not os.access(path, os.X_OK):
            wrong.append(f"{path} is not executable")
    if wrong:
        raise Failed(f"{len(wrong)} launchers cannot run: {'; '.join(wrong[:5])}")


def _not_installed(logical: str) -> None:
    dist = str(_packages.entry_of(logical)["dist"])
    if _packages.entry_of(logical)["required"]:
        raise Failed(f"{dist} is not installed")
    raise Skipped(f"{dist} is not installed")


def _layout(package: _packages.Package) -> None:
    if not package.platform.is_dir():
        raise Failed(f"{package.platform} is missing beside {package.pure}")
    missing = [path for path in package.dist_info.LIBRARIES if not (package.platform / path).is_file()]
    if missing:
        raise Failed(f"{len(missing)} libraries are missing: {', '.join(missing[:5])}")
    if package.logical == "libraries" and not _own_objects(package):
        raise Failed(f"there is no library in {package.platform}")


def _preload(package: _packages.Package) -> None:
    names = _base.present_libraries(package.logical)
    if not names:
        raise Skipped("it holds no library with a short name")
    environ = {"ROCM_SDK_TARGET_FAMILY": family} if (family := package.dist_info.THIS_TARGET_FAMILY) else {}
    _base.expect_success(_child.python(_base.INITIALIZE, *names, environ=environ))


def _load(path: Path, relative: str) -> None:
    special = next((part for part in NOT_ALONE if part in relative), None)
    if special:
        raise Skipped(f"does not load on its own ({special})")
    header = None if sys.platform == "win32" else _elf_header(path)
    machine = ELF_MACHINES.get(platform.machine().lower())
    if header and machine and header[1] != machine:
        raise Skipped(f"is not code for {platform.machine()} (ELF machine {header[1]})")
    done = _child.python(LOAD, str(path), *map(str, _process.dll_directories(path)))
    if done.code:
        raise Failed(_last_line(done) if done.code == 1 else done.describe())


def _last_line(done: _child.Finished) -> str:
    return (done.output.strip().splitlines() or ["no output"])[-1]


def _script(package: _packages.Package, script: dict[str, object]) -> None:
    program = package.platform / _program_name(str(script["program"]))
    if not program.is_file():
        raise Failed(f"its program {program} is missing")
    path = script_path(package.dist, str(script["name"]))
    if path is None:
        raise Failed(f"the script {script['name']} is not installed")
    reason = _needs.unmet(list(script["needs"]))  # type: ignore[call-overload]
    if reason:
        raise Skipped(reason)
    done = _child.run([str(path), *script["arguments"]])  # type: ignore[misc]
    expected = str(script["expect"])
    if expected and expected not in done.output:
        raise Failed(f"{expected!r} was expected; {done.describe()}")
    if not expected and done.code:
        raise Failed(done.describe())


def _program_name(relative: str) -> str:
    return relative + ".exe" if sys.platform == "win32" and not Path(relative).suffix else relative


def script_path(dist: str, name: str) -> Path | None:
    """Where the installer put the script: RECORD says so, else where this Python keeps its scripts."""
    wanted = {name, name + ".exe"}
    try:
        listed = metadata.distribution(dist).files or []
    except metadata.PackageNotFoundError:  # it runs from its source tree
        listed = []
    for file in listed:
        if file.name in wanted and file.parts[0] == "..":
            return Path(str(file.locate())).resolve()
    directory = Path(sysconfig.get_path("scripts"))
    return next((directory / each for each in sorted(wanted) if (directory / each).is_file()), None)


def _own_script() -> None:
    path = script_path("rocm", "rocm-sdk")
    if path is None:
        raise Skipped("rocm was put here without its console script")
    done = _child.run([str(path), "version"])
    if _dist_info.__version__ not in _base.expect_success(done):
        raise Failed(f"{path} is of another release: {done.output.strip()}")


def _family_fits() -> None:
    """The libraries installed are for the GPUs of this machine, or for the family that the environment names."""
    installed = _packages.installed_families()
    if not installed:
        raise Skipped("no libraries of one GPU family are installed")
    wanted = _packages.libraries_family()
    if _packages.detected_targets() or wanted not in installed:
        wanted = _packages.resolved_family()
    elif len(installed) == 1:
        raise Skipped(f"{wanted} is installed, and no GPU was found to compare it with")
    if wanted not in installed:
        raise Failed(f"this machine needs {wanted}; installed: {', '.join(installed)}")
