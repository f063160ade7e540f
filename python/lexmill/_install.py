"""lexmill in the place of Hugging Face `tokenizers`: programs that import that package get this one."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType

import lexmill
from lexmill.errors import LexmillError

NAME = "tokenizers"
# The version whose interface this is.
VERSION = "0.23.3"
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


def install() -> None:
    """Makes `import tokenizers`, and imports from its submodules, give lexmill's classes from now on.

    Call it before anything imports `tokenizers`, as transformers does. The package itself need not be installed.
    Calling it again changes nothing.

    Raises:
        LexmillError: the other package is imported already; classes of both would meet.
    """
    if is_installed():
        return
    if NAME in sys.modules:
        origin = getattr(sys.modules[NAME], "__file__", None)
        raise LexmillError(f"{NAME} is imported already, from {origin}: call lexmill.install() before that")
    top = ModuleType(NAME, lexmill.__doc__)
    public = {name: getattr(lexmill, name) for name in lexmill.__all__}
    top.__dict__.update(public, __version__=VERSION, __all__=list(lexmill.__all__))
    _put(NAME, top)
    for name, module in _modules():
        _put(f"{NAME}.{name}", module)
    # Only now: the imports of that module take longer than all of lexmill.
    from lexmill import _distribution

    _distribution.show()


def uninstall() -> None:
    """Undoes `install`; modules that have imported names from lexmill keep them."""
    if not is_installed():
        return
    for name in [name for name in sys.modules if name == NAME or name.startswith(f"{NAME}.")]:
        del sys.modules[name]
    from lexmill import _distribution

    _distribution.hide()


def is_installed() -> bool:
    """True if lexmill stands in the place of `tokenizers`."""
    module = sys.modules.get(NAME)
    return module is not None and getattr(module, "Tokenizer", None) is lexmill.Tokenizer


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
    copy.__file__ = getattr(module, "__file__", None) or lexmill.__file__
    sys.modules[name] = copy
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, copy)


def _is_own(key: str) -> bool:
    return key in ("__name__", "__spec__", "__loader__", "__package__", "__path__", "__file__", "__cached__")
