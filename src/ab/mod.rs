//! Honest A/B measurements of work on a GPU: what counts as one, and what its readings say.
//!
//! GPU timing in a browser fails quietly, so a run is judged by clauses ([`Clause`]). One that is broken voids the
//! whole run: there is a verdict, or there is none, and never a number with an excuse. This room is pure. Readings
//! come from `gpu::instrument` (compute shaders), from the page's hooks (decode variants, products) or from whole
//! loads, and all of them are judged here, by the same rules.
//!
//! One contest is one arm against the baseline. Both lie in the slots of a [`Schedule`], mirrored, with the baseline
//! again as floor before and after each; the same slots filled with the baseline alone are the noise floor. How far
//! the floors of a contest are apart, or the noise floor's own effect where that is larger, is the band. An effect
//! inside it is none. One outside must keep its sign when the slots are reversed, and in a second browser.

mod clause;
pub mod clock;
pub mod experiment;
mod schedule;
mod session;
mod verdict;

pub use clause::{Clause, Void};
pub use clock::Clock;
pub use experiment::Experiment;
pub use schedule::{Schedule, Series};
pub use session::{Check, Cold, Contest, Session, Source, VERSION};
pub use verdict::{Outcome, Verdict, confirm, judge, judge_alone};

/// The middle one, or the middle between the two in the middle; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    match sorted.len() % 2 {
        0 => Some((sorted.get(sorted.len() / 2 - 1)? + upper) / 2.0),
        _ => Some(upper),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_one_whatever_the_order() {
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 100.0]), Some(3.5));
        assert_eq!(median(&[]), None);
    }
}
