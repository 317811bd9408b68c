//! Spiking networks: builders, networks, engines and simulations.
//!
//! Python gives and gets amounts in the unit of weights (FEAGI's units or mV), and delays in ms.

mod builder;
mod change;
mod engine;
mod field;
mod model;
mod network;
mod networks;
mod projection;
mod run;
mod simulation;
mod state;
mod statistics;
mod units;

pub(crate) use self::builder::{SpikingBuilder, SpikingPopulation};
pub(crate) use self::engine::SpikingEngine;
pub(crate) use self::network::SpikingNetwork;
pub(crate) use self::networks::{spiking_feagi_input, spiking_network};
pub(crate) use self::simulation::SpikingSimulation;
pub(crate) use self::state::{spiking_load_state, spiking_save_state};
pub(crate) use self::statistics::{spiking_rates, spiking_statistics};
