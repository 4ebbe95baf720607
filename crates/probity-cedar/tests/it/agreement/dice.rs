//! Numbers that look drawn and are the same every time (SplitMix64).

pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `low` on, below `high`.
    pub(super) fn within(&mut self, low: usize, high: usize) -> usize {
        let span = u64::try_from(high - low).unwrap();
        low + usize::try_from(self.next() % span).unwrap()
    }

    /// True once in `n` times.
    pub(super) fn once_in(&mut self, n: usize) -> bool {
        self.within(0, n) == 0
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        *all.get(self.within(0, all.len())).unwrap()
    }

    pub(super) fn some_of<T: Copy>(&mut self, all: &[T]) -> Vec<T> {
        all.iter().copied().filter(|_| self.once_in(2)).collect()
    }
}
