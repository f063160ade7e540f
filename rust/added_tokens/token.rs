//! An added token with its options.

/// A token outside the model's own; the names are Hugging Face's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "five independent options of the file format")]
pub struct AddedToken {
    /// The text to find.
    pub content: String,
    /// Only between characters that are not word characters.
    pub single_word: bool,
    /// Takes the white space before it.
    pub lstrip: bool,
    /// Takes the white space after it.
    pub rstrip: bool,
    /// Looked for in normalized text rather than in the original.
    pub normalized: bool,
    /// Left out when decoding with `skip_special_tokens`.
    pub special: bool,
}

impl AddedToken {
    /// A token with all options off but `normalized`, which is on unless the token is special.
    pub fn new(content: impl Into<String>, special: bool) -> Self {
        Self {
            content: content.into(),
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: !special,
            special,
        }
    }
}
