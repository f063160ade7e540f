//! The result of encoding one text: ids, tokens, offsets and more, computed on demand.
//!
//! An [`Encoding`] is a list of pieces: runs of tokens in columns that a whole batch shares, special tokens, and
//! padding. Truncating, padding and joining move the boundaries of pieces and copy no token.

mod char_offsets;
mod columns;
mod edit;
mod layout;
mod lookup;
mod state;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use char_offsets::char_offsets;
pub(crate) use columns::SpacesAround;
pub use columns::{Columns, ColumnsBuilder, TokenNames};
pub use edit::{Direction, MOST_OVERFLOWING, MOST_PADDED, Padding};
pub(crate) use edit::{check_padded, check_stride};
pub use layout::{RowLayout, RowPart, RowTrim};

/// How a post-processor trims spaces from the offsets of a run of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// The pre-tokenizer added the space of the first token, so it is not trimmed.
    pub add_prefix_space: bool,
    /// Index in the columns of the token that counts as the first, if the run has it.
    pub first: Option<u32>,
    /// The piece's shift at the time of the trim.
    pub shift: u32,
}

/// One token from a template or padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its id.
    pub id: u32,
    /// Its text.
    pub text: Arc<str>,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Tokens `start..start + len` of the columns.
    Text { columns: Arc<Columns>, start: usize, trims: Vec<Trim> },
    /// A special token (`len` is 1).
    Special(Symbol),
    /// The same padding token, `len` times.
    Pad(Symbol),
    /// The same special token or padding, `len` times, which counts as text in the masks.
    Counted(Symbol),
}

#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) content: Content,
    /// Number of tokens of the encoding up to the end of this piece.
    pub(crate) end: usize,
    pub(crate) type_id: u32,
    /// Added to all offsets of the piece.
    pub(crate) shift: u32,
}

impl Piece {
    fn is_text(&self) -> bool {
        matches!(self.content, Content::Text { .. } | Content::Counted(_))
    }
}

/// The tokens of one text or of a pair.
#[derive(Clone, Debug, Default)]
pub struct Encoding {
    pub(crate) pieces: Vec<Piece>,
    /// The token range of each input sequence, by ascending sequence; empty if no sequence was ever set.
    pub(crate) sequences: Vec<(usize, Range<usize>)>,
    pub(crate) overflowing: Vec<Encoding>,
}

/// One token of an encoding, as [`Encoding::iter`] yields it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenRef<'a> {
    piece: &'a Piece,
    at: usize,
}

impl<'a> TokenRef<'a> {
    fn id(self) -> u32 {
        match &self.piece.content {
            Content::Text { columns, start, .. } => columns.ids[start + self.at],
            Content::Special(symbol) | Content::Pad(symbol) | Content::Counted(symbol) => symbol.id,
        }
    }

    fn text(self) -> &'a str {
        match &self.piece.content {
            Content::Text { columns, start, .. } => columns.token(start + self.at),
            Content::Special(symbol) | Content::Pad(symbol) | Content::Counted(symbol) => &symbol.text,
        }
    }

    fn offsets(self) -> (u32, u32) {
        let (start, end) = match &self.piece.content {
            Content::Text { columns, start, trims } => columns.offsets(start + self.at, trims),
            Content::Special(_) | Content::Pad(_) | Content::Counted(_) => (0, 0),
        };
        // Only a pickle can say that a text is so long, and must not make this panic.
        (start.saturating_add(self.piece.shift), end.saturating_add(self.piece.shift))
    }

    fn word(self) -> Option<u32> {
        match &self.piece.content {
            Content::Text { columns, start, .. } => columns.word(start + self.at),
            Content::Special(_) | Content::Pad(_) | Content::Counted(_) => None,
        }
    }
}

impl Encoding {
    /// An encoding of the tokens `range` of `columns`, with type id 0.
    pub fn from_columns(columns: Arc<Columns>, range: Range<usize>) -> Self {
        let content = Content::Text { columns, start: range.start, trims: Vec::new() };
        Self::from_pieces(vec![Piece { content, end: range.len(), type_id: 0, shift: 0 }])
    }

    /// An encoding of special tokens.
    pub fn special(symbols: &[Symbol], type_id: u32) -> Self {
        let content = |symbol: &Symbol| Content::Special(symbol.clone());
        let piece = |(end, symbol)| Piece { content: content(symbol), end, type_id, shift: 0 };
        Self::from_pieces((1..).zip(symbols).map(piece).collect())
    }

