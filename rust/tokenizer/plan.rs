//! Which way text takes through the stages.

use super::spaced::Spaced;
use crate::added_tokens::Matchers;
use crate::engine::Unit;
use crate::models::Model;
use crate::normalizers::Normalizer;
use crate::pre_tokenizers::{ByteLevel, PreTokenizer};
use crate::scan::Splitter;

/// How pre-tokens are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// One scanner over the text itself.
    Scan(Splitter),
    /// One scanner over the text itself; the normalizer changes each pre-token by itself.
    Words(Splitter),
    /// One scanner over the text itself, in which spaces stand for U+2581.
    Spaced(Spaced),
    /// One scanner over the text itself; the stages see each part by itself.
    Apart(Splitter),
    /// The stages one by one, each on what the one before made.
    Stages,
}

/// The plan by which BERT's normalizer changes pre-tokens one by one, if that gives exactly what the stages give.
///
/// It does where no added token is looked for in the normalized text, and where a pre-token has no token only if nothing
/// is left of it.
pub(super) fn word_plan(
    normalizer: Option<&Normalizer>,
    pre_tokenizer: Option<&PreTokenizer>,
    model: &Model,
    matchers: &Matchers,
) -> Option<Plan> {
    let (Some(Normalizer::Bert(bert)), Some(PreTokenizer::Bert)) = (normalizer, pre_tokenizer) else {
        return None;
    };
    let is_known = bert.clean_text && bert.handle_chinese_chars && matchers.normalized.is_empty();
    let has_tokens = matches!(model, Model::WordPiece(_) | Model::WordLevel(_));
    (is_known && has_tokens).then(|| Plan::Words(Splitter::BertText { accents: bert.strips_accents() }))
}

/// Finds the fastest plan that gives exactly what the stages give.
pub(super) fn plan(pre_tokenizer: Option<&PreTokenizer>) -> (Plan, Unit) {
    let bytes_only = ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex: false };
    let is_byte_map = |stage: &ByteLevel| ByteLevel { trim_offsets: true, ..*stage } == bytes_only;
    match pre_tokenizer {
        Some(PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, use_regex: true, .. })) => {
            (Plan::Scan(Splitter::Gpt2), Unit::Bytes)
        }
        Some(PreTokenizer::Whitespace) => (Plan::Scan(Splitter::Whitespace), Unit::Text),
        Some(PreTokenizer::Bert) => (Plan::Scan(Splitter::Bert), Unit::Text),
        Some(PreTokenizer::WhitespaceSplit) => (Plan::Scan(Splitter::WhitespaceSplit), Unit::Text),
        Some(PreTokenizer::Split(split)) => match split.scanner() {
            Some(splitter) => (Plan::Scan(splitter), Unit::Text),
            None => (Plan::Stages, Unit::Text),
        },
        Some(PreTokenizer::Sequence(stages)) => match stages.as_slice() {
            [only] => plan(Some(only)),
            [PreTokenizer::Split(split), PreTokenizer::ByteLevel(stage)] if is_byte_map(stage) => {
                match split.scanner() {
                    Some(splitter) => (Plan::Scan(splitter), Unit::Bytes),
                    None => (Plan::Stages, Unit::Text),
                }
            }
            _ => (Plan::Stages, Unit::Text),
        },
        _ => (Plan::Stages, Unit::Text),
    }
}
