from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import lexmill

FOLDER = Path(lexmill.__file__).parent / "reference"
FILES = sorted(FOLDER.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(FOLDER).with_suffix("").parts
    return ".".join(["lexmill", "reference", *(part for part in parts if part != "__init__")])


def imported_modules(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return modules | {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_reference_imports_nothing_compiled(path: Path) -> None:
    allowed = {
        *sys.stdlib_module_names,
        "regex",
        "lexmill.errors",
        *map(module_name, FILES),
    }
    assert {module for module in imported_modules(path) if module.split(".")[0] not in allowed} <= allowed


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_reference_files_stay_under_200_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 200
