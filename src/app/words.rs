//! What the page says: titles, read-outs, cards. Messages are in [`super::notices`].

use super::{
    App, Panel,
    detector::{centre_of, pixels},
    event::GpuSupport,
    open_set::{OpenSet, Reading},
    state::{PatternOf, Product, ViewState},
};
use crate::{
    Error, Kind,
    acquisition::{Acquisition, ScanFrom, Storage, counted, sides},
    display::{Cell, bytes, bytes_of, count, count_signed, duration, length_nm, value},
    engine::{FrameState, PixelSet},
    products::{DetectorShape, Flip},
    shape::Scan,
};

/// A line of a card: name, value, and a grey remark.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: &'static str,
    pub value: String,
    pub remark: String,
    pub tone: Tone,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Good,
    Warning,
}

impl Row {
    pub fn new(name: &'static str, value: impl Into<String>) -> Self {
        Self { name, value: value.into(), remark: String::new(), tone: Tone::Plain }
    }

    pub fn remark(self, remark: impl Into<String>) -> Self {
        Self { remark: remark.into(), ..self }
    }

    pub fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

pub fn shape(scan: Scan) -> String {
    format!("{} × {}", scan.rows, scan.cols)
}

// ---- titles ----

impl App {
    /// Beside the name in the bar.
    pub fn set_line(&self) -> String {
        let Some(set) = &self.set else { return String::new() };
        let progress = set.progress;
        if set.reading == Reading::Going && progress.bytes_total > 0 {
            return format!("reading {}", bytes_of(progress.bytes_read, progress.bytes_total));
        }
        let detector = set.detector();
        format!("{} patterns, {} × {} px", shape(set.shape()), detector.rows, detector.cols)
    }

    /// The grey line beside the product's name.
    pub fn product_line(&self) -> String {
        let product = self.state.product;
        match (product, self.detector_shape()) {
            (Product::Sum, _) => "every pixel of every pattern".into(),
            (product, _) if product.is_com() => self.deflection_line(),
            (product, None) if product.is_spread() => "of all pixels of every pattern".into(),
            (product, Some((shape, false))) if product.is_spread() => format!("within {}", self.extent(&shape)),
            (product, Some((shape, true))) if product.is_spread() => format!("outside {}", self.extent(&shape)),
            (_, None) => "the disc is found with the first patterns".into(),
            (_, Some((shape, false))) => format!("sum, {}", self.extent(&shape)),
            (_, Some((shape, true))) => format!("sum outside {}", self.extent(&shape)),
        }
    }

    fn extent(&self, shape: &DetectorShape) -> String {
        let per_px = self.mrad_per_px();
        let (scale, unit) = per_px.map_or((1.0, "px"), |mrad| (mrad, "mrad"));
        let n = |px: f64| format!("{:.1}", px * scale);
        match shape {
            DetectorShape::Disc { outer, .. } => format!("0 – {}\u{202f}{unit}", n(*outer)),
            DetectorShape::Annulus { inner, outer, .. } => format!("{} – {}\u{202f}{unit}", n(*inner), n(*outer)),
            DetectorShape::Rect { height, width, .. } => format!("{} × {}\u{202f}{unit}", n(*width), n(*height)),
            DetectorShape::Wedge { inner, outer, .. } => format!("wedge, {} – {}\u{202f}{unit}", n(*inner), n(*outer)),
            DetectorShape::Ellipse { half_rows, half_cols, angle, .. } => format!(
                "ellipse, {} × {}\u{202f}{unit} at {}",
                n(2.0 * half_cols),
                n(2.0 * half_rows),
                super::deflection::degrees(*angle)
            ),
            DetectorShape::Point { .. } => "one pixel".into(),
            DetectorShape::Polygon { points } => format!("polygon of {} corners", points.len()),
            DetectorShape::Mask { .. } => "a mask".into(),
        }
    }

    /// Angle per detector pixel, if the set is calibrated.
    pub fn mrad_per_px(&self) -> Option<f64> {
        self.measures().mrad_per_px
    }

