"""Files of `python/lexmill` and of `rust` import each other in one direction, imports within functions included."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from rust_imports import graph_of

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python"


def modules() -> dict[str, Path]:
    """Files by the names of their modules; compiled modules have stubs, which import nothing when they run."""
    found = {}
    for path in sorted(PYTHON.rglob("*.py*")):
        if path.suffix in (".py", ".pyi"):
            parts = path.relative_to(PYTHON).with_suffix("").parts
            found.setdefault(".".join(parts[:-1] if parts[-1] == "__init__" else parts), path)
    return found


def imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        yield from imports(child)


def imported(module: str, path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of ours that a module imports."""
    names: list[str] = []
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in imports(ast.parse(path.read_text(encoding="utf-8"))) if path.suffix == ".py" else ():
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        else:
            source = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            inner = [f"{source}.{alias.name}" for alias in node.names]
            names += [name if name in known else source for name in inner]
    return {name for name in names if name in known} - {module}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Modules of which each imports the next one, the last is the first; empty if there are none."""
    try:
        TopologicalSorter({module: sorted(graph[module]) for module in sorted(graph)}).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_imports_form_no_circle() -> None:
    known = modules()
    graph = {module: imported(module, path, known) for module, path in known.items()}
    assert graph["lexmill.ray"] >= {"lexmill._core", "lexmill._engines.jobs"}
    assert circle(graph) == []


def test_private_modules_at_the_top_are_the_ones_that_the_core_imports_by_name() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "rust").rglob("*.rs"))
    named = set(re.findall(r'import\("(lexmill[\w.]*)"\)', sources))
    known = modules()
    assert {"lexmill.errors"} <= named <= set(known)
    private = {name for name in known if re.fullmatch(r"lexmill\._[a-z]\w*", name) and known[name].stem != "__init__"}
    assert private - {"lexmill._core", "lexmill._types"} <= named


def test_rust_files_import_each_other_in_one_direction() -> None:
    graph = graph_of(ROOT / "rust")
    assert graph["tokenizer"] >= {"pipeline", "added_tokens"}
    assert circle(graph) == []


def test_a_circle_of_rust_files_is_found(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a; mod b; mod c;",
        "a.rs": "use crate::b::{self, inner::{One, Two}}; // use crate::c;",
        "b/mod.rs": "mod inner; pub struct Parent; pub use inner::One;",
        "b/inner.rs": 'use super::Parent; fn f() { crate::c::g("use crate::a::X;") }',
        "c.rs": "#[cfg(test)] mod tests { use crate::a::One; } #[cfg(test)] use crate::a::Two; fn g() {}",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    graph = graph_of(tmp_path)
    assert graph == {"lib": set(), "a": {"b", "b::inner"}, "b": {"b::inner"}, "b::inner": {"c"}, "c": set()}
    assert circle(graph) == []
    (tmp_path / "c.rs").write_text("use super::a;", encoding="utf-8")
    assert circle(graph_of(tmp_path)) == ["a", "b::inner", "c", "a"]
