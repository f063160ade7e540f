"""What offsets, word ids and windows are good for: entities out of labelled tokens, answers out of long texts.

No model runs here: `made_up.py` says of the tokens what one would say.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from lexmill import Encoding, Tokenizer
from made_up import ANSWER, CONTEXT, MARKED, QUESTION, Entity, answer_logits, read_marks, token_labels
from shared import heading, must_equal, put_lexmill_under_transformers, row, small_bert

LONG = ["Windows share some tokens, so nothing is cut apart in all of them.", "This text has windows of its own."]
LENGTH, STRIDE = 64, 24
MOST_TOKENS = 30


def label_of(scores: dict[str, float]) -> str:
    """Returns the likeliest label."""
    return max(scores, key=scores.__getitem__)


def labels_by_word(encoding: Encoding, scores: list[dict[str, float]], how: str) -> list[str]:
    """Gives all tokens of a word one label: that of its first token, of its surest token, or of the sums."""
    words: dict[int, list[dict[str, float]]] = {}
    for word, of_token in zip(encoding.word_ids, scores, strict=True):
        if word is not None:
            words.setdefault(word, []).append(of_token)
    chosen = {}
    for word, of_word in words.items():
        sums = {label: sum(one.get(label, 0.0) for one in of_word) for one in of_word for label in one}
        surest = max(of_word, key=lambda one: max(one.values()))
        chosen[word] = label_of({"first": of_word[0], "surest": surest, "sum": sums}[how])
    return ["O" if word is None else chosen[word] for word in encoding.word_ids]


def join(encoding: Encoding, labels: list[str]) -> list[Entity]:
    """Joins neighbours to entities, and reads their places in the text from the offsets."""
    entities: list[Entity] = []
    word_before, kind_before = None, ""
    for (start, end), word, label in zip(encoding.offsets, encoding.word_ids, labels, strict=True):
        kind = label[2:]
        if kind and kind == kind_before and (label.startswith("I-") or word == word_before):
            entities[-1] = entities[-1]._replace(end=end)
        elif kind:
            entities.append(Entity(start, end, kind))
        word_before, kind_before = word, kind
    return entities


def show_entities(tokenizer: Tokenizer, marked: str) -> None:
    """Token classification: labels of tokens become entities of the text."""
    heading("Entities")
    text, entities = read_marks(marked)
    encoding = tokenizer.encode(text)
    scores = token_labels(encoding, entities)
    row("text", [text])
    row("tokens", encoding.tokens)
    row("offsets", encoding.offsets, " ")
    row("words", encoding.word_ids, " ")
    row("labels", map(label_of, scores), " ")
    by_token = join(encoding, list(map(label_of, scores)))
    row("each token", [f"{text[start:end]} ({kind})" for start, end, kind in by_token])
    for how in ["first", "surest", "sum"]:
        found = join(encoding, labels_by_word(encoding, scores, how))
        row(f"{how} of words", [f"{text[start:end]} ({kind}, {start} to {end})" for start, end, kind in found])
        must_equal("entities", found, entities)


def windows_of(tokenizer: Tokenizer, length: int, stride: int, text: str, pair: str | None = None) -> list[Encoding]:
    """Cuts a text, or the second of a pair, into windows of at most so many tokens that share `stride` tokens."""
    tokenizer.enable_truncation(length, stride=stride, strategy="only_second" if pair else "longest_first")
    first = tokenizer.encode(text, pair)
    tokenizer.no_truncation()
    return [first, *first.overflowing]


def show_windows(tokenizer: Tokenizer, texts: list[str]) -> None:
    """Several long texts at once: each window, and which text it is of."""
    heading("Windows of 6 tokens, 2 of them shared")
    windows = [(sample, window) for sample, text in enumerate(texts) for window in windows_of(tokenizer, 6, 2, text)]
    for sample, window in windows:
        row(f"of text {sample}", [tokenizer.decode(window.ids, skip_special_tokens=False)])
    row("mapping", [sample for sample, _ in windows], " ")


def show_answer(tokenizer: Tokenizer) -> list[Encoding]:
    """Question answering: the likeliest span of all windows, read from the context by its offsets."""
    heading(f"Question and answer in windows of {LENGTH} tokens, {STRIDE} of them shared")
    row("question", [QUESTION])
    place = CONTEXT.index(ANSWER)
    windows = windows_of(tokenizer, LENGTH, STRIDE, QUESTION, CONTEXT)
    best = (0.0, "")
    for number, window in enumerate(windows):
        starts, ends = answer_logits(window, (place, place + len(ANSWER)))
        inside = [token for token, sequence in enumerate(window.sequence_ids) if sequence == 1]
        none = (starts[0] + ends[0], "")
        found = [
            (starts[first] + ends[last], CONTEXT[window.offsets[first][0] : window.offsets[last][1]])
            for first in inside
            for last in range(first, min(first + MOST_TOKENS, inside[-1] + 1))
        ]
        score, text = max([none, *found])
        row(
            f"window {number}",
            [f"characters {window.offsets[inside[0]][0]} to {window.offsets[inside[-1]][1]}", text or "none"],
        )
        best = max(best, (score, text))
    row("answer", [best[1]])
    must_equal("answers", best[1], ANSWER)
    return windows


def compare_with_transformers(tokenizer: Tokenizer, windows: list[Encoding]) -> None:
    """The same windows from a fast tokenizer of transformers, which calls the mapping `overflow_to_sample_mapping`."""
    put_lexmill_under_transformers()
    from transformers import PreTrainedTokenizerFast

    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    options = {"truncation": "only_second", "return_overflowing_tokens": True, "return_offsets_mapping": True}
    batch = fast([QUESTION] * 2, [CONTEXT] * 2, max_length=LENGTH, stride=STRIDE, **options)
    must_equal("ids", batch["input_ids"], [window.ids for window in windows] * 2)
    must_equal("offsets", batch["offset_mapping"], [window.offsets for window in windows] * 2)
    must_equal("texts", [batch.sequence_ids(row) for row in range(len(windows))], [one.sequence_ids for one in windows])
    row("the mapping", batch["overflow_to_sample_mapping"], " ")


def main() -> None:
    """Shows entities, windows and answers."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--tokenizer", metavar="FILE", help="a tokenizer.json; else one is trained")
    parser.add_argument("--marked", default=MARKED, metavar="TEXT", help="a text with its entities as [name](KIND)")
    parser.add_argument("--long", action="append", metavar="TEXT", help="a text to cut; may be given again")
    given = parser.parse_args()
    tokenizer = Tokenizer.from_file(given.tokenizer) if given.tokenizer else small_bert()
    show_entities(tokenizer, given.marked)
    show_windows(tokenizer, given.long or LONG)
    windows = show_answer(tokenizer)
    heading("The same from transformers")
    if find_spec("transformers") is None:
        print("left out: transformers is not installed")
    else:
        compare_with_transformers(tokenizer, windows)


if __name__ == "__main__":
    main()
