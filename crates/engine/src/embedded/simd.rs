//! The two inner loops over vectors, in AVX2 where the processor has it.

use mem0_code_core::rank::embed::{DIMS, Vector};

/// A question's vector in 16-bit steps: finer than the memories' own, at the same speed.
pub(crate) struct Probe {
    scale: f32,
    values: [i16; DIMS],
    sketch: [u64; 4],
    is_wide: bool,
}

impl Probe {
    /// Prepares a normalized vector.
    pub(crate) fn new(vector: &Vector) -> Self {
        let most = vector.iter().fold(0_f32, |most, value| most.max(value.abs()));
        let scale = most / 8191.0;
        let mut values = [0_i16; DIMS];
        if most > 0.0 {
            for (to, from) in values.iter_mut().zip(vector) {
                *to = (from / scale).round() as i16;
            }
        }
        Self { scale, values, sketch: sketch(values.iter().map(|value| *value < 0)), is_wide: has_avx2() }
    }

    /// Returns the cosine to a packed vector of [`DIMS`] bytes; 0 when there are fewer.
    pub(crate) fn cosine(&self, values: &[u8], scale: f32) -> f32 {
        let Some(values) = values.first_chunk::<DIMS>() else { return 0.0 };
        self.dot(values) as f32 * self.scale * scale
    }

    /// Returns in how many of its 256 signs a sketch differs.
    pub(crate) fn distance(&self, sketch: &[u64; 4]) -> u32 {
        self.sketch.iter().zip(sketch).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    /// Calls `each` with the distance of every 32-byte sketch in `bytes`.
    pub(crate) fn distances(&self, bytes: &[u8], out: &mut Vec<u16>) {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            #[expect(unsafe_code, reason = "the processor was asked for AVX2 and popcnt in `has_avx2`")]
            // SAFETY: `is_wide` holds only when both features are present.
            unsafe {
                return self.distances_wide(bytes, out);
            }
        }
        self.distances_plain(bytes, out);
    }

    #[inline]
    fn distances_plain(&self, bytes: &[u8], out: &mut Vec<u16>) {
        out.extend(bytes.chunks_exact(32).map(|bytes| {
            let mut sketch = [0_u64; 4];
            for (to, from) in sketch.iter_mut().zip(bytes.chunks_exact(8)) {
                *to = u64::from_le_bytes(from.try_into().unwrap_or_default());
            }
            self.distance(&sketch) as u16
        }));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    fn distances_wide(&self, bytes: &[u8], out: &mut Vec<u16>) {
        out.extend(bytes.chunks_exact(32).map(|bytes| {
            let mut sum = 0;
            for (mine, from) in self.sketch.iter().zip(bytes.chunks_exact(8)) {
                sum += (mine ^ u64::from_le_bytes(from.try_into().unwrap_or_default())).count_ones();
            }
            sum as u16
        }));
    }

    fn dot(&self, values: &[u8; DIMS]) -> i32 {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            #[expect(unsafe_code, reason = "the processor was asked for AVX2 in `has_avx2`")]
            // SAFETY: `is_wide` holds only when the feature is present.
            unsafe {
                return dot_wide(&self.values, values);
            }
        }
        dot_plain(&self.values, values)
    }
}

/// Returns the signs of a packed vector, 64 a word.
pub(crate) fn sketch_of(values: &[u8]) -> [u64; 4] {
    sketch(values.iter().map(|value| value.cast_signed() < 0))
}

fn sketch(signs: impl Iterator<Item = bool>) -> [u64; 4] {
    let mut out = [0; 4];
    for (at, sign) in signs.take(DIMS).enumerate() {
        out[at / 64] |= u64::from(sign) << (at % 64);
    }
    out
}

fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

#[inline]
fn dot_plain(a: &[i16; DIMS], b: &[u8; DIMS]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(i16::from(b.cast_signed()))).sum()
}

/// The compiler turns the same loop into 16-lane multiply-adds here.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_wide(a: &[i16; DIMS], b: &[u8; DIMS]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(i16::from(b.cast_signed()))).sum()
}

#[cfg(test)]
mod tests {
    use mem0_code_core::rank::embed;
    use proptest::prelude::*;

    use super::*;

    fn unit(seed: &[f32]) -> Vector {
        let mut out = [0.0; DIMS];
        for (at, value) in out.iter_mut().enumerate() {
            *value = seed[at % seed.len()] * ((at % 7) as f32 - 3.0);
        }
        let norm = embed::cosine(&out, &out).sqrt().max(1e-6);
        out.map(|value| value / norm)
    }

    proptest! {
        #[test]
        fn packed_cosines_are_close(a in prop::collection::vec(-1_f32..1.0, 5..40), b in prop::collection::vec(-1_f32..1.0, 5..40)) {
            let (a, b) = (unit(&a), unit(&b));
            let packed = embed::pack(&b);
            let bytes = packed.values.map(i8::cast_unsigned);
            let probe = Probe::new(&a);
            prop_assert!((probe.cosine(&bytes, packed.scale) - embed::cosine(&a, &b)).abs() < 0.02);
            prop_assert_eq!(dot_plain(&probe.values, &bytes), probe.dot(&bytes));
            let mut out = Vec::new();
            let sketch = sketch_of(&bytes);
            let raw: Vec<u8> = sketch.iter().flat_map(|word| word.to_le_bytes()).collect();
            probe.distances(&raw, &mut out);
            prop_assert_eq!(u32::from(out[0]), probe.distance(&sketch));
        }
    }
}
