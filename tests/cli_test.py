"""The program as a shell, a pipe and a terminal see it."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import distributions  # noqa: E402
from support.quarry import PROGRAM, ROOT, clean_environment, good, quarry, refused  # noqa: E402
from support.terminal import on_a_terminal  # noqa: E402


@pytest.fixture(scope="module")
def large_artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough bytes that work on them can be seen and interrupted."""
    root = tmp_path_factory.mktemp("large")
    library = root / "blas_lib_gfx1030/stage/lib/libx.so"
    library.parent.mkdir(parents=True)
    (root / "blas_lib_gfx1030/artifact_manifest.txt").write_text("stage\n")
    block = os.urandom(1 << 20)
    with library.open("wb") as file:
        for _ in range(300):
            file.write(block)
    return root


def completions(script: Path, line: str) -> list[str]:
    """What bash offers at the end of `line`, with the word breaks of a real command line."""
    words = [str(PROGRAM), *re.findall(r"[=:]|[^\s=:]+", line)[1:], *([""] if line.endswith(" ") else [])]
    program = (
        f"source {script}; COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; "
        f"COMP_LINE={line!r}; COMP_POINT={len(line)}; _quarry; "
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(["bash", "--norc", "-c", program], capture_output=True, text=True, check=True, cwd=script.parent)
    assert not done.stderr, done.stderr
    return [word for word in done.stdout.split("\n") if word]


def test_bash_completes_commands_flags_choices_and_files(tmp_path: Path):
    script = tmp_path / "quarry.bash"
    script.write_text(good("completion", "bash").out)
    (tmp_path / "wheel.whl").touch()
    assert "artifact" in completions(script, "quarry a")
    assert completions(script, "quarry artifact fe") == ["fetch"]
    assert completions(script, "quarry sdk build --profil") == ["--profile"]
    assert completions(script, "quarry sdk build --profile r") == ["release"]
    assert completions(script, "quarry sdk build --profile=") == completions(script, "quarry sdk build --profile ")
    assert completions(script, "quarry sdk build --color n") == ["never"]
    assert completions(script, "quarry wheel verify whe") == ["wheel.whl"]
    assert "--help" in completions(script, "quarry doctor -")
    assert completions(script, "quarry completion ") == ["bash", "zsh", "fish"]
    assert completions(script, "quarry help art") == ["artifact"]
    assert completions(script, "quarry explain C00")[0] == "C001"
    assert completions(script, "quarry -j 2 pub") == ["publish"]
    assert completions(script, "quarry --col") == ["--color"]
    assert "default" in completions(script, "quarry gate --policy ")
    assert completions(script, "quarry gate --policy=def") == ["default"]
    assert "rocm-sdk" in completions(script, "quarry sdk build --recipe roc")
    assert not completions(script, "quarry publish out --run-id ")


def typed_into_bash(script: Path, line: str) -> list[str]:
    """The words that a real, interactive bash passes on after `line` (with its tabs) and Enter."""
    bin_directory = script.parent / "bin"
    bin_directory.mkdir(exist_ok=True)
    program = bin_directory / "quarry"
    program.write_text(f'#!/bin/bash\nif [[ $1 == complete ]]; then exec {PROGRAM} "$@"; fi\nprintf "<%s>" "$@"; echo "|END"\n')
    program.chmod(0o755)
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", PS1="ready> ", PATH=f"{bin_directory}:{os.environ['PATH']}", INPUTRC="/dev/null")
        os.execv("/bin/bash", ["bash", "--norc", "--noprofile", "-i"])
    screen = b""

    def wait_for(text: bytes) -> None:
        nonlocal screen
        while text not in screen:
            ready, _, _ = select.select([terminal], [], [], 60)
            assert ready, screen
            screen += os.read(terminal, 65536)

    wait_for(b"ready> ")
    os.write(terminal, f"source {script} && echo sour''ced\n".encode())
    wait_for(b"sourced")
    screen = b""
    os.write(terminal, line.encode() + b"\n")
    wait_for(b">|END")
    os.write(terminal, b"exit\n")
    os.waitpid(pid, 0)
    os.close(terminal)
    return re.findall(r"<([^>]*)>", screen.decode().split("\n", 1)[1].split("|END")[0])


@pytest.mark.parametrize(("line", "words"), [
    ("quarry artif\tfet\t", ["artifact", "fetch"]),
    ("quarry sdk build --profile r\t", ["sdk", "build", "--profile", "release"]),
    ("quarry sdk build --profile=r\t", ["sdk", "build", "--profile=release"]),
    ("quarry -j 2 publi\t", ["-j", "2", "publish"]),
    ("quarry completion z\t", ["completion", "zsh"]),
    ("quarry explain C05\t", ["explain", "C050"]),
    ("quarry wheel verify two\t", ["wheel", "verify", "two words.whl"]),
    ("quarry gate --to stable --from run\t42", ["gate", "--to", "stable", "--from", "run:42"]),
])  # fmt: skip
def test_an_interactive_bash_completes(line: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = tmp_path / "quarry.bash"
    script.write_text(good("completion", "bash").out)
    (tmp_path / "two words.whl").touch()
    monkeypatch.chdir(tmp_path)
    assert typed_into_bash(script, line) == words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_parse(shell: str, tmp_path: Path):
    script = tmp_path / "script"
    script.write_text(good("completion", shell).out)
    subprocess.run([shell, "-n", script], check=True)


def test_every_command_has_help_and_a_man_page(tmp_path: Path):
    good("docs", tmp_path, "--man-dir", tmp_path / "man")
    pages = sorted((tmp_path / "commands").glob("*.md"))
    assert len(pages) > 20
    for page in pages:
        if page.name == "README.md":
            continue
        name = page.read_text().splitlines()[0].removeprefix("# quarry ")
        help_page = good(*name.split(), "--help").out
        assert help_page.startswith(f"quarry {name} - ")
        assert "usage:" in help_page
        man = tmp_path / "man" / f"quarry-{page.stem}.1"
        assert man.read_text().startswith(".TH ")


def test_every_command_speaks_json_when_it_fails():
    """An unknown flag is refused by every command, with one document on standard output."""
    pages = ROOT / "docs/commands"
    names = [line.split("](")[0].lstrip("| [") for line in (pages / "README.md").read_text().splitlines() if line.startswith("| [")]
    assert len(names) > 20
    for name in names:
        done = quarry(*name.split(), "--json", "--no-such-flag")
        assert done.code == 2, name
        assert done.json["schema"] == "quarry.error/1" and done.json["code"] == "C002", name


def test_help_speaks_json():
    everything = good("help", "--json").json
    assert everything["schema"] == "quarry.help/1" and len(everything["commands"]) > 40
    (one,) = good("artifact", "fetch", "--help", "--json").json["commands"]
    assert one["command"] == "artifact fetch" and "--from" in [flag["name"] for flag in one["flags"] if flag["required"]]


def test_names_with_blanks_are_refused(tmp_path: Path):
    assert "repeat the flag" in refused("C006", 2, "test", "--venv", tmp_path, "--store", f"file:{tmp_path}", "--pass-env", "A B").err
    assert "without blanks" in refused("C006", 2, "test", "--venv", tmp_path, "--store", f"file:{tmp_path}", "--suite", "a b", "--", "true").err
    assert "`quarry channel list`" in refused("C004", 2, "channel", "show", "--store", f"file:{tmp_path}").err


@pytest.fixture(scope="module")
def explanations() -> dict[str, str]:
    """What `explain` prints of each code."""
    codes = good("explain", "--list", "--json").json["codes"]
    assert len(codes) > 50
    shown = {entry["code"]: good("explain", entry["code"]).out for entry in codes}
    for entry in codes:
        assert shown[entry["code"]].startswith(f"{entry['code']}: {entry['title']}\n")
    return shown


def test_every_code_is_explained(explanations):
    assert all(len(text.splitlines()) > 1 for text in explanations.values())


def test_one_file_is_enough(tmp_path: Path):
    """A copy alone, in an empty directory, with an empty environment."""
    copy = tmp_path / "quarry"
    shutil.copy(PROGRAM, copy)
    done = subprocess.run([copy, "config", "show", "--origin", "--json"], env={}, cwd=tmp_path, capture_output=True, check=True)
    data = {entry["name"]: entry["origin"] for entry in json.loads(done.stdout)["data"]}
    assert "launcher" in data and "data/recipes/rocm-sdk.toml" in data and any(name.startswith("python/rocm/") for name in data)
    assert set(data.values()) == {"embedded"}
    needed = subprocess.run(["readelf", "-d", copy], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"NEEDED.*\[([^\]]+)\]", needed)) <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}


