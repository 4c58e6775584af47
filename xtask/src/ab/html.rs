//! A report as one HTML page that needs nothing else: readings by slot, floors and bands, verdicts.

use planescope::ab::{Series, Session, clock::ITERATIONS};

use super::{
    plot::{Plot, escaped},
    report::{ClockReport, Report, RigFacts, percent, word},
};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:760px;padding:0 1rem;color:#1c2430;\
background:#fff}h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}h3{font-size:1rem;margin-bottom:.2rem}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid #dde3ea}\
svg{width:100%;font:11px system-ui,sans-serif;fill:#445}.floor{fill:#8a97a8;stroke:#8a97a8}.base{fill:#2f6fb5;stroke:#2f6fb5}\
.arm{fill:#c25b1e;stroke:#c25b1e}circle{opacity:.45;stroke:none}line{stroke-width:2}line.grid{stroke:#e4e9ef;stroke-width:1}\
.band{fill:#8a97a8;opacity:.22}.null{color:#5a6675}.faster{color:#16784a}.slower{color:#b3261e}\
@media(prefers-color-scheme:dark){body{background:#14181e;color:#dfe5ec}svg{fill:#aab4c0}td,th{border-color:#2a323c}\
line.grid{stroke:#232a33}.faster{color:#5fd39b}.slower{color:#ff9a90}}";

/// One run of a probe.
pub fn report(report: &Report) -> String {
    let mut body =
        format!("<h1>{}</h1><p>{}</p>{}", escaped(&report.probe), escaped(&report.purpose), rig(&report.rig));
    body += &format!("<p>Data: {}</p><h2>Verdicts</h2>{}{}", escaped(&report.data), table(report), effects(report));
    body += "<p>Shaded: the band, within which an effect is null. A point is the effect in one order of slots in one \
             browser.</p>";
    for (number, session) in (1..).zip(&report.sessions) {
        body += &format!("<h2>Browser {number}: readings by slot</h2>");
        body += &series("The baseline in every slot", &session.floor, session);
        for contest in &session.contests {
            let name = session.arms.get(contest.arm).map_or("", String::as_str);
            body += &series(&format!("{name}, forward"), &contest.forward, session);
            body += &series(&format!("{name}, reversed"), &contest.reversed, session);
            if let Some(control) = &contest.control {
                body += &series(&format!("{name}, without content"), control, session);
            }
        }
    }
    page(&report.probe, &body)
}

/// What a clock is worth.
pub fn clock(report: &ClockReport) -> String {
    let mut body = format!("<h1>The GPU's clock</h1>{}<pre>{}</pre>", rig(&report.rig), escaped(&report.text()));
    for (number, clock) in (1..).zip(&report.clocks) {
        body += &format!("<h2>Browser {number}</h2><h3>Time against iterations of the kernel</h3>");
        let mut plot = Plot::new(220.0, clock.linearity_ms.iter().copied().chain([0.0]));
        for (iterations, &ms) in ITERATIONS.into_iter().zip(&clock.linearity_ms) {
            let at = f64::from(iterations) / f64::from(ITERATIONS[3]) * 0.95 + 0.02;
            plot.dot(at, ms, "base");
        }
        body += &plot.svg("linearity", "ms");
        body += "<h3>The same work in nine slots: how far each is from the middle, three runs</h3>";
        let mut plot = Plot::new(220.0, clock.bias.iter().flatten().map(|part| 100.0 * part));
        for run in &clock.bias {
            for (slot, part) in run.iter().enumerate() {
                plot.dot(place(slot, run.len()), 100.0 * part, "base");
            }
        }
        body += &plot.svg("position bias", "%");
    }
    page("clock", &body)
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{}</title><style>{STYLE}</style><body>{body}</body></html>",
        escaped(title)
    )
}

fn rig(rig: &RigFacts) -> String {
    let lines = [
        ("GPU", rig.adapter.clone()),
        ("browser", rig.browser.clone()),
        ("flags", rig.flags.join(" ")),
        ("date", rig.date.clone()),
        ("host before, after", rig.host.join(" / ")),
    ];
    let rows = lines.iter().map(|(key, value)| format!("<tr><th>{key}</th><td>{}</td></tr>", escaped(value)));
    format!("<table>{}</table>", rows.collect::<String>())
}

fn table(report: &Report) -> String {
    let rows = report.outcomes.iter().map(|outcome| {
        format!(
            "<tr><td>{}</td><td class=\"{word}\">{word}</td><td>{:.4} ms</td><td>{:.4} ms</td><td>{}</td><td>{:.2} %</td></tr>",
            escaped(&outcome.arm),
            outcome.ms,
            outcome.baseline_ms,
            percent(outcome.effect),
            100.0 * outcome.band,
            word = word(outcome.verdict)
        )
    });
    format!(
        "<table><tr><th>arm</th><th>verdict</th><th>time</th><th>baseline</th><th>effect</th><th>band</th></tr>{}</table>",
        rows.collect::<String>()
    )
}

/// All effects, each against its band.
fn effects(report: &Report) -> String {
    let mut all = String::new();
    for outcome in &report.outcomes {
        let percents: Vec<f64> = outcome.effects.iter().map(|effect| 100.0 * effect).collect();
        let band = 100.0 * outcome.band;
        let mut plot = Plot::new(150.0, percents.iter().copied().chain([band, -band]));
        plot.band(-band, band);
        for (i, &effect) in percents.iter().enumerate() {
            plot.dot(place(i, percents.len()), effect, "arm");
            plot.label(place(i, percents.len()), ["forward", "reversed"][i % 2]);
        }
        plot.bar(0.5, 0.48, 100.0 * outcome.effect, "arm");
        all += &format!("<h3>{}</h3>{}", escaped(&outcome.arm), plot.svg(&outcome.arm, "%"));
    }
    all
}

/// Readings of every slot, the medians, and the floors' spread.
fn series(title: &str, series: &Series, session: &Session) -> String {
    let mut plot = Plot::new(240.0, series.rounds.iter().flatten().copied());
    let (positions, floors) = (series.positions(), series.floors());
    let floor_ms: Vec<f64> = floors.iter().filter_map(|&slot| positions.get(slot).copied()).collect();
    let low = floor_ms.iter().copied().fold(f64::MAX, f64::min);
    let high = floor_ms.iter().copied().fold(f64::MIN, f64::max);
    plot.band(low, high);
    for (slot, &arm) in series.slots.iter().enumerate() {
        let (at, count) = (place(slot, series.slots.len()), series.rounds.len().max(1));
        let class = match (arm, floors.contains(&slot)) {
            (0, true) => "floor",
            (0, false) => "base",
            _ => "arm",
        };
        for (i, round) in series.rounds.iter().enumerate() {
            let aside = (i as f64 / count as f64 - 0.5) * 0.06;
            round.get(slot).into_iter().for_each(|&ms| plot.dot(at + aside, ms, class));
        }
        positions.get(slot).into_iter().for_each(|&ms| plot.bar(at, 0.035, ms, class));
        let name = if arm == 0 { "baseline" } else { session.arms.get(arm).map_or("", String::as_str) };
        plot.label(at, name);
    }
    format!("<h3>{}</h3>{}", escaped(title), plot.svg(title, "ms"))
}

/// The middle of one of `count` places from 0 to 1.
fn place(i: usize, count: usize) -> f64 {
    (i as f64 + 0.5) / count.max(1) as f64
}
