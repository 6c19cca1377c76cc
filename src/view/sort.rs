//! An order that keeps what each of several sequences says, and is the same however they are given.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashSet},
};

/// Returns the nodes so that each stands behind those with an edge to it, the one of the smallest
/// rank first among the free. Nodes in a cycle stand together, by rank. Ranks are a permutation.
pub(super) fn topological(ranks: &[usize], edges: &[(usize, usize)]) -> Vec<usize> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); ranks.len()];
    let mut seen = HashSet::with_capacity(edges.len());
    for &(from, to) in edges {
        if from != to && seen.insert((from, to)) {
            next[from].push(to);
        }
    }
    let knot = knots(&next);
    let count = knot.iter().max().map_or(0, |last| last + 1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (node, knot) in knot.iter().enumerate() {
        members[*knot].push(node);
    }
    let mut waits = vec![0; count];
    for (from, targets) in next.iter().enumerate() {
        for to in targets.iter().filter(|to| knot[**to] != knot[from]) {
            waits[knot[*to]] += 1;
        }
    }
    for group in &mut members {
        group.sort_unstable_by_key(|node| ranks[*node]);
    }
    let rank = |group: usize| members[group].first().map_or(0, |node| ranks[*node]);
    let mut free: BinaryHeap<Reverse<(usize, usize)>> = (0..count)
        .filter(|group| waits[*group] == 0)
        .map(|group| Reverse((rank(group), group)))
        .collect();
    let mut order = Vec::with_capacity(ranks.len());
    while let Some(Reverse((_, group))) = free.pop() {
        for node in &members[group] {
            order.push(*node);
            for to in next[*node].iter().filter(|to| knot[**to] != group) {
                waits[knot[*to]] -= 1;
                if waits[knot[*to]] == 0 {
                    free.push(Reverse((rank(knot[*to]), knot[*to])));
                }
            }
        }
    }
    order
}

/// Numbers the strongly connected components (Tarjan, without recursion).
fn knots(next: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut knot = vec![NONE; next.len()];
    let (mut index, mut low) = (vec![NONE; next.len()], vec![0; next.len()]);
    let (mut stack, mut count, mut clock) = (Vec::new(), 0, 0);
    for root in 0..next.len() {
        if index[root] != NONE {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((node, edge)) = path.pop() {
            if edge == 0 {
                (index[node], low[node]) = (clock, clock);
                clock += 1;
                stack.push(node);
            }
            if let Some(to) = next[node].get(edge) {
                path.push((node, edge + 1));
                if index[*to] == NONE {
                    path.push((*to, 0));
                } else if knot[*to] == NONE {
                    low[node] = low[node].min(index[*to]);
                }
                continue;
            }
            if let Some((above, _)) = path.last() {
                low[*above] = low[*above].min(low[node]);
            }
            if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    knot[member] = count;
                    if member == node {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    knot
}

#[cfg(test)]
mod tests {
    use super::topological;

    fn order(ranks: &[usize], chains: &[&[usize]]) -> Vec<usize> {
        let edges: Vec<(usize, usize)> = chains
            .iter()
            .flat_map(|chain| chain.windows(2).map(|step| (step[0], step[1])))
            .collect();
        topological(ranks, &edges)
    }

    #[test]
    fn the_smallest_free_node_comes_first() {
        assert_eq!(order(&[2, 1, 0], &[]), [2, 1, 0]);
        assert_eq!(order(&[0, 1, 2, 3], &[&[2, 0], &[3, 1]]), [2, 0, 3, 1]);
    }

    #[test]
    fn a_cycle_stands_together_by_rank() {
        assert_eq!(
            order(&[4, 3, 2, 1, 0], &[&[0, 1, 2, 3], &[3, 1], &[4, 0]]),
            [4, 0, 3, 2, 1]
        );
        assert_eq!(order(&[0, 1], &[&[0, 1], &[1, 0]]), [0, 1]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let chain: Vec<usize> = (0..200_000).rev().collect();
        let ranks: Vec<usize> = (0..200_000).collect();
        assert_eq!(order(&ranks, &[&chain]), chain);
    }
}
