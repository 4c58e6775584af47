//! What the user does with a series: look at another set, give stars, hide, put in order, play, close.

use super::{
    super::{App, Effect, entry},
    Link, MOST_PANELS, SeriesView,
};

/// Time between two sets that are played.
const STEP_MS: f64 = 250.0;

impl App {
    /// The set `by` places further; at the ends nothing more.
    pub(in crate::app) fn step_set(&mut self, by: i64, effects: &mut Vec<Effect>) {
        let Some(series) = &self.series else { return };
        let shown = series.shown(&self.state.series);
        let at = shown.iter().position(|&place| place == series.active).map_or(0, |at| at as i64);
        if let Some(&place) = usize::try_from(at + by).ok().and_then(|at| shown.get(at)) {
            self.activate(place, effects);
        }
    }

    /// Looks at the `at`-th of the sets that are shown: the slider.
    pub(in crate::app) fn scrub(&mut self, at: usize, effects: &mut Vec<Effect>) {
        let place = self.series.as_ref().and_then(|series| series.shown(&self.state.series).get(at).copied());
        place.into_iter().for_each(|place| self.activate(place, effects));
    }

    fn name_at(&self, place: usize) -> Option<String> {
        Some(self.series.as_ref()?.member(place)?.name.clone())
    }

    pub(in crate::app) fn star(&mut self, place: usize) {
        if let Some(name) = self.name_at(place) {
            SeriesView::toggle(&mut self.state.series.starred, &name);
        }
    }

    /// Hides a set, or shows it again. If it is looked at, its neighbour is from then on.
    pub(in crate::app) fn hide_set(&mut self, place: usize, effects: &mut Vec<Effect>) {
        let Some(name) = self.name_at(place) else { return };
        let beside = self.beside(place);
        SeriesView::toggle(&mut self.state.series.hidden, &name);
        let is_active = self.series.as_ref().is_some_and(|series| series.active == place);
        if self.state.series.hidden.contains(&name) && is_active {
            beside.into_iter().for_each(|beside| self.activate(beside, effects));
        }
    }

    /// The shown set after `place`, else before it.
    fn beside(&self, place: usize) -> Option<usize> {
        let shown = self.series.as_ref()?.shown(&self.state.series);
        let at = shown.iter().position(|&other| other == place)?;
        shown.get(at + 1).or(at.checked_sub(1).and_then(|at| shown.get(at))).copied()
    }

    /// Only sets with a star, or all.
    pub(in crate::app) fn only_starred(&mut self, effects: &mut Vec<Effect>) {
        self.state.series.only_starred = !self.state.series.only_starred;
        let Some(series) = &self.series else { return };
        let shown = series.shown(&self.state.series);
        if !shown.contains(&series.active) {
            shown.first().into_iter().for_each(|&place| self.activate(place, effects));
        }
    }

    /// Moves the set at `place` to the `to`-th of the sets that are shown.
    pub(in crate::app) fn move_set(&mut self, place: usize, to: usize) {
        let Some(series) = &self.series else { return };
        let (shown, mut all) = (series.shown(&self.state.series), series.ordered(&self.state.series));
        let Some(from) = shown.iter().position(|&other| other == place) else { return };
        let to = to.min(shown.len() - 1);
        if from == to {
            return;
        }
        // Behind the set that is there when it goes forward, before it when it goes back: hidden ones stay where they are.
        let target = shown[to];
        all.retain(|&other| other != place);
        let at = all.iter().position(|&other| other == target).map_or(all.len(), |at| at + usize::from(to > from));
        all.insert(at.min(all.len()), place);
        self.state.series.order = all.iter().filter_map(|&place| self.name_at(place)).collect();
    }

    /// Moves the active set `by` places.
    pub(in crate::app) fn move_active(&mut self, by: i64) {
        let Some(series) = &self.series else { return };
        let (active, shown) = (series.active, series.shown(&self.state.series));
        let at = shown.iter().position(|&place| place == active).map_or(0, |at| at as i64);
        self.move_set(active, (at + by).max(0) as usize);
    }

