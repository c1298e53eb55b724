"""A small tree of artifacts with everything that matters about a large one: libraries behind links, programs behind links, a
directory link, run paths, headers, two families. Made with gcc in about a second; the bytes are the same each time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

FAMILY = "gfx103X-dgpu"


def stage(root: Path, name: str, component: str, target: str, base: str) -> Path:
    """Makes the artifact's directory with its manifest and returns its base directory."""
    artifact = root / f"{name}_{component}_{target}"
    directory = artifact / base
    directory.mkdir(parents=True, exist_ok=True)
    (artifact / "artifact_manifest.txt").write_text(base + "\n")
    return directory


def compile_library(path: Path, soname: str, symbol: str, *options: str) -> None:
    source = f"const char *{symbol}(void) {{ return \"{soname}\"; }}\n"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-g0", "-x", "c", "-", "-o", path.name, f"-Wl,-soname,{soname}", "-Wl,--build-id=none", *options]
    subprocess.run(command, input=source.encode(), cwd=path.parent, check=True)


def compile_program(path: Path, text: str, *options: str) -> None:
    source = f'#include <stdio.h>\nint main(int c, char **v) {{ printf("{text} %s\\n", c > 1 ? v[1] : v[0]); return 0; }}\n'
    subprocess.run(["gcc", "-O1", "-g0", "-x", "c", "-", "-o", path.name, "-Wl,--build-id=none", *options], input=source.encode(), cwd=path.parent, check=True)


def library(directory: Path, name: str, major: str, full: str, *options: str) -> None:
    """libNAME.so.FULL with the SONAME libNAME.so.MAJOR, and the link of that name."""
    lib = directory / "lib"
    lib.mkdir(exist_ok=True)
    compile_library(lib / f"lib{name}.so.{full}", f"lib{name}.so.{major}", name.replace("-", "_") + "_version", *options)
    (lib / f"lib{name}.so.{major}").symlink_to(f"lib{name}.so.{full}")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make(root: Path, families: tuple[str, ...] = (FAMILY,)) -> Path:
    """The tree below `root`/artifacts; returns that directory."""
    artifacts = root / "artifacts"
    llvm = stage(artifacts, "amd-llvm", "run", "generic", "compiler/amd-llvm/stage")
    binaries = llvm / "lib/llvm/bin"
    binaries.mkdir(parents=True, exist_ok=True)
    compile_program(binaries / "clang", "OVERVIEW: clang LLVM compiler", "-Wl,-rpath,$ORIGIN/../lib")
    for link in ("clang++", "amdclang", "amdclang++"):
        (binaries / link).symlink_to("clang")
    hip = stage(artifacts, "core-hip", "lib", "generic", "core/clr/stage")
    library(hip, "amdhip64", "5", "5.2.1")
    dev = stage(artifacts, "core-hip", "dev", "generic", "core/clr/stage")
    write(dev / "include/hip/amd_detail/detail.h", "#define DETAIL 1\n")
    write(dev / "include/hip/hip_runtime.h", "#include <hip/amd_detail/detail.h>\n")
    (dev / "include/hip/hcc_detail").symlink_to("amd_detail")
    write(dev / "lib/cmake/hip/hip-config.cmake", "set(HIP_FOUND TRUE)\n")
    (dev / "lib/libamdhip64.so").symlink_to("libamdhip64.so.5")
    write(stage(artifacts, "base", "run", "generic", "base/tools/stage") / "bin/hipconfig", "#!/bin/sh\necho HIP version: 5.2\n")
    os.chmod(artifacts / "base_run_generic/base/tools/stage/bin/hipconfig", 0o755)
    for family in families:
        blas = stage(artifacts, "blas", "lib", family, "math-libs/BLAS/stage")
        library(blas, "hipblas", "2", "2.1", "-Wl,--no-as-needed", f"-L{hip / 'lib'}", "-l:libamdhip64.so.5", "-Wl,-rpath,$ORIGIN/../other")
        blas_dev = stage(artifacts, "blas", "dev", family, "math-libs/BLAS/stage")
        write(blas_dev / "include/hipblas/hipblas.h", "int hipblas(void);\n")
        (blas_dev / "lib").mkdir(exist_ok=True)
        (blas_dev / "lib/libhipblas.so").symlink_to("libhipblas.so.2")
    return artifacts


TARGETS = ("gfx1030", "gfx942")


def kernels(root: Path, target: str, text: str = "code") -> Path:
    """Device code of one target as the build of a split run keeps it: an archive, and a library of its own."""
    blas = stage(root, "blas", "lib", target, "math-libs/BLAS/stage")
    name = f"lib/.kpack/blas_lib_{target.replace(':', '-')}.kpack"
    write(blas / name, f"KPAK {text} for {target}")
    return blas


def make_split(root: Path, targets: tuple[str, ...] = TARGETS) -> Path:
    """The same SDK as make(), split by GPU target: host libraries in generic artifacts, device code in those of each target."""
    artifacts = make(root)
    for component in ("lib", "dev"):
        (artifacts / f"blas_{component}_{FAMILY}").rename(artifacts / f"blas_{component}_generic")
    write(artifacts / "blas_lib_generic/math-libs/BLAS/stage/lib/.kpack/blas_lib.kpm", "kpm")
    for target in targets:
        kernels(artifacts, target)
    first = artifacts / f"blas_lib_{targets[0]}/math-libs/BLAS/stage/lib"
    compile_library(first / f"libkernels_{targets[0]}.so", f"libkernels_{targets[0]}.so", "kernels")
    facts = stage(artifacts, "base", "lib", "generic", "base/aux-overlay/stage") / "share/therock"
    write(facts / "therock_manifest.json", '{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}\n')
    known = sorted({target.partition(":")[0] for target in targets})
    write(facts / "dist_info.json", '{"dist_amdgpu_targets": "%s"}\n' % ";".join(known))
    profiler = stage(artifacts, "rocprofiler-systems", "run", "generic", "profiler/stage") / "bin/rocprof-sys-sample"
    write(profiler, "#!/bin/sh\necho usage: rocprof-sys-sample\n")
    profiler.chmod(0o755)
    return artifacts
