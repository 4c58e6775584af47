//! Readings of work that is known, from which [`crate::ab::Clock`] tells what the GPU's clock is worth.

use std::collections::BTreeMap;

use super::{Files, Instrument, Stop, rest};
use crate::{
    ab::{
        Experiment,
        clock::{ITERATIONS, KERNEL, Readings, STAIRCASE, STEPS},
        experiment::{Arm, Buffer, Contents, Role, Step},
    },
    gpu::Context,
};

/// How large the readings are.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Invocations of the kernel.
    pub invocations: u32,
    /// Of each kind of reading.
    pub repeats: usize,
    /// After a rest.
    pub warm_up: usize,
}

impl Size {
    /// For an adapter: enough work to fill a large GPU, and little for a processor that plays one.
    fn of(context: &Context) -> Self {
        match context.adapter.is_software {
            false => Self { invocations: 1 << 24, repeats: 5, warm_up: 60 },
            true => Self { invocations: 1 << 10, repeats: 3, warm_up: 30 },
        }
    }
}

/// Reads the clock. `allow_software`: also where the readings say nothing.
///
/// # Errors
/// As [`Instrument::new`].
pub async fn readings(context: &Context, allow_software: bool) -> Result<Readings, Stop> {
    let size = Size::of(context);
    let steps = (0..STEPS as u32).map(|step| STAIRCASE[0] + step * STAIRCASE[1]);
    let experiment = experiment(size, ITERATIONS.into_iter().chain(steps), allow_software);
    let instrument = Instrument::new(context, &experiment, &Files::new()).await?;
    let linear = ITERATIONS.len();
    let mut readings = Readings::default();

    rest(REST_MS).await;
    let warm_up = instrument.rounds(&[2], size.warm_up).await?;
    readings.warm_up = warm_up.iter().filter_map(|round| round.ms.first().copied()).collect();

    let staircase = (linear..linear + STEPS).collect::<Vec<_>>();
    let passes = instrument.rounds(&staircase, 1).await?;
    readings.staircase_ns = passes.iter().flat_map(|round| &round.ms).map(|ms| (ms * 1e6).round() as u64).collect();

    readings.linearity = vec![Vec::new(); linear];
    for round in instrument.rounds(&[0, 1, 2, 3], size.repeats).await? {
        readings.linearity.iter_mut().zip(&round.ms).for_each(|(all, &ms)| all.push(ms));
    }
    for round in instrument.rounds(&[2, 3, 3, 2], size.repeats).await? {
        if let &[a, b, c, d] = round.ms.as_slice() {
            readings.decomposition.push([a, b, c, d, round.wall_ms]);
        }
    }
    for _ in 0..RUNS {
        let rounds = instrument.rounds(&[2; 9], size.repeats).await?;
        readings.positions.push(rounds.into_iter().map(|round| round.ms).collect());
    }
    Ok(readings)
}

/// Runs of the same work in every slot.
const RUNS: usize = 3;
/// Long enough for a GPU to lower its clock.
const REST_MS: u32 = 400;

fn experiment(size: Size, iterations: impl Iterator<Item = u32>, allow_software: bool) -> Experiment {
    let arm = |iterations: u32| Arm {
        name: format!("{iterations} iterations"),
        steps: vec![Step {
            shader: KERNEL.to_owned(),
            entry: "main".to_owned(),
            constants: BTreeMap::from([("ITERATIONS".to_owned(), f64::from(iterations))]),
            bind: vec!["result".to_owned()],
            workgroups: [(size.invocations / 64).min(1 << 15), (size.invocations / 64).div_ceil(1 << 15), 1],
        }],
        contents: BTreeMap::new(),
    };
    Experiment {
        buffers: vec![Buffer {
            name: "result".to_owned(),
            role: Role::Output,
            contents: Contents::Zero { words: u64::from(size.invocations) },
            truth: None,
        }],
        arms: iterations.map(arm).collect(),
        allow_software,
        ..Experiment::default()
    }
}
