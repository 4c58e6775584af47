//! The sidebar's cards, the messages, and what stands in the left square while no set is open.

use super::{
    deflection,
    dom::{Dom, escaped},
};
use crate::{
    Error, Kind,
    acquisition::{Acquisition, AxisOrder, counted, sides},
    app::{
        App, Command, Panel, Stage,
        deflection::degrees,
        detector::{SHAPES, centre_of, kind},
        event::Entry,
        notices,
        words::{self, Row, Tone},
    },
    display::{bytes, count, count_signed, value},
    products::{DetectorShape, Flip},
};

/// Fills all cards.
pub fn draw(dom: &Dom, app: &App) {
    dom.html("messages", &messages(app));
    dom.html("computer", &rows(&app.computer_rows()));
    draw_copies(dom, app);
    match app.stage() {
        Stage::Opening => {
            let files = app.opening.unwrap_or(0);
            let words = if files == 1 { "1 file".to_owned() } else { format!("{} files", count(files.into())) };
            dom.text("wait-names", &format!("Looking at {words}: what was measured, and where the patterns lie."));
        }
        Stage::Refused => {
            if let Some(error) = &app.refusal {
                dom.html("refusal", &refusal(error));
            }
        }
        Stage::Choice => dom.html("choice", &choice(app)),
        Stage::Reading | Stage::Set => draw_set(dom, app),
        Stage::Empty => {}
    }
}

fn draw_copies(dom: &Dom, app: &App) {
    let (words, keep) = (app.copies_words(), app.keep_words());
    dom.show("copies", !words.is_empty());
    dom.text("copies-words", &words);
    dom.show("keep", keep.is_some());
    dom.text("keep", &keep.unwrap_or_default());
    dom.show("clear-copies", app.has_copies());
}

fn draw_set(dom: &Dom, app: &App) {
    dom.html("reading", &rows(&app.reading_rows()));
    dom.html("set", &rows(&app.set_rows()));
    deflection::draw(dom, app);
    draw_scales(dom, app);
    dom.html("disc", &disc(app));
    dom.html("scan-chips", &chips(app));
    if let Some(set) = &app.set {
        dom.text("scan-brief", &words::shape(set.shape()));
        field(dom, app, "scan-shape", Entry::ScanShape, &words::shape(set.shape()));
    }
    let wrong = |entry| app.wrong_entry.as_ref().filter(|(wrong, _)| *wrong == entry).map(|(_, why)| why.as_str());
    field(dom, app, "scan-offset", Entry::ScanOffset, &count_signed(app.state.order.offset));
    dom.check("snake", app.state.order.snake);
    let wrong_scan = wrong(Entry::ScanShape).or(wrong(Entry::ScanOffset));
    dom.text("scan-why", wrong_scan.unwrap_or(&app.scan_why()));
    class(dom, "scan-why", wrong_scan.is_some());
    draw_choices(dom, app);
    draw_fields(dom, app);
    for (id, entries) in [
        ("field-why", DETECTOR_ENTRIES.as_slice()),
        ("more-image-why", &[Entry::Gamma(Panel::Image), Entry::Low(Panel::Image), Entry::High(Panel::Image)]),
        ("more-pattern-why", &[Entry::Gamma(Panel::Pattern), Entry::Low(Panel::Pattern), Entry::High(Panel::Pattern)]),
        ("com-why", &[Entry::Within, Entry::ComX, Entry::ComY]),
        ("integral-why", &[Entry::HighPass, Entry::Regularisation]),
    ] {
        let wrong = app.wrong_entry.as_ref().filter(|(entry, _)| entries.contains(entry));
        dom.text(id, wrong.map_or("", |(_, why)| why));
        class(dom, id, true);
    }
}

const DETECTOR_ENTRIES: [Entry; 9] = [
    Entry::Inner,
    Entry::Outer,
    Entry::Width,
    Entry::Height,
    Entry::CentreX,
    Entry::CentreY,
    Entry::Turn,
    Entry::Span,
    Entry::Corners,
];

