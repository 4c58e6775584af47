//! What of a series is read, and what the reading tells: sets on screen get their pictures, those nearest to the active
//! one stay in memory as far as the budget goes.

use super::{
    super::{
        App, Effect, Lane, Level, Message, OpenSet,
        event::{Event, GpuSupport},
        notices,
        open_set::{Fit, Reading, Want},
        residency::{self, Standing, Step, Wish},
        update::IMAGE_REST_MS,
    },
    Member, Series,
};

/// Bytes of resident patterns for a byte of their files, before a set of the series was read.
const USUAL_RATIO: f64 = 1.3;

/// Without an adapter that could tell, bytes that sets may take.
const USUAL_BUDGET: u64 = 1 << 30;

impl App {
    /// Bytes that the sets of a series may take: as entered, else as the adapter lets expect.
    pub fn budget_bytes(&self) -> u64 {
        let of_adapter = if self.computer.memory > 0 { self.computer.memory } else { USUAL_BUDGET };
        self.entered_budget.unwrap_or(of_adapter)
    }

    /// Bytes that the sets of the series take.
    pub fn resident_bytes(&self) -> u64 {
        let places = 0..self.series.as_ref().map_or(0, |series| series.members.len());
        let held =
            |place: usize| self.series.as_ref().and_then(|series| series.member(place)).is_some_and(Member::is_held);
        places.filter(|&place| held(place)).filter_map(|place| self.set_at(place)).map(|set| set.memory.bytes).sum()
    }

    /// Begins to read what is wanted next, and puts out what there is no room for.
    pub(in crate::app) fn read_on(&mut self, effects: &mut Vec<Effect>) {
        let Some(series) = &self.series else { return };
        if self.opening.is_some() || !self.choice.is_empty() || series.is_halted || self.gpu_is_away {
            return;
        }
        let (active, reading) = (series.active, series.reading);
        let is_held =
            |place: usize| series.member(place).is_some_and(|member| member.is_resident || member.failure.is_some());
        if let Some(reading) = reading {
            // What the user looks at goes before what was begun for later.
            if reading == active || is_held(active) || !self.is_wanted(active) {
                return;
            }
            self.interrupt(effects);
        }
        let standings = self.standings();
        let Step { put_out, read } = residency::next(&standings, self.budget_bytes());
        let is_for_later = read.is_some_and(|place| place != active);
        let is_idle = read.is_some_and(|place| standings[place].wish == Wish::Idle);
        let is_playing = self.series.as_ref().is_some_and(|series| series.is_playing);
        if is_for_later && (self.hold.is_some() || self.has_questions_elsewhere()) || is_idle && is_playing {
            return;
        }
        for place in put_out {
            self.put_out(place, effects);
        }
        let Some(series) = &mut self.series else { return };
        if let Some(place) = read {
            let now = series.tick();
            series.reading = Some(place);
            series.members[place].used = now;
            effects.push(Effect::Read(place));
        }
    }

    /// Whether the active set has to be read: while sets are played its picture is enough.
    fn is_wanted(&self, place: usize) -> bool {
        let is_playing = self.series.as_ref().is_some_and(|series| series.is_playing);
        !is_playing || self.lacks_picture(place)
    }

    /// Whether the picture of a set is not that of now, and can be made.
    pub(in crate::app) fn lacks_picture(&self, place: usize) -> bool {
        let (Some(set), Some(view)) = (self.set_at(place), self.view_at(place)) else { return false };
        match set.want(view.product, &view) {
            _ if set.reading == Reading::Going => true,
            Some(want) => !set.has(&want) && !set.is_refused(&want),
            // What a detector scales with is not known yet.
            None => set.fit == Fit::Wanted,
        }
    }

    /// A set beside the active one waits for an answer of its engine, which lives as long.
    fn has_questions_elsewhere(&self) -> bool {
        let Some(series) = &self.series else { return false };
        let mut sets = series.members.iter().filter_map(|member| member.desk.set.as_ref());
        sets.any(|set| !set.is_idle(Lane::Image) || !set.is_idle(Lane::Shelf))
    }

