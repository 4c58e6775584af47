//! What the user does: commands, drags, entries.

use super::{
    App, Camera, Command, Panel, Stale,
    detector::{self, Grip},
    entry::{self, DetectorUnits},
    event::{Button, Effect, End, Entry, Event},
    notices,
    open_set::{Fit, OpenSet},
    state::{
        Analysis, ComSource, Family, FftOf, Line, Look, Overlays, Product, ScanTool, Smoothing, Turn, ViewState, Zoom,
    },
    words,
};
use crate::{
    acquisition::Change,
    display::{Axis, Limits, Scale},
    products::{DetectorShape, Disc, Edges, ScanOrder},
};

/// What is held by the pointer, and the view as it was before: `Esc` puts it back.
pub struct Hold {
    pub what: Held,
    before: Box<ViewState>,
}

pub enum Held {
    Cursor,
    /// The grip, the shape when it was taken, and where (data px, [row, col]).
    Detector {
        grip: Grip,
        shape: DetectorShape,
        inverted: bool,
        from: [f64; 2],
    },
    /// Where the pointer was last, CSS px.
    Pan {
        panel: Panel,
        last: [f64; 2],
    },
    /// A limit, and where on the histogram the span was taken.
    Limit {
        panel: Panel,
        end: End,
        limits: Limits,
        from: Option<f64>,
    },
    /// The line in the curve of the angle.
    Angle,
    /// As `Detector`, over the scan.
    Region {
        grip: Grip,
        shape: DetectorShape,
        from: [f64; 2],
    },
    /// An end of the line over the scan, or all of it.
    Line {
        line: Line,
        end: LineEnd,
        from: [f64; 2],
    },
}

/// What is held of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    From,
    To,
    Whole,
}

/// Motion of the pointer that `Shift` leaves.
const FINE: f64 = 0.1;

impl App {
    pub(super) fn user(&mut self, event: Event, effects: &mut Vec<Effect>) {
        match event {
            Event::Do(command) => self.obey(command, 1.0, effects),
            Event::Step(command, step) => self.obey(command, step, effects),
            Event::Select(panel) => self.selected = panel,
            Event::Press { panel, at, button, reach } => self.press(panel, at, button, reach),
            Event::Drag { at, fine, constrained } => self.drag(at, fine, constrained),
            Event::Release => self.hold = None,
            Event::Hover(hover) => self.hover = hover,
            Event::Wheel { panel, at, delta } => self.zoom(panel, (-delta * 0.002).exp(), Some(at)),
            Event::HoldLimit { panel, end } => self.hold_limit(panel, end),
            Event::DragLimit { position } => self.drag_limit(position),
            Event::NudgeLimit { panel, end, steps } => self.nudge_limit(panel, end, steps),
            Event::HoldAngle => {
                let before = Box::new(self.state.clone());
                self.hold = Some(Hold { what: Held::Angle, before });
            }
            Event::DragAngle(angle) => self.set_angle(angle),
            Event::AutoRange(panel) => self.set_limits(panel, None),
            Event::SetScale(panel, scale) => self.change_look(panel, |look| look.scale = scale),
            Event::SetMap(panel, map) => self.change_look(panel, |look| look.map = map),
            Event::SetPattern(of) => {
                self.state.pattern = of;
                self.stale.pattern = true;
            }
            Event::Enter(field, text) => self.enter(field, &text, effects),
            Event::ForgetEntry => self.wrong_entry = None,
            Event::SetState(state) => self.set_state(*state, effects),
            Event::Session { name, text } => self.restore(&name, &text, effects),
            Event::Tick => {
                self.play_on();
                self.play_sets_on(effects);
            }
            Event::Scrub(at) => self.scrub(at, effects),
            Event::MoveSet { place, to } => self.move_set(place, to),
            Event::SetSmoothing(panel, smoothing) => *self.smoothing_mut(panel) = smoothing,
            Event::InvertMap(panel, is_inverted) => self.change_look(panel, |look| look.inverted = is_inverted),
            Event::Lock(panel, _) => self.lock_range(panel),
            Event::Turn(panel, turn) => {
                let zoom = self.zoom_mut(panel);
                zoom.turn = zoom.turn.then(turn);
            }
            _ => {}
        }
    }

