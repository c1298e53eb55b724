"""Unpacking the development files: what is there afterwards, and that nothing can leave it half-done."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from installation import DEVEL, Site

KILL_AT = Path(__file__).with_name("kill_at.py")
LIBRARIES = "_rocm_sdk_libraries_gfx103X_dgpu"


def check_complete(site: Site) -> None:
    """Unpacked, RECORD right, nothing of the way there left."""
    assert not site.payload()
    assert not (site.path / (DEVEL + ".partial")).exists()
    paths = [row[0] for row in site.rows()]
    assert len(paths) == len(set(paths))
    assert not [path for path in paths if ".partial/" in path or "_devel.tar" in path or "RECORD.new" in path]
    assert sorted(path for path in paths if path.startswith(DEVEL + "/")) == sorted(site.tree(DEVEL))
    assert site.left_by_uninstalling() == []


@pytest.fixture(scope="session")
def expected(make_template: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The tree as it must be."""
    path = tmp_path_factory.mktemp("expected") / "site"
    shutil.copytree(make_template("rocm_sdk_libraries_gfx94x"), path, symlinks=True)
    site = Site(path)
    assert site.run("init").returncode == 0
    return site.tree(DEVEL)


def test_what_is_there(site: Site) -> None:
    done = site.run("path", "--root")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{site.devel}\n", "")
    check_complete(site)
    for relative in ("bin/hipcc", "lib/libamdhip64.so.5", "include/hip/hip.h", "lib/llvm/bin/amdclang++"):
        assert not (site.devel / relative).is_symlink()
        assert os.path.samefile(site.devel / relative, site.path / "_rocm_sdk_core" / relative)
    assert os.path.samefile(site.devel / "lib/libhipsparse.so.0", site.path / LIBRARIES / "lib/libhipsparse.so.0")
    assert os.readlink(site.devel / "bin/amdclang") == "../../_rocm_sdk_core/bin/amdclang"
    assert os.readlink(site.devel / "lib/libamdhip64.so.5.2") == "libamdhip64.so"
    assert os.readlink(site.devel / "llvm") == "lib/llvm"
    assert (site.devel / "llvm/bin/amdclang++").exists()
    assert (site.devel / "include/hip/dev.h").read_bytes() == b"int dev;\n" * 4000
    assert os.access(site.devel / "bin/devtool", os.X_OK)
    assert not os.access(site.devel / "include/hip/dev.h", os.X_OK)


def test_record_has_hash_and_size_of_every_file(site: Site) -> None:
    site.run("init")
    import fake_sdk

    rows = {row[0]: row[1:] for row in site.rows()}
    for path in ("include/hip/dev.h", "bin/hipcc", "lib/libhipsparse.so.0"):
        data = (site.devel / path).read_bytes()
        assert rows[f"{DEVEL}/{path}"] == [fake_sdk.record_digest(data), str(len(data))]
    assert rows[f"{DEVEL}/llvm"] == rows[f"{DEVEL}/bin/amdclang"] == ["", ""]


def test_commands_after_that(site: Site) -> None:
    assert site.run("init").stdout == f"development files: {site.devel}\n"
    before = site.tree()
    assert site.run("init", "--quiet").stdout == ""
    assert site.run("path", "--bin").stdout == f"{site.devel}/bin\n"
    assert site.run("path", "--cmake").stdout == f"{site.devel}/lib/cmake\n"
    assert site.tree() == before


@pytest.mark.parametrize("changes", [{"payload": ".tar.xz"}, {"nonce": "_n1"}])
def test_other_forms(make_site: Callable[..., Site], changes: dict[str, str]) -> None:
    site = make_site("rocm_sdk_libraries_gfx94x", **changes)
    done = site.run("path", "--root")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(site.devel) + changes.get("nonce", "")
    assert not site.payload()
    assert site.left_by_uninstalling() == []


def test_zstd_says_which_python_can(make_site: Callable[..., Site]) -> None:
    if sys.version_info >= (3, 14):
        pytest.skip("this Python reads zstd")
    site = make_site("rocm_sdk_libraries_gfx94x", payload=".tar.zst")
    before = site.tree()
    done = site.run("init")
    assert done.returncode == 1
    assert "needs zstd, which Python has from 3.14 on" in done.stderr
    assert site.tree() == before


