//! Opening a set again from the copy that the page keeps of it in the browser's own storage.

use anyhow::{Result, ensure};

use super::{
    figures::Figure,
    measure::{Measured, nearest_stages},
    set::Set,
    sweep::in_words,
    visit::{Setup, Visit},
};
use crate::setup::say;

/// One browser keeps a copy; `repeats` more, each a new process with the same profile, are given the same files again.
/// The time from the hand-over to the last decode confirmed becomes `reopen_ms`; nothing where the page keeps no copies.
///
/// # Errors
/// [`super::visit::Void`] as for any load; also when a set was read from its files although there is a copy.
pub async fn reopen(setup: &Setup, set: &Set, measured: &mut Measured, repeats: usize) -> Result<()> {
    let tuning = measured.tuning.clone();
    say(&format!("{}, {}: a copy is made", set.name, in_words(&tuning)));
    let mut visit = Visit::start(setup, &tuning).await?;
    visit.load(set, &tuning).await?;
    let is_kept = visit.ask("keep()").await? == true;
    measured.facts = visit.facts.clone();
    visit.end().await;
    if !is_kept {
        say("this page keeps no copies of sets: opening one again is not measured");
        return Ok(());
    }
    let mut profiles = Vec::new();
    for repeat in 1..=repeats {
        say(&format!("{}, {}: opened again {repeat} of {repeats}", set.name, in_words(&tuning)));
        let mut visit = Visit::again(setup, &tuning).await?;
        let profile = visit.load(set, &tuning).await?;
        ensure!(
            profile["sourceKind"] == "opfs",
            "{} was kept but read from {} when it was opened again",
            set.name,
            profile["sourceKind"]
        );
        profiles.push(profile);
        visit.end().await;
    }
    let times = profiles.iter().filter_map(|profile| profile["totalMs"].as_f64()).collect();
    measured.figures.extend(Figure::of(times).map(|figure| ("reopen_ms", figure)));
    measured.reopen_stages = nearest_stages(&mut profiles);
    measured.reopens = profiles;
    Ok(())
}
