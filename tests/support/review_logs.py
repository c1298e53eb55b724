"""Logs and test reports with the figures of a review of four JAX builds (February 2026): 24,000 lines each, 80 % of them noise,
phases of 18, 42, 23, 6 and 9 %, jobs of 51, 68, 69 and 72 minutes that differ by their runners alone, 333 insecure requests in a
test log of 3,000 lines, 1,482 tests run and 11 skipped. What is in a log is counted here, line by line, for the tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

TODAY = "2026-02-24"
LINES = 24_000
JOB_MINUTES = {"py3.13": 51, "py3.12": 68, "py3.14": 69, "py3.11": 72}
SHARES = {"LLVM": 0.18, "Bazel pjrt": 0.42, "Bazel jaxlib": 0.23, "Bazel plugin": 0.06}
SET_UP_SHARES = {"container set-up": 0.05, "auditwheel": 0.02, "upload": 0.02}  # 9 % together
STUCK = "Compiling xla/service/gpu/cub_sort_kernel_rocm.cu.cc"
STUCK_SHARE = 0.65  # of the pjrt phase: 60 to 70 % in the review
ACTIONS = 39_600
SKIPPED = ["test_lax_full_like_efficient", *(f"testTruncnormPdf{n}" for n in range(10))]


@dataclass
class Log:
    """Lines with GitHub's stamps. `noise` counts what `add` is told to count."""

    now: datetime
    lines: list[str] = field(default_factory=list)
    noise: dict[str, int] = field(default_factory=dict)

    def add(self, text: str, source: str = "", seconds: float = 0) -> None:
        self.now += timedelta(seconds=seconds)
        self.lines.append(f"{self.now:%Y-%m-%dT%H:%M:%S.%f}0Z {text}")
        if source:
            self.noise[source] = self.noise.get(source, 0) + 1

    def write(self, path: Path) -> Path:
        path.write_text("\n".join(self.lines) + "\n")
        return path


CMAKE, INSTALL, AUDITWHEEL, STUCK_LINES = "build progress of CMake and ninja", "install manifest", "auditwheel debug", "Bazel progress of stuck actions"
COMPILER, BAZEL, DOWNLOAD, INSECURE = "compiler warnings", "Bazel progress", "download progress", "insecure requests"


def set_up(log: Log, seconds: float) -> None:
    log.add("##[group]Run actions/checkout@v4")
    log.add("with:")
    log.add("##[endgroup]")
    for n in range(200):
        log.add(f"remote: Counting objects: {n // 2}% ({n}/200)", DOWNLOAD, seconds / 200)


def llvm(log: Log, seconds: float) -> None:
    """In docker's plain progress: step 7 of the container build."""
    log.add("##[group]Run docker build --progress=plain -t manylinux .")
    log.add("##[endgroup]")
    log.add("#7 [ 3/9] RUN /build/llvm-18.sh --install-prefix /usr/local")
    each, done = seconds / 10_584, 0.0
    for n in range(10_000):
        done += each
        if n < 7_000:
            log.add(f"#7 {done:.2f} [{n * 100 // 7_000:3d}%] Building CXX object lib/Part{n % 40}/CMakeFiles/LLVM.dir/File{n}.cpp.o", CMAKE, each)
        else:
            log.add(f"#7 {done:.2f} -- Installing: /usr/local/include/llvm/Header{n}.h", INSTALL, each)
        if n % 17 == 0 and n // 17 < 584:
            done += each
            flag = "-Wattributes" if n % 2 else "-Wdangling-reference"
            log.add(f"#7 {done:.2f} /src/llvm/lib/File{n % 40}.cpp:{n % 40 + 1}:7: warning: something of kind {n % 40} [{flag}]", COMPILER, each)
    log.add(f"#7 DONE {seconds:.1f}s")


def bazel(log: Log, target: str, seconds: float, progress: int, stuck: float = 0) -> None:
    log.add("Starting local Bazel server (7.4.1) and connecting to it...")
    log.add(f"INFO: Analyzed target //jaxlib/tools:{target} (345 packages loaded, 23456 targets configured).")
    quick = seconds - stuck
    first = ["alpha", "beta", "gamma"]
    for n in range(progress):
        log.add(f"[{n * 10:,} / 13,200] Compiling xla/{first[n % 3]}/file{n}.cc; {n % 4 + 1}s local ... (16 actions running)", BAZEL, quick / progress)
    if stuck:
        for n in range(11):
            log.add(f"[13,100 / 13,200] Compiling xla/service/gpu/second_longest.cu.cc; {(n + 1) * stuck // 69:.0f}s local ... (2 actions running)", STUCK_LINES, 0)
        for n in range(1_489):
            log.add(f"[13,199 / 13,200] {STUCK}; {int(stuck * n / 1_489)}s local", STUCK_LINES, stuck / 1_489)
    log.add(f"INFO: Elapsed time: {seconds:.3f}s, Critical Path: {max(stuck, seconds / 3):.2f}s")
    log.add("INFO: 13,200 processes: 200 internal, 13,000 local.")
    log.add("INFO: Build completed successfully, 13,200 total actions")


def setuptools_warning(log: Log) -> None:
    log.add("/opt/python/lib/python3.12/site-packages/setuptools/dist.py:759: SetuptoolsDeprecationWarning: Cannot find any files for the given pattern.")
    for line in ["!!", "", "        " + "*" * 80, "        Pattern 'LICENSE.txt' did not match any files.", "",
                 "        By 2026-Mar-20, you need to update your project and remove deprecated calls",
                 "        or your builds will no longer be supported.", "",
                 "        See https://setuptools.pypa.io.example/ for details.", "        " + "*" * 80, "", "!!"]:  # fmt: skip
        log.add(line)


