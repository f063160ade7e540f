//! Encodings as bytes and back, for pickles.
//!
//! Numbers are little-endian. An encoding is its pieces, the token ranges of its sequences, and its overflowing encodings, each list
//! after its length. Tokens of a text are written column by column, with their offsets trimmed and shifted and with their texts, so that
//! they need no vocabulary.

use std::ops::Range;
use std::sync::Arc;

use super::columns::NO_WORD;
use super::{Columns, ColumnsBuilder, Content, Encoding, MOST_PADDED, Piece, Symbol, TokenNames, TokenRef};

/// The first byte: the number of this layout.
const LAYOUT: u8 = 1;

/// Overflowing encodings have overflowing ones themselves to this depth at most.
const DEEPEST: usize = 64;

/// The kinds of pieces, as bytes.
const TEXT: u8 = 0;
const SPECIAL: u8 = 1;
const PAD: u8 = 2;

/// Bytes of a token of text, beside its text.
const TOKEN_BYTES: usize = 20;

impl Encoding {
    /// The encoding as bytes that [`Self::from_bytes`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![LAYOUT];
        self.write(&mut bytes);
        bytes
    }

    /// Reads the bytes of [`Self::to_bytes`].
    ///
    /// # Errors
    /// The reason, if the bytes have another layout or are malformed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        match bytes.split_first() {
            Some((&LAYOUT, rest)) => {
                let damaged = || format!("its {} bytes are damaged or incomplete", bytes.len());
                Reader::new(rest).read().ok_or_else(damaged)
            }
            // The first layout was JSON.
            Some((b'{', _)) => Err("an earlier version of lexmill wrote it".to_owned()),
            Some((layout, _)) => {
                Err(format!("its layout is {layout}, and this version reads layout {LAYOUT}"))
            }
            None => Err("it has no bytes".to_owned()),
        }
    }

    /// Puts `columns` in the place of the columns of all texts.
    fn set_columns(&mut self, shared: &Arc<Columns>) {
        for piece in &mut self.pieces {
            if let Content::Text { columns, .. } = &mut piece.content {
                *columns = Arc::clone(shared);
            }
        }
        self.overflowing.iter_mut().for_each(|part| part.set_columns(shared));
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_len(self.pieces.len(), out);
        for (piece, tokens) in self.ranges() {
            write_piece(piece, tokens.len(), out);
        }
        write_len(self.sequences.len(), out);
        for (sequence, range) in &self.sequences {
            for number in [*sequence, range.start, range.end] {
                write_len(number, out);
            }
        }
        write_len(self.overflowing.len(), out);
        self.overflowing.iter().for_each(|part| part.write(out));
    }
}

fn write_len(len: usize, out: &mut Vec<u8>) {
    out.extend((len as u64).to_le_bytes());
}

fn write_number(number: u32, out: &mut Vec<u8>) {
    out.extend(number.to_le_bytes());
}

fn write_piece(piece: &Piece, len: usize, out: &mut Vec<u8>) {
    let (kind, symbol) = match &piece.content {
        Content::Text { .. } | Content::Counted(_) => (TEXT, None),
        Content::Special(symbol) => (SPECIAL, Some(symbol)),
        Content::Pad(symbol) => (PAD, Some(symbol)),
    };
    out.push(kind);
    write_number(piece.type_id, out);
    write_len(len, out);
    if let Some(Symbol { id, text }) = symbol {
        write_number(*id, out);
        write_number(piece.shift, out);
        write_len(text.len(), out);
        out.extend(text.as_bytes());
        return;
    }
    let tokens = (0..len).map(|at| TokenRef { piece, at });
    out.reserve(len * TOKEN_BYTES);
    tokens.clone().for_each(|token| write_number(token.id(), out));
    for (start, end) in tokens.clone().map(TokenRef::offsets) {
        write_number(start, out);
        write_number(end, out);
    }
    tokens.clone().for_each(|token| write_number(token.word().unwrap_or(NO_WORD), out));
    // Lengths first: texts are UTF-8 as one, and are checked as one.
    let lens = out.len();
    out.resize(lens + len * 4, 0);
    let texts = out.len() + 8;
    write_len(0, out);
    for (at, token) in tokens.enumerate() {
        let text = token.text().as_bytes();
        out.extend(text);
        let place = lens + at * 4;
        out[place..place + 4].copy_from_slice(&(text.len() as u32).to_le_bytes());
    }
    let len = (out.len() - texts) as u64;
    out[texts - 8..texts].copy_from_slice(&len.to_le_bytes());
}

