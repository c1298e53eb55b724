"""House rules as a test over the tree (STYLE.md says why). A rule that the tree does not meet yet is ratcheted: the places that
break it are listed with their number, the number may only fall, and an entry that is no longer needed must go."""

from __future__ import annotations

import re
import subprocess
import textwrap
import tomllib
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SELF = Path(__file__).resolve()

COLUMNS = 120
FILE_LINES = 400
FUNCTION_LINES = 70
README_LINES = 35
USERS_LISTED = 20  # a room that more rooms use says how many

# Longer than a reader can keep in mind; each with the reason why it may stay.
LONG_FILES: dict[str, int] = {
    "src/names/fold.cpp": 627,  # a table made from Unicode data
}
LONG_FUNCTIONS: dict[str, int] = {}
# Classes that hold more than a reader can keep in mind; each should become functions over values.
CLASS_LINES = 150
MEMBERS = 7
LONG_CLASSES: dict[str, int] = {}
CLASSES_OF_MANY_MEMBERS: dict[str, int] = {}
# Functions with more parameters than a caller can tell apart.
PARAMETERS = 5
FUNCTIONS_OF_MANY_PARAMETERS: dict[str, int] = {}
# Headers with neighbouring parameters of one type, which a caller can swap unnoticed.
ALIKE_NEIGHBOURS: dict[str, int] = {}
# Pages whose lines may be longer than COLUMNS.
LONG_LINES = {
    "docs/exit-codes.md": "generated",
}

# Names that say nothing about what is inside.
EMPTY_NAMES = {"core", "common", "misc", "util", "utils", "helper", "helpers", "manager", "managers"}

# A page that people can open. A host that is not listed is a private one until it is added here.
PUBLIC_HOSTS = {
    "github.com", "api.github.com", "raw.githubusercontent.com", "pypi.org", "files.pythonhosted.org", "packaging.python.org",
    "peps.python.org", "docs.python.org", "www.python.org", "deb.debian.org", "packages.debian.org", "www.apache.org",
    "no-color.org", "rocm.docs.amd.com", "repo.radeon.com", "rocm.nightlies.amd.com", "rocm.prereleases.amd.com", "rocm.devreleases.amd.com",
    "dev.repo.amd.com", "nightly.repo.amd.com", "rc.repo.amd.com", "bkc.repo.amd.com",
    "refspecs.linuxfoundation.org", "www.rfc-editor.org", "datatracker.ietf.org", "docs.aws.amazon.com", "toml.io", "spdx.org",
    "www.w3.org", "json-schema.org", "keepachangelog.com", "llvm.org", "man7.org", "pubs.opengroup.org", "www.amd.com", "opensource.org",
    "gcc.gnu.org", "pkware.cachefly.net", "docs.github.com", "free.text", "in-toto.io", "json.schemastore.org",
}  # fmt: skip
RESERVED_HOST = re.compile(r"(^|\.)(example|test|invalid|localhost|local)(\.(com|org|net))?$|(^|\.)amazonaws\.com(\.cn)?$|^169\.254\.|^127\.|^\[?::1|^[a-z0-9]$")


@cache
def tracked() -> list[Path]:
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file() and not (ROOT / name).is_symlink()]


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def below(*tops: str, ends: tuple[str, ...] = ()) -> list[Path]:
    def fits(path: Path) -> bool:
        name = path.relative_to(ROOT).as_posix()
        return (not tops or name.startswith(tops)) and (not ends or name.endswith(ends))

    return [path for path in tracked() if fits(path)]


def cpp_files() -> list[Path]:
    return below("src/", "fuzz/", "bench/", ends=(".cpp", ".hpp"))


def is_test(path: Path) -> bool:
    return path.name.endswith(("_test.cpp", "_bench.cpp")) or path.parent.name == "testing"


def is_data(path: Path) -> bool:
    """Recorded facts and vectors of others: kept as they are."""
    return path.relative_to(ROOT).as_posix().startswith("tests/data/") or path.name == "LICENSE"


def place(path: Path, line: int = 0) -> str:
    return f"{path.relative_to(ROOT)}:{line}" if line else str(path.relative_to(ROOT))


def matches(paths: list[Path], pattern: str, flags: int = 0) -> list[str]:
    """Where the pattern stands in the code, comments of C++ left out."""
    compiled = re.compile(pattern, flags)
    found = []
    for path in paths:
        for number, line in enumerate(text_of(path).splitlines(), 1):
            code = line.split("//")[0] if path.suffix in (".cpp", ".hpp") and "://" not in line else line
            if compiled.search(code):
                found.append(f"{place(path, number)}: {line.strip()[:100]}")
    return found


