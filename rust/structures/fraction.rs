//! Fractions of large integers: compared exactly, and rounded once.

use std::cmp::Ordering;

/// A fraction between 0 and 1; the denominator is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// The numerator, at most the denominator.
    pub numerator: u64,
    /// The denominator.
    pub denominator: u128,
}

impl Fraction {
    /// Compares two fractions exactly.
    pub fn compare(self, other: Self) -> Ordering {
        product(self.numerator, other.denominator).cmp(&product(other.numerator, self.denominator))
    }

    /// The nearest 64-bit float; a tie goes to the even one, as in Python's division of integers.
    #[expect(clippy::cast_precision_loss, reason = "what is cast is exact")]
    pub fn rounded(self) -> f64 {
        let Self { numerator, denominator } = self;
        let exact = 1 << f64::MANTISSA_DIGITS;
        if numerator <= exact && denominator <= u128::from(exact) {
            // A float represents both exactly, so one division rounds the true quotient once.
            return numerator as f64 / denominator as f64;
        }
        divide(u128::from(numerator), denominator)
    }
}

/// The product in 192 bits, the upper 128 first.
fn product(small: u64, large: u128) -> (u128, u64) {
    let low = u128::from(small) * (large & u128::from(u64::MAX));
    let high = u128::from(small) * (large >> 64) + (low >> 64);
    (high, low as u64)
}

/// Long division, bit by bit: 53 bits of the quotient, and a 54th that decides the rounding. If it is 1 and no remainder is
/// left, the rounding is a tie.
#[expect(clippy::cast_precision_loss, reason = "53 bits and a carry are exact")]
fn divide(numerator: u128, denominator: u128) -> f64 {
    if numerator == 0 || numerator >= denominator {
        return f64::from(u8::from(numerator != 0));
    }
    let (mut rest, mut bits, mut places) = (numerator, 0_u64, 0);
    while bits >> f64::MANTISSA_DIGITS == 0 {
        // Doubling the remainder could overflow, so the denominator is subtracted first.
        let fits = rest >= denominator - rest;
        rest = if fits { rest - (denominator - rest) } else { 2 * rest };
        bits = bits << 1 | u64::from(fits);
        places += 1;
    }
    let (half, mut kept) = (bits & 1 == 1, bits >> 1);
    kept += u64::from(half && (rest != 0 || kept & 1 == 1));
    kept as f64 * 2_f64.powi(1 - places)
}

#[cfg(test)]
#[expect(clippy::float_cmp, clippy::cast_precision_loss, reason = "rounding is what is tested")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fractions() -> impl Strategy<Value = Fraction> {
        let scaled = (any::<u64>(), 0..64u32, any::<u128>(), 0..128u32);
        scaled.prop_map(|(numerator, less, denominator, lesser)| {
            let (numerator, denominator) = (numerator >> less, (denominator >> lesser).max(1));
            Fraction { numerator: numerator.min(u64::try_from(denominator).unwrap_or(u64::MAX)), denominator }
        })
    }

    proptest! {
        #[test]
        fn long_division_matches_naive(numerator in 0..=1u64 << 53, more in 0..=1u64 << 53) {
            let denominator = numerator.max(more).max(1);
            let naive = numerator as f64 / denominator as f64;
            prop_assert_eq!(divide(u128::from(numerator), u128::from(denominator)), naive);
        }

        #[test]
        fn rounding_keeps_the_order(one in fractions(), other in fractions()) {
            match one.compare(other) {
                Ordering::Less => prop_assert!(one.rounded() <= other.rounded()),
                Ordering::Equal => prop_assert_eq!(one.rounded(), other.rounded()),
                Ordering::Greater => prop_assert!(one.rounded() >= other.rounded()),
            }
        }

        #[test]
        fn comparing_matches_naive(one in (0..=1u64 << 20, 1..=1u64 << 40), other in (0..=1u64 << 20, 1..=1u64 << 40)) {
            let fraction = |(numerator, denominator): (u64, u64)| Fraction { numerator, denominator: denominator.into() };
            let naive = (u128::from(one.0) * u128::from(other.1)).cmp(&(u128::from(other.0) * u128::from(one.1)));
            prop_assert_eq!(fraction(one).compare(fraction(other)), naive);
        }
    }

    #[test]
    fn large_fractions_are_told_apart() {
        let third = Fraction { numerator: u64::MAX / 3, denominator: u128::from(u64::MAX) << 64 };
        let more = Fraction { numerator: u64::MAX / 3 + 1, ..third };
        assert_eq!((third.compare(more), more.compare(third)), (Ordering::Less, Ordering::Greater));
        assert_eq!(third.rounded(), more.rounded());
    }

    #[test]
    fn a_tie_is_rounded_to_even() {
        // 2^54 + 1 and 2^54 + 3, counted in halves of an ulp.
        let of = |numerator| Fraction { numerator, denominator: 1 << 60 }.rounded();
        assert_eq!(of((1 << 54) + 2), of(1 << 54));
        assert_eq!(of((1 << 54) + 6), of((1 << 54) + 8));
        assert_eq!(of((1 << 54) + 3), of((1 << 54) + 4));
    }
}
