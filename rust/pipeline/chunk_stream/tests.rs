use std::sync::Arc;

use proptest::prelude::*;

use crate::added_tokens::AddedTokens;
use crate::byte_level::BYTE_TO_CHAR;
use crate::models::Model;
use crate::models::bpe::{Bpe, BpeOptions};
use crate::pipeline::testing::{ids, tokens};
use crate::pipeline::{Pipeline, Plan};
use crate::pre_tokenizers::{ByteLevel, PreTokenizer};
use crate::sinks::IdSink;
use crate::testing::cases;
use crate::vocab::Vocab;

/// Bytes, and pairs of them; a pair may end within a character.
fn bpe_of_bytes(choices: &[(u8, u8)], ignore_merges: bool) -> Bpe {
    let mut names: Vec<String> = BYTE_TO_CHAR.iter().map(char::to_string).collect();
    let mut pairs = Vec::new();
    // Bytes of the letters below, and tokens made of them.
    let letters: Vec<usize> = " abдя가나日本ไท".bytes().map(usize::from).collect();
    for &(left, right) in choices {
        let choose = |choice: u8| *letters.get(choice as usize).unwrap_or(&(256 + choice as usize % 16));
        let (left, right) = (choose(left % 48), choose(right % 48));
        let (Some(first), Some(second)) = (names.get(left), names.get(right)) else { continue };
        let joined = format!("{first}{second}");
        if !names.contains(&joined) {
            pairs.push(((left as u32, right as u32), names.len() as u32));
            names.push(joined);
        }
    }
    let options = BpeOptions { ignore_merges, ..BpeOptions::default() };
    Bpe::from_pairs(Arc::new(Vocab::from_tokens(&names)), &pairs, options).expect("no dropout")
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn medium_chunks_match_naive(
        choices in prop::collection::vec((any::<u8>(), any::<u8>()), 0..60),
        ignore_merges: bool,
        words in prop::collection::vec(" ?[ab]{1,40}| ?[дя]{1,18}| ?[가나]{1,12}| ?[日本]{1,12}| ?[ไท]{1,12}|[aд가日ไ ]{1,20}", 1..30),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..60),
        limit in prop_oneof![Just(0usize), Just(1 << 13), Just(1 << 20)],
    ) {
        let model = Arc::new(Model::Bpe(bpe_of_bytes(&choices, ignore_merges)));
        let byte_level = ByteLevel { add_prefix_space: false, ..ByteLevel::default() };
        let pipeline = || {
            let (model, added) = (Arc::clone(&model), Arc::new(AddedTokens::default()));
            Pipeline::new(None, Some(PreTokenizer::ByteLevel(byte_level)), model, added, false, limit).expect("valid")
        };
        let (fast, naive) = (pipeline(), pipeline().with_plan(Plan::Staged));
        fast.encoder().cut_points(1 << 20);
        // The same words again and again: first missed, then put together, then kept.
        let text: String = order.iter().map(|at| at.get(&words).as_str()).collect();
        let (expected, mut worker) = (ids(&naive, &text), fast.pool().take());
        for _ in 0..3 {
            let mut found = Vec::<u32>::new();
            fast.encode(&text, &mut worker, &mut IdSink(&mut found)).expect("all bytes are known");
            prop_assert_eq!(&found, &expected);
        }
        prop_assert_eq!(tokens(&fast, &text), tokens(&naive, &text));
    }
}

#[test]
fn ignore_merges_holds_of_whole_pre_tokens_only() {
    // No merge makes `cd`, so it is found where it is a pre-token, and not where a cut makes it a fragment.
    let mut tokens: Vec<String> = BYTE_TO_CHAR.iter().map(char::to_string).collect();
    tokens.push("cd".to_owned());
    // Long pre-tokens of text are cut only where unknown characters have a token.
    let unk_token = Some("a".to_owned());
    let options = BpeOptions { ignore_merges: true, unk_token, ..BpeOptions::default() };
    let bpe = Bpe::from_pairs(Arc::new(Vocab::from_tokens(&tokens)), &[], options).expect("no dropout");
    let byte_level = ByteLevel { add_prefix_space: false, ..ByteLevel::default() };
    for pre_tokenizer in [
        PreTokenizer::ByteLevel(byte_level),
        PreTokenizer::Sequence(vec![PreTokenizer::ByteLevel(byte_level), PreTokenizer::Sequence(Vec::new())]),
    ] {
        let (model, added) = (Arc::new(Model::Bpe(bpe.clone())), Arc::new(AddedTokens::default()));
        let pipeline = Pipeline::new(None, Some(pre_tokenizer), model, added, false, 1 << 20).expect("valid");
        assert!(pipeline.encoder().cut_points(1 << 20).is_some());
        let mut ids = Vec::<u32>::new();
        let mut worker = pipeline.pool().take();
        let text = "cd\n".to_owned() + &"a".repeat(20) + "cd\n" + "cd";
        pipeline.encode(&text, &mut worker, &mut IdSink(&mut ids)).expect("all bytes are known");
        let [a, c, d, newline, cd] = [97, 99, 100, 10, 256];
        let mut expected = vec![cd, newline];
        expected.extend([a; 20]);
        expected.extend([c, d, newline, cd]);
        assert_eq!(ids, expected);
    }
}
