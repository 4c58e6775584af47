//! Under a panel: its histogram on its colour bar, the two limits as handles and as fields, scale and map.

use wasm_bindgen::{Clamped, JsCast, JsValue};
use web_sys::{Element, HtmlCanvasElement, HtmlElement, HtmlSelectElement, ImageData};

use super::{dom::Dom, panel::context_of, set};
use crate::{
    app::{App, Panel, Shown, event::Entry, state::Smoothing},
    display::{Axis, ColourMap, Histogram, Scale},
};

pub struct Foot {
    path: Element,
    bar: HtmlCanvasElement,
    grips: [HtmlElement; 2],
    drawn: Option<u32>,
}

/// Places of a panel's foot: low and high field, scale and map menu.
const IDS: [[&str; 4]; 2] = [
    ["low-image", "high-image", "scale-image", "map-image"],
    ["low-pattern", "high-pattern", "scale-pattern", "map-pattern"],
];

impl Foot {
    pub fn new(dom: &Dom, panel: Panel) -> Result<Self, JsValue> {
        let curve: Element = dom.by_id(&format!("curve-{}", panel.id()))?;
        let [_, _, scale, _] = IDS[panel as usize];
        fill(dom, scale, Scale::ALL.map(Scale::name).as_slice())?;
        let smoothing = ["smoothing-image", "smoothing-pattern"][panel as usize];
        fill(dom, smoothing, Smoothing::ALL.map(Smoothing::name).as_slice())?;
        Ok(Self {
            path: part(&curve, "path")?,
            bar: part(&curve, "canvas")?,
            grips: [part(&curve, "[data-end=low]")?, part(&curve, "[data-end=high]")?],
            drawn: None,
        })
    }

    pub fn draw(&mut self, dom: &Dom, app: &App, panel: Panel) {
        let [low, high, scale, map] = IDS[panel as usize];
        let look = app.state.looks.of(app.family(panel));
        dom.value(scale, look.scale.name());
        let is_wheel = look.map == ColourMap::Wheel;
        let maps = if is_wheel { &[ColourMap::Wheel] } else { ColourMap::ALL.as_slice() };
        let options: String = maps.iter().map(|map| format!("<option>{}</option>", map.name())).collect();
        dom.html(map, &options);
        dom.value(map, look.map.name());
        dom.value(["smoothing-image", "smoothing-pattern"][panel as usize], app.smoothing(panel).name());
        dom.check(["inverted-image", "inverted-pattern"][panel as usize], look.inverted);
        dom.check(["locked-image", "locked-pattern"][panel as usize], look.locked);
        let gamma = ["gamma-image", "gamma-pattern"][panel as usize];
        super::side::field(dom, app, gamma, Entry::Gamma(panel), &format!("{}", look.gamma));
        let Some(shown) = app.shown(panel) else { return };
        let texts = [app.limit(panel, shown.limits.low), app.limit(panel, shown.limits.high)];
        dom.value(low, &texts[0]);
        dom.value(high, &texts[1]);
        if self.drawn == Some(shown.serial) {
            return;
        }
        self.drawn = Some(shown.serial);
        set(&self.path, "d", &curve(&shown.histogram));
        // A bar that cannot be painted leaves the handles usable.
        let _ = paint_bar(&self.bar, shown);
        for (grip, (limit, text)) in self.grips.iter().zip([shown.limits.low, shown.limits.high].into_iter().zip(texts))
        {
            let percent = 100.0 * shown.histogram.axis.position(limit);
            let _ = grip.style().set_property("left", &format!("{percent:.3}%"));
            set(grip, "aria-valuemin", "0");
            set(grip, "aria-valuemax", "100");
            set(grip, "aria-valuenow", &format!("{percent:.0}"));
            let unit = if shown.field.counts { "counts" } else { shown.field.unit.as_str() };
            set(grip, "aria-valuetext", format!("{text} {unit}").trim_end());
        }
    }
}

/// Options of a menu.
pub fn fill(dom: &Dom, id: &str, names: &[&str]) -> Result<(), JsValue> {
    let select: HtmlSelectElement = dom.by_id(id)?;
    let options: String = names.iter().map(|name| format!("<option>{name}</option>")).collect();
    select.set_inner_html(&options);
    Ok(())
}

/// The histogram as a closed path in 256 x 20.
fn curve(histogram: &Histogram) -> String {
    let mut path = String::from("M0 20");
    let heights = histogram.heights();
    let wide = 256.0 / heights.len() as f64;
    for (bin, height) in heights.iter().enumerate() {
        let (x, y) = (wide * bin as f64, 20.0 - 19.0 * height);
        path += &format!("L{x:.1} {y:.1}H{:.1}", x + wide);
    }
    path + "L256 20z"
}

fn paint_bar(canvas: &HtmlCanvasElement, shown: &Shown) -> Result<(), JsValue> {
    let (lut, axis) = (shown.look.lut(), Axis::new(shown.limits, shown.look.scale, shown.unit));
    let colour = |x: u32| lut.at(axis.position(shown.histogram.axis.value((f64::from(x) + 0.5) / 256.0)));
    let rgba: Vec<u8> = (0..256).flat_map(colour).collect();
    let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&rgba), 256, 1)?;
    context_of(canvas)?.put_image_data(&image, 0.0, 0.0)
}

fn part<T: JsCast>(curve: &Element, selector: &str) -> Result<T, JsValue> {
    let found = curve.query_selector(selector)?.ok_or_else(|| format!("index.html: no {selector} in a curve"))?;
    found.dyn_into().map_err(|_| "index.html: a curve has another kind of element".into())
}
