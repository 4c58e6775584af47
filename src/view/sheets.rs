//! The sheets over the page: what was read, what can be saved, and the keys.

use web_sys::HtmlDialogElement;

use super::dom::{Dom, escaped};
use crate::{
    app::{
        App, Panel,
        exports::Format,
        keys::{Scope, TABLE},
    },
    display::bytes,
};

/// Fills the key sheet from the table that dispatches.
pub fn fill_keys(dom: &Dom) {
    let mut html = String::new();
    for scope in Scope::ALL {
        html += &format!("<section><h3>{}</h3>", scope.title());
        for entry in TABLE.iter().filter(|entry| entry.scope == scope) {
            let keys: String = entry.shown.iter().map(|key| format!("<kbd>{}</kbd>", escaped(key))).collect();
            html += &format!("<div class=\"key-row\"><span>{}</span><span>{keys}</span></div>", escaped(entry.text));
        }
        html += "</section>";
    }
    html += "<section><h3>Pointer</h3>";
    for (what, how) in [
        ("detector", "drag body, edge, knob"),
        ("fine; constrained", "Shift; Alt or Ctrl"),
        ("zoom at the pointer", "wheel"),
        ("pan", "right or middle button"),
        ("touch: pan and zoom", "two fingers"),
        ("range", "drag handles, span"),
        ("auto range, fit", "double click"),
    ] {
        html += &format!("<div class=\"key-row\"><span>{what}</span><span class=\"quiet\">{how}</span></div>");
    }
    dom.html("keys-body", &(html + "</section>"));
}

/// Fills the information panel.
pub fn fill_information(dom: &Dom, app: &App) {
    let mut html = String::new();
    for section in app.information() {
        let rows: String = section
            .rows
            .iter()
            .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value)))
            .collect();
        html += &format!("<section><h3>{}</h3><dl class=\"rows\">{rows}</dl></section>", section.title);
    }
    dom.html("information-body", &(html + &stages(app)));
}

/// The load as bars on one time axis.
fn stages(app: &App) -> String {
    let end = app.stages().iter().fold(0.0, |end: f64, stage| end.max(stage.end_ms));
    if end <= 0.0 {
        return String::new();
    }
    let bar = |stage: &crate::app::event::StageTime| {
        let (left, width) = (100.0 * stage.start_ms / end, 100.0 * (stage.end_ms - stage.start_ms) / end);
        format!(
            "<div><span>{}</span><i style=\"margin-left:{left:.2}%;width:max(1px,{width:.2}%)\"></i><span>{:.0} ms</span></div>",
            escaped(&stage.name),
            stage.end_ms - stage.start_ms
        )
    };
    let bars: String = app.stages().iter().map(bar).collect();
    format!("<section><h3>Load</h3><div class=\"stages\">{bars}</div></section>")
}

/// Fills the sheet of exports: what can be saved of the selected panel.
pub fn fill_export(dom: &Dom, app: &App) {
    for panel in Panel::ALL {
        let id = format!("export-{}", panel.id());
        if let Some(button) = dom.find(&id) {
            let is_chosen = app.selected == panel;
            dom.attribute(&button, &id, "aria-checked", if is_chosen { "true" } else { "false" });
            dom.attribute(&button, &id, "tabindex", if is_chosen { "0" } else { "-1" });
        }
    }
    let row = |(place, format): (usize, Format)| {
        let size = app.export_bytes(format, app.selected).map(bytes).unwrap_or_default();
        format!(
            "<button type=\"button\" class=\"export-row\" data-do=\"export-as {place}\"><b>{}</b><span class=\"quiet\">{}</span>\
             <span class=\"quiet\">{size}</span></button>",
            format.name(),
            format.words()
        )
    };
    let rows: String = Format::ALL.into_iter().enumerate().map(row).collect();
    dom.html("export-rows", &rows);
    dom.text("export-what", &app.export_title(app.selected));
}

/// Opens a sheet, or closes it when it is open.
pub fn toggle(dom: &Dom, id: &str) {
    let Ok(dialog) = dom.by_id::<HtmlDialogElement>(id) else { return };
    if dialog.open() {
        dialog.close();
    } else {
        close_all(dom);
        // Fails only for a dialog that is open already.
        let _ = dialog.show_modal();
    }
}

pub fn close_all(dom: &Dom) {
    for id in ["information", "datasets", "keys", "export", "python", "help", "address-sheet"] {
        if let Ok(dialog) = dom.by_id::<HtmlDialogElement>(id) {
            dialog.close();
        }
    }
}
