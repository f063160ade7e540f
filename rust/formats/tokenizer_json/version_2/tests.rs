//! Small files of version 2.0, and the errors of invalid ones.

use serde_json::{Value, json};

use crate::formats::tokenizer_json::{read, write, write_version_2};
use crate::tokenizer::Components;

/// A file around a BPE model with a token for each byte.
fn byte_level() -> Value {
    let vocab = crate::byte_level::BYTE_TO_CHAR.iter().enumerate();
    let vocab: serde_json::Map<String, Value> =
        vocab.map(|(id, token)| (token.to_string(), json!(id))).collect();
    json!({"version": "2.0", "model": {"type": "BPE", "byte_level": true, "vocab": vocab, "merges": []}})
}

/// A file around a model with the tokens `<s>`, `▁` and `a`.
fn unigram() -> Value {
    let vocab = json!([["<s>", 0.0], ["▁", -1.0], ["a", -2.0]]);
    json!({"version": "2.0", "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}})
}

fn with(mut file: Value, key: &str, value: Value) -> Value {
    file[key] = value;
    file
}

fn parts(file: &Value) -> Components {
    read(&file.to_string()).expect("a valid file")
}

fn error(file: &Value) -> String {
    read(&file.to_string()).expect_err("an invalid file").to_string()
}

/// A member of the same tokenizer's file of version 1.0.
fn in_version_1(file: &Value, key: &str) -> Value {
    let text = write(&parts(file), false).expect("no stage of a caller");
    let mut file: Value = serde_json::from_str(&text).expect("JSON");
    file[key].take()
}

fn metaspace_normalizer(prepend: &str, drop_whitespace: bool) -> Value {
    json!({"type": "MetaspaceNormalizer", "replacement": "▁", "prepend": prepend, "drop_whitespace": drop_whitespace})
}

/// In a file of version 1.0 `prepend` would make Hugging Face 0.x take the object for another normalizer.
fn in_version_1_spelling(normalizer: &Value) -> Value {
    let [replacement, prepend, drop] =
        ["replacement", "prepend", "drop_whitespace"].map(|key| &normalizer[key]);
    json!({"type": "MetaspaceNormalizer", "replacement": replacement, "prepend_scheme": prepend, "drop_whitespace": drop})
}

fn split_before() -> Value {
    json!({"type": "Split", "pattern": {"String": "▁"}, "behavior": "MergedWithNext", "invert": false})
}

#[test]
fn a_byte_level_model_has_the_stages_of_bytes() {
    let byte_level_stage = |use_regex| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": use_regex});
    assert_eq!(in_version_1(&byte_level(), "pre_tokenizer"), byte_level_stage(false));
    assert_eq!(in_version_1(&byte_level(), "decoder")["type"], "ByteLevel");
    let gpt2 = json!({"type": "Split", "pattern": {"Regex": crate::scan::Splitter::GPT2}});
    let file = with(byte_level(), "pre_tokenizer", gpt2);
    assert_eq!(in_version_1(&file, "pre_tokenizer"), byte_level_stage(true));
    let file = with(byte_level(), "pre_tokenizer", json!({"type": "Digits"}));
    let stages = in_version_1(&file, "pre_tokenizer");
    assert_eq!(stages["pretokenizers"][1], byte_level_stage(false));
}

#[test]
fn a_metaspace_normalizer_at_the_end_is_a_pre_tokenizer() {
    let stages = |normalizer, cuts| {
        let file = with(with(unigram(), "normalizer", normalizer), "pre_tokenizer", cuts);
        (in_version_1(&file, "normalizer"), in_version_1(&file, "pre_tokenizer"))
    };
    let metaspace = |scheme, split| json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split});
    let plain = metaspace_normalizer("first", false);
    assert_eq!(stages(plain.clone(), split_before()), (Value::Null, metaspace("first", true)));
    assert_eq!(stages(plain.clone(), Value::Null), (Value::Null, metaspace("first", false)));
    let digits = json!({"type": "Digits", "individual_digits": false});
    let both = json!({"type": "Sequence", "pretokenizers": [metaspace("first", false), digits]});
    assert_eq!(stages(plain.clone(), digits), (Value::Null, both));
    let words = json!({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace("always", true)]});
    let dropping = metaspace_normalizer("always", true);
    assert_eq!(stages(dropping.clone(), split_before()), (Value::Null, words));
    assert_eq!(stages(dropping.clone(), Value::Null), (in_version_1_spelling(&dropping), Value::Null));
    let dropping = metaspace_normalizer("never", true);
    assert_eq!(stages(dropping.clone(), split_before()), (in_version_1_spelling(&dropping), split_before()));
    let sequence = |first: &Value| json!({"type": "Sequence", "normalizers": [first, {"type": "NFC"}]});
    let kept = (sequence(&in_version_1_spelling(&plain)), split_before());
    assert_eq!(stages(sequence(&plain), split_before()), kept);
}

