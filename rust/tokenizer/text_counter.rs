//! Counts the words of texts, on one thread.
//!
//! Chunks are counted in a table of their own. When the table is full, and at the end, each distinct chunk is made words, and the words get
//! the count of the chunk.

use std::ops::Range;
use std::sync::Arc;

use crate::Result;
use crate::counting::{Spill, WordCounter};
use crate::normalizers::PieceMemo;
use crate::pipeline::{Counted, TrainingWords};

/// Bytes of chunks that are counted before they are made words.
const CHUNK_BYTES: usize = 4 << 20;

/// Bytes of the longest chunk that is counted. A longer one seldom comes again, so it is made words at once.
const LONGEST_CHUNK: usize = 256;

/// Chunks are counted if each comes this often in a full table, on average. Phrases of superwords do not.
const RARE: usize = 2;

/// A counter of words with its counter of chunks.
#[derive(Debug)]
pub(super) struct TextCounter {
    words: WordCounter,
    chunks: WordCounter,
    /// Bytes of chunks at which they are made words.
    most: usize,
    /// Chunks in the table, each as often as it came.
    seen: usize,
    /// True if chunks are made words at once, as counting them does not pay.
    are_rare: bool,
    memo: PieceMemo,
}

impl TextCounter {
    /// An empty counter. `spill` takes the words when the tables would exceed its number of bytes.
    pub(super) fn new(spill: Option<(Arc<dyn Spill>, usize)>, has_chunks: bool) -> Self {
        let (words, most) = match spill {
            None => (WordCounter::default(), CHUNK_BYTES),
            Some((spill, share)) => {
                // Chunks get a quarter of the share. A growing table takes up to four times its entries, so a sixteenth may be filled.
                let share_of_words = if has_chunks { share / 4 * 3 } else { share };
                (WordCounter::bounded(spill, share_of_words), (share / 16).min(CHUNK_BYTES))
            }
        };
        let (chunks, memo) = (WordCounter::default(), PieceMemo::default());
        Self { words, chunks, most, seen: 0, are_rare: false, memo }
    }

    /// Counts a text. Its words get ascending positions from `position` on: a word takes one, a chunk as many as its bytes.
    ///
    /// # Errors
    /// The errors of the stages, and of writing.
    pub(super) fn add(&mut self, training: &TrainingWords<'_>, text: &str, position: u64) -> Result<()> {
        let (mut next, mut result) = (position, Ok(()));
        let mut memo = std::mem::take(&mut self.memo);
        let walked =
            training.for_each(text, &mut memo, |counted, text, Range { start, end }| match counted {
                Counted::Word => {
                    self.words.add(text, start, end, next);
                    next += 1;
                }
                Counted::Chunk => {
                    if end - start <= LONGEST_CHUNK && !self.are_rare {
                        self.chunks.add(text, start, end, next);
                        self.seen += 1;
                    } else if result.is_ok() {
                        result = add_words(training, &mut self.words, &text[start..end], 1, next);
                    }
                    if self.chunks.bytes() > self.most && result.is_ok() {
                        result = self.make_words(training);
                    }
                    next += (end - start) as u64;
                }
            });
        self.memo = memo;
        walked?;
        result.and_then(|()| self.words.check())
    }

    /// Makes words of all chunks.
    fn make_words(&mut self, training: &TrainingWords<'_>) -> Result<()> {
        let mut result = Ok(());
        self.are_rare = self.seen < RARE * self.chunks.distinct();
        self.seen = 0;
        self.chunks.drain(|chunk, count, first| {
            if result.is_ok() {
                result = add_words(training, &mut self.words, chunk, count, first);
            }
        });
        result
    }

    /// The counted words.
    ///
    /// # Errors
    /// The errors of the stages.
    pub(super) fn into_words(mut self, training: &TrainingWords<'_>) -> Result<WordCounter> {
        self.make_words(training)?;
        Ok(self.words)
    }
}