    /// The grey line beside "Pattern".
    pub fn pattern_line(&self) -> String {
        let Some(set) = &self.set else { return String::new() };
        let patterns = if self.state.region.is_some() { &set.region } else { &set.patterns };
        let patterns = match self.state.pattern {
            PatternOf::Max => set.max_pattern.as_ref().map(|(_, patterns)| patterns.frames),
            of if of.is_spread() => set.square_pattern.as_ref().map(|(_, patterns)| patterns.total.frames),
            _ => patterns.as_ref().map(|(_, patterns)| patterns.frames),
        };
        let of = match (self.state.pattern, patterns) {
            (PatternOf::Cursor, _) => {
                let [row, col] = set.cursor(&self.state);
                format!("{col}, {row}")
            }
            (_, Some(patterns)) => format!("of {} patterns", count(patterns.into())),
            (_, None) => String::new(),
        };
        // Never without a word.
        match self.state.flip {
            Flip::None => of,
            flip => format!("{of}, {}", flip.words()),
        }
    }

    /// On a plate over a panel, where its picture needs a word.
    pub fn plate(&self, panel: Panel) -> Option<String> {
        let set = self.set.as_ref()?;
        if self.rebuilding {
            let (read, total) = (set.progress.bytes_read, set.progress.bytes_total.max(1));
            let percent = if set.reading == Reading::Going { read * 100 / total } else { 0 };
            return Some(format!("the GPU was reset: rebuilding, {percent}\u{202f}%"));
        }
        match panel {
            Panel::Pattern if self.state.pattern == PatternOf::Cursor => {
                let (_, frame, pattern) = set.pattern.as_ref()?;
                let fault = set.faults.iter().find(|fault| fault.frame == *frame);
                match pattern.state {
                    FrameState::Valid => {
                        let (.., times) = self.com_shift().filter(|_| self.state.overlays.0)?;
                        Some(format!("shift drawn × {}", count(times as u64)))
                    }
                    FrameState::Unread => Some("not read yet".into()),
                    FrameState::Missing if *frame >= set.acquisition.frames => Some("no pattern here".into()),
                    FrameState::Missing => Some("no data: in none of the files".into()),
                    FrameState::Sentinel => Some("no data: an aborted pattern".into()),
                    FrameState::Failed => {
                        let why = fault.map_or(String::new(), |fault| format!(": {}", fault.fault.words()));
                        Some(format!("no data{why}"))
                    }
                }
            }
            Panel::Pattern => None,
            Panel::Image => {
                let of = self.image.as_ref()?.cells;
                match (of[Cell::Value as usize], of[Cell::Void as usize], of[Cell::Gap as usize]) {
                    (0, 1.., _) => Some("no counts".into()),
                    (_, _, 1..) => Some("hatched: no data".into()),
                    _ => None,
                }
            }
        }
    }

    // ---- status line ----

    /// Cursor, or what is under the pointer: place, length, value.
    pub fn scan_reading(&self) -> String {
        let Some(set) = &self.set else { return String::new() };
        let [row, col] = self.hovered(Panel::Image).unwrap_or_else(|| set.cursor(&self.state));
        let step = self.measures().step_nm;
        let place = step.map_or(String::new(), |step| {
            let along = |n: u32| length_nm(f64::from(n) * step, step);
            format!("  {}, {}", along(col), along(row))
        });
        format!("{col}, {row}{place}  {}", self.scan_value(set, [row, col]))
    }