/// The scales' fields, in their usual units, and where each comes from.
fn draw_scales(dom: &Dom, app: &App) {
    let measures = app.measures();
    let alpha = app.state.scales.alpha_mrad.or_else(|| Some(measures.mrad_per_px? * app.state.disc?.radius));
    let mut wrong = None;
    for (id, entry, scale) in [
        ("scale-step", Entry::Step, measures.step_nm),
        ("scale-angle", Entry::MradPerPx, measures.mrad_per_px),
        ("scale-alpha", Entry::Alpha, alpha),
        ("scale-energy", Entry::Energy, measures.energy_ev.map(|ev| ev / 1e3)),
    ] {
        field(dom, app, id, entry, &scale.map(brief).unwrap_or_default());
        wrong = wrong.or(app.wrong_entry.as_ref().filter(|(other, _)| *other == entry).map(|(_, why)| why.clone()));
    }
    class(dom, "scale-why", wrong.is_some());
    dom.text("scale-why", &wrong.unwrap_or_else(|| app.calibration_words()));
}

/// A number without zeros at its end: fields are narrow.
fn brief(number: f64) -> String {
    let text = value(number);
    let has_point = text.contains('.') && !text.contains('×');
    if has_point { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

pub(super) fn class(dom: &Dom, id: &str, is_wrong: bool) {
    if let Some(element) = dom.find(id) {
        dom.attribute(&element, id, "class", if is_wrong { "why wrong" } else { "why" });
    }
}

/// Channel, order of the axes, flip and hot pixels, where there is a choice.
fn draw_choices(dom: &Dom, app: &App) {
    let Some(set) = &app.set else { return };
    let channels = &set.acquisition.channels;
    dom.show("f-channel", channels.len() > 1);
    pick(dom, "channel", channels.iter().map(String::as_str), set.acquisition.channel as usize);
    let orders = app.axis_orders();
    dom.show("f-axes", orders.len() > 1);
    let names: Vec<String> = orders.iter().map(AxisOrder::brief).collect();
    pick(dom, "axes", names.iter().map(String::as_str), 0);
    dom.text("axes-why", if orders.len() > 1 { app.axes_why() } else { String::new() }.as_str());
    let flip = Flip::ALL.iter().position(|flip| *flip == set.flip()).unwrap_or(0);
    pick(dom, "flip", Flip::ALL.map(Flip::words).into_iter(), flip);
    let hot = app.hot_words();
    dom.show("f-hot", hot.is_some());
    dom.text("hot-words", &hot.unwrap_or_default());
    dom.check("exclude-hot", set.hot_is_excluded);
}

/// The options of a menu, by number, and which one holds.
pub(super) fn pick<'a>(dom: &Dom, id: &str, names: impl Iterator<Item = &'a str>, chosen: usize) {
    let option = |(place, name)| format!("<option value=\"{place}\">{}</option>", escaped(name));
    dom.html(id, &names.enumerate().map(option).collect::<String>());
    dom.value(id, &chosen.to_string());
}

/// The detector's numbers, in mrad where the set is calibrated.
fn draw_fields(dom: &Dom, app: &App) {
    let shown = app.detector_shape();
    let shape = shown.as_ref().map(|(shape, _)| shape);
    let (per_px, unit) = app.mrad_per_px().map_or((1.0, "px"), |mrad| (mrad, "mrad"));
    let length = |px: f64| format!("{:.1}", px * per_px);
    let (inner, outer) = match shape {
        Some(DetectorShape::Annulus { inner, outer, .. } | DetectorShape::Wedge { inner, outer, .. }) => {
            (Some(*inner), Some(*outer))
        }
        Some(DetectorShape::Disc { outer, .. }) => (None, Some(*outer)),
        _ => (None, None),
    };
    let (width, height) = match shape {
        Some(DetectorShape::Rect { width, height, .. }) => (Some(*width), Some(*height)),
        Some(DetectorShape::Ellipse { half_rows, half_cols, .. }) => (Some(2.0 * half_cols), Some(2.0 * half_rows)),
        _ => (None, None),
    };
    let (turn, span) = match shape {
        Some(DetectorShape::Ellipse { angle, .. }) => (Some(*angle), None),
        Some(DetectorShape::Wedge { from, to, .. }) => (Some(*from), Some((to - from).rem_euclid(360.0))),
        _ => (None, None),
    };
    for (id, entry, angle) in [("turn", Entry::Turn, turn), ("span", Entry::Span, span)] {
        dom.show(&format!("f-{id}"), angle.is_some());
        field(dom, app, id, entry, &angle.map(degrees).unwrap_or_default());
    }
    let corners = match shape {
        Some(DetectorShape::Polygon { points }) => {
            Some(points.iter().map(|[row, col]| format!("{col:.1}, {row:.1}")).collect::<Vec<_>>().join("; "))
        }
        _ => None,
    };
    dom.show("f-corners", corners.is_some());
    field(dom, app, "corners", Entry::Corners, &corners.unwrap_or_default());
    for (id, place, entry, px) in [
        ("inner", "f-inner", Entry::Inner, inner),
        ("outer", "f-outer", Entry::Outer, outer),
        ("width", "f-width", Entry::Width, width),
        ("height", "f-height", Entry::Height, height),
    ] {
        dom.show(place, px.is_some());
        field(dom, app, id, entry, &px.map(length).unwrap_or_default());
        dom.text(&format!("{id}-unit"), unit);
    }
    let centre = shape.and_then(centre_of).map(|at| at.map(|px| format!("{px:.1}")));
    let [row, col] = centre.unwrap_or_default();
    field(dom, app, "centre-x", Entry::CentreX, &col);
    field(dom, app, "centre-y", Entry::CentreY, &row);
    let inverted = shown.as_ref().is_some_and(|(_, inverted)| *inverted);
    dom.pressed("invert", inverted);
    let chosen = shape.and_then(kind);
    for (place, (name, _)) in SHAPES.iter().enumerate() {
        let id = format!("shape-{name}");
        if let Some(element) = dom.find(&id) {
            let is_chosen = chosen == Some(place);
            dom.attribute(&element, &id, "aria-checked", if is_chosen { "true" } else { "false" });
            // The group is one stop of the Tab key.
            let is_stop = is_chosen || chosen.is_none() && place == 1;
            dom.attribute(&element, &id, "tabindex", if is_stop { "0" } else { "-1" });
        }
    }
}

/// A field keeps a wrong entry, marked.
pub(super) fn field(dom: &Dom, app: &App, id: &str, entry: Entry, value: &str) {
    let is_wrong = app.wrong_entry.as_ref().is_some_and(|(wrong, _)| *wrong == entry);
    if let Some(element) = dom.find(id) {
        dom.attribute(&element, id, "aria-invalid", if is_wrong { "true" } else { "false" });
    }
    if !is_wrong {
        dom.value(id, value);
    }
}

pub(super) fn rows(rows: &[Row]) -> String {
    rows.iter()
        .map(|row| {
            let class = match row.tone {
                Tone::Plain => "",
                Tone::Good => " class=\"ok-ink\"",
                Tone::Warning => " class=\"warn-ink\"",
            };
            let remark = match row.remark.as_str() {
                "" => String::new(),
                remark => format!(" <small>{}</small>", escaped(remark)),
            };
            format!("<dt>{}</dt><dd{class}>{}{remark}</dd>", escaped(row.name), escaped(&row.value))
        })
        .collect()
}

fn disc(app: &App) -> String {
    let mut html = rows(&app.disc_rows());
    if let Some(offer) = app.refit_offer() {
        html += &format!(
            "<div class=\"offer\"><p>{}</p><button type=\"button\" class=\"btn\" data-do=\"find-disc\">Fit again</button></div>",
            escaped(&offer)
        );
    }
    html
}

/// Other shapes that fit, each a button.
fn chips(app: &App) -> String {
    let alternatives = app.set.as_ref().map(|set| set.scan.alternatives.as_slice()).unwrap_or_default();
    let chip = |(place, shape)| {
        format!("<button type=\"button\" data-do=\"scan-shape {place}\">{}</button>", words::shape(shape))
    };
    alternatives.iter().copied().enumerate().take(6).map(chip).collect()
}

fn messages(app: &App) -> String {
    let mut html = String::new();
    for (place, message) in app.messages.iter().enumerate() {
        let kind = match message.level {
            crate::app::Level::Note => "note-card",
            crate::app::Level::Warning => "warning",
            crate::app::Level::Fault => "fault",
        };
        html += &card(&message.error, kind, &message.actions(), Some(place));
    }
    if let Some(error) = app.gpu_notice().filter(|_| !app.gpu_notice_hidden) {
        html += &card(&error, "note-card", &notices::actions(&error), None);
    }
    html
}

/// A message: what, where, expected, found, what to do, and its buttons.
fn card(error: &Error, kind: &str, actions: &[(&str, Command)], place: Option<usize>) -> String {
    let icon = if kind == "note-card" { "i-info" } else { "i-warn" };
    let tone = match kind {
        "fault" => " error-ink",
        "warning" => " warn-ink",
        _ => "",
    };
    let role = if kind == "note-card" { "status" } else { "alert" };
    let hide = place.map_or("hide-gpu-notice".to_owned(), |place| format!("hide {place}"));
    let mut html = format!(
        "<section class=\"card message {kind}\" role=\"{role}\"><header><svg class=\"i{tone}\" aria-hidden=\"true\"><use href=\"#{icon}\"/></svg>\
         <h3>{}</h3><span class=\"grow\"></span><button type=\"button\" class=\"icon\" data-do=\"{hide}\" aria-label=\"Hide this message (Esc)\">\
         <svg class=\"i\" aria-hidden=\"true\"><use href=\"#i-close\"/></svg></button></header>",
        escaped(&error.what)
    );
    html += &body(error);
    html += &format!(
        "<p><button type=\"button\" class=\"text\" data-do=\"why {}\" aria-label=\"Why? Help on: {}\">Why?</button></p>",
        notices::help(error),
        escaped(&error.what)
    );
    if !actions.is_empty() {
        let button = |(name, command): &(&str, Command)| {
            command
                .name()
                .map(|word| format!("<button type=\"button\" class=\"btn\" data-do=\"{word}\">{name}</button>"))
        };
        let buttons: String = actions.iter().filter_map(button).collect();
        html += &format!("<div class=\"row\">{buttons}</div>");
    }
    html + "</section>"
}

fn body(error: &Error) -> String {
    let mut html = String::new();
    if !error.place.is_empty() {
        html += &format!("<p class=\"quiet\">{}</p>", escaped(&error.place));
    }
    let parts: Vec<Row> = [("Expected", &error.expected), ("Found", &error.found)]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| Row::new(name, text.as_str()))
        .collect();
    if !parts.is_empty() {
        html += &format!("<dl class=\"pairs\">{}</dl>", rows(&parts));
    }
    if !error.action.is_empty() {
        html += &format!("<p>{}.</p>", escaped(error.action.trim_end_matches('.')));
    }
    html
}