def test_a_link_that_leads_nowhere_is_left_out_and_said(make_site: Callable[..., Site]) -> None:
    links = {"lib/libgone.so": "libgone.so.1", "a": "b", "b": "a"}
    site = make_site("rocm_sdk_libraries_gfx94x", extra_devel=links)
    done = site.run("init")
    assert done.returncode == 0
    assert "warning: lib/libgone.so leads nowhere and was left out" in done.stderr
    assert not (site.devel / "lib/libgone.so").is_symlink()
    check_complete(site)


def test_a_link_to_a_directory_of_another_package_stays_a_link(make_site: Callable[..., Site]) -> None:
    site = make_site("rocm_sdk_libraries_gfx94x", extra_devel={"share/therock-core": "../../_rocm_sdk_core/share/therock"})
    assert site.run("init").returncode == 0
    assert (site.devel / "share/therock-core").is_symlink()
    check_complete(site)


def test_what_an_older_release_left_is_replaced(site: Site) -> None:
    site.devel.mkdir()
    (site.devel / "stale.h").write_text("old")
    (site.path / (DEVEL + ".partial")).mkdir()
    (site.path / (DEVEL + ".partial") / "stale.h").write_text("old")
    assert site.run("init").returncode == 0
    assert not (site.devel / "stale.h").exists()
    check_complete(site)


# --- refusals: a clear error, and nothing has changed ----------------------------------------------------------------------------


def refused(site: Site, message: str, hint: str) -> None:
    before = site.tree()
    done = site.run("path", "--root")
    assert done.returncode == 1
    assert done.stdout == ""
    assert message in done.stderr, done.stderr
    assert "\nhint: " + hint in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert site.tree() == before


@pytest.mark.parametrize("both", [False, True])
def test_the_tree_leads_into_the_libraries_of_the_family_in_use(make_site: Callable[..., Site], both: bool) -> None:
    """Devel was made over the first family's libraries; this machine has the second one's, with a file more and one less."""
    site = make_site(*([] if both else ["rocm_sdk_libraries_gfx103x"]))
    used = site.path / "_rocm_sdk_libraries_gfx94X_dcgpu"
    (used / "lib/librocsparse.so.0").unlink()
    (used / "lib/rocsparse").mkdir()
    (used / "lib/rocsparse/gfx942.dat").write_bytes(b"kernels")
    done = site.run("init", ROCM_SDK_TARGET_FAMILY="gfx94X-dcgpu")
    assert done.returncode == 0, done.stderr
    assert os.path.samefile(site.devel / "lib/libhipsparse.so.0", used / "lib/libhipsparse.so.0")
    assert os.path.samefile(site.devel / "lib/rocsparse/gfx942.dat", used / "lib/rocsparse/gfx942.dat")
    assert not (site.devel / "lib/librocsparse.so.0").exists()
    assert os.path.samefile(site.devel / "lib/libamdhip64.so.5", site.path / "_rocm_sdk_core/lib/libamdhip64.so.5")
    assert (site.devel / "__init__.py").read_bytes() == b""


def test_libraries_that_are_not_installed(make_site: Callable[..., Site]) -> None:
    refused(
        make_site("rocm_sdk_libraries"), f"need {LIBRARIES}, which is not installed", 'pip install "rocm[libraries,devel]==7.2.0"'
    )


def test_a_file_of_another_package_that_is_missing(site: Site) -> None:
    (site.path / "_rocm_sdk_core/bin/hipcc").unlink()
    refused(site, "1 files are missing", "pip install --force-reinstall")


def test_a_payload_that_is_not_what_was_packed(site: Site) -> None:
    (payload,) = site.payload()
    payload.write_bytes(payload.read_bytes()[:-10240])
    refused(site, "its sha256 is not the one in RECORD", "pip install --force-reinstall --no-deps rocm-sdk-devel==7.2.0")


