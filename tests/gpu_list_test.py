"""`quarry gpu list` on device code that clang makes, and on Debian's ROCm libraries: targets, bytes, verdicts."""

from __future__ import annotations

import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import debian_rocm  # noqa: E402
from support.native_wheels import wheel as native_wheel  # noqa: E402
from support.quarry import good, quarry, refused  # noqa: E402
from support.terminal import on_a_terminal  # noqa: E402
from support.usual import long  # noqa: E402

KERNEL = "__attribute__((amdgpu_kernel)) void kernel(int *p) { *p = 1; }\n"
BUNDLER = "clang-offload-bundler-19"


def run(*words: str | Path) -> str:
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def device(tmp_path_factory):
    """target id -> a code object that clang compiled for it."""
    place = tmp_path_factory.mktemp("device")
    source = place / "kernel.c"
    source.write_text(KERNEL)
    made: dict[str, Path] = {}

    def compiled(target: str) -> Path:
        if target not in made:
            version = 6 if target.endswith("-generic") else 5
            made[target] = place / f"{len(made)}.o"
            run("clang-19", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", f"-mcode-object-version={version}", "-nogpulib", "-O1", "-c", source, "-o", made[target])
        return made[target]

    return compiled


@pytest.fixture
def bundle(device, tmp_path):
    """Bundles code objects as clang does; `labels` may say other targets than the code is for."""
    count = 0

    def made(*targets: str, labels: tuple[str, ...] = (), compress: bool = False) -> Path:
        nonlocal count
        count += 1
        host, out = tmp_path / "host", tmp_path / f"{count}.hipfb"
        host.write_bytes(b"")
        names = ",".join(["host-x86_64-unknown-linux", *(f"hipv4-amdgcn-amd-amdhsa--{t}" for t in labels or targets)])
        inputs = [f"-input={path}" for path in [host, *map(device, targets)]]
        run(BUNDLER, "-type=o", "-bundle-align=4096", *(["-compress"] if compress else []), f"-targets={names}", *inputs, f"-output={out}")
        return out

    return made


def library(out: Path, *bundles: Path) -> Path:
    """A shared library with the bundles in .hip_fatbin, each at a multiple of 4096, as a linker puts them."""
    lines = ['.section .hip_fatbin,"a",@progbits\n']
    for one in bundles:
        lines.append(f'.p2align 12\n.incbin "{one}"\n')
    lines.append('.section .hipFatBinSegment,"aw",@progbits\n.long 0x48495046, 1\n.quad 0, 0\n.section .note.GNU-stack,"",@progbits\n')
    source = out.with_suffix(".s")
    source.write_text("".join(lines))
    run("gcc", "-shared", "-nostdlib", source, "-o", out)
    source.unlink()
    return out


def objects(document: dict) -> dict[str, tuple[int, int]]:
    return {row["target"]: (row["count"], row["bytes"]) for row in document["code_objects"]}


def codes(document: dict) -> list[str]:
    return [finding["code"] for finding in document["findings"]]


@pytest.mark.parametrize("compress", [False, True])
def test_agrees_with_the_bundler(bundle, device, compress):
    targets = ["gfx942", "gfx1030", "gfx1201", "gfx11-generic", "gfx90a:sramecc+:xnack+", "gfx90a:sramecc+:xnack-"]
    made = bundle(*targets, compress=compress)
    listed = {line.split("--", 1)[1] for line in run(BUNDLER, "--list", "-type=o", f"-input={made}").splitlines() if line.startswith("hip")}
    document = good("gpu", "list", "--json", made).json
    assert objects(document) == {target: (1, device(target).stat().st_size) for target in targets}
    assert listed == set(objects(document))
    assert document["findings"] == []
    assert {row["container"] for row in document["code_objects"]} == {"compressed bundle" if compress else "bundle"}


def test_library_of_several_bundles(bundle, device, tmp_path):
    made = library(tmp_path / "libx.so", bundle("gfx942", "gfx1201"), bundle("gfx942", compress=True), bundle("gfx1201", "gfx942", compress=True))
    document = good("gpu", "list", "--json", made).json
    size = device("gfx942").stat().st_size
    assert objects(document)["gfx942"] == (3, 3 * size)
    assert objects(document)["gfx1201"][0] == 2
    text = good("gpu", "list", made)
    assert "gfx942" in text.out and "gfx1201" in text.out and text.err == ""


def test_wheel_and_directory_say_the_same(bundle, tmp_path):
    place = tmp_path / "tree"
    place.mkdir()
    library(place / "libx.so", bundle("gfx942"), bundle("gfx942", compress=True))
    (place / "k.hsaco").write_bytes(bundle("gfx942", compress=True).read_bytes())
    seen = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        wheel = tmp_path / f"x{method}.whl"
        with zipfile.ZipFile(wheel, "w", method) as archive:
            for path in sorted(place.iterdir()):
                archive.write(path, f"p/{path.name}")
        seen.append([(Path(r["file"]).name, r["target"], r["count"], r["bytes"]) for r in good("gpu", "list", "--json", wheel).json["code_objects"]])
    seen.append([(Path(r["file"]).name, r["target"], r["count"], r["bytes"]) for r in good("gpu", "list", "--json", place).json["code_objects"]])
    assert seen[0] == seen[1] == seen[2] and len(seen[0]) == 2


def with_section(out: Path, name: str, data: bytes) -> Path:
    """A shared library with the bytes in a section of this name."""
    (out.parent / "data").write_bytes(data)
    source = f'.section {name},"a",@progbits\n.p2align 3\n.incbin "{out.parent}/data"\n.section .note.GNU-stack,"",@progbits\n'
    subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "assembler", "-", "-o", out], input=source.encode(), check=True)
    return out


