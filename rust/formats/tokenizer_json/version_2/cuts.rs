//! The pre-tokenizers of version 2.0. They only cut; `byte_level` of the model stands for `ByteLevel`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::losses::unsupported;
use crate::Result;
use crate::byte_level::BYTE_TO_CHAR;
use crate::formats::components::{Component, split};
use crate::formats::fields::Field;
use crate::models::Model;
use crate::models::bpe::Bpe;
use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};
use crate::scan::Splitter;
use crate::structures::finder::TextPattern;

/// The stages of a pre-tokenizer. A sequence of one stage stays a sequence.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    pub(super) stages: Vec<PreTokenizer>,
    pub(super) is_sequence: bool,
}

impl Cuts {
    /// Reads the `pre_tokenizer` of a file.
    pub(super) fn read(field: &Field<'_>) -> Result<Self> {
        if field.require("type")?.str()? != "Sequence" {
            return Ok(Self { stages: vec![read_stage(field)?], is_sequence: false });
        }
        let stages = field.require("pretokenizers")?.items()?;
        Ok(Self { stages: stages.iter().map(read_stage).collect::<Result<_>>()?, is_sequence: true })
    }

    /// The stages of a pre-tokenizer, with the stages of inner sequences in the places of these sequences.
    pub(super) fn of(pre_tokenizer: Option<&PreTokenizer>) -> Self {
        let stages = pre_tokenizer.cloned().map(PreTokenizer::into_stages).unwrap_or_default();
        Self { stages, is_sequence: matches!(pre_tokenizer, Some(PreTokenizer::Sequence(_))) }
    }

    pub(super) fn pre_tokenizer(mut self) -> Option<PreTokenizer> {
        if self.stages.len() > 1 || self.is_sequence {
            return Some(PreTokenizer::Sequence(self.stages));
        }
        self.stages.pop()
    }

    /// Puts `ByteLevel` after the cuts, in the place of a last cut at GPT-2's pattern.
    pub(super) fn add_byte_level(&mut self) {
        let use_regex = self.stages.pop_if(|stage| is_gpt2_split(stage)).is_some();
        let last = ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex };
        self.stages.push(PreTokenizer::ByteLevel(last));
    }

    /// Removes `ByteLevel`, and puts a cut at GPT-2's pattern in the place of its `use_regex`; true if it was there.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) if `ByteLevel` is not last or adds a space, or if the model is not BPE with a
    /// token for each byte of UTF-8.
    pub(super) fn take_byte_level(&mut self, model: &Model) -> Result<bool> {
        let found = self.stages.iter().enumerate().find_map(|(place, stage)| match stage {
            PreTokenizer::ByteLevel(options) => Some((place, *options)),
            _ => None,
        });
        let Some((place, ByteLevel { add_prefix_space, use_regex, .. })) = found else { return Ok(false) };
        if place + 1 < self.stages.len() {
            return Err(unsupported("a pre-tokenizer after `ByteLevel`"));
        }
        if add_prefix_space {
            return Err(unsupported("`add_prefix_space` of the pre-tokenizer `ByteLevel`"));
        }
        let Model::Bpe(bpe) = model else {
            return Err(unsupported("the pre-tokenizer `ByteLevel` before another model than BPE"));
        };
        if let Some(byte) = missing_byte(bpe) {
            return Err(unsupported(format_args!(
                "a byte-level model without a token for byte 0x{byte:02X}"
            )));
        }
        self.stages.pop();
        if use_regex {
            self.stages.push(gpt2_split()?);
        }
        self.is_sequence &= !self.stages.is_empty();
        Ok(true)
    }

    pub(super) fn to_json(&self) -> Result<Option<Value>> {
        if self.stages.iter().any(|stage| matches!(stage, PreTokenizer::Metaspace(_))) {
            return Err(unsupported(
                "the pre-tokenizer `Metaspace` after another than a first `WhitespaceSplit`",
            ));
        }
        let mut objects = self.stages.iter().map(Component::to_json).collect::<Result<Vec<Value>>>()?;
        if self.is_sequence || objects.len() > 1 {
            return Ok(Some(json!({"type": "Sequence", "pretokenizers": objects})));
        }
        Ok(objects.pop())
    }
}

fn read_stage(field: &Field<'_>) -> Result<PreTokenizer> {
    match field.require("type")?.str()? {
        "Split" => split(field, Some(Behavior::Isolated)),
        "ByteLevel" => {
            Err(field.error("version 2.0 has no pre-tokenizer `ByteLevel`: set `byte_level` of the model"))
        }
        "Metaspace" => Err(field
            .error("version 2.0 has no pre-tokenizer `Metaspace`: use `MetaspaceNormalizer` and `Split`")),
        "Sequence" => Err(field.error("a `Sequence` within a `Sequence`: put its stages in its place")),
        _ => PreTokenizer::from_json(&field.path, field.value),
    }
}

fn gpt2_split() -> Result<PreTokenizer> {
    let pattern = TextPattern::Regex(Splitter::GPT2.to_owned());
    Ok(PreTokenizer::Split(Arc::new(Split::new(pattern, Behavior::Isolated, false)?)))
}

fn is_gpt2_split(stage: &PreTokenizer) -> bool {
    let PreTokenizer::Split(split) = stage else { return false };
    let is_pattern = matches!(split.pattern(), TextPattern::Regex(pattern) if pattern == Splitter::GPT2);
    is_pattern && split.behavior() == Behavior::Isolated && !split.invert()
}

/// The first byte of UTF-8 without a token. With a prefix or a suffix, a byte needs a token for each place in a word.
pub(super) fn missing_byte(bpe: &Bpe) -> Option<u8> {
    let is_in_utf8 = |byte: &u8| !matches!(byte, 0xC0 | 0xC1 | 0xF5..);
    let [prefix, suffix] = bpe.options().affixes();
    let has_tokens = |byte: u8| {
        let own = BYTE_TO_CHAR[usize::from(byte)];
        let places = [("", ""), (prefix, ""), ("", suffix), (prefix, suffix)];
        places.iter().all(|(before, after)| bpe.vocab().id(&format!("{before}{own}{after}")).is_some())
    };
    (0..=u8::MAX).filter(is_in_utf8).find(|&byte| !has_tokens(byte))
}
