//! A Python script that makes the picture of now from the same files, to the last count: h5py, hdf5plugin, numpy and
//! nothing else.

use std::fmt::Write;

use crate::{
    acquisition::Acquisition,
    app::state::{About, Com, ComSource, Product},
    engine::PixelSet,
    products::{DetectorShape, Edges, Flip, ScanOrder},
    shape::{Detector, Scan},
};

/// All that the script needs to know.
pub struct Recipe<'a> {
    pub set: &'a Acquisition,
    pub scan: Scan,
    /// Runs of valid frames, ends excluded.
    pub frames: Vec<std::ops::Range<u32>>,
    /// Pixels that count nowhere, as stored.
    pub bad: PixelSet,
    pub flip: Flip,
    pub order: ScanOrder,
    pub product: Product,
    /// The detector of a sum as shown, and whether everything outside is meant; `None`: all pixels.
    pub detector: Option<(DetectorShape, bool)>,
    pub com: Com,
    /// The segments' pixels as shown, where the deflection is made of them.
    pub segments: Vec<PixelSet>,
    /// No deflection, where it is not the scan's mean, [row, column].
    pub about: [f64; 2],
    /// From px and steps to the unit that is shown.
    pub factor: f64,
    pub unit: &'static str,
}

/// The script. It leaves the picture in `image` and saves it as `image.npy`.
pub fn script(recipe: &Recipe<'_>) -> String {
    let mut text = head(recipe);
    text += &pixels(recipe);
    text += READ;
    text += &match recipe.product {
        product if product.is_com() => deflection(recipe),
        Product::Std => format!("{SPREAD}image = np.sqrt(image)  # counts\n"),
        Product::Variance => SPREAD.to_owned(),
        _ => SUM.to_owned(),
    };
    text + "np.save(\"image.npy\", image)\nprint(image.shape, image.dtype, np.nanmin(image), np.nanmax(image))\n"
}

fn head(recipe: &Recipe<'_>) -> String {
    let set = recipe.set;
    let mut text = format!(
        "# {} of {}, as planescope {} shows it.\n# pip install h5py hdf5plugin numpy\nfrom pathlib import Path\n\n\
         import h5py\nimport hdf5plugin  # the filters\nimport numpy as np\n\n\
         FOLDER = Path(\".\")  # where the files lie\n",
        recipe.product.name_from(recipe.com.source),
        set.name,
        env!("CARGO_PKG_VERSION"),
    );
    text += "# file, dataset, number of its first pattern\nPARTS = [\n";
    let whole = [(set.name.as_str(), set.dataset.as_str(), 0)];
    let parts = set.parts.iter().map(|part| (part.file.as_str(), part.path.as_str(), part.start));
    let parts: Vec<_> = if set.parts.is_empty() { whole.to_vec() } else { parts.collect() };
    for (file, path, start) in parts {
        let _ = writeln!(text, "    ({}, {}, {start}),", quoted(file), quoted(path));
    }
    let Scan { rows, cols } = recipe.scan;
    let order = set.stored.axes.order.code();
    let dims: Vec<String> = set.stored.dims.iter().map(u64::to_string).collect();
    let kind = if set.dtype.is_signed() { "int64" } else { "uint64" };
    let runs: Vec<String> = recipe.frames.iter().map(|run| format!("({}, {})", run.start, run.end)).collect();
    let _ = write!(
        text,
        "]\nAXES = \"{order}\"  # of the dataset: r scan row, c scan column, n pattern, k channel, y x detector\n\
         DIMS = ({},)\nCHANNEL = {}\nSCAN = ({rows}, {cols})\nDETECTOR = ({}, {})\nFRAMES = {}\n\
         VALID = [{}]  # patterns with data, ends excluded\nSUM = np.{kind}\n{}\n",
        dims.join(", "),
        set.channel,
        set.detector.rows,
        set.detector.cols,
        set.frames,
        runs.join(", "),
        order_of(recipe.order),
    );
    text
}

