"""The sections of a report's page, as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from lexmill.evaluation.table import corpus_rows, pair_rows, parallel_rows, vocabulary_rows
from lexmill.reports.figures import COLORS
from lexmill.reports.numbers import Group, Lengths, Numbers, Sample, SampleToken, TokenCount, TokenizerNumbers

__all__ = [
    "coverage",
    "curve",
    "evaluation",
    "files",
    "heading",
    "languages",
    "overview",
    "parallel",
    "samples",
    "scripts",
    "text_lengths",
    "token_lengths",
    "vocabulary",
]

# Rows of a table, and tokens of a list; the rest is in the JSON.
_ROWS = 40
_TOKENS = 60


def heading(numbers: Numbers) -> str:
    """The title, and the size of the corpus."""
    corpus = numbers.corpus
    names = ", ".join(tokenizer.name for tokenizer in numbers.tokenizers)
    what = [
        _count(corpus.texts or 0, "text"),
        _count(len(numbers.files), "file"),
        f"{_megabytes(corpus.bytes)}",
        f"{corpus.characters:,} characters",
        f"{corpus.words:,} words",
    ]
    return f"<h1>{html.escape(names)}</h1>\n<p class='soft'>{' · '.join(what)}</p>"


def overview(numbers: Numbers) -> str:
    """The main figures of each tokenizer."""
    corpus = numbers.corpus
    head = ["tokenizer", "vocabulary", "tokens", "bytes/token", "chars/token", "tokens/word"]
    head += ["never used", "unreachable", "unknown", "partial"]
    rows = []
    for number, tokenizer in enumerate(numbers.tokenizers):
        tokens = tokenizer.tokens
        rows.append(
            [
                f"{_key(number, tokenizer.name)}<div class='kind'>{tokenizer.model}</div>",
                f"{tokenizer.vocabulary:,}",
                f"{tokens:,}",
                _ratio(corpus.bytes, tokens),
                _ratio(corpus.characters, tokens),
                _ratio(tokens, corpus.words),
                _share(len(tokenizer.unused), tokenizer.vocabulary),
                f"{len(tokenizer.unreachable):,}",
                _share(tokenizer.unknown_tokens, tokens),
                _share(tokenizer.part_tokens, tokens),
            ]
        )
    note = (
        "Tokens are counted without special tokens of the post-processor. A word is what stands between white space. "
        "Never used is a share of the vocabulary; unknown and partial ones are shares of all tokens of the corpus. "
        "Partial tokens are not whole characters: text falls back to them where the vocabulary has nothing better."
    )
    return _section("Overview", _table(head, rows, wide=True) + _note(note))


def evaluation(numbers: Numbers) -> str:
    """The numbers that papers publish: entropies, cut words, round trips, vocabularies, pairs of tokenizers."""
    own = numbers.evaluation
    (corpus,) = own.corpora
    parameters = own.manifest.parameters
    tables = [
        _plain_table(corpus_rows(corpus), has_keys=True),
        _plain_table(vocabulary_rows(own.vocabularies), has_keys=True),
    ]
    if own.overlaps:
        tables.append(_plain_table(pair_rows(own)))
    for number, one in enumerate(own.vocabularies):
        if one.residue:
            residue = [TokenCount(token.id, token.token, 0) for token in one.candidates if token.kind == "residue"]
            title = f"{_key(number, one.name)} {_count(one.residue, 'token')} that merging makes and that never remain"
            tables.append(_details(title, _tokens(residue)))
    every = (
        "all texts"
        if corpus.sampled_texts == corpus.texts
        else f"{corpus.sampled_texts:,} texts, one in {parameters['sample_every']}"
    )
    rule = "white space" if parameters["words"] == "whitespace" else "UAX 29"
    note = (
        f"NSL: tokens divided by the tokens of {parameters['reference']}. Rényi's entropy has the order "
        f"{parameters['alpha']}; its efficiency is a share of the binary logarithm of the vocabulary's size. "
        f"Words are divided by {rule}. Words, round trips and boundaries are of {every}. "
        "Candidates: tokens that a model may have learned little of. "
        "None of these numbers predicts the quality of a model."
    )
    return _section("Published measures", "".join(tables) + _note(note))


def parallel(numbers: Numbers) -> str:
    """Premiums of languages on parallel lines; nothing if there are none."""
    found = numbers.evaluation.parallel
    if found is None:
        return ""
    note = (
        "Tokens of a language divided by the tokens of the base, which stands in the title, for the same sentences. "
        "Parity is the least number of tokens divided by the greatest. A language of which much is unknown seems cheap."
    )
    return _section(f"Parallel lines: {found.lines:,}", _plain_table(parallel_rows(found)) + _note(note))


def scripts(numbers: Numbers) -> str:
    """Ratios by script."""
    note = (
        "The script of a word is the script of its first letter; kana count as Han. White space belongs to the word "
        "after it, and a token to the word that has its last character. Where text is unknown to a tokenizer, its "
        "ratios say little: one token stands for all of it."
    )
    pair = _figures_side_by_side(("scripts", "Bytes per token"), ("script-words", "Tokens per word"))
    return _section("By script", _note(note) + pair + _groups(numbers, numbers.scripts, "script"))


def languages(numbers: Numbers) -> str:
    """Ratios by language."""
    groups = numbers.languages or ()
    pair = _figures_side_by_side(("languages", "Bytes per token"), ("language-words", "Tokens per word"))
    return _section("By language", (pair if len(groups) > 1 else "") + _groups(numbers, groups, "language"))


def files(numbers: Numbers) -> str:
    """Ratios by file."""
    groups = numbers.files if len(numbers.files) <= _ROWS else sorted(numbers.files, key=lambda group: -group.bytes)
    return _section("By file", _figure("files") + _groups(numbers, groups, "file"))


def token_lengths(numbers: Numbers) -> str:
    """Lengths of tokens in the vocabulary and in the text."""
    head = ["means", "bytes", "in the text", "characters", "in the text", "longest"]
    rows = [
        [
            _key(number, tokenizer.name),
            f"{tokenizer.token_bytes.mean:.2f}",
            f"{tokenizer.used_bytes.mean:.2f}",
            f"{tokenizer.token_characters.mean:.2f}",
            f"{tokenizer.used_characters.mean:.2f}",
            f"{_longest(tokenizer.token_bytes):,} bytes",
        ]
        for number, tokenizer in enumerate(numbers.tokenizers)
    ]
    note = _note("Dotted: tokens of the vocabulary. Solid: tokens of the text.") if len(numbers.tokenizers) > 1 else ""
    return _section("Lengths of tokens", note + _figure("token-bytes") + _table(head, rows))


def text_lengths(numbers: Numbers) -> str:
    """Lengths of texts in tokens."""
    head = ["tokens of a text", "median", "90 %", "99 %", "mean", "longest"]
    rows = []
    for number, tokenizer in enumerate(numbers.tokenizers):
        lengths = tokenizer.text_lengths
        quantiles = [f"{lengths.quantile(share):,}" for share in (0.5, 0.9, 0.99)]
        rows.append([_key(number, tokenizer.name), *quantiles, f"{lengths.mean:,.1f}", f"{_longest(lengths):,}"])
    return _section("Lengths of texts", _figure("text-lengths") + _table(head, rows))


def curve(numbers: Numbers) -> str:
    """Compression by the size of the vocabulary."""
    missing = [tokenizer.name for tokenizer in numbers.tokenizers if tokenizer.curve is None]
    inexact = [t.name for t in numbers.tokenizers if t.curve is not None and t.curve.inexact]
    note = "What the corpus would have if the merges were cut off after any number of them, told from the merges."
    if missing:
        note += f" {', '.join(missing)}: no curve, since the model has no merges or does not merge by their rank alone."
    if inexact:
        note += f" {', '.join(inexact)}: nearly so, since some tokens are listed before their parts."
    return _section("Compression by vocabulary size", _figure("curve") + _note(note))


def coverage(numbers: Numbers) -> str:
    """Shares of the most frequent tokens."""
    return _section("Coverage by the most frequent tokens", _figure("coverage"))


def vocabulary(numbers: Numbers) -> str:
    """Tokens that are used most, never, and that cannot be."""
    parts = []
    for number, tokenizer in enumerate(numbers.tokenizers):
        parts.append(f"<h3>{_key(number, tokenizer.name)}</h3>")
        parts.append(_details("most frequent tokens", _frequent(tokenizer), is_open=number == 0))
        unused = f"{len(tokenizer.unused):,} tokens never occur in the corpus"
        parts.append(_details(unused, _tokens(tokenizer.unused)))
        unreachable = f"{len(tokenizer.unreachable):,} tokens that no text gives"
        reasons = "".join(
            f"<span title='id {token.id}: {html.escape(token.reason, quote=True)}'>{html.escape(token.token)}</span>"
            for token in tokenizer.unreachable[:_TOKENS]
        )
        parts.append(_details(unreachable, f"<div class='tokens'>{reasons}</div>"))
        undecided = f"{len(tokenizer.undecided):,} more that their own text does not give"
        parts.append(_details(undecided, _tokens(tokenizer.undecided)))
    note = (
        "That no text gives a token is proven from the model: merging makes other tokens of its own text, others of "
        "that text are likelier, or its bytes are in no text of UTF-8. The others did not come out when their own text "
        "was encoded, alone or beside a letter, a digit or a blank, or are parts of characters; that proves nothing."
    )
    return _section("Vocabulary", "".join(parts) + _note(note))


def samples(numbers: Numbers) -> str:
    """Texts in the colours of their tokens."""
    parts = []
    for sample in numbers.samples:
        parts.append(f"<h3>{html.escape(sample.group)}</h3>")
        for number, tokens in enumerate(sample.tokens):
            count = sum(len(token.ids) for token in tokens)
            name = _key(number, numbers.tokenizers[number].name) if len(sample.tokens) > 1 else ""
            parts.append(f"<div class='note'>{name} {_count(count, 'token')}</div>{_sample(sample, tokens)}")
    note = _note("Rest the pointer on a token to see its id. Tokens that share a character have a red corner.")
    return _section("Samples", note + "".join(parts)) if parts else ""


def _sample(sample: Sample, tokens: Sequence[SampleToken]) -> str:
    spans, at, shown = [], 0, 0
    for token in tokens:
        spans.append(html.escape(sample.text[at : token.start]))
        at = max(at, token.end)
        text = sample.text[token.start : token.end]
        if text:
            classes = ("o" if shown % 2 else "e") + (" m" if len(token.ids) > 1 else "")
            title = ", ".join(f"{id_} {name}" for id_, name in zip(token.ids, token.tokens, strict=True))
            spans.append(f'<span class="{classes}" title="{html.escape(title)}">{html.escape(text)}</span>')
            shown += 1
    spans.append(html.escape(sample.text[at:]))
    return f"<div class='sample' dir='auto'>{''.join(spans)}</div>"


def _groups(numbers: Numbers, groups: Sequence[Group], kind: str) -> str:
    """A table of groups, with columns for each tokenizer."""
    several = len(numbers.tokenizers) > 1
    has_texts = any(group.texts is not None for group in groups)
    head = [kind, *(["texts"] if has_texts else []), "bytes", "share", "words"]
    of = f"<th colspan='{len(head)}'></th>"
    for number, tokenizer in enumerate(numbers.tokenizers):
        head += ["b/t", "c/t", "t/w"] if several else ["bytes/token", "chars/token", "tokens/word"]
        of += f"<th class='of' colspan='3'>{_key(number, tokenizer.name)}</th>"
    rows = [_group_row(numbers, group, has_texts) for group in groups[:_ROWS]]
    total = _group_row(numbers, numbers.corpus, has_texts)
    total[0] = "all"
    more = _note("b/t: bytes per token; c/t: characters per token; t/w: tokens per word.") if several else ""
    more += f"<p class='note'>{len(groups) - _ROWS:,} more are in the JSON.</p>" if len(groups) > _ROWS else ""
    return _table(head, rows, of if several else None, total if len(rows) > 1 else None, wide=True) + more


def _group_row(numbers: Numbers, group: Group, has_texts: bool) -> list[str]:
    row = [html.escape(group.name), *([f"{group.texts:,}"] if has_texts else [])]
    row += [f"{group.bytes:,}", _share(group.bytes, numbers.corpus.bytes), f"{group.words:,}"]
    for tokens in group.tokens:
        row += [_ratio(group.bytes, tokens), _ratio(group.characters, tokens), _ratio(tokens, group.words)]
    return row


def _longest(lengths: Lengths) -> int:
    return lengths.lengths[-1] if lengths.lengths else 0


def _frequent(tokenizer: TokenizerNumbers) -> str:
    spans = (
        f"<span title='id {token.id}: {token.count:,} times, {_share(token.count, tokenizer.tokens)}'>"
        f"{html.escape(token.token)}</span>"
        for token in tokenizer.most_frequent[:_TOKENS]
    )
    return f"<div class='tokens'>{''.join(spans)}</div>"


def _tokens(tokens: Sequence[TokenCount]) -> str:
    spans = (f"<span title='id {token.id}'>{html.escape(token.token)}</span>" for token in tokens[:_TOKENS])
    more = f"<p class='note'>and {len(tokens) - _TOKENS:,} more</p>" if len(tokens) > _TOKENS else ""
    return f"<div class='tokens'>{''.join(spans)}</div>{more}"


def _details(summary: str, inner: str, *, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{summary}</summary>{inner}</details>"


def _section(title: str, inner: str) -> str:
    return f"<section><h2>{title}</h2>\n{inner}</section>"


def _figure(name: str) -> str:
    return f'<div id="figure-{name}"></div>'


def _figures_side_by_side(*figures: tuple[str, str]) -> str:
    inner = "".join(f"<div><h3>{title}</h3>{_figure(name)}</div>" for name, title in figures)
    return f'<div class="pair">{inner}</div>'


def _note(text: str) -> str:
    return f"<p class='note'>{html.escape(text)}</p>"


def _key(number: int, name: str) -> str:
    return f"<span class='key' style='background:{COLORS[number % len(COLORS)]}'></span>{html.escape(name)}"


def _table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    of: str | None = None,
    total: Sequence[str] | None = None,
    *,
    wide: bool = False,
) -> str:
    """A table; cells are HTML already, and so is the row `of` over the titles of columns."""

    def line(cells: Sequence[str], tag: str, attributes: str = "") -> str:
        return f"<tr{attributes}>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows) + (line(total, "td", " class='total'") if total else "")
    head_lines = (f"<tr>{of}</tr>" if of else "") + line(head, "th")
    kind = "scroll wide" if wide else "scroll"
    return f"<div class='{kind}'><table><thead>{head_lines}</thead><tbody>{body}</tbody></table></div>"


def _plain_table(rows: Sequence[Sequence[str]], *, has_keys: bool = False) -> str:
    """A table of plain text after its titles; with keys, a row for each tokenizer begins with its colour."""
    head, *others = ([html.escape(cell) for cell in row] for row in rows)
    if has_keys:
        others = [
            [_key(number, row[0]), *cells[1:]] for number, (row, cells) in enumerate(zip(rows[1:], others, strict=True))
        ]
    return _table(head, others, wide=True)


def _ratio(value: int, of: int) -> str:
    return f"{value / of:,.3f}" if of else "-"


def _share(value: int, of: int) -> str:
    if not value or not of:
        return "0 %"
    share = 100 * value / of
    return f"{share:.1f} %" if share >= 0.1 else f"{share:.2f} %" if share >= 0.01 else "&lt; 0.01 %"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB" if size >= 1e3 else f"{size} bytes"
