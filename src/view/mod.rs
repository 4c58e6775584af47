//! The page: draws what it finds in [`App`], and turns what the user does into events.
//!
//! Structure and words that never change are in `index.html`; everything here fills its places by id.

mod analysis;
mod animation;
mod bundle;
mod copies;
mod datasets;
mod deflection;
mod dom;
mod files;
mod foot;
mod input;
mod loading;
mod overlay;
mod panel;
mod recent;
mod save;
mod series;
mod sheets;
mod shelf;
mod shell;
mod side;
mod theme;
mod wheel;

pub use shell::{Automation, Shell, start};

use std::rc::Rc;

use wasm_bindgen::JsValue;
use web_sys::Element;

use crate::{
    app::{App, Panel, Stage, state::Product, words},
    display::{Cell, ScaleBar, count},
};
use dom::Dom;
use foot::Foot;
use panel::Canvas;
use shelf::Shelf;

/// All that is drawn, and what was drawn last.
pub struct Page {
    dom: Rc<Dom>,
    canvases: [Canvas; 2],
    feet: [Foot; 2],
    shelf: Shelf,
    labels: Labels,
    spectrum: analysis::Spectrum,
    grid: series::Grid,
}

/// Words for those who do not see the page; rewritten only when the page has been at rest.
#[derive(Default)]
struct Labels {
    changed_ms: f64,
    pending: bool,
    quarter: u32,
}

/// Labels of canvases follow the last change by so long.
const LABEL_REST_MS: f64 = 500.0;

impl Page {
    /// Finds the places of the page.
    ///
    /// # Errors
    /// Names what is not in `index.html`.
    pub fn new() -> Result<Self, JsValue> {
        let dom = Rc::new(Dom::new()?);
        let canvases = [Canvas::new(&dom, Panel::Image)?, Canvas::new(&dom, Panel::Pattern)?];
        let feet = [Foot::new(&dom, Panel::Image)?, Foot::new(&dom, Panel::Pattern)?];
        let shelf = Shelf::new(&dom)?;
        sheets::fill_keys(&dom);
        Ok(Self {
            dom,
            canvases,
            feet,
            shelf,
            labels: Labels::default(),
            spectrum: Default::default(),
            grid: Default::default(),
        })
    }

    pub fn dom(&self) -> Rc<Dom> {
        self.dom.clone()
    }

    /// Looks how large everything is that holds pictures.
    pub fn measure(&mut self) -> [f64; 2] {
        self.grid.measure(&self.dom);
        self.sides()
    }

    /// Side of each view, CSS px; 0 while none is shown.
    fn sides(&self) -> [f64; 2] {
        [0, 1].map(|place: usize| f64::from(self.canvases[place].view.client_width()))
    }

    /// Draws everything that has changed. Returns whether a label is still to be written.
    pub fn draw(&mut self, app: &App, now_ms: f64) -> bool {
        let stage = app.stage();
        self.dom.attribute(&self.dom.body, "body", "data-stage", stage.name());
        let kind = match app.state.product {
            Product::Phase => "phase",
            product if product.is_com() => "com",
            _ => "sum",
        };
        self.dom.attribute(&self.dom.body, "body", "data-product", kind);
        let large = app.state.maximised.map_or("", Panel::id);
        self.dom.attribute(&self.dom.body, "body", "data-maximised", large);
        side::draw(&self.dom, app);
        datasets::update(&self.dom, app);
        if matches!(stage, Stage::Reading | Stage::Set) {
            self.draw_panels(app, now_ms);
        }
        self.say_progress(app);
        self.write_labels(app, now_ms)
    }

    fn draw_panels(&mut self, app: &App, now_ms: f64) {
        self.draw_titles(app);
        let mut changed = self.grid.draw(&self.dom, app);
        changed |= self.shelf.draw(&self.dom, app);
        for (place, panel) in Panel::ALL.into_iter().enumerate() {
            changed |= self.canvases[place].draw(app, panel);
            self.feet[place].draw(&self.dom, app, panel);
            self.draw_bar(app, panel);
            let late = if app.is_late(panel) { "view late" } else { "view" };
            self.dom.attribute(&self.canvases[place].view, ["view-image", "view-pattern"][place], "class", late);
            let plate = app.plate(panel).unwrap_or_default();
            let id = ["note-image", "note-pattern"][place];
            self.dom.show(id, !plate.is_empty());
            self.dom.text(id, &plate);
            self.dom.html(["over-image", "over-pattern"][place], &overlay::svg(app, panel));
        }
        wheel::draw(&self.dom, app);
        analysis::draw(&self.dom, app, &mut self.spectrum);
        if changed {
            (self.labels.changed_ms, self.labels.pending) = (now_ms, true);
        }
    }

