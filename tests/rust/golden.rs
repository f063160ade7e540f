//! The golden cases; `tests/golden/README.md` describes their format.

use lexmill::models::Tokens;
use lexmill::models::bpe::{Bpe, BpeOptions, Scratch};
use lexmill::models::unigram::{self, Unigram, UnigramOptions};
use lexmill::pre_tokenizers::{ByteLevel, PreTokenizer};
use lexmill::trainers::bpe::{BpeTrainer, TieBreak, TrainedBpe};
use lexmill::trainers::forbidden::Forbidden;
use lexmill::trainers::word_counts::WordCounts;
use lexmill::vocab::Vocab;
use lexmill::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Encoded tokens: id, text, byte offsets.
pub(crate) type Encoded = Vec<(u32, String, (usize, usize))>;

#[derive(Deserialize)]
pub(crate) struct Cases<C> {
    pub(crate) cases: Vec<C>,
}

#[derive(Deserialize)]
struct TrainingCase {
    name: String,
    words: Vec<(String, u64)>,
    options: Map<String, Value>,
    vocab: Option<Vec<String>>,
    merges: Option<Vec<(String, String)>>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct EncodingCase {
    name: String,
    vocab: Vec<String>,
    merges: Vec<(String, String)>,
    options: Map<String, Value>,
    word: String,
    tokens: Option<Encoded>,
    error: Option<String>,
}

pub(crate) fn read<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("a golden file")
}

pub(crate) fn value<T: DeserializeOwned>(value: &Value) -> T {
    T::deserialize(value).expect("a golden value of the right type")
}

/// A trainer with the options of a case; an unknown one fails the test rather than going unnoticed.
fn trainer(options: &Map<String, Value>, threads: usize) -> BpeTrainer {
    let mut trainer = BpeTrainer { threads, ..BpeTrainer::default() };
    for (name, given) in options {
        match name.as_str() {
            "vocab_size" => trainer.vocab_size = value(given),
            "min_frequency" => trainer.min_frequency = value(given),
            "special_tokens" => trainer.special_tokens = value(given),
            "limit_alphabet" => trainer.limit_alphabet = value(given),
            "initial_alphabet" => {
                let texts: Vec<String> = value(given);
                trainer.initial_alphabet = texts.iter().filter_map(|text| text.chars().next()).collect();
            }
            "continuing_subword_prefix" => trainer.continuing_subword_prefix = value(given),
            "end_of_word_suffix" => trainer.end_of_word_suffix = value(given),
            "forbid" => {
                trainer.forbid = Forbidden::new(&value::<Vec<String>>(given)).expect("valid patterns");
            }
            "initial_tokens" => trainer.initial_tokens = value(given),
            "max_token_length" => trainer.max_token_length = value(given),
            "tie_break" => {
                trainer.tie_break = match value::<String>(given).as_str() {
                    "smallest-ids" => TieBreak::SmallestIds,
                    "first-seen" => TieBreak::FirstSeen,
                    other => panic!("tie_break {other}"),
                };
            }
            other => panic!("option {other}"),
        }
    }
    trainer
}

fn model_options(options: &Map<String, Value>) -> BpeOptions {
    let mut model = BpeOptions::default();
    for (name, given) in options {
        match name.as_str() {
            "unk_token" => model.unk_token = value(given),
            "continuing_subword_prefix" => model.continuing_subword_prefix = value(given),
            "end_of_word_suffix" => model.end_of_word_suffix = value(given),
            "dropout" => model.dropout = value(given),
            "fuse_unk" => model.fuse_unk = value(given),
            "byte_fallback" => model.byte_fallback = value(given),
            "ignore_merges" => model.ignore_merges = value(given),
            other => panic!("option {other}"),
        }
    }
    model
}

fn train<'a>(
    trainer: &BpeTrainer,
    words: impl IntoIterator<Item = (&'a str, u64)>,
) -> Result<(TrainedBpe, Vec<(String, String)>)> {
    let mut counts = WordCounts::new();
    words.into_iter().for_each(|(word, count)| counts.push(word, count));
    let trained = trainer.train(counts, &mut |_| Ok(()))?;
    let token = |id: u32| trained.vocab[id as usize].clone();
    let merges = trained.merges.iter().map(|&(left, right)| (token(left), token(right))).collect();
    Ok((trained, merges))
}

fn encode(bpe: &Bpe, word: &str) -> Result<Encoded> {
    let mut tokens = Tokens::default();
    bpe.encode_word(word, &mut Scratch::default(), &mut tokens)?;
    let mut end = 0;
    let token = |(&id, &len): (&u32, &u32)| {
        let start = end;
        end += len as usize;
        (id, bpe.vocab().token(id).unwrap_or_default().to_owned(), (start, end))
    };
    Ok(tokens.ids.iter().zip(&tokens.lens).map(token).collect())
}

fn check_training(text: &str) {
    for case in read::<Cases<TrainingCase>>(text).cases {
        for threads in [1, 2, 7] {
            let words = case.words.iter().map(|(word, count)| (word.as_str(), *count));
            match (train(&trainer(&case.options, threads), words), &case.error) {
                (Ok((trained, merges)), None) => {
                    assert_eq!(Some(&trained.vocab), case.vocab.as_ref(), "{}", case.name);
                    assert_eq!(Some(&merges), case.merges.as_ref(), "{}", case.name);
                }
                (Err(error), Some(expected)) => assert_eq!(&error.to_string(), expected, "{}", case.name),
                (found, _) => panic!("{}: {found:?}", case.name),
            }
        }
    }
}

