//! A panel's canvas: the picture at device pixels, dots where nothing is read yet, hatch where there is
//! no data.

use wasm_bindgen::{Clamped, JsCast, JsValue};
use web_sys::{CanvasPattern, CanvasRenderingContext2d, Document, HtmlCanvasElement, HtmlElement, ImageData};

use super::dom::Dom;
use crate::{
    app::{App, Camera, Panel, Shown},
    display::{Axis, Cell, Field, Rect},
};

/// Below so many device px per data px the picture is smoothed, from it on every data px is a sharp square.
const SHARP_FROM: f64 = 3.0;

pub struct Canvas {
    pub view: HtmlElement,
    pub canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    /// The picture, one canvas px per data px.
    source: HtmlCanvasElement,
    painted: Option<u32>,
    drawn: Option<(Option<u32>, Camera, f64)>,
    unread: Vec<Rect>,
    gaps: Vec<Rect>,
    tiles: Option<(f64, Tiles)>,
}

struct Tiles {
    dots: CanvasPattern,
    hatch: CanvasPattern,
}

impl Canvas {
    pub fn new(dom: &Dom, panel: Panel) -> Result<Self, JsValue> {
        let view = dom.by_id(&format!("view-{}", panel.id()))?;
        let canvas: HtmlCanvasElement = dom.by_id(&format!("canvas-{}", panel.id()))?;
        let context = context_of(&canvas)?;
        let source = new_canvas(&dom.document)?;
        let (painted, drawn, unread, gaps, tiles) = Default::default();
        Ok(Self { view, canvas, context, source, painted, drawn, unread, gaps, tiles })
    }

    /// Draws if anything has changed; returns whether it did.
    pub fn draw(&mut self, app: &App, panel: Panel) -> bool {
        let Some(camera) = app.camera(panel) else { return false };
        let ratio = web_sys::window().map_or(1.0, |window| window.device_pixel_ratio());
        let shown = app.shown(panel);
        let now = Some((shown.map(|shown| shown.serial), camera, ratio));
        if self.drawn == now {
            return false;
        }
        self.drawn = now;
        // A canvas that cannot be drawn on leaves the page as it is: there is nothing to tell the user.
        let _ = self.redraw(shown, camera, ratio);
        true
    }

    fn redraw(&mut self, shown: Option<&Shown>, camera: Camera, ratio: f64) -> Result<(), JsValue> {
        let side = (camera.side * ratio).round() as u32;
        if self.canvas.width() != side || self.canvas.height() != side {
            self.canvas.set_width(side);
            self.canvas.set_height(side);
        }
        let context = &self.context;
        context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0)?;
        context.set_fill_style_str("#000");
        context.fill_rect(0.0, 0.0, f64::from(side), f64::from(side));
        let Some(shown) = shown else {
            self.paint_tiles(
                &[Rect { row: 0, col: 0, rows: side, cols: side }],
                &[],
                Camera { scale: 1.0, origin: [0.0; 2], ..camera },
                1.0,
            )?;
            return Ok(());
        };
        if self.painted != Some(shown.serial) {
            paint(&self.source, shown)?;
            (self.unread, self.gaps) = (shown.field.regions(Cell::Unread), shown.field.regions(Cell::Gap));
            self.painted = Some(shown.serial);
        }
        let scale = camera.scale * ratio;
        context.set_image_smoothing_enabled(scale < SHARP_FROM);
        // Fails only for an unknown word, and older browsers have only one quality.
        let _ = js_sys::Reflect::set(context, &"imageSmoothingQuality".into(), &"high".into());
        let [left, top] = camera.origin.map(|at| at * ratio);
        let Field { rows, cols, .. } = shown.field;
        let (width, height) = (f64::from(cols) * scale, f64::from(rows) * scale);
        context.draw_image_with_html_canvas_element_and_dw_and_dh(&self.source, left, top, width, height)?;
        let (unread, gaps) = (std::mem::take(&mut self.unread), std::mem::take(&mut self.gaps));
        self.paint_tiles(&unread, &gaps, camera, ratio)?;
        (self.unread, self.gaps) = (unread, gaps);
        Ok(())
    }

    fn paint_tiles(&mut self, unread: &[Rect], gaps: &[Rect], camera: Camera, ratio: f64) -> Result<(), JsValue> {
        if unread.is_empty() && gaps.is_empty() {
            return Ok(());
        }
        if self.tiles.as_ref().is_none_or(|(at, _)| *at != ratio) {
            self.tiles = Some((ratio, Tiles::new(&self.context, ratio)?));
        }
        let Some((_, tiles)) = &self.tiles else { return Ok(()) };
        for (rects, tile) in [(unread, &tiles.dots), (gaps, &tiles.hatch)] {
            self.context.set_fill_style_canvas_pattern(tile);
            self.context.begin_path();
            for rect in rects {
                let [left, top] = camera.to_screen([rect.col.into(), rect.row.into()]).map(|at| (at * ratio).floor());
                let [right, bottom] = camera
                    .to_screen([(rect.col + rect.cols).into(), (rect.row + rect.rows).into()])
                    .map(|at| (at * ratio).ceil());
                self.context.rect(left, top, right - left, bottom - top);
            }
            self.context.fill();
        }
        self.draw_front(unread, camera, ratio);
        Ok(())
    }

    /// A thin line where reading has come to.
    fn draw_front(&self, unread: &[Rect], camera: Camera, ratio: f64) {
        let Some(first) = unread.first().filter(|rect| rect.row > 0) else { return };
        let [left, top] = camera.to_screen([0.0, first.row.into()]).map(|at| (at * ratio).round());
        let width = camera.side * ratio - 2.0 * left;
        self.context.set_fill_style_str("#fff");
        self.context.fill_rect(left, top, width, ratio.round().max(1.0));
    }
}

