//! Training of superwords: two phases, whose words are counted together.
//!
//! The first phase is the training of a tokenizer with fewer tokens. For the second, text is cut by a weaker pattern, whose pre-tokens
//! are counted like the words of the first. Their merges follow the merges of the first phase ([`BpeTrainer::extend`]).

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashTable;

use crate::byte_level::char_to_byte_of;
use crate::cache::KeyForm;
use crate::cache::key::{SHORT, hash_key, hash_long, key};
use crate::counting::WordCounter;
use crate::models::bpe::{Bpe, BpeOptions, Scratch};
use crate::models::{Model, Tokens};
use crate::pipeline::{DEFAULT_CACHE_LIMIT, Pipeline};
use crate::pre_tokenizers::{Behavior, ByteLevel, Cuts, PreTokenizer, Split};
use crate::scan::Splitter;
use crate::structures::finder::TextPattern;
use crate::structures::parallel::{METER_EVERY, OnProgress, run_parts};
use crate::structures::regex::Pattern;
use crate::trainers::bpe::{BpeTrainer, SuperwordAlgorithm, Superwords, char_of, too_large};
use crate::trainers::word_counts::{WordCounts, WordSource};
use crate::trainers::{Trainer, Words};
use crate::{Error, Result};

use super::{Components, CountedPipelines};

/// The cuts of both phases.
#[derive(Debug)]
pub struct SuperwordStages {
    pub(super) options: Superwords,
    /// Cuts text as in the first phase, but leaves its characters.
    strong: Cuts,
    /// Cuts text as in the second phase, but leaves its characters.
    weak: PreTokenizer,
    /// The pre-tokenizer of the trained tokenizer.
    pre_tokenizer: PreTokenizer,
    /// True if the model sees the byte-level alphabet.
    pub(super) is_mapped: bool,
}

