//! Trainers as Python shows them: as Hugging Face does, which shows its own structures.

use std::sync::atomic::Ordering;

use serde_json::{Map, Value, json};

use super::super::shown::{Extent, called};
use super::{Training, to_json};
use crate::bindings::progress::ProgressFormat;
use crate::trainers::Trainer;
use crate::trainers::bpe::BpeTrainer;
use crate::trainers::unigram::UnigramTrainer;
use crate::trainers::wordlevel::WordLevelTrainer;
use crate::trainers::wordpiece::WordPieceTrainer;

/// Options that Hugging Face shows of trainers that merge pairs, in its order.
const MERGING: &[&str] = &[
    "min_frequency",
    "vocab_size",
    "show_progress",
    "progress_format",
    "special_tokens",
    "limit_alphabet",
    "initial_alphabet",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "max_token_length",
];

/// Options that Hugging Face shows of Unigram trainers, in its order.
const UNIGRAM: &[&str] = &[
    "show_progress",
    "vocab_size",
    "n_sub_iterations",
    "shrinking_factor",
    "special_tokens",
    "initial_alphabet",
    "unk_token",
    "max_piece_length",
    "seed_size",
];

/// Options that Hugging Face shows of word-level trainers, in its order.
const WORD_LEVEL: &[&str] = &["min_frequency", "vocab_size", "show_progress", "special_tokens"];

/// A trainer with Hugging Face's options, and each other option that is not at its default.
///
/// Counted words are not kept: `...` stands for them.
pub(super) fn shown(training: &Training, extent: Extent) -> String {
    let (name, options) = to_json(training);
    let (keys, default) = match &training.trainer {
        Trainer::Bpe(_) => (MERGING, Trainer::Bpe(BpeTrainer::default())),
        Trainer::WordPiece(_) => (MERGING, Trainer::WordPiece(WordPieceTrainer::default())),
        Trainer::Unigram(_) => (UNIGRAM, Trainer::Unigram(UnigramTrainer::default())),
        Trainer::WordLevel(_) => (WORD_LEVEL, Trainer::WordLevel(WordLevelTrainer::default())),
    };
    let progress_format = ProgressFormat::Terminal;
    let (_, defaults) = to_json(&Training { trainer: default, progress_format, ..training.clone() });
    let mut members: Map<String, Value> =
        keys.iter().map(|&key| (key.to_owned(), options.get(key).cloned().unwrap_or_default())).collect();
    if let Some(format) = members.get_mut("progress_format") {
        *format = json!(format_name(training.progress_format));
    }
    let words = training.words.load(Ordering::Relaxed);
    members.insert("words".to_owned(), json!(words > 0));
    let own = options.into_iter().filter(|(key, value)| defaults.get(key) != Some(value));
    members.extend(own.filter(|(key, _)| !keys.contains(&key.as_str())));
    match training.trainer {
        // There it is a trainer around another.
        Trainer::WordPiece(_) => {
            format!("{name}({name}(bpe_trainer={}))", called("BpeTrainer", &members, extent))
        }
        _ => format!("{name}({})", called(name, &members, extent)),
    }
}

/// A format as Hugging Face's structures spell it.
fn format_name(format: ProgressFormat) -> &'static str {
    match format {
        ProgressFormat::Terminal => "Indicatif",
        ProgressFormat::Json => "JsonLines",
        ProgressFormat::Silent => "Silent",
    }
}
