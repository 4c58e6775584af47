//! Files over HTTP, for this machine only.
//!
//! The server listens on 127.0.0.1, answers GET and HEAD with byte ranges (RFC 9110, <https://www.rfc-editor.org/rfc/rfc9110#section-14>),
//! and refuses whoever is not its own page: a `Host` that is not this machine (a name that was bound anew to 127.0.0.1),
//! an `Origin` or `Sec-Fetch-Site` of another page. Every answer isolates the page (COOP and COEP, so that it may use
//! precise clocks and shared memory) and is never cached. A connection is a thread; a page has about six.

use std::{
    hash::{BuildHasher, RandomState},
    io::{self, BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use request::{Request, Verdict};

mod answer;
mod request;

/// What lies under which address.
#[derive(Default)]
pub struct Site {
    folders: Vec<(String, PathBuf)>,
    pages: Vec<(String, Page)>,
}

enum Page {
    File(PathBuf),
    Text { kind: &'static str, text: String },
    Stream(Box<Stream>),
}

/// Writes an answer bit by bit until it is done or nobody reads it any more.
type Stream = dyn Fn(&mut dyn Write) -> io::Result<()> + Send + Sync;

impl Site {
    /// Everything in `folder`, under `prefix` ("" or "a/b/"). An address that ends in "/" is its `index.html`.
    pub fn folder(&mut self, prefix: &str, folder: &Path) {
        self.folders.push((prefix.to_owned(), folder.to_owned()));
    }

    /// One file; `address` without a slash in front, not encoded.
    pub fn file(&mut self, address: &str, path: &Path) {
        self.pages.push((address.to_owned(), Page::File(path.to_owned())));
    }

    /// A text of this media type.
    pub fn text(&mut self, address: &str, kind: &'static str, text: String) {
        self.pages.push((address.to_owned(), Page::Text { kind, text }));
    }

    /// What `stream` writes while somebody reads it.
    pub fn stream(&mut self, address: &str, stream: impl Fn(&mut dyn Write) -> io::Result<()> + Send + Sync + 'static) {
        self.pages.push((address.to_owned(), Page::Stream(Box::new(stream))));
    }

    /// Serves on `port`, or on a free one where it is taken, as long as this process lives.
    ///
    /// # Errors
    /// When there is no port to listen on.
    pub fn serve(self, port: u16) -> io::Result<SocketAddr> {
        let local = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = local(port).or_else(|_| local(0))?;
        let address = listener.local_addr()?;
        let site = Arc::new(self);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let site = site.clone();
                // What goes wrong with a connection ends it; the browser opens another one.
                std::thread::spawn(move || site.converse(&stream, address));
            }
        });
        Ok(address)
    }

    /// Answers one request after the other.
    fn converse(&self, stream: &TcpStream, address: SocketAddr) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(IDLE))?;
        let mut reader = BufReader::new(stream);
        let mut writer = stream;
        while let Some(request) = Request::read(&mut reader)? {
            let goes_on = self.answer(&request, address, &mut writer)?;
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Whether the connection goes on.
    fn answer(&self, request: &Request, address: SocketAddr, to: &mut dyn Write) -> io::Result<bool> {
        if let Verdict::Refused(status, why) = request.verdict(address) {
            answer::words(to, status, why, false)?;
            return Ok(false);
        }
        let has_body = request.method == "GET";
        let Some(path) = &request.path else {
            answer::words(to, "400 Bad Request", "This is no address of this server.", has_body)?;
            return Ok(false);
        };
        match self.pages.iter().find(|(address, _)| address == path).map(|(_, page)| page) {
            Some(Page::File(file)) => answer::file(to, file, request.range.as_deref(), has_body)?,
            Some(Page::Text { kind, text }) => answer::text(to, kind, text, has_body)?,
            Some(Page::Stream(stream)) => {
                answer::stream_head(to)?;
                if has_body {
                    stream(to)?;
                }
                return Ok(false);
            }
            None => match self.in_folders(path) {
                Some(file) => answer::file(to, &file, request.range.as_deref(), has_body)?,
                None => answer::words(to, "404 Not Found", "There is nothing here.", has_body)?,
            },
        }
        Ok(request.is_kept)
    }

    /// The file under an address; nothing outside the folder, whatever the address or a link in the folder says.
    fn in_folders(&self, path: &str) -> Option<PathBuf> {
        let (rest, folder) =
            self.folders.iter().find_map(|(prefix, folder)| Some((path.strip_prefix(prefix.as_str())?, folder)))?;
        let rest = if rest.is_empty() || rest.ends_with('/') { format!("{rest}index.html") } else { rest.to_owned() };
        let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
        if !rest.split('/').all(is_plain) {
            return None;
        }
        let folder = folder.canonicalize().ok()?;
        let file = folder.join(rest).canonicalize().ok()?;
        (file.starts_with(&folder) && file.is_file()).then_some(file)
    }
}

/// 128 bits that nobody can guess: the standard library seeds each `RandomState` from the system's randomness.
pub fn token() -> String {
    let half = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", half(), half())
}

/// A name as one segment of an address: everything but letters, digits, `-`, `.` and `_` as %XX of its UTF-8 bytes.
pub fn percent_encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// The line up to its end, without it; `None` where the connection has ended, an error where that is in the middle of a
/// line or the line has more than `most` bytes.
fn line(reader: &mut impl BufRead, most: usize) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    io::Read::take(reader, most as u64).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.pop() != Some(b'\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a line has no end"));
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "a line is not text"))
}

/// A browser closes its idle connections earlier.
const IDLE: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_travel_through_an_address_unharmed() {
        assert_eq!(percent_encoded("gold 5nm_master.h5"), "gold%205nm_master.h5");
        assert_eq!(percent_encoded("é{x}&.h5"), "%C3%A9%7Bx%7D%26.h5");
    }

    #[test]
    fn no_two_tokens_are_the_same() {
        let tokens = [token(), token(), token()];
        assert!(tokens.iter().all(|token| token.len() == 32) && tokens[0] != tokens[1] && tokens[1] != tokens[2]);
    }
}
