//! Copies of sets in the browser's storage: made when the user asks, read in place of files that have not changed.

use futures_util::lock::MutexGuard;
use gloo_timers::future::TimeoutFuture;

use super::{Session, no_files};
use crate::{
    Error, Kind, Result,
    kept::{Copied, Entry, Room, Storage, described},
    load::SourceKind,
    source::Picked,
};

/// What is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Copies {
    pub sets: u32,
    pub bytes: u64,
    /// The open set was read from its copy, or has one.
    pub is_kept: bool,
    /// Bytes of a copy of the open set; `None` where none can be made.
    pub may_keep: Option<u64>,
}

impl Session {
    /// The files of the copy of `files`, if there is one and they are still what it was made of.
    pub(super) async fn recall(&self, files: &[Picked]) -> Option<Vec<Picked>> {
        let copy = self.storage.lock().await.as_ref().ok()?.recall(files).await?;
        let is_same = self.loader().holds(&copy).await;
        let mut storage = self.storage.lock().await;
        let storage = storage.as_mut().ok()?;
        if is_same {
            storage.catalogue.touch(&copy.folder, js_sys::Date::now());
            return Some(copy.files);
        }
        None
    }

    /// What is kept in this browser, and whether the open set is.
    ///
    /// # Errors
    /// `no_storage` where nothing can be kept.
    pub async fn copies(&self) -> Result<Copies> {
        let storage = self.storage.lock().await;
        let catalogue = &storage.as_ref().map_err(Clone::clone)?.catalogue;
        let files = described(&self.picked.borrow().0).filter(|files| !files.is_empty());
        let is_whole = self.profile().is_some_and(|profile| profile.error.is_none());
        let is_kept = files.as_ref().is_some_and(|files| catalogue.find(files).is_some());
        let may_keep =
            files.filter(|_| is_whole && !is_kept).map(|files| files.iter().map(|file| file.len_bytes).sum());
        Ok(Copies { sets: catalogue.entries.len() as u32, bytes: catalogue.len_bytes(), is_kept, may_keep })
    }

    /// Keeps a copy of the files of the open set; `told` hears how many of how many bytes are there.
    ///
    /// # Errors
    /// `no_storage`, `no_room`, `not_kept` in words; when no set was read to its end, or another one is opened.
    pub async fn keep(&self, told: &dyn Fn(u64, u64)) -> Result<()> {
        if self.is_keeping.replace(true) {
            return Err(Error::new(Kind::Io, "not_kept", "A copy is being made already"));
        }
        let kept = self.keep_files(told).await;
        self.is_keeping.set(false);
        kept
    }

    async fn keep_files(&self, told: &dyn Fn(u64, u64)) -> Result<()> {
        let (files, _) = self.picked.borrow().clone();
        if files.is_empty() {
            return Err(no_files());
        }
        let whole = self.profile().filter(|profile| profile.error.is_none()).ok_or_else(not_whole)?;
        if whole.source_kind == SourceKind::Opfs {
            return Ok(());
        }
        let mut copied = described(&files).ok_or_else(not_picked)?;
        let bytes = copied.iter().map(|file| file.len_bytes).sum();
        let folder = format!("set-{:.0}", js_sys::Date::now());
        let made = async {
            self.make_room(&files, &copied, bytes, &folder).await?;
            let probes = self.loader().probes(&files).await?;
            copied.iter_mut().zip(probes).for_each(|(file, probe)| file.probe = probe);
            told(0, bytes);
            self.loader().copy(&files, &folder, &|done| told(done, bytes)).await?;
            let mut storage = self.storage().await?;
            let storage = storage.as_mut().map_err(|cause| cause.clone())?;
            storage.check(&folder, &copied).await?;
            let entry = Entry { folder: folder.clone(), files: copied, used_ms: js_sys::Date::now() };
            storage.catalogue.entries.push(entry);
            storage.write_catalogue().await
        };
        let made = made.await;
        if made.is_err()
            && let Ok(storage) = self.storage().await?.as_mut()
        {
            // What could not be kept is told; what is left of it goes.
            let _ = storage.remove(&folder).await;
        }
        made.map_err(|cause| if cause.key == "cancelled" { interrupted() } else { cause })
    }

    /// Makes the folder and takes the room for all files in it. An older copy of the same files goes, and those used
    /// longest ago as far as the browser refuses room; none where that would not help.
    async fn make_room(&self, files: &[Picked], copied: &[Copied], bytes: u64, folder: &str) -> Result<()> {
        {
            let mut storage = self.storage().await?;
            let storage = storage.as_mut().map_err(|cause| cause.clone())?;
            if let Some(old) = storage.catalogue.find(copied).map(|entry| entry.folder.clone()) {
                storage.remove(&old).await?;
            }
        }
        loop {
            let made = self.storage().await?.as_mut().map_err(|cause| cause.clone())?.make_folder(folder).await;
            let room = match made {
                Ok(()) => self.loader().reserve(files, folder).await?,
                // There is not even room for a folder.
                Err(cause) if cause.key == "no_room" => 0,
                Err(cause) => return Err(cause),
            };
            if room >= bytes {
                return Ok(());
            }
            let mut storage = self.storage().await?;
            let storage = storage.as_mut().map_err(|cause| cause.clone())?;
            // Every turn removes one at least: the catalogue ends, and so does this.
            match storage.catalogue.room_for(bytes, room) {
                Room::None(error) => return Err(error),
                Room::After(folders) => {
                    for old in folders {
                        storage.remove(&old).await?;
                    }
                }
            }
        }
    }

    /// Removes all copies. What is open stays open.
    ///
    /// # Errors
    /// `no_storage`; `not_kept` when another page reads a copy.
    pub async fn clear_copies(&self) -> Result<()> {
        // Readers close what they have open of a copy.
        self.loader().hand_over(&self.picked.borrow().0);
        self.held.borrow_mut().clone_from(&self.picked.borrow());
        if let Some(series) = &mut self.open.borrow_mut().series {
            (series.files, series.kind) = series.picked.clone();
        }
        let mut storage = self.storage().await?;
        let storage = storage.as_mut().map_err(|cause| cause.clone())?;
        let mut cleared = storage.clear().await;
        for _ in 0..CLOSING_TURNS {
            if cleared.is_ok() {
                break;
            }
            TimeoutFuture::new(CLOSING_MS).await;
            cleared = storage.clear().await;
        }
        cleared
    }

    /// Notes in the catalogue which copy was read.
    pub(super) async fn note_use(&self) {
        if let Ok(storage) = &*self.storage.lock().await {
            // A copy whose use is not noted goes a little earlier than it should.
            let _ = storage.write_catalogue().await;
        }
    }

    /// # Errors
    /// `no_storage`.
    async fn storage(&self) -> Result<MutexGuard<'_, Result<Storage>>> {
        let storage = self.storage.lock().await;
        storage.as_ref().map_err(Clone::clone)?;
        Ok(storage)
    }
}

fn interrupted() -> Error {
    Error::new(Kind::Io, "not_kept", "The copy was not finished")
        .found("another set was opened meanwhile")
        .action("Keep it again when it is open")
}

fn not_whole() -> Error {
    Error::new(Kind::Io, "not_kept", "No set was read to its end")
        .expected("a set that is open and whole")
        .action("Open one, and wait until it is read")
}

fn not_picked() -> Error {
    Error::new(Kind::Unsupported, "not_kept", "Only picked files can be kept")
        .found("files behind an address")
        .action("Save them on this computer and open them from there")
}

/// Readers need a moment to close files.
const CLOSING_TURNS: u32 = 20;
const CLOSING_MS: u32 = 50;
