//! The cards of the deflection: what it is measured from, its rotation with the curve of the curl, its integral.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use web_sys::{HtmlElement, KeyboardEvent, PointerEvent};

use super::{
    Shell,
    dom::Dom,
    input::on,
    side::{class, field, pick, rows},
};
use crate::{
    app::{
        App, Event,
        deflection::degrees,
        event::Entry,
        state::{About, ComSource},
    },
    products::{Edges, deflection::AngleCurve},
};

/// Fills the cards while a product of the deflection is shown.
pub fn draw(dom: &Dom, app: &App) {
    if !app.state.product.is_com() {
        return;
    }
    let com = app.state.com;
    dom.html("com", &rows(&app.com_rows()));
    let source = ComSource::ALL.iter().position(|source| *source == com.source).unwrap_or(0);
    pick(dom, "com-source", ComSource::ALL.map(ComSource::name).into_iter(), source);
    let names = if com.source == ComSource::Pixels { &About::NAMES[..] } else { &["Scan mean", "No difference"] };
    pick(dom, "com-about", names.iter().copied(), com.about.place().min(names.len() - 1));
    let is_set = com.source == ComSource::Pixels && matches!(com.about, About::Centre(_));
    if let About::Centre([row, col]) = com.about {
        field(dom, app, "com-x", Entry::ComX, &format!("{col:.2}"));
        field(dom, app, "com-y", Entry::ComY, &format!("{row:.2}"));
    }
    dom.show("f-com-x", is_set);
    dom.show("f-com-y", is_set);
    let within = match (com.within, com.source) {
        (Some(times), _) => format!("{times:.2}\u{202f}α"),
        (None, ComSource::Pixels) => "all".into(),
        (None, ComSource::Segments(_)) => "1.00\u{202f}α".into(),
    };
    field(dom, app, "com-within", Entry::Within, &within);
    dom.check("com-arrows", com.arrows);
    field(dom, app, "com-angle", Entry::Angle, &degrees(com.orientation.angle));
    dom.check("com-transposed", com.orientation.transposed);
    dom.text("rotation-from", com.orientation_from.words());
    draw_curve(dom, app);
    let unit = if app.measures().step_nm.is_some() { "nm" } else { "px" };
    for (id, entry, steps) in [
        ("high-pass", Entry::HighPass, com.integration.high_pass),
        ("regularisation", Entry::Regularisation, com.integration.regularisation),
    ] {
        field(dom, app, id, entry, &app.scan_length_text(steps));
        dom.text(&format!("{id}-unit"), unit);
    }
    let edges = Edges::ALL.iter().position(|edges| *edges == com.integration.edges).unwrap_or(0);
    pick(dom, "edges", Edges::ALL.map(Edges::name).into_iter(), edges);
}

/// Curl and divergence over the angle, and the line at the angle of now.
fn draw_curve(dom: &Dom, app: &App) {
    let wrong = app.wrong_entry.as_ref().filter(|(entry, _)| *entry == Entry::Angle);
    class(dom, "curl-why", wrong.is_some());
    let Some(curve) = app.angle_curve() else { return };
    dom.text("curl-why", &wrong.map_or_else(|| app.rotation_words(&curve), |(_, why)| why.clone()));
    let angle = app.state.com.orientation.angle;
    dom.html("curl-lines", &lines(&curve, angle));
    if let Some(plot) = dom.find("curl-plot") {
        dom.attribute(&plot, "curl-plot", "aria-valuenow", &format!("{angle:.1}"));
        let text = format!("{}, curl {}", degrees(angle), crate::display::value(curve.curl(angle)));
        dom.attribute(&plot, "curl-plot", "aria-valuetext", &text);
    }
}

/// The plot is 216 x 64, from -180 to 180 degrees.
const WIDTH: f64 = 216.0;
const HEIGHT: f64 = 64.0;

fn lines(curve: &AngleCurve, angle: f64) -> String {
    let steps = || (0..=72).map(|step| f64::from(step) * 5.0 - 180.0);
    let most = steps().map(|at| curve.curl(at)).fold(f64::MIN_POSITIVE, f64::max);
    let x = |at: f64| (at + 180.0) / 360.0 * WIDTH;
    let y = |size: f64| HEIGHT - 4.0 - (HEIGHT - 10.0) * size / most;
    let path = |of: &dyn Fn(f64) -> f64| {
        let point =
            |(place, at): (usize, f64)| format!("{}{:.1} {:.1}", if place == 0 { 'M' } else { 'L' }, x(at), y(of(at)));
        steps().enumerate().map(point).collect::<String>()
    };
    format!(
        "<path class=\"axis\" d=\"M0 {h}H{WIDTH}\"/><path class=\"other\" d=\"{}\"/><path class=\"curve\" d=\"{}\"/>\
         <path class=\"at\" d=\"M{at:.1} 2V{h}\"/><circle cx=\"{at:.1}\" cy=\"{:.1}\" r=\"3\"/>",
        path(&|at| curve.divergence(at)),
        path(&|at| curve.curl(at)),
        y(curve.curl(angle)),
        at = x(angle),
        h = HEIGHT - 2.0,
    )
}

/// The line at the angle is dragged.
///
/// # Errors
/// Names what is not in `index.html`.
pub fn listen(shell: &Rc<Shell>) -> Result<(), JsValue> {
    let plot: HtmlElement = shell.by_id("curl-plot")?;
    let place = plot.clone();
    let angle = Rc::new(move |event: &PointerEvent| {
        let rect = place.get_bounding_client_rect();
        let part = (f64::from(event.client_x()) - rect.left()) / rect.width().max(1.0);
        // Whole degrees; a finer one is typed.
        (part.clamp(0.0, 1.0) * 360.0 - 180.0).round()
    });
    let (held, at) = (plot.clone(), angle.clone());
    on(shell, &plot, "pointerdown", move |shell, event: PointerEvent| {
        // A pointer that is gone already cannot be captured.
        let _ = held.set_pointer_capture(event.pointer_id());
        shell.send(Event::HoldAngle);
        shell.send(Event::DragAngle(at(&event)));
    })?;
    on(shell, &plot, "pointermove", move |shell, event: PointerEvent| {
        if event.buttons() != 0 {
            shell.send(Event::DragAngle(angle(&event)));
        }
    })?;
    for name in ["pointerup", "pointercancel"] {
        on(shell, &plot, name, |shell, _: PointerEvent| shell.send(Event::Release))?;
    }
    Ok(())
}

/// Arrow keys on the plot: one degree, ten with Shift, a tenth with Ctrl.
pub fn nudge(shell: &Rc<Shell>, event: &KeyboardEvent) -> bool {
    let sign = match event.key().as_str() {
        "ArrowLeft" | "ArrowDown" => -1.0,
        "ArrowRight" | "ArrowUp" => 1.0,
        _ => return false,
    };
    let step = match (event.shift_key(), event.ctrl_key()) {
        (true, _) => 10.0,
        (_, true) => 0.1,
        _ => 1.0,
    };
    let angle = shell.state().com.orientation.angle;
    shell.send(Event::DragAngle(angle + sign * step));
    true
}
