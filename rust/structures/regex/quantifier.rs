//! Quantifiers: the braces that are quantifiers, and the meaning of a sign after a quantifier.

use super::translate::{Flags, Parser, Refused};

const MAX_REPEAT: u32 = 100_000;

impl Parser<'_> {
    pub(super) fn at_quantifier(&self) -> bool {
        match self.rest() {
            ['*' | '+' | '?', ..] => true,
            ['{', rest @ ..] => interval(rest).is_some(),
            _ => false,
        }
    }

    pub(super) fn at_interval_after_brace(&self) -> bool {
        interval(self.rest()).is_some()
    }

    /// `target` with the quantifiers that follow it.
    pub(super) fn quantified(&mut self, mut target: String, flags: Flags) -> Result<String, Refused> {
        let mut repeated = false;
        while self.at_quantifier() {
            let mut quantifier = String::new();
            let mut lazy = false;
            let mut possessive = false;
            if self.eat('{') {
                let Some(found) = interval(self.rest()) else { break };
                self.skip(found.length);
                if found.least > MAX_REPEAT || found.most.is_some_and(|most| most > MAX_REPEAT) {
                    return Err(Refused::new("too big number for repeat range"));
                }
                if found.most.is_some_and(|most| most < found.least) {
                    return Err(Refused::new("a repeat range whose end is below its start is not supported"));
                }
                let most = found.most.map_or(String::new(), |most| most.to_string());
                quantifier = format!("{{{},{most}}}", found.least);
                // Only a range with different bounds can be lazy. `{2}?` makes `{2}` optional, and `{1,3}+` repeats
                // `{1,3}`.
                lazy = found.most != Some(found.least) && self.eat('?');
            } else if let Some(operator) = self.next() {
                quantifier.push(operator);
                lazy = self.eat('?');
                possessive = !lazy && self.eat('+');
            }
            let body = if repeated || !is_one_piece(&target) { format!("(?:{target})") } else { target };
            target = format!("{body}{quantifier}{}", if lazy { "?" } else { "" });
            if possessive {
                self.refuse_in_look_behind("a possessive quantifier")?;
                target = format!("(?>{target})");
            }
            repeated = true;
            self.skip_blanks(flags);
        }
        Ok(target)
    }
}

/// True if a quantifier after `target` applies to all of it.
fn is_one_piece(target: &str) -> bool {
    target.chars().count() == 1 || target.starts_with(['(', '[']) || target.starts_with('\\')
}

/// `{n}`, `{n,}`, `{,m}` or `{n,m}`, without the opening brace.
struct Interval {
    least: u32,
    most: Option<u32>,
    length: usize,
}

/// The interval that `rest` begins with; any other text in braces is plain.
fn interval(rest: &[char]) -> Option<Interval> {
    let end = rest.iter().position(|&character| character == '}')?;
    let body: String = rest[..end].iter().collect();
    let number = |digits: &str| {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().unwrap_or(u32::MAX))
    };
    let (least, most) = match body.split_once(',') {
        None => (number(&body)?, Some(number(&body)?)),
        Some((least, "")) => (number(least)?, None),
        Some(("", most)) => (0, Some(number(most)?)),
        Some((least, most)) => (number(least)?, Some(number(most)?)),
    };
    Some(Interval { least, most, length: end + 1 })
}
