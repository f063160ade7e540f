"""Text of messages that a template calls safe, as published templates do with the JSON of arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from markupsafe import Markup

from lexmill.errors import SpanError
from lexmill.messages._tracked import Tracked

__all__ = ["Safe"]


class Safe(Markup):
    """Text of messages that the template calls safe: it can be written and compared.

    Other operations would escape the texts that they get, and have no place for origins.
    """

    __slots__ = ("tracked",)
    tracked: Tracked

    @classmethod
    def of(cls, text: Tracked) -> Safe:
        """The text as markup."""
        made = str.__new__(cls, str.__str__(text))
        made.tracked = text
        return made


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(*_: object, **__: object) -> NoReturn:
        message = f"the template applies {name} to safe text of a message, whose spans are lost by this"
        raise SpanError(message)

    return refuse


_LOOKING = frozenset(
    [
        *("__class__", "__new__", "__init__", "__init_subclass__", "__subclasshook__", "__getattribute__", "__doc__"),
        *("__setattr__", "__delattr__", "__dir__", "__reduce__", "__reduce_ex__", "__sizeof__", "__getnewargs__"),
        *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__len__", "__contains__"),
        *("startswith", "endswith", "count", "find", "rfind", "index", "rindex", "__getstate__"),
        *(name for name in dir(str) if name.startswith("is")),
    ]
)
"""Methods whose results have no text."""
for _name in dir(Markup):
    if _name not in _LOOKING and callable(getattr(Markup, _name)):
        setattr(Safe, _name, _refusing(_name))
