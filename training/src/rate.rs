//! The learning rate: a warm-up, and a decay along a cosine.

/// The number of steps in which the rate rises.
const WARM_UP: u32 = 200;

/// Returns the learning rate at `step` of `steps`: it rises to `peak`, and falls to 5 % of it along half a cosine wave.
pub(crate) fn rate(peak: f32, step: u32, steps: u32) -> f32 {
    if step < WARM_UP {
        return peak * (step + 1) as f32 / WARM_UP as f32;
    }
    let turn = (std::f32::consts::PI * step as f32 / steps as f32).cos();
    peak * (0.05 + 0.95 * 0.5 * (1.0 + turn))
}
