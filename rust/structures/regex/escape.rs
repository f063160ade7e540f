//! Escapes outside brackets, and the characters that escapes stand for anywhere.

use super::class::WORD;
use super::translate::{Atom, Parser, Refused};

impl Parser<'_> {
    /// Translates an escape outside brackets, whose backslash has been read.
    pub(super) fn escape(&mut self) -> Result<Atom, Refused> {
        let Some(letter) = self.next() else { return Err(Refused::new("end pattern at escape")) };
        if let Some((set, _)) = self.set(letter, false)? {
            return Ok(Atom::Target(set));
        }
        let boundary =
            |same: &str, other: &str| format!("(?:(?<={WORD})(?{same}{WORD})|(?<!{WORD})(?{other}{WORD}))");
        if matches!(letter, 'z' | 'Z' | 'b' | 'B' | 'R') {
            self.refuse_in_look_behind(&format!(r"\{letter}"))?;
        }
        Ok(match letter {
            'A' => Atom::Assertion(r"\A".to_owned()),
            'z' => Atom::Assertion(r"\z".to_owned()),
            'Z' => Atom::Assertion(r"(?=\x{A}?\z)".to_owned()),
            'b' => Atom::Assertion(boundary("!", "=")),
            'B' => Atom::Assertion(boundary("=", "!")),
            'N' => Atom::Target(r"[^\x{A}]".to_owned()),
            'O' => Atom::Target("(?s:.)".to_owned()),
            'R' => Atom::Target(r"(?>\x{D}\x{A}|[\x{A}-\x{D}\x{85}\x{2028}\x{2029}])".to_owned()),
            'G' | 'K' | 'X' | 'y' | 'Y' => return Err(Refused(format!(r"\{letter} is not supported"))),
            'g' | 'k' | '1'..='9' => {
                return Err(Refused(format!(
                    r"back references and calls such as \{letter} are not supported"
                )));
            }
            letter => Atom::Char(self.char_escape(letter)?),
        })
    }

    /// The character that an escape stands for, in brackets or not; `letter` has been read.
    pub(super) fn char_escape(&mut self, letter: char) -> Result<char, Refused> {
        Ok(match letter {
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            'a' => '\u{7}',
            'e' => '\u{1b}',
            'x' if self.eat('{') => {
                let digits = self.digits(16, 8);
                if !self.eat('}') {
                    return Err(Refused::new("invalid code point value"));
                }
                scalar(&digits, 16)?
            }
            // Two digits give a byte. A byte above 7F is only a fragment of a character.
            'x' => {
                let digits = self.digits(16, 2);
                ascii(&digits, 16)?
            }
            'u' => {
                let digits = self.digits(16, 4);
                if digits.len() < 4 {
                    return Err(Refused::new("invalid code point value"));
                }
                scalar(&digits, 16)?
            }
            '0' => {
                let digits = self.digits(8, 2);
                ascii(&format!("0{digits}"), 8)?
            }
            'c' | 'C' | 'M' | 'o' | '1'..='9' => {
                return Err(Refused(format!(r"the escape \{letter} is not supported")));
            }
            other => other,
        })
    }

    fn digits(&mut self, radix: u32, most: usize) -> String {
        let digits: String =
            self.rest().iter().take(most).take_while(|digit| digit.is_digit(radix)).collect();
        self.skip(digits.len());
        digits
    }
}

fn scalar(digits: &str, radix: u32) -> Result<char, Refused> {
    let code = u32::from_str_radix(digits, radix).map_err(|_| Refused::new("invalid code point value"))?;
    char::from_u32(code).ok_or_else(|| Refused::new("invalid code point value"))
}

fn ascii(digits: &str, radix: u32) -> Result<char, Refused> {
    // Without digits, `\x` is U+0000.
    let code = u32::from_str_radix(&format!("0{digits}"), radix).unwrap_or(u32::MAX);
    char::from_u32(code)
        .filter(char::is_ascii)
        .ok_or_else(|| Refused::new("bytes above 7F are not supported"))
}
