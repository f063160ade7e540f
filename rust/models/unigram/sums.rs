//! How the scores of the pieces of a path are added up.

/// Arithmetic on sums of scores.
pub(super) trait Sums: Copy {
    /// The largest relative error of a sum.
    const EPSILON: f64;
    /// Where the sum to a place is further from 0, it is taken from those to all places ahead, and from itself, before
    /// pieces that start there are looked at.
    const LARGEST: f64;

    /// What is kept of a sum.
    fn rounded(sum: f64) -> f64;
}

/// 64 bits, as Hugging Face keeps them.
#[derive(Clone, Copy, Debug)]
pub(super) struct F64Scores;

impl Sums for F64Scores {
    const EPSILON: f64 = f64::EPSILON;
    const LARGEST: f64 = f64::INFINITY;

    fn rounded(sum: f64) -> f64 {
        sum
    }
}

/// 32 bits, as SentencePiece keeps them; the limit was found by trying (0.2.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct F32Scores;

impl Sums for F32Scores {
    const EPSILON: f64 = f32::EPSILON as f64;
    const LARGEST: f64 = 100_000.0;

    fn rounded(sum: f64) -> f64 {
        f64::from(sum as f32)
    }
}
