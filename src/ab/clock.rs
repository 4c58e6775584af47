//! What the GPU's clock is worth, from readings of work that is known.

use serde::{Deserialize, Serialize};

use super::{Clause, Void, median};

/// Readings of the clock's own kernel, in ms unless they say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Readings {
    /// 24 passes, each with a little more work than the one before, ns.
    pub staircase_ns: Vec<u64>,
    /// For each of [`ITERATIONS`], all readings.
    pub linearity: Vec<Vec<f64>>,
    /// Four passes of one submit (light, heavy, heavy, light), and the wall time from submit to the answer.
    pub decomposition: Vec<[f64; 5]>,
    /// The same work in nine slots of one submit, several runs of several rounds.
    pub positions: Vec<Vec<Vec<f64>>>,
    /// The same work again and again after a rest.
    pub warm_up: Vec<f64>,
}

/// Iterations of the kernel, in the order of [`Readings::linearity`].
pub const ITERATIONS: [u32; 4] = [64, 256, 1024, 4096];
/// Iterations of the first step of the staircase, and how many more each step has.
pub const STAIRCASE: [u32; 2] = [1024, 8];
pub const STEPS: usize = 24;
/// A lattice this coarse is that of a browser that rounds timestamps (65,536 ns, or 100,000 ns), ns.
const COARSE_NS: u64 = 8192;
/// Part of the plateau within which a reading counts as warm.
const WARM: f64 = 0.001;

/// What the readings come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Clock {
    /// Different values among the readings of [`STEPS`] different amounts of work.
    pub distinct: usize,
    pub of: usize,
    /// All readings are multiples of this, ns.
    pub lattice_ns: u64,
    /// Medians for [`ITERATIONS`], ms.
    pub linearity_ms: Vec<f64>,
    /// Each by the one before.
    pub ratios: Vec<f64>,
    /// Medians of light, heavy, heavy, light, ms.
    pub passes_ms: [f64; 4],
    /// By how much the second of the two heavy passes is longer, as a part.
    pub heavy_difference: f64,
    /// The four passes, as a part of the wall time.
    pub wall_share: f64,
    /// For each run, how far each slot's median is from the median of all, as a part.
    pub bias: Vec<Vec<f64>>,
    /// Readings after a rest until they stay within `warmWithin` of the plateau.
    pub warm_up: usize,
    /// 0.001, or the plateau's own scatter where that is more.
    pub warm_within: f64,
    /// By how much the first five readings after a rest are longer than the plateau, as a part: smallest, largest.
    pub first_five: [f64; 2],
}

impl Clock {
    /// # Errors
    /// Void where the clock is coarse or not linear, passes do not add up, or readings never settle.
    pub fn of(readings: &Readings) -> Result<Self, Void> {
        let clock = Self::without_check(readings)
            .ok_or_else(|| Void::new(Clause::Clock, "readings of the clock are missing"))?;
        clock.check()?;
        Ok(clock)
    }

    /// The same for a clock that need not be good.
    pub fn without_check(readings: &Readings) -> Option<Self> {
        let mut different = readings.staircase_ns.clone();
        different.sort_unstable();
        different.dedup();
        let linearity_ms = readings.linearity.iter().map(|ms| median(ms)).collect::<Option<Vec<_>>>()?;
        let part = |i: usize| median(&readings.decomposition.iter().map(|round| round[i]).collect::<Vec<_>>());
        let passes_ms = [part(0)?, part(1)?, part(2)?, part(3)?];
        let shares = readings.decomposition.iter().map(|round| round[..4].iter().sum::<f64>() / round[4]);
        let (warm_up, warm_within, first_five) = settled(&readings.warm_up)?;
        Some(Self {
            distinct: different.len(),
            of: readings.staircase_ns.len(),
            lattice_ns: readings.staircase_ns.iter().fold(0, |a, &b| common_divisor(a, b)),
            ratios: linearity_ms.windows(2).map(|pair| pair[1] / pair[0]).collect(),
            linearity_ms,
            passes_ms,
            heavy_difference: passes_ms[2] / passes_ms[1] - 1.0,
            wall_share: median(&shares.collect::<Vec<_>>())?,
            bias: readings.positions.iter().map(|rounds| bias(rounds)).collect::<Option<Vec<_>>>()?,
            warm_up,
            warm_within,
            first_five,
        })
    }

