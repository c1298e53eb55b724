"""The small tree of artifacts as a Windows build makes it: DLLs and programs in `bin`, import libraries in `lib`, no links but those of a
tree that was packed on Linux. Made with Debian's mingw; the bytes are the same each time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from .small_artifacts import FAMILY, TARGETS, stage, write

COMPILER = "x86_64-w64-mingw32-gcc"
REPRODUCIBLE = ("-O1", "-g0", "-s", "-x", "c", "-", "-Wl,--no-insert-timestamp")


def available() -> bool:
    return shutil.which(COMPILER) is not None


def compile_dll(path: Path, symbol: str, *options: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    source = f'__declspec(dllexport) const char *{symbol}(void) {{ return "{path.name}"; }}\n'
    subprocess.run([COMPILER, "-shared", *REPRODUCIBLE, "-o", path.name, *options], input=source.encode(), cwd=path.parent, check=True)


def compile_program(path: Path, text: str, *options: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    source = f'#include <stdio.h>\nint main(void) {{ puts("{text}"); return 0; }}\n'
    subprocess.run([COMPILER, *REPRODUCIBLE, "-o", path.name, *options], input=source.encode(), cwd=path.parent, check=True)


def make(root: Path, families: tuple[str, ...] = (FAMILY,)) -> Path:
    """The tree below `root`/windows-artifacts; returns that directory."""
    artifacts = root / "windows-artifacts"
    llvm = stage(artifacts, "amd-llvm", "run", "generic", "compiler/amd-llvm/stage")
    compile_program(llvm / "lib/llvm/bin/clang.exe", "OVERVIEW: clang LLVM compiler")
    for name in ("clang++.exe", "amdclang.exe", "amdclang++.exe"):
        (llvm / "lib/llvm/bin" / name).symlink_to("clang.exe")
    hip = stage(artifacts, "core-hip", "lib", "generic", "core/clr/stage")
    dev = stage(artifacts, "core-hip", "dev", "generic", "core/clr/stage")
    (dev / "lib").mkdir()
    compile_dll(hip / "bin/amdhip64_7.dll", "hip_version", f"-Wl,--out-implib,{dev / 'lib/amdhip64.lib'}")
    write(dev / "include/hip/hip_runtime.h", "#define HIP 1\n")
    write(dev / "lib/cmake/hip/hip-config.cmake", "set(HIP_FOUND TRUE)\n")
    (dev / "include/hip/hcc_detail").symlink_to(".")
    info = stage(artifacts, "core-hipinfo", "run", "generic", "core/hipInfo/stage")
    compile_program(info / "bin/hipInfo.exe", "device 0", "-Wl,--no-as-needed", f"-L{dev / 'lib'}", "-l:amdhip64.lib")
    for family in families:
        blas = stage(artifacts, "blas", "lib", family, "math-libs/BLAS/stage")
        compile_dll(blas / "bin/hipblas.dll", "hipblas_version")
        write(blas / "bin/rocblas/library/Tensile.dat", f"{family}\n")
        blas_dev = stage(artifacts, "blas", "dev", family, "math-libs/BLAS/stage")
        write(blas_dev / "include/hipblas/hipblas.h", "int hipblas(void);\n")
    return artifacts



def without_links(artifacts: Path) -> Path:
    """As a Windows machine builds it: a program behind a link is a copy, and only programs are executable."""
    for link in [path for path in artifacts.rglob("*") if path.is_symlink()]:
        program = link.resolve() if link.suffix == ".exe" else None
        link.unlink()
        if program:
            shutil.copyfile(program, link)
    for path in artifacts.rglob("*"):
        if path.is_file():
            path.chmod(0o755 if path.suffix == ".exe" else 0o644)  # as Python sees files there
    return artifacts


def make_split(root: Path, targets: tuple[str, ...] = TARGETS) -> Path:
    """Makes the SDK of make(), split by GPU target like that of small_artifacts.make_split(), but without a profiler."""
    artifacts = make(root)
    for component in ("lib", "dev"):
        (artifacts / f"blas_{component}_{FAMILY}").rename(artifacts / f"blas_{component}_generic")
    write(artifacts / "blas_lib_generic/math-libs/BLAS/stage/bin/.kpack/blas_lib.kpm", "kpm")
    for target in targets:
        blas = stage(artifacts, "blas", "lib", target, "math-libs/BLAS/stage")
        write(blas / f"bin/.kpack/blas_lib_{target}.kpack", f"KPAK code for {target}")
    facts = stage(artifacts, "base", "lib", "generic", "base/aux-overlay/stage") / "share/therock"
    write(facts / "therock_manifest.json", '{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}\n')
    write(facts / "dist_info.json", '{"dist_amdgpu_targets": "%s"}\n' % ";".join(sorted(targets)))
    return without_links(artifacts)