@cache
def rooms() -> dict[str, tuple[int, list[str]]]:
    """name -> (floor, uses), in the order of src/CMakeLists.txt."""
    text = re.sub(r"#.*", "", text_of(ROOT / "src/CMakeLists.txt"))
    result = {}
    for body in re.findall(r"add_room\(([^)]*)\)", text):
        words = body.split()
        uses: list[str] = []
        if "USES" in words:
            rest = words[words.index("USES") + 1 :]
            uses = rest[: rest.index("LIBRARIES")] if "LIBRARIES" in rest else rest
        result[words[0]] = (int(words[words.index("FLOOR") + 1]), uses)
    return result


def none(found: list[str], rule: str) -> None:
    if found:
        pytest.fail(f"{rule}:\n  " + "\n  ".join(sorted(found)), pytrace=False)


# the house


def test_rooms_include_only_what_they_declare():
    found = []
    for path in below("src/", ends=(".cpp", ".hpp")):
        room = path.relative_to(ROOT / "src").parts[0]
        if room not in rooms():
            continue
        allowed = {room, *rooms()[room][1]}
        for number, line in enumerate(text_of(path).splitlines(), 1):
            include = re.match(r'#include "([a-z_0-9]+)/', line)
            if include and include[1] not in allowed:
                found.append(f"{place(path, number)} includes {include[1]}/")
    none(found, "src/CMakeLists.txt says which rooms a room uses")


def test_rooms_declare_only_what_they_include():
    """src/CMakeLists.txt tells what a change to a room can break. A declared room that nothing includes misleads its readers."""
    included_by: dict[str, set[str]] = {}
    for path in below("src/", ends=(".cpp", ".hpp")):
        included_by.setdefault(path.relative_to(ROOT / "src").parts[0], set()).update(re.findall(r'^#include "([a-z_0-9]+)/', text_of(path), re.M))
    none([f"{room} includes nothing of {used}" for room, (_, uses) in rooms().items() for used in uses if used not in included_by[room]], "src/CMakeLists.txt declares a room that this one does not use")


PRIVATE = "// Private to the room."


def included() -> dict[str, list[Path]]:
    """Each header of ours, as `room/name.hpp`, with the files that include it."""
    found: dict[str, list[Path]] = {}
    for path in below("src", "fuzz", ends=(".cpp", ".hpp")):
        for name in re.findall(r'^#include "([\w/.]+)"', text_of(path), re.M):
            found.setdefault(name, []).append(path)
    return found


def test_private_headers():
    """A room's interface is what other rooms include, and what those headers include; the rest says that it is private."""
    users = included()
    for_tests = re.compile(r"/testing/|_(fixtures?|for_test)\.hpp$|/testing\.hpp$")
    public, found = set(), []
    todo = [name for name, paths in users.items() if any(path.relative_to(ROOT / "src" if path.is_relative_to(ROOT / "src") else ROOT).parts[0] != name.split("/")[0] for path in paths)]
    while todo:
        name = todo.pop()
        if name not in public and (ROOT / "src" / name).exists():
            public.add(name)
            if not for_tests.search(name):
                todo += re.findall(r'^#include "([\w/.]+)"', text_of(ROOT / "src" / name), re.M)
    for path in below("src", ends=(".hpp",)):
        name = path.relative_to(ROOT / "src").as_posix()
        if name.split("/")[0] in ("cli", "app") or for_tests.search(name):
            continue
        marked = text_of(path).split("\n")[1] == PRIVATE
        if marked and name in public:
            found.append(f"{place(path)} is private, but {place(users[name][0])} and others include it")
        if not marked and name not in public:
            found.append(f"{place(path)} is used in its room only: its second line must be `{PRIVATE}`")
    none(found, "private headers stay private")


def test_every_directory_of_src_is_a_declared_room():
    directories = {path.relative_to(ROOT / "src").parts[0] for path in below("src/") if len(path.relative_to(ROOT / "src").parts) > 1}
    assert directories == set(rooms())


def test_every_room_has_a_short_readme():
    found = []
    for room in rooms():
        readme = ROOT / "src" / room / "README.md"
        lines = len(readme.read_text().splitlines()) if readme.is_file() else 0
        if not 0 < lines <= README_LINES:
            found.append(f"src/{room}/README.md has {lines} lines")
    none(found, f"a room's README has 1 to {README_LINES} lines")


def neighbours_of(room: str) -> str:
    """The sentence of a room's README about the rooms around it."""

    def listed(names: list[str]) -> str:
        return ", ".join(f"`{name}`" for name in names)

    uses = rooms()[room][1]
    users = [name for name, (_, used) in rooms().items() if room in used]
    first = f"Uses {listed(uses)}." if uses else "Uses no other room."
    second = f"Used by {listed(users)}." if len(users) <= USERS_LISTED else f"Used by {len(users)} rooms."
    return textwrap.fill(f"{first} {second}" if users else first, COLUMNS, break_long_words=False)


