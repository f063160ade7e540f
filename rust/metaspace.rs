//! What the Metaspace pre-tokenizer and decoder share: a visible character in place of spaces.

/// The visible space that everybody uses, U+2581.
pub const VISIBLE_SPACE: char = '\u{2581}';

/// Appends `text` to `out`, with a visible space in place of each space.
pub fn push_visible(text: &str, out: &mut String) {
    let mut words = text.split(' ');
    out.extend(words.next());
    for word in words {
        out.push(VISIBLE_SPACE);
        out.push_str(word);
    }
}

/// Where the visible space is put before text that does not start with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrependScheme {
    /// Only at the beginning of the original text.
    First,
    /// Nowhere.
    Never,
    /// Before every piece of text, such as each one between added tokens.
    Always,
}

impl PrependScheme {
    /// All schemes with their names in Python and in files.
    pub const NAMES: [(Self, &'static str); 3] =
        [(Self::First, "first"), (Self::Never, "never"), (Self::Always, "always")];

    /// The scheme of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|&(_, known)| known == name).map(|(scheme, _)| scheme)
    }

    /// The scheme's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Never => "never",
            Self::Always => "always",
        }
    }
}

/// Options of Metaspace, as Hugging Face names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metaspace {
    /// The character in place of a space.
    pub replacement: char,
    /// Where one is put before the text, and taken away in decoding.
    pub prepend_scheme: PrependScheme,
    /// Cuts before every replacement; without meaning for the decoder.
    pub split: bool,
}

impl Default for Metaspace {
    fn default() -> Self {
        Self { replacement: VISIBLE_SPACE, prepend_scheme: PrependScheme::Always, split: true }
    }
}
