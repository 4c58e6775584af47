//! One input, and whether the program bore it.

use std::{
    cell::RefCell,
    panic::{self, AssertUnwindSafe},
    time::{Duration, Instant},
};

use crate::memory;

/// What became of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Accepted, or the key of the error with which it was refused.
    pub outcome: String,
    /// What is wrong, in words: a panic, too slow, too much memory.
    pub wrong: Option<String>,
    pub time: Duration,
    pub peak_bytes: usize,
}

/// What an input may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub time: Duration,
    /// Bytes that any input may take, and bytes for each of its own.
    pub free_bytes: usize,
    pub factor: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_millis(100), free_bytes: FREE_BYTES, factor: FACTOR }
    }
}

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Panics are told to [`judge`] alone.
pub fn listen() {
    panic::set_hook(Box::new(|info| {
        let words = info.to_string().replace('\n', " ");
        PANIC.with(|last| *last.borrow_mut() = Some(words));
    }));
}

/// Runs `body` on an input of `len` bytes; it gives the outcome's name. Memory counts where [`memory::Counting`] is the
/// program's allocator.
pub fn judge(limits: Limits, len: usize, body: impl Fn() -> String) -> Verdict {
    let (verdict, is_slow) = once(limits, len, &body, false);
    // The machine may have been busy: what is slow is slow again, by the time that this thread has worked.
    if !is_slow {
        return verdict;
    }
    let again = (0..2).map(|_| once(limits, len, &body, true)).min_by_key(|(verdict, _)| verdict.time);
    again.map_or(verdict, |(verdict, _)| verdict)
}

/// How long this thread has had a processor, where the system tells
/// (<https://docs.kernel.org/scheduler/sched-stats.html>).
fn worked() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn once(limits: Limits, len: usize, body: &impl Fn() -> String, is_careful: bool) -> (Verdict, bool) {
    memory::forget_peak();
    let before = memory::held();
    let (start, worked) = (Instant::now(), if is_careful { worked() } else { None });
    let outcome = panic::catch_unwind(AssertUnwindSafe(body));
    let time = worked.and_then(|before| self::worked()?.checked_sub(before)).unwrap_or(start.elapsed());
    let peak_bytes = memory::peak().saturating_sub(before);
    let most = limits.free_bytes + limits.factor * len;
    let is_slow = time > limits.time;
    let wrong = match &outcome {
        Err(_) => PANIC.with(|last| last.borrow_mut().take()).or(Some("it panicked".to_owned())),
        Ok(_) if is_slow => Some(format!("it took {} ms", time.as_millis())),
        Ok(_) if peak_bytes > most => Some(format!("it took {peak_bytes} bytes for {len}, more than {most}")),
        Ok(_) => None,
    };
    (Verdict { outcome: outcome.unwrap_or_else(|_| "panic".to_owned()), wrong, time, peak_bytes }, is_slow)
}

/// Bytes that any input may take: mask, gaps and values of the largest detector and scan that are read.
const FREE_BYTES: usize = 256 << 20;
/// Bytes for each byte of the input.
const FACTOR: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_and_a_slow_input_are_findings_and_others_are_not() {
        listen();
        let limits = Limits { time: Duration::from_millis(50), ..Limits::default() };
        let fine = judge(limits, 1, || "accepted".to_owned());
        assert_eq!((fine.outcome.as_str(), fine.wrong), ("accepted", None));
        let broken = judge(limits, 1, || panic!("two words"));
        assert!(broken.wrong.is_some_and(|words| words.contains("two words")));
        let slow = judge(limits, 1, || {
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(200) {}
            String::new()
        });
        assert!(slow.wrong.is_some_and(|words| words.contains("ms")));
    }
}
