from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from lexmill.reference.bpe import Bpe
from lexmill.reference.late_merges import exact_rank, tokenize

PART = st.text("ab ", max_size=3)
# An early and a late merge make `abb`.
TWO_WAYS = [("b", "b"), ("a", "bb"), ("ab", "b"), ("abb", "a")]
# A merge of nothing and a character makes the character, and never happens.
NOTHING = [("b", "b"), ("", "a"), ("a", "bb")]
MERGES = st.lists(st.tuples(PART, PART), min_size=1, max_size=16, unique=True)


@example(merges=TWO_WAYS, words=["abba"])
@example(merges=NOTHING, words=["abb"])
@given(merges=MERGES, words=st.lists(st.text("ab ", max_size=40), min_size=1, max_size=5))
def test_two_steps_give_the_tokens_of_one(merges: list[tuple[str, str]], words: list[str]) -> None:
    tokens = {"a", "b", " "} | {token for left, right in merges for token in (left, right, left + right)}
    vocab = {token: token_id for token_id, token in enumerate(sorted(tokens))}
    bpe = Bpe(vocab, merges)
    for first_late in {exact_rank(merges, rank) for rank in range(len(merges) + 1)}:
        for word in words:
            expected = [token.value for token in bpe.tokenize(word)]
            assert tokenize(vocab, merges, first_late, word) == expected
