"""The Python interface of Hugging Face `tokenizers` 1.0, as release candidate 3 has it, on lexmill.

    from lexmill.v1 import Tokenizer, Truncation

    tokenizer = Tokenizer.from_file("tokenizer.json")
    encoding = tokenizer.encode("some text", truncation=Truncation(512))

Provisional: release candidates 4 and 5 change the interface there, and this module follows version 1.0 when it is out.
`lexmill.install(version="1")` puts it in the place of `tokenizers`. `lexmill.Tokenizer` is the interface of 0.23.
"""

from __future__ import annotations

from lexmill.v1._encoding import Encoding
from lexmill.v1._limits import Padding, Truncation
from lexmill.v1._tokenizer import CompiledTokenizer, Tokenizer

__all__ = ["CompiledTokenizer", "Encoding", "Padding", "Tokenizer", "Truncation"]

# Pickles name the public module, so that the private ones can change.
for _class in (CompiledTokenizer, Encoding, Padding, Tokenizer, Truncation):
    _class.__module__ = __name__
