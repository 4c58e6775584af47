//! Numbers as text: exact counts with thousands, four significant digits elsewhere, narrow no-break
//! spaces before units, a true minus.

const NARROW: char = '\u{202f}';
const MINUS: char = '\u{2212}';

/// An exact count: "262,144".
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An exact count of a signed type: "−1,024".
pub fn count_signed(n: i64) -> String {
    if n < 0 { format!("{MINUS}{}", count(n.unsigned_abs())) } else { count(n.unsigned_abs()) }
}

/// Four significant digits; below 10⁻³ or from 10⁶ on as "1.240 × 10⁶".
pub fn value(v: f64) -> String {
    if !v.is_finite() {
        return "\u{2013}".into();
    }
    let size = v.abs();
    if size == 0.0 {
        return "0".into();
    }
    let text = if !(1e-3..1e6).contains(&size) { scientific(size) } else { significant(size) };
    if v < 0.0 { format!("{MINUS}{text}") } else { text }
}

fn significant(size: f64) -> String {
    let before = size.log10().floor() as i32 + 1;
    let decimals = (4 - before).max(0) as usize;
    let text = format!("{size:.decimals$}");
    if decimals == 0 { count(size.round() as u64) } else { text }
}

fn scientific(size: f64) -> String {
    let mut exponent = size.log10().floor() as i32;
    let mut mantissa = size / 10f64.powi(exponent);
    if mantissa >= 9.9995 {
        (mantissa, exponent) = (1.0, exponent + 1);
    }
    format!("{mantissa:.3} × 10{}", superscript(exponent))
}

fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let sign = if exponent < 0 { "⁻" } else { "" };
    let digits = exponent.unsigned_abs().to_string();
    digits.bytes().fold(sign.to_owned(), |text, digit| text + &DIGITS[usize::from(digit - b'0')].to_string())
}

/// A round number without needless zeros: "0.5", "20".
pub fn plain(v: f64) -> String {
    let text = format!("{v:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text.parse::<u64>() {
        Ok(whole) => count(whole),
        Err(_) => text.to_owned(),
    }
}

/// A size on disk or in memory; GB = 10⁹ bytes.
pub fn bytes(n: u64) -> String {
    let size = n as f64;
    let (scaled, unit) = match n {
        0..1_000 => return format!("{n}{NARROW}bytes"),
        1_000..1_000_000 => (size / 1e3, "kB"),
        1_000_000..1_000_000_000 => (size / 1e6, "MB"),
        _ => (size / 1e9, "GB"),
    };
    let decimals = usize::from(scaled < 99.95);
    format!("{scaled:.decimals$}{NARROW}{unit}")
}

/// "3.4 of 7.9 GB": both in the unit of the whole.
pub fn bytes_of(part: u64, whole: u64) -> String {
    let text = bytes(whole);
    let size = match whole {
        0..1_000 => return format!("{part} of {text}"),
        1_000..1_000_000 => 1e3,
        1_000_000..1_000_000_000 => 1e6,
        _ => 1e9,
    };
    let decimals = usize::from(whole as f64 / size < 99.95);
    format!("{:.decimals$} of {text}", part as f64 / size)
}

/// Time left, as people say it: "about 1 s", "2 min 10 s".
pub fn duration(seconds: f64) -> String {
    let whole = seconds.ceil().max(1.0) as u64;
    match whole {
        0..10 => format!("about {whole}{NARROW}s"),
        10..60 => format!("{whole}{NARROW}s"),
        60..3600 => format!("{}{NARROW}min {}{NARROW}s", whole / 60, whole % 60 / 10 * 10),
        _ => format!("{}{NARROW}h {}{NARROW}min", whole / 3600, whole % 3600 / 60),
    }
}

/// A length in pm, Å, nm or µm, as fine as `step_nm` / 10.
pub fn length_nm(length: f64, step_nm: f64) -> String {
    let (size, unit) = match length.abs().max(step_nm.abs()) {
        l if l < 0.01 => (1e-3, "pm"),
        l if l < 1.0 => (0.1, "Å"),
        l if l < 1e3 => (1.0, "nm"),
        _ => (1e3, "µm"),
    };
    let decimals = (1.0 - (step_nm / size).abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{:.decimals$}{NARROW}{unit}", length / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_exact_with_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(262_144), "262,144");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(count_signed(-1024), "−1,024");
    }

    #[test]
    fn other_values_have_four_significant_digits() {
        assert_eq!(value(0.412), "0.4120");
        assert_eq!(value(-12.4), "−12.40");
        assert_eq!(value(18_940.4), "18,940");
        assert_eq!(value(1_240_000.0), "1.240 × 10⁶");
        assert_eq!(value(0.000_25), "2.500 × 10⁻⁴");
        assert_eq!(value(f64::NAN), "–");
    }

    #[test]
    fn sizes_and_times_read_as_people_say_them() {
        assert_eq!(bytes(7_900_000_000), "7.9\u{202f}GB");
        assert_eq!(bytes(512), "512\u{202f}bytes");
        assert_eq!(bytes_of(900_000_000, 7_900_000_000), "0.9 of 7.9\u{202f}GB");
        assert_eq!(duration(0.7), "about 1\u{202f}s");
        assert_eq!(duration(134.0), "2\u{202f}min 10\u{202f}s");
    }

    #[test]
    fn lengths_are_as_fine_as_a_tenth_of_a_step() {
        assert_eq!(length_nm(5.74, 0.02), "5.740\u{202f}nm");
        assert_eq!(length_nm(0.02, 0.02), "0.20\u{202f}Å");
        assert_eq!(length_nm(2400.0, 10.0), "2.400\u{202f}µm");
    }
}
