//! The judge of A/B experiments: every clause, broken once, voids the run; and verdicts on readings that are made up.

use planescope::ab::{
    Check, Clause, Clock, Cold, Contest, Outcome, Schedule, Series, Session, Source, VERSION, Verdict, Void,
    clock::Readings, confirm, judge, judge_alone,
};

/// A small random sequence (xorshift), the same on every machine: numbers from -1 to 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A GPU that is made up.
#[derive(Clone, Copy)]
struct Gpu {
    baseline_ms: f64,
    /// By how much the arm takes longer, as a part.
    effect: f64,
    /// Of each reading, as a part.
    scatter: f64,
    /// By how much each slot takes longer than the one before, as a part.
    drift: f64,
    /// Of one slot, as a part.
    bias: f64,
}

const STEADY: Gpu = Gpu { baseline_ms: 2.0, effect: 0.0, scatter: 0.003, drift: 0.0, bias: 0.0 };

impl Gpu {
    fn series(&self, noise: &mut Noise, schedule: Schedule, slots: Vec<usize>) -> Series {
        let mut round = || {
            let ms = (0..).zip(&slots).map(|(slot, &arm)| {
                let effect = if arm == 0 { 0.0 } else { self.effect };
                let bias = if slot == 4 { self.bias } else { 0.0 };
                let place = 1.0 + self.drift * f64::from(slot) + bias;
                self.baseline_ms * (1.0 + effect) * place * (1.0 + self.scatter * noise.next())
            });
            ms.collect::<Vec<f64>>()
        };
        let discarded = (0..2).map(|_| round()).collect();
        let rounds = (0..24).map(|_| round()).collect();
        Series { schedule, slots, submits: 1, discarded, rounds }
    }

