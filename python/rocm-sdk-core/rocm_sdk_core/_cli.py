"""The console scripts of this package: each hands over to its program in the platform directory.

Which scripts exist is data (`_dist_info.CONSOLE_SCRIPTS`). The entry point of the script NAME is the attribute
entry_point_attribute(NAME) of this module, made on demand.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from . import _dist_info

# What a shell says for a command that it cannot find.
EXIT_NOT_FOUND = 127


def entry_point_attribute(name: str) -> str:
    """The identifier for a script: letters, digits and `_` stay, a run of `+` becomes `_` and as many `p`, all else becomes `_`.

    `amdclang++` -> `amdclang_pp`, `hipify-perl` -> `hipify_perl`; a leading digit gets a `_` before it.
    """
    result = ""
    previous = ""
    for character in name:
        if character == "+":
            result += "p" if previous == "+" else "_p"
        else:
            result += character if character.isascii() and character.isalnum() else "_"
        previous = character
    return "_" + result if result[:1].isdigit() else result


def this_package(key: str) -> str:
    """A name of the package that this module stands in: "dist", "platform"."""
    name: str = _dist_info.ALL_PACKAGES[_dist_info.THIS_PACKAGE_ENTRY][key]
    return name.replace("{family}", _dist_info.THIS_TARGET_FAMILY or "")


def platform_directory() -> Path:
    name = this_package("platform").replace("-", "_") + _dist_info.PY_PACKAGE_SUFFIX_NONCE
    return Path(__file__).resolve().parent.parent / name


def run(script: str, relative: str, environment: dict[str, str] | None = None) -> NoReturn:
    """Replaces this process by the program (on Windows: runs it and takes its exit code).

    `environment` names places of this package that the program looks for: variable to path in the platform directory. What the
    user has set stays.
    """
    program = platform_directory() / relative
    for variable, place in (environment or {}).items():
        os.environ.setdefault(variable, str(platform_directory() / place))
    if sys.platform == "win32" and not program.suffix:
        program = program.with_name(program.name + ".exe")
    arguments = [str(program), *sys.argv[1:]]
    try:
        if sys.platform == "win32":
            sys.exit(_run_child(arguments))
        os.execv(program, arguments)
    except OSError as error:
        print(f"error: {script}: cannot run {program}: {error.strerror}", file=sys.stderr)
        package = this_package("dist").lower()
        print(f"hint: install {package} again: pip install --force-reinstall --no-deps {package}=={_dist_info.__version__}", file=sys.stderr)
        sys.exit(EXIT_NOT_FOUND)


def _run_child(arguments: list[str]) -> int:
    child = subprocess.Popen(arguments)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:  # the child has got it as well and decides what it means
            continue


def _entry_points() -> dict[str, dict[str, Any]]:
    return {entry_point_attribute(each["name"]): each for each in _dist_info.CONSOLE_SCRIPTS}


def __getattr__(attribute: str) -> Callable[[], NoReturn]:
    try:
        script = _entry_points()[attribute]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}") from None
    return lambda: run(script["name"], script["program"], script.get("environment"))


def __dir__() -> list[str]:
    return sorted([*globals(), *_entry_points()])