    fn obey(&mut self, command: Command, step: f64, effects: &mut Vec<Effect>) {
        match command {
            Command::OpenDemo => effects.push(Effect::OpenDemo),
            Command::UseCpu => effects.push(Effect::UseCpu),
            Command::Keep => effects.push(Effect::Keep),
            Command::ClearCopies => effects.push(Effect::ClearCopies),
            Command::Cancel => effects.push(Effect::Cancel),
            Command::Choose(place) => effects.push(Effect::Choose(place)),
            Command::Hide(message) if (message as usize) < self.messages.len() => {
                self.messages.remove(message as usize);
            }
            Command::Hide(_) => {}
            Command::HideGpuNotice => self.gpu_notice_hidden = true,
            Command::Escape => self.escape(effects),
            Command::Product(product) => self.choose(product),
            Command::NextCom => self.choose(match self.state.product {
                Product::Com => Product::ComX,
                Product::ComX => Product::ComY,
                Product::ComY => Product::ComSize,
                _ => Product::Com,
            }),
            Command::NextPhase => self.choose(match self.state.product {
                Product::Phase => Product::Divergence,
                Product::Divergence => Product::Curl,
                _ => Product::Phase,
            }),
            Command::NextSpread => self.choose(match self.state.product {
                Product::Std => Product::Variance,
                _ => Product::Std,
            }),
            Command::FindRotation => self.find_rotation(),
            Command::Transpose(transposed) => self.transpose(transposed),
            Command::Source(place) => self.set_source(ComSource::ALL[place as usize % ComSource::ALL.len()]),
            Command::About(place) => self.set_about(place),
            Command::Edges(place) => {
                self.state.com.integration.edges = Edges::ALL[place as usize % Edges::ALL.len()];
                self.deflection_has_changed();
            }
            Command::Arrows(is_on) => self.state.com.arrows = is_on,
            Command::NextPattern => {
                self.state.pattern = self.state.pattern.next();
                self.stale.pattern = true;
            }
            Command::Shape(place) => {
                if let Some((_, make)) = detector::SHAPES.get(place as usize) {
                    self.edit(make);
                }
            }
            Command::NextShape(step) => self.edit(|shape| {
                let (kinds, at) = (detector::SHAPES.len() as i32, detector::kind(shape).map_or(0, |at| at as i32));
                let next = (at + i32::from(step)).rem_euclid(kinds) as usize;
                detector::SHAPES.get(next).map_or_else(|| shape.clone(), |(_, make)| make(shape))
            }),
            Command::Rotate(sign) => self.edit(|shape| detector::turned(shape, f64::from(sign) * step)),
            Command::Tool(place) => {
                self.state.tool = ScanTool::ALL[place as usize % ScanTool::ALL.len()];
                self.start_tool();
            }
            Command::NextTool => {
                self.state.tool = self.state.tool.next();
                self.start_tool();
            }
            Command::RemoveRegion => {
                (self.state.region, self.state.line, self.state.tool) = Default::default();
                self.stale.pattern = true;
            }
            Command::Analysis(place) => {
                self.state.analysis = Analysis::ALL[place as usize % Analysis::ALL.len()];
            }
            Command::RemoveVertex => {
                if let Some(at) = self.vertex {
                    self.edit(|shape| detector::without_vertex(shape, at));
                }
            }
            Command::Invert => {
                self.edit(DetectorShape::clone);
                self.state.inverted = !self.state.inverted;
            }
            Command::FindDisc => self.find_disc_now(),
            Command::Grow(sign) => self.edit(|shape| detector::grown(shape, f64::from(sign) * step)),
            Command::Hollow(sign) => self.edit(|shape| detector::hollowed(shape, f64::from(sign) * step)),
            Command::Nudge { rows, cols } => self.nudge(f64::from(rows) * step, f64::from(cols) * step),
            Command::LineStart => self.move_cursor(|[row, _], _| [row, 0]),
            Command::LineEnd => self.move_cursor(|[row, _], cols| [row, cols - 1]),
            Command::ScanShape(place) => {
                let shape = self.set.as_ref().and_then(|set| set.scan.alternatives.get(place as usize));
                if let Some(shape) = shape.copied() {
                    // Shapes that were found for the set fit it.
                    let _ = self.set_scan(shape, effects);
                }
            }
            Command::Datasets => self.list(effects),
            Command::OpenDataset(place) => self.open_dataset(place, effects),
            Command::OpenAsFound => self.reopen(Change::Dataset(None), effects),
            Command::Channel(channel) => self.choose_channel(channel, effects),
            Command::Axes(place) => self.choose_axes(place, effects),
            Command::Flip(flip) => self.flip(flip, effects),
            Command::Snake(snake) => self.set_order(ScanOrder { snake, ..self.state.order }, effects),
            Command::FftOf(place) => self.state.fft_of = FftOf::ALL[place as usize % FftOf::ALL.len()],
            Command::ExcludeHot(is_excluded) => self.exclude_hot(is_excluded, effects),
            Command::Fit => self.fit(self.selected),
            Command::FitPanel(panel) => self.fit(panel),
            Command::FitAll => Panel::ALL.into_iter().for_each(|panel| self.fit(panel)),
            Command::Reset => {
                *self.zoom_mut(self.selected) = Zoom::default();
                let panel = self.selected;
                self.change_look(panel, |look| look.percentiles = None);
                self.set_limits(panel, None);
            }
            Command::ZoomIn => self.zoom(self.selected, 2f64.sqrt(), None),
            Command::ZoomOut => self.zoom(self.selected, 0.5f64.sqrt(), None),
            Command::NextScale => self.change_look(self.selected, |look| look.scale = look.scale.next()),
            Command::NextMap => self.change_look(self.selected, |look| look.map = look.map.next()),
            Command::AutoRange => self.set_limits(self.selected, None),
            Command::LockRange => self.lock_range(self.selected),
            Command::Undo => self.undo(effects),
            Command::Redo => self.redo(effects),
            Command::Maximise => self.maximise(self.selected),
            Command::MaximisePanel(panel) => self.maximise(panel),
            Command::NextSmoothing => {
                let smoothing = self.smoothing_mut(self.selected);
                *smoothing = smoothing.next();
            }
            Command::InvertMap => self.change_look(self.selected, |look| look.inverted = !look.inverted),
            Command::TurnView(panel) => {
                let zoom = self.zoom_mut(panel);
                zoom.turn = zoom.turn.then(Turn { quarters: 1, mirrored: false });
            }
            Command::MirrorView(panel) => {
                let zoom = self.zoom_mut(panel);
                zoom.turn = zoom.turn.then(Turn { quarters: 0, mirrored: true });
            }
            Command::Play => {
                self.playing = !self.playing && self.set.is_some();
                self.stop_series();
            }
            Command::OpenAll => effects.push(Effect::OpenAll),
            Command::Set(place) => self.activate(place as usize, effects),
            Command::NextSet(by) => self.step_set(i64::from(by), effects),
            Command::MoveSet(by) => self.move_active(i64::from(by)),
            Command::Star => self.star(self.active_place()),
            Command::StarSet(place) => self.star(place as usize),
            Command::HideActive => self.hide_set(self.active_place(), effects),
            Command::HideSet(place) => self.hide_set(place as usize, effects),
            Command::ShowHidden => self.state.series.hidden.clear(),
            Command::OnlyStarred => self.only_starred(effects),
            Command::Link(link) => self.link(link),
            Command::Panels(panels) => self.set_panels(panels),
            Command::Grid => self.toggle_grid(),
            Command::PlaySeries => self.play_series(),
            Command::CloseActive => self.close_set(self.active_place(), effects),
            Command::CloseSet(place) => self.close_set(place as usize, effects),
            Command::CloseAll => self.close_all(effects),
            Command::ReadTheRest if self.series.is_some() => self.read_the_rest(effects),
            Command::NextPlay => self.state.play = self.state.play.next(),
            Command::ExportPanel(panel) => {
                self.selected = panel;
                effects.push(Effect::Page(command));
            }
            Command::Overlays => self.state.overlays = Overlays(!self.state.overlays.0),
            Command::OtherPanel => {
                self.selected = self.selected.other();
                effects.push(Effect::Page(command));
            }
            Command::OpenFiles
            | Command::OpenFolder
            | Command::AddFiles
            | Command::TypeNumbers
            | Command::EditScan
            | Command::EditAxes
            | Command::Information
            | Command::CopyInformation
            | Command::Keys
            | Command::CloseDialog
            | Command::Export
            | Command::ExportAs(_)
            | Command::ExportAgain
            | Command::CopyPicture
            | Command::SaveReel
            | Command::CancelReel
            | Command::Recent(_)
            | Command::ForgetRecent
            | Command::Address
            | Command::OpenAddress
            | Command::SaveSession
            | Command::OpenSession
            | Command::Python
            | Command::SavePython
            | Command::CopyPython
            | Command::ReadTheRest
            | Command::SaveTable
            | Command::Help
            | Command::Why(_)
            | Command::Theme => effects.push(Effect::Page(command)),
        }
    }

