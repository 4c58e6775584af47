//! What the loader and the engine tell, and what is asked next.

use std::rc::Rc;

use super::{
    App, Level, Message,
    command::Command,
    event::{Answer, Effect, Event, Lane},
    notices,
    open_set::{Fit, OpenSet, Reading, Want},
    state::{PatternOf, Product, Zoom},
    words,
};
use crate::{
    Error, Kind, Result,
    acquisition::Acquisition,
    engine::{FrameState, PatternSum},
    products::{Disc, Flip, ScanOrder, find_disc},
};

/// Small pictures are asked for, and made, at most this often while the set is being read.
pub(super) const SHELF_REST_MS: f64 = 1000.0;

/// While the set is being read, the picture and the pattern of all patterns follow it at most this often; each is made
/// of all that is there.
pub(super) const IMAGE_REST_MS: f64 = 300.0;
const PATTERNS_REST_MS: f64 = 600.0;

/// A disc that moved or grew by more than this is worth an offer, px.
const DISC_TOLERANCE_PX: f64 = 0.5;

impl App {
    pub(super) fn take(&mut self, event: Event, effects: &mut Vec<Effect>) {
        match event {
            Event::Computer(computer) => (self.computer, self.gpu_is_away) = (computer, false),
            Event::Copies(copies) => self.copies = copies,
            Event::Opening { files } => {
                self.opening = Some(files);
                self.interrupt(effects);
                self.forget_open_copy();
                (self.refusal, self.choice, self.contents) = (None, Vec::new(), None);
                self.messages.clear();
                // A sheet tells of the files before.
                effects.push(Effect::Page(Command::CloseDialog));
            }
            Event::Choice(sets) => {
                (self.choice, self.opening) = (sets, None);
                if self.choice.len() == 1 {
                    self.list(effects);
                }
            }
            Event::Contents(Ok(contents)) => self.contents = Some(contents),
            Event::Contents(Err(error)) => self.tell(error),
            Event::Metadata(acquisition) => self.open(acquisition, effects),
            Event::Series(sets) => self.open_series(&sets, effects),
            Event::Member { place, event } if self.is_reading(place) => self.take_of_member(place, *event, effects),
            // It is no longer wanted.
            Event::Member { .. } => {}
            Event::ReadAnew => self.read_anew(effects),
            Event::Failed(error) => self.fail(error),
            Event::Notice(error) if self.rebuilding && error.kind == Kind::Gpu => {}
            Event::Notice(error) => self.tell(error),
            Event::GpuLost => {
                (self.rebuilding, self.gpu_is_away) = (self.set.is_some(), true);
                // The view stays as it is.
                self.state_is_given |= self.rebuilding && self.series.is_none();
                self.on_set(|set| set.is_lost = true);
                self.read_anew(effects);
                self.messages.retain(|message| message.error.kind != Kind::Gpu);
                if !self.rebuilding {
                    self.tell(notices::gpu_was_reset());
                }
            }
            Event::GpuGone(error) => {
                self.rebuilding = false;
                self.fail(error);
            }
            Event::Progress(progress) => self.on_set(|set| set.progress = progress),
            Event::Memory(memory) => self.on_set(|set| set.memory = memory),
            Event::Report(report) => self.on_set(|set| set.report = report),
            Event::FirstBatch => {
                let fit = if self.state.disc.is_some() { Fit::Frozen } else { Fit::Wanted };
                self.on_set(|set| {
                    set.batch_came();
                    set.fit = if set.fit == Fit::Waiting { fit } else { set.fit };
                });
                self.fit_disc();
            }
            Event::BatchReady => self.on_set(OpenSet::batch_came),
            Event::BadPixelsFound(found) => {
                self.on_set(|set| set.set_bad(&found));
                self.stale.pattern = true;
            }
            Event::Done => self.end(Reading::Done),
            Event::Cancelled => {
                self.opening = None;
                self.end(Reading::Stopped);
            }
            Event::Answered { set_id, lane, answer, states, faults, ms } => {
                let Some(set) = self.set.as_mut().filter(|set| set.id == set_id) else {
                    let event = Event::Answered { set_id, lane, answer, states, faults, ms };
                    return self.take_answer_elsewhere(set_id, event);
                };
                set.set_states(states);
                set.faults = faults;
                // Patterns that were under way when reading was stopped count too.
                let stopped = self.messages.iter_mut().find(|message| message.error.key == notices::STOPPED);
                if let Some(message) = stopped {
                    message.error = notices::stopped(set);
                }
                self.answered(lane, answer, ms);
            }
            event => self.user(event, effects),
        }
    }

