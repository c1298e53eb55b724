"""Which family of GPUs an installation is for.

The order is fixed: the environment variable ROCM_SDK_TARGET_FAMILY, then the GPUs that `offload-arch` finds, then the default of
the release. Used at run time and, loaded from its file, by the build backend: it must not import the rest of the package.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

FAMILY_VARIABLE = "ROCM_SDK_TARGET_FAMILY"
# offload-arch opens the driver; a wedged driver must not hang an installation.
DETECT_TIMEOUT_SECONDS = 10


class FamilyError(ValueError):
    """A family that this release does not have, or a choice that must not be guessed."""


def resolve(facts: Any, environ: Mapping[str, str], detect: Callable[[], list[str]], default: str | None = None) -> str:
    """The family for this machine. `facts` is `_dist_info`; `default` replaces the release's own default.

    Raises FamilyError for an unknown family in the environment and for a GPU that no family or more than one family covers.
    """
    wanted = environ.get(FAMILY_VARIABLE, "").strip()
    if wanted:
        return known_family(facts, wanted)
    targets = detect() if platform_families(facts) else []
    if targets:
        family = family_of_targets(facts, targets)
        if family:
            return family
    return default or default_family(facts)


def default_family(facts: Any) -> str:
    """The release's default, or where this platform lacks it the first family that this platform has. "" without families."""
    available = platform_families(facts)
    if facts.DEFAULT_TARGET_FAMILY in available or not available:
        return str(facts.DEFAULT_TARGET_FAMILY)
    return available[0]


def known_family(facts: Any, wanted: str) -> str:
    """`wanted` as the release spells it."""
    available = platform_families(facts)
    for family in available:
        if family.lower() == wanted.lower():
            return family
    raise FamilyError(
        f"{FAMILY_VARIABLE}={wanted}: this release has no such family for {sys.platform}; it has {_listed(available)}"
    )


def family_of_targets(facts: Any, targets: Iterable[str]) -> str | None:
    """The family that covers the first of `targets` that any family covers. None if it cannot be told whether one does."""
    targets = list(targets)
    available = platform_families(facts)
    for target in targets:
        for match in (_lists, _is_named, _matches_pattern):
            found = [family for family in available if match(facts, family, target)]
            found = [family for family in found if family.endswith("-all")] or found
            if len(found) > 1:
                raise FamilyError(f"the GPU {target} belongs to {_listed(found)}; set {FAMILY_VARIABLE} to the one to install")
            if found:
                return found[0]
    if any(family_targets(facts, family) is None and _stem(family) is None for family in available):
        return None
    raise FamilyError(
        f"no family of this release covers the GPU {_listed(targets)}; it has {_listed(available)}; "
        f"set {FAMILY_VARIABLE} to one of them to install for another machine"
    )


def platform_families(facts: Any) -> list[str]:
    """The families of this platform; all families where the release does not say."""
    own = facts.WINDOWS_TARGET_FAMILIES if sys.platform == "win32" else facts.LINUX_TARGET_FAMILIES
    return list(own or facts.AVAILABLE_TARGET_FAMILIES)


def family_targets(facts: Any, family: str) -> list[str] | None:
    """The targets of a family where the release lists them."""
    return getattr(facts, "FAMILY_TARGETS", {}).get(family)


def detect_targets() -> list[str]:
    """The targets of this machine's GPUs in the order that `offload-arch` prints them; none if it is absent or fails."""
    program = shutil.which("offload-arch")
    if not program:
        return []
    try:
        done = subprocess.run([program], capture_output=True, text=True, timeout=DETECT_TIMEOUT_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return []
    return parse_targets(done.stdout) if done.returncode == 0 else []


def parse_targets(text: str) -> list[str]:
    """Each `gfx…` once, without features such as `:xnack+`."""
    names = (line.strip().partition(":")[0] for line in text.splitlines())
    return list(dict.fromkeys(name for name in names if name.startswith("gfx") and name[3:].isalnum()))


def _lists(facts: Any, family: str, target: str) -> bool:
    return target in (family_targets(facts, family) or [])


def _is_named(facts: Any, family: str, target: str) -> bool:
    return family_targets(facts, family) is None and _stem(family) == target


def _matches_pattern(facts: Any, family: str, target: str) -> bool:
    """`gfx103X-dgpu` covers gfx1030 to gfx103f, as far as the name tells; only used where the targets are not listed."""
    stem = _stem(family)
    return family_targets(facts, family) is None and stem is not None and stem[-1] == "X" and target[:-1] == stem[:-1]


def _stem(family: str) -> str | None:
    """`gfx103X` of `gfx103X-dgpu`; None for a name that says nothing about targets."""
    stem = family.partition("-")[0]
    return stem if stem.startswith("gfx") and len(stem) > 4 else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
