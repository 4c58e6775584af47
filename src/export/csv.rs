//! Comma-separated values, rows as lines; two lines before them, after `#`, tell what they are
//! (`numpy.loadtxt(..., delimiter=",")` skips those).

use super::Numbers;
use crate::display::Cell;

/// Values as short as they can be without loss; "nan" where there is none. Part 0 is the head, part n + 1 is row n: a
/// page makes large tables part by part.
pub fn part(numbers: &Numbers<'_>, part: u32) -> String {
    let Some(row) = part.checked_sub(1) else { return head(numbers) };
    let values = (0..numbers.field.cols).filter_map(|col| numbers.field.at(row, col));
    let text = |(value, cell)| if cell == Cell::Value { f64::to_string(&value) } else { "nan".to_owned() };
    values.map(text).collect::<Vec<_>>().join(",") + "\n"
}

/// Number of parts.
pub fn parts(numbers: &Numbers<'_>) -> u32 {
    numbers.field.rows + 1
}

fn head(numbers: &Numbers<'_>) -> String {
    let (side, unit) = numbers.cell;
    let of = if numbers.field.unit.is_empty() { "counts" } else { &numbers.field.unit };
    let of = if numbers.field.counts || !numbers.field.unit.is_empty() { of } else { "no unit" };
    format!("# {}; values: {of}\n# cell: {side} {unit}\n", numbers.title)
}

/// A table: names of the columns, and its lines.
pub fn table(columns: &[&str], lines: impl Iterator<Item = Vec<f64>>) -> String {
    let mut text = columns.join(",") + "\n";
    for line in lines {
        let cells: Vec<String> =
            line.iter().map(|v| if v.is_nan() { "nan".to_owned() } else { v.to_string() }).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::{Cell, Field};

    #[test]
    fn lines_are_rows_and_a_gap_is_nan() {
        let field = Field {
            rows: 2,
            cols: 2,
            values: vec![1.0, 0.1, -3.0, 9.0],
            cells: vec![Cell::Value, Cell::Value, Cell::Value, Cell::Void],
            unit: "mrad".into(),
            ..Field::default()
        };
        let numbers = Numbers { field: &field, title: "CoM x", cell: (0.5, "nm") };
        let text: String = (0..parts(&numbers)).map(|at| part(&numbers, at)).collect();
        assert_eq!(text, "# CoM x; values: mrad\n# cell: 0.5 nm\n1,0.1\n-3,nan\n");
        assert_eq!(table(&["r", "mean"], [vec![0.5, f64::NAN]].into_iter()), "r,mean\n0.5,nan\n");
    }
}
