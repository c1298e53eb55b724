"""Every call of a Python script in TheRock's workflows and actions: workflow, script, flags.

    python tests/support/incumbent_calls.py FEBRUARY AUGUST > tests/data/incumbent-calls.json

records the facts from two checkouts, with a Python that has PyYAML; run it by hand when another month is recorded. Commands that name a script and
are not a call in its eyes are printed on standard error, to be looked at. tests/script_calls_test.py holds the table of calls
(docs/guides/script-calls.md), the recorded flags and the drop-ins to the facts.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

# A path of a script, where a command may have one: after `python`, `pytest` or a quote, or as the command itself.
SCRIPT = re.compile(r"""(?:^|[\s"'=(])((?:\$\{\{[^}]*\}\}|\$\{?\w+\}?|[\w.-]+)?(?:[/\\](?:\$\{\{[^}]*\}\}|\$\{?\w+\}?|[\w.-]+))*?[/\\]?([\w-]+)\.py)(?=$|[\s"')&;|])""")
STARTS = re.compile(r"""(?:^|[\s"'(&;|])(?:[\w${}/.-]*python[\d.]*|"?\$\{?\w*(?:PYTHON|python)\w*\}?"?|\$\{\{[^}]*python[^}]*\}\}|pytest)"?(?:\s+-[\w=-]+(?:\s+pytest)?)*\s+["']?$""")
FLAG = re.compile(r"(?<![\w-])(--[a-zA-Z][\w-]*)")


def commands(text: str) -> list[str]:
    """Lines of a shell or PowerShell script, joined where they are continued, without comments."""
    text = re.sub(r"\s*[\\`^]\n\s*", " ", text)
    lines = (line.strip() for line in text.splitlines())
    return [part.strip() for line in lines if line and not line.startswith("#") for part in re.split(r"&&|;(?![^(]*\))|\|\|", line)]


def calls_in(text: str) -> list[tuple[str, str, list[str]]]:
    """(script, path, flags) for each command that runs one."""
    found = []
    for command in commands(text):
        for match in SCRIPT.finditer(command):
            before = command[: match.start(1)]
            if STARTS.search(before) or not before.strip() or re.fullmatch(r"""[\w]+=\$\(\s*|\$\(\s*|(?:[A-Z_]+=\S+\s+)+""", before):
                found.append((match[2], match[1].replace("\\", "/"), sorted(set(FLAG.findall(command[match.end(1) :])))))
                break  # further names are its words
    return found


def texts(node: object) -> list[str]:
    """What is run, wherever it stands: `run:` of steps, and inputs that are commands."""
    if isinstance(node, dict):
        return [text for key, value in node.items() for text in ([value] if key == "run" and isinstance(value, str) else texts(value))]
    return [text for value in node for text in texts(value)] if isinstance(node, list) else []


def calls_of(root: Path, era: str) -> list[dict]:
    import yaml

    found = []
    programs = {str(path.relative_to(root)) for path in root.rglob("*.py")}
    for file in sorted([*root.glob(".github/workflows/*.y*ml"), *root.glob(".github/actions/*/action.y*ml")]):
        name = str(file.relative_to(root)) if "actions" in file.parts else file.name
        for text in texts(yaml.safe_load(file.read_text())):
            for script, path, flags in calls_in(text):
                own = any(path == each or path.endswith("/" + each) or path.removeprefix("./") == each for each in programs)
                found.append({"era": era, "workflow": name, "script": script, "path": path, "flags": flags, "own": own})
            for command in commands(text):
                if re.search(r"\.py\b", command) and not calls_in(command):
                    print(f"{era} {name}: not a call: {command[:120]}", file=sys.stderr)
    return found


def main() -> None:
    rows = [call for era, root in zip(("feb", "aug"), sys.argv[1:3], strict=True) for call in calls_of(Path(root), era)]
    about = "Calls of Python scripts in TheRock's workflows and actions (own: a script of its checkout, not one that a job fetches): facts read by tests/support/incumbent_calls.py from its sources, feb = 527dea363 (2026-02-26), aug = 89553ce37 (2026-08-22)."
    lines = ",\n  ".join(json.dumps(row, sort_keys=True) for row in rows)
    print(f'{{"about": "{about}",\n "calls": [\n  {lines}]}}')


if __name__ == "__main__":
    main()
