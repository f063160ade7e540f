//! Models: each encodes one pre-token into tokens; all are immutable after construction.
//!
//! * [`bpe`]: byte-pair encoding, merges by rank.
//! * [`unigram`]: unigram language model, the segmentation with the highest score.
//! * [`wordpiece`]: longest match from left to right.
//! * [`wordlevel`]: one token for each pre-token.
//!
//! [`Model`] is any of them. A [`Scratch`] holds the buffers of one thread.

pub mod bpe;
pub mod piece_kind;
pub mod unigram;
pub mod wordlevel;
pub mod wordpiece;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::Result;
use crate::structures::reused::reused;
use crate::vocab::Vocab;

/// Tokens of one pre-token: ids, and how many bytes of the pre-token each one covers.
///
/// Lengths add up from the start of the pre-token. A model that drops characters does not count them, so the sum is less
/// than the length of the pre-token, and offsets follow the sum, as in Hugging Face.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Token ids.
    pub ids: Vec<u32>,
    /// Bytes covered by each token.
    pub lens: Vec<u32>,
    /// Indices, ascending, of tokens that cover the same bytes as the token before them, such as the bytes of a character.
    pub again: Vec<u32>,
}

impl Tokens {
    /// Removes all tokens and keeps the memory.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.lens.clear();
        self.again.clear();
    }

    /// Appends a token.
    pub fn push(&mut self, id: u32, len: u32) {
        self.ids.push(id);
        self.lens.push(len);
    }

    /// Appends a token that covers the same bytes as the last one.
    pub fn push_again(&mut self, id: u32) {
        self.again.push(self.ids.len() as u32);
        self.push(id, self.lens.last().copied().unwrap_or(0));
    }

    /// The ids, each with the bytes of the pre-token that it covers.
    pub fn spans(&self) -> impl Iterator<Item = (u32, Range<usize>)> + '_ {
        let (mut start, mut end) = (0, 0);
        let mut again = self.again.iter().copied().peekable();
        (0u32..).zip(self.ids.iter().zip(&self.lens)).map(move |(at, (&id, &len))| {
            if again.next_if_eq(&at).is_none() {
                (start, end) = (end, end + len as usize);
            }
            (id, start..end)
        })
    }
}

/// Buffers that one thread reuses from pre-token to pre-token.
#[derive(Debug, Default)]
pub struct Scratch {
    bpe: bpe::Scratch,
    unigram: unigram::Scratch,
}

reused!(Scratch: bpe, unigram);
reused!(Tokens: ids, lens, again);

impl Scratch {
    /// Seeds the random choices of the models.
    pub fn seed(&mut self, seed: u64) {
        self.bpe.seed(seed);
        self.unigram.seed(seed);
    }

    /// Marks the next texts as fragments of pre-tokens if `in_context`; for a unigram model, as fragments with other text before them.
    pub fn set_in_context(&mut self, in_context: bool) {
        self.bpe.set_in_context(in_context);
        self.unigram.set_in_context(in_context);
    }

    /// True if the fragment encoded last may have other tokens after other text.
    pub fn is_context_dependent(&self) -> bool {
        self.unigram.is_context_dependent()
    }
}

/// A model of any kind.
#[derive(Clone, Debug)]
pub enum Model {
    /// Byte-pair encoding.
    Bpe(bpe::Bpe),
    /// Unigram language model.
    Unigram(unigram::Unigram),
    /// Longest match.
    WordPiece(wordpiece::WordPiece),
    /// Whole words.
    WordLevel(wordlevel::WordLevel),
}