def test_every_room_names_its_neighbours():
    """What may be used, and who notices a change: as src/CMakeLists.txt declares it."""
    found = []
    for room in rooms():
        wanted = neighbours_of(room)
        if f"\n\n{wanted}\n" not in text_of(ROOT / f"src/{room}/README.md"):
            found.append(f"src/{room}/README.md must say after its title:\n{wanted}\n")
    none(found, "the README of a room names the rooms that it uses, and those that use it")


def test_names_say_something():
    found = [place(path) for path in below("src/") if {path.stem, *path.relative_to(ROOT).parts} & EMPTY_NAMES]
    none(found, f"no room and no file is called {', '.join(sorted(EMPTY_NAMES))}")


def test_architecture_lists_the_rooms():
    rows = re.findall(r"^\| (\d) \| `([a-z][a-z0-9]*)` \|", text_of(ROOT / "ARCHITECTURE.md"), re.M)
    assert [(name, int(floor)) for floor, name in rows] == [(name, floor) for name, (floor, _) in rooms().items()], "in the same order"


# the language


def test_no_regex_no_coroutines():
    none(matches(cpp_files(), r"std::w?regex|<regex>|\bco_(await|yield|return)\b"), "std::regex crashes on long input, g++ 12 destroys coroutine temporaries twice")


def test_heavy_headers_stay_in_cpp_files():
    headers = [path for path in cpp_files() if path.suffix == ".hpp"]
    none(matches(headers, r"#include <(nlohmann/json\.hpp|toml\+\+/|filesystem|iostream|regex|fmt/(format|ranges|chrono|os)\.h)"), "these headers cost seconds per file")


def test_headers_have_pragma_once():
    none([place(path) for path in cpp_files() if path.suffix == ".hpp" and "#pragma once" not in text_of(path)], "#pragma once")


def test_only_cli_prints():
    printing = r"\b(std::(cout|cerr|clog|print|puts|printf|fputs)|printf\s*\(|fprintf\s*\(|puts\s*\(|perror\s*\(|fmt::print)"
    files = [path for path in below("src/", ends=(".cpp", ".hpp")) if not is_test(path)]
    none(matches(files, printing), "only cli prints, through its Output")


def test_only_app_reads_the_environment():
    files = [path for path in below("src/", ends=(".cpp", ".hpp")) if not is_test(path) and "src/app/" not in path.as_posix()]
    none(matches(files, r"\b(secure_)?getenv\b|\benviron\b|\b(set|un)setenv\b"), "only app reads the environment")


def test_no_locale():
    none(matches(cpp_files(), r"\bsetlocale\b|std::locale\b"), "output is bytes")


def test_tests_do_not_sleep():
    none(matches([path for path in cpp_files() if is_test(path)], r"\bsleep_(for|until)\b|::u?sleep\s*\("), "tests wait for events, not for time")


# size and layout


def test_columns():
    found = []
    for path in [*cpp_files(), *below("launcher/", "cmake/", "tools/", "src/CMakeLists.txt")]:
        # A case of a test's table is one line, laid out by hand; everything else fits a screen.
        limit = 300 if is_test(path) or "testing" in path.parts else COLUMNS if path.suffix in (".cpp", ".hpp") else 160
        for number, line in enumerate(text_of(path).splitlines(), 1):
            if len(line) > limit and 'R"' not in line and "#include" not in line:
                found.append(f"{place(path, number)} has {len(line)} columns")
    none(found, "lines that fit a screen")


def prose_pages() -> list[Path]:
    pages = below("README.md", "ARCHITECTURE.md", "HACKING.md", "STYLE.md", "CHANGELOG.md", "docs/", "python/", "src/", ends=(".md",))
    return [path for path in pages if not place(path).startswith("docs/commands/") and not is_data(path)]


def prose_lines(path: Path) -> list[tuple[int, str]]:
    """Lines of a Markdown page with their numbers; without tables and code."""
    lines, fenced = [], False
    for number, line in enumerate(text_of(path).splitlines(), 1):
        fenced ^= line.startswith("```")
        if not fenced and not line.startswith(("|", "    ", "```")):
            lines.append((number, line))
    return lines


def test_columns_of_pages():
    found = []
    for path in prose_pages():
        long = [number for number, line in prose_lines(path) if len(line) > COLUMNS]
        if place(path) in LONG_LINES:
            found += [] if long else [f"{place(path)}: remove its entry in LONG_LINES"]
        else:
            found += [f"{place(path, number)} is longer" for number in long]
    none(found, f"lines of at most {COLUMNS} columns outside tables and code")


def test_whitespace():
    found = []
    for path in tracked():
        if is_data(path) or path.suffix not in (".cpp", ".hpp", ".c", ".py", ".md", ".toml", ".cmake", ".txt", ".json", ".tsv", "") or b"\0" in path.read_bytes()[:4096]:
            continue
        text = text_of(path)
        if text and not text.endswith("\n"):
            found.append(f"{place(path)} does not end with a newline")
        for number, line in enumerate(text.splitlines(), 1):
            if path.suffix != ".tsv" and (line != line.rstrip() or "\t" in line):
                found.append(f"{place(path, number)} has a tab or trailing space")
    none(found, "whitespace")


