//! Batches of values that a test handles at once. A batch that fails shrinks to one of its values.

use std::fmt;
use std::ops::Range;

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// Values that a test handles at once.
#[derive(Clone)]
pub struct Batch<T>(pub Vec<T>);

/// Shows the value of a batch of one, and only the size of other batches, which are large.
impl<T: fmt::Debug> fmt::Debug for Batch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [value] => value.fmt(f),
            values => write!(f, "{} values that fail only together", values.len()),
        }
    }
}

/// Returns a strategy for batches of `count` values. A batch that fails is halved until one value is left, which then
/// shrinks by itself.
pub fn batches<S: Strategy>(count: usize, values: S) -> impl Strategy<Value = Batch<S::Value>> {
    Batches { count, values }
}

/// The strategy for batches.
#[derive(Clone, Debug)]
struct Batches<S> {
    count: usize,
    values: S,
}

impl<S: Strategy> Strategy for Batches<S> {
    type Tree = BatchTree<S::Tree>;
    type Value = Batch<S::Value>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let values: Result<Vec<_>, _> = (0..self.count).map(|_| self.values.new_tree(runner)).collect();
        Ok(BatchTree { values: values?, shown: 0..self.count, last: Narrowing::None })
    }
}

/// The current part of a batch, and what has been left out.
struct BatchTree<T> {
    values: Vec<T>,
    /// The indices of the values in the current part.
    shown: Range<usize>,
    last: Narrowing,
}

/// The last attempt to leave out half of the values.
enum Narrowing {
    None,
    /// The first half of this part is shown.
    First(Range<usize>),
    /// The second half of this part is shown, because the first half passes.
    Second(Range<usize>),
    /// Both halves of the current part pass.
    Failed,
}

impl<T: ValueTree> ValueTree for BatchTree<T> {
    type Value = Batch<T::Value>;

    fn current(&self) -> Self::Value {
        Batch(self.values[self.shown.clone()].iter().map(T::current).collect())
    }

    fn simplify(&mut self) -> bool {
        match self.shown.len() {
            0 => false,
            1 => {
                self.last = Narrowing::None;
                self.values[self.shown.start].simplify()
            }
            _ if matches!(self.last, Narrowing::Failed) => false,
            count => {
                let whole = self.shown.clone();
                self.shown.end = whole.start + count / 2;
                self.last = Narrowing::First(whole);
                true
            }
        }
    }

    fn complicate(&mut self) -> bool {
        match std::mem::replace(&mut self.last, Narrowing::None) {
            Narrowing::None => self.values[self.shown.start].complicate(),
            Narrowing::First(whole) => {
                self.shown = self.shown.end..whole.end;
                self.last = Narrowing::Second(whole);
                true
            }
            Narrowing::Second(whole) => {
                self.shown = whole;
                self.last = Narrowing::Failed;
                true
            }
            Narrowing::Failed => {
                self.last = Narrowing::Failed;
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::test_runner::{TestCaseError, TestError};

    use super::*;

    /// Returns the batch to which 1,000 numbers below 10,000 shrink, and the number of tests.
    fn shrink(is_failing: impl Fn(&[u32]) -> bool) -> (Vec<u32>, u32) {
        let tests = Cell::new(0);
        let mut runner = TestRunner::deterministic();
        let found = runner.run(&batches(1000, 0_u32..10_000), |batch| {
            tests.set(tests.get() + 1);
            if is_failing(&batch.0) { Err(TestCaseError::fail("a number is large")) } else { Ok(()) }
        });
        match found {
            Err(TestError::Fail(_, batch)) => (batch.0, tests.get()),
            found => panic!("{found:?}; expected a failure"),
        }
    }

    #[test]
    fn a_batch_shrinks_to_one_small_value() {
        let (batch, tests) = shrink(|batch| batch.iter().any(|number| *number > 9_900));
        assert_eq!(batch, [9_901], "the smallest number that fails");
        assert!(tests < 50, "{tests} tests; expected two for each halving and for each bit of the number");
    }

    #[test]
    fn values_that_fail_only_together_stay_together() {
        let (batch, _) = shrink(|batch| batch.len() > 400);
        assert_eq!(batch.len(), 500, "no half of the batch fails");
    }
}