    fn scan_value(&self, set: &OpenSet, at: [u32; 2]) -> String {
        let frame = set.place_of(at);
        match set.states().get(frame as usize) {
            Some(FrameState::Valid) => {}
            Some(FrameState::Unread) => return "not read yet".into(),
            _ => return "no data".into(),
        }
        let product = self.state.product;
        if product.is_com() || product.is_spread() {
            let shown = self.image.as_ref().and_then(|shown| Some((&shown.field, shown.field.at(at[0], at[1])?)));
            return match shown {
                Some((_, (_, Cell::Void))) => "no counts".into(),
                Some((field, (length, _))) => {
                    let direction = field.direction.get(frame as usize);
                    let at = direction.map_or(String::new(), |turn| {
                        format!(" at {}", super::deflection::degrees(f64::from(turn.to_degrees())))
                    });
                    let unit = if field.unit.is_empty() { String::new() } else { format!("\u{202f}{}", field.unit) };
                    format!("{}{unit}{at}", value(length))
                }
                None => String::new(),
            };
        }
        let Some((_, sums)) = set.sums.get(&product) else { return String::new() };
        match (sums.valid.get(frame as usize), sums.sum.get(frame as usize)) {
            (Some(1), Some(&sum)) => counts_text(sum, set.signed()),
            _ => "no data".into(),
        }
    }

    /// What is under the pointer in the pattern, or at the detector's centre.
    pub fn detector_reading(&self) -> String {
        let Some(set) = &self.set else { return String::new() };
        let centre = || {
            let shape = self.detector_shape().and_then(|(shape, _)| centre_of(&shape));
            let [row, col] = shape.or_else(|| self.state.disc.map(|disc| disc.centre))?;
            Some([row.round().max(0.0) as u32, col.round().max(0.0) as u32])
        };
        let Some([row, col]) = self.hovered(Panel::Pattern).or_else(centre) else { return String::new() };
        let angle = match (self.state.disc, self.mrad_per_px()) {
            (Some(disc), Some(mrad)) => {
                let r = (f64::from(row) - disc.centre[0]).hypot(f64::from(col) - disc.centre[1]);
                format!("  {:.1}\u{202f}mrad", r * mrad)
            }
            _ => String::new(),
        };
        format!("{col}, {row}{angle}  {}", self.pattern_value(set, row, col))
    }

    fn pattern_value(&self, set: &OpenSet, row: u32, col: u32) -> String {
        let detector = set.detector();
        if row >= detector.rows || col >= detector.cols {
            return String::new();
        }
        let pixel = row * detector.cols + col;
        if set.bad.contains(pixel) {
            return "bad pixel".into();
        }
        let Some((number, cell)) = self.pattern.as_ref().and_then(|shown| shown.field.at(row, col)) else {
            return String::new();
        };
        match (cell, self.state.pattern) {
            (Cell::Unread, _) => "not read yet".into(),
            (Cell::Gap | Cell::Void, _) => "no data".into(),
            (_, PatternOf::Mean | PatternOf::Std) => format!("{} counts", value(number)),
            (_, PatternOf::Variance) => format!("{} counts²", value(number)),
            _ => counts_text(number as i64 as u64, true),
        }
    }

    fn hovered(&self, panel: Panel) -> Option<[u32; 2]> {
        let (_, at) = self.hover.filter(|(hovered, _)| *hovered == panel)?;
        let [x, y] = self.camera(panel)?.to_data(at);
        let set = self.set.as_ref()?;
        let (rows, cols) = match panel {
            Panel::Image => (set.shape().rows, set.shape().cols),
            Panel::Pattern => (set.detector().rows, set.detector().cols),
        };
        let inside = x >= 0.0 && y >= 0.0 && x < f64::from(cols) && y < f64::from(rows);
        inside.then_some([y as u32, x as u32])
    }

    /// A length on the detector, in mrad where it is calibrated.
    pub fn detector_length(&self, px: f64) -> String {
        match self.mrad_per_px() {
            Some(mrad) => format!("{}\u{202f}mrad", value(px * mrad)),
            None => format!("{}\u{202f}px", value(px)),
        }
    }

    /// A limit under a panel.
    pub fn limit(&self, panel: Panel, limit: f64) -> String {
        match self.shown(panel) {
            Some(shown) if shown.field.counts => count_signed(limit as i64),
            _ => value(limit),
        }
    }