def ratchet(actual: dict[str, int], limit: int, allowed: dict[str, int], what: str) -> None:
    found = [f"{name}: {size} lines (allowed {allowed.get(name, limit)})" for name, size in actual.items() if size > allowed.get(name, limit)]
    found += [f"{name}: {actual.get(name, 0)} lines: lower or remove its entry ({size})" for name, size in allowed.items() if actual.get(name, 0) < size - 20 or actual.get(name, 0) <= limit]
    none(found, what)


def test_file_length():
    actual = {place(path): len(text_of(path).splitlines()) for path in cpp_files() if not is_test(path)}
    ratchet(actual, FILE_LINES, LONG_FILES, f"files of at most {FILE_LINES} lines")


def function_lengths(path: Path) -> dict[str, int]:
    """Bodies that begin with a line ending in `{` at column 0 or 2 and end with `}` at that column, as clang-format writes them."""
    lengths: dict[str, int] = {}
    opened: dict[int, tuple[int, str]] = {}
    for number, line in enumerate(text_of(path).splitlines(), 1):
        indent = len(line) - len(line.lstrip(" "))
        if indent not in (0, 2):
            continue
        body = line.strip()
        if indent == 2 and 0 in opened:
            continue  # a lambda or a block of the function around it
        if body.endswith("{") and not re.match(r"(inline )?(namespace|struct|class|enum|union|extern)\b", body):
            opened.setdefault(indent, (number, body))
        elif re.match(r"\}(;|$| //)", body) and indent in opened:
            begin, head = opened.pop(indent)
            if "(" in head:
                lengths[f"{place(path)}:{head[:60]}"] = number - begin + 1
    return lengths


def test_function_length():
    actual: dict[str, int] = {}
    for path in cpp_files():
        if not is_test(path):
            actual |= function_lengths(path)
    ratchet(actual, FUNCTION_LINES, LONG_FUNCTIONS, f"functions of at most {FUNCTION_LINES} lines")


def plain(path: Path) -> str:
    """The code without comments and without the text of literals, line for line."""
    shorter = {"/": "", '"': '""', "'": "' '"}
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', lambda found: shorter[found[0][0]], text_of(path))


def closing(code: str, opened: int) -> int:
    """Where the bracket at `opened` closes."""
    depth = 0
    for place_ in re.compile(r"[(){}]").finditer(code, opened):
        depth += 1 if place_.group() in "({" else -1
        if depth == 0:
            return place_.start()
    return len(code)


def classes(path: Path) -> list[tuple[str, int, int]]:
    """Name, lines and data members (`name_`) of each class and struct."""
    code = plain(path)
    found = []
    for head in re.finditer(r"\b(?:class|struct)\s+(\w+)(?:\s+final)?(?:\s*:\s*[^{;]*)?\s*\{", code):
        end = closing(code, head.end() - 1)
        own, depth, last = "", 0, head.end()
        for brace in re.compile(r"[{}]").finditer(code, head.end() - 1, end):
            own += code[last : brace.start()] if depth == 1 else ""
            depth, last = depth + (1 if brace.group() == "{" else -1), brace.end()
        own += code[last:end] if depth == 1 else ""
        declared = re.findall(r"^\s*(?!static|using|friend|return)[\w:<>,&*\s]+?[\s&*>](\w+_(?:\s*,\s*\w+_)*)\s*(?:=[^;]*)?;", own, re.M)
        found.append((f"{place(path)}:{head.group(1)}", code[head.start() : end].count("\n") + 1, sum(names.count(",") + 1 for names in declared)))
    return found


def own_code() -> list[Path]:
    return [path for path in cpp_files() if not is_test(path) and "/testing" not in path.as_posix() and "for_test" not in path.name]


def test_class_size():
    sizes = [one for path in own_code() for one in classes(path)]
    ratchet({name: lines for name, lines, _ in sizes}, CLASS_LINES, LONG_CLASSES, f"classes of at most {CLASS_LINES} lines")
    members = {name: count for name, _, count in sizes if count > MEMBERS}
    found = [f"{name}: {count} members (allowed {CLASSES_OF_MANY_MEMBERS.get(name, MEMBERS)})" for name, count in members.items() if count > CLASSES_OF_MANY_MEMBERS.get(name, MEMBERS)]
    found += [f"{name}: lower or remove its entry ({count})" for name, count in CLASSES_OF_MANY_MEMBERS.items() if members.get(name, 0) < count]
    none(found, f"classes of at most {MEMBERS} members: make the phases functions over values")


