//! Post-processors: add special tokens, trim offsets, and set type ids and sequences.

pub mod bert;
pub mod roberta;
pub mod template;

pub use bert::Bert;
pub use roberta::Roberta;
pub use template::{Template, TemplatePiece, TemplateSequence, TemplateToken};

use crate::Result;
use crate::encoding::{Encoding, Symbol};

/// A post-processor; the names are Hugging Face's.
#[derive(Clone, Debug)]
pub enum PostProcessor {
    /// Trims spaces from offsets.
    ByteLevel {
        /// The pre-tokenizer added the space of the first token, so it stays in the token's offsets.
        add_prefix_space: bool,
        /// False turns the trimming off.
        trim_offsets: bool,
        /// Has no effect; kept because files have it.
        use_regex: bool,
    },
    /// Arranges sequences and special tokens by a template.
    Template(Template),
    /// BERT's `[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`.
    Bert(Bert),
    /// RoBERTa's `<s> A </s>` and `<s> A </s></s> B </s>`.
    Roberta(Roberta),
    /// Several post-processors, each on the output of the one before.
    Sequence(Vec<PostProcessor>),
}

impl PostProcessor {
    /// Number of special tokens that a text or a pair gets.
    pub fn added_tokens(&self, is_pair: bool) -> usize {
        match self {
            Self::ByteLevel { .. } => 0,
            Self::Template(template) => template.added_tokens(is_pair),
            Self::Bert(_) => 2 + usize::from(is_pair),
            Self::Roberta(_) => {
                if is_pair {
                    4
                } else {
                    2
                }
            }
            Self::Sequence(stages) => stages.iter().map(|stage| stage.added_tokens(is_pair)).sum(),
        }
    }

    /// All ids that this post-processor may insert.
    pub fn special_ids(&self) -> Vec<u32> {
        match self {
            Self::ByteLevel { .. } => Vec::new(),
            Self::Template(template) => template
                .tokens()
                .iter()
                .flat_map(|token| token.symbols.iter().map(|symbol| symbol.id))
                .collect(),
            Self::Bert(bert) => vec![bert.sep.id, bert.cls.id],
            Self::Roberta(roberta) => vec![roberta.sep.id, roberta.cls.id],
            Self::Sequence(stages) => stages.iter().flat_map(Self::special_ids).collect(),
        }
    }

    /// All tokens that this post-processor may insert, to be changed.
    pub fn symbols_mut(&mut self) -> Vec<&mut Symbol> {
        match self {
            Self::ByteLevel { .. } => Vec::new(),
            Self::Template(template) => template.symbols_mut().collect(),
            Self::Bert(bert) => vec![&mut bert.sep, &mut bert.cls],
            Self::Roberta(roberta) => vec![&mut roberta.sep, &mut roberta.cls],
            Self::Sequence(stages) => stages.iter_mut().flat_map(Self::symbols_mut).collect(),
        }
    }

    /// Processes the encoding of a text, or the two of a pair, into one.
    ///
    /// # Errors
    /// The errors of the stages.
    pub fn process(
        this: Option<&Self>,
        encoding: Encoding,
        pair: Option<Encoding>,
        add_special_tokens: bool,
    ) -> Result<Encoding> {
        let pair_given = pair.is_some();
        let mut encodings: Vec<Encoding> = std::iter::once(encoding).chain(pair).collect();
        // Without a post-processor, Hugging Face sets no sequence for a single text, nor for overflowing encodings.
        for (index, encoding) in encodings.iter_mut().enumerate() {
            if this.is_some() || pair_given {
                encoding.set_sequence(index);
            }
            if this.is_some() {
                encoding.set_type_id(index as u32);
                encoding.overflowing.iter_mut().for_each(|part| part.set_sequence(index));
            }
        }
        if let Some(processor) = this {
            encodings = processor.process_all(encodings, add_special_tokens)?;
        }
        if encodings.len() == 1
            && let Some(only) = encodings.pop()
        {
            return Ok(only);
        }
        Encoding::merge(encodings, false)
    }

    fn process_all(&self, mut encodings: Vec<Encoding>, add_special_tokens: bool) -> Result<Vec<Encoding>> {
        match self {
            Self::ByteLevel { add_prefix_space, trim_offsets, .. } => {
                if *trim_offsets {
                    for encoding in &mut encodings {
                        trim_all(encoding, *add_prefix_space);
                    }
                }
                // After a template this numbers the pieces of the template, including special tokens, as in Hugging
                // Face.
                encodings.iter_mut().enumerate().for_each(|(index, encoding)| encoding.set_sequence(index));
                Ok(encodings)
            }
            Self::Template(template) => template.apply(encodings, add_special_tokens),
            Self::Bert(bert) => bert.apply(encodings, add_special_tokens),
            Self::Roberta(roberta) => roberta.apply(encodings, add_special_tokens),
            Self::Sequence(stages) => stages
                .iter()
                .try_fold(encodings, |encodings, stage| stage.process_all(encodings, add_special_tokens)),
        }
    }
}

fn trim_all(encoding: &mut Encoding, add_prefix_space: bool) {
    encoding.trim_offsets(add_prefix_space);
    encoding.overflowing.iter_mut().for_each(|part| part.trim_offsets(add_prefix_space));
}
