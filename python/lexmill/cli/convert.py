"""`lexmill convert`: a tokenizer from one kind of file to another, and the parts of it that the other cannot hold."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lexmill import Tokenizer
from lexmill._data.whole_file import to_disk
from lexmill.cli.files import STANDARD, check_inputs, check_output, write_whole
from lexmill.cli.kinds import Kind, Surroundings, Version, kind_of, paths_of, pattern_of_name, read, write
from lexmill.cli.options import Json
from lexmill.cli.outcome import Outcome, UsageError
from lexmill.cli.stages import PreTokenizerName, pre_tokenizer_of
from lexmill.errors import FormatError, InvalidUtf8Error, OptionError, VocabError
from lexmill.models import BPE, WordPiece

__all__ = ["Kind", "Options", "Surroundings", "Version", "convert"]

_STAGES = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding")
# SentencePiece's files hold these stages in another form, and `save_spm` refuses stages that have no such form.
_SENTENCEPIECE = (Kind.SENTENCEPIECE, Kind.SENTENCEPIECE_LITE)
_NOT_COMPARED = dict.fromkeys(_SENTENCEPIECE, ("normalizer", "pre_tokenizer"))
# Options of the byte-level stages that mean nothing in that stage; a post-processor may mean nothing at all.
_WITHOUT_MEANING = {
    "pre_tokenizer": ("trim_offsets",),
    "post_processor": ("add_prefix_space", "use_regex"),
    "decoder": ("add_prefix_space", "trim_offsets", "use_regex"),
}
# Options of models. The writers check the ranks of a `.tiktoken` file and the scores of a SentencePiece file.
_MODEL_OPTIONS = (
    "unk_token",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "max_input_chars_per_word",
    "dropout",
    "fuse_unk",
    "byte_fallback",
    "ignore_merges",
    "unk_id",
)
_MODEL_OPTIONS_NOT_COMPARED = {Kind.TIKTOKEN: ("ignore_merges", "fuse_unk")}


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments and options of `lexmill convert`."""

    source: Annotated[str, typer.Argument(metavar="IN", help="The file to read.", show_default=False)]
    output: Annotated[
        str, typer.Argument(metavar="OUT", help="Where to write; - is stdout (with --to).", show_default=False)
    ]
    from_kind: Annotated[Kind | None, typer.Option("--from", help="The kind of IN, told by its name unless given.")] = (
        None
    )
    to_kind: Annotated[Kind | None, typer.Option("--to", help="The kind of OUT, told by its name unless given.")] = None
    around: Surroundings
    version: Annotated[
        Version | None,
        typer.Option(help="The version of a tokenizer-json: 1.0 unless given, or 2.0 for Hugging Face tokenizers 1.0."),
    ] = None
    lossy: Annotated[bool, typer.Option(help="Write even if OUT cannot hold all of IN.")] = False
    as_json: Json = False