def parameters(path: Path) -> dict[str, int]:
    """Of each function that begins at column 0: how many parameters it takes."""
    code, found = plain(path), {}
    for head in re.finditer(r"^(?!#|using|namespace|class|struct|enum|return|\s)[\w:<>,&*\s\[\]]*?[\s&*>](\w+(?:::\w+)*)\(", code, re.M):
        inside = code[head.end() : closing(code, head.end() - 1)]
        inside = re.sub(r"\{[^{}]*\}", "", inside)
        while re.search(r"<[^<>]*>|\([^()]*\)", inside):
            inside = re.sub(r"<[^<>]*>|\([^()]*\)", "", inside)
        if inside.strip():
            found[f"{place(path)}:{head.group(1)}"] = inside.count(",") + 1
    return found


def test_parameters():
    many = {name: count for path in own_code() for name, count in parameters(path).items() if count > PARAMETERS}
    found = [f"{name}: {count} parameters" for name, count in many.items() if count > FUNCTIONS_OF_MANY_PARAMETERS.get(name, PARAMETERS)]
    found += [f"{name}: lower or remove its entry ({count})" for name, count in FUNCTIONS_OF_MANY_PARAMETERS.items() if many.get(name, 0) < count]
    none(found, f"functions of at most {PARAMETERS} parameters: make a struct of those that belong together")


TEXT = {"std::string", "std::string_view", "char*"}
# Two values whose order means nothing, or is the one that everybody expects. Names -> why.
PAIRS = {
    ("a", "b"): "compared: the order means nothing", ("left", "right"): "as they stand in the text",
    ("before", "after"): "time", ("previous", "next"): "time", ("base", "head"): "time, in git's words", ("good", "bad"): "time, as in git bisect",
    ("first", "second"): "the order of the bytes", ("part", "whole"): "as in a fraction",
    ("from", "to"): "as in cp(1) and mv(1)", ("from", "into"): "as in cp(1)", ("source", "target"): "as in cp(1)", ("existing", "path"): "as in link(2)",
    ("offset", "length"): "a range, as in pread(2)", ("offset", "size"): "a range, as in pread(2)", ("offset", "bytes"): "a range, as in pread(2)",
    ("text", "separators"): "the subject first, as in Python's str", ("text", "prefix"): "the subject first, as in Python's str",
    ("text", "from"): "the subject first, as in Python's str", ("key", "fallback"): "as in Python's dict.get", ("pattern", "path"): "as in fnmatch(3)",
    ("directory", "name"): "as in openat(2)", ("key", "message"): "as in HMAC(3)", ("path", "content"): "as in Node's writeFile",
    ("path", "output_dir"): "as in cp(1)", ("tree", "output_dir"): "as in cp(1)", ("address", "size"): "a range, as in mmap(2)",
    ("path", "text"): "as in Node's writeFile", ("path", "target"): "as ls -l prints a link", ("group", "name"): "as in the path", ("area", "group"): "as in the path",
    ("below", "prefix"): "as in the path", ("action", "path"): "as they are printed", ("path", "hint"): "as they are printed",
    ("key", "text"): "as they are printed", ("code", "key"): "as they are printed", ("temporary", "path"): "as in rename(2)", ("from", "path"): "as in rename(2)",
    ("to", "from"): "as in Python's relpath", ("program", "path_value"): "as in Python's shutil.which", ("before", "now"): "time",
    ("derived", "original"): "as in wheel verify DERIVED --derived-from ORIGINAL", ("size", "limit"): "a range, then its bound",
    ("repository", "id"): "as in GitHub's addresses", ("repository", "reference"): "as in GitHub's addresses",
    ("repository", "number"): "as in GitHub's addresses", ("package", "place"): "as the columns of the file", ("directory", "href"): "as in Python's urljoin",
    ("key", "temporary"): "as in cp(1)", ("pythons", "platforms"): "as in a wheel's tags",
    ("bytes_read", "size"): "as in a fraction", ("code", "device"): "code runs on a device", ("all", "sets"): "all without these",
    ("extra", "base"): "extra is asked for before base",
    ("code", "message"): "as they are printed; a test looks each code up in data/codes", ("message", "hint"): "as they are printed",
    ("recorded", "found"): "what should be, what is", ("expected", "found"): "what should be, what is",
}  # fmt: skip


def parameter(text: str) -> tuple[str, str] | None:
    """Type and name of a parameter, all kinds of text as one; None for an argument of a call. What is written through a reference is
    of another kind: it takes no constant, no literal and no result."""
    found = re.fullmatch(r"\s*((?:const )?[\w:]+(?:<.*>)?(?: (?:long|int|char))*\s*[&*]*)\s*\b(\w+)(?:\s*=.*|\s*\{.*\})?\s*", text, re.S)
    if not found:
        return None
    kind = re.sub(r"\bconst\b|&|\s", "", found[1])
    written = "&" if re.search(r"(?<!&)&\s*$", found[1]) and "const" not in found[1] else ""
    return ("text" if kind in TEXT else kind) + written, found[2]


