//! What a file is that is not HDF5, from its first bytes and its name, and what its user can do.

/// A file of another kind.
pub struct Foreign {
    pub what: String,
    /// True for patterns, or parts of them, in a form that is not read here.
    pub holds_patterns: bool,
    pub action: String,
}

/// How a kind is known and told.
struct Kind {
    what: &'static str,
    /// Bytes at a place.
    magic: &'static [(usize, &'static [u8])],
    /// Ends of file names; with `magic` either is enough, except where `needs_both`.
    endings: &'static [&'static str],
    needs_both: bool,
    way: Way,
}

/// How such a file becomes one that is read here.
#[derive(Clone, Copy)]
enum Way {
    /// RosettaSciIO reads it, HyperSpy writes HDF5.
    HyperSpy,
    Empad,
    Numpy,
    Zarr,
    Unpack,
    /// Not patterns, or nobody knows.
    None,
}

/// Bytes from the start of a file that [`of`] looks at.
pub const HEAD_BYTES: usize = 256;

/// Names the kind of a file by its first bytes, at most [`HEAD_BYTES`], and its name.
pub fn of(name: &str, head: &[u8]) -> Foreign {
    let lower = name.to_lowercase();
    let has_magic = |kind: &&Kind| {
        let is_at = |&(at, bytes): &(usize, &[u8])| head.get(at..).is_some_and(|rest| rest.starts_with(bytes));
        kind.magic.iter().any(is_at)
    };
    let has_ending = |kind: &&Kind| kind.endings.iter().any(|ending| lower.ends_with(ending));
    let by_both = KINDS.iter().find(|kind| has_magic(kind) && has_ending(kind));
    let by_magic = || KINDS.iter().filter(|kind| !kind.needs_both).find(has_magic);
    // Text is text, whatever its name says; the text headers of other formats were found by their first bytes.
    let is_plain_text = is_text(head) && !lower.starts_with(".z") && lower != "zarr.json";
    let by_name = || KINDS.iter().filter(|kind| !kind.needs_both && !is_plain_text).find(has_ending);
    match by_both.or_else(by_magic).or_else(by_name) {
        Some(kind) => Foreign {
            what: kind.what.to_owned(),
            holds_patterns: !matches!(kind.way, Way::None),
            action: kind.way.words(name),
        },
        None => Foreign { what: unknown(head), holds_patterns: false, action: Way::None.words(name) },
    }
}

impl Way {
    fn words(self, name: &str) -> String {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        match self {
            Self::HyperSpy => format!(
                "Convert it to HDF5, in Python: import hyperspy.api as hs; hs.load(\"{name}\").save(\"{stem}.hspy\")"
            ),
            Self::Empad => format!(
                "Convert it to HDF5, rounded to whole numbers as patterns of floats cannot be shown yet; for an EMPAD in \
                 Python: import h5py, numpy; h5py.File(\"{stem}.h5\", \"w\")[\"data\"] = numpy.rint(numpy.fromfile(\"{name}\", \
                 \"f4\").reshape(-1, 130, 128)[:, :128]).astype(\"i4\")"
            ),
            Self::Numpy => format!(
                "Convert it to HDF5, in Python: import h5py, numpy; h5py.File(\"{stem}.h5\", \"w\")[\"data\"] = \
                 numpy.load(\"{name}\")"
            ),
            Self::Zarr => "Convert the whole store to HDF5, in Python: import h5py, zarr; h5py.File(\"set.h5\", \
                           \"w\")[\"data\"] = zarr.open(\"STORE\")[\"ARRAY\"][...]"
                .to_owned(),
            Self::Unpack => "Unpack it and open the files in it".to_owned(),
            Self::None => "Open another file".to_owned(),
        }
    }
}

fn is_text(head: &[u8]) -> bool {
    !head.is_empty() && head.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}

fn unknown(head: &[u8]) -> String {
    if is_text(head) {
        return "text".to_owned();
    }
    if head.iter().all(|&byte| byte == 0) {
        return "zeros".to_owned();
    }
    let first = head.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>();
    format!("bytes {}", first.join(" "))
}

