//! How integers are stored in token files.

use crate::{Error, Result};

/// How an id is stored; always little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 8 bits; loss masks alone have them.
    U8,
    /// 16 bits.
    U16,
    /// 32 bits, signed.
    I32,
    /// 32 bits.
    U32,
}

impl Width {
    /// Bytes of an id.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::I32 | Self::U32 => 4,
        }
    }

    /// The name that numpy has for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::I32 => "int32",
            Self::U32 => "uint32",
        }
    }

    /// The width of this name.
    ///
    /// # Errors
    /// [`Error::InvalidOption`].
    pub fn named(name: &str) -> Result<Self> {
        let found = [Self::U16, Self::I32, Self::U32].into_iter().find(|width| width.name() == name);
        let expected = || "uint16, int32 or uint32".to_owned();
        found.ok_or_else(|| Error::InvalidOption {
            name: "dtype",
            value: name.to_owned(),
            expected: expected(),
        })
    }

    /// The name of the type in NPY files.
    pub(super) fn descr(self) -> &'static str {
        match self {
            Self::U8 => "|u1",
            Self::U16 => "<u2",
            Self::I32 => "<i4",
            Self::U32 => "<u4",
        }
    }

    /// Appends ids, all of which fit.
    pub(super) fn push(self, ids: &[u32], bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.resize(start + ids.len() * self.bytes(), 0);
        match self {
            Self::U8 => {
                for (place, &id) in bytes[start..].iter_mut().zip(ids) {
                    *place = id as u8;
                }
            }
            Self::U16 => {
                for (place, &id) in bytes[start..].chunks_exact_mut(2).zip(ids) {
                    place.copy_from_slice(&(id as u16).to_le_bytes());
                }
            }
            Self::I32 | Self::U32 => {
                for (place, &id) in bytes[start..].chunks_exact_mut(4).zip(ids) {
                    place.copy_from_slice(&id.to_le_bytes());
                }
            }
        }
    }
}
