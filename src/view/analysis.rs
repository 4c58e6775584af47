//! The analysis card: radial profile, line profile, the transform of the image, figures; and the scan tools.

use std::{cell::Cell, rc::Rc};

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{HtmlCanvasElement, HtmlElement, KeyboardEvent, MouseEvent};

use super::{
    Shell,
    dom::Dom,
    input::on,
    panel::put,
    save,
    side::{class, field, pick, rows},
};
use crate::{
    app::{
        App,
        analysis::Curve,
        detector::centre_of,
        event::Entry,
        state::{Analysis, FftOf, ScanTool},
    },
    display::{Axis, ColourMap, Percentiles, Scale, value},
    products::DetectorShape,
};

/// What was painted of the transform.
#[derive(Default)]
pub struct Spectrum {
    painted: Option<(u32, FftOf)>,
}

const ENTRIES: [Entry; 8] = [
    Entry::RegionX,
    Entry::RegionY,
    Entry::RegionWidth,
    Entry::RegionHeight,
    Entry::RegionCorners,
    Entry::LineFrom,
    Entry::LineTo,
    Entry::LineWidth,
];

/// Fills the card and marks the tools.
pub fn draw(dom: &Dom, app: &App, spectrum: &mut Spectrum) {
    let chosen = app.state.analysis;
    for tab in Analysis::ALL {
        let id = format!("tab-{}", tab.id());
        if let Some(button) = dom.find(&id) {
            dom.attribute(&button, &id, "aria-selected", if tab == chosen { "true" } else { "false" });
            dom.attribute(&button, &id, "tabindex", if tab == chosen { "0" } else { "-1" });
        }
    }
    for tool in ScanTool::ALL {
        let id = format!("tool-{}", tool.id());
        if let Some(button) = dom.find(&id) {
            let is_chosen = tool == app.state.tool;
            dom.attribute(&button, &id, "aria-checked", if is_chosen { "true" } else { "false" });
            dom.attribute(&button, &id, "tabindex", if is_chosen { "0" } else { "-1" });
        }
    }
    draw_region(dom, app);
    let curve = match chosen {
        Analysis::Radial => app.radial().map(|(curve, _)| curve),
        Analysis::Line => app.line_curve(),
        Analysis::Fft | Analysis::Figures => None,
    };
    dom.show("analysis-plot", curve.is_some());
    dom.show("save-table", curve.is_some());
    dom.show("analysis-fft", chosen == Analysis::Fft);
    let words = match (chosen, &curve) {
        (Analysis::Line, None) => "Choose the line above the image, and drag its ends.",
        (Analysis::Radial, None) => "No pattern is shown yet.",
        _ => "",
    };
    dom.text("analysis-why", words);
    if let Some(curve) = &curve {
        dom.html("analysis-plot", &plot(curve));
    }
    let figures = if chosen == Analysis::Figures { app.figure_rows() } else { Vec::new() };
    dom.html("analysis-rows", &rows(&figures));
    dom.show("f-fft-of", chosen == Analysis::Fft);
    if chosen == Analysis::Fft {
        let of = FftOf::ALL.iter().position(|of| *of == app.state.fft_of).unwrap_or(0);
        pick(dom, "fft-of", FftOf::ALL.map(FftOf::name).into_iter(), of);
        draw_spectrum(dom, app, spectrum);
    }
}

