//! Joints: pairs of neighbours in the first step of encoding in two steps that late merges may cross.

use std::collections::{BTreeSet, HashMap};

/// The most rounds over the late merges in search of joints. A list in the order of its tokens needs two.
const MOST_ROUNDS: usize = 8;

/// The most joints for each late merge.
const MOST_JOINTS: usize = 8;

/// Pairs of tokens of the first step whose border some merge of `late` may cross; `None` if there are too many.
///
/// A merge of two tokens crosses the border between the last token that the left one was made of, and the first of the right one.
/// `is_initial` is true for tokens that the first step may give.
pub(super) fn joints(
    late: &[((u32, u32), u32)],
    is_initial: impl Fn(u32) -> bool,
) -> Option<BTreeSet<(u32, u32)>> {
    // Of each token that a late merge makes: the first and the last tokens of the first step that it may be made of.
    let mut ends: HashMap<u32, [BTreeSet<u32>; 2]> = HashMap::with_capacity(late.len());
    for &(_, id) in late {
        let own = || is_initial(id).then_some(id).into_iter().collect();
        ends.entry(id).or_insert_with(|| [own(), own()]);
    }
    let ends_of = |ends: &HashMap<u32, [BTreeSet<u32>; 2]>, id: u32, side: usize| match ends.get(&id) {
        Some(ends) => ends[side].clone(),
        None => BTreeSet::from([id]),
    };
    let (most, mut count) = (MOST_JOINTS * late.len(), 0usize);
    let mut is_complete = false;
    for _ in 0..MOST_ROUNDS {
        let before = count;
        for &((left, right), id) in late {
            let new = [ends_of(&ends, left, 0), ends_of(&ends, right, 1)];
            for (known, new) in ends.get_mut(&id).into_iter().flatten().zip(new) {
                count += new.iter().filter(|&&end| known.insert(end)).count();
            }
            if count > most + late.len() {
                return None;
            }
        }
        is_complete = count == before;
        if is_complete {
            break;
        }
    }
    let mut joints = BTreeSet::new();
    for &((left, right), _) in late {
        let (lasts, firsts) = (ends_of(&ends, left, 1), ends_of(&ends, right, 0));
        if joints.len() + lasts.len() * firsts.len() > most {
            return None;
        }
        joints.extend(lasts.iter().flat_map(|&last| firsts.iter().map(move |&first| (last, first))));
    }
    is_complete.then_some(joints)
}
