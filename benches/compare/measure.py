"""Measures one library at one job on one corpus in one fresh process, and prints one line of JSON.

The order is: load the library and the tokenizer (timed apart), bring the corpus into memory, one cold pass, warm
passes; only then are the results read, digested and compared with the reference library's. A pass holds the library's
own call: neither the reading of its results nor the freeing of the pass before is in it.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import harness  # noqa: F401 (finds `comparison`)
from comparison.passes import limit_threads


def main() -> None:
    """Measures what the arguments say."""
    arguments = parse_arguments()
    limit_threads(arguments.threads)
    from comparison.adapters import Unsupported

    row = {name: getattr(arguments, name) for name in ("library", "job", "tokenizer", "corpus", "threads")}
    try:
        row |= measure_job(arguments)
    except Unsupported as reason:
        row |= {"unsupported": str(reason)}
    print(json.dumps(row))


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="a module of lexmill.comparison.adapters")
    parser.add_argument("job", help="encode-arrays, train-bpe, ...: a method of an adapter with `-` for `_`")
    parser.add_argument("--corpus", default="stdlib")
    parser.add_argument("--tokenizer", default="gpt2", help="a published one, for the jobs that encode")
    parser.add_argument("--megabytes", type=float, help="take this much from the start of the corpus")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--warm", type=int, default=3, help="warm passes at most, at least one")
    parser.add_argument("--reference-python", default=sys.executable, help="the interpreter that has the reference")
    return parser.parse_args()


def measure_job(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measures, then digests the last result and compares it."""
    from comparison.adapters import REFERENCE, Adapter
    from comparison.digests import TRAINING_JOBS, digest
    from comparison.measure import measure
    from corpora import SCRATCH, corpus_file, tokenizer_file
    from reference import reference_digest, texts_of

    training = arguments.job in TRAINING_JOBS
    corpus = corpus_file(arguments.corpus, arguments.megabytes)
    SCRATCH.mkdir(parents=True, exist_ok=True)

    def work_of(adapter: Adapter) -> Any:
        return adapter.prepare_training(corpus, SCRATCH) if training else texts_of(arguments.job, corpus)

    tokenizer = None if training else tokenizer_file(arguments.tokenizer)
    row, adapter, result = measure(
        arguments.library, arguments.job, arguments.threads, arguments.warm, tokenizer, work_of
    )
    own = digest(adapter, arguments.job, result)
    if own is None:
        return row | {"correct": None}
    correct = arguments.library == REFERENCE or own == reference_digest(arguments)
    return row | {"digest": own, "correct": correct}


if __name__ == "__main__":
    main()
