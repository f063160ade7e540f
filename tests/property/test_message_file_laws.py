"""Token files of conversations have the ids and masks of arrays, for hostile contents, any layout and any parts."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("jinja2")

from chat_strategies import conversations
from chat_templates import CASES, Messages
from lexmill.messages import tokenize_message_files, tokenize_messages
from message_runs import FORMED, byte_level, end_to_end, rows_in, rows_of, write_chats

TOKENIZER = byte_level()
TEMPLATES = ["plain", "trimmed", "swapped halves", "backwards", "merged", "blocks", "generated", "gemma"]


@pytest.mark.filterwarnings("ignore:.*no token to learn", "ignore:.*conversations has a token to learn")
@settings(max_examples=settings.default.max_examples // 4)
@given(
    batch=st.lists(conversations(), min_size=1, max_size=6),
    layout=st.sampled_from(FORMED),
    template=st.sampled_from(TEMPLATES),
    part_bytes=st.sampled_from([1, 200, 1 << 27]),
    mask=st.sampled_from(["assistant", "user", ["assistant", "system"]]),
)
def test_files_have_the_rows_of_arrays(
    batch: list[Messages], layout: Any, template: str, part_bytes: int, mask: Any
) -> None:
    format, preset, loss = layout
    text = CASES[template].template
    expected = [row for row in rows_of(tokenize_messages(TOKENIZER, batch, text, mask=mask)) if row[0]]
    with tempfile.TemporaryDirectory() as folder:
        path = write_chats(Path(folder) / "in.jsonl", batch)
        out = Path(folder) / "out"
        files = tokenize_message_files(
            TOKENIZER, path, out, text, mask=mask, loss=loss, format=format, preset=preset, part_bytes=part_bytes
        )
        assert rows_in(files) == (end_to_end(expected) if preset == "nanogpt" else expected)
