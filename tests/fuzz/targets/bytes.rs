//! Choices made from bytes. Bytes that are used up count as zeros, so every input is valid.

/// Text in which the stages have something to do.
const PIECES: &[&str] = &[
    "a",
    "b",
    "ab",
    "c",
    "A",
    " ",
    " ",
    "  ",
    "\n",
    "\t",
    "\r\n",
    "é",
    "e\u{301}",
    "\u{301}",
    "日",
    "本",
    "🙂",
    "👍🏽",
    "▁",
    "Ġ",
    "##",
    "<s>",
    "<unk>",
    "[UNK]",
    "</w>",
    "İ",
    "ß",
    "ﬁ",
    "\u{fdfa}",
    "0",
    "12",
    ".",
    "'s",
    "\0",
    "\u{200b}",
    "\u{a0}",
    "\u{3000}",
    "<0xC3>",
    "<0xA9>",
    "\u{1100}\u{1161}",
    "ক\u{9cd}ষ",
    "\u{fffd}",
    "-",
    "``",
    "$",
    "٣",
    "\u{85}",
    "\u{323}\u{307}",
    "Ã",
    "ÿ",
];

/// What is left of the bytes.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `bound`, which is from 1 to 256.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// True for one byte in `of`.
    pub(crate) fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 1
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.one_in(2)
    }

    pub(crate) fn pick<'t, T>(&mut self, choices: &'t [T]) -> &'t T {
        &choices[self.below(choices.len())]
    }

    pub(crate) fn number(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    /// A number that is small, large, or beyond every limit.
    pub(crate) fn size(&mut self) -> u64 {
        match self.below(16) {
            0 => u64::MAX,
            1 => u64::from(self.number()),
            2 => u64::from(u32::MAX),
            3 => 1 << 40,
            small => small as u64 - 4,
        }
    }

    pub(crate) fn char(&mut self) -> char {
        char::from_u32(self.number() % 0x11_0000).unwrap_or('x')
    }

    /// Up to `most` pieces of text.
    pub(crate) fn text(&mut self, most: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(most + 1) {
            match self.below(PIECES.len() + 3) {
                0 => text.push(self.char()),
                1 => text.push(char::from(self.byte() & 0x7F)),
                2 => {
                    let piece = *self.pick(PIECES);
                    text.extend(std::iter::repeat_n(piece, self.below(40)));
                }
                piece => text.push_str(PIECES[piece - 3]),
            }
        }
        text
    }

    /// What is left, as text.
    pub(crate) fn rest(&mut self) -> String {
        String::from_utf8_lossy(std::mem::take(&mut self.0)).into_owned()
    }
}
