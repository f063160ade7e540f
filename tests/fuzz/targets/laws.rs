//! Laws that hold for every tokenizer and every text.

use std::sync::Arc;

use lexmill::encoding::Encoding;
use lexmill::formats::tokenizer_json;
use lexmill::models::Model;
use lexmill::pipeline::{Pipeline, Plan};
use lexmill::tokenizer::{Components, DecodeStream, EncodeInput, PaddingLength, Sequence, Tokenizer};
use lexmill::{Error, Result};

/// Texts for tokenizers that are read from files.
pub(crate) const TEXTS: [&str; 6] = [
    "",
    "a",
    "the cat  sat\n",
    "é e\u{301} 日本 \u{3000}👍🏽",
    "<s>a</s> [UNK] ▁a##b\t'S 12",
    "\u{301}\0\u{fdfa}ab ab",
];

/// Everything that an encoding shows.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown {
    ids: Vec<u32>,
    tokens: Vec<String>,
    offsets: Vec<(u32, u32)>,
    words: Vec<Option<u32>>,
    types: Vec<u32>,
    special: Vec<u32>,
    attention: Vec<u32>,
    sequences: Vec<Option<usize>>,
    overflowing: Vec<Shown>,
}

/// Padding may be so long that to look at all of it takes longer than all else.
const MOST_SHOWN: usize = 1 << 16;

pub(crate) fn shown(encoding: &Encoding) -> Option<Shown> {
    let all = encoding.overflowing();
    let size = all.iter().map(Encoding::len).fold(encoding.len(), usize::saturating_add);
    (size <= MOST_SHOWN).then(|| Shown {
        ids: encoding.ids().collect(),
        tokens: encoding.tokens().map(str::to_owned).collect(),
        offsets: encoding.offsets().collect(),
        words: encoding.word_ids().collect(),
        types: encoding.type_ids().collect(),
        special: encoding.special_tokens_mask().collect(),
        attention: encoding.attention_mask().collect(),
        sequences: encoding.sequence_ids(),
        overflowing: all.iter().filter_map(shown).collect(),
    })
}

fn message(error: &Error) -> String {
    error.to_string()
}

/// The result of a call, to be compared.
fn outcome(result: Result<Encoding>) -> std::result::Result<Option<Shown>, String> {
    result.map(|encoding| shown(&encoding)).map_err(|error| message(&error))
}

/// What is saved and loaded again. Scores that did not come from such a file move once: `is_from_json` is false then.
fn reloaded(components: &Components, is_from_json: bool) -> Components {
    let save = |components| tokenizer_json::write(components, false).expect("no stage is a caller's own");
    let load = |saved: &str| {
        tokenizer_json::read(saved).unwrap_or_else(|error| panic!("{error} in what was saved: {saved}"))
    };
    let saved = save(components);
    let again = load(&saved);
    let saved_again = save(&again);
    if is_from_json {
        assert_eq!(saved_again, saved);
    } else {
        assert_eq!(save(&load(&saved_again)), saved_again);
    }
    again
}

/// A tokenizer that version 2.0 of the format can hold is the same when it is read back.
fn held_by_version_2(components: &Components, tokenizer: &Tokenizer, texts: &[&str]) {
    let Ok(saved) = tokenizer_json::write_version_2(components, false, false) else { return };
    let again =
        tokenizer_json::read(&saved).unwrap_or_else(|error| panic!("{error} in what was saved: {saved}"));
    assert_eq!(tokenizer_json::write_version_2(&again, false, false).expect("it was held before"), saved);
    same_encodings(tokenizer, &Tokenizer::new(&again).expect("the same stages"), texts);
}

pub(crate) fn same_encodings(first: &Tokenizer, second: &Tokenizer, texts: &[&str]) {
    for text in texts {
        let input = EncodeInput::of_text(text);
        assert_eq!(outcome(first.encode(&input, true)), outcome(second.encode(&input, true)), "{text:?}");
    }
}

/// The same tokenizer without caches, which takes the stages one by one.
fn naive(components: &Components) -> Result<Tokenizer> {
    let Components { normalizer, pre_tokenizer, model, added, .. } = components.clone();
    let pipeline = Pipeline::new(normalizer, pre_tokenizer, model, added, false, 0)?.with_plan(Plan::Staged);
    Ok(Tokenizer::with_pipeline(Arc::new(pipeline), components.clone()))
}

