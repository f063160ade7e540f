//! Encodings taken apart and put together, for pickles.

use std::sync::Arc;

use super::{Columns, Content, Encoding, Piece, Symbol, TokenRef};

/// Id, text, offsets and word of a token.
pub type TokenParts = (u32, String, (u32, u32), Option<u32>);

/// One piece of an encoding with everything in it spelled out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceParts {
    /// Tokens of the text.
    Text {
        /// Type of all of them.
        type_id: u32,
        /// Their input sequence.
        sequence: Option<usize>,
        /// The tokens.
        tokens: Vec<TokenParts>,
    },
    /// A special token, or padding.
    Symbols {
        /// Its type.
        type_id: u32,
        /// Its input sequence.
        sequence: Option<usize>,
        /// The token.
        symbol: Symbol,
        /// How often it stands there.
        len: usize,
        /// Whether it is padding.
        is_padding: bool,
    },
}

impl Encoding {
    /// The pieces, spelled out.
    pub fn parts(&self) -> Vec<PieceParts> {
        self.pieces.iter().map(parts).collect()
    }

    /// The encoding of such pieces; `columns` holds the tokens of all text pieces, one after the other.
    pub fn from_parts(parts: Vec<PieceParts>, columns: &Arc<Columns>, overflowing: Vec<Encoding>) -> Self {
        let mut start = 0;
        let piece = |part| match part {
            PieceParts::Text { type_id, sequence, tokens } => {
                let content = Content::Text { columns: Arc::clone(columns), start, trims: Vec::new() };
                start += tokens.len();
                Piece { content, len: tokens.len(), type_id, sequence, shift: 0 }
            }
            PieceParts::Symbols { type_id, sequence, symbol, len, is_padding } => {
                let content = if is_padding { Content::Pad(symbol) } else { Content::Special(symbol) };
                Piece { content, len, type_id, sequence, shift: 0 }
            }
        };
        Self { pieces: parts.into_iter().map(piece).collect(), overflowing }
    }
}

fn parts(piece: &Piece) -> PieceParts {
    let (type_id, sequence) = (piece.type_id, piece.sequence);
    let symbols = |symbol: &Symbol, is_padding| PieceParts::Symbols {
        type_id,
        sequence,
        symbol: symbol.clone(),
        len: piece.len,
        is_padding,
    };
    match &piece.content {
        Content::Special(symbol) => symbols(symbol, false),
        Content::Pad(symbol) => symbols(symbol, true),
        Content::Text { .. } => {
            let tokens = (0..piece.len).map(|at| TokenRef { piece, at });
            let tokens =
                tokens.map(|token| (token.id(), token.text().to_owned(), token.offsets(), token.word()));
            PieceParts::Text { type_id, sequence, tokens: tokens.collect() }
        }
    }
}
