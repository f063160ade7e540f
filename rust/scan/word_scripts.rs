//! The scripts of words: the text between white space, in ranges of words of one script.
//!
//! The script of a word is the script of its first character that has one. White space belongs to the word after it, and at the end of a
//! text to the word before it. So the ranges of a text are the whole text.

/// The class of white space. Words without a script have the class 0, others the classes above.
pub const SPACE: u8 = 1;

/// The words and scripts of some texts.
#[derive(Clone, Debug)]
pub struct WordScripts {
    /// Bytes of each text.
    pub bytes: Vec<i64>,
    /// Characters of each text.
    pub characters: Vec<i64>,
    /// Words of each text.
    pub words: Vec<i64>,
    /// Text `i` has the ranges `splits[i]..splits[i + 1]`.
    pub splits: Vec<i64>,
    /// The script of each range; [`SPACE`] for a text of white space alone.
    pub scripts: Vec<u8>,
    /// The byte of its text at which each range begins.
    pub places: Vec<u32>,
    /// The character at which each range begins, counted from the first of all texts.
    pub starts: Vec<i64>,
    /// By script: bytes, characters and words.
    pub sums: Vec<[i64; 3]>,
}

impl WordScripts {
    /// Reads texts of less than 4 GiB. `classes` has the class of each code point: a script, 0 for none, or [`SPACE`]. The
    /// space and control characters are the only ASCII that may be white space.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>, classes: &[u8; 0x11_0000]) -> Self {
        let classes = &Classes::new(classes);
        let mut found = Self {
            bytes: Vec::new(),
            characters: Vec::new(),
            words: Vec::new(),
            splits: vec![0],
            scripts: Vec::new(),
            places: Vec::new(),
            starts: Vec::new(),
            sums: vec![[0; 3]; 256],
        };
        let mut before = 0;
        for text in texts {
            before += found.add(text, before, classes);
        }
        found
    }

    /// Adds a text with `before` characters before it; returns its characters.
    fn add(&mut self, text: &str, before: i64, classes: &Classes<'_>) -> i64 {
        let (mut reader, mut words) = (Reader { text, at: 0, characters: 0 }, 0);
        // Script and beginning of the range, in bytes and in characters.
        let mut range: Option<(u8, usize, i64)> = None;
        let (mut end, mut end_characters) = (0, 0);
        while let Some(script) = reader.word(classes) {
            words += 1;
            self.sums[usize::from(script)][2] += 1;
            if let Some((own, start, characters)) = range
                && own != script
            {
                self.end_range((own, start, characters), (end, end_characters), before);
                range = Some((script, end, end_characters));
            }
            range = range.or(Some((script, 0, 0)));
            (end, end_characters) = (reader.at, reader.characters);
        }
        if !text.is_empty() {
            let last = range.unwrap_or((SPACE, 0, 0));
            self.end_range(last, (text.len(), reader.characters), before);
        }
        self.bytes.push(text.len() as i64);
        self.characters.push(reader.characters);
        self.words.push(words);
        self.splits.push(self.scripts.len() as i64);
        reader.characters
    }

    fn end_range(
        &mut self,
        (script, start, first): (u8, usize, i64),
        (end, after): (usize, i64),
        before: i64,
    ) {
        self.scripts.push(script);
        self.places.push(start as u32);
        self.starts.push(before + first);
        let [bytes, characters, _] = &mut self.sums[usize::from(script)];
        *bytes += (end - start) as i64;
        *characters += after - first;
    }
}

/// How many of the first bytes are printable ASCII other than the space.
fn printable_ascii(bytes: [u8; 8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let bytes = u64::from_le_bytes(bytes);
    // The lowest bit that is set is exact: a subtraction borrows only from the bytes above a byte that is less than `!`.
    let others = (bytes.wrapping_sub(u64::from(b'!') * ONES) & !bytes | bytes) & HIGH;
    others.trailing_zeros() as usize / 8
}

/// The classes of characters.
struct Classes<'a> {
    /// By code point.
    by_code: &'a [u8; 0x11_0000],
    /// By byte: true for the first byte of a white-space character.
    begins_space: [bool; 256],
}

impl<'a> Classes<'a> {
    fn new(by_code: &'a [u8; 0x11_0000]) -> Self {
        let mut begins_space = [false; 256];
        let codes = (0_u32..).zip(by_code).filter(|&(_, &class)| class == SPACE);
        for character in codes.filter_map(|(code, _)| char::from_u32(code)) {
            begins_space[usize::from(character.encode_utf8(&mut [0; 4]).as_bytes()[0])] = true;
        }
        Self { by_code, begins_space }
    }
}

/// A reader of the words of one text.
struct Reader<'a> {
    text: &'a str,
    /// Bytes that are read.
    at: usize,
    /// Characters that are read.
    characters: i64,
}

impl Reader<'_> {
    /// Reads the next word and the white space before it; answers the script of the word, or none at the end of the text.
    fn word(&mut self, classes: &Classes<'_>) -> Option<u8> {
        let mut class = self.next(classes)?;
        while class == SPACE {
            class = self.next(classes)?;
        }
        let mut script = class;
        loop {
            if script != 0 {
                self.skip_word(classes);
            }
            let (at, characters) = (self.at, self.characters);
            match self.next(classes) {
                Some(SPACE) => {
                    (self.at, self.characters) = (at, characters);
                    return Some(script);
                }
                Some(class) if script == 0 => script = class,
                Some(_) => {}
                None => return Some(script),
            }
        }
    }

    /// Reads up to a byte that may begin white space.
    #[inline]
    fn skip_word(&mut self, classes: &Classes<'_>) {
        let rest = &self.text.as_bytes()[self.at..];
        let (mut count, mut continuation_bytes) = (0, 0);
        loop {
            while let Some(&eight) = rest[count..].first_chunk() {
                let printable = printable_ascii(eight);
                count += printable;
                // Most words end here.
                if printable < eight.len() {
                    break;
                }
            }
            let before = count;
            while let Some(&byte) = rest.get(count)
                && !classes.begins_space[usize::from(byte)]
            {
                count += 1;
                continuation_bytes += i64::from(byte & 0xC0 == 0x80);
                // Eight bytes of ASCII at a time again.
                if byte.is_ascii() {
                    break;
                }
            }
            if count == before {
                break;
            }
        }
        self.at += count;
        self.characters += count as i64 - continuation_bytes;
    }

    /// Reads a character; answers its class.
    #[inline]
    fn next(&mut self, classes: &Classes<'_>) -> Option<u8> {
        let &byte = self.text.as_bytes().get(self.at)?;
        let code = if byte.is_ascii() {
            self.at += 1;
            usize::from(byte)
        } else {
            let character = self.text[self.at..].chars().next()?;
            self.at += character.len_utf8();
            character as usize
        };
        self.characters += 1;
        Some(classes.by_code[code])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn printable_ascii_matches_naive(bytes: [u8; 8], near in prop::collection::vec(prop::sample::select(&b" !\x1F\x00\x7F\x80\xFFaz~"[..]), 8)) {
            for bytes in [bytes, near.try_into().expect("eight bytes")] {
                let is_printable = |byte: &u8| (b'!'..0x80).contains(byte);
                let naive = bytes.iter().take_while(|byte| is_printable(byte)).count();
                prop_assert_eq!(printable_ascii(bytes), naive);
            }
        }
    }
}