def fatbin(*pieces: tuple[int, int, int, int]) -> bytes:
    """A CUDA fatbin. Each piece: kind (1 PTX, 2 machine code), processor, bytes as stored, and bytes decompressed or 0."""
    body = b""
    for kind, processor, stored, unpacked in pieces:
        body += struct.pack("<HHIQIIIIQQQQ", kind, 0x101, 64, stored, 0, 0, 0, processor, 0, 0x2011 if unpacked else 0x11, 0, unpacked) + bytes(stored)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def test_offload_binaries_of_clang(device, tmp_path):
    """Listed as `clang-offload-packager` packs them; AMD's code counts in verdicts."""
    (tmp_path / "cubin").write_bytes(b"x" * 100)
    images = [f"--image=file={device('gfx942')},triple=amdgcn-amd-amdhsa,arch=gfx942,kind=openmp", f"--image=file={tmp_path}/cubin,triple=nvptx64-nvidia-cuda,arch=sm_80,kind=openmp"]
    run("clang-offload-packager-19", "-o", tmp_path / "packed", *images)
    made = with_section(tmp_path / "libx.so", ".llvm.offloading", (tmp_path / "packed").read_bytes())
    document = good("gpu", "list", "--json", made).json
    assert objects(document) == {"gfx942": (1, device("gfx942").stat().st_size), "sm_80": (1, 100)} and document["findings"] == []
    assert {row["container"] for row in document["code_objects"]} == {"offload binary"}
    asked = quarry("gpu", "list", "--json", made, "--amdgpu-family", "gfx120X-all")
    assert [(v["verdict"], v["target"]) for v in asked.json["verdicts"]] == [("missing", "gfx1200"), ("missing", "gfx1201"), ("extra", "gfx942")]


def test_cuda_code_is_listed_and_not_judged(bundle, tmp_path):
    one = with_section(tmp_path / "liba.so", ".nv_fatbin", fatbin((2, 90, 128, 0), (1, 90, 64, 500)) + fatbin((2, 75, 96, 0)))
    document = good("gpu", "list", "--json", one).json
    assert objects(document) == {"sm_90": (1, 128), "compute_90": (1, 500), "sm_75": (1, 96)}
    assert {row["target"]: row["container"] for row in document["code_objects"]} == {"sm_90": "fatbin", "compute_90": "compressed fatbin", "sm_75": "fatbin"}
    two = with_section(tmp_path / "libb.so", ".nv_fatbin", fatbin((2, 120, 200, 1000)))
    amd = library(tmp_path / "libc.so", bundle("gfx1200", "gfx1201"))
    done = good("gpu", "list", "--json", one, two, amd, "--amdgpu-family", "gfx120X-all").json
    assert done["verdicts"] == [] and done["findings"] == [] and objects(done)["sm_120"] == (1, 1000)
    odd = with_section(tmp_path / "libd.so", ".nv_fatbin", b"another form of code, which is not known")
    assert {one["severity"] for one in good("gpu", "list", "--json", odd).json["findings"]} == {"note"}
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        wheel = tmp_path / f"x{method}.whl"
        with zipfile.ZipFile(wheel, "w", method) as archive:
            archive.write(one, "p/liba.so")
        assert objects(good("gpu", "list", "--json", wheel).json) == objects(document)


def test_a_label_that_lies(bundle, tmp_path):
    for compress in (False, True):
        made = bundle("gfx1030", labels=("gfx942",), compress=compress)
        done = quarry("gpu", "list", "--json", made)
        assert done.code == 1 and codes(done.json) == ["G107"]
        assert done.json["verdicts"][0]["verdict"] == "label lie"
    tensile = tmp_path / "rocblas/library/TensileLibrary_gfx90a.co"
    tensile.parent.mkdir(parents=True)
    tensile.write_bytes(bundle("gfx942").read_bytes())
    done = refused("G107", 1, "gpu", "list", tmp_path / "rocblas")
    assert "its path says gfx90a" in done.err


