"""The program on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import termios
from pathlib import Path

from support.quarry import PROGRAM


def on_a_terminal(*arguments: str | Path, columns: int = 80) -> tuple[int, str]:
    """(exit code, what the program writes on a terminal of that width)"""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        os.environ.update(TERM="xterm")
        os.environ.pop("NO_COLOR", None)
        os.execv(PROGRAM, [str(PROGRAM), *map(str, arguments)])
    screen = b""
    while True:
        ready, _, _ = select.select([terminal], [], [], 120)
        assert ready, "nothing was printed for two minutes"
        try:
            block = os.read(terminal, 65536)
        except OSError:
            break
        if not block:
            break
        screen += block
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), screen.decode()
