//! Semihosting, operation by operation, and above all what a guest gets wrong.

mod calls;
mod confinement;
mod console;
mod exits;
mod files;
mod handles;
mod names;
mod support;
mod system;
