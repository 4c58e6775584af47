//! Screenshots with at most 256 colours: a third of their size, and nobody sees the difference.
//!
//! Format: PNG, third edition (<https://www.w3.org/TR/png-3/>); colours by median cut (Heckbert, SIGGRAPH 1982, 297).

use std::{
    collections::HashMap,
    io::{Read, Write},
};

use anyhow::{Context, Result, bail, ensure};
use flate2::{Compression, Crc, read::ZlibDecoder, write::ZlibEncoder};

type Colour = [u8; 3];

/// The same picture with a palette.
pub fn reduced(png: &[u8]) -> Result<Vec<u8>> {
    let Picture { width, height, colours } = read(png)?;
    let mut counts: HashMap<Colour, u32> = HashMap::new();
    colours.iter().for_each(|colour| *counts.entry(*colour).or_default() += 1);
    let boxes = median_cut(counts.into_iter().collect());
    let palette: Vec<Colour> = boxes.iter().map(|colours| mean(colours)).collect();
    let place: HashMap<Colour, u8> = boxes
        .iter()
        .zip(0..=255)
        .flat_map(|(colours, place)| colours.iter().map(move |(of, _)| (*of, place)))
        .collect();
    let mut lines = Vec::with_capacity(colours.len() + height as usize);
    for line in colours.chunks_exact(width as usize) {
        // Lines of palettes are not filtered (12.7).
        lines.push(0);
        lines.extend(line.iter().map(|colour| place[colour]));
    }
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 3, 0, 0, 0]].concat();
    chunk(&mut out, b"IHDR", &head);
    chunk(&mut out, b"PLTE", palette.as_flattened());
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&lines)?;
    chunk(&mut out, b"IDAT", &packed.finish()?);
    chunk(&mut out, b"IEND", &[]);
    Ok(out)
}

struct Picture {
    width: u32,
    height: u32,
    colours: Vec<Colour>,
}

/// Reads 8-bit colours, with or without alpha, not interlaced: what browsers write.
fn read(png: &[u8]) -> Result<Picture> {
    let mut rest = png.strip_prefix(b"\x89PNG\r\n\x1a\n").context("not a PNG")?;
    let (mut head, mut packed) = (&[][..], Vec::new());
    while rest.len() >= 12 {
        let length = u32::from_be_bytes(rest[..4].try_into()?) as usize;
        let data = rest.get(8..8 + length).context("a chunk that ends too early")?;
        match &rest[4..8] {
            b"IHDR" => head = data,
            b"IDAT" => packed.extend(data),
            _ => {}
        }
        rest = &rest[12 + length..];
    }
    ensure!(head.len() == 13 && head[8] == 8 && head[12] == 0, "another kind of PNG: {head:?}");
    let channels = match head[9] {
        2 => 3,
        6 => 4,
        other => bail!("colour type {other}"),
    };
    let (width, height) = (u32::from_be_bytes(head[..4].try_into()?), u32::from_be_bytes(head[4..8].try_into()?));
    let mut bytes = Vec::new();
    ZlibDecoder::new(packed.as_slice()).read_to_end(&mut bytes)?;
    let line_bytes = width as usize * channels;
    ensure!(bytes.len() == (line_bytes + 1) * height as usize, "{} bytes", bytes.len());
    let mut above = vec![0; line_bytes];
    let mut colours = Vec::with_capacity((width * height) as usize);
    for line in bytes.chunks_exact_mut(line_bytes + 1) {
        let (filter, line) = line.split_first_mut().context("an empty line")?;
        unfilter(*filter, line, &above, channels)?;
        colours.extend(line.chunks_exact(channels).map(|of| [of[0], of[1], of[2]]));
        above.copy_from_slice(line);
    }
    Ok(Picture { width, height, colours })
}

/// 9.2 of the specification.
fn unfilter(filter: u8, line: &mut [u8], above: &[u8], channels: usize) -> Result<()> {
    for at in 0..line.len() {
        let (a, c) = if at < channels { (0, 0) } else { (line[at - channels], above[at - channels]) };
        let b = above[at];
        let predicted = match filter {
            0 => 0,
            1 => a,
            2 => b,
            3 => ((u16::from(a) + u16::from(b)) / 2) as u8,
            4 => paeth(a, b, c),
            other => bail!("filter {other}"),
        };
        line[at] = line[at].wrapping_add(predicted);
    }
    Ok(())
}

fn paeth(a: u8, b: u8, c: u8) -> u8 {
    let estimate = i16::from(a) + i16::from(b) - i16::from(c);
    let apart = |of: u8| (estimate - i16::from(of)).abs();
    [a, b, c].into_iter().min_by_key(|of| apart(*of)).unwrap_or(a)
}

