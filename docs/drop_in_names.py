"""Public names and signatures of both packages, by introspection and from stubs: what docs/drop-in.md is made of."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import sys
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

PEER, OURS = "tokenizers", "lexmill"
# Methods that Python calls for an operator or a statement; those for pickling and the like are left aside.
SPECIAL = {"__call__", "__contains__", "__getitem__", "__iter__", "__len__", "__next__", "__setitem__"}
UNKNOWN = "..."
"""A default that a stub leaves open."""


@dataclass(frozen=True)
class Parameter:
    """One parameter as a caller sees it."""

    name: str
    default: str | None
    """As `repr` spells it; None: the parameter must be given."""
    by_keyword: bool
    """Whether it goes by keyword only."""


@dataclass(frozen=True)
class Signature:
    """Parameters in order, without `self`, and whether other keywords are taken too."""

    parameters: tuple[Parameter, ...]
    other_keywords: bool

    def names(self, *, by_keyword: bool) -> list[str]:
        """Names of the parameters that go by keyword only, or of those that may go by position."""
        return [item.name for item in self.parameters if item.by_keyword == by_keyword]


def peer_modules() -> list[str]:
    """Names of all modules of the peer, without the package's own name; the top level is ''."""
    top = import_module(PEER)
    found = [module.name for module in pkgutil.walk_packages(top.__path__, f"{PEER}.")]
    # A package has its submodules as names only after they are imported.
    for name in found:
        import_module(name)
    return ["", *sorted(name.removeprefix(f"{PEER}.") for name in found)]


def load(package: str, module: str) -> ModuleType | None:
    """A module of a package; None if there is none."""
    try:
        return import_module(f"{package}.{module}" if module else package)
    except ModuleNotFoundError:
        return None


def names_of(module: ModuleType) -> list[str]:
    """Names that a module offers: its own and, in a package or a compiled module, those that it passes on."""
    offered = [name for name in sorted(vars(module)) if not name.startswith("_") or name == "__version__"]
    return [name for name in offered if not _is_import(module, name)]


def _is_import(module: ModuleType, name: str) -> bool:
    """Whether a module only uses a name: one of the standard library or, in a leaf, one of the rest of the package."""
    value = getattr(module, name)
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in sys.stdlib_module_names or _is_leaf(module)
    if getattr(typing, name, None) is value:
        return True
    home = getattr(value, "__module__", "")
    if getattr(value, "__name__", None) == name and home.partition(".")[0] in sys.stdlib_module_names:
        return True
    top = import_module(PEER)
    return (
        _is_leaf(module)
        and (home.partition(".")[0] == PEER or getattr(top, name, None) is value)
        and (home != module.__name__)
    )


def _is_leaf(module: ModuleType) -> bool:
    return str(module.__file__).endswith(".py") and not hasattr(module, "__path__")


def home_of(value: object) -> str | None:
    """The module of the peer that a class or function of the peer belongs to; None for anything else."""
    home = str(getattr(value, "__module__", ""))
    named = isinstance(value, type) or inspect.isroutine(value)
    return home.partition(".")[2] if named and home.partition(".")[0] == PEER else None


def members_of(cls: type) -> list[str]:
    """Public names that a class defines itself: methods, properties and annotated attributes."""
    names = {*vars(cls), *inspect.get_annotations(cls)}
    return sorted(name for name in names if not name.startswith("_") or name in SPECIAL)


def bases_of(cls: type) -> list[str]:
    """Names of the classes of the same package that a class inherits from."""
    package = cls.__module__.partition(".")[0]
    return [base.__name__ for base in cls.__mro__[1:] if base.__module__.partition(".")[0] == package]


def has_member(cls: type, name: str) -> bool:
    """Whether a class has a member, if only as an annotation."""
    return hasattr(cls, name) or any(name in inspect.get_annotations(base) for base in cls.__mro__)


def kind_of(cls: type, name: str) -> str:
    """How a member is reached: 'method', 'class method', 'static method' or 'attribute'."""
    value = inspect.getattr_static(cls, name, None)
    if isinstance(value, staticmethod):
        return "static method"
    if isinstance(value, classmethod) or type(value).__name__ == "classmethod_descriptor":
        return "class method"
    return "method" if inspect.isroutine(value) else "attribute"


