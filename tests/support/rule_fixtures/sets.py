"""Packages together: Q0 (comparisons, rule files) and Q4."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

from .. import base_index, distributions
from ..native_wheels import wheel as native_wheel
from ..quarry import clean_environment, good
from . import Make, Pair, Words, device, run
from .machine import table_pair

Add = Callable[[Path], object]


def wheel(name: str, version: str = "1.0", *requires: str, **more) -> Add:
    return lambda place: distributions.wheel(place, name, version, requires=requires, **more)


def sdist(*fields: str, requires: tuple[str, ...] = ()) -> Add:
    return lambda place: distributions.sdist(place, "source", "1.0", fields=fields, requires=requires)


def tagged(name: str, tag: str) -> Add:
    return lambda place: distributions.wheel_of(place, name, "1.0", files={f"{name}.py": ""}, tag=tag)


def installing(name: str, path: str, text: str, tag: str = "py3-none-any") -> Add:
    return lambda place: distributions.wheel_of(place, name, "1.0", files={path: text}, tag=tag)


def directory(place: Path, *packages: Add) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    for add in packages:
        add(place)
    return place


def check(*packages: Add, words: tuple[str, ...] = ()) -> Make:
    return lambda place: run("set", "check", directory(place / "dist", *packages), *words)


def of_two(first: Add, second: Add) -> Make:
    return lambda place: run("set", "check", directory(place / "a", first), directory(place / "b", second))


def against(old: Add, new: Add) -> Make:
    return lambda place: run("set", "check", directory(place / "new", new), "--against", directory(place / "old", old))


def diff(old: Add, new: Add, allow: str = "") -> Make:
    def made(place: Path) -> Words:
        words = ["set", "diff", directory(place / "old", old), directory(place / "new", new)]
        if allow:
            (place / "allow.tsv").write_text(allow)
            words += ["--allow", place / "allow.tsv"]
        return run(*words)

    return made


def broken_sdist(place: Path) -> None:
    with tarfile.open(place / "source-1.0.tar.gz", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("elsewhere"), io.BytesIO(b""))


def with_file(flag: str, name: str, text: str, *packages: Add, words: tuple[str, ...] = ()) -> Make:
    """`set check` with `flag` and a file that says `text`."""

    def made(place: Path) -> Words:
        (place / name).write_text(text)
        return run("set", "check", directory(place / "dist", *(packages or (wheel("demo"),))), flag, place / name, *words)

    return made


def suppressing(code: str, until: str, reason: str = "known") -> Make:
    rows = f'schema = "quarry.suppressions/1"\n[[suppress]]\ncode = "{code}"\nreason = "{reason}"\nowner = "us"\nuntil = "{until}"\n'
    return with_file("--suppressions", "accepted.toml", rows, wheel("demo", "1.0", "nowhere"))


def claiming(text: str, *packages: Add) -> Make:
    return with_file("--claims", "claims.toml", f'schema = "quarry.claims/1"\n{text}\n', *packages)


def claimed_target(target: str) -> Make:
    def made(place: Path) -> Words:
        (place / "dist").mkdir()
        (place / "claims.toml").write_text(f'schema = "quarry.claims/1"\ntargets = ["{target}"]\n')
        native_wheel(place / "dist", "x", {"x/k.hsaco": device.code("gfx942")}, device.LINUX)
        return run("set", "check", place / "dist", "--claims", place / "claims.toml")

    return made


def of_a_store(*words: str) -> Make:
    """`set check` of a set in a store that has one package; `words` in place of `--store`."""

    def made(place: Path) -> Words:
        good("publish", directory(place / "dist", wheel("demo")), "--store", f"file:{place}/store", "--run-id", "1", "--platform", "linux")
        digest = next((place / "store/sets").glob("*.json")).stem
        return run("set", "check", f"set:{digest}", *(words or ("--store", f"file:{place}/store")))

    return made


def baseline(text: str) -> Make:
    return with_file("--baseline", "baseline.json", text)


def with_base_index(damage: bool) -> Make:
    """`publish` into a store with a base index; METADATA of a dependency may be damaged."""

    def made(place: Path) -> Words:
        store = f"file:{place}/store"
        (place / "upstream").mkdir()
        base_index.sync(base_index.upstream(place / "upstream"), store, clean_environment(NO_PROXY="127.0.0.1"))
        if damage:
            next((place / "store").rglob("demo_app-*.metadata")).write_text("Name: other\n")
        return run("publish", directory(place / "dist", wheel("user", "1.0", "demo-app")), "--store", store, "--run-id", "1", "--platform", "linux")

    return made


TORCH, VISION = "torch", "torchvision"
PAIRS = {
    "Q001": Pair(diff(wheel("demo"), wheel("demo"), "no tabs\n"), diff(wheel("demo"), wheel("demo"), "# a comment\n")),
    "Q003": Pair(diff(wheel("demo"), wheel("demo", requires_python=">=3.9"), "demo\tmetadata:Requires-*\tknown\ndemo\tmetadata:Obsoletes\tknown\n"), diff(wheel("demo"), wheel("demo", requires_python=">=3.9"), "demo\t**\tknown\n")),
    "Q004": Pair(diff(lambda place: (place / "README").write_text(""), wheel("demo")), diff(wheel("demo"), wheel("demo"))),
    "Q005": Pair(diff(broken_sdist, sdist()), diff(sdist(), sdist())),
    "Q006": Pair(of_a_store("--json"), of_a_store()),
    "Q011": Pair(suppressing("Q498", "2999-01-01"), suppressing("Q401", "2999-01-01")),
    "Q012": Pair(baseline("[]"), baseline(json.dumps({"schema": "quarry.set-check/1", "findings": []}))),
    "Q013": Pair(check(wheel("demo"), words=("--profile", "max")), check(wheel("demo"), words=("--profile", "store"))),
    "Q251": Pair(suppressing("Q401", "2020-01-01"), suppressing("Q401", "2999-01-01")),
    "Q252": Pair(suppressing("Q402", "2999-01-01"), suppressing("Q401", "2999-01-01")),
    "Q401": Pair(check(wheel("demo", "1.0", "other")), check(wheel("demo", "1.0", "other"), wheel("other"))),
    "Q402": Pair(check(wheel("demo", "1.0", "other>=2"), wheel("other")), check(wheel("demo", "1.0", "other>=1"), wheel("other"))),
    "Q403": Pair(
        check(wheel("demo", "1.0", "other"), tagged("other", "py3-none-win_amd64"), words=("--platform", "linux")),
        check(wheel("demo", "1.0", "other"), tagged("other", "py3-none-win_amd64"), words=("--platform", "windows")),
    ),
    "Q404": Pair(check(wheel("demo", "1.0", "other @ https://example.com/other-1.0.tar.gz"), wheel("other")), check(wheel("demo", "1.0", "other"), wheel("other"))),
    "Q406": Pair(check(sdist("Dynamic: Requires-Dist")), check(sdist("Dynamic: Requires-Dist", "Requires-Dist: other"), wheel("other"))),
    "Q407": Pair(check(wheel("demo", "1.0", "other[more]"), wheel("other")), check(wheel("demo", "1.0", "other[more]"), wheel("other", extras=("more",)))),
    "Q408": Pair(check(tagged("demo", "py3-none-manylinux_2_28_aarch64")), check(tagged("demo", "py3-none-manylinux_2_28_x86_64"))),
    "Q409": Pair(check(wheel("demo", "1.0", "???")), check(wheel("demo", "1.0", "demo"))),
    "Q410": table_pair("coherence.toml", "why =", "reason =", lambda place: ("set", "check", directory(place / "dist", wheel("demo")))),
    "Q411": Pair(check(wheel(TORCH, "2.0+rocm7"), wheel(VISION, "0.9+rocm6")), check(wheel(TORCH, "2.0+rocm7"), wheel(VISION, "0.9+rocm7"))),
    "Q412": Pair(check(wheel("jax-rocm7-plugin")), check(wheel("jax-rocm7-plugin"), wheel("jax-rocm7-pjrt"))),
    "Q413": Pair(
        check(wheel("rocm", extras=("device-all", "device-gfx942")), wheel("rocm-sdk-device-gfx1100")),
        check(wheel("rocm", extras=("device-all", "device-gfx942")), wheel("rocm-sdk-device-gfx942")),
    ),
    "Q421": Pair(against(wheel("demo", "1.0+rocm7"), wheel("demo", "1.0+rocm10")), against(wheel("demo", "1.0+rocm.7"), wheel("demo", "1.0+rocm.10"))),
    "Q422": Pair(check(wheel("demo"), words=("--budget", "100B")), check(wheel("demo"), words=("--budget", "10kB"))),
    "Q423": Pair(against(wheel("demo", payload=bytes(range(256)) * 64), wheel("demo")), against(wheel("demo", payload=bytes(range(256)) * 64), wheel("demo", payload=bytes(range(256)) * 60))),
    "Q424": Pair(against(wheel("gone"), wheel("demo")), against(wheel("demo"), wheel("demo", "1.1"))),
    "Q431": Pair(claiming('files = ["torch-*"]'), claiming('files = ["demo-*"]')),
    "Q432": Pair(claiming('pythons = ["3.12"]', tagged("demo", "cp311-cp311-linux_x86_64")), claiming('pythons = ["3.12"]', tagged("demo", "cp312-cp312-linux_x86_64"))),
    "Q433": Pair(claimed_target("gfx1201"), claimed_target("gfx942")),
    "Q434": Pair(claiming('file = ["demo-*"]'), claiming('files = ["demo-*"]')),
    "Q436": Pair(with_base_index(damage=True), with_base_index(damage=False)),
    "Q437": Pair(of_two(wheel("demo"), wheel("demo", payload=b"x")), of_two(wheel("demo"), wheel("demo"))),
    "Q438": Pair(
        check(installing("one", "both/lib.so", "1"), installing("two", "both/lib.so", "2")),
        check(installing("one", "one/lib.so", "1"), installing("two", "two/lib.so", "2")),
    ),
}
