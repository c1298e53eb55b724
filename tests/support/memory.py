"""A directory in memory, for tests that kill: `kill -9` loses nothing that the kernel has, so waiting for the disk at each fsync shows nothing
more, and it takes most of the time of such a test."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SHARED = Path("/dev/shm")
ENOUGH = 1 << 30


@contextmanager
def in_memory(otherwise: Path) -> Iterator[Path]:
    """Empty, and removed afterwards; `otherwise` where the machine has too little shared memory, as in some containers."""
    if not SHARED.is_dir() or shutil.disk_usage(SHARED).free < ENOUGH:
        yield otherwise
        return
    with tempfile.TemporaryDirectory(prefix="quarry-kill-", dir=SHARED) as place:
        yield Path(place)
