"""Conversations with hostile contents, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from chat_templates import HOSTILE, Messages

contents = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=12),
    st.lists(st.sampled_from(HOSTILE[:20]), max_size=4).map("".join),
)


@st.composite
def conversations(draw: st.DrawFn) -> Messages:
    """Turns of users and assistants in turn, after a system's or not, of one message or more."""
    found = [{"role": "system", "content": draw(contents)}] if draw(st.booleans()) else []
    for number in range(draw(st.integers(1, 4))):
        found.append({"role": ["user", "assistant"][number % 2], "content": draw(contents)})
    return found
