//! Linux programs: guests against what QEMU says, calls one by one, and guests that mean harm.

mod calls;
mod guests;
mod hostile;
mod lanes;
mod options;
mod signals;
mod support;
