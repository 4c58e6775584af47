//! Files out of the page: a panel's picture as it is seen or one px a value, its numbers, the session, the script; and
//! the picture to the clipboard.

use std::rc::Rc;

use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    Blob, BlobPropertyBag, CanvasRenderingContext2d, HtmlAnchorElement, HtmlCanvasElement, HtmlImageElement, ImageData,
    Url,
};

use super::{
    Shell,
    dom::{Dom, escaped},
    overlay,
    panel::{context_of, paint},
    wheel,
};
use crate::{
    Error, Kind,
    app::{App, Event, Panel, exports::Format},
    display::{ScaleBar, value},
    export::{File, Numbers, csv},
};

/// Saves what a panel shows.
pub fn panel(shell: &Rc<Shell>, format: Format, panel: Panel) {
    let shell = shell.clone();
    spawn_local(async move {
        if !current(&shell, panel).await {
            return;
        }
        let made = shell.with_app(|app| app.exported(format, panel));
        if made.is_some() {
            return file(&shell.dom(), made);
        }
        let name = shell.with_app(|app| app.export_name(format, panel));
        let blob = match format {
            Format::Csv => table(&shell, panel).await,
            Format::Seen => seen(&shell, panel).await,
            _ => plain(&shell, panel).await,
        };
        match (name, blob) {
            (Some(name), Ok(blob)) => download(&shell.dom(), &name, &blob),
            (None, _) => {}
            (_, Err(cause)) => shell.send(Event::Notice(failed("The picture could not be made", &cause))),
        }
    });
}

/// Waits until a panel shows what the view says: a picture of before must not go out under another name. False where
/// it does not come.
async fn current(shell: &Rc<Shell>, panel: Panel) -> bool {
    let mut tries = 0;
    while !shell.with_app(|app| app.is_current(panel)) {
        // Between an answer and its picture nothing is on its way for a moment.
        tries = if shell.with_app(|app| app.is_awaited(panel)) { 0 } else { tries + 1 };
        if tries > TRIES {
            return false;
        }
        gloo_timers::future::TimeoutFuture::new(WAIT_MS).await;
    }
    true
}

const WAIT_MS: u32 = 30;
const TRIES: u32 = 60;

/// Saves a file that is ready.
pub fn file(dom: &Dom, file: Option<File>) {
    let Some(File { name, mime, bytes }) = file else { return };
    let parts = Array::of1(&js_sys::Uint8Array::from(bytes.as_slice()));
    if let Ok(blob) = blob_of(&parts, mime) {
        download(dom, &name, &blob);
    }
}

/// The picture as it is seen, to the clipboard.
pub fn copy(shell: &Rc<Shell>, panel: Panel) {
    let shell = shell.clone();
    spawn_local(async move {
        match copied(&shell, panel).await {
            Ok(()) => shell.dom().text("live", "The picture was copied"),
            Err(cause) => shell.send(Event::Notice(failed("The picture could not be copied", &cause))),
        }
    });
}

fn failed(what: &str, cause: &JsValue) -> Error {
    let words = cause.as_string().or_else(|| cause.dyn_ref::<js_sys::Error>().map(|e| String::from(e.message())));
    Error::new(Kind::Io, "no_export", what)
        .found(words.unwrap_or_else(|| "a refusal by the browser".into()))
        .action("Allow the page to use the clipboard, or save the picture (E)")
}

async fn copied(shell: &Rc<Shell>, panel: Panel) -> Result<(), JsValue> {
    if !current(shell, panel).await {
        return Err("nothing is shown".into());
    }
    let blob = seen(shell, panel).await?;
    let items = Object::new();
    Reflect::set(&items, &"image/png".into(), &blob)?;
    let item: Function = Reflect::get(&js_sys::global(), &"ClipboardItem".into())?.dyn_into()?;
    let item = Reflect::construct(&item, &Array::of1(&items))?;
    let window = web_sys::window().ok_or("no window")?;
    JsFuture::from(window.navigator().clipboard().write(&Array::of1(&item))).await?;
    Ok(())
}

fn blob_of(parts: &Array, mime: &str) -> Result<Blob, JsValue> {
    let bag = BlobPropertyBag::new();
    bag.set_type(mime);
    Blob::new_with_u8_array_sequence_and_options(parts, &bag)
}

