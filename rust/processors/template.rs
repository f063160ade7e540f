//! Special tokens and sequences arranged by a template.

use crate::encoding::{Encoding, Symbol};
use crate::{Error, Result};

/// Which input sequence a template piece stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateSequence {
    /// The text, or the first of a pair.
    A,
    /// The second of a pair.
    B,
}

/// One element of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    /// An input sequence.
    Sequence {
        /// Which one.
        id: TemplateSequence,
        /// Type id of its tokens.
        type_id: u32,
    },
    /// A special token, by its name in the template.
    Special {
        /// The name.
        id: String,
        /// Type id of its tokens.
        type_id: u32,
    },
}

/// A special token of a template: a name that stands for one or more tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateToken {
    /// Its name in the template.
    pub id: String,
    /// The tokens.
    pub symbols: Vec<Symbol>,
}

/// Templates for a text and for a pair, with the special tokens they name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    single: Vec<TemplatePiece>,
    pair: Vec<TemplatePiece>,
    /// Sorted by name.
    tokens: Vec<TemplateToken>,
}

impl Template {
    /// Checks the templates and builds the post-processor. If a token is named twice, its last meaning counts.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a template names an unknown special token, or if `pair` is there and lacks a sequence.
    pub fn new(
        single: Vec<TemplatePiece>,
        pair: Vec<TemplatePiece>,
        tokens: Vec<TemplateToken>,
    ) -> Result<Self> {
        let mut sorted: Vec<TemplateToken> = Vec::new();
        for token in tokens {
            match sorted.binary_search_by(|known| known.id.cmp(&token.id)) {
                Ok(found) => sorted[found] = token,
                Err(place) => sorted.insert(place, token),
            }
        }
        if !pair.is_empty() {
            Self::check_pair(&pair)?;
        }
        let template = Self { single, pair, tokens: sorted };
        template.check()?;
        Ok(template)
    }

    fn check(&self) -> Result<()> {
        let mut missing: Vec<&str> = Vec::new();
        for piece in self.single.iter().chain(&self.pair) {
            if let TemplatePiece::Special { id, .. } = piece
                && self.token(id).is_none()
                && !missing.contains(&id.as_str())
            {
                missing.push(id);
            }
        }
        if !missing.is_empty() {
            return Err(Error::Unsupported(format!(
                "Missing SpecialToken(s) with id(s) `{}`, which the template has and special_tokens has not",
                missing.join(", ")
            )));
        }
        Ok(())
    }

    /// Checks that a template for a pair has both sequences.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub fn check_pair(pair: &[TemplatePiece]) -> Result<()> {
        let has = |sequence| {
            pair.iter().any(|piece| matches!(piece, TemplatePiece::Sequence { id, .. } if *id == sequence))
        };
        if has(TemplateSequence::A) && has(TemplateSequence::B) {
            return Ok(());
        }
        Err(Error::Unsupported("Template for `pair` must use both sequences, $A and $B".to_owned()))
    }

    /// The template of a text.
    pub fn single(&self) -> &[TemplatePiece] {
        &self.single
    }

    /// The template of a pair.
    pub fn pair(&self) -> &[TemplatePiece] {
        &self.pair
    }

    /// The special tokens by name.
    pub fn tokens(&self) -> &[TemplateToken] {
        &self.tokens
    }

    pub(super) fn symbols_mut(&mut self) -> impl Iterator<Item = &mut Symbol> {
        self.tokens.iter_mut().flat_map(|token| &mut token.symbols)
    }

    /// The special token of this name.
    pub fn token(&self, id: &str) -> Option<&TemplateToken> {
        let found = self.tokens.binary_search_by(|token| token.id.as_str().cmp(id)).ok()?;
        Some(&self.tokens[found])
    }

    pub(super) fn added_tokens(&self, is_pair: bool) -> usize {
        let pieces = if is_pair { &self.pair } else { &self.single };
        let count = |piece: &TemplatePiece| match piece {
            TemplatePiece::Special { id, .. } => self.token(id).map_or(0, |token| token.symbols.len()),
            TemplatePiece::Sequence { .. } => 0,
        };
        pieces.iter().map(count).sum()
    }

    pub(super) fn apply(
        &self,
        mut encodings: Vec<Encoding>,
        add_special_tokens: bool,
    ) -> Result<Vec<Encoding>> {
        let pieces = if encodings.len() == 2 { &self.pair } else { &self.single };
        let mut out = Vec::with_capacity(pieces.len());
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                TemplatePiece::Sequence { id, type_id } => {
                    let index = usize::from(*id == TemplateSequence::B);
                    let input = encodings.get_mut(index).ok_or_else(|| Error::InvalidOption {
                        name: "single",
                        value: "a template with $B".to_owned(),
                        expected: "a template with $A alone".to_owned(),
                    })?;
                    let is_last = !pieces[at + 1..].iter().any(
                        |later| matches!(later, TemplatePiece::Sequence { id: later, .. } if later == id),
                    );
                    let mut encoding = if is_last { std::mem::take(input) } else { input.clone() };
                    // Overflowing encodings keep their type ids, as in Hugging Face.
                    encoding.set_type_id(*type_id);
                    encoding.set_sequence(index);
                    out.push(encoding);
                }
                TemplatePiece::Special { id, type_id } if add_special_tokens => {
                    let symbols = self.token(id).map_or(&[][..], |token| &token.symbols);
                    out.push(Encoding::special(symbols, *type_id));
                }
                TemplatePiece::Special { .. } => {}
            }
        }
        Ok(out)
    }
}
