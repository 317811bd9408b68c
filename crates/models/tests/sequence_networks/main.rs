//! Tests of the networks that look at sequences, of words or of accesses: outputs compared with PyTorch's, and every weight
//! has an effect.

mod accesses;
mod effects;
mod pytorch;
mod random_weights;
