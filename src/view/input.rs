//! Pointer, keys, fields, menus and dropped files, as events.

use std::{cell::RefCell, rc::Rc};

use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{
    Element, EventTarget, HtmlElement, HtmlInputElement, HtmlSelectElement, KeyboardEvent, MouseEvent, PointerEvent,
    WheelEvent,
};

use super::Shell;
use crate::{
    app::{
        Command, Event, Panel,
        event::{Button, End, Entry},
        keys::{self, Stroke},
        state::{PatternOf, PlayOrder, Smoothing},
    },
    display::{ColourMap, Scale},
    products::Flip,
};

/// How near a handle a press must be, CSS px: by mouse or pen, and by finger.
pub(super) const REACH: f64 = 12.0;
const REACH_TOUCH: f64 = 24.0;

/// Starts to listen.
///
/// # Errors
/// Names what is not in `index.html`.
pub fn listen(shell: &Rc<Shell>) -> Result<(), JsValue> {
    buttons(shell)?;
    typing(shell)?;
    for panel in Panel::ALL {
        view(shell, panel)?;
        curve(shell, panel)?;
        menus(shell, panel)?;
        for (id, entry) in
            [(format!("low-{}", panel.id()), Entry::Low(panel)), (format!("high-{}", panel.id()), Entry::High(panel))]
        {
            field(shell, &id, entry)?;
        }
    }
    for (id, entry) in [
        ("inner", Entry::Inner),
        ("outer", Entry::Outer),
        ("width", Entry::Width),
        ("height", Entry::Height),
        ("centre-x", Entry::CentreX),
        ("centre-y", Entry::CentreY),
        ("scan-shape", Entry::ScanShape),
        ("scan-offset", Entry::ScanOffset),
        ("turn", Entry::Turn),
        ("span", Entry::Span),
        ("corners", Entry::Corners),
        ("gamma-image", Entry::Gamma(Panel::Image)),
        ("gamma-pattern", Entry::Gamma(Panel::Pattern)),
        ("region-x", Entry::RegionX),
        ("region-y", Entry::RegionY),
        ("region-width", Entry::RegionWidth),
        ("region-height", Entry::RegionHeight),
        ("region-corners", Entry::RegionCorners),
        ("line-from", Entry::LineFrom),
        ("line-to", Entry::LineTo),
        ("line-width", Entry::LineWidth),
        ("com-angle", Entry::Angle),
        ("com-within", Entry::Within),
        ("com-x", Entry::ComX),
        ("com-y", Entry::ComY),
        ("high-pass", Entry::HighPass),
        ("regularisation", Entry::Regularisation),
        ("scale-step", Entry::Step),
        ("scale-angle", Entry::MradPerPx),
        ("scale-alpha", Entry::Alpha),
        ("scale-energy", Entry::Energy),
    ] {
        field(shell, id, entry)?;
    }
    choices(shell)?;
    super::series::listen(shell)?;
    super::deflection::listen(shell)?;
    super::analysis::listen(shell)?;
    let of: HtmlSelectElement = shell.by_id("pattern-of")?;
    on(shell, &of.clone(), "change", move |shell, _: web_sys::Event| {
        if let Some(of) = PatternOf::ALL.into_iter().find(|choice| choice.name() == of.value()) {
            shell.send(Event::SetPattern(of));
        }
    })
}

/// Calls `act` for every event `name` of `target`, for as long as the page lives.
pub fn on<E: JsCast + 'static>(
    shell: &Rc<Shell>,
    target: &EventTarget,
    name: &str,
    mut act: impl FnMut(&Rc<Shell>, E) + 'static,
) -> Result<(), JsValue> {
    let shell = shell.clone();
    let closure = Closure::<dyn FnMut(web_sys::Event)>::new(move |event: web_sys::Event| {
        act(&shell, event.unchecked_into());
    });
    target.add_event_listener_with_callback(name, closure.as_ref().unchecked_ref())?;
    closure.forget();
    Ok(())
}

