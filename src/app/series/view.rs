//! How a series is shown, as plain data: part of the view, so that it is undone, kept in the address and saved with it.
//! Sets go by their names.

use serde::{Deserialize, Serialize};

use crate::app::state::{ViewState, is_default};

/// Panels of the grid at most.
pub const MOST_PANELS: u32 = 12;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeriesView {
    /// Panels at most, 1 to [`MOST_PANELS`].
    pub panels: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub links: Links,
    /// Only sets with a star are shown and played.
    #[serde(skip_serializing_if = "is_default")]
    pub only_starred: bool,
    /// Sets in the user's order; those that are not named follow as the files order them.
    #[serde(skip_serializing_if = "is_default")]
    pub order: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub starred: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub hidden: Vec<String>,
}

impl Default for SeriesView {
    fn default() -> Self {
        let (links, only_starred, order, starred, hidden) = Default::default();
        Self { panels: MOST_PANELS, links, only_starred, order, starred, hidden }
    }
}

/// What all sets of a series share; what they do not share is each one's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Links {
    pub detector: bool,
    pub cursor: bool,
    /// Range, scale and colours; where the range is automatic, it is one that holds for all pictures on screen.
    pub contrast: bool,
    /// Zoom and turn.
    pub view: bool,
}

impl Default for Links {
    fn default() -> Self {
        Self { detector: true, cursor: true, contrast: true, view: true }
    }
}

/// One of the things that may be shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Detector,
    Cursor,
    Contrast,
    View,
}

impl Link {
    pub const ALL: [Self; 4] = [Self::Detector, Self::Cursor, Self::Contrast, Self::View];

    /// As in the ids of the page: `link-detector`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Detector => "detector",
            Self::Cursor => "cursor",
            Self::Contrast => "contrast",
            Self::View => "view",
        }
    }

    /// Takes this part of the view from `from`.
    pub fn copy(self, from: &ViewState, to: &mut ViewState) {
        match self {
            Self::Detector => {
                to.custom.clone_from(&from.custom);
                (to.disc, to.inverted) = (from.disc, from.inverted);
            }
            Self::Cursor => {
                (to.cursor, to.line) = (from.cursor, from.line);
                to.region.clone_from(&from.region);
            }
            Self::Contrast => to.looks = from.looks,
            Self::View => (to.image_view, to.pattern_view) = (from.image_view, from.pattern_view),
        }
    }
}

impl Links {
    pub fn has(&self, link: Link) -> bool {
        match link {
            Link::Detector => self.detector,
            Link::Cursor => self.cursor,
            Link::Contrast => self.contrast,
            Link::View => self.view,
        }
    }

    pub fn flip(&mut self, link: Link) {
        let part = match link {
            Link::Detector => &mut self.detector,
            Link::Cursor => &mut self.cursor,
            Link::Contrast => &mut self.contrast,
            Link::View => &mut self.view,
        };
        *part = !*part;
    }
}

impl SeriesView {
    /// Adds `name` to the list, or takes it out.
    pub fn toggle(list: &mut Vec<String>, name: &str) {
        let before = list.len();
        list.retain(|other| other != name);
        if list.len() == before {
            list.push(name.to_owned());
        }
    }
}

/// Between panels, and over each of them, CSS px; as in the style sheet.
const GAP: f64 = 6.0;
const HEAD: f64 = 24.0;

/// Columns and rows with the largest square panels for `n` sets in a room of this width and height, CSS px.
pub fn grid_shape(n: usize, [width, height]: [f64; 2]) -> (usize, usize) {
    let side = |cols: usize| {
        let free = |room: f64, parts: usize| (room - GAP * (parts as f64 - 1.0)) / parts as f64;
        free(width, cols).min(free(height, n.div_ceil(cols)) - HEAD)
    };
    let cols = (1..=n.max(1)).max_by(|a, b| side(*a).total_cmp(&side(*b)).then(b.cmp(a))).unwrap_or(1);
    (cols, n.div_ceil(cols).max(1))
}

/// The view of a set whose own view is `own`: what is not linked, its scan and its hot pixels are its own.
pub fn view_of(shared: &ViewState, own: &ViewState) -> ViewState {
    let mut view = shared.clone();
    (view.scan, view.exclude_hot) = (own.scan, own.exclude_hot);
    for link in Link::ALL.into_iter().filter(|link| !shared.series.links.has(*link)) {
        link.copy(own, &mut view);
    }
    view
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_is_shared_and_the_rest_is_a_set_s_own() {
        let mut shared = ViewState { cursor: Some([1, 2]), inverted: true, ..ViewState::default() };
        let own = ViewState { cursor: Some([3, 4]), scan: Some([5, 6]), ..ViewState::default() };
        let linked = view_of(&shared, &own);
        assert_eq!((linked.cursor, linked.inverted, linked.scan), (Some([1, 2]), true, Some([5, 6])));
        shared.series.links.flip(Link::Cursor);
        let apart = view_of(&shared, &own);
        assert_eq!((apart.cursor, apart.inverted), (Some([3, 4]), true));
    }

    #[test]
    fn panels_are_as_large_as_they_can_be() {
        assert_eq!(grid_shape(4, [500.0, 500.0]), (2, 2));
        assert_eq!(grid_shape(4, [1020.0, 320.0]), (4, 1));
        assert_eq!(grid_shape(12, [500.0, 500.0]), (4, 3));
        assert_eq!(grid_shape(1, [500.0, 500.0]), (1, 1));
        let (cols, rows) = grid_shape(5, [0.0, 0.0]);
        assert!(cols * rows >= 5, "no room yet, and a place for each");
    }

    #[test]
    fn the_usual_view_of_a_series_takes_no_room_in_an_address() {
        assert_eq!(serde_json::to_value(SeriesView::default()).expect("plain data").to_string(), "{\"panels\":12}");
    }
}
