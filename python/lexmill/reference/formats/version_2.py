"""Reads version 2.0 of `tokenizer.json` as version 1.0: the same tokenizer, with the stages of 1.0.

1. With `byte_level` of the model, `ByteLevel` is the last pre-tokenizer, and the decoder. It takes the place of a last
   cut at GPT-2's pattern, and cuts there itself.
2. A `MetaspaceNormalizer` at the end of the normalizer is the pre-tokenizer `Metaspace` at the beginning of the
   pre-tokenizers. It splits if a `Split` of its replacement, merged with the text after it, stood there. With
   `drop_whitespace` this holds for the scheme `always` and such a `Split`, and `WhitespaceSplit` comes first. In other
   forms it stays a normalizer.
3. Each id of a template becomes a special token, which is named by its text.
4. Added tokens are numbered in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from lexmill.reference.added_tokens import AddedToken, AddedTokens
from lexmill.reference.formats.fields import Json, flags
from lexmill.reference.formats.models import model
from lexmill.reference.words import GPT2_PATTERN

BYTE_LEVEL: Json = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}


def to_version_1(spec: Json) -> Json:
    """The object of a file of version 1.0 for one of 2.0."""
    added = sorted(spec.get("added_tokens") or [], key=lambda token: token["id"])
    normalizers = _stages(spec.get("normalizer"), "normalizers")
    cuts = [_with_behavior(stage) for stage in _stages(spec.get("pre_tokenizer"), "pretokenizers")]
    normalizers, cuts = _with_metaspace(normalizers, cuts)
    decoder = spec.get("decoder")
    if spec["model"].get("byte_level"):
        cuts_itself = bool(cuts) and _is_split(cuts[-1], {"Regex": GPT2_PATTERN}, "Isolated")
        before = cuts[:-1] if cuts_itself else cuts
        cuts = [*before, {**BYTE_LEVEL, "use_regex": cuts_itself}]
        decoder = BYTE_LEVEL
    return {
        **spec,
        "version": "1.0",
        "added_tokens": added,
        "normalizer": {"type": "Sequence", "normalizers": normalizers} if normalizers else None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": cuts} if cuts else None,
        "post_processor": _template(spec.get("post_processor"), _tokens(spec["model"], added)),
        "decoder": decoder,
    }


def _stages(stage: Json | None, inner: str) -> list[Json]:
    """The stages of a stage or a sequence; `inner` is the key of a sequence's stages."""
    if stage is None:
        return []
    if stage["type"] != "Sequence":
        return [stage]
    return [leaf for each in stage[inner] for leaf in _stages(each, inner)]


def _with_metaspace(normalizers: list[Json], cuts: list[Json]) -> tuple[list[Json], list[Json]]:
    if not normalizers or normalizers[-1]["type"] != "MetaspaceNormalizer":
        return normalizers, cuts
    last = normalizers[-1]
    splits = bool(cuts) and _is_split(cuts[0], {"String": last["replacement"]}, "MergedWithNext")
    metaspace = {
        "type": "Metaspace",
        "replacement": last["replacement"],
        "prepend_scheme": last["prepend"],
        "split": splits,
    }
    rest = cuts[1:] if splits else cuts
    if not last["drop_whitespace"]:
        return normalizers[:-1], [metaspace, *rest]
    if splits and last["prepend"] == "always":
        return normalizers[:-1], [{"type": "WhitespaceSplit"}, metaspace, *rest]
    return normalizers, cuts


def _with_behavior(stage: Json) -> Json:
    return {"behavior": "Isolated", **stage} if stage["type"] == "Split" else stage


def _is_split(stage: Json, pattern: Json, behavior: str) -> bool:
    wanted = {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": False}
    return {"invert": False, **stage} == wanted


def _tokens(model_spec: Json, added_specs: list[Json]) -> dict[int, str]:
    _, vocab = model(model_spec)
    names = [member.name for member in fields(AddedToken)]
    added = AddedTokens()
    added.add([AddedToken(**flags(token, *names)) for token in added_specs], vocab)
    own = {token_id: token for token, token_id in vocab}
    return own | {token_id: token.content for token_id, token in added.tokens.items()}


def _template(processor: Json | None, tokens: Mapping[int, str]) -> Json | None:
    if processor is None:
        return None
    names: dict[str, Json] = {}

    def pieces(template: list[Json]) -> list[Json]:
        out: list[Json] = []
        for piece in template:
            type_id = piece.get("type_id", 0)
            if "seq" in piece:
                out.append({"Sequence": {"id": piece["seq"], "type_id": type_id}})
            for token_id in piece.get("ids", []):
                name = text = tokens[token_id]
                while name in names and names[name]["ids"] != [token_id]:
                    name = f"{name} {token_id}"
                names[name] = {"id": name, "ids": [token_id], "tokens": [text]}
                out.append({"SpecialToken": {"id": name, "type_id": type_id}})
        return out

    single, pair = pieces(processor["single"]), pieces(processor["pair"])
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": names}
