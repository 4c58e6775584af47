//! What is double-clicked, one for each system: it starts the launcher, or opens the page in one file where there is
//! none, or where it cannot be started.

use std::{fs, path::Path};

use anyhow::{Context, Result};

const SHELL: &str = r#"#!/bin/sh
# Opens this bundle.
cd "$(dirname "$0")" || exit 2
case "$(uname -s)" in
  Darwin) launcher=planescope-macos; open=open ;;
  *) launcher=planescope-linux; open=xdg-open ;;
esac
# A copy through another file system may have lost what makes a program one.
[ -f "$launcher" ] && { [ -x "$launcher" ] || chmod +x "$launcher" 2>/dev/null; }
if [ -x "$launcher" ]; then
  "./$launcher" "$@"
  status=$?
  # 126 and 127: a program of another machine.
  [ $status -lt 126 ] && { [ $status -eq 0 ] || { echo "Press Enter to close."; read -r _; }; exit $status; }
fi
echo "There is no launcher for this system: the page opens by itself. Choose the folder 'data' in it."
"$open" planescope.html
"#;

const BATCH: &str = "@echo off\r
cd /d \"%~dp0\"\r
if not exist planescope.exe goto page\r
planescope.exe %*\r
if errorlevel 1 pause\r
exit /b\r
:page\r
echo There is no launcher for this system: the page opens by itself. Choose the folder \"data\" in it.\r
start \"\" planescope.html\r
";

/// In a quoted argument of Exec, `"` and `$` are escaped, and each backslash a second time as in every string
/// (<https://specifications.freedesktop.org/desktop-entry/latest/exec-variables.html>).
const DESKTOP: &str = r#"[Desktop Entry]
Type=Application
Name=planescope
Comment=Opens this bundle
Exec=sh -c "cd \\"\\$(dirname \\"\\$0\\")\\" && exec sh planescope.sh" %k
Terminal=true
Categories=Science;
"#;

const README: &str = "planescope: 4D-STEM data to be looked at

Double-click
  on Linux     planescope.desktop, or planescope.sh in a terminal
  on Windows   planescope.bat
  on macOS     planescope.command

It opens the sets in the folder \"data\" in Chrome, Edge or Chromium, which has to be there. Nothing is installed and
nothing leaves this machine. If it does not start, open planescope.html in Chrome or Edge and choose the folder \"data\".

manifest.json lists every file with its size and hash; a file that was copied in part or has changed is named.
";

/// Writes them into the bundle.
pub fn write(out: &Path) -> Result<()> {
    let files = [
        ("planescope.sh", SHELL),
        ("planescope.command", SHELL),
        ("planescope.bat", BATCH),
        ("planescope.desktop", DESKTOP),
        ("README.txt", README),
    ];
    for (name, text) in files {
        fs::write(out.join(name), text).with_context(|| name.to_owned())?;
        make_program(&out.join(name))?;
    }
    Ok(())
}

#[cfg(unix)]
fn make_program(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

#[cfg(not(unix))]
fn make_program(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_desktop_opens_the_bundle_from_its_own_folder() {
        let line = DESKTOP.lines().find_map(|line| line.strip_prefix("Exec=")).unwrap_or_default();
        // First as a string of the file, then as a quoted argument.
        let argument = line.replace("\\\\", "\\").replace("\\\"", "\"").replace("\\$", "$");
        assert_eq!(argument, r#"sh -c "cd "$(dirname "$0")" && exec sh planescope.sh" %k"#);
    }

    #[test]
    fn every_starter_knows_the_launcher_of_its_system_and_the_page_for_where_there_is_none() {
        assert!(SHELL.contains("planescope-linux") && SHELL.contains("planescope-macos"));
        assert!(BATCH.contains("planescope.exe %*") && BATCH.lines().count() > 5);
        assert!([SHELL, BATCH, README].iter().all(|text| text.contains("planescope.html")));
    }
}
