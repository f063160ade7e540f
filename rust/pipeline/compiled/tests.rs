use proptest::prelude::*;

use super::*;
use crate::added_tokens::AddedToken;
use crate::models::wordlevel::WordLevel;
use crate::models::wordpiece::{WordPiece, WordPieceOptions};
use crate::normalizers::Bert;
use crate::pipeline::testing::ids;
use crate::testing::cases;

proptest! {
    #![proptest_config(cases(500))]

    /// A pipeline that got its added tokens later gives the ids of one that was compiled with them, also from warm caches.
    #[test]
    fn with_added_matches_naive(
        calls in prop::collection::vec(
            (prop::collection::vec(("[ab<]{1,3}", any::<bool>(), any::<bool>()), 0..3), any::<bool>()), 1..5),
        texts in prop::collection::vec("[abc<> ]{0,12}", 1..4),
        kind in 0..3usize,
    ) {
        let vocab = Arc::new(Vocab::from_tokens(["[UNK]", "a", "b", "ab", "##b", "c"]));
        let model = Arc::new(match kind {
            0 => Model::WordLevel(WordLevel::new(vocab, "[UNK]".to_owned())),
            _ => Model::WordPiece(WordPiece::new(vocab, WordPieceOptions::default())),
        });
        let stages = || match kind {
            2 => (Some(Normalizer::Bert(Bert::default())), Some(PreTokenizer::Bert)),
            _ => (Some(Normalizer::Lowercase), Some(PreTokenizer::Whitespace)),
        };
        let new = |added: &AddedTokens, encode_special| {
            let (normalizer, pre_tokenizer) = stages();
            let added = Arc::new(added.clone());
            Pipeline::new(normalizer, pre_tokenizer, Arc::clone(&model), added, encode_special, 1 << 20)
        };
        let mut added = AddedTokens::default();
        let mut pipeline = new(&added, false).expect("valid");
        for (tokens, encode_special) in calls {
            let tokens = tokens.into_iter().map(|(content, special, normalized)| AddedToken {
                normalized,
                ..AddedToken::new(content, special)
            });
            added.add(&tokens.collect::<Vec<_>>(), model.vocab());
            pipeline = pipeline.with_added(Arc::new(added.clone()), encode_special).expect("valid");
            let naive = new(&added, encode_special).expect("valid");
            prop_assert_eq!(pipeline.plan(), naive.plan());
            for text in &texts {
                prop_assert_eq!(ids(&pipeline, text), ids(&naive, text));
            }
        }
    }
}
