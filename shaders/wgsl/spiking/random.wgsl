//! Random numbers without state: hashes of seed, step and neuron.

/// Returns the hash of a number that FEAGI uses, a PCG of 32 bits.
///
/// Twin: `kvrm_spiking::random::pcg`.
fn pcg(value: u32) -> u32 {
    let seed = value * 747796405u + 2891336453u;
    let word = ((seed >> ((seed >> 28u) + 4u)) ^ seed) * 277803737u;
    return (word >> 22u) ^ word;
}

/// Returns the random number that decides whether an excitable FEAGI neuron fires.
///
/// Twin: `kvrm_spiking::random::excitability`.
fn excitability(neuron: u32, burst: u32) -> u32 {
    return pcg(neuron * 2654435761u + burst * 1597334677u);
}

/// Returns the key of a step for random numbers with the seed `base`.
///
/// Twin: `kvrm_spiking::random::step_key`.
fn step_key(base: u32, step: u32, step_high: u32) -> u32 {
    return pcg(step_high ^ pcg(step ^ base));
}

/// Returns the random number of a neuron in the step with a key.
///
/// Twin: `kvrm_spiking::random::draw`.
fn draw(key: u32, neuron: u32) -> u32 {
    return pcg(pcg(neuron) ^ key);
}
