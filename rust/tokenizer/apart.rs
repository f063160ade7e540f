//! Unigram tokenizers on the original text, part by part.
//!
//! Their normalizer has SentencePiece's rules and others that see a character or two, and Metaspace begins a pre-token at
//! every space. So the text may be cut before runs of blanks (spaces, tabs and line ends, which the normalizer makes
//! spaces of), and all stages may see one part at a time, of which most come again: the cache knows them as they stand in the
//! text. Where white space is split off first, parts are what is between blanks.
//!
//! A part is *open* where a stage looks across its end: it becomes nothing, or ends with a character that becomes a
//! space, or with one that makes a cluster with the blank after it. Whether it does is tried, not derived: a part is
//! closed if a space and a letter after it leave it as it is and are left as they are. What is open is joined
//! with the parts after it until all of it is closed ([`Pipeline::encode_apart`]), and takes the stages by itself.
//!
//! Where ids alone are wanted, parts are cut into units ([`fragments`]).

use std::borrow::Cow;
use std::ops::Range;

pub(super) use self::facts::NormalizerFacts;
use self::fragments::{Rest, chunk_start, count_tokens, encode_rest, fragment_splitter};
pub(super) use self::isolated::{IsolatedChars, SubChunk, SubChunks};
pub(super) use self::stages::Stages;
use super::pipeline::{Pipeline, Plan};
use super::stream::Stream;
use super::words::{CleanUp, Words};
use crate::Result;
use crate::added_tokens::{Matchers, Segment};
use crate::engine::{KeyForm, Sink, Worker};
use crate::metaspace::{Metaspace, PrependScheme, VISIBLE_SPACE};
use crate::models::Model;
use crate::normalized::PreTokenized;
use crate::normalizers::Normalizer;
use crate::pre_tokenizers::PreTokenizer;
use crate::scan::Splitter;
use crate::scan::spaces::is_blank;

/// Spans that are looked for at a time: few at first, since an open part is sometimes followed by another.
const ROOM: usize = 128;
const FIRST_ROOM: usize = 8;

/// Where these are no blanks, they may be in a part whose characters are alone, but not at its end: there they may be
/// stripped.
const WITHIN: [char; 2] = ['\t', '\n'];

/// A splitter after which the stages see one part at a time, and what the model sees in the parts, if all stages are
/// known to allow it.
pub(super) fn apart(
    normalizer: Option<&Normalizer>,
    pre_tokenizer: Option<&PreTokenizer>,
    model: &Model,
    matchers: &Matchers,
) -> Option<(Splitter, KeyForm)> {
    let stages = match pre_tokenizer? {
        PreTokenizer::Sequence(stages) => stages.as_slice(),
        only => std::slice::from_ref(only),
    };
    let (has_gaps, metaspace) = match stages {
        [PreTokenizer::Metaspace(metaspace)] => (false, metaspace),
        [PreTokenizer::WhitespaceSplit, PreTokenizer::Metaspace(metaspace)] => (true, metaspace),
        _ => return None,
    };
    let Metaspace { replacement, prepend_scheme, split } = *metaspace;
    let is_known_scheme = match prepend_scheme {
        PrependScheme::Always => true,
        PrependScheme::Never => !has_gaps,
        // Depends on the place in the text.
        PrependScheme::First => false,
    };
    let is_known = replacement == VISIBLE_SPACE && (split || has_gaps) && is_known_scheme;
    // Numbers of pre-tokens are told from tokens, so each must have one.
    let has_tokens = matches!(model, Model::Unigram(_)) && model.is_deterministic();
    if !is_known || !has_tokens || !matchers.normalized.is_empty() {
        return None;
    }
    let made = |text: &str| match normalizer {
        Some(normalizer) => normalizer.normalize_str(text).ok().map(Cow::into_owned),
        None => Some(text.to_owned()),
    };
    let becomes = |text, wanted| made(text).as_deref() == Some(wanted);
    if !normalizer.is_none_or(Normalizer::leaves_spaces) || !becomes(" a", " a") {
        return None;
    }
    // A run of spaces that became visible would be no white space.
    let has_white_runs = becomes("  a", " a") || becomes("  a", "  a");
    if !has_white_runs && !becomes("  a", "▁a") {
        return None;
    }
    // Tabs and line ends are blanks where they are spaces before runs of these become anything.
    let blanks = [" ", "\t", "\n", "\r"];
    let mut runs = blanks.iter().flat_map(|first| blanks.map(|second| [first, second, "a"].concat()));
    let has_lines = blanks.iter().all(|blank| made(&[blank, "a"].concat()).as_deref() == Some(" a"))
        && runs.all(|run| made(&run) == made("  a") || made(&run).as_deref() == Some(" a"));
    match (has_gaps, has_lines) {
        (true, true) if has_white_runs => Some((Splitter::BlankSplit, KeyForm::Prefixed)),
        (true, _) => None,
        (false, true) => Some((Splitter::Blanks, KeyForm::Spaced)),
        (false, false) => Some((Splitter::Spaces, KeyForm::Spaced)),
    }
}

