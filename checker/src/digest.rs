//! The fingerprint of a history: two runs are the same if theirs are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::history::{Entry, Header};
use crate::jsonl;

/// BLAKE3 of exactly the bytes that [`jsonl::write`] writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest([u8; 32]);

/// A text that is not 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 hexadecimal digits, this is {0:?}")]
pub struct NotADigest(String);

/// Bytes that are gathered before they are hashed: BLAKE3 is fastest on large pieces.
const PIECE: usize = 64 * 1024;

/// The digest of a history, without writing it anywhere.
pub fn digest(header: &Header, entries: &[Entry]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    let mut text = Vec::with_capacity(PIECE + 4096);
    jsonl::push_header(&mut text, header);
    for entry in entries {
        jsonl::push_entry(&mut text, entry);
        if text.len() >= PIECE {
            hasher.update(&text);
            text.clear();
        }
    }
    hasher.update(&text);
    Digest(*hasher.finalize().as_bytes())
}

impl Digest {
    /// The digest of any bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Digest(*blake3::hash(bytes).as_bytes())
    }

    /// The bytes themselves.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first 16 hexadecimal digits: enough to tell runs apart by eye.
    pub fn short(&self) -> String {
        self.hex(8)
    }

    fn hex(&self, bytes: usize) -> String {
        use fmt::Write;
        self.0.iter().take(bytes).fold(String::with_capacity(2 * bytes), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.hex(32))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.short())
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let not_a_digest = || NotADigest(text.to_owned());
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(not_a_digest());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let value = |digit: u8| char::from(digit).to_digit(16);
            let (high, low) = value(pair[0]).zip(value(pair[1])).ok_or_else(not_a_digest)?;
            *byte = u8::try_from(high * 16 + low).map_err(|_| not_a_digest())?;
        }
        Ok(Digest(bytes))
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, NotADigest> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_is_lossless() {
        let digest = Digest::of(b"history");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert!(digest.to_string().starts_with(&digest.short()));
        assert_eq!(digest.short().len(), 16);
        assert!("0123".parse::<Digest>().is_err());
        assert!("é".repeat(32).parse::<Digest>().is_err());
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
    }
}