    pub(super) fn on_set(&mut self, change: impl FnOnce(&mut OpenSet)) {
        if let Some(set) = &mut self.set {
            change(set);
        }
    }

    fn open(&mut self, acquisition: Rc<Acquisition>, effects: &mut Vec<Effect>) {
        self.sets_opened += 1;
        (self.opening, self.refusal, self.choice, self.series) = (None, None, Vec::new(), None);
        self.messages = acquisition.notices.iter().map(|error| Message::of(error.clone())).collect();
        let mut set = OpenSet::new(self.sets_opened, acquisition);
        if !std::mem::take(&mut self.state_is_given) {
            self.forget_view();
        }
        words::unfit_scan(&set, &mut self.state).into_iter().for_each(|error| self.tell(error));
        if let Some([rows, cols]) = self.state.scan {
            words::enter_scan(&mut set, crate::shape::Scan { rows, cols });
        }
        set.set_flip(self.state.flip);
        set.set_order(self.state.order);
        effects.push(Effect::Flip(self.state.flip));
        effects.push(Effect::Order(self.state.order));
        (self.better_disc, self.image_ms) = (None, None);
        if !self.rebuilding {
            (self.image, self.pattern) = (None, None);
            self.thumbs.clear();
        }
        (self.hold, self.wrong_entry, self.playing) = (None, None, false);
        self.set = Some(set);
        // The first small pictures wait as the next ones do: the large ones come first.
        self.shelf_asked_ms = self.now_ms;
        self.meet_session();
        if !self.rebuilding {
            self.history = super::history::History::at(&self.state);
        }
    }

    /// Nothing of the view that belongs to the set before stays.
    pub(super) fn forget_view(&mut self) {
        let state = &mut self.state;
        (state.custom, state.disc, state.cursor, state.scan, state.inverted) = (None, None, None, None, false);
        (state.image_view, state.pattern_view) = (Zoom::default(), Zoom::default());
        (state.flip, state.exclude_hot, state.order) = (Flip::None, false, ScanOrder::default());
        (state.com, state.scales) = Default::default();
        (state.region, state.line, state.tool) = Default::default();
        state.looks.forget_limits();
        if state.product == Product::Custom {
            state.product = Product::Bf;
        }
    }

    fn fail(&mut self, error: Error) {
        // What a lost device broke off is done again.
        if self.rebuilding && error.kind == Kind::Gpu {
            return;
        }
        let was_opening = self.opening.take().is_some();
        let reading = self.set.as_ref().is_some_and(|set| set.reading == Reading::Going);
        if self.set.is_none() {
            self.refusal = Some(error);
            return;
        }
        if reading && !was_opening {
            self.end(Reading::Stopped);
            self.messages.retain(|message| message.error.key != notices::STOPPED);
        }
        let message = Message { error, level: Level::Fault };
        if !self.messages.contains(&message) {
            self.messages.insert(0, message);
        }
    }

    /// Tells it once.
    pub(super) fn tell(&mut self, error: Error) {
        let message = Message::of(error);
        if !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }

    fn end(&mut self, reading: Reading) {
        let Some(set) = self.set.as_mut().filter(|set| set.reading == Reading::Going) else { return };
        set.reading = reading;
        set.batch_came();
        let was_rebuilding = std::mem::take(&mut self.rebuilding);
        set.fit = if self.state.disc.is_none() { Fit::Wanted } else { Fit::Check };
        (self.stale.image, self.stale.pattern) = (true, true);
        if was_rebuilding && reading == Reading::Done {
            self.messages.insert(0, Message { error: notices::gpu_was_reset(), level: Level::Note });
        }
        if reading == Reading::Stopped {
            self.messages.insert(0, Message { error: notices::stopped(set), level: Level::Note });
        }
    }

