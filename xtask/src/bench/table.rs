//! The table that people read: what was measured, what was aimed at, what others have published.

use std::fmt::Write;

use serde_json::Value;

use super::{
    figures::Figure,
    measure::Measured,
    race::{BASELINE, COMPARED, Race},
    sweep::in_words,
};

/// One line: its words, its figure, the most it should be, and public numbers for the same work.
struct Row {
    words: &'static str,
    key: &'static str,
    target: Option<f64>,
    public: &'static str,
}

const fn row(words: &'static str, key: &'static str, target: f64, public: &'static str) -> Row {
    Row { words, key, target: Some(target), public }
}

const fn part(words: &'static str, key: &'static str) -> Row {
    Row { words, key, target: None, public: "" }
}

/// Targets and public numbers are those of 262,144 frames of 192 x 192 u16 (1.88 GB, preset seed, jitter 2).
const DECODES: [Row; 5] = [
    row("decode to resident planes, ms", "decode_planes_ms", 20.0, ""),
    row("decode to dense u16, ms", "decode_u16_ms", 30.0, "nvCOMP 6.0 44.0; quantem CUDA 79.9, WebGPU 200.5 (H200)"),
    row("decode to exact clip-u8, ms", "decode_u8_clip_ms", 25.0, ""),
    row("decode to low-u8, ms", "decode_u8_low_ms", 25.0, ""),
    part("baseline: frame-coop to dense u16, ms", "decode_frame_coop_ms"),
];

const QUANTEM_LOADS: &str =
    "quantem WebGPU 2700-3200 (Blackwell), 1252-1497 (Apple); CUDA 386-450, 633 (H200); Metal 415";

const LOADS: [Row; 18] = [
    row("load, hand-over to last decode, ms", "load_ms", 450.0, QUANTEM_LOADS),
    row("last upload to last decode, ms", "upload_tail_ms", 40.0, ""),
    row("first image on screen, ms", "first_image_ms", 100.0, ""),
    row("re-opened from the browser's copy, ms", "reopen_ms", 250.0, ""),
    row("resident, GB", "resident_gb", 2.6, "quantem u16 19.3"),
    row("any virtual image, mask changed, ms", "mask_change_ms", 1.5, ""),
    part("bright field, mask moved, ms", "bright_field_ms"),
    part("dark field, mask moved, ms", "dark_field_ms"),
    row("centre of mass, both axes, ms", "com_ms", 3.0, "quantem WebGPU 83"),
    row("mean pattern, ms", "mean_pattern_ms", 8.0, "quantem WebGPU 51"),
    row("mean over a quarter of the scan, ms", "mean_quarter_ms", 3.0, ""),
    row("longest main-thread block, ms", "main_thread_block_ms", 16.0, ""),
    part("  metadata, ms", "metadata_ms"),
    part("  first byte read to last, ms", "read_ms"),
    part("  reading, all workers, ms", "read_worker_ms"),
    part("  copying on the main thread, ms", "upload_ms"),
    part("  waiting for a mapped buffer, ms", "map_wait_ms"),
    part("  decode passes, ms", "load_decode_ms"),
];

/// The figures of one setting.
pub fn loads(measured: &Measured, made_as: &Value) -> String {
    let mut text = format!("\n{}\n{}", in_words(&measured.tuning), head(made_as));
    for row in &LOADS {
        if let Some(figure) = measured.figures.get(row.key) {
            line(&mut text, row, figure, made_as);
        }
    }
    text
}

