"""What a model would say of tokens, made up from the answers, so that the examples need no model."""

from __future__ import annotations

import re
from typing import NamedTuple

from lexmill import Encoding

MARKED = "[Ada Lovelace](PER) of [Ockham Park](LOC) and [Charles Babbage](PER) discuss the [Analytical Engine](MISC)."
QUESTION = "Where is the bell kept?"
ANSWER = "in a vault under the northern staircase"
CONTEXT = (
    "The town hall has a tower, and the tower has a clock. The clock was bought in the year of the flood, and it has "
    f"been slow ever since. A bell rang the hours until its frame cracked. It is kept {ANSWER} now, and a loudspeaker "
    "rings in its place. Visitors may climb the tower on Sundays, if the keeper is in a good mood."
)


class Entity(NamedTuple):
    """A name in a text: its place in characters, and what it names."""

    start: int
    end: int
    kind: str


def read_marks(marked: str) -> tuple[str, list[Entity]]:
    """Returns a text without its marks, which are `[name](KIND)`, and the entities at their places in it."""
    text = ""
    entities: list[Entity] = []
    for before, name, kind in re.findall(r"([^\[]*)(?:\[([^\]]*)\]\(([^)]*)\))?", marked):
        text += before + name
        if name:
            entities.append(Entity(len(text) - len(name), len(text), kind))
    return text, entities


def token_labels(encoding: Encoding, entities: list[Entity]) -> list[dict[str, float]]:
    """Probabilities of each token's labels: sure of the first token of a word, wavering on those after it.

    `B-PER` begins a person, `I-PER` goes on with one, `O` is outside of all entities.
    """
    found: list[dict[str, float]] = []
    for place, ((start, end), word) in enumerate(zip(encoding.offsets, encoding.word_ids, strict=True)):
        around = [entity for entity in entities if entity.start <= start < end <= entity.end]
        if around:
            is_first = word != encoding.word_ids[place - 1]
            label = ("B-" if start == around[0].start else "I-") + around[0].kind
            score = 0.9 if is_first else (0.45, 0.7)[place % 2]
            found.append({label: score, "O": 1 - score})
        else:
            found.append({"O": 1.0})
    return found


def answer_logits(window: Encoding, answer: tuple[int, int]) -> tuple[list[float], list[float]]:
    """Logits of each token of a window to begin and to end the answer, given its place in the context in characters.

    The first token gets some of both: it stands for "no answer here". So do tokens of the question, which a reader
    of the logits has to leave out.
    """
    starts, ends = [], []
    for place, ((start, end), sequence) in enumerate(zip(window.offsets, window.sequence_ids, strict=True)):
        other = 6.0 if sequence == 0 else 2.0 if place == 0 else -float(place % 5)
        starts.append(5.0 if sequence == 1 and start == answer[0] else other)
        ends.append(5.0 if sequence == 1 and end == answer[1] else other)
    return starts, ends
