//! `shaders/wgsl/networks/layout.wgsl`: the offsets of the weights of the dispatch networks.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use kvrm_models::{FEATURE_BITS, GRID, SmallDispatchNetwork, dispatch_layout as dispatch};

use super::banner::BANNER;

/// The number of components of a vector.
const VECTOR: usize = 4;

pub(super) fn layout() -> Result<String> {
    let hidden = dispatch::FC2_WEIGHTS - dispatch::FC1_BIAS;
    let units = dispatch::FC3_WEIGHTS - dispatch::FC2_BIAS;
    // The order of the weights that are not folded: by input, then by vector of outputs. The last vector of outputs has
    // an unused eighth component.
    let (hidden_vectors, unit_vectors, output_vectors) = (hidden / VECTOR, units / VECTOR, 8 / VECTOR);
    let first = 0;
    let second = first + FEATURE_BITS.len() * hidden_vectors;
    let second_bias = second + hidden * unit_vectors;
    let third = second_bias + unit_vectors;
    let third_bias = third + units * output_vectors;
    let (end, stated) = (third_bias + output_vectors, kvrm_shaders::layout::NEAR_VECTORS);
    ensure!(end == stated as usize, "NEAR_VECTORS of kvrm_shaders::layout is {stated} and should be {end}");
    let constants = [
        ("DISPATCH_EMBEDDING", dispatch::FC1_WEIGHTS / 256, "Values of the embedding of a top byte."),
        ("DISPATCH_HIDDEN", hidden, "Units of the first hidden layer."),
        ("DISPATCH_UNITS", units, "Units of the second hidden layer."),
        (
            "DISPATCH_FC1_INPUTS",
            (dispatch::FC1_BIAS - dispatch::FC1_WEIGHTS) / hidden,
            "Inputs of the first layer: the embedding, then the features.",
        ),
        ("DISPATCH_FC1_WEIGHTS", dispatch::FC1_WEIGHTS, "Weights of the first layer, by output."),
        ("DISPATCH_FC1_BIAS", dispatch::FC1_BIAS, "Bias of the first layer."),
        ("DISPATCH_FC2_WEIGHTS", dispatch::FC2_WEIGHTS, "Weights of the second layer, by output."),
        ("DISPATCH_FC2_BIAS", dispatch::FC2_BIAS, "Bias of the second layer."),
        ("DISPATCH_FC3_WEIGHTS", dispatch::FC3_WEIGHTS, "Weights of the third layer, by output."),
        ("DISPATCH_FC3_BIAS", dispatch::FC3_BIAS, "Bias of the third layer."),
        ("NEAR_HIDDEN_VECTORS", hidden_vectors, "Vectors of the first hidden layer."),
        ("NEAR_UNIT_VECTORS", unit_vectors, "Vectors of the second hidden layer."),
        ("NEAR_OUTPUT_VECTORS", output_vectors, "Vectors of the outputs, padded to eight."),
        ("NEAR_FIRST", first, "Weights of the features in the first layer, by input."),
        ("NEAR_SECOND", second, "Weights of the second layer, by input."),
        ("NEAR_SECOND_BIAS", second_bias, "Bias of the second layer."),
        ("NEAR_THIRD", third, "Weights of the third layer, by input."),
        ("NEAR_THIRD_BIAS", third_bias, "Bias of the third layer."),
        ("SMALL_W1", SmallDispatchNetwork::W1, "Weights of the small network's first layer, by output."),
        ("SMALL_B1", SmallDispatchNetwork::B1, "Bias of the small network's first layer."),
        ("SMALL_W2", SmallDispatchNetwork::W2, "Weights of the small network's second layer, by output."),
        ("SMALL_B2", SmallDispatchNetwork::B2, "Bias of the small network's second layer."),
        ("SMALL_PARAMETERS", SmallDispatchNetwork::PARAMETERS, "Parameters of the small network."),
    ];
    let mut out = format!(
        "//! Weights of the dispatch networks. {BANNER}; do not edit.\n//!\n\
         //! Source: `kvrm_models::dispatch_layout` and `kvrm_models::SmallDispatchNetwork`.\n"
    );
    for (name, value, doc) in constants {
        write!(out, "\n/// {doc}\nconst {name} = {value}u;\n")?;
    }
    write!(
        out,
        "\n/// The grid of weights and activations is one over this. Powers of two multiply exactly; divisions need not be \
         exact.\nconst GRID = {GRID:?};\n"
    )?;
    Ok(out)
}