/// The figures of a race, then all runners from fast to slow.
pub fn race(race: &Race, made_as: &Value, prototype_ms: Option<f64>) -> String {
    let mut text = format!("\ndecoding all frames, by GPU timestamps\n{}", head(made_as));
    let figures = race.figures();
    for row in &DECODES {
        if let Some((_, raced)) = figures.iter().find(|(key, _)| *key == row.key) {
            line(&mut text, row, &raced.gpu_ms, made_as);
        }
    }
    text.push_str(&comparison(race, prototype_ms));
    let mut sorted: Vec<_> = race.raced.iter().collect();
    sorted.sort_by(|a, b| {
        (&a.runner.output, a.gpu_ms.median)
            .partial_cmp(&(&b.runner.output, b.gpu_ms.median))
            .unwrap_or(a.runner.workgroup.cmp(&b.runner.workgroup))
    });
    for raced in sorted {
        let passes: Vec<String> =
            raced.passes.iter().map(|(pass, figure)| format!("{pass} {}", short(figure.median))).collect();
        let _ =
            writeln!(text, "  {:28} {:>9}   {}", raced.runner.name(), short(raced.gpu_ms.median), passes.join(", "));
    }
    text
}

/// How many times faster than the baseline at the same output, and whether that may be said.
fn comparison(race: &Race, prototype_ms: Option<f64>) -> String {
    let best = race.fastest(|runner| runner.output == COMPARED && runner.variant != BASELINE);
    let (Some(best), Some(baseline)) = (best, race.baseline()) else { return String::new() };
    let ratio = baseline.gpu_ms.median / best.gpu_ms.median;
    let mut text = format!(
        "{} is {ratio:.2} x as fast as the baseline {} (target 6.5 or more)",
        best.runner.name(),
        baseline.runner.name()
    );
    match prototype_ms.map(|prototype| (prototype, (baseline.gpu_ms.median / prototype - 1.0).abs())) {
        None => text.push_str("; the baseline was not compared with another one of its design (--prototype-ms)"),
        Some((prototype, off)) if off <= 0.05 => {
            let _ = write!(text, "; the baseline is within 5 % of {prototype} ms");
        }
        Some((prototype, off)) => {
            let _ = write!(text, "; VOID: the baseline is {:.0} % off {prototype} ms", 100.0 * off);
        }
    }
    let noise = race.noise().map_or_else(|| "unknown".to_owned(), |noise| format!("{:.1} %", 100.0 * noise));
    let _ = writeln!(text, "\nnoise floor, the baseline against itself: {noise}");
    text
}

fn head(made_as: &Value) -> String {
    let (target, public) = if has_targets(made_as) { ("target", "public numbers") } else { ("", "") };
    format!("{:40} {:>9} {:>19} {:>7} {target:>7}  {public}\n", "", "median", "range", "noise")
}

fn line(text: &mut String, row: &Row, figure: &Figure, made_as: &Value) {
    let (low, high) = figure.range();
    let range = format!("{} - {}", short(low), short(high));
    let noise = figure.noise().map_or_else(String::new, |noise| format!("{:.1} %", 100.0 * noise));
    let (target, public) = match row.target.filter(|_| has_targets(made_as)) {
        Some(target) if figure.median <= target => (format!("{target} ok"), row.public),
        Some(target) => (format!("{target} --"), row.public),
        None => (String::new(), ""),
    };
    let words = format!("{:40} {:>9} {range:>19} {noise:>7} {target:>7}  {public}", row.words, short(figure.median));
    let _ = writeln!(text, "{}", words.trim_end());
}

/// Whether the targets, which are those of one acquisition, are about this set.
fn has_targets(made_as: &Value) -> bool {
    made_as["preset"] == "seed" && made_as["jitter"] == 2.0 && made_as["scan"] == serde_json::json!([512, 512])
}

/// Three digits where they matter.
pub fn short(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn measured(load_ms: f64) -> Measured {
        let figure = Figure::of(vec![load_ms; 7]).expect("seven numbers");
        Measured { figures: [("load_ms", figure)].into(), ..Measured::default() }
    }

    #[test]
    fn targets_stand_only_beside_the_set_that_they_are_about() {
        let seed = json!({"preset": "seed", "jitter": 2.0, "scan": [512, 512]});
        assert!(loads(&measured(449.0), &seed).contains("450 ok"));
        assert!(loads(&measured(451.0), &seed).contains("450 --"));
        let small = json!({"preset": "seed", "jitter": 2.0, "scan": [16, 16]});
        let text = loads(&measured(449.0), &small);
        assert!(!text.contains("450") && !text.contains("quantem"), "{text}");
    }
}
