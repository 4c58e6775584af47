//! One table of keys: it dispatches, and it makes the sheet that `?` shows.

use super::{
    command::{Command, Panel},
    state::Product,
};

/// Where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Anywhere,
    /// The selected panel.
    Panel,
    /// The detector, wherever the focus is.
    Detector,
    /// The pattern is selected.
    Pattern,
    /// The image is selected.
    Image,
}

impl Scope {
    pub const ALL: [Self; 5] = [Self::Anywhere, Self::Panel, Self::Detector, Self::Pattern, Self::Image];

    pub fn title(self) -> &'static str {
        match self {
            Self::Anywhere => "Anywhere",
            Self::Panel => "Selected panel",
            Self::Detector => "Detector",
            Self::Pattern => "Detector (pattern has focus)",
            Self::Image => "Scan (image has focus)",
        }
    }

    fn holds(self, selected: Panel) -> bool {
        match self {
            Self::Anywhere | Self::Panel | Self::Detector => true,
            Self::Pattern => selected == Panel::Pattern,
            Self::Image => selected == Panel::Image,
        }
    }
}

/// A line of the sheet: what is shown, and the presses that do it.
pub struct Entry {
    pub scope: Scope,
    /// Keys as they are drawn.
    pub shown: &'static [&'static str],
    pub text: &'static str,
    pub presses: &'static [(Press, Command)],
}

