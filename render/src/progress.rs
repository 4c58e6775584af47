//! How far it is, on a terminal, and what it took.

use std::{
    cell::Cell,
    io::{IsTerminal, Write, stderr},
    time::{Duration, Instant},
};

/// A bar on the terminal; nothing where standard error goes elsewhere.
pub struct Bar {
    name: String,
    is_shown: bool,
    drawn: Cell<Option<Instant>>,
}

impl Bar {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), is_shown: stderr().is_terminal(), drawn: Cell::new(None) }
    }

    /// `done` of `all` patterns are decoded.
    pub fn tell(&self, done: u32, all: u32) {
        let is_due = self.drawn.get().is_none_or(|drawn| drawn.elapsed() > REST) || done == all;
        if self.is_shown && is_due {
            self.drawn.set(Some(Instant::now()));
            // A terminal that takes no bar needs none.
            let _ = write!(stderr(), "\r{} {}", self.name, bar(done, all)).and_then(|()| stderr().flush());
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        if self.is_shown {
            let _ = write!(stderr(), "\r\x1b[K").and_then(|()| stderr().flush());
        }
    }
}

fn bar(done: u32, all: u32) -> String {
    let filled = (u64::from(done) * WIDTH as u64 / u64::from(all.max(1))) as usize;
    format!("[{}{}] {done} of {all} patterns", "#".repeat(filled), " ".repeat(WIDTH - filled.min(WIDTH)))
}

/// The most memory that this process has had, bytes; `None` where the system does not tell.
pub fn peak_memory_bytes() -> Option<u64> {
    // proc(5): VmHWM, peak resident set size, in kB.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kb| kb * 1024)
}

const REST: Duration = Duration::from_millis(100);
const WIDTH: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_empty_at_first_and_full_at_last() {
        assert!(bar(0, 100).starts_with(&format!("[{}]", " ".repeat(WIDTH))));
        assert!(bar(50, 100).starts_with(&format!("[{}{}]", "#".repeat(16), " ".repeat(16))));
        assert_eq!(bar(100, 100), format!("[{}] 100 of 100 patterns", "#".repeat(WIDTH)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_peak_of_memory_is_at_least_what_is_held() {
        let held = vec![1u8; 64 << 20];
        assert!(peak_memory_bytes().is_some_and(|peak| peak > held.iter().map(|&byte| u64::from(byte)).sum()));
    }
}
