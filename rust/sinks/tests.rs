//! Sinks against loops over all tokens.

use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::cache::{CacheLimits, ChunkTokens};

proptest! {
    #[test]
    fn push_hits_matches_naive(
        known in prop::collection::vec("[ab]{1,9}", 0..20),
        asked in prop::collection::vec("[ab]{1,9}", 1..40),
        (id_bound, most) in prop_oneof![Just((1 << 16, 7)), Just((1 << 20, 3))],
    ) {
        let mut cache = ChunkCache::new(CacheLimits { bytes: 1 << 20, id_bound });
        for word in &known {
            let miss = |range: Range<usize>, out: &mut ChunkTokens| {
                out.ids.extend(word.as_bytes()[range].iter().map(|&byte| u32::from(byte)));
                Ok(())
            };
            prop_assert!(cache.get_or_insert_with(word.as_bytes(), 0, word.len(), miss).is_ok());
        }
        let lookups: Vec<Lookup> =
            asked.iter().map(|word| cache.prefetch(word.as_bytes(), 0, word.len(), 0, false)).collect();
        let is_hit = |word: &&String| known.contains(word) && word.len() <= most;
        let hits: Vec<&String> = asked.iter().take_while(is_hit).collect();
        let naive: Vec<u32> = hits.iter().flat_map(|word| word.bytes().map(u32::from)).collect();
        let (mut wide, mut narrow) = (Vec::<u32>::new(), Vec::<u16>::new());
        prop_assert_eq!(IdSink(&mut wide).emit_hits(&cache, &lookups), hits.len());
        prop_assert_eq!(IdSink(&mut narrow).emit_hits(&cache, &lookups), hits.len());
        let mut counted = Vec::<()>::new();
        prop_assert_eq!(IdSink(&mut counted).emit_hits(&cache, &lookups), hits.len());
        prop_assert_eq!(counted.len(), naive.len());
        prop_assert_eq!(&wide, &naive);
        prop_assert_eq!(narrow, naive.iter().map(|&id| id as u16).collect::<Vec<_>>());
    }

    #[test]
    fn push_spans_matches_naive(
        known in prop::collection::vec("[ab]{1,9}", 0..20),
        asked in prop::collection::vec("[ab]{1,9}", 1..40),
        (id_bound, most) in prop_oneof![Just((1 << 16, 7)), Just((1 << 20, 3))],
        has_words: bool,
    ) {
        let mut cache = ChunkCache::new(CacheLimits { bytes: 1 << 20, id_bound });
        for word in &known {
            let miss = |range: Range<usize>, out: &mut ChunkTokens| {
                out.ids.extend(word.as_bytes()[range].iter().map(|&byte| u32::from(byte)));
                Ok(())
            };
            prop_assert!(cache.get_or_insert_with(word.as_bytes(), 0, word.len(), miss).is_ok());
        }
        let (text, token_lens) = (asked.concat(), vec![1; 256]);
        let (mut lookups, mut end) = (Vec::new(), 0);
        for (at, word) in asked.iter().enumerate() {
            lookups.push(cache.prefetch(text.as_bytes(), end, end + word.len(), at as u32, false));
            end += word.len();
        }
        let is_hit = |word: &&String| known.contains(word) && word.len() <= most;
        let hits: Vec<&String> = asked.iter().take_while(is_hit).collect();
        let ids: Vec<u32> = hits.iter().flat_map(|word| word.bytes().map(u32::from)).collect();
        let offsets: Vec<[u32; 2]> = (0..ids.len() as u32).map(|at| [at, at + 1]).collect();
        let word_ids = hits.iter().enumerate().flat_map(|(at, word)| vec![at as i32; word.len()]);
        let word_ids: Vec<i32> = if has_words { word_ids.collect() } else { Vec::new() };
        let (mut wide, mut narrow) = (SpanColumns::<u32>::new(has_words, false), SpanColumns::<u16>::new(has_words, false));
        prop_assert_eq!(wide.push_hits(&cache, &lookups, &token_lens, &mut None), Some(hits.len()));
        prop_assert_eq!(narrow.push_hits(&cache, &lookups, &token_lens, &mut None), Some(hits.len()));
        prop_assert_eq!(&narrow.ids, &ids.iter().map(|&id| id as u16).collect::<Vec<_>>());
        prop_assert_eq!((&wide.ids, &wide.offsets, &wide.words), (&ids, &offsets, &word_ids));
        prop_assert_eq!((&narrow.offsets, &narrow.words), (&offsets, &word_ids));
    }
}