impl Tiles {
    fn new(context: &CanvasRenderingContext2d, ratio: f64) -> Result<Self, JsValue> {
        let document = context.canvas().and_then(|canvas| canvas.owner_document()).ok_or("no document")?;
        let side = (8.0 * ratio).round();
        let tile = |back: &str, draw: &dyn Fn(&CanvasRenderingContext2d)| {
            let canvas = new_canvas(&document)?;
            canvas.set_width(side as u32);
            canvas.set_height(side as u32);
            let small = context_of(&canvas)?;
            small.set_fill_style_str(back);
            small.fill_rect(0.0, 0.0, side, side);
            draw(&small);
            context.create_pattern_with_html_canvas_element(&canvas, "repeat")?.ok_or(JsValue::from("no pattern"))
        };
        let dots = tile("#1f1f1f", &|small| {
            small.set_fill_style_str("#454545");
            small.fill_rect((side / 2.0).floor(), (side / 2.0).floor(), ratio.round().max(1.0), ratio.round().max(1.0));
        })?;
        let hatch = tile("#333333", &|small| {
            small.set_stroke_style_str("#6a6a6a");
            small.set_line_width(1.6 * ratio);
            small.begin_path();
            // Three strokes, so that the tile joins itself at every edge.
            for shift in [-side, 0.0, side] {
                small.move_to(shift - side, 2.0 * side);
                small.line_to(shift + 2.0 * side, -side);
            }
            small.stroke();
        })?;
        Ok(Self { dots, hatch })
    }
}

/// Paints a field, one canvas px per cell.
pub fn paint(canvas: &HtmlCanvasElement, shown: &Shown) -> Result<(), JsValue> {
    let axis = Axis::new(shown.limits, shown.look.scale, shown.unit);
    put(canvas, &shown.field, &axis.paint(&shown.field, &shown.look.map.lut()))
}

/// Puts RGBA bytes of `field` on `canvas`, which takes the field's size.
pub fn put(canvas: &HtmlCanvasElement, field: &Field, rgba: &[u8]) -> Result<(), JsValue> {
    if canvas.width() != field.cols || canvas.height() != field.rows {
        canvas.set_width(field.cols);
        canvas.set_height(field.rows);
    }
    let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(rgba), field.cols, field.rows)?;
    context_of(canvas)?.put_image_data(&image, 0.0, 0.0)
}

pub fn context_of(canvas: &HtmlCanvasElement) -> Result<CanvasRenderingContext2d, JsValue> {
    Ok(canvas.get_context("2d")?.ok_or("no 2d context")?.dyn_into()?)
}

fn new_canvas(document: &Document) -> Result<HtmlCanvasElement, JsValue> {
    Ok(document.create_element("canvas")?.dyn_into()?)
}