    /// # Errors
    /// As [`Clock::of`].
    pub fn check(&self) -> Result<(), Void> {
        Void::unless(
            self.of == STEPS && 10 * self.distinct > 8 * self.of && self.lattice_ns < COARSE_NS,
            Clause::Clock,
            || {
                format!(
                    "timestamps are rounded: {} of {} different amounts of work read differently, all multiples of {} ns; \
                 Chrome needs --disable-dawn-features=timestamp_quantization",
                    self.distinct, self.of, self.lattice_ns
                )
            },
        )?;
        let last = self.ratios.last().copied().unwrap_or_default();
        Void::unless((3.0..5.0).contains(&last), Clause::Clock, || {
            format!("four times the work takes {last:.2} times as long: {:?} ms", self.linearity_ms)
        })?;
        Void::unless(self.heavy_difference.abs() < 0.05, Clause::Clock, || {
            format!("two passes of the same work differ by {:.1} %", 100.0 * self.heavy_difference)
        })?;
        Void::unless(self.wall_share <= 1.01, Clause::Clock, || {
            format!("passes of one submit come to {:.0} % of the time that has passed", 100.0 * self.wall_share)
        })
    }
}

/// How far the median of each slot is from that of all slots.
fn bias(rounds: &[Vec<f64>]) -> Option<Vec<f64>> {
    let slots = rounds.first()?.len();
    let at = |slot: usize| median(&rounds.iter().filter_map(|round| round.get(slot).copied()).collect::<Vec<_>>());
    let medians = (0..slots).map(at).collect::<Option<Vec<_>>>()?;
    let middle = median(&medians)?;
    Some(medians.iter().map(|ms| ms / middle - 1.0).collect())
}

/// Readings until they settle, within what part, and how high the first five are.
fn settled(readings: &[f64]) -> Option<(usize, f64, [f64; 2])> {
    let plateau_readings = readings.get(readings.len() * 2 / 3..)?;
    let plateau = median(plateau_readings)?;
    let away = |ms: &f64| (ms / plateau - 1.0).abs();
    let scatter = median(&plateau_readings.iter().map(away).collect::<Vec<_>>())?;
    let within = WARM.max(3.0 * scatter);
    // Single readings stray; the median of five does not.
    let is_warm = |five: &[f64]| median(five).is_some_and(|ms| away(&ms) <= within);
    let warm_up = readings.windows(5).position(is_warm)?;
    let first = readings.iter().take(5).map(|ms| ms / plateau - 1.0);
    Some((warm_up, within, first.fold([f64::MAX, f64::MIN], |[low, high], part| [low.min(part), high.max(part)])))
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The kernel: `ITERATIONS` dependent multiply-adds an invocation.
pub const KERNEL: &str = include_str!("clock.wgsl");

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Readings of a good clock.
    pub fn good() -> Readings {
        let linear = [0.2, 0.8, 3.2, 12.8].map(|ms| vec![ms; 5]).to_vec();
        let mut warm_up = vec![1.4, 1.3, 1.2, 1.15, 1.1, 1.05, 1.02, 1.01];
        warm_up.extend([1.0; 32]);
        Readings {
            staircase_ns: (0..24).map(|step| 32 * (100_000 + 781 * step)).collect(),
            linearity: linear,
            decomposition: vec![[1.0, 10.0, 10.0, 1.0, 23.0]; 5],
            positions: vec![vec![vec![1.0, 1.0, 1.01, 1.0, 1.0]; 5]; 2],
            warm_up,
        }
    }

    fn refused(readings: &Readings, word: &str) {
        let void = Clock::of(readings).expect_err("a clock that is no good");
        assert!(void.clause == Clause::Clock && void.why.contains(word), "{void}");
    }

    #[test]
    fn a_good_clock_is_described() {
        let clock = Clock::of(&good()).expect("a good clock");
        assert_eq!((clock.distinct, clock.of, clock.lattice_ns), (24, 24, 32));
        assert!(clock.ratios.iter().all(|ratio| (ratio - 4.0).abs() < 1e-9));
        assert!((clock.wall_share - 22.0 / 23.0).abs() < 1e-9);
        assert!((clock.bias[0][2] - 0.01).abs() < 1e-9 && clock.bias.len() == 2);
        assert_eq!(clock.warm_up, 6);
        assert!((clock.first_five[1] - 0.4).abs() < 1e-9 && (clock.first_five[0] - 0.1).abs() < 1e-9);
    }

    #[test]
    fn rounded_timestamps_void_the_run() {
        let mut readings = good();
        readings.staircase_ns.iter_mut().for_each(|ns| *ns = *ns / 65_536 * 65_536);
        refused(&readings, "65536 ns");
    }

    #[test]
    fn a_clock_that_is_not_linear_voids_the_run() {
        let mut readings = good();
        readings.linearity[3] = vec![3.3; 5];
        refused(&readings, "times as long");
    }

    #[test]
    fn passes_that_do_not_add_up_void_the_run() {
        let mut readings = good();
        readings.decomposition = vec![[1.0, 10.0, 10.0, 1.0, 12.0]; 5];
        refused(&readings, "time that has passed");
        readings.decomposition = vec![[1.0, 10.0, 12.0, 1.0, 25.0]; 5];
        refused(&readings, "same work differ");
    }
}