    fn answered(&mut self, lane: Lane, answer: Result<Answer>, ms: f64) {
        let Some(set) = &mut self.set else { return };
        let answer = match answer {
            Ok(answer) => answer,
            Err(_) if self.rebuilding => return set.forget(lane),
            Err(error) => {
                set.refuse(lane);
                self.messages.insert(0, Message { error, level: Level::Fault });
                return;
            }
        };
        match lane {
            Lane::Image => (self.image_ms, self.image_came_ms) = (Some(ms), self.now_ms),
            Lane::Pattern => self.pattern_came_ms = self.now_ms,
            Lane::Shelf | Lane::Analysis => {}
        }
        match set.keep(lane, answer) {
            Some(Want::Sums { product, .. }) => self.refresh(&[product]),
            Some(Want::Moments { .. } | Want::Segments { .. }) => {
                self.refresh(&Product::DEFLECTION);
                if self.rotation_is_due {
                    self.find_rotation();
                }
            }
            Some(Want::Squares { .. }) => self.refresh(&Product::SPREAD),
            Some(Want::SquarePattern { .. }) => self.stale.pattern |= self.state.pattern.is_spread(),
            Some(Want::MaxPattern { .. }) => self.stale.pattern |= self.state.pattern == PatternOf::Max,
            Some(Want::Phase { .. }) => self.refresh(&[Product::Phase]),
            Some(Want::Pattern { .. }) => self.stale.pattern |= self.state.pattern == PatternOf::Cursor,
            Some(Want::Region { .. }) => self.stale.pattern |= self.state.pattern != PatternOf::Cursor,
            Some(Want::Spectrum(..)) => {}
            Some(Want::Patterns(_)) => {
                self.stale.pattern |= self.state.pattern != PatternOf::Cursor;
                self.fit_disc();
            }
            None => {}
        }
        if self.set.as_ref().is_some_and(|set| set.reading == Reading::Done) {
            self.tell_faults();
        }
    }

    fn refresh(&mut self, products: &[Product]) {
        self.stale.image |= products.contains(&self.state.product);
        for product in products {
            if !self.stale.thumbs.contains(product) {
                self.stale.thumbs.push(*product);
            }
        }
    }

    /// Patterns that could not be unpacked are told once all are read.
    fn tell_faults(&mut self) {
        let Some(set) = &self.set else { return };
        let told = |key: &str| self.messages.iter().any(|message| message.error.key == key);
        if !set.faults.is_empty() && !set.faults_told && !told("corrupt_chunk") {
            let message = Message { error: notices::faults(set), level: Level::Warning };
            self.messages.push(message);
        }
        self.on_set(|set| set.faults_told |= !set.faults.is_empty());
    }

    /// Takes the disc of the summed patterns where one is wanted; it is frozen then, so that no image jumps.
    fn fit_disc(&mut self) {
        let Some(set) = &mut self.set else { return };
        let Some((_, patterns)) = set.patterns.as_ref() else { return };
        let reading = set.reading == Reading::Going;
        if patterns.frames == 0 && reading {
            return;
        }
        if !matches!(set.fit, Fit::Wanted | Fit::Check) {
            return;
        }
        let found = found_disc(patterns, set);
        match set.fit {
            Fit::Wanted => {
                set.disc_is_found = self.state.disc.or(found).is_some();
                self.state.disc = self.state.disc.or(found).or_else(|| Some(middle(set)));
                set.fit = Fit::Frozen;
            }
            Fit::Check => {
                let differs = |new: &Disc| self.state.disc.is_some_and(|old| is_apart(old, *new));
                self.better_disc = found.filter(differs);
                set.fit = Fit::Frozen;
            }
            Fit::Waiting | Fit::Frozen => {}
        }
    }

    /// The disc of all that is read now, taken at once: the user asked for it.
    pub(super) fn find_disc_now(&mut self) {
        let better = self.better_disc.take();
        let Some(set) = &mut self.set else { return };
        match better.or_else(|| set.patterns.as_ref().and_then(|(_, patterns)| found_disc(patterns, set))) {
            Some(disc) => {
                set.disc_is_found = true;
                self.state.disc = Some(disc);
            }
            None => {
                let error = Error::new(Kind::File, "no_disc", "No bright disc was found")
                    .at("mean pattern")
                    .expected("one disc that is brighter than what surrounds it")
                    .action("Type centre and radius, or drag the detector");
                self.messages.insert(0, Message { error, level: Level::Note });
            }
        }
    }

