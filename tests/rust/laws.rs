//! Laws of whole tokenizers.

use std::sync::{Arc, LazyLock};

use lexmill::Result;
use lexmill::added_tokens::{AddedToken, AddedTokens};
use lexmill::byte_level::BYTE_TO_CHAR;
use lexmill::decoders::Decoder;
use lexmill::formats::tokenizer_json;
use lexmill::models::Model;
use lexmill::models::bpe::BpeOptions;
use lexmill::normalized::{Normalized, PreTokenized};
use lexmill::pre_tokenizers::{ByteLevel, PreTokenizer};
use lexmill::tokenizer::{Components, EncodeInput, Sequence, Tokenizer};
use lexmill::trainers::bpe::BpeTrainer;
use lexmill::trainers::word_counts::WordCounts;
use proptest::prelude::*;

/// The pre-tokens of `text`.
pub(crate) fn pre_tokens(pre_tokenizer: &PreTokenizer, text: &str) -> Result<Vec<String>> {
    let mut cut = PreTokenized::new(Normalized::new(text, 0, false));
    pre_tokenizer.pre_tokenize(&mut cut)?;
    Ok(cut.spans.into_iter().map(|span| cut.text.text()[span].to_owned()).collect())
}

fn parts() -> Result<Components> {
    let byte_level = ByteLevel { add_prefix_space: false, ..ByteLevel::default() };
    let pre_tokenizer = PreTokenizer::ByteLevel(byte_level);
    let mut words = WordCounts::new();
    for (count, word) in (2..).zip(pre_tokens(&pre_tokenizer, "the hat, that é日🙂 aaaa\r\n  it's 2024")?)
    {
        words.push(&word, count);
    }
    let trainer = BpeTrainer { initial_alphabet: BYTE_TO_CHAR.to_vec(), ..BpeTrainer::default() };
    let model = trainer.train(words, &mut |_| Ok(()))?.into_model(BpeOptions::default())?;
    let mut added = AddedTokens::default();
    added.add(&[AddedToken::new("<s>", true)], model.vocab());
    Ok(Components {
        pre_tokenizer: Some(pre_tokenizer),
        decoder: Some(Decoder::ByteLevel { add_prefix_space: true, trim_offsets: true, use_regex: true }),
        added: Arc::new(added),
        ..Components::of_model(Arc::new(Model::Bpe(model)))
    })
}

static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| {
    let tokenizer = parts().and_then(|parts| Tokenizer::new(&parts));
    tokenizer.expect("a tokenizer trained on one line")
});

fn texts() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        any::<String>(),
        "[a-e <>s\r\n]{0,20}",
        Just("the hat <s>".to_owned()),
        Just("a".repeat(70_000)),
        Just("e\u{301}👨\u{200d}👩".to_owned()),
    ];
    prop::collection::vec(piece, 0..6)
}

fn ids(text: &str) -> Result<Vec<u32>> {
    let input = EncodeInput { first: Sequence::Text(text), second: None };
    Ok(TOKENIZER.encode(&input, true)?.ids().collect())
}

proptest! {
    // Fewer than usual, since each case trains and encodes; `PROPTEST_CASES` asks for more.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(256) / 4))]

    #[test]
    fn decode_inverts_encode(texts in texts()) {
        for text in texts {
            prop_assert_eq!(TOKENIZER.decode(&ids(&text)?, false)?, text);
        }
    }

    #[test]
    fn bare_ids_are_those_of_encodings_on_any_number_of_threads(texts in texts()) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let expected = texts.iter().map(|text| ids(text)).collect::<Result<Vec<_>>>()?;
        for threads in [1, 2, 7] {
            let rows = TOKENIZER.encode_ids::<u32>(&texts[..], true, threads)?;
            let rows = rows.row_splits.windows(2).map(|row| &rows.ids[row[0] as usize..row[1] as usize]);
            prop_assert_eq!(rows.map(<[u32]>::to_vec).collect::<Vec<_>>(), expected.clone());
            let mut taken = Vec::new();
            TOKENIZER.for_each_rows::<u32>(&texts[..], true, threads, |rows| {
                let rows = rows.row_splits.windows(2).map(|row| &rows.ids[row[0] as usize..row[1] as usize]);
                taken.extend(rows.map(<[u32]>::to_vec));
                Ok(())
            })?;
            prop_assert_eq!(&taken, &expected);
            let counts = TOKENIZER.count_tokens(&texts[..], true, threads)?;
            let lengths = expected.iter().map(|row| row.len() as u64);
            prop_assert_eq!(counts, lengths.collect::<Vec<_>>());
        }
    }

    #[test]
    fn offsets_slice_back_to_the_token(text in any::<String>()) {
        let chars: Vec<char> = text.chars().collect();
        let input = EncodeInput { first: Sequence::Text(&text), second: None };
        let encoding = TOKENIZER.encode(&input, true)?;
        for (id, (start, end)) in encoding.ids().zip(encoding.offsets()) {
            let slice: String = chars[start as usize..end as usize].iter().collect();
            let spelt = TOKENIZER.decode(&[id], false)?;
            // A token that cuts a character covers the whole of it.
            prop_assert!(spelt == slice || spelt.contains('\u{fffd}'), "{spelt:?} is not {slice:?}");
        }
    }
}

#[test]
fn a_file_gives_the_same_file_again() -> Result<()> {
    for pretty in [false, true] {
        let text = tokenizer_json::write(&parts()?, pretty)?;
        assert_eq!(tokenizer_json::write(&tokenizer_json::read(&text)?, pretty)?, text);
    }
    Ok(())
}
