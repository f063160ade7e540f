//! Options that the Metaspace pre-tokenizer and decoder share: a visible character instead of spaces.

/// The visible space in common use, U+2581.
pub const VISIBLE_SPACE: char = '\u{2581}';

/// Appends `text` to `out`, with each space made visible.
pub fn push_visible(text: &str, out: &mut String) {
    let mut words = text.split(' ');
    out.extend(words.next());
    for word in words {
        out.push(VISIBLE_SPACE);
        out.push_str(word);
    }
}

/// Where a visible space is added before text that does not start with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrependScheme {
    /// Only at the beginning of the original text.
    First,
    /// Nowhere.
    Never,
    /// Before every segment of a text, also one after an added token.
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
    /// The character that replaces a space.
    pub replacement: char,
    /// Where one is added before the text; decoding removes it.
    pub prepend_scheme: PrependScheme,
    /// Cuts before every replacement; the decoder ignores it.
    pub split: bool,
}

impl Default for Metaspace {
    fn default() -> Self {
        Self { replacement: VISIBLE_SPACE, prepend_scheme: PrependScheme::Always, split: true }
    }
}
