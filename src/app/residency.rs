//! Which sets of a series lie in memory: as many as its budget holds, those nearest to the one that is looked at. What
//! was put out is read again from its files when it is needed; those looked at longest ago go first.

/// What is known of a set when it is decided what is read next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What its patterns take, or will probably take.
    pub bytes: u64,
    pub is_resident: bool,
    /// When it was looked at or read last; later is larger.
    pub used: u64,
    pub wish: Wish,
    /// Places between it and the set that is looked at.
    pub distance: usize,
}

/// Why a set is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// It is looked at.
    Active,
    /// It is on screen, and its picture is not that of now.
    Picture,
    /// It may be looked at next.
    Idle,
    /// It cannot be read, or is not shown.
    Never,
}

/// What is done next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    pub put_out: Vec<usize>,
    pub read: Option<usize>,
}

/// The next step towards: the active set is there; every picture on screen is that of now; the rest of the budget holds
/// the nearest sets. Nothing to do where all that holds. The active set is never put out, and is read even where it is
/// larger than the budget.
pub fn next(standings: &[Standing], budget_bytes: u64) -> Step {
    let absent = |wish: Wish| (0..standings.len()).filter(move |&at| is_absent(&standings[at], wish));
    let read = absent(Wish::Active).next().or_else(|| next_picture(standings, budget_bytes));
    if let Some(read) = read {
        return Step { put_out: room_for(read, &[], standings, budget_bytes), read: Some(read) };
    }
    let kept = nearest(standings, budget_bytes);
    let read = kept.iter().copied().find(|&at| !standings[at].is_resident);
    let put_out = match read {
        Some(read) => room_for(read, &kept, standings, budget_bytes),
        // More than the budget holds: it has become smaller, or sets are larger than was thought.
        None => put_out_until(standings, budget_bytes, |at| !kept.contains(&at)),
    };
    Step { put_out, read }
}

fn is_absent(standing: &Standing, wish: Wish) -> bool {
    standing.wish == wish && !standing.is_resident
}

/// A set on screen whose picture is missing: the nearest; but where not all of them find room, the farthest, so that
/// the nearest ones are read last and stay.
fn next_picture(standings: &[Standing], budget_bytes: u64) -> Option<usize> {
    let missing = || (0..standings.len()).filter(|&at| is_absent(&standings[at], Wish::Picture));
    let needed: u64 = missing().map(|at| standings[at].bytes).sum();
    match resident(standings) + needed <= budget_bytes {
        true => missing().min_by_key(|&at| standings[at].distance),
        false => missing().max_by_key(|&at| standings[at].distance),
    }
}

/// The sets nearest to the active one that fit together, nearest first.
fn nearest(standings: &[Standing], budget_bytes: u64) -> Vec<usize> {
    let mut places: Vec<usize> = (0..standings.len()).filter(|&at| standings[at].wish != Wish::Never).collect();
    places.sort_by_key(|&at| (standings[at].wish != Wish::Active, standings[at].distance));
    let mut left = budget_bytes;
    places.retain(|&at| {
        let fits = standings[at].wish == Wish::Active || standings[at].bytes <= left;
        left = if fits { left.saturating_sub(standings[at].bytes) } else { left };
        fits
    });
    places
}

/// What is put out, so that `read` fits beside `kept` and what else there is room for.
fn room_for(read: usize, kept: &[usize], standings: &[Standing], budget_bytes: u64) -> Vec<usize> {
    let room = budget_bytes.saturating_sub(standings[read].bytes);
    put_out_until(standings, room, |at| at != read && !kept.contains(&at))
}

