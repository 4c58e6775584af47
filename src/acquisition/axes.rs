//! Which axis of a dataset is which: as most writers store them, or as the user says.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::store::spread;

/// What one axis of a dataset counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Axis {
    ScanRow,
    ScanCol,
    /// Patterns, whatever the scan.
    Frame,
    Channel,
    DetRow,
    DetCol,
}

impl Axis {
    const ALL: [Self; 6] = [Self::ScanRow, Self::ScanCol, Self::Frame, Self::Channel, Self::DetRow, Self::DetCol];

    /// Its letter in [`AxisOrder::code`].
    pub fn letter(self) -> char {
        match self {
            Self::ScanRow => 'r',
            Self::ScanCol => 'c',
            Self::Frame => 'n',
            Self::Channel => 'k',
            Self::DetRow => 'y',
            Self::DetCol => 'x',
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::ScanRow => "scan row",
            Self::ScanCol => "scan column",
            Self::Frame => "pattern",
            Self::Channel => "channel",
            Self::DetRow => "detector row",
            Self::DetCol => "detector column",
        }
    }

    /// The same, where room is short.
    fn brief(self) -> &'static str {
        match self {
            Self::ScanRow => "scan y",
            Self::ScanCol => "scan x",
            Self::Frame => "pattern",
            Self::Channel => "channel",
            Self::DetRow => "det y",
            Self::DetCol => "det x",
        }
    }

    /// The axis of a [`super::Store`] that it becomes: two of frames, then detector rows and columns.
    fn in_store(self) -> usize {
        match self {
            Self::ScanRow | Self::Frame => 0,
            Self::ScanCol | Self::Channel => 1,
            Self::DetRow => 2,
            Self::DetCol => 3,
        }
    }
}

/// What each axis of a dataset counts, the slowest first: detector rows and columns, and with them nothing, the
/// patterns, scan rows and columns, or patterns and channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AxisOrder {
    axes: [Axis; 4],
    rank: u8,
}

impl AxisOrder {
    /// `None` for axes that make no patterns.
    pub fn of(axes: &[Axis]) -> Option<Self> {
        let has = |axis: Axis| axes.contains(&axis);
        let others = match axes.len() {
            2 => true,
            3 => has(Axis::Frame),
            4 => has(Axis::ScanRow) && has(Axis::ScanCol) || has(Axis::Frame) && has(Axis::Channel),
            _ => false,
        };
        if !others || !has(Axis::DetRow) || !has(Axis::DetCol) {
            return None;
        }
        let mut order = Self { axes: [Axis::Channel; 4], rank: axes.len() as u8 };
        order.axes[..axes.len()].copy_from_slice(axes);
        Some(order)
    }

    /// The order of `code`, one letter an axis: `r` scan row, `c` scan column, `n` pattern, `k` channel, `y`
    /// detector row, `x` detector column.
    pub fn of_code(code: &str) -> Option<Self> {
        let axis = |letter| Axis::ALL.into_iter().find(|axis| axis.letter() == letter);
        let axes = code.chars().take(5).map(axis).collect::<Option<Vec<_>>>()?;
        Self::of(&axes)
    }

    pub fn code(self) -> String {
        self.axes().iter().map(|axis| axis.letter()).collect()
    }

    /// As almost all writers store them; `None` where there are fewer than 2 or more than 4 axes.
    pub fn usual(rank: usize) -> Option<Self> {
        Self::all(rank).first().copied()
    }

    /// Patterns by channel, as DECTRIS' file writer stores them.
    pub fn channels() -> Self {
        Self { axes: [Axis::Frame, Axis::Channel, Axis::DetRow, Axis::DetCol], rank: 4 }
    }

