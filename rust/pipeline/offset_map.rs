//! From positions in the text that the model saw back to bytes of the chunk.

/// One rewritten character, or several with the same source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CharSpan {
    /// Bytes in the text that the model saw.
    pub(super) made: u32,
    /// Bytes of the chunk that the `made` bytes stand for.
    pub(super) own: u32,
    /// Further bytes of the chunk, after the `own` bytes, that no rewritten character stands for.
    pub(super) gap: u32,
}

impl CharSpan {
    pub(super) fn new(made: usize, own: usize) -> Self {
        Self { made: made as u32, own: own as u32, gap: 0 }
    }
}

/// Maps ascending positions in the text that the model saw to bytes of the chunk.
#[derive(Debug)]
pub(super) struct OffsetMap<I> {
    char_spans: I,
    /// The span that the last position was in or before.
    current: CharSpan,
    /// Start of the current span in the text that the model saw.
    made: usize,
    /// Start of the current span in the chunk.
    own: usize,
    /// End in the chunk of the span before the current one.
    end: usize,
}

impl<I: Iterator<Item = CharSpan>> OffsetMap<I> {
    pub(super) fn new(char_spans: I) -> Self {
        Self { char_spans, current: CharSpan::default(), made: 0, own: 0, end: 0 }
    }

    /// The byte of the chunk where the text after position `at` begins, and the one where the text before `at` ends. A character
    /// that `at` lies inside counts whole.
    ///
    /// `at` is not below the position asked for last. All calls together take time linear in the chunk.
    #[inline]
    pub(super) fn around(&mut self, at: usize) -> (usize, usize) {
        while self.made + self.current.made as usize <= at {
            self.made += self.current.made as usize;
            self.end = self.own + self.current.own as usize;
            self.own = self.end + self.current.gap as usize;
            let Some(next) = self.char_spans.next() else {
                // No position lies after this one.
                self.current = CharSpan { made: u32::MAX, ..CharSpan::default() };
                break;
            };
            self.current = next;
        }
        (self.own, if at == self.made { self.end } else { self.own + self.current.own as usize })
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
                // Bounds of each character in the seen text and in the word; at either end, one without bytes of the word.
                let (mut seen, mut at_own, mut bounds) = (0, 0, vec![(0..0, 0..0)]);
                for &(made, own, gap) in &char_spans {
                    bounds.push((seen..seen + made, at_own..at_own + own));
                    (seen, at_own) = (seen + made, at_own + own + gap as usize);
                }
                bounds.push((seen..seen + 1, at_own..at_own));
                let start = bounds.iter().find(|(seen, _)| seen.contains(&at)).map(|(_, own)| own.start);
                let end = bounds.iter().find(|(seen, _)| seen.end >= at).map(|(_, own)| own.end);
                prop_assert_eq!(Some(places.around(at)), start.zip(end));
            }
        }
    }
}
