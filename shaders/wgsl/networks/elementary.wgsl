//! Elementary functions from basic arithmetic, each of four numbers. They agree with their twins up to rounding: devices
//! may fuse operations and divide inexactly.

/// The binary logarithm of e.
const LOG2_E = 1.44269504;
/// The first bits of ln 2. There are few, so its product with a small integer is exact.
const LN_2_HIGH = 0.6933594;
/// The rest of ln 2.
const LN_2_LOW = -2.1219444e-4;
/// The square root of 2.
const SQRT_2 = 1.41421356;

/// Returns e^x. Beyond ±87 the result is that of ±87.
///
/// Twin: `kvrm_models::elementary::exp`.
fn exponential(x: vec4<f32>) -> vec4<f32> {
    let limited = clamp(x, vec4<f32>(-87.0), vec4<f32>(87.0));
    let n = round(limited * LOG2_E);
    let r = (limited - n * LN_2_HIGH) - n * LN_2_LOW;
    let cubic = ((r / 5040.0 + 1.0 / 720.0) * r + 1.0 / 120.0) * r + 1.0 / 24.0;
    let power = (((cubic * r + 1.0 / 6.0) * r + 0.5) * r + 1.0) * r + 1.0;
    return power * bitcast<vec4<f32>>(vec4<u32>(vec4<i32>(n) + 127) << vec4<u32>(23u));
}

/// Returns the binary logarithms of positive normal numbers.
///
/// Twin: `kvrm_models::elementary::log2`.
fn binary_logarithm(x: vec4<f32>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(x);
    let whole = vec4<f32>(vec4<i32>(bits >> vec4<u32>(23u)) - 127);
    let fraction = bitcast<vec4<f32>>((bits & vec4<u32>(0x007fffffu)) | vec4<u32>(0x3f800000u));
    let is_large = fraction > vec4<f32>(SQRT_2);
    let mantissa = select(fraction, fraction * 0.5, is_large);
    let exponent = select(whole, whole + 1.0, is_large);
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (((square / 9.0 + 1.0 / 7.0) * square + 0.2) * square + 1.0 / 3.0) * square + 1.0;
    return exponent + 2.0 * LOG2_E * s * series;
}

/// Returns the hyperbolic tangent, approximated by a continued fraction.
///
/// Twin: `kvrm_models::tanh::tanh`.
fn tangent(x: vec4<f32>) -> vec4<f32> {
    let square = x * x;
    let above = (((square + 990.0) * square + 135135.0) * square + 4729725.0) * square + 34459425.0;
    let below = (((45.0 * square + 13860.0) * square + 945945.0) * square + 16216200.0) * square + 34459425.0;
    let value = x * above / below;
    // For infinities, overflows and NaNs the comparisons are false, so the result is the sign.
    let inside = (abs(value) < vec4<f32>(1.0)) & (abs(x) < vec4<f32>(8.0));
    return select(sign(x), value, inside);
}

/// Returns 1 / (1 + e^-x).
///
/// Twin: `kvrm_models::elementary::sigmoid`.
fn logistic(x: vec4<f32>) -> vec4<f32> {
    return 0.5 + 0.5 * tangent(0.5 * x);
}

/// Returns the error function.
///
/// Twin: `kvrm_models::elementary::erf`.
fn error_function(x: vec4<f32>) -> vec4<f32> {
    let t = 1.0 / (1.0 + 0.3275911 * abs(x));
    let polynomial = ((((1.0614054 * t - 1.453152) * t + 1.4214138) * t - 0.28449672) * t + 0.2548296) * t;
    let positive = 1.0 - polynomial * exponential(-x * x);
    return select(positive, -positive, x < vec4<f32>(0.0));
}

/// Returns the Gaussian error linear unit, x (1 + erf(x / sqrt(2))) / 2.
///
/// Twin: `kvrm_models::elementary::gelu`.
fn gaussian_unit(x: vec4<f32>) -> vec4<f32> {
    return 0.5 * x * (1.0 + error_function(x * (0.5 * SQRT_2)));
}
