//! Scores of pieces of kinds.

use crate::models::piece_kind::PieceKind;

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