/// Numbers of the part and of the line.
fn draw_region(dom: &Dom, app: &App) {
    let region = app.state.region.as_ref();
    let line = app.state.line;
    dom.show("region-card", region.is_some() || line.is_some());
    let n = |px: f64| format!("{px:.1}");
    let centre = region.and_then(centre_of);
    let (width, height, corners) = match region {
        Some(DetectorShape::Disc { outer, .. }) => (Some(2.0 * outer), None, None),
        Some(DetectorShape::Rect { width, height, .. }) => (Some(*width), Some(*height), None),
        Some(DetectorShape::Polygon { points }) => {
            let text = points.iter().map(|[row, col]| format!("{col:.1}, {row:.1}")).collect::<Vec<_>>().join("; ");
            (None, None, Some(text))
        }
        _ => (None, None, None),
    };
    let place = |at: [f64; 2]| format!("{:.1}, {:.1}", at[1], at[0]);
    for (id, entry, text) in [
        ("region-x", Entry::RegionX, centre.map(|at| n(at[1]))),
        ("region-y", Entry::RegionY, centre.map(|at| n(at[0]))),
        ("region-width", Entry::RegionWidth, width.map(n)),
        ("region-height", Entry::RegionHeight, height.map(n)),
        ("region-corners", Entry::RegionCorners, corners),
        ("line-from", Entry::LineFrom, line.map(|line| place(line.from))),
        ("line-to", Entry::LineTo, line.map(|line| place(line.to))),
        ("line-width", Entry::LineWidth, line.map(|line| line.width.to_string())),
    ] {
        dom.show(&format!("f-{id}"), text.is_some());
        field(dom, app, id, entry, &text.unwrap_or_default());
    }
    let wrong = app.wrong_entry.as_ref().filter(|(entry, _)| ENTRIES.contains(entry));
    dom.text("region-why", wrong.map_or("", |(_, why)| why));
    class(dom, "region-why", true);
}

/// Width and height of a plot, its own px.
const WIDTH: f64 = 224.0;
const HEIGHT: f64 = 120.0;
/// Room for the numbers of the axes.
const LEFT: f64 = 40.0;
const BELOW: f64 = 18.0;

/// A curve with its axes as SVG.
fn plot(curve: &Curve) -> String {
    let known = || curve.values.iter().copied().filter(|value| value.is_finite());
    let most = known().fold(f64::NEG_INFINITY, f64::max);
    let least_positive = known().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    let is_log = curve.is_log && most > 0.0;
    let scaled = |value: f64| if is_log { value.max(least_positive).ln() } else { value };
    let (low, high) = match is_log {
        true => (scaled(least_positive), scaled(most)),
        false => (known().fold(f64::INFINITY, f64::min), most),
    };
    if high < low {
        return String::new();
    }
    let span = (high - low).max(f64::MIN_POSITIVE);
    let last = curve.values.len().max(2) as f64 - 1.0;
    let x = |at: f64| LEFT + (WIDTH - LEFT - 2.0) * at / last;
    let y = |value: f64| HEIGHT - BELOW - (HEIGHT - BELOW - 6.0) * (scaled(value) - low) / span;
    let mut path = String::new();
    let mut is_new = true;
    for (at, value) in curve.values.iter().enumerate() {
        if !value.is_finite() || (is_log && *value <= 0.0) {
            is_new = true;
            continue;
        }
        path += &format!("{}{:.1} {:.1}", if is_new { 'M' } else { 'L' }, x(at as f64), y(*value));
        is_new = false;
    }
    let band = curve.band.map_or(String::new(), |[from, to]| {
        let (from, to) = (x(from.min(last)), x(to.min(last)));
        format!("<path class=\"band\" d=\"M{from:.1} 4H{to:.1}V{b}H{from:.1}z\"/>", b = HEIGHT - BELOW)
    });
    let text = |x: f64, y: f64, anchor: &str, text: &str| {
        format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>")
    };
    let (bottom, unit) = (HEIGHT - BELOW, curve.unit);
    let numbers = [
        text(LEFT - 4.0, 12.0, "end", &short(most)),
        text(LEFT - 4.0, bottom, "end", &short(if is_log { least_positive } else { low })),
        text(LEFT, HEIGHT - 5.0, "middle", "0"),
        text(WIDTH - 2.0, HEIGHT - 5.0, "end", &format!("{}\u{202f}{unit}", value(last * curve.step))),
    ];
    format!(
        "{band}<path class=\"axis\" d=\"M{LEFT} 4V{bottom}H{WIDTH}\"/><path class=\"curve\" d=\"{path}\"/>{}<title>{}, {} to {}</title>",
        numbers.concat(),
        curve.value_unit,
        value(if is_log { least_positive } else { low }),
        value(most),
    )
}

