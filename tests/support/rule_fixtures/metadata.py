"""METADATA, entry points, paths, tags, wheels that compete: M0 and Q2."""

from __future__ import annotations

from pathlib import Path

from ..defective_wheels import Draft, digest
from . import Make, Pair, Words, run
from .archives import MAIN, check, files, licensed, scripts


def fields(*lines: str, version: str = "2.1", body: str = "") -> Make:
    return check(Draft(metadata_version=version, metadata=list(lines), body=body))


def two(first: Draft, second: Draft) -> Make:
    def made(place: Path) -> Words:
        first.save(place), second.save(place)
        return run("wheel", "check", place)

    return made


def of_size(content: int) -> Make:
    """A wheel with a stored file of so many bytes. Made when it is needed: 100 MiB would stay in each process that reads the table."""
    return lambda place: run("wheel", "check", Draft(files={"foo.py": MAIN, "foo.bin": content * "x"}).save(place))


def wheel_file(*lines: str) -> Make:
    return check(Draft(wheel=list(lines)))


FIRST, PURE, TAG = "Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any"
LINUX, MANYLINUX, ARM = "py3-none-linux_x86_64", "py3-none-manylinux_2_17_x86_64", "py3-none-linux_aarch64"
PAIRS = {
    "M005": Pair(fields("Requires-Python: >=3.x"), fields("Requires-Python: >=3.9")),
    "M006": Pair(fields("Name: foo"), fields("Keywords: foo")),
    "M007": Pair(wheel_file(FIRST, "Root-Is-Purelib: maybe", TAG), wheel_file(FIRST, "Root-Is-Purelib: true", TAG)),
    "M008": Pair(check(Draft(record_more='"foo\n')), check(Draft(record={"foo.py": f'"foo.py",{digest(MAIN.encode())},{len(MAIN)}'}))),
    "M010": Pair(fields("Requires-Dist: bar >= "), fields("Requires-Dist: bar >= 1")),
    "M011": Pair(fields("Provides-Extra: a b"), fields("Provides-Extra: a-b")),
    "Q201": Pair(fields(version="2.9"), fields(version="2.2")),
    "Q202": Pair(fields("License-Expression: MIT"), fields("License-Expression: MIT", version="2.4")),
    "Q203": Pair(fields("Colour: blue"), fields("Keywords: blue")),
    "Q204": Pair(check(licensed("License-File: LICENSE", files=("LICENSE", "NOTICE"))), check(licensed("License-File: LICENSE", "License-File: NOTICE", files=("LICENSE", "NOTICE")))),
    "Q205": Pair(check(licensed("License-File: LICEN*", files=("LICENSE",))), check(licensed("License-File: LICENSE", files=("LICENSE",)))),
    "Q206": Pair(fields("License-Expression: MIT and also Apache", version="2.4"), fields("License-Expression: MIT AND Apache-2.0", version="2.4")),
    "Q207": Pair(fields("License-Expression: MIT", "License: MIT", version="2.4"), fields("License-Expression: MIT", version="2.4")),
    "Q208": Pair(fields("Provides-Extra: y", "Requires-Dist: bar; extra == 'x'"), fields("Provides-Extra: x", "Requires-Dist: bar; extra == 'x'")),
    "Q209": Pair(fields("Provides-Extra: a_b", "Provides-Extra: a-b"), fields("Provides-Extra: a-b", "Provides-Extra: a-c")),
    "Q210": Pair(fields("Description-Content-Type: text/html"), fields("Description-Content-Type: text/markdown")),
    "Q211": Pair(fields("Requires-Dist: bar @ https://example.com/bar-1.0-py3-none-any.whl"), fields("Requires-Dist: bar == 1.0")),
    "Q212": Pair(check(Draft(version="1.0+local")), check(Draft(version="1.0.post1"))),
    "Q213": Pair(fields("Summary: " + 513 * "x"), fields("Summary: " + 512 * "x")),
    "Q259": Pair(fields("Import-Name: bar", version="2.5"), fields("Import-Name: foo", version="2.5")),
    "Q214": Pair(check(Draft(name="Foo.Bar")), check(Draft(name="foo_bar"))),
    "Q215": Pair(check(Draft(tag=LINUX)), check(Draft(tag=MANYLINUX))),
    "Q216": Pair(of_size(100 << 20), of_size((100 << 20) - 4096)),
    "Q221": Pair(check(scripts("foo = foo.bar:main\n")), check(scripts("foo = foo:main\n"))),
    "Q222": Pair(check(Draft(tag="py2.py3-none-any", wheel=[FIRST, PURE, "Tag: py2.py3-none-any"])), check(Draft(tag="py2.py3-none-any"))),
    "Q223": Pair(check(scripts("foo = foo:mian\n")), check(scripts("foo = foo:main\n"))),
    "Q231": Pair(check(files(**{f"a/{170 * 'x'}": "x"})), check(files(**{f"a/{169 * 'x'}": "x"}))),
    "Q241": Pair(two(Draft(), Draft(build="1")), two(Draft(), Draft(version="1.1", build="1"))),
    "Q242": Pair(two(Draft(tag=LINUX), Draft(tag=MANYLINUX)), two(Draft(tag=ARM), Draft(tag=MANYLINUX))),
}
