"""Engines that run whole tokenizers: the reference, and each way of the core's through its stages.

An engine reads a `tokenizer.json` and answers with a function from an input to what can be seen of its encoding. An
engine need not see everything: only what two engines both see is compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container
from typing import Any, NamedTuple

import lexmill
from lexmill.reference.tokenizer import Tokenizer as Reference

Json = dict[str, Any]
FIELDS = ("ids", "tokens", "offsets", "word_ids", "type_ids", "special_tokens_mask", "attention_mask")


class Input(NamedTuple):
    """A text or a pair."""

    text: str
    pair: str | None = None
    add_special_tokens: bool = True


# What is seen of an encoding by name, or the class of an exception.
Seen = dict[str, Any] | type[BaseException]
Encode = Callable[[Input], Seen]


class Engine(NamedTuple):
    """How a tokenizer is read and asked; `takes_pairs` is off for calls that take single texts alone."""

    name: str
    load: Callable[[Json], Any]
    see: Callable[[Any, Input], Json]
    takes_pairs: bool = True

    def encoder(self, spec: Json) -> Encode:
        """Reads the tokenizer once; what it caches stays from one input to the next."""
        tokenizer = self.load(spec)

        def encode(given: Input) -> Seen:
            try:
                return self.see(tokenizer, given)
            except Exception as error:
                return type(error)

        return encode


def file_of(spec: Json) -> Json:
    """The members of a file: `encode_special_tokens` is none, and Hugging Face refuses unknown members."""
    return {name: value for name, value in spec.items() if name != "encode_special_tokens"}


def read(library: Any, spec: Json) -> Any:
    """Reads the tokenizer by a library of Hugging Face's names."""
    tokenizer = library.Tokenizer.from_str(json.dumps(file_of(spec)))
    tokenizer.encode_special_tokens = spec.get("encode_special_tokens", False)
    return tokenizer


def read_reference(spec: Json) -> Reference:
    """Reads the tokenizer by the reference."""
    tokenizer = Reference.from_dict(spec)
    tokenizer.encode_special_tokens = spec.get("encode_special_tokens", False)
    return tokenizer


def view(encoding: Any) -> Json:
    """All that an encoding tells of its tokens, and of those that overflowed."""
    seen = {field: list(getattr(encoding, field)) for field in FIELDS}
    return {**seen, "overflowing": [view(part) for part in encoding.overflowing]}


def see_encoding(tokenizer: Any, given: Input) -> Json:
    """The encoding with its text decoded again."""
    encoding = tokenizer.encode(given.text, given.pair, add_special_tokens=given.add_special_tokens)
    ids = encoding.ids
    return {**view(encoding), "kept": tokenizer.decode(ids, skip_special_tokens=False), "text": tokenizer.decode(ids)}


def see_batch(tokenizer: Any, given: Input) -> Json:
    """The encoding from a batch."""
    texts = [given.text if given.pair is None else (given.text, given.pair)]
    return view(tokenizer.encode_batch(texts, add_special_tokens=given.add_special_tokens)[0])


def see_ids(tokenizer: Any, given: Input) -> Json:
    """The ids of one text."""
    return {"ids": tokenizer.encode_ids(given.text, add_special_tokens=given.add_special_tokens)}


def see_batch_ids(tokenizer: Any, given: Input) -> Json:
    """The ids of a text that the same call has met already."""
    texts = [given.text, given.text]
    return {"ids": tokenizer.encode_batch_ids(texts, add_special_tokens=given.add_special_tokens)[1]}


def see_arrays(tokenizer: Any, given: Input) -> Json:
    """The ids of one text as an array."""
    return {"ids": tokenizer.encode_batch_arrays([given.text], add_special_tokens=given.add_special_tokens)[0].tolist()}


COLUMNS = dict.fromkeys(
    ["return_offsets", "return_word_ids", "return_type_ids", "return_attention_mask", "return_special_tokens_mask"],
    True,
)


