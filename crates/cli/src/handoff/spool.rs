//! Items on their way into a document: in memory while they are few, in a file without a name when they are many.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use mem0_code_core::handoff::refusal::{Kind, Refusal};
use sha2::{Digest, Sha256};

/// Bytes kept in memory.
const IN_MEMORY: usize = 8 << 20;

/// JSON texts of items, in order.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    buffer: Vec<u8>,
    file: Option<File>,
    in_file: u64,
    /// Where each item ends.
    ends: Vec<u64>,
}

/// An I/O failure as a refusal.
pub(crate) fn io_error(what: &str, error: &io::Error) -> Refusal {
    Refusal::new(Kind::Io, format!("{what}: {error}"))
}

impl Spool {
    /// Adds an item's JSON text.
    pub(crate) fn push(&mut self, json: &str) -> Result<(), Refusal> {
        if !self.ends.is_empty() {
            self.buffer.push(b',');
        }
        self.buffer.extend_from_slice(json.as_bytes());
        self.ends.push(self.in_file + self.buffer.len() as u64);
        if self.buffer.len() > IN_MEMORY {
            self.spill().map_err(|error| io_error("keeping items", &error))
        } else {
            Ok(())
        }
    }

    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            // It has no name, so nothing is left of it whatever happens.
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all(&self.buffer)?;
        self.in_file += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the items as a list, with `inserted` texts after the given number of items, and returns the digest of what was written.
    pub(crate) fn write_list(&mut self, inserted: &[(u64, String)], out: &mut dyn Write) -> io::Result<String> {
        let mut hasher = Sha256::new();
        let mut put = |bytes: &[u8]| {
            hasher.update(bytes);
            out.write_all(bytes)
        };
        put(b"[")?;
        let mut from = 0;
        for (after, json) in inserted {
            let end = self.ends.get((*after as usize).wrapping_sub(1)).copied().unwrap_or(0);
            self.copy(from, end, &mut put)?;
            from = end;
            put(b",")?;
            put(json.as_bytes())?;
        }
        let end = self.ends.last().copied().unwrap_or(0);
        self.copy(from, end, &mut put)?;
        put(b"]")?;
        Ok(hex(&hasher.finalize()))
    }

    fn copy(&mut self, from: u64, to: u64, put: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        if let Some(file) = &mut self.file
            && from < self.in_file
        {
            file.seek(SeekFrom::Start(from))?;
            let mut left = file.take(to.min(self.in_file) - from);
            let mut block = vec![0; 256 << 10];
            loop {
                let n_bytes = left.read(&mut block)?;
                if n_bytes == 0 {
                    break;
                }
                put(&block[..n_bytes])?;
            }
        }
        let begin = from.max(self.in_file) - self.in_file;
        if to > self.in_file {
            put(&self.buffer[begin as usize..(to - self.in_file) as usize])?;
        }
        Ok(())
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|nibble| char::from_digit(u32::from(nibble), 16))
        .collect()
}
