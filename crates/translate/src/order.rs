//! The order of the blocks of a region, and the division of blocks into regions.

use std::collections::BTreeMap;

use crate::block::{Block, End};

/// Puts blocks into reverse post-order of the depth-first search from the entries, and renumbers their edges.
///
/// Every block can be reached from an entry: what the search follows is what found the block.
pub(crate) fn reverse_postorder(mut blocks: Vec<Block>) -> Vec<Block> {
    let mut order = Vec::with_capacity(blocks.len());
    let mut is_seen = vec![false; blocks.len()];
    // The search of the first entry ends last, so this entry comes first.
    for entry in (0..blocks.len()).rev().filter(|number| blocks[*number].is_entry) {
        if !is_seen[entry] {
            search(&blocks, entry, &mut is_seen, &mut order);
        }
    }
    order.reverse();
    let mut places = vec![usize::MAX; blocks.len()];
    for (place, &number) in order.iter().enumerate() {
        places[number] = place;
    }
    renumber(&mut blocks, &places);
    let mut blocks: Vec<Option<Block>> = blocks.into_iter().map(Some).collect();
    order.into_iter().filter_map(|number| blocks[number].take()).collect()
}

/// Appends the blocks that can be reached from `root` and were not seen before, each behind its successors. Without
/// recursion, because a region may be long.
fn search(blocks: &[Block], root: usize, is_seen: &mut [bool], order: &mut Vec<usize>) {
    is_seen[root] = true;
    let mut path = vec![(root, blocks[root].successors().collect::<Vec<usize>>())];
    while let Some((number, successors)) = path.last_mut() {
        match successors.pop() {
            Some(next) if is_seen[next] => {}
            Some(next) => {
                is_seen[next] = true;
                path.push((next, blocks[next].successors().collect()));
            }
            None => {
                order.push(*number);
                path.pop();
            }
        }
    }
}

/// Changes the numbers of blocks in edges.
fn renumber(blocks: &mut [Block], places: &[usize]) {
    for block in blocks {
        match &mut block.end {
            End::Always(edge) => edge.block = edge.block.map(|number| places[number]),
            End::Either { taken, next } => {
                taken.block = taken.block.map(|number| places[number]);
                next.block = next.block.map(|number| places[number]);
            }
            End::Register(candidates) => {
                for number in candidates.iter_mut() {
                    *number = places[*number];
                }
                candidates.sort_unstable();
            }
        }
    }
}

/// Makes blocks entries, so that each block can be reached from one: the first of those that cannot.
pub(crate) fn add_entries(blocks: &mut [Block]) {
    let mut is_seen = vec![false; blocks.len()];
    let mut order = Vec::new();
    for entry in 0..blocks.len() {
        if blocks[entry].is_entry && !is_seen[entry] {
            search(blocks, entry, &mut is_seen, &mut order);
        }
    }
    for number in 0..blocks.len() {
        if !is_seen[number] {
            blocks[number].is_entry = true;
            search(blocks, number, &mut is_seen, &mut order);
        }
    }
}

/// Divides blocks into sets between which no edge leads.
pub(crate) fn components(blocks: Vec<Block>) -> Vec<Vec<Block>> {
    let mut of: Vec<usize> = (0..blocks.len()).collect();
    let mut is_settled = false;
    while !is_settled {
        is_settled = true;
        for number in 0..blocks.len() {
            for to in blocks[number].successors() {
                let least = of[number].min(of[to]);
                is_settled &= of[number] == least && of[to] == least;
                (of[number], of[to]) = (least, least);
            }
        }
    }
    let mut places = vec![0; blocks.len()];
    let mut sets: BTreeMap<usize, Vec<Block>> = BTreeMap::new();
    for (number, block) in blocks.into_iter().enumerate() {
        let set = sets.entry(of[number]).or_default();
        places[number] = set.len();
        set.push(block);
    }
    let mut sets: Vec<Vec<Block>> = sets.into_values().collect();
    sets.iter_mut().for_each(|set| renumber(set, &places));
    sets
}