def convert(options: Options) -> Outcome:
    """Convert a tokenizer from one kind of file to another.

    A vocab.txt, vocab.json with merges.txt, or .tiktoken holds a model alone. The options name the stages and tokens
    around the model, in IN or in OUT. OUT is read back with the same options. If it lacks a part of IN, that is an
    error, which names the part.
    """
    if options.source == STANDARD:
        message = f"IN must be a file, not stdin ({STANDARD})"
        raise UsageError(message)
    if options.output == STANDARD and (options.as_json or options.to_kind is None):
        message = f"{STANDARD} is stdout, which needs --to and goes without --json"
        raise UsageError(message)
    from_kind = options.from_kind or kind_of(options.source, "--from")
    to_kind = options.to_kind or kind_of(options.output, "--to")
    _check_surroundings(options.around, from_kind, to_kind)
    if options.version is not None and to_kind is not Kind.TOKENIZER_JSON:
        message = f"--version is for {Kind.TOKENIZER_JSON.value}, not for {to_kind.value}"
        raise UsageError(message)
    version = options.version or Version.ONE
    inputs, outputs = paths_of(options.source, from_kind), paths_of(options.output, to_kind)
    if to_kind is Kind.VOCAB_JSON and options.output == STANDARD:
        message = f"{to_kind.value} is two files, which do not go to stdout"
        raise UsageError(message)
    check_inputs(inputs)
    for path in outputs:
        check_output(path, inputs)
    tokenizer = _read(inputs, from_kind, options.around)
    _check_unk_token(tokenizer, inputs[0], from_kind)
    with tempfile.TemporaryDirectory(prefix="lexmill-") as folder:
        lost = [*_repeated_lines(tokenizer, inputs[0], from_kind)]
        if version is Version.TWO:
            lost += tokenizer._lost_in_version_2()
        written = write(tokenizer, to_kind, Path(folder), version)
        around = _surroundings_of_output(tokenizer, options, to_kind)
        back = _read([str(path) for path in written], to_kind, around)
        if version is Version.ONE:
            lost += _lost(tokenizer, back, to_kind)
        if lost and not options.lossy:
            message = f"{to_kind.value} cannot hold {'; '.join(lost)}; --lossy leaves that out"
            raise OptionError(message)
        with contextlib.ExitStack() as stack:
            streams = [stack.enter_context(write_whole(path)) for path in outputs]
            for stream, made in zip(streams, written, strict=True):
                stream.write(made.read_bytes())
            # Of two files neither takes its place unless both can.
            for stream in streams:
                to_disk(stream)
    data: dict[str, object] = {
        "outputs": outputs,
        "from": from_kind.value,
        "to": to_kind.value,
        "vocab_size": tokenizer.get_vocab_size(),
        "lost": lost,
    }
    note = f"{' and '.join(outputs)}: {to_kind.value}, {tokenizer.get_vocab_size():,} tokens"
    if lost:
        note += f"; without {'; '.join(lost)}"
    if to_kind is Kind.TOKENIZER_JSON and tokenizer.encode_special_tokens:
        data["set_after_reading"] = ["encode_special_tokens"]
        note += "; set encode_special_tokens after reading it, which leaves special tokens in texts to the model"
    return Outcome(data, note=note)


def _check_surroundings(around: Surroundings, *kinds: Kind) -> None:
    if around.given and not any(kind.holds_model_alone for kind in kinds):
        known = ", ".join(kind.value for kind in Kind if kind.holds_model_alone)
        message = f"{around.given[0]} is for {known}, not for {' to '.join(kind.value for kind in kinds)}"
        raise UsageError(message)


def _read(paths: list[str], kind: Kind, around: Surroundings) -> Tokenizer:
    try:
        return read(paths, kind, around)
    except InvalidUtf8Error as error:
        # Reading such a file all the same is no option here.
        raise FormatError(str(error).partition(";")[0]) from None
    except (OptionError, FormatError, VocabError) as error:
        message = str(error)
        raise type(error)(message if paths[0] in message else f"{paths[0]}: {message}") from None


def _check_unk_token(tokenizer: Tokenizer, path: str, kind: Kind) -> None:
    model = tokenizer.model
    unk_token = model.unk_token if isinstance(model, BPE | WordPiece) else None
    if kind.holds_model_alone and unk_token is not None and model.token_to_id(unk_token) is None:
        message = f"{path} has no token `{unk_token}` for unknown text; name the token that it has by --unk-token"
        raise FormatError(message)


def _repeated_lines(tokenizer: Tokenizer, path: str, kind: Kind) -> Iterator[str]:
    """The lines of a `vocab.txt` that later ones repeat, of which the last counts."""
    if kind is not Kind.VOCAB_TXT:
        return
    ids = set(tokenizer.get_vocab(with_added_tokens=False).values())
    lines = [str(id_ + 1) for id_ in range(max(ids, default=0)) if id_ not in ids]
    if lines:
        shown = ", ".join(lines[:10]) + (f" and {len(lines) - 10} more" if len(lines) > 10 else "")
        yield f"{'line' if len(lines) == 1 else 'lines'} {shown} of {path}, the same as later ones"


def _surroundings_of_output(tokenizer: Tokenizer, options: Options, kind: Kind) -> Surroundings:
    """As given; the pattern of a `.tiktoken` file, which must always be told, may be any that is known."""
    around = options.around
    if kind is not Kind.TIKTOKEN or around.pre_tokenizer is not None:
        return around
    own = json.loads(tokenizer.to_str())["pre_tokenizer"]
    known = [name for name in PreTokenizerName if name.is_byte_level]
    fitting = (name for name in known if _is_same("pre_tokenizer", own, json.loads(_state(name))))
    usual = pattern_of_name(options.output) or PreTokenizerName.BYTE_LEVEL
    return replace(around, pre_tokenizer=next(fitting, usual))


