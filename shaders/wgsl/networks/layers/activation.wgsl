//! The activations of layers.

import package::machine::layout::{ACTIVATION_GELU, ACTIVATION_LOGISTIC, ACTIVATION_RELU};
import package::networks::elementary::{gaussian_unit, logistic};

/// Returns the activation with a number, of four values.
fn activated(x: vec4<f32>, activation: u32) -> vec4<f32> {
    if activation == ACTIVATION_RELU {
        return max(x, vec4<f32>(0.0));
    }
    if activation == ACTIVATION_GELU {
        return gaussian_unit(x);
    }
    if activation == ACTIVATION_LOGISTIC {
        return logistic(x);
    }
    return x;
}
