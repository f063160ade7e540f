r"""Finds a literal text or a regular expression, as `Split` and `Replace` do.

Rules: matches go from left to right and do not overlap. At each place the first alternative that matches wins, and a
repetition takes as much as it can. A match may be empty, but not directly after the match before it. No pattern matches
in an empty text. `^` and `$` hold at the ends of lines, but `^` does not after a line feed that ends the text.

Files hold patterns in Oniguruma's language, and this search runs them in the language of the module `regex`. Patterns
that both read alike are specified here; where they part (`{1,3}+`, `(?m)`, `\h`, `\w` beside superscript digits) the
core translates Oniguruma's meaning, and `tests/parity` holds it to that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lexmill.errors import RegexError
from lexmill.reference.normalized import Span

Find = Callable[[str], list[Span]]

# Patterns that both languages have with different meanings, outside brackets, and their translations.
TRANSLATIONS = [
    (r"\\Z", r"(?=\n?\z)"),
    (r"\\z", r"\Z"),
    (r"(?<![\\\[])\^", r"(?:\A|(?<=\n)(?!\Z))"),
]


def literal(content: str) -> Find:
    """The search for this very text; the empty one is found between all characters."""
    import regex

    return regular(regex.escape(content))


def regular(pattern: str) -> Find:
    """The search for a regular expression.

    Raises:
        RegexError: the pattern is malformed.
    """
    import regex

    for oniguruma, same in TRANSLATIONS:
        pattern = regex.sub(oniguruma, lambda _, same=same: same, pattern)
    try:
        compiled: Any = regex.compile(pattern, regex.MULTILINE)
    except regex.error as error:
        raise RegexError(f"{pattern}: {error}") from error

    def find(text: str) -> list[Span]:
        matches: list[Span] = []
        start = 0
        while text and start <= len(text):
            match = compiled.search(text, start)
            if match is None:
                break
            span: Span = match.span()
            if span[0] == span[1] and matches and matches[-1][1] == span[1]:
                start += 1
            else:
                matches.append(span)
                start = span[1]
        return matches

    return find
