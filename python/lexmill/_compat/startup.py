"""`lexmill-install.pth` runs this where LEXMILL_INSTALL is set: from then on `import tokenizers` gives lexmill.

With LEXMILL_INSTALL=v1 it gives `lexmill.v1`.

`lexmill install-hook` copies this source into that file. So it stands alone, and imports nothing of lexmill before the
program imports `tokenizers`: when it runs, Python has not read all of its site-packages yet.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec

# The name that type checkers know; the modules below would slow down the start of every program.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

NAME = "tokenizers"


class LexmillInstallFinder:
    """Stands first in `sys.meta_path`; whoever looks for `tokenizers` first makes it call `lexmill.install()`."""

    is_done = False

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Finds `tokenizers`, once: after `lexmill.uninstall()` it is the other package again."""
        if name != NAME or not self.install():
            return None
        # Python makes a module of its own for a spec without a loader, and takes the spec that the module has.
        sys.modules[NAME].__spec__ = spec = ModuleSpec(NAME, self, is_package=True)  # type: ignore[arg-type]
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Gives the module that `lexmill.install()` made."""
        return sys.modules[NAME]

    def exec_module(self, module: ModuleType) -> None:
        """Leaves the module as it is."""

    def find_distributions(self, context: object = None) -> Iterable[object]:
        """Finds none itself, but makes sure that lexmill's stands there if the other package is not installed."""
        name = getattr(context, "name", None)
        if name is not None and name.lower() == NAME:
            self.install()
        return []

    def install(self) -> bool:
        """Calls `lexmill.install()` once; True if this call did it.

        Where it fails, `tokenizers` stays the other package.
        """
        if self.is_done:
            return False
        self.is_done = True
        # The program has called it already, and has chosen the interface.
        if NAME in sys.modules:
            return False
        try:
            import lexmill

            lexmill.install("1" if os.environ.get("LEXMILL_INSTALL") == "v1" else "0.23")
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"LEXMILL_INSTALL is set, but lexmill cannot take the place of {NAME}: {reason}", file=sys.stderr)
            return False
        return True


def watch_imports() -> None:
    """Puts the finder in place, once however many files say so."""
    if not any(type(finder).__name__ == LexmillInstallFinder.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, LexmillInstallFinder())
