//! Time, and whether the page could paint.

use std::{cell::Cell, rc::Rc};

use gloo_timers::{callback::Interval, future::TimeoutFuture};

/// Milliseconds since the page started.
pub fn now_ms() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |clock| clock.now())
}

/// Gives the thread back to the page once.
pub async fn breathe() {
    TimeoutFuture::new(0).await;
}

/// The longest time between two ticks of a timer, less its period: how long the page stood still.
pub struct BlockWatch {
    longest_ms: Rc<Cell<f64>>,
    _ticks: Interval,
}

impl BlockWatch {
    pub fn new() -> Self {
        let longest_ms = Rc::new(Cell::new(0.0));
        let (longest, last) = (longest_ms.clone(), Cell::new(now_ms()));
        let ticks = Interval::new(PERIOD_MS, move || {
            let now = now_ms();
            longest.set(f64::max(longest.get(), now - last.replace(now) - f64::from(PERIOD_MS)));
        });
        Self { longest_ms, _ticks: ticks }
    }

    pub fn longest_ms(&self) -> f64 {
        self.longest_ms.get()
    }
}

impl Default for BlockWatch {
    fn default() -> Self {
        Self::new()
    }
}

/// Browsers do not run timers more often.
const PERIOD_MS: u32 = 4;