    /// The nearest thing that can be taken back: a drag, the reading, a choice, a message.
    fn escape(&mut self, effects: &mut Vec<Effect>) {
        let reading = self.stage() == super::Stage::Reading || self.opening.is_some();
        if let Some(hold) = self.hold.take() {
            let (flip, exclude_hot) = (self.state.flip, self.state.exclude_hot);
            self.state = ViewState { flip, exclude_hot, ..*hold.before.clone() };
            self.stale = Stale { image: true, pattern: true, thumbs: self.stale.thumbs.clone() };
            if matches!(hold.what, Held::Angle) {
                self.deflection_has_changed();
            }
        } else if !self.choice.is_empty() {
            self.choice.clear();
        } else if reading {
            effects.push(Effect::Cancel);
        } else if self.is_playing() {
            self.playing = false;
            self.stop_series();
        } else if self.state.maximised.is_some() {
            self.state.maximised = None;
        } else if !self.messages.is_empty() {
            self.messages.remove(0);
        } else {
            self.refusal = None;
        }
    }

    fn choose(&mut self, product: Product) {
        if product == self.state.product {
            return;
        }
        self.state.product = product;
        let look = self.state.looks.of_mut(product.family());
        look.limits = look.limits.filter(|_| look.locked);
        self.stale.image = true;
    }

