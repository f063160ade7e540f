//! The span stream: pre-tokens of unchanged text on their way through cache and sink.

use crate::Result;
use crate::engine::key::SHORT;
use crate::engine::word_cache::Ahead;
use crate::engine::{Sink, WordEncoder, WordTokens, Worker};

/// Units that are looked up together, so that one waits for memory while others are found.
const AHEAD: usize = 32;

/// The way of pre-tokens of unchanged text through cache and sink.
pub(super) struct Stream<'a, S> {
    encoder: &'a WordEncoder,
    text: &'a [u8],
    worker: &'a mut Worker,
    sink: &'a mut S,
    /// Units that are being looked up, each with the number of its pre-token.
    ahead: [(Ahead, u32); AHEAD],
    filled: usize,
    /// Number of the next pre-token.
    word: u32,
    result: Result<()>,
}

impl<'a, S: Sink> Stream<'a, S> {
    pub(super) fn new(
        encoder: &'a WordEncoder,
        text: &'a [u8],
        worker: &'a mut Worker,
        sink: &'a mut S,
        word: u32,
    ) -> Self {
        let ahead = [Default::default(); AHEAD];
        Self { encoder, text, worker, sink, ahead, filled: 0, word, result: Ok(()) }
    }

    /// Takes the next pre-token; a long one is cut into units where that changes nothing.
    #[inline]
    pub(super) fn push(&mut self, start: usize, end: usize) {
        if end - start <= SHORT {
            self.push_unit(start, end);
        } else {
            self.push_long(start, end);
        }
        self.word += 1;
    }

    #[inline]
    fn push_unit(&mut self, start: usize, end: usize) {
        self.ahead[self.filled] = (self.worker.cache.look_ahead(self.text, start, end), self.word);
        self.filled += 1;
        if self.filled == AHEAD {
            self.flush();
        }
    }

    #[inline(never)]
    fn push_long(&mut self, mut start: usize, end: usize) {
        let Some(cuts) = self.encoder.cut_points(end - start) else { return self.push_unit(start, end) };
        while start < end {
            let unit_end = cuts.unit_end(self.text, start, end);
            self.push_unit(start, unit_end);
            start = unit_end;
        }
    }

    fn flush(&mut self) {
        if self.result.is_ok() {
            self.result = self.emit();
        }
        self.filled = 0;
    }

    fn emit(&mut self) -> Result<()> {
        let Worker { cache, scratch } = &mut *self.worker;
        for &(ahead, word) in &self.ahead[..self.filled] {
            if let Some((ids, count)) = cache.get_few(ahead) {
                self.sink.few(ids, count, ahead.start as usize, word);
                continue;
            }
            let miss = |word: &[u8], out: &mut WordTokens| self.encoder.encode(word, scratch, out);
            let found = cache.get_ahead(ahead, self.text, miss)?;
            self.sink.plain_word(found, ahead.start as usize, word);
        }
        Ok(())
    }

    /// The number of the next pre-token, when all are through.
    pub(super) fn finish(mut self) -> Result<u32> {
        self.flush();
        self.result.map(|()| self.word)
    }
}
