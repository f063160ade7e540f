"""Continued training that replaces unused tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from continued_tokenizers import KINDS, NEW, OLD, check_peer, failure, trained
from lexmill import Tokenizer, models, pre_tokenizers, processors
from lexmill.errors import OptionError


def new_text(kind: str) -> list[str]:
    """Text without the words of `OLD`, for which tokens are free."""
    return ["der hund sass auf der matte"] * 9 if kind == "WordLevel" else NEW


@pytest.mark.parametrize("kind", KINDS)
def test_unused_tokens_are_replaced_at_the_present_size(kind: str) -> None:
    tokenizer, old = trained(kind), trained(kind)
    before, size = tokenizer.get_vocab(), tokenizer.get_vocab_size()
    replaced = tokenizer.continue_training_from_iterator(new_text(kind), vocab_size=size + 7, replace="unused")
    after = tokenizer.get_vocab()
    names = {id_: token for token, id_ in after.items()}
    assert len(replaced) > 0
    assert len(after) <= size + 7
    assert list(replaced) == sorted(replaced)
    assert all(before[token] == id_ and names[id_] != token for id_, token in replaced.items())
    assert all(after[token] == id_ for token, id_ in before.items() if id_ not in replaced)
    assert {"<unk>": before["<unk>"], "<s>": before["<s>"], "</s>": before["</s>"]}.items() <= after.items()
    used = {id_ for text in new_text(kind) for id_ in old.encode(text).ids}
    assert used.isdisjoint(replaced)
    copy = Tokenizer.from_str(tokenizer.to_str())
    for text in [*OLD[:2], *new_text(kind)[:2]]:
        assert copy.encode(text).ids == tokenizer.encode(text).ids
    assert set(tokenizer.encode("der hund").ids) & {*replaced, *range(size, size + 7)}


@pytest.mark.external
@pytest.mark.parametrize("kind", KINDS)
def test_the_peer_reads_replaced_tokens(kind: str) -> None:
    tokenizer = trained(kind)
    tokenizer.continue_training_from_iterator(
        new_text(kind), vocab_size=tokenizer.get_vocab_size() + 7, replace="unused"
    )
    check_peer(tokenizer)


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_limits_the_replaced_tokens(kind: str) -> None:
    for most in (0, 1, 2):
        tokenizer = trained(kind)
        size = tokenizer.get_vocab_size()
        replaced = tokenizer.continue_training_from_iterator(new_text(kind), vocab_size=size + 12, replace=most)
        assert len(replaced) == most
        if most == 0:
            appended = trained(kind)
            assert appended.continue_training_from_iterator(new_text(kind), vocab_size=size + 12) == {}
            assert tokenizer.to_str() == appended.to_str()


def test_tokens_that_stages_name_stay() -> None:
    def tokenizer() -> Tokenizer:
        model = models.WordLevel({"<unk>": 0, "pad": 1, "sep": 2, "cls": 3, "old": 4}, unk_token="<unk>")
        made = Tokenizer(model)
        made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        return made

    bare = tokenizer()
    assert bare.continue_training_from_iterator(["a b c d"], vocab_size=5, replace="unused") == {
        1: "pad",
        2: "sep",
        3: "cls",
        4: "old",
    }
    named = tokenizer()
    named.post_processor = processors.BertProcessing(("sep", 2), ("cls", 3))
    named.enable_padding(pad_id=1, pad_token="pad")
    assert named.continue_training_from_iterator(["a b c d"], vocab_size=5, replace="unused") == {4: "old"}
    assert named.token_to_id("a") == 4


def test_replaced_tokens_do_not_depend_on_threads_or_memory(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    path.write_text("\n".join(NEW) + "\n", encoding="utf-8")
    for kind in KINDS:
        found = set()
        for threads, max_memory in [(1, None), (3, None), (1, "1GB"), (3, "1GB")]:
            options: dict[str, Any] = {"replace": "unused", "num_threads": threads}
            tokenizer = trained(kind)
            size = tokenizer.get_vocab_size() + 9
            replaced = tokenizer.continue_training([path], vocab_size=size, max_memory=max_memory, **options)
            found.add((tokenizer.to_str(), str(replaced)))
            tokenizer = trained(kind)
            replaced = tokenizer.continue_training_from_iterator(
                NEW, vocab_size=size, max_memory=max_memory, folder=tmp_path, **options
            )
            found.add((tokenizer.to_str(), str(replaced)))
        assert len(found) == 1


@pytest.mark.parametrize(
    ("replace", "message"),
    [
        (-1, "replace is -1 but must be at least 0"),
        (True, 'replace is True but must be "unused" or a number of tokens'),
        ("all", "replace is 'all' but must be"),
        (1.5, "replace is 1.5 but must be"),
        (1 << 70, f"replace is {1 << 70} but must be"),
        ([1], r"replace is \[1\] but must be"),
        (b"unused", "replace is b'unused' but must be"),
    ],
)
def test_wrong_replace_is_refused(replace: Any, message: str) -> None:
    tokenizer = trained("BPE")
    with pytest.raises(OptionError, match=message):
        tokenizer.continue_training_from_iterator(NEW, vocab_size=99, replace=replace)


def test_no_size_below_the_present_one_even_with_replaced_tokens() -> None:
    size = trained("BPE").get_vocab_size()
    message = f"vocab_size is {size - 1} but must be at least {size}: the tokenizer has {size} tokens, "
    assert str(failure("BPE", vocab_size=size - 1, replace="unused")).startswith(message)