impl SuperwordStages {
    /// The cuts for a tokenizer with `pre_tokenizer`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a pre-tokenizer that does not cut at one pattern; [`Error::Regex`] for a pattern that does not compile;
    /// [`Error::InvalidOption`] for options that do not go together.
    pub fn new(
        trainer: &BpeTrainer,
        options: &Superwords,
        pre_tokenizer: Option<&PreTokenizer>,
    ) -> Result<Self> {
        check_trainer(trainer)?;
        options.check(trainer.vocab_size)?;
        let mut stages = Vec::new();
        if let Some(pre_tokenizer) = pre_tokenizer {
            flatten(pre_tokenizer, &mut stages);
        }
        let (mut strong, mut weak, mut is_mapped, mut patterns) = (Vec::new(), Vec::new(), false, 0);
        for stage in &stages {
            let pattern = match stage {
                _ if is_mapped => return Err(unsupported()),
                PreTokenizer::Digits { .. } => None,
                PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, use_regex, .. }) => {
                    is_mapped = true;
                    if !use_regex {
                        continue;
                    }
                    Some(Splitter::GPT2)
                }
                PreTokenizer::Split(split) if split.behavior() == Behavior::Isolated && !split.invert() => {
                    match split.pattern() {
                        TextPattern::Regex(pattern) => Some(pattern.as_str()),
                        TextPattern::Literal(_) => return Err(unsupported()),
                    }
                }
                _ => return Err(unsupported()),
            };
            let Some(pattern) = pattern else {
                strong.push((*stage).clone());
                weak.push((*stage).clone());
                continue;
            };
            patterns += 1;
            strong.push(isolated(pattern)?);
            weak.push(match &options.pattern {
                Some(pattern) => isolated(pattern)?,
                None => isolated(&format!("(?:{})+|{pattern}", options.joins))?,
            });
        }
        if patterns != 1 {
            return Err(unsupported());
        }
        let mut all = weak.clone();
        if is_mapped {
            all.push(PreTokenizer::ByteLevel(ByteLevel {
                add_prefix_space: false,
                use_regex: false,
                ..ByteLevel::default()
            }));
        }
        Ok(Self {
            options: options.clone(),
            strong: Cuts::new(&PreTokenizer::Sequence(strong)).ok_or_else(unsupported)?,
            weak: PreTokenizer::Sequence(weak),
            pre_tokenizer: if all.len() == 1 { all.remove(0) } else { PreTokenizer::Sequence(all) },
            is_mapped,
        })
    }

    /// The pre-tokenizer of the trained tokenizer.
    pub fn pre_tokenizer(&self) -> &PreTokenizer {
        &self.pre_tokenizer
    }

    /// The pre-tokenizer that cuts texts into phrases, and leaves their characters.
    pub fn phrase_pre_tokenizer(&self) -> &PreTokenizer {
        &self.weak
    }

    /// The pipelines that count words and phrases, for a tokenizer of `parts` with the pipeline `words`.
    ///
    /// # Errors
    /// The errors of [`Pipeline::new`].
    pub fn pipelines(&self, parts: &Components, words: &Arc<Pipeline>) -> Result<CountedPipelines> {
        let (normalizer, model) = (parts.normalizer.clone(), Arc::clone(&parts.model));
        let (added, weak) = (Arc::clone(&parts.added), Some(self.weak.clone()));
        let phrases = Pipeline::new(normalizer, weak, model, added, false, DEFAULT_CACHE_LIMIT)?;
        Ok(CountedPipelines { words: Arc::clone(words), phrases: Some(Arc::new(phrases)) })
    }

    /// The form of phrases that training takes: `SuperBPE` segments them as the model sees them, while `BoundlessBPE` cuts them again.
    pub fn phrase_form(&self) -> KeyForm {
        match self.options.algorithm {
            SuperwordAlgorithm::SuperBpe if self.is_mapped => KeyForm::Bytes,
            SuperwordAlgorithm::SuperBpe | SuperwordAlgorithm::Boundless => KeyForm::Text,
        }
    }

    /// Learns a model from words and phrases; options that the trainer does not set are taken from `model`.
    ///
    /// # Errors
    /// The errors of [`Trainer::train`] and [`BpeTrainer::extend`].
    pub fn train(
        &self,
        trainer: &BpeTrainer,
        [words, phrases]: [WordCounts; 2],
        model: &Model,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Model> {
        let [first, second] = self.phases(trainer, threads);
        let base = bpe(Trainer::Bpe(first).train(Words::Table(words), model, threads, on_progress)?)?;
        let extension = match self.options.algorithm {
            SuperwordAlgorithm::SuperBpe => second.extend(&base, 0, phrases, on_progress)?,
            SuperwordAlgorithm::Boundless => {
                let counters =
                    self.count_runs(&base, &phrases, threads, &WordCounter::default, on_progress)?;
                drop(phrases);
                let runs = WordCounter::join(counters, KeyForm::Text, threads, on_progress)?;
                second.extend_by_tokens(&base, runs, on_progress)?
            }
        };
        extension.into_model(&base).map(Model::Bpe)
    }

    /// The trainers of both phases.
    pub(super) fn phases(&self, trainer: &BpeTrainer, threads: usize) -> [BpeTrainer; 2] {
        let Superwords { initial_vocab_size, max_words, .. } = self.options;
        let trainer = BpeTrainer { superwords: None, threads, ..trainer.clone() };
        [
            BpeTrainer { vocab_size: initial_vocab_size, ..trainer.clone() },
            BpeTrainer { max_words, ..trainer },
        ]
    }

    /// Counts the runs of two or more neighbouring pre-tokens that may be joined and are single tokens; each is a token word. Each thread
    /// has a counter that `new_counter` makes.
    pub(super) fn count_runs(
        &self,
        base: &Bpe,
        words: &dyn WordSource,
        threads: usize,
        new_counter: &(dyn Fn() -> WordCounter + Sync),
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<WordCounter>> {
        let joins = Pattern::new(&format!(r"\A(?:{})\z", self.options.joins))?;
        let joined = JoinedTokens::new(base, &joins, self.is_mapped)?;
        let parts = words.parts(threads).into_iter().zip(0_u64..).collect();
        let total = words.byte_len() as u64;
        let counted = run_parts("count superwords", total, parts, on_progress, |(part, number), meter| {
            let (mut counter, mut bytes, mut buffer) = (new_counter(), 0, String::new());
            // Parts are in the order of the words, and a part has fewer runs than 2^44.
            let mut position = number << 44;
            words.read(part, &mut |word, count| {
                self.for_each_run(word, &joined, &mut buffer, |run| {
                    counter.add_counted(run.as_bytes(), count, position);
                    position += 1;
                })?;
                counter.check()?;
                bytes += word.len();
                Ok(bytes < METER_EVERY || meter.add(std::mem::take(&mut bytes)))
            })?;
            Ok(counter)
        })?;
        counted.into_iter().collect()
    }

    /// Calls `each` with each run of a phrase. `run` is a buffer.
    fn for_each_run(
        &self,
        phrase: &str,
        joined: &JoinedTokens,
        run: &mut String,
        mut each: impl FnMut(&str),
    ) -> Result<()> {
        run.clear();
        let mut len = 0;
        let mut end_run = |run: &mut String, len: &mut usize| {
            if *len > 1 {
                each(run);
            }
            run.clear();
            *len = 0;
        };
        self.strong.for_each_span(phrase, |pre_token| match joined.of(phrase.as_bytes(), pre_token) {
            Some(token) => {
                run.push(token);
                len += 1;
            }
            None => end_run(run, &mut len),
        })?;
        end_run(run, &mut len);
        Ok(())
    }
}

/// The characters of the tokens that are the only token of their text, which is a pre-token that may be joined.
#[derive(Default)]
struct JoinedTokens {
    /// By the key of the text.
    short: HashTable<(u128, char)>,
    long: HashTable<(Box<[u8]>, char)>,
}

impl JoinedTokens {
    fn new(base: &Bpe, joins: &Pattern, is_mapped: bool) -> Result<Self> {
        let mut model = base.clone();
        model.set_options(BpeOptions { dropout: None, alpha: None, ..base.options().clone() })?;
        let (mut scratch, mut tokens) = (Scratch::default(), Tokens::default());
        let mut joined = Self::default();
        for (token, id) in base.vocab().iter() {
            let bytes: Option<Vec<u8>> = if is_mapped {
                token.chars().map(char_to_byte_of).collect()
            } else {
                Some(token.as_bytes().to_vec())
            };
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
            tokens.clear();
            model.encode_word(token, &mut scratch, &mut tokens)?;
            if tokens.ids == [id] && !joins.find_iter(&text)?.is_empty() {
                joined.insert(text.as_bytes(), char_of(id).ok_or_else(|| too_large(id))?);
            }
        }
        Ok(joined)
    }

    fn insert(&mut self, text: &[u8], token: char) {
        if text.len() <= SHORT {
            let key = key(text, 0, text.len());
            self.short.insert_unique(hash_key(key), (key, token), |&(key, _)| hash_key(key));
        } else {
            let text: Box<[u8]> = text.into();
            self.long.insert_unique(hash_long(&text), (text, token), |(text, _)| hash_long(text));
        }
    }

    /// The character of a pre-token; none if it has several tokens or may not be joined.
    #[inline]
    fn of(&self, text: &[u8], pre_token: Range<usize>) -> Option<char> {
        if pre_token.len() <= SHORT {
            let key = key(text, pre_token.start, pre_token.end);
            return self.short.find(hash_key(key), |&(known, _)| known == key).map(|&(_, token)| token);
        }
        let pre_token = &text[pre_token];
        self.long.find(hash_long(pre_token), |(known, _)| **known == *pre_token).map(|&(_, token)| token)
    }
}

/// The model of the first phase.
pub(super) fn bpe(model: Model) -> Result<Bpe> {
    match model {
        Model::Bpe(model) => Ok(model),
        other => {
            Err(Error::Unsupported(format!("superwords need a BPE model, the model is {}", other.kind())))
        }
    }
}

fn flatten<'a>(stage: &'a PreTokenizer, stages: &mut Vec<&'a PreTokenizer>) {
    match stage {
        PreTokenizer::Sequence(inner) => inner.iter().for_each(|stage| flatten(stage, stages)),
        _ => stages.push(stage),
    }
}

