"""One process at a time. The lock goes with the process, however it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Holds the lock on an existing file, waiting for it as long as needed. The file's bytes are not touched.

    Raises OSError if the file cannot be opened for writing or its file system has no locks.
    """
    descriptor = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    try:
        _acquire(descriptor)
        yield
    finally:
        os.close(descriptor)  # releases it


if sys.platform == "win32":
    import errno
    import msvcrt

    # Locks are mandatory here: one byte far past the end keeps the file readable for everyone.
    _LOCKED_BYTE = 1 << 30

    def _acquire(descriptor: int) -> None:
        while True:
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                return
            except OSError as error:  # it gives up after 10 seconds
                if error.errno not in (errno.EDEADLK, errno.EACCES):
                    raise

else:
    import fcntl

    def _acquire(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