    /// All orders that somebody may have written, the usual one first.
    pub fn all(rank: usize) -> Vec<Self> {
        let codes: &[&str] = match rank {
            2 => &["yx", "xy"],
            3 => &["nyx", "nxy", "yxn", "xyn", "ynx", "xny"],
            4 => &["rcyx", "rcxy", "cryx", "crxy", "yxrc", "yxcr", "xyrc", "xycr", "nkyx", "knyx"],
            _ => &[],
        };
        codes.iter().filter_map(|code| Self::of_code(code)).collect()
    }

    pub fn axes(&self) -> &[Axis] {
        &self.axes[..usize::from(self.rank)]
    }

    pub fn rank(&self) -> usize {
        self.rank.into()
    }

    /// In words where room is short.
    pub fn brief(&self) -> String {
        self.axes().iter().map(|axis| axis.brief()).collect::<Vec<_>>().join(", ")
    }

    /// Whether the patterns lie on a scan of rows and columns.
    pub fn has_scan(&self) -> bool {
        self.axes().contains(&Axis::ScanRow)
    }

    pub fn has_channels(&self) -> bool {
        self.axes().contains(&Axis::Channel)
    }

    /// Which axis of the dataset is which of a store's: two of frames, then detector rows and columns; `None` for
    /// one that the dataset does not have.
    pub fn in_store(&self) -> [Option<usize>; 4] {
        let mut places = [None; 4];
        self.axes().iter().enumerate().for_each(|(place, axis)| places[axis.in_store()] = Some(place));
        places
    }

    /// Sizes along a store's axes of a dataset of `dims`; 1 along those that it does not have.
    pub fn spread(&self, dims: &[u64]) -> [u64; 4] {
        spread(self.in_store(), dims)
    }

    /// Whether the axes stand as in a store.
    pub fn is_usual(&self) -> bool {
        self.in_store().iter().flatten().is_sorted()
    }
}

/// Patterns, one after another.
impl Default for AxisOrder {
    fn default() -> Self {
        Self { axes: [Axis::Frame, Axis::DetRow, Axis::DetCol, Axis::Channel], rank: 3 }
    }
}

impl fmt::Display for AxisOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.axes().iter().map(|axis| axis.words()).collect();
        f.write_str(&words.join(", "))
    }
}

impl TryFrom<String> for AxisOrder {
    type Error = String;

    fn try_from(code: String) -> Result<Self, String> {
        Self::of_code(&code)
            .ok_or_else(|| format!("“{code}” is no order of axes: one letter each of r c y x, n k y x, n y x or y x"))
    }
}

impl From<AxisOrder> for String {
    fn from(order: AxisOrder) -> Self {
        order.code()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_names_each_axis_once() {
        for code in ["rcyx", "xycr", "nkyx", "yxn", "xy", "rycx"] {
            assert_eq!(AxisOrder::of_code(code).map(AxisOrder::code).as_deref(), Some(code));
        }
        for code in ["", "y", "ny", "nny", "rcyy", "rnyx", "rkyx", "rcyxn", "abcd"] {
            assert_eq!(AxisOrder::of_code(code), None, "{code}");
        }
    }

    #[test]
    fn all_orders_of_a_rank_differ_and_fit_it() {
        for (rank, number) in [(0, 0), (1, 0), (2, 2), (3, 6), (4, 10), (5, 0)] {
            let mut all = AxisOrder::all(rank);
            assert!(all.iter().all(|order| order.rank() == rank));
            all.sort_by_key(|order| order.code());
            all.dedup();
            assert_eq!(all.len(), number);
        }
    }

    #[test]
    fn sizes_go_to_the_axes_that_they_belong_to() {
        let spread = |code: &str, dims: &[u64]| AxisOrder::of_code(code).map(|order| order.spread(dims));
        assert_eq!(spread("xycr", &[8, 7, 6, 5]), Some([5, 6, 7, 8]));
        assert_eq!(spread("yxn", &[8, 7, 6]), Some([6, 1, 8, 7]));
        assert_eq!(spread("xy", &[8, 7]), Some([1, 1, 7, 8]));
    }
}