/// How patterns lie on the scan.
fn order_of(order: ScanOrder) -> String {
    let snake = if order.snake { "True" } else { "False" };
    format!(
        "OFFSET, SNAKE = {}, {snake}  # patterns before the first position; every other line backwards\n",
        order.offset
    )
}

/// Pixels that count, as stored.
fn pixels(recipe: &Recipe<'_>) -> String {
    let detector = recipe.set.detector;
    let mut text = format!(
        "\ndef pixels(*runs):\n    mask = np.zeros(DETECTOR[0] * DETECTOR[1], bool)\n    for start, stop in runs:\n        \
         mask[start:stop] = True\n    return mask.reshape(DETECTOR)\n\n\n\
         good = ~pixels({})  # as stored, without bad pixels\nrow, col = np.ogrid[: DETECTOR[0], : DETECTOR[1]]\n",
        runs(&recipe.bad)
    );
    let shown = match &recipe.detector {
        None => "np.ones(DETECTOR, bool)".to_owned(),
        Some((shape, false)) => mask(shape, detector),
        Some((shape, true)) => format!("~({})", mask(shape, detector)),
    };
    let flip = flipped(recipe.flip);
    let _ = writeln!(text, "mask = good & ({shown}){flip}");
    if !recipe.segments.is_empty() {
        let all: Vec<String> =
            recipe.segments.iter().map(|set| format!("    good & pixels({}){flip},\n", runs(set))).collect();
        let _ = writeln!(text, "segments = [\n{}]", all.concat());
    }
    text
}

/// From pixels as shown to pixels as stored.
fn flipped(flip: Flip) -> &'static str {
    match flip {
        Flip::None => "",
        Flip::Columns => "[:, ::-1]",
        Flip::Rows => "[::-1]",
    }
}

const READ: &str = r#"

