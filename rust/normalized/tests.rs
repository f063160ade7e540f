use super::*;

#[test]
fn a_cut_character_counts_whole() {
    let text = Normalized::new("aé", 10, true);
    assert_eq!(text.original(0..1), (10, 11));
    assert_eq!(text.original(1..2), (11, 13));
    assert_eq!(text.original(2..3), (11, 13));
}

#[test]
fn a_rewrite_keeps_the_original_ranges() {
    let text = Normalized::new("éx", 4, true);
    let mut rewrite = text.rewrite();
    rewrite.push_all("Ã©".chars(), 0..2);
    rewrite.push('y', 2..3);
    let changed = rewrite.finish();
    assert_eq!(changed.text(), "Ã©y");
    assert_eq!(changed.original(0..2), (4, 6));
    assert_eq!(changed.original(2..5), (4, 7));
    assert_eq!(changed.slice(4..5).original(0..1), (6, 7));
}
