//! The golden cases of `WordPiece`; `tests/golden/README.md` describes their format.

use std::sync::Arc;

use lexmill::models::Tokens;
use lexmill::models::wordpiece::{WordPiece, WordPieceOptions};
use lexmill::pre_tokenizers::PreTokenizer;
use lexmill::trainers::word_counts::WordCounts;
use lexmill::trainers::wordpiece::{Score, WordPieceTrainer};
use lexmill::vocab::Vocab;
use lexmill::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::golden::{Cases, Encoded, read, textbook, value};

#[derive(Deserialize)]
struct EncodingCase {
    name: String,
    vocab: Vec<String>,
    options: Map<String, Value>,
    word: String,
    tokens: Option<Encoded>,
    error: Option<String>,
}

fn model(case: &EncodingCase) -> WordPiece {
    let mut options = WordPieceOptions::default();
    for (name, given) in &case.options {
        match name.as_str() {
            "unk_token" => options.unk_token = value(given),
            "continuing_subword_prefix" => options.continuing_subword_prefix = value(given),
            "max_input_chars_per_word" => options.max_input_chars_per_word = value(given),
            other => panic!("option {other}"),
        }
    }
    WordPiece::new(Arc::new(Vocab::from_tokens(&case.vocab)), options)
}

fn encode(model: &WordPiece, word: &str) -> Result<Encoded> {
    let mut tokens = Tokens::default();
    model.encode_word(word, &mut tokens)?;
    let mut end = 0;
    let token = |(&id, &len): (&u32, &u32)| {
        let start = end;
        end += len as usize;
        (id, model.vocab().token(id).unwrap_or_default().to_owned(), (start, end))
    };
    Ok(tokens.ids.iter().zip(&tokens.lens).map(token).collect())
}

#[test]
fn words_are_encoded_as_the_golden_cases_say() {
    for case in read::<Cases<EncodingCase>>(include_str!("../golden/wordpiece_encode.json")).cases {
        match (encode(&model(&case), &case.word), &case.error) {
            (Ok(found), None) => assert_eq!(Some(found), case.tokens, "{}", case.name),
            (Err(error @ Error::TokenNotInVocab { .. }), Some(expected)) => {
                assert_eq!(&error.to_string(), expected, "{}", case.name);
            }
            (found, _) => panic!("{}: {found:?}", case.name),
        }
    }
}

#[test]
fn the_textbook_is_followed_to_the_letter() -> Result<()> {
    let golden = textbook("wordpiece");
    let mut words = WordCounts::new();
    for sentence in value::<Vec<String>>(&textbook("corpus")) {
        for word in super::laws::pre_tokens(&PreTokenizer::Bert, &sentence)? {
            let place = (0..words.len()).find(|&place| words.word(place) == word);
            if place.is_none() {
                words.push(&word, value(&golden["word_counts"][&word]));
            }
        }
    }
    for score in [Score::Likelihood, Score::LikelihoodFloat64] {
        let trainer = WordPieceTrainer {
            vocab_size: value(&golden["vocab_size"]),
            special_tokens: value(&golden["special_tokens"]),
            score,
            ..WordPieceTrainer::default()
        };
        let trained = trainer.train(words.clone(), &mut |_| Ok(()))?;
        assert_eq!(trained.vocab, value::<Vec<String>>(&golden["vocab"]));
        let token = |id: u32| trained.vocab[id as usize].clone();
        let merges: Vec<_> =
            trained.merges.iter().map(|&(left, right)| (token(left), token(right))).collect();
        let expected: Vec<(String, String, f64)> = value(&golden["merges"]);
        assert_eq!(merges, expected.into_iter().map(|(left, right, _)| (left, right)).collect::<Vec<_>>());
        let model = WordPiece::new(Arc::new(Vocab::from_tokens(&trained.vocab)), WordPieceOptions::default());
        for (text, expected) in &value::<Map<String, Value>>(&golden["encode"]) {
            let mut found = Vec::new();
            for word in super::laws::pre_tokens(&PreTokenizer::Bert, text)? {
                found.extend(encode(&model, &word)?.into_iter().map(|(_, token, _)| token));
            }
            assert_eq!(found, value::<Vec<String>>(expected));
        }
    }
    Ok(())
}
