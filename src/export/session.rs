//! The session file: which files are open, what was chosen of them, and the whole view, as JSON.

use serde::{Deserialize, Serialize};

use crate::{
    Error, Kind,
    acquisition::{Acquisition, AxisOrder, Options, Place},
    app::ViewState,
    display::bytes,
};

/// What a session file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionFile {
    /// Version of what wrote it.
    pub planescope: String,
    /// The set's name: its master, or only file.
    pub set: String,
    pub files: Vec<NamedFile>,
    pub dataset: String,
    pub axes: AxisOrder,
    pub channel: u32,
    pub view: ViewState,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedFile {
    pub name: String,
    pub bytes: u64,
}

/// A session is small; a larger file is something else.
pub const LONGEST_BYTES: u64 = 1 << 22;

impl SessionFile {
    pub fn of(set: &Acquisition, view: &ViewState) -> Self {
        let file = |file: &crate::acquisition::UsedFile| NamedFile { name: file.name.clone(), bytes: file.len_bytes };
        Self {
            planescope: env!("CARGO_PKG_VERSION").to_owned(),
            set: set.name.clone(),
            files: set.files.iter().map(file).collect(),
            dataset: set.dataset.clone(),
            axes: set.stored.axes.order,
            channel: set.channel,
            view: view.clone(),
        }
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// # Errors
    /// `File` (key `bad_session`) for anything that is no session.
    pub fn read(name: &str, text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|cause| {
            Error::new(Kind::File, "bad_session", "This is no session file")
                .at(name)
                .expected("JSON as “Save session” writes it")
                .found(cause.to_string())
                .action("Open the .h5 files themselves")
        })
    }

    /// What is to be chosen of the files.
    pub fn options(&self) -> Options {
        let dataset = Some(Place { file: self.set.clone(), path: self.dataset.clone() });
        Options { channel: self.channel, dataset, axes: Some(self.axes), set: Some(self.set.clone()) }
    }

    /// How the open files differ from those of the session; empty where they do not.
    pub fn differences(&self, set: &Acquisition) -> Vec<String> {
        let mut found = Vec::new();
        for file in &self.files {
            match set.files.iter().find(|open| open.name == file.name) {
                None => found.push(format!("{} is not there", file.name)),
                Some(open) if open.len_bytes != file.bytes => {
                    found.push(format!("{} has {}, not {}", file.name, bytes(open.len_bytes), bytes(file.bytes)))
                }
                Some(_) => {}
            }
        }
        if self.dataset != set.dataset {
            found.push(format!("{} is shown, not {}", set.dataset, self.dataset));
        }
        if self.channel != set.channel || self.axes != set.stored.axes.order {
            found.push("channel or axes are others".into());
        }
        found
    }
}

/// The files of a session differ from those that are open.
pub fn differs(session: &SessionFile, differences: &[String]) -> Error {
    const NAMED: usize = 4;
    let named = differences.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    let more = if differences.len() > NAMED { " …" } else { "" };
    Error::new(Kind::File, "session_differs", "The session was saved with other files")
        .at(&session.set)
        .expected(format!("{} files as they were when it was saved", session.files.len()))
        .found(format!("{named}{more}"))
        .action("The view is taken all the same: check detector and range")
}

/// A session was read, and its files are not open.
pub fn wants_files(session: &SessionFile) -> Error {
    const NAMED: usize = 4;
    let names = session.files.iter().take(NAMED).map(|file| file.name.as_str()).collect::<Vec<_>>().join(", ");
    let more =
        if session.files.len() > NAMED { format!(" and {} more", session.files.len() - NAMED) } else { String::new() };
    Error::new(Kind::File, "session_waits", "The session waits for its files")
        .at(&session.set)
        .expected(format!("{names}{more}"))
        .action("Open them; the view is then as it was saved")
}
