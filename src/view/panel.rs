//! A panel's canvas: the picture at device pixels, dots where nothing is read yet, hatch where there is
//! no data.

use wasm_bindgen::{Clamped, JsCast, JsValue};
use web_sys::{CanvasPattern, CanvasRenderingContext2d, Document, HtmlCanvasElement, HtmlElement, ImageData};

use super::dom::Dom;
use crate::{
    app::{
        App, Camera, Panel, Shown,
        state::{Smoothing, Zoom},
    },
    display::{Axis, Cell, Field, Rect, count_signed, value},
};

/// Below so many device px per data px the picture is smoothed, from it on every data px is a sharp square.
const SHARP_FROM: f64 = 3.0;

/// From so many CSS px per data px on the values are printed.
const PRINTED_FROM: f64 = 24.0;

pub struct Canvas {
    pub view: HtmlElement,
    pub canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    /// The picture, one canvas px per data px.
    source: HtmlCanvasElement,
    painted: Option<u32>,
    drawn: Option<(Option<u32>, Camera, f64, Smoothing)>,
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
        let canvas = Self::on(&dom.document, view, dom.by_id(&format!("canvas-{}", panel.id()))?)?;
        // What the browser makes for the first canvas that is drawn on takes 25 ms: not while a set is read.
        canvas.context.fill_rect(0.0, 0.0, 1.0, 1.0);
        Ok(canvas)
    }

    /// The picture of `view`, on `canvas`.
    pub fn on(document: &Document, view: HtmlElement, canvas: HtmlCanvasElement) -> Result<Self, JsValue> {
        let context = context_of(&canvas)?;
        let source = new_canvas(document)?;
        let (painted, drawn, unread, gaps, tiles) = Default::default();
        Ok(Self { view, canvas, context, source, painted, drawn, unread, gaps, tiles })
    }

    /// Draws if anything has changed; returns whether it did.
    pub fn draw(&mut self, app: &App, panel: Panel) -> bool {
        let Some(camera) = app.camera(panel) else { return false };
        self.draw_picture(app.shown(panel), camera, app.smoothing(panel))
    }

    /// The same for any picture.
    pub fn draw_picture(&mut self, shown: Option<&Shown>, camera: Camera, smoothing: Smoothing) -> bool {
        let ratio = web_sys::window().map_or(1.0, |window| window.device_pixel_ratio());
        let now = Some((shown.map(|shown| shown.serial), camera, ratio, smoothing));
        if self.drawn == now {
            return false;
        }
        self.drawn = now;
        // A canvas that cannot be drawn on leaves the page as it is: there is nothing to tell the user.
        let _ = self.redraw(shown, camera, ratio, smoothing);
        true
    }

    fn redraw(
        &mut self,
        shown: Option<&Shown>,
        camera: Camera,
        ratio: f64,
        smoothing: Smoothing,
    ) -> Result<(), JsValue> {
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
                Camera::new(camera.side, side, side, Zoom::default()),
                ratio,
            )?;
            return Ok(());
        };
        if self.painted != Some(shown.serial) {
            paint(&self.source, shown)?;
            (self.unread, self.gaps) = (shown.field.regions(Cell::Unread), shown.field.regions(Cell::Gap));
            self.painted = Some(shown.serial);
        }
        let scale = camera.scale * ratio;
        context.set_image_smoothing_enabled(match smoothing {
            Smoothing::Auto => scale < SHARP_FROM,
            Smoothing::Off => false,
            Smoothing::On => true,
        });
        // Fails only for an unknown word, and older browsers have only one quality.
        let _ = js_sys::Reflect::set(context, &"imageSmoothingQuality".into(), &"high".into());
        // From data px to device px, turned as the view is.
        let [corner, right, below] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|at| camera.to_screen(at));
        let along = |to: [f64; 2]| [0, 1].map(|axis| (to[axis] - corner[axis]) * ratio);
        let (across, down) = (along(right), along(below));
        context.set_transform(across[0], across[1], down[0], down[1], corner[0] * ratio, corner[1] * ratio)?;
        context.draw_image_with_html_canvas_element(&self.source, 0.0, 0.0)?;
        context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0)?;
        let (unread, gaps) = (std::mem::take(&mut self.unread), std::mem::take(&mut self.gaps));
        self.paint_tiles(&unread, &gaps, camera, ratio)?;
        (self.unread, self.gaps) = (unread, gaps);
        self.print_values(shown, camera, ratio)
    }

    /// Values in cells that are large enough for them.
    fn print_values(&self, shown: &Shown, camera: Camera, ratio: f64) -> Result<(), JsValue> {
        if camera.scale < PRINTED_FROM {
            return Ok(());
        }
        let (a, b) = (camera.to_data([0.0; 2]), camera.to_data([camera.side; 2]));
        let seen = |axis: usize, size: u32| {
            let (low, high) = (a[axis].min(b[axis]).floor().max(0.0), a[axis].max(b[axis]).ceil());
            low as u32..(high as u32).min(size)
        };
        let (cols, rows) = (seen(0, shown.field.cols), seen(1, shown.field.rows));
        let axis = Axis::new(shown.limits, shown.look.scale, shown.unit);
        let lut = shown.look.lut();
        self.context.set_text_align("center");
        self.context.set_text_baseline("middle");
        for (row, col) in rows.flat_map(|row| cols.clone().map(move |col| (row, col))) {
            let Some((number, Cell::Value)) = shown.field.at(row, col) else { continue };
            let text = if shown.field.counts { count_signed(number as i64) } else { value(number) };
            let px = (camera.scale * 1.55 / text.chars().count().max(2) as f64).min(13.0);
            if px < 6.5 {
                continue;
            }
            let [r, g, b, _] = lut.at(axis.position(number)).map(f64::from);
            let is_light = shown.field.direction.is_empty() && 0.2126 * r + 0.7152 * g + 0.0722 * b > 110.0;
            self.context.set_fill_style_str(if is_light { "#000" } else { "#fff" });
            self.context.set_font(&format!("{}px sans-serif", px * ratio));
            let [x, y] = camera.to_screen([f64::from(col) + 0.5, f64::from(row) + 0.5]).map(|at| at * ratio);
            self.context.fill_text(&text, x, y)?;
        }
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
                let a = camera.to_screen([rect.col.into(), rect.row.into()]);
                let b = camera.to_screen([(rect.col + rect.cols).into(), (rect.row + rect.rows).into()]);
                let low = [0, 1].map(|axis| (a[axis].min(b[axis]) * ratio).floor());
                let high = [0, 1].map(|axis| (a[axis].max(b[axis]) * ratio).ceil());
                self.context.rect(low[0], low[1], high[0] - low[0], high[1] - low[1]);
            }
            self.context.fill();
        }
        self.draw_front(unread, camera, ratio)
    }

    /// A thin line where reading has come to.
    fn draw_front(&self, unread: &[Rect], camera: Camera, ratio: f64) -> Result<(), JsValue> {
        let Some(first) = unread.first().filter(|rect| rect.row > 0) else { return Ok(()) };
        let [from, to] = [0, first.cols]
            .map(|col| camera.to_screen([f64::from(col), first.row.into()]).map(|at| (at * ratio).round() + 0.5));
        self.context.set_stroke_style_str("#fff");
        self.context.set_line_width(ratio.round().max(1.0));
        self.context.begin_path();
        self.context.move_to(from[0], from[1]);
        self.context.line_to(to[0], to[1]);
        self.context.stroke();
        Ok(())
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
    put(canvas, &shown.field, &axis.paint(&shown.field, &shown.look.lut()))
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
