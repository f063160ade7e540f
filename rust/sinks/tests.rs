//! Sinks against loops over all tokens.

use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::cache::key::SHORT;
use crate::cache::{CacheLimits, ChunkKind, ChunkTokens};

/// The ids that a model may have for a word: few enough for a slot, or a few more.
fn ids_of(word: &[u8]) -> impl Iterator<Item = u32> {
    word.iter().step_by(if word.len() > SHORT { 3 } else { 1 }).map(|&byte| u32::from(byte))
}

/// A cache that knows some words.
fn cache_of(known: &[String], id_bound: usize) -> ChunkCache {
    let mut cache = ChunkCache::new(CacheLimits { bytes: 1 << 20, id_bound });
    for word in known {
        let miss = |range: Range<usize>, out: &mut ChunkTokens| {
            out.ids.extend(ids_of(&word.as_bytes()[range]));
            Ok(())
        };
        cache.get_or_insert_with(word.as_bytes(), 0, word.len(), miss).expect("nothing fails");
    }
    cache
}

/// All words in one text, and a lookup for each.
fn lookups_of(cache: &ChunkCache, asked: &[String]) -> (String, Vec<Lookup>) {
    let (text, mut lookups, mut start) = (asked.concat(), Vec::new(), 0);
    for (at, word) in asked.iter().enumerate() {
        lookups.push(cache.prefetch(text.as_bytes(), start, start + word.len(), at as u32, ChunkKind::Chunk));
        start += word.len();
    }
    (text, lookups)
}

/// The first of `asked` that have all their ids in a slot, which holds `most` of them, or twice as many and one more.
fn hits<'a>(known: &[String], asked: &'a [String], most: usize) -> Vec<&'a String> {
    let room = |word: &str| if word.len() > SHORT { 2 * most + 1 } else { most };
    let is_hit = |word: &&String| known.contains(word) && ids_of(word.as_bytes()).count() <= room(word);
    asked.iter().take_while(is_hit).collect()
}

const WORD: &str = "[ab]{1,9}|[ab]{16,24}";

proptest! {
    #[test]
    fn push_hits_matches_naive(
        known in prop::collection::vec(WORD, 0..20),
        others in prop::collection::vec(WORD, 1..8),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
        (id_bound, most) in prop_oneof![Just((1 << 16, 7)), Just((1 << 20, 3))],
    ) {
        let all = [&known[..], &others].concat();
        let asked: Vec<String> = order.iter().map(|at| at.get(&all).clone()).collect();
        let cache = cache_of(&known, id_bound);
        let (text, lookups) = lookups_of(&cache, &asked);
        // Ids that have no room in a slot are found as well.
        let hits: Vec<&String> = asked.iter().take_while(|word| known.contains(word)).collect();
        prop_assert!(hits.len() >= self::hits(&known, &asked, most).len());
        let naive: Vec<u32> = hits.iter().flat_map(|word| ids_of(word.as_bytes())).collect();
        let (mut wide, mut narrow) = (Vec::<u32>::new(), Vec::<u16>::new());
        prop_assert_eq!(IdSink(&mut wide).emit_hits(&cache, text.as_bytes(), &lookups), hits.len());
        prop_assert_eq!(IdSink(&mut narrow).emit_hits(&cache, text.as_bytes(), &lookups), hits.len());
        let mut counted = Vec::<()>::new();
        prop_assert_eq!(IdSink(&mut counted).emit_hits(&cache, text.as_bytes(), &lookups), hits.len());
        prop_assert_eq!(counted.len(), naive.len());
        prop_assert_eq!(&wide, &naive);
        prop_assert_eq!(narrow, naive.iter().map(|&id| id as u16).collect::<Vec<_>>());
    }

    #[test]
    fn push_spans_matches_naive(
        known in prop::collection::vec(WORD, 0..20),
        others in prop::collection::vec(WORD, 1..8),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
        (id_bound, most) in prop_oneof![Just((1 << 16, 7)), Just((1 << 20, 3))],
        has_words: bool,
    ) {
        let all = [&known[..], &others].concat();
        let asked: Vec<String> = order.iter().map(|at| at.get(&all).clone()).collect();
        let (cache, token_lens) = (cache_of(&known, id_bound), vec![1; 256]);
        let (text, lookups) = lookups_of(&cache, &asked);
        let hits = hits(&known, &asked, most);
        let (mut ids, mut offsets, mut word_ids) = (Vec::new(), Vec::new(), Vec::new());
        for (at, word) in hits.iter().enumerate() {
            for (token, id) in ids_of(word.as_bytes()).enumerate() {
                let start = lookups[at].start + token as u32;
                ids.push(id);
                offsets.push([start, start + 1]);
                word_ids.extend(has_words.then_some(at as i32));
            }
        }
        let (mut wide, mut narrow) = (SpanColumns::<u32>::new(has_words, false), SpanColumns::<u16>::new(has_words, false));
        let taken = wide.push_hits(&cache, text.as_bytes(), &lookups, &token_lens, &mut None);
        prop_assert_eq!(taken, Some(hits.len()));
        let taken = narrow.push_hits(&cache, text.as_bytes(), &lookups, &token_lens, &mut None);
        prop_assert_eq!(taken, Some(hits.len()));
        prop_assert_eq!(&narrow.ids, &ids.iter().map(|&id| id as u16).collect::<Vec<_>>());
        prop_assert_eq!((&wide.ids, &wide.offsets, &wide.words), (&ids, &offsets, &word_ids));
        prop_assert_eq!((&narrow.offsets, &narrow.words), (&offsets, &word_ids));
    }
}