    fn standings(&self) -> Vec<Standing> {
        let Some(series) = &self.series else { return Vec::new() };
        let (shown, window) = (series.shown(&self.state.series), series.window(&self.state.series));
        let at = |place: usize| shown.iter().position(|&other| other == place);
        let active = at(series.active).unwrap_or(0);
        let ratio = self.ratio();
        let standing = |(place, member): (usize, &Member)| {
            let wish = match at(place) {
                _ if member.is_closed || member.failure.is_some() => Wish::Never,
                _ if place == series.active && self.is_wanted(place) => Wish::Active,
                None => Wish::Never,
                Some(_) if window.contains(&place) && !member.is_resident && self.lacks_picture(place) => Wish::Picture,
                Some(_) => Wish::Idle,
            };
            let known = self.set_at(place).map_or(0, |set| set.memory.bytes);
            let bytes = if known > 0 { known } else { (member.file_bytes as f64 * ratio) as u64 };
            let distance = at(place).map_or(usize::MAX, |at| at.abs_diff(active));
            Standing { bytes, is_resident: member.is_held(), used: member.used, wish, distance }
        };
        series.members.iter().enumerate().map(standing).collect()
    }

    /// Bytes of resident patterns for a byte of a file, as it was so far.
    fn ratio(&self) -> f64 {
        let Some(series) = &self.series else { return USUAL_RATIO };
        let whole = |(place, member): (usize, &Member)| {
            let bytes = self.set_at(place).map_or(0, |set| set.memory.bytes);
            (bytes > 0 && self.is_read(place)).then_some((bytes as f64, member.file_bytes as f64))
        };
        let read = series.members.iter().enumerate().filter_map(whole);
        let (bytes, files) = read.fold((0.0, 0.0), |(bytes, files), (b, f)| (bytes + b, files + f));
        if files > 0.0 { bytes / files } else { USUAL_RATIO }
    }

    /// What is read for later is dropped.
    pub(in crate::app) fn interrupt(&mut self, effects: &mut Vec<Effect>) {
        let reading = self.series.as_mut().and_then(|series| series.reading.take());
        if let Some(place) = reading {
            self.put_out(place, effects);
        }
    }

    /// The patterns of a set go; its pictures stay.
    fn put_out(&mut self, place: usize, effects: &mut Vec<Effect>) {
        let Some(series) = &mut self.series else { return };
        let is_active = place == series.active;
        let Some(member) = series.members.get_mut(place) else { return };
        (member.is_resident, member.has_engine) = (false, false);
        let set = if is_active { self.set.as_mut() } else { member.desk.set.as_mut() };
        if let Some(set) = set {
            set.is_lost = true;
        }
        effects.push(Effect::PutOut(place));
    }

    /// All patterns go, and what is needed is read again: on another path, or on a new device.
    pub(in crate::app) fn read_anew(&mut self, effects: &mut Vec<Effect>) {
        let places = 0..self.series.as_ref().map_or(0, |series| series.members.len());
        if let Some(series) = &mut self.series {
            (series.reading, series.is_halted) = (None, false);
            series.members.iter_mut().for_each(|member| member.failure = None);
        }
        for place in places {
            self.put_out(place, effects);
        }
    }

    /// The user wants the rest of a set whose reading was stopped.
    pub(in crate::app) fn read_the_rest(&mut self, effects: &mut Vec<Effect>) {
        let Some(series) = &mut self.series else { return };
        let active = series.active;
        series.is_halted = false;
        series.members[active].failure = None;
        self.put_out(active, effects);
        self.messages.retain(|message| message.error.key != notices::STOPPED);
        if let Some(set) = &mut self.set {
            set.reading = Reading::Going;
        }
    }

    /// What the loader tells of the set at `place`.
    pub(in crate::app) fn take_of_member(&mut self, place: usize, event: Event, effects: &mut Vec<Effect>) {
        let is_read = self.is_read(place);
        let is_active = self.series.as_ref().is_some_and(|series| series.active == place);
        match event {
            // A set that has to be walked again is still the same.
            Event::Opening { .. } => {}
            Event::Metadata(set) => {
                self.note(place, |member| member.has_engine = true);
                self.at_desk(place, |app| {
                    if let Some(open) = app.set.as_mut().filter(|_| !is_read) {
                        (open.acquisition, open.is_lost) = (set, false);
                    }
                });
                if is_active {
                    self.tell_how_it_is_seen(effects);
                }
            }
            Event::Done if is_read => {
                self.note(place, |member| member.is_resident = true);
                self.at_desk(place, |app| app.on_set(|set| set.is_lost = false));
                self.ended(place, effects);
            }
            Event::Done => {
                self.note(place, |member| member.is_resident = true);
                self.at_desk(place, |app| app.take(Event::Done, &mut Vec::new()));
                self.ended(place, effects);
            }
            Event::Cancelled | Event::Failed(_) => self.stopped(place, event, effects),
            // What is read again is shown when it is whole.
            Event::FirstBatch | Event::BatchReady if is_read => {}
            event if is_active => self.take(event, effects),
            event => {
                self.at_desk(place, |app| app.take(event, &mut Vec::new()));
            }
        }
    }

