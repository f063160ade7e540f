"""lexmill in the place of Hugging Face `tokenizers`: programs that import that package get this one."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType

from lexmill._compat.names import NAME, VERSIONS
from lexmill._core import Tokenizer
from lexmill.errors import LexmillError, OptionError

__all__ = ["install", "installed_version", "uninstall"]

# Packages and modules of ours that have a counterpart there.
PUBLIC = [
    "decoders",
    "implementations",
    "models",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "tokenizers",
    "tools",
    "trainers",
]


def install(version: str = "0.23") -> None:
    """Makes `import tokenizers`, and imports from its submodules, give lexmill's classes from now on.

    Call it before anything imports `tokenizers`, as transformers does. The package itself need not be installed.
    Calling it again changes nothing.

    Args:
        version: the interface: `0.23` for `lexmill`, or `1` for `lexmill.v1`, which is provisional.

    Raises:
        LexmillError: the other package, or the other interface, is imported already, so the program would mix classes
            of both.
        OptionError: another version.
    """
    if version not in VERSIONS:
        raise OptionError(f"version is {version!r} but must be {' or '.join(map(repr, VERSIONS))}")
    if (installed := installed_version()) is not None:
        if installed != version:
            message = f"lexmill stands in the place of {NAME} {installed} already: call lexmill.uninstall() first"
            raise LexmillError(message)
        return
    if NAME in sys.modules:
        origin = getattr(sys.modules[NAME], "__file__", None)
        raise LexmillError(f"{NAME} is imported already, from {origin}: call lexmill.install() before that")
    # By its name, since `lexmill` imports this module.
    package = importlib.import_module("lexmill" if version == "0.23" else "lexmill.v1")
    top = ModuleType(NAME, package.__doc__)
    top.__file__ = package.__file__
    public = {name: getattr(package, name) for name in package.__all__}
    release, spelled = VERSIONS[version]
    top.__dict__.update(public, __version__=spelled, __all__=sorted({*package.__all__, "__version__"}))
    _put(NAME, top)
    for name, module in _modules() if version == "0.23" else [(NAME, top)]:
        _put(f"{NAME}.{name}", module)
    # Only now: the imports of that module take longer than all of lexmill.
    from lexmill._compat import distribution

    distribution.show(release)


def uninstall() -> None:
    """Undoes `install`; modules that have imported names from lexmill keep them."""
    if installed_version() is None:
        return
    for name in [name for name in sys.modules if name == NAME or name.startswith(f"{NAME}.")]:
        del sys.modules[name]
    from lexmill._compat import distribution

    distribution.hide()


def installed_version() -> str | None:
    """The version of `tokenizers` in whose place lexmill stands, a key of `VERSIONS`; None if it does not."""
    installed = getattr(sys.modules.get(NAME), "Tokenizer", None)
    if installed is Tokenizer:
        return "0.23"
    v1 = sys.modules.get("lexmill.v1")
    return "1" if v1 is not None and installed is v1.Tokenizer else None


def _modules() -> Iterator[tuple[str, ModuleType]]:
    """Our public modules, and the submodules of packages among them, each with its name in `tokenizers`."""
    import pkgutil

    for name in PUBLIC:
        module = importlib.import_module(f"lexmill.{name}")
        yield name, module
        for part in pkgutil.iter_modules(getattr(module, "__path__", [])):
            if not part.name.startswith("_"):
                yield f"{name}.{part.name}", importlib.import_module(f"lexmill.{name}.{part.name}")


def _put(name: str, module: ModuleType) -> None:
    """Registers a copy of a module, whose own name and spec stay as they are."""
    copy = ModuleType(name, module.__doc__)
    copy.__dict__.update({key: value for key, value in vars(module).items() if not _is_own(key)})
    copy.__spec__ = ModuleSpec(name, loader=None, is_package=True)
    copy.__path__ = []
    copy.__package__ = name
    copy.__file__ = module.__file__
    sys.modules[name] = copy
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, copy)


def _is_own(key: str) -> bool:
    return key in ("__name__", "__spec__", "__loader__", "__package__", "__path__", "__file__", "__cached__")
