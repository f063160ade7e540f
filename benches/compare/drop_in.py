"""What a program feels that changes one import: short calls, padded batches, loading, reading; beside Hugging Face.

Rounds of fresh processes, one library after the other. A job is repeated in its process, and its figure is the median;
the figure of a library is the median over rounds. A job counts only if its result is equal to the other library's.
Prints a table, and writes it to `benches/results/<machine>/drop-in.txt` with `--machine`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import harness  # noqa: F401 (finds `comparison`)
from comparison.machine import cpu_name
from comparison.passes import limit_threads
from comparison.texts import read_lines, short_texts
from corpora import available_tokenizers, corpus_file, tokenizer_file
from results import RESULTS
from sweep import commit

OURS, PEER = "lexmill", "tokenizers"
MOST_SECONDS = 1.5
# A function that is timed, and one that reads its result.
Job = tuple[Callable[[], Any], Callable[[Any], Any]]


def sentences() -> list[str]:
    """Lines of running text."""
    return short_texts(read_lines(corpus_file("english", 4)))


def pairs() -> tuple[list[str], list[str]]:
    """A thousand pairs of texts of 120 characters."""
    text = " ".join(sentences())
    cut = [text[at : at + 120] for at in range(0, 240_000, 120)]
    return cut[::2], cut[1::2]


def read_rows(encodings: Any) -> list[Any]:
    return [(row.ids, row.attention_mask, row.type_ids, row.offsets) for row in encodings]


def encode_sentence(tokenizer: Any) -> Job:
    """One call, to an encoding whose fields nobody reads."""
    sentence = next(line for line in sentences() if 60 <= len(line) <= 90)
    return lambda: tokenizer.encode(sentence), lambda row: read_rows([row])


def limited(tokenizer: Any) -> Any:
    tokenizer.enable_truncation(48)
    tokenizer.enable_padding()
    return tokenizer


def encode_pairs(tokenizer: Any) -> Job:
    """A thousand pairs of 120 characters to encodings, truncated to 48 tokens and padded."""
    rows = list(zip(*pairs(), strict=True))
    return lambda: limited(tokenizer).encode_batch(rows), read_rows


def pairs_to_matrices(tokenizer: Any) -> Job:
    """The same to matrices of ids, attention mask and type ids; Hugging Face's gives encodings, which nobody reads."""
    firsts, seconds = pairs()
    names = ("ids", "attention_mask", "type_ids")
    if type(tokenizer).__module__.startswith(OURS):
        options = {"max_length": 48, "padding": True, "return_attention_mask": True, "return_type_ids": True}
        return (
            lambda: tokenizer.encode_batch_arrays(firsts, pairs=seconds, **options).matrices(),
            lambda found: [found[name].tolist() for name in names],
        )
    rows = list(zip(firsts, seconds, strict=True))
    return (
        lambda: limited(tokenizer).encode_batch(rows),
        lambda found: [[getattr(row, name) for row in found] for name in names],
    )


def read_tokens(tokenizer: Any) -> Job:
    """A batch of lines to encodings, and ids and offsets of every token read as lists."""
    lines = sentences()[:4000]
    return lambda: [(row.ids, row.offsets) for row in tokenizer.encode_batch(lines)], lambda found: found


def load_file(path: Path, library: Any) -> Job:
    """A tokenizer from its file."""
    return lambda: library.Tokenizer.from_file(str(path)), lambda made: made.get_vocab_size()


def by_transformers(path: Path, texts: list[str], max_length: int) -> Job:
    """A list of texts by transformers, padded and truncated, to numpy."""
    from transformers import PreTrainedTokenizerFast

    made = PreTrainedTokenizerFast(tokenizer_file=str(path))
    made.pad_token = made.convert_ids_to_tokens(0)
    options = {"padding": True, "truncation": True, "max_length": max_length, "return_tensors": "np"}
    return lambda: made(texts, **options), lambda found: {name: found[name].tolist() for name in sorted(found)}


def transformers_sentences(path: Path, _: Any) -> Job:
    """A thousand texts of 120 characters, truncated to 48 tokens: most of the time is transformers' own."""
    return by_transformers(path, pairs()[0], 48)


