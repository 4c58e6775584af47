//! The sheet that lists all datasets of the files: a tree in which one is chosen.

use std::rc::Rc;

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlDialogElement, HtmlElement, KeyboardEvent};

use super::{
    Shell,
    dom::{Dom, escaped},
    input::on,
    sheets,
};
use crate::{
    Error,
    acquisition::{
        contents::{Contents, Described, Entry, What},
        counted, sides,
    },
    app::App,
    display::bytes,
};

/// Opens the sheet.
pub fn show(dom: &Dom, app: &App) {
    draw(dom, app);
    sheets::toggle(dom, "datasets");
    focus_first(dom);
}

/// The dataset that is shown, else the first that can be.
fn focus_first(dom: &Dom) {
    let rows = rows(dom);
    let is_shown = |row: &&HtmlElement| row.has_attribute("aria-current");
    let first = rows.iter().find(is_shown).or_else(|| rows.iter().find(|row| row.has_attribute("data-do")));
    first.or(rows.first()).into_iter().for_each(focus);
}

/// Keeps the sheet true while it is open; a closed one costs a frame nothing.
pub fn update(dom: &Dom, app: &App) {
    if !dom.by_id::<HtmlDialogElement>("datasets").is_ok_and(|dialog| dialog.open()) {
        return;
    }
    let was_waiting = rows(dom).is_empty();
    draw(dom, app);
    if was_waiting {
        focus_first(dom);
    }
}

fn draw(dom: &Dom, app: &App) {
    let Some(files) = &app.contents else {
        return dom.html("datasets-body", "<p class=\"quiet\" role=\"status\">Looking at the files …</p>");
    };
    let shown = app.set.as_ref().map(|set| (set.acquisition.name.as_str(), set.acquisition.dataset.as_str()));
    let mut place = 0;
    let mut html = String::new();
    for (number, file) in files.iter().enumerate() {
        html += &head(file, number == 0);
        for entry in &file.entries {
            let is_shown = shown == Some((file.file.as_str(), entry.path.as_str()));
            html += &row(entry, place, is_shown);
            place += 1;
        }
        if file.is_cut_off {
            html += "<p class=\"quiet\">The file holds more; only this much is listed.</p>";
        }
    }
    let tree = format!("<div role=\"tree\" aria-labelledby=\"datasets-title\" id=\"dataset-tree\">{html}</div>");
    dom.html("datasets-body", &tree);
}

/// A file is the root of its own tree.
fn head(file: &Contents, is_first: bool) -> String {
    let why = file.error.as_ref().map(reason).unwrap_or_default();
    // One row is the stop of the Tab key.
    let stop = if is_first { "0" } else { "-1" };
    format!(
        "<div role=\"treeitem\" class=\"node file\" aria-level=\"1\" aria-expanded=\"true\" tabindex=\"{stop}\"><b>{}</b>\
         <span class=\"quiet\">{}</span>{why}</div>",
        escaped(&file.file),
        bytes(file.len_bytes)
    )
}

fn row(entry: &Entry, place: usize, is_shown: bool) -> String {
    let name = entry.path.rsplit('/').next().unwrap_or_default();
    let level = entry.depth + 2;
    let start = |more: &str| {
        format!("<div role=\"treeitem\" aria-level=\"{level}\" style=\"--level:{level}\" tabindex=\"-1\" {more}>")
    };
    match &entry.what {
        What::Group => start("class=\"node\" aria-expanded=\"true\"") + &format!("<b>{}</b></div>", escaped(name)),
        What::Links { count, picked, first } => {
            let words = format!(
                "{} to {}{}; {picked} of these files {} open",
                counted((*count).into(), "link"),
                first,
                if *count > 1 { " …" } else { "" },
                if *picked == 1 { "is" } else { "are" }
            );
            start("class=\"node\"") + &format!("<span class=\"quiet\">{}</span></div>", escaped(&words))
        }
        What::Broken(e) => {
            start("class=\"node\" aria-disabled=\"true\"") + &format!("<b>{}</b>{}</div>", escaped(name), reason(e))
        }
        What::Dataset(found) => {
            let can_open = format!("class=\"node dataset\" data-do=\"open-dataset {place}\"");
            let current = if is_shown { " aria-current=\"true\"" } else { "" };
            let more = match found.refusal {
                None => can_open + current,
                Some(_) => "class=\"node dataset\" aria-disabled=\"true\"".to_owned(),
            };
            start(&more)
                + &format!(
                    "<b>{}</b>{}{}</div>",
                    escaped(name),
                    described(found),
                    if is_shown { "<small>shown now</small>" } else { "" }
                )
        }
    }
}

