//! Strongly connected components of a graph.

/// Returns the sets of two or more nodes that reach each other. Each set is sorted, and sets are in the order of their
/// first nodes.
///
/// Takes time at least quadratic in the number of nodes, which are the files of a crate.
pub(super) fn circles(nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut next = vec![Vec::new(); nodes];
    for &(from, to) in edges {
        next[from].push(to);
    }
    let reached: Vec<Vec<bool>> = (0..nodes).map(|node| reached_from(node, &next)).collect();
    let circle_of = |node: usize| -> Vec<usize> {
        (0..nodes).filter(|&other| reached[node][other] && reached[other][node]).collect()
    };
    // Each circle is reported at its first node only.
    (0..nodes)
        .map(|node| (node, circle_of(node)))
        .filter(|(node, circle)| circle.len() > 1 && circle[0] == *node)
        .map(|(_, circle)| circle)
        .collect()
}

/// Returns for each node whether it is reachable from `start` over one or more edges.
fn reached_from(start: usize, next: &[Vec<usize>]) -> Vec<bool> {
    let mut reached = vec![false; next.len()];
    let mut waiting = vec![start];
    while let Some(node) = waiting.pop() {
        for &other in &next[node] {
            if !std::mem::replace(&mut reached[other], true) {
                waiting.push(other);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_nodes_on_a_circle_are_found() {
        // 0 -> 1 <-> 2, 3 -> 4 -> 5 -> 3, 2 -> 3, 6 alone with an edge to itself.
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 4), (4, 5), (5, 3), (6, 6)];
        assert_eq!(circles(7, &edges), [vec![1, 2], vec![3, 4, 5]], "two circles");
    }
}
