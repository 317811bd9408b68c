//! Locks of what Python shares between threads.

use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::prelude::*;

use crate::error::refused;

/// Locks what one call at a time may use. A callback of a run must not wait for its end, so this never waits.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> PyResult<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(guard)) => Ok(guard.into_inner()),
        Err(TryLockError::WouldBlock) => Err(refused(
            "at work for another call: expected calls from one thread at a time, and none from a callback"
                .to_owned(),
        )),
    }
}
