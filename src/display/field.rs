//! A two-dimensional picture of numbers, with what is known of each cell.

/// What a cell of a [`Field`] holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    /// A value.
    #[default]
    Value,
    /// Not read yet: dotted.
    Unread,
    /// Missing or failed: hatched. Never black, never 0.
    Gap,
    /// A bad pixel, or a centre of mass of nothing: flat grey.
    Void,
}

/// `rows` x `cols` values, row-major; a value counts only where its cell says so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    pub rows: u32,
    pub cols: u32,
    pub values: Vec<f64>,
    pub cells: Vec<Cell>,
    /// Values are whole counts.
    pub counts: bool,
    /// What the values are measured in: "mrad"; empty for counts and for pure numbers.
    pub unit: String,
    /// Of vectors, the direction of each, radians from +x towards +y; the values are their lengths. Empty for others.
    pub direction: Vec<f32>,
}

/// Cells `row .. row + rows`, `col .. col + cols`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    pub row: u32,
    pub col: u32,
    pub rows: u32,
    pub cols: u32,
}

impl Field {
    /// The values that count.
    pub fn known(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        self.values.iter().zip(&self.cells).filter(|(_, cell)| **cell == Cell::Value).map(|(value, _)| *value)
    }

    /// The value and cell at (`row`, `col`); `None` outside.
    pub fn at(&self, row: u32, col: u32) -> Option<(f64, Cell)> {
        if row >= self.rows || col >= self.cols {
            return None;
        }
        let index = row as usize * self.cols as usize + col as usize;
        Some((*self.values.get(index)?, *self.cells.get(index)?))
    }

    /// The cells of one kind as few rectangles: runs along the rows, whole rows merged.
    pub fn regions(&self, kind: Cell) -> Vec<Rect> {
        let cols = self.cols.max(1);
        let mut rects = Vec::new();
        let mut start = None;
        for index in 0..=self.cells.len() {
            let inside = self.cells.get(index) == Some(&kind);
            match (start, inside) {
                (None, true) => start = Some(index as u32),
                (Some(first), false) => {
                    split_run(first, index as u32, cols, &mut rects);
                    start = None;
                }
                _ => {}
            }
        }
        rects
    }

    /// A smaller picture: each cell is the mean of the known values in its box, so that lattices do not
    /// moiré. The largest side is at most `side` cells; a field that already fits is returned as it is.
    pub fn box_averaged(&self, side: u32) -> Self {
        let step = self.rows.max(self.cols).div_ceil(side.max(1)).max(1);
        if step == 1 {
            return self.clone();
        }
        let (rows, cols) = (self.rows.div_ceil(step), self.cols.div_ceil(step));
        let mut small = Self { rows, cols, counts: false, unit: self.unit.clone(), ..Self::default() };
        for row in 0..rows {
            for col in 0..cols {
                let ([x, y], cell) = self.box_mean(row * step, col * step, step);
                small.cells.push(cell);
                if self.direction.is_empty() {
                    small.values.push(x);
                } else {
                    small.values.push(x.hypot(y));
                    small.direction.push(y.atan2(x) as f32);
                }
            }
        }
        small
    }

    /// The value as a vector: of others than vectors, along x.
    fn vector(&self, index: usize, value: f64) -> [f64; 2] {
        let (sin, cos) = self.direction.get(index).map_or((0.0, 1.0), |angle| f64::from(*angle).sin_cos());
        [value * cos, value * sin]
    }

    fn box_mean(&self, row: u32, col: u32, step: u32) -> ([f64; 2], Cell) {
        let (mut sum, mut n, mut other) = ([0.0; 2], 0u32, Cell::Void);
        for r in row..(row + step).min(self.rows) {
            for c in col..(col + step).min(self.cols) {
                match self.at(r, c) {
                    Some((value, Cell::Value)) => {
                        let [x, y] = self.vector(r as usize * self.cols as usize + c as usize, value);
                        (sum, n) = ([sum[0] + x, sum[1] + y], n + 1);
                    }
                    Some((_, cell)) => other = cell,
                    None => {}
                }
            }
        }
        if n == 0 { ([0.0; 2], other) } else { (sum.map(|sum| sum / f64::from(n)), Cell::Value) }
    }
}

/// The run `first .. end` of row-major cells as at most three rectangles.
fn split_run(first: u32, end: u32, cols: u32, rects: &mut Vec<Rect>) {
    let mut at = first;
    while at < end {
        let (row, col) = (at / cols, at % cols);
        let whole_rows = (end - at) / cols;
        let rect = if col == 0 && whole_rows > 0 {
            Rect { row, col, rows: whole_rows, cols }
        } else {
            Rect { row, col, rows: 1, cols: (cols - col).min(end - at) }
        };
        at += rect.rows * rect.cols;
        rects.push(rect);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(rows: u32, cols: u32, cells: Vec<Cell>) -> Field {
        Field { rows, cols, values: (0..rows * cols).map(f64::from).collect(), cells, counts: true, ..Field::default() }
    }

    #[test]
    fn a_gap_begins_and_ends_inside_a_line() {
        let mut cells = vec![Cell::Value; 20];
        cells[3..17].fill(Cell::Gap);
        let rects = field(4, 5, cells).regions(Cell::Gap);
        assert_eq!(
            rects,
            [
                Rect { row: 0, col: 3, rows: 1, cols: 2 },
                Rect { row: 1, col: 0, rows: 2, cols: 5 },
                Rect { row: 3, col: 0, rows: 1, cols: 2 },
            ]
        );
    }

    #[test]
    fn a_box_average_leaves_out_what_is_not_known() {
        let mut cells = vec![Cell::Value; 16];
        cells[0] = Cell::Void;
        cells[1] = Cell::Gap;
        let small = field(4, 4, cells).box_averaged(2);
        assert_eq!((small.rows, small.cols, small.values[0], small.values[3]), (2, 2, 4.5, 12.5));
    }

    #[test]
    fn a_box_without_any_value_stays_what_it_was() {
        let small = field(2, 2, vec![Cell::Unread; 4]).box_averaged(1);
        assert_eq!(small.cells, [Cell::Unread]);
    }

    #[test]
    fn opposite_vectors_average_to_nothing() {
        let mut vectors = field(1, 2, vec![Cell::Value; 2]);
        vectors.values = vec![3.0, 3.0];
        vectors.direction = vec![0.5, 0.5 - std::f32::consts::PI];
        let small = vectors.box_averaged(1);
        assert!(small.values[0] < 1e-6 && small.direction.len() == 1);
    }
}
