//! The program that a bundle's double click starts.

use std::{path::PathBuf, process::ExitCode};

use launcher::bundle::{Options, open};

const HELP: &str = "\
Opens a planescope bundle in Chrome, Edge or Chromium, on this machine alone, until its window is closed.

    planescope [FOLDER]    the folder of the bundle; without it the one in which this program lies

    --browser FILE         the browser, where it is not found by itself or in $CHROME
    --profile DIR          the browser's profile, in place of one of its own in the user's cache
    --flags FLAGS          flags for the browser, separated by blanks
    --serve                only serve, and print the address

Ends with 0; with 1 when a file was found that is not as it was made; with 2 when the bundle cannot be shown.";

fn main() -> ExitCode {
    let options = match options(std::env::args_os().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(words) => {
            eprintln!("planescope: {words}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match open(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(words) => {
            eprintln!("planescope: {words}");
            ExitCode::from(2)
        }
    }
}

/// What was asked for; `None` for help.
fn options(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> Result<Option<Options>, String> {
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{} wants a value", argument.display()));
        match argument.to_str() {
            Some("--help" | "-h") => return Ok(None),
            Some("--serve") => options.is_served_only = true,
            Some("--browser") => options.browser = Some(PathBuf::from(value()?)),
            Some("--profile") => options.profile = Some(PathBuf::from(value()?)),
            Some("--flags") => {
                options.flags = value()?.to_string_lossy().split_whitespace().map(str::to_owned).collect();
            }
            Some(flag) if flag.starts_with("--") => return Err(format!("{flag} is not known")),
            _ if options.folder.as_os_str().is_empty() => options.folder = PathBuf::from(&argument),
            _ => return Err("only one folder can be opened".to_owned()),
        }
    }
    if options.folder.as_os_str().is_empty() {
        let program =
            std::env::current_exe().map_err(|cause| format!("where this program lies is unknown ({cause})"))?;
        options.folder = program.parent().map(PathBuf::from).unwrap_or_default();
    }
    Ok(Some(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Option<Options>, String> {
        options(arguments.iter().map(std::ffi::OsString::from))
    }

    #[test]
    fn a_bundle_is_opened_from_where_the_program_lies_or_from_a_folder_that_was_named() {
        let beside = read(&[]).expect("nothing is wrong").expect("no help");
        assert!(beside.folder.is_absolute());
        let named = read(&["a b", "--flags", "--x  --y=1", "--serve"]).expect("nothing is wrong").expect("no help");
        assert_eq!((named.folder.to_str(), named.flags.len(), named.is_served_only), (Some("a b"), 2, true));
        assert!(read(&["--what"]).is_err() && read(&["a", "b"]).is_err() && read(&["--profile"]).is_err());
        assert!(read(&["--help"]).is_ok_and(|options| options.is_none()));
    }
}
