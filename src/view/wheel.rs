//! The wheel beside a picture of vectors: which colour is which direction, and how long the longest are.

use wasm_bindgen::{Clamped, JsCast};
use web_sys::{HtmlCanvasElement, ImageData};

use super::{dom::Dom, panel::context_of};
use crate::{
    app::App,
    display::{Wheel, value},
};

/// Pixels along the wheel's side.
pub const SIDE: u32 = 128;

/// Shows the wheel where vectors are shown.
pub fn draw(dom: &Dom, app: &App) {
    let shown = app.image.as_ref().filter(|shown| !shown.field.direction.is_empty());
    dom.show("wheel", shown.is_some());
    let Some(shown) = shown else { return };
    let unit = if shown.field.unit.is_empty() { String::new() } else { format!("\u{202f}{}", shown.field.unit) };
    dom.text("wheel-scale", &format!("{}{unit}", value(shown.limits.high)));
    // The wheel is turned as the picture is.
    let turn = app.state.image_view.turn;
    let mirror = if turn.mirrored { " scaleX(-1)" } else { "" };
    dom.style("wheel-colours", "transform", &format!("rotate({}deg){mirror}", 90 * u32::from(turn.quarters)));
    let canvas = dom.find("wheel-colours").and_then(|canvas| canvas.dyn_into::<HtmlCanvasElement>().ok());
    if let Some(canvas) = canvas.filter(|canvas| canvas.width() != SIDE) {
        canvas.set_width(SIDE);
        canvas.set_height(SIDE);
        let pixels = pixels();
        let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), SIDE, SIDE);
        // A wheel that cannot be painted leaves its number.
        let _ = image.and_then(|image| context_of(&canvas)?.put_image_data(&image, 0.0, 0.0));
    }
}

/// RGBA of the wheel, clear outside.
pub fn pixels() -> Vec<u8> {
    let (wheel, middle) = (Wheel::new(), f64::from(SIDE) / 2.0);
    let colour = |at: u32| {
        let (x, y) = (f64::from(at % SIDE) + 0.5 - middle, f64::from(at / SIDE) + 0.5 - middle);
        let part = x.hypot(y) / middle;
        let [r, g, b, _] = wheel.at(y.atan2(x), part);
        // The edge fades over one pixel.
        [r, g, b, (255.0 * ((1.0 - part) * middle).clamp(0.0, 1.0)) as u8]
    };
    (0..SIDE * SIDE).flat_map(colour).collect()
}