    fn draw_titles(&self, app: &App) {
        let dom = &self.dom;
        if let Some(set) = &app.set {
            dom.text("set-name", &set.acquisition.name);
        }
        let of_series = if app.series.is_some() { format!("{}; ", app.series_title()) } else { String::new() };
        dom.text("set-what", &format!("{of_series}{}", app.set_line()));
        dom.text("name-image", app.state.product.name_from(app.state.com.source));
        dom.text("what-image", &app.product_line());
        dom.text("what-pattern", &app.pattern_line());
        dom.value("pattern-of", app.state.pattern.name());
        dom.text("read-scan", &app.scan_reading());
        dom.text("read-detector", &app.detector_reading());
        dom.text("memory", &app.memory_line());
        dom.value("play-order", app.state.play.name());
        dom.pressed("play", app.playing);
        dom.pressed("maximise-image", app.state.maximised == Some(Panel::Image));
        dom.pressed("maximise-pattern", app.state.maximised == Some(Panel::Pattern));
        for (id, can) in [("undo", app.can_undo()), ("redo", app.can_redo())] {
            if let Some(button) = dom.find(id) {
                dom.attribute(&button, id, "aria-disabled", if can { "false" } else { "true" });
            }
        }
        let time = app.image_ms.map_or(String::new(), |ms| format!("image in {ms:.1}\u{202f}ms"));
        dom.text("time-image", &time);
    }

    /// The bar is as long as its label says, to a device pixel.
    fn draw_bar(&self, app: &App, panel: Panel) {
        let id = ["bar-image", "bar-pattern"][panel as usize];
        let bar = app.camera(panel).and_then(|camera| {
            let data_px = camera.visible();
            Some((ScaleBar::of(data_px, app.unit(panel))?, camera.scale))
        });
        self.dom.show(id, bar.is_some());
        if let Some((bar, scale)) = bar {
            let ratio = self.dom.window.device_pixel_ratio();
            let width = (bar.px * scale * ratio).round() / ratio;
            self.dom.html(id, &format!("<span>{}</span><i style=\"width:{width}px\"></i>", bar.label));
        }
    }

    /// Progress for the ear, in quarters.
    fn say_progress(&mut self, app: &App) {
        let Some(set) = &app.set else { return };
        let (read, total) = (set.progress.bytes_read, set.progress.bytes_total.max(1));
        let percent = if app.stage() == Stage::Reading { read * 100 / total } else { 100 };
        self.dom.style("progress-done", "width", &format!("{percent}%"));
        if let Some(element) = self.dom.find("progress") {
            self.dom.attribute(&element, "progress", "aria-valuenow", &percent.to_string());
        }
        let quarter = (percent / 25) as u32;
        if quarter != self.labels.quarter {
            self.labels.quarter = quarter;
            let name = &set.acquisition.name;
            self.dom.text("live", &format!("{name}: {}\u{202f}% read", quarter * 25));
        }
    }

    fn write_labels(&mut self, app: &App, now_ms: f64) -> bool {
        if self.labels.pending && now_ms - self.labels.changed_ms >= LABEL_REST_MS {
            self.labels.pending = false;
            for panel in Panel::ALL {
                let label = label(app, panel);
                self.dom.attribute(&self.canvases[panel as usize].canvas, panel.id(), "aria-label", &label);
            }
        }
        self.labels.pending
    }
}

/// What a picture shows, in a sentence.
fn label(app: &App, panel: Panel) -> String {
    let (Some(shown), Some(set)) = (app.shown(panel), &app.set) else { return "nothing yet".into() };
    let field = &shown.field;
    let (low, high) = (app.limit(panel, shown.limits.low), app.limit(panel, shown.limits.high));
    let known = field.cells.iter().filter(|&&cell| cell == Cell::Value).count();
    let mean = field.known().sum::<f64>() / known.max(1) as f64;
    let what = match panel {
        Panel::Image => {
            let com = if app.state.product.is_com() { " map" } else { " image" };
            format!("{}{com}, {}", app.state.product.name_from(app.state.com.source), words::shape(set.shape()))
        }
        Panel::Pattern => format!("{}, {}", app.state.pattern.name(), app.pattern_line()),
    };
    let unit = if field.unit.is_empty() && !app.state.product.is_com() { "counts" } else { &field.unit };
    format!(
        "{what}, range {low} to {high} {unit}, mean {}, {} values, {}",
        crate::display::value(mean),
        count(known as u64),
        shown.look.scale.name().to_lowercase()
    )
}

/// The button of a product on the shelf.
fn product_button(place: usize, product: Product) -> String {
    format!(
        "<button type=\"button\" role=\"radio\" data-do=\"product {place}\" aria-checked=\"false\"><canvas width=\"1\" height=\"1\"></canvas><span>{}</span></button>",
        product.name()
    )
}

/// Sets an attribute of a fresh element; names are constants, so this cannot fail.
fn set(element: &Element, name: &str, value: &str) {
    let _ = element.set_attribute(name, value);
}
