//! The versions of the format of `tokenizer.json`.

/// The versions of the format: of Hugging Face `tokenizers` 0.x, and of 1.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// Stages as Hugging Face `tokenizers` 0.x has them.
    #[default]
    One,
    /// `byte_level` of the model stands for `ByteLevel`, a normalizer makes spaces visible, and templates have ids.
    Two,
}

impl Version {
    /// All versions with their names in files.
    pub const NAMES: [(Self, &'static str); 2] =
        [(Self::One, Self::One.name()), (Self::Two, Self::Two.name())];

    /// The version of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|&(_, known)| known == name).map(|(version, _)| version)
    }

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "1.0",
            Self::Two => "2.0",
        }
    }
}
