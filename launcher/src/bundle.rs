//! A bundle on show: checked, served, opened in a browser of its own profile, and ended with its window.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use serde::Serialize;

use crate::{
    chrome,
    http::{Site, token},
    manifest::{DATA, Fault, Manifest, NAME, VIEWER, place},
};

/// How a bundle is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The bundle.
    pub folder: PathBuf,
    /// The browser, where it is not to be looked for.
    pub browser: Option<PathBuf>,
    /// The browser's profile, in place of one in the user's cache.
    pub profile: Option<PathBuf>,
    /// Flags for the browser, beside those that it needs on this system.
    pub flags: Vec<String>,
    /// Only serves, and prints the address.
    pub is_served_only: bool,
}

/// Opens a bundle; returns when its window is closed. Whether every file was found to be as it was made.
///
/// # Errors
/// In words: what keeps it from being shown at all.
pub fn open(options: &Options) -> Result<bool, String> {
    let folder = &options.folder;
    let manifest = Arc::new(Manifest::read(folder)?);
    let faults = manifest.lengths(folder);
    faults.iter().for_each(tell);
    let watch = Arc::new(Watch::new(&manifest, faults.clone()));
    let token = token();
    let is_viewer = |path: &str| path.starts_with(&format!("{VIEWER}/"));
    let page = match faults.iter().any(|fault| is_viewer(&fault.path)) {
        true => format!("{token}/faults.html"),
        false => format!("{token}/?bundle=bundle/"),
    };
    let site = site(folder, &manifest, &watch, &token);
    let address = site.serve(0).map_err(|cause| format!("there is no port to listen on ({cause})"))?;
    let url = format!("http://{address}/{page}");
    check_in_background(folder, &manifest, &watch);
    match options.is_served_only {
        true => {
            say(&url);
            say("Ctrl-C ends it");
            watch.until_left(None);
        }
        false => show(options, &url, &watch)?,
    }
    Ok(watch.news().faults.is_empty())
}

/// The page, the data and the news, all under the token.
fn site(folder: &Path, manifest: &Manifest, watch: &Arc<Watch>, token: &str) -> Site {
    let mut site = Site::default();
    site.folder(&format!("{token}/"), &folder.join(VIEWER));
    site.file(&format!("{token}/bundle/{NAME}"), &folder.join(NAME));
    for entry in manifest.files.iter().filter(|entry| entry.path.starts_with(&format!("{DATA}/"))) {
        site.file(&format!("{token}/bundle/{}", entry.path), &place(folder, &entry.path));
    }
    site.text(&format!("{token}/faults.html"), "text/html; charset=utf-8", faults_page(&watch.news().faults));
    let watch = watch.clone();
    site.stream(&format!("{token}/bundle/watch"), move |to| watch.report(to));
    site
}

/// Reads every file to its end; what is wrong is told on the terminal and in the page.
fn check_in_background(folder: &Path, manifest: &Arc<Manifest>, watch: &Arc<Watch>) {
    let (folder, manifest, watch) = (folder.to_owned(), manifest.clone(), watch.clone());
    std::thread::spawn(move || {
        let known: BTreeSet<String> = watch.news().faults.into_iter().map(|fault| fault.path).collect();
        for entry in &manifest.files {
            let fault = if known.contains(&entry.path) { None } else { entry.fault(&folder) };
            fault.iter().for_each(tell);
            watch.note(fault);
        }
        let News { files, faults, .. } = watch.news();
        match faults.len() {
            0 => say(&format!("all {files} files are as they were made")),
            n => say(&format!("{n} of {files} files are not as they were made; copy the bundle again")),
        }
    });
}

fn tell(fault: &Fault) {
    // Without a terminal there is the page.
    let _ = writeln!(io::stderr(), "planescope: {} {}", fault.path, fault.words);
}

fn say(words: &str) {
    // As above.
    let _ = writeln!(io::stdout(), "planescope: {words}");
}

