//! Locks that outlive panics.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, whatever panicked before: what is locked in this crate is never left half changed.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
