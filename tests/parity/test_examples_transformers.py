"""The examples on published tokenizers and under transformers, each in a process of its own."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from cases import load
from example_runs import joined, rows, run, section
from peers import tokenizer_file

PUBLISHED = load("textbook.json")["published"]
WINDOWS = PUBLISHED["overflow max_length=6 stride=2 bert-base-cased"]
NAMES = "My name is Sylvain and I work at Hugging Face in Brooklyn."
MARKED = "My name is [Sylvain](PER) and I work at [Hugging Face](ORG) in [Brooklyn](LOC)."

pytestmark = pytest.mark.external


@pytest.mark.parametrize("name", [name for name in PUBLISHED if name in ("bert-base-uncased", "gpt2", "t5-small")])
def test_texts_are_cut_as_published(name: str) -> None:
    golden = PUBLISHED[name]
    file = tokenizer_file(name)
    printed = run("normalization_and_pre_tokenization.py", *golden, f"--tokenizer={file}")
    found = printed.partition(f"The tokenizer of {file}")[2]
    assert rows(found, "tokens") == [joined(one["tokens"]) for one in golden.values()]
    assert rows(found, "offsets") == [joined(map(tuple, one["offsets"]), " ") for one in golden.values()]
    assert rows(found, "words") == [joined(one["word_ids"], " ") for one in golden.values()]


def test_entities_and_windows_are_as_published() -> None:
    golden = PUBLISHED["bert-base-cased"][NAMES]
    texts = [f"--long={text}" for text in WINDOWS]
    printed = run("ner_and_qa.py", f"--tokenizer={tokenizer_file('bert-base-cased')}", f"--marked={MARKED}", *texts)
    entities = section(printed, "Entities")
    assert rows(entities, "tokens") == [joined(golden["tokens"])]
    assert rows(entities, "offsets") == [joined(map(tuple, golden["offsets"]), " ")]
    assert rows(entities, "words") == [joined(golden["word_ids"], " ")]
    found = "Sylvain (PER, 11 to 18) | Hugging Face (ORG, 33 to 45) | Brooklyn (LOC, 49 to 57)"
    assert rows(entities, "first of words") == [found]
    for sample, windows in enumerate(WINDOWS.values()):
        assert rows(section(printed, "Windows"), f"of text {sample}") == windows


@pytest.mark.slow
@pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed: group `transformers`")
class TestUnderTransformers:
    def test_windows_are_mapped_to_their_texts(self) -> None:
        mapping = rows(run("ner_and_qa.py"), "the mapping")[0].split()
        half = len(mapping) // 2
        assert mapping == ["0"] * half + ["1"] * half
        assert half > 1

    def test_blocks_on_published_models_give_published_ids(self) -> None:
        models = [f"--bert={tokenizer_file('bert-base-uncased')}", f"--gpt2={tokenizer_file('gpt2')}"]
        cases = [(text, "BERT", one) for text, one in PUBLISHED["bert-base-uncased"].items()]
        cases += [(text, "GPT-2", one) for text, one in PUBLISHED["gpt2"].items()]
        for text, heading, golden in cases:
            found = section(run("block_by_block.py", f"--encode={text}", *models), heading)
            assert rows(found, "tokens") == [joined(golden["tokens"])]
            assert rows(found, "ids") == [joined(golden["ids"], " ")]

    @pytest.mark.skipif(find_spec("datasets") is None, reason="datasets is not installed: group `transformers`")
    def test_a_tokenized_corpus_is_loaded_by_datasets(self) -> None:
        assert rows(run("corpus_to_training.py"), "read by") == ["datasets"]

    def test_blocks_with_trained_models(self) -> None:
        printed = run("block_by_block.py")
        assert printed.count("the same ids | also saved and loaded") == 3
        assert rows(section(printed, "GPT-2"), "decoded") == ["Let's  test this naïve tokenizer."]
        xlnet = section(printed, "XLNet")
        assert rows(xlnet, "segments")[0].endswith("1 2")
        assert rows(xlnet, "padded")[0].startswith("0")
        assert rows(section(printed, "BERT"), "padded")[0].endswith("0")

    def test_a_new_tokenizer_from_an_english_one(self) -> None:
        printed = run("train_from_old.py")
        assert rows(printed, "runs on") == ["lexmill"]
        assert (rows(printed, "vocabulary"), rows(printed, "ids")) == (["equal"], ["equal"])
        old, new = (int(rows(printed, name)[0].split()[0]) for name in ("old", "new"))
        assert new < 0.8 * old

    def test_a_new_tokenizer_from_gpt2(self, tmp_path: Path) -> None:
        (tmp_path / "tokenizer.json").symlink_to(tokenizer_file("gpt2").resolve())
        config = {"tokenizer_class": "GPT2Tokenizer", "model_max_length": 1024}
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
        printed = run("train_from_old.py", f"--old={tmp_path}", "--size=2000")
        assert rows(printed, "tokens known") == ["50257 | 2000"]
        assert rows(printed, "class") == ["GPT2Tokenizer | GPT2Tokenizer"]
        assert rows(printed, "vocabulary") == ["equal"]
