"""The numbers that papers and model reports publish about tokenizers, as plain data.

    lexmill.evaluate({"old": "old.json", "new": "new.json"}, "corpus.jsonl.zst", parallel="flores200/devtest").to_json()

The guide `docs/guides/evaluation.md` explains their use, `docs/algorithms/evaluation.md` defines them.
"""

from __future__ import annotations

from lexmill.evaluation._evaluate import evaluate
from lexmill.evaluation.manifest import Manifest, ManifestFile, ManifestTokenizer
from lexmill.evaluation.numbers import (
    Agreement,
    Candidate,
    CorpusNumbers,
    CorpusTokens,
    Evaluation,
    Language,
    Overlap,
    Parallel,
    ParallelTokens,
    RoundTrip,
    VocabularyNumbers,
    WordShares,
)

__all__ = [
    "Agreement",
    "Candidate",
    "CorpusNumbers",
    "CorpusTokens",
    "Evaluation",
    "Language",
    "Manifest",
    "ManifestFile",
    "ManifestTokenizer",
    "Overlap",
    "Parallel",
    "ParallelTokens",
    "RoundTrip",
    "VocabularyNumbers",
    "WordShares",
    "evaluate",
]