def split_outside_brackets(text: str) -> list[str]:
    parts, depth, last = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "(<[{") - (character in ")>]}")
        if character == "," and depth == 0:
            parts.append(text[last:at])
            last = at + 1
    return [*parts, text[last:]]


def alike_neighbours(path: Path) -> list[str]:
    """`function(first, second)` for each two neighbouring parameters of one type that a header declares."""
    code, found = plain(path), []
    for head in re.finditer(r"(?<!<)\b(\w+)\(", code):
        taken = [parameter(one) for one in split_outside_brackets(code[head.end() : closing(code, head.end() - 1)])]
        pairs = [(one[1], other[1]) for one, other in zip(taken, taken[1:]) if one and other and one[0] == other[0]]
        found += [f"{head[1]}({one}, {other})" for one, other in pairs if (one, other) not in PAIRS]
    return found


def test_neighbouring_parameters_have_two_types():
    """A caller who swaps two texts or two numbers is not told. Headers that other rooms use; the numbers may only fall."""
    for_tests = re.compile(r"_fixtures?\.hpp$")
    headers = [path for path in own_code() if path.suffix == ".hpp" and place(path).startswith("src/") and not place(path).startswith(("src/cli/", "src/app/"))]
    actual = {place(path): alike_neighbours(path) for path in headers if text_of(path).split("\n")[1] != PRIVATE and not for_tests.search(path.name)}
    found = [f"{name}: {len(pairs)} (allowed {ALIKE_NEIGHBOURS.get(name, 0)}): {', '.join(pairs)}" for name, pairs in actual.items() if len(pairs) > ALIKE_NEIGHBOURS.get(name, 0)]
    found += [f"{name}: lower or remove its entry ({count})" for name, count in ALIKE_NEIGHBOURS.items() if len(actual.get(name, [])) < count]
    none(found, "neighbouring parameters of two types: make a type for one of them, or a struct of those that belong together")


def local_definitions(path: Path) -> set[str]:
    """What a file defines in its anonymous namespaces: constants, types, and functions with their parameters' types."""
    code, found = plain(path), set()
    for opened in re.finditer(r"^namespace \{$", code, re.M):
        inside = code[opened.end() : closing(code, opened.end() - 1)]
        found |= {" = ".join(alias) for alias in re.findall(r"^using (\w+) = ([^;]*);", inside, re.M)}
        found |= set(re.findall(r"^(?:class|struct|enum|enum class)\s+(\w+)[^;()]*\{", inside, re.M))
        found |= set(re.findall(r"^(?:inline )?const(?:expr)? [\w:<>,*& ]+?[ *&](\w+)(?:\[[^\]]*\])*(?: = |\{)", inside, re.M))
        for name, taken in re.findall(r"^(?!\s|using|return|const |constexpr )[\w:<>,*&\[\] ]+?[ *&](\w+)\(([^()]*)\) (?:const )?\{", inside, re.M):
            found.add(f"{name}({', '.join(re.sub(r' ?[*&]? ?[a-z_0-9]*$', '', one.strip().removeprefix('const ')) for one in taken.split(','))})")
    return found


def test_one_definition_in_a_room():
    """Builds from scratch compile files of a room together (QUARRY_UNITY), where two definitions clash."""
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    found = []
    for path in below("src/", ends=(".cpp",)):
        if not path.name.endswith("_bench.cpp"):
            room = path.relative_to(ROOT / "src").parts[0] + ("/compat" if "/cli/compat/" in path.as_posix() else "") + ("/tests" if is_test(path) else "")
            for one in local_definitions(path):
                name, _, alias = one.partition(" = ")
                first, meant = seen.setdefault((room, name), (place(path), alias))
                if first != place(path) and (meant != alias or not alias):  # the same alias twice is no clash
                    found.append(f"{place(path)}: {name} stands in {first}, too")
    none(found, "one definition of a name in a room: share it, or tell the two apart by name")


# words