fn download(dom: &Dom, name: &str, blob: &Blob) {
    let Ok(url) = Url::create_object_url_with_blob(blob) else { return };
    let anchor = dom.document.create_element("a").ok().and_then(|anchor| anchor.dyn_into::<HtmlAnchorElement>().ok());
    if let Some(anchor) = anchor {
        anchor.set_href(&url);
        anchor.set_download(name);
        anchor.click();
    }
    dom.text("live", &format!("{name} was saved"));
    spawn_local(async move {
        // The browser reads the address after the click.
        gloo_timers::future::TimeoutFuture::new(60_000).await;
        let _ = Url::revoke_object_url(&url);
    });
}

/// Rows of a table between two rests of the page.
const ROWS: u32 = 16;

async fn table(shell: &Rc<Shell>, panel: Panel) -> Result<Blob, JsValue> {
    let (field, title, cell) = shell
        .with_app(|app| Some((app.shown(panel)?.field.clone(), app.export_title(panel), app.cell(panel))))
        .ok_or("nothing is shown")?;
    let numbers = Numbers { field: &field, title: &title, cell };
    let parts = Array::new();
    for part in 0..csv::parts(&numbers) {
        parts.push(&csv::part(&numbers, part).into());
        if part % ROWS == 0 {
            gloo_timers::future::TimeoutFuture::new(0).await;
        }
    }
    let bag = BlobPropertyBag::new();
    bag.set_type("text/csv");
    Blob::new_with_str_sequence_and_options(&parts, &bag)
}

/// One px a value.
async fn plain(shell: &Rc<Shell>, panel: Panel) -> Result<Blob, JsValue> {
    let canvas = new_canvas(&shell.dom())?;
    shell.with_app(|app| app.shown(panel).map(|shown| paint(&canvas, shown))).ok_or("nothing is shown")??;
    png(&canvas).await
}

async fn png(canvas: &HtmlCanvasElement) -> Result<Blob, JsValue> {
    let promise = Promise::new(&mut |resolve, reject| {
        let take = Closure::once_into_js(move |blob: JsValue| resolve.call1(&JsValue::NULL, &blob).map(drop));
        if let Err(cause) = canvas.to_blob(take.unchecked_ref()) {
            // A promise takes its refusal; there is nobody else to tell.
            let _ = reject.call1(&JsValue::NULL, &cause);
        }
    });
    JsFuture::from(promise).await?.dyn_into().map_err(|_| "the browser made no picture".into())
}

/// Lines of the picture, device px: the foot with its colour bar.
const FOOT: f64 = 40.0;

/// A panel with its marks, its scale bar and its colour bar.
async fn seen(shell: &Rc<Shell>, panel: Panel) -> Result<Blob, JsValue> {
    let dom = shell.dom();
    let ratio = dom.window.device_pixel_ratio().max(1.0);
    let source: HtmlCanvasElement = dom.by_id(&format!("canvas-{}", panel.id()))?;
    let side = f64::from(source.width());
    let canvas = new_canvas(&dom)?;
    canvas.set_width(source.width());
    canvas.set_height(source.height() + (FOOT * ratio).round() as u32);
    let context = context_of(&canvas)?;
    context.set_fill_style_str("#000");
    context.fill_rect(0.0, 0.0, side, f64::from(canvas.height()));
    context.draw_image_with_html_canvas_element(&source, 0.0, 0.0)?;
    let marks = shell.with_app(|app| marks(app, panel, side / ratio));
    let marks = picture(&marks).await?;
    context.draw_image_with_html_image_element_and_dw_and_dh(&marks, 0.0, 0.0, side, side)?;
    shell.with_app(|app| {
        context.scale(ratio, ratio)?;
        foot(&context, app, panel, side / ratio)?;
        wheel_of(&dom, &context, app, panel, side / ratio)
    })?;
    png(&canvas).await
}

/// Marks and scale bar as an SVG document, `side` px wide.
fn marks(app: &App, panel: Panel, side: f64) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{side}\" height=\"{side}\" fill=\"none\" font-family=\"sans-serif\" font-size=\"12\">\
         <style>.halo{{stroke:#000;stroke-opacity:.62}}.det{{stroke:#45d0ff}}.scan{{stroke:#ffb224}}.later{{stroke:#fff}}.knob{{fill:#111}}.fill{{display:none}}</style>"
    );
    svg += &overlay::svg(app, panel);
    let camera = app.camera(panel);
    if let Some((bar, camera)) =
        camera.and_then(|camera| Some((ScaleBar::of(camera.visible(), app.unit(panel))?, camera)))
    {
        let width = bar.px * camera.scale;
        let (box_width, top) = (width.max(48.0) + 16.0, side - 40.0);
        svg += &format!(
            "<rect x=\"10\" y=\"{top}\" width=\"{box_width}\" height=\"30\" rx=\"3\" fill=\"#000\" fill-opacity=\".62\"/>\
             <text x=\"{middle}\" y=\"{text}\" fill=\"#fff\" text-anchor=\"middle\">{label}</text>\
             <rect x=\"{left}\" y=\"{line}\" width=\"{width}\" height=\"3\" fill=\"#fff\"/>",
            middle = 10.0 + box_width / 2.0,
            text = top + 14.0,
            label = escaped(&bar.label),
            left = 10.0 + (box_width - width) / 2.0,
            line = top + 20.0,
        );
    }
    svg + "</svg>"
}

