//! The span stream: pre-tokens of unchanged text on their way through cache and sink.

use std::ops::Range;

use super::apart::{IsolatedChars, Stages, SubChunk, SubChunks};
use super::words::{CleanUp, Words};
use crate::Result;
use crate::engine::lookup::Lookup;
use crate::engine::{CachedTokens, Sink, Worker};
use crate::scan::spaces::{begins_non_ascii, is_continuation};

/// Units that are looked up together, so that one waits for memory while others are found.
const PREFETCH_BATCH: usize = 32;

/// Ids that are kept until they are passed on, without those of a word.
const MOST_KNOWN: usize = 1 << 10;

/// The way of pre-tokens of unchanged text through cache and sink.
pub(super) struct Stream<'a, S> {
    words: Words<'a>,
    text: &'a str,
    worker: &'a mut Worker,
    sink: &'a mut S,
    /// Units that are being looked up.
    lookup: [Lookup; PREFETCH_BATCH],
    filled: usize,
    /// Words that were cut beside lone characters.
    cuts: SubChunks,
    /// Number of the next pre-token.
    word: u32,
    /// 1 where spans are pre-tokens, 0 where all are parts of one.
    step: u32,
    /// Spans after anything but a blank go on with a pre-token.
    has_fragments: bool,
    /// A pre-token, and its number, that this is no way for.
    open: Option<(usize, u32)>,
    result: Result<()>,
}

impl<'a, S: Sink> Stream<'a, S> {
    /// A stream of pre-tokens of `text`, the first of which is number `word` and each next one number `step` more.
    pub(super) fn new(
        words: Words<'a>,
        text: &'a str,
        worker: &'a mut Worker,
        sink: &'a mut S,
        word: u32,
        step: u32,
    ) -> Self {
        let lookup = [Lookup::default(); PREFETCH_BATCH];
        let (filled, cuts, has_fragments, open, result) = (0, SubChunks::default(), false, None, Ok(()));
        Self { words, text, worker, sink, lookup, filled, cuts, word, step, has_fragments, open, result }
    }

    /// The same for units: what begins after neither a blank nor the place looked at from goes on with a pre-token.
    pub(super) fn of_fragments(self) -> Self {
        Self { has_fragments: true, cuts: SubChunks::with_room(2 * MOST_KNOWN), ..self }
    }

    /// Takes pre-tokens by their bounds in the text from `base` on; a long one is cut into units, and one
    /// of units beside lone characters too, where that changes nothing.
    #[inline]
    pub(super) fn take(&mut self, base: usize, starts: &[u32], ends: &[u32]) {
        let mut at = 0;
        while self.open.is_none()
            && let (Some(&start), Some(&end)) = (starts.get(at), ends.get(at))
        {
            let (text, cache) = (self.text.as_bytes(), &self.worker.cache);
            let (start, end) = (base + start as usize, base + end as usize);
            let (bounds, words) = ((&starts[at..], &ends[at..]), (self.word, self.step));
            let room = &mut self.lookup[self.filled..];
            let mut taken = if !self.has_fragments {
                cache.prefetch_many::<false>(text, base, bounds, words, room)
            // Asked here, too, since most such words stand together and the call takes longer.
            } else if begins_non_ascii(text, start) {
                0
            } else {
                cache.prefetch_many::<true>(text, base, bounds, words, room)
            };
            self.filled += taken;
            if taken == 0 {
                if self.has_fragments {
                    self.push_wide(start, end, is_continuation(text, base, start));
                } else {
                    self.push_long(start, end, false);
                }
                taken = 1;
            } else if self.filled == PREFETCH_BATCH {
                self.flush();
            }
            self.word = self.word.wrapping_add(taken as u32 * self.step);
            at += taken;
        }
    }

    /// Takes what is long or begins beyond ASCII: units, and ids of lone characters.
    fn push_wide(&mut self, start: usize, end: usize, is_continuation: bool) {
        let part = &self.text[start..end];
        let CleanUp::Stages(stages) = self.words.clean_up else {
            return self.push_long(start, end, is_continuation);
        };
        let blanks = if is_continuation { 0 } else { stages.blanks(part) };
        let Some(isolated) = stages.isolated.filter(|_| stages.may_have_isolated(part, blanks)) else {
            return self.push_long(start, end, is_continuation);
        };
        let mut from = self.push_word((stages, isolated), start..end, blanks, is_continuation);
        while from < end {
            from = self.push_word((stages, isolated), from..end, 0, false);
        }
    }

