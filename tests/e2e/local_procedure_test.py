"""docs/guides/local-procedure.md, run line by line in an empty directory."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.quarry import PROGRAM, ROOT, clean_environment  # noqa: E402

GUIDE = ROOT / "docs/guides/local-procedure.md"


def lines_of_the_guide() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


def test_every_line_works(archives, tmp_path):
    shutil.copytree(archives, tmp_path / "archives")
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "quarry").symlink_to(PROGRAM.resolve())
    environment = clean_environment()
    environment["PATH"] = f"{binaries}:{environment['PATH']}"
    lines = lines_of_the_guide()
    assert {line.split()[1] for line in lines if line.startswith("quarry ")} >= {"artifact", "sdk", "wheel", "publish", "venv", "test"}
    said = {}
    for line in lines:
        ended = subprocess.run(["bash", "-euc", line], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, f"{line}\n{ended.stdout}{ended.stderr}"
        said[line] = ended.stdout
    assert said["plain/bin/rocm-sdk version"].strip() == "7.2.0"
    assert "passed" in said["quarry evidence list --store file:store"]
    assert (tmp_path / "store/1-linux/python/gfx103X-dgpu/index.html").exists()


def test_the_numbers_of_the_guide_are_about_the_same_directory():
    """Each path that a line reads is written by a line before it, or is what the page asks for."""
    made = {"archives"}
    for line in lines_of_the_guide():
        for word in re.findall(r"(?<![\w/.-])(archives|artifacts|out|store|environment|plain)(?=[/\s]|$)", line):
            if re.search(rf"(--output-dir|--dest-dir|venv install|-m venv) {word}\b", line) or f"file:{word}" in line and "publish" in line:
                made.add(word)
            assert word in made, (line, word)
