"""Version 2.0 of `tokenizer.json`: its members, and the parts that `save` keeps, loses or refuses."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexmill import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from lexmill.errors import FormatError, LostStateWarning, OptionError
from lexmill.reference.words import GPT2_PATTERN
from small import byte_level, letters

CUT = pre_tokenizers.Split(Regex("a+"), "isolated")


def written(tokenizer: Tokenizer, **options: Any) -> dict[str, Any]:
    file: dict[str, Any] = json.loads(tokenizer.to_str(version="2.0", **options))
    return file


def spaced() -> Tokenizer:
    """Words of `a` and `b` with visible spaces."""
    tokenizer = Tokenizer(models.Unigram([("<s>", 0.0), ("▁", -1.0), ("a", -2.0), ("b", -2.5), ("▁a", -1.5)], 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def test_members_are_in_the_order_of_the_format() -> None:
    assert list(written(letters())) == [
        "version", "truncation", "padding", "role_to_token", "added_tokens", "normalizer", "pre_tokenizer",
        "post_processor", "decoder", "model",
    ]  # fmt: skip


def test_byte_level_of_the_model_stands_for_the_pre_tokenizer() -> None:
    file = written(byte_level(("t", "h")))
    assert file["model"]["byte_level"] is True
    assert file["pre_tokenizer"]["pattern"] == {"Regex": GPT2_PATTERN}
    assert file["decoder"] == {"type": "ByteLevel"}
    assert written(byte_level(use_regex=False))["pre_tokenizer"] is None


def test_a_sequence_of_one_cut_stays_a_sequence() -> None:
    tokenizer = byte_level()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([CUT, pre_tokenizers.ByteLevel(False, use_regex=False)])
    assert [stage["type"] for stage in written(tokenizer)["pre_tokenizer"]["pretokenizers"]] == ["Split"]


def test_metaspace_is_a_normalizer_and_a_cut() -> None:
    file = written(spaced())
    assert file["normalizer"]["type"] == "MetaspaceNormalizer"
    assert file["pre_tokenizer"]["behavior"] == "MergedWithNext"
    assert file["decoder"] == {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
    back = Tokenizer.from_str(json.dumps(file))
    assert back.to_str() == spaced().to_str()
    assert back.encode("a b a").tokens == ["▁a", "▁", "b", "▁a"]


def test_a_template_without_tokens_is_left_out() -> None:
    tokenizer = letters()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A", pair="$A $B:1", special_tokens=[])
    assert written(tokenizer)["post_processor"] is None


def with_processor(processor: processors.PostProcessor) -> Tokenizer:
    tokenizer = letters()
    tokenizer.post_processor = processor
    return tokenizer


def with_cuts(*stages: pre_tokenizers.PreTokenizer) -> Tokenizer:
    tokenizer = byte_level()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(list(stages))
    return tokenizer


def with_normalizer(normalizer: normalizers.Normalizer) -> Tokenizer:
    tokenizer = letters()
    tokenizer.normalizer = normalizer
    return tokenizer


def without_decoder() -> Tokenizer:
    tokenizer = byte_level()
    tokenizer.decoder = None
    return tokenizer


def without_a_byte() -> Tokenizer:
    tokenizer = letters()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


@pytest.mark.parametrize(
    ("tokenizer", "part"),
    [
        (lambda: byte_level(add_prefix_space=True), "`add_prefix_space` of the pre-tokenizer `ByteLevel`"),
        (lambda: with_cuts(pre_tokenizers.ByteLevel(False), CUT), "a pre-tokenizer after `ByteLevel`"),
        (without_decoder, "`ByteLevel` without the decoder `ByteLevel`"),
        (without_a_byte, "a byte-level model without a token for byte 0x00"),
        (lambda: with_cuts(CUT, pre_tokenizers.Metaspace()), "the pre-tokenizer `Metaspace` after another"),
        (
            lambda: with_cuts(pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="never")),
            "`Metaspace` after `WhitespaceSplit`",
        ),
        (
            lambda: with_normalizer(normalizers.MetaspaceNormalizer()),
            "a `MetaspaceNormalizer` at the end of the normalizer; use the pre-tokenizer `Metaspace`",
        ),
        (
            lambda: with_normalizer(normalizers.SentencePiece(precompiled_charsmap=None)),
            "the normalizer `SentencePiece`",
        ),
        (lambda: with_processor(processors.BertProcessing(("z", 0), ("y", 1))), "token `y` with id 1"),
        (
            lambda: with_processor(
                processors.Sequence([processors.TemplateProcessing("$A", "$A $B", []) for _ in range(2)])
            ),
            "two post-processors with templates",
        ),
        (
            lambda: with_processor(processors.TemplateProcessing("$A", "$B $A", [])),
            "a template without A once, or without A and then B",
        ),
        (lambda: with_processor(processors.TemplateProcessing("$A:256", "$A $B", [])), "type id 256"),
    ],
)
def test_a_part_that_the_version_cannot_hold_is_named(tokenizer: Callable[[], Tokenizer], part: str) -> None:
    for lossy in (False, True):
        with pytest.raises(OptionError, match=r"version 2\.0 of tokenizer\.json cannot hold") as error:
            tokenizer().to_str(version="2.0", lossy=lossy)
        assert part in str(error.value)


def test_offsets_and_dropout_are_lost_only_if_that_is_asked_for() -> None:
    tokenizer = byte_level()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    tokenizer.model.dropout = 0.5
    with pytest.raises(OptionError, match="`dropout` of the model and `trim_offsets` of the post-processor"):
        tokenizer.to_str(version="2.0")
    assert written(tokenizer, lossy=True)["post_processor"] is None


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(OptionError, match=r'version is "3\.0" but must be one of 1\.0, 2\.0'):
        letters().to_str(version="3.0")


def test_a_saved_file_is_compact_unless_pretty_is_given(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer = spaced()
    tokenizer.save(path, version="2.0")
    assert path.read_text(encoding="utf-8") == tokenizer.to_str(version="2.0")
    tokenizer.save(path, pretty=True, version="2.0")
    assert path.read_text(encoding="utf-8") == tokenizer.to_str(pretty=True, version="2.0")
    tokenizer.save(path)
    assert path.read_text(encoding="utf-8") == tokenizer.to_str(pretty=True)


def test_roles_survive_files_of_the_version_and_pickles(tmp_path: Path) -> None:
    tokenizer = letters()
    assert tokenizer.role_to_token is None
    roles = {"eos_token": "</s>", "bos_token": "<s>"}
    tokenizer.role_to_token = roles
    text = tokenizer.to_str(version="2.0")
    assert '"role_to_token":{"bos_token":"<s>","eos_token":"</s>"}' in text
    for same in (Tokenizer.from_str(text), pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer)):
        assert same.role_to_token == roles
    with pytest.warns(LostStateWarning, match="does not hold role_to_token; set it again"):
        tokenizer.save(tmp_path / "tokenizer.json")
    tokenizer.role_to_token = {}
    assert tokenizer.role_to_token is None


def test_a_normalized_added_token_is_looked_for_without_the_space_before_it() -> None:
    tokenizer = spaced()
    tokenizer.pre_tokenizer = None
    tokenizer.normalizer = normalizers.MetaspaceNormalizer()
    tokenizer.add_tokens(["<x>"])
    assert tokenizer.encode("a<x>b").tokens == ["▁a", "<x>", "b"]


def test_a_relabelled_file_of_version_1_is_refused() -> None:
    file = json.loads(byte_level().to_str())
    file["version"] = "2.0"
    with pytest.raises(FormatError, match="model: `byte_level` is missing"):
        Tokenizer.from_str(json.dumps(file))


def test_scores_have_the_spelling_of_the_format() -> None:
    scores = [-8.4362945556640625, -9.1222076416015625, 3.0, 1e-7, 1e22]
    spelled = ["-8.436294555664063", "-9.122207641601562e0", "3.0", "0.0000001", "10000000000000000000000.0"]
    tokenizer = Tokenizer(models.Unigram([(f"t{at}", score) for at, score in enumerate(scores)]))
    text = tokenizer.to_str(version="2.0")
    assert all(f'["t{at}",{spelling}]' in text for at, spelling in enumerate(spelled)), text