    pub fn memory_line(&self) -> String {
        let Some(set) = &self.set else { return String::new() };
        if self.series.is_some() {
            return self.series_memory();
        }
        let memory = set.memory;
        let place = if memory.on_cpu { "CPU" } else { "GPU" };
        match (memory.bytes, memory.budget) {
            (0, _) => String::new(),
            (held, 0) => format!("{place} {}", bytes(held)),
            (held, budget) => format!("{place} {}", bytes_of(held, budget)),
        }
    }

    // ---- cards ----

    pub fn computer_rows(&self) -> Vec<Row> {
        let computer = &self.computer;
        let (support, tone) = match computer.gpu {
            GpuSupport::Unknown => ("asking …", Tone::Plain),
            GpuSupport::Ready => ("ready", Tone::Good),
            GpuSupport::Software => ("software only", Tone::Warning),
            GpuSupport::None => ("not offered", Tone::Warning),
            GpuSupport::Cpu => ("not used: the processor computes", Tone::Plain),
        };
        let mut rows = Vec::new();
        if !computer.adapter.is_empty() {
            rows.push(Row::new("GPU", &computer.adapter));
        }
        rows.push(Row::new("WebGPU", support).tone(tone));
        if computer.memory > 0 {
            rows.push(Row::new("Memory for sets", bytes(computer.memory)));
        }
        if computer.largest_buffer > 0 {
            rows.push(Row::new("Largest buffer", bytes(computer.largest_buffer)));
        }
        rows.push(Row::new("File access", "files and folders"));
        rows
    }

    /// Why the GPU is not used, and what can be done; `None` when it is.
    pub fn gpu_notice(&self) -> Option<Error> {
        let computer = &self.computer;
        let turn_on = "The GPU is turned on at chrome://settings/system, “Use graphics acceleration when available”";
        match computer.gpu {
            GpuSupport::Software => {
                let found = format!("{}, which computes on the processor", computer.adapter);
                Some(
                    Error::new(Kind::Gpu, "software_adapter", "No GPU is offered")
                        .found(found)
                        .action(format!("Results are the same; a large set takes minutes. {turn_on}")),
                )
            }
            GpuSupport::None => Some(
                Error::new(Kind::Gpu, "no_webgpu", "No WebGPU here")
                    .at(&computer.reason)
                    .expected("Chrome or Edge 113 or later")
                    .action(format!("The processor gives the same results; a large set takes minutes. {turn_on}")),
            ),
            _ => None,
        }
    }

    pub fn reading_rows(&self) -> Vec<Row> {
        let Some(set) = &self.set else { return Vec::new() };
        let progress = set.progress;
        let of = |a: u64, b: u64| format!("{} of {}", count(a), count(b));
        let mut rows = vec![Row::new("Read", bytes_of(progress.bytes_read, progress.bytes_total))];
        if progress.bytes_per_s > 0.0 {
            rows.push(Row::new("Rate", format!("{}/s", bytes(progress.bytes_per_s as u64))));
        }
        let left = progress.bytes_total.saturating_sub(progress.bytes_read) as f64 / progress.bytes_per_s.max(1.0);
        if left >= 0.5 && progress.bytes_read * 20 >= progress.bytes_total {
            rows.push(Row::new("Left", duration(left)));
        }
        rows.push(Row::new("Patterns", of(progress.frames_decoded.into(), set.acquisition.frames.into())));
        if progress.files_total > 1 {
            rows.push(Row::new("Files", of(progress.files_done.into(), progress.files_total.into())));
        }
        rows
    }