    /// Whether the set at `place` is the one that is being read.
    pub(in crate::app) fn is_reading(&self, place: usize) -> bool {
        self.series.as_ref().is_some_and(|series| series.reading == Some(place))
    }

    /// Whether anything is read, the active set or another one.
    pub fn is_reading_any(&self) -> bool {
        let of_series = self.series.as_ref().is_some_and(|series| series.reading.is_some());
        of_series || self.set.as_ref().is_some_and(|set| set.reading == Reading::Going)
    }

    fn note(&mut self, place: usize, change: impl FnOnce(&mut Member)) {
        if let Some(member) = self.series.as_mut().and_then(|series| series.members.get_mut(place)) {
            change(member);
        }
    }

    /// A set was read to its end.
    fn ended(&mut self, place: usize, effects: &mut Vec<Effect>) {
        let Some(series) = &mut self.series else { return };
        series.reading = None;
        let now = series.tick();
        series.members[place].used = now;
        if place == series.active {
            self.tell_how_it_is_seen(effects);
            if std::mem::take(&mut self.rebuilding) {
                self.messages.insert(0, Message { error: notices::gpu_was_reset(), level: Level::Note });
            }
        }
    }

    /// Reading ended early. What was read for the first time stays, as far as it came; of what was there before the
    /// pictures do.
    fn stopped(&mut self, place: usize, event: Event, effects: &mut Vec<Effect>) {
        let was_read = self.is_read(place);
        let has_engine =
            self.series.as_ref().and_then(|series| series.member(place)).is_some_and(|member| member.has_engine);
        let error = match event {
            Event::Failed(error) => Some(error),
            _ => None,
        };
        let is_halted = error.is_none();
        self.note(place, |member| {
            member.failure.clone_from(&error);
            member.is_resident = has_engine && !was_read;
        });
        if let Some(series) = &mut self.series {
            series.reading = None;
            series.is_halted |= is_halted;
        }
        self.at_desk(place, |app| match error {
            Some(error) if was_read || !has_engine => {
                app.messages.insert(0, Message { error, level: Level::Fault });
                app.on_set(|set| set.reading = Reading::Stopped);
            }
            Some(error) => app.take(Event::Failed(error), &mut Vec::new()),
            None if was_read => {}
            None => app.take(Event::Cancelled, &mut Vec::new()),
        });
        if was_read || !has_engine {
            self.put_out(place, effects);
        }
    }

    /// The pictures of the other sets on screen.
    pub(in crate::app) fn ask_for_tiles(&mut self, effects: &mut Vec<Effect>) {
        let Some(series) = &self.series else { return };
        for place in series.window(&self.state.series) {
            if self.series.as_ref().is_some_and(|series| series.active != place) {
                let asked = self.at_desk(place, Self::ask_for_picture).flatten();
                effects.extend(asked);
            }
        }
    }

    /// The question for the picture of the set on the desk.
    fn ask_for_picture(&mut self) -> Option<Effect> {
        let (now, rests) = (self.now_ms, self.now_ms - self.image_came_ms < IMAGE_REST_MS);
        let set: &mut OpenSet = self.set.as_mut()?;
        let is_going = set.reading == Reading::Going;
        if set.is_lost || is_going && (rests || set.fit == Fit::Waiting) {
            return None;
        }
        let (lane, want) = match set.want(self.state.product, &self.state) {
            Some(want) => (Lane::Image, want),
            None if set.fit == Fit::Wanted => (Lane::Shelf, Want::Patterns(set.version)),
            None => return None,
        };
        let set_id = set.id;
        set.ask(lane, want, now).map(|ask| Effect::Ask { set_id, lane, ask })
    }

    /// Where the patterns of sets lie, in words.
    pub fn memory_place(&self) -> &'static str {
        let on_cpu = matches!(self.computer.gpu, GpuSupport::Cpu | GpuSupport::None);
        if on_cpu { "CPU" } else { "GPU" }
    }
}

impl Member {
    /// Whether its patterns take memory.
    fn is_held(&self) -> bool {
        self.is_resident
    }
}

impl Series {
    /// The set that is being read.
    pub fn reading(&self) -> Option<usize> {
        self.reading
    }
}
