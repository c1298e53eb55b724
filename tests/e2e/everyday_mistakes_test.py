"""Mistakes of every day at the command line of releases, channels, waivers, evidence, keys and retention: each ends with its code and the next step,
and leaves the store and the working directory as they were."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import distributions  # noqa: E402
from support.policies import smoke_policy  # noqa: E402
from support.quarry import good, quarry  # noqa: E402

# Code, exit code, command. {d}: a directory with files of every wrong kind; {set}: the digest of a sealed set; `--store` is added unless the
# command names one or ends with NOSTORE.
MISTAKES = r"""
O305  2 lock "demo[nosuch]" --from run:1 --output {d}/x.toml
O305  2 lock "demo[]" --from run:1 --output {d}/x.toml
O305  2 lock "demo[ ]>=1" --from run:1 --output {d}/x.toml
O303  2 lock demo --from run:1 --keep 0d --output {d}/x.toml
O303  2 lock demo --from run:1 --keep 2020-01-01 --output {d}/x.toml
O303  2 lock demo --from run:1 --keep 31.12.2027 --output {d}/x.toml
O303  2 lock demo --from run:1 --keep "" --output {d}/x.toml
L010  3 lock demo --from run:99 --output {d}/x.toml
M010  2 lock "" --from run:1 --output {d}/x.toml
D001  2 lock demo --from run:1 --output {d}/dir
D001  3 lock demo --from run:1 --output {d}/no/such/x.toml
U002  2 lock demo --from run:1 --python 4 --output {d}/x.toml
O301  1 lock nosuch --from run:1 --output {d}/x.toml
C004  2 lock demo
O048  2 channel prune staging --keep 0d --reason x
O048  2 channel prune staging --keep 0 --reason x
O048  2 channel prune staging --keep 1 --reason x
O048  2 channel prune staging --keep -1 --reason x
C005  2 channel prune staging --keep 60 d --reason x
R015  3 channel prune nosuch --keep 5 --reason x
C006  2 channel prune staging --keep "" --reason x
C004  2 gate --from run:1
C004  2 gate --to staging
C006  2 gate --from run:1 --to ""
R016  2 gate --from run:1 --to "Not A Channel"
L010  3 gate --from run:99 --to stable
L003  2 gate --from set:123 --to stable
L003  2 gate --from set:zzzzzzzzzzzz --to stable
R010  3 gate --from set:00000000000000000000 --to stable
P012  2 gate --from {d}/text.txt --to stable
C006  2 gate --from "" --to stable
G007  3 gate --from run:1 --to stable --policy {d}/nosuch.toml
G007  3 gate --from run:1 --to stable --policy {d}/dir
G001  2 gate --from run:1 --to stable --policy {d}/bad.toml
G001  2 gate --from run:1 --to stable --policy {d}/binary
G002  2 gate --from run:1 --to stable --policy {d}/empty
G007  3 gate --from run:1 --to stable --policy nosuch
G007  3 gate --from run:1 --to stable --policy ""
G002  2 gate --from run:1 --to stable --expect {d}/empty
D001  2 gate --from run:1 --to stable --expect {d}/dir
B006  2 gate --from run:1 --to stable --sign {d}/locked.pem
B006  2 gate --from run:1 --to stable --sign {d}/text.txt
D001  2 gate --from run:1 --to stable --sign {d}/dir
D001  3 gate --from run:1 --to stable --sign {d}/nosuch.pem
C050  3 gate --from run:1 --to stable --store file:{d}/nowhere
R006  2 gate --from run:1 --to stable --store {d}/text.txt
R006  2 gate --from run:1 --to stable --store file:{d}/text.txt
K001  2 gate --from run:1 --to stable --store s3://
R006  2 gate --from run:1 --to stable --store ftp://host/x
R010  3 gate --from release:123 --to stable
C004  2 promote --from run:1
O005  2 promote --from run:1 --to stable --execute abc
O005  2 promote --from run:1 --to stable --execute 00000000000000000000
O002  7 promote --from run:1 --to stable --execute 0000000000000000000000000000000000000000000000000000000000000000
C006  2 promote --from run:1 --to stable --cells some
O020  2 promote --from run:1 --to "stable-{family" --policy {d}/own.toml
O020  2 promote --from run:1 --to "stable-{nosuch}" --policy {d}/own.toml
R006  2 promote --from run:1 --to stable --to-store file:{d}/text.txt --policy {d}/own.toml
O010  2 promote --from run:1 --to stable --to-store file:{d}/other --prefix "" --policy {d}/own.toml
P041  2 promote --from run:1 --to stable --to-store file:{d}/other --prefix ../x --policy {d}/own.toml
C006  2 promote --from run:1 --to stable --on-move "" --policy {d}/own.toml
R015  3 promote --from channel:nosuch --to stable
C006  2 promote --from run:1 --to stable --base-index {d}/nosuch
B006  2 promote --from run:1 --to stable --policy demo --sign {d}/locked.pem
C004  2 rollback
R015  3 rollback nosuch
C050  3 rollback staging --to-store file:{d}/nowhere
O001  3 rollback staging
O001  3 rollback staging --to 99
C006  2 rollback staging --to abc
C006  2 rollback staging --to -1
C006  2 rollback ""
C005  2 rollback staging extra
C004  2 channel acknowledge staging
O053  2 channel acknowledge staging abc --reason x
O052  3 channel acknowledge staging 99 --reason x
R015  3 channel acknowledge nosuch 1 --reason x
C006  2 channel acknowledge staging 1 --reason ""
C004  2 channel diff staging
R015  3 channel diff staging nosuch
O001  3 channel diff staging staging@99
O001  3 channel diff staging@abc staging
R016  2 channel diff run:1 staging
R015  3 channel log nosuch
C004  2 channel log
R015  3 channel show nosuch
R016  2 channel show staging@99
G007  3 channel protect staging --policy {d}/nosuch.toml --reason x
C006  2 channel protect staging --policy {d}/own.toml --reason ""
B006  2 channel protect staging --policy {d}/own.toml --reason x --sign {d}/locked.pem
C006  2 channel protect staging --policy {d}/own.toml --reason x --demand all
R016  2 channel protect "a b" --policy {d}/own.toml --reason x
O013  3 channel unblock staging nosuch.whl --reason x
C004  2 channel unblock staging --reason x
R015  3 channel unblock nosuch x.whl --reason x
R015  3 channel unprotect nosuch --reason x
R015  3 channel verify nosuch
O021  2 release create
L003  2 release create --set 123
L003  2 release create --set nosuch
R025  2 release create --from run:1 --name 12345678
R025  2 release create --from run:1 --name ""
D001  2 release create --from run:1 --notes {d}/dir
O027  2 release create --from run:1 --notes {d}/binary
D001  3 release create --from run:1 --notes {d}/nosuch.md
G001  2 release create --from run:1 --expect {d}/bad.toml
C004  2 release show
R010  3 release show release:123
R010  3 release show nosuch
R010  3 release show release:00000000000000000000
R010  3 release notes nosuch
R010  3 release finalize release:000000000000 --version 1.0 --output-dir {d}/final
O100  2 release finalize run:1 --version abc --output-dir {d}/final
M016  2 release finalize run:1 --version 1.0 --candidate 9 --output-dir {d}/final
M016  2 release finalize run:1 --version 1.1 --candidate 1.0 --output-dir {d}/text.txt
C004  2 release finalize run:1 --version 1.0
G006  2 waive --to stable --reason x --approver lead --expires 2020-01-01 --everything --set {set}
G006  2 waive --to stable --reason x --approver lead --expires 31/12/2027 --everything --set {set}
G006  2 waive --to stable --reason x --approver lead --expires 2027-02-30 --everything --set {set}
G006  2 waive --to stable --reason x --approver lead --expires 0d --everything --set {set}
C006  2 waive --to stable --reason x --approver lead --expires "" --everything --set {set}
C006  2 waive --to stable --reason "" --approver lead --expires 7d --everything --set {set}
C006  2 waive --to stable --reason x --approver "" --expires 7d --everything --set {set}
G006  2 waive --to stable --reason x --approver lead --expires 7d --everything --set 123
G006  2 waive --to stable --reason x --approver lead --expires 7d --everything
G006  2 waive --to stable --reason x --approver nobody --expires 7d --everything --set {set}
G006  2 waive --to stable --reason x --approver lead --expires 7d --suite "" --set {set}
G006  2 waive --to stable --reason x --approver lead --expires 7d --python 3 --set {set}
G006  2 waive --to stable --reason x --approver lead --expires 7d --platform macos --set {set}
R020  2 waiver revoke 123 --reason x
R020  2 waiver revoke nosuch --reason x
R010  3 waiver revoke 0000000000000000000000000000000000000000000000000000000000000000 --reason x
C004  2 waiver revoke
C050  3 waiver list --store file:{d}/nowhere
X018  2 evidence expect --cell linux --from run:1
L010  3 evidence expect --cell linux/gfx94X-dcgpu/3.12 --from run:99
C006  2 evidence expect --cell "" --from run:1
C006  2 evidence expect --cell linux/gfx94X-dcgpu/3.12 --from run:1 --state done
R020  2 evidence list --set 123
C002  2 evidence list --channel nosuch
R020  2 evidence log 123
R020  2 evidence log nosuch
X008  2 evidence record
D001  3 evidence record --kept {d}/nosuch.json
X016  6 evidence record --kept {d}/text.txt
D001  2 evidence record --kept {d}/dir
X016  6 evidence record --kept {d}/empty
X012  6 evidence record --from-report {d}/text.txt --from run:1
D001  3 evidence record --from-report {d}/nosuch.xml --from run:1
R020  2 evidence show 123
R020  2 evidence show zzz
R010  3 evidence show 0000000000000000000000000000000000000000000000000000000000000000
C004  2 key create NOSTORE
D002  7 key create --output {d}/dir NOSTORE
D002  7 key create --output {d}/good.pem NOSTORE
D001  3 key create --output {d}/no/such/x.pem NOSTORE
C006  2 key create --output "" NOSTORE
C004  2 key show NOSTORE
B006  2 key show {d}/locked.pem NOSTORE
B006  2 key show {d}/text.txt NOSTORE
D001  2 key show {d}/dir NOSTORE
B006  2 key show {d}/binary NOSTORE
B006  2 key show {d}/empty NOSTORE
D001  3 key show {d}/nosuch NOSTORE
O023  3 key revoke nobody --channel staging --reason x
R015  3 key revoke nobody --channel nosuch --reason x
C006  2 key revoke "" --channel staging --reason x
D001  3 retain plan --rules nosuch
O200  2 retain plan --rules {d}/bad.toml
D001  2 retain plan --rules {d}/dir
O005  2 retain apply --execute 123
O011  7 retain apply --execute 0000000000000000000000000000000000000000000000000000000000000000
C004  2 retain undo
O204  2 retain undo 123
O204  2 retain undo nosuch
R015  3 status nosuch
R016  2 status ""
O022  2 status --from run:1
L010  3 status staging --from run:99
C050  3 status --store file:{d}/nowhere
G001  2 status --policy {d}/bad.toml
R016  2 status "a b"
C004  2 yank
O024  3 yank {set} --channel staging --reason x
R020  2 yank set:123 --channel staging --reason x
O024  3 yank nosuch.whl --channel staging --reason x
R015  3 yank demo-1.0-py3-none-any.whl --channel nosuch --reason x
C006  2 yank demo-1.0-py3-none-any.whl --channel staging --reason ""
C006  2 yank "" --channel staging --reason x
R010  3 yank set:0000000000000000 --channel staging --reason x
"""
ROWS = [line.split(None, 2) for line in MISTAKES.strip().splitlines()]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> tuple[Path, str]:
    """Run 1 in channel staging, and beside the store files that are not what a flag wants."""
    base = tmp_path_factory.mktemp("mistakes")
    (base / "dist").mkdir()
    distributions.wheel(base / "dist", "demo", "1.0")
    words = ("publish", base / "dist", "--store", f"file:{base / 'store'}", "--run-id", "1", "--platform", "linux", "--channel", "staging")
    sealed = good(*words, "--json").json["set"]
    (base / "own.toml").write_text(smoke_policy())
    (base / "bad.toml").write_text("schema = [")
    (base / "empty").write_text("")
    (base / "text.txt").write_text("hello\n")
    (base / "binary").write_bytes(bytes(range(256)) * 2)
    (base / "dir").mkdir()
    (base / "locked.pem").write_text("x")
    (base / "locked.pem").chmod(0)
    good("key", "create", "--output", base / "good.pem")
    return base, sealed


def content(base: Path) -> dict[str, bytes]:
    """Without the lock files of a store in a directory, which stay for the next writer."""
    return {str(path): path.read_bytes() for path in base.rglob("*") if path.is_file() and path.name != "locked.pem" and ".quarry" not in path.parts}


@pytest.mark.parametrize(("code", "exit_code", "command"), ROWS, ids=[row[2] for row in ROWS])
def test_a_mistake_is_refused_with_code_and_next_step(code: str, exit_code: str, command: str, place):
    base, sealed = place
    words = [word.replace("{d}", str(base)).replace("{set}", sealed) for word in shlex.split(command)]
    if words[-1] == "NOSTORE":
        words.pop()
    elif "--store" not in words:
        words += ["--store", f"file:{base / 'store'}"]
    before = content(base)
    done = quarry(*words, cwd=base)
    assert done.code == int(exit_code) and f"error[{code}]: " in done.err, done.out + done.err
    assert "\nhint: " in done.err, done.err
    assert content(base) == before and not [path for path in base.rglob("*.partial")]