def wheel(project: str, python: str, platform: str) -> str:
    tag = "cp" + python.removeprefix("py").replace(".", "")
    return f"{project}-0.8.2-{tag}-{tag}-{platform}.whl"


PROJECTS = {"jaxlib": "jaxlib", "jax_rocm7_plugin": "plugin", "jax_rocm7_pjrt": "pjrt"}


def auditwheel(log: Log, python: str, seconds: float) -> None:
    for project in PROJECTS:
        log.add(f"INFO:auditwheel.main_repair:Repairing {wheel(project, python, 'linux_x86_64')}")
        if project == "jaxlib":
            for n in range(1_700):
                log.add(f"DEBUG:auditwheel.elfutils:checking symbol number {n} of libjax.so", AUDITWHEEL, seconds / 1_703)
        log.add("INFO:auditwheel.main_repair:", seconds=seconds / 1_703)
        log.add(f"INFO:auditwheel.main_repair:Fixed-up wheel written to /wheelhouse/{wheel(project, python, 'manylinux_2_28_x86_64')}")


def build_log(python: str) -> Log:
    """One variant; every phase takes its share of the job, so that equal shares make equal factors."""
    log = Log(datetime(2026, 2, 24, 6, 0, tzinfo=timezone.utc))
    job = JOB_MINUTES[python] * 60
    log.add("Current runner version: '2.331.0'")
    set_up(log, SET_UP_SHARES["container set-up"] * job)
    llvm(log, SHARES["LLVM"] * job)
    log.add("##[group]Run python3 build/ci_build dist_wheels")
    log.add("##[endgroup]")
    log.add("this step builds three wheels", seconds=0.02 * job)
    bazel(log, "jaxlib_wheel", SHARES["Bazel jaxlib"] * job, 1_700)
    bazel(log, "jax_rocm_plugin_wheel", SHARES["Bazel plugin"] * job, 1_500)
    setuptools_warning(log)
    bazel(log, "jax_rocm_pjrt_wheel", SHARES["Bazel pjrt"] * job, 2_000, STUCK_SHARE * SHARES["Bazel pjrt"] * job)
    setuptools_warning(log)
    auditwheel(log, python, SET_UP_SHARES["auditwheel"] * job)
    log.add("##[group]Run ./upload_wheels.sh")
    log.add("##[endgroup]")
    for project in PROJECTS:
        for platform in ("linux_x86_64", "manylinux_2_28_x86_64"):
            log.add(f"upload: dist/{wheel(project, python, platform)} to s3://bucket/v2/", seconds=SET_UP_SHARES["upload"] * job / 6)
    words = ["read", "wrote", "checked", "moved", "compared", "linked", "named"]
    n = 0
    while len(log.lines) < LINES - 1:  # what somebody may want to read; each line once
        log.add(f"{words[n % 7]} {words[n // 7 % 7]} {words[n // 49 % 7]} {words[n // 343 % 7]} {words[n // 2401 % 7]} what the step has made")
        n += 1
    log.add("Cleaning up orphan processes")
    return log


def test_log() -> Log:
    """3,000 lines, 22 % of them insecure requests."""
    log = Log(datetime(2026, 2, 24, 8, 0, tzinfo=timezone.utc))
    log.add("============================= test session starts ==============================")
    words = ["array", "grad", "jit", "vmap", "scan", "cond", "sort"]
    for n in range(333):
        log.add("/opt/lib/python3.12/site-packages/urllib3/connectionpool.py:1097: InsecureRequestWarning: Unverified HTTPS request is being made to host "
                "'artifacts.example'. Adding certificate verification is strongly advised.", INSECURE)  # fmt: skip
        log.add("  warnings.warn(", INSECURE)
        for m in range(6):
            log.add(f"{words[n % 7]} {words[n // 7 % 7]} {words[n // 49 % 7]} {words[m]} is tested on the device", seconds=0.09)
    for n in range(3):
        log.add("rocm_plugin_extension not found in the installed plugin, going on without it")
        log.add("/opt/lib/python3.12/tarfile.py:2255: DeprecationWarning: Python 3.14 will, by default, filter extracted tar archives and reject files or modify "
                "their metadata. Use the filter argument to control this behavior.")  # fmt: skip
        log.add("  archive.extractall(directory)")
    n = 0
    while len(log.lines) < 2_999:
        log.add(f"{words[n % 7]} after {words[n // 7 % 7]} after {words[n // 49 % 7]} went well")
        n += 1
    log.add("========== 1482 passed, 11 skipped, 342 warnings in 181.22s (0:03:01) ==========")
    return log


def junit(skipped: list[str], seconds: float, run: int = 1_482, failed: tuple[str, ...] = ()) -> str:
    def case(name: str, inside: str = "") -> str:
        return f'<testcase classname="tests.lax_test" name="{name}" time="{seconds / run:.6f}">{inside}</testcase>'

    rows = [case(f"test_{n}", '<failure message="wrong"/>' if f"test_{n}" in failed else "") for n in range(run)]
    rows += [case(name, '<skipped message="not on this device"/>') for name in skipped]
    return f'<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" tests="{len(rows)}">{"".join(rows)}</testsuite></testsuites>\n'
