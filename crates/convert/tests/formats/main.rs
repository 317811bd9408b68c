//! The formats of others: what is honest is read, what is not is refused.

mod numpy;
mod support;
mod torch;
