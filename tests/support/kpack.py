"""kpack archives as ROCm's packer writes them, and read as its loader reads them; MessagePack as far as their tables need it."""

from __future__ import annotations

import struct

import pyzstd

Code = dict[str, dict[str, bytes]]  # binary -> target -> code object


def pack(value: object) -> bytes:
    if isinstance(value, dict):
        return struct.pack(">BH", 0xDE, len(value)) + b"".join(pack(key) + pack(one) for key, one in value.items())
    if isinstance(value, list):
        return struct.pack(">BH", 0xDC, len(value)) + b"".join(map(pack, value))
    if isinstance(value, str):
        return struct.pack(">BB", 0xD9, len(value.encode())) + value.encode()
    assert isinstance(value, int)
    return bytes([value]) if value < 128 else struct.pack(">BQ", 0xCF, value)


def unpack(data: bytes) -> object:
    value, end = _value(data, 0)
    assert end == len(data), "bytes follow the table"
    return value


def _value(data: bytes, at: int) -> tuple[object, int]:
    tag, at = data[at], at + 1
    if tag < 0x80:
        return tag, at
    if tag < 0x90:
        return _pairs(data, at, tag & 15)
    if tag < 0xA0:
        return _elements(data, at, tag & 15)
    if tag < 0xC0:
        return data[at : at + (tag & 31)].decode(), at + (tag & 31)
    width = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD9: 1, 0xDA: 2, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}[tag]
    number, at = int.from_bytes(data[at : at + width], "big"), at + width
    if tag in (0xD9, 0xDA):
        return data[at : at + number].decode(), at + number
    if tag in (0xDC, 0xDD):
        return _elements(data, at, number)
    return _pairs(data, at, number) if tag in (0xDE, 0xDF) else (number, at)


def _elements(data: bytes, at: int, count: int) -> tuple[list, int]:
    out = []
    for _ in range(count):
        value, at = _value(data, at)
        out.append(value)
    return out, at


def _pairs(data: bytes, at: int, count: int) -> tuple[dict, int]:
    out = {}
    for _ in range(count):
        key, at = _value(data, at)
        out[key], at = _value(data, at)
    return out, at


def written(code: Code, compress: bool) -> bytes:
    area, blobs, toc = (struct.pack("<I", sum(map(len, code.values()))) if compress else b""), [], {}
    for binary, targets in code.items():
        for target, payload in targets.items():
            stored = pyzstd.compress(payload) if compress else payload
            area += struct.pack("<I", len(stored)) if compress else bytes(-len(area) % 64)
            toc.setdefault(binary, {})[target] = {"type": "hsaco", "ordinal": len(blobs), "original_size": len(payload)}
            blobs.append({"offset": 64 + len(area), "size": len(stored)})
            area += stored
    table = {
        "format_version": 1, "group_name": "blas_lib", "gfx_arch_family": "gfxall", "gfx_arches": sorted({t for row in code.values() for t in row}),
        "compression_scheme": "zstd-per-kernel" if compress else "none", "toc": toc,
    } | ({"zstd_offset": 64, "zstd_size": len(area)} if compress else {"blobs": blobs})  # fmt: skip
    return b"KPAK" + struct.pack("<IQ", 1, 64 + len(area)) + bytes(48) + area + pack(table)


def table(archive: bytes) -> dict:
    magic, version, at = struct.unpack("<4sIQ", archive[:16])
    assert magic == b"KPAK" and version == 1
    return unpack(archive[at:])


def read(archive: bytes) -> Code:
    said = table(archive)
    if said["compression_scheme"] == "none":
        blobs = [archive[blob["offset"] : blob["offset"] + blob["size"]] for blob in said["blobs"]]
    else:
        area = archive[said["zstd_offset"] : said["zstd_offset"] + said["zstd_size"]]
        blobs, at = [], 4
        for _ in range(int.from_bytes(area[:4], "little")):
            size = int.from_bytes(area[at : at + 4], "little")
            blobs.append(pyzstd.decompress(area[at + 4 : at + 4 + size]))
            at += 4 + size
        assert at == len(area)
    code = {binary: {target: blobs[kernel["ordinal"]] for target, kernel in row.items()} for binary, row in said["toc"].items()}
    assert all(len(code[binary][target]) == kernel["original_size"] for binary, row in said["toc"].items() for target, kernel in row.items())
    return code
