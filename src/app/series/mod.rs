//! Several sets at once. The page shows one of them, the active one, with all its tools; of the others it shows the
//! picture of the same product, each in a panel. What belongs to a set lies on a desk of its own, which is laid out on
//! the page while the set is looked at: so there is one way to work on a set, be it the active one or not.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    mem::swap,
    rc::Rc,
};

use super::{
    App, CurveOf, Effect, FiguresOf, Message, OpenSet, RingsOf, Shown, Stale, Thumb, ViewState, event::Event,
    open_set::Reading, reread::turn_view, state::Product,
};
use crate::{
    Error,
    acquisition::{
        Acquisition,
        series::{Listed, TiltFrom, arranged},
    },
    products::Disc,
};

mod hands;
mod pictures;
mod reading;
pub mod view;
mod words;

pub use view::{Link, Links, MOST_PANELS, SeriesView, grid_shape};
pub use words::{Mark, Tile};

use view::view_of;

/// The sets of a series, by their places in what was opened.
pub struct Series {
    members: Vec<Member>,
    /// Places in the order that names and metadata give.
    listed: Vec<usize>,
    /// The set that the rest of the page shows.
    pub active: usize,
    /// The set that is being read.
    reading: Option<usize>,
    /// Grows whenever a set is looked at or read.
    clock: u64,
    pub is_playing: bool,
    stepped_ms: f64,
    /// The user has stopped the reading: nothing more is read by itself.
    is_halted: bool,
    /// First panel of the grid, by its number among the sets that are shown.
    first: usize,
    /// Panels before the grid was made one panel.
    panels_before: u32,
}

/// One set of a series.
pub struct Member {
    /// Its name, told apart from others of the same name.
    pub name: String,
    pub label: String,
    pub group: String,
    pub tilt_deg: Option<f64>,
    pub tilt_from: TiltFrom,
    /// Its view; only what is not shared counts.
    own: ViewState,
    /// What belongs to it while another set is looked at.
    desk: Desk,
    pub is_resident: bool,
    /// The engine is there, with all of its patterns or some.
    has_engine: bool,
    used: u64,
    file_bytes: u64,
    /// Why it cannot be read.
    pub failure: Option<Error>,
    is_closed: bool,
    /// With what its picture was made.
    made_for: Option<pictures::MadeFor>,
}

/// Everything on the page that belongs to one set.
#[derive(Default)]
struct Desk {
    set: Option<OpenSet>,
    image: Option<Shown>,
    pattern: Option<Shown>,
    thumbs: HashMap<Product, Thumb>,
    messages: Vec<Message>,
    better_disc: Option<Disc>,
    image_ms: Option<f64>,
    rings: RefCell<Option<RingsOf>>,
    curve_of_now: Cell<Option<CurveOf>>,
    figures_of_now: RefCell<Option<FiguresOf>>,
    rotation_is_due: bool,
    shelf_asked_ms: f64,
    image_came_ms: f64,
    pattern_came_ms: f64,
    stale: Stale,
}

impl Series {
    pub fn member(&self, place: usize) -> Option<&Member> {
        self.members.get(place).filter(|member| !member.is_closed)
    }

    /// Sets that are open.
    pub fn len(&self) -> usize {
        self.members.iter().filter(|member| !member.is_closed).count()
    }

    /// False: what holds no set is no series.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Places of all open sets, in the order of `view`.
    pub fn ordered(&self, view: &SeriesView) -> Vec<usize> {
        let open = |place: &usize| self.member(*place).is_some();
        let named = |name: &String| self.listed.iter().copied().find(|&place| self.members[place].name == *name);
        let mut places: Vec<usize> = view.order.iter().filter_map(named).filter(open).collect();
        let rest: Vec<usize> = self.listed.iter().copied().filter(|place| !places.contains(place)).collect();
        places.extend(rest.into_iter().filter(|place| open(place)));
        places
    }

    /// Places of the sets that are shown and played, in order; the active one where there would be none.
    pub fn shown(&self, view: &SeriesView) -> Vec<usize> {
        let is_shown = |place: &usize| {
            let name = &self.members[*place].name;
            !view.hidden.contains(name) && (!view.only_starred || view.starred.contains(name))
        };
        let shown: Vec<usize> = self.ordered(view).into_iter().filter(is_shown).collect();
        if shown.is_empty() { vec![self.active] } else { shown }
    }