    /// Changes the detector that is shown; from then on it is the custom one.
    fn edit(&mut self, change: impl FnOnce(&DetectorShape) -> DetectorShape) {
        let Some(set) = &self.set else { return };
        let shown = set.shape_of(self.state.product, &self.state);
        let Some((shape, inverted)) = shown.or_else(|| set.shape_of(Product::Custom, &self.state)) else { return };
        self.set_custom(change(&shape), inverted);
    }

    fn set_custom(&mut self, shape: DetectorShape, inverted: bool) {
        let Some(set) = &self.set else { return };
        self.state.custom = Some(detector::held_to(shape, set.detector()));
        self.state.inverted = inverted;
        // A spread has a detector of its own, which is this one.
        if !self.state.product.is_spread() {
            self.stale.image |= self.state.product != Product::Custom;
            self.state.product = Product::Custom;
        }
    }

    fn nudge(&mut self, rows: f64, cols: f64) {
        match self.selected {
            Panel::Pattern => self.edit(|shape| shape.moved([rows, cols])),
            Panel::Image => {
                let whole = |step: f64| step.abs().max(1.0).copysign(step) as i64 * i64::from(step != 0.0);
                let shape = self.set.as_ref().map(OpenSet::shape);
                let moved =
                    |at: u32, by: f64, size: u32| (i64::from(at) + whole(by)).clamp(0, i64::from(size) - 1) as u32;
                if let Some(scan) = shape {
                    self.move_cursor(|[row, col], _| [moved(row, rows, scan.rows), moved(col, cols, scan.cols)]);
                }
            }
        }
    }

    fn move_cursor(&mut self, to: impl FnOnce([u32; 2], u32) -> [u32; 2]) {
        let Some(set) = &self.set else { return };
        self.state.cursor = Some(to(set.cursor(&self.state), set.shape().cols));
    }

    fn press(&mut self, panel: Panel, at: [f64; 2], button: Button, reach: f64) {
        self.selected = panel;
        let Some(camera) = self.camera(panel) else { return };
        let from = position(&camera, at);
        let what = match (button, panel) {
            (Button::Pan, _) => Some(Held::Pan { panel, last: at }),
            (Button::Main, Panel::Image) => self.press_in_image(from, reach / camera.scale),
            (Button::Main, Panel::Pattern) => {
                self.detector_shape().filter(|_| self.state.overlays.0).and_then(|(shape, inverted)| {
                    let grip = detector::grip_at(&shape, from, reach / camera.scale)?;
                    Some(Held::Detector { grip, shape, inverted, from })
                })
            }
        };
        if let Some(Held::Detector { grip: Grip::Vertex(at) | Grip::Edge(at), .. }) = what {
            self.vertex = Some(at);
        }
        let before = Box::new(self.state.clone());
        self.hold = what.map(|what| Hold { what, before });
        if matches!(self.hold, Some(Hold { what: Held::Cursor, .. })) {
            self.cursor_to(&camera, at);
        }
    }

