//! Places in a word before and after its characters were mapped to others.

/// Follows ascending places in what a model saw back to the units of the word that was mapped.
#[derive(Debug)]
pub(super) struct Places<I> {
    /// Of each character: its bytes in what the model saw, and its units in the word.
    widths: I,
    /// The character that the last place was in or before.
    width: (usize, usize),
    mapped: usize,
    unit: usize,
}

impl<I: Iterator<Item = (usize, usize)>> Places<I> {
    pub(super) fn new(widths: I) -> Self {
        Self { widths, width: (0, 0), mapped: 0, unit: 0 }
    }

    /// The last unit boundary at or before the place `at` and the first one at or after it.
    ///
    /// Not below the place that was asked for last. All together take time linear in the word.
    pub(super) fn around(&mut self, at: usize) -> (usize, usize) {
        while self.mapped + self.width.0 <= at {
            self.mapped += self.width.0;
            self.unit += self.width.1;
            let Some(width) = self.widths.next() else {
                self.width = (0, 0);
                return (self.unit, self.unit);
            };
            self.width = width;
        }
        (self.unit, if at == self.mapped { self.unit } else { self.unit + self.width.1 })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_matches_naive(
            widths in prop::collection::vec((1..4usize, 1..4usize), 0..30),
            steps in prop::collection::vec(0..5usize, 0..60),
        ) {
            let mut places = Places::new(widths.iter().copied());
            let total: usize = widths.iter().map(|width| width.0).sum();
            let mut at = 0;
            for step in steps {
                at = total.min(at + step);
                let ends = |upto: usize| {
                    let (mut mapped, mut unit) = (0, 0);
                    for &(width, units) in &widths[..upto] {
                        (mapped, unit) = (mapped + width, unit + units);
                    }
                    (mapped, unit)
                };
                let borders: Vec<(usize, usize)> = (0..=widths.len()).map(ends).collect();
                let floor = borders.iter().rev().find(|border| border.0 <= at).expect("0 is a border").1;
                let ceil = borders.iter().find(|border| border.0 >= at).expect("the end is a border").1;
                prop_assert_eq!(places.around(at), (floor, ceil));
            }
        }
    }
}
