//! Texts cut by their numbers of tokens: spans and beginnings that fit a number of tokens, each encoded by itself.
//!
//! A text is encoded once for the places between its tokens. A span takes as many of these tokens as may fit, and is then encoded by itself,
//! since its first and last tokens may differ from the tokens of the whole text. If it has too many tokens, it loses as many of the tokens of the
//! text, or twice as many as at the last attempt if that is more. So no span is longer than allowed, whatever the stages do. A text is encoded
//! about twice.

use std::ops::Range;

use super::text_breaks::{paragraphs, sentences};
use super::{TextSource, Tokenizer};
use crate::encoding::{ColumnsBuilder, char_offsets};
use crate::pipeline::Worker;
use crate::sinks::IdSink;
use crate::structures::parallel::{Parallelism, Runs, ordered_map};
use crate::{Error, Result};

/// Bytes of text of a token at which a beginning is looked for first.
const LIKELY_BYTES: usize = 16;

/// Bytes of a short text, which is encoded whole.
const SHORT: usize = 1 << 12;

/// Bytes of the longest beginning that is tried where one character does not fit.
const LONGEST_FIRST: usize = 64;

/// Where spans end, if they can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpanEnd {
    /// After a token.
    #[default]
    Token,
    /// After a sentence; after a token in a sentence that does not fit.
    Sentence,
    /// After a paragraph; after a sentence in a paragraph that does not fit, or after a token.
    Paragraph,
}

/// How a text is cut into spans.
#[derive(Clone, Copy, Debug)]
pub struct SplitOptions {
    /// The most tokens of a span that is encoded by itself.
    pub size: usize,
    /// The most tokens of the text that neighbouring spans share.
    pub overlap: usize,
    /// Where spans end, if they can.
    pub at: SpanEnd,
    /// Special tokens count.
    pub add_special_tokens: bool,
}

impl Tokenizer {
    /// Cuts each text into spans, in characters. Every character is in a span. Truncation and padding do not apply.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the overlap is not smaller than the size, or if the special tokens or a character do not fit;
    /// [`Error::Unsupported`] for a model that chooses at random, and for a post-processor that does more than add special tokens around a
    /// text; the errors of the pipeline.
    pub fn split_texts<'a>(
        &self,
        texts: &[&str],
        options: SplitOptions,
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<Vec<Vec<(u32, u32)>>> {
        let SplitOptions { size, overlap, .. } = options;
        let most = self.most_tokens(size, options.add_special_tokens)?;
        if most == 0 {
            let expected = format!("at least {}: a span needs a token besides the special tokens", size + 1);
            return Err(Error::InvalidOption { name: "size", value: size.to_string(), expected });
        }
        if overlap >= size {
            return Err(Error::InvalidOption {
                name: "overlap",
                value: overlap.to_string(),
                expected: format!("less than size, which is {size}"),
            });
        }
        self.map_texts(texts, parallelism, |text, worker| {
            let mut spans = Cutter::new(self, text, options.at, most, worker)?.spans(options)?;
            char_offsets(text, spans.iter_mut().map(|(start, end)| (start, end)));
            Ok(spans)
        })
    }

    /// The lengths in bytes of the beginnings of texts that have at most `size` tokens each, encoded by themselves. A beginning ends after a token of
    /// its text, and is empty if none fits. Truncation and padding do not apply.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the size is less than the number of special tokens; otherwise as [`Self::split_texts`].
    pub fn truncate_texts<'a>(
        &self,
        texts: &[&str],
        size: usize,
        add_special_tokens: bool,
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<Vec<usize>> {
        let most = self.most_tokens(size, add_special_tokens)?;
        self.map_texts(texts, parallelism, |text, worker| {
            let mut searched = most.saturating_mul(LIKELY_BYTES).max(SHORT);
            loop {
                let head = self.pipeline.settled_head(text, searched);
                let mut cutter = Cutter::new(self, head, SpanEnd::Token, most, worker)?;
                if head.len() == text.len() || cutter.cuts.last().is_some_and(|last| last.tokens > most) {
                    return Ok(cutter.longest(0, 0)?.unwrap_or(0));
                }
                searched = searched.saturating_mul(4);
            }
        })
    }

