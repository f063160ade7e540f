"""Tasks on top: question answering, labels of words, collators, datasets."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import CONTEXT, CORPUS, HASHES, SENTENCE, TEXTS, WORDS, attempt, digest, load, padded, plain, scenario


@scenario
def question_answering(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """Windows over a long context, and the answer's tokens in each, by offsets."""
    fast = padded(load(folder))
    questions = ["Which town built a bridge of 84 stones?", "  What was built in 1833?"]
    answers = ["the town of Number 12", "a bridge of 231 stones, a caf\u00e9"]
    for length, stride, side in [(384, 128, "right"), (200, 64, "right"), (200, 128, "left")]:
        fast.padding_side = side
        batch = fast(
            questions,
            [CONTEXT, CONTEXT],
            truncation="only_second",
            max_length=length,
            stride=stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            padding="max_length",
        )
        spans = []
        for row, sample in enumerate(batch["overflow_to_sample_mapping"]):
            start = CONTEXT.index(answers[sample])
            end = start + len(answers[sample])
            offsets, sequences = batch["offset_mapping"][row], batch.sequence_ids(row)
            inside = [at for at, of in enumerate(sequences) if of == 1]
            held = [at for at in inside if offsets[at][0] < end and offsets[at][1] > start]
            whole = bool(held) and offsets[held[0]][0] <= start and offsets[held[-1]][1] >= end
            text = CONTEXT[offsets[held[0]][0] : offsets[held[-1]][1]] if whole else None
            spans.append(
                [held[:1], held[-1:], text, batch.char_to_token(row, start, 1), batch.char_to_token(row, end - 1, 1)]
            )
        yield f"{length}, {stride}, {side}: spans", spans
        yield f"{length}, {stride}, {side}: batch", digest(batch)
        yield f"{length}, {stride}, {side}: ids", batch["input_ids"]


@scenario
def token_classification(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """Labels of words moved to tokens, and tokens' labels gathered to words."""
    from transformers import DataCollatorForTokenClassification

    fast = padded(load(folder, add_prefix_space=True))
    sentences = [*WORDS, SENTENCE.split()]
    labels = [[at % 5 for at in range(len(words))] for words in sentences]
    batch = fast(sentences, is_split_into_words=True, truncation=True, max_length=20, return_offsets_mapping=True)
    aligned = []
    for row, tags in enumerate(labels):
        of_words = batch.word_ids(row)
        before = [None, *of_words[:-1]]
        aligned.append(
            [-100 if at is None or at == last else tags[at] for at, last in zip(of_words, before, strict=True)]
        )
    yield "aligned", aligned
    grouped = []
    for row in range(len(sentences)):
        groups: dict[str, list[Any]] = {}
        for at, word in enumerate(batch.word_ids(row)):
            if word is not None:
                groups.setdefault(str(word), []).append([batch.tokens(row)[at], batch["offset_mapping"][row][at]])
        grouped.append(groups)
    yield "grouped", grouped
    text = fast(TEXTS, return_offsets_mapping=True)
    yield (
        "spans of words",
        [
            [
                attempt(text.word_to_chars, row, word)
                for word in sorted({w for w in text.word_ids(row) if w is not None})
            ]
            for row in range(len(TEXTS))
        ],
    )
    features = [{"input_ids": batch["input_ids"][row], "labels": aligned[row]} for row in range(len(sentences))]
    collate = DataCollatorForTokenClassification(fast, return_tensors="np", pad_to_multiple_of=8)
    yield "collated", attempt(collate, features)


@scenario
def collators(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    from transformers import DataCollatorForLanguageModeling, DataCollatorForSeq2Seq, DataCollatorWithPadding

    fast = padded(load(folder))
    features = [dict(fast(text)) for text in TEXTS[2:7]]
    yield "padding", attempt(DataCollatorWithPadding(fast, return_tensors="np"), features)
    targets = [{**row, "labels": row["input_ids"][:5]} for row in features]
    yield "sequences", attempt(DataCollatorForSeq2Seq(fast, return_tensors="np"), targets)
    masked = DataCollatorForLanguageModeling(fast, mlm=fast.mask_token is not None, return_tensors="np", seed=5)
    yield "masked", attempt(masked, [fast(text, return_special_tokens_mask=True) for text in TEXTS[2:7]])


@scenario
def mapping(folder: Path, scratch: Path) -> Iterator[tuple[str, Any]]:
    """`datasets`: batched maps in one and two processes, and fingerprints that calls do not change."""
    import datasets

    datasets.disable_progress_bars()
    datasets.config.HF_DATASETS_CACHE = str(scratch / "cache")
    fast = padded(load(folder))
    texts = [*TEXTS, *CORPUS, *(CONTEXT[at : at + 90] for at in range(0, 900, 30))]
    table = datasets.Dataset.from_dict({"text": texts, "pair": texts[::-1]})

    def encode(rows: dict[str, list[str]], length: int = 24) -> Any:
        return fast(rows["text"], rows["pair"], truncation=True, max_length=length, padding="max_length")

    def windows(rows: dict[str, list[str]]) -> Any:
        batch = fast(rows["text"], truncation=True, max_length=12, stride=3, return_overflowing_tokens=True)
        return {"ids": batch["input_ids"], "of": batch["overflow_to_sample_mapping"]}

    for processes in [None, 1, 2]:
        mapped = table.map(encode, batched=True, batch_size=16, num_proc=processes)
        yield f"mapped by {processes}", [mapped.column_names, plain(mapped[:]), str(mapped.features)]
        wide = table.map(windows, batched=True, remove_columns=["text", "pair"], num_proc=processes)
        yield f"windows by {processes}", [str(wide.features), plain(wide[:])]
    yield "one by one", plain(table.map(lambda row: fast(row["text"]))[:20])
    short = table.filter(lambda row: len(fast(row["text"])["input_ids"]) < 12)
    yield "filtered", plain(short[:])
    table.set_transform(lambda rows: fast(rows["text"], padding=True, return_tensors="np"))
    yield "transformed", plain(table[2:7])
    table.reset_format()


@scenario
def fingerprints(folder: Path, _: Path) -> Iterator[tuple[str, Any]]:
    """What `datasets` finds results of earlier runs by: it must not move from call to call, or by process."""
    from datasets.fingerprint import Hasher

    fast = padded(load(folder))

    def encode(rows: dict[str, list[str]]) -> Any:
        return fast(rows["text"], truncation=True, max_length=9, padding="max_length")

    hashes = [Hasher.hash(fast), Hasher.hash(encode)]
    fast(TEXTS)
    fast.decode(fast(SENTENCE)["input_ids"])
    yield "plain calls", [Hasher.hash(fast) == hashes[0], Hasher.hash(encode) == hashes[1]]
    encode({"text": TEXTS})
    hashes += [Hasher.hash(fast), Hasher.hash(encode)]
    yield "calls that cut and pad", [Hasher.hash(fast) == hashes[0], Hasher.hash(encode) == hashes[1]]
    encode({"text": TEXTS[::-1]})
    yield "once more", [Hasher.hash(fast) == hashes[2], Hasher.hash(encode) == hashes[3]]
    yield "a copy", Hasher.hash(copy.deepcopy(fast)) == hashes[2]
    yield "loaded twice", Hasher.hash(load(folder)) == Hasher.hash(load(folder))
    fast.add_tokens(["newword"])
    hashes.append(Hasher.hash(fast))
    yield "a new token", hashes[4] == hashes[2]
    yield HASHES, hashes