def blocks():
    """Number of the first, and patterns [.., rows, columns], of everything that has data."""
    for name, path, first in PARTS:
        with h5py.File(FOLDER / name, "r") as file:
            data = file[path]
            if len(PARTS) == 1 and data.shape != DIMS:
                data = data[()].reshape(DIMS)
            size = dict(zip(AXES, data.shape))
            columns = size.get("c", 1)
            count = size["n"] if "n" in size else size.get("r", 1) * columns
            step = 64 if AXES == "nyx" else 1
            for start, stop in VALID:
                start, stop = max(start, first), min(stop, first + count)
                for at in range(start, stop, step):
                    here = at - first
                    if AXES == "nyx":
                        yield at, data[here : min(here + step, stop - first)]
                        continue
                    place = dict(n=here, r=here // columns, c=here % columns, k=CHANNEL)
                    one = data[tuple(place.get(axis, slice(None)) for axis in AXES)]
                    yield at, (one if AXES.index("y") < AXES.index("x") else one.T)[None]


def sums(mask):
    total = np.zeros(FRAMES, SUM)
    for at, block in blocks():
        total[at : at + len(block)] = block[:, mask].sum(axis=1, dtype=SUM)
    return total


def on_scan(values, nothing):
    full = np.full(SCAN[0] * SCAN[1], nothing, values.dtype)
    frame = np.arange(len(full)) + OFFSET
    there = (frame >= 0) & (frame < FRAMES)
    full[there] = values[frame[there]]
    full = full.reshape(SCAN)
    if SNAKE:
        full[1::2] = full[1::2, ::-1].copy()
    return full


valid = np.zeros(FRAMES, bool)
for start, stop in VALID:
    valid[start:stop] = True
valid = on_scan(valid, False)  # positions with data

"#;

const SUM: &str = "image = on_scan(sums(mask), 0)\n";

const SPREAD: &str = r#"n = int(mask.sum())
total, square = np.zeros(FRAMES, object), np.zeros(FRAMES, object)  # whole numbers of any size
for at, block in blocks():
    counts = block[:, mask].astype(np.int64)
    low, high = abs(counts) & 0xFFFF, abs(counts) >> 16
    total[at : at + len(block)] = [int(v) for v in counts.sum(axis=1)]
    parts = zip((low * low).sum(axis=1), (low * high).sum(axis=1), (high * high).sum(axis=1))
    square[at : at + len(block)] = [int(a) + (int(b) << 17) + (int(c) << 32) for a, b, c in parts]
variance = np.array([float(n * q - s * s) for s, q in zip(total, square)]) / max(n * n, 1)
image = on_scan(variance if n else variance * np.nan, np.nan)  # counts squared
"#;

const MOMENTS: &str = r#"total, at_row, at_col = (np.zeros(FRAMES, SUM) for _ in range(3))
rows, cols = np.indices(DETECTOR)
rows, cols = (DETECTOR[0] - 1 - rows if FLIP == "rows" else rows), (DETECTOR[1] - 1 - cols if FLIP == "columns" else cols)
rows, cols = rows[mask].astype(SUM), cols[mask].astype(SUM)
for at, block in blocks():
    counts = block[:, mask].astype(SUM)
    total[at : at + len(block)] = counts.sum(axis=1)
    at_row[at : at + len(block)] = (counts * rows).sum(axis=1)
    at_col[at : at + len(block)] = (counts * cols).sum(axis=1)
with np.errstate(divide="ignore", invalid="ignore"):
    y, x = np.where(total > 0, at_row / total, np.nan), np.where(total > 0, at_col / total, np.nan)
"#;

const SEGMENTS: &str = r#"parts = np.array([sums(segment) for segment in segments]).astype(float)
angles = 2 * np.pi * np.arange(len(segments)) / len(segments)
total = parts.sum(axis=0)
with np.errstate(divide="ignore", invalid="ignore"):
    y = np.where(total > 0, (parts * np.sin(angles)[:, None]).sum(axis=0) / total, np.nan)
    x = np.where(total > 0, (parts * np.cos(angles)[:, None]).sum(axis=0) / total, np.nan)
"#;

const SLOPE: &str = r#"

def slope(values, axis):
    before, after = np.roll(values, 1, axis), np.roll(values, -1, axis)
    np.moveaxis(before, axis, 0)[0] = np.nan
    np.moveaxis(after, axis, 0)[-1] = np.nan
    one_sided = np.where(np.isnan(before), after - values, values - before)
    return np.where(np.isnan(before) | np.isnan(after), one_sided, (after - before) / 2)


"#;

const PHASE: &str = r#"

def integral(x, y):
    """Lazić, Bosch, Lazar, Ultramicroscopy 160, 2016, 265-280, eq. 17, with high-pass and regularisation."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = (np.where(known, v, v[known].mean()) for v in (x, y))
    if MIRRORED:
        x, y = np.hstack([x, -x[:, ::-1]]), np.hstack([y, y[:, ::-1]])
        x, y = np.vstack([x, x[::-1]]), np.vstack([y, -y[::-1]])
    ky, kx = np.fft.fftfreq(x.shape[0])[:, None], np.fft.fftfreq(x.shape[1])
    square = kx**2 + ky**2
    square[0, 0] = 1
    spectrum = (kx * np.fft.fft2(x) + ky * np.fft.fft2(y)) / (2j * np.pi * (square + FADE))
    if HIGH_PASS:
        spectrum *= -np.expm1(-square * HIGH_PASS**2 / 2)
    spectrum[0, 0] = 0
    phase = np.fft.ifft2(spectrum).real[: SCAN[0], : SCAN[1]]
    return np.where(known, phase - phase.mean(), np.nan)


"#;

fn deflection(recipe: &Recipe<'_>) -> String {
    let com = recipe.com;
    let flip = match recipe.flip {
        Flip::None => "none",
        Flip::Columns => "columns",
        Flip::Rows => "rows",
    };
    let mut text = match com.source {
        ComSource::Pixels => format!("FLIP = \"{flip}\"\n{MOMENTS}"),
        ComSource::Segments(_) => SEGMENTS.to_owned(),
    };
    text += &match com.about {
        About::Scan => "y, x = y - np.nanmean(on_scan(y, np.nan)), x - np.nanmean(on_scan(x, np.nan))\n".to_owned(),
        _ => format!("y, x = y - {:?}, x - {:?}\n", recipe.about[0], recipe.about[1]),
    };
    if com.orientation.transposed {
        text += "x, y = y, x\n";
    }
    let _ = write!(
        text,
        "turn = np.exp(1j * np.radians({:?}))  # from the detector's axes to the scan's\n\
         vector = on_scan((x + 1j * y) * turn, np.nan)\nx, y = vector.real, vector.imag\n",
        com.orientation.angle
    );
    let (factor, unit) = (recipe.factor, if recipe.unit.is_empty() { "a pure number" } else { recipe.unit });
    let (before, image) = match recipe.product {
        Product::ComX => (String::new(), "x"),
        Product::ComY => (String::new(), "y"),
        Product::Divergence => (SLOPE.to_owned(), "(slope(x, 1) + slope(y, 0))"),
        Product::Curl => (SLOPE.to_owned(), "(slope(y, 1) - slope(x, 0))"),
        Product::Phase => {
            let how = com.integration;
            let fade = if how.regularisation > 0.0 { how.regularisation.powi(-2) } else { 0.0 };
            let mirrored = if how.edges == Edges::Mirrored { "True" } else { "False" };
            let settings = format!("MIRRORED, FADE, HIGH_PASS = {mirrored}, {fade:?}, {:?}\n", how.high_pass);
            (settings + PHASE, "integral(x, y)")
        }
        _ => (String::new(), "np.hypot(x, y)"),
    };
    let _ = writeln!(text, "{before}image = {factor:?} * {image}  # {unit}");
    if recipe.product == Product::Com {
        text += "direction = np.arctan2(y, x)  # from +x towards +y: the hue\n";
    }
    text
}

/// The shape as an expression of `row` and `col`, pixels in as planescope takes them.
fn mask(shape: &DetectorShape, detector: Detector) -> String {
    let square = |[row, col]: [f64; 2]| format!("(row - {row:?}) ** 2 + (col - {col:?}) ** 2");
    match shape {
        DetectorShape::Disc { centre, inner, outer } | DetectorShape::Annulus { centre, inner, outer } => {
            let out = format!("({} <= {outer:?} ** 2)", square(*centre));
            if *inner > 0.0 { format!("{out} & ({} >= {inner:?} ** 2)", square(*centre)) } else { out }
        }
        DetectorShape::Rect { centre: [row, col], height, width } => {
            format!("(2 * abs(row - {row:?}) <= {height:?}) & (2 * abs(col - {col:?}) <= {width:?})")
        }
        DetectorShape::Point { centre } => {
            format!("(row == {:?}) & (col == {:?})", centre[0].round(), centre[1].round())
        }
        // Edges at an angle hang on the last bit of a sine: their pixels are told one by one.
        _ => format!("pixels({})", runs(&shape.pixels(detector))),
    }
}

/// The pixels of a set as runs, ends excluded.
fn runs(set: &PixelSet) -> String {
    let mut runs: Vec<[u32; 2]> = Vec::new();
    for pixel in (0..set.detector.pixels()).filter(|pixel| set.contains(*pixel)) {
        match runs.last_mut() {
            Some([_, end]) if *end == pixel => *end += 1,
            _ => runs.push([pixel, pixel + 1]),
        }
    }
    runs.iter().map(|[start, end]| format!("({start}, {end})")).collect::<Vec<_>>().join(", ")
}

/// A Python string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