/// Boxes of colours with their counts, at most 256.
fn median_cut(colours: Vec<(Colour, u32)>) -> Vec<Vec<(Colour, u32)>> {
    // Greys stay grey: a tint in a picture of counts would look like data.
    let (greys, others) = colours.into_iter().partition(|([r, g, b], _)| r == g && g == b);
    let mut boxes: Vec<Vec<(Colour, u32)>> = vec![greys, others];
    boxes.retain(|of| !of.is_empty());
    while boxes.len() < 256 {
        // Rare colours (marks, letters) count more than their area.
        let worth = |of: &Vec<(Colour, u32)>| {
            let (_, range) = widest(of);
            f64::from(range) * of.iter().map(|(_, count)| f64::from(*count).sqrt()).sum::<f64>()
        };
        let Some((place, _)) = boxes
            .iter()
            .enumerate()
            .filter(|(_, of)| of.len() > 1)
            .max_by(|(_, a), (_, b)| worth(a).total_cmp(&worth(b)))
        else {
            break;
        };
        let mut lower = boxes.swap_remove(place);
        let (channel, _) = widest(&lower);
        lower.sort_by_key(|(colour, _)| colour[channel]);
        let upper = lower.split_off(lower.len() / 2);
        boxes.extend([lower, upper]);
    }
    boxes
}

/// The channel in which colours differ most, and how much.
fn widest(colours: &[(Colour, u32)]) -> (usize, u8) {
    let range = |channel: usize| {
        let of = || colours.iter().map(|(colour, _)| colour[channel]);
        of().max().unwrap_or(0) - of().min().unwrap_or(0)
    };
    (0..3).map(|channel| (channel, range(channel))).max_by_key(|(_, range)| *range).unwrap_or((0, 0))
}

fn mean(colours: &[(Colour, u32)]) -> Colour {
    let total: u64 = colours.iter().map(|(_, count)| u64::from(*count)).sum();
    [0, 1, 2].map(|channel| {
        let sum: u64 = colours.iter().map(|(colour, count)| u64::from(colour[channel]) * u64::from(*count)).sum();
        ((sum + total / 2) / total.max(1)) as u8
    })
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(data);
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(kind);
    out.extend(data);
    out.extend(crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG of 8-bit colours whose lines have all filters in turn.
    fn written(width: u32, colours: &[Colour]) -> Vec<u8> {
        let (mut lines, mut above) = (Vec::new(), vec![0; 3 * width as usize]);
        for (filter, line) in (0..5).cycle().zip(colours.chunks_exact(width as usize)) {
            let line = line.as_flattened();
            lines.push(filter);
            lines.extend((0..line.len()).map(|at| {
                let (a, c) = if at < 3 { (0, 0) } else { (line[at - 3], above[at - 3]) };
                let b = above[at];
                let half = (u16::from(a) + u16::from(b)) / 2;
                line[at].wrapping_sub([0, a, b, half as u8, paeth(a, b, c)][usize::from(filter)])
            }));
            above.copy_from_slice(line);
        }
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&lines).expect("memory");
        let height = colours.len() as u32 / width;
        let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
        chunk(&mut out, b"IHDR", &[&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat());
        chunk(&mut out, b"IDAT", &packed.finish().expect("memory"));
        chunk(&mut out, b"IEND", &[]);
        out
    }

    #[test]
    fn every_filter_is_undone() {
        let colours: Vec<Colour> = (0..7 * 10u32).map(|n| [n * 3, n * n, n / 2].map(|v| v as u8)).collect();
        assert_eq!(read(&written(7, &colours)).expect("a PNG").colours, colours);
    }

    #[test]
    fn greys_stay_grey() {
        let greys = (0..256u32).map(|n| ([n as u8; 3], 9));
        let others = (0..2048u32).map(|n| ([n as u8, (n >> 3) as u8, 200], 1));
        let boxes = median_cut(greys.chain(others).collect());
        let is_grey = |[r, g, b]: Colour| r == g && g == b;
        assert!(boxes.iter().all(|of| is_grey(of[0].0) == is_grey(mean(of))));
    }

    #[test]
    fn few_colours_are_kept_and_many_come_close() {
        let few: Vec<Colour> = (0..200u32).map(|n| [n as u8, 0, 255 - n as u8]).collect();
        let boxes = median_cut(few.iter().map(|colour| (*colour, 1)).collect());
        let mut kept: Vec<Colour> = boxes.iter().map(|of| mean(of)).collect();
        kept.sort_unstable();
        assert_eq!(kept, few);
        let many: Vec<(Colour, u32)> = (0..4096u32).map(|n| ([n >> 4, n & 15, 0].map(|v| v as u8), 1)).collect();
        let boxes = median_cut(many);
        let apart = |of: &[(Colour, u32)]| of.iter().map(|(colour, _)| colour[0].abs_diff(mean(of)[0])).max();
        assert_eq!(boxes.len(), 256);
        assert!(boxes.iter().all(|of| apart(of) <= Some(8)), "no colour moves far");
    }
}
