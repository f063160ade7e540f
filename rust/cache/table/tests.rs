//! The cache against a map without bounds.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// A model that gives each byte as a token, parts as others than whole pre-tokens, and longer words irregular spans.
fn model(word: &[u8], in_context: bool, tokens: &mut ChunkTokens) {
    tokens.ids.extend(word.iter().map(|&byte| u32::from(byte) + 1000 * u32::from(in_context)));
    tokens.is_regular = !word.len().is_multiple_of(3);
    tokens.spans.extend(word.iter().flat_map(|&byte| [u32::from(byte), word.len() as u32]));
}

impl ChunkCache {
    /// [`Self::prefetch`] and [`Self::resolve`] in one.
    ///
    /// # Errors
    /// The errors of `miss`.
    pub(crate) fn get_or_insert_with(
        &mut self,
        text: &[u8],
        start: usize,
        end: usize,
        miss: impl FnOnce(Range<usize>, &mut ChunkTokens) -> Result<()>,
    ) -> Result<CachedTokens<'_>> {
        self.resolve(self.prefetch(text, start, end, 0, ChunkKind::Chunk), text, miss)
    }
}

/// The ids of a word in its slot, if they are there.
fn in_slot(cache: &ChunkCache, lookup: Lookup, word: &str, with_spans: bool) -> Option<Vec<u32>> {
    if let Some(slot) = cache.get_short(&lookup) {
        return Some(cache.packing().unpack(slot)[..slot.count(with_spans)?].to_vec());
    }
    let slot = cache.get_medium(&lookup, word.as_bytes())?;
    Some(cache.packing().unpack(slot)[..slot.count(with_spans)?].to_vec())
}

proptest! {
    #[test]
    fn word_cache_matches_naive(
        words in prop::collection::vec(("[a-c]{1,4}|[a-c]{1,20}|a{10,40}", any::<bool>()), 1..400),
        limit in prop_oneof![Just(0), Just(200_000), Just(64 << 20)],
        id_bound in prop_oneof![Just(1 << 16), Just(1 << 20)],
    ) {
        let mut cache = ChunkCache::new(CacheLimits { bytes: limit, id_bound });
        let mut naive: HashMap<(String, bool), ChunkTokens> = HashMap::new();
        let mut calls = 0;
        for (word, in_context) in &words {
            let expected = naive.entry((word.clone(), *in_context)).or_insert_with(|| {
                let mut tokens = ChunkTokens::default();
                model(word.as_bytes(), *in_context, &mut tokens);
                tokens
            });
            let lookup = cache.prefetch(word.as_bytes(), 0, word.len(), 0, ChunkKind::in_context(*in_context));
            prop_assert_eq!(lookup.in_context(), *in_context);
            if let Some(ids) = in_slot(&cache, lookup, word, false) {
                prop_assert_eq!(&ids, expected.as_cached().ids);
            }
            if let Some(ids) = in_slot(&cache, lookup, word, true) {
                prop_assert_eq!(CachedTokens { ids: &ids, spans: None }, expected.as_cached());
                continue;
            }
            prop_assert!(limit > 0 || !lookup.is_medium() || !cache.contains(&lookup, word.as_bytes()));
            cache.note_batch(&[lookup], word.as_bytes());
            let found = cache.resolve(lookup, word.as_bytes(), |range, tokens| {
                calls += 1;
                model(&word.as_bytes()[range], *in_context, tokens);
                Ok(())
            }).expect("the model never fails");
            prop_assert_eq!(found, expected.as_cached());
        }
        if limit > 1 << 20 {
            prop_assert_eq!(calls, naive.len());
        }
    }
}

/// Words of a kind by number, with few ids.
fn word_of(kind: usize, number: usize) -> String {
    match kind {
        0 => format!("{number}"),
        1 => format!("long word with {number}"),
        _ => word_of(number % 2, number),
    }
}