def test_data_files_can_be_overridden(tmp_path: Path):
    def origin_of(name: str, cwd: Path, program: Path) -> str:
        done = subprocess.run([program, "config", "show", "--origin", "--json"], env={}, cwd=cwd, capture_output=True, check=True)
        return {entry["name"]: entry["origin"] for entry in json.loads(done.stdout)["data"]}[name]

    name = "data/policies/default.toml"
    program = tmp_path / "bin/quarry"
    program.parent.mkdir()
    shutil.copy(PROGRAM, program)
    repository = tmp_path / "repository"
    (repository / "a/b").mkdir(parents=True)
    assert origin_of(name, repository / "a/b", program) == "embedded"
    share = tmp_path / "share/quarry" / name
    share.parent.mkdir(parents=True)
    share.write_text("x = 1\n")
    assert origin_of(name, repository / "a/b", program) == str(share)
    own = repository / name
    own.parent.mkdir(parents=True)
    own.write_text("x = 2\n")
    assert origin_of(name, repository / "a/b", program) == str(share), "a directory that is not a repository overrides nothing"
    (repository / ".git").mkdir()
    assert origin_of(name, repository / "a/b", program) == str(own)


def test_settings_have_an_order(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "quarry.toml").write_text('store = "file:store"\n')
    user = tmp_path / "xdg/quarry/config.toml"
    user.parent.mkdir(parents=True)
    user.write_text('store = "file:/user"\njobs = 3\n')

    def settings(*words: str, **variables: str) -> dict[str, tuple[str, str]]:
        environment = clean_environment(XDG_CONFIG_HOME=str(tmp_path / "xdg"), **variables)
        shown = good("config", "show", "--json", *words, environment=environment, cwd=tmp_path).json["settings"]
        return {entry["key"]: (entry["value"], entry["origin"]) for entry in shown}

    assert settings()["store"] == (f"file:{tmp_path}/store", f"{tmp_path}/quarry.toml:1")
    assert settings()["jobs"] == ("3", f"{user}:2")
    assert settings(QUARRY_STORE="file:/v")["store"] == ("file:/v", "QUARRY_STORE")
    assert settings("-j", "1")["jobs"] == ("1", "--jobs")