def test_a_payload_that_leads_out(make_site: Callable[..., Site]) -> None:
    site = make_site("rocm_sdk_libraries_gfx94x", extra_devel={"x": "../../outside"})
    before = site.tree()
    done = site.run("init")
    assert done.returncode == 1
    assert "its link ../../outside may lead out of site-packages" in done.stderr
    assert site.tree() == before


def test_two_releases_mixed(site: Site) -> None:
    facts = site.path / "rocm_sdk_devel/_dist_info.py"
    facts.write_text(facts.read_text().replace("7.2.0", "7.1.0"))
    refused(site, "rocm is 7.2.0, but rocm-sdk-devel is 7.1.0", 'pip install "rocm[devel]==7.2.0"')


def test_no_record(site: Site) -> None:
    site.record.unlink()
    refused(site, "0 RECORD files of rocm-sdk-devel", "pip install --force-reinstall")


def test_the_tree_was_deleted(site: Site) -> None:
    site.run("init")
    shutil.rmtree(site.devel)
    refused(site, "is missing, and there is nothing to unpack it from", "pip install --force-reinstall")


def without_privileges() -> tuple[str, ...]:
    """What makes permission bits bind for root."""
    if os.geteuid():
        return ()
    if not shutil.which("setpriv"):
        pytest.skip("runs as root, and there is no setpriv")
    return ("setpriv", "--bounding-set=-all", "--inh-caps=-all")


@pytest.mark.parametrize("what", ["everything", "dist-info", "site-packages", "package"])
def test_read_only(site: Site, what: str) -> None:
    prefix = without_privileges()
    below = {"dist-info": site.record.parent.name, "package": "rocm_sdk_devel"}.get(what, ".")
    before = site.tree()
    recursive = ["-R"] if what == "everything" else []
    subprocess.run(["chmod", *recursive, "a-w", str(site.path / below)], check=True)
    done = site.run("init", prefix=prefix)
    subprocess.run(["chmod", "-R", "u+w", str(site.path)], check=True)
    assert done.returncode == 1
    assert "cannot unpack the development files" in done.stderr and "is not writable" in done.stderr
    assert f"hint: run `rocm-sdk init` once as the owner of {site.path}" in done.stderr
    assert "Traceback" not in done.stderr
    now = site.tree()
    assert {path: text[4:] for path, text in now.items()} == {path: text[4:] for path, text in before.items()}


def test_read_only_after_unpacking_is_fine(site: Site) -> None:
    prefix = without_privileges()
    site.run("init")
    subprocess.run(["chmod", "-R", "a-w", str(site.path)], check=True)
    done = site.run("path", "--root", prefix=prefix)
    subprocess.run(["chmod", "-R", "u+w", str(site.path)], check=True)
    assert (done.returncode, done.stdout) == (0, f"{site.devel}\n")


FAIL = """
import errno, os, sys
from rocm_sdk import _devel, _errors
what, number = sys.argv[1], int(sys.argv[2])
calls = 0
def failing(*arguments, **named):
    global calls
    calls += 1
    if calls > 2: raise OSError(number, os.strerror(number))
    return original(*arguments, **named)
where = getattr(_devel, what.split('.')[0]) if '.' in what else _devel
name = what.split('.')[-1]
original = getattr(where, name)
setattr(where, name, failing)
try: _devel.ensure_expanded()
except _errors.RocmSdkError as error: print(error)
"""


@pytest.mark.parametrize("what", ["_write_file", "_hard_link", "_link"])
def test_a_full_disk_on_the_way(site: Site, what: str) -> None:
    import errno

    before = site.tree()
    done = site.python(FAIL, what, str(errno.ENOSPC))
    assert "no space left on the file system" in done.stdout, done.stderr
    assert {path: text for path, text in site.tree().items() if path != site.record.relative_to(site.path).as_posix()} == {
        path: text for path, text in before.items() if path != site.record.relative_to(site.path).as_posix()
    }
    assert not (site.path / (DEVEL + ".partial")).exists()
    assert not [row for row in site.rows() if row[0].startswith(DEVEL)]
    assert site.run("init").returncode == 0
    check_complete(site)