/// Everything with `data-do` is a button.
fn buttons(shell: &Rc<Shell>) -> Result<(), JsValue> {
    let document = shell.document();
    let play: HtmlSelectElement = shell.by_id("play-order")?;
    on(shell, &play.clone(), "change", move |shell, _: web_sys::Event| {
        let mut state = shell.state();
        if let Some(order) = PlayOrder::ALL.into_iter().find(|order| order.name() == play.value()) {
            state.play = order;
            shell.send(Event::SetState(Box::new(state)));
        }
    })?;
    on(shell, &document, "click", |shell, event: MouseEvent| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let button = target.and_then(|target| target.closest("[data-do]").ok().flatten());
        let Some(command) = button.and_then(|button| Command::of_name(&button.get_attribute("data-do")?)) else {
            return;
        };
        shell.close_menu();
        shell.send(Event::Do(command));
    })
}

/// Keys, where they are not typed into a field.
fn typing(shell: &Rc<Shell>) -> Result<(), JsValue> {
    let document = shell.document();
    on(shell, &document, "keydown", |shell, event: KeyboardEvent| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let inside =
            |selector: &str| target.as_ref().is_some_and(|target| target.closest(selector).ok().flatten().is_some());
        let key = event.key();
        if inside("input:not([type=checkbox]), select, textarea") || event.alt_key() || event.meta_key() {
            return;
        }
        // A sheet or menu that is open closes itself.
        if key == "Escape" && shell.has_open("dialog[open], [popover]:popover-open") {
            return;
        }
        if inside("[role=radiogroup], [role=tablist]") && key.starts_with("Arrow") {
            next_radio(target.as_ref(), matches!(key.as_str(), "ArrowRight" | "ArrowDown"));
            event.prevent_default();
            return;
        }
        if inside("#curl-plot") && super::deflection::nudge(shell, &event) {
            event.prevent_default();
            return;
        }
        if inside("[role=slider]") && nudge_limit(shell, target.as_ref(), &event) {
            event.prevent_default();
            return;
        }
        let stroke = Stroke { key: &key, code: &event.code(), shift: event.shift_key(), control: event.ctrl_key() };
        let Some(command) = keys::command(stroke, shell.selected()) else { return };
        let is_of_sheets = matches!(
            command,
            Command::Keys
                | Command::Information
                | Command::Datasets
                | Command::Theme
                | Command::Export
                | Command::Python
                | Command::Help
                | Command::SaveSession
        );
        // The space bar presses a button or ticks a box; text that is marked is copied as text.
        if key == " " && inside("button, [role=button], [type=checkbox], summary, [role=slider]") {
            return;
        }
        if command == Command::CopyPicture && has_selection() {
            return;
        }
        if inside("dialog") && !is_of_sheets {
            return;
        }
        let step = match (event.shift_key(), event.ctrl_key(), command) {
            (true, _, Command::Nudge { .. }) => 10.0,
            (_, true, Command::Nudge { .. } | Command::Grow(_) | Command::Hollow(_) | Command::Rotate(_)) => 0.1,
            _ => 1.0,
        };
        event.prevent_default();
        shell.send(Event::Step(command, step));
    })
}

/// Whether text of the page is marked.
fn has_selection() -> bool {
    let selection = web_sys::window().and_then(|window| window.get_selection().ok().flatten());
    selection.is_some_and(|selection| !selection.is_collapsed())
}

/// The next button of a group of radio buttons takes focus and is pressed.
fn next_radio(target: Option<&Element>, forward: bool) {
    let Some(group) = target.and_then(|target| target.closest("[role=radiogroup], [role=tablist]").ok().flatten())
    else {
        return;
    };
    let Ok(radios) = group.query_selector_all("[role=radio], [role=tab]") else { return };
    let all: Vec<HtmlElement> =
        (0..radios.length()).filter_map(|place| radios.get(place)?.dyn_into::<HtmlElement>().ok()).collect();
    let Some(at) = all.iter().position(|radio| target.is_some_and(|target| radio.contains(Some(target)))) else {
        return;
    };
    let next = if forward { at + 1 } else { at + all.len() - 1 };
    if let Some(radio) = all.get(next % all.len()) {
        let _ = radio.focus();
        radio.click();
    }
}

