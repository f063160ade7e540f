"""Copies the docstrings of the compiled classes into their stubs, where editors and the API reference read them.

The docstrings are written in `rust/bindings/`. `make stubs` rewrites `python/lexmill/*.pyi` after a change there, and a
test compares both. Parameters lose the backquotes that Rust's linter asks for: the tools that read docstrings want the
bare name.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import lexmill

FOLDER = Path(lexmill.__file__).parent
MODULES = ["_core", "decoders", "models", "normalizers", "pre_tokenizers", "processors", "trainers"]
NAME_IN_LIST = re.compile(r"^( +)`([\w*]+)`(?=:)", re.MULTILINE)
ENTRY = re.compile(r"    [`\w*]+:")
WIDTH = 120

Documented = ast.ClassDef | ast.FunctionDef


def docstring(owner: object, name: str) -> str | None:
    """The docstring of a member as compiled; None if it has none of its own, as what Python inherits."""
    member = vars(owner).get(name)
    text = inspect.getdoc(getattr(owner, name, None) if isinstance(member, staticmethod | classmethod) else member)
    return NAME_IN_LIST.sub(r"\1\2", text) if text else None


def documented(tree: ast.Module, module: object) -> Iterator[tuple[Documented, str]]:
    """Public classes and functions of a stub, their members too, each with its docstring."""
    for node in tree.body:
        if not isinstance(node, Documented) or node.name.startswith("_"):
            continue
        if text := docstring(module, node.name):
            yield node, text
        if isinstance(node, ast.ClassDef):
            seen = set()
            for item in node.body:
                # Overloads and setters follow the first definition, which alone carries the docstring.
                if isinstance(item, ast.FunctionDef) and item.name not in seen and not item.name.startswith("_"):
                    seen.add(item.name)
                    if text := docstring(getattr(module, node.name), item.name):
                        yield item, text


def wrapped(text: str, width: int) -> list[str]:
    """A docstring with its paragraphs and the entries of its lists broken into lines of at most `width`."""
    parts: list[str] = []
    for line in text.splitlines():
        begins = not line or not parts or not parts[-1] or parts[-1].endswith(":") or ENTRY.match(line)
        if begins:
            parts.append(line)
        else:
            parts[-1] += " " + line.strip()
    found = []
    for part in parts:
        indent = " " * (len(part) - len(part.lstrip()))
        further = indent + "    " if indent else ""
        found += textwrap.wrap(part, width, subsequent_indent=further, break_long_words=False) or [""]
    return found


def literal(text: str, indent: str) -> list[str]:
    """A docstring as lines of source."""
    first, *rest = wrapped(text.replace("\\", "\\\\"), WIDTH - len(indent) - 3)
    lines = [f'{indent}"""{first}', *(indent + line if line else "" for line in rest)]
    if rest or len(lines[0]) + 3 > WIDTH:
        return [*lines, f'{indent}"""']
    return [f'{lines[0]}"""']


def header_end(node: Documented) -> int:
    """The number of the last line of a definition's header."""
    first = node.body[0]
    if isinstance(first, ast.Expr) and getattr(first.value, "value", None) is Ellipsis:
        return first.lineno
    decorators: list[ast.expr] = getattr(first, "decorator_list", [])
    return min([first.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def rewritten(name: str) -> str:
    """The stub of a module with the docstrings of its compiled classes."""
    source = (FOLDER / f"{name}.pyi").read_text(encoding="utf-8")
    lines: list[str | None] = list(source.splitlines())
    edits: list[tuple[int, list[str]]] = []
    tree = ast.parse(source)
    for node in [item for item in ast.walk(tree) if isinstance(item, Documented)]:
        first = node.body[0]
        if ast.get_docstring(node) is not None:
            start, end = first.lineno - 1, first.end_lineno or first.lineno
            lines[start:end] = [None] * (end - start)
    for node, text in documented(tree, import_module(f"lexmill.{name}")):
        head = header_end(node)
        line = lines[head - 1]
        if line is not None:
            # `def f() -> None: ...`: the docstring takes the place of the dots.
            lines[head - 1] = line.removesuffix(" ...")
        edits.append((head, literal(text, " " * (node.col_offset + 4))))
    for head, added in sorted(edits, reverse=True):
        lines[head:head] = added
    return "\n".join(line for line in lines if line is not None) + "\n"


def main() -> None:
    """Rewrites the stubs, or with `--check` names those that would change."""
    changed = [name for name in MODULES if rewritten(name) != (FOLDER / f"{name}.pyi").read_text(encoding="utf-8")]
    if "--check" in sys.argv:
        sys.exit(f"run docs/stub_docstrings.py: {', '.join(changed)} differ" if changed else 0)
    for name in changed:
        (FOLDER / f"{name}.pyi").write_text(rewritten(name), encoding="utf-8")


if __name__ == "__main__":
    main()
