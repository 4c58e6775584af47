//! What can be saved of what is shown: numbers, pictures, the session and the script.

use super::{
    App, Panel,
    event::Effect,
    open_set::OpenSet,
    state::{ComSource, PatternOf, Product},
};
use crate::{
    display::Unit,
    engine::FrameState,
    export::{self, File, Numbers, python::Recipe, session::SessionFile},
    products::DetectorShape,
};

/// The kinds of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One px per value, as coloured.
    #[default]
    Png,
    /// The panel as it is seen, with marks, scale bar and colour bar.
    Seen,
    Tiff,
    Npy,
    Csv,
    Raw,
}

impl Format {
    pub const ALL: [Self; 6] = [Self::Seen, Self::Png, Self::Tiff, Self::Npy, Self::Csv, Self::Raw];

    /// As in the page's `data-do`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Seen => "seen",
            Self::Tiff => "tiff",
            Self::Npy => "npy",
            Self::Csv => "csv",
            Self::Raw => "raw",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG, one pixel a value",
            Self::Seen => "PNG, as it is seen",
            Self::Tiff => "TIFF, 32-bit float",
            Self::Npy => "NPY",
            Self::Csv => "CSV",
            Self::Raw => "Raw numbers",
        }
    }

    /// What it is good for.
    pub fn words(self) -> &'static str {
        match self {
            Self::Png => "the colours, without marks",
            Self::Seen => "marks, scale bar and colour bar",
            Self::Tiff => "ImageJ and Fiji read its scale",
            Self::Npy => "numpy; counts exact as int64",
            Self::Csv => "tables; every value in full",
            Self::Raw => "little-endian, no header; size and type in the name",
        }
    }
}

impl App {
    /// A panel's numbers as a file; `None` before it shows any, and for what the view makes itself: pictures, and
    /// tables, which it makes part by part.
    pub fn exported(&self, format: Format, panel: Panel) -> Option<File> {
        let shown = self.shown(panel)?;
        let title = self.export_title(panel);
        let numbers = Numbers { field: &shown.field, title: &title, cell: self.cell(panel) };
        let (mime, bytes) = match format {
            Format::Seen | Format::Png | Format::Csv => return None,
            Format::Tiff => ("image/tiff", export::tiff::tiff(&numbers)),
            Format::Npy => ("application/octet-stream", export::npy::npy(&numbers)),
            Format::Raw => ("application/octet-stream", export::npy::raw(&numbers)),
        };
        Some(File { name: self.export_name(format, panel)?, mime, bytes })
    }

    /// Name of a panel's file.
    pub fn export_name(&self, format: Format, panel: Panel) -> Option<String> {
        let field = &self.shown(panel)?.field;
        let stem = self.export_stem(panel);
        Some(match format {
            Format::Png => format!("{stem}.png"),
            Format::Seen => format!("{stem}_seen.png"),
            Format::Tiff => format!("{stem}.tif"),
            Format::Npy => format!("{stem}.npy"),
            Format::Csv => format!("{stem}.csv"),
            Format::Raw => {
                let title = self.export_title(panel);
                let is_whole = Numbers { field, title: &title, cell: self.cell(panel) }.is_whole();
                let kind = if is_whole { "int64" } else { "float64" };
                format!("{stem}_{}x{}_{kind}.raw", field.rows, field.cols)
            }
        })
    }

    /// How large a panel's file is, where that is known before it is made.
    pub fn export_bytes(&self, format: Format, panel: Panel) -> Option<u64> {
        let field = &self.shown(panel)?.field;
        let cells = u64::from(field.rows) * u64::from(field.cols);
        match format {
            Format::Tiff => Some(4 * cells),
            Format::Npy | Format::Raw => Some(8 * cells),
            Format::Png | Format::Seen | Format::Csv => None,
        }
    }

    /// File name without its ending: the set, and what is shown of it.
    pub fn export_stem(&self, panel: Panel) -> String {
        let set = self.set.as_ref().map_or("planescope", |set| set.acquisition.name.as_str());
        let set = set.rsplit_once('.').map_or(set, |(stem, _)| stem);
        let set = set.strip_suffix("_master").unwrap_or(set);
        let what = match (panel, self.state.pattern) {
            (Panel::Image, _) => self.state.product.name_from(self.state.com.source).to_lowercase().replace('|', ""),
            (Panel::Pattern, PatternOf::Cursor) => {
                let at = self.set.as_ref().map(|set| set.cursor(&self.state)).unwrap_or_default();
                format!("pattern_{}_{}", at[0], at[1])
            }
            (Panel::Pattern, of) => format!("pattern_{}", of.name().to_lowercase()),
        };
        let safe = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
        format!("{set}_{what}").chars().map(safe).collect()
    }