fn nudge_limit(shell: &Rc<Shell>, grip: Option<&Element>, event: &KeyboardEvent) -> bool {
    let sign = match event.key().as_str() {
        "ArrowLeft" | "ArrowDown" => -1.0,
        "ArrowRight" | "ArrowUp" => 1.0,
        _ => return false,
    };
    let step = if event.shift_key() {
        10.0
    } else if event.ctrl_key() {
        0.1
    } else {
        1.0
    };
    let Some((panel, end)) = grip.and_then(|grip| Some((panel_of(grip)?, end_of(grip)?))) else { return false };
    shell.send(Event::NudgeLimit { panel, end, steps: sign * step });
    true
}

fn panel_of(element: &Element) -> Option<Panel> {
    let inside = |panel: &Panel| element.closest(&format!("#panel-{}", panel.id())).ok().flatten().is_some();
    Panel::ALL.into_iter().find(inside)
}

fn end_of(element: &Element) -> Option<End> {
    match element.get_attribute("data-end")?.as_str() {
        "low" => Some(End::Low),
        "high" => Some(End::High),
        _ => None,
    }
}

/// A view: drag, wheel, hover, double click.
fn view(shell: &Rc<Shell>, panel: Panel) -> Result<(), JsValue> {
    let view: HtmlElement = shell.by_id(&format!("view-{}", panel.id()))?;
    let at = |event: &MouseEvent| [f64::from(event.offset_x()), f64::from(event.offset_y())];
    on(shell, &view, "focus", move |shell, _: web_sys::Event| shell.send(Event::Select(panel)))?;
    on(shell, &view, "contextmenu", |_, event: MouseEvent| event.prevent_default())?;
    let fingers = Rc::new(RefCell::new(Fingers::default()));
    let (down, moved, up) = (fingers.clone(), fingers.clone(), fingers);
    let held = view.clone();
    on(shell, &view, "pointerdown", move |shell, event: PointerEvent| {
        // A pointer that is gone already cannot be captured; the drag then ends at the view's edge.
        let _ = held.set_pointer_capture(event.pointer_id());
        let _ = held.focus();
        event.prevent_default();
        if down.borrow_mut().add(&event) {
            shell.send(Event::Release);
            return;
        }
        let button = if event.button() == 0 { Button::Main } else { Button::Pan };
        let reach = if event.pointer_type() == "touch" { REACH_TOUCH } else { REACH };
        shell.send(Event::Press { panel, at: at(&event), button, reach });
    })?;
    on(shell, &view, "pointermove", move |shell, event: PointerEvent| {
        if let Some((middle, pull, spread)) = moved.borrow_mut().pinch(&event) {
            shell.send(Event::Press {
                panel,
                at: [middle[0] - pull[0], middle[1] - pull[1]],
                button: Button::Pan,
                reach: 0.0,
            });
            shell.send(Event::Drag { at: middle, fine: false, constrained: false });
            shell.send(Event::Release);
            shell.send(Event::Wheel { panel, at: middle, delta: -500.0 * spread.ln() });
            return;
        }
        if event.buttons() != 0 {
            let constrained = event.alt_key() || event.ctrl_key() || event.meta_key();
            shell.send(Event::Drag { at: at(&event), fine: event.shift_key(), constrained });
        }
        shell.send(Event::Hover(Some((panel, at(&event)))));
    })?;
    for name in ["pointerup", "pointercancel"] {
        let up = up.clone();
        on(shell, &view, name, move |shell, event: PointerEvent| {
            up.borrow_mut().lift(&event);
            shell.send(Event::Release);
        })?;
    }
    on(shell, &view, "pointerleave", |shell, _: PointerEvent| shell.send(Event::Hover(None)))?;
    on(shell, &view, "dblclick", move |shell, _: MouseEvent| shell.send(Event::Do(Command::FitPanel(panel))))?;
    on(shell, &view, "wheel", move |shell, event: WheelEvent| {
        event.prevent_default();
        shell.send(Event::Wheel { panel, at: at(&event), delta: wheel_px(&event) });
    })
}

/// How far a wheel was turned, CSS px.
pub(super) fn wheel_px(event: &WheelEvent) -> f64 {
    // Lines of text are some 16 px.
    let unit = if event.delta_mode() == WheelEvent::DOM_DELTA_LINE { 16.0 } else { 1.0 };
    event.delta_y() * unit
}

