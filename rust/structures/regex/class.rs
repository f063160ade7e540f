//! Bracketed classes, properties and the escapes that stand for a set of characters.
//!
//! Wherever the two languages read a name differently, the set is written in full in the target syntax. The meaning of
//! each name in Oniguruma 6.9 was queried over all code points. General categories, scripts and binary properties
//! follow the same Unicode version in both languages. They are equal one by one and pass through unchanged.

use super::fold;
use super::translate::{Flags, Parser, Refused, push_all, push_char};

/// `\w` inside brackets: Oniguruma leaves out the two joiners.
const WORD_IN_BRACKETS: &str = r"[\w--[\x{200C}\x{200D}]]";
/// `\w` outside brackets, and the word characters of `\b`. Below U+0100 Oniguruma uses another table, which includes
/// superscripts and fractions.
pub(super) const WORD: &str = r"[[\w--[\x{200C}\x{200D}]]\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}]";
const NOT_WORD: &str = r"[^[\w--[\x{200C}\x{200D}]]\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}]";
const HEX: &str = "[0-9A-Fa-f]";
const NOT_HEX: &str = "[^0-9A-Fa-f]";
/// The empty set.
const EMPTY: &str = r"[^\x{0}-\x{10FFFF}]";

/// Sets for names that Rust's engine lacks or reads differently. Names are lower case, without spaces, `-` and `_`.
fn posix_or_property(name: &str) -> Option<&'static str> {
    Some(match name {
        "alnum" => r"[\p{Alphabetic}\p{Nd}]",
        "alpha" => r"\p{Alphabetic}",
        "ascii" => r"[\x{0}-\x{7F}]",
        "blank" => r"[\x{9}\p{Zs}]",
        "cntrl" => r"\p{Cc}",
        "digit" => r"\p{Nd}",
        "graph" => r"[^\s\p{Cc}\p{Cn}]",
        "lower" => r"\p{Lowercase}",
        "print" => r"[\p{Zs}[^\s\p{Cc}\p{Cn}]]",
        "space" => r"\s",
        "upper" => r"\p{Uppercase}",
        "xdigit" => HEX,
        _ => return None,
    })
}

/// The set that an escape stands for, inside or outside brackets.
fn set_escape(letter: char, in_brackets: bool) -> Option<&'static str> {
    Some(match letter {
        'd' => r"\p{Nd}",
        'D' => r"\P{Nd}",
        's' => r"\s",
        'S' => r"\S",
        'h' => HEX,
        'H' => NOT_HEX,
        'w' if in_brackets => WORD_IN_BRACKETS,
        'W' if in_brackets => r"[^[\w--[\x{200C}\x{200D}]]]",
        'w' => WORD,
        'W' => NOT_WORD,
        _ => return None,
    })
}

/// One member of a bracketed class.
enum Item {
    Char(char),
    /// A set, and true if it is the complement of a set whose case may matter.
    Set(String, bool),
}