    /// The most tokens of a text that get `size` tokens with special tokens.
    fn most_tokens(&self, size: usize, add_special_tokens: bool) -> Result<usize> {
        if !self.pipeline.model().is_deterministic() {
            let message = "the model chooses tokens at random, so a text has no certain number of tokens; turn dropout or alpha off";
            return Err(Error::Unsupported(message.to_owned()));
        }
        let rules = self.row_rules(add_special_tokens)?.ok_or_else(|| {
            let message = "the post-processor does more than add special tokens around a text, so their number is not certain; pass \
                           add_special_tokens=False";
            Error::Unsupported(message.to_owned())
        })?;
        let special = rules.affixes.before.len() + rules.affixes.after.len();
        size.checked_sub(special).ok_or_else(|| Error::InvalidOption {
            name: "size",
            value: size.to_string(),
            expected: format!("at least {special}, the number of special tokens"),
        })
    }

    /// Calls `work` for each text, on all threads.
    fn map_texts<'a, T: Send>(
        &self,
        texts: &[&str],
        parallelism: impl Into<Parallelism<'a>>,
        work: impl Fn(&str, &mut Worker) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let (parallelism, pool) = (parallelism.into(), self.pipeline.pool());
        let sizes: Vec<usize> = (0..texts.count()).map(|row| texts[row].len() + 1).collect();
        self.pipeline.prepare(sizes.iter().sum(), parallelism.threads);
        let (runs, parallelism) = Runs::new(&sizes, parallelism);
        let batches = ordered_map(
            runs,
            parallelism,
            |thread| pool.take_for(thread),
            |worker| pool.put(worker),
            |_, run: &mut Range<usize>, worker| {
                texts[run.clone()].iter().map(|text| work(text, worker)).collect::<Result<Vec<T>>>()
            },
        )?;
        Ok(batches.into_iter().flatten().collect())
    }
}

/// A place between two tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// In bytes.
    at: usize,
    /// Tokens of the text before the place.
    tokens: usize,
}

/// A text with the places at which it may be cut.
struct Cutter<'a> {
    tokenizer: &'a Tokenizer,
    worker: &'a mut Worker,
    text: &'a str,
    /// Ascending; the last is the end of the text.
    cuts: Vec<Cut>,
    /// Other places that are preferred to these, the best first.
    breaks: Vec<Vec<usize>>,
    /// The most tokens of a span.
    most: usize,
    counted: Vec<()>,
}

impl<'a> Cutter<'a> {
    fn new(
        tokenizer: &'a Tokenizer,
        text: &'a str,
        at: SpanEnd,
        most: usize,
        worker: &'a mut Worker,
    ) -> Result<Self> {
        let cuts = cuts(tokenizer, text, worker)?;
        let breaks = match at {
            SpanEnd::Token => Vec::new(),
            SpanEnd::Sentence => vec![sentences(text)],
            SpanEnd::Paragraph => vec![paragraphs(text), sentences(text)],
        };
        Ok(Self { tokenizer, worker, text, cuts, breaks, most, counted: Vec::new() })
    }

    /// The spans of the text in bytes.
    fn spans(&mut self, options: SplitOptions) -> Result<Vec<(u32, u32)>> {
        let (mut spans, mut start, mut done) = (Vec::new(), 0, 0);
        while done < self.text.len() {
            let end = match self.longest(start, done)? {
                Some(end) => end,
                // No further text fits beside the overlap.
                None if start < done => {
                    start = done;
                    continue;
                }
                None => self.end_before_next_cut(start, options.size)?,
            };
            spans.push((start as u32, end as u32));
            start = self.overlapping_start(start, end, options.overlap);
            done = end;
        }
        Ok(spans)
    }

    /// The end of the longest span from `start` on that fits and ends after `done`, at the place that is preferred. None if no token fits.
    fn longest(&mut self, start: usize, done: usize) -> Result<Option<usize>> {
        let before = self.tokens_up_to(start);
        let (mut allowed, mut step) = (self.most, 1);
        loop {
            let known = self.cuts.partition_point(|cut| cut.tokens <= before + allowed);
            let Some(last) = known.checked_sub(1).map(|last| self.cuts[last].at).filter(|&last| last > done)
            else {
                return Ok(None);
            };
            let end = self.preferred_end(done, last);
            let Some(excess) = self.count(start..end)?.checked_sub(self.most + 1) else {
                return Ok(Some(end));
            };
            let taken = self.tokens_up_to(end).saturating_sub(before);
            let Some(fewer) = taken.min(allowed).checked_sub(step.max(excess + 1)) else { return Ok(None) };
            (allowed, step) = (fewer, step * 2);
        }
    }