    fn drag(&mut self, at: [f64; 2], fine: bool, constrained: bool) {
        let Some(hold) = &mut self.hold else { return };
        match &mut hold.what {
            Held::Cursor => {
                if let Some(camera) = self.camera(Panel::Image) {
                    self.cursor_to(&camera, at);
                }
            }
            Held::Detector { grip, shape, inverted, from } => {
                let (grip, shape, inverted, from) = (*grip, shape.clone(), *inverted, *from);
                let Some(camera) = self.camera(Panel::Pattern) else { return };
                let to = position(&camera, at);
                let motion = if fine { FINE } else { 1.0 };
                let to = [0, 1].map(|axis| from[axis] + motion * (to[axis] - from[axis]));
                self.set_custom(detector::dragged(&shape, grip, from, to, constrained), inverted);
            }
            Held::Pan { panel, last } => {
                let (panel, by) = (*panel, [at[0] - last[0], at[1] - last[1]]);
                *last = at;
                if let Some(camera) = self.camera(panel) {
                    let zoom = self.zoom_mut(panel);
                    *zoom = camera.panned(*zoom, by);
                }
            }
            Held::Region { grip, shape, from } => {
                let (grip, shape, from) = (*grip, shape.clone(), *from);
                let Some(camera) = self.camera(Panel::Image) else { return };
                let to = position(&camera, at);
                let motion = if fine { FINE } else { 1.0 };
                let to = [0, 1].map(|axis| from[axis] + motion * (to[axis] - from[axis]));
                self.set_region(detector::dragged(&shape, grip, from, to, constrained));
            }
            Held::Line { line, end, from } => {
                let (line, end, from) = (*line, *end, *from);
                let Some(camera) = self.camera(Panel::Image) else { return };
                let to = position(&camera, at);
                self.drag_line(line, end, from, to, constrained);
            }
            Held::Limit { .. } | Held::Angle => {}
        }
    }

    fn cursor_to(&mut self, camera: &Camera, at: [f64; 2]) {
        let Some(set) = &self.set else { return };
        let scan = set.shape();
        let [x, y] = camera.to_data(at);
        let held = |v: f64, size: u32| v.floor().clamp(0.0, f64::from(size.max(1) - 1)) as u32;
        self.state.cursor = Some([held(y, scan.rows), held(x, scan.cols)]);
    }

    fn zoom_mut(&mut self, panel: Panel) -> &mut Zoom {
        match panel {
            Panel::Image => &mut self.state.image_view,
            Panel::Pattern => &mut self.state.pattern_view,
        }
    }

    fn zoom(&mut self, panel: Panel, factor: f64, at: Option<[f64; 2]>) {
        let Some(camera) = self.camera(panel) else { return };
        let at = at.unwrap_or([camera.side / 2.0; 2]);
        let zoom = self.zoom_mut(panel);
        *zoom = camera.zoomed(*zoom, factor, at);
    }

    // ---- range ----

    pub fn family(&self, panel: Panel) -> Family {
        match panel {
            Panel::Image => self.state.product.family(),
            Panel::Pattern => Family::Pattern,
        }
    }

    fn change_look(&mut self, panel: Panel, change: impl FnOnce(&mut Look)) {
        change(self.state.looks.of_mut(self.family(panel)));
        match panel {
            Panel::Pattern => self.stale.pattern = true,
            Panel::Image => {
                self.stale.image = true;
                let family = self.state.product.family();
                let kin = Product::ALL.into_iter().filter(|product| product.family() == family);
                self.stale.thumbs.extend(kin);
            }
        }
    }

    fn set_limits(&mut self, panel: Panel, limits: Option<Limits>) {
        self.change_look(panel, |look| {
            look.limits = limits;
            look.locked &= limits.is_some();
        });
    }

    fn fit(&mut self, panel: Panel) {
        let zoom = self.zoom_mut(panel);
        *zoom = Zoom { turn: zoom.turn, ..Zoom::default() };
    }

    /// The panel takes the place of both; the other stays as an inset. Again: as before.
    fn maximise(&mut self, panel: Panel) {
        self.state.maximised = if self.state.maximised == Some(panel) { None } else { Some(panel) };
        self.selected = panel;
    }

    pub fn smoothing(&self, panel: Panel) -> Smoothing {
        match panel {
            Panel::Image => self.state.image_smoothing,
            Panel::Pattern => self.state.pattern_smoothing,
        }
    }

    fn smoothing_mut(&mut self, panel: Panel) -> &mut Smoothing {
        match panel {
            Panel::Image => &mut self.state.image_smoothing,
            Panel::Pattern => &mut self.state.pattern_smoothing,
        }
    }

    fn lock_range(&mut self, panel: Panel) {
        let Some(limits) = self.shown(panel).map(|shown| shown.limits) else { return };
        self.change_look(panel, |look| {
            look.locked = !look.locked;
            look.limits = look.locked.then_some(limits);
        });
    }

    fn hold_limit(&mut self, panel: Panel, end: End) {
        let Some(limits) = self.shown(panel).map(|shown| shown.limits) else { return };
        let before = Box::new(self.state.clone());
        self.hold = Some(Hold { what: Held::Limit { panel, end, limits, from: None }, before });
    }

