//! Compressed transcripts: frames of zstd one after the other, as hosts append them.

use std::io::{self, Read, Write};

use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};

use super::refusal::{Kind, Refusal};

/// The first bytes of a frame.
pub const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// Most memory a frame may ask for.
const MAX_WINDOW_BYTES: u64 = 64 << 20;

/// Decompresses every frame of `from`; returns the bytes written.
///
/// # Errors
/// `too_large` once more than `limit` bytes come out, whatever a frame says of itself, or when one asks for more than 64 MiB of memory;
/// `invalid_json` when the frames are damaged or cut off; `io_error` when `to` fails.
pub fn decompress(mut from: impl Read, to: &mut dyn Write, limit: u64) -> Result<u64, Refusal> {
    let damaged = || Refusal::new(Kind::InvalidJson, "the compressed transcript is damaged or cut off");
    let mut written = 0;
    let mut buffer = vec![0; 128 << 10];
    loop {
        // Whether there is another frame shows in its first byte.
        let mut first = [0];
        match from.read(&mut first) {
            Ok(0) => return Ok(written),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Refusal::new(Kind::Io, format!("reading the transcript: {error}"))),
        }
        let frame = io::Cursor::new(first).chain(&mut from);
        let mut decoder = match StreamingDecoder::new_with_max_window_size(frame, MAX_WINDOW_BYTES) {
            Ok(decoder) => decoder,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = u64::from(length);
                match io::copy(&mut (&mut from).take(length), &mut io::sink()) {
                    Ok(skipped) if skipped == length => continue,
                    _ => return Err(damaged()),
                }
            }
            Err(FrameDecoderError::WindowSizeTooBig { .. }) => {
                return Err(Refusal::new(Kind::TooLarge, "the compressed transcript needs more than 64 MiB of memory"));
            }
            Err(_) => return Err(damaged()),
        };
        loop {
            let n_bytes = decoder.read(&mut buffer).map_err(|_| damaged())?;
            if n_bytes == 0 {
                break;
            }
            written += n_bytes as u64;
            if written > limit {
                let told = format!("the transcript has more than {} MiB when decompressed", limit >> 20);
                return Err(Refusal::new(Kind::TooLarge, told));
            }
            to.write_all(&buffer[..n_bytes])
                .map_err(|error| Refusal::new(Kind::Io, format!("decompressing the transcript: {error}")))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    #[test]
    fn frames_follow_each_other() {
        let skippable = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
        let bytes = [packed(b"one\n"), skippable, packed(b"two\n")].concat();
        let mut out = Vec::new();
        assert_eq!(decompress(bytes.as_slice(), &mut out, 1_000).unwrap(), 8);
        assert_eq!(out, b"one\ntwo\n");
    }

    #[test]
    fn a_bomb_ends_at_the_limit_and_damage_is_told() {
        let bomb = packed(&vec![b'a'; 8 << 20]);
        assert!(bomb.len() < 64 << 10);
        let mut out = Vec::new();
        assert_eq!(decompress(bomb.as_slice(), &mut out, 1 << 20).unwrap_err().kind, Kind::TooLarge);
        assert!(out.len() <= 1 << 20);
        let good = packed(b"some text that is long enough to be cut");
        for bytes in [&good[..good.len() - 3], &good[..5], b"not zstd", &[good.clone(), vec![1]].concat()] {
            assert_eq!(decompress(bytes, &mut Vec::new(), 1_000).unwrap_err().kind, Kind::InvalidJson);
        }
    }
}
