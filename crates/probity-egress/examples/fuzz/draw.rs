/// Numbers that look random and are the same for the same seed (SplitMix64, Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `n`; 0 where `n` is.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % (n.max(1) as u64)).unwrap_or_default()
    }

    pub(crate) fn of<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let at = self.below(from.len());
        &from[at]
    }

    /// A boundary between characters of the text.
    pub(crate) fn place(&mut self, text: &str) -> usize {
        text.floor_char_boundary(self.below(text.len() + 1))
    }

    /// A piece of the text, mostly a short one.
    pub(crate) fn range(&mut self, text: &str) -> std::ops::Range<usize> {
        let start = self.place(text);
        let longest = *self.of(&[1, 4, 16, 64, 1024]);
        let end = text.ceil_char_boundary((start + self.below(longest + 1)).min(text.len()));
        start..end
    }

    /// Letters and digits, of which no two draws are alike.
    pub(crate) fn body(&mut self, len: usize) -> String {
        const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        (0..len).map(|_| char::from(*self.of(ALPHABET))).collect()
    }
}