    /// Takes the first word of a part; answers where the next one begins, or the part ends.
    fn push_word(
        &mut self,
        (stages, isolated): (&Stages<'_>, &IsolatedChars),
        Range { start, end }: Range<usize>,
        blanks: usize,
        is_continuation: bool,
    ) -> usize {
        if self.cuts.ids.len() > MOST_KNOWN {
            self.flush();
            self.cuts.ids.clear();
        }
        let (model, clusters) = (self.words.encoder.model(), &mut self.worker.scratch.clusters);
        let part = &self.text[start..end];
        let len = isolated.cut(part, blanks, is_continuation, (stages, model), clusters, &mut self.cuts);
        let mut sub_chunks = std::mem::take(&mut self.cuts.sub_chunks);
        for stretch in sub_chunks.drain(..) {
            if let SubChunk::Ids(ids) = &stretch
                && self.lookup[..self.filled].last_mut().is_some_and(|last| last.extend_resolved(ids))
            {
                continue;
            }
            self.lookup[self.filled] = match stretch {
                SubChunk::Ids(ids) => Lookup::known(ids, self.word),
                SubChunk::KeyForm(unit, is_continuation) => {
                    let (text, start, end) = (self.text.as_bytes(), start + unit.start, start + unit.end);
                    self.worker.cache.prefetch(text, start, end, self.word, is_continuation)
                }
            };
            self.filled += 1;
            if self.filled == PREFETCH_BATCH {
                self.flush();
            }
        }
        self.cuts.sub_chunks = sub_chunks;
        start + len
    }

    #[inline(never)]
    fn push_long(&mut self, word_start: usize, end: usize, is_continuation: bool) {
        let (text, cuts) = (self.text.as_bytes(), self.words.encoder.cut_points(end - word_start));
        let mut start = word_start;
        while start < end {
            let fragment_end = cuts.map_or(end, |cuts| cuts.fragment_end(text, start, end));
            let in_context =
                is_continuation || self.words.encoder.in_context((word_start, end), start, fragment_end);
            let cache = &self.worker.cache;
            self.lookup[self.filled] = cache.prefetch(text, start, fragment_end, self.word, in_context);
            self.filled += 1;
            if self.filled == PREFETCH_BATCH {
                self.flush();
            }
            start = fragment_end;
        }
    }

    fn flush(&mut self) {
        if self.result.is_ok() && self.open.is_none() {
            self.result = self.emit();
        }
        self.filled = 0;
    }

    fn emit(&mut self) -> Result<()> {
        let Worker { cache, scratch } = &mut *self.worker;
        let mut lookup = &self.lookup[..self.filled];
        loop {
            lookup = &lookup[self.sink.emit_hits(cache, lookup)..];
            let Some((&first, rest)) = lookup.split_first() else { return Ok(()) };
            if let Some(ids) = first.resolved_ids() {
                self.sink.plain_word(CachedTokens { ids: &self.cuts.ids[ids], spans: None }, 0, first.word);
                lookup = rest;
                continue;
            }
            let miss =
                |range, out: &mut _| self.words.encode(self.text, range, first.in_context(), scratch, out);
            let found = cache.resolve(first, self.text.as_bytes(), miss)?;
            if self.words.is_context_dependent(found, S::TRACKED) {
                self.open = Some((first.start as usize, first.word));
                return Ok(());
            }
            self.sink.plain_word(found, first.start as usize, first.word);
            lookup = rest;
        }
    }

    /// Where the first part of the text that is open begins, once it has been met; all before it is through.
    #[inline]
    pub(super) fn open(&self) -> Option<usize> {
        self.open.map(|(start, _)| start)
    }

    /// The number of the next pre-token, when all are through or up to an open one.
    ///
    /// # Errors
    /// Those of the model, once.
    pub(super) fn finish(&mut self) -> Result<u32> {
        self.flush();
        std::mem::replace(&mut self.result, Ok(()))?;
        Ok(self.open.map_or(self.word, |(_, word)| word))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::added_tokens::AddedTokens;
    use crate::byte_level::BYTE_TO_CHAR;
    use crate::engine::IdSink;
    use crate::models::Model;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::pre_tokenizers::{ByteLevel, PreTokenizer};
    use crate::tokenizer::Pipeline;
    use crate::vocab::Vocab;

    #[test]
    fn ignore_merges_holds_of_whole_pre_tokens_only() {
        // No merge makes `cd`, so it is found where it is a pre-token, and not where a cut makes it a unit.
        let mut tokens: Vec<String> = BYTE_TO_CHAR.iter().map(char::to_string).collect();
        tokens.push("cd".to_owned());
        // Long pre-tokens of text are cut only where unknown characters have a token.
        let unk_token = Some("a".to_owned());
        let options = BpeOptions { ignore_merges: true, unk_token, ..BpeOptions::default() };
        let bpe = Bpe::from_pairs(Arc::new(Vocab::from_tokens(&tokens)), &[], options).expect("no dropout");
        let byte_level = ByteLevel { add_prefix_space: false, ..ByteLevel::default() };
        for pre_tokenizer in [
            PreTokenizer::ByteLevel(byte_level),
            PreTokenizer::Sequence(vec![
                PreTokenizer::ByteLevel(byte_level),
                PreTokenizer::Sequence(Vec::new()),
            ]),
        ] {
            let (model, added) = (Arc::new(Model::Bpe(bpe.clone())), Arc::new(AddedTokens::default()));
            let pipeline =
                Pipeline::new(None, Some(pre_tokenizer), model, added, false, 1 << 20).expect("valid");
            assert!(pipeline.encoder().cut_points(1 << 20).is_some());
            let mut ids = Vec::<u32>::new();
            let mut worker = pipeline.pool().take();
            let text = "cd\n".to_owned() + &"a".repeat(20) + "cd\n" + "cd";
            pipeline.encode(&text, &mut worker, &mut IdSink(&mut ids)).expect("all bytes are known");
            let [a, c, d, newline, cd] = [97, 99, 100, 10, 256];
            let mut expected = vec![cd, newline];
            expected.extend([a; 20]);
            expected.extend([c, d, newline, cd]);
            assert_eq!(ids, expected);
        }
    }
}
