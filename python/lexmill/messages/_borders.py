"""Borders of turns in the output of a tracked template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jinja2 import nodes, pass_context
from jinja2.runtime import Context

from lexmill.messages._tracked import Tracked, TurnEnd, TurnStart

__all__ = ["BORDERS", "Message", "mark_loops"]

_TURN, _END = "lexmill_turn", "lexmill_end"


class Message(dict[str, Any]):
    """A message with its number in the conversation, so that loops over messages can be told from others."""

    __slots__ = ("_lexmill_number",)
    _lexmill_number: int


def mark_loops(tree: nodes.Template) -> None:
    """Puts a border at the start of each loop's body and after each loop.

    The borders are strings without characters, so the text stays as it is. `continue` and `break` leave a body early,
    so the end of an iteration is the start of the next, or the end of the loop.
    """
    loops = [loop for loop in tree.find_all(nodes.For) if isinstance(loop.target, nodes.Name)]
    for number, loop in enumerate(loops):
        name = nodes.Name(loop.target.name, "load")  # type: ignore[attr-defined]
        loop.body.insert(0, _output(name, _TURN, number, loop.lineno))
    numbers = {id(loop): number for number, loop in enumerate(loops)}
    for node in [tree, *tree.find_all(nodes.Node)]:
        for field, value in node.iter_fields():
            if isinstance(value, list) and any(id(item) in numbers for item in value):
                setattr(node, field, list(_with_ends(value, numbers)))


def _with_ends(body: list[nodes.Node], numbers: Mapping[int, int]) -> Iterable[nodes.Node]:
    for item in body:
        yield item
        if id(item) in numbers:
            yield _output(nodes.Const(None), _END, numbers[id(item)], item.lineno)


def _output(value: nodes.Expr, name: str, number: int, line: int) -> nodes.Output:
    border = nodes.Filter(value, name, [nodes.Const(number)], [], None, None)
    made = nodes.Output([border])
    for node in [made, *made.find_all(nodes.Node)]:
        node.set_lineno(line)
    return made


def _turn(value: object, loop: int) -> str:
    return Tracked("", ((0, 0, TurnStart(value._lexmill_number, loop)),)) if type(value) is Message else ""


# With the context, so that Jinja does not take the border for a constant and makes it a plain string.
@pass_context
def _end(_context: Context, _value: None, loop: int) -> str:
    return Tracked("", ((0, 0, TurnEnd(loop)),))


BORDERS = {_TURN: _turn, _END: _end}
"""The filters that write borders."""
