//! Post-processors.

use serde_json::{Map, Value, json};

use super::super::bytes::Bytes;

pub(super) fn post_processor(bytes: &mut Bytes<'_>, depth: usize) -> Value {
    let special = |bytes: &mut Bytes<'_>| json!([bytes.text(2), bytes.size() as u32]);
    match bytes.below(if depth == 0 { 4 } else { 5 }) {
        0 => template(bytes),
        1 => json!({"type": "BertProcessing", "sep": special(bytes), "cls": special(bytes)}),
        2 => json!({
            "type": "RobertaProcessing",
            "sep": special(bytes),
            "cls": special(bytes),
            "trim_offsets": bytes.flag(),
            "add_prefix_space": bytes.flag(),
        }),
        3 => json!({
            "type": "ByteLevel",
            "add_prefix_space": bytes.flag(),
            "trim_offsets": bytes.flag(),
            "use_regex": bytes.flag(),
        }),
        _ => {
            let stages: Vec<Value> = (0..bytes.below(4)).map(|_| post_processor(bytes, depth - 1)).collect();
            json!({"type": "Sequence", "processors": stages})
        }
    }
}

fn template(bytes: &mut Bytes<'_>) -> Value {
    let names = ["[CLS]", "[SEP]", "x"];
    let tokens: Map<String, Value> = names
        .into_iter()
        .map(|name| {
            let len = bytes.below(3);
            let ids: Vec<u32> = (0..len).map(|_| bytes.size() as u32).collect();
            let texts: Vec<String> = (0..len).map(|_| bytes.text(2)).collect();
            (name.to_owned(), json!({"id": name, "ids": ids, "tokens": texts}))
        })
        .collect();
    let mut pieces = |has_second: bool| {
        let piece = |bytes: &mut Bytes<'_>| match bytes.below(8) {
            0..3 => json!({"Sequence": {"id": "A", "type_id": bytes.below(3)}}),
            3..5 if has_second => json!({"Sequence": {"id": "B", "type_id": bytes.below(3)}}),
            _ => json!({"SpecialToken": {"id": bytes.pick(&names), "type_id": bytes.below(3)}}),
        };
        (0..bytes.below(7)).map(|_| piece(bytes)).collect::<Vec<Value>>()
    };
    let (single, pair) = (pieces(false), pieces(true));
    json!({"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens})
}
