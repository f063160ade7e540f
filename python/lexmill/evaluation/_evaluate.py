"""`lexmill.evaluate`: the numbers that papers and model reports publish about tokenizers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from lexmill._data.source_names import OneSource
from lexmill._types import OnProgress
from lexmill.evaluation.evaluator import Evaluator, Parameters
from lexmill.evaluation.numbers import Evaluation
from lexmill.evaluation.words import Rule
from lexmill.reports.given import OneTokenizer, given_tokenizers
from lexmill.reports.texts import Progress, blocks_of, files_of
from lexmill.reports.vocabulary import vocabulary_of

__all__ = ["evaluate"]

_OneCorpus: TypeAlias = "OneSource | Iterable[OneSource]"


def evaluate(
    tokenizers: OneTokenizer | Mapping[str, OneTokenizer],
    corpora: _OneCorpus | Mapping[str, _OneCorpus] | None = None,
    *,
    parallel: _OneCorpus | None = None,
    base: str | None = None,
    reference: str | None = None,
    alpha: float = 2.5,
    words: Rule = "whitespace",
    sample_every: int = 16,
    num_threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Evaluation:
    """Measures tokenizers by the numbers that papers and model reports publish, in one pass over the corpora.

    Memory does not grow with the corpora. Tokens are the tokens of `tokenizer.encode(text, add_special_tokens=False)`,
    without truncation and padding. `docs/algorithms/evaluation.md` defines each number.

    Args:
        tokenizers: a tokenizer or the path of a `tokenizer.json`, or several of them by name.
        corpora: objects of `lexmill.sources`, or paths and patterns; or several such corpora by name. The end of a name
            says how texts are found in a file, as for `lexmill.report`. Without a corpus, only the numbers of
            vocabularies and of parallel lines are there.
        parallel: a folder with one file a language, or these files. Line n of each is the same sentence. A language has
            the name of its file, up to the first dot. Line ends are not encoded.
        base: the language that the premiums of others compare with; for each tokenizer the language with the fewest
            tokens unless given.
        reference: the name of the tokenizer that lengths are compared with; the first one unless given.
        alpha: the order of Rényi's entropy.
        words: the rule that divides words: `whitespace`, or `unicode` for UAX 29, which needs the package `regex` and
            takes several times as long.
        sample_every: n, to measure words, boundaries and round trips of large corpora (more than a million characters)
            on every n-th text; 1 for all texts, which takes up to four times as long.
        num_threads: threads to encode on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
        on_progress: called as by `lexmill.report`.

    Raises:
        EmptyCorpusError: a corpus, or all parallel lines, have no character.
        FileError: a file is missing, cannot be read or is damaged.
        FormatError: parallel files have different numbers of lines; a record or the file of a tokenizer is malformed.
        InvalidUtf8Error: bytes are not UTF-8, with `errors="strict"`.
        LexmillError: `words` is `unicode` and the package `regex` is not installed.
        OptionError: an argument is outside its range; a tokenizer samples or has stages written in Python.
        VocabError: a model has no token for a word and no unknown token.
    """
    given = given_tokenizers(tokenizers)
    vocabularies = [vocabulary_of(one.tokenizer) for one in given]
    parameters = Parameters(alpha, words, reference, base, sample_every)
    evaluator = Evaluator(given, vocabularies, parameters, parallel)
    named = {} if corpora is None else corpora if isinstance(corpora, Mapping) else {"corpus": corpora}
    files = {corpus: files_of(sources, None) for corpus, sources in named.items()}
    lines = [] if evaluator.parallel is None else evaluator.parallel.files
    progress = Progress([file for some in [*files.values(), lines] for file in some], on_progress)
    for corpus, own in files.items():
        tally = evaluator.begin(own, num_threads)
        for block in blocks_of(own):
            progress.add(tally.add(block, tally.encode(block)))
        evaluator.end(corpus, own, tally)
    return evaluator.finish(evaluator.reaches(), num_threads, progress)
