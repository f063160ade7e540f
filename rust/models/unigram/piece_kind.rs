//! Kinds of pieces in SentencePiece's own files, and what they change in encoding.

/// What a piece is there for; the numbers are those of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// A piece that was learnt.
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
    /// The kind of a number in a file.
    pub fn from_number(number: u64) -> Option<Self> {
        let all = [Self::Normal, Self::Unknown, Self::Control, Self::UserDefined, Self::Unused, Self::Byte];
        all.into_iter().find(|&kind| kind as u64 == number)
    }

    /// Whether text may be cut into such pieces.
    pub(super) fn is_in_text(self) -> bool {
        matches!(self, Self::Normal | Self::UserDefined)
    }
}

/// The scores that pieces are chosen by: a user-defined one counts more than whatever else covers the same text.
///
/// In the precision of SentencePiece, which multiplies in 32 bits, subtracts in 64, and keeps 32.
pub(super) fn effective_scores<T: AsRef<str>>(pieces: &[(T, f64)], kinds: &[PieceKind]) -> Vec<f64> {
    let normal = pieces.iter().zip(kinds).filter(|&(_, &kind)| kind == PieceKind::Normal);
    let max_score = normal.map(|(&(_, score), _)| score as f32).fold(f32::MIN_POSITIVE, f32::max);
    let score = |((piece, score), &kind): (&(T, f64), &PieceKind)| match kind {
        PieceKind::UserDefined => f64::from((f64::from(length(piece.as_ref()) * max_score) - 0.1) as f32),
        _ => *score,
    };
    pieces.iter().zip(kinds).map(score).collect()
}

#[expect(clippy::cast_precision_loss, reason = "pieces are far shorter than 2^24 bytes")]
fn length(piece: &str) -> f32 {
    piece.len() as f32
}
