//! A series on the page: a panel for each set in place of the image, of which the active one lies under the image's own
//! view; the bar with the slider; the list of all sets.

use std::rc::Rc;

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Document, Element, HtmlCanvasElement, HtmlElement, HtmlInputElement, HtmlSelectElement, PointerEvent, WheelEvent,
};

use super::{
    Shell,
    dom::{Dom, escaped},
    input::{self, on},
    overlay,
    panel::Canvas,
    set,
};
use crate::{
    app::{
        App, Command, Event, Panel,
        event::{Button, Entry},
        series::{Link, MOST_PANELS, Mark, Tile, grid_shape},
    },
    display::bytes,
};

/// The panels of the grid, by the places of their sets.
#[derive(Default)]
pub struct Grid {
    tiles: Vec<Panelled>,
    /// Width and height of the room for them, CSS px.
    room: [f64; 2],
}

/// One panel.
struct Panelled {
    place: usize,
    element: HtmlElement,
    picture: Canvas,
}

impl Grid {
    /// The room for the panels has another size.
    pub fn measure(&mut self, dom: &Dom) {
        if let Some(views) = dom.find("views").and_then(|views| views.dyn_into::<HtmlElement>().ok()) {
            self.room = [views.client_width().into(), views.client_height().into()];
        }
    }

    /// Draws panels, bar and list. Whether a picture has changed.
    pub fn draw(&mut self, dom: &Dom, app: &App) -> bool {
        let (tiles, is_series) = (app.tiles(), app.series.is_some());
        if is_series != dom.body.has_attribute("data-series") {
            let _ = dom.body.toggle_attribute_with_force("data-series", is_series);
        }
        if !is_series {
            self.clear(dom);
            return false;
        }
        // A page whose elements cannot be made stays as it is: there is nothing to tell the user.
        let _ = self.arrange(dom, &tiles);
        let mut changed = false;
        for (tile, panelled) in tiles.iter().zip(&mut self.tiles) {
            head(dom, tile, &panelled.element);
            changed |= panelled.draw(dom, app, tile);
        }
        bar(dom, app);
        list(dom, app);
        changed
    }

    fn clear(&mut self, dom: &Dom) {
        if self.tiles.is_empty() {
            return;
        }
        self.tiles.drain(..).for_each(|tile| tile.element.remove());
        for property in ["grid-area", "--cols", "--rows"] {
            dom.style("view-image", property, "");
            dom.style("grid", property, "");
        }
    }

    /// Makes the panels of these sets, and puts each in its place.
    fn arrange(&mut self, dom: &Dom, tiles: &[Tile]) -> Result<(), JsValue> {
        let grid: HtmlElement = dom.by_id("grid")?;
        let is_gone = |panelled: &Panelled| tiles.iter().all(|tile| tile.place != panelled.place);
        self.tiles.iter().filter(|panelled| is_gone(panelled)).for_each(|gone| gone.element.remove());
        self.tiles.retain(|panelled| !is_gone(panelled));
        for tile in tiles {
            if self.tiles.iter().all(|panelled| panelled.place != tile.place) {
                let panelled = Panelled::new(&dom.document, tile)?;
                dom.forget(&format!("tile-{}", tile.place));
                grid.append_child(&panelled.element)?;
                self.tiles.push(panelled);
            }
        }
        let at = |place: usize| tiles.iter().position(|tile| tile.place == place).unwrap_or(0);
        if !self.tiles.is_sorted_by_key(|panelled| at(panelled.place)) {
            self.tiles.sort_by_key(|panelled| at(panelled.place));
            let focused = dom.document.active_element().and_then(|element| element.dyn_into::<HtmlElement>().ok());
            // Tab goes through them as they are seen.
            self.tiles.iter().try_for_each(|panelled| grid.append_child(&panelled.element).map(drop))?;
            if let Some(focused) = focused.filter(|focused| grid.contains(Some(focused))) {
                let _ = focused.focus();
            }
        }
        let (cols, rows) = grid_shape(tiles.len(), self.room);
        dom.style("grid", "--cols", &cols.to_string());
        dom.style("grid", "--rows", &rows.to_string());
        for (at, (tile, panelled)) in tiles.iter().zip(&self.tiles).enumerate() {
            let area = format!("{} / {}", at / cols + 1, at % cols + 1);
            let name = format!("tile-{} area", tile.place);
            dom.attribute(&panelled.element, &name, "style", &format!("grid-area: {area}"));
            if tile.is_active {
                dom.style("view-image", "grid-area", &area);
            }
        }
        Ok(())
    }
}