/// Refuses options that superwords cannot have.
fn check_trainer(trainer: &BpeTrainer) -> Result<()> {
    let is_given = |affix: &Option<String>| affix.as_deref().is_some_and(|affix| !affix.is_empty());
    let refused = [
        ("continuing_subword_prefix", is_given(&trainer.continuing_subword_prefix)),
        ("end_of_word_suffix", is_given(&trainer.end_of_word_suffix)),
        ("auto_character_coverage", trainer.auto_character_coverage),
    ];
    match refused.into_iter().find(|&(_, is_given)| is_given) {
        Some((name, _)) => {
            Err(Error::Unsupported(format!("superwords cannot be trained with {name}; leave it out")))
        }
        None => Ok(()),
    }
}

fn isolated(pattern: &str) -> Result<PreTokenizer> {
    let pattern = TextPattern::Regex(pattern.to_owned());
    Ok(PreTokenizer::Split(Arc::new(Split::new(pattern, Behavior::Isolated, false)?)))
}

fn unsupported() -> Error {
    let message = "superwords need a pre-tokenizer that cuts at one regular expression: a Split with the behavior isolated, or a \
                   ByteLevel with use_regex; alone or in a Sequence with Digits before it and a ByteLevel after it; a ByteLevel must \
                   have add_prefix_space=False";
    Error::Unsupported(message.to_owned())
}