fn put_out_until(standings: &[Standing], room: u64, may_go: impl Fn(usize) -> bool) -> Vec<usize> {
    let can_go = |at: &usize| standings[*at].is_resident && standings[*at].wish != Wish::Active && may_go(*at);
    let mut places: Vec<usize> = (0..standings.len()).filter(can_go).collect();
    places.sort_by_key(|&at| (standings[at].wish != Wish::Never, standings[at].used));
    let mut held = resident(standings);
    let goes = |at: &usize| {
        let is_needed = held > room;
        held -= standings[*at].bytes;
        is_needed
    };
    places.into_iter().take_while(goes).collect()
}

/// Bytes that lie in memory.
pub fn resident(standings: &[Standing]) -> u64 {
    standings.iter().filter(|standing| standing.is_resident).map(|standing| standing.bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four sets of 10 bytes, the first one active.
    fn four() -> Vec<Standing> {
        let set = |distance| Standing { bytes: 10, is_resident: false, used: 0, wish: Wish::Picture, distance };
        let mut sets: Vec<Standing> = (0..4).map(set).collect();
        sets[0].wish = Wish::Active;
        sets
    }

    /// Reads and pictures until nothing is left to do; the order of reading, and what is there in the end.
    fn settle(sets: &mut [Standing], budget: u64) -> (Vec<usize>, Vec<usize>) {
        let mut order = vec![];
        for now in 1..50 {
            let Step { put_out, read } = next(sets, budget);
            if read.is_none() && put_out.is_empty() {
                return (order, (0..sets.len()).filter(|&at| sets[at].is_resident).collect());
            }
            put_out.iter().for_each(|&at| sets[at].is_resident = false);
            if let Some(at) = read {
                order.push(at);
                (sets[at].is_resident, sets[at].used) = (true, now);
                sets[at].wish = if sets[at].wish == Wish::Picture { Wish::Idle } else { sets[at].wish };
            }
            // Beside an active set that is too large there is one other.
            assert!(resident(sets) <= budget.max(20), "{sets:?}");
        }
        panic!("it never settles: {sets:?}");
    }

    #[test]
    fn all_sets_stay_where_they_fit_nearest_first() {
        assert_eq!(settle(&mut four(), 40), (vec![0, 1, 2, 3], vec![0, 1, 2, 3]));
    }

    #[test]
    fn with_room_for_three_of_four_every_picture_is_made_once_and_the_nearest_stay() {
        assert_eq!(settle(&mut four(), 30), (vec![0, 3, 2, 1], vec![0, 1, 2]));
    }

    #[test]
    fn a_scrub_reads_the_new_set_and_its_neighbours_and_ends() {
        let mut sets = four();
        settle(&mut sets, 30);
        for (at, set) in sets.iter_mut().enumerate() {
            (set.wish, set.distance) = (if at == 3 { Wish::Active } else { Wish::Idle }, 3 - at);
        }
        assert_eq!(settle(&mut sets, 30), (vec![3], vec![1, 2, 3]), "the farthest went for it");
    }

    #[test]
    fn pictures_of_before_are_made_anew_one_set_at_a_time() {
        let mut sets = four();
        settle(&mut sets, 20);
        sets[1..].iter_mut().for_each(|set| set.wish = if set.is_resident { Wish::Idle } else { Wish::Picture });
        assert_eq!(settle(&mut sets, 20), (vec![3, 2, 1], vec![0, 1]));
    }

    #[test]
    fn the_active_set_is_read_even_where_it_is_too_large_and_is_never_put_out() {
        let mut sets = four();
        assert_eq!(settle(&mut sets, 5), (vec![0, 3, 2, 1], vec![0]), "one beside it, as long as its picture takes");
        assert_eq!(next(&sets, 0), Step::default());
    }

    #[test]
    fn what_is_hidden_goes_first_and_a_smaller_budget_puts_out_those_used_longest_ago() {
        let mut sets = four();
        settle(&mut sets, 40);
        sets[1].used = 99;
        assert_eq!(next(&sets, 20), Step { put_out: vec![2, 3], read: None });
        sets[3].wish = Wish::Never;
        assert_eq!(next(&sets, 30), Step { put_out: vec![3], read: None });
    }
}
