"""Tokens that are cut out of the text before any other stage sees it.

Rules of numbering: a token of the model's vocabulary keeps that id. Others are numbered in the order in which they are
added, from the size of the vocabulary on, with the ids that no token of the vocabulary has. So ids depend on the
vocabulary and that order alone. For another vocabulary, all are numbered again, in the order of their ids. Empty
contents and exact repetitions are passed over. A content that was once added as special stays special.

Rules of finding: tokens with `normalized` off are found in the original text. The others are found in normalized text,
where their own contents, normalized, are looked for. From left to right the leftmost match wins, of matches that begin
at one place the longest, and of equal texts the one with the lowest id. A match is then checked; in place of a rejected
match no shorter token is tried.
- `single_word` rejects a match beside a word character.
- `lstrip` takes the white space before it, as far as the token before has not taken it; `rstrip` the one after it.
- A match all of which the token before has taken does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from lexmill.reference.normalized import Span
from lexmill.reference.words import WHITE_SPACE


@dataclass(frozen=True)
class AddedToken:
    """A token outside the model's own; the options are described above."""

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = True
    special: bool = False


class AddedTokens:
    """The added tokens of one tokenizer."""

    def __init__(self) -> None:
        """Begins without tokens."""
        self.ids: dict[str, int] = {}
        self.tokens: dict[int, AddedToken] = {}
        self.special: set[str] = set()

    def add(self, tokens: Iterable[AddedToken], vocab: Sequence[tuple[str, int]]) -> None:
        """Adds tokens to a model of this vocabulary."""
        known_ids = dict(vocab)
        taken = {token_id for _, token_id in vocab}
        free = (token_id for token_id in count(len(vocab)) if token_id not in taken and token_id not in self.tokens)
        for token in tokens:
            known = self.tokens.get(self.ids[token.content]) if token.content in self.ids else None
            if not token.content or known == token:
                continue
            token_id = self.ids.get(token.content, known_ids.get(token.content))
            if token_id is None:
                token_id = next(free)
            if token.special:
                self.special.add(token.content)
            # Where two tokens of the vocabulary share an id, the one added later takes the place of the first.
            if token_id in self.tokens:
                del self.ids[self.tokens[token_id].content]
            self.ids[token.content] = token_id
            self.tokens[token_id] = token

    def renumber(self, vocab: Sequence[tuple[str, int]]) -> None:
        """Numbers the tokens for a model of another vocabulary."""
        tokens = [self.tokens[token_id] for token_id in sorted(self.tokens)]
        self.ids, self.tokens = {}, {}
        self.add(tokens, vocab)

    def matcher(self, normalize: Callable[[str], str], *, normalized: bool, encode_special_tokens: bool) -> Matcher:
        """The search for the tokens of one kind.

        Args:
            normalize: gives the text in which a token is looked for.
            normalized: which tokens.
            encode_special_tokens: special tokens are found, so that nothing else is in their place, and then left to
                the model.
        """
        texts: dict[str, int] = {}
        for token_id in sorted(self.tokens):
            token = self.tokens[token_id]
            if token.normalized == normalized and (text := normalize(token.content)):
                texts.setdefault(text, token_id)
        return Matcher(texts, self.tokens, self.special if encode_special_tokens else set())


@dataclass(frozen=True)
class Matcher:
    """The texts to look for with their ids, and the contents that are found and left alone."""

    texts: Mapping[str, int]
    tokens: Mapping[int, AddedToken]
    skipped: set[str]

    def split(self, text: str) -> list[tuple[Span, int | None]]:
        """Cuts text into added tokens, with their ids, and the texts between them."""
        segments: list[tuple[Span, int | None]] = []
        done = 0
        for (start, end), token_id in self._matches(text):
            token = self.tokens[token_id]
            if token.content in self.skipped or (token.single_word and _touches_word(text, start, end)):
                continue
            while token.lstrip and start > done and text[start - 1] in WHITE_SPACE:
                start -= 1
            start = max(start, done) if token.lstrip else start
            while token.rstrip and end < len(text) and text[end] in WHITE_SPACE:
                end += 1
            if start >= end:
                continue
            segments += [((done, start), None), ((start, end), token_id)]
            done = end
        segments.append(((done, len(text)), None))
        return [segment for segment in segments if segment[0][0] < segment[0][1]]

    def _matches(self, text: str) -> list[tuple[Span, int]]:
        matches: list[tuple[Span, int]] = []
        start = 0
        longest_first = sorted(self.texts, key=len, reverse=True)
        while start < len(text):
            found = next((content for content in longest_first if text.startswith(content, start)), None)
            if found is not None:
                matches.append(((start, start + len(found)), self.texts[found]))
            start += len(found or " ")
        return matches


def _touches_word(text: str, start: int, end: int) -> bool:
    import regex

    return any(regex.match(r"\w", char) for char in text[max(start - 1, 0) : start] + text[end : end + 1])