fn described(found: &Described) -> String {
    let shape = if found.dims.is_empty() { "single value".to_owned() } else { sides(&found.dims) };
    let stored = match found.filters.as_slice() {
        [] => found.layout.clone(),
        filters => format!("{}, {}", found.layout, filters.join(", ")),
    };
    let why = found.refusal.as_ref().map(reason).unwrap_or_default();
    format!(
        "<span class=\"sides\">{shape}</span><span>{}</span><span class=\"quiet stored\">{}</span>{why}",
        escaped(&found.dtype),
        escaped(&stored)
    )
}

/// Why something cannot be shown.
fn reason(error: &Error) -> String {
    let found = if error.found.is_empty() { String::new() } else { format!(": {}", error.found) };
    format!("<span class=\"reason\">{}</span>", escaped(&format!("{}{found}", error.what)))
}

/// Keys of a tree: up, down, first, last; right opens, left closes or goes to the parent; Enter chooses.
///
/// # Errors
/// Names what is not in `index.html`.
pub fn listen(shell: &Rc<Shell>) -> Result<(), JsValue> {
    let body: HtmlElement = shell.by_id("datasets-body")?;
    on(shell, &body, "keydown", |shell, event: KeyboardEvent| {
        let dom = shell.dom();
        let rows = rows(&dom);
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let at = rows.iter().position(|row| target.as_ref() == Some(row.as_ref()));
        let Some((at, row)) = at.and_then(|at| Some((at, rows.get(at)?))) else { return };
        match event.key().as_str() {
            "ArrowDown" => step(&rows, at, 1),
            "ArrowUp" => step(&rows, at, -1),
            "Home" => step(&rows, 0, 0),
            "End" => rows.iter().rev().find(is_visible).into_iter().for_each(focus),
            "ArrowRight" if is_open(row) == Some(false) => fold(&rows, at, true),
            "ArrowRight" if is_open(row) == Some(true) => step(&rows, at, 1),
            "ArrowLeft" if is_open(row) == Some(true) => fold(&rows, at, false),
            "ArrowLeft" => {
                let parent = rows[..at].iter().rev().find(|other| level(other) < level(row));
                parent.into_iter().for_each(focus);
            }
            "Enter" | " " if is_open(row).is_some() => fold(&rows, at, is_open(row) == Some(false)),
            "Enter" | " " => row.click(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    })?;
    on(shell, &body, "click", |shell, event: web_sys::MouseEvent| {
        let rows = rows(&shell.dom());
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let row = target.and_then(|target| target.closest("[role=treeitem]").ok().flatten());
        let at = rows.iter().position(|other| row.as_ref() == Some(other.as_ref()));
        if let Some((at, row)) = at.and_then(|at| Some((at, rows.get(at)?))) {
            focus(row);
            if let Some(is_open) = is_open(row) {
                fold(&rows, at, !is_open);
            }
        }
    })
}

fn rows(dom: &Dom) -> Vec<HtmlElement> {
    let Ok(found) = dom.document.query_selector_all("#dataset-tree [role=treeitem]") else { return Vec::new() };
    (0..found.length()).filter_map(|place| found.get(place)?.dyn_into().ok()).collect()
}

fn is_visible(row: &&HtmlElement) -> bool {
    !row.has_attribute("hidden")
}

/// `None` for what holds nothing.
fn is_open(row: &HtmlElement) -> Option<bool> {
    row.get_attribute("aria-expanded").map(|expanded| expanded == "true")
}

fn level(row: &HtmlElement) -> u32 {
    row.get_attribute("aria-level").and_then(|level| level.parse().ok()).unwrap_or(1)
}

/// The next visible row that way.
fn step(rows: &[HtmlElement], at: usize, by: i32) {
    let next = match by {
        1 => rows.iter().skip(at + 1).find(is_visible),
        -1 => rows[..at].iter().rev().find(is_visible),
        _ => rows.get(at),
    };
    next.into_iter().for_each(focus);
}

/// The tree is one stop of the Tab key.
fn focus(row: &HtmlElement) {
    if let Ok(Some(old)) =
        row.owner_document().map_or(Ok(None), |page| page.query_selector("#dataset-tree [tabindex='0']"))
    {
        super::set(&old, "tabindex", "-1");
    }
    super::set(row, "tabindex", "0");
    let _ = row.focus();
}

/// Shows or hides what a row holds; what was closed inside stays closed.
fn fold(rows: &[HtmlElement], at: usize, is_open: bool) {
    let Some(row) = rows.get(at) else { return };
    super::set(row, "aria-expanded", if is_open { "true" } else { "false" });
    let mut closed = None;
    for inner in rows[at + 1..].iter().take_while(|inner| level(inner) > level(row)) {
        if closed.is_some_and(|closed| level(inner) > closed) {
            continue;
        }
        closed = None;
        let _ = inner.toggle_attribute_with_force("hidden", !is_open);
        if is_open && self::is_open(inner) == Some(false) {
            closed = Some(level(inner));
        }
    }
}
