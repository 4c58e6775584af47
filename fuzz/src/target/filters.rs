//! Chunks and the filters that they went through.
//!
//! An input is the number of filters; for each its number (u16), how many parameters it has (u8) and these (u32); the
//! filter mask (u32); bytes of an element (u8); decoded bytes (u32); and the chunk. All little-endian.

use planescope::{
    cpu,
    filter::{self, id},
    hdf5::{File, Filter, Found, Layout},
    shape::{Detector, Dtype, FrameLayout},
    source::{ByteSource, Bytes},
};

pub fn decode(input: &[u8]) -> String {
    let Some(task) = Task::read(input) else { return "too short".to_owned() };
    let Task { filters, mask, element_bytes, decoded_len, chunk } = task;
    if filter::check(&filters).is_err() {
        return "unsupported".to_owned();
    }
    let outcome = filter::decode(&filters, mask, chunk, decoded_len, element_bytes);
    if let ([only], Some(dtype)) = (filters.as_slice(), dtype_of(element_bytes))
        && only.id == id::BITSHUFFLE
        && filter::bitshuffle_codec(only) == Some(filter::Codec::Lz4)
    {
        agree(chunk, decoded_len, dtype);
    }
    match outcome {
        Ok(bytes) => {
            assert_eq!(bytes.len(), decoded_len, "as many bytes as were asked for");
            "accepted".to_owned()
        }
        Err(fault) => format!("{:?}", fault.fault),
    }
}

/// The codec of the CPU and the twin of the GPU give the same verdict, and the same pixels.
fn agree(chunk: &[u8], decoded_len: usize, dtype: Dtype) {
    let element = dtype.bytes() as usize;
    let pixels = (decoded_len / element) as u32;
    if pixels == 0 || pixels > MOST_PIXELS || !decoded_len.is_multiple_of(element) {
        return;
    }
    let block_px = filter::header_block_bytes(chunk).map_or(0, |bytes| bytes / dtype.bytes());
    let block_px = if block_px > 0 && block_px.is_multiple_of(8) && block_px <= MOST_PIXELS { block_px } else { 64 };
    let layout = FrameLayout { detector: Detector { rows: 1, cols: pixels }, dtype, block_px };
    let ours = filter::bitshuffle_lz4(chunk, decoded_len, element, block_px * dtype.bytes());
    let twin = cpu::decode::planes(&layout, chunk);
    match (ours, twin) {
        (Ok(bytes), Ok(planes)) => {
            assert!(cpu::pixels_to_planes::planes(&layout, &bytes) == planes, "other pixels than the twin");
        }
        // Of several faults the twin names one of the framing first.
        (Err(_), Err(_)) => {}
        (ours, twin) => panic!("the twin says {:?}, the codec {:?}", twin.err(), ours.err()),
    }
}

fn dtype_of(element_bytes: usize) -> Option<Dtype> {
    match element_bytes {
        1 => Some(Dtype::U8),
        2 => Some(Dtype::U16),
        4 => Some(Dtype::U32),
        _ => None,
    }
}

struct Task<'a> {
    filters: Vec<Filter>,
    mask: u32,
    element_bytes: usize,
    decoded_len: usize,
    chunk: &'a [u8],
}

impl<'a> Task<'a> {
    fn read(mut rest: &'a [u8]) -> Option<Self> {
        let mut take = |len: usize| {
            let (taken, after) = rest.split_at_checked(len)?;
            rest = after;
            Some(taken.iter().rev().fold(0_u32, |value, &byte| value << 8 | u32::from(byte)))
        };
        let count = take(1)? % 5;
        let mut filters = Vec::new();
        for _ in 0..count {
            let (id, parameters) = (take(2)? as u16, take(1)? % 12);
            filters.push(Filter { id, parameters: (0..parameters).map(|_| take(4)).collect::<Option<_>>()? });
        }
        let (mask, element, decoded) = (take(4)?, take(1)?, take(4)?);
        // As a dataset has it: a type of at least one byte, a chunk of some of them.
        Some(Self {
            filters,
            mask,
            element_bytes: (element as usize).max(1),
            decoded_len: decoded as usize,
            chunk: rest,
        })
    }

    fn write(&self) -> Vec<u8> {
        let mut bytes = vec![self.filters.len() as u8];
        for filter in &self.filters {
            bytes.extend(filter.id.to_le_bytes());
            bytes.push(filter.parameters.len() as u8);
            filter.parameters.iter().for_each(|parameter| bytes.extend(parameter.to_le_bytes()));
        }
        bytes.extend(self.mask.to_le_bytes());
        bytes.push(self.element_bytes as u8);
        bytes.extend((self.decoded_len as u32).to_le_bytes());
        bytes.extend(self.chunk);
        bytes
    }
}

/// The first chunks of every dataset of an HDF5 file, with what was done to them.
pub fn inputs(file: &[u8]) -> Vec<Vec<u8>> {
    let source = Bytes { name: "seed.h5".to_owned(), bytes: file.to_vec() };
    let mut inputs = Vec::new();
    let Ok(file) = File::open(&source) else { return inputs };
    let mut waiting = vec![(file.root(), 0)];
    while let Some((address, depth)) = waiting.pop() {
        inputs.extend(chunks(&file, &source, address).unwrap_or_default());
        let Ok(links) = file.links(address) else { continue };
        for link in links.iter().filter(|_| depth < DEEPEST) {
            if let Ok(Some(Found::Object(to))) = file.follow(address, link) {
                waiting.push((to, depth + 1));
            }
        }
    }
    inputs.sort();
    inputs.dedup();
    inputs
}

fn chunks(file: &File, source: &Bytes, address: u64) -> planescope::Result<Vec<Vec<u8>>> {
    let Some(dataset) = file.dataset(address)? else { return Ok(Vec::new()) };
    let Layout::Chunked(chunking) = &dataset.layout else { return Ok(Vec::new()) };
    let element_bytes = dataset.datatype.bytes() as usize;
    let decoded_len = chunking.dims.iter().product::<u64>() as usize * element_bytes;
    let mut inputs = Vec::new();
    for chunk in file.chunks(&dataset)?.chunks.iter().take(CHUNKS_EACH) {
        let mut bytes = vec![0; chunk.len_bytes as usize];
        source.read_at(chunk.offset, &mut bytes)?;
        let (filters, mask) = (dataset.filters.clone(), chunk.filter_mask);
        inputs.push(Task { filters, mask, element_bytes, decoded_len, chunk: &bytes }.write());
    }
    Ok(inputs)
}

const MOST_PIXELS: u32 = 1 << 16;
const CHUNKS_EACH: usize = 2;
const DEEPEST: u32 = 6;