impl Parser<'_> {
    /// The set that an escape stands for, if its letter, which has been read, begins one.
    pub(super) fn set(&mut self, letter: char, in_brackets: bool) -> Result<Option<(String, bool)>, Refused> {
        if let Some(set) = set_escape(letter, in_brackets) {
            return Ok(Some((set.to_owned(), false)));
        }
        if matches!(letter, 'p' | 'P') && self.eat('{') {
            return self.property(letter == 'P', in_brackets).map(Some);
        }
        Ok(None)
    }

    fn property(&mut self, negated: bool, in_brackets: bool) -> Result<(String, bool), Refused> {
        let negated = negated ^ self.eat('^');
        let mut name = String::new();
        loop {
            match self.next() {
                Some('}') => break,
                Some(' ' | '-' | '_') => {}
                Some(letter) if letter.is_ascii_alphanumeric() => name.push(letter.to_ascii_lowercase()),
                _ => return Err(Refused::new("invalid character property name")),
            }
        }
        let sign = if negated { "^" } else { "" };
        let set = match name.as_str() {
            "word" if in_brackets => format!("[{sign}{WORD_IN_BRACKETS}]"),
            "word" => format!("[{sign}{WORD}]"),
            // The POSIX class includes symbols, the property does not.
            "punct" => format!(r"[{sign}\p{{P}}]"),
            "any" => format!(r"[{sign}\x{{0}}-\x{{10FFFF}}]"),
            "assigned" => format!(r"[{sign}\P{{Cn}}]"),
            name => match posix_or_property(name) {
                Some(set) => format!("[{sign}{set}]"),
                None => format!(r"[{sign}\p{{{name}}}]"),
            },
        };
        Ok((set, negated))
    }

    /// Translates a bracketed class, whose opening bracket has been read.
    pub(super) fn bracketed(&mut self, flags: Flags, in_look_behind: bool) -> Result<String, Refused> {
        let class = self.class_body(flags.ignore_case, 0)?;
        if !flags.ignore_case {
            return Ok(class);
        }
        // Oniguruma adds the folds of a class's members to the class, as alternatives.
        let folded = format!("(?i:{class})");
        if class.starts_with("[^") {
            return Ok(folded);
        }
        let members = fancy_regex::Regex::new(&class).map_err(|error| Refused(error.to_string()))?;
        let mut alternatives = folded.clone();
        for (fold, sources) in fold::folds() {
            if sources.iter().any(|source| members.is_match(source.encode_utf8(&mut [0; 4])).unwrap_or(true))
            {
                alternatives.push_str("|(?i:");
                push_all(&mut alternatives, fold);
                alternatives.push(')');
            }
        }
        if alternatives.len() == folded.len() {
            Ok(folded)
        } else if in_look_behind {
            Err(Refused::new("a class under (?i) in a look-behind holds characters that fold to several"))
        } else {
            Ok(format!("(?:{alternatives})"))
        }
    }

    fn class_body(&mut self, ignore_case: bool, depth: usize) -> Result<String, Refused> {
        if depth > 20 {
            return Err(Refused::new("character classes are nested more than 20 deep"));
        }
        let negated = self.eat('^');
        let mut operands: Vec<String> = Vec::new();
        let mut operand = String::new();
        let mut first = true;
        loop {
            let Some(next) = self.next() else { return Err(Refused::new("premature end of char-class")) };
            match next {
                ']' if !first => break,
                ']' if !self.rest().contains(&']') => return Err(Refused::new("empty char-class")),
                '&' if self.eat('&') => {
                    if ignore_case {
                        return Err(Refused::new("&& in a class under (?i) is not supported"));
                    }
                    operands.push(std::mem::take(&mut operand));
                }
                _ => self.class_item(next, ignore_case, depth, &mut operand)?,
            }
            first = false;
        }
        let sign = if negated { "^" } else { "" };
        if operands.is_empty() {
            return Ok(format!("[{sign}{operand}]"));
        }
        operands.push(operand);
        let spelled = operands
            .iter()
            .map(|items| if items.is_empty() { EMPTY.to_owned() } else { format!("[{items}]") });
        Ok(format!("[{sign}{}]", spelled.collect::<Vec<_>>().join("&&")))
    }

    /// Appends the member that begins with `next`; a range if a hyphen follows.
    fn class_item(
        &mut self,
        next: char,
        ignore_case: bool,
        depth: usize,
        out: &mut String,
    ) -> Result<(), Refused> {
        let first = match self.class_atom(next, ignore_case, depth)? {
            Item::Char(first) => first,
            Item::Set(_, true) if ignore_case => {
                return Err(Refused::new("a negated set in a class under (?i) is not supported"));
            }
            Item::Set(set, _) => {
                out.push_str(&set);
                if let ['-', after, ..] = self.rest()
                    && *after != ']'
                {
                    return Err(Refused::new("unmatched range specifier in char-class"));
                }
                return Ok(());
            }
        };
        if let ['-', after, ..] = *self.rest()
            && after != ']'
        {
            self.next();
            self.next();
            let Item::Char(last) = self.class_atom(after, ignore_case, depth)? else {
                return Err(Refused::new("char-class value at end of range"));
            };
            if last < first {
                return Err(Refused::new("empty range in char class"));
            }
            push_char(out, first);
            out.push('-');
            push_char(out, last);
            // `a-c-e` is a range, a hyphen and an `e`.
            if let ['-', after, ..] = self.rest()
                && *after != ']'
            {
                self.next();
                push_char(out, '-');
            }
        } else {
            push_char(out, first);
        }
        Ok(())
    }

    fn class_atom(&mut self, next: char, ignore_case: bool, depth: usize) -> Result<Item, Refused> {
        match next {
            '[' => {
                if let Some(set) = self.posix_bracket()? {
                    return Ok(set);
                }
                if ignore_case {
                    return Err(Refused::new("a class in a class under (?i) is not supported"));
                }
                Ok(Item::Set(self.class_body(false, depth + 1)?, false))
            }
            '\\' => {
                let Some(letter) = self.next() else { return Err(Refused::new("end pattern at escape")) };
                if let Some((set, negated)) = self.set(letter, true)? {
                    return Ok(Item::Set(set, negated));
                }
                if letter == 'b' {
                    return Ok(Item::Char('\u{8}'));
                }
                self.char_escape(letter).map(Item::Char)
            }
            other => Ok(Item::Char(other)),
        }
    }

    /// Reads `[:name:]` or `[:^name:]`, if that follows the bracket that has been read.
    fn posix_bracket(&mut self) -> Result<Option<Item>, Refused> {
        let rest: String = self.rest().iter().take(20).collect();
        let Some(inner) = rest.strip_prefix(':').and_then(|rest| rest.split_once(":]")).map(|(name, _)| name)
        else {
            return Ok(None);
        };
        let (name, negated) = inner.strip_prefix('^').map_or((inner, false), |name| (name, true));
        if !name.chars().all(|letter| letter.is_ascii_alphabetic()) {
            return Ok(None);
        }
        let set = match name {
            "word" => WORD_IN_BRACKETS,
            "punct" => r"[\p{P}\p{S}]",
            name => posix_or_property(name).ok_or_else(|| Refused::new("invalid POSIX bracket type"))?,
        };
        let length = inner.chars().count() + 3;
        self.skip(length);
        Ok(Some(Item::Set(format!("[{}{set}]", if negated { "^" } else { "" }), negated)))
    }
}
