"""Reads the `post_processor` of a `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lexmill.reference.formats.fields import Json, flags, read
from lexmill.reference.formats.pre_tokenizers import BYTE_LEVEL
from lexmill.reference.processors import PostProcessor, Sequence
from lexmill.reference.processors.bert import BertProcessing
from lexmill.reference.processors.byte_level import ByteLevel
from lexmill.reference.processors.roberta import RobertaProcessing
from lexmill.reference.processors.template import Piece, TemplateProcessing


def post_processor(spec: Json) -> PostProcessor:
    """Reads one post-processor."""
    return read("post-processor", spec, READERS)


def _template(spec: Json) -> PostProcessor:
    tokens = spec["special_tokens"].values()
    return TemplateProcessing(
        single=list(map(_piece, spec["single"])),
        pair=list(map(_piece, spec["pair"])),
        special_tokens={token["id"]: list(zip(token["ids"], token["tokens"], strict=True)) for token in tokens},
    )


def _piece(spec: Json) -> Piece:
    if "SpecialToken" in spec:
        return Piece(None, spec["SpecialToken"]["id"], spec["SpecialToken"]["type_id"])
    return Piece("AB".index(spec["Sequence"]["id"]), "", spec["Sequence"]["type_id"])


def _roberta(spec: Json) -> PostProcessor:
    options = flags(spec, "trim_offsets", "add_prefix_space")
    return RobertaProcessing(tuple(spec["sep"]), tuple(spec["cls"]), **options)


READERS: Mapping[str, Callable[[Json], PostProcessor]] = {
    "ByteLevel": lambda spec: ByteLevel(**flags(spec, *BYTE_LEVEL)),
    "TemplateProcessing": _template,
    "BertProcessing": lambda spec: BertProcessing(tuple(spec["sep"]), tuple(spec["cls"])),
    "RobertaProcessing": _roberta,
    "Sequence": lambda spec: Sequence([post_processor(stage) for stage in spec["processors"]]),
}
