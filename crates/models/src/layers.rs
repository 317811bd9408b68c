//! The layers of the larger networks, as views of their weights. They compute what PyTorch's modules of the same names
//! compute without dropout, in `f32` and with the functions of this crate.

mod activation;
mod attention;
mod dot;
mod gradient;
mod linear;
mod lstm;
mod norm;
mod parts;
mod rows;

pub(crate) use self::activation::{relu, softmax};
pub(crate) use self::dot::dot;
pub(crate) use self::gradient::Gradient;
pub(crate) use self::lstm::{LstmState, LstmTrace};
pub(crate) use self::parts::Parts;
pub(crate) use self::rows::Rows;
