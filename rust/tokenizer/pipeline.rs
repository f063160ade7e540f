//! From text to tokens: added tokens, normalizer, pre-tokenizer, model.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::apart::{IsolatedChars, NormalizerFacts};
pub use super::plan::Plan;
use super::plan::choose;
use super::preload_vocab::preload_vocab;
use super::spaced::Spaced;
use super::stream::Stream;
use super::words::{CleanUp, Words};
use crate::added_tokens::{AddedTokens, Matchers, Segment};
use crate::encoding::TokenNames;
use crate::engine::key::SHORT;
use crate::engine::{CacheLimits, ChunkCache, KeyForm, ModelEncoder, Pool, Sink, Worker};
use crate::models::Model;
use crate::normalized::{Normalized, PreTokenized};
use crate::normalizers::{Bert, Normalizer};
use crate::pre_tokenizers::PreTokenizer;
use crate::scan::Splitter;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// Bytes that the cache of one thread takes unless told otherwise.
pub const DEFAULT_CACHE_LIMIT: usize = 128 << 20;

/// Bytes of text for which it pays to know words from the start.
const PRELOAD_MIN_BYTES: usize = 4 << 20;

/// Bytes of text with one word that was not met before, at the least.
const BYTES_PER_WORD: usize = 256;

/// Bytes of the longest text: offsets have 32 bits, of which one is left free.
pub const LONGEST_TEXT: usize = u32::MAX as usize / 2;

/// Refuses a text of more than [`LONGEST_TEXT`] bytes.
pub(crate) fn check_length(bytes: usize) -> Result<()> {
    if bytes > LONGEST_TEXT {
        return Err(Error::TextTooLong { bytes, limit: LONGEST_TEXT });
    }
    Ok(())
}

/// The stages of a tokenizer up to its model, compiled.
#[derive(Debug)]
pub struct Pipeline {
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<PreTokenizer>,
    added: Arc<AddedTokens>,
    matchers: Matchers,
    plan: Plan,
    key_form: KeyForm,
    training_key_form: KeyForm,
    /// For [`Plan::Apart`].
    chunk_facts: NormalizerFacts,
    /// Where parts may be cut beside lone characters.
    isolated_chars: Option<IsolatedChars>,
    encoder: ModelEncoder,
    vocab: Arc<Vocab>,
    pool: Pool,
    calls: AtomicU64,
    seed: u64,
}

impl Pipeline {
    /// Compiles the stages; `encode_special_tokens` leaves special tokens in the text to the model.
    ///
    /// # Errors
    /// Those of [`AddedTokens::matchers`].
    pub fn new(
        normalizer: Option<Normalizer>,
        pre_tokenizer: Option<PreTokenizer>,
        model: Arc<Model>,
        added: Arc<AddedTokens>,
        encode_special_tokens: bool,
        cache_limit: usize,
    ) -> Result<Self> {
        let pattern = |content: &str| {
            let text = normalizer.as_ref().map(|normalizer| normalizer.normalize_str(content)).transpose()?;
            Ok(text.map_or_else(|| content.to_owned(), std::borrow::Cow::into_owned))
        };
        let matchers = added.matchers(encode_special_tokens, pattern)?;
        let (plan, key_form) = choose(normalizer.as_ref(), pre_tokenizer.as_ref(), &model, &matchers);
        let training_key_form =
            if key_form == KeyForm::Bytes && added.are_own_bytes() { key_form } else { KeyForm::Text };
        let bytes = if model.is_deterministic() { cache_limit } else { 0 };
        let limits = CacheLimits { bytes, id_bound: model.vocab().id_bound() };
        let chunk_facts = match plan {
            Plan::Apart(_) => NormalizerFacts::new(normalizer.as_ref(), pre_tokenizer.as_ref(), &model),
            _ => NormalizerFacts::default(),
        };
        Ok(Self {
            calls: AtomicU64::new(0),
            seed: model.seed().unwrap_or_else(|| fastrand::u64(..)),
            matchers,
            plan,
            key_form,
            training_key_form,
            chunk_facts,
            isolated_chars: if chunk_facts.begins_visibly { IsolatedChars::new(&model) } else { None },
            vocab: model.shared_vocab(),
            encoder: ModelEncoder::new(model, key_form),
            normalizer,
            pre_tokenizer,
            added,
            pool: Pool::new(limits),
        })
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        self.encoder.model()
    }