    pub fn set_rows(&self) -> Vec<Row> {
        let Some(set) = &self.set else { return Vec::new() };
        let acquisition = &set.acquisition;
        let pixels = u64::from(set.detector().pixels());
        let hot = set.hot.as_ref().filter(|_| set.hot_is_excluded).map_or(0, PixelSet::count);
        let masked = set.bad.count() - hot;
        let mut rows = vec![
            Row::new("Stored", format!("{}, {}", acquisition.dtype.name(), filter_words(&acquisition.storage))),
            patterns_row(set),
        ];
        let [empty, beyond] = set.unmatched();
        for (name, number) in [("Beyond the scan", beyond), ("Without a pattern", empty)] {
            if number > 0 {
                rows.push(Row::new(name, count(number)).tone(Tone::Warning));
            }
        }
        rows.push(Row::new("Masked", format!("{} px", count(masked.into()))).remark(format!("of {}", count(pixels))));
        rows
    }

    /// What the switch for hot pixels says; `None` where none were found.
    pub fn hot_words(&self) -> Option<String> {
        let hot = self.set.as_ref()?.hot.as_ref().map(PixelSet::count).filter(|hot| *hot > 0)?;
        Some(format!("Leave out {}", counted(hot.into(), "hot pixel")))
    }

    /// Why the order of the axes is believed, with the sizes along them.
    pub fn axes_why(&self) -> String {
        let Some(set) = &self.set else { return String::new() };
        let stored = &set.acquisition.stored;
        format!("{}: {}", sides(&stored.dims), stored.axes.from.words())
    }

    /// Why the scan shape is believed.
    pub fn scan_why(&self) -> String {
        let Some(set) = &self.set else { return String::new() };
        let (from, order) = (scan_from_words(set.scan.from), set.order().words());
        if order.is_empty() { from.to_owned() } else { format!("{from}; {order}") }
    }

    /// Scales with where they come from, for the information panel.
    pub fn calibration_rows(&self) -> Vec<Row> {
        let measures = self.measures();
        let row = |name, text: Option<String>, from: super::scales::Origin| {
            Row::new(name, text.unwrap_or_else(|| "not known".into())).remark(from.brief())
        };
        vec![
            row("Step", measures.step_nm.map(step_words), measures.step_from),
            row(
                "Detector",
                measures.mrad_per_px.map(|mrad| format!("{}\u{202f}mrad/px", value(mrad))),
                measures.angle_from,
            ),
            row("Energy", measures.energy_ev.map(|ev| format!("{}\u{202f}keV", value(ev / 1e3))), measures.energy_from),
        ]
    }

    /// Where the scales come from, in a sentence.
    pub fn calibration_words(&self) -> String {
        let measures = self.measures();
        let of = |name: &str, from: super::scales::Origin| format!("{name} {}", from.words());
        let parts =
            [of("Step", measures.step_from), of("detector", measures.angle_from), of("energy", measures.energy_from)];
        format!("{}.", parts.join("; "))
    }

    pub fn disc_rows(&self) -> Vec<Row> {
        let (Some(set), Some(disc)) = (&self.set, self.state.disc) else { return Vec::new() };
        let place = format!("at {:.1}, {:.1}", disc.centre[1], disc.centre[0]);
        let mut rows = vec![match set.disc_is_found {
            true => Row::new("Disc", self.detector_length(disc.radius)).remark(place),
            false => Row::new("Disc", "not found").remark("the middle is taken"),
        }];
        if let Some((shape, inverted)) = self.detector_shape() {
            let pixels = pixels(&shape, set.detector(), inverted).without(&set.bad).count();
            rows.push(Row::new("Takes", format!("{} px", count(pixels.into()))));
        }
        rows
    }

