"""A book cut into spans of at most so many tokens, by lexmill and by libraries for retrieval.

A row has the seconds, the spans, and the spans that are too long. All count tokens by the same tokenizer: lexmill by
itself, the others by Hugging Face `tokenizers`, as their users do. Processor time, in one process; libraries that are
not installed are left out.

    python benches/compare/cut_texts.py --tokenizer gpt2/tokenizer.json --text book.txt --megabytes 10 --size 512
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import lexmill

Cut = Callable[[str], list[str]]


def by_lexmill(tokenizer: lexmill.Tokenizer, at: str, size: int) -> Cut:
    """`split_text`."""
    return lambda text: [text[start:end] for start, end in tokenizer.split_text(text, size, at=at)]  # type: ignore[arg-type]


def peers(count: Callable[[str], int], hf: object, size: int) -> Iterator[tuple[str, Cut]]:
    """The libraries that are installed."""
    if find_spec("semchunk"):
        import semchunk

        yield "semchunk", semchunk.chunkerify(count, chunk_size=size)
    if find_spec("langchain_text_splitters"):
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        cutter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=0, length_function=count)
        yield "langchain recursive", cutter.split_text
    if find_spec("chonkie"):
        from chonkie import SentenceChunker, TokenChunker

        token, sentence = TokenChunker(hf, size, 0), SentenceChunker(hf, size, 0)
        yield "chonkie token", lambda text: [chunk.text for chunk in token(text)]
        yield "chonkie sentence", lambda text: [chunk.text for chunk in sentence(text)]


def main() -> None:
    """Prints a row for each library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--text", required=True)
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--only", default="", help="a part of the name of a library")
    arguments = parser.parse_args()
    text = Path(arguments.text).read_bytes()[: int(arguments.megabytes * 1e6)].decode(errors="ignore")
    tokenizer = lexmill.Tokenizer.from_file(arguments.tokenizer)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ways = [(f"lexmill {at}", by_lexmill(tokenizer, at, arguments.size)) for at in ("token", "sentence", "paragraph")]
    if find_spec("tokenizers"):
        from tokenizers import Tokenizer

        hf = Tokenizer.from_file(arguments.tokenizer)
        hf.no_truncation()
        hf.no_padding()
        ways.extend(peers(lambda part: len(hf.encode(part).ids), hf, arguments.size))
    print("library,megabytes,seconds,spans,too_long,longest")
    for name, cut in ways:
        if arguments.only in name:
            start = time.process_time()
            spans = cut(text)
            seconds = time.process_time() - start
            counts = tokenizer.count_tokens(spans)
            too_long = int((counts > arguments.size).sum())
            print(
                f"{name},{len(text.encode()) / 1e6:.1f},{seconds:.2f},{len(spans)},{too_long},{counts.max()}",
                flush=True,
            )


if __name__ == "__main__":
    main()