    pub(in crate::app) fn link(&mut self, link: u32) {
        let before = self.state.series.links;
        if let Some(link) = Link::ALL.get(link as usize) {
            self.state.series.links.flip(*link);
            self.part_views(before);
            // A range of its own, or that of all.
            self.stale.image = true;
            if let Some(series) = &mut self.series {
                series.members.iter_mut().for_each(|member| member.made_for = None);
            }
        }
    }

    /// So many panels at most.
    pub(in crate::app) fn set_panels(&mut self, panels: u32) {
        self.state.series.panels = panels.clamp(1, MOST_PANELS);
    }

    /// One panel, or as many as before.
    pub(in crate::app) fn toggle_grid(&mut self) {
        let Some(series) = &mut self.series else { return };
        let panels = &mut self.state.series.panels;
        if *panels > 1 {
            series.panels_before = std::mem::replace(panels, 1);
        } else {
            *panels = series.panels_before.max(2);
        }
    }

    pub(in crate::app) fn play_series(&mut self) {
        let now_ms = self.now_ms;
        if let Some(series) = &mut self.series {
            series.is_playing = !series.is_playing;
            series.stepped_ms = now_ms;
            self.playing = false;
        }
    }

    pub(in crate::app) fn stop_series(&mut self) {
        if let Some(series) = &mut self.series {
            series.is_playing = false;
        }
    }

    /// The place of the set that is looked at.
    pub fn active_place(&self) -> usize {
        self.series.as_ref().map_or(0, |series| series.active)
    }

    /// Whether something is played, so that frames have to follow one another.
    pub fn is_playing(&self) -> bool {
        self.playing || self.series.as_ref().is_some_and(|series| series.is_playing)
    }

    /// The next set, once the one before was seen long enough; after the last comes the first.
    pub(in crate::app) fn play_sets_on(&mut self, effects: &mut Vec<Effect>) {
        let Some(series) = self.series.as_ref().filter(|series| series.is_playing && self.hold.is_none()) else {
            return;
        };
        let (active, is_failed) = (series.active, series.members[series.active].failure.is_some());
        if self.now_ms - series.stepped_ms < STEP_MS || !is_failed && !self.is_current_at(active) {
            return;
        }
        let shown = series.shown(&self.state.series);
        let at = shown.iter().position(|&place| place == active).unwrap_or(0);
        let next = shown[(at + 1) % shown.len()];
        self.activate(next, effects);
        let now_ms = self.now_ms;
        if let Some(series) = &mut self.series {
            series.stepped_ms = now_ms;
        }
    }

    /// Takes a budget as it was typed: "2.5 GB", "900 MB", nothing for that of the adapter.
    ///
    /// # Errors
    /// Why it is none.
    pub(in crate::app) fn enter_budget(&mut self, text: &str) -> Result<(), String> {
        let units = [("gb", 1e9), ("mb", 1e6), ("gib", (1u64 << 30) as f64), ("mib", (1u64 << 20) as f64)];
        self.entered_budget = entry::positive(text, &units)?.map(|bytes| bytes as u64);
        Ok(())
    }

    /// Closes the set at `place`; with the last one everything.
    pub(in crate::app) fn close_set(&mut self, place: usize, effects: &mut Vec<Effect>) {
        let Some(series) = self.series.as_ref().filter(|series| series.len() > 1) else {
            return self.close_all(effects);
        };
        if series.member(place).is_none() {
            return;
        }
        if series.active == place {
            let others = series.ordered(&self.state.series);
            let other = self.beside(place).or_else(|| others.into_iter().find(|&other| other != place));
            other.into_iter().for_each(|other| self.activate(other, effects));
        }
        if self.series.as_ref().is_some_and(|series| series.reading == Some(place)) {
            self.interrupt(effects);
        }
        let Some(series) = &mut self.series else { return };
        let member = &mut series.members[place];
        (member.is_closed, member.is_resident, member.desk) = (true, false, Default::default());
        effects.push(Effect::CloseSet(place));
    }

    /// Closes all that is open: nothing of it stays in memory.
    pub(in crate::app) fn close_all(&mut self, effects: &mut Vec<Effect>) {
        self.series = None;
        self.clear_desk();
        (self.opening, self.refusal, self.contents, self.rebuilding) = (None, None, None, false);
        self.choice.clear();
        self.forget_view();
        self.forget_open_copy();
        effects.push(Effect::CloseAll);
    }
}
