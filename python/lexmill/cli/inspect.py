"""`lexmill inspect`: the parts of a tokenizer, and how it cuts a text."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from lexmill import Tokenizer
from lexmill.cli.display import columns, cut, join_cut, printable, wants_color
from lexmill.cli.files import STANDARD, read_stream
from lexmill.cli.load import load_tokenizer
from lexmill.cli.options import LARGEST, Json, TokenizerFile
from lexmill.cli.outcome import Outcome
from lexmill.errors import InputTypeError

__all__ = ["Options", "inspect"]

_SAMPLE = "Tokenizers cut text into pieces: frequent words stay whole, rare ones don't. Größe, 東京, 🦀, 12345."
_STAGES = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder")
_PARTS = ("normalizers", "pretokenizers", "processors", "decoders")
# Too long to show, and shown as sizes.
_TABLES = ("vocab", "merges", "special_tokens", "precompiled_charsmap")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments and options of `lexmill inspect`."""

    tokenizer: TokenizerFile
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="A text to cut into tokens; - is stdin.")] = None
    top: Annotated[int, typer.Option(min=0, max=LARGEST, help="How many of the longest tokens to list.")] = 10
    as_json: Json = False


def inspect(options: Options) -> Outcome:
    """Show the parts of a tokenizer and how it cuts a text."""
    tokenizer = load_tokenizer(options.tokenizer)
    text = _SAMPLE if options.text is None else options.text
    if text == STANDARD:
        text = read_stream(STANDARD, "strict")[0]
    try:
        text.encode()
    except UnicodeEncodeError:
        message = "the text given is not valid UTF-8"
        raise InputTypeError(message) from None
    parts = json.loads(tokenizer.to_str())
    sizes = {
        "vocab_size": tokenizer.get_vocab_size(),
        "model_vocab_size": tokenizer.get_vocab_size(with_added_tokens=False),
        "merges": len(parts["model"].get("merges", [])),
        "added_tokens": len(parts["added_tokens"]),
    }
    special = [(token["id"], token["content"]) for token in parts["added_tokens"] if token["special"]]
    longest = _longest(tokenizer, options.top)
    encoding = tokenizer.encode(text, add_special_tokens=False)
    pieces = cut(text, encoding.offsets)
    data: dict[str, object] = {
        "tokenizer": options.tokenizer,
        "pipeline": {stage: _without_tables(parts.get(stage)) for stage in _STAGES},
        "encoding_plan": tokenizer.encoding_plan(),
        **sizes,
        "special_tokens": [{"id": id_, "token": token} for id_, token in special],
        "longest_tokens": [{"id": id_, "token": token} for id_, token in longest],
        "sample": {"text": text, "ids": encoding.ids, "tokens": encoding.tokens},
    }
    sections = [
        columns([(stage.replace("_", "-"), _describe(parts.get(stage))) for stage in _STAGES], "<<"),
        _plan(tokenizer.encoding_plan()),
        columns([(name.replace("_", " "), f"{size:,}") for name, size in sizes.items()], "<>"),
        _table("special tokens", tokenizer, special),
        _table(f"longest {len(longest)} tokens", tokenizer, longest),
        f"{len(encoding.ids):,} tokens of a sample\n{join_cut(pieces, wants_color(sys.stdout))}",
    ]
    return Outcome(data, text="\n\n".join(section for section in sections if section))


def _longest(tokenizer: Tokenizer, top: int) -> list[tuple[int, str]]:
    """The longest tokens of the model by their written form, then by id."""
    vocab = tokenizer.get_vocab(with_added_tokens=False)
    found = sorted(((id_, token) for token, id_ in vocab.items()), key=lambda item: (-len(item[1]), item[0]))
    return found[:top]


def _plan(plan: dict[str, bool | str | None]) -> str:
    """How the tokenizer encodes, in a sentence or two."""
    way = "encodes stage by stage"
    if plan["chunked"]:
        way = f"encodes in chunks, found by {plan['chunks']}; a new chunk takes {plan['on_a_miss']}"
    offsets = f"; offsets are found {plan['offsets']}" if plan["offsets"] else ""
    because = f"; {plan['because']}" if plan["because"] else ""
    return f"{way}{offsets}{because}"


def _table(title: str, tokenizer: Tokenizer, tokens: list[tuple[int, str]]) -> str:
    if not tokens:
        return ""
    rows = [(str(id_), repr(_text(tokenizer, id_, token))) for id_, token in tokens]
    return f"{title}\n{columns(rows, '><')}"


def _text(tokenizer: Tokenizer, id_: int, token: str) -> str:
    """The text of a token, or the token itself if it is only a part of a character."""
    text = tokenizer.decode([id_], skip_special_tokens=False)
    return token if "\ufffd" in text else text


def _describe(part: dict[str, Any] | None) -> str:
    if part is None:
        return "none"
    for name in _PARTS:
        if name in part:
            return " + ".join(_describe(stage) for stage in part[name])
    options = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in part.items()
        if name not in ("type", *_TABLES) and value is not None
    )
    return printable(f"{part['type']}({options})" if options else str(part["type"]))


def _without_tables(part: dict[str, Any] | None) -> dict[str, object] | None:
    return None if part is None else {name: value for name, value in part.items() if name not in ("vocab", "merges")}
