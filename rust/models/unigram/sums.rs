//! Arithmetic on the sums of scores along a path: 64 bits as Hugging Face has it, 32 bits as SentencePiece has it.

/// The precision of sums.
pub(super) trait Sums: Copy {
    /// The largest relative error of a sum.
    const EPSILON: f64;
    /// Rebasing threshold: if the magnitude of the sum at a position is larger, that sum is subtracted from the sums at all
    /// positions ahead, and from itself, before the pieces that start there are looked at.
    const LARGEST: f64;

    /// The sum, rounded to this precision.
    fn rounded(sum: f64) -> f64;
}

/// 64 bits, as in Hugging Face.
#[derive(Clone, Copy, Debug)]
pub(super) struct F64Scores;

impl Sums for F64Scores {
    const EPSILON: f64 = f64::EPSILON;
    const LARGEST: f64 = f64::INFINITY;

    fn rounded(sum: f64) -> f64 {
        sum
    }
}

/// 32 bits, as in SentencePiece; the threshold was found by experiments with version 0.2.3.
#[derive(Clone, Copy, Debug)]
pub(super) struct F32Scores;

impl Sums for F32Scores {
    const EPSILON: f64 = f32::EPSILON as f64;
    const LARGEST: f64 = 100_000.0;

    fn rounded(sum: f64) -> f64 {
        f64::from(sum as f32)
    }
}
