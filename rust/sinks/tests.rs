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
}
