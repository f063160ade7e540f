//! Synthetic words, and counted words, for training.

use foldhash::{HashMap, HashMapExt};
use lexmill::trainers::word_counts::WordCounts;

/// Counts words, in order of first appearance.
pub(crate) fn count_words<'a>(words: impl Iterator<Item = &'a str>) -> WordCounts {
    let mut indices = HashMap::new();
    let mut counted: Vec<(&str, u64)> = Vec::new();
    for word in words {
        let index = *indices.entry(word).or_insert(counted.len());
        if index == counted.len() {
            counted.push((word, 0));
        }
        counted[index].1 += 1;
    }
    let mut counts = WordCounts::new();
    for (word, count) in counted {
        counts.push(word, count);
    }
    counts
}

/// Words of two to four syllables, the early syllables much more frequent than the late ones.
pub(crate) fn synthetic_words() -> impl Iterator<Item = String> {
    let mut state = 1u64;
    let mut below = move |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    std::iter::repeat_with(move || {
        let mut word = String::new();
        for _ in 0..2 + below(3) {
            let bound = 1 + below(400);
            let syllable = below(bound);
            word.push(char::from(b'a' + (syllable % 26) as u8));
            word.push(char::from(b'a' + (syllable / 26) as u8));
        }
        word
    })
}
