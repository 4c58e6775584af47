//! The server, asked as other programs and other pages would.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
};

use launcher::http::Site;

/// A folder with a page, a file beside it that must not be reached, and a server for the folder.
struct Stage {
    home: PathBuf,
    address: SocketAddr,
}

impl Stage {
    fn new(name: &str) -> Self {
        let home = std::env::temp_dir().join(format!("planescope-http-{name}-{}", std::process::id()));
        let page = home.join("page");
        std::fs::create_dir_all(page.join("inner")).expect("a folder of our own");
        for (file, text) in [("page/index.html", "<p>page"), ("page/inner/a.wasm", "0123456789"), ("secret", "secret")]
        {
            std::fs::write(home.join(file), text).expect("a file of our own");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(home.join("secret"), page.join("link")).expect("a link of our own");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&home, page.join("outside")).expect("a link of our own");
        let mut site = Site::default();
        site.folder("key/", &page);
        site.file("key/data/x y.h5", &home.join("secret"));
        site.text("key/words", "text/plain", "words".to_owned());
        let address = site.serve(0).expect("a free port");
        Self { home, address }
    }

    /// The answer to a request line and some headers, `Host` among them.
    fn ask(&self, request: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        write!(stream, "{request} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers in text");
        answer
    }

    fn get(&self, path: &str) -> String {
        self.ask(&format!("GET {path}"), &format!("Host: {}\r\n", self.address))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The name is this process's own.
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

#[test]
fn a_page_and_its_files_are_given_under_their_token_alone() {
    let stage = Stage::new("files");
    let page = stage.get("/key/");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with("\r\n\r\n<p>page"), "{page}");
    for header in ["Content-Type: text/html", "Cross-Origin-Embedder-Policy: require-corp", "Cache-Control: no-store"] {
        assert!(page.contains(header), "{header}: {page}");
    }
    assert!(stage.get("/key/inner/a.wasm?x=1").contains("Content-Type: application/wasm"));
    assert!(stage.get("/key/data/x%20y.h5").ends_with("\r\n\r\nsecret"));
    assert!(stage.get("/key/words").ends_with("words"));
    for path in ["/", "/index.html", "/inner/a.wasm", "/Key/", "/data/x%20y.h5", "/key/data/", "/key", "/key/none"] {
        assert_eq!(status(&stage.get(path)), "404", "{path}");
    }
}

#[test]
fn nothing_outside_the_folder_is_given() {
    let stage = Stage::new("escape");
    for path in [
        "/key/../secret",
        "/key/%2e%2e/secret",
        "/key/inner/../../secret",
        "/key/..%2fsecret",
        "/key/..%5csecret",
        "/key//secret",
        "/key/./index.html",
        "/key/link",
        "/key/C:/secret",
        "/key/c%3a%5csecret",
        "/key/%00",
        "/key/%252e%252e/secret",
        "/key/%2E%2E%2Fsecret",
        "/key/inner%2f..%2f..%2f..%2fsecret",
        "/key/.../secret",
        "/key/inner/%2e%2e/%2e%2e/secret",
        "/key/\\..\\secret",
        "/key/%5c%5chost%5cshare",
        "/key/\u{ff0e}\u{ff0e}/secret",
        "/key/link/",
        "/key/outside/secret",
        "http://127.0.0.1/key/../secret",
        "//key/../secret",
    ] {
        let answer = stage.get(path);
        assert!(matches!(status(&answer), "404" | "400") && !answer.contains("\nsecret"), "{path}: {answer}");
    }
}

#[test]
fn parts_of_a_file_are_given_as_they_were_asked_for() {
    let stage = Stage::new("ranges");
    let part =
        |range: &str| stage.ask("GET /key/inner/a.wasm", &format!("Host: {}\r\nRange: {range}\r\n", stage.address));
    let answer = part("bytes=2-4");
    assert!(answer.starts_with("HTTP/1.1 206 ") && answer.ends_with("\r\n\r\n234"), "{answer}");
    assert!(answer.contains("Content-Range: bytes 2-4/10\r\n") && answer.contains("Content-Length: 3\r\n"), "{answer}");
    assert!(part("bytes=-1").ends_with("\r\n\r\n9"));
    assert!(part("bytes=8-18446744073709551615").ends_with("\r\n\r\n89"));
    for odd in [
        "bytes=5-4",
        "bytes=0-1,4-5",
        "bytes=a-b",
        "bytes=+1-2",
        "bytes=--1",
        "lines=0-1",
        "bytes=99999999999999999999-",
    ] {
        let whole = part(odd);
        assert!(whole.starts_with("HTTP/1.1 200 ") && whole.ends_with("\r\n\r\n0123456789"), "{odd}: {whole}");
    }
    let outside = part("bytes=10-");
    assert!(outside.starts_with("HTTP/1.1 416 ") && outside.contains("Content-Range: bytes */10\r\n"), "{outside}");
    let head = stage.ask("HEAD /key/inner/a.wasm", &format!("Host: {}\r\n", stage.address));
    assert!(head.contains("Content-Length: 10\r\n") && head.ends_with("\r\n\r\n"), "{head}");
}

#[test]
fn other_pages_and_other_names_of_this_machine_are_refused() {
    let stage = Stage::new("foreign");
    let host = format!("Host: {}\r\n", stage.address);
    let port = stage.address.port();
    let cases = [
        (String::new(), "421"),
        (format!("Host: evil.example:{port}\r\n"), "421"),
        ("Host: 127.0.0.1\r\n".to_owned(), "421"),
        (format!("{host}Origin: http://evil.example\r\n"), "403"),
        (format!("{host}Origin: null\r\n"), "403"),
        (format!("{host}Origin: https://{}\r\n", stage.address), "403"),
        (format!("{host}Sec-Fetch-Site: cross-site\r\n"), "403"),
        (format!("{host}Sec-Fetch-Site: same-site\r\n"), "403"),
        (format!("{host}Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", stage.address), "200"),
        (format!("Host: localhost:{port}\r\nSec-Fetch-Site: none\r\n"), "200"),
    ];
    for (headers, expected) in cases {
        assert_eq!(status(&stage.ask("GET /key/", &headers)), expected, "{headers}");
    }
    assert_eq!(status(&stage.ask("POST /key/", &host)), "405");
    assert_eq!(status(&stage.ask("GET /key/", &format!("{host}Content-Length: 5\r\n"))), "405");
}

#[test]
fn it_listens_on_this_machine_alone() {
    let stage = Stage::new("loopback");
    assert!(stage.address.ip().is_loopback(), "{}", stage.address);
}

#[test]
fn one_connection_answers_many_requests() {
    let stage = Stage::new("kept");
    let mut stream = TcpStream::connect(stage.address).expect("it listens");
    for _ in 0..3 {
        write!(stream, "GET /key/words HTTP/1.1\r\nHost: {}\r\n\r\n", stage.address).expect("it reads");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\nwords") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("it answers");
            answer.push(byte[0]);
        }
    }
}
