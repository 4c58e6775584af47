//! Making copies of files, and looking whether a copy is still one.

use std::{cell::Cell, rc::Rc};

use futures_util::future::join_all;

use super::Loader;
use crate::{
    Result,
    kept::Recalled,
    reader::{Outcome, Pool, Task},
    source::Picked,
};

impl Loader {
    /// Hands over the files of a copy; whether what they were made of still contains what it did.
    pub async fn holds(&self, copy: &Recalled) -> bool {
        self.probes(&copy.files).await.is_ok_and(|probes| probes == copy.probes)
    }

    /// Hands `files` over and takes a probe of each; of those of a copy, of what they were made of.
    ///
    /// # Errors
    /// When a file cannot be read, or others are handed over meanwhile.
    pub async fn probes(&self, files: &[Picked]) -> Result<Vec<String>> {
        let pool = self.pool.borrow().clone();
        pool.hand_over(files);
        match pool.run(Task::Probe, Rc::new(|_| ())).await?.outcome {
            Outcome::Probed(probes) => Ok(probes),
            _ => Ok(Vec::new()),
        }
    }

    /// Hands `files` over; readers of a copy close its files.
    pub fn hand_over(&self, files: &[Picked]) {
        self.pool.borrow().hand_over(files);
    }

    /// Takes the room for `files` in a folder of the browser's storage. Bytes that there is room for: all of theirs, or
    /// fewer.
    ///
    /// # Errors
    /// `not_kept`, or when other files are handed over meanwhile.
    pub async fn reserve(&self, files: &[Picked], folder: &str) -> Result<u64> {
        let pool = self.pool.borrow().clone();
        let mut room = 0;
        for file in files {
            let len_bytes = file.len_bytes();
            let task = Task::Reserve { folder: folder.to_owned(), name: file.name(), len_bytes };
            let Outcome::Reserved(reserved) = pool.run(task, Rc::new(|_| ())).await?.outcome else { break };
            room += reserved;
            if reserved < len_bytes {
                break;
            }
        }
        Ok(room)
    }

    /// Copies the files that were handed over into a folder of the browser's storage; `told` hears how many bytes are
    /// there.
    ///
    /// # Errors
    /// `not_kept`, or when other files are handed over meanwhile.
    pub async fn copy(&self, files: &[Picked], folder: &str, told: &dyn Fn(u64)) -> Result<()> {
        let pool = self.pool.borrow().clone();
        let done = Cell::new(0);
        let copies = (0..).zip(files).map(|(picked, file)| copy(&pool, picked, file.len_bytes(), folder, &done, told));
        join_all(copies).await.into_iter().collect()
    }
}

/// Copies one file, part by part: one reader writes a file at a time.
async fn copy(
    pool: &Pool,
    picked: u32,
    len_bytes: u64,
    folder: &str,
    done: &Cell<u64>,
    told: &dyn Fn(u64),
) -> Result<()> {
    let mut offset = 0;
    // A file without bytes is made, too.
    loop {
        let len = PART_BYTES.min(len_bytes - offset);
        let task = Task::Copy { picked, folder: folder.to_owned(), offset, len_bytes: len };
        pool.run(task, Rc::new(|_| ())).await?;
        offset += len;
        done.set(done.get() + len);
        told(done.get());
        if offset >= len_bytes {
            return Ok(());
        }
    }
}

/// Bytes of a job: what is told and can be stopped in between.
const PART_BYTES: u64 = 64 << 20;
