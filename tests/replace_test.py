"""Names that `--replace` does not fit are refused, whether or not something would be lost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import distributions  # noqa: E402
from support.quarry import good, refused  # noqa: E402

DIRECTORY = "v21/whl"
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def place(tmp_path) -> str:
    """Two wheels, as scripts lay them out."""
    directory = tmp_path / "store" / DIRECTORY
    directory.mkdir(parents=True)
    for name in ("demo-app", "demo-base"):
        distributions.wheel(directory, name, "1.0")
    return f"file:{tmp_path}/store/{DIRECTORY}"


def adopt(place: str, *more: str) -> tuple[str, ...]:
    store, _, _ = place.partition(f"/{DIRECTORY}")
    return ("set", "adopt", DIRECTORY, "--store", store, *more)


@pytest.fixture
def promote(tmp_path) -> tuple[str | Path, ...]:
    """A promotion of a package into a store that holds nothing yet; its policy holds nothing back."""
    policy = tmp_path / "report-only.toml"
    policy.write_text((ROOT / "data/policies/demo.toml").read_text().replace('name = "demo"\n', 'name = "demo"\nmode = "report_only"\n', 1))
    for name in ("packages", "to"):
        (tmp_path / name).mkdir()
    distributions.wheel(tmp_path / "packages", "demo-app", "2.0")
    source = ("--store", f"file:{tmp_path}/source")
    good("publish", tmp_path / "packages", *source, "--run-id", "1", "--platform", "linux", "--artifact-group", "gfx94X-dcgpu")
    return ("promote", "--from", "run:1", "--to", "stable", "--policy", policy, *source, "--to-store", f"file:{tmp_path}/to", "--prefix", "v12/whl")


def test_a_name_that_replace_does_not_fit_is_refused(place):
    refused("P110", 2, *adopt(place, "--replace", "nonsense"))
    good(*adopt(place))
    refused("P110", 2, *adopt(place, "--replace", "nonsense"))
    refused("P110", 2, *adopt(place, "--seal", "--replace", "nonsense"))
    good(*adopt(place, "--seal"))
    assert "nonsense" in refused("P110", 2, *adopt(place, "--seal", "--replace", "nonsense")).err


def test_a_promotion_refuses_it_too(promote):
    for more in (("--dry-run",), ()):
        assert "nonsense" in refused("P110", 2, *promote, "--replace", "nonsense", *more).err
    good(*promote)
    refused("P110", 2, *promote, "--replace", "nonsense")


def test_a_release_to_several_channels_refuses_it(promote, tmp_path):
    """A name may fit a package of one family alone; one that fits none of any family is mistyped."""
    words = ["stable-{family}" if word == "stable" else word.replace("v12/whl", "v12/{family}") if isinstance(word, str) else word for word in promote]
    good("publish", tmp_path / "packages", "--store", f"file:{tmp_path}/source", "--run-id", "1", "--platform", "linux", "--artifact-group", "gfx110X-all")
    broken = tmp_path / "to/v12/gfx110X-all/demo_broken-1.0-py3-none-any.whl"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"no wheel")
    broken.with_name("index.html").write_text(f'<a href="{broken.name}">{broken.name}</a>')
    refused("P090", 7, *words)
    for more in (("--dry-run",), ()):
        assert "nonsense" in refused("P110", 2, *words, "--replace", broken.name, "--replace", "nonsense", *more).err
        assert not [path for path in (tmp_path / "source/channels").glob("stable-*")], "nothing has moved"
    good(*words, "--replace", broken.name)
    good(*words, "--replace", broken.name)
    refused("P110", 2, *words, "--replace", "nonsense")


def test_a_name_that_was_given_up_may_be_named_again(place):
    broken = Path(place.removeprefix("file:")) / "demo_broken-1.0-py3-none-any.whl"
    broken.write_bytes(b"no wheel")
    refused("P090", 7, *adopt(place))
    for _ in range(2):
        good(*adopt(place, "--replace", broken.name))