impl Panelled {
    fn new(document: &Document, tile: &Tile) -> Result<Self, JsValue> {
        let element: HtmlElement = document.create_element("div")?.dyn_into()?;
        let (place, label) = (tile.place, escaped(&tile.member.label));
        set(&element, "class", "tile");
        set(&element, "role", "group");
        set(&element, "data-place", &place.to_string());
        set(&element, "aria-label", &tile.member.label);
        element.set_inner_html(&format!(
            "<header class=\"tile-head\"><button type=\"button\" class=\"tile-name\" data-do=\"set {place}\" title=\"{}\">{label}</button>\
             <span class=\"quiet clip tile-mark\"></span><span class=\"grow\"></span>{}{}</header>\
             <div class=\"tile-view\"><canvas role=\"img\" aria-label=\"{label}\"></canvas><svg class=\"over\" aria-hidden=\"true\"></svg></div>",
            escaped(&tile.member.name),
            switch("", "star", place, "i-star", "Star", &label),
            switch("", "hide-set", place, "i-eye", "Hide", &label),
        ));
        let part = |selector: &str| element.query_selector(selector)?.ok_or(JsValue::from("no part of a panel"));
        let picture = Canvas::on(document, part(".tile-view")?.dyn_into()?, part("canvas")?.dyn_into()?)?;
        Ok(Self { place, element, picture })
    }

    /// The picture of a set that is not looked at; that of the active one lies in the image's own view.
    fn draw(&mut self, dom: &Dom, app: &App, tile: &Tile) -> bool {
        if tile.is_active {
            return false;
        }
        let side = app.sides[0];
        let Some((shown, camera)) = app.tile_picture(tile.place, side) else { return false };
        let changed = self.picture.draw_picture(shown, camera, app.smoothing(Panel::Image));
        if let Ok(Some(over)) = self.element.query_selector(".over") {
            dom.html_of(&over, &format!("tile-{} over", tile.place), &overlay::tile_svg(app, tile.place, &camera));
        }
        let canvas: &HtmlCanvasElement = &self.picture.canvas;
        let words = if shown.is_some() { app.tile_words(tile.place) } else { "nothing yet".to_owned() };
        let label = format!("{}, {words}", tile.member.label);
        dom.attribute(canvas, &format!("tile-{} canvas", tile.place), "aria-label", &label);
        changed
    }
}

/// A button of a panel's head or of the list; its id is `id` and the place, where it has one.
fn switch(id: &str, name: &str, place: usize, icon: &str, words: &str, label: &str) -> String {
    let id = if id.is_empty() { String::new() } else { format!(" id=\"{id}-{place}\"") };
    format!(
        "<button{id} type=\"button\" class=\"icon\" data-do=\"{name} {place}\" aria-label=\"{words} {label}\" title=\"{words}\">\
         <svg class=\"i\" aria-hidden=\"true\"><use href=\"#{icon}\"/></svg></button>"
    )
}

/// What stands over a panel.
fn head(dom: &Dom, tile: &Tile, element: &HtmlElement) {
    let name = |part: &str| format!("tile-{} {part}", tile.place);
    dom.attribute(element, &name("mark"), "data-mark", tile.mark.name());
    dom.attribute(element, &name("active"), "data-active", if tile.is_active { "true" } else { "false" });
    let part = |selector: &str| element.query_selector(selector).ok().flatten();
    if let Some(mark) = part(".tile-mark") {
        dom.text_of(&mark, &name("words"), &tile.mark.words());
    }
    if let Some(button) = part(".tile-name") {
        dom.attribute(&button, &name("name"), "aria-current", if tile.is_active { "true" } else { "false" });
    }
    if let Some(star) = part("[data-do^=star]") {
        dom.attribute(&star, &name("star"), "aria-pressed", if tile.is_starred { "true" } else { "false" });
    }
}

/// Slider, links and numbers.
fn bar(dom: &Dom, app: &App) {
    let Some(series) = &app.series else { return };
    let shown = series.shown(&app.state.series);
    let at = shown.iter().position(|&place| place == series.active).unwrap_or(0);
    let label = series.member(series.active).map(|member| member.label.clone()).unwrap_or_default();
    dom.text("series-label", &label);
    dom.text("series-line", &app.series_line());
    if let Some(slider) = dom.find("series-at") {
        dom.attribute(&slider, "series-at", "max", &(shown.len() - 1).to_string());
        dom.attribute(&slider, "series-at", "aria-valuetext", &format!("{label}, {}", app.series_line()));
    }
    dom.value("series-at", &at.to_string());
    let tick = |(at, &place): (usize, &usize)| {
        let part = if shown.len() > 1 { at as f64 / (shown.len() - 1) as f64 } else { 0.5 };
        let is_in = series.member(place).is_some_and(|member| member.is_resident);
        format!("<i style=\"left:{:.3}%\"{}></i>", 100.0 * part, if is_in { " class=\"in\"" } else { "" })
    };
    dom.html("series-ticks", &shown.iter().enumerate().map(tick).collect::<String>());
    dom.pressed("play-series", series.is_playing);
    dom.pressed("only-starred", app.state.series.only_starred);
    for link in Link::ALL {
        dom.pressed(&format!("link-{}", link.id()), app.state.series.links.has(link));
    }
    dom.value("panels", &app.state.series.panels.to_string());
    let hidden = app.hidden_sets();
    dom.show("show-hidden", hidden > 0);
    dom.text("show-hidden", &format!("{hidden} hidden"));
}

