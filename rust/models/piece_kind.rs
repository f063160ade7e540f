//! Kinds of pieces in SentencePiece files.

/// The role of a piece, with its number in the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// A learned piece.
    Normal = 1,
    /// Stands for unknown characters.
    Unknown = 2,
    /// Stands for nothing in the text, such as its beginning.
    Control = 3,
    /// Always taken where the text holds it.
    UserDefined = 4,
    /// Has an id and is never taken.
    Unused = 5,
    /// Spells a byte of unknown characters.
    Byte = 6,
}

impl PieceKind {
    /// The kind with this number in a file.
    pub fn from_number(number: u64) -> Option<Self> {
        let all = [Self::Normal, Self::Unknown, Self::Control, Self::UserDefined, Self::Unused, Self::Byte];
        all.into_iter().find(|&kind| kind as u64 == number)
    }

    /// The kind in words, as SentencePiece's documentation has them.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Unknown => "unknown",
            Self::Control => "control",
            Self::UserDefined => "user defined",
            Self::Unused => "unused",
            Self::Byte => "a byte",
        }
    }

    /// True if text may be cut into pieces of this kind.
    pub fn is_in_text(self) -> bool {
        matches!(self, Self::Normal | Self::UserDefined)
    }
}
