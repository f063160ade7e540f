"""Makes visible spaces plain again; in the first token they all go, unless the scheme is `never`."""

from __future__ import annotations

from dataclasses import dataclass

from lexmill.reference.pre_tokenizers.metaspace import PrependScheme


@dataclass(frozen=True)
class Metaspace:
    """The visible space and where one was put before text."""

    replacement: str = "\u2581"
    prepend_scheme: PrependScheme = "always"
    split: bool = True

    def decode(self, tokens: list[str]) -> list[str]:
        """Returns the tokens with plain spaces."""
        first = " " if self.prepend_scheme == "never" else ""
        return [token.replace(self.replacement, first if place == 0 else " ") for place, token in enumerate(tokens)]
