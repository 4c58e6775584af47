//! What the user chooses of the files and of how they are read: dataset, channel, order of axes; and of how patterns
//! are taken: mirrored, and without hot pixels.

use super::{App, Command, Effect, Level, Message, ViewState, detector::held_to, notices, state::About};
use crate::{
    acquisition::{AxisOrder, Change, Place, contents::What},
    products::Flip,
    shape::Detector,
};

impl App {
    /// Asks for the list of all datasets, and for the sheet that shows it.
    pub(super) fn list(&mut self, effects: &mut Vec<Effect>) {
        if self.contents.is_none() {
            effects.push(Effect::List);
        }
        effects.push(Effect::Page(Command::Datasets));
    }

    /// The places of the listed entries that are datasets; others have none.
    pub fn listed_places(&self) -> Vec<Option<Place>> {
        let files = self.contents.iter().flatten();
        let entries = files.flat_map(|file| file.entries.iter().map(move |entry| (file, entry)));
        entries
            .map(|(file, entry)| match &entry.what {
                What::Dataset(found) if found.refusal.is_none() => {
                    Some(Place { file: file.file.clone(), path: entry.path.clone() })
                }
                _ => None,
            })
            .collect()
    }

    pub(super) fn open_dataset(&mut self, place: u32, effects: &mut Vec<Effect>) {
        if let Some(Some(place)) = self.listed_places().into_iter().nth(place as usize) {
            self.reopen(Change::Dataset(Some(place)), effects);
        }
    }

    pub(super) fn reopen(&mut self, change: Change, effects: &mut Vec<Effect>) {
        effects.push(Effect::Page(Command::CloseDialog));
        effects.push(Effect::Reopen(change));
    }

    pub(super) fn choose_channel(&mut self, channel: u32, effects: &mut Vec<Effect>) {
        let Some(set) = &self.set else { return };
        let is_other = channel != set.acquisition.channel && (channel as usize) < set.acquisition.channels.len();
        if is_other {
            // Another channel of the same detector and scan: the view stays.
            self.state_is_given = true;
            effects.push(Effect::Reopen(Change::Channel(channel)));
        }
    }

    /// Orders of the axes: that of now, then the others.
    pub fn axis_orders(&self) -> Vec<AxisOrder> {
        let Some(set) = &self.set else { return Vec::new() };
        let axes = &set.acquisition.stored.axes;
        std::iter::once(axes.order).chain(axes.alternatives.iter().copied()).collect()
    }

    pub(super) fn choose_axes(&mut self, place: u32, effects: &mut Vec<Effect>) {
        let order = self.axis_orders().get(place as usize).copied().filter(|_| place > 0);
        if let Some(order) = order {
            effects.push(Effect::Reopen(Change::Axes(order)));
        }
    }

    /// Shows patterns so from now on. Detector and disc stay on the pixels on which they were.
    pub(super) fn flip(&mut self, flip: Flip, effects: &mut Vec<Effect>) {
        let Some(set) = self.set.as_mut().filter(|set| set.flip() != flip) else { return };
        let (before, detector) = (set.flip(), set.detector());
        turn_view(&mut self.state, detector, before, flip);
        if let Some(disc) = &mut self.better_disc {
            disc.centre = flip.position(detector, before.position(detector, disc.centre));
        }
        set.set_flip(flip);
        self.messages.retain(|message| message.error.key != notices::MIRRORED);
        (self.stale.image, self.stale.pattern, self.hold) = (true, true, None);
        effects.push(Effect::Flip(flip));
    }

    /// Offers to leave out hot pixels, once all patterns were looked at; does so at once where the view says it.
    pub(super) fn look_for_hot(&mut self, effects: &mut Vec<Effect>) {
        let Some(set) = &mut self.set else { return };
        let Some(found) = set.find_hot() else { return };
        self.messages.retain(|message| message.error.key != notices::HOT);
        if found == 0 {
            return;
        }
        if self.state.exclude_hot {
            return self.exclude_hot(true, effects);
        }
        if let Some(hot) = self.set.as_ref().and_then(|set| set.hot.as_ref()) {
            self.messages.push(Message { error: notices::hot(hot), level: Level::Note });
        }
    }

    pub(super) fn exclude_hot(&mut self, is_excluded: bool, effects: &mut Vec<Effect>) {
        let Some(set) = self.set.as_mut().filter(|set| set.hot.is_some()) else { return };
        self.state.exclude_hot = is_excluded;
        effects.push(Effect::Exclude(set.exclude_hot(is_excluded)));
        self.messages.retain(|message| message.error.key != notices::HOT);
        (self.stale.image, self.stale.pattern) = (true, true);
    }
}

/// Detector, disc and view stay on the pixels on which they were, when patterns are shown by `flip`, no longer by
/// `before`.
pub(super) fn turn_view(state: &mut ViewState, detector: Detector, before: Flip, flip: Flip) {
    let turned = |at: [f64; 2]| flip.position(detector, before.position(detector, at));
    state.flip = flip;
    if let Some(disc) = &mut state.disc {
        disc.centre = turned(disc.centre);
    }
    let shape = state.custom.take().map(|shape| flip.shape(detector, &before.shape(detector, &shape)));
    state.custom = shape.map(|shape| held_to(shape, detector));
    if let About::Centre(centre) = &mut state.com.about {
        *centre = turned(*centre);
    }
    // The view's centre is [x, y] from the corner of the first pixel.
    if let Some([x, y]) = &mut state.pattern_view.centre {
        let [row, col] = turned([*y - 0.5, *x - 0.5]);
        (*x, *y) = (col + 0.5, row + 0.5);
    }
}