    /// The normalizer.
    pub(super) fn normalizer(&self) -> Option<&Normalizer> {
        self.normalizer.as_ref()
    }

    /// The pre-tokenizer.
    pub(super) fn pre_tokenizer(&self) -> Option<&PreTokenizer> {
        self.pre_tokenizer.as_ref()
    }

    /// What is known of the stages, where the plan is for parts.
    pub(super) fn chunk_facts(&self) -> NormalizerFacts {
        self.chunk_facts
    }

    /// The kinds of characters, where parts may be cut beside lone ones.
    pub(super) fn isolated_chars(&self) -> Option<&IsolatedChars> {
        self.isolated_chars.as_ref()
    }

    /// The model, prepared for pre-tokens of [`Self::unit`].
    pub(super) fn encoder(&self) -> &ModelEncoder {
        &self.encoder
    }

    /// The searches for added tokens.
    pub(super) fn matchers(&self) -> &Matchers {
        &self.matchers
    }

    /// The added tokens.
    pub fn added(&self) -> &Arc<AddedTokens> {
        &self.added
    }

    /// The text of an added token's id: its content, normalized if that is how the token is looked for.
    pub fn added_text(&self, id: u32) -> Option<&str> {
        let content = || self.added.get(id).map(|token| token.content.as_str());
        self.matchers.spellings.get(&id).map(String::as_str).or_else(content)
    }

    /// How pre-tokens are found.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// What pre-tokens are made of in the span stream.
    pub fn key_form(&self) -> KeyForm {
        self.key_form
    }

    /// Workers with their caches.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Prepares for a call of `threads` threads on so many bytes.
    pub fn prepare(&self, bytes: usize, threads: usize) {
        if bytes >= PRELOAD_MIN_BYTES {
            let words = bytes / threads.max(1) / BYTES_PER_WORD;
            self.pool.prepare(threads, |limits| {
                preload_vocab(&self.encoder, self.clean_up().is_some(), limits)
                    .unwrap_or_else(|| ChunkCache::with_room(limits, words))
            });
        }
    }