/// An SVG document as an image.
async fn picture(svg: &str) -> Result<HtmlImageElement, JsValue> {
    let image = HtmlImageElement::new()?;
    let encoded = js_sys::encode_uri_component(svg);
    image.set_src(&format!("data:image/svg+xml,{encoded}"));
    JsFuture::from(image.decode()).await?;
    Ok(image)
}

/// Title, colour bar and limits under the picture.
fn foot(context: &CanvasRenderingContext2d, app: &App, panel: Panel, side: f64) -> Result<(), JsValue> {
    let Some(shown) = app.shown(panel) else { return Ok(()) };
    let lut = shown.look.lut();
    let (left, width, top) = (8.0, side - 16.0, side + 6.0);
    for step in 0..256 {
        let [r, g, b, _] = lut.at((f64::from(step) + 0.5) / 256.0);
        context.set_fill_style_str(&format!("rgb({r} {g} {b})"));
        let at = left + width * f64::from(step) / 256.0;
        context.fill_rect(at, top, width / 256.0 + 0.6, 8.0);
    }
    context.set_fill_style_str("#fff");
    context.set_font("12px sans-serif");
    context.set_text_baseline("alphabetic");
    let unit = if shown.field.unit.is_empty() { String::new() } else { format!(" {}", shown.field.unit) };
    let limits = [shown.limits.low, shown.limits.high].map(|limit| format!("{}{unit}", app.limit(panel, limit)));
    let what = match panel {
        Panel::Image => app.state.product.name_from(app.state.com.source).to_owned(),
        Panel::Pattern => format!("Pattern {}", app.pattern_line()),
    };
    for (align, at, text) in
        [("left", left, &limits[0]), ("center", side / 2.0, &what), ("right", left + width, &limits[1])]
    {
        context.set_text_align(align);
        context.fill_text(text, at, side + 30.0)?;
    }
    Ok(())
}

fn wheel_of(dom: &Dom, context: &CanvasRenderingContext2d, app: &App, panel: Panel, side: f64) -> Result<(), JsValue> {
    let Some(shown) = app.shown(panel).filter(|shown| !shown.field.direction.is_empty()) else { return Ok(()) };
    let canvas = new_canvas(dom)?;
    canvas.set_width(wheel::SIDE);
    canvas.set_height(wheel::SIDE);
    let pixels = wheel::pixels();
    let image = ImageData::new_with_u8_clamped_array_and_sh(wasm_bindgen::Clamped(&pixels), wheel::SIDE, wheel::SIDE)?;
    context_of(&canvas)?.put_image_data(&image, 0.0, 0.0)?;
    context.set_fill_style_str("rgb(0 0 0 / .62)");
    context.fill_rect(side - 88.0, side - 98.0, 78.0, 88.0);
    context.draw_image_with_html_canvas_element_and_dw_and_dh(&canvas, side - 79.0, side - 92.0, 60.0, 60.0)?;
    context.set_fill_style_str("#fff");
    context.set_text_align("center");
    context.fill_text(&format!("{} {}", value(shown.limits.high), shown.field.unit), side - 49.0, side - 18.0)
}

/// A small copy of the panel for the sheet, once it shows what the view says.
pub fn preview_of(shell: &Rc<Shell>, panel: Panel) {
    let shell = shell.clone();
    spawn_local(async move {
        if current(&shell, panel).await {
            preview(&shell.dom(), panel);
        }
    });
}

fn preview(dom: &Dom, panel: Panel) {
    let canvases = dom.by_id::<HtmlCanvasElement>(&format!("canvas-{}", panel.id()));
    let (Ok(source), Ok(small)) = (canvases, dom.by_id::<HtmlCanvasElement>("export-preview")) else { return };
    let side = f64::from(small.width());
    // Without a preview the sheet still saves.
    let _ = context_of(&small)
        .and_then(|context| context.draw_image_with_html_canvas_element_and_dw_and_dh(&source, 0.0, 0.0, side, side));
}

fn new_canvas(dom: &Dom) -> Result<HtmlCanvasElement, JsValue> {
    Ok(dom.document.create_element("canvas")?.dyn_into()?)
}
