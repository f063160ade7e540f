"""Shapes of conversations: all of a conversation but its texts, its numbers, and the values that are taken whole.

A shape is a flat tuple, which is quick to make and to compare. The meaning of an entry follows from all entries before
it, so two conversations with the same shape differ in the values beside it alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from lexmill.messages._steps import Steps
from lexmill.messages._watched import Watched, WatchedValue
from lexmill.messages.conversations import UNTRACKED, Conversation

__all__ = ["NEUTRAL", "Field", "Openings", "Owner", "Shape"]

Shape: TypeAlias = tuple[Any, ...]
Owner: TypeAlias = tuple[int, str]
"""A message and its field."""
_Path: TypeAlias = tuple[str | None, ...]
"""Names of fields, and None for each list, from a message or from the conversation on."""

NEUTRAL = (-1, "")
"""The owner of values that do not count as text of a message: names, numbers, tools and documents."""

_MOST_OPENED = 64
_SHORT = 100
"""Characters of a text within tool calls that may be a part of the shape."""
_MESSAGE, _BESIDE = "message", "beside"


class Field(NamedTuple):
    """A value of a conversation that is not in its shape."""

    path: _Path
    owner: Owner
    value: Any


class _Node:
    """A path in the tree of opened paths.

    Attributes:
        is_open: the items of lists and dictionaries have fields of their own.
        is_literal: texts and numbers are a part of the shape.
    """

    __slots__ = ("children", "is_literal", "is_open")

    def __init__(self) -> None:
        self.children: dict[str | None, _Node] = {}
        self.is_open = self.is_literal = False


class Openings:
    """The paths of nested values whose items are fields, for one template.

    At first, a list or a dictionary is one value. If the template looks into one, its path is *opened*: from then on
    its items are fields. A text or number that a template uses as a key, or in other ways that cannot be recorded, may
    be opened, too; then it is a part of the shape.
    """

    def __init__(self) -> None:
        self._messages, self._beside = _Node(), _Node()
        self._literal = {"role", "type"}
        self._opened = 0

    def shape_of(self, given: Conversation) -> tuple[Shape, list[Any]]:
        """The shape of a conversation, and the values that are not in it."""
        key: list[Any] = []
        values: list[Any] = []
        literal, children = self._literal, self._messages.children
        for message in given.messages:
            for name, value in message.items():
                key.append(name)
                if type(value) is not str:
                    _walk(value, children.get(name), name not in UNTRACKED, key, values)
                elif name in literal:
                    key.append(value)
                else:
                    values.append(value)
            key.append(None)
        for name, value in (("tools", given.tools), ("documents", given.documents)):
            _walk(value, self._beside.children.get(name), False, key, values)
        return tuple(key), values

    def watched(self, given: Conversation) -> tuple[Conversation, list[Field], Steps]:
        """The conversation with watched values, their fields in the order of `shape_of`, and no steps yet."""
        _, values = self.shape_of(given)
        steps = Steps(len(values))
        fields: list[Field] = []

        def watch(path: _Path, owner: Owner, value: Any) -> Any:  # noqa: ANN401 (a value of JSON)
            fields.append(Field(path, owner, value))
            number = len(fields) - 1
            return Watched(value, steps, (number,)) if type(value) is str else WatchedValue(value, steps, number)

        messages: list[dict[str, Any]] = []
        for number, message in enumerate(given.messages):
            made: dict[str, Any] = {}
            for name, value in message.items():
                owner = NEUTRAL if name in UNTRACKED else (number, name)
                if type(value) is str and name in self._literal:
                    made[name] = value
                else:
                    made[name] = _watched(value, self._messages.children.get(name), (_MESSAGE, name), owner, watch)
            messages.append(made)
        tools, documents = (
            _watched(value, self._beside.children.get(name), (_BESIDE, name), NEUTRAL, watch)
            for name, value in (("tools", given.tools), ("documents", given.documents))
        )
        assert len(fields) == len(values)
        return Conversation(messages, tools, documents), fields, steps

    def open(self, field: Field) -> bool:
        """Opens the path of a field; False if its value is a text of its own in nearly each conversation."""
        is_nested = len(field.path) > 2
        if type(field.value) is str and field.owner != NEUTRAL and not (is_nested and len(field.value) <= _SHORT):
            return False
        if self._opened == _MOST_OPENED:
            return False
        self._opened += 1
        node = self._messages if field.path[0] == _MESSAGE else self._beside
        for name in field.path[1:]:
            node = node.children.setdefault(name, _Node())
        if isinstance(field.value, dict | list):
            node.is_open = True
        else:
            node.is_literal = True
            if not is_nested and type(field.value) is str:
                self._literal.add(field.path[1] or "")
        return True


def _walk(value: Any, node: _Node | None, is_tracked: bool, key: list[Any], values: list[Any]) -> None:  # noqa: ANN401
    """Adds the shape of a value to `key`, and the fields in it to `values`."""
    kind = type(value)
    if kind is str:
        if node is not None and node.is_literal:
            key.append(value)
        else:
            key.append(kind)
            values.append(value)
        return
    key.append(kind)
    if kind is dict or kind is list:
        if not value:
            key.append(None)
        elif node is None or not node.is_open:
            # The JSON of a value without any text has no origin, so the shapes differ.
            key.append(is_tracked and _has_text(value))
            values.append(value)
        elif kind is dict:
            key.append(len(value))
            for name, one in value.items():
                key.append(name)
                if name == "type" and type(one) is str:
                    key.append(one)
                else:
                    _walk(one, node.children.get(name), is_tracked and name != "type", key, values)
        else:
            key.append(len(value))
            child = node.children.get(None)
            for one in value:
                _walk(one, child, is_tracked, key, values)
    elif (kind is int or kind is float) and not (node is not None and node.is_literal):
        values.append(value)
    else:
        key.append(value)


def _watched(
    value: Any,  # noqa: ANN401 (a value of JSON)
    node: _Node | None,
    path: _Path,
    owner: Owner,
    watch: Callable[[_Path, Owner, Any], Any],
) -> Any:  # noqa: ANN401
    """A value in which watched values replace the fields that `_walk` finds, in the same order."""
    kind = type(value)
    if kind is dict or kind is list:
        if not value:
            return value
        if node is None or not node.is_open:
            return watch(path, owner if _has_text(value) else NEUTRAL, value)
        if kind is list:
            return [_watched(one, node.children.get(None), (*path, None), owner, watch) for one in value]
        made = {}
        for name, one in value.items():
            if name == "type" and type(one) is str:
                made[name] = one
            else:
                inner = NEUTRAL if name == "type" else owner
                made[name] = _watched(one, node.children.get(name), (*path, name), inner, watch)
        return made
    if (kind is str or kind is int or kind is float) and not (node is not None and node.is_literal):
        return watch(path, owner if kind is str else NEUTRAL, value)
    return value


def _has_text(value: Any) -> bool:  # noqa: ANN401 (a value of JSON)
    """True if a value has a text whose origin is tracked."""
    if isinstance(value, dict):
        return any(name != "type" and _has_text(one) for name, one in value.items())
    return any(map(_has_text, value)) if isinstance(value, list) else isinstance(value, str)