impl Pipeline {
    /// What parts go through before the model, if the plan is [`Plan::Apart`].
    pub(super) fn stages(&self) -> Option<Stages<'_>> {
        let Plan::Apart(splitter) = self.plan() else { return None };
        let has_gaps = !splitter.is_gapless();
        let (normalizer, pre_tokenizer) = (self.normalizer(), self.pre_tokenizer()?);
        let has_lines = splitter != Splitter::Spaces;
        let (known, isolated) = (self.chunk_facts(), self.isolated_chars());
        Some(Stages { normalizer, pre_tokenizer, has_gaps, has_lines, known, isolated })
    }

    /// Encodes a piece of text part by part, or unit by unit where ids alone are wanted.
    pub(super) fn encode_apart<S: Sink>(
        &self,
        splitter: Splitter,
        text: &str,
        Segment { start, end, .. }: Segment,
        word: &mut u32,
        worker: &mut Worker,
        sink: &mut S,
    ) -> Result<()> {
        let Some(stages) = self.stages() else { return Ok(()) };
        let (mut text, mut at, mut room) = (&text[..end], start, ROOM);
        if !S::TRACKED {
            text = stages.without_line_ends(text, start);
        }
        // Numbers of words and offsets are those of whole parts.
        let fragments = if S::TRACKED { None } else { fragment_splitter(splitter, stages, &text[start..]) };
        let words = Words { encoder: self.encoder(), clean_up: CleanUp::Stages(&stages) };
        // The cache knows parts by their bytes alone, and the last one may lose some that it keeps elsewhere.
        let (whole, streamed) = (text, stages.strippable(text, start));
        text = &text[..streamed];
        while at < text.len() {
            let mut stream = Stream::new(words, text, worker, sink, *word, 1);
            if fragments.is_some() {
                stream = stream.of_fragments();
            }
            scan(fragments.unwrap_or(splitter), text, at, room, &mut stream);
            *word = stream.finish()?;
            let Some(open) = stream.open() else {
                at = text.len();
                break;
            };
            room = FIRST_ROOM;
            let begins_part = |byte: u8| stages.is_blank(byte.into());
            let chunk = at + chunk_start(&text.as_bytes()[at..], open - at, stages.has_gaps, begins_part);
            let mut passed = 0;
            if let Some(fragments) = fragments.filter(|_| chunk < open) {
                passed = count_tokens(fragments, words, text, chunk..open, worker)?;
                if let Some(after) = encode_rest(splitter, words, text, chunk, passed, worker, sink)? {
                    at = after;
                    continue;
                }
            }
            // A blank is part of what makes the place the same as in the text, and may have been passed over.
            let has_blank = is_blank(text.as_bytes()[chunk]);
            let first = if chunk > start && !has_blank { chunk - 1 } else { chunk };
            at = first + stages.context_free_end(splitter, &whole[first..])?;
            let mut rest = Rest { sink: &mut *sink, passed };
            self.encode_joined(stages, whole, first..at, word, worker, &mut rest)?;
        }
        if at < whole.len() {
            self.encode_joined(stages, whole, at..whole.len(), word, worker, sink)?;
        }
        Ok(())
    }

    /// Encodes parts that are joined.
    fn encode_joined<S: Sink>(
        &self,
        stages: Stages<'_>,
        text: &str,
        range: Range<usize>,
        word: &mut u32,
        worker: &mut Worker,
        sink: &mut S,
    ) -> Result<()> {
        let mut cut = PreTokenized::new(stages.normalize(&text[range.clone()], range.start, S::TRACKED)?);
        stages.pre_tokenizer.pre_tokenize(&mut cut)?;
        for span in &cut.spans {
            self.encode_pre_token(&cut.text, span.clone(), *word, worker, sink)?;
            *word += 1;
        }
        Ok(())
    }
}

/// Sends the spans of `text` from `at` on through `stream`, `room` of them first, until one is open.
fn scan<S: Sink>(splitter: Splitter, text: &str, at: usize, mut room: usize, stream: &mut Stream<'_, S>) {
    let (mut starts, mut ends, mut done) = ([0; ROOM], [0; ROOM], 0);
    while stream.open().is_none() {
        let found = splitter.fill_spans(&text[at..], done, &mut starts[..room], &mut ends[..room]);
        if found == 0 {
            return;
        }
        stream.take(at, &starts[..found], &ends[..found]);
        (done, room) = (ends[found - 1] as usize, ROOM);
    }
}

mod classes;
mod facts;
mod fragments;
mod isolated;
mod stages;
#[cfg(test)]
mod tests;