    /// Fills the free lanes: the chosen image and the pattern first, then the disc, then the shelf.
    pub(super) fn ask_what_is_missing(&mut self, effects: &mut Vec<Effect>) {
        if self.set.as_ref().is_some_and(|set| set.has(&Want::Patterns(set.version))) {
            self.fit_disc();
        }
        self.look_for_hot(effects);
        self.ask_spectrum(effects);
        let (now, state) = (self.now_ms, &self.state);
        let Some(set) = &mut self.set else { return };
        let mut ask = |set: &mut OpenSet, lane: Lane, want: Want| {
            if let Some(ask) = set.ask(lane, want, now) {
                effects.push(Effect::Ask { set_id: set.id, lane, ask });
            }
        };
        if set.is_lost {
            return;
        }
        if set.fit == Fit::Waiting && set.reading == Reading::Going {
            // Bad pixels are still looked for; sums over patterns do not depend on them.
            if set.has_batches() {
                ask(set, Lane::Shelf, Want::Patterns(set.version));
            }
            return;
        }
        let is_going = set.reading == Reading::Going;
        let rests = |answered_ms: f64, rest_ms: f64| is_going && now - answered_ms < rest_ms;
        // A first picture of the whole scan is worth more than rest.
        let covers = u64::from(set.count(|state| state == FrameState::Valid)) * 20 >= set.shape().positions();
        let is_fresh = covers && rests(self.image_came_ms, IMAGE_REST_MS) && set.fits(state.product, state);
        if let Some(want) = set.want(state.product, state).filter(|_| !is_fresh) {
            ask(set, Lane::Image, want);
        }
        let pattern = set.want_pattern(state);
        let has_patterns = match &pattern {
            Want::Patterns(_) => set.patterns.is_some(),
            Want::SquarePattern { .. } => set.square_pattern.is_some(),
            Want::MaxPattern { .. } => set.max_pattern.is_some(),
            _ => false,
        };
        if !has_patterns || !rests(self.pattern_came_ms, PATTERNS_REST_MS) {
            ask(set, Lane::Pattern, pattern);
        }
        if matches!(set.fit, Fit::Wanted | Fit::Check) {
            let patterns = Want::Patterns(set.version);
            ask(set, Lane::Shelf, patterns);
        }
        let is_playing = self.series.as_ref().is_some_and(|series| series.is_playing);
        let resting = is_playing || set.reading == Reading::Going && now - self.shelf_asked_ms < SHELF_REST_MS;
        let busy = !set.is_idle(Lane::Image) || !set.is_idle(Lane::Pattern) || !set.is_idle(Lane::Shelf);
        if resting || busy || self.hold.is_some() {
            return;
        }
        let wants = Product::ALL.iter().filter_map(|product| set.want(*product, state));
        // Everything that a button may need is made in the end, the mean pattern for "Find disc" too.
        let missing = wants.chain([Want::Patterns(set.version)]).find(|want| set.may_ask(want));
        if let Some(want) = missing {
            self.shelf_asked_ms = now;
            ask(set, Lane::Shelf, want);
        }
    }
}

impl Message {
    pub(super) fn of(error: Error) -> Self {
        let level = if notices::is_note(&error) { Level::Note } else { Level::Warning };
        Self { error, level }
    }

    /// Buttons beside "Hide": what is written on them, and what they do.
    pub fn actions(&self) -> Vec<(&'static str, Command)> {
        notices::actions(&self.error)
    }
}

fn found_disc(patterns: &PatternSum, set: &OpenSet) -> Option<Disc> {
    find_disc(patterns, &set.bad)
}

/// Where no disc can be found, the middle of the detector and a quarter of it.
fn middle(set: &OpenSet) -> Disc {
    let detector = set.detector();
    let (rows, cols) = (f64::from(detector.rows), f64::from(detector.cols));
    Disc { centre: [(rows - 1.0) / 2.0, (cols - 1.0) / 2.0], radius: rows.min(cols) / 4.0 }
}

fn is_apart(a: Disc, b: Disc) -> bool {
    (a.centre[0] - b.centre[0]).hypot(a.centre[1] - b.centre[1]) > DISC_TOLERANCE_PX
        || (a.radius - b.radius).abs() > DISC_TOLERANCE_PX
}
