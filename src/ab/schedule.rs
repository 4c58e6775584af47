//! Which arm runs in which slot, and what the readings of a series of rounds come to.

use serde::{Deserialize, Serialize};

use super::median;

/// How the slots of a round are filled. Arm 0 is the baseline, and the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// F A F B F B F A F: nine slots, a floor around each. For arms of milliseconds.
    Interleaved,
    /// A B B A: the outer two are the floors. For whole loads, which take seconds, and each a browser of its own.
    Whole,
}

impl Schedule {
    /// Slots with `arm` inside, as A-B-B-A; with 0 the noise floor.
    pub fn forward(self, arm: usize) -> Vec<usize> {
        match self {
            Self::Interleaved => vec![0, 0, 0, arm, 0, arm, 0, 0, 0],
            Self::Whole => vec![0, arm, arm, 0],
        }
    }

    /// Slots with `arm` outside, as B-A-A-B.
    pub fn reversed(self, arm: usize) -> Vec<usize> {
        match self {
            Self::Interleaved => vec![0, arm, 0, 0, 0, 0, 0, arm, 0],
            Self::Whole => vec![arm, 0, 0, arm],
        }
    }

    /// Positions of the two outer and of the two inner slots that are compared.
    fn compared(self) -> ([usize; 2], [usize; 2]) {
        match self {
            Self::Interleaved => ([1, 7], [3, 5]),
            Self::Whole => ([0, 3], [1, 2]),
        }
    }
}

/// Rounds of the same slots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Series {
    pub schedule: Schedule,
    /// Arm of each slot.
    pub slots: Vec<usize>,
    /// Submits to the GPU in a round.
    pub submits: usize,
    /// Rounds of the warm-up, ms a slot: kept to be seen, never counted.
    pub discarded: Vec<Vec<f64>>,
    /// Rounds that count, ms a slot.
    pub rounds: Vec<Vec<f64>>,
}

impl Series {
    /// The median of each slot over all rounds, ms; empty without rounds.
    pub fn positions(&self) -> Vec<f64> {
        let at = |slot| self.rounds.iter().filter_map(|round: &Vec<f64>| round.get(slot).copied()).collect::<Vec<_>>();
        (0..self.slots.len()).map_while(|slot| median(&at(slot))).collect()
    }

    /// By how much the two inner slots take longer than the two outer ones, as a part: the median of the rounds. What
    /// grows or falls steadily within a round falls out.
    pub fn inner_over_outer(&self) -> Option<f64> {
        let (outer, inner) = self.schedule.compared();
        let of = |round: &Vec<f64>, slots: [usize; 2]| Some(round.get(slots[0])? + round.get(slots[1])?);
        let ratios = self.rounds.iter().map(|round| Some(of(round, inner)? / of(round, outer)? - 1.0));
        median(&ratios.collect::<Option<Vec<_>>>()?)
    }

    /// The effect of `arm`: by how much it takes longer than the baseline, as a part.
    pub fn effect(&self, arm: usize) -> Option<f64> {
        let (_, inner) = self.schedule.compared();
        let more = self.inner_over_outer()?;
        Some(if self.slots.get(inner[0]) == Some(&arm) { more } else { 1.0 / (1.0 + more) - 1.0 })
    }

    /// Positions of the floors.
    pub fn floors(&self) -> Vec<usize> {
        match self.schedule {
            Schedule::Interleaved => (0..self.slots.len()).step_by(2).collect(),
            Schedule::Whole => (0..self.slots.len()).filter(|&slot| self.slots[slot] == 0).collect(),
        }
    }

    /// How far the floors' medians are apart, as a part of their median.
    pub fn floor_spread(&self) -> Option<f64> {
        let positions = self.positions();
        let floors = self.floors().into_iter().map(|slot| positions.get(slot).copied());
        let floors = floors.collect::<Option<Vec<_>>>()?;
        let (low, high) = floors.iter().fold((f64::MAX, 0.0_f64), |(low, high), &ms| (low.min(ms), high.max(ms)));
        Some((high - low) / median(&floors)?)
    }

    /// The median of the slots in which `arm` is compared, ms.
    pub fn ms(&self, arm: usize) -> Option<f64> {
        let (outer, inner) = self.schedule.compared();
        let positions = self.positions();
        let slots = outer.into_iter().chain(inner).filter(|&slot| self.slots.get(slot) == Some(&arm));
        median(&slots.filter_map(|slot| positions.get(slot).copied()).collect::<Vec<_>>())
    }

    /// A floor lies before and after each arm; between two loads of the same arm none is needed.
    pub fn has_floors_around(&self) -> bool {
        let is_floor = |slot: Option<usize>| slot.and_then(|slot| self.slots.get(slot)) == Some(&0);
        match self.schedule {
            Schedule::Interleaved => (0..self.slots.len())
                .filter(|slot| slot % 2 == 1)
                .all(|slot| is_floor(slot.checked_sub(1)) && is_floor(Some(slot + 1))),
            Schedule::Whole => self.slots.len() == 4 && self.floors().len() >= 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(slots: Vec<usize>, rounds: Vec<Vec<f64>>) -> Series {
        Series { schedule: Schedule::Interleaved, slots, submits: 1, discarded: Vec::new(), rounds }
    }

    #[test]
    fn a_steady_drift_is_no_effect_and_an_outlier_moves_nothing() {
        let drift: Vec<f64> = (0..9).map(|slot| 10.0 + 0.1 * f64::from(slot)).collect();
        let mut outlier = drift.clone();
        outlier[3] = 500.0;
        let series = series(Schedule::Interleaved.forward(1), vec![drift.clone(), outlier, drift]);
        assert!(series.effect(1).expect("three rounds").abs() < 1e-12);
        assert_eq!(series.positions()[3], 10.3);
    }

    #[test]
    fn an_effect_is_that_of_the_arm_in_either_order() {
        let ms = |slots: &[usize]| slots.iter().map(|&arm| if arm == 1 { 10.5 } else { 10.0 }).collect();
        for slots in [Schedule::Interleaved.forward(1), Schedule::Interleaved.reversed(1)] {
            let series = series(slots.clone(), vec![ms(&slots)]);
            assert!((series.effect(1).expect("one round") - 0.05).abs() < 1e-12, "{slots:?}");
            assert_eq!((series.ms(1), series.ms(0)), (Some(10.5), Some(10.0)));
        }
    }

    #[test]
    fn the_floors_alone_make_the_spread() {
        let series =
            series(Schedule::Interleaved.forward(1), vec![vec![10.0, 1.0, 10.1, 90.0, 10.0, 90.0, 10.0, 1.0, 10.0]]);
        assert!((series.floor_spread().expect("one round") - 0.01).abs() < 1e-9);
    }

    #[test]
    fn a_round_with_fewer_readings_than_slots_comes_to_nothing() {
        assert_eq!(series(Schedule::Interleaved.forward(1), vec![vec![1.0; 4]]).effect(1), None);
    }
}