impl Model {
    /// The name of the model's kind in files and in Python.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Bpe(_) => "BPE",
            Self::Unigram(_) => "Unigram",
            Self::WordPiece(_) => "WordPiece",
            Self::WordLevel(_) => "WordLevel",
        }
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        match self {
            Self::Bpe(bpe) => bpe.vocab(),
            Self::Unigram(unigram) => unigram.vocab(),
            Self::WordPiece(wordpiece) => wordpiece.vocab(),
            Self::WordLevel(wordlevel) => wordlevel.vocab(),
        }
    }

    /// The vocabulary, shared.
    pub fn shared_vocab(&self) -> Arc<Vocab> {
        match self {
            Self::Bpe(bpe) => bpe.shared_vocab(),
            Self::Unigram(unigram) => unigram.shared_vocab(),
            Self::WordPiece(wordpiece) => wordpiece.shared_vocab(),
            Self::WordLevel(wordlevel) => wordlevel.shared_vocab(),
        }
    }

    /// Ids that the model may give to text as it is spelled; `None` if that may be any of its vocabulary.
    pub fn ids_of_text(&self) -> Option<HashSet<u32>> {
        match self {
            Self::Bpe(bpe) => bpe.ids_of_text(),
            Self::Unigram(_) | Self::WordPiece(_) | Self::WordLevel(_) => None,
        }
    }

    /// The seed of the model's random choices, if one was set.
    pub fn seed(&self) -> Option<u64> {
        match self {
            Self::Bpe(bpe) => bpe.options().seed,
            Self::Unigram(unigram) => unigram.options().seed,
            Self::WordPiece(_) | Self::WordLevel(_) => None,
        }
    }

    /// True if the same pre-token always gives the same tokens, so that they may be cached.
    pub fn is_deterministic(&self) -> bool {
        match self {
            Self::Bpe(bpe) => bpe.is_deterministic(),
            Self::Unigram(unigram) => unigram.is_deterministic(),
            Self::WordPiece(_) | Self::WordLevel(_) => true,
        }
    }

    /// The model that gives each pre-token its best tokens, where this one draws them at random.
    ///
    /// # Errors
    /// None; the options of a model without them are valid.
    pub fn without_sampling(&self) -> Result<Self> {
        let mut model = self.clone();
        match &mut model {
            Self::Bpe(bpe) => {
                bpe.set_options(bpe::BpeOptions { dropout: None, alpha: None, ..bpe.options().clone() })?;
            }
            Self::Unigram(unigram) => {
                unigram.set_options(unigram::UnigramOptions { alpha: None, ..unigram.options().clone() })?;
            }
            Self::WordPiece(_) | Self::WordLevel(_) => {}
        }
        Ok(model)
    }

    /// Where long pre-tokens may be cut without changing their tokens; `None` if the model cannot tell.
    ///
    /// `symbols` are given if pre-tokens are raw bytes. With `is_spaced`, spaces may stand for U+2581 in pre-tokens.
    pub fn cut_points(&self, symbols: Option<&bpe::ByteSymbols>, is_spaced: bool) -> Option<bpe::CutPoints> {
        match (self, symbols) {
            _ if !self.is_deterministic() => None,
            (Self::Bpe(bpe), Some(symbols)) => bpe.byte_cut_points(symbols),
            (Self::Bpe(bpe), None) => bpe.cut_points(is_spaced),
            // In WordPiece one unknown fragment makes the whole pre-token unknown, and word level looks up whole pre-tokens.
            // A unigram model cuts by itself.
            (Self::Unigram(_) | Self::WordPiece(_) | Self::WordLevel(_), _) => None,
        }
    }

    /// As [`bpe::LateMerges::new`]; `None` for other models.
    pub fn late_merges(
        &self,
        symbols: Option<&bpe::ByteSymbols>,
        is_spaced: bool,
    ) -> Option<bpe::LateMerges> {
        match self {
            Self::Bpe(bpe) => bpe::LateMerges::new(bpe, symbols, is_spaced),
            Self::Unigram(_) | Self::WordPiece(_) | Self::WordLevel(_) => None,
        }
    }

    /// As [`bpe::Bpe::apart_from_space`]; `None` for other models.
    pub fn apart_from_space(&self) -> Option<[bool; 256]> {
        match self {
            Self::Bpe(bpe) => bpe.apart_from_space(),
            Self::Unigram(_) | Self::WordPiece(_) | Self::WordLevel(_) => None,
        }
    }

    /// True if a fragment of a pre-token may have other tokens than a whole pre-token of the same characters.
    pub fn depends_on_context(&self) -> bool {
        match self {
            Self::Bpe(bpe) => bpe.depends_on_context(),
            Self::Unigram(_) | Self::WordPiece(_) | Self::WordLevel(_) => false,
        }
    }

    /// True if a pre-token may be cut wherever `is_boundary` accepts two neighbouring characters, without changing its tokens.
    pub fn is_cut_at(&self, is_boundary: impl Fn(char, char) -> bool) -> bool {
        match self {
            Self::Bpe(bpe) => self.is_deterministic() && bpe.is_cut_at(is_boundary),
            Self::Unigram(_) | Self::WordPiece(_) | Self::WordLevel(_) => false,
        }
    }

    /// True if a pre-token of up to [`unigram::MOST_PIECES`] characters may be cut wherever `is_boundary` accepts two
    /// neighbouring bytes, without changing its tokens.
    ///
    /// One of the two bytes is in `apart`, which is ASCII. Fragments after a cut may still depend on the text before it, see
    /// [`Scratch::is_context_dependent`].
    pub fn is_cut_beside(&self, apart: &[u8], is_boundary: impl Fn(u8, u8) -> bool) -> bool {
        match self {
            Self::Unigram(unigram) => unigram.is_cut_beside(apart, is_boundary),
            Self::Bpe(_) | Self::WordPiece(_) | Self::WordLevel(_) => false,
        }
    }

    /// How the characters of `text` occur among the pieces; [`unigram::PieceMembership::Other`] if the model cannot tell.
    pub fn piece_membership(&self, text: &str) -> unigram::PieceMembership {
        match self {
            Self::Unigram(unigram) => unigram.piece_membership(text),
            Self::Bpe(_) | Self::WordPiece(_) | Self::WordLevel(_) => unigram::PieceMembership::Other,
        }
    }

    /// The ids of tokens that stand for single bytes of characters without a token.
    pub fn fallback_ids(&self) -> impl Iterator<Item = u32> + '_ {
        let bpe = match self {
            Self::Bpe(bpe) => Some(bpe),
            Self::Unigram(_) | Self::WordPiece(_) | Self::WordLevel(_) => None,
        };
        bpe.into_iter().flat_map(bpe::Bpe::fallback_ids)
    }

    /// True if every pre-token of up to `bytes` bytes that is a token of the vocabulary is encoded as that token.
    pub fn takes_tokens_whole(&self, bytes: usize) -> bool {
        match self {
            Self::Bpe(bpe) => self.is_deterministic() && bpe.options().ignore_merges,
            Self::Unigram(_) => false,
            Self::WordPiece(wordpiece) => wordpiece.options().max_input_chars_per_word >= bytes,
            Self::WordLevel(words) => words.spaced_words().is_none(),
        }
    }

    /// True if every pre-token has a token; with `is_mapped`, pre-tokens are of mapped bytes alone.
    pub fn has_tokens_for_all(&self, is_mapped: bool) -> bool {
        match self {
            Self::Bpe(bpe) => bpe.has_tokens_for_all(is_mapped),
            Self::Unigram(_) | Self::WordPiece(_) | Self::WordLevel(_) => true,
        }
    }

    /// Encodes one pre-token; appends to `tokens`.
    ///
    /// # Errors
    /// [`crate::Error::TokenNotInVocab`] if an unknown token is needed and has no id.
    pub fn encode_word(&self, word: &str, scratch: &mut Scratch, tokens: &mut Tokens) -> Result<()> {
        match self {
            Self::Bpe(bpe) => bpe.encode_word(word, &mut scratch.bpe, tokens),
            Self::Unigram(unigram) => unigram.encode_word(word, &mut scratch.unigram, tokens),
            Self::WordPiece(wordpiece) => wordpiece.encode_word(word, tokens),
            Self::WordLevel(wordlevel) => wordlevel.encode_word(word, tokens),
        }
    }

    /// The text that `token` usually covers in a pre-token: its spelling without the continuing prefix.
    pub fn own_text<'a>(&self, token: &'a str) -> &'a str {
        match self {
            Self::WordPiece(wordpiece) => wordpiece.own_text(token),
            Self::Bpe(_) | Self::Unigram(_) | Self::WordLevel(_) => token,
        }
    }

    /// The id of unknown text. Its tokens are spelled as the text that they cover; all other tokens are spelled as in the vocabulary.
    pub fn id_of_unknown_text(&self) -> Option<u32> {
        match self {
            Self::Bpe(_) | Self::WordPiece(_) | Self::WordLevel(_) => None,
            Self::Unigram(unigram) => unigram.options().unk_id,
        }
    }

    /// True if byte tokens stand for `text` where it is unknown, so that no token of it has the id of unknown text. (But a
    /// vocabulary may give that id to a byte token.)
    pub fn falls_back(&self, text: &str) -> bool {
        match self {
            Self::Bpe(_) | Self::WordPiece(_) | Self::WordLevel(_) => false,
            Self::Unigram(unigram) => unigram.falls_back(text),
        }
    }

    /// The table for [`Self::encode_bytes`]; `None` if the model has no such method.
    pub fn byte_symbols(&self) -> Option<bpe::ByteSymbols> {
        match self {
            Self::Bpe(bpe) => bpe.kinds().is_none().then(|| bpe.byte_symbols()),
            Self::Unigram(_) | Self::WordPiece(_) | Self::WordLevel(_) => None,
        }
    }

    /// Encodes one pre-token given as raw bytes of the byte-level alphabet, see [`bpe::Bpe::encode_bytes`].
    pub fn encode_bytes(
        &self,
        word: &[u8],
        symbols: &bpe::ByteSymbols,
        mapped: &mut String,
        scratch: &mut Scratch,
        tokens: &mut Tokens,
    ) -> bool {
        match self {
            Self::Bpe(bpe) => bpe.encode_bytes(word, symbols, mapped, &mut scratch.bpe, tokens),
            Self::Unigram(_) | Self::WordPiece(_) | Self::WordLevel(_) => false,
        }
    }
}
