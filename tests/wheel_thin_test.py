"""`quarry wheel thin`: the device code of other targets leaves a wheel, and nothing else changes."""

from __future__ import annotations

import base64
import ctypes
import csv
import hashlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import debian_rocm, kpack, small_windows_artifacts  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402
from support.usual import long  # noqa: E402

KERNEL = "__attribute__((amdgpu_kernel)) void kernel(int *p) { *p = 1; }\n"
BUNDLER = "clang-offload-bundler-19"
NAME, INFO = "demo-1.0-py3-none-linux_x86_64.whl", "demo-1.0.dist-info"
TARGETS = ["gfx942", "gfx1030", "gfx90a:xnack+", "gfx11-generic"]


def run(*words: str | Path) -> str:
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def code(tmp_path_factory):
    """target id -> a code object that clang compiled for it."""
    place = tmp_path_factory.mktemp("code")
    (place / "kernel.c").write_text(KERNEL)
    made: dict[str, Path] = {}
    for number, target in enumerate(TARGETS):
        made[target] = place / f"{number}.o"
        version = 6 if target.endswith("-generic") else 5
        run("clang-19", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", f"-mcode-object-version={version}", "-nogpulib", "-O1", "-c", place / "kernel.c", "-o", made[target])
    return made


@pytest.fixture(scope="session")
def library(code, tmp_path_factory):
    """A shared library that clang's runtime would register: a plain and a compressed bundle, each with a record, and host code."""
    place = tmp_path_factory.mktemp("library")
    (place / "host").write_bytes(b"")
    names = ",".join(["host-x86_64-unknown-linux", *(f"hipv4-amdgcn-amd-amdhsa--{target}" for target in TARGETS)])
    inputs = [f"-input={path}" for path in [place / "host", *code.values()]]
    lines = [".text\n.globl answer\n.type answer,@function\nanswer: mov $42, %eax\nret\n.size answer, .-answer\n", '.section .hip_fatbin,"a",@progbits\n']
    for number, more in enumerate([[], ["-compress"]]):
        run(BUNDLER, "-type=o", "-bundle-align=4096", *more, f"-targets={names}", *inputs, f"-output={place / str(number)}")
        lines.append(f'.p2align 12\nbundle{number}: .incbin "{place / str(number)}"\n')
    lines.append('.section .hipFatBinSegment,"aw",@progbits\n' + "".join(f".long 0x48495046, 1\n.quad bundle{number}, 0\n" for number in range(2)))
    lines.append('.section .note.GNU-stack,"",@progbits\n')
    (place / "x.s").write_text("".join(lines))
    run("gcc", "-shared", "-nostdlib", "-Wl,-z,noexecstack", place / "x.s", "-o", place / "libx.so")
    return place / "libx.so"


def wheel(path: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    everything = {
        **files,
        f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
        f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n",
    }
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}" for name, data in everything.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in {**everything, f"{INFO}/RECORD": "\n".join([*rows, f"{INFO}/RECORD,,\n"]).encode()}.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, method)
    return path


@pytest.fixture
def fat(library, code, tmp_path) -> Path:
    return wheel(tmp_path / "dist" / NAME, {
        "demo/__init__.py": b"x = 1\n" * 100,
        "demo/lib/libx.so": library.read_bytes(),
        "demo/lib/rocblas/library/Kernels_gfx942.hsaco": code["gfx942"].read_bytes(),
        "demo/lib/rocblas/library/Kernels_gfx1030.hsaco": code["gfx1030"].read_bytes(),
        "demo/lib/rocblas/library/Tensile_gfx942.dat": b"tuning",
    })  # fmt: skip


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def check_record(path: Path) -> None:
    files = members(path)
    rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(files[f"{INFO}/RECORD"].decode()))}
    assert rows.keys() == files.keys()
    for name, data in files.items():
        if not name.endswith("/RECORD"):
            assert rows[name] == ("sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("="), str(len(data)))


def listed(path: Path) -> dict[str, int]:
    return {row["target"]: row["count"] for row in good("gpu", "list", "--json", path).json["code_objects"] if "libx" in row["file"]}


def test_keeps_one_target(fat, code, tmp_path):
    done = good("wheel", "thin", fat, "--targets", "gfx1030", "-d", tmp_path / "thin", "--json").json
    new = tmp_path / "thin" / NAME
    assert (done["schema"], done["path"], done["thinned"]) == ("quarry.wheel-thin/1", str(new), True)
    assert done["size"] == new.stat().st_size < fat.stat().st_size == done["original"]["size"]
    assert done["sha256"] == hashlib.sha256(new.read_bytes()).hexdigest()
    assert done["changed_files"] == ["demo/lib/libx.so"]
    assert done["removed_files"] == ["demo/lib/rocblas/library/Kernels_gfx942.hsaco", "demo/lib/rocblas/library/Tensile_gfx942.dat"]
    assert {row["target"]: (row["objects"], row["removed_objects"]) for row in done["targets"]} == {"gfx1030": (3, 0), "gfx942": (2, 2), "gfx90a:xnack+": (2, 2), "gfx11-generic": (2, 2)}
    assert listed(new) == {"gfx1030": 2} and done["findings"] == []
    check_record(new)
    assert good("wheel", "verify", new).code == 0
    before, after = members(fat), members(new)
    assert set(before) - set(after) == set(done["removed_files"])
    assert {name for name in after if after[name] != before[name]} == {"demo/lib/libx.so", f"{INFO}/RECORD"}
    old, thinned = before["demo/lib/libx.so"], after["demo/lib/libx.so"]
    kernel = code["gfx1030"].read_bytes()
    assert len(old) == len(thinned) and thinned.count(kernel) == old.count(kernel) == 1
    assert all(code[target].read_bytes() not in thinned for target in ("gfx942", "gfx90a:xnack+", "gfx11-generic"))


def test_the_thinned_library_loads_and_tools_read_it(fat, code, tmp_path):
    good("wheel", "thin", fat, "--targets", "gfx1030", "-d", tmp_path / "thin")
    library = tmp_path / "libx.so"
    library.write_bytes(members(tmp_path / "thin" / NAME)["demo/lib/libx.so"])
    assert ctypes.CDLL(str(library)).answer() == 42
    assert run("readelf", "--wide", "--sections", library)
    # Both bundles as clang's own tool reads them: the kept code comes out byte by byte.
    section = tmp_path / "section"
    run("objcopy", "-O", "binary", "--only-section=.hip_fatbin", library, section)
    data = section.read_bytes()
    for number, begin in enumerate([0, data.index(b"CCOB")]):
        one, out = tmp_path / f"{number}.hipfb", tmp_path / f"{number}.out"
        total = int.from_bytes(data[begin + 8 : begin + 12], "little") if number else len(data)  # clang 19 writes version 2
        one.write_bytes(data[begin : begin + total])
        names = run(BUNDLER, "--list", "-type=o", f"-input={one}").split()
        assert sorted(name.rstrip("-") for name in names) == ["hipv4-amdgcn-amd-amdhsa--gfx1030", "host-x86_64-unknown-linux"], names
        run(BUNDLER, "-unbundle", "-type=o", f"-input={one}", "-targets=hipv4-amdgcn-amd-amdhsa--gfx1030", f"-output={out}")
        assert out.read_bytes() == code["gfx1030"].read_bytes()


class CodeObject(ctypes.Structure):
    """amd_comgr_code_object_info_t"""

    _fields_ = [("isa", ctypes.c_char_p), ("size", ctypes.c_size_t), ("offset", ctypes.c_uint64)]


def looked_up(comgr: ctypes.CDLL, bundle: bytes, target: str) -> tuple[int, int]:
    """Place and size of the code for a target, as ROCm's runtime asks for them; (0, 0) if there is none."""
    fat_binary, data = 0x10, ctypes.c_uint64()
    assert comgr.amd_comgr_create_data(fat_binary, ctypes.byref(data)) == 0
    assert comgr.amd_comgr_set_data(data, ctypes.c_size_t(len(bundle)), bundle) == 0
    wanted = CodeObject(f"amdgcn-amd-amdhsa--{target}".encode(), 0, 0)
    assert comgr.amd_comgr_lookup_code_object(data, ctypes.byref(wanted), ctypes.c_size_t(1)) == 0
    return wanted.offset, wanted.size


def test_the_runtime_finds_what_is_kept(fat, library, code, tmp_path):
    comgr = ctypes.CDLL(str(debian_rocm.library("libamd_comgr.so.2")))
    whole = library.read_bytes()
    begin, size = whole.index(b"__CLANG_OFFLOAD_BUNDLE__"), whole.index(b"CCOB") - whole.index(b"__CLANG_OFFLOAD_BUNDLE__")
    place, length = looked_up(comgr, whole[begin : begin + size], "gfx1030")
    assert whole[begin + place : begin + place + length] == code["gfx1030"].read_bytes()
    for targets, expected in (("gfx1030", (place, length)), ("gfx942", (0, 0)), ("gfx1030,gfx942", (place, length))):
        good("wheel", "thin", fat, "--targets", targets, "-d", tmp_path / targets)
        thinned = members(tmp_path / targets / NAME)["demo/lib/libx.so"]
        assert looked_up(comgr, thinned[begin : begin + size], "gfx1030") == expected


@pytest.mark.parametrize("asked, kept", [
    ("gfx90a", {"gfx90a:xnack+"}),
    ("gfx1101", {"gfx11-generic"}),
    ("gfx942,gfx1151", {"gfx942", "gfx11-generic"}),
    ("gfx942;gfx1030 gfx90a;gfx11-generic", set(TARGETS)),
])  # fmt: skip
def test_what_serves_a_target_stays(fat, tmp_path, asked, kept):
    good("wheel", "thin", fat, "--targets", asked, "-d", tmp_path / "thin")
    assert set(listed(tmp_path / "thin" / NAME)) == kept


def test_a_family_names_its_targets(fat, tmp_path):
    done = good("wheel", "thin", fat, "--amdgpu-family", "gfx94X-dcgpu", "-d", tmp_path / "thin", "--json").json
    assert done["asked"] == ["gfx942"] and set(listed(tmp_path / "thin" / NAME)) == {"gfx942"}


def test_the_same_bytes_with_any_number_of_workers(fat, library, tmp_path):
    digests = {good("wheel", "thin", fat, "--targets", "gfx1030", "-d", tmp_path / jobs, "--jobs", jobs, "--json").json["sha256"] for jobs in ("1", "2", "5")}
    assert len(digests) == 1
    stored = wheel(tmp_path / "stored" / NAME, {"demo/lib/libx.so": library.read_bytes()}, zipfile.ZIP_STORED)
    good("wheel", "thin", stored, "--targets", "gfx1030", "-d", tmp_path / "s")
    assert members(tmp_path / "s" / NAME)["demo/lib/libx.so"] == members(tmp_path / "1" / NAME)["demo/lib/libx.so"]


def test_nothing_to_remove_is_a_copy(fat, tmp_path):
    good("wheel", "thin", fat, "--targets", "gfx1030", "-d", tmp_path / "thin")
    again = good("wheel", "thin", tmp_path / "thin" / NAME, "--targets", "gfx1030", "-d", tmp_path / "again")
    assert (tmp_path / "again" / NAME).read_bytes() == (tmp_path / "thin" / NAME).read_bytes()
    assert "nothing to remove" in again.err and again.out == f"{tmp_path}/again/{NAME}\n"
    plain = wheel(tmp_path / "plain" / NAME, {"demo/__init__.py": b""})
    assert "no device code" in good("wheel", "thin", plain, "--targets", "gfx1030", "-d", tmp_path / "again").err


def test_says_what_it_did(fat, tmp_path):
    done = good("wheel", "thin", fat, "--targets", "gfx1030,gfx906", "-d", tmp_path / "thin", "--keep-named-files")
    assert done.out == f"{tmp_path}/thin/{NAME}\n"
    lines = {line.split("  ")[0]: line for line in done.err.splitlines()}
    assert lines["gfx942"].split()[1] == "3" and lines["gfx942"].endswith("2 objects") and lines["gfx1030"].endswith("no")
    assert "none removed" in lines["loose files"] and ", was " in lines["wheel"] and ", as before" in lines["installed"]
    assert "no code for gfx906" in done.err and "G115" in done.err


def test_bad_requests(fat, tmp_path):
    thin = tmp_path / "thin"
    for targets in ("gfx9999", "gfx90a:xnack+", "gfx", "all", ","):
        refused("G113", 2, "wheel", "thin", fat, "--targets", targets, "-d", thin)
    refused("G113", 2, "wheel", "thin", fat, "-d", thin)
    refused("G113", 2, "wheel", "thin", fat, "--targets", "gfx942", "--amdgpu-family", "gfx94X-dcgpu", "-d", thin)
    refused("F003", 2, "wheel", "thin", fat, "--amdgpu-family", "gfx999X", "-d", thin)
    refused("G114", 3, "wheel", "thin", fat, "--targets", "gfx906", "-d", thin)
    refused("W025", 2, "wheel", "thin", fat, "--targets", "gfx942", "-d", fat.parent)
    (tmp_path / "link").symlink_to(fat.parent)
    refused("W025", 2, "wheel", "thin", fat, "--targets", "gfx942", "-d", tmp_path / "link")
    refused("D001", 3, "wheel", "thin", tmp_path / NAME, "--targets", "gfx942", "-d", thin)
    assert not list(thin.glob("*"))


def test_refuses_what_gpu_list_misses(code, tmp_path):
    """Files whose target only their path says: kernels in other formats count if nothing else has code, the others never."""
    kernels = "demo/lib/aotriton.images/amd-gfx1030/flash/k.aks2"
    names = {
        "kernels": kernels,
        "data": "demo/lib/rocblas/library/T_gfx1030.dat",
        "placeholder": "demo/lib/rocblas/library/K_gfx1030.co",
        "empty": "demo/.kpack/blas_gfx1030.kpack",
        "text": "demo/lib/hipblaslt/library/gfx1030/README",
        "signature": "demo/lib/aotriton.images/amd-gfx1030/__signature__",
    }

    def missing(made: Path) -> bool:
        verdicts = quarry("gpu", "list", made, "--amdgpu-family", "gfx103X-dgpu", "--json").json["verdicts"]
        return "gfx1030" in [one["target"] for one in verdicts if one["verdict"] == "missing"]

    for kind, name in names.items():
        content = b"" if kind == "empty" else b"not an ELF file"
        alone = wheel(tmp_path / kind / "alone" / NAME, {name: content})
        assert missing(alone) == (kind != "kernels"), kind
        # The .co below rocblas is dropped by its path, the other one is read.
        for place in ("demo/lib/rocblas/library/K_gfx942.co", "demo/lib/k.co"):
            made = wheel(tmp_path / kind / NAME, {place: code["gfx942"].read_bytes(), name: content})
            assert missing(made), (kind, place)
            assert "it has code for gfx942\n" in refused("G114", 3, "wheel", "thin", made, "--targets", "gfx1030", "-d", tmp_path / "thin").err
        made = wheel(tmp_path / kind / NAME, {"demo/lib/rocblas/library/K_gfx942.co": b"a placeholder", kernels: b"x", name: content})
        assert not missing(made), kind
        good("wheel", "thin", made, "--targets", "gfx1030", "-d", tmp_path / "thin" / kind)
    only = wheel(tmp_path / "only" / NAME, {kernels: b"not an ELF file"})
    assert "it has code for gfx1030" in refused("G114", 3, "wheel", "thin", only, "--targets", "gfx942", "-d", tmp_path / "thin").err
    assert "(gfx1030)" in good("gpu", "list", only).out  # what G114 tells people to look at


def test_damaged_code_is_refused(library, tmp_path):
    whole = library.read_bytes()
    begin = whole.index(b"__CLANG_OFFLOAD_BUNDLE__")
    for at, value in ((24, 1 << 63), (32, 1 << 63), (40, 1 << 40), (48, 1 << 63)):  # entries; of the first: offset, size, bytes of the id
        damaged = wheel(tmp_path / str(at) / NAME, {"demo/lib/libx.so": whole[: begin + at] + value.to_bytes(8, "little") + whole[begin + at + 8 :]})
        refused("G101", 6, "wheel", "thin", damaged, "--targets", "gfx1030", "-d", tmp_path / "thin")
    assert not list((tmp_path / "thin").glob("*"))


@pytest.mark.parametrize("compress", [False, True])
def test_a_kpack_archive_loses_rows_and_bytes(code, tmp_path, compress):
    kernels = {target: path.read_bytes() for target, path in code.items()}
    archive = kpack.written({"lib/liba.so#0": kernels, "lib/liba.so#1": {"gfx942": kernels["gfx942"]}, "lib/libb.so#0": {"gfx1030": kernels["gfx1030"]}}, compress)
    fat = wheel(tmp_path / "dist" / NAME, {"demo/.kpack/blas_lib.kpack": archive, "demo/.kpack/blas_lib_gfx942.kpack": archive, "demo/.kpack/fft.kpack": kpack.written({"lib/libf.so#0": {"gfx942": kernels["gfx942"]}}, compress)})
    done = good("wheel", "thin", fat, "--targets", "gfx1030", "-d", tmp_path / "thin", "--json").json
    assert (done["changed_files"], done["removed_files"]) == (["demo/.kpack/blas_lib.kpack"], ["demo/.kpack/blas_lib_gfx942.kpack", "demo/.kpack/fft.kpack"])
    assert done["findings"] == []
    thinned = members(tmp_path / "thin" / NAME)["demo/.kpack/blas_lib.kpack"]
    assert kpack.read(thinned) == {"lib/liba.so#0": {"gfx1030": kernels["gfx1030"]}, "lib/libb.so#0": {"gfx1030": kernels["gfx1030"]}}
    before, after = kpack.table(archive), kpack.table(thinned)
    assert after["gfx_arches"] == ["gfx1030"] and len(thinned) < len(archive)
    assert {key: after[key] for key in ("format_version", "group_name", "gfx_arch_family", "compression_scheme")} == {key: before[key] for key in ("format_version", "group_name", "gfx_arch_family", "compression_scheme")}
    check_record(tmp_path / "thin" / NAME)
    kept = good("wheel", "thin", fat, "--targets", "gfx1030", "-d", tmp_path / "kept", "--keep-named-files", "--json").json
    assert kept["removed_files"] == [] and {one["code"] for one in kept["findings"]} == {"G115"}


@pytest.mark.skipif(not small_windows_artifacts.available(), reason="needs gcc-mingw-w64-x86-64 (tools/setup --test)")
def test_a_windows_dll_keeps_its_places(code, library, tmp_path):
    whole = library.read_bytes()
    begin, middle = whole.index(b"__CLANG_OFFLOAD_BUNDLE__"), whole.index(b"CCOB")
    (tmp_path / "plain").write_bytes(whole[begin:middle])
    (tmp_path / "packed").write_bytes(whole[middle : middle + int.from_bytes(whole[middle + 8 : middle + 12], "little")])
    source = tmp_path / "code.s"
    source.write_text(f'.section .hip_fat,"dr"\n.p2align 12\n.incbin "{tmp_path}/plain"\n.p2align 12\n.incbin "{tmp_path}/packed"\n.section .hipFatB,"dw"\n.long 0x48495046, 1\n.quad 0, 0\n')
    dll = tmp_path / "x.dll"
    subprocess.run([small_windows_artifacts.COMPILER, "-shared", "-nostdlib", "-s", "-Wl,--no-insert-timestamp", source, "-o", dll], check=True)
    name = "demo-1.0-py3-none-win_amd64.whl"
    fat = wheel(tmp_path / "dist" / name, {"demo/bin/x.dll": dll.read_bytes()})
    assert {row["target"]: row["count"] for row in good("gpu", "list", "--json", fat).json["code_objects"]} == dict.fromkeys(TARGETS, 2)
    done = good("wheel", "thin", fat, "--targets", "gfx1030", "-d", tmp_path / "thin", "--json").json
    assert done["changed_files"] == ["demo/bin/x.dll"] and done["findings"] == []
    old, thinned = dll.read_bytes(), members(tmp_path / "thin" / name)["demo/bin/x.dll"]
    assert len(old) == len(thinned) and thinned.count(code["gfx1030"].read_bytes()) == 1 and code["gfx942"].read_bytes() not in thinned
    (tmp_path / "thin.dll").write_bytes(thinned)
    headers = lambda path: run("objdump", "--all-headers", path).replace(str(path), "")  # noqa: E731
    checksum = lambda text: [line for line in text.splitlines() if "CheckSum" not in line]  # noqa: E731
    assert checksum(headers(dll)) == checksum(headers(tmp_path / "thin.dll"))
    assert {row["target"]: row["count"] for row in good("gpu", "list", "--json", tmp_path / "thin.dll").json["code_objects"]} == {"gfx1030": 2}


def test_static_libraries_are_thinned_in_their_places(code, tmp_path):
    """Objects as clang makes them of HIP, in an archive of `ar`: the linker finds the same symbols, tools only the code that is kept."""
    targets = ["gfx942", "gfx1030", "gfx90a:xnack+"]
    (tmp_path / "nothing").write_bytes(b"")
    names = ",".join(["host-x86_64-unknown-linux", *(f"hipv4-amdgcn-amd-amdhsa--{target}" for target in targets)])
    run(BUNDLER, "-type=o", "-bundle-align=4096", f"-targets={names}", f"-input={tmp_path}/nothing", *(f"-input={code[target]}" for target in targets), f"-output={tmp_path}/bundle")
    for name in ("plain.o", "an_object_with_a_long_name.o"):
        (tmp_path / "x.s").write_text(f'.section .hip_fatbin,"a",@progbits\n.p2align 12\nbundle: .incbin "{tmp_path}/bundle"\n.section .hipFatBinSegment,"aw",@progbits\n.globl {name[:-2]}\n{name[:-2]}: .long 0x48495046, 1\n.quad bundle, 0\n.section .note.GNU-stack,"",@progbits\n')
        run("gcc", "-c", tmp_path / "x.s", "-o", tmp_path / name)
    (tmp_path / "host.c").write_text("int host(void) { return 7; }\n")
    run("gcc", "-c", tmp_path / "host.c", "-o", tmp_path / "host.o")
    run("ar", "rcs", tmp_path / "libx.a", tmp_path / "host.o", tmp_path / "plain.o", tmp_path / "an_object_with_a_long_name.o")
    old = (tmp_path / "libx.a").read_bytes()
    assert {row["target"]: row["count"] for row in good("gpu", "list", "--json", tmp_path / "libx.a").json["code_objects"]} == dict.fromkeys(targets, 2)
    done = good("wheel", "thin", wheel(tmp_path / "dist" / NAME, {"demo/libx.a": old}), "--targets", "gfx1030", "-d", tmp_path / "thin", "--json").json
    assert done["findings"] == [] and done["changed_files"] == ["demo/libx.a"]
    new = members(tmp_path / "thin" / NAME)["demo/libx.a"]
    (tmp_path / "thin.a").write_bytes(new)
    assert {row["target"]: row["count"] for row in good("gpu", "list", "--json", tmp_path / "thin.a").json["code_objects"]} == {"gfx1030": 2}
    assert len(new) == len(old) and run("nm", "-s", tmp_path / "thin.a").replace("thin.a", "libx.a") == run("nm", "-s", tmp_path / "libx.a")
    for place, library in (("old", "libx.a"), ("new", "thin.a")):
        (tmp_path / place).mkdir()
        subprocess.run(["ar", "x", tmp_path / library], cwd=tmp_path / place, check=True)
        for name in ("plain.o", "an_object_with_a_long_name.o"):
            run("objcopy", "-O", "binary", "--only-section=.hip_fatbin", "--set-section-flags", ".hip_fatbin=alloc", tmp_path / place / name, tmp_path / place / f"{name}.bundle")
            run(BUNDLER, "-type=o", "-unbundle", "-targets=hipv4-amdgcn-amd-amdhsa--gfx1030", f"-input={tmp_path / place / name}.bundle", f"-output={tmp_path / place / name}.code")
    for name in ("host.o", "plain.o.code", "an_object_with_a_long_name.o.code"):
        assert (tmp_path / "new" / name).read_bytes() == (tmp_path / "old" / name).read_bytes() != b""
    (tmp_path / "main.c").write_text("int host(void);\nint main(void) { return host() == 7 ? 0 : 1; }\n")
    run("gcc", tmp_path / "main.c", tmp_path / "thin.a", "-o", tmp_path / "main")
    run(tmp_path / "main")


def test_librocsparse_of_debian(tmp_path):
    """1.3 GB with 777 code objects in 111 bundles, of which one target stays."""
    fat_library = debian_rocm.library("librocsparse.so.0.1")
    fat = tmp_path / "dist" / NAME
    fat.parent.mkdir()
    digest = base64.urlsafe_b64encode(hashlib.sha256(fat_library.read_bytes()).digest()).decode().rstrip("=")
    with zipfile.ZipFile(fat, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.write(fat_library, "demo/librocsparse.so.0.1")
        archive.writestr(f"{INFO}/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
        archive.writestr(f"{INFO}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n")
        archive.writestr(f"{INFO}/RECORD", f"demo/librocsparse.so.0.1,sha256={digest},\n{INFO}/METADATA,,\n{INFO}/WHEEL,,\n{INFO}/RECORD,,\n")
    done = good("wheel", "thin", fat, "--targets", "gfx1030", "--profile", "ci", "-d", tmp_path / "thin", "--json").json
    fat.unlink()
    assert {row["target"]: row["objects"] - row["removed_objects"] for row in done["targets"] if row["asked"]} == {"gfx1030": 111}
    assert sum(row["removed_objects"] for row in done["targets"]) == 666
    with zipfile.ZipFile(tmp_path / "thin" / NAME) as archive:
        library = archive.extract("demo/librocsparse.so.0.1", tmp_path / "out")
    assert Path(library).stat().st_size == fat_library.stat().st_size and done["size"] < fat_library.stat().st_size // 15
    assert good("gpu", "list", "--json", library).json["targets"][0]["count"] == 111
    directories = sorted({str(path.parent) for path in debian_rocm.artifacts().rglob("lib*.so.*")})
    script = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).rocsparse_create_handle"
    subprocess.run([sys.executable, "-c", script, library], check=True, env={**os.environ, "LD_LIBRARY_PATH": ":".join(directories)})


def test_sdk_build_thins_while_packing(tmp_path):
    artifacts = debian_rocm.artifacts()
    build = ["sdk", "build", "--artifact-dir", artifacts, "--version", "7.2.0", "--profile", "ci"]
    done = good(*build, "--dest-dir", tmp_path / "thin", "--thin", "--json").json
    assert [f["code"] for f in done["findings"] if f["code"] in ("S058", "G114", "G115")] == ["S058"]
    made = next((tmp_path / "thin/dist").glob("rocm_sdk_libraries*.whl"))
    listing = good("gpu", "list", "--json", made).json
    assert {row["target"] for row in listing["code_objects"]} == {"gfx1030"}
    good("wheel", "verify", tmp_path / "thin")


@long
def test_sdk_build_thins_as_the_command_does(tmp_path):
    artifacts = debian_rocm.artifacts()
    build = ["sdk", "build", "--artifact-dir", artifacts, "--version", "7.2.0", "--profile", "ci"]
    good(*build, "--dest-dir", tmp_path / "thin", "--thin")
    made = next((tmp_path / "thin/dist").glob("rocm_sdk_libraries*.whl"))
    # The same files as those of the fat wheel, thinned afterwards.
    good(*build, "--dest-dir", tmp_path / "fat")
    good("wheel", "thin", tmp_path / "fat/dist" / made.name, "--amdgpu-family", "gfx103X-dgpu", "--profile", "ci", "-d", tmp_path / "later")
    with zipfile.ZipFile(made) as one, zipfile.ZipFile(tmp_path / "later" / made.name) as other:
        digests = [{info.filename: (info.file_size, info.CRC) for info in archive.infolist()} for archive in (one, other)]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("group, said", [((), "none was named"), (("--artifact-group", "gfx94X-dcgp"), "gfx94X-dcgp names none")])
def test_a_publish_says_when_no_family_judged_the_code(library, tmp_path, group, said):
    wheel(tmp_path / "dist" / NAME, {"demo/__init__.py": b"", "demo/lib/libx.so": library.read_bytes()})
    words = ("publish", tmp_path / "dist", "--store", f"file:{tmp_path}/store", "--run-id", "1", "--platform", "linux", "--allow-missing", "*", "--profile", "release", "--dry-run")
    done = good(*words, *group)
    assert "warning[P122]" in done.err and said in done.err
    assert "P122" not in refused("P091", 1, *words, "--artifact-group", "gfx94X-dcgpu").err
