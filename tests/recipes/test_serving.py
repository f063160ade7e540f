"""The calls that vLLM and SGLang make, on lexmill and on `tokenizers`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import lexmill
from lexmill import Tokenizer, decoders

pytestmark = [
    pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed: group `transformers`")
    for name in ["tokenizers", "transformers"]
]
SCRIPT = Path(__file__).parent / "served.py"


@pytest.fixture
def folder(tmp_path: Path, tokenizer: Tokenizer) -> Path:
    made = Tokenizer.from_str(tokenizer.to_str())
    made.add_special_tokens(["<|end|>"])
    made.save(str(tmp_path / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|end|>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    return tmp_path


def run(*command: str) -> Any:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "LEXMILL_INSTALL": ""}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, check=False, env=environment, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_servers_get_the_same_results_from_lexmill_and_tokenizers(folder: Path) -> None:
    theirs = run(str(SCRIPT), str(folder))
    ours = run("-m", "lexmill", "run", str(SCRIPT), str(folder))
    assert (theirs["backend"], ours["backend"]) == ("tokenizers", "lexmill")
    assert ours["found"] == theirs["found"]
    assert "".join(filter(None, ours["found"]["streamed"][1])) == " on the mat 🐈 é<|end|><|end|> the"


def test_a_stream_of_tokenizers_refuses_an_accelerated_tokenizer(folder: Path) -> None:
    import tokenizers.decoders
    from transformers import AutoTokenizer

    tokenizer = lexmill.accelerate(AutoTokenizer.from_pretrained(folder))
    ids = tokenizer("the cat")["input_ids"]
    with pytest.raises(TypeError):
        tokenizers.decoders.DecodeStream(ids=ids, skip_special_tokens=True).step(tokenizer._tokenizer, ids[0])
    assert decoders.DecodeStream(ids=ids).step(tokenizer._tokenizer, ids[0]) == "the"


def test_trainers_get_the_ids_of_the_file_from_an_accelerated_tokenizer(folder: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = lexmill.accelerate(AutoTokenizer.from_pretrained(folder))
    texts = ["the cat sat<|end|>", "on the mat"]
    assert tokenizer(texts)["input_ids"] == Tokenizer.from_file(str(folder / "tokenizer.json")).encode_batch_ids(texts)
    tokenizer.chat_template = "{% for message in messages %}{{ message.content }}<|end|>{% endfor %}"
    chat = [{"role": "user", "content": "the cat"}]
    expected = tokenizer("the cat<|end|>")["input_ids"]
    assert tokenizer.apply_chat_template(chat, return_dict=True)["input_ids"] == expected
