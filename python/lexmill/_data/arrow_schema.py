"""The columns of an Arrow stream, read without pyarrow.

The first message of a stream is its schema, a table of FlatBuffers. `Message.fbs` and `Schema.fbs` of Arrow's columnar
format define the tables and the numbers of their fields.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

__all__ = ["ListColumn", "list_column"]

_CONTINUATION = 0xFFFFFFFF
_LONGEST = 1 << 20
"""The most bytes of a schema that are read; a schema of a few columns has some hundred."""

_MESSAGE_HEADER, _SCHEMA_FIELDS = 2, 1
_NAME, _TYPE_NUMBER, _TYPE, _CHILDREN = 0, 2, 3, 5
_INTEGER, _LIST = 2, 12


class ListColumn(NamedTuple):
    """A column of lists of integers.

    Attributes:
        place: the number of the column, from 0; the columns before it have lists of integers, too.
        bits: the width of an integer.
    """

    place: int
    bits: int


def list_column(path: Path, name: str) -> ListColumn:
    """The column of lists of integers with this name.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is no Arrow stream, or has no such column.
    """
    try:
        found = [(str(field.text(_NAME)), _bits_of_items(field)) for field in _schema(path).tables(_SCHEMA_FIELDS)]
    except (struct.error, UnicodeDecodeError) as error:
        message = "it is not an Arrow stream"
        raise ValueError(message) from error
    names = [other for other, _ in found]
    if names.count(name) != 1:
        message = f"it must have one column {name} but has the columns {', '.join(names) or '(none)'}"
        raise ValueError(message)
    place = names.index(name)
    for other, bits in found[: place + 1]:
        if bits is None:
            message = f"column {other} has no lists of integers, as column {name} and all columns before it must have"
            raise ValueError(message)
    return ListColumn(place, found[place][1] or 0)


def _schema(path: Path) -> _Table:
    with path.open("rb") as file:
        (size,) = struct.unpack("<I", file.read(4))
        if size == _CONTINUATION:
            (size,) = struct.unpack("<I", file.read(4))
        data = file.read(min(size, _LONGEST))
    return _Table(data, _Table(data, 0).read(0, "<I")).table(_MESSAGE_HEADER)


def _bits_of_items(field: _Table) -> int | None:
    """The width of the integers in a column of lists; None for other columns."""
    children = field.tables(_CHILDREN)
    if field.number(_TYPE_NUMBER, "<B") != _LIST or len(children) != 1:
        return None
    (items,) = children
    return items.table(_TYPE).number(0, "<i") if items.number(_TYPE_NUMBER, "<B") == _INTEGER else None


class _Table(NamedTuple):
    """A table of FlatBuffers. A place outside the data raises `struct.error`."""

    data: bytes
    at: int

    def read(self, at: int, code: str) -> int:
        return int(struct.unpack_from(code, self.data, at)[0])

    def place(self, field: int) -> int | None:
        """Where the value of a field is; None if it has its default."""
        layout = self.at - self.read(self.at, "<i")
        entry = 4 + 2 * field
        offset = self.read(layout + entry, "<H") if entry < self.read(layout, "<H") else 0
        return self.at + offset if offset else None

    def number(self, field: int, code: str) -> int:
        at = self.place(field)
        return 0 if at is None else self.read(at, code)

    def target(self, field: int) -> int:
        """Where the table, the vector or the string of a field is."""
        at = self.place(field)
        if at is None:
            message = f"field {field} is missing"
            raise struct.error(message)
        return at + self.read(at, "<I")

    def table(self, field: int) -> _Table:
        return _Table(self.data, self.target(field))

    def tables(self, field: int) -> list[_Table]:
        """The tables of a vector; an absent vector has none."""
        if self.place(field) is None:
            return []
        at = self.target(field)
        # A count beyond the data ends in an error.
        places = range(at + 4, at + 4 + 4 * self.read(at, "<I"), 4)
        return [_Table(self.data, place + self.read(place, "<I")) for place in places]

    def text(self, field: int) -> str:
        if self.place(field) is None:
            return ""
        at = self.target(field)
        return self.data[at + 4 : at + 4 + self.read(at, "<I")].decode()
