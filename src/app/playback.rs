//! Patterns one after another as a file: which ones, and how each is coloured.

use super::{App, open_set::OpenSet};
use crate::{
    display::{Axis, Cell, Field, Percentiles},
    engine::Pattern,
    export::gif::Gif,
};

/// What is to be played: so many patterns, every so many-th, so many a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    pub patterns: u32,
    pub every: u32,
    pub per_second: f64,
}

/// The most patterns of a file.
pub const MOST: u32 = 2000;

/// Small patterns are enlarged by whole px to about this side.
const SIDE: u32 = 256;

/// Colours of the map in the palette; behind them lie those of what has no value.
const COLOURS: usize = 253;
const VOID: u8 = 253;
const GAP: u8 = 254;
const UNREAD: u8 = 255;

impl Playback {
    /// From what was typed: the numbers, held to what can be made.
    pub fn of(patterns: &str, every: &str, per_second: &str) -> Result<Self, String> {
        let whole = |text: &str| super::entry::whole(text);
        let (patterns, every) = (whole(patterns)?, whole(every)?);
        let per_second = super::entry::value(per_second)?;
        if !(1..=i64::from(MOST)).contains(&patterns) {
            return Err(format!("from 1 to {MOST} patterns"));
        }
        if !(1..=1_000_000).contains(&every) {
            return Err("every first, second, … pattern: 1 or more".into());
        }
        if !(0.2..=50.0).contains(&per_second) {
            return Err("from 0.2 to 50 patterns a second".into());
        }
        Ok(Self { patterns: patterns as u32, every: every as u32, per_second })
    }
}

/// A file in the making.
pub struct Reel {
    /// Numbers of the patterns still to come, the last one first.
    frames: Vec<u32>,
    pub total: usize,
    gif: Gif,
    /// Px of a side for each pixel.
    times: u32,
    axis: Option<Axis>,
    percentiles: Percentiles,
}

impl App {
    /// Begins a file: from the cursor on, in the order of playing, as the pattern is coloured now.
    pub fn reel(&self, playback: Playback) -> Option<Reel> {
        let set = self.set.as_ref()?;
        let mut frames = Vec::with_capacity(playback.patterns as usize);
        let (mut at, mut random) = (set.cursor(&self.state), self.random);
        for _ in 0..playback.patterns {
            frames.push(set.frame_at(at));
            for _ in 0..playback.every {
                random = super::play::random_after(random);
                at = super::play::after(set, &self.state, at, random);
            }
        }
        frames.reverse();
        let look = self.state.looks.pattern;
        let lut = look.lut();
        let mut palette = [[0; 3]; 256];
        for (place, colour) in palette.iter_mut().enumerate() {
            let [r, g, b, _] = lut.at((place as f64 + 0.5) / COLOURS as f64);
            *colour = [r, g, b];
        }
        palette[usize::from(VOID)] = [0x55; 3];
        palette[usize::from(GAP)] = [0x4e; 3];
        palette[usize::from(UNREAD)] = [0x1f; 3];
        let detector = set.detector();
        let times = (SIDE / detector.rows.max(detector.cols).max(1)).max(1);
        let side = |px: u32| u16::try_from(px * times).ok();
        let delay_cs = (100.0 / playback.per_second).round() as u16;
        let gif = Gif::new(side(detector.cols)?, side(detector.rows)?, &palette, delay_cs);
        let is_of_one = self.state.pattern == super::state::PatternOf::Cursor;
        let shown = self.pattern.as_ref().filter(|_| is_of_one);
        let axis = shown.map(|shown| Axis::new(shown.limits, look.scale, shown.unit));
        let percentiles = super::percentiles(super::state::Family::Pattern, &look);
        Some(Reel { total: frames.len(), frames, gif, times, axis, percentiles })
    }

    /// The pattern's picture, as the panel would show it.
    pub fn picture_of(&self, pattern: Pattern) -> Option<Field> {
        self.set.as_ref().map(|set| set.picture_of(pattern))
    }

    /// Name of the file.
    pub fn reel_name(&self) -> String {
        let stem = self.export_stem(super::Panel::Pattern);
        format!("{stem}_{}.gif", self.state.play.name().to_lowercase())
    }
}

impl Reel {
    /// The pattern that comes next; `None` at the end.
    pub fn next_frame(&mut self) -> Option<u32> {
        self.frames.pop()
    }

    /// Pictures that are in the file.
    pub fn done(&self) -> usize {
        self.total - self.frames.len()
    }

    /// Appends a pattern. Where no range holds yet, the first one decides.
    pub fn add(&mut self, field: &Field, app: &App) {
        let look = app.state.looks.pattern;
        let axis = *self.axis.get_or_insert_with(|| {
            let limits = look.limits.or_else(|| self.percentiles.limits(field)).unwrap_or(super::NOTHING);
            Axis::new(limits, look.scale, super::scale_unit(field, &look))
        });
        let index = |(value, cell): (&f64, &Cell)| match cell {
            Cell::Value => ((axis.position(*value) * COLOURS as f64) as usize).min(COLOURS - 1) as u8,
            Cell::Void => VOID,
            Cell::Gap => GAP,
            Cell::Unread => UNREAD,
        };
        let small: Vec<u8> = field.values.iter().zip(&field.cells).map(index).collect();
        let (cols, times) = (field.cols.max(1) as usize, self.times as usize);
        let mut large = Vec::with_capacity(small.len() * times * times);
        for line in small.chunks_exact(cols) {
            let wide: Vec<u8> = line.iter().flat_map(|index| std::iter::repeat_n(*index, times)).collect();
            (0..times).for_each(|_| large.extend(&wide));
        }
        self.gif.add(&large);
    }

    pub fn len_bytes(&self) -> usize {
        self.gif.len_bytes()
    }

    pub fn finish(self) -> Vec<u8> {
        self.gif.finish()
    }
}

impl OpenSet {
    /// A pattern as it is shown; as stored it comes from the engine.
    pub fn picture_of(&self, mut pattern: Pattern) -> Field {
        self.flip().values(self.detector(), &mut pattern.pixels);
        super::pictures::pattern(&pattern, &self.bad, self.acquisition.dtype)
    }
}