/// Adds the words of a chunk, first seen at `position`, to a counter.
fn add_words(
    training: &TrainingWords<'_>,
    words: &mut WordCounter,
    chunk: &[u8],
    count: u64,
    position: u64,
) -> Result<()> {
    let mut next = position;
    training.words_of(&String::from_utf8_lossy(chunk), |word| {
        words.add_counted(word, count, next);
        next += 1;
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::added_tokens::{AddedToken, AddedTokens};
    use crate::cache::KeyForm;
    use crate::models::Model;
    use crate::models::wordlevel::WordLevel;
    use crate::normalizers::{Bert, Form, Normalizer};
    use crate::pipeline::Pipeline;
    use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};
    use crate::structures::finder::TextPattern;
    use crate::testing::{bert_text, cases};
    use crate::vocab::Vocab;

    fn any_cut() -> impl Strategy<Value = PreTokenizer> {
        let split = |pattern: &str, behavior| {
            let pattern = TextPattern::Regex(pattern.to_owned());
            PreTokenizer::Split(Arc::new(Split::new(pattern, behavior, false).expect("valid")))
        };
        prop::sample::select(vec![
            split(r"'(?:[sdmt]|ll)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s+(?!\S)|\s", Behavior::Isolated),
            split(r"\s?\p{L}+", Behavior::Removed),
            split("[日本]+", Behavior::Isolated),
            split(" ", Behavior::MergedWithNext),
            PreTokenizer::Digits { individual_digits: true },
            PreTokenizer::Punctuation { behavior: Behavior::Contiguous },
            PreTokenizer::Bert,
        ])
    }

    fn any_pre_tokenizer() -> impl Strategy<Value = PreTokenizer> {
        let byte_level = |use_regex| PreTokenizer::ByteLevel(ByteLevel { use_regex, ..ByteLevel::default() });
        (prop::collection::vec(any_cut(), 1..3), prop::option::of(any::<bool>()), any::<bool>()).prop_map(
            move |(mut stages, bytes, is_last)| {
                if let Some(use_regex) = bytes {
                    stages.insert(if is_last { stages.len() } else { 0 }, byte_level(use_regex));
                }
                PreTokenizer::Sequence(stages)
            },
        )
    }

    fn pipeline(normalizer: Option<Normalizer>, pre_tokenizer: PreTokenizer, added: u8) -> Pipeline {
        let vocab = Arc::new(Vocab::from_tokens(["[UNK]"]));
        let mut tokens = AddedTokens::default();
        if added > 0 {
            let normalized = added > 1;
            tokens.add(&[AddedToken { normalized, ..AddedToken::new("ab", true) }], &vocab);
        }
        let model = Arc::new(Model::WordLevel(WordLevel::new(vocab, "[UNK]".to_owned())));
        Pipeline::new(normalizer, Some(pre_tokenizer), model, Arc::new(tokens), false, 1 << 20)
            .expect("valid")
    }

    /// The words of all texts in the order of appearance, by their stages alone.
    fn naive(pipeline: &Pipeline, texts: &[String]) -> Vec<(Vec<u8>, u64)> {
        let (mut counts, mut places) = (Vec::<(Vec<u8>, u64)>::new(), HashMap::new());
        for text in texts {
            let each = |_, text: &[u8], word| {
                let word: &[u8] = &text[word];
                let place = *places.entry(word.to_owned()).or_insert_with(|| {
                    counts.push((word.to_owned(), 0));
                    counts.len() - 1
                });
                counts[place].1 += 1;
            };
            pipeline
                .training_words()
                .by_stages()
                .for_each(text, &mut PieceMemo::default(), each)
                .expect("no pattern to give up");
        }
        counts
    }

    fn counted(pipeline: &Pipeline, texts: &[String], most: usize) -> Vec<(Vec<u8>, u64)> {
        let training = pipeline.training_words();
        let mut counter = TextCounter { most, ..TextCounter::new(None, training.have_chunks()) };
        for (text, number) in texts.iter().zip(0..) {
            counter.add(&training, text, number << 20).expect("no pattern to give up");
        }
        let words = counter.into_words(&training).expect("no pattern to give up");
        let counts =
            WordCounter::join(vec![words], KeyForm::Text, 1, &mut |_| Ok(())).expect("nothing stops it");
        counts.iter().map(|(word, count)| (word.as_bytes().to_owned(), count)).collect()
    }

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn counted_chunks_matches_naive(
            pre_tokenizer in any_pre_tokenizer(),
            (lowercase, added) in (any::<bool>(), 0..3u8),
            texts in prop::collection::vec("( ?[abc]{1,6}[.,]?){0,12}|[abcAé日本,.' \n\t1]{0,40}|( ?[日本]{1,20}|a{14,40}|['’][sa]|\n|  |12345|\u{301}){0,60}", 1..4),
            most in prop_oneof![Just(CHUNK_BYTES), 0..200usize],
        ) {
            let normalizer = lowercase.then_some(Normalizer::Lowercase);
            let pipeline = pipeline(normalizer, pre_tokenizer, added);
            prop_assert_eq!(counted(&pipeline, &texts, most), naive(&pipeline, &texts));
        }

        #[test]
        fn normalized_chunks_matches_naive(
            texts in prop::collection::vec(bert_text(), 1..4),
            (lowercase, is_nfc) in any::<(bool, bool)>(),
            added in 0..3u8,
            most in prop_oneof![Just(CHUNK_BYTES), 0..200usize],
        ) {
            let bert = Normalizer::Bert(Bert { lowercase, ..Bert::default() });
            let normalizer = if is_nfc { Normalizer::Sequence(vec![Normalizer::Unicode(Form::Nfc), bert]) } else { bert };
            let pipeline = pipeline(Some(normalizer), PreTokenizer::Bert, added);
            prop_assert_eq!(counted(&pipeline, &texts, most), naive(&pipeline, &texts));
        }
    }
}