/// Why nothing could be opened, in place of the drop text.
fn refusal(error: &Error) -> String {
    let cpu = match error.kind {
        Kind::Gpu => "<button type=\"button\" class=\"btn\" data-do=\"use-cpu\">Use the processor</button>",
        _ => "",
    };
    let datasets = match &*error.key {
        "not_hdf5" | "empty_file" | "no_files" => "",
        _ if error.kind == Kind::Gpu || error.kind == Kind::Io => "",
        _ => "<button type=\"button\" class=\"btn\" data-do=\"datasets\">Choose dataset…</button>",
    };
    format!(
        "<svg class=\"big\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><use href=\"#i-warn\"/></svg><h2>{}</h2>{}\
         <div class=\"row\"><button type=\"button\" class=\"btn first\" data-do=\"open-files\">Open files… <kbd>O</kbd></button>\
         <button type=\"button\" class=\"btn\" data-do=\"open-folder\">Open folder…</button>{cpu}{datasets}\
         <button type=\"button\" class=\"btn\" data-do=\"open-demo\">Demo</button></div>",
        escaped(&error.what),
        body(error)
    )
}

/// A file with several datasets that may be meant.
fn rivals(set: &Acquisition) -> String {
    let number = set.stored.rivals.len() as u64 + 1;
    let likely = format!("{}, {}", set.dataset, sides(&set.stored.dims));
    format!(
        "<h2>Which dataset?</h2><p>{} of {} may be the patterns. The largest is {}.</p>\
         <div class=\"row\"><button type=\"button\" class=\"btn first\" data-do=\"datasets\">Choose dataset… <kbd>Shift I</kbd></button>\
         <button type=\"button\" class=\"btn\" data-do=\"open-files\">Open files…</button></div>",
        counted(number, "dataset"),
        escaped(&set.name),
        escaped(&likely)
    )
}

fn choice(app: &App) -> String {
    if let [set] = app.choice.as_slice() {
        return rivals(set);
    }
    let set = |(place, set): (usize, &std::rc::Rc<crate::acquisition::Acquisition>)| {
        let size: u64 = set.files.iter().map(|file| file.len_bytes).sum();
        let detector = set.detector;
        format!(
            "<button type=\"button\" data-do=\"choose {place}\"><b>{}</b><small>{} patterns of {} × {} px, {}</small></button>",
            escaped(&set.name),
            words::shape(set.scan.shape),
            detector.rows,
            detector.cols,
            bytes(size)
        )
    };
    let sets: String = app.choice.iter().enumerate().map(set).collect();
    format!(
        "<h2>{} sets</h2><p>These files are several acquisitions: open all of them as a series, or one.</p>\
         <div class=\"row\"><button type=\"button\" class=\"btn first\" data-do=\"open-all\">Open all as a series</button></div>\
         <div class=\"sets\">{sets}</div>",
        count(app.choice.len() as u64)
    )
}
