//! The order of the blocks of a region.

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
    for block in &mut blocks {
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
