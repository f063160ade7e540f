//! OffsetMap in a word before and after its characters were mapped to others.

/// What became of a character: bytes in what the model saw, units of the word that these stand for, and units after those
/// that nothing stands for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CharSpan {
    pub(super) made: u32,
    pub(super) own: u32,
    pub(super) gap: u32,
}

impl CharSpan {
    pub(super) fn new(made: usize, own: usize) -> Self {
        Self { made: made as u32, own: own as u32, gap: 0 }
    }
}

/// Follows ascending places in what a model saw back to the units of the word that was mapped.
#[derive(Debug)]
pub(super) struct OffsetMap<I> {
    /// Of each character.
    char_spans: I,
    /// The character that the last place was in or before.
    width: CharSpan,
    mapped: usize,
    own: usize,
    /// The end of the units that the character before stands for.
    end: usize,
}

impl<I: Iterator<Item = CharSpan>> OffsetMap<I> {
    pub(super) fn new(char_spans: I) -> Self {
        Self { char_spans, width: CharSpan::default(), mapped: 0, own: 0, end: 0 }
    }

    /// The unit that what lies after the place `at` begins with, and the one that what lies before it ends with; a
    /// character that the place is inside of counts whole.
    ///
    /// Not below the place that was asked for last. All together take time linear in the word.
    #[inline]
    pub(super) fn around(&mut self, at: usize) -> (usize, usize) {
        while self.mapped + self.width.made as usize <= at {
            self.mapped += self.width.made as usize;
            self.end = self.own + self.width.own as usize;
            self.own = self.end + self.width.gap as usize;
            let Some(width) = self.char_spans.next() else {
                // No place is after this one.
                self.width = CharSpan { made: u32::MAX, ..CharSpan::default() };
                break;
            };
            self.width = width;
        }
        (self.own, if at == self.mapped { self.end } else { self.own + self.width.own as usize })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn offset_map_matches_naive(
            char_spans in prop::collection::vec((1..4usize, 1..4usize, 0..3u32), 0..30),
            steps in prop::collection::vec(0..5usize, 0..60),
        ) {
            let width = |&(made, own, gap): &(usize, usize, u32)| CharSpan { gap, ..CharSpan::new(made, own) };
            let mut places = OffsetMap::new(char_spans.iter().map(width));
            let total: usize = char_spans.iter().map(|width| width.0).sum();
            let mut at = 0;
            for step in steps {
                at = total.min(at + step);
                // Bounds of each character in what was seen and in the word, one without any at either end.
                let (mut seen, mut unit, mut bounds) = (0, 0, vec![(0..0, 0..0)]);
                for &(made, own, gap) in &char_spans {
                    bounds.push((seen..seen + made, unit..unit + own));
                    (seen, unit) = (seen + made, unit + own + gap as usize);
                }
                bounds.push((seen..seen + 1, unit..unit));
                let start = bounds.iter().find(|(seen, _)| seen.contains(&at)).map(|(_, own)| own.start);
                let end = bounds.iter().find(|(seen, _)| seen.end >= at).map(|(_, own)| own.end);
                prop_assert_eq!(Some(places.around(at)), start.zip(end));
            }
        }
    }
}