    fn session(&self, seed: u64) -> Session {
        let mut noise = Noise(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let schedule = Schedule::Interleaved;
        let mut series = |slots| self.series(&mut noise, schedule, slots);
        let floor = series(schedule.forward(0));
        let (forward, reversed) = (series(schedule.forward(1)), series(schedule.reversed(1)));
        let check = |arm| Check { arm, before: "scene".into(), after: "scene".into(), compared: 1000, wrong: 0 };
        Session {
            version: VERSION,
            source: Source::Submit,
            opened_ms: seed as f64,
            adapter: "a GPU".into(),
            is_software: false,
            clock: Some(clock()),
            arms: vec!["baseline".into(), "arm".into()],
            correction: None,
            floor,
            contests: vec![Contest { arm: 1, forward, reversed, control: None }],
            checks: vec![check(0), check(1), check(0), check(1)],
            blank: Check { compared: 1000, wrong: 990, ..Check::default() },
            drawn: [7, 7],
            cold: Vec::new(),
        }
    }

    fn run(&self, seed: u64) -> Result<Outcome, Void> {
        judge(&[self.session(2 * seed + 1), self.session(2 * seed + 2)]).map(|mut outcomes| outcomes.remove(0))
    }
}

/// A good clock, which needs 12 readings to settle.
fn clock() -> Clock {
    let mut warm_up: Vec<f64> = (0..14).map(|i| 1.4 - 0.028 * f64::from(i)).collect();
    warm_up.extend([1.0; 40]);
    let clock = Clock::of(&Readings {
        staircase_ns: (0..24).map(|step| 32 * (100_000 + 781 * step)).collect(),
        linearity: [0.2, 0.8, 3.2, 12.8].map(|ms| vec![ms; 5]).to_vec(),
        decomposition: vec![[1.0, 10.0, 10.0, 1.0, 23.0]; 5],
        positions: vec![vec![vec![1.0; 9]; 5]; 2],
        warm_up,
    });
    clock.expect("a good clock")
}

/// The clause that a session breaks once `broken` has been done to it; it kept to all of them before.
fn clause_of(broken: impl FnOnce(&mut Session)) -> Clause {
    let mut session = STEADY.session(3);
    session.check().expect("a session that keeps to every clause");
    broken(&mut session);
    session.check().expect_err("a broken clause voids the run").clause
}

#[test]
fn clause_1_a_scene_that_changes_voids_the_run() {
    assert_eq!(clause_of(|session| session.checks[1].after = "another".into()), Clause::Pinned);
    assert_eq!(clause_of(|session| session.checks[3].before = "another".into()), Clause::Pinned);
}

#[test]
fn clause_1_a_picture_drawn_during_the_readings_voids_the_run() {
    assert_eq!(clause_of(|session| session.drawn[1] += 1), Clause::Pinned);
}

#[test]
fn clause_2_one_wrong_word_voids_the_run() {
    assert_eq!(clause_of(|session| session.checks[1].wrong = 1), Clause::Identical);
    assert_eq!(clause_of(|session| session.checks[0].wrong = 1), Clause::Identical);
}

#[test]
fn clause_2_a_comparison_of_nothing_voids_the_run() {
    assert_eq!(clause_of(|session| session.checks[1].compared = 0), Clause::Identical);
    assert_eq!(clause_of(|session| session.checks.truncate(3)), Clause::Identical);
}

#[test]
fn clause_2_arms_that_leave_what_no_work_leaves_void_the_run() {
    assert_eq!(clause_of(|session| session.blank.wrong = 0), Clause::Identical);
}

#[test]
fn clause_3_slots_that_are_not_mirrored_void_the_run() {
    assert_eq!(
        clause_of(|session| session.contests[0].forward.slots = vec![0, 1, 0, 0, 0, 1, 0, 0, 0]),
        Clause::Mirrored
    );
    // Mirrored, but B-A-A-B twice.
    assert_eq!(
        clause_of(|session| session.contests[0].forward = session.contests[0].reversed.clone()),
        Clause::Mirrored
    );
    let control = |session: &Session| Some(session.contests[0].reversed.clone());
    assert_eq!(clause_of(|session| session.contests[0].control = control(session)), Clause::Mirrored);
}

#[test]
fn clause_3_arms_spread_over_submits_void_the_run() {
    assert_eq!(clause_of(|session| session.contests[0].forward.submits = 2), Clause::Mirrored);
}

#[test]
fn clause_4_fewer_rounds_of_warm_up_than_the_clock_needs_void_the_run() {
    assert_eq!(clause_of(|session| session.contests[0].reversed.discarded.truncate(1)), Clause::Warm);
    assert_eq!(clause_of(|session| session.floor.discarded.clear()), Clause::Warm);
}

#[test]
fn clause_4_medians_are_taken_and_never_means() {
    let mut session = STEADY.session(5);
    let before = session.contests[0].forward.effect(1).expect("readings");
    // One round in which the arm took a second.
    session.contests[0].forward.rounds[4][3] = 1000.0;
    session.contests[0].forward.rounds[4][5] = 1000.0;
    let after = session.contests[0].forward.effect(1).expect("readings");
    assert!((before - after).abs() < 0.002, "{before}, {after}");
}

#[test]
fn clause_5_a_missing_noise_floor_voids_the_run() {
    assert_eq!(clause_of(|session| session.floor.rounds.clear()), Clause::Floor);
    assert_eq!(clause_of(|session| session.floor.slots[3] = 1), Clause::Floor);
    assert_eq!(clause_of(|session| session.floor.rounds.truncate(3)), Clause::Floor);
}

#[test]
fn clause_6_an_arm_without_a_floor_beside_it_voids_the_run() {
    assert_eq!(
        clause_of(|session| session.contests[0].forward.slots = vec![0, 0, 0, 1, 1, 1, 0, 0, 0]),
        Clause::Interleaved
    );
}

#[test]
fn clause_6_a_correction_of_any_kind_voids_the_run() {
    assert_eq!(clause_of(|session| session.correction = Some("0.31 ms, measured once".into())), Clause::Interleaved);
}

#[test]
fn clause_7_a_claim_inside_the_band_voids_the_run() {
    let sessions = [STEADY.session(1), STEADY.session(2)];
    let honest = judge(&sessions).expect("a run that counts");
    assert_eq!(honest[0].verdict, Verdict::Null);
    confirm(&sessions, &honest).expect("what the readings say");
    let mut claimed = honest;
    claimed[0].verdict = Verdict::Faster;
    assert_eq!(confirm(&sessions, &claimed).expect_err("a claim").clause, Clause::Null);
}

#[test]
fn clause_8_a_constant_that_the_shader_does_not_write_voids_the_run() {
    let cold = |arm, unique, found| Cold { arm, unique, found, cold_ms: 30.0, warm_ms: 1.0 };
    assert_eq!(clause_of(|session| session.cold = vec![cold(0, 5, 0)]), Clause::Cold);
    assert_eq!(clause_of(|session| session.cold = vec![cold(0, 5, 5), cold(1, 5, 5)]), Clause::Cold);
    let mut session = STEADY.session(3);
    session.cold = vec![cold(0, 5, 5), cold(1, 6, 6)];
    session.check().expect("two constants, both live");
}

#[test]
fn a_software_adapter_voids_the_run() {
    assert_eq!(clause_of(|session| session.is_software = true), Clause::Hardware);
}

#[test]
fn a_clock_that_nobody_has_looked_at_voids_the_run() {
    assert_eq!(clause_of(|session| session.clock = None), Clause::Clock);
}

#[test]
fn a_slot_without_a_time_voids_the_run() {
    assert_eq!(clause_of(|session| session.contests[0].forward.rounds[2][3] = 0.0), Clause::Clock);
}

#[test]
fn a_session_without_another_arm_voids_the_run() {
    assert_eq!(clause_of(|session| session.contests.clear()), Clause::Content);
}

#[test]
fn two_browsers_with_different_arms_void_the_run() {
    let (one, mut other) = (STEADY.session(1), STEADY.session(2));
    other.arms[1] = "another arm".into();
    assert_eq!(judge(&[one, other]).expect_err("different arms").clause, Clause::Pinned);
}

#[test]
fn arms_that_differ_without_content_void_the_run() {
    let control = |effect| {
        let empty = Gpu { baseline_ms: 0.05, effect, ..STEADY };
        empty.series(&mut Noise(9), Schedule::Interleaved, Schedule::Interleaved.forward(1))
    };
    // Twice the time, but of 0.05 ms: far less than what the band resolves at 2 ms.
    let mut session = STEADY.session(3);
    session.contests[0].control = Some(control(0.01));
    session.check().expect("alike without content");
    assert_eq!(clause_of(|session| session.contests[0].control = Some(control(4.0))), Clause::Control);
}

#[test]
fn one_browser_is_not_enough() {
    let (one, other) = (STEADY.session(1), STEADY.session(2));
    assert_eq!(judge(std::slice::from_ref(&one)).expect_err("one").clause, Clause::Second);
    assert_eq!(judge(&[one.clone(), one.clone()]).expect_err("the same one").clause, Clause::Second);
    judge(&[one, other]).expect("two");
}

#[test]
fn an_effect_that_changes_its_sign_in_reversed_slots_voids_the_run() {
    // What looks like an effect of the arm is one of the inner slots.
    let mut sessions = [STEADY.session(1), STEADY.session(2)];
    for session in &mut sessions {
        let contest = &mut session.contests[0];
        for series in [&mut contest.forward, &mut contest.reversed] {
            series.rounds.iter_mut().for_each(|round| [3, 5].iter().for_each(|&slot| round[slot] *= 1.1));
        }
    }
    assert_eq!(judge(&sessions).expect_err("a position, not an arm").clause, Clause::Sign);
}

#[test]
fn an_effect_that_changes_its_sign_in_the_second_browser_voids_the_run() {
    let (faster, slower) = (Gpu { effect: -0.05, ..STEADY }, Gpu { effect: 0.05, ..STEADY });
    assert_eq!(judge(&[faster.session(1), slower.session(2)]).expect_err("two signs").clause, Clause::Sign);
}

#[test]
fn the_same_shader_twice_is_null_in_200_of_200_runs() {
    let verdicts = (0..200).map(|seed| STEADY.run(seed).map(|outcome| outcome.verdict));
    assert_eq!(verdicts.filter(|verdict| *verdict == Ok(Verdict::Null)).count(), 200);
}

#[test]
fn five_percent_more_work_is_found_in_200_of_200_runs_with_a_band_below_2_percent() {
    let gpu = Gpu { effect: 0.05, ..STEADY };
    for seed in 0..200 {
        let outcome = gpu.run(seed).expect("a run that counts");
        assert!(outcome.verdict == Verdict::Slower && outcome.band < 0.02, "{seed}: {outcome:?}");
        assert!((outcome.effect - 0.05).abs() < 0.005, "{seed}: {outcome:?}");
    }
    let faster = Gpu { effect: -0.05, ..STEADY }.run(1).expect("a run that counts");
    assert_eq!(faster.verdict, Verdict::Faster);
}

#[test]
fn drift_and_a_biased_slot_make_no_effect_and_widen_the_band() {
    let gpu = Gpu { drift: 0.002, bias: 0.019, ..STEADY };
    let outcome = gpu.run(1).expect("a run that counts");
    assert_eq!(outcome.verdict, Verdict::Null, "{outcome:?}");
    assert!(outcome.effect.abs() < 0.003 && outcome.band > 0.016, "{outcome:?}");
    let hidden = Gpu { effect: 0.01, ..gpu }.run(1).expect("a run that counts");
    assert_eq!(hidden.verdict, Verdict::Null, "an effect inside the band is null: {hidden:?}");
}

#[test]
fn a_page_judges_its_own_readings_by_the_same_rules() {
    let outcome = judge_alone(&[Gpu { effect: 0.05, ..STEADY }.session(1)]).expect("a session that counts");
    assert_eq!((outcome[0].verdict, outcome[0].effects.len()), (Verdict::Slower, 2));
}

#[test]
fn whole_loads_are_judged_by_floors_at_both_ends() {
    let schedule = Schedule::Whole;
    let load = |seed: u64, effect| {
        let gpu = Gpu { baseline_ms: 400.0, effect, scatter: 0.02, drift: 0.0, bias: 0.0 };
        let mut noise = Noise(seed + 11);
        let mut session = gpu.session(seed);
        session.source = Source::Loads;
        let mut series = |slots: Vec<usize>| Series { submits: 4, ..gpu.series(&mut noise, schedule, slots) };
        session.floor = series(schedule.forward(0));
        let (forward, reversed) = (series(schedule.forward(1)), series(schedule.reversed(1)));
        session.contests = vec![Contest { arm: 1, forward, reversed, control: None }];
        session
    };
    let found = judge(&[load(1, 0.3), load(2, 0.3)]).expect("loads that count");
    assert_eq!(found[0].verdict, Verdict::Slower, "{found:?}");
    let same = judge(&[load(3, 0.0), load(4, 0.0)]).expect("loads that count");
    assert_eq!(same[0].verdict, Verdict::Null, "{same:?}");
}