def test_one_wheel_that_is_missing_says_nothing_about_the_others(tmp_path: Path):
    (tmp_path / "a-1.0-py3-none-any.whl").write_bytes(b"no zip")
    done = quarry("wheel", "verify", tmp_path / "gone-1.0-py3-none-any.whl", tmp_path / "a-1.0-py3-none-any.whl", "--json")
    assert done.code == 6
    assert [(Path(f["path"]).name[0], f["sound"]) for f in done.json["files"]] == [("g", False), ("a", False)]
    assert done.json["files"][0]["error"]["code"] == "D001"


def test_lost_output_is_not_success():
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "explain", "--list"], stdout=full, stderr=subprocess.PIPE, text=True, env=clean_environment())
    assert done.returncode == 12
    assert "error[C091]" in done.stderr


def test_a_reader_that_has_enough_is_fine():
    done = subprocess.run(f"{PROGRAM} explain --list | head -n 1; exit ${{PIPESTATUS[0]}}", shell=True, executable="/bin/bash",
                          capture_output=True, text=True, env=clean_environment())  # fmt: skip
    assert done.returncode == 0 and not done.stderr


def test_a_terminal_gets_a_bar_and_keeps_nothing_of_it(large_artifact: Path, tmp_path: Path):
    code, screen = on_a_terminal("artifact", "pack", large_artifact, "--output-dir", tmp_path)
    assert code == 0
    assert re.search(r"\[#*-*\] +\d+%  [\d.]+ .?B", screen), screen
    # Every bar that was drawn was cleared before other text came.
    for part in screen.split("\r\x1b[K"):
        assert "[#" not in part or "\n" not in part, part


@pytest.mark.parametrize("columns", [64, 80, 200])
def test_tables_and_bars_fit_the_terminal(columns: int, large_artifact: Path, tmp_path: Path):
    code, screen = on_a_terminal("artifact", "pack", large_artifact, "--output-dir", tmp_path / "out", columns=columns)
    assert code == 0
    lines = [re.sub(r"\x1b\[[0-9;]*[mK]", "", line) for line in re.split(r"\r\n|\r\x1b\[K|\x1b\[1A", screen)]
    bars = [line for line in lines if re.search(r"\d+%", line)]
    rows = [line for line in lines if line.startswith("packed ")]
    assert bars and len(rows) == 1
    for line in bars + rows:
        assert len(line) <= columns and not line.endswith(" "), repr(line)
    assert ("blas_lib_gfx1030.tar.zst" in rows[0]) == (columns >= 80)
    whole = good("artifact", "pack", large_artifact, "--output-dir", tmp_path / "again").out
    assert "blas_lib_gfx1030.tar.zst" in whole, "a pipe gets whole names"


