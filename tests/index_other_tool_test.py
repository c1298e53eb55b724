"""`index check` where another tool writes its index into a directory of ours: each of its pages is named, our sound files are not
blamed for what its pages lack, what is false on its pages still counts, and the store's setting leaves it the find-links page."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support import distributions  # noqa: E402
from support.quarry import good, quarry  # noqa: E402
from support.static_server import serve  # noqa: E402

SHORT = {"Cache-Control": "public, max-age=60"}
RUN, REPOSITORY = "1-linux/python/gfx94X-dcgpu", "v2/gfx94X-dcgpu"
PROJECTS = ("demo-app", "demo-base", "demo-meta", "demo-more")


def html(*links: str) -> str:
    anchors = "".join(f'    <a href="{link}">{link.strip("/").split("/")[-1].replace("%2B", "+")}</a><br/>\n' for link in links)
    return f"<!DOCTYPE html>\n<html>\n  <body>\n{anchors}  </body>\n</html>\n<!--TIMESTAMP 1772000000-->\n"


def links_to(directory: Path, project: str, way: str) -> list[str]:
    stem = project.replace("-", "_") + "-"
    return [way + path.name.replace("+", "%2B") for path in sorted(directory.iterdir()) if path.name.startswith(stem) and not path.name.endswith(".metadata")]


@pytest.fixture(scope="module")
def stores(tmp_path_factory) -> Path:
    """`run`: a run with packages. `repository`: a distribution. Both sound."""
    house = tmp_path_factory.mktemp("other-tool")
    packages = house / "packages"
    packages.mkdir()
    distributions.wheel(packages, "demo-base", "1.0+rocm.1", requires_python=">=3.6")
    distributions.wheel(packages, "demo-app", "1.0", requires=("demo_base",))
    distributions.sdist(packages, "demo-meta", "1.0")
    distributions.wheel(packages, "demo-more", "1.0")
    good("publish", packages, "--store", f"file:{house}/run", "--run-id", "1", "--platform", "linux", "--artifact-group", "gfx94X-dcgpu")
    shutil.copytree(packages, house / "repository" / REPOSITORY)
    good("set", "adopt", REPOSITORY, "--store", f"file:{house}/repository", "--seal")
    return house


@pytest.fixture
def repository(stores, tmp_path) -> Path:
    return shutil.copytree(stores / "repository", tmp_path / "repository") / REPOSITORY


@pytest.fixture
def run(stores, tmp_path) -> Path:
    return shutil.copytree(stores / "run", tmp_path / "run") / RUN


def findings(place: str | Path, *more: str, code: int = 0) -> list[tuple[str, str, str]]:
    done = quarry("index", "check", place, *more, "--json")
    assert done.code == code, done.out + done.err
    return [(f["code"], f["severity"], f["place"]) for f in done.json["findings"]]


def named(*places: str) -> list[tuple[str, str, str]]:
    return [("I025", "warning", place) for place in places]


def write_another_index(directory: Path, *projects: str) -> None:
    """As scripts of today write an index: a page that links to directories, and one for each of `projects`."""
    (directory / "index.html").write_text(html(*(f"{project}/" for project in PROJECTS)))
    for project in projects:
        (directory / project).mkdir(exist_ok=True)
        (directory / project / "index.html").write_text(html(*links_to(directory, project, "../")))


def test_the_pages_of_projects_beside_the_trees_are_checked(repository):
    assert findings(repository) == []
    page = repository / "demo-app/index.html"
    page.write_text(page.read_text().replace("demo_app-1.0-py3-none-any.whl#", "demo_app-9.0-py3-none-any.whl#"))
    assert ("I010", "error", "demo-app/index.html: demo_app-1.0-py3-none-any.whl") in findings(repository, code=1)
    page.unlink()
    assert findings(repository, code=1) == [("I018", "error", "demo-app/index.html")]


def test_each_page_of_another_tool_is_named_and_nothing_else(repository):
    write_another_index(repository, "demo-base", *PROJECTS)
    pages = [f"{project}/index.html" for project in PROJECTS] + ["index.html"]
    assert findings(repository) == named(*pages)
    done = quarry("index", "check", repository)
    assert done.code == 0 and all(page in done.err for page in pages), done.err
    assert "`quarry index repair`" in done.err and "`quarry store setting --find-links other`" in done.err and done.err.count("[I025]") == 2
    for project in PROJECTS:
        (repository / project / "index.html").unlink()
    (repository / "index.html").unlink()
    good("index", "repair", REPOSITORY, "--store", f"file:{repository.parents[1]}")
    assert findings(repository) == [], "what the finding says makes the index sound again"


def test_one_page_of_a_project_is_named(repository):
    write_another_index(repository, "demo-base")
    assert findings(repository) == named("demo-base/index.html", "index.html")
    assert findings(repository, "--project", "demo-base") == named("demo-base/index.html", "index.html")


def test_a_page_of_a_tree_and_the_root_of_the_tree_are_named(run):
    (run / "simple/index.html").write_text(html("demo-base/"))
    (run / "simple/demo-base/index.html").write_text(html(*links_to(run / "dist", "demo-base", "../../dist/")))
    assert findings(run) == named("simple/demo-base/index.html", "simple/index.html")


def test_what_is_false_on_a_page_of_another_tool_is_an_error(run, repository):
    (run / "simple/demo-base/index.html").write_text(html("../../dist/demo_base-0.9-py3-none-any.whl"))
    found = findings(run, code=1)
    assert found == [*named("simple/demo-base/index.html"), ("I010", "error", "simple/demo-base/index.html: demo_base-0.9-py3-none-any.whl")]
    write_another_index(repository, "demo-base")
    page = repository / "demo-base/index.html"
    page.write_text(page.read_text().replace('.whl"', f'.whl#sha256={"0" * 64}"'))
    assert ("I012", "error", "demo-base/index.html: demo_base-1.0+rocm.1-py3-none-any.whl") in findings(repository, code=6)


def test_what_installers_ignore_on_a_page_of_another_tool_is_no_error(repository):
    """An index function lists all that lies there, and the way up."""
    names = sorted(path.name for path in repository.iterdir() if path.is_file())
    assert "pages.json" in names and any(name.endswith(".whl.metadata") for name in names)
    (repository / "index.html").write_text(html("../", "../index.html", "gone.txt", *(name.replace("+", "%2B") for name in names), *(f"{project}/" for project in PROJECTS)))
    assert findings(repository) == named("index.html")
    (repository / "index.html").write_text(html("../index.html", "demo_app-9.0-py3-none-any.whl"))
    assert findings(repository, code=1) == [*named("index.html"), ("I010", "error", "index.html: demo_app-9.0-py3-none-any.whl")]


def test_our_own_errors_stay_beside_another_tool(repository):
    write_another_index(repository)
    (repository / "simple/demo-app/index.html").unlink()
    assert findings(repository, code=1) == [*named("index.html"), ("I015", "error", "simple-json/demo-app"), ("I018", "error", "simple/index.html")]


def test_an_emptied_page_is_not_another_tools_work(run):
    (run / "simple/demo-base/index.html").write_text("")
    assert ("I015", "error", "simple/demo-base") in findings(run, code=1)


def test_an_index_that_is_all_of_another_tool_is_judged_as_before(tmp_path, stores):
    shutil.copytree(stores / "packages", tmp_path / "theirs")
    write_another_index(tmp_path / "theirs", *PROJECTS)
    assert ("I011", "error", "demo-app/index.html: demo_app-1.0-py3-none-any.whl") in findings(tmp_path / "theirs", code=1)


@pytest.mark.parametrize("form", ["path", "run"])
def test_the_setting_leaves_the_find_links_page_to_the_other_tool(run, form):
    store = f"file:{run.parents[2]}"
    place = [run] if form == "path" else ["run:1", "--store", store]
    (run / "index.html").write_text(html(*links_to(run / "dist", "demo-base", "dist/"), "dist/demo_old-1.0-py3-none-any.whl"))
    found = findings(*place, code=1)
    assert found == [*named("index.html"), ("I010", "error", "index.html: demo_old-1.0-py3-none-any.whl")]
    good("store", "setting", "--find-links", "other", "--store", store)
    assert findings(*place) == [("I025", "note", "index.html")]
    (run / "simple/demo-base/index.html").write_text(html(*links_to(run / "dist", "demo-base", "../../dist/")))
    assert findings(*place) == [("I025", "note", "index.html"), *named("simple/demo-base/index.html")], "the setting leaves one page only"


def test_settings_of_another_program_above_the_store_are_not_read(run):
    (run / "index.html").write_text(html(*links_to(run / "dist", "demo-base", "dist/")))
    (run / "settings.json").write_text('{"find_links": "other"}')
    assert findings(run) == named("index.html")


def test_a_served_repository_with_the_root_page_of_another_tool(repository):
    """Its root page links to directories alone, as the root of a simple index does: the trees below are ours all the same."""
    write_another_index(repository, "demo-base")
    with serve(repository.parents[1], SHORT) as (url, requested):
        assert findings(f"{url}/{REPOSITORY}/") == named("/", "demo-base/")
        assert not any("/seals/" in path for path in requested)
        good("store", "setting", "--find-links", "other", "--store", f"file:{repository.parents[1]}")
        assert findings(f"{url}/{REPOSITORY}/") == [("I025", "note", "/"), *named("demo-base/")]
