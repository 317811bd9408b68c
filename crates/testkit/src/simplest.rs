//! Values that shrink to the simplest of a few alternatives with which a test still fails.

use std::fmt::Debug;

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// A value with simpler alternatives, which are tried from the simplest one on.
#[derive(Clone, Debug)]
pub(crate) struct Simplest<T> {
    /// The alternatives, simplest first, and then the value itself.
    alternatives: Vec<T>,
    /// The index of the current alternative.
    current: usize,
    /// The index of the simplest alternative that the test is known to fail with.
    failing: usize,
    /// The index of the next alternative to try.
    next: usize,
}

impl<T: PartialEq> Simplest<T> {
    /// Returns a value whose alternatives are sorted by simplicity. Those after an alternative that equals `value` are
    /// left out.
    pub(crate) fn new(alternatives: impl IntoIterator<Item = T>, value: T) -> Self {
        let mut alternatives: Vec<T> =
            alternatives.into_iter().take_while(|alternative| *alternative != value).collect();
        let last = alternatives.len();
        alternatives.push(value);
        Self { alternatives, current: last, failing: last, next: 0 }
    }
}

impl<T: Clone + Debug> ValueTree for Simplest<T> {
    type Value = T;

    fn current(&self) -> T {
        self.alternatives[self.current].clone()
    }

    fn simplify(&mut self) -> bool {
        self.failing = self.current;
        // If the test fails with an alternative, it has passed with all simpler ones.
        if self.next >= self.failing {
            return false;
        }
        self.current = self.next;
        self.next += 1;
        true
    }

    fn complicate(&mut self) -> bool {
        if self.current == self.failing {
            return false;
        }
        self.current = self.next.min(self.failing);
        self.next += 1;
        true
    }
}

/// A strategy that always gives the same value, which shrinks as a tree does.
#[derive(Clone, Debug)]
pub(crate) struct Shrinking<T>(pub(crate) T);

impl<T: ValueTree + Clone + Debug> Strategy for Shrinking<T> {
    type Tree = T;
    type Value = T::Value;

    fn new_tree(&self, _: &mut TestRunner) -> NewTree<Self> {
        Ok(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::test_runner::TestError;

    use super::*;

    /// Returns the value to which `tree` shrinks, and the values that were tried.
    fn shrink(mut tree: Simplest<u32>, is_failing: impl Fn(u32) -> bool) -> (u32, Vec<u32>) {
        let mut tried = Vec::new();
        let mut goes_on = tree.simplify();
        while goes_on {
            tried.push(tree.current());
            goes_on = if is_failing(tree.current()) { tree.simplify() } else { tree.complicate() };
        }
        (tree.current(), tried)
    }

    #[test]
    fn a_value_shrinks_to_its_simplest_alternative_that_fails() {
        let tree = || Simplest::new([0, 1, 5, 7, 9], 7);
        assert_eq!(shrink(tree(), |_| true), (0, vec![0]), "the simplest one fails");
        assert_eq!(shrink(tree(), |value| value >= 2), (5, vec![0, 1, 5]), "one between fails");
        assert_eq!(shrink(tree(), |value| value == 7), (7, vec![0, 1, 5, 7]), "only the value itself fails");
        assert_eq!(shrink(Simplest::new([0], 0), |_| true), (0, vec![]), "the value has no alternatives");
    }

    #[test]
    fn several_values_shrink_one_after_the_other() {
        let values = vec![Shrinking(Simplest::new([0, 1], 8)); 3];
        let mut runner = TestRunner::deterministic();
        let tree = values.new_tree(&mut runner).expect("nothing is rejected");
        let found = runner.run_one(tree, |values| {
            proptest::prop_assert!(
                values[0] < 1 || values[2] < 8,
                "the first and the last value are too large"
            );
            Ok(())
        });
        let TestError::Fail(_, values) = found.expect_err("the original values fail") else {
            panic!("nothing is rejected");
        };
        assert_eq!(values, [1, 0, 8], "each value is as simple as the test permits");
    }
}
