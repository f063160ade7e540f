"""Conversations to ids and a loss mask, by chat templates; `pip install 'lexmill[messages]'`.

    tokens = tokenize_messages("llama/tokenizer.json", JsonLines("chats/*.jsonl.zst", field="messages"))
    tokens.ids, tokens.loss_mask, tokens.row_splits

The mask covers exactly the tokens of the text that the template writes for the chosen messages, from the end of the
header to the end marker, even if the template changes the text of messages. docs/algorithms/message-spans.md says how.
"""

from __future__ import annotations

from lexmill.messages._spans import Turn
from lexmill.messages.arrays import MessageTokens
from lexmill.messages.conversations import Conversation
from lexmill.messages.files import tokenize_message_files
from lexmill.messages.formats import FORMATS, Format
from lexmill.messages.records import read_conversations
from lexmill.messages.rendering import RenderedMessages, Span, render_messages
from lexmill.messages.template import ChatTemplate
from lexmill.messages.tokens import iter_message_tokens, tokenize_messages

__all__ = [
    "FORMATS",
    "ChatTemplate",
    "Conversation",
    "Format",
    "MessageTokens",
    "RenderedMessages",
    "Span",
    "Turn",
    "iter_message_tokens",
    "read_conversations",
    "render_messages",
    "tokenize_message_files",
    "tokenize_messages",
]