#[test]
fn ties_are_broken_as_written_down() {
    check_training(include_str!("../golden/bpe_ties.json"));
}

#[test]
fn options_do_what_is_written_down() {
    check_training(include_str!("../golden/bpe_options.json"));
}

#[test]
fn words_are_encoded_as_written_down() {
    for case in read::<Cases<EncodingCase>>(include_str!("../golden/bpe_encode.json")).cases {
        let merges: Vec<(&str, &str)> =
            case.merges.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect();
        let model = Bpe::new(Vocab::from_tokens(&case.vocab), &merges, model_options(&case.options));
        match (model.and_then(|model| encode(&model, &case.word)), &case.error) {
            (Ok(found), None) => assert_eq!(Some(found), case.tokens, "{}", case.name),
            (Err(error @ Error::TokenNotInVocab { .. }), Some(expected)) => {
                assert_eq!(&error.to_string(), expected, "{}", case.name);
            }
            (found, _) => panic!("{}: {found:?}", case.name),
        }
    }
}

#[derive(Deserialize)]
struct UnigramCase {
    name: String,
    vocab: Vec<(String, f64)>,
    options: Map<String, Value>,
    word: String,
    tokens: Option<Encoded>,
    error: Option<String>,
}

fn encode_unigram(case: &UnigramCase) -> Result<Encoded> {
    let options = UnigramOptions {
        unk_id: value(&case.options["unk_id"]),
        byte_fallback: value(&case.options["byte_fallback"]),
        ..UnigramOptions::default()
    };
    let model = Unigram::new(&case.vocab, options)?;
    let mut tokens = Tokens::default();
    model.encode_word(&case.word, &mut unigram::Scratch::default(), &mut tokens)?;
    let text = |id, span: std::ops::Range<usize>| {
        let unknown = (model.options().unk_id == Some(id)).then(|| &case.word[span]);
        unknown.or_else(|| model.vocab().token(id)).unwrap_or_default().to_owned()
    };
    Ok(tokens.spans().map(|(id, span)| (id, text(id, span.clone()), (span.start, span.end))).collect())
}

#[test]
fn unigram_words_are_encoded_as_written_down() {
    for case in read::<Cases<UnigramCase>>(include_str!("../golden/unigram_encode.json")).cases {
        match (encode_unigram(&case), &case.error) {
            (Ok(found), None) => assert_eq!(Some(found), case.tokens, "{}", case.name),
            (Err(error), Some(expected)) => assert_eq!(&error.to_string(), expected, "{}", case.name),
            (found, _) => panic!("{}: {found:?}", case.name),
        }
    }
}

pub(crate) fn textbook(section: &str) -> Value {
    read::<Value>(include_str!("../golden/textbook.json"))[section].take()
}

/// Texts of the tokens of `words`, one after the other.
fn texts<'a>(bpe: &Bpe, words: impl Iterator<Item = &'a str>) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for word in words {
        texts.extend(encode(bpe, word)?.into_iter().map(|(_, text, _)| text));
    }
    Ok(texts)
}

#[test]
fn the_textbook_is_followed_to_the_letter() -> Result<()> {
    let golden = textbook("bpe");
    let trainer = BpeTrainer {
        vocab_size: value(&golden["vocab_size"]),
        special_tokens: value(&golden["special_tokens"]),
        tie_break: TieBreak::FirstSeen,
        ..BpeTrainer::default()
    };
    let words: Map<String, Value> = value(&golden["word_counts"]);
    let words = words.iter().map(|(word, count)| (word.as_str(), value(count)));
    let (trained, merges) = train(&trainer, words)?;
    assert_eq!(trained.vocab, value::<Vec<String>>(&golden["vocab"]));
    assert_eq!(merges, value::<Vec<(String, String)>>(&golden["merges"]));
    let model = trained.into_model(BpeOptions::default())?;
    let byte_level = ByteLevel { add_prefix_space: false, ..ByteLevel::default() };
    for (text, expected) in &value::<Map<String, Value>>(&golden["encode"]) {
        let words = super::laws::pre_tokens(&PreTokenizer::ByteLevel(byte_level), text)?;
        let found = texts(&model, words.iter().map(String::as_str))?;
        assert_eq!(found, value::<Vec<String>>(expected));
    }
    Ok(())
}

#[test]
fn the_library_is_followed_to_the_letter() -> Result<()> {
    let golden = textbook("library_bpe");
    let corpus: String = value(&golden["corpus"]);
    let mut words: Vec<(&str, u64)> = Vec::new();
    for word in corpus.split(' ') {
        match words.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => words.push((word, 1)),
        }
    }
    let special_tokens = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"].map(str::to_owned).to_vec();
    let (trained, _) = train(&BpeTrainer { special_tokens, ..BpeTrainer::default() }, words)?;
    for (token, id) in &value::<Map<String, Value>>(&golden["vocab"]) {
        assert_eq!(&trained.vocab[value::<usize>(id)], token);
    }
    let model = trained.into_model(BpeOptions::default())?;
    for (text, expected) in &value::<Map<String, Value>>(&golden["encode"]) {
        assert_eq!(texts(&model, text.split(' '))?, value::<Vec<String>>(expected));
    }
    Ok(())
}
