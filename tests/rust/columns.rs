//! Columns written by the layout of rows, against the same read from encodings.

use std::num::NonZero;
use std::sync::Arc;

use lexmill::added_tokens::{AddedToken, AddedTokens};
use lexmill::encoding::{Direction, Padding, Symbol};
use lexmill::models::Model;
use lexmill::models::wordlevel::WordLevel;
use lexmill::pre_tokenizers::PreTokenizer;
use lexmill::processors::{Bert, PostProcessor, Roberta};
use lexmill::tokenizer::{
    ColumnOptions, Components, PaddingLength, PaddingRule, Tokenizer, Truncation, TruncationStrategy,
};
use lexmill::vocab::Vocab;
use proptest::prelude::*;
use proptest::sample::select;

fn symbol(id: u32, text: &str) -> Symbol {
    Symbol { id, text: text.into() }
}

fn processors() -> impl Strategy<Value = Option<PostProcessor>> {
    let (sep, cls) = (symbol(2, "</s>"), symbol(1, "<s>"));
    let bert = PostProcessor::Bert(Bert { sep: sep.clone(), cls: cls.clone() });
    let roberta = |trim_offsets, add_prefix_space| {
        let (sep, cls) = (sep.clone(), cls.clone());
        PostProcessor::Roberta(Roberta { sep, cls, trim_offsets, add_prefix_space })
    };
    let trim = PostProcessor::ByteLevel { add_prefix_space: true, trim_offsets: true, use_regex: true };
    let both = [
        PostProcessor::Sequence(vec![trim.clone(), bert.clone()]),
        PostProcessor::Sequence(vec![bert.clone(), trim.clone()]),
        PostProcessor::Sequence(vec![roberta(true, true), roberta(true, false)]),
    ];
    let single = [bert, roberta(true, false), roberta(true, true), roberta(false, true), trim];
    select(single.into_iter().chain(both).map(Some).chain([None]).collect::<Vec<_>>())
}

fn truncations() -> impl Strategy<Value = Option<Truncation>> {
    let strategies = TruncationStrategy::NAMES.map(|(strategy, ..)| strategy);
    let truncation = (0..12usize, 0..3usize, select(strategies.to_vec()), any::<bool>());
    let truncation = truncation.prop_map(|(max_length, stride, strategy, is_left)| Truncation {
        direction: if is_left { Direction::Left } else { Direction::Right },
        max_length,
        strategy,
        stride,
    });
    prop::option::of(truncation)
}

fn paddings() -> impl Strategy<Value = Option<PaddingRule>> {
    let padding = (prop::option::of(0..12usize), prop::option::of(1..5usize), any::<bool>());
    let padding = padding.prop_map(|(length, pad_to_multiple_of, is_left)| PaddingRule {
        length: length.map_or(PaddingLength::BatchLongest, PaddingLength::Fixed),
        pad_to_multiple_of,
        padding: Padding {
            symbol: symbol(0, "<pad>"),
            type_id: 3,
            direction: if is_left { Direction::Left } else { Direction::Right },
        },
    });
    prop::option::of(padding)
}

fn tokenizer(processor: Option<PostProcessor>) -> Tokenizer {
    // The spaces are what post-processors trim; `?` is the unknown token, which is spelled as the text.
    let tokens = ["<pad>", "<s>", "</s>", "?", "a", "é", " ", "ab", "."];
    let vocab = Arc::new(Vocab::from_tokens(tokens));
    let mut added = AddedTokens::default();
    let token = AddedToken { rstrip: true, ..AddedToken::new("[x]", true) };
    added.add(&[token], &vocab);
    let components = Components {
        pre_tokenizer: Some(PreTokenizer::FixedLength { length: NonZero::<usize>::MIN }),
        post_processor: processor,
        added: Arc::new(added),
        ..Components::of_model(Arc::new(Model::WordLevel(WordLevel::new(vocab, "?".to_owned()))))
    };
    Tokenizer::new(&components).expect("valid parts")
}

proptest! {
    #[test]
    fn columns_match_naive(
        processor in processors(),
        (truncation, padding) in (truncations(), paddings()),
        texts in prop::collection::vec(("[aé b.z]{0,9}(\\[x\\])?[a ]{0,3}", "[aé b.z]{0,9}"), 0..5),
        has_pairs: bool,
        add_special_tokens: bool,
        columns in any::<[bool; 6]>(),
        threads in 1..3usize,
    ) {
        let tokenizer = tokenizer(processor).with_limits(truncation, padding);
        let (texts, pairs): (Vec<&str>, Vec<&str>) =
            texts.iter().map(|(text, pair)| (text.as_str(), pair.as_str())).unzip();
        let pairs = has_pairs.then_some(pairs.as_slice());
        let [offsets, word_ids, type_ids, attention_mask, special_tokens_mask, overflowing] = columns;
        let options = ColumnOptions { offsets, word_ids, type_ids, attention_mask, special_tokens_mask, overflowing };
        let fast = tokenizer.encode_columns::<u32>(&texts, pairs, options, add_special_tokens, threads);
        let naive = tokenizer.columns_by_encodings::<u32>(&texts, pairs, options, add_special_tokens, threads);
        match (fast, naive) {
            (Ok(fast), Ok(naive)) => prop_assert_eq!(fast, naive),
            (fast, naive) => prop_assert_eq!(
                fast.err().map(|error| error.to_string()),
                naive.err().map(|error| error.to_string())
            ),
        }
    }
}

#[test]
fn another_number_of_pairs_than_of_texts_is_refused() {
    let (tokenizer, options) = (tokenizer(None), ColumnOptions::default());
    let (texts, pairs) = (["a", "b"], Some(["a"].as_slice()));
    let fast = tokenizer.encode_columns::<u32>(&texts, pairs, options, true, 1);
    let naive = tokenizer.columns_by_encodings::<u32>(&texts, pairs, options, true, 1);
    for refused in [fast, naive] {
        let message = refused.expect_err("one pair is missing").to_string();
        assert_eq!(message, "number of pairs is 1 but must be 2, the number of texts");
    }
}