@pytest.mark.parametrize("columns", [60, 80])
def test_lists_and_checks_fit_the_terminal(columns: int, large_artifact: Path, tmp_path: Path):
    packages, store = tmp_path / "packages", f"file:{tmp_path / 'store'}"
    packages.mkdir()
    distributions.wheel(packages, "demo-with-a-name", "1.0.0rc20261122")
    for channel in ("staging", "nightly"):
        good("publish", packages, "--store", store, "--run-id", "42", "--platform", "linux", "--artifact-group", "gfx94X-dcgpu", "--channel", channel)
    words = [(noun, "list", "--store", store) for noun in ("set", "channel", "run")] + [("doctor",), ("doctor", "--store", store), ("explain", "A012"), ("explain", "--list"), ("artifact", "list", large_artifact)]
    for command in words:
        code, screen = on_a_terminal(*command, columns=columns)
        assert code == 0, screen
        for line in re.sub(r"\x1b\[[0-9;]*[mK]", "", screen).split("\r\n"):
            assert len(line) <= columns or "/" in line, (command, line)  # a path stays whole


def test_verdicts_are_coloured(tmp_path: Path):
    broken = tmp_path / "a-1.0-py3-none-any.whl"
    broken.write_bytes(b"no zip")
    assert ": \x1b[1;31mbroken\x1b[0m\n" in quarry("wheel", "verify", broken, "--color", "always").out
    assert f"{broken}: broken\n" == quarry("wheel", "verify", broken).out
    assert "\x1b[32mok\x1b[0m" in quarry("doctor", "--color=always").out


def test_a_log_gets_no_control_characters(large_artifact: Path, tmp_path: Path):
    done = good("artifact", "pack", large_artifact, "--output-dir", tmp_path)
    assert "\x1b" not in done.err + done.out and "\r" not in done.err


