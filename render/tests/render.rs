//! Files that are rendered, read again, against the benchmark's own table and against each other.

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use render::{Options, Outcome, run};
use serde_json::Value;

type Outcomes<T = ()> = Result<T, Box<dyn Error>>;

/// Where one test renders to.
struct Stage(PathBuf);

impl Stage {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("planescope-render-{name}-{}", std::process::id())))
    }

    fn options(&self, files: &[PathBuf], products: &[&str]) -> Outcomes<Options> {
        let products = products.iter().map(|product| product.parse()).collect::<Result<_, String>>()?;
        Ok(Options { files: files.to_vec(), products, out: self.0.clone(), cpu: false })
    }

    /// What every file holds, by its name.
    fn files(&self) -> Outcomes<BTreeMap<String, Vec<u8>>> {
        let entries = fs::read_dir(&self.0)?.collect::<Result<Vec<_>, _>>()?;
        let read =
            |entry: &fs::DirEntry| Ok((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
        entries.iter().map(read).collect()
    }

    /// The samples of a TIFF: 32 bits each, at the end of the file.
    fn samples(&self, name: &str, count: usize) -> Outcomes<Vec<u32>> {
        let bytes = fs::read(self.0.join(name)).map_err(|cause| format!("{name}: {cause}"))?;
        assert!(bytes.starts_with(b"II*\0"), "{name} is a TIFF");
        let data = bytes.get(bytes.len() - 4 * count..).ok_or("too short")?;
        Ok(data.as_chunks().0.iter().map(|&sample| u32::from_le_bytes(sample)).collect())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The name is this process's own.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// Small made sets; `cargo xtask test` makes them and says where they are.
fn bench(name: &str) -> Option<PathBuf> {
    std::env::var_os("PLANESCOPE_BENCH").map(|folder| PathBuf::from(folder).join(name))
}

fn columns(table: &Path) -> Outcomes<Value> {
    Ok(serde_json::from_slice(&fs::read(table)?)?)
}

fn numbers(column: &Value) -> Vec<u32> {
    column.as_array().into_iter().flatten().filter_map(Value::as_u64).map(|number| number as u32).collect()
}

const RINGS: [&str; 5] = ["disc:96:96:8.5", "ring:96:96:20.5:80.5", "sum", "com", "mean"];

#[test]
fn every_count_of_the_benchmarks_table_is_in_the_files_of_the_cpu_twins() -> Outcomes {
    let stage = Stage::new("table");
    let seeds = root().join("tests/data/bench/seed_frames.h5");
    let outcome = run(&Options { cpu: true, ..stage.options(&[seeds], &RINGS)? })?;
    assert_eq!(outcome, Outcome::Whole);
    let table = columns(&root().join("tests/data/bench/seed_frames.expected.json"))?;
    let frames = &table["frames"];
    let files = [
        ("disc_96_96_8_5", "bf"),
        ("ring_96_96_20_5_80_5", "adf"),
        ("sum", "sum"),
        ("com_sum", "sum"),
        ("com_sum_row", "sum_row"),
        ("com_sum_col", "sum_col"),
    ];
    for (name, column) in files {
        let found = stage.samples(&format!("seed_frames_{name}_counts.tif"), 256)?;
        assert_eq!(found, numbers(&frames[column]), "{column}");
    }
    // As floats, whole counts of this size are the same.
    let floats = stage.samples("seed_frames_sum.tif", 256)?.into_iter().map(|bits| f32::from_bits(bits) as u32);
    assert_eq!(floats.collect::<Vec<_>>(), numbers(&frames["sum"]));
    let total: u64 = stage.samples("seed_frames_pattern_sum_counts.tif", 192 * 192)?.into_iter().map(u64::from).sum();
    assert_eq!(total, numbers(&frames["sum"]).into_iter().map(u64::from).sum::<u64>());
    let row = f32::from_bits(stage.samples("seed_frames_com_row.tif", 256)?[0]);
    let expected = f64::from(numbers(&frames["sum_row"])[0]) / f64::from(numbers(&frames["sum"])[0]);
    assert_eq!(row, expected as f32);
    assert!(stage.files()?["seed_frames_com.png"].starts_with(b"\x89PNG"));
    Ok(())
}

#[test]
fn gpu_and_cpu_render_the_same_files() -> Outcomes {
    let demo = root().join("www/demo/demo_master.h5");
    let products = ["bf", "adf", "com", "mean", "max"];
    let [gpu, cpu] = ["gpu", "cpu"].map(Stage::new);
    run(&gpu.options(std::slice::from_ref(&demo), &products)?)?;
    run(&Options { cpu: true, ..cpu.options(&[demo], &products)? })?;
    let [gpu, cpu] = [gpu.files()?, cpu.files()?];
    assert_eq!(gpu.keys().collect::<Vec<_>>(), cpu.keys().collect::<Vec<_>>());
    assert_eq!(gpu.len(), 3 + 3 + 6 + 3 + 3 + 3, "{:?}", gpu.keys());
    let differing: Vec<&String> =
        gpu.iter().filter(|(name, bytes)| cpu[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(differing.is_empty(), "{differing:?}");
    Ok(())
}

#[test]
fn a_set_that_was_stopped_has_no_values_where_it_has_no_patterns() -> Outcomes {
    let Some(folder) = bench("aborted") else { return Ok(()) };
    let stage = Stage::new("aborted");
    let outcome = run(&stage.options(&[folder.join("aborted_master.h5")], &["disc:96:96:8.5"])?)?;
    assert_eq!(outcome, Outcome::Partial);
    let table = columns(&folder.join("aborted.expected.json"))?;
    let reached = table["acquisition"]["frames"].as_u64().ok_or("frames")? as usize;
    let floats = stage.samples("aborted_disc_96_96_8_5.tif", 256)?;
    let known = floats.iter().position(|&bits| f32::from_bits(bits).is_nan());
    assert_eq!((reached, known), (200, Some(200)));
    assert!(stage.files()?.contains_key("aborted_disc_96_96_8_5_counts.npy"));
    Ok(())
}

#[test]
fn what_cannot_be_rendered_is_an_error_in_words() -> Outcomes {
    let stage = Stage::new("errors");
    let missing = stage.options(&[root().join("no/such_master.h5")], &["sum"])?;
    assert!(run(&missing).is_err_and(|words| words.contains("such_master.h5")));
    let text = stage.options(&[root().join("Cargo.toml")], &["sum"])?;
    assert!(run(&text).is_err_and(|words| words.contains("HDF5")));
    Ok(())
}