/// A number that fits beside an axis.
fn short(number: f64) -> String {
    let text = value(number);
    if text.chars().count() <= LONGEST { text } else { format!("{number:.0e}").replace('-', "\u{2212}") }
}

const LONGEST: usize = 7;

fn draw_spectrum(dom: &Dom, app: &App, spectrum: &mut Spectrum) {
    let of = app.spectrum_serial();
    if of.is_none() || spectrum.painted == of {
        return;
    }
    let Some(field) = app.spectrum() else { return };
    let Some(canvas) = dom.find("fft").and_then(|canvas| canvas.dyn_into::<HtmlCanvasElement>().ok()) else { return };
    spectrum.painted = of;
    let limits = Percentiles { low: 30.0, high: 99.95, symmetric: false, from_zero: false }.limits(&field);
    let axis = Axis::new(limits.unwrap_or(crate::display::Limits { low: 0.0, high: 1.0 }), Scale::Linear, 1.0);
    // A transform that cannot be painted leaves its read-out.
    let _ = put(&canvas, &field, &axis.paint(&field, &ColourMap::Grey.lut()));
}

/// Hover reads a spacing, a click or the arrow keys pin it.
///
/// # Errors
/// Names what is not in `index.html`.
pub fn listen(shell: &Rc<Shell>) -> Result<(), JsValue> {
    let view: HtmlElement = shell.by_id("analysis-fft")?;
    let pinned = Rc::new(Cell::new([0.0, 0.0]));
    let place = |view: &HtmlElement, event: &MouseEvent, app: &App| {
        let [rows, cols] = app.fft_size().unwrap_or([1; 2]);
        let rect = view.get_bounding_client_rect();
        let part = |at: i32, start: f64, length: f64| (f64::from(at) - start) / length.max(1.0);
        let (x, y) =
            (part(event.client_x(), rect.left(), rect.width()), part(event.client_y(), rect.top(), rect.height()));
        let middle = |n: u32| f64::from(n / 2);
        [(y * f64::from(rows)).floor() - middle(rows), (x * f64::from(cols)).floor() - middle(cols)]
    };
    let over = view.clone();
    on(shell, &view, "pointermove", move |shell, event: MouseEvent| {
        let words = shell.with_app(|app| app.spacing(place(&over, &event, app)));
        shell.dom().text("fft-reading", &words.unwrap_or_default());
    })?;
    let (pressed, pin) = (view.clone(), pinned.clone());
    on(shell, &view, "click", move |shell, event: MouseEvent| {
        pin.set(shell.with_app(|app| place(&pressed, &event, app)));
        show_pin(shell, pin.get());
    })?;
    let pin = pinned.clone();
    on(shell, &view, "pointerleave", move |shell, _: MouseEvent| show_pin(shell, pin.get()))?;
    on(shell, &view, "keydown", move |shell, event: KeyboardEvent| {
        let step = if event.shift_key() { 10.0 } else { 1.0 };
        let [row, col] = pinned.get();
        pinned.set(match event.key().as_str() {
            "ArrowUp" => [row - step, col],
            "ArrowDown" => [row + step, col],
            "ArrowLeft" => [row, col - step],
            "ArrowRight" => [row, col + step],
            _ => return,
        });
        event.prevent_default();
        event.stop_propagation();
        show_pin(shell, pinned.get());
    })
}

fn show_pin(shell: &Rc<Shell>, at: [f64; 2]) {
    let (words, size) = shell.with_app(|app| (app.spacing(at), app.fft_size().unwrap_or([1; 2])));
    let dom = shell.dom();
    dom.show("fft-pin", words.is_some());
    dom.text("fft-reading", &words.unwrap_or_default());
    let part = |at: f64, n: u32| 100.0 * (at + f64::from(n / 2) + 0.5) / f64::from(n);
    dom.style("fft-pin", "left", &format!("{:.2}%", part(at[1], size[1])));
    dom.style("fft-pin", "top", &format!("{:.2}%", part(at[0], size[0])));
}

/// Saves what the card shows as a table.
pub fn save_table(shell: &Rc<Shell>) {
    save::file(&shell.dom(), shell.with_app(App::table));
}
