//! What a soak came to, and what of it is wrong.

use serde_json::{Value, json};

/// All sets opened, worked on, and closed.
#[derive(Clone, Debug, Default)]
pub struct Cycle {
    pub set: String,
    /// Its end, since the start.
    pub at_s: f64,
    /// Until every hash was right.
    pub opened_s: f64,
    pub load_ms: f64,
    pub recomputes: u64,
    /// Of the cursor.
    pub moves: u64,
    /// From one set to another.
    pub scrubs: u64,
    /// Between one picture and the next.
    pub frames_ms: Vec<f64>,
    /// Answers that differ from the first.
    pub wrong: Vec<String>,
    /// After garbage was collected: objects of JavaScript.
    pub heap_bytes: f64,
    /// And of its array buffers.
    pub buffers_bytes: f64,
    /// By the page's own ledger, while all is open.
    pub gpu_bytes: f64,
    /// The same after everything was closed.
    pub left_bytes: f64,
}

impl Cycle {
    pub fn in_words(&self) -> String {
        format!(
            "{:.0} s: {}, {} recomputes, {} scrubs, heap {:.1} MB, buffers {:.1} MB, GPU {:.1} MB",
            self.at_s,
            self.set,
            self.recomputes,
            self.scrubs,
            self.heap_bytes / 1e6,
            self.buffers_bytes / 1e6,
            self.gpu_bytes / 1e6
        )
    }
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub cycles: Vec<Cycle>,
    /// What the page wrote to the console as errors.
    pub complaints: Vec<String>,
    /// Why it ended early.
    pub broken: Option<String>,
}

impl Figures {
    /// What must not be, in words.
    pub fn wrong(&self) -> Vec<String> {
        let mut wrong: Vec<String> = self.broken.iter().map(|words| format!("ended early: {words}")).collect();
        wrong.extend(self.complaints.iter().map(|words| format!("console: {words}")));
        wrong.extend(self.cycles.iter().flat_map(|cycle| cycle.wrong.clone()));
        let left = self.cycles.iter().filter(|cycle| cycle.left_bytes != 0.0);
        wrong.extend(
            left.map(|cycle| format!("{:.0} bytes of GPU memory are left when all is closed", cycle.left_bytes)),
        );
        if let Some(grown) = self.grown(|cycle| cycle.heap_bytes).filter(|grown| *grown > FLAT_BYTES) {
            wrong.push(format!("the heap grew by {:.1} MB after the first minute", grown / 1e6));
        }
        if let Some(grown) = self.grown(|cycle| cycle.gpu_bytes).filter(|grown| *grown > FLAT_BYTES) {
            wrong.push(format!("GPU memory grew by {:.1} MB after the first minute", grown / 1e6));
        }
        wrong
    }

    /// By how much the largest value of the last quarter exceeds that of the cycles before, all after the first minute;
    /// `None` where there are too few. Sets differ, so each is compared with itself.
    fn grown(&self, of: impl Fn(&Cycle) -> f64) -> Option<f64> {
        let settled: Vec<&Cycle> = self.cycles.iter().filter(|cycle| cycle.at_s >= SETTLED_S).collect();
        let (before, last) = settled.split_at(settled.len() - settled.len() / 4);
        let largest = |cycles: &[&Cycle], set: &str| {
            cycles.iter().filter(|cycle| cycle.set == set).map(|cycle| of(cycle)).reduce(f64::max)
        };
        let grown = last.iter().filter_map(|cycle| Some(largest(last, &cycle.set)? - largest(before, &cycle.set)?));
        grown.reduce(f64::max)
    }

    pub fn to_json(&self) -> Value {
        let mut frames: Vec<f64> = self.cycles.iter().flat_map(|cycle| cycle.frames_ms.iter().copied()).collect();
        frames.sort_by(f64::total_cmp);
        let at = |part: f64| frames.get(((frames.len() as f64 - 1.0) * part).round() as usize).copied();
        let sum = |of: fn(&Cycle) -> u64| self.cycles.iter().map(of).sum::<u64>();
        let column = |of: fn(&Cycle) -> f64| self.cycles.iter().map(of).collect::<Vec<_>>();
        json!({
            "wrong": self.wrong(),
            "cycles": self.cycles.len(),
            "recomputes": sum(|cycle| cycle.recomputes),
            "cursorMoves": sum(|cycle| cycle.moves),
            "scrubs": sum(|cycle| cycle.scrubs),
            "consoleErrors": self.complaints.len(),
            "framesMs": {"n": frames.len(), "p50": at(0.5), "p95": at(0.95), "max": at(1.0)},
            "heapBytes": column(|cycle| cycle.heap_bytes),
            "bufferBytes": column(|cycle| cycle.buffers_bytes),
            "gpuBytes": column(|cycle| cycle.gpu_bytes),
            "leftBytes": column(|cycle| cycle.left_bytes),
            "loadMs": column(|cycle| cycle.load_ms),
            "openedS": column(|cycle| cycle.opened_s),
            "atS": column(|cycle| cycle.at_s),
        })
    }
}

/// From when on memory has to be flat.
const SETTLED_S: f64 = 60.0;
/// What still counts as flat.
const FLAT_BYTES: f64 = 5e6;

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(at_s: f64, heap_bytes: f64) -> Cycle {
        Cycle { set: "a".to_owned(), at_s, heap_bytes, frames_ms: vec![10.0, 20.0], ..Cycle::default() }
    }

    #[test]
    fn growth_counts_after_the_first_minute_and_beyond_5_mb() {
        let of = |heap: [f64; 6]| {
            let cycles = (0..).zip(heap).map(|(i, heap)| cycle(f64::from(i) * 30.0, heap)).collect();
            Figures { cycles, ..Figures::default() }.wrong()
        };
        assert_eq!(of([1e6, 9e6, 20e6, 21e6, 20e6, 24e6]), Vec::<String>::new());
        assert_eq!(of([1e6, 9e6, 20e6, 20e6, 20e6, 26e6]), ["the heap grew by 6.0 MB after the first minute"]);
    }

    #[test]
    fn errors_and_differences_are_wrong_and_times_are_sorted() {
        let wrong = Cycle { wrong: vec!["disc 5: 0, at first 1".to_owned()], left_bytes: 7.0, ..cycle(1.0, 0.0) };
        let figures =
            Figures { cycles: vec![wrong], complaints: vec!["oh".to_owned()], broken: Some("gone".to_owned()) };
        assert_eq!(
            figures.wrong(),
            [
                "ended early: gone",
                "console: oh",
                "disc 5: 0, at first 1",
                "7 bytes of GPU memory are left when all is closed"
            ]
        );
        assert_eq!(figures.to_json()["framesMs"], json!({"n": 2, "p50": 20.0, "p95": 20.0, "max": 20.0}));
    }
}
