"""Runs a command under a filter that answers some system calls with an error, as old kernels and containers do.

    python seccomp.py ERRNO COMMAND…"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

# x86-64: what Linux got late, or what filters of containers do not know.
CALLS = {"memfd_create": 319, "copy_file_range": 326, "statx": 332, "openat2": 437}
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
RETURN_ERRNO, RETURN_ALLOW = 0x00050000, 0x7FFF0000


def program(error: int) -> bytes:
    """BPF: load the number of the call; for each of ours return the error; allow the rest."""
    instructions = [(0x20, 0, 0, 0)]
    for number in CALLS.values():
        instructions += [(0x15, 0, 1, number), (0x06, 0, 0, RETURN_ERRNO | error)]
    instructions.append((0x06, 0, 0, RETURN_ALLOW))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]


def main() -> None:
    code = program(int(sys.argv[1]))
    buffer = ctypes.create_string_buffer(code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(Filter(len(code) // 8, ctypes.addressof(buffer)))):
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
