"""Packages that lexmill works without, imported when a call needs one."""

from __future__ import annotations

import importlib
from typing import Any

from lexmill.errors import LexmillError

__all__ = ["optional_module"]


def optional_module(name: str, message: str) -> Any:  # noqa: ANN401 (a module that may be absent)
    """The module.

    Raises:
        LexmillError: it is not installed; `message` names the call and the package.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise LexmillError(message) from error