    /// The number of a new call, which its random choices depend on.
    pub fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes the random choices for row `row` of call `call` those that the seed says, on any thread.
    pub fn seed_row(&self, call: u64, row: usize, worker: &mut Worker) {
        if !self.model().is_deterministic() {
            let mix =
                |state: u64, value: u64| (state ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            worker.scratch.seed(mix(mix(self.seed, call), row as u64));
        }
    }

    /// How the ids of this pipeline are spelled.
    pub fn names(&self) -> TokenNames {
        TokenNames::Vocab(Arc::clone(&self.vocab))
    }

    /// Bytes that each id covers where tokens simply follow one another.
    pub fn token_lens(&self) -> &[u32] {
        self.encoder.token_lens()
    }

    /// Encodes `text` into `sink`, without special tokens.
    ///
    /// # Errors
    /// [`Error::TextTooLong`] above 2 GiB; those of pre-tokenizer and model.
    pub fn encode<S: Sink>(&self, text: &str, worker: &mut Worker, sink: &mut S) -> Result<()> {
        self.encode_shard(text, true, worker, sink)
    }

    /// As [`Self::encode`], for one of [`Self::pieces`]; only the first `is_first`.
    pub(super) fn encode_shard<S: Sink>(
        &self,
        text: &str,
        is_first: bool,
        worker: &mut Worker,
        sink: &mut S,
    ) -> Result<()> {
        check_length(text.len())?;
        let mut word = 0;
        self.matchers.original.segments(text, |segment| {
            if let Some(id) = segment.token {
                let whole = Normalized::new(text, 0, S::TRACKED);
                sink.added(id, &whole, segment.start, segment.end, word);
                word += 1;
                return Ok(());
            }
            let is_begun = !is_first && segment.start == 0;
            self.encode_segment(text, segment, is_begun, &mut word, worker, sink)
        })
    }

    /// Encodes text between added tokens; it `is_begun` where more of it came before.
    fn encode_segment<S: Sink>(
        &self,
        text: &str,
        segment: Segment,
        is_begun: bool,
        word: &mut u32,
        worker: &mut Worker,
        sink: &mut S,
    ) -> Result<()> {
        if let Plan::Words(splitter) = self.plan {
            return self.scan_original(splitter, text, segment.start, segment.end, word, worker, sink);
        }
        if let Plan::Apart(splitter) = self.plan {
            return self.encode_apart(splitter, text, segment, word, worker, sink);
        }
        let piece = &text[segment.start..segment.end];
        if let Plan::Spaced(spaced) = self.plan {
            let spaced = Spaced { has_prefix: spaced.has_prefix && !is_begun, ..spaced };
            if self.encode_spaced(text, segment, spaced, word, worker, sink)? {
                return Ok(());
            }
        }
        let normalizer = self.normalizer.as_ref().and_then(|normalizer| match self.plan {
            Plan::Spaced(spaced) if is_begun => spaced.without_prefix(normalizer),
            _ => Some(normalizer),
        });
        let is_identity = normalizer.is_none_or(|normalizer| normalizer.is_identity(piece));
        if is_identity && matches!(self.plan, Plan::Scan(_) | Plan::SubChunks) {
            return self.matchers.normalized.segments(piece, |inner| {
                if let Some(id) = inner.token {
                    let normalized = Normalized::new(piece, segment.start, S::TRACKED);
                    sink.added(id, &normalized, inner.start, inner.end, *word);
                    *word += 1;
                    return Ok(());
                }
                let (start, end) = (segment.start + inner.start, segment.start + inner.end);
                match self.plan {
                    Plan::Scan(splitter) => {
                        self.scan_original(splitter, text, start, end, word, worker, sink)
                    }
                    _ => self.cut_original(text, start..end, word, worker, sink),
                }
            });
        }
        let mut normalized = Normalized::new(piece, segment.start, S::TRACKED);
        if let (false, Some(normalizer)) = (is_identity, normalizer) {
            normalized = normalizer.normalize(normalized)?;
        }
        self.matchers.normalized.segments(normalized.text(), |inner| {
            if let Some(id) = inner.token {
                sink.added(id, &normalized, inner.start, inner.end, *word);
                *word += 1;
            } else {
                let cut = self.cut(normalized.slice(inner.start..inner.end), self.plan)?;
                for span in &cut.spans {
                    self.encode_pre_token(&cut.text, span.clone(), *word, worker, sink)?;
                    *word += 1;
                }
            }
            Ok(())
        })
    }

    /// Encodes one pre-token of text that stages have changed, in units where it is long.
    pub(super) fn encode_pre_token<S: Sink>(
        &self,
        text: &Normalized<'_>,
        Range { start: word_start, end }: Range<usize>,
        word: u32,
        worker: &mut Worker,
        sink: &mut S,
    ) -> Result<()> {
        let (bytes, Worker { cache, scratch }) = (text.text().as_bytes(), worker);
        let len = end - word_start;
        let cuts = if len > SHORT { self.encoder.cut_points(len) } else { None };
        let mut start = word_start;
        while start < end {
            let fragment_end = cuts.map_or(end, |cuts| cuts.fragment_end(bytes, start, end));
            let in_context = self.encoder.in_context((word_start, end), start, fragment_end);
            let miss = |range, out: &mut _| self.encoder.encode(text.text(), range, in_context, scratch, out);
            // Where parts of the original text are keys, pre-tokens have others: both may have the same bytes.
            let is_apart = in_context || matches!(self.plan, Plan::Apart(_));
            let lookup = cache.prefetch(bytes, start, fragment_end, word, is_apart);
            let found = cache.resolve(lookup, bytes, miss)?;
            sink.word(found, text, start, fragment_end, word);
            start = fragment_end;
        }
        Ok(())
    }

    /// The span stream over text that no stage changes.
    #[expect(clippy::too_many_arguments, reason = "the inner loop takes its state apart")]
    fn scan_original<S: Sink>(
        &self,
        splitter: Splitter,
        text: &str,
        start: usize,
        end: usize,
        word: &mut u32,
        worker: &mut Worker,
        sink: &mut S,
    ) -> Result<()> {
        let clean_up = self.clean_up().map_or(CleanUp::None, CleanUp::Bert);
        let words = Words { encoder: &self.encoder, clean_up };
        let mut stream = Stream::new(words, text, worker, sink, *word, 1);
        splitter.for_each_block(&text[start..end], |starts, ends| stream.take(start, starts, ends));
        *word = stream.finish()?;
        Ok(())
    }

    /// The span stream over text that stages cut and do not change.
    fn cut_original<S: Sink>(
        &self,
        text: &str,
        range: Range<usize>,
        word: &mut u32,
        worker: &mut Worker,
        sink: &mut S,
    ) -> Result<()> {
        let start = range.start;
        let cut = self.cut(Normalized::new(&text[range], 0, false), self.plan)?;
        let words = Words { encoder: &self.encoder, clean_up: CleanUp::None };
        let mut stream = Stream::new(words, text, worker, sink, *word, 1);
        let bounds = |bound: fn(&Range<usize>) -> usize| cut.spans.iter().map(move |span| bound(span) as u32);
        let (starts, ends): (Vec<u32>, Vec<u32>) =
            (bounds(|span| span.start).collect(), bounds(|span| span.end).collect());
        stream.take(start, &starts, &ends);
        *word = stream.finish()?;
        Ok(())
    }

    /// SubChunks normalized text into pre-tokens of this pipeline's unit, or of text where `plan` is not its own.
    pub(super) fn cut<'a>(&self, text: Normalized<'a>, plan: Plan) -> Result<PreTokenized<'a>> {
        let mut cut = PreTokenized::new(text);
        match (plan, &self.pre_tokenizer) {
            (Plan::Scan(splitter), _) => cut.cut(|piece, out| {
                splitter.for_each_span(piece, |start, end| out.push(start..end));
            }),
            (Plan::SubChunks, Some(pre_tokenizer)) => pre_tokenizer.cut_unmapped(&mut cut)?,
            (_, Some(pre_tokenizer)) => pre_tokenizer.pre_tokenize(&mut cut)?,
            (_, None) => {}
        }
        Ok(cut)
    }

    /// The normalizer that changes pre-tokens one by one.
    pub(super) fn clean_up(&self) -> Option<Bert> {
        match (self.plan, &self.normalizer) {
            (Plan::Words(_), Some(Normalizer::Bert(bert))) => Some(*bert),
            _ => None,
        }
    }

    /// What pre-tokens are made of in training: text where an added token is not spelled by its bytes.
    ///
    /// The trainer learns such a token as it stands in the text, not by its byte characters: Hugging Face does so.
    pub fn training_key_form(&self) -> KeyForm {
        self.training_key_form
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_have_2_gib_less_one_byte() {
        assert!(check_length((1 << 31) - 1).is_ok());
        let error = check_length(1 << 31).expect_err("one byte too many");
        assert!(matches!(error, Error::TextTooLong { bytes: 0x8000_0000, limit: 0x7fff_ffff }));
    }
}