def test_test_files_have_names_of_their_own():
    """pytest imports them all as top-level modules when `./check --full` runs the whole folder."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("*_test.py"))
    assert not [name for name, count in names.items() if count > 1]


def test_nothing_is_left_for_later():
    found = matches([path for path in tracked() if path != SELF and not is_data(path)], r"\b(" + "|".join(["TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK"]) + r")\b")
    none(found, "what is missing is said where people look for it, not in a comment")


# English that had to be read twice: what is refused, and what to write instead.
HARD_TO_READ = {
    r"(^|[.:;] |//+<? )Of ": "begin the sentence with its subject",
    r"(?<![Tt]here )\bis no (?!longer\b)": "write `is not a`, or `is missing`",
    r"\b[Tt]here (is|are|was|were) no such\b": "write `the X does not exist`",
    r"(?<![Tt]here )\bis none\b": "write `is not one`, or `is missing`",
    r"\b[Ll]eav\w+\b.{0,40}\baway\b": "write `omit`",
    r"\b([Tt]ak(es?|ing|en)|[Tt]ook)\b.{0,40}\baway\b": "write `remove`",
    r"(?<![Tt]here )\b(are|were) no (?!longer\b|more\b)": "write `are not`",
    r"\b[Mm]end(s|ed|ing)?\b": "write `fix`, `repair` or `correct`",
}
# Part of a line -> the reason why it may say so.
READS_WELL: dict[str, str] = {
    '"is no X"': "STYLE.md quotes what it forbids",
}


def words_of(path: Path) -> list[tuple[int, str]]:
    """Lines without the marks of comments, lists and tables; each begins with the last word of the line before, if a sentence goes on."""
    words, last = [], ""
    for number, line in enumerate(text_of(path).splitlines(), 1):
        said = re.sub(r"^\s*(///?<?|#+|[-*|])?\s*", "", line)
        words.append((number, f"{last} {said}" if last and said else said))
        last = said.split()[-1] if re.search(r"\w$", said) else ""
    return words


def test_english_is_plain():
    pages = [path for path in prose_pages() if place(path) not in LONG_LINES]
    code = [path for path in below("src/", "launcher/", "bench/", "fuzz/", "python/", ends=(".cpp", ".hpp", ".c", ".py")) if not is_test(path)]
    found, needed = [], set()
    for path in [*pages, *code, *below("data/codes/", ends=(".toml",))]:
        for number, line in words_of(path):
            reasons = {text for text in READS_WELL if text in line}
            advice = [advice for pattern, advice in HARD_TO_READ.items() if re.search(pattern, line)]
            needed |= reasons if advice else set()
            if advice and not reasons:
                found.append(f"{place(path, number)}: {line.strip()[:80]}: {advice[0]}")
    found += [f"remove its entry in READS_WELL: {text}" for text in READS_WELL if text not in needed]
    none(found, "English that had to be read twice (STYLE.md, Words)")


def test_no_paths_of_this_machine():
    """The tree is the same wherever it lies: no checkout and no home directory is named in it."""
    here = [str(place) + "/" for place in (ROOT, ROOT.parent, Path.home()) if len(place.parts) > 2 or place == ROOT.parent and len(place.parts) > 1 and place.name not in ("src", "tmp", "home")]
    here = [text for text in here if text.count("/") >= 2]
    found = []
    for path in tracked():
        for number, line in enumerate(text_of(path).splitlines(), 1):
            for text in here:
                if re.search(r"(?<![\w./-])" + re.escape(text), line):
                    found.append(f"{place(path, number)}: {line.strip()[:100]}")
    none(found, "paths of one machine")


def test_hosts_are_public():
    found = []
    for path in tracked():
        if is_data(path):
            continue
        for number, line in enumerate(text_of(path).splitlines(), 1):
            for host in re.findall(r"https?://(?:[\w.~%!$&'()*+,;=:-]*@)?([A-Za-z0-9.\[\]:-]+)", line):
                host = re.sub(r":\d+$", "", host.lower()).rstrip(".:-")
                if host and host not in PUBLIC_HOSTS and not RESERVED_HOST.search(host) and "." in host:
                    found.append(f"{place(path, number)}: {host}")
    none(found, "hosts of links; add a public one to PUBLIC_HOSTS")


def test_licence():
    assert "Apache License" in text_of(ROOT / "LICENSE")[:200]


# codes


@cache
def explained() -> dict[str, Path]:
    result: dict[str, Path] = {}
    for path in below("data/codes/", ends=(".toml",)):
        for code, entry in tomllib.loads(text_of(path)).items():
            assert re.fullmatch(r"[A-Z]\d{3}", code), f"{place(path)}: {code}"
            assert code not in result, f"{code} is explained twice: {place(result[code])} and {place(path)}"
            assert set(entry) - {"name"} == {"title", "about", "fix"}, f"{place(path)}: {code} has {sorted(entry)}"
            assert entry["title"] and not entry["title"].endswith("."), f"{place(path)}: the title of {code}"
            assert entry["about"].strip().endswith((".", "`", ")", "!", "?")), f"{place(path)}: about {code}"
            assert entry["fix"].strip(), f"{place(path)}: the fix of {code}"
            result[code] = path
    return result


@cache
def used_codes() -> dict[str, list[str]]:
    used = defaultdict(list)
    for path in below("src/", ends=(".cpp", ".hpp")):
        if is_test(path):
            continue
        for number, line in enumerate(text_of(path).splitlines(), 1):
            for code in re.findall(r'"([A-Z]\d{3})"', line):
                used[code].append(place(path, number))
    return used


def test_code_branches_on_constants():
    text = re.compile(r'(\.|->)code (==|!=|<=|>=|<|>) "[A-Z]\d{3}"|code\.starts_with\(')
    found = [place(path, number) for path in below("src/", ends=(".cpp", ".hpp")) if not is_test(path)
             for number, line in enumerate(text_of(path).splitlines(), 1) if text.search(line)]
    none(found, "compares the text of a code: give the code a `name` in data/codes and ask error.is(codes::NAME)")


def test_every_code_is_explained():
    none([f"{code} at {places[0]}" for code, places in used_codes().items() if code not in explained()], "data/codes/ROOM.toml explains every code")


def test_every_explanation_is_used():
    none([f"{code} in {place(path)}" for code, path in explained().items() if code not in used_codes()], "explained but used nowhere in src")


# pages


def test_links_resolve():
    found = []
    for path in below(ends=(".md",)):
        if is_data(path):
            continue
        in_code = False
        for number, line in enumerate(text_of(path).splitlines(), 1):
            in_code ^= line.startswith("```")
            for target in [] if in_code or line.startswith("    ") else re.findall(r"\]\(([^)\s]+)\)", line):
                name = target.split("#")[0]
                if name and "://" not in name and not name.startswith("mailto:") and not (path.parent / name).exists():
                    found.append(f"{place(path, number)}: {target}")
    none(found, "links that lead nowhere")


def test_pages_that_are_named_exist():
    """`docs/formats/policy.md` in a comment, a hint or an explanation is a promise."""
    found = []
    for path in tracked():
        if is_data(path) or path == SELF:
            continue
        for number, line in enumerate(text_of(path).splitlines(), 1):
            for name in re.findall(r"(?<![\w/])docs/[\w./-]+\.(?:md|tsv)\b", line):
                if not (ROOT / name).exists():
                    found.append(f"{place(path, number)}: {name}")
    none(found, "pages that do not exist")


def test_decisions_are_numbered():
    names = sorted(path.name for path in below("docs/decisions/", ends=(".md",)) if path.name != "README.md")
    numbers = [int(name[:4]) for name in names if re.match(r"\d{4}-[a-z0-9-]+\.md$", name)]
    assert len(numbers) == len(names), f"NNNN-title.md: {names}"
    assert len(set(numbers)) == len(numbers), names  # a gap is a number that another branch has taken
    for name, number in zip(names, numbers):
        text = text_of(ROOT / "docs/decisions" / name)
        assert text.startswith(f"# {number}. "), f"{name} begins with its number and title"


def test_index_of_docs_leads_to_every_page():
    """docs/index.md links to each page, or to the README.md of its directory, which does."""
    docs = ROOT / "docs"
    found = []
    for path in below("docs/", ends=(".md",)):
        readme = path.parent / "README.md"
        leads = path.name in text_of(readme) if readme != path and readme.is_file() else path.relative_to(docs).as_posix() in text_of(docs / "index.md")
        if not leads and path != docs / "index.md":
            found.append(place(path))
    none(found, "pages that nothing leads to")


def test_change_notes():
    found = []
    for path in below("changes/"):
        if path.name == "README.md":
            continue
        if not re.fullmatch(r"[a-z0-9-]+\.md", path.name) or not text_of(path).startswith("- "):
            found.append(f"{place(path)}: a list item in a file with a lower-case name")
    none(found, "notes in changes/")


def test_figures_of_the_readme():
    """The comparison in the README is the one of docs/performance.md, rounded."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in (ROOT / "docs/performance.md").read_text().splitlines() if line.startswith("| ")]

    def measured(work: str, column: int, sized: bool = True) -> dict[str, str]:
        cell = next(row[column] for row in rows if row[0].startswith(work))
        found = re.search(r"([\d.]+) s, [\d.]+ CPU-s, (\d+) MB RSS" + (r", ([\d.]+) MB" if sized else "()"), cell)
        assert found, cell
        return {"seconds": f"{float(found[1]):.1f}", "rss": f"{int(found[2]):,} MB", "size": f"{found[3]} MB"}

    pack = "pack the libraries tree (1.34 GB), "
    columns = [measured(pack + "release", 2), measured(pack + "release", 1), measured(pack + "ci", 1)]
    build = [measured("sdk build of 1.68 GB of artifacts, " + profile, 1) for profile in ("release", "ci")]
    expected = [f"| {name} | " + " | ".join(column[key] for column in columns) + " |" for name, key in (("seconds", "seconds"), ("wheel", "size"), ("peak memory", "rss"))]
    expected.append(f"takes {build[0]['seconds']} s (release) or {build[1]['seconds']} s (ci) and {build[0]['rss']} of memory")
    packed = measured("sdk build from `.tar.zst` archives, release", 1, sized=False)
    expected.append(f"{packed['seconds']} s and {packed['rss']}")
    readme = (ROOT / "README.md").read_text()
    assert not [line for line in expected if line not in readme]
