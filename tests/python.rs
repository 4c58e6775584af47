//! The scripts that the page writes, run: the image that Python makes of the same files is compared with planescope's
//! own, counts to the last one. `PLANESCOPE_PYTHON` is a Python with h5py, hdf5plugin and numpy, `PLANESCOPE_FIXTURES`
//! the folder of the fixtures; without them nothing is compared, and the test says so.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command as Process,
    rc::Rc,
    sync::atomic::{AtomicU32, Ordering},
};

use planescope::{
    acquisition::{self, AxisOrder, Options},
    app::{
        App, Ask, Command, Effect, Event,
        event::{Answer, Entry},
        state::Product,
    },
    cpu,
    display::{Cell, Field},
    products::{DetectorShape, Flip, integrate},
    shape::FrameLayout,
    source::{ByteSource, Disk},
};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// A page with a set read by the CPU engine.
struct Page {
    app: App,
    engine: cpu::Engine,
    now_ms: f64,
}

impl Page {
    /// The `.h5` files of a folder, as one set.
    fn open(folder: &Path, axes: Option<&str>, channel: u32) -> Outcome<Self> {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "h5"));
        paths.sort();
        let disks: Vec<Disk> = paths.iter().map(|path| Disk::open(path)).collect::<Result<_, _>>()?;
        let sources: Vec<&dyn ByteSource> = disks.iter().map(|disk| disk as &dyn ByteSource).collect();
        let options = Options { axes: axes.and_then(AxisOrder::of_code), channel, ..Options::default() };
        let opened = acquisition::open(&sources, &options);
        let set = opened.sets.into_iter().next().ok_or_else(|| format!("{}: no set", folder.display()))?;
        let decoded = acquisition::decode(&set, &sources, 0..set.frames)?;
        let layout = FrameLayout { detector: set.detector, dtype: set.dtype, block_px: 4096 };
        let engine = cpu::Engine::new(layout, set.frames, Box::new(|| Box::pin(async {})))?;
        let mut status = vec![0; set.frames as usize];
        decoded.failed.iter().for_each(|fault| status[fault.frame as usize] = fault.status());
        let there: Vec<u32> = (0..set.frames).filter(|frame| !decoded.missing.contains(frame)).collect();
        let bytes = set.frame_bytes();
        let pixels: Vec<u8> =
            there.iter().flat_map(|frame| decoded.pixels[*frame as usize * bytes..][..bytes].iter().copied()).collect();
        let status: Vec<u32> = there.iter().map(|frame| status[*frame as usize]).collect();
        pollster::block_on(engine.add_pixels(&there, &status, &pixels))?;
        engine.set_missing(&decoded.missing);
        let mut page = Self { app: App::default(), engine, now_ms: 0.0 };
        page.send(Event::Metadata(Rc::new(set)));
        page.send(Event::FirstBatch);
        page.send(Event::Done);
        Ok(page)
    }

    fn send(&mut self, event: Event) {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            self.now_ms += 1000.0;
            for effect in self.app.update(self.now_ms, event) {
                if let Effect::Ask { set_id, lane, ask } = effect {
                    let (states, faults) = (self.engine.frame_states(), self.engine.faults());
                    let answer = Ok(pollster::block_on(self.answer(ask)));
                    events.push(Event::Answered { set_id, lane, answer, states, faults, ms: 0.0 });
                }
            }
        }
    }

    async fn answer(&self, ask: Ask) -> Answer {
        match ask {
            Ask::Sums(product, pixels) => Answer::Sums(product, self.engine.virtual_image(&pixels).await),
            Ask::Moments(pixels) => Answer::Moments(self.engine.moments(&pixels).await),
            Ask::Segments(all) => {
                let mut sums = Vec::new();
                for pixels in &all {
                    sums.push(self.engine.virtual_image(pixels).await);
                }
                Answer::Segments(sums)
            }
            Ask::Phase(field, how) => Answer::Phase(integrate(&field, how, &async || {}).await),
            Ask::Pattern(frame) => Answer::Pattern(frame, self.engine.pattern(frame).await),
            Ask::Patterns(frames) => Answer::Patterns(self.engine.sum_pattern(&frames).await),
            Ask::Squares(pixels) => Answer::Squares(pixels.count(), self.engine.squares(&pixels).await),
            Ask::MaxPattern(frames) => Answer::MaxPattern(self.engine.max_pattern(&frames).await),
            Ask::SquarePattern(frames) => Answer::SquarePattern(self.engine.square_pattern(&frames).await),
            Ask::Spectrum { values, .. } => Answer::Spectrum(values.to_vec()),
        }
    }

    fn image(&mut self, product: Product) -> Outcome<Field> {
        self.send(Event::Do(Command::Product(product)));
        self.app.frame(self.now_ms);
        Ok(self.app.image.as_ref().ok_or("no image")?.field.clone())
    }

    /// Runs the script of the image that is shown, beside the files; what it saves as .npy: whole counts, or numbers.
    fn python(&self, python: &Path, folder: &Path) -> Outcome<Vec<f64>> {
        let script = self.app.python().ok_or("no script")?;
        // Tests run beside one another.
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed).to_string();
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python").join(run);
        fs::create_dir_all(&place)?;
        let text = String::from_utf8(script.bytes)?;
        let here = format!("Path({:?})", folder.display().to_string());
        assert!(text.contains("Path(\".\")"), "the folder of the files is named once");
        fs::write(place.join("script.py"), text.replace("Path(\".\")", &here))?;
        let output = Process::new(python).arg("script.py").current_dir(&place).output()?;
        if !output.status.success() {
            return Err(format!("{}\n{text}", String::from_utf8_lossy(&output.stderr)).into());
        }
        npy(&fs::read(place.join("image.npy"))?)
    }
}