    /// Places of the sets in the grid.
    pub fn window(&self, view: &SeriesView) -> Vec<usize> {
        let (shown, panels) = (self.shown(view), view.panels.clamp(1, MOST_PANELS) as usize);
        let at = shown.iter().position(|&place| place == self.active).unwrap_or(0);
        // The active set is among them, and they move no more than that needs.
        let first = self.first.clamp((at + 1).saturating_sub(panels), at).min(shown.len().saturating_sub(panels));
        shown.into_iter().skip(first).take(panels).collect()
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

impl App {
    /// Opens several sets together: the first in order is looked at.
    pub(super) fn open_series(&mut self, sets: &[Rc<Acquisition>], effects: &mut Vec<Effect>) {
        let all: Vec<&Acquisition> = sets.iter().map(|set| &**set).collect();
        let listed = arranged(&all);
        let Some(first) = listed.first().map(|set| set.place) else { return };
        let before = self.series.take().map(|series| series.members[series.active].name.clone());
        (self.opening, self.refusal, self.choice) = (None, None, Vec::new());
        if !std::mem::take(&mut self.state_is_given) {
            self.forget_view();
            self.state.series = SeriesView { panels: self.state.series.panels, ..SeriesView::default() };
        }
        self.clear_desk();
        let members = self.members(sets, &listed);
        let active = members.iter().position(|member| Some(&member.name) == before.as_ref()).unwrap_or(first);
        let places = listed.into_iter().map(|set| set.place).collect();
        self.series = Some(Series {
            members,
            listed: places,
            active,
            reading: None,
            clock: 0,
            is_playing: false,
            stepped_ms: 0.0,
            is_halted: false,
            first: 0,
            panels_before: MOST_PANELS,
        });
        self.lay_out(active);
        self.look_at(effects);
        self.history = super::history::History::at(&self.state);
    }

    fn members(&mut self, sets: &[Rc<Acquisition>], listed: &[Listed]) -> Vec<Member> {
        let mut names: HashMap<&str, u32> = HashMap::new();
        let mut members = Vec::with_capacity(sets.len());
        for (place, set) in sets.iter().enumerate() {
            let times = names.entry(&set.name).or_default();
            *times += 1;
            let name = if *times == 1 { set.name.clone() } else { format!("{} ({times})", set.name) };
            self.sets_opened += 1;
            let mut open = OpenSet::new(self.sets_opened, set.clone());
            open.is_lost = true;
            let messages = set.notices.iter().map(|error| Message::of(error.clone())).collect();
            let found = listed.iter().find(|listed| listed.place == place);
            members.push(Member {
                name,
                label: found.map(|set| set.label.clone()).unwrap_or_default(),
                group: found.map(|set| set.group.clone()).unwrap_or_default(),
                tilt_deg: found.and_then(|set| set.tilt_deg),
                tilt_from: found.map(|set| set.from).unwrap_or_default(),
                own: self.state.clone(),
                desk: Desk { set: Some(open), messages, ..Desk::default() },
                is_resident: false,
                has_engine: false,
                used: 0,
                file_bytes: set.files.iter().map(|file| file.len_bytes).sum(),
                failure: None,
                is_closed: false,
                made_for: None,
            });
        }
        members
    }

    /// Nothing lies on the page.
    pub(super) fn clear_desk(&mut self) {
        self.swap_desk(&mut Desk::default());
        (self.hold, self.wrong_entry, self.playing) = (None, None, false);
    }

    fn swap_desk(&mut self, desk: &mut Desk) {
        swap(&mut self.set, &mut desk.set);
        swap(&mut self.image, &mut desk.image);
        swap(&mut self.pattern, &mut desk.pattern);
        swap(&mut self.thumbs, &mut desk.thumbs);
        swap(&mut self.messages, &mut desk.messages);
        swap(&mut self.better_disc, &mut desk.better_disc);
        swap(&mut self.image_ms, &mut desk.image_ms);
        swap(&mut self.rings, &mut desk.rings);
        swap(&mut self.curve_of_now, &mut desk.curve_of_now);
        swap(&mut self.figures_of_now, &mut desk.figures_of_now);
        swap(&mut self.rotation_is_due, &mut desk.rotation_is_due);
        swap(&mut self.shelf_asked_ms, &mut desk.shelf_asked_ms);
        swap(&mut self.image_came_ms, &mut desk.image_came_ms);
        swap(&mut self.pattern_came_ms, &mut desk.pattern_came_ms);
        swap(&mut self.stale, &mut desk.stale);
    }

    /// Takes the desk of `place` onto the page, or puts back what lies there if it is that of `place`.
    fn lay_out(&mut self, place: usize) {
        let Some(member) = self.series.as_mut().and_then(|series| series.members.get_mut(place)) else { return };
        let mut desk = std::mem::take(&mut member.desk);
        self.swap_desk(&mut desk);
        if let Some(member) = self.series.as_mut().and_then(|series| series.members.get_mut(place)) {
            member.desk = desk;
        }
    }

    /// Works on the set at `place` as if it were the active one; `None` where there is none.
    fn at_desk<T>(&mut self, place: usize, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let series = self.series.as_ref()?;
        let active = series.active;
        let own = view_of(&self.state, &series.member(place)?.own);
        if place == active {
            return Some(work(self));
        }
        let shared = std::mem::replace(&mut self.state, own);
        self.lay_out(active);
        self.lay_out(place);
        let done = work(self);
        self.lay_out(place);
        self.lay_out(active);
        let own = std::mem::replace(&mut self.state, shared);
        // The first disc that is found is that of all, where they share it.
        if self.state.series.links.detector && self.state.disc.is_none() {
            self.state.disc = own.disc;
        }
        if let Some(member) = self.series.as_mut().and_then(|series| series.members.get_mut(place)) {
            member.own = own;
        }
        Some(done)
    }

    /// Looks at the set at `place`.
    pub(super) fn activate(&mut self, place: usize, effects: &mut Vec<Effect>) {
        let Some(series) = self.series.as_mut() else { return };
        if series.member(place).is_none() || place == series.active {
            return;
        }
        let before = std::mem::replace(&mut series.active, place);
        series.members[before].own = self.state.clone();
        series.members[place].failure = None;
        series.is_halted = false;
        let own = &series.members[place].own;
        self.state = view_of(&self.state, own);
        self.lay_out(before);
        self.slim(before);
        self.lay_out(place);
        (self.hold, self.wrong_entry, self.hover) = (None, None, None);
        self.look_at(effects);
    }

    /// The active set is another one: the session has to know, and how it is seen.
    fn look_at(&mut self, effects: &mut Vec<Effect>) {
        let view = self.state.series.clone();
        let Some(series) = &mut self.series else { return };
        let (active, now) = (series.active, series.tick());
        series.members[active].used = now;
        let window = series.window(&view);
        series.first = series.shown(&view).iter().position(|place| window.first() == Some(place)).unwrap_or(0);
        (self.stale.image, self.stale.pattern) = (true, true);
        effects.push(Effect::Show(active));
        self.tell_how_it_is_seen(effects);
    }

    /// How the session is to see the set of now: an engine that was made anew knows nothing of it.
    fn tell_how_it_is_seen(&mut self, effects: &mut Vec<Effect>) {
        let Some(set) = &self.set else { return };
        effects.push(Effect::ScanShape(set.shape()));
        effects.push(Effect::Flip(set.flip()));
        effects.push(Effect::Order(set.order()));
        effects.push(Effect::Exclude(set.excluded()));
    }

    /// Of a set that is no longer looked at only the picture of now is kept ready.
    fn slim(&mut self, place: usize) {
        let product = self.state.product;
        let member = self.series.as_mut().and_then(|series| series.members.get_mut(place));
        if let Some(set) = member.and_then(|member| member.desk.set.as_mut()) {
            set.slim(product);
        }
    }

    /// What the links of before did not part keeps the values that it had.
    pub(super) fn part_views(&mut self, before: Links) {
        let (links, view) = (self.state.series.links, self.state.clone());
        let Some(series) = &mut self.series else { return };
        for link in Link::ALL.into_iter().filter(|link| before.has(*link) && !links.has(*link)) {
            series.members.iter_mut().for_each(|member| link.copy(&view, &mut member.own));
        }
    }

    /// The place of the set with this number: 0 where it is the only one.
    pub fn place_of(&self, set_id: u32) -> Option<usize> {
        let is_meant = |set: &Option<OpenSet>| set.as_ref().is_some_and(|set| set.id == set_id);
        match &self.series {
            _ if is_meant(&self.set) => Some(self.series.as_ref().map_or(0, |series| series.active)),
            Some(series) => series.members.iter().position(|member| is_meant(&member.desk.set)),
            None => None,
        }
    }

    /// The set at `place`, on its desk or on the page.
    fn set_at(&self, place: usize) -> Option<&OpenSet> {
        let series = self.series.as_ref()?;
        if place == series.active { self.set.as_ref() } else { series.member(place)?.desk.set.as_ref() }
    }

    fn image_at(&self, place: usize) -> Option<&Shown> {
        let series = self.series.as_ref()?;
        if place == series.active { self.image.as_ref() } else { series.member(place)?.desk.image.as_ref() }
    }

    /// The view of the set at `place`.
    fn view_at(&self, place: usize) -> Option<ViewState> {
        let series = self.series.as_ref()?;
        let member = series.member(place)?;
        Some(if place == series.active { self.state.clone() } else { view_of(&self.state, &member.own) })
    }

    /// Sets that are not looked at are seen as the active one is.
    fn keep_in_step(&mut self) {
        let (flip, order) = (self.state.flip, self.state.order);
        let Some(series) = &mut self.series else { return };
        for member in &mut series.members {
            let Some(set) = &mut member.desk.set else { continue };
            if set.flip() != flip {
                turn_view(&mut member.own, set.detector(), set.flip(), flip);
                set.set_flip(flip);
            }
            if set.order() != order {
                set.set_order(order);
            }
        }
    }

    /// Everything that a series asks for by itself.
    pub(super) fn tend_series(&mut self, effects: &mut Vec<Effect>) {
        if self.series.is_none() {
            return;
        }
        self.keep_in_step();
        self.ask_for_tiles(effects);
        self.read_on(effects);
    }

    /// Whether the set at `place` was read to its end, be it resident or not.
    fn is_read(&self, place: usize) -> bool {
        self.set_at(place).is_some_and(|set| set.reading != Reading::Going)
    }

    /// An answer for a set that is not looked at.
    pub(super) fn take_answer_elsewhere(&mut self, set_id: u32, event: Event) {
        if let Some(place) = self.place_of(set_id) {
            self.at_desk(place, |app| app.take(event, &mut Vec::new()));
        }
    }
}