/// Opens the browser and waits until its window is closed.
fn show(options: &Options, url: &str, watch: &Watch) -> Result<(), String> {
    let Some(program) = options.browser.clone().or_else(chrome::find) else {
        return Err("no Chrome, Edge or Chromium was found. Install one, or name it: --browser FILE".to_owned());
    };
    let (profile, _lock) = match &options.profile {
        Some(profile) => (profile.clone(), None),
        None => own_profile().map_err(|cause| format!("there is no place for a browser profile ({cause})"))?,
    };
    let mut command = Command::new(&program);
    command.args(chrome::QUIET).args(chrome::webgpu()).args(chrome::sandbox()).args(&options.flags);
    command.arg("--hide-crash-restore-bubble").arg(format!("--user-data-dir={}", profile.display()));
    command.arg(format!("--app={url}")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let browser = command.spawn().map_err(|cause| format!("{} did not start ({cause})", program.display()))?;
    say(&format!("opened in {}; closing its window ends this", program.display()));
    if watch.until_left(Some(browser)) {
        Ok(())
    } else {
        Err(format!("{} ended without opening the page", program.display()))
    }
}

/// A profile that no other launcher uses now, kept for the next time, and its lock.
fn own_profile() -> io::Result<(PathBuf, Option<std::fs::File>)> {
    for number in 1.. {
        let profile = chrome::profile(&format!("bundle-{number}"));
        std::fs::create_dir_all(&profile)?;
        let lock = std::fs::File::create(profile.with_extension("lock"))?;
        if lock.try_lock().is_ok() {
            return Ok((profile, Some(lock)));
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// What is known of the bundle's files so far, and who looks at it.
struct Watch {
    news: Mutex<News>,
    changed: Condvar,
    /// Pages that read the news now: they do so as long as they are open.
    pages: AtomicU32,
}

#[derive(Clone, Debug, Default, Serialize)]
struct News {
    files: usize,
    checked: usize,
    faults: Vec<Fault>,
}

impl Watch {
    fn new(manifest: &Manifest, faults: Vec<Fault>) -> Self {
        let news = News { files: manifest.files.len(), checked: 0, faults };
        Self { news: Mutex::new(news), changed: Condvar::new(), pages: AtomicU32::new(0) }
    }

    fn news(&self) -> News {
        self.news.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One more file was checked.
    fn note(&self, fault: Option<Fault>) {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        news.checked += 1;
        news.faults.extend(fault);
        self.changed.notify_all();
    }

    /// Writes the news, a line of JSON each time, until the page is gone. Empty lines find out whether it is.
    fn report(&self, to: &mut dyn Write) -> io::Result<()> {
        let _page = Counted::new(&self.pages);
        let mut told = None;
        loop {
            let news = self.news();
            let line = match told.replace(news.checked) == Some(news.checked) {
                true => String::new(),
                false => serde_json::to_string(&news)?,
            };
            writeln!(to, "{line}")?;
            to.flush()?;
            let held = self.news.lock().unwrap_or_else(PoisonError::into_inner);
            let is_old = |news: &mut News| told == Some(news.checked);
            drop(self.changed.wait_timeout_while(held, HEARTBEAT, is_old));
        }
    }

    /// Waits until no page is open any more, or the browser has ended; ends the browser. Whether there was a page.
    fn until_left(&self, mut browser: Option<Child>) -> bool {
        let (mut was_open, mut alone_since) = (false, Instant::now());
        loop {
            std::thread::sleep(GLANCE);
            if self.pages.load(Ordering::Relaxed) > 0 {
                (was_open, alone_since) = (true, Instant::now());
            }
            let has_ended = browser.as_mut().is_some_and(|browser| !matches!(browser.try_wait(), Ok(None)));
            let patience = match (&browser, has_ended, was_open) {
                // Who opens the address by hand may come back to it.
                (None, ..) => continue,
                // Another process of the browser may have taken the page over.
                (_, true, true) => 2 * HEARTBEAT + GLANCE,
                (_, true, false) => TAKEOVER,
                // A page that is loaded anew comes back.
                (_, false, true) => RELOAD,
                (_, false, false) => continue,
            };
            if alone_since.elapsed() > patience {
                if let Some(browser) = &mut browser {
                    // Neither can fail in a way that matters: it is then gone already.
                    let _ = browser.kill();
                    let _ = browser.wait();
                }
                return was_open;
            }
        }
    }
}

/// Counts itself as long as it lives.
struct Counted<'a>(&'a AtomicU32);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Shown where the viewer itself is damaged.
fn faults_page(faults: &[Fault]) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let lines = faults.iter().map(|fault| format!("<li><b>{}</b> {}", escaped(&fault.path), escaped(&fault.words)));
    let lines: String = lines.collect();
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>planescope: a damaged bundle</title>\
         <style>body {{ font: 16px/1.5 sans-serif; max-width: 60ch; margin: 10vh auto; padding: 0 16px; \
         color-scheme: dark light }}</style><h1>This bundle is damaged</h1><ul>{lines}</ul>\
         <p>Copy the whole folder again from where it was made.</p>\
         <script>fetch('bundle/watch').then(async (news) => {{ for await (const _ of news.body); }});</script></html>"
    )
}

const HEARTBEAT: Duration = Duration::from_millis(500);
const GLANCE: Duration = Duration::from_millis(200);
/// How long a page may take to come back after it was loaded anew.
const RELOAD: Duration = Duration::from_secs(8);
/// How long the page may take to appear when the process that was started has handed it to another one.
const TAKEOVER: Duration = Duration::from_secs(20);