def shown_signature(value: object) -> Signature | None:
    """What `inspect.signature` tells; None if it tells nothing."""
    try:
        found = list(inspect.signature(value).parameters.values())  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    found = found[1:] if found and found[0].name == "self" else found
    kinds = inspect.Parameter
    return Signature(
        tuple(
            Parameter(
                item.name, None if item.default is kinds.empty else repr(item.default), item.kind == kinds.KEYWORD_ONLY
            )
            for item in found
            if item.kind not in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL)
        ),
        any(item.kind == kinds.VAR_KEYWORD for item in found),
    )


def peer_signature(path: str, value: object) -> Signature | None:
    """What the peer takes.

    Its stubs are made from the code, while `inspect.signature` shows what was written by hand. So the stub counts, and
    the other completes it.
    """
    shown, stub = shown_signature(value), stub_signature(PEER, path)
    if stub is None or shown is None:
        return stub or shown
    defaults = {item.name: item.default for item in shown.parameters}
    explicit = [
        Parameter(
            item.name, defaults.get(item.name) or UNKNOWN if item.default == UNKNOWN else item.default, item.by_keyword
        )
        for item in stub.parameters
    ]
    known = {item.name for item in explicit}
    rest = [Parameter(item.name, item.default, True) for item in shown.parameters if item.name not in known]
    return Signature((*explicit, *(rest if stub.other_keywords else [])), stub.other_keywords)


def stub_signature(package: str, path: str) -> Signature | None:
    """What the stub of a package says of a function, a method or a class, named from the package on."""
    node = stub_definitions(package).get(path) or stub_definitions(package).get(f"{path}.__new__")
    return None if node is None else node_signature(node)


def node_signature(node: ast.FunctionDef) -> Signature:
    """The parameters of a function of a stub."""
    given = [*node.args.posonlyargs, *node.args.args]
    defaults = [None] * (len(given) - len(node.args.defaults)) + [_spelled(item) for item in node.args.defaults]
    by_position = [Parameter(item.arg, default, False) for item, default in zip(given, defaults, strict=True)]
    is_method = bool(by_position) and by_position[0].name in ("self", "cls")
    by_keyword = [
        Parameter(item.arg, None if default is None else _spelled(default), True)
        for item, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    ]
    return Signature((*by_position[is_method:], *by_keyword), node.args.kwarg is not None)


def _spelled(node: ast.expr) -> str:
    return UNKNOWN if ast.unparse(node) == UNKNOWN else repr(ast.literal_eval(node))


def can_be_set(cls: type, name: str) -> bool | None:
    """Whether a property takes a value; None if neither the property nor a stub tells."""
    value = inspect.getattr_static(cls, name, None)
    if isinstance(value, property):
        return value.fset is not None
    for base in cls.__mro__:
        package, _, module = base.__module__.partition(".")
        path = f"{module}.{base.__name__}.{name}".lstrip(".")
        if package in (PEER, OURS) and path in stub_definitions(package):
            return f"{path}.setter" in stub_definitions(package)
    return None


@cache
def stub_definitions(package: str) -> dict[str, ast.FunctionDef]:
    """All functions and methods of a package's stubs, by their name from the package on; setters end in `.setter`."""
    root = Path(str(import_module(package).__file__)).parent
    found: dict[str, ast.FunctionDef] = {}
    for file in sorted(root.rglob("*.pyi")):
        parts = file.relative_to(root).with_suffix("").parts
        module = ".".join(part for part in parts if part not in ("__init__", "_core"))
        for name, node in functions_of(ast.parse(file.read_text(encoding="utf-8")).body):
            # Of overloads the first counts.
            found.setdefault(f"{module}.{name}".lstrip("."), node)
    return found


def functions_of(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods of a stub, by their names; setters end in `.setter`."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from functions_of(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            is_setter = any(isinstance(item, ast.Attribute) and item.attr == "setter" for item in node.decorator_list)
            yield f"{prefix}{node.name}{'.setter' if is_setter else ''}", node
