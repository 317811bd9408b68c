//! Locks of what Python shares between threads.

use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::prelude::*;

use crate::error::refused;

/// Locks what one call at a time may use. A callback of a run must not wait for its end, so this never waits. `what` begins the
/// text of the error, such as `the machine is`.
pub(crate) fn locked<'a, T>(mutex: &'a Mutex<T>, what: &str) -> PyResult<MutexGuard<'a, T>> {
    match mutex.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(guard)) => Ok(guard.into_inner()),
        Err(TryLockError::WouldBlock) => Err(refused(format!(
            "{what} at work for another call: call it from one thread at a time, and not while it runs"
        ))),
    }
}