    fn from_pieces(pieces: Vec<Piece>) -> Self {
        Self { pieces, ..Self::default() }
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.end)
    }

    /// True if there is no token.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = TokenRef<'_>> + '_ {
        self.ranges().flat_map(|(piece, range)| (0..range.len()).map(move |at| TokenRef { piece, at }))
    }

    /// The pieces with their ranges of tokens.
    fn ranges(&self) -> impl DoubleEndedIterator<Item = (&Piece, Range<usize>)> + '_ {
        self.ranges_from(0)
    }

    /// As [`Self::ranges`], from the piece at index `first` on.
    fn ranges_from(&self, first: usize) -> impl DoubleEndedIterator<Item = (&Piece, Range<usize>)> + '_ {
        let start = |at: usize| at.checked_sub(1).map_or(0, |before| self.pieces[before].end);
        (first..self.pieces.len()).map(move |at| (&self.pieces[at], start(at)..self.pieces[at].end))
    }

    /// The pieces that have tokens in `range`, with the ranges of all of their tokens.
    fn ranges_in(&self, range: Range<usize>) -> impl Iterator<Item = (&Piece, Range<usize>)> + '_ {
        let first = self.pieces.partition_point(|piece| piece.end <= range.start);
        let pieces = self.ranges_from(first).take_while(move |(_, tokens)| tokens.start < range.end);
        pieces.filter(|(_, tokens)| !tokens.is_empty())
    }

    /// The token at index `at`; logarithmic in the number of pieces.
    fn get(&self, at: usize) -> Option<TokenRef<'_>> {
        let (piece, tokens) =
            self.ranges_from(self.pieces.partition_point(|piece| piece.end <= at)).next()?;
        Some(TokenRef { piece, at: at - tokens.start })
    }

    /// Token ids.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter().map(TokenRef::id)
    }

    /// Type ids: which sequence of the input a token counts to, by the post-processor's rule.
    pub fn type_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter().map(|token| token.piece.type_id)
    }

    /// Token texts as the vocabulary spells them.
    pub fn tokens(&self) -> impl Iterator<Item = &str> + '_ {
        self.iter().map(TokenRef::text)
    }

    /// Half-open character ranges of the original text; `(0, 0)` for special tokens and padding.
    pub fn offsets(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.iter().map(TokenRef::offsets)
    }

    /// Number of the pre-token that each token belongs to.
    pub fn word_ids(&self) -> impl Iterator<Item = Option<u32>> + '_ {
        self.iter().map(TokenRef::word)
    }

    /// Number of the input sequence that each token belongs to; `None` for special tokens and padding.
    pub fn sequence_ids(&self) -> Vec<Option<usize>> {
        let mut ids = vec![None; self.len()];
        for sequence in 0..self.n_sequences() {
            ids[self.sequence_range(sequence)].fill(Some(sequence));
        }
        ids
    }

    /// 1 for special tokens and padding, 0 for text. Tokens that were there when BERT's or RoBERTa's rule wrapped the
    /// encoding count as text.
    pub fn special_tokens_mask(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter().map(|token| u32::from(!token.piece.is_text()))
    }

    /// 0 for padding, 1 for everything else.
    pub fn attention_mask(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter().map(|token| u32::from(!matches!(token.piece.content, Content::Pad(_))))
    }

    /// The encodings that truncation cut off.
    pub fn overflowing(&self) -> &[Encoding] {
        &self.overflowing
    }

    /// Number of input sequences; at least 1.
    pub fn n_sequences(&self) -> usize {
        self.sequences.len().max(1)
    }

    /// Marks all tokens as tokens of input sequence `sequence`. A token keeps the sequences it had before.
    pub fn set_sequence(&mut self, sequence: usize) {
        self.set_sequence_range(sequence, 0..self.len());
    }

    fn set_sequence_range(&mut self, sequence: usize, range: Range<usize>) {
        match self.sequences.binary_search_by_key(&sequence, |&(known, _)| known) {
            Ok(found) => self.sequences[found].1 = range,
            Err(place) => {
                // One or two; a vector would make room for four.
                self.sequences.reserve_exact(1);
                self.sequences.insert(place, (sequence, range));
            }
        }
    }

    /// Gives all tokens the type id `type_id`.
    pub fn set_type_id(&mut self, type_id: u32) {
        self.pieces.iter_mut().for_each(|piece| piece.type_id = type_id);
    }

    /// Trims spaces from the offsets of all text.
    pub fn trim_offsets(&mut self, add_prefix_space: bool) {
        let mut at = 0;
        for piece in &mut self.pieces {
            if let Content::Text { start, trims, .. } = &mut piece.content {
                // Only a run at the start of the encoding contains the first token.
                let first = (at == 0).then_some(*start as u32);
                trims.reserve_exact(1);
                trims.push(Trim { add_prefix_space, first, shift: piece.shift });
            }
            at = piece.end;
        }
    }
}
