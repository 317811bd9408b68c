//! Tests of semihosting, operation by operation, with an emphasis on errors of guests.

mod calls;
mod confinement;
mod console;
mod exits;
mod files;
mod handles;
mod names;
mod support;
mod system;
