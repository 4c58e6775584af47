//! A request, as far as a server of files needs it.

use std::{
    io::{self, BufRead},
    net::SocketAddr,
};

use super::line;

/// What a request asks for.
#[derive(Debug, Default)]
pub struct Request {
    pub method: String,
    /// Without the slash in front and without a query, decoded; `None` where it is no address.
    pub path: Option<String>,
    /// The `Range` header.
    pub range: Option<String>,
    /// The connection stays open for another request.
    pub is_kept: bool,
    host: Option<String>,
    origin: Option<String>,
    site: Option<String>,
    has_body: bool,
}

/// Whether a request is answered.
pub enum Verdict {
    Fine,
    /// Status and reason.
    Refused(&'static str, &'static str),
}

impl Request {
    /// The next request of a connection; `None` when there is none.
    ///
    /// # Errors
    /// When the connection breaks, or what comes is no HTTP.
    pub fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some(first) = line(reader, LONGEST)? else { return Ok(None) };
        let mut words = first.split(' ');
        let (method, target, version) = (words.next(), words.next(), words.next());
        let (Some(method), Some(target), Some(version @ ("HTTP/1.1" | "HTTP/1.0"))) = (method, target, version) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no HTTP request"));
        };
        let is_kept = version == "HTTP/1.1";
        let mut request = Self { method: method.to_owned(), path: decoded_path(target), is_kept, ..Self::default() };
        for _ in 0..MOST_HEADERS {
            let header = line(reader, LONGEST)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            if header.is_empty() {
                return Ok(Some(request));
            }
            if let Some((name, value)) = header.split_once(':') {
                request.take(&name.to_ascii_lowercase(), value.trim());
            }
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "too many headers"))
    }

    fn take(&mut self, name: &str, value: &str) {
        match name {
            "host" => self.host = Some(value.to_owned()),
            "origin" => self.origin = Some(value.to_owned()),
            "range" => self.range = Some(value.to_owned()),
            "sec-fetch-site" => self.site = Some(value.to_owned()),
            "connection" if value.eq_ignore_ascii_case("close") => self.is_kept = false,
            "content-length" if value != "0" => self.has_body = true,
            "transfer-encoding" => self.has_body = true,
            _ => {}
        }
    }

    /// Only the page itself, on this machine, is answered.
    pub fn verdict(&self, address: SocketAddr) -> Verdict {
        let own = [address.to_string(), format!("localhost:{}", address.port())];
        let is_own = |host: &str| own.iter().any(|own| own == host);
        if !self.host.as_deref().is_some_and(is_own) {
            return Verdict::Refused("421 Misdirected Request", "This server answers to 127.0.0.1 alone.");
        }
        let is_foreign = |origin: &str| !origin.strip_prefix("http://").is_some_and(is_own);
        // A page that an address bar or the launcher opened has no site.
        let is_elsewhere = |site: &str| !matches!(site, "same-origin" | "none");
        if self.origin.as_deref().is_some_and(is_foreign) || self.site.as_deref().is_some_and(is_elsewhere) {
            return Verdict::Refused("403 Forbidden", "This server answers its own page alone.");
        }
        if !matches!(self.method.as_str(), "GET" | "HEAD") || self.has_body {
            return Verdict::Refused("405 Method Not Allowed", "This server gives, and takes nothing.");
        }
        Verdict::Fine
    }
}

/// The path of a request's target.
fn decoded_path(target: &str) -> Option<String> {
    let path = target.strip_prefix('/')?;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// Of a line, bytes.
const LONGEST: usize = 16 << 10;
const MOST_HEADERS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_decoded_once_and_a_broken_one_is_none() {
        assert_eq!(decoded_path("/a%20b/c%2520.h5?x=1#y").as_deref(), Some("a b/c%20.h5"));
        assert_eq!(
            [decoded_path("/%"), decoded_path("/%+1"), decoded_path("/%ff"), decoded_path("x")],
            [const { None }; 4]
        );
    }

    #[test]
    fn a_request_that_is_cut_short_or_endless_is_refused() {
        assert!(Request::read(&mut &b""[..]).is_ok_and(|request| request.is_none()));
        assert!(Request::read(&mut &b"GET / HTTP/1.1\r\nHost: x"[..]).is_err());
        assert!(Request::read(&mut &b"GET / HTTP/1.1\r\nHost: x\r\n"[..]).is_err());
        assert!(Request::read(&mut &b"GET /\r\n\r\n"[..]).is_err());
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(LONGEST));
        assert!(Request::read(&mut long.as_bytes()).is_err());
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MOST_HEADERS));
        assert!(Request::read(&mut many.as_bytes()).is_err());
    }
}
