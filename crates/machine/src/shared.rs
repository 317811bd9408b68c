//! Assignment of shared values without needless writes.
//!
//! Threads that change the lanes of a machine all wait for each other at a reference count that these lanes share. So an
//! assignment leaves the count alone if both sides refer to the same value, and uses the memory of a value that nothing else
//! refers to.

use std::sync::Arc;

/// Makes `target` refer to the value of `source`.
pub(crate) fn share<T: ?Sized>(target: &mut Arc<T>, source: &Arc<T>) {
    if !Arc::ptr_eq(target, source) {
        *target = Arc::clone(source);
    }
}

/// Makes the value of `target` equal to that of `source`. Both refer to the same value afterwards, unless nothing else refers to
/// the value of `target`: then `change` makes it equal.
pub(crate) fn assign_with<T>(target: &mut Arc<T>, source: &Arc<T>, change: impl FnOnce(&mut T, &T)) {
    if Arc::ptr_eq(target, source) {
        return;
    }
    match Arc::get_mut(target) {
        Some(own) => change(own, source),
        None => *target = Arc::clone(source),
    }
}

/// As [`assign_with`], with [`Clone::clone_from`].
pub(crate) fn assign<T: Clone>(target: &mut Arc<T>, source: &Arc<T>) {
    assign_with(target, source, T::clone_from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_changes_a_value_only_if_nothing_else_refers_to_it() {
        let source = Arc::new(vec![1, 2]);
        let mut own = Arc::new(vec![3]);
        assign(&mut own, &source);
        assert_eq!((&*own, Arc::strong_count(&source)), (&vec![1, 2], 1), "the own value was changed");
        let mut shared = Arc::new(vec![3]);
        let other = Arc::clone(&shared);
        assign(&mut shared, &source);
        assert!(Arc::ptr_eq(&shared, &source), "the value of the source is shared");
        assert_eq!(*other, [3], "the other reference has its value");
        assign(&mut shared, &source);
        share(&mut shared, &source);
        assert_eq!(Arc::strong_count(&source), 2, "nothing changes");
        share(&mut own, &source);
        assert!(Arc::ptr_eq(&own, &source), "a shared value is never changed");
    }
}