def test_a_mix_of_features(bundle):
    done = quarry("gpu", "list", "--json", bundle("gfx90a:xnack+", "gfx90a:xnack-"), bundle("gfx90a"))
    assert done.code == 0 and codes(done.json) == ["G106"] and done.json["verdicts"][0]["verdict"] == "feature mix"


def test_verdicts_against_a_family(bundle, tmp_path):
    one, two = library(tmp_path / "liba.so", bundle("gfx1200", "gfx1201", "gfx942")), library(tmp_path / "libb.so", bundle("gfx1201"))
    done = quarry("gpu", "list", "--json", one, two, "--amdgpu-family", "gfx120X-all")
    verdicts = {(v["verdict"], v["target"], Path(v["file"] or "").name) for v in done.json["verdicts"]}
    assert done.code == 0 and verdicts == {("extra", "gfx942", "liba.so"), ("uneven", "gfx1200", "libb.so")}
    assert done.json["asked"] == ["gfx1200", "gfx1201"] and codes(done.json) == ["G104", "G105"]
    missing = quarry("gpu", "list", "--json", two, "--amdgpu-family", "gfx120X-all")
    assert missing.code == 1 and [(v["verdict"], v["target"]) for v in missing.json["verdicts"]] == [("missing", "gfx1200")]


def test_generic_code_serves_its_family(bundle, tmp_path):
    made = bundle("gfx11-generic")
    assert good("gpu", "list", "--json", made, "--amdgpu-family", "gfx110X-all;gfx115X-all").json["verdicts"] == []


def test_bad_requests(tmp_path):
    refused("F003", 2, "gpu", "list", tmp_path, "--amdgpu-family", "gfx999X")
    refused("F003", 2, "gpu", "list", tmp_path, "--amdgpu-family", ",")
    refused("D001", 3, "gpu", "list", tmp_path / "none.so")
    (tmp_path / "x.whl").write_bytes(b"not a zip archive")
    refused("G110", 6, "gpu", "list", tmp_path / "x.whl")
    (tmp_path / "x.whl").unlink()
    assert "no device code in 0 files" in good("gpu", "list", tmp_path).err


@pytest.mark.parametrize("ending", ["svg", "html"])
def test_treemap(bundle, tmp_path, ending):
    picture = tmp_path / f"gpu.{ending}"
    good("gpu", "list", bundle("gfx942", "gfx1201"), "--amdgpu-family", "gfx94X-dcgpu", "--treemap", picture)
    text = picture.read_text()
    ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6])
    assert "gfx1201" in text and "not asked for" in text and "<script" not in text


def test_treemap_of_another_kind(tmp_path):
    refused("G112", 2, "gpu", "list", tmp_path, "--treemap", tmp_path / "gpu.png")
    assert not (tmp_path / "gpu.png").exists()


@pytest.mark.parametrize("name, bundles", [("librocsparse.so.0.1", 111), pytest.param("librocrand.so.1.1", None, marks=long)])
def test_libraries_of_debian(name, bundles, tmp_path):
    found = debian_rocm.library(name)
    document = good("gpu", "list", "--json", found).json
    counts = {target: count for target, (count, _) in objects(document).items()}
    assert set(counts) == {"gfx803", "gfx900:xnack-", "gfx906:xnack-", "gfx908:xnack-", "gfx90a:xnack+", "gfx90a:xnack-", "gfx1030"}
    assert len(set(counts.values())) == 1 and (bundles is None or counts["gfx803"] == bundles)
    assert document["findings"] == []
    extra = quarry("gpu", "list", "--json", found, "--amdgpu-family", "gfx1030")
    assert extra.code == 0 and codes(extra.json) == ["G104"] and len(extra.json["verdicts"]) == 6


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_tables_of_a_wheel_with_many_targets_fit_the_terminal(bundle, tmp_path, columns):
    targets = ["gfx906", "gfx908", "gfx90a", "gfx942", "gfx1010", "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201"]
    name = "many/a_library_with_a_long_name/libmany.so"
    made = native_wheel(tmp_path, "many", {name: library(tmp_path / "l.so", bundle(*targets)).read_bytes(), "many/k.hsaco": bundle("gfx942").read_bytes()})
    code, screen = on_a_terminal("wheel", "inspect", "--color", "never", made, columns=columns)
    tables = screen.replace("\r", "").split("\n\n")[1:]
    assert code == 0 and all(len(line) <= columns for table in tables for line in table.splitlines()), screen
    headers = [line.split()[2:] for line in screen.splitlines() if line.startswith("device code")]
    assert [target for header in headers for target in header] == targets and len(headers) > 1
    assert len([line for line in good("wheel", "inspect", made).out.splitlines() if line.startswith("device code")]) == 1
    assert screen.count("k.hsaco") == 1  # where it has code