    fn drag_limit(&mut self, position: f64) {
        let Some(Hold { what: Held::Limit { panel, end, limits, from }, .. }) = &mut self.hold else { return };
        let (panel, end, limits, from) = (*panel, *end, *limits, *from.get_or_insert(position));
        let Some(axis) = self.shown(panel).map(|shown| shown.histogram.axis) else { return };
        let (low, high) = (axis.position(limits.low), axis.position(limits.high));
        let moved = match end {
            End::Low => [position.clamp(0.0, high - LEAST_SPAN), high],
            End::High => [low, position.clamp(low + LEAST_SPAN, 1.0)],
            End::Span => {
                let by = (position - from).clamp(-low, 1.0 - high);
                [low + by, high + by]
            }
        };
        self.set_limits(panel, Some(self.rounded(panel, &axis, limits, end, moved)));
    }

    fn nudge_limit(&mut self, panel: Panel, end: End, steps: f64) {
        let Some(shown) = self.shown(panel) else { return };
        let (axis, limits) = (shown.histogram.axis, shown.limits);
        let (low, high) = (axis.position(limits.low), axis.position(limits.high));
        let by = 0.01 * steps;
        let moved = match end {
            End::Low => [(low + by).clamp(0.0, high - LEAST_SPAN), high],
            End::High | End::Span => [low, (high + by).clamp(low + LEAST_SPAN, 1.0)],
        };
        self.set_limits(panel, Some(self.rounded(panel, &axis, limits, end, moved)));
    }

    /// Limits at two positions of `axis`; the end that does not move keeps its value exactly, and limits of
    /// counts are whole.
    fn rounded(&self, panel: Panel, axis: &Axis, limits: Limits, end: End, [low, high]: [f64; 2]) -> Limits {
        let counts = self.shown(panel).is_some_and(|shown| shown.field.counts);
        let whole = |v: f64| if counts { v.round() } else { v };
        match end {
            End::Low => Limits { low: whole(axis.value(low)), high: limits.high },
            End::High => Limits { low: limits.low, high: whole(axis.value(high)) },
            End::Span => Limits { low: whole(axis.value(low)), high: whole(axis.value(high)) },
        }
        .opened()
    }

    // ---- entries ----

    /// The units of the detector's fields.
    pub fn detector_units(&self) -> DetectorUnits {
        let set = self.set.as_ref();
        DetectorUnits {
            mrad_per_px: set.and_then(|set| set.measures(&self.state).mrad_per_px),
            alpha_px: self.state.disc.map(|disc| disc.radius),
        }
    }

    fn enter(&mut self, field: Entry, text: &str, effects: &mut Vec<Effect>) {
        let units = self.detector_units();
        let taken = match field {
            Entry::Low(panel) | Entry::High(panel) if text.trim().ends_with('%') => {
                self.enter_percentile(panel, matches!(field, Entry::High(_)), text)
            }
            Entry::Low(panel) => entry::value(text).and_then(|low| self.enter_limit(panel, Some(low), None)),
            Entry::High(panel) => entry::value(text).and_then(|high| self.enter_limit(panel, None, Some(high))),
            Entry::Gamma(panel) => entry::value(text).and_then(|gamma| {
                if !(0.05..=5.0).contains(&gamma) {
                    return Err("a gamma lies between 0.05 and 5".into());
                }
                self.change_look(panel, |look| (look.scale, look.gamma) = (Scale::Power, gamma));
                Ok(())
            }),
            Entry::Inner => units.length_px(text).and_then(|px| self.resize(|shape| set_inner(shape, px))),
            Entry::Outer => units.length_px(text).and_then(|px| self.resize(|shape| set_outer(shape, px))),
            Entry::Width => units.length_px(text).and_then(|px| {
                self.resize(|shape| {
                    match shape {
                        DetectorShape::Rect { width, .. } => *width = px,
                        DetectorShape::Ellipse { half_cols, .. } => *half_cols = px / 2.0,
                        _ => {}
                    }
                    Ok(())
                })
            }),
            Entry::Height => units.length_px(text).and_then(|px| {
                self.resize(|shape| {
                    match shape {
                        DetectorShape::Rect { height, .. } => *height = px,
                        DetectorShape::Ellipse { half_rows, .. } => *half_rows = px / 2.0,
                        _ => {}
                    }
                    Ok(())
                })
            }),
            Entry::Turn => entry::angle(text).and_then(|angle| {
                self.resize(|shape| {
                    match shape {
                        DetectorShape::Ellipse { angle: held, .. } => *held = angle,
                        DetectorShape::Wedge { from, to, .. } => (*from, *to) = (angle, angle + (*to - *from)),
                        _ => {}
                    }
                    Ok(())
                })
            }),
            Entry::Span => entry::angle(text).and_then(|span| {
                if !(0.0..=360.0).contains(&span) || span == 0.0 {
                    return Err("a wedge spans more than 0° and at most 360°".into());
                }
                self.resize(|shape| {
                    if let DetectorShape::Wedge { from, to, .. } = shape {
                        *to = *from + span;
                    }
                    Ok(())
                })
            }),
            Entry::Corners => entry::corners(text).and_then(|corners| {
                self.resize(|shape| {
                    if let DetectorShape::Polygon { points } = shape {
                        *points = corners;
                    }
                    Ok(())
                })
            }),
            Entry::CentreX => entry::position_px(text).map(|col| self.centre_on(None, Some(col))),
            Entry::CentreY => entry::position_px(text).map(|row| self.centre_on(Some(row), None)),
            Entry::ScanShape => entry::scan(text).and_then(|scan| self.set_scan(scan, effects)),
            Entry::ScanOffset => {
                entry::whole(text).map(|offset| self.set_order(ScanOrder { offset, ..self.state.order }, effects))
            }
            Entry::RegionX
            | Entry::RegionY
            | Entry::RegionWidth
            | Entry::RegionHeight
            | Entry::RegionCorners
            | Entry::LineFrom
            | Entry::LineTo
            | Entry::LineWidth => self.enter_region(field, text),
            Entry::Step | Entry::MradPerPx | Entry::Alpha | Entry::Energy => self.enter_scale(field, text),
            Entry::Budget => self.enter_budget(text),
            Entry::Angle | Entry::Within | Entry::ComX | Entry::ComY | Entry::HighPass | Entry::Regularisation => {
                self.enter_deflection(field, text)
            }
        };
        self.wrong_entry = taken.err().map(|why| (field, why));
    }