/// One key with its modifiers. Letters go by what they print, digits by where they lie (AZERTY).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press {
    /// A lower-case letter, without and with Shift.
    Letter(char),
    ShiftLetter(char),
    ControlLetter(char),
    ControlShiftLetter(char),
    /// The row of digits, 0 to 9.
    Digit(u8),
    ShiftDigit(u8),
    /// What the key prints, however it was reached.
    Sign(&'static str),
    ShiftSign(&'static str),
    /// A named key; modifiers change the step.
    Named(&'static str),
}

/// A press as the browser tells it.
#[derive(Clone, Copy, Debug)]
pub struct Stroke<'a> {
    pub key: &'a str,
    pub code: &'a str,
    pub shift: bool,
    pub control: bool,
}

/// What `stroke` does while `selected` is the selected panel.
pub fn command(stroke: Stroke, selected: Panel) -> Option<Command> {
    let entries = TABLE.iter().filter(|entry| entry.scope.holds(selected));
    let mut presses = entries.flat_map(|entry| entry.presses);
    presses.find(|(press, _)| press.is(stroke)).map(|(_, command)| *command)
}

impl Press {
    fn is(self, stroke: Stroke) -> bool {
        let letter = |c: char| !stroke.control && stroke.key.chars().eq(std::iter::once(c));
        let is_letter = |c: char| stroke.key.to_lowercase().chars().eq(std::iter::once(c));
        let digit = |n: u8| !stroke.control && stroke.code.strip_prefix("Digit") == Some(DIGITS[usize::from(n)]);
        match self {
            Self::Letter(c) => letter(c) && !stroke.shift,
            Self::ShiftLetter(c) => letter(c.to_ascii_uppercase()) && stroke.shift,
            Self::Digit(n) => digit(n) && !stroke.shift,
            Self::ShiftDigit(n) => digit(n) && stroke.shift,
            Self::ControlLetter(c) => stroke.control && !stroke.shift && is_letter(c),
            Self::ControlShiftLetter(c) => stroke.control && stroke.shift && is_letter(c),
            // The space bar prints the same with Shift.
            Self::Sign(sign) => !stroke.control && stroke.key == sign && !(sign == " " && stroke.shift),
            Self::ShiftSign(sign) => !stroke.control && stroke.key == sign && stroke.shift,
            Self::Named(name) => stroke.key == name,
        }
    }
}

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

use Command as Do;
use Press::{ControlLetter, ControlShiftLetter, Digit, Letter, Named, ShiftDigit, ShiftLetter, ShiftSign, Sign};

const ARROWS: &[(Press, Command)] = &[
    (Named("ArrowUp"), Do::Nudge { rows: -1, cols: 0 }),
    (Named("ArrowDown"), Do::Nudge { rows: 1, cols: 0 }),
    (Named("ArrowLeft"), Do::Nudge { rows: 0, cols: -1 }),
    (Named("ArrowRight"), Do::Nudge { rows: 0, cols: 1 }),
];

/// All keys, in the order of the sheet.
pub const TABLE: &[Entry] = &[
    entry(Scope::Anywhere, &["?"], "keys", &[(Sign("?"), Do::Keys)]),
    entry(Scope::Anywhere, &["Esc"], "cancel: drag, reading, message", &[(Named("Escape"), Do::Escape)]),
    entry(
        Scope::Anywhere,
        &["O", "Shift O"],
        "open files, folder",
        &[(Letter('o'), Do::OpenFiles), (ShiftLetter('o'), Do::OpenFolder)],
    ),
    entry(
        Scope::Anywhere,
        &["I", "Shift I"],
        "information, datasets",
        &[(Letter('i'), Do::Information), (ShiftLetter('i'), Do::Datasets)],
    ),
    entry(Scope::Anywhere, &["T"], "theme", &[(Letter('t'), Do::Theme)]),
    entry(Scope::Anywhere, &["Shift H"], "help", &[(ShiftLetter('h'), Do::Help)]),
    entry(
        Scope::Anywhere,
        &["Ctrl Z", "Ctrl Shift Z"],
        "undo, redo",
        &[(ControlLetter('z'), Do::Undo), (ControlShiftLetter('z'), Do::Redo)],
    ),
    entry(
        Scope::Anywhere,
        &["E", "Shift E"],
        "export, again as last time",
        &[(Letter('e'), Do::Export), (ShiftLetter('e'), Do::ExportAgain)],
    ),
    entry(Scope::Anywhere, &["Ctrl C"], "copy the selected picture", &[(ControlLetter('c'), Do::CopyPicture)]),
    entry(
        Scope::Anywhere,
        &["Ctrl S", "Y"],
        "save session, Python",
        &[(ControlLetter('s'), Do::SaveSession), (Letter('y'), Do::Python)],
    ),
    entry(
        Scope::Anywhere,
        &["Space", "Shift Space"],
        "play patterns, next order",
        &[(Sign(" "), Do::Play), (ShiftSign(" "), Do::NextPlay)],
    ),
    entry(
        Scope::Anywhere,
        &[",", "."],
        "previous, next set",
        &[(Sign(","), Do::NextSet(-1)), (Sign("."), Do::NextSet(1))],
    ),
    entry(
        Scope::Anywhere,
        &["Ctrl ,", "Ctrl ."],
        "move the set in the order",
        &[(ControlLetter(','), Do::MoveSet(-1)), (ControlLetter('.'), Do::MoveSet(1))],
    ),
    entry(
        Scope::Anywhere,
        &["K", "Shift K"],
        "star, hide the set",
        &[(Letter('k'), Do::Star), (ShiftLetter('k'), Do::HideActive)],
    ),
    entry(
        Scope::Anywhere,
        &["G", "J"],
        "grid or one panel, play the sets",
        &[(Letter('g'), Do::Grid), (Letter('j'), Do::PlaySeries)],
    ),
    entry(Scope::Anywhere, &["Shift W"], "close the set", &[(ShiftLetter('w'), Do::CloseActive)]),
    entry(Scope::Anywhere, &["Q"], "image ⇄ pattern", &[(Letter('q'), Do::OtherPanel)]),
    entry(Scope::Anywhere, &["1"], "BF", &[(Digit(1), Do::Product(Product::Bf))]),
    entry(Scope::Anywhere, &["2"], "ABF", &[(Digit(2), Do::Product(Product::Abf))]),
    entry(
        Scope::Anywhere,
        &["3", "Shift 3"],
        "ADF, DF",
        &[(Digit(3), Do::Product(Product::Adf)), (ShiftDigit(3), Do::Product(Product::Df))],
    ),
    entry(Scope::Anywhere, &["4"], "HAADF", &[(Digit(4), Do::Product(Product::Haadf))]),
    entry(Scope::Anywhere, &["5"], "custom detector", &[(Digit(5), Do::Product(Product::Custom))]),
    entry(Scope::Anywhere, &["6"], "sum", &[(Digit(6), Do::Product(Product::Sum))]),
    entry(
        Scope::Anywhere,
        &["7", "Shift 7"],
        "centre of mass; next of colour, x, y, size",
        &[(Digit(7), Do::Product(Product::Com)), (ShiftDigit(7), Do::NextCom)],
    ),
    entry(
        Scope::Anywhere,
        &["8", "Shift 8"],
        "phase; next of phase, divergence, curl",
        &[(Digit(8), Do::Product(Product::Phase)), (ShiftDigit(8), Do::NextPhase)],
    ),
    entry(
        Scope::Anywhere,
        &["9", "Shift 9"],
        "standard deviation; next of it, variance",
        &[(Digit(9), Do::Product(Product::Std)), (ShiftDigit(9), Do::NextSpread)],
    ),
    entry(Scope::Anywhere, &["Shift A"], "find rotation", &[(ShiftLetter('a'), Do::FindRotation)]),
    entry(Scope::Panel, &["F", "Shift F"], "fit this, all", &[(Letter('f'), Do::Fit), (ShiftLetter('f'), Do::FitAll)]),
    entry(Scope::Panel, &["R"], "reset view and range", &[(Letter('r'), Do::Reset)]),
    entry(
        Scope::Panel,
        &["+", "−"],
        "zoom",
        &[(Sign("+"), Do::ZoomIn), (Sign("="), Do::ZoomIn), (Sign("-"), Do::ZoomOut), (Sign("−"), Do::ZoomOut)],
    ),
    entry(Scope::Panel, &["L"], "next scale", &[(Letter('l'), Do::NextScale)]),
    entry(Scope::Panel, &["C"], "next colour map", &[(Letter('c'), Do::NextMap)]),
    entry(
        Scope::Panel,
        &["B", "Shift B"],
        "auto range, lock",
        &[(Letter('b'), Do::AutoRange), (ShiftLetter('b'), Do::LockRange)],
    ),
    entry(Scope::Panel, &["M"], "maximise", &[(Letter('m'), Do::Maximise)]),
    entry(Scope::Panel, &["P"], "next smoothing", &[(Letter('p'), Do::NextSmoothing)]),
    entry(Scope::Panel, &["Shift C"], "invert colours", &[(ShiftLetter('c'), Do::InvertMap)]),
    entry(Scope::Panel, &["H"], "hide overlays", &[(Letter('h'), Do::Overlays)]),
    entry(Scope::Pattern, &["←", "↑", "→", "↓"], "move 1 px; Shift 10, Ctrl 0.1", ARROWS),
    entry(Scope::Detector, &["[", "]"], "outer radius − +", &[(Sign("["), Do::Grow(-1)), (Sign("]"), Do::Grow(1))]),
    entry(Scope::Detector, &["{", "}"], "inner radius − +", &[(Sign("{"), Do::Hollow(-1)), (Sign("}"), Do::Hollow(1))]),
    entry(Scope::Detector, &["<", ">"], "turn −1° +1°", &[(Sign("<"), Do::Rotate(-1)), (Sign(">"), Do::Rotate(1))]),
    entry(
        Scope::Detector,
        &["D", "Shift D"],
        "next, previous detector shape",
        &[(Letter('d'), Do::NextShape(1)), (ShiftLetter('d'), Do::NextShape(-1))],
    ),
    entry(Scope::Pattern, &["Delete"], "remove the held corner", &[(Named("Delete"), Do::RemoveVertex)]),
    entry(Scope::Detector, &["X"], "invert", &[(Letter('x'), Do::Invert)]),
    entry(Scope::Detector, &["A"], "find disc, centre", &[(Letter('a'), Do::FindDisc)]),
    entry(Scope::Detector, &["N"], "type the numbers", &[(Letter('n'), Do::TypeNumbers)]),
    entry(Scope::Image, &["←", "↑", "→", "↓"], "move 1 position; Shift 10", ARROWS),
    entry(
        Scope::Image,
        &["Home", "End"],
        "line start, end",
        &[(Named("Home"), Do::LineStart), (Named("End"), Do::LineEnd)],
    ),
    entry(Scope::Image, &["S"], "next scan tool", &[(Letter('s'), Do::NextTool)]),
    entry(Scope::Image, &["Delete"], "remove region and line", &[(Named("Delete"), Do::RemoveRegion)]),
    entry(Scope::Image, &["V"], "what the pattern shows", &[(Letter('v'), Do::NextPattern)]),
];

const fn entry(
    scope: Scope,
    shown: &'static [&'static str],
    text: &'static str,
    presses: &'static [(Press, Command)],
) -> Entry {
    Entry { scope, shown, text, presses }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(key: &str, code: &str, shift: bool) -> Option<Command> {
        command(Stroke { key, code, shift, control: false }, Panel::Image)
    }

    #[test]
    fn letters_go_by_what_they_print_and_digits_by_where_they_lie() {
        assert_eq!(press("o", "KeyO", false), Some(Command::OpenFiles));
        assert_eq!(press("O", "KeyO", true), Some(Command::OpenFolder));
        assert_eq!(press("&", "Digit1", false), Some(Command::Product(Product::Bf)), "AZERTY");
        assert_eq!(press("{", "Digit4", true), Some(Command::Hollow(-1)));
    }

    #[test]
    fn control_leaves_letters_to_the_browser_but_makes_small_steps() {
        let stroke = |key, code| Stroke { key, code, shift: false, control: true };
        assert_eq!(command(stroke("o", "KeyO"), Panel::Image), None);
        let left = Command::Nudge { rows: 0, cols: -1 };
        assert_eq!(command(stroke("ArrowLeft", "ArrowLeft"), Panel::Pattern), Some(left));
    }

    #[test]
    fn control_and_letters_of_the_table_are_taken() {
        let stroke = |key, shift| Stroke { key, code: "KeyZ", shift, control: true };
        assert_eq!(command(stroke("z", false), Panel::Image), Some(Command::Undo));
        assert_eq!(command(stroke("Z", true), Panel::Image), Some(Command::Redo));
        assert_eq!(
            (press(" ", "Space", false), press(" ", "Space", true)),
            (Some(Command::Play), Some(Command::NextPlay))
        );
    }

    #[test]
    fn no_press_means_two_things_in_one_scope() {
        let overlap =
            |a: Scope, b: Scope| !matches!((a, b), (Scope::Pattern, Scope::Image) | (Scope::Image, Scope::Pattern));
        for (place, a) in TABLE.iter().enumerate() {
            for b in TABLE[place + 1..].iter().filter(|b| overlap(a.scope, b.scope)) {
                for (press, _) in a.presses {
                    assert!(
                        b.presses.iter().all(|(other, _)| other != press),
                        "{press:?} in {} and {}",
                        a.text,
                        b.text
                    );
                }
            }
        }
    }
}
