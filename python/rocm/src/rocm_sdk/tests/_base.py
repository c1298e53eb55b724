"""base: the command, the API, the environment variable. Everything that must hold for any set of packages."""

from __future__ import annotations

import sys
from pathlib import Path

from .. import __main__, _device, _dist_info, _packages, _process
from .._registry import LIBRARIES
from . import _child
from ._case import Case, Failed, Skipped

INITIALIZE = "import sys, rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=sys.argv[1:])"
CHECK = "import sys, warnings, rocm_sdk; warnings.simplefilter('error'); rocm_sdk.initialize_process(check_version=sys.argv[1], "


def cases() -> list[Case]:
    return [
        Case("base.help", _help),
        Case("base.version", _version),
        Case("base.targets", _targets),
        Case("base.usage", _usage),
        Case("base.one-release", _one_release),
        Case("base.check-version.exact", lambda: _accepts(_dist_info.__version__)),
        Case("base.check-version.pattern", lambda: _accepts(_dist_info.__version__.split(".")[0] + ".*")),
        Case("base.check-version.warns", _mismatch_warns),
        Case("base.check-version.raises", _mismatch_raises),
        Case("base.unknown-library", _unknown_library),
        Case("base.preload.argument", lambda: _preload([], present_libraries("core"))),
        Case("base.preload.environment", lambda: _preload(present_libraries("core"), [])),
    ]


def present_libraries(logical: str) -> list[str]:
    """Short names of the libraries that the installed package `logical` holds."""
    package = _packages.locate(logical)
    rows = LIBRARIES.items()
    return [name for name, row in rows if row.package == logical and _process.candidates(row, package)]


def expect_success(done: _child.Finished) -> str:
    """Everything that it printed."""
    if done.code:
        raise Failed(done.describe())
    return done.output


def _expect_text(done: _child.Finished, text: str) -> None:
    if text not in expect_success(done):
        raise Failed(f"{text!r} was expected, this was printed: {done.output.strip()}")


def _help() -> None:
    for command in ("path", "init", "targets", "version", "test"):
        _expect_text(_child.command_line("--help"), command)


def _version() -> None:
    _expect_text(_child.command_line("version"), _dist_info.__version__)


def _targets() -> None:
    _expect_text(_child.command_line("targets"), ";".join(__main__.release_targets()))


def _usage() -> None:
    done = _child.command_line("no-such-command")
    if done.code != 2:
        raise Failed(f"an unknown command must be refused with exit code 2: {done.describe()}")


def _one_release() -> None:
    """The only test that says so of device code: the others leave what another release laid into the libraries alone."""
    version = _dist_info.__version__
    packages = [package for logical in _dist_info.ALL_PACKAGES for package in installed(logical)]
    stated = [(package.dist, package.dist_info.__version__) for package in packages]
    wrong = [f"{dist} is {other}, rocm is {version}" for dist, other in stated if other != version]
    host = next((package.dist for package in packages if package.logical == "core" and (package.dist, version) in stated), "rocm")
    for device in _device.others(Path(__file__).resolve().parents[2]):
        cause = f"device wheel {device.dist} is version {device.version}, {host} is {version}"
        wrong.append(f"{cause}: install matching versions, as with pip install {device.dist}=={version}")
    if wrong:
        raise Failed("\n".join(wrong))


def installed(logical: str) -> list[_packages.Package]:
    """The installed packages of one logical name: one per family where there are families."""
    families = _packages.installed_families(logical)
    if families:
        return [_packages.locate(logical, family) for family in families]
    if "{family}" in str(_packages.entry_of(logical)["dist"]):
        return []
    return [_packages.locate(logical)] if _packages.is_installed(logical) else []


def _accepts(pattern: str) -> None:
    expect_success(_child.python(CHECK + "fail_on_version_mismatch=True)", pattern))


def _mismatch_warns() -> None:
    done = _child.python(CHECK + ")", "0.0.0-none")
    if done.code == 0 or "RuntimeWarning" not in done.output:
        raise Failed(f"a version mismatch must be a warning: {done.describe()}")


def _mismatch_raises() -> None:
    done = _child.python(CHECK + "fail_on_version_mismatch=True)", "0.0.0-none")
    if done.code == 0 or "RocmSdkError" not in done.output:
        raise Failed(f"a version mismatch must be an error when asked for: {done.describe()}")


def _unknown_library() -> None:
    done = _child.python(INITIALIZE, "no-such-library")
    if done.code == 0 or "ModuleNotFoundError" not in done.output:
        raise Failed(f"an unknown library must be a ModuleNotFoundError: {done.describe()}")


def _preload(by_environment: list[str], by_argument: list[str]) -> None:
    if not by_environment and not by_argument:
        raise Skipped(f"core holds no library with a short name on {sys.platform}")
    variable = {_process.PRELOAD_VARIABLE: ";".join(by_environment)}
    expect_success(_child.python(INITIALIZE, *by_argument, environ=variable))
