//! State after every step.

use kvrm_gpu::spiking::Options;

use crate::networks::{Recipe, injections, network};
use crate::support::compare;

const RECIPES: [Recipe; 4] = [Recipe::Feagi, Recipe::Lif, Recipe::Izhikevich, Recipe::Mixed];

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn every_step_is_that_of_the_reference() {
    for (seed, recipe) in (0..).zip(RECIPES.into_iter().cycle().take(12)) {
        let network = network(recipe, seed, [1, 5], seed % 3 == 2);
        let runs = [1; 12];
        compare(&network, &Options::default(), &runs, &injections(&network, seed, 12));
    }
}