/// All sets that are open, and what they take.
fn list(dom: &Dom, app: &App) {
    let sets = app.listed_sets();
    let row = |tile: &Tile| {
        let (place, label) = (tile.place, escaped(&tile.member.label));
        format!(
            "<li id=\"listed-{place}\"><button type=\"button\" class=\"text tile-name\" id=\"listed-name-{place}\" data-do=\"set {place}\" title=\"{}\">{label}</button>\
             <small class=\"quiet clip\" id=\"listed-mark-{place}\"></small>{}{}{}</li>",
            escaped(&tile.member.name),
            switch("listed-star", "star", place, "i-star", "Star", &label),
            switch("listed-eye", "hide-set", place, "i-eye", "Show", &label),
            switch("", "close-set", place, "i-close", "Close", &label),
        )
    };
    if dom.rewrite("sets", &sets.iter().map(row).collect::<String>()) {
        dom.forget("listed-");
    }
    for tile in &sets {
        let id = |part: &str| format!("listed-{part}-{}", tile.place);
        let held = app.bytes_at(tile.place).map(bytes).unwrap_or_default();
        dom.text(&id("mark"), &if tile.mark == Mark::Resident { held } else { tile.mark.words() });
        dom.pressed(&id("star"), tile.is_starred);
        dom.pressed(&id("eye"), !tile.is_hidden);
        if let Some(name) = dom.find(&id("name")) {
            dom.attribute(&name, &id("name"), "aria-current", if tile.is_active { "true" } else { "false" });
        }
    }
    dom.text("series-title", &app.series_title());
    dom.text("series-memory", &app.series_memory());
    super::side::field(dom, app, "series-budget", Entry::Budget, &app.budget_text());
    let wrong = app.wrong_entry.as_ref().filter(|(entry, _)| *entry == Entry::Budget);
    dom.text("series-why", wrong.map_or("", |(_, why)| why));
}

// ---- what the user does ----

/// Listens to slider, menus and panels.
///
/// # Errors
/// Names what is not in `index.html`.
pub fn listen(shell: &Rc<Shell>) -> Result<(), JsValue> {
    let slider: HtmlInputElement = shell.by_id("series-at")?;
    on(shell, &slider.clone(), "input", move |shell, _: web_sys::Event| {
        if let Ok(at) = slider.value().parse() {
            shell.send(Event::Scrub(at));
        }
    })?;
    let panels: HtmlSelectElement = shell.by_id("panels")?;
    let option = |n: u32| format!("<option value=\"{n}\">{n} panel{}</option>", if n == 1 { "" } else { "s" });
    panels.set_inner_html(&(1..=MOST_PANELS).map(option).collect::<String>());
    on(shell, &panels.clone(), "change", move |shell, _: web_sys::Event| {
        if let Ok(n) = panels.value().parse() {
            shell.send(Event::Do(Command::Panels(n)));
        }
    })?;
    input::field(shell, "series-budget", Entry::Budget)?;
    pictures(shell)?;
    heads(shell)
}

/// The panel of a set that is not looked at, where the event was in its picture.
fn picture_at(event: &web_sys::Event) -> Option<usize> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    target.closest(".tile-view").ok()??;
    place_of(&target)
}

fn place_of(element: &Element) -> Option<usize> {
    element.closest(".tile").ok()??.get_attribute("data-place")?.parse().ok()
}

