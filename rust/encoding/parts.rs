//! Encodings as plain data and back, for pickles.

use std::ops::Range;
use std::sync::Arc;

use super::{Columns, Content, Encoding, Piece, Symbol, TokenRef};

/// Id, text, offsets and word id of a token.
pub type TokenParts = (u32, String, (u32, u32), Option<u32>);

/// One piece of an encoding as plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceParts {
    /// Tokens of the text.
    Text {
        /// Type id of all tokens.
        type_id: u32,
        /// The tokens.
        tokens: Vec<TokenParts>,
    },
    /// A special token, or padding.
    Symbols {
        /// The type id.
        type_id: u32,
        /// The token.
        symbol: Symbol,
        /// How many times the token is repeated.
        len: usize,
        /// True for padding.
        is_padding: bool,
        /// Start and end of each: joining with growing offsets moves them.
        shift: u32,
    },
}

impl Encoding {
    /// The pieces as plain data.
    pub fn parts(&self) -> Vec<PieceParts> {
        self.pieces.iter().map(parts).collect()
    }

    /// Token ranges of the input sequences, by ascending sequence.
    pub fn sequences(&self) -> &[(usize, Range<usize>)] {
        &self.sequences
    }

    /// The encoding with the pieces `parts`; `columns` holds the tokens of all text pieces, concatenated. `None` if sequences do not
    /// ascend, or have tokens that are not there.
    pub fn from_parts(
        parts: Vec<PieceParts>,
        columns: &Arc<Columns>,
        sequences: Vec<(usize, Range<usize>)>,
        overflowing: Vec<Encoding>,
    ) -> Option<Self> {
        let mut start = 0;
        let piece = |part| match part {
            PieceParts::Text { type_id, tokens } => {
                let content = Content::Text { columns: Arc::clone(columns), start, trims: Vec::new() };
                start += tokens.len();
                Piece { content, len: tokens.len(), type_id, shift: 0 }
            }
            PieceParts::Symbols { type_id, symbol, len, is_padding, shift } => {
                let content = if is_padding { Content::Pad(symbol) } else { Content::Special(symbol) };
                Piece { content, len, type_id, shift }
            }
        };
        let pieces: Vec<Piece> = parts.into_iter().map(piece).collect();
        let len = pieces.iter().try_fold(0, |len: usize, piece| len.checked_add(piece.len))?;
        let is_there = |range: &Range<usize>| range.start <= range.end && range.end <= len;
        let is_valid = sequences.is_sorted_by(|(left, _), (right, _)| left < right)
            && sequences.iter().all(|(_, range)| is_there(range));
        is_valid.then_some(Self { pieces, sequences, overflowing })
    }
}

fn parts(piece: &Piece) -> PieceParts {
    let type_id = piece.type_id;
    let symbols = |symbol: &Symbol, is_padding| PieceParts::Symbols {
        type_id,
        symbol: symbol.clone(),
        len: piece.len,
        is_padding,
        shift: piece.shift,
    };
    match &piece.content {
        Content::Special(symbol) => symbols(symbol, false),
        Content::Pad(symbol) => symbols(symbol, true),
        Content::Text { .. } | Content::Counted(_) => {
            let tokens = (0..piece.len).map(|at| TokenRef { piece, at });
            let tokens =
                tokens.map(|token| (token.id(), token.text().to_owned(), token.offsets(), token.word()));
            PieceParts::Text { type_id, tokens: tokens.collect() }
        }
    }
}