struct Reader<'a> {
    /// Bytes that are still to be read.
    rest: &'a [u8],
    /// The tokens of all texts that were read.
    columns: ColumnsBuilder,
    /// Stands for the columns until they are finished.
    unfinished: Arc<Columns>,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            columns: ColumnsBuilder::with_room(bytes.len() / TOKEN_BYTES),
            unfinished: Arc::new(ColumnsBuilder::default().finish(TokenNames::Own)),
        }
    }

    /// The encoding, if the bytes are one and nothing else.
    fn read(mut self) -> Option<Encoding> {
        let mut encoding = self.encoding(0)?;
        if !self.rest.is_empty() {
            return None;
        }
        encoding.set_columns(&Arc::new(self.columns.finish(TokenNames::Own)));
        Some(encoding)
    }

    fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (read, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(read)
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|byte| byte[0])
    }

    fn number(&mut self) -> Option<u32> {
        self.bytes(4)?.as_chunks().0.first().map(|&number| u32::from_le_bytes(number))
    }

    fn len(&mut self) -> Option<usize> {
        let len = self.bytes(8)?.as_chunks().0.first().map(|&len| u64::from_le_bytes(len))?;
        usize::try_from(len).ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let len = self.len()?;
        str::from_utf8(self.bytes(len)?).ok()
    }

    fn numbers(&mut self, len: usize) -> Option<&'a [[u8; 4]]> {
        Some(self.bytes(len.checked_mul(4)?)?.as_chunks().0)
    }

    fn encoding(&mut self, depth: usize) -> Option<Encoding> {
        let (mut pieces, mut len) = (Vec::new(), 0);
        for _ in 0..self.len()? {
            let piece = self.piece(len)?;
            len = piece.end;
            pieces.push(piece);
        }
        let (sequences, mut overflowing) = (self.sequences(len)?, Vec::new());
        for _ in 0..self.len()? {
            let deeper = Some(depth + 1).filter(|&depth| depth <= DEEPEST)?;
            overflowing.push(self.encoding(deeper)?);
        }
        Some(Encoding { pieces, sequences, overflowing })
    }

    /// A piece after `before` tokens.
    fn piece(&mut self, before: usize) -> Option<Piece> {
        let (kind, type_id, len) = (self.byte()?, self.number()?, self.len()?);
        let end = before.checked_add(len)?;
        if kind == TEXT {
            let (start, columns) = (self.columns.ids.len(), Arc::clone(&self.unfinished));
            self.columns(len)?;
            return Some(Piece {
                content: Content::Text { columns, start, trims: Vec::new() },
                end,
                type_id,
                shift: 0,
            });
        }
        let (id, shift) = (self.number()?, self.number()?);
        let symbol = Symbol { id, text: self.text()?.into() };
        let content = match kind {
            SPECIAL if len == 1 => Content::Special(symbol),
            PAD if len <= MOST_PADDED => Content::Pad(symbol),
            _ => return None,
        };
        Some(Piece { content, end, type_id, shift })
    }

    /// Appends `len` tokens to the columns.
    fn columns(&mut self, len: usize) -> Option<()> {
        let (ids, offsets) = (self.numbers(len)?, self.numbers(len.checked_mul(2)?)?);
        let (words, lens, texts) = (self.numbers(len)?, self.numbers(len)?, self.text()?);
        let mut at = 0;
        for (((&id, offsets), &word), &len) in ids.iter().zip(offsets.as_chunks::<2>().0).zip(words).zip(lens)
        {
            let [start, end] = offsets.map(u32::from_le_bytes);
            let word = Some(u32::from_le_bytes(word)).filter(|&word| word != NO_WORD);
            let text = texts.get(at..at + u32::from_le_bytes(len) as usize)?;
            self.columns.push_with_text(u32::from_le_bytes(id), text, (start, end), word);
            at += text.len();
        }
        (at == texts.len()).then_some(())
    }

    /// Token ranges of an encoding of `len` tokens, by ascending sequence.
    fn sequences(&mut self, len: usize) -> Option<Vec<(usize, Range<usize>)>> {
        let mut sequences = Vec::new();
        for _ in 0..self.len()? {
            sequences.push((self.len()?, self.len()?..self.len()?));
        }
        let is_valid = sequences.is_sorted_by(|(left, _), (right, _)| left < right)
            && sequences.iter().all(|(_, range)| range.start <= range.end && range.end <= len);
        is_valid.then_some(sequences)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encoding::{Direction, Padding};

    fn encoding() -> Encoding {
        let mut columns = ColumnsBuilder::default();
        for (at, text) in (0..).zip(["a", "", "é日", "Ġb", "c"]) {
            columns.push_with_text(at, text, (at, at + 2), Some(at).filter(|at| at % 2 == 0));
        }
        let columns = Arc::new(columns.finish(TokenNames::Own));
        let mut text = Encoding::from_columns(columns, 1..5);
        text.trim_offsets(false);
        text.truncate(2, 1, Direction::Right).expect("a stride below the length");
        text.set_sequence(1);
        let symbol = Symbol { id: 9, text: "[S]".into() };
        let mut made = Encoding::merge([Encoding::special(std::slice::from_ref(&symbol), 3), text], true)
            .expect("one overflows");
        made.pad(9, &Padding { symbol, type_id: 2, direction: Direction::Left }).expect("short");
        made
    }

    #[test]
    fn bytes_become_the_encoding_again() {
        let (encoding, bytes) = (encoding(), encoding().to_bytes());
        let read = Encoding::from_bytes(&bytes).expect("well-formed");
        for (read, expected) in
            read.overflowing.iter().chain([&read]).zip(encoding.overflowing.iter().chain([&encoding]))
        {
            assert!(read.ids().eq(expected.ids()) && read.tokens().eq(expected.tokens()));
            assert!(read.offsets().eq(expected.offsets()) && read.word_ids().eq(expected.word_ids()));
            assert!(
                read.type_ids().eq(expected.type_ids())
                    && read.attention_mask().eq(expected.attention_mask())
            );
            assert!(read.special_tokens_mask().eq(expected.special_tokens_mask()));
            assert_eq!(read.sequences, expected.sequences);
        }
        assert_eq!(read.overflowing.len(), 2);
        assert_eq!(read.to_bytes(), bytes);
    }

    proptest! {
        #[test]
        fn malformed_bytes_are_refused_or_read(at: prop::sample::Index, byte: u8, cut: bool) {
            let mut bytes = encoding().to_bytes();
            let at = at.index(bytes.len());
            if cut {
                bytes.truncate(at);
                prop_assert!(Encoding::from_bytes(&bytes).is_err());
            } else {
                bytes[at] = byte;
                if let Ok(read) = Encoding::from_bytes(&bytes) {
                    prop_assert_eq!(read.to_bytes(), bytes);
                }
            }
        }
    }
}