/// A press in a picture looks at its set, and is a press in the image then.
fn pictures(shell: &Rc<Shell>) -> Result<(), JsValue> {
    let (grid, view): (HtmlElement, HtmlElement) = (shell.by_id("grid")?, shell.by_id("view-image")?);
    on(shell, &grid, "pointerdown", move |shell, event: PointerEvent| {
        let Some(place) = picture_at(&event) else { return };
        event.prevent_default();
        let at = [f64::from(event.offset_x()), f64::from(event.offset_y())];
        shell.send(Event::Do(Command::Set(place as u32)));
        put_view(&shell.dom(), place);
        // As in the view itself.
        let _ = view.set_pointer_capture(event.pointer_id());
        let _ = view.focus();
        let button = if event.button() == 0 { Button::Main } else { Button::Pan };
        shell.send(Event::Press { panel: Panel::Image, at, button, reach: input::REACH });
    })?;
    on(shell, &grid, "contextmenu", |_, event: web_sys::MouseEvent| event.prevent_default())?;
    on(shell, &grid, "wheel", |shell, event: WheelEvent| {
        let Some(place) = picture_at(&event) else { return };
        event.prevent_default();
        if !shell.with_app(|app| app.state.series.links.view) {
            shell.send(Event::Do(Command::Set(place as u32)));
        }
        let at = [f64::from(event.offset_x()), f64::from(event.offset_y())];
        shell.send(Event::Wheel { panel: Panel::Image, at, delta: input::wheel_px(&event) });
    })
}

/// The image's own view lies over the panel of this set at once: the pointer goes on from there.
fn put_view(dom: &Dom, place: usize) {
    let tile = dom.document.query_selector(&format!(".tile[data-place=\"{place}\"]")).ok().flatten();
    let style = tile.and_then(|tile| tile.get_attribute("style"));
    if let Some(area) = style.as_deref().and_then(|style| style.strip_prefix("grid-area: ")) {
        dom.style("view-image", "grid-area", area);
    }
}

/// From so many CSS px on a press on a head is a drag.
const DRAG_PX: f64 = 6.0;

/// A head is dragged to another panel, which makes room; arrow keys with Shift do the same.
fn heads(shell: &Rc<Shell>) -> Result<(), JsValue> {
    let grid: HtmlElement = shell.by_id("grid")?;
    let held = Rc::new(std::cell::RefCell::new(None::<Dragged>));
    let (down, moved, up) = (held.clone(), held.clone(), held);
    on(shell, &grid, "pointerdown", move |_, event: PointerEvent| {
        let head = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let head = head.and_then(|target| target.closest(".tile-head").ok().flatten());
        let from = [f64::from(event.client_x()), f64::from(event.client_y())];
        *down.borrow_mut() = head.map(|head| Dragged { head, from, is_moving: false });
    })?;
    on(shell, &grid, "pointermove", move |_, event: PointerEvent| {
        let mut held = moved.borrow_mut();
        let Some(dragged) = held.as_mut().filter(|_| event.buttons() != 0) else { return };
        let way = (f64::from(event.client_x()) - dragged.from[0]).hypot(f64::from(event.client_y()) - dragged.from[1]);
        if !dragged.is_moving && way > DRAG_PX {
            dragged.is_moving = true;
            // A pointer that is gone already cannot be captured; then nothing is dragged.
            let _ = dragged.head.set_pointer_capture(event.pointer_id());
            super::set(&dragged.head, "class", "tile-head dragged");
        }
    })?;
    for name in ["pointerup", "pointercancel"] {
        let up = up.clone();
        on(shell, &grid, name, move |shell, event: PointerEvent| {
            let Some(dragged) = up.borrow_mut().take().filter(|dragged| dragged.is_moving) else { return };
            super::set(&dragged.head, "class", "tile-head");
            let at = shell.document().element_from_point(event.client_x() as f32, event.client_y() as f32);
            let over = at.and_then(|at| match at.closest("#view-image").ok().flatten() {
                Some(_) => shell.with_app(|app| Some(app.active_place())),
                None => place_of(&at),
            });
            if let (true, Some(place), Some(over)) = (name == "pointerup", place_of(&dragged.head), over) {
                drop_at(shell, place, over);
            }
        })?;
    }
    on(shell, &grid, "keydown", |shell, event: web_sys::KeyboardEvent| {
        let step = match (event.shift_key(), event.key().as_str()) {
            (true, "ArrowLeft" | "ArrowUp") => -1,
            (true, "ArrowRight" | "ArrowDown") => 1,
            _ => return,
        };
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let Some(place) =
            target.filter(|target| target.closest(".tile-head").ok().flatten().is_some()).as_ref().and_then(place_of)
        else {
            return;
        };
        event.prevent_default();
        event.stop_propagation();
        let to = shell.with_app(|app| app.shown_at(place)).map(|at| at as i64 + step);
        if let Some(to) = to.and_then(|to| usize::try_from(to).ok()) {
            shell.send(Event::MoveSet { place, to });
        }
    })
}

/// A head that is held by the pointer.
struct Dragged {
    head: Element,
    from: [f64; 2],
    is_moving: bool,
}

fn drop_at(shell: &Rc<Shell>, place: usize, over: usize) {
    if let Some(to) = shell.with_app(|app| app.shown_at(over)) {
        shell.send(Event::MoveSet { place, to });
    }
}
