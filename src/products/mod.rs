//! (see lib.rs)

pub struct Disc { pub centre: [f64; 2], pub radius: f64 }
pub fn find_disc(sums: &crate::engine::PatternSum, bad: &crate::engine::PixelSet) -> Option<Disc> {
    let d = bad.detector;
    let mut v: Vec<u64> = sums.sum.clone(); v.sort();
    let t = v[v.len()*99/100] / 2;
    if t == 0 { return None }
    let (mut n, mut r, mut c) = (0.0, 0.0, 0.0);
    for p in 0..d.pixels() { if sums.sum[p as usize] > t && !bad.contains(p) { n += 1.0; r += f64::from(p / d.cols); c += f64::from(p % d.cols); } }
    Some(Disc { centre: [r / n, c / n], radius: (n / std::f64::consts::PI).sqrt() })
}
