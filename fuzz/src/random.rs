//! A random sequence that is the same on every machine (xorshift64*, <https://doi.org/10.1145/2845077>).

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        // A state of 0 would stay 0.
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`; 0 where `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.word()) * end as u128) >> 64) as usize
    }

    /// True once in `times`.
    pub fn is_one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn one_of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> Option<&'a T> {
        list.get(self.below(list.len())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_below_their_end_and_reach_all_of_it() {
        let mut random = Random::new(0);
        let mut seen = [false; 7];
        (0..1000).for_each(|_| seen[random.below(7)] = true);
        assert_eq!((seen, random.below(0)), ([true; 7], 0));
    }
}
