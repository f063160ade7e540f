//! The span stream: pre-tokens of unchanged text on their way through cache and sink.

use std::ops::Range;

use super::apart::{Cuts, LoneChars, Stages, Stretch};
use super::words::{CleanUp, Words};
use crate::Result;
use crate::engine::ahead::Ahead;
use crate::engine::{Found, Sink, Worker};
use crate::scan::spaces::{begins_wide, goes_on};

/// Units that are looked up together, so that one waits for memory while others are found.
const AHEAD: usize = 32;

/// Ids that are kept until they are passed on, without those of a word.
const MOST_KNOWN: usize = 1 << 10;

/// The way of pre-tokens of unchanged text through cache and sink.
pub(super) struct Stream<'a, S> {
    words: Words<'a>,
    text: &'a str,
    worker: &'a mut Worker,
    sink: &'a mut S,
    /// Units that are being looked up.
    ahead: [Ahead; AHEAD],
    filled: usize,
    /// Words that were cut beside lone characters.
    cuts: Cuts,
    /// Number of the next pre-token.
    word: u32,
    /// 1 where spans are pre-tokens, 0 where all are parts of one.
    step: u32,
    /// Spans behind anything but a blank go on with a pre-token.
    has_units: bool,
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
        let ahead = [Ahead::default(); AHEAD];
        let (filled, cuts, has_units, open, result) = (0, Cuts::default(), false, None, Ok(()));
        Self { words, text, worker, sink, ahead, filled, cuts, word, step, has_units, open, result }
    }

    /// The same for units: what begins behind neither a blank nor the place looked at from goes on with a pre-token.
    pub(super) fn of_units(self) -> Self {
        Self { has_units: true, cuts: Cuts::with_room(2 * MOST_KNOWN), ..self }
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
            let room = &mut self.ahead[self.filled..];
            let mut taken = if !self.has_units {
                cache.look_ahead_many::<false>(text, base, bounds, words, room)
            // Asked here, too, since most such words stand together and the call takes longer.
            } else if begins_wide(text, start) {
                0
            } else {
                cache.look_ahead_many::<true>(text, base, bounds, words, room)
            };
            self.filled += taken;
            if taken == 0 {
                if self.has_units {
                    self.push_wide(start, end, goes_on(text, base, start));
                } else {
                    self.push_long(start, end, false);
                }
                taken = 1;
            } else if self.filled == AHEAD {
                self.flush();
            }
            self.word = self.word.wrapping_add(taken as u32 * self.step);
            at += taken;
        }
    }

    /// Takes what is long or begins beyond ASCII: units, and ids of lone characters.
    fn push_wide(&mut self, start: usize, end: usize, goes_on: bool) {
        let part = &self.text[start..end];
        let CleanUp::Stages(stages) = self.words.clean_up else {
            return self.push_long(start, end, goes_on);
        };
        let blanks = if goes_on { 0 } else { stages.blanks(part) };
        let Some(lone) = stages.lone.filter(|_| stages.may_have_lone(part, blanks)) else {
            return self.push_long(start, end, goes_on);
        };
        let mut from = self.push_word((stages, lone), start..end, blanks, goes_on);
        while from < end {
            from = self.push_word((stages, lone), from..end, 0, false);
        }
    }

    /// Takes the first word of a part; answers where the next one begins, or the part ends.
    fn push_word(
        &mut self,
        (stages, lone): (&Stages<'_>, &LoneChars),
        Range { start, end }: Range<usize>,
        blanks: usize,
        goes_on: bool,
    ) -> usize {
        if self.cuts.ids.len() > MOST_KNOWN {
            self.flush();
            self.cuts.ids.clear();
        }
        let (model, groups) = (self.words.encoder.model(), &mut self.worker.scratch.groups);
        let part = &self.text[start..end];
        let len = lone.cut(part, blanks, goes_on, (stages, model), groups, &mut self.cuts);
        let mut stretches = std::mem::take(&mut self.cuts.stretches);
        for stretch in stretches.drain(..) {
            if let Stretch::Ids(ids) = &stretch
                && self.ahead[..self.filled].last_mut().is_some_and(|last| last.extend_known(ids))
            {
                continue;
            }
            self.ahead[self.filled] = match stretch {
                Stretch::Ids(ids) => Ahead::known(ids, self.word),
                Stretch::Unit(unit, goes_on) => {
                    let (text, start, end) = (self.text.as_bytes(), start + unit.start, start + unit.end);
                    self.worker.cache.look_ahead(text, start, end, self.word, goes_on)
                }
            };
            self.filled += 1;
            if self.filled == AHEAD {
                self.flush();
            }
        }
        self.cuts.stretches = stretches;
        start + len
    }

    #[inline(never)]
    fn push_long(&mut self, word_start: usize, end: usize, goes_on: bool) {
        let (text, cuts) = (self.text.as_bytes(), self.words.encoder.cut_points(end - word_start));
        let mut start = word_start;
        while start < end {
            let unit_end = cuts.map_or(end, |cuts| cuts.unit_end(text, start, end));
            let is_part = goes_on || self.words.encoder.is_part((word_start, end), start, unit_end);
            let cache = &self.worker.cache;
            self.ahead[self.filled] = cache.look_ahead(text, start, unit_end, self.word, is_part);
            self.filled += 1;
            if self.filled == AHEAD {
                self.flush();
            }
            start = unit_end;
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
        let mut ahead = &self.ahead[..self.filled];
        loop {
            ahead = &ahead[self.sink.hits(cache, ahead)..];
            let Some((&first, rest)) = ahead.split_first() else { return Ok(()) };
            if let Some(ids) = first.known_ids() {
                self.sink.plain_word(Found { ids: &self.cuts.ids[ids], spans: None }, 0, first.word);
                ahead = rest;
                continue;
            }
            let miss =
                |range, out: &mut _| self.words.encode(self.text, range, first.is_part(), scratch, out);
            let found = cache.get_ahead(first, self.text.as_bytes(), miss)?;
            if self.words.is_open(found, S::TRACKED) {
                self.open = Some((first.start as usize, first.word));
                return Ok(());
            }
            self.sink.plain_word(found, first.start as usize, first.word);
            ahead = rest;
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
