//! A series in words: what stands over its panels, in its bar, in its list.

use serde_json::{Value, json};

use super::{
    super::{App, Camera, Shown},
    Member, SeriesView, TiltFrom,
};
use crate::{
    acquisition::counted,
    display::{bytes, bytes_of, count_signed, value},
};

/// A panel of the grid, or a line of the list.
pub struct Tile<'a> {
    pub place: usize,
    pub member: &'a Member,
    pub is_active: bool,
    pub is_starred: bool,
    pub is_hidden: bool,
    pub mark: Mark,
}

/// How it stands with a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// In memory.
    Resident,
    /// Being read: so many percent.
    Reading(u32),
    /// Not read yet.
    Waiting,
    /// Put out; its picture is that of now.
    Out,
    /// Put out; its picture is of before.
    OutOfDate,
    Failed,
}

impl Mark {
    /// Nothing where nothing has to be said.
    pub fn words(self) -> String {
        match self {
            Self::Resident => String::new(),
            Self::Reading(percent) => format!("reading {percent}\u{202f}%"),
            Self::Waiting => "waits".to_owned(),
            Self::Out => "not resident".to_owned(),
            Self::OutOfDate => "not resident, picture of before".to_owned(),
            Self::Failed => "cannot be read".to_owned(),
        }
    }

    /// As in the page's `data-mark`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resident => "resident",
            Self::Reading(_) => "reading",
            Self::Waiting => "waiting",
            Self::Out => "out",
            Self::OutOfDate => "before",
            Self::Failed => "failed",
        }
    }
}

impl App {
    /// The panels of the grid, in order; none without a series.
    pub fn tiles(&self) -> Vec<Tile<'_>> {
        let Some(series) = &self.series else { return Vec::new() };
        series.window(&self.state.series).into_iter().filter_map(|place| self.tile(place)).collect()
    }

    /// All open sets, in order.
    pub fn listed_sets(&self) -> Vec<Tile<'_>> {
        let Some(series) = &self.series else { return Vec::new() };
        series.ordered(&self.state.series).into_iter().filter_map(|place| self.tile(place)).collect()
    }

    fn tile(&self, place: usize) -> Option<Tile<'_>> {
        let series = self.series.as_ref()?;
        let member = series.member(place)?;
        let view = &self.state.series;
        let is_active = place == series.active;
        Some(Tile {
            place,
            member,
            is_active,
            is_starred: view.starred.contains(&member.name),
            is_hidden: view.hidden.contains(&member.name),
            mark: self.mark(place, member),
        })
    }

    fn mark(&self, place: usize, member: &Member) -> Mark {
        let is_reading = self.series.as_ref().is_some_and(|series| series.reading == Some(place));
        let set = self.set_at(place);
        match set {
            _ if member.failure.is_some() => Mark::Failed,
            Some(set) if is_reading => {
                Mark::Reading((100 * set.progress.bytes_read / set.progress.bytes_total.max(1)).min(100) as u32)
            }
            _ if member.is_resident => Mark::Resident,
            _ if !self.is_read(place) => Mark::Waiting,
            _ if self.lacks_picture(place) => Mark::OutOfDate,
            _ => Mark::Out,
        }
    }

    /// The picture of a set that is not looked at, and where on a panel of this side it lies.
    pub fn tile_picture(&self, place: usize, side: f64) -> Option<(Option<&Shown>, Camera)> {
        let (set, view) = (self.set_at(place)?, self.view_at(place)?);
        let scan = set.shape();
        Some((self.image_at(place), Camera::new(side, scan.rows, scan.cols, view.image_view)))
    }

    /// Range of the picture of a set, for those who do not see it.
    pub fn tile_words(&self, place: usize) -> String {
        let Some(shown) = self.image_at(place) else { return String::new() };
        let text = |limit: f64| if shown.field.counts { count_signed(limit as i64) } else { value(limit) };
        let product = self.state.product.name_from(self.state.com.source);
        format!("{product}, range {} to {}", text(shown.limits.low), text(shown.limits.high))
    }

    /// What the patterns of a set take, while they lie in memory.
    pub fn bytes_at(&self, place: usize) -> Option<u64> {
        let is_resident = self.series.as_ref()?.member(place)?.is_resident;
        self.set_at(place).filter(|_| is_resident).map(|set| set.memory.bytes)
    }

    /// The number of a set among those that are shown.
    pub fn shown_at(&self, place: usize) -> Option<usize> {
        self.series.as_ref()?.shown(&self.state.series).iter().position(|&other| other == place)
    }

    /// The cursor of a set, [row, col].
    pub fn tile_cursor(&self, place: usize) -> Option<[u32; 2]> {
        Some(self.set_at(place)?.cursor(&self.view_at(place)?))
    }

    /// What the active set is called, and which of how many it is: "−5.0°, set 3 of 4".
    pub fn series_line(&self) -> String {
        let Some(series) = &self.series else { return String::new() };
        let shown = series.shown(&self.state.series);
        let at = shown.iter().position(|&place| place == series.active).map_or(0, |at| at + 1);
        format!("set {at} of {}", shown.len())
    }

    /// "4 sets, −10° to 10°".
    pub fn series_title(&self) -> String {
        let Some(series) = &self.series else { return String::new() };
        let sets = counted(series.len() as u64, "set");
        let tilts: Vec<&Member> =
            series.ordered(&SeriesView::default()).into_iter().filter_map(|place| series.member(place)).collect();
        match (tilts.first(), tilts.last()) {
            (Some(first), Some(last)) if tilts.iter().all(|member| member.tilt_deg.is_some()) && tilts.len() > 1 => {
                let from = if first.tilt_from == TiltFrom::Metadata { "metadata" } else { "names" };
                format!("{sets}, {} to {} (from {from})", first.label, last.label)
            }
            _ => sets,
        }
    }

    /// What the sets take of what they may: "GPU 2.1 of 4.3 GB".
    pub fn series_memory(&self) -> String {
        format!("{} {}", self.memory_place(), bytes_of(self.resident_bytes(), self.budget_bytes()))
    }

    /// The budget as it can be typed.
    pub fn budget_text(&self) -> String {
        bytes(self.budget_bytes())
    }

    /// All that automation may want to know.
    pub fn series_facts(&self) -> Value {
        let Some(series) = &self.series else { return Value::Null };
        let set = |tile: &Tile| {
            json!({
                "place": tile.place, "name": tile.member.name, "label": tile.member.label,
                "tiltDeg": tile.member.tilt_deg, "mark": tile.mark.name(), "isResident": tile.member.is_resident,
                "isCurrent": self.is_current_at(tile.place), "isStarred": tile.is_starred,
                "isHidden": tile.is_hidden, "bytes": self.bytes_at(tile.place),
            })
        };
        json!({
            "active": series.active, "reading": series.reading(), "isPlaying": series.is_playing,
            "budgetBytes": self.budget_bytes(), "residentBytes": self.resident_bytes(),
            "panels": series.window(&self.state.series),
            "sets": self.listed_sets().iter().map(set).collect::<Vec<_>>(),
        })
    }

    /// How many of the sets are hidden.
    pub fn hidden_sets(&self) -> usize {
        self.listed_sets().iter().filter(|tile| tile.is_hidden).count()
    }
}
