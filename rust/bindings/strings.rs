//! Strings of Python that are not ASCII, written as UTF-8 by several threads.
//!
//! CPython would do it one by one under the GIL, and keep the result as long as the string. Where ids alone are wanted, the thread
//! that encodes a string writes it to memory that the thread uses again for the next string ([`UnwrittenTexts`]). Strings that
//! threads share, and all strings where more than ids is wanted, are written before the first is encoded ([`write_all`]).

use std::ops::Range;

use encoding_rs::mem::{convert_latin1_to_utf8, convert_utf16_to_utf8};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::types::string::PyStringData;

use crate::corpus::Utf8Errors;
use crate::structures::parallel::share;
use crate::tokenizer::TextSource;
use crate::{Error, Result};

/// Units that are written at a time.
const CHUNK: usize = 1 << 13;

/// Units that are worth a thread.
const WORTH_A_THREAD: usize = 1 << 18;

/// The characters of a string, in units of the width of its widest character.
#[derive(Clone, Copy, Debug)]
pub(super) enum Units {
    One(&'static [u8]),
    Two(&'static [u16]),
    Four(&'static [u32]),
}

/// Some strings as UTF-8, one after the other, and the place of each.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) bytes: Vec<u8>,
    pub(super) places: Vec<Range<usize>>,
}

#[expect(unsafe_code, reason = "units and the string that holds them lie side by side in one structure")]
fn kept<T>(units: &[T]) -> &'static [T] {
    // SAFETY: the caller of `Units::of` keeps the string.
    unsafe { &*std::ptr::from_ref(units) }
}

/// True if the units lie right after the header that ASCII strings have; the header of all other strings is longer.
///
/// From Python 3.14 on the flag of ASCII strings is hidden from extensions.
fn is_compact_ascii(string: &Bound<'_, PyString>, units: &[u8]) -> bool {
    let after_header = string.as_ptr().cast::<ffi::PyASCIIObject>().wrapping_add(1);
    std::ptr::eq(units.as_ptr(), after_header.cast::<u8>())
}

impl Units {
    /// The units of a string, which has to be kept alive as long as they are used; none if it is ASCII, which is UTF-8 already.
    #[expect(unsafe_code, reason = "there is no safe look at a string's own memory")]
    pub(super) fn of(string: &Bound<'_, PyString>) -> PyResult<Option<Self>> {
        // SAFETY: strings do not change once others can see them.
        Ok(match unsafe { string.data()? } {
            PyStringData::Ucs1(units) if is_compact_ascii(string, units) => None,
            PyStringData::Ucs1(units) => Some(Self::One(kept(units))),
            PyStringData::Ucs2(units) => Some(Self::Two(kept(units))),
            PyStringData::Ucs4(units) => Some(Self::Four(kept(units))),
        })
    }

    fn len(self) -> usize {
        match self {
            Self::One(units) => units.len(),
            Self::Two(units) => units.len(),
            Self::Four(units) => units.len(),
        }
    }

    /// Most bytes that the units take as UTF-8.
    pub(super) fn bound(self) -> usize {
        match self {
            Self::One(units) => 2 * units.len(),
            Self::Two(units) => 3 * units.len(),
            Self::Four(units) => 4 * units.len(),
        }
    }

    /// A guess at the bytes that the units take as UTF-8.
    pub(super) fn likely_bytes(self) -> usize {
        match self {
            Self::One(units) => units.len(),
            // One character beyond Latin-1 makes all of an English text two bytes wide.
            Self::Two(_) | Self::Four(_) => 2 * self.len(),
        }
    }

    /// True if UTF-8 can express the text: it has no lone surrogates.
    pub(super) fn is_text(self) -> bool {
        match self {
            Self::One(_) => true,
            Self::Two(units) => !units.chunks(CHUNK).any(|chunk| {
                // No early end, which would keep it from looking at many units at a time.
                chunk.iter().filter(|&&unit| unit & 0xF800 == 0xD800).count() > 0
            }),
            Self::Four(units) => units.iter().all(|&unit| char::from_u32(unit).is_some()),
        }
    }

    /// The first lone surrogate, and the number of its character.
    pub(super) fn lone_surrogate(self) -> Option<(usize, u32)> {
        let is_surrogate = |&(_, unit): &(usize, u32)| (0xD800..0xE000).contains(&unit);
        match self {
            Self::One(_) => None,
            Self::Two(units) => units.iter().map(|&unit| u32::from(unit)).enumerate().find(is_surrogate),
            Self::Four(units) => units.iter().copied().enumerate().find(is_surrogate),
        }
    }

    /// The error for text `row`, which has a lone surrogate.
    pub(super) fn error(self, row: usize) -> Error {
        let (char, code) = self.lone_surrogate().unwrap_or_default();
        Error::LoneSurrogate { text: row, char, code }
    }