/// The numbers of an .npy file of 8-byte elements.
fn npy(bytes: &[u8]) -> Outcome<Vec<f64>> {
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (words, _) = bytes[10 + header..].as_chunks::<8>();
    let text = String::from_utf8_lossy(&bytes[10..10 + header]).into_owned();
    let number: fn(&[u8; 8]) -> f64 = match () {
        () if text.contains("<u8") => |word| u64::from_le_bytes(*word) as f64,
        () if text.contains("<i8") => |word| i64::from_le_bytes(*word) as f64,
        () if text.contains("<f8") => |word| f64::from_le_bytes(*word),
        () => return Err(format!("an unexpected type: {text}").into()),
    };
    Ok(words.iter().map(number).collect())
}

/// How far apart two images are, where there is data, over the largest value; a value that only one has is far.
fn apart(field: &Field, found: &[f64]) -> f64 {
    assert_eq!(field.values.len(), found.len());
    let largest = field.known().fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
    let each = field.values.iter().zip(&field.cells).zip(found).map(|((value, cell), found)| match cell {
        Cell::Value if found.is_nan() => f64::INFINITY,
        Cell::Value => (value - found).abs() / largest,
        Cell::Void if !found.is_nan() => f64::INFINITY,
        _ => 0.0,
    });
    each.fold(0.0, f64::max)
}

fn tools() -> Option<(PathBuf, PathBuf)> {
    let found = env::var_os("PLANESCOPE_PYTHON").zip(env::var_os("PLANESCOPE_FIXTURES"));
    if found.is_none() {
        eprintln!("skipped: PLANESCOPE_PYTHON or PLANESCOPE_FIXTURES is not set");
    }
    found.map(|(python, fixtures)| (python.into(), fixtures.into()))
}

