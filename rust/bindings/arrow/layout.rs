//! Where the texts of an Arrow array lie.
//!
//! Lengths and offsets are a producer's word and are checked against each other before they are used. The interface gives
//! no size for the buffers of offsets, of views and of data before views, so these are believed to be as long as lengths
//! and offsets say.

use std::ffi::c_void;

use super::import::Imported;

/// The layout of the texts of an array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// 32-bit offsets into one buffer.
    Short,
    /// 64-bit offsets into one buffer.
    Long,
    /// Views of 16 bytes into several buffers.
    Views,
}

impl Kind {
    /// The kind of a schema's format, the same for text and binary columns: a reader checks the bytes of both.
    pub(super) fn of_format(format: &str) -> Option<Self> {
        match format {
            "u" | "z" => Some(Self::Short),
            "U" | "Z" => Some(Self::Long),
            "vu" | "vz" => Some(Self::Views),
            _ => None,
        }
    }
}

/// Why an array cannot be read.
pub(in crate::bindings) enum Malformed {
    /// The row, counted within the array, has no text.
    Null(usize),
    /// Numbers that contradict each other.
    Numbers(String),
}

type Result<T> = std::result::Result<T, Malformed>;

fn numbers<T>(message: impl Into<String>) -> Result<T> {
    Err(Malformed::Numbers(message.into()))
}

impl Imported {
    /// The bytes of each row, which are not checked to be UTF-8.
    pub(in crate::bindings) fn rows(&self) -> Result<Vec<&[u8]>> {
        let array = self.array();
        let number = |name: &str, value: i64| match usize::try_from(value) {
            Ok(value) => Ok(value),
            Err(_) => numbers(format!("{name} is {value} but must not be negative")),
        };
        let (length, offset) = (number("length", array.length)?, number("offset", array.offset)?);
        let n_buffers = number("n_buffers", array.n_buffers)?;
        if array.n_children != 0 || !array.dictionary.is_null() {
            return numbers("a column of texts has children or a dictionary");
        }
        let is_number_right = if self.kind() == Kind::Views { n_buffers >= 3 } else { n_buffers == 3 };
        if !is_number_right {
            return numbers(format!("n_buffers is {n_buffers} but must be 3, or more with views"));
        }
        let Some(end) = offset.checked_add(length) else {
            return numbers(format!("offset {offset} and length {length} overflow"));
        };
        if length == 0 {
            return Ok(Vec::new());
        }
        let buffers = self.buffers(n_buffers)?;
        self.check_nulls(buffers[0], offset, end)?;
        match self.kind() {
            Kind::Short => self.by_offsets(&buffers, offset, end, i32::from_ne_bytes),
            Kind::Long => self.by_offsets(&buffers, offset, end, i64::from_ne_bytes),
            Kind::Views => self.by_views(&buffers, offset, end),
        }
    }

    /// The array's pointers to its buffers.
    #[expect(unsafe_code, reason = "the array points to them")]
    fn buffers(&self, count: usize) -> Result<Vec<*const c_void>> {
        let start = self.array().buffers;
        if start.is_null() || !start.is_aligned() || i32::try_from(count).is_err() {
            return numbers(format!("{count} buffers at {start:p}"));
        }
        // SAFETY: the producer promises `n_buffers` pointers there until the array is released.
        Ok(unsafe { std::slice::from_raw_parts(start, count) }.to_vec())
    }

    /// The first `count` items of `size` bytes of one of the array's buffers.
    #[expect(unsafe_code, reason = "the array points to them")]
    fn items(&self, name: &str, buffer: *const c_void, count: usize, size: usize) -> Result<&[u8]> {
        let Some(len) = count.checked_mul(size).filter(|&len| isize::try_from(len).is_ok()) else {
            return numbers(format!("{count} {name} of {size} bytes are more than memory can hold"));
        };
        if len == 0 {
            return Ok(&[]);
        }
        if buffer.is_null() {
            return numbers(format!("the buffer of {name} is null but must have {len} bytes"));
        }
        // SAFETY: the producer promises as many bytes as lengths and offsets say, unchanged until the array is released,
        // which it is not while it is borrowed.
        Ok(unsafe { std::slice::from_raw_parts(buffer.cast(), len) })
    }

