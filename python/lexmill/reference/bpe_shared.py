"""Characters and merges share the places of a BPE vocabulary; text with other characters is spelled as bytes.

Merges are learnt as if characters took no places. Then the first k merges are kept with the characters in them, and of
the other characters the ones of the greatest gain, as many as there are places.

* The gain of a merge is the count of its pair when it was merged. The gain of a character is its count times its bytes
  but one: so many tokens more would the bytes take. A character of one byte has no gain, but a merge may need it.
* k: the greatest sum of gains; among equal sums the most merges. Merges and characters must fit into the places.
* Other characters: the greatest gain; among equals the higher count, then the smaller code point.

Source: SentencePiece 0.2.3, `auto_character_coverage`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexmill.errors import OptionError

BYTE_PIECES = [f"<0x{byte:02X}>" for byte in range(256)]

Merge = tuple[tuple[str, str], int]


def refuse_characters(**options: object) -> None:
    """Refuses options that choose or change characters.

    Raises:
        OptionError: one is given.
    """
    for name, value in options.items():
        if value not in (None, ""):
            message = f"{name} is {value} but must be absent with auto_character_coverage, which chooses the characters"
            raise OptionError(message)


def prune_shared(
    words: Sequence[tuple[str, int]], tokens: Sequence[str], merges: Sequence[Merge], *, characters: range, budget: int
) -> tuple[list[str], list[tuple[str, str]]]:
    """Returns the tokens and merges that are kept.

    Args:
        words: the words with their counts.
        tokens: special tokens and byte pieces, then characters, then the tokens of merges.
        merges: the merges with the counts of their pairs, in the order learnt.
        characters: the places of characters in `tokens`.
        budget: places for characters and merges.
    """
    fixed, alphabet = set(tokens[: characters.start]), [tokens[place] for place in characters]
    counts = dict.fromkeys(alphabet, 0)
    for word, count in words:
        for char in word:
            if char in counts:
                counts[char] += count
    gains = {char: counts[char] * (len(char.encode()) - 1) for char in alphabet}
    ranked = sorted((char for char in alphabet if gains[char]), key=lambda char: (-gains[char], -counts[char], char))
    best: tuple[int, int, set[str]] | None = None
    for k in range(len(merges) + 1):
        needed = {text for (left, right), _ in merges[:k] for text in (left, right, left + right)} - fixed
        if len(needed) > budget:
            break
        others = [char for char in ranked if char not in needed][: budget - len(needed)]
        kept = needed | set(others)
        gain = sum(count for _, count in merges[:k]) + sum(gains.get(text, 0) for text in kept)
        if best is None or (gain, k) > best[:2]:
            best = gain, k, kept
    _, k, kept = best or (0, 0, set())
    return [token for token in tokens if token in fixed or token in kept], [halves for halves, _ in merges[:k]]
