"""Numbers of bytes, as arguments give them."""

from __future__ import annotations

from lexmill.errors import OptionError

__all__ = ["bytes_of"]

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BINARY_UNITS = {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def bytes_of(size: int | str | None, name: str = "max_memory") -> int | None:
    """A number of bytes, from a number or from a text with a unit."""
    if size is None:
        return None
    message = f"{name} is {size!r} but must be a number of bytes or a text such as '1GB' or '512MiB'"
    if isinstance(size, str):
        import re

        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", size, re.IGNORECASE)
        unit = (_UNITS | _BINARY_UNITS).get(found[2].upper()) if found else None
        if found is None or unit is None:
            raise OptionError(message)
        size = int(min(float(found[1]) * unit, 2.0**63))
    if not 0 <= size < 2**63:
        raise OptionError(message)
    return size