    /// "0.5 %": the range follows the percentile from then on.
    fn enter_percentile(&mut self, panel: Panel, is_high: bool, text: &str) -> Result<(), String> {
        let percent = entry::value(text.trim().trim_end_matches('%'))?;
        if !(0.0..=100.0).contains(&percent) {
            return Err("a percentile lies between 0 and 100".into());
        }
        let usual = super::percentiles(self.family(panel), self.state.looks.of(self.family(panel)));
        let [low, high] = if is_high { [usual.low, percent] } else { [percent, usual.high] };
        if low >= high {
            return Err("the low limit is below the high one".into());
        }
        self.change_look(panel, |look| look.percentiles = Some([low, high]));
        self.set_limits(panel, None);
        Ok(())
    }

    /// Nothing typed: as the files say.
    fn enter_scale(&mut self, field: Entry, text: &str) -> Result<(), String> {
        let scales = &mut self.state.scales;
        match field {
            Entry::Step => {
                let units = [("nm", 1.0), ("pm", 1e-3), ("å", 0.1), ("a", 0.1), ("µm", 1e3), ("μm", 1e3), ("um", 1e3)];
                scales.step_nm = entry::positive(text, &units)?;
            }
            Entry::MradPerPx => {
                scales.mrad_per_px = entry::positive(text, &[("mrad/px", 1.0), ("mrad", 1.0), ("rad/px", 1e3)])?;
                scales.alpha_mrad = None;
            }
            Entry::Alpha => scales.alpha_mrad = entry::positive(text, &[("mrad", 1.0), ("rad", 1e3)])?,
            _ => scales.energy_ev = entry::positive(text, &[("kev", 1e3), ("kv", 1e3), ("ev", 1.0), ("v", 1.0)])?,
        }
        self.deflection_has_changed();
        Ok(())
    }

    fn enter_limit(&mut self, panel: Panel, low: Option<f64>, high: Option<f64>) -> Result<(), String> {
        let Some(shown) = self.shown(panel) else { return Ok(()) };
        let limits = Limits { low: low.unwrap_or(shown.limits.low), high: high.unwrap_or(shown.limits.high) };
        if limits.low >= limits.high {
            return Err("the low limit is below the high one".into());
        }
        self.set_limits(panel, Some(limits));
        Ok(())
    }

    fn resize(&mut self, change: impl FnOnce(&mut DetectorShape) -> Result<(), String>) -> Result<(), String> {
        let Some((mut shape, inverted)) = self.detector_shape() else { return Ok(()) };
        change(&mut shape)?;
        self.set_custom(shape, inverted);
        Ok(())
    }

    fn centre_on(&mut self, row: Option<f64>, col: Option<f64>) {
        self.edit(|shape| {
            let [at_row, at_col] = detector::centre_of(shape).unwrap_or_default();
            shape.moved([row.map_or(0.0, |row| row - at_row), col.map_or(0.0, |col| col - at_col)])
        });
    }

