//! Answers: files whole or in part, short texts, and streams.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::Path,
};

/// A file, or the part of it that `range` asks for.
pub fn file(to: &mut dyn Write, path: &Path, range: Option<&str>, has_body: bool) -> io::Result<()> {
    let Ok(mut file) = File::open(path) else {
        return words(to, "404 Not Found", "The file cannot be opened.", has_body);
    };
    let len_bytes = file.metadata()?.len();
    let (status, part) = match range.map_or(Part::Whole, |range| part(range, len_bytes)) {
        Part::Whole => ("200 OK", 0..len_bytes),
        Part::Some(part) => ("206 Partial Content", part),
        Part::Outside => {
            head(
                to,
                "416 Range Not Satisfiable",
                "text/plain",
                Some(0),
                &format!("Content-Range: bytes */{len_bytes}\r\n"),
            )?;
            return to.flush();
        }
    };
    let mut more = "Accept-Ranges: bytes\r\n".to_owned();
    if status.starts_with("206") {
        more += &format!("Content-Range: bytes {}-{}/{len_bytes}\r\n", part.start, part.end - 1);
    }
    head(to, status, kind(path), Some(part.end - part.start), &more)?;
    if has_body {
        file.seek(SeekFrom::Start(part.start))?;
        send(to, &mut file, part.end - part.start)?;
    }
    to.flush()
}

/// Sends exactly `left` bytes; a file that has become shorter breaks the connection, so that nobody takes the part for
/// the whole.
fn send(to: &mut dyn Write, file: &mut File, mut left: u64) -> io::Result<()> {
    let mut buffer = vec![0; PIECE.min(left) as usize];
    while left > 0 {
        let most = left.min(PIECE) as usize;
        let read = file.read(&mut buffer[..most])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        to.write_all(&buffer[..read])?;
        left -= read as u64;
    }
    Ok(())
}

/// A text of this media type.
pub fn text(to: &mut dyn Write, kind: &str, text: &str, has_body: bool) -> io::Result<()> {
    body(to, "200 OK", kind, text, has_body)
}

/// A status and what it means.
pub fn words(to: &mut dyn Write, status: &str, words: &str, has_body: bool) -> io::Result<()> {
    body(to, status, "text/plain; charset=utf-8", words, has_body)
}

fn body(to: &mut dyn Write, status: &str, kind: &str, text: &str, has_body: bool) -> io::Result<()> {
    head(to, status, kind, Some(text.len() as u64), "")?;
    if has_body {
        to.write_all(text.as_bytes())?;
    }
    to.flush()
}

/// Before a stream, which ends with its connection.
pub fn stream_head(to: &mut dyn Write) -> io::Result<()> {
    head(to, "200 OK", "application/x-ndjson", None, "Connection: close\r\n")?;
    to.flush()
}

fn head(to: &mut dyn Write, status: &str, kind: &str, len_bytes: Option<u64>, more: &str) -> io::Result<()> {
    let length = len_bytes.map_or_else(String::new, |len_bytes| format!("Content-Length: {len_bytes}\r\n"));
    write!(
        to,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{length}{more}X-Content-Type-Options: nosniff\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Embedder-Policy: require-corp\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\n\r\n"
    )
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Some(Range<u64>),
    Outside,
}

/// What a `Range` header means. Several ranges and other units are answered with the whole, as RFC 9110 allows.
fn part(range: &str, len_bytes: u64) -> Part {
    let Some((first, last)) = range.strip_prefix("bytes=").and_then(|range| range.trim().split_once('-')) else {
        return Part::Whole;
    };
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    match (number(first), number(last)) {
        (Some(first), _) if last.is_empty() && first < len_bytes => Part::Some(first..len_bytes),
        (Some(first), Some(last)) if first <= last && first < len_bytes => {
            Part::Some(first..last.saturating_add(1).min(len_bytes))
        }
        (None, Some(last)) if first.is_empty() && last > 0 && len_bytes > 0 => {
            Part::Some(len_bytes.saturating_sub(last)..len_bytes)
        }
        (Some(first), _) if first >= len_bytes => Part::Outside,
        (None, Some(_)) if first.is_empty() => Part::Outside,
        _ => Part::Whole,
    }
}

/// The media type by the name; modules and WebAssembly do not start without theirs.
fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    }
}

/// What is read at a time, bytes.
const PIECE: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_to_the_file_and_those_outside_are_refused() {
        let cases = [
            ("bytes=0-0", Part::Some(0..1)),
            ("bytes=2-", Part::Some(2..10)),
            ("bytes=-3", Part::Some(7..10)),
            ("bytes=-30", Part::Some(0..10)),
            ("bytes=4-99", Part::Some(4..10)),
            ("bytes=10-", Part::Outside),
            ("bytes=10-12", Part::Outside),
            ("bytes=-0", Part::Outside),
            ("bytes=5-4", Part::Whole),
            ("bytes=0-1,4-5", Part::Whole),
            ("items=0-1", Part::Whole),
            ("bytes=+1-2", Part::Whole),
            ("bytes=0-18446744073709551615", Part::Some(0..10)),
        ];
        for (range, expected) in cases {
            assert_eq!(part(range, 10), expected, "{range}");
        }
        assert_eq!(part("bytes=0-0", 0), Part::Outside);
    }
}