#[test]
fn tokens_of_a_template_are_named_by_the_vocabulary() {
    let single = json!([{"ids": [0, 2]}, {"seq": "A"}, {"ids": [0], "type_id": 1}]);
    let pair = json!([{"seq": "A"}, {"seq": "B"}]);
    let template = json!({"type": "TemplateProcessing", "single": single, "pair": pair});
    let file = with(unigram(), "post_processor", template.clone());
    let read = in_version_1(&file, "post_processor");
    assert_eq!(read["single"][1], json!({"SpecialToken": {"id": "a", "type_id": 0}}));
    assert_eq!(read["special_tokens"]["<s>"], json!({"id": "<s>", "ids": [0], "tokens": ["<s>"]}));
    let text = write_version_2(&parts(&file), false, false).expect("no loss");
    let written: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(written["post_processor"], template);
}

#[test]
fn two_tokens_of_one_text_have_names_of_their_own() {
    let mut file = unigram();
    file["model"]["vocab"] = json!([["?", 0.0], ["a", -1.0], ["a", -2.0], ["a 2", -3.0]]);
    let single = json!([{"ids": [3, 1, 2, 1]}, {"seq": "A"}]);
    let template =
        json!({"type": "TemplateProcessing", "single": single, "pair": [{"seq": "A"}, {"seq": "B"}]});
    let file = with(file, "post_processor", template.clone());
    let text = write_version_2(&parts(&file), false, false).expect("no loss");
    let written: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(written["post_processor"], template);
}

#[test]
fn a_long_template_is_not_quadratic() {
    let ids = |count: u32| (0..count).map(|id| id % 3).collect::<Vec<u32>>();
    let single = json!([{"ids": ids(200_000)}, {"seq": "A"}]);
    let template =
        json!({"type": "TemplateProcessing", "single": single, "pair": [{"seq": "A"}, {"seq": "B"}]});
    let read = parts(&with(unigram(), "post_processor", template));
    assert!(write_version_2(&read, false, false).is_ok());
}

#[test]
fn added_tokens_are_ordered_by_their_ids() {
    let token = |id: u32, content: &str| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true})
    };
    let file = with(unigram(), "added_tokens", json!([token(90, "<x>"), token(80, "<y>")]));
    let read = parts(&file);
    assert_eq!((read.added.id("<y>"), read.added.id("<x>")), (Some(3), Some(4)));
}

#[test]
fn errors_name_their_places() {
    let model = |key: &str, value: Value| {
        let mut file = byte_level();
        file["model"][key] = value;
        error(&file)
    };
    assert_eq!(model("byte_level", Value::Null), "model: `byte_level` is missing");
    assert_eq!(model("type", Value::Null), "model: `type` is missing");
    assert_eq!(model("dropout", json!(0.5)), "model.dropout: version 2.0 has no dropout");
    assert_eq!(model("files", json!({})), "model.files: vocabularies in other files are not read");
    assert_eq!(
        model("merges", json!(["a b"])),
        "model.merges[0]: expected a list of two tokens, as version 2.0 has it"
    );
    let mut file = byte_level();
    file["model"]["vocab"].as_object_mut().expect("an object").shift_remove("Ā");
    assert_eq!(
        error(&file),
        "model.byte_level: the vocabulary has no token for byte 0x00, whose text would be lost"
    );
    let mut file = unigram();
    file["model"]["byte_level"] = json!(true);
    assert_eq!(error(&file), "model.byte_level: only a model of type BPE has it");

    let stage = |key: &str, value: Value| error(&with(unigram(), key, value));
    let message = stage("pre_tokenizer", json!({"type": "ByteLevel"}));
    assert!(message.starts_with("pre_tokenizer: version 2.0 has no pre-tokenizer `ByteLevel`"), "{message}");
    let metaspace = json!({"type": "Sequence", "pretokenizers": [{"type": "Metaspace", "replacement": "▁"}]});
    let message = stage("pre_tokenizer", metaspace);
    assert!(
        message.starts_with("pre_tokenizer.pretokenizers[0]: version 2.0 has no pre-tokenizer `Metaspace`"),
        "{message}"
    );
    assert_eq!(stage("pre_tokenizer", json!({"type": "FixedLength"})), "pre_tokenizer: `length` is missing");
    assert_eq!(
        stage(
            "decoder",
            json!({"type": "Sequence", "decoders": [{"type": "Metaspace", "replacement": "▁"}]})
        ),
        "decoder.decoders[0]: `prepend_scheme` is missing"
    );
    assert_eq!(stage("role_to_token", json!({"bos_token": null})), "role_to_token: `bos_token` is missing");
    let template = |single: Value| {
        let pair = json!([{"seq": "A"}, {"seq": "B"}]);
        stage("post_processor", json!({"type": "TemplateProcessing", "single": single, "pair": pair}))
    };
    assert_eq!(template(json!([])), "post_processor.single: expected the sequence A once");
    assert_eq!(
        template(json!([{"ids": [7]}, {"seq": "A"}])),
        "post_processor.single[0].ids[0]: no token has id 7"
    );
    assert_eq!(
        template(json!([{"seq": "A", "type_id": 256}])),
        "post_processor.single[0].type_id: expected at most 255, found 256"
    );
    let message = error(&with(byte_level(), "version", Value::Null));
    assert_eq!(message, r#"model.byte_level: only version 2.0 has it; set `version` of the file to "2.0""#);
    let file = with(unigram(), "version", json!("3.0"));
    assert_eq!(error(&file), r#"version: unknown version "3.0", this version knows "1.0" and "2.0""#);
}