    fn set_scan(&mut self, scan: crate::shape::Scan, effects: &mut Vec<Effect>) -> Result<(), String> {
        let Some(set) = &mut self.set else { return Ok(()) };
        if let Some(why) = words::refused_scan(set, scan) {
            return Err(why);
        }
        let at = set.frame_at(set.cursor(&self.state));
        words::enter_scan(set, scan);
        set.shape_changed();
        self.state.scan = Some([scan.rows, scan.cols]);
        // The cursor stays on its pattern.
        self.state.cursor = set.order().position(scan, at).or(Some([scan.rows - 1, scan.cols - 1]));
        self.state.image_view = Zoom::default();
        (self.state.region, self.state.line) = (None, None);
        self.stale.image = true;
        self.stale.thumbs.extend(Product::ALL);
        self.messages.retain(|message| !notices::is_about_scan(&message.error));
        effects.push(Effect::ScanShape(scan));
        Ok(())
    }

    /// Patterns lie on the scan so from now on; the cursor stays on its pattern.
    fn set_order(&mut self, order: ScanOrder, effects: &mut Vec<Effect>) {
        let Some(set) = &mut self.set else { return };
        let at = set.frame_at(set.cursor(&self.state));
        self.state.order = order;
        set.set_order(order);
        self.state.cursor = order.position(set.shape(), at).or(self.state.cursor);
        self.stale.pattern = true;
        effects.push(Effect::Order(order));
    }

    pub(super) fn set_state(&mut self, state: ViewState, effects: &mut Vec<Effect>) {
        let (disc, scan, links) = (self.state.disc, self.state.scan, self.state.series.links);
        self.state = state;
        if let Some(set) = &self.set {
            let error = words::unfit_scan(set, &mut self.state);
            error.into_iter().for_each(|error| self.tell(error));
        }
        self.part_views(links);
        let (flip, is_excluded) = (self.state.flip, self.state.exclude_hot);
        match &mut self.set {
            None => self.state_is_given = true,
            Some(set) => {
                let turned = |at| flip.position(set.detector(), set.flip().position(set.detector(), at));
                let disc = disc.map(|disc| Disc { centre: turned(disc.centre), ..disc });
                self.state.disc = self.state.disc.or(disc);
                if self.state.scan != scan {
                    match self.state.scan {
                        Some([rows, cols]) => words::enter_scan(set, crate::shape::Scan { rows, cols }),
                        None => set.scan = set.acquisition.scan.clone(),
                    }
                    effects.push(Effect::ScanShape(set.shape()));
                }
                // Also where only the scan has another shape.
                set.set_order(self.state.order);
                effects.push(Effect::Order(self.state.order));
                if set.flip() != flip {
                    set.set_flip(flip);
                    effects.push(Effect::Flip(flip));
                }
                if set.hot.is_some() && set.hot_is_excluded != is_excluded {
                    effects.push(Effect::Exclude(set.exclude_hot(is_excluded)));
                }
                if self.state.disc.is_none() && set.fit != Fit::Waiting {
                    set.fit = Fit::Wanted;
                }
            }
        }
        (self.stale.image, self.stale.pattern) = (true, true);
        self.stale.thumbs.extend(Product::ALL);
    }
}

fn set_inner(shape: &mut DetectorShape, px: f64) -> Result<(), String> {
    match shape {
        DetectorShape::Annulus { inner, outer, .. } | DetectorShape::Wedge { inner, outer, .. } if px <= *outer => {
            *inner = px;
            Ok(())
        }
        DetectorShape::Annulus { .. } | DetectorShape::Wedge { .. } => {
            Err("the inner radius is at most the outer one".into())
        }
        _ => Ok(()),
    }
}

fn set_outer(shape: &mut DetectorShape, px: f64) -> Result<(), String> {
    match shape {
        DetectorShape::Annulus { inner, .. } | DetectorShape::Wedge { inner, .. } if px < *inner => {
            Err("the outer radius is at least the inner one".into())
        }
        DetectorShape::Annulus { outer, .. }
        | DetectorShape::Wedge { outer, .. }
        | DetectorShape::Disc { outer, .. } => {
            *outer = px;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Two limits never meet: at least this part of the histogram lies between them.
const LEAST_SPAN: f64 = 0.002;

/// [row, col] in px with pixel centres at whole numbers.
fn position(camera: &Camera, screen: [f64; 2]) -> [f64; 2] {
    let [x, y] = camera.to_data(screen);
    [y - 0.5, x - 0.5]
}
