//! Seeded chance: the same seed, the same cases and shots on every machine.

/// SplitMix64.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(parts: &[&str], seed: u64) -> Self {
        // FNV-1a over the names keeps draws of different families, sizes and methods apart.
        let mut state = 0xcbf2_9ce4_8422_2325_u64 ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for byte in parts.iter().flat_map(|part| part.bytes().chain([0])) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        Self(state)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `bound`, which is above 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound.max(1)).unwrap_or(1)).unwrap_or(0)
    }

    pub(crate) fn percent(&mut self, percent: u32) -> bool {
        self.next() % 10_000 < u64::from(percent) * 100
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}