def test_too_little_space_is_known_beforehand(site: Site) -> None:
    before = site.tree()
    code = (
        "import shutil, types; shutil.disk_usage = lambda path: types.SimpleNamespace(free=100)\n"
        "import sys; from rocm_sdk import __main__; sys.exit(__main__.main(['init']))"
    )
    done = site.python(code)
    assert done.returncode == 1
    assert "no space left" in done.stderr and "100 are free" in done.stderr
    assert site.tree() == before


@pytest.mark.parametrize("name", ["EXDEV", "EPERM", "EMLINK"])
def test_copies_where_hard_links_are_refused(site: Site, expected: dict[str, str], name: str) -> None:
    code = (
        "import errno, os\n"
        f"def link(*a, **k): raise OSError(errno.{name}, 'no')\n"
        "os.link = link\nfrom rocm_sdk import _devel; _devel.ensure_expanded()"
    )
    done = site.python(code)
    assert done.returncode == 0, done.stderr
    assert site.tree(DEVEL) == expected
    assert not os.path.samefile(site.devel / "bin/hipcc", site.path / "_rocm_sdk_core/bin/hipcc")
    check_complete(site)


def test_a_path_too_long_for_windows_is_said(site: Site) -> None:
    """Never passed over, as a link that is silently missing would be."""
    code = """
import errno, os, sys
from rocm_sdk import _devel
long = str(_devel._place().partial / ("n" * 250))
def refuse(source, target): raise FileNotFoundError(errno.ENOENT, "no such file", str(source), None, long)
os.link = refuse
_devel.sys = type("", (), {"platform": "win32"})
try: _devel.ensure_expanded()
except _devel.RocmSdkError as error: print(error, "|", error.hint)
"""
    before = site.tree()
    done = site.python(code)
    assert "characters, more than this Windows takes |" in done.stdout, done.stdout + done.stderr
    assert "LongPathsEnabled" in done.stdout
    assert {path: text for path, text in site.tree().items() if "__pycache__" not in path} == before


# --- many at once, and killed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("processes", [2, 6])
def test_many_processes_at_once(site: Site, expected: dict[str, str], processes: int) -> None:
    wait = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.001)\n"
    code = wait + "from rocm_sdk import _devel; print(_devel.get_devel_root())"
    barrier = site.path.parent / "go"
    command = [sys.executable, "-c", code, str(barrier)]
    started = [subprocess.Popen(command, env=site.environ(), stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    barrier.touch()
    assert [process.communicate(timeout=120)[0] for process in started] == [f"{site.devel}\n"] * processes
    assert [process.returncode for process in started] == [0] * processes
    assert site.tree(DEVEL) == expected
    check_complete(site)


def run_until(site: Site, step: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-S", str(KILL_AT), str(site.path), str(step)], capture_output=True, text=True)


def test_killed_anywhere(make_template, heavy: bool, expected: dict[str, str], tmp_path: Path) -> None:
    """After a kill before any change: what exists is listed, the tree is whole or absent, and the next call completes."""
    template = make_template("rocm_sdk_libraries_gfx94x")

    def fresh(name: str) -> Site:
        return Site(Path(shutil.copytree(template, tmp_path / name, symlinks=True)))

    changes = int(run_until(fresh("counted"), 0).stdout)
    assert changes > 40
    steps = range(1, changes + 1) if heavy else range(1, changes + 1, 9)

    def kill(step: int) -> None:
        site = fresh(str(step))
        done = run_until(site, step)
        assert done.returncode == -signal.SIGKILL, (step, done.stderr)
        assert site.left_by_uninstalling() == [], step
        if site.devel.exists():
            assert site.tree(DEVEL) == expected, step
        again = site.run("init")
        assert again.returncode == 0, (step, again.stderr)
        assert site.tree(DEVEL) == expected, step
        check_complete(site)
        shutil.rmtree(site.path)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(kill, steps))


def test_killed_twice_then_many_at_once(site: Site, expected: dict[str, str]) -> None:
    for step in (25, 40, 33):
        assert run_until(site, step).returncode == -signal.SIGKILL
    started = [subprocess.Popen([sys.executable, "-m", "rocm_sdk", "init", "--quiet"], env=site.environ()) for _ in range(3)]
    assert [process.wait(120) for process in started] == [0, 0, 0]
    assert site.tree(DEVEL) == expected
    check_complete(site)
