"""What is said in several files about the package agrees: its address, its versions of Python, its files."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import lexmill
from lexmill import _types

ROOT = Path(__file__).parents[2]
# Programs, the readable twin, and the module that takes the place of `tokenizers`, with names that `lexmill` has too.
NO_REFERENCE = {"cli", "comparison", "demo", "reference", "tokenizers"}
# Types of arguments, a table that Hugging Face has too, and the version.
NO_ENTRY = {*vars(_types), "NORMALIZERS", "__version__"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def only(pattern: str, text: str) -> str:
    found = set(re.findall(pattern, text, re.MULTILINE))
    assert len(found) == 1, (pattern, found)
    return found.pop()


def test_the_repository_has_one_address() -> None:
    address = only(r'^Source = "(.*)"$', read("pyproject.toml"))
    assert only(r"^repo_url: (.*)$", read("mkdocs.yml")) == address
    assert only(r'^repository = "(.*)"$', read("Cargo.toml")) == address
    assert only(r"\((https://github\.com/(?!huggingface)[^/]*/[^/]*)/", read("docs/pypi.md")) == address
    assert only(r'^(?:Changelog|Issues) = "(https://github\.com/[^/]*/[^/]*)/', read("pyproject.toml")) == address


def test_links_of_the_page_on_pypi_lead_somewhere_from_there() -> None:
    links = re.findall(r"\]\(([^)]*)\)", read("docs/pypi.md"))
    assert links
    assert all(link.startswith("https://") for link in links)


def supported_versions() -> list[str]:
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', read("pyproject.toml"))


def test_wheels_are_built_for_the_versions_that_the_classifiers_name() -> None:
    built = only(r"^  INTERPRETERS: (.*)$", read(".github/workflows/wheels.yml")).split()
    assert built == [*supported_versions(), "3.14t"]
    assert supported_versions()[0] == only(r'^requires-python = ">=(.*)"$', read("pyproject.toml"))


def test_every_version_with_a_wheel_is_tested_once() -> None:
    matrices = re.findall(r"^        python: \[(.*)\]$", read(".github/workflows/ci.yml"), re.MULTILINE)
    tested = [version for matrix in matrices for version in re.findall(r'"([^"]*)"', matrix)]
    assert sorted(tested) == sorted([*supported_versions(), "3.14t"])


def test_actions_are_pinned_to_commits() -> None:
    files = (ROOT / ".github" / "workflows").glob("*.yml")
    used = re.findall(r"uses: (.*)", "\n".join(path.read_text(encoding="utf-8") for path in files))
    assert used
    assert not [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*", action)]
    # One commit an action, everywhere.
    assert len({action.partition("@")[0] for action in used}) == len(set(used))


def test_citation_has_the_version_and_the_address_of_the_package() -> None:
    assert only(r"^version: (.*)$", read("CITATION.cff")) == only(r'^version = "(.*)"$', read("Cargo.toml"))
    assert only(r"^repository-code: (.*)$", read("CITATION.cff")) == only(r'^repository = "(.*)"$', read("Cargo.toml"))


def test_oldest_rust_is_the_same_everywhere() -> None:
    oldest = only(r'^rust-version = "(.*)"$', read("Cargo.toml"))
    for name in ("README.md", "docs/index.md", "docs/releasing.md"):
        assert only(r"Rust (1\.\d+)", read(name)) == oldest


def test_pages_of_the_site_are_in_its_navigation() -> None:
    listed = set(re.findall(r"[\w/.-]+\.md", read("mkdocs.yml").partition("\nnav:\n")[2]))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages - listed == {"pypi.md"}


def test_readme_counts_the_names_of_the_drop_in_page() -> None:
    page = only(
        r"^Of (\d+ names \d+ are here, \d+ are different on purpose, \d+ are left out)", read("docs/drop-in.md")
    )
    readme = read("README.md")
    there, names = re.findall(r"\*\*(\d+) of the (\d+) public names", readme)[0]
    different, left_out = re.findall(r"(\d+) differ on purpose, (\d+) are left out", readme)[0]
    assert page == f"{names} names {there} are here, {different} are different on purpose, {left_out} are left out"


def test_readme_is_short() -> None:
    assert len(read("README.md").encode()) <= 6_000


def public_modules() -> list[str]:
    names = [found.name for found in pkgutil.iter_modules(lexmill.__path__)]
    return ["lexmill", *(f"lexmill.{name}" for name in names if not name.startswith("_") and name not in NO_REFERENCE)]


@pytest.mark.parametrize("name", public_modules())
def test_public_names_are_in_the_api_reference(name: str) -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))
    paths = re.findall(r"^::: ([\w.]+)$", pages, re.MULTILINE)
    documented = [pkgutil.resolve_name(path) for path in paths]
    module = importlib.import_module(name)
    missing = {
        public
        for public in set(module.__all__) - NO_ENTRY
        if not isinstance(value := getattr(module, public), ModuleType)
        and all(value is not other for other in documented)
    }
    assert not missing


SLOW_TO_IMPORT = ["asyncio", "glob", "inspect", "numpy", "pathlib", "subprocess", "urllib.parse"]


def test_importing_lexmill_imports_no_slow_module() -> None:
    imported = f"{{*{SLOW_TO_IMPORT}}} & (set(sys.modules) - before)"
    program = f"import sys; before = set(sys.modules); import lexmill; print(*({imported}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
