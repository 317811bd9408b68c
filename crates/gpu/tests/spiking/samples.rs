//! Samples of the neurons that fire on a GPU.

use kvrm_gpu::spiking::Options;
use kvrm_spiking::{Executor, Injection, Input, Recorder, sample};
use kvrm_testkit::networks::{RECIPES, injections, network};

use crate::support::{assert_same, executor, reference};

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn samples_match_the_reference() {
    const STEPS: u64 = 30;
    // The number of sampled spikes of each model.
    let mut counts = [0; 4];
    for (seed, recipe) in (60..).zip(RECIPES.into_iter().cycle().take(8)) {
        let network = network(recipe, seed, [1, 5], seed % 2 == 0);
        let injections = injections(&network, seed, STEPS);
        let mut engines: [Box<dyn Executor>; 2] =
            [Box::new(reference(&network)), Box::new(executor(&network, &Options::default()))];
        for step in 0..STEPS {
            let now = injections.iter().filter(|injection| injection.step == step);
            let input = Input::new(now.map(|injection| Injection { step: 0, ..*injection }).collect())
                .expect("amounts are small");
            // Every third step is not sampled.
            let mut made = engines.iter_mut().map(|engine| {
                let mut recorder = Recorder::new(1 << 20);
                let sampled = if step % 3 == 2 {
                    engine.run(1, &input, Some(&mut recorder)).expect("the engine works");
                    Vec::new()
                } else {
                    let all = 0..network.neurons();
                    sample(&mut **engine, &network, &input, Some(&mut recorder), all)
                        .expect("the engine works")
                };
                (sampled, recorder.take(), engine.state().expect("the engine works"))
            });
            let [expected, found] = [made.next(), made.next()].map(|made| made.expect("two engines"));
            let what = format!("{recipe:?}, step {step}");
            assert_eq!(found.0, expected.0, "{what}: samples");
            assert_eq!(found.1, expected.1, "{what}: spikes");
            assert_same(&found.2, &expected.2, &what);
            for firing in &expected.0 {
                counts[network.populations()[firing.population as usize].kind as usize] += 1;
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 20), "FEAGI, LIF, Izhikevich, Poisson: {counts:?}");
}