/// Fingers on a view: two of them pan and zoom.
#[derive(Default)]
struct Fingers(Vec<(i32, [f64; 2])>);

impl Fingers {
    /// Returns whether a second finger has come.
    fn add(&mut self, event: &PointerEvent) -> bool {
        if event.pointer_type() == "touch" {
            self.0.push((event.pointer_id(), [event.offset_x().into(), event.offset_y().into()]));
        }
        self.0.len() > 1
    }

    fn lift(&mut self, event: &PointerEvent) {
        self.0.retain(|(id, _)| *id != event.pointer_id());
    }

    /// While two fingers are down: their middle, how far it has moved, and how much they have spread.
    fn pinch(&mut self, event: &PointerEvent) -> Option<([f64; 2], [f64; 2], f64)> {
        let [(_, a), (_, b)] = self.0.as_slice() else { return None };
        let of =
            |a: [f64; 2], b: [f64; 2]| ([(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0], (a[0] - b[0]).hypot(a[1] - b[1]));
        let (middle_before, apart_before) = of(*a, *b);
        let now = [event.offset_x().into(), event.offset_y().into()];
        let finger = self.0.iter_mut().find(|(id, _)| *id == event.pointer_id())?;
        finger.1 = now;
        let (middle, apart) = of(self.0[0].1, self.0[1].1);
        let pull = [middle[0] - middle_before[0], middle[1] - middle_before[1]];
        Some((middle, pull, apart.max(1.0) / apart_before.max(1.0)))
    }
}

/// A histogram: its handles, the span between them, and double click for the automatic range.
fn curve(shell: &Rc<Shell>, panel: Panel) -> Result<(), JsValue> {
    let curve: HtmlElement = shell.by_id(&format!("curve-{}", panel.id()))?;
    let place = curve.clone();
    let position = Rc::new(move |event: &PointerEvent| {
        let rect = place.get_bounding_client_rect();
        (f64::from(event.client_x()) - rect.left()) / rect.width().max(1.0)
    });
    let (held, at) = (curve.clone(), position.clone());
    on(shell, &curve, "pointerdown", move |shell, event: PointerEvent| {
        let grip = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let end = grip.and_then(|grip| end_of(&grip)).unwrap_or(End::Span);
        // As in a view.
        let _ = held.set_pointer_capture(event.pointer_id());
        shell.send(Event::Select(panel));
        shell.send(Event::HoldLimit { panel, end });
        if end == End::Span {
            shell.send(Event::DragLimit { position: at(&event) });
        }
    })?;
    on(shell, &curve, "pointermove", move |shell, event: PointerEvent| {
        if event.buttons() != 0 {
            shell.send(Event::DragLimit { position: position(&event) });
        }
    })?;
    for name in ["pointerup", "pointercancel"] {
        on(shell, &curve, name, |shell, _: PointerEvent| shell.send(Event::Release))?;
    }
    on(shell, &curve, "dblclick", move |shell, _: MouseEvent| shell.send(Event::AutoRange(panel)))
}

fn menus(shell: &Rc<Shell>, panel: Panel) -> Result<(), JsValue> {
    let smoothing: HtmlSelectElement = shell.by_id(&format!("smoothing-{}", panel.id()))?;
    on(shell, &smoothing.clone(), "change", move |shell, _: web_sys::Event| {
        if let Some(chosen) = Smoothing::ALL.into_iter().find(|choice| choice.name() == smoothing.value()) {
            shell.send(Event::SetSmoothing(panel, chosen));
        }
    })?;
    type Switched = fn(Panel, bool) -> Event;
    let switches: [(&str, Switched); 2] = [("inverted", Event::InvertMap), ("locked", Event::Lock)];
    for (name, event) in switches {
        let switch: HtmlInputElement = shell.by_id(&format!("{name}-{}", panel.id()))?;
        on(shell, &switch.clone(), "change", move |shell, _: web_sys::Event| {
            shell.send(event(panel, switch.checked()));
        })?;
    }
    let scale: HtmlSelectElement = shell.by_id(&format!("scale-{}", panel.id()))?;
    on(shell, &scale.clone(), "change", move |shell, _: web_sys::Event| {
        if let Some(scale) = Scale::ALL.into_iter().find(|choice| choice.name() == scale.value()) {
            shell.send(Event::SetScale(panel, scale));
        }
    })?;
    let map: HtmlSelectElement = shell.by_id(&format!("map-{}", panel.id()))?;
    on(shell, &map.clone(), "change", move |shell, _: web_sys::Event| {
        if let Some(map) = ColourMap::ALL.into_iter().find(|choice| choice.name() == map.value()) {
            shell.send(Event::SetMap(panel, map));
        }
    })
}

/// Channel, order of the axes, flip and hot pixels.
fn choices(shell: &Rc<Shell>) -> Result<(), JsValue> {
    let command = |id: &str, place: u32| match id {
        "channel" => Some(Command::Channel(place)),
        "axes" => Some(Command::Axes(place)),
        "com-source" => Some(Command::Source(place)),
        "com-about" => Some(Command::About(place)),
        "edges" => Some(Command::Edges(place)),
        "fft-of" => Some(Command::FftOf(place)),
        _ => Flip::ALL.get(place as usize).copied().map(Command::Flip),
    };
    for id in ["channel", "axes", "flip", "com-source", "com-about", "edges", "fft-of"] {
        let select: HtmlSelectElement = shell.by_id(id)?;
        on(shell, &select.clone(), "change", move |shell, _: web_sys::Event| {
            if let Some(command) = select.value().parse().ok().and_then(|place| command(id, place)) {
                shell.send(Event::Do(command));
            }
        })?;
    }
    type Chosen = fn(bool) -> Command;
    let switches: [(&str, Chosen); 4] = [
        ("exclude-hot", Command::ExcludeHot),
        ("com-transposed", Command::Transpose),
        ("com-arrows", Command::Arrows),
        ("snake", Command::Snake),
    ];
    for (id, command) in switches {
        let switch: HtmlInputElement = shell.by_id(id)?;
        on(shell, &switch.clone(), "change", move |shell, _: web_sys::Event| {
            shell.send(Event::Do(command(switch.checked())));
        })?;
    }
    Ok(())
}

/// A field: taken with Enter or when it is left; Escape puts back what was there. The wheel steps numbers.
pub(super) fn field(shell: &Rc<Shell>, id: &str, entry: Entry) -> Result<(), JsValue> {
    let input: HtmlInputElement = shell.by_id(id)?;
    let typed = input.clone();
    on(shell, &input, "input", move |_, _: web_sys::Event| super::set(&typed, "data-typing", ""))?;
    let changed = input.clone();
    on(shell, &input, "change", move |shell, _: web_sys::Event| {
        let _ = changed.remove_attribute("data-typing");
        shell.send(Event::Enter(entry, changed.value()));
    })?;
    let left = input.clone();
    on(shell, &input, "keydown", move |shell, event: KeyboardEvent| match event.key().as_str() {
        "Enter" => {
            let _ = left.remove_attribute("data-typing");
            shell.send(Event::Enter(entry, left.value()));
            left.select();
        }
        "Escape" => {
            let _ = left.remove_attribute("data-typing");
            let _ = left.blur();
            shell.forget_entry();
        }
        _ => {}
    })?;
    let focused = input.clone();
    on(shell, &input, "focus", move |_, _: web_sys::Event| focused.select())?;
    let has_steps = matches!(
        entry,
        Entry::Inner
            | Entry::Outer
            | Entry::Width
            | Entry::Height
            | Entry::CentreX
            | Entry::CentreY
            | Entry::Angle
            | Entry::Turn
            | Entry::Span
            | Entry::ComX
            | Entry::ComY
            | Entry::ScanOffset
    );
    if !has_steps {
        return Ok(());
    }
    let turned = input.clone();
    on(shell, &input, "wheel", move |shell, event: WheelEvent| {
        let number: Option<f64> = turned.value().trim().replace('−', "-").trim_end_matches('°').parse().ok();
        if let Some(number) = number.filter(|_| shell.has_focus(&turned)) {
            event.prevent_default();
            let step = if event.shift_key() { 0.1 } else { 1.0 };
            let value = number - step * event.delta_y().signum();
            let digits = usize::from(entry != Entry::ScanOffset);
            shell.send(Event::Enter(entry, format!("{value:.digits$}")));
        }
    })
}