    /// The best place after `done` and up to `last`: the last of the most preferred ones.
    fn preferred_end(&self, done: usize, last: usize) -> usize {
        if last == self.text.len() {
            return last;
        }
        let last_break = |breaks: &Vec<usize>| {
            let known = breaks.partition_point(|&at| at <= last);
            known.checked_sub(1).map(|last| breaks[last]).filter(|&at| at > done)
        };
        self.breaks.iter().find_map(last_break).unwrap_or(last)
    }

    /// The end of a span from `start` where the text up to the next cut does not fit. The span doubles from one character while it fits, so it
    /// takes time for its own length, not for the distance to the cut.
    fn end_before_next_cut(&mut self, start: usize, size: usize) -> Result<usize> {
        let next = self.cuts.partition_point(|cut| cut.at <= start);
        let limit = self.cuts.get(next).map_or(self.text.len(), |cut| cut.at);
        let first = self.text[start..].chars().next().map_or(0, char::len_utf8);
        let tokens = self.count(start..start + first)?;
        let (mut end, mut len) = ((tokens <= self.most).then_some(start + first), first);
        // A character may take more tokens alone than with the characters after it.
        while end.map_or(len < LONGEST_FIRST, |end| end < limit) {
            len *= 2;
            let longer = self.text.floor_char_boundary((start + len).min(limit));
            if self.count(start..longer)? <= self.most {
                end = Some(longer);
            } else if end.is_some() {
                break;
            }
        }
        end.ok_or_else(|| {
            let (character, special) = (&self.text[start..start + first], size - self.most);
            let expected =
                format!("at least {}, the tokens of the character {character:?}", tokens + special);
            Error::InvalidOption { name: "size", value: size.to_string(), expected }
        })
    }

    /// The start of the span after one from `start` to `end`.
    fn overlapping_start(&self, start: usize, end: usize, overlap: usize) -> usize {
        let ended = self.cuts.partition_point(|cut| cut.at < end);
        let Some(tokens) = self.cuts.get(ended).map(|cut| cut.tokens).filter(|_| overlap > 0) else {
            return end;
        };
        let shared = self.cuts.partition_point(|cut| cut.tokens + overlap < tokens || cut.at <= start);
        let Some(first) = self.cuts.get(shared).map(|cut| cut.at).filter(|&first| first < end) else {
            return end;
        };
        let first_break = |breaks: &Vec<usize>| {
            let next = breaks.partition_point(|&at| at < first);
            breaks.get(next).copied().filter(|&at| at < end)
        };
        self.breaks.iter().find_map(first_break).unwrap_or(first)
    }

    /// Tokens of the text that end at a place or before it.
    fn tokens_up_to(&self, at: usize) -> usize {
        let known = self.cuts.partition_point(|cut| cut.at <= at);
        known.checked_sub(1).map_or(0, |last| self.cuts[last].tokens)
    }

    /// Tokens of a part of the text, encoded by itself.
    fn count(&mut self, part: Range<usize>) -> Result<usize> {
        self.counted.clear();
        let mut sink = IdSink(&mut self.counted);
        self.tokenizer.pipeline.encode(&self.text[part], self.worker, &mut sink)?;
        Ok(self.counted.len())
    }
}

/// The places in `text` that lie between two characters and across which no token reaches, each where the next token begins; and the end.
fn cuts(tokenizer: &Tokenizer, text: &str, worker: &mut Worker) -> Result<Vec<Cut>> {
    let mut columns = ColumnsBuilder::default();
    tokenizer.pipeline.encode_columns(text, worker, &mut columns)?;
    let mut cuts = Vec::with_capacity(columns.ids.len() + 1);
    let (mut reached, mut last) = (0, 0);
    for (tokens, (&start, &end)) in columns.starts.iter().zip(&columns.ends).enumerate() {
        let at = start as usize;
        if tokens > 0 && at > last && at >= reached && at < text.len() && text.is_char_boundary(at) {
            cuts.push(Cut { at, tokens });
            last = at;
        }
        reached = reached.max(end as usize);
    }
    cuts.push(Cut { at: text.len(), tokens: columns.ids.len() });
    Ok(cuts)
}