    /// The offer to fit the disc again, when all patterns give another one.
    pub fn refit_offer(&self) -> Option<String> {
        let disc = self.better_disc?;
        let [row, col] = disc.centre;
        Some(format!("All patterns give {} at {col:.1}, {row:.1}.", self.detector_length(disc.radius)))
    }
}

fn patterns_row(set: &OpenSet) -> Row {
    let frames = set.acquisition.frames;
    let valid = set.count(|state| state == FrameState::Valid);
    let missing = set.count(|state| matches!(state, FrameState::Missing | FrameState::Sentinel));
    let failed = set.count(|state| state == FrameState::Failed);
    if set.reading == Reading::Going {
        return Row::new("Patterns", format!("{} so far", count(valid.into())));
    }
    let mut parts = Vec::new();
    if missing > 0 {
        parts.push(format!("{} missing", count(missing.into())));
    }
    if failed > 0 {
        parts.push(format!("{} failed", count(failed.into())));
    }
    let unread = frames - valid - missing - failed;
    if unread > 0 {
        parts.push(format!("{} not read", count(unread.into())));
    }
    if parts.is_empty() {
        return Row::new("Patterns", format!("{}, none missing", count(valid.into())));
    }
    Row::new("Patterns", format!("{}, {}", count(valid.into()), parts.join(", "))).tone(Tone::Warning)
}

pub fn counts_text(sum: u64, signed: bool) -> String {
    let number = if signed { count_signed(sum as i64) } else { count(sum) };
    format!("{number} {}", if sum == 1 { "count" } else { "counts" })
}

pub fn step_words(nm: f64) -> String {
    match nm {
        nm if nm < 0.01 => format!("{}\u{202f}pm", value(nm * 1e3)),
        nm if nm < 1.0 => format!("{}\u{202f}Å", value(nm * 10.0)),
        nm if nm < 1e3 => format!("{}\u{202f}nm", value(nm)),
        nm => format!("{}\u{202f}µm", value(nm / 1e3)),
    }
}

pub fn filter_words(storage: &Storage) -> &'static str {
    match storage {
        Storage::BitshuffleLz4 { .. } => "bitshuffle LZ4",
        Storage::Decoded(_) => "unpacked by the processor",
    }
}

pub fn scan_from_words(from: ScanFrom) -> &'static str {
    match from {
        ScanFrom::Sidecar => "from the .h5 sidecar",
        ScanFrom::Stored => "the first two axes of the dataset",
        ScanFrom::Ntrigger => "ntrigger rows of nimages, from the master",
        ScanFrom::Square => "a guess: the number of patterns is a square",
        ScanFrom::Guess => "a guess: the nearest factors of the number of patterns",
        ScanFrom::Entered => "entered",
    }
}

/// Why a set's patterns are not laid out as such a scan; every position costs memory, with a pattern or without.
pub fn refused_scan(set: &OpenSet, scan: Scan) -> Option<String> {
    let Acquisition { frames, scan: found, .. } = &*set.acquisition;
    let most = (4 * u64::from(*frames)).max(FREE_POSITIONS).max(found.shape.positions());
    let is_fine = scan.rows > 0 && scan.cols > 0 && scan.positions() <= most;
    (!is_fine).then(|| format!("a scan of this set has at most {} positions", count(most)))
}

/// Takes a scan shape out of a view that is refused for this set, and says so.
pub fn unfit_scan(set: &OpenSet, view: &mut ViewState) -> Option<Error> {
    let [rows, cols] = view.scan?;
    let why = refused_scan(set, Scan { rows, cols })?;
    view.scan = None;
    let error = Error::new(Kind::File, "unfit_scan", "The scan shape of this view does not fit the set");
    let error = error.at(&set.acquisition.name).found(format!("{rows} × {cols}")).expected(why);
    Some(error.action("The set keeps its own scan shape"))
}

/// The shape that the user says, unless it is refused.
pub fn enter_scan(set: &mut OpenSet, scan: Scan) {
    if scan == set.scan.shape || refused_scan(set, scan).is_some() {
        return;
    }
    let known = set.scan.shape;
    set.scan.alternatives.retain(|other| *other != scan && *other != known);
    set.scan.alternatives.insert(0, known);
    set.scan.alternatives.truncate(6);
    set.scan.shape = scan;
    set.scan.from = ScanFrom::Entered;
    if set.acquisition.scan.shape == scan {
        set.scan.from = set.acquisition.scan.from;
    }
}

/// Positions that any set may be laid out on.
const FREE_POSITIONS: u64 = 1 << 20;