#[test]
fn a_full_cache_keeps_to_the_limit_and_takes_new_words() {
    for (limit, kind) in
        [100_000, 1 << 20, 3 << 20].into_iter().flat_map(|limit| [(limit, 0), (limit, 1), (limit, 2)])
    {
        let mut cache = ChunkCache::new(CacheLimits { bytes: limit, id_bound: 1 << 16 });
        let mut calls = 0;
        let mut ask = |number| {
            let word = word_of(kind, number);
            let found = cache.get_or_insert_with(word.as_bytes(), 0, word.len(), |_, tokens| {
                calls += 1;
                tokens.ids.push(number as u32 % 1000);
                Ok(())
            });
            assert_eq!(found.expect("the model never fails").ids, [number as u32 % 1000]);
            assert!(cache.bytes() <= limit + (1 << 10), "{} bytes of {limit}", cache.bytes());
            calls
        };
        for number in 0..200_000 {
            ask(number);
        }
        // Most of the words met last are known, however small the table.
        let [first, second] = [(); 2].map(|()| (0..100).map(&mut ask).last().unwrap_or_default());
        assert!(second - first <= 50, "limit {limit}, kind {kind}: {} asked again", second - first);
    }
}

#[test]
fn an_arena_that_is_full_keeps_what_is_read() {
    let limit = 1 << 20;
    let mut cache = ChunkCache::new(CacheLimits { bytes: limit, id_bound: 1 << 16 });
    let mut calls = 0;
    let mut ask = |word: String| {
        let lookup = cache.prefetch(word.as_bytes(), 0, word.len(), 0, ChunkKind::Chunk);
        cache.mark_used(&[lookup], word.as_bytes());
        let found = cache.resolve(lookup, word.as_bytes(), |range, tokens| {
            calls += 1;
            model(&word.as_bytes()[range], false, tokens);
            Ok(())
        });
        let mut expected = ChunkTokens::default();
        model(word.as_bytes(), false, &mut expected);
        assert_eq!(found.expect("the model never fails"), expected.as_cached());
        assert!(cache.bytes() <= limit, "{} bytes", cache.bytes());
        calls
    };
    let mut again = 0;
    for number in 0..100_000 {
        let before = ask(format!("word {number:09}"));
        again += ask(format!("read {:09}", number % 10)) - before;
    }
    assert!(again < 100, "{again}");
}

#[test]
fn what_short_texts_read_again_outlives_what_is_met_once() {
    for kind in [0, 1] {
        let limit = 1 << 16;
        let mut cache = ChunkCache::new(CacheLimits { bytes: limit, id_bound: 1 << 16 });
        let mut calls = 0;
        // Each word is a batch of its own.
        let mut ask = |word: String| {
            let lookup = cache.prefetch(word.as_bytes(), 0, word.len(), 0, ChunkKind::Chunk);
            cache.note_batch(&[lookup], word.as_bytes());
            let found = cache.resolve(lookup, word.as_bytes(), |_, tokens| {
                calls += 1;
                tokens.ids.push(word.len() as u32);
                Ok(())
            });
            assert_eq!(found.expect("the model never fails").ids, [word.len() as u32]);
            calls
        };
        let mut again = 0;
        for number in 0..50_000 {
            let before = ask(word_of(kind, 1000 + number));
            // Three more, so that words read again fall into every place of four batches.
            again += (0..4).map(|at| ask(word_of(kind, (4 * number + at) % 37))).last().unwrap_or_default()
                - before;
        }
        assert!(again < 15_000, "kind {kind}: {again} of 200,000");
    }
}

#[test]
fn what_was_met_before_counts_as_memory() {
    for (limit, is_noted) in [(1 << 18, false), (1 << 20, true)] {
        let mut cache = ChunkCache::new(CacheLimits { bytes: limit, id_bound: 1 << 16 });
        let lookup = cache.prefetch(b"a chunk of medium size", 0, 22, 0, ChunkKind::Chunk);
        assert_eq!([cache.is_met_again(&lookup), cache.is_met_again(&lookup)], [!is_noted, true]);
        assert_eq!(cache.bytes(), if is_noted { 1 << 16 } else { 0 });
    }
}

#[test]
fn the_limit_holds() {
    let limit = 1 << 20;
    let mut cache = ChunkCache::new(CacheLimits { bytes: limit, id_bound: 1 << 16 });
    for number in 0..200_000 {
        let word = format!("word {number} with a tail {}", "x".repeat(number % 30));
        let result = cache.get_or_insert_with(word.as_bytes(), 0, word.len(), |range, tokens| {
            model(&word.as_bytes()[range], false, tokens);
            Ok(())
        });
        assert!(result.is_ok());
        assert!(cache.bytes() <= limit, "{} bytes", cache.bytes());
    }
}