def see_rows(tokenizer: Any, given: Input, **options: Any) -> list[Json]:
    """Each row of the columns of a text or pair that the same call has met already."""
    pairs = None if given.pair is None else [given.pair] * 2
    special = given.add_special_tokens
    options = {"pairs": pairs, "add_special_tokens": special, **COLUMNS, **options}
    found = tokenizer.encode_batch_arrays([given.text] * 2, **options)
    splits = found.row_splits
    rows = []
    for row in range(len(found)):
        span = slice(splits[row], splits[row + 1])
        columns = {field: getattr(found, field)[span].tolist() for field in FIELDS if field != "tokens"}
        columns["offsets"] = [(start, end) for start, end in columns["offsets"]]
        columns["word_ids"] = [None if word < 0 else word for word in columns["word_ids"]]
        rows.append(columns)
    return rows


def see_columns(tokenizer: Any, given: Input) -> Json:
    """The columns of one text or pair."""
    return see_rows(tokenizer, given)[1]


def see_masks(tokenizer: Any, given: Input) -> Json:
    """The columns that offsets and word ids are not among."""
    options = {"return_offsets": False, "return_word_ids": False}
    names = ("ids", "type_ids", "attention_mask", "special_tokens_mask")
    found = tokenizer.encode_batch_arrays(
        [given.text],
        pairs=None if given.pair is None else [given.pair],
        add_special_tokens=given.add_special_tokens,
        **{**COLUMNS, **options},
    )
    return {name: getattr(found, name).tolist() for name in names}


def see_overflowing(tokenizer: Any, given: Input) -> Json:
    """The columns of one text or pair, and those of what truncation cut off."""
    rows = see_rows(tokenizer, given, return_overflowing=True)
    first, *overflowing = rows[len(rows) // 2 :]
    return {**first, "overflowing_rows": overflowing}


def see_count(tokenizer: Any, given: Input) -> Json:
    """The number of ids."""
    return {"count": int(tokenizer.count_tokens([given.text], add_special_tokens=given.add_special_tokens)[0])}


def see_reference(tokenizer: Any, given: Input) -> Json:
    """The encoding, and the number of ids."""
    seen = see_encoding(tokenizer, given)
    names = [field for field in FIELDS if field != "tokens"]
    overflowing = [{name: part[name] for name in names} for part in seen["overflowing"]]
    return {**seen, "count": len(seen["ids"]), "overflowing_rows": overflowing}


def core(spec: Json) -> Any:
    """Reads the tokenizer by the core."""
    return read(lexmill, spec)


def staged(spec: Json) -> Any:
    """Reads the tokenizer by the core, to run stage by stage."""
    return core(spec)._staged()


def with_tables(spec: Json) -> Any:
    """Reads the tokenizer by the core, with the tables that it otherwise makes after much text."""
    return core(spec)._with_all_tables()


REFERENCE = Engine("reference", read_reference, see_reference)
# Further ways through the core are added here.
ENGINES = [
    Engine("encode", core, see_encoding),
    Engine("encode_batch", core, see_batch),
    Engine("encode_ids", core, see_ids, takes_pairs=False),
    Engine("encode_batch_ids", core, see_batch_ids, takes_pairs=False),
    Engine("encode_batch_arrays", core, see_arrays, takes_pairs=False),
    Engine("columns", core, see_columns),
    Engine("masks", core, see_masks),
    Engine("columns and overflow", core, see_overflowing),
    Engine("columns, staged", staged, see_columns),
    Engine("count_tokens", core, see_count, takes_pairs=False),
    Engine("columns, with all tables", with_tables, see_columns),
    Engine("masks, with all tables", with_tables, see_masks),
    Engine("encode_batch_ids, with all tables", with_tables, see_batch_ids, takes_pairs=False),
    Engine("encode, staged", staged, see_encoding),
    Engine("encode_ids, staged", staged, see_ids, takes_pairs=False),
]


def differences(expected: Seen, found: Seen, left_out: Container[str]) -> dict[str, tuple[Any, Any]]:
    """What two engines see differently, but for the names `left_out`."""
    if not isinstance(expected, dict) or not isinstance(found, dict):
        return {} if expected is found else {"outcome": (expected, found)}
    both = [name for name in expected if name in found and name not in left_out]
    return {name: (expected[name], found[name]) for name in both if expected[name] != found[name]}