#[test]
fn python_makes_the_same_sums_of_every_kind_of_set() -> Outcome {
    let Some((python, fixtures)) = tools() else { return Ok(()) };
    let mut differences = Vec::new();
    for (name, product) in [
        ("arina_sidecar", Product::Bf),
        ("arina_hole", Product::Adf),
        ("arina_data_alone", Product::Sum),
        ("arina_excess", Product::Haadf),
        ("array_4d", Product::Df),
        ("mask_u16", Product::Sum),
        ("dtype_i32", Product::Abf),
        ("dtype_big_endian", Product::Bf),
        ("vds_channels", Product::Sum),
        ("chunk_missing", Product::Sum),
        ("lz4_offset_zero", Product::Sum),
        ("filter_blosc", Product::Adf),
        ("tail_17x31_u32", Product::Sum),
        ("arina_sidecar", Product::Std),
        ("arina_hole", Product::Variance),
        ("dtype_i32", Product::Variance),
        ("tail_17x31_u32", Product::Std),
    ] {
        let folder = fixtures.join(name);
        let mut page = Page::open(&folder, None, 0)?;
        let field = page.image(product)?;
        let found = page.python(&python, &folder).map_err(|e| format!("{name}: {e}"))?;
        if apart(&field, &found) > 0.0 {
            differences.push(format!("{name}: {:?} and {found:?}", field.values));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    Ok(())
}

#[test]
fn python_takes_every_shape_flip_and_channel_as_the_page_does() -> Outcome {
    let Some((python, fixtures)) = tools() else { return Ok(()) };
    let folder = fixtures.join("mask_u16");
    let mut page = Page::open(&folder, None, 0)?;
    let detector = page.app.set.as_ref().ok_or("no set")?.detector();
    let centre = [f64::from(detector.rows) * 0.4, f64::from(detector.cols) * 0.6];
    let mut shapes: Vec<DetectorShape> = Vec::new();
    for (_, make) in planescope::app::detector::SHAPES {
        shapes.push(make(&DetectorShape::Disc { centre, inner: 0.0, outer: 6.5 }));
    }
    for (place, shape) in shapes.into_iter().enumerate() {
        let flip = [Flip::None, Flip::Columns, Flip::Rows][place % 3];
        let state = planescope::app::ViewState {
            product: Product::Custom,
            custom: Some(shape.clone()),
            inverted: place % 2 == 1,
            flip,
            ..page.app.state.clone()
        };
        page.send(Event::SetState(Box::new(state)));
        let field = page.image(Product::Custom)?;
        let found = page.python(&python, &folder)?;
        assert_eq!(apart(&field, &found), 0.0, "{shape:?} {flip:?}");
        assert!(field.known().any(|sum| sum > 0.0), "{shape:?} takes counts");
    }
    let folder = fixtures.join("vds_channels");
    let mut page = Page::open(&folder, None, 1)?;
    let field = page.image(Product::Sum)?;
    assert_eq!(apart(&field, &page.python(&python, &folder)?), 0.0);
    Ok(())
}

/// Floating point: sums of a few numbers, in another order, and another library's transform.
const CLOSE: f64 = 1e-10;

#[test]
fn python_makes_the_same_deflections_and_the_same_phase() -> Outcome {
    let Some((python, fixtures)) = tools() else { return Ok(()) };
    let folder = fixtures.join("arina_sidecar");
    let mut page = Page::open(&folder, None, 0)?;
    page.send(Event::Do(Command::Flip(Flip::Rows)));
    page.send(Event::Enter(Entry::Angle, "-12.4".into()));
    page.send(Event::Do(Command::Transpose(true)));
    for (source, about) in [(0, 0), (0, 1), (1, 0)] {
        page.send(Event::Do(Command::Source(source)));
        page.send(Event::Do(Command::About(about)));
        page.send(Event::Enter(Entry::Within, if about == 1 { "1.4".into() } else { "all".into() }));
        for product in Product::DEFLECTION {
            if product == Product::Phase {
                page.send(Event::Enter(Entry::HighPass, "5 px".into()));
                page.send(Event::Enter(Entry::Regularisation, "9 px".into()));
                page.send(Event::Do(Command::Edges(about)));
            }
            let field = page.image(product)?;
            let found = page.python(&python, &folder)?;
            let apart = apart(&field, &found);
            assert!(apart < CLOSE, "{product:?} of source {source} about {about}: {apart}");
            assert!(field.known().any(|value| value != 0.0), "{product:?}");
        }
    }
    Ok(())
}

#[test]
fn python_lays_patterns_on_the_scan_as_the_page_does() -> Outcome {
    let Some((python, fixtures)) = tools() else { return Ok(()) };
    let folder = fixtures.join("arina_sidecar");
    let mut page = Page::open(&folder, None, 0)?;
    for (offset, snake) in [("1", true), ("-2", true), ("2", false)] {
        page.send(Event::Do(Command::Snake(snake)));
        page.send(Event::Enter(Entry::ScanOffset, offset.into()));
        for product in [Product::Sum, Product::Std, Product::ComX] {
            let field = page.image(product)?;
            let found = page.python(&python, &folder)?;
            assert!(apart(&field, &found) < CLOSE, "{product:?}, offset {offset}");
            let blank = field.cells.iter().zip(&found).filter(|(cell, _)| **cell == Cell::Gap);
            assert!(blank.clone().count() > 0 && blank.into_iter().all(|(_, found)| *found == 0.0 || found.is_nan()));
        }
    }
    Ok(())
}
