//! Spiking neural networks: the data model, builders, neuron models and CPU engines.
//!
//! Most users want the facade crate `kvrm`, which re-exports this one. A [`Builder`] makes a [`Network`] of
//! populations and synapses, an [`Executor`] runs it step by step, and a [`Recorder`] stores its spikes. A
//! [`Simulation`] holds all three. Everything that changes from step to step is in the [`State`], which consists of
//! integers and is the same on every engine and host after every step.
//!
//! ```
//! use kvrm_spiking::{Builder, ConnectionRule, Feagi, Model, Parallel, Projection, Simulation};
//!
//! let mut builder = Builder::new(1.0); // steps of 1 ms
//! let model = Model::Feagi(Feagi::default());
//! let (retina, map) = (builder.population("retina", 100, &model)?, builder.population("map", 100, &model)?);
//! builder.connect(retina, map, &Projection::new(ConnectionRule::OneToOne, 1.0, 1))?;
//! let mut simulation = Simulation::new(builder.build()?, |network| Box::new(Parallel::new(network)));
//! simulation.record(100);
//! simulation.inject(7, 1)?; // in the first step
//! simulation.run(2)?;
//! let fired: Vec<(u64, u32)> = simulation.spikes().iter().map(|spike| (spike.step, spike.neuron)).collect();
//! assert_eq!(fired, [(0, 7), (1, 107)]);
//! # Ok::<(), kvrm_spiking::Error>(())
//! ```
//!
//! A neuron is identified by its number, which is also the index of its row of synapses: there are no lookup tables.
//! A synapse takes 4 bytes, or 8 if its target, delay and weight need more than 32 bits ([`Packing`]).

mod bound;
mod builder;
mod change;
mod check;
mod connect;
mod distribution;
mod error;
mod executor;
pub mod fixed;
mod formats;
mod generate;
mod input;
mod memory;
pub mod model;
mod network;
pub mod networks;
mod parallel;
mod parts;
mod plasticity;
pub mod random;
mod record;
pub mod record_words;
mod recorder;
mod reference;
mod registry;
mod sample;
mod share;
mod simulation;
mod state;
mod statistics;
mod synapses;

pub use builder::{Builder, ListedSynapse, PopulationId};
pub use change::{Change, ChangeSummary};
pub use connect::{ConnectionRule, Delay, Projection, Weight};
pub use error::Error;
pub use executor::Executor;
pub use formats::FileError;
pub use input::{Injection, Input};
pub use memory::available_memory;
pub use model::Model;
pub use model::feagi::Feagi;
pub use model::izhikevich::Izhikevich;
pub use model::lif::Lif;
pub use model::poisson::Poisson;
pub use network::Network;
pub use parallel::Parallel;
pub use parts::{INJECTION_LIMIT, NetworkParts, Population};
pub use plasticity::{HISTORY_STEPS, Plasticity, PlasticityRule};
pub use record::{Kind, Record, STATE_WORDS, join, split};
pub use recorder::{Recorder, RecorderPosition, Spike};
pub use reference::Reference;
pub use sample::{SampledSpike, sample};
pub use simulation::Simulation;
pub use state::{State, bit_words, set_bits};
pub use statistics::{CORRELATION_BIN, CORRELATION_NEURONS, Statistics, rates};
pub use synapses::{Packing, Synapse, Synapses};

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