def transformers_documents(path: Path, _: Any) -> Job:
    """A hundred documents of 4,000 characters, truncated to 512 tokens."""
    text = " ".join(sentences())
    return by_transformers(path, [text[at : at + 4000] for at in range(0, 400_000, 4000)], 512)


JOBS: dict[str, Callable[[Any], Job]] = {
    "encode-sentence": encode_sentence,
    "encode-pairs": encode_pairs,
    "pairs-to-matrices": pairs_to_matrices,
    "read-tokens": read_tokens,
}
FILE_JOBS: dict[str, Callable[[Path, Any], Job]] = {
    "load-file": load_file,
    "transformers-sentences": transformers_sentences,
    "transformers-documents": transformers_documents,
}


def measure(library: str, job: str, tokenizer: str, threads: int) -> dict[str, Any]:
    """The median time of a job in this process, and a digest of its result."""
    limit_threads(threads)
    if library == OURS:
        import lexmill as module

        if job.startswith("transformers"):
            module.install()
    else:
        import tokenizers as module
    path = tokenizer_file(tokenizer)
    work, read = FILE_JOBS[job](path, module) if job in FILE_JOBS else JOBS[job](module.Tokenizer.from_file(str(path)))
    digest = hashlib.sha256(json.dumps(read(work())).encode()).hexdigest()
    times: list[float] = []
    started = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - started < MOST_SECONDS:
        # As many calls as take a millisecond, so that the clock's own time does not count.
        calls = max(1, int(1e-3 / statistics.median(times))) if times else 1
        before = time.perf_counter()
        for _ in range(calls):
            work()
        times.append((time.perf_counter() - before) / calls)
    return {"seconds": statistics.median(times), "digest": digest}


def compare(job: str, tokenizer: str, arguments: argparse.Namespace) -> str:
    """A line of the table."""
    found: dict[str, list[dict[str, Any]]] = {OURS: [], PEER: []}
    for _ in range(arguments.rounds):
        for library, runs in found.items():
            command = [
                sys.executable,
                __file__,
                "--measure",
                library,
                job,
                tokenizer,
                "--threads",
                str(arguments.threads),
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                return f"{job:22} {tokenizer:18} {library}: {(done.stderr.strip().splitlines() or ['failed'])[-1][:90]}"
            runs.append(json.loads(done.stdout.splitlines()[-1]))
    if len({run["digest"] for runs in found.values() for run in runs}) > 1:
        return f"{job:22} {tokenizer:18} results differ"
    ours, peer = ([run["seconds"] for run in found[library]] for library in (OURS, PEER))
    ratios = [theirs / own for own, theirs in zip(ours, peer, strict=True)]
    return (
        f"{job:22} {tokenizer:18} {statistics.median(ours) * 1e6:10.1f} {statistics.median(peer) * 1e6:12.1f} "
        f"{statistics.median(ratios):8.1f} {min(ratios):7.1f} {max(ratios):7.1f}"
    )


def main() -> None:
    """Compares the jobs asked for, or measures one in this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", nargs="+", default=[*JOBS, "load-file"], help=f"{', '.join([*JOBS, *FILE_JOBS])}")
    parser.add_argument("--tokenizers", nargs="+", help="all that are at hand for load-file, else four")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--machine", help="name of the results' folder")
    parser.add_argument("--measure", nargs=3, metavar=("LIBRARY", "JOB", "TOKENIZER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        library, job, tokenizer = arguments.measure
        print(json.dumps(measure(library, job, tokenizer, arguments.threads)))
        return
    known = available_tokenizers()
    some = [name for name in ("gpt2", "bert-base-uncased", "t5-small", "qwen2") if name in known] or known
    lines = [
        f"# {cpu_name()}, {arguments.threads} threads, {arguments.rounds} rounds, commit {commit()}",
        "# drop_in.py " + " ".join(sys.argv[1:]),
        f"{'job':22} {'tokenizer':18} {'lexmill us':>10} {'peer us':>12} {'times':>8} {'least':>7} {'most':>7}",
    ]
    print("\n".join(lines), flush=True)
    for job in arguments.jobs:
        for tokenizer in arguments.tokenizers or (known if job == "load-file" else some):
            lines.append(compare(job, tokenizer, arguments))
            print(lines[-1], flush=True)
    if arguments.machine:
        (RESULTS / arguments.machine / "drop-in.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