def _state(name: PreTokenizerName) -> bytes:
    return pre_tokenizer_of(name).__getstate__()


def _lost(source: Tokenizer, back: Tokenizer, kind: Kind) -> Iterator[str]:
    """The parts of `source` that differ in `back`, the tokenizer that was read back.

    Raises:
        OptionError: an ordinary token has not the same id, so that not even the model is the same.
    """
    one, other = json.loads(source.to_str()), json.loads(back.to_str())
    added = {token["id"] for token in one["added_tokens"]}
    tokens, found = source.get_vocab(with_added_tokens=False), back.get_vocab()
    for token, id_ in sorted(tokens.items(), key=lambda item: item[1]):
        if id_ not in added and found.get(token) != id_:
            message = f"{kind.value} cannot hold token {token!r} with id {id_}"
            raise OptionError(message)
    if kind is Kind.VOCAB_JSON and one["model"]["merges"] != other["model"]["merges"]:
        message = f"{kind.value} cannot hold these merges: they are read back as others"
        raise OptionError(message)
    for stage in _STAGES:
        if stage not in _NOT_COMPARED.get(kind, ()) and not _is_same(stage, one[stage], other[stage]):
            if kind in _SENTENCEPIECE and stage == "decoder" and one[stage] and one[stage]["type"] == "Metaspace":
                continue
            yield f"the {stage} {_shown(one[stage])} (read back as {_shown(other[stage])})"
    for name in _MODEL_OPTIONS:
        if name in _MODEL_OPTIONS_NOT_COMPARED.get(kind, ()):
            continue
        own, read_back = one["model"].get(name), other["model"].get(name)
        if name != "unk_id":
            # An option that is off may be left out; the id 0 is not off.
            own, read_back = own or None, read_back or None
        if own != read_back:
            yield f"the model's {name} {_shown(own)} (read back as {_shown(read_back)})"
    has_one_text = one["normalizer"] is None is other["normalizer"]
    if has_one_text and not any(_are_searched_in_turn(file["added_tokens"]) for file in (one, other)):
        # Without a normalizer, the text before it and the text after it are the same.
        for token in (*one["added_tokens"], *other["added_tokens"]):
            token["normalized"] = False
    if source.role_to_token != back.role_to_token:
        yield f"role_to_token {_shown(source.role_to_token)}"
    for token in one["added_tokens"]:
        if token not in other["added_tokens"]:
            yield f"the added token `{token['content']}` with id {token['id']}"


def _are_searched_in_turn(tokens: list[dict[str, Any]]) -> bool:
    """True if added tokens that are not normalized, which are searched first, may take text from the others."""
    first = [token for token in tokens if not token["normalized"]]
    later = [token for token in tokens if token["normalized"]]
    return any(_may_meet(token, other) for token in first for other in later)


def _may_meet(token: dict[str, Any], other: dict[str, Any]) -> bool:
    """True if both tokens may match at places that overlap, or one depends on the text beside it."""
    if any(each[flag] for each in (token, other) for flag in ("single_word", "lstrip", "rstrip")):
        return True
    one, two = token["content"], other["content"]
    if one in two or two in one:
        return True
    lengths = range(1, min(len(one), len(two)))
    return any(one.endswith(two[:length]) or two.endswith(one[:length]) for length in lengths)


def _is_same(stage: str, one: object, other: object) -> bool:
    return bool(_meaning(stage, one) == _meaning(stage, other))


def _meaning(stage: str, value: object) -> object:
    """The stage without options that mean nothing in it."""
    if isinstance(value, list):
        return [_meaning(stage, item) for item in value]
    if not isinstance(value, dict):
        return value
    if stage == "post_processor" and value.get("type") == "ByteLevel" and not value["trim_offsets"]:
        return None
    without = _WITHOUT_MEANING.get(stage, ()) if value.get("type") == "ByteLevel" else ()
    return {key: _meaning(stage, item) for key, item in value.items() if key not in without}


def _shown(value: object) -> str:
    text = "none" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:120]}..."