/// All laws on each of `texts`: the tokenizer, by its fastest way and with caches, does what it does once saved and
/// loaded, stage by stage. Returns the tokenizer if it can be built.
pub(crate) fn hold(components: &Components, is_from_json: bool, texts: &[&str]) -> Option<Tokenizer> {
    let again = reloaded(components, is_from_json);
    let (fast, naive) = match (Tokenizer::new(components), naive(&again)) {
        (Ok(fast), Ok(naive)) => (fast, naive),
        (Err(fast), Err(naive)) => {
            assert_eq!(message(&fast), message(&naive));
            return None;
        }
        (fast, naive) => panic!("{fast:?} became {naive:?}"),
    };
    if !components.model.is_deterministic() {
        for text in texts {
            let _ = fast
                .encode(&EncodeInput::of_text(text), true)
                .map(|encoding| in_range(&fast, text, &encoding));
        }
        return Some(fast);
    }
    if is_from_json {
        held_by_version_2(components, &fast, texts);
    }
    for text in texts {
        for add_special_tokens in [false, true] {
            let input = EncodeInput::of_text(text);
            let expected = outcome(naive.encode(&input, add_special_tokens));
            // The second time every chunk is in the cache.
            for _ in 0..2 {
                assert_eq!(outcome(fast.encode(&input, add_special_tokens)), expected, "{text:?}");
            }
            one_text(&fast, text, add_special_tokens);
        }
    }
    let monotone = components.normalizer.is_none() && components.post_processor.is_none();
    for text in texts {
        let Ok(encoding) = fast.encode(&EncodeInput::of_text(text), true) else { continue };
        in_range(&fast, text, &encoding);
        if monotone && components.padding.is_none() {
            assert!(encoding.offsets().is_sorted_by_key(|(start, _)| start), "{text:?}");
        }
        decodes(&fast, &encoding.ids().take(MOST_SHOWN).collect::<Vec<_>>());
    }
    let is_batch_wide = |rule: &_| matches!(rule, PaddingLength::BatchLongest);
    if !components.padding.as_ref().is_some_and(|rule| is_batch_wide(&rule.length)) {
        batches(&fast, texts, 1 + texts.len() % 2);
    }
    pairs(&fast, &naive, texts);
    nbest(components, &fast, texts);
    Some(fast)
}

/// Ids are below the bound; offsets lie within the text.
fn in_range(tokenizer: &Tokenizer, text: &str, encoding: &Encoding) {
    let (chars, bound) = (text.chars().count() as u32, tokenizer.id_bound());
    for (id, (start, end)) in encoding.ids().zip(encoding.offsets()).take(MOST_SHOWN) {
        assert!((id as usize) < bound, "id {id} of {text:?} is not below {bound}");
        assert!(start <= end && end <= chars, "offsets {start}..{end} of {text:?}");
    }
}

/// The calls for bare ids give the ids of the encoding.
fn one_text(tokenizer: &Tokenizer, text: &str, add_special_tokens: bool) {
    let encoding = tokenizer.encode(&EncodeInput::of_text(text), add_special_tokens);
    let Ok(encoding) = encoding else {
        assert!(tokenizer.encode_one(text, add_special_tokens, 1).is_err(), "{text:?}");
        return;
    };
    if encoding.len() > MOST_SHOWN {
        return;
    }
    let ids: Vec<u32> = encoding.ids().collect();
    let one = tokenizer.encode_one(text, add_special_tokens, 1);
    assert_eq!(one.map_err(|error| message(&error)).as_ref(), Ok(&ids), "{text:?}");
    let count = tokenizer.count_tokens(&[text][..], add_special_tokens, 1);
    assert_eq!(count.map_err(|error| message(&error)), Ok(vec![ids.len() as u64]), "{text:?}");
}

/// A batch gives what its texts give one by one.
fn batches(tokenizer: &Tokenizer, texts: &[&str], threads: usize) {
    let inputs: Vec<EncodeInput<'_>> = texts.iter().map(|text| EncodeInput::of_text(text)).collect();
    let single: Vec<_> = inputs.iter().map(|input| outcome(tokenizer.encode(input, true))).collect();
    match tokenizer.encode_batch(&inputs, true, threads) {
        Ok(batch) => {
            let size = batch.iter().map(Encoding::len).fold(0, usize::saturating_add);
            if size <= MOST_SHOWN {
                let rows = tokenizer.encode_ids::<u32>(texts, true, threads).map(|rows| rows.ids);
                let ids = batch.iter().flat_map(Encoding::ids).collect();
                assert_eq!(rows.map_err(|error| message(&error)), Ok(ids));
            }
            let batch: Vec<_> = batch.into_iter().map(|encoding| outcome(Ok(encoding))).collect();
            assert_eq!(batch, single);
        }
        Err(error) => assert!(single.contains(&Err(message(&error))), "{error}"),
    }
}

/// Pairs, and texts cut into words already, take the same ways.
fn pairs(fast: &Tokenizer, naive: &Tokenizer, texts: &[&str]) {
    for pair in texts.chunks_exact(2) {
        let text = EncodeInput { first: Sequence::Text(pair[0]), second: Some(Sequence::Text(pair[1])) };
        let cut = |text| Sequence::Words(str::split(text, ' ').collect());
        let words = EncodeInput { first: cut(pair[0]), second: Some(cut(pair[1])) };
        for input in [text, words] {
            assert_eq!(outcome(fast.encode(&input, true)), outcome(naive.encode(&input, true)), "{input:?}");
        }
    }
}

/// Decoding ends, at once or step by step, whatever the ids.
pub(crate) fn decodes(tokenizer: &Tokenizer, ids: &[u32]) {
    for skip_special_tokens in [false, true] {
        let _ = tokenizer.decode(ids, skip_special_tokens);
        let mut stream = DecodeStream::new(Vec::new(), skip_special_tokens);
        for id in ids.iter().take(64) {
            let _ = stream.step(tokenizer, &[*id]);
        }
        let _ = stream.finish(tokenizer);
    }
}

/// The n best tokenizations end, best first.
fn nbest(components: &Components, tokenizer: &Tokenizer, texts: &[&str]) {
    if !matches!(&*components.model, Model::Unigram(_)) {
        return;
    }
    for text in texts {
        let Ok(best) = tokenizer.encode_nbest(text, 5, true) else { continue };
        assert!(best.is_sorted_by(|left, right| left.1 >= right.1), "{text:?}");
    }
}