    /// What a panel shows, in a line.
    pub fn export_title(&self, panel: Panel) -> String {
        let set = self.set.as_ref().map_or("", |set| set.acquisition.name.as_str());
        match panel {
            Panel::Image => {
                let name = self.state.product.name_from(self.state.com.source);
                format!("{set}: {name}, {}", self.product_line())
            }
            Panel::Pattern => format!("{set}: pattern, {} {}", self.state.pattern.name(), self.pattern_line()),
        }
    }

    /// Length of a side of a cell, in the unit of the scale bar.
    pub fn cell(&self, panel: Panel) -> (f64, &'static str) {
        match self.unit(panel) {
            Unit::Px => (1.0, "pixel"),
            Unit::Nm(nm) => (nm, "nm"),
            Unit::Mrad(mrad) => (mrad, "mrad"),
        }
    }

    /// The session as a file.
    pub fn session_file(&self) -> Option<File> {
        let set = self.set.as_ref()?;
        let stem = self.export_stem(Panel::Image);
        let bytes = SessionFile::of(&set.acquisition, &self.state).to_json().into_bytes();
        Some(File { name: format!("{stem}.planescope.json"), mime: "application/json", bytes })
    }

    /// The script that makes the image of now; `None` before there is one.
    pub fn python(&self) -> Option<File> {
        let set = self.set.as_ref()?;
        let stem = self.export_stem(Panel::Image);
        let text = export::python::script(&set.recipe(self)?);
        Some(File { name: format!("{stem}.py"), mime: "text/x-python", bytes: text.into_bytes() })
    }

    /// Takes a session file: its view, and of the open files what was chosen then.
    pub(super) fn restore(&mut self, name: &str, text: &str, effects: &mut Vec<Effect>) {
        let session = match SessionFile::read(name, text) {
            Ok(session) => session,
            Err(error) => return self.tell(error),
        };
        let is_open = self.set.as_ref().is_some_and(|set| set.acquisition.name == session.set);
        let is_same = self.set.as_ref().is_some_and(|set| session.differences(&set.acquisition).is_empty());
        if is_same {
            return self.set_state(session.view, effects);
        }
        self.state_is_given = true;
        self.state = session.view.clone();
        if is_open {
            // The same files, of which something else was shown.
            effects.push(Effect::Restore(session.options()));
        } else {
            self.tell(export::session::wants_files(&session));
        }
        self.session = Some(session);
    }

    /// A set was opened while a session waits: tells how its files differ.
    pub(super) fn meet_session(&mut self) {
        let (Some(session), Some(set)) = (self.session.take(), &self.set) else { return };
        let differences = session.differences(&set.acquisition);
        if !differences.is_empty() {
            self.tell(export::session::differs(&session, &differences));
        }
    }
}

impl OpenSet {
    /// All that a script needs to make the image of now.
    fn recipe<'a>(&'a self, app: &App) -> Option<Recipe<'a>> {
        let state = &app.state;
        let product = state.product;
        if !product.is_com() && !product.is_spread() && product != Product::Sum {
            self.shape_of(product, state)?;
        }
        let detector = match (product.is_com(), app.com_circle()) {
            (false, _) => self.shape_of(product, state),
            (true, Some((centre, outer, 0))) => Some((DetectorShape::Disc { centre, inner: 0.0, outer }, false)),
            (true, _) => None,
        };
        let segments = match (state.com.source, app.com_circle()) {
            (ComSource::Segments(n), Some((centre, outer, _))) => {
                self.segments(&DetectorShape::Disc { centre, inner: 0.0, outer }, n)
            }
            _ => Vec::new(),
        };
        let (factor, unit) = self.measures(state).deflection(product, state.com.source);
        Some(Recipe {
            set: &self.acquisition,
            scan: self.shape(),
            frames: runs(self.stored_states()),
            order: self.order(),
            bad: self.flip().pixels(&self.bad),
            flip: self.flip(),
            product,
            detector,
            com: state.com,
            segments,
            about: self.about(state).unwrap_or_default(),
            factor,
            unit,
        })
    }
}

/// Runs of frames that are valid.
fn runs(states: &[FrameState]) -> Vec<std::ops::Range<u32>> {
    let mut runs: Vec<std::ops::Range<u32>> = Vec::new();
    for frame in (0..).zip(states).filter(|(_, state)| **state == FrameState::Valid).map(|(frame, _)| frame) {
        match runs.last_mut() {
            Some(run) if run.end == frame => run.end += 1,
            _ => runs.push(frame..frame + 1),
        }
    }
    runs
}
