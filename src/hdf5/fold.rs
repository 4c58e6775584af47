//! Datasets of more than four axes, seen as four: axes of length 1 are left out, and what is left of the first axes
//! becomes one, as `reshape` does it. Series of scans and detectors of several modules are stored like that.

use super::{
    dataset::Space,
    layout::{Chunking, Layout},
    selection::{Extent, Selection},
};

/// A dataset's own axes, and where its chunks stand among the four.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Extent in the file.
    pub space: Space,
    /// Shape of a chunk in the file, elements; empty for one that is not chunked.
    pub(super) chunk_dims: Vec<u64>,
    /// For each axis of the file: the axis that it became part of, and how many of that one's chunks a chunk is.
    pub(super) steps: Vec<(usize, u64)>,
}

/// Extent and layout with four axes; `None` where they have four already, or where chunks do not follow one another
/// along the first axis.
pub(super) fn fold(space: &Space, layout: &Layout) -> Option<(Space, Layout, Fold)> {
    let groups = groups(&space.dims)?;
    let product = |dims: &[u64], group: &[usize]| {
        group.iter().try_fold(1_u64, |product, &axis| product.checked_mul(*dims.get(axis)?))
    };
    let dims = groups.iter().map(|group| product(&space.dims, group)).collect::<Option<Vec<_>>>()?;
    let max_dims = dims.iter().copied().map(Some).collect();
    let kept = Space { dims, max_dims, is_null: space.is_null };
    let mut steps = vec![(0, 0); space.dims.len()];
    let (layout, chunk_dims) = match layout {
        Layout::Contiguous { .. } => (layout.clone(), Vec::new()),
        Layout::Chunked(chunking) => {
            for (to, group) in groups.iter().enumerate() {
                for (axis, step) in steps_of(&space.dims, &chunking.dims, group)? {
                    steps[axis] = (to, step);
                }
            }
            let is_thin =
                |axis: usize| groups.iter().flatten().any(|kept| *kept == axis) || chunking.dims.get(axis) == Some(&1);
            if !(0..space.dims.len()).all(is_thin) {
                return None;
            }
            let dims = groups.iter().map(|group| product(&chunking.dims, group)).collect::<Option<Vec<_>>>()?;
            (Layout::Chunked(Chunking { dims, ..chunking.clone() }), chunking.dims.clone())
        }
        Layout::Virtual(mappings) => {
            let mut mappings = mappings.clone();
            for mapping in &mut mappings {
                mapping.place = without_single(&mapping.place, &groups)?;
            }
            (Layout::Virtual(mappings), Vec::new())
        }
    };
    Some((kept, layout, Fold { space: space.clone(), chunk_dims, steps }))
}

/// Which axes of more than four become which: those of length 1 are left out, those before the last three are one.
fn groups(dims: &[u64]) -> Option<Vec<Vec<usize>>> {
    let rank = dims.len();
    if rank <= MOST_AXES {
        return None;
    }
    // A last axis of length 1 is no column of pixels, if there is a row of them.
    let end = if dims[rank - 1] == 1 && dims[rank - 2] > 1 { rank - 1 } else { rank };
    let mut kept: Vec<usize> = (0..end - 2).filter(|&axis| dims[axis] != 1).collect();
    if kept.is_empty() {
        kept.push(0);
    }
    kept.extend([end - 2, end - 1]);
    let first = kept.len().saturating_sub(MOST_AXES - 1).max(1);
    let (merged, others) = kept.split_at(first);
    let mut groups = vec![merged.to_vec()];
    groups.extend(others.iter().map(|&axis| vec![axis]));
    Some(groups)
}

/// How many chunks of the merged axis a chunk is along each of its parts: the inner ones are whole, the next may be
/// cut evenly, and the outer ones are cut at every element; otherwise chunks would not follow one another.
fn steps_of(dims: &[u64], chunks: &[u64], group: &[usize]) -> Option<Vec<(usize, u64)>> {
    let mut steps = Vec::new();
    let (mut step, mut is_cut) = (1_u64, false);
    for (i, &axis) in group.iter().enumerate().rev() {
        let (dim, chunk) = (*dims.get(axis)?, *chunks.get(axis)?);
        let is_outermost = i == 0;
        if is_cut && chunk != 1 || !is_outermost && (chunk == 0 || dim % chunk != 0) {
            return None;
        }
        steps.push((axis, step));
        step = step.checked_mul(dim.div_ceil(chunk))?;
        is_cut |= chunk != dim;
    }
    Some(steps)
}

/// A selection without the axes that were left out; `None` where others are merged, or where it is of another rank.
fn without_single(selection: &Selection, groups: &[Vec<usize>]) -> Option<Selection> {
    let axes = groups.iter().map(|group| if let [axis] = group[..] { Some(axis) } else { None });
    let axes = axes.collect::<Option<Vec<_>>>();
    Some(match selection {
        Selection::None => Selection::None,
        Selection::All => Selection::All,
        Selection::Regular(extents) => {
            Selection::Regular(axes?.iter().map(|&axis| extents.get(axis).copied()).collect::<Option<Vec<Extent>>>()?)
        }
        Selection::Boxes(boxes) => {
            let axes = axes?;
            let kept =
                |sides: &Vec<(u64, u64)>| axes.iter().map(|&axis| sides.get(axis).copied()).collect::<Option<Vec<_>>>();
            Selection::Boxes(boxes.iter().map(kept).collect::<Option<Vec<_>>>()?)
        }
    })
}

const MOST_AXES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_length_1_are_left_out_before_others_are_merged() {
        let kept = |dims: &[u64]| groups(dims);
        assert_eq!(kept(&[5, 6, 8, 9]), None);
        assert_eq!(kept(&[1, 5, 6, 8, 9]), Some(vec![vec![1], vec![2], vec![3], vec![4]]));
        assert_eq!(kept(&[3, 5, 6, 8, 9]), Some(vec![vec![0, 1], vec![2], vec![3], vec![4]]));
        assert_eq!(kept(&[5, 6, 8, 9, 1]), Some(vec![vec![0], vec![1], vec![2], vec![3]]));
        assert_eq!(kept(&[1, 1, 1, 8, 9]), Some(vec![vec![0], vec![3], vec![4]]));
        assert_eq!(kept(&[4, 1, 5, 1, 9]), Some(vec![vec![0], vec![2], vec![3], vec![4]]));
    }

    #[test]
    fn chunks_that_do_not_follow_one_another_are_not_folded() {
        let steps = |chunks: &[u64]| steps_of(&[3, 4], chunks, &[0, 1]);
        assert_eq!(steps(&[1, 1]), Some(vec![(1, 1), (0, 4)]));
        assert_eq!(steps(&[1, 2]), Some(vec![(1, 1), (0, 2)]));
        assert_eq!(steps(&[2, 4]), Some(vec![(1, 1), (0, 1)]));
        assert_eq!(steps(&[1, 3]), None);
        assert_eq!(steps(&[2, 2]), None);
    }
}
