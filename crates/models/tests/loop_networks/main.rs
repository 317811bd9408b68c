//! Tests of the networks that look at loops: outputs compared with PyTorch's, and every weight has an effect.

mod effects;
mod pytorch;
mod random_weights;
