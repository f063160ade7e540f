"""The stubs' constructors against those at run time: mypy's stubtest cannot see into `__new__` of compiled classes."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import lexmill

FOLDER = Path(lexmill.__file__).parent
MODULES = ["_core", "models", "trainers", "normalizers", "pre_tokenizers", "processors", "decoders"]


def constructors(module: str) -> dict[str, list[ast.arguments]]:
    """Parameters of every `__new__` that a stub declares, by class."""
    found: dict[str, list[ast.arguments]] = {}
    for node in ast.parse((FOLDER / f"{module}.pyi").read_text()).body:
        if isinstance(node, ast.ClassDef):
            functions = (item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__new__")
            found.setdefault(node.name, []).extend(function.args for function in functions)
    return {name: arguments for name, arguments in found.items() if arguments}


def in_stub(arguments: ast.arguments) -> list[tuple[str, bool]]:
    """Names, and whether each goes by keyword only."""
    return [(item.arg, False) for item in arguments.args[1:]] + [(item.arg, True) for item in arguments.kwonlyargs]


def at_run_time(cls: type) -> list[tuple[str, bool]]:
    # Unknown keywords are passed over at run time, and the stubs leave them out so that a type checker reports them.
    kinds = {item.name: item.kind for item in inspect.signature(cls).parameters.values()}
    named = {name: kind for name, kind in kinds.items() if kind is not inspect.Parameter.VAR_KEYWORD}
    return [(name, kind is inspect.Parameter.KEYWORD_ONLY) for name, kind in named.items()]


def defaults(arguments: ast.arguments) -> list[object]:
    values = [*arguments.defaults, *(value for value in arguments.kw_defaults if value is not None)]
    return [ast.literal_eval(value) for value in values]


@pytest.mark.parametrize("module", MODULES)
def test_constructors_are_those_at_run_time(module: str) -> None:
    runtime = import_module(f"lexmill.{module}")
    for name, overloads in constructors(module).items():
        cls = getattr(runtime, name)
        assert [in_stub(arguments) for arguments in overloads] == [at_run_time(cls)] * len(overloads), name
        given = [item.default for item in inspect.signature(cls).parameters.values()]
        expected = [value for value in given if value is not inspect.Parameter.empty]
        # A default that the type does not have, as the keyword must not be None, is `...` in the stub.
        shown = [None if value is ... else value for value in defaults(overloads[0])]
        assert shown == [None if value == [] else value for value in expected], name


@pytest.mark.parametrize("module", MODULES)
def test_every_public_class_with_a_constructor_has_a_stub(module: str) -> None:
    runtime = import_module(f"lexmill.{module}")
    classes = {name for name in runtime.__all__ if isinstance(getattr(runtime, name), type)}
    without = {"CountedWords", "Decoder", "Normalizer", "PostProcessor", "PreTokenizer", "TextIterator", "Trainer"}
    without |= {"TextBlock", "WordCounts"}
    assert set(constructors(module)) == classes - without


@pytest.mark.parametrize("module", MODULES)
def test_docstrings_are_those_at_run_time(module: str) -> None:
    specification = spec_from_file_location("stub_docstrings", FOLDER.parents[1] / "docs" / "stub_docstrings.py")
    assert specification is not None
    assert specification.loader is not None
    script = module_from_spec(specification)
    specification.loader.exec_module(script)
    assert script.rewritten(module) == (FOLDER / f"{module}.pyi").read_text(encoding="utf-8"), "run: make stubs"


@pytest.mark.parametrize("module", MODULES)
def test_every_parameter_of_a_public_class_is_documented(module: str) -> None:
    runtime = import_module(f"lexmill.{module}")
    for name, overloads in constructors(module).items():
        text = inspect.getdoc(getattr(runtime, name)) or ""
        missing = [parameter for parameter, _ in in_stub(overloads[0]) if f"`{parameter}`:" not in text]
        assert not missing, f"{name} says nothing of {missing}"
