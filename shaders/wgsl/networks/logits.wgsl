//! The logits of the seven classes.

/// The logits of the classes, in their order. The last component belongs to no class and is never the greatest.
struct Logits {
    /// Classes 0 to 3.
    low: vec4<f32>,
    /// Classes 4 to 6.
    high: vec4<f32>,
}

/// Returns the class with the greatest logit, the first of several.
///
/// Twin: `kvrm_models::argmax`.
fn greatest(logits: Logits) -> u32 {
    var best = logits.low.x;
    var class_number = 0u;
    if logits.low.y > best { best = logits.low.y; class_number = 1u; }
    if logits.low.z > best { best = logits.low.z; class_number = 2u; }
    if logits.low.w > best { best = logits.low.w; class_number = 3u; }
    if logits.high.x > best { best = logits.high.x; class_number = 4u; }
    if logits.high.y > best { best = logits.high.y; class_number = 5u; }
    if logits.high.z > best { class_number = 6u; }
    return class_number;
}

/// Returns the bits of the logit of a class.
fn logit_bits(logits: Logits, class_number: u32) -> u32 {
    let four = select(logits.low, logits.high, class_number >= 4u);
    return bitcast<u32>(four[class_number % 4u]);
}