def test_colour_on_a_terminal_only():
    code, screen = on_a_terminal("artifact", "nothing")
    assert code == 2 and "\x1b[1;31merror[C001]:\x1b[0m" in screen
    assert "\x1b" not in quarry("artifact", "nothing").err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_with_130_and_leaves_nothing(number: signal.Signals, large_artifact: Path, tmp_path: Path):
    running = subprocess.Popen([PROGRAM, "artifact", "pack", large_artifact, "--output-dir", tmp_path, "--format", "xz"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment())  # fmt: skip
    deadline = time.monotonic() + 60
    while not any(tmp_path.iterdir()) and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(number)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "error[D006]" in err
    assert not list(tmp_path.glob("*.tar.*"))


def test_doctor_quietly_prints_failures_only(tmp_path: Path):
    assert good("doctor", "-q").out == ""
    failed = quarry("doctor", "-q", environment=clean_environment(PATH=str(tmp_path)))
    assert failed.code == 1 and failed.out
    assert all(line.startswith(("failed ", "         ")) for line in failed.out.splitlines()), failed.out


def test_doctor_looks_at_the_certificates_that_are_trusted(tmp_path: Path):
    empty = tmp_path / "empty.pem"
    empty.write_text("none\n")
    for file, said in ((tmp_path / "missing.pem", "missing.pem"), (empty, "holds no certificate")):
        failed = quarry("doctor", "--self", environment=clean_environment(SSL_CERT_FILE=str(file)))
        line = next(line for line in failed.out.splitlines() if "certificates" in line)
        assert failed.code == 1 and line.startswith("failed") and said in failed.out and "SSL_CERT_FILE" in failed.out
    hidden = good("doctor", "--self", environment=clean_environment(HTTPS_PROXY="http://user:secret@proxy.example:1"))
    assert "HTTPS_PROXY" in hidden.out and "secret" not in hidden.out
    refused("C042", 2, "doctor", "--self", "--store", f"file:{tmp_path}")


def test_explain_names_near_codes_with_their_titles():
    near = good("explain", "A012").out.split("\nnear:\n")[1].splitlines()
    titles = {entry["code"]: entry["title"] for entry in good("explain", "--list", "--json").json["codes"]}
    shown = [line.split(maxsplit=1) for line in near if re.match(r"  [A-Z]\d{3} ", line)]
    assert len(shown) == 6
    assert all(titles[code].startswith(title) for code, title in shown)


def test_hidden_commands_answer_help():
    page = good("store", "--help").out
    assert "store setting" in page and "store put" not in page
    assert "unless `--force` says to replace it" in " ".join(good("store", "put", "--help").out.split())
    assert "command table" in good("docs", "--help").out
    assert "docs" not in re.findall(r"^  (\w+)", good("help").out, re.M)


def test_matrix_check_counts_findings_without_calling_them_sound():
    done = good("matrix", "check", ROOT / "data/families.toml")
    assert re.search(r"\d+ findings?; none of them is an error\n$", done.out), done.out


@pytest.mark.parametrize("variables, name", [({"GITHUB_ACTOR": "octocat", "USER": "ann"}, "octocat"), ({"USER": "ann"}, "ann@"), ({"LOGNAME": "ben"}, "ben@"), ({}, "uid ")])
def test_the_ledger_names_who_moved_a_channel(tmp_path: Path, variables: dict[str, str], name: str):
    (tmp_path / "dist").mkdir()
    distributions.wheel(tmp_path / "dist", "demo", "1.0")
    environment = {k: v for k, v in clean_environment().items() if k not in ("GITHUB_ACTOR", "USER", "LOGNAME")} | variables
    store = f"file:{tmp_path}/store"
    good("publish", tmp_path / "dist", "--store", store, "--run-id", "1", "--platform", "linux", "--channel", "staging", environment=environment)
    (move,) = good("channel", "log", "staging", "--store", store, "--json").json["moves"]
    assert move["who"].startswith(name) and (not name.endswith("@") or len(move["who"]) > len(name))


def test_what_is_missing_is_said_in_plain_words(tmp_path: Path):
    for words in (("wheel", "verify", tmp_path / "no.whl"), ("sdk", "build", "--artifact-dir", tmp_path / "no", "--dest-dir", tmp_path / "out", "--version", "1")):
        assert f"{tmp_path}/{words[2].name if words[0] == 'wheel' else 'no'} does not exist" in quarry(*words).err
    (tmp_path / "file").touch()
    assert f"{tmp_path}/file is a file, not a directory" in quarry("sdk", "build", "--artifact-dir", tmp_path / "file", "--dest-dir", tmp_path / "out", "--version", "1").err


def test_no_message_speaks_the_old_dialect(explanations):
    """Explanations and help pages; messages are looked at in the sources by the tree test."""
    found = [text.splitlines()[0] for text in explanations.values() if re.search(r"(?<!here )\b(is|are|was) no [a-z]|\bmend|\banew\b|\bbeside\b|\bstands there\b|\blies there\b", text)]
    assert not [line for line in found if "is no longer" not in line]


def test_the_licence_of_everything_inside_travels_with_the_program():
    inside = set(good("version", "--json").json["libraries"])
    licenses = good("version", "--licenses", "--json").json["licenses"]
    assert inside <= set(licenses) and "quarry" in licenses
    assert all(len(text) > 500 for text in licenses.values())
    sbom = good("version", "--sbom").json
    assert (sbom["bomFormat"], sbom["specVersion"], sbom["metadata"]["component"]["name"]) == ("CycloneDX", "1.5", "quarry")
    assert {part["name"] for part in sbom["components"]} == inside == set(licenses) - {"quarry"}
    printed = good("version", "--licenses").out
    assert all(text in printed for text in licenses.values())


def test_store_put_keeps_what_is_there(tmp_path):
    first, other, at = tmp_path / "first", tmp_path / "other", ("--store", f"file:{tmp_path / 'store'}")
    first.write_text("one"), other.write_text("two")
    for _ in range(2):
        good("store", "put", first, "channels/stable.json", *at)
    said = refused("R009", 7, "store", "put", other, "channels/stable.json", *at).err
    assert "holds another channels/stable.json" in said and "--force" in said
    assert (tmp_path / "store/channels/stable.json").read_text() == "one"
    refused("R008", 6, "store", "put", first, "channels/stable.json", "--sha256", "0" * 64, *at)
    refused("R008", 6, "store", "put", first, "new", "--sha256", "0" * 64, *at)
    refused("C006", 2, "store", "put", first, "channels/stable.json", "--sha256", "0123", *at)
    good("store", "put", first, "channels/stable.json", "--sha256", hashlib.sha256(b"one").hexdigest(), *at)
    good("store", "put", other, "channels/stable.json", "--force", *at)
    assert (tmp_path / "store/channels/stable.json").read_text() == "two"