const fn kind(
    what: &'static str,
    magic: &'static [(usize, &'static [u8])],
    endings: &'static [&'static str],
    way: Way,
) -> Kind {
    Kind { what, magic, endings, needs_both: false, way }
}

/// The same for magic bytes that others have as well.
const fn weak(
    what: &'static str,
    magic: &'static [(usize, &'static [u8])],
    endings: &'static [&'static str],
    way: Way,
) -> Kind {
    Kind { needs_both: true, ..kind(what, magic, endings, way) }
}

/// In the order of looking: formats inside others first.
const KINDS: &[Kind] = &[
    kind("a Merlin (.mib) file of a Medipix detector", &[(0, b"MQ1,")], &[".mib"], Way::HyperSpy),
    kind("the header (.hdr) of a Merlin file", &[(0, b"HDR,")], &[], Way::HyperSpy),
    weak("a Digital Micrograph file", &[(0, &[0, 0, 0, 3]), (0, &[0, 0, 0, 4])], &[".dm3", ".dm4"], Way::HyperSpy),
    kind("a Digital Micrograph file", &[], &[".dm3", ".dm4", ".dm5"], Way::HyperSpy),
    kind("a NanoMEGAS (.blo) file", &[(0, b"IMGBLO")], &[".blo"], Way::HyperSpy),
    kind("a TVIPS file", &[], &[".tvips"], Way::HyperSpy),
    kind("a TIA (.ser) file", &[(0, &[0x49, 0x49, 0x97, 0x01])], &[".ser"], Way::HyperSpy),
    kind("the header (.emi) of a TIA file", &[(0, b"JL")], &[".emi"], Way::HyperSpy),
    kind("an MRC file", &[(208, b"MAP ")], &[".mrc", ".mrcs", ".mrcz"], Way::HyperSpy),
    kind(
        "a NorPix (.seq) file, as of Celeritas and DE detectors",
        &[(0, &[0xed, 0xfe, 0, 0])],
        &[".seq"],
        Way::HyperSpy,
    ),
    kind("a numpy (.npy) file", &[(0, b"\x93NUMPY")], &[".npy"], Way::Numpy),
    weak("a zipped zarr store", &[(0, b"PK\x03\x04")], &[".zarr.zip", ".zspy.zip", ".zarr", ".zspy"], Way::Zarr),
    weak("a zarr store in an archive", &[(30, b".zarray"), (30, b".zgroup"), (30, b"zarr.json")], &[".zip"], Way::Zarr),
    kind("a zipped zarr store", &[(30, b".zarray"), (30, b".zgroup"), (30, b"zarr.json")], &[], Way::Zarr),
    kind("a file of a zarr store", &[], &[".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json"], Way::Zarr),
    weak("a Nion Swift (.ndata) file", &[(0, b"PK\x03\x04")], &[".ndata"], Way::None),
    weak("a Panta Rhei (.prz) file", &[(0, b"PK\x03\x04")], &[".prz"], Way::HyperSpy),
    weak("a numpy archive (.npz)", &[(0, b"PK\x03\x04")], &[".npz"], Way::Unpack),
    kind("a zip archive", &[(0, b"PK\x03\x04")], &[], Way::Unpack),
    kind("a gzip archive", &[(0, &[0x1f, 0x8b])], &[], Way::Unpack),
    kind("a 7z archive", &[(0, b"7z\xbc\xaf\x27\x1c")], &[], Way::Unpack),
    kind("a rar archive", &[(0, b"Rar!")], &[], Way::Unpack),
    kind("an xz archive", &[(0, b"\xfd7zXZ")], &[], Way::Unpack),
    kind("a bzip2 archive", &[(0, b"BZh")], &[], Way::Unpack),
    kind("a Zstandard archive", &[(0, &[0x28, 0xb5, 0x2f, 0xfd])], &[], Way::Unpack),
    kind("a tar archive", &[], &[".tar"], Way::Unpack),
    kind(
        "a TIFF image",
        &[(0, &[b'I', b'I', 42, 0]), (0, &[b'M', b'M', 0, 42]), (0, &[b'I', b'I', 43, 0]), (0, &[b'M', b'M', 0, 43])],
        &[".tif", ".tiff"],
        Way::HyperSpy,
    ),
    kind("a MATLAB file before version 7.3", &[(0, b"MATLAB 5.0")], &[], Way::None),
    kind("an HDF4 file", &[(0, &[0x0e, 0x03, 0x13, 0x01])], &[], Way::None),
    kind("a netCDF file of the classic format", &[(0, b"CDF\x01"), (0, b"CDF\x02"), (0, b"CDF\x05")], &[], Way::None),
    kind("a Bruker (.bcf) file", &[(0, b"AAMVHFSS")], &[".bcf"], Way::HyperSpy),
    kind("a crystallographic image (.cbf)", &[(0, b"###CBF")], &[".cbf"], Way::None),
    kind("a crystallographic image (SMV)", &[(0, b"{\nHEADER_BYTES")], &[], Way::None),
    kind("a PNG image", &[(0, b"\x89PNG")], &[], Way::None),
    kind("a JPEG image", &[(0, &[0xff, 0xd8, 0xff])], &[], Way::None),
    kind("a PDF document", &[(0, b"%PDF")], &[], Way::None),
    kind("a ripple (.rpl) header", &[(0, b"key\t")], &[".rpl"], Way::HyperSpy),
    weak("the header of an EMPAD set", &[(0, b"<?xml"), (0, b"<root")], &[".xml"], Way::None),
    kind("raw numbers without a header, as an EMPAD writes them", &[], &[".raw"], Way::Empad),
    kind("raw numbers without a header", &[], &[".bin", ".dat", ".data"], Way::None),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn what(name: &str, head: &[u8]) -> String {
        of(name, head).what
    }

    #[test]
    fn a_kind_is_known_by_its_bytes_whatever_it_is_called() {
        assert_eq!(what("x.h5", b"MQ1,000001,00384,01,0256,0256,U16"), "a Merlin (.mib) file of a Medipix detector");
        assert_eq!(what("x.h5", b"IMGBLO\x02\x01"), "a NanoMEGAS (.blo) file");
        assert_eq!(what("x.h5", b"\x93NUMPY\x01\x00"), "a numpy (.npy) file");
        assert_eq!(what("x.h5", &[0x49, 0x49, 0x97, 0x01, 0x20]), "a TIA (.ser) file");
        let mut mrc = vec![7; 208];
        mrc.extend(b"MAP ");
        assert_eq!(what("x", &mrc), "an MRC file");
    }

    #[test]
    fn a_kind_without_bytes_of_its_own_is_known_by_its_name() {
        assert_eq!(what("Scan.RAW", &[3, 0, 7]), "raw numbers without a header, as an EMPAD writes them");
        assert_eq!(what("scan.tvips", &[0, 1, 0, 0]), "a TVIPS file");
        assert_eq!(what("scan.dm4", &[0, 0, 0, 4]), "a Digital Micrograph file");
        assert_eq!(what("x.zspy", b"PK\x03\x04"), "a zipped zarr store");
        assert_eq!(what("x.zip", b"PK\x03\x04"), "a zip archive");
        assert_eq!(what(".zarray", b"{ \"chunks\": [1] }"), "a file of a zarr store");
    }

    #[test]
    fn what_nobody_knows_is_told_as_it_is() {
        assert_eq!(what("x.h5", &[0, 0, 0, 4]), "bytes 00 00 00 04");
        assert_eq!((what("notes.raw", b"a text\n"), what("x.h5", &[0; 16])), ("text".to_owned(), "zeros".to_owned()));
    }

    #[test]
    fn patterns_come_with_a_way_to_convert_them() {
        for name in ["a.mib", "a.dm4", "a.blo", "a.tvips", "a.raw", "a.npy"] {
            let foreign = of(name, &[1, 2, 3]);
            assert!(
                foreign.holds_patterns && foreign.action.starts_with("Convert it to HDF5"),
                "{name}: {}",
                foreign.action
            );
        }
    }
}