    fn check_nulls(&self, validity: *const c_void, start: usize, end: usize) -> Result<()> {
        if validity.is_null() {
            let null_count = self.array().null_count;
            let message = || format!("null_count is {null_count} but there is no validity buffer");
            return if null_count > 0 { numbers(message()) } else { Ok(()) };
        }
        let bits = self.items("validity bytes", validity, end.div_ceil(8), 1)?;
        match (start..end).find(|at| bits[at / 8] >> (at % 8) & 1 == 0) {
            Some(at) => Err(Malformed::Null(at - start)),
            None => Ok(()),
        }
    }

    fn by_offsets<const SIZE: usize, T: Into<i64>>(
        &self,
        buffers: &[*const c_void],
        start: usize,
        end: usize,
        number: impl Fn([u8; SIZE]) -> T,
    ) -> Result<Vec<&[u8]>> {
        let offsets = self.items("offsets", buffers[1], end + 1, SIZE)?;
        let offsets: Vec<i64> =
            offsets[start * SIZE..].as_chunks::<SIZE>().0.iter().map(|&o| number(o).into()).collect();
        // All are in order before the last one tells how long the data is.
        for (row, pair) in offsets.windows(2).enumerate() {
            if pair[0] < 0 || pair[1] < pair[0] {
                return numbers(format!("row {row} goes from byte {} to byte {}", pair[0], pair[1]));
            }
        }
        let data =
            self.items("data bytes", buffers[2], offsets.last().map_or(0, |&last| last as usize), 1)?;
        Ok(offsets.windows(2).map(|pair| &data[pair[0] as usize..pair[1] as usize]).collect())
    }

    fn by_views(&self, buffers: &[*const c_void], start: usize, end: usize) -> Result<Vec<&[u8]>> {
        let [_, views, data @ .., sizes] = buffers else { return numbers("too few buffers") };
        let sizes = self.items("buffer sizes", *sizes, data.len(), 8)?.as_chunks::<8>().0;
        let sized = |(&buffer, &size): (&*const c_void, &[u8; 8])| {
            let size = i64::from_ne_bytes(size);
            match usize::try_from(size) {
                Ok(size) => self.items("data bytes", buffer, size, 1),
                Err(_) => numbers(format!("a data buffer has {size} bytes")),
            }
        };
        let data = data.iter().zip(sizes).map(sized).collect::<Result<Vec<_>>>()?;
        let views = self.items("views", *views, end, 16)?[start * 16..].as_chunks::<16>().0;
        views.iter().enumerate().map(|(row, view)| viewed(row, view, &data)).collect()
    }
}

/// The bytes that one view is or points to.
fn viewed<'a>(row: usize, view: &'a [u8; 16], data: &[&'a [u8]]) -> Result<&'a [u8]> {
    let (parts, _) = view.as_chunks::<4>();
    let [length, _, buffer, offset] = [0, 1, 2, 3].map(|at| i64::from(i32::from_ne_bytes(parts[at])));
    let bytes = match usize::try_from(length) {
        Ok(length) if length <= 12 => view.get(4..4 + length),
        Ok(length) => {
            let buffer = usize::try_from(buffer).ok().and_then(|buffer| data.get(buffer));
            let start = usize::try_from(offset).ok();
            buffer.zip(start).and_then(|(buffer, start)| buffer.get(start..)?.get(..length))
        }
        Err(_) => None,
    };
    match bytes {
        Some(bytes) => Ok(bytes),
        None => numbers(format!("row {row} is {length} bytes from byte {offset} of data buffer {buffer}")),
    }
}
