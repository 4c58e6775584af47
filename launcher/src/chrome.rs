//! Where Chrome is on this machine, and the flags with which it has WebGPU.

use std::{
    env,
    path::{Path, PathBuf},
};

/// WebGPU in Chrome on Linux still hides behind flags; with `--use-angle=vulkan` page and WebGPU share one device, and
/// without it the software adapter may be taken without a word. Vulkan and Chrome's own Wayland mode exclude each other.
pub const LINUX_WEBGPU: [&str; 5] =
    [UNSAFE_WEBGPU, "--enable-features=Vulkan", "--use-angle=vulkan", "--ignore-gpu-blocklist", "--ozone-platform=x11"];

/// WebGPU on adapters that Chrome does not know to be good; lifts the rounding of timestamps, too.
pub const UNSAFE_WEBGPU: &str = "--enable-unsafe-webgpu";

/// Without a window. Chrome's WebGPU then needs no surface, which an NVIDIA host without a display cannot give.
pub const HEADLESS: [&str; 2] = ["--headless=new", "--disable-vulkan-surface"];

/// GPU timestamps in nanoseconds; a page gets them in steps of 0.1 ms otherwise.
pub const FINE_TIMESTAMPS: &str = "--disable-dawn-features=timestamp_quantization";

/// The opposite, which Chrome does for pages by itself unless other flags lift it: to see what it makes of a clock.
pub const ROUNDED_TIMESTAMPS: &str = "--enable-dawn-features=timestamp_quantization";

/// No first-run pages, and no traffic of the browser's own.
pub const QUIET: [&str; 6] = [
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
];

/// Chrome, Chromium or Edge: `$CHROME`, else the first that is found by name or at its usual place.
pub fn find() -> Option<PathBuf> {
    if let Some(chosen) = env::var_os("CHROME") {
        return Some(PathBuf::from(chosen));
    }
    let names = [
        "google-chrome",
        "google-chrome-stable",
        "chromium",
        "chromium-browser",
        "microsoft-edge",
        "microsoft-edge-stable",
    ];
    let folders: Vec<PathBuf> = env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    let on_path = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    on_path.chain(usual_places()).find(|path| path.is_file())
}

fn usual_places() -> Vec<PathBuf> {
    let mut places = Vec::new();
    if cfg!(target_os = "macos") {
        places.push("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome".into());
        places.push("/Applications/Chromium.app/Contents/MacOS/Chromium".into());
        places.push("/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge".into());
    }
    for program in [
        "Google/Chrome/Application/chrome.exe",
        "Chromium/Application/chrome.exe",
        "Microsoft/Edge/Application/msedge.exe",
    ] {
        let folders = ["ProgramFiles", "ProgramFiles(x86)", "LocalAppData"].into_iter().filter_map(env::var_os);
        places.extend(folders.map(|folder| Path::new(&folder).join(program)));
    }
    places
}

/// Flags that depend on who runs Chrome: its sandbox refuses to work for root.
pub fn sandbox() -> Option<&'static str> {
    is_root().then_some("--no-sandbox")
}

/// Whether this runs as root.
#[cfg(unix)]
pub fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Whether this runs as root.
#[cfg(not(unix))]
pub fn is_root() -> bool {
    false
}

/// Whether a window can be opened.
pub fn has_display() -> bool {
    !cfg!(target_os = "linux") || env::var_os("DISPLAY").is_some() || env::var_os("WAYLAND_DISPLAY").is_some()
}

/// The flags that Chrome needs for WebGPU on this system.
pub fn webgpu() -> &'static [&'static str] {
    if cfg!(target_os = "linux") { &LINUX_WEBGPU } else { &[] }
}

/// A profile of planescope's own, so that the flags hold even while the user's Chrome is running.
pub fn profile(name: &str) -> PathBuf {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = if cfg!(windows) {
        folder("LocalAppData")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Caches"))
    } else {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
    };
    cache.unwrap_or_else(env::temp_dir).join("planescope").join(name)
}
