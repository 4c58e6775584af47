//! The shelf: every product as a small live picture, which is its button.

use std::collections::HashMap;

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlCanvasElement};

use super::{dom::Dom, panel::put, product_button, set};
use crate::{
    app::{
        App, Thumb,
        state::{ComSource, Product},
    },
    display::Axis,
};

pub struct Shelf {
    buttons: Vec<(Product, Element, HtmlCanvasElement)>,
    drawn: HashMap<Product, u32>,
    checked: Option<Product>,
    source: Option<ComSource>,
}

impl Shelf {
    pub fn new(dom: &Dom) -> Result<Self, JsValue> {
        let mut html = String::new();
        for (place, product) in Product::ALL.into_iter().enumerate() {
            if product == Product::Com {
                html += "<span class=\"sep\"></span>";
            }
            html += &product_button(place, product);
        }
        let shelf: Element = dom.by_id("shelf")?;
        shelf.set_inner_html(&html);
        let list = shelf.query_selector_all("button")?;
        let mut buttons = Vec::new();
        for (place, product) in Product::ALL.into_iter().enumerate() {
            let button: Element = list.get(place as u32).ok_or("a product has no button")?.dyn_into()?;
            let canvas = button.query_selector("canvas")?.ok_or("a product has no picture")?.dyn_into()?;
            buttons.push((product, button, canvas));
        }
        Ok(Self { buttons, drawn: HashMap::new(), checked: None, source: None })
    }

    /// Returns whether a picture has changed.
    pub fn draw(&mut self, _dom: &Dom, app: &App) -> bool {
        if self.checked != Some(app.state.product) {
            self.checked = Some(app.state.product);
            for (product, button, _) in &self.buttons {
                let chosen = *product == app.state.product;
                set(button, "aria-checked", if chosen { "true" } else { "false" });
                set(button, "tabindex", if chosen { "0" } else { "-1" });
            }
        }
        if self.source != Some(app.state.com.source) {
            self.source = Some(app.state.com.source);
            for (product, button, _) in &self.buttons {
                if let Ok(Some(name)) = button.query_selector("span") {
                    name.set_text_content(Some(product.name_from(app.state.com.source)));
                }
            }
        }
        let mut changed = false;
        for (product, _, canvas) in &self.buttons {
            let Some(thumb) = app.thumbs.get(product) else {
                if self.drawn.remove(product).is_some() {
                    canvas.set_width(1);
                }
                continue;
            };
            if self.drawn.get(product) != Some(&thumb.serial) {
                self.drawn.insert(*product, thumb.serial);
                // A small picture that cannot be painted leaves its button usable.
                let _ = paint(canvas, thumb);
                changed = true;
            }
        }
        changed
    }
}

fn paint(canvas: &HtmlCanvasElement, thumb: &Thumb) -> Result<(), JsValue> {
    let limits = thumb.limits.unwrap_or(crate::display::Limits { low: 0.0, high: 1.0 });
    let axis = Axis::new(limits, thumb.look.scale, thumb.unit);
    let mut rgba = axis.paint(&thumb.field, &thumb.look.lut());
    // What is not there is mid grey here: hatch and dots do not fit into a stamp.
    for (rgba, cell) in rgba.chunks_exact_mut(4).zip(&thumb.field.cells) {
        match cell {
            crate::display::Cell::Unread => rgba.copy_from_slice(&[0x1f, 0x1f, 0x1f, 0xff]),
            crate::display::Cell::Gap => rgba.copy_from_slice(&[0x4e, 0x4e, 0x4e, 0xff]),
            _ => {}
        }
    }
    // Few cells are sharp squares, as in the panel.
    let sharp = thumb.field.rows.max(thumb.field.cols) <= SHARP_CELLS;
    canvas.style().set_property("image-rendering", if sharp { "pixelated" } else { "auto" })?;
    put(canvas, &thumb.field, &rgba)
}

const SHARP_CELLS: u32 = 32;