    /// Appends the text as UTF-8; false, and nothing appended, if it has lone surrogates that are not to be replaced.
    fn write(self, out: &mut Vec<u8>, errors: Utf8Errors) -> bool {
        if !self.is_text() {
            if errors == Utf8Errors::Strict {
                return false;
            }
            self.write_replaced(out);
            return true;
        }
        match self {
            Self::One(units) => write_chunks(units, 2, out, convert_latin1_to_utf8),
            Self::Two(units) => write_chunks(units, 3, out, convert_utf16_to_utf8),
            Self::Four(units) => {
                for c in units.iter().filter_map(|&unit| char::from_u32(unit)) {
                    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
        }
        true
    }
}

impl Units {
    /// Appends the text as UTF-8, with U+FFFD for each lone surrogate.
    fn write_replaced(self, out: &mut Vec<u8>) {
        let mut push = |unit: u32| {
            let c = char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        };
        match self {
            Self::One(units) => units.iter().for_each(|&unit| push(unit.into())),
            Self::Two(units) => units.iter().for_each(|&unit| push(unit.into())),
            Self::Four(units) => units.iter().for_each(|&unit| push(unit)),
        }
    }
}

/// The first lone surrogate of a string, as an error names it, and a way to remove it; none if the string is Unicode text.
pub(super) fn surrogate_note(string: &Bound<'_, PyString>) -> Option<String> {
    let (char, code) = Units::of(string).ok()??.lone_surrogate()?;
    Some(format!(
        "character {char} is the lone surrogate U+{code:04X}, which UTF-8 cannot express; \
         text.encode(\"utf-8\", \"replace\").decode() puts ? in its place"
    ))
}

/// A string as UTF-8, with U+FFFD for each lone surrogate.
pub(super) fn replaced(string: &Bound<'_, PyString>) -> PyResult<String> {
    let Some(units) = Units::of(string)? else { return string.to_str().map(str::to_owned) };
    let mut bytes = Vec::with_capacity(units.bound());
    units.write_replaced(&mut bytes);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write_chunks<T>(units: &[T], most: usize, out: &mut Vec<u8>, convert: impl Fn(&[T], &mut [u8]) -> usize) {
    for chunk in units.chunks(CHUNK) {
        let start = out.len();
        out.resize(start + most * chunk.len(), 0);
        let written = convert(chunk, &mut out[start..]);
        out.truncate(start + written);
    }
}

/// Writes all strings, in order. The error is the place of the first string with lone surrogates, unless these are replaced.
pub(super) fn write_all(
    strings: &[Units],
    errors: Utf8Errors,
    threads: usize,
) -> std::result::Result<Vec<Written>, usize> {
    let total: usize = strings.iter().map(|units| units.len()).sum();
    let threads = (total / WORTH_A_THREAD).clamp(1, threads.max(1));
    // Strings without characters do not each make a group.
    let share_len = total.div_ceil(threads).max(1);
    let (mut groups, mut rest, mut first) = (Vec::new(), strings, 0);
    while !rest.is_empty() {
        let ends = rest.iter().scan(0, |end, units| {
            *end += units.len();
            Some(*end)
        });
        let count = 1 + ends.take_while(|&end| end < share_len).count();
        let (group, others) = rest.split_at(count.min(rest.len()));
        groups.push((first, group));
        (first, rest) = (first + group.len(), others);
    }
    share(groups, |(first, group)| write_group(first, group, errors)).into_iter().collect()
}

fn write_group(first: usize, group: &[Units], errors: Utf8Errors) -> std::result::Result<Written, usize> {
    let mut bytes = Vec::with_capacity(group.iter().map(|units| units.bound()).sum());
    let mut places = Vec::with_capacity(group.len());
    for (at, units) in (first..).zip(group) {
        let start = bytes.len();
        if !units.write(&mut bytes, errors) {
            return Err(at);
        }
        places.push(start..bytes.len());
    }
    Ok(Written { bytes, places })
}

/// Texts some of which are not UTF-8 yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnwrittenTexts<'a> {
    /// Texts in UTF-8; empty where `units` has the row.
    rows: &'a [&'a str],
    /// By row, the units to write; `None` where `rows` has the text. Empty if there is nothing to write.
    units: &'a [Option<Units>],
    errors: Utf8Errors,
}

impl<'a> UnwrittenTexts<'a> {
    /// The texts in `rows`, and the units of each text that is empty there; `errors` decides if lone surrogates are replaced.
    pub(super) fn new(rows: &'a [&'a str], units: &'a [Option<Units>], errors: Utf8Errors) -> Self {
        Self { rows, units, errors }
    }

    fn units(&self, row: usize) -> Option<Units> {
        self.units.get(row).copied().flatten()
    }
}

impl TextSource for UnwrittenTexts<'_> {
    fn count(&self) -> usize {
        self.rows.len()
    }

    fn most_bytes(&self, row: usize) -> usize {
        self.units(row).map_or(self.rows[row].len(), Units::bound)
    }

    fn likely_bytes(&self, row: usize) -> usize {
        self.units(row).map_or(self.rows[row].len(), Units::likely_bytes)
    }

    fn lent(&self, row: usize) -> Option<&str> {
        if self.units(row).is_some() { None } else { Some(self.rows[row]) }
    }

    fn text<'a>(&'a self, row: usize, buffer: &'a mut Vec<u8>) -> Result<&'a str> {
        let Some(units) = self.units(row) else { return Ok(self.rows[row]) };
        buffer.clear();
        let is_text = units.write(buffer, self.errors);
        let text = if is_text { simdutf8::basic::from_utf8(buffer).ok() } else { None };
        text.ok_or_else(|| units.error(row))
    }
}
