"""The files of a Rust crate and the files that each imports, read from `use` and from paths in code.

A folder's `mod.rs` is a file like others. Code of tests is left out. Imports of a file's own ancestors are left out
too: a child of a Rust module is a part of it, sees its private items, and the parent calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

Module = tuple[str, ...]

# Comments and literals. A quote without its twin is a lifetime.
NO_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\[^']*'|[^'\\]')""", re.DOTALL)
OF_TESTS = re.compile(r"#\[cfg\((?:test|doc)\)\]")
CHILD = re.compile(r"\bmod\s+(\w+)\s*;")
USE = re.compile(r"\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:])\w+(?:\s*::\s*\w+)+")


def graph_of(root: Path) -> dict[str, set[str]]:
    """The modules of the crate in the folder `root`, with the modules that each imports; `lib` is the crate itself."""
    paths = {module_of(path.relative_to(root)): path for path in sorted(root.rglob("*.rs"))}
    code = {module: code_of(path.read_text(encoding="utf-8")) for module, path in paths.items()}
    children = {module: CHILD.findall(text) for module, text in code.items()}
    compiled: list[Module] = [()]
    for module in compiled:
        compiled += [(*module, child) for child in children[module] if (*module, child) in code]
    graph = {}
    for module in compiled:
        found = imported(code[module], module, set(compiled))
        graph[module] = {target for target in found if target != module[: len(target)]}
    return {name(module): {name(target) for target in targets} for module, targets in graph.items()}


def name(module: Module) -> str:
    return "::".join(module) or "lib"


def module_of(path: Path) -> Module:
    parts = path.with_suffix("").parts
    return parts[:-1] if parts[-1] in {"mod", "lib"} else parts


def code_of(text: str) -> str:
    """The text without comments, literals, visibilities and items of tests."""
    text = NO_CODE.sub(lambda found: "" if found[0].startswith("/") else "''", text)
    text = re.sub(r"\bpub\s*\([^)]*\)", "", text)
    while found := OF_TESTS.search(text):
        text = text[: found.start()] + text[end_of_item(text, found.end()) :]
    return text


def end_of_item(text: str, start: int) -> int:
    """The end of the item at `start`: a semicolon or a closing brace outside of brackets."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0 and text[at] in ";}":
            return at + 1
    return len(text)


def imported(code: str, module: Module, compiled: set[Module]) -> Iterator[Module]:
    """The files that the imports of a file lead to, and the files of longer paths in its other code."""
    uses = [path for tree in USE.findall(code) for path in paths_of_tree(re.sub(r"\s+as\s+\w+|\s", "", tree))]
    names = {child: ["self", child] for child in CHILD.findall(code)}
    paths = [path[:-1] if path[-1] == "self" else path for path in uses]
    others = [re.split(r"\s*::\s*", path) for path in PATH.findall(USE.sub("", code))]
    for path in paths:
        path[:1] = names.get(path[0], path[:1])
    names |= {path[-1]: path for path in paths}
    for path in paths + [names.get(first, [first]) + rest for first, *rest in others]:
        if path[0] in {"crate", "self", "super"}:
            yield target_of(path, module, compiled)


def paths_of_tree(tree: str, prefix: str = "") -> Iterator[list[str]]:
    """The paths of `a::{b, c::{d, e}}`."""
    first, brace, rest = tree.partition("{")
    if not brace:
        yield f"{prefix}{first}".split("::")
        return
    depth, branch = 0, ""
    for character in rest.removesuffix("}") + ",":
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            yield from paths_of_tree(branch, prefix + first)
            branch = ""
        else:
            branch += character


def target_of(path: list[str], module: Module, compiled: set[Module]) -> Module:
    """The file that the beginning of a path within the crate leads to."""
    target: Module = () if path[0] == "crate" else module
    for part in path:
        if part == "super":
            target = target[:-1]
        elif (*target, part) in compiled:
            target = (*target, part)
        elif part not in {"crate", "self"}:
            break
    return target
