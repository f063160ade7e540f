"""Patterns that no learned token may match.

A pattern is searched for anywhere in the text of a token: without its prefix and its suffix and, at the byte level, as
the bytes that it spells, where each maximal run of bytes that are no character is U+FFFD. Patterns are Oniguruma's, as
in `patterns`.

A pair whose merged token would match is no candidate: it takes no place among equals. Tokens that are not learned are
exempt: special tokens, characters and initial tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from lexmill.reference.byte_level import decode
from lexmill.reference.patterns import regular


def forbidden(
    patterns: str | Iterable[str], *, prefix: str = "", suffix: str = "", byte_level: bool = False
) -> Callable[[str], bool]:
    """Returns a function that tells if a token is forbidden.

    Raises:
        RegexError: a pattern is malformed.
    """
    found = [regular(pattern) for pattern in ([patterns] if isinstance(patterns, str) else patterns)]

    @cache
    def is_forbidden(token: str) -> bool:
        text = token.removeprefix(prefix).removesuffix(suffix)
        if byte_level:
            text = decode([text])
        return any(find(text) for find in found)

    return is_forbidden
