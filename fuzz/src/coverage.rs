//! Which code an input reached.
//!
//! A program that is built with `-C instrument-coverage`
//! (<https://doc.rust-lang.org/rustc/instrument-coverage.html>) counts how often each region of its code runs, and its
//! runtime tells where the counters lie. They are read and cleared after every execution: that is all that coverage
//! guidance takes, and it needs no nightly compiler. Without the feature `guided` nothing is known and nothing kept.

/// Regions reached so far, and how often.
#[derive(Default)]
pub struct Coverage {
    totals: Vec<u64>,
    reached: usize,
}

impl Coverage {
    /// Forgets what the program did until now.
    pub fn start() -> Self {
        let counters = counters();
        counters.fill(0);
        Self { totals: vec![0; counters.len()], reached: 0 }
    }

    /// Regions that the last execution was the first to reach. Adds up and clears the counters.
    pub fn take(&mut self) -> usize {
        let mut new = 0;
        for (counters, totals) in counters().chunks_mut(LANE).zip(self.totals.chunks_mut(LANE)) {
            // A comparison of memory is code of the system, which has no counters to raise.
            if *counters == NOTHING[..counters.len()] {
                continue;
            }
            for (counter, total) in counters.iter_mut().zip(totals).filter(|(counter, _)| **counter > 0) {
                new += usize::from(*total == 0);
                *total = total.saturating_add(*counter);
                *counter = 0;
            }
        }
        self.reached += new;
        new
    }

    /// Regions reached, and regions in the program; `None` where it does not count.
    pub fn regions(&self) -> Option<(usize, usize)> {
        (!self.totals.is_empty()).then_some((self.reached, self.totals.len()))
    }

    /// Puts the sums into the counters, so that the profile that the program writes at its end covers all executions.
    pub fn finish(self) {
        counters().copy_from_slice(&self.totals);
    }
}

#[cfg(feature = "guided")]
#[expect(unsafe_code, reason = "the counters are symbols of the profiler's runtime")]
fn counters() -> &'static mut [u64] {
    unsafe extern "C" {
        fn __llvm_profile_begin_counters() -> *mut u64;
        fn __llvm_profile_end_counters() -> *mut u64;
    }
    // SAFETY: the runtime gives both ends of the section `__llvm_prf_cnts`, plain 8-byte counters that live as long as
    // the program (llvm/compiler-rt, InstrProfiling.h). This program has one thread; the slice is used and let go
    // within one call, in which counters that code of this module raises at the same time may be lost, which is
    // harmless.
    unsafe {
        let (start, end) = (__llvm_profile_begin_counters(), __llvm_profile_end_counters());
        std::slice::from_raw_parts_mut(start, usize::try_from(end.offset_from(start)).unwrap_or(0))
    }
}

#[cfg(not(feature = "guided"))]
fn counters() -> &'static mut [u64] {
    &mut []
}

/// Counters that are looked at together: most are 0.
const LANE: usize = 64;
const NOTHING: [u64; LANE] = [0; LANE];
