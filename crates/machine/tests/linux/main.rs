//! Tests of Linux programs: guests compared with QEMU, single system calls, and hostile guests.

mod calls;
mod guests;
mod hostile;
mod identities;
mod lanes;
mod limits;
mod options;
mod proc;
mod random_calls;
mod signals;
mod strace;
mod support;
mod threads;
mod timers;
mod transfers;
