"""The command `rocm-sdk`. Exit code 0: done; 1: it failed or a test did; 2: wrong usage."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Sequence

from . import _dist_info, _families, _packages
from ._errors import PackageMissing, RocmSdkError


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show must not stop the program
    try:
        return int(arguments.run(arguments))
    except (RocmSdkError, _families.FamilyError) as error:
        print(f"error: {error.args[0]}", file=sys.stderr)
        hint = getattr(error, "hint", "")
        if hint:
            print(f"hint: {hint}", file=sys.stderr)
        return 1
    except OSError as error:  # a report that cannot be written, a package that cannot be read
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rocm-sdk", description="The ROCm SDK installed in this Python environment.")
    parser.add_argument("--version", action="version", version=_dist_info.__version__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    path = commands.add_parser("path", help="print where the development files are; unpacks them at first use")
    which = path.add_mutually_exclusive_group(required=True)
    which.add_argument("--root", dest="below", action="store_const", const="", help="the top directory")
    which.add_argument("--bin", dest="below", action="store_const", const="bin", help="the programs")
    which.add_argument("--cmake", dest="below", action="store_const", const="lib/cmake", help="for CMAKE_PREFIX_PATH")
    path.set_defaults(run=_path)

    init = commands.add_parser("init", help="unpack the development files now")
    init.add_argument("--quiet", action="store_true", help="print nothing but errors")
    init.set_defaults(run=_init)

    commands.add_parser("targets", help="print the GPU targets of this release").set_defaults(run=_targets)
    commands.add_parser("version", help="print the version").set_defaults(run=_version)

    test = commands.add_parser("test", help="test the installed packages")
    test.add_argument("--json", metavar="FILE", help="write the results as JSON")
    test.add_argument("--junit", metavar="FILE", help="write the results as JUnit XML")
    test.add_argument("--only", metavar="PATTERN", action="append", help="tests with this name or group, or matching this glob")
    test.add_argument("-j", "--jobs", type=int, default=0, metavar="N", help="tests at a time (default: as many as processors)")
    test.add_argument("-q", "--quiet", action="store_true", help="show failures and skips only")
    test.set_defaults(run=_test)
    return parser


def _path(arguments: argparse.Namespace) -> int:
    from . import _devel

    root = _devel.get_devel_root()
    print(root / arguments.below if arguments.below else root)
    return 0


def _init(arguments: argparse.Namespace) -> int:
    from . import _devel

    expansion = _devel.ensure_expanded()
    if not arguments.quiet:
        print(f"development files: {expansion.root}")
    for link in expansion.left_out:
        print(f"warning: {link} leads nowhere and was left out", file=sys.stderr)
    return 0


def _targets(arguments: argparse.Namespace) -> int:
    print(";".join(release_targets()))
    return 0


def release_targets() -> list[str]:
    """What the core package says it was built for; where it does not say, the targets of the families, or their names."""
    try:
        facts = _packages.locate("core").platform / "share" / "therock" / "dist_info.json"
        listed = json.loads(facts.read_text(encoding="utf-8"))["dist_amdgpu_targets"]
        return listed.split(";") if isinstance(listed, str) else [str(each) for each in listed]
    except (PackageMissing, OSError, ValueError, KeyError, TypeError):
        pass
    families = _dist_info.AVAILABLE_TARGET_FAMILIES
    known = [_families.family_targets(_dist_info, family) or [family] for family in families]
    return list(dict.fromkeys(target for targets in known for target in targets))


def _version(arguments: argparse.Namespace) -> int:
    print(_dist_info.__version__)
    return 0


def _test(arguments: argparse.Namespace) -> int:
    from .tests import run

    return run.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
