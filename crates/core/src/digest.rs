//! SHA-256 as the file names and ids of this product use it: a head of the hexadecimal digest.

use sha2::{Digest, Sha256};

/// Returns the first `digits` hexadecimal digits (at most 64) of the SHA-256 of the parts joined by NUL.
pub fn hex(parts: &[&str], digits: usize) -> String {
    let mut hasher = Sha256::new();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            hasher.update([0]);
        }
        hasher.update(part.as_bytes());
    }
    let mut hex = String::with_capacity(64);
    for byte in hasher.finalize() {
        for nibble in [byte >> 4, byte & 15] {
            hex.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    hex.truncate(digits);
    hex
}

#[cfg(test)]
mod tests {
    #[test]
    fn known_digests() {
        assert_eq!(super::hex(&["abc"], 10), "ba7816bf8f");
        assert_eq!(super::hex(&["a", "b"], 64), super::hex(&["a\0b"], 64));
        assert_eq!(super::hex(&[], 8), "e3b0c442");
    }
}
