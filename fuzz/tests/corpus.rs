//! Inputs that broke something once, those that reach far, and a few new ones.

use fuzz::{
    corpus::Input,
    judge::{self, Limits, judge},
    memory::Counting,
    mutate::mutate,
    random::Random,
    target::Target,
    truncation,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TARGETS: [Target; 5] = [Target::Walker, Target::Filters, Target::Meaning, Target::Session, Target::Address];

/// Without optimisation everything takes longer, and another test may run beside.
fn limits() -> Limits {
    Limits { time: std::time::Duration::from_secs(5), ..Limits::default() }
}

#[test]
fn no_known_input_breaks_anything() {
    judge::listen();
    for target in TARGETS {
        let seeds = target.seeds(&[]).expect("the corpus is there");
        assert!(seeds.len() > 2, "{target:?}");
        for seed in seeds {
            let verdict = judge(limits(), seed.len(), || target.feed(&seed));
            assert_eq!(verdict.wrong, None, "{target:?}, {} bytes", seed.len());
        }
    }
}

#[test]
fn new_inputs_break_nothing() {
    judge::listen();
    for target in TARGETS {
        let form = target.form();
        let seeds = target.seeds(&[]).expect("the corpus is there");
        let inputs: Vec<Input> = seeds.into_iter().map(|seed| Input::sealed(seed, Vec::new())).collect();
        let (mut random, mut bytes) = (Random::new(3), Vec::new());
        for _ in 0..100 {
            let (parent, other) = (random.below(inputs.len()), random.below(inputs.len()));
            mutate(&mut random, form, &inputs[parent], &inputs[other], &mut bytes);
            let verdict = judge(limits(), bytes.len(), || target.feed(&bytes));
            assert_eq!(verdict.wrong, None, "{target:?}: {}", bytes.escape_ascii());
        }
    }
}

#[test]
fn a_file_cut_at_every_byte_is_told_in_bounded_memory() {
    judge::listen();
    let mut report = truncation::Report::default();
    truncation::cut("master.h5", include_bytes!("../../tests/data/robustness/master.h5"), &mut report);
    assert!(report.cuts > 3000 && report.errors.contains("truncated"), "{report:?}");
    // Time is judged by `cargo xtask reliability`, on a build that is as fast as the page's.
    let wrong: Vec<_> = report.wrong.iter().filter(|words| !words.contains(" ms")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(report.peak_bytes < 1 << 20, "{} bytes", report.peak_bytes);
}
