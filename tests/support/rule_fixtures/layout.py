"""What a wheel puts beside other packages, what it should not hold, libraries that are none, the stable ABI: Q121 to Q127, Q253 to Q258."""

from __future__ import annotations

from ..defective_wheels import Draft
from . import Make, Pair
from .archives import MAIN, check as check_draft, files
from .machine import RELRO, check, made, one_library, table_pair

ABI3 = "cp38-abi3-manylinux_2_28_x86_64"
# Forms of secrets, put together so that this file does not hold one itself.
KEY = "-----BEGIN PRIVATE" + " KEY-----\n"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n"


def draft(**more: str) -> Make:
    return check_draft(files(**more))


def module(*calls: str, name: str = "x/m.abi3.so", tag: str = ABI3) -> Make:
    """An extension module that calls functions of Python."""
    source = "".join(f"void {call}(void);\n" for call in calls) + "void PyInit_m(void) { " + " ".join(f"{call}();" for call in calls) + " }\n"
    return check(lambda: {name: made("m.so", *RELRO, source=source)}, tag=tag)


def libraries(**sources: str) -> Make:
    """Libraries with one build ID."""
    return check(lambda: {f"x/{name}.so": made("l.so", *RELRO, "-Wl,--build-id=0x0123456789abcdef", source=source) for name, source in sources.items()})


def content(name: str, data: bytes) -> Make:
    return check(lambda: {"x/l.so": made("l.so", *RELRO), name: data})


def empty_wheel(*metadata: str) -> Make:
    return check_draft(Draft(files={}, metadata=list(metadata)))


PAIRS = {
    "Q015": table_pair("python-stable-abi.toml", '"3.2" = [', '"4.2" = ['),
    "Q121": Pair(module("PyList_New", "_PyList_Extend"), module("PyList_New")),
    "Q122": Pair(module("PyObject_CallNoArgs"), module("PyObject_CallNoArgs", tag="cp310-abi3-manylinux_2_28_x86_64")),
    "Q123": Pair(content("x/libl.so.1", b"l.so"), content("x/libl.so.1", b"/* GNU ld script */\nINPUT ( l.so )\n")),
    "Q124": Pair(one_library(*RELRO, "-Wl,-rpath,$ORIGIN/lib:$ORIGIN/lib/"), one_library(*RELRO, "-Wl,-rpath,$ORIGIN/lib:$ORIGIN/lib64")),
    "Q125": Pair(one_library(*RELRO, "-Wl,-rpath,$ORIGIN/$LIB"), one_library(*RELRO, "-Wl,-rpath,$ORIGIN/LIB")),
    "Q126": Pair(libraries(a="int a;\n", b="int b;\n"), libraries(a="int a;\n", b="int a;\n")),
    "Q127": Pair(one_library(*RELRO, "-Wl,--build-id=none"), one_library(*RELRO, "-Wl,--build-id")),
    "Q253": Pair(draft(**{"my-foo/__init__.py": MAIN}), draft(**{"my_foo/__init__.py": MAIN, "foo/data-files/x.py": MAIN})),
    "Q254": Pair(draft(**{"tests/test_foo.py": MAIN}), draft(**{"foo_tests/test_foo.py": MAIN, "foo/tests/__init__.py": MAIN})),
    "Q255": Pair(empty_wheel(), empty_wheel("Requires-Dist: bar")),
    "Q256": Pair(draft(**{"foo/__pycache__/x.pyc": "x"}), draft(**{"foo/pycache/x.pyc": "x"})),
    "Q257": Pair(draft(**{"foo/foo.pc": "prefix=/home/runner/work/foo\n"}), draft(**{"foo/foo.pc": "prefix=/home/user/foo\n"})),
    "Q258": Pair(draft(**{"foo/server.key": KEY + BODY}), draft(**{"foo/keys.py": f"BEGIN = {KEY.strip()!r}\n"})),
}
