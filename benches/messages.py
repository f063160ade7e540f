"""Conversations in JSON lines to token files with loss masks, by lexmill and by transformers in `datasets.map`.

    python benches/messages.py --tokenizer qwen2/tokenizer.json --templates chatml qwen-3 path/to/own.jinja

`messages_corpus.py` makes the corpus. Each way runs in a fresh process with two workers, on the same file. A line
of the result has seconds, processor seconds of all processes, the greatest sum of their proportional set sizes, and the
number of tokens and of tokens to learn. transformers gives a mask of zeros unless the template has `generation` blocks.

| way | how |
|---|---|
| `lexmill` | `tokenize_message_files(format="arrow", num_workers=2)` |
| `transformers` | `load_dataset("json").map` with `apply_chat_template`, ids and mask, `num_proc=2` |
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "large"))
from compare import resident
from made_corpus import made_corpus
from messages_corpus import KINDS, generate

__all__ = ["lexmill_files", "transformers_map"]

WORKERS = 2
# `generation` blocks, so that transformers gives masks, and all kinds of conversations.
CHATML = """
{%- if tools %}
    {{- '<|im_start|>tools\\n' }}
    {%- for tool in tools %}
        {{- tool | tojson + '\\n' }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\\n' }}
    {%- set body = namespace(text='') %}
    {%- if message.content is string %}
        {%- set body.text = message.content %}
    {%- else %}
        {%- for part in message.content or [] %}
            {%- set body.text = body.text + part.text %}
        {%- endfor %}
    {%- endif %}
    {%- if message.role == 'assistant' %}
        {%- generation %}
            {%- if message.reasoning_content %}
                {{- '<think>\\n' + message.reasoning_content.strip('\\n') + '\\n</think>\\n\\n' }}
            {%- endif %}
            {{- body.text }}
            {%- for call in message.tool_calls or [] %}
                {{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
                {%- if call.function.arguments is string %}
                    {{- call.function.arguments }}
                {%- else %}
                    {{- call.function.arguments | tojson }}
                {%- endif %}
                {{- '}\\n</tool_call>\\n' }}
            {%- endfor %}
            {{- '<|im_end|>' }}
        {%- endgeneration %}
    {%- else %}
        {{- body.text + '<|im_end|>' }}
    {%- endif %}
    {{- '\\n' }}
{%- endfor %}
"""


def lexmill_files(tokenizer: Path, template: str, corpus: Path, out: Path, mask: str) -> dict[str, int]:
    """Writes token files; returns the numbers of conversations and tokens."""
    from lexmill import Tokenizer
    from lexmill.messages import tokenize_message_files

    text = CHATML if template == "blocks" else Path(template) if template.endswith(".jinja") else template
    files = tokenize_message_files(
        Tokenizer.from_file(str(tokenizer)), corpus, out, text, mask=mask, format="arrow", num_workers=WORKERS,
        on_error="skip",
    )  # fmt: skip
    total = files.manifest["total"]
    return {name: total.get(name, 0) for name in ("documents", "tokens", "loss_tokens", "skipped")}


def transformers_map(tokenizer: Path, template: str, corpus: Path, out: Path, _mask: str) -> dict[str, int]:
    """Maps a data set; returns the numbers of conversations and tokens."""
    os.environ |= {"HF_HOME": str(out), "HF_HUB_OFFLINE": "1"}
    import datasets
    import transformers

    peer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tokenizer))
    given: dict[str, Any] = {}
    if template == "blocks":
        peer.chat_template = CHATML
    elif template.endswith(".jinja"):
        peer.chat_template = Path(template).read_text(encoding="utf-8")
    else:
        from lexmill.messages import ChatTemplate

        named = ChatTemplate.named(template)
        peer.chat_template, given = named.text, dict(named.variables)

    def apply(one: dict[str, Any]) -> dict[str, Any]:
        made = peer.apply_chat_template(
            one["messages"],
            tools=one.get("tools"),
            tokenize=True,
            return_dict=True,
            return_assistant_tokens_mask=True,
            **given,
        )
        return {"input_ids": made["input_ids"], "assistant_masks": made["assistant_masks"]}

    read = datasets.load_dataset("json", data_files=str(corpus), split="train")
    made = read.map(apply, num_proc=WORKERS, remove_columns=read.column_names)
    table = made.data
    import pyarrow.compute as pc

    learned = pc.sum(pc.list_flatten(table["assistant_masks"])).as_py()
    return {
        "documents": len(made),
        "tokens": pc.sum(pc.list_value_length(table["input_ids"])).as_py(),
        "loss_tokens": learned,
        "skipped": 0,
    }


WAYS = {"lexmill": lexmill_files, "transformers": transformers_map}


def run(way: str, arguments: list[str]) -> dict[str, Any]:
    """One way in a fresh process: its numbers, seconds, processor seconds and peak memory in MB."""
    before, started, peak = os.times(), time.perf_counter(), 0
    with (
        tempfile.TemporaryFile("w+") as said,
        tempfile.TemporaryDirectory(dir=".") as out,
        subprocess.Popen(
            [sys.executable, __file__, "--here", way, *arguments, "--out", f"{out}/{way}"],
            stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True,
        ) as process,
    ):  # fmt: skip
        while process.poll() is None:
            peak = max(peak, resident(process.pid))
            time.sleep(0.2)
        seconds, after = time.perf_counter() - started, os.times()
        said.seek(0)
        if process.returncode:
            raise RuntimeError(f"{way}: {said.read()[-4000:]}")
        assert process.stdout is not None
        found = json.loads(process.stdout.read().splitlines()[-1])
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return {"way": way, "wall": round(seconds, 1), "processor": round(busy, 1), "peak_mb": peak // 10**6, **found}


def main() -> None:
    """Prints a line of JSON for each template and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--corpora", type=Path, default=Path("../shared/data/corpora"))
    parser.add_argument("--corpus", type=Path, help="made if it is missing")
    parser.add_argument("--templates", nargs="+", default=["blocks"], help="names, files, or `blocks`, with blocks")
    parser.add_argument("--mask", default="assistant")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--here", choices=WAYS, help="runs a way in this process")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.here:
        (template,) = given.templates
        print(json.dumps(WAYS[given.here](given.tokenizer, template, given.corpus, given.out, given.mask)))
        return

    def make(path: Path) -> None:
        texts = [given.corpora / f"{name}.txt" for name in ("english", "multilingual", "messy")]
        generate(path, given.megabytes * 10**6, given.seed, texts, given.kinds)

    corpus = made_corpus(given.corpus, make, ".jsonl", "messages", given.megabytes, given.seed, *given.kinds)
    for template in given.templates:
        for way in given.ways:
            passed = ["--tokenizer", str(given.tokenizer), "--corpus", str(corpus), "--mask", given.mask]
            found = run(way, [*passed, "--templates", template])
            print(json.dumps({"template": Path(template).stem, **found}), flush=True)


if __name__ == "__main__":
    main()
