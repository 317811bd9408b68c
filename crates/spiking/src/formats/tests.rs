//! What is written is read, and what is damaged is refused.

use std::io::Cursor;
use std::sync::Arc;

use proptest::prelude::*;

use crate::{
    Builder, Executor, Feagi, Input, Izhikevich, Lif, Link, Model, Network, Poisson, Reference, Rule, State,
};

/// A network with something of everything.
fn network() -> Network {
    let mut builder = Builder::new(0.1).seed(u64::MAX).fraction_bits(16);
    let lif = Lif { tau_in: 2.0, poisson_rate: 9000.0, poisson_weight: 0.8, ..Lif::default() };
    let cells = builder.population("cells `\"é", 20, &Model::Lif(lif)).expect("it is right");
    let izhikevich =
        builder.population("", 3, &Model::Izhikevich(Izhikevich::default())).expect("it is right");
    let source =
        builder.population("source", 5, &Model::Poisson(Poisson { rate: 100.0 })).expect("it is right");
    let area = builder.population("area", 4, &Model::Feagi(Feagi::default())).expect("it is right");
    let link = |source, target, weight, delay| Link { source, target, weight, delay };
    let links: Vec<Link> =
        (0..60).map(|k| link(k % 20, k * 7 % 20, 0.1 * f64::from(k) - 2.0, 1 + k % 15)).collect();
    builder.connect_list(cells, cells, &links).expect("they are right");
    builder.connect_list(source, area, &[link(0, 3, 1.5, 2), link(4, 0, -1.0, 1)]).expect("they are right");
    builder.connect_list(cells, izhikevich, &[link(3, 2, 3.0, 4)]).expect("it is right");
    builder
        .learn(cells, cells, [-4.0, 5.0], Rule::exponential([20.0, 30.0], [10.0, 12.0]))
        .expect("it is right");
    builder.learn(source, area, [-2.0, 3.0], Rule::Window { steps: 4, ltp: 3, ltd: 1 }).expect("it is right");
    builder.build().expect("it is right")
}

fn bytes(network: &Network) -> Vec<u8> {
    let mut bytes = Vec::new();
    network.write_to(&mut bytes).expect("there is memory");
    bytes
}

fn read(bytes: &[u8]) -> Result<Network, String> {
    Network::read_from("net.safetensors", Cursor::new(bytes)).map_err(|error| error.to_string())
}

#[test]
fn networks_are_read_as_they_were_written() {
    for network in [network(), Builder::new(1.0 / 3.0).build().expect("empty, and a network")] {
        let written = bytes(&network);
        let again = read(&written).expect("just written");
        assert_eq!(again, network, "the same network");
        assert_eq!(bytes(&again), written, "and the same bytes");
        safetensors::SafeTensors::deserialize(&written).expect("others can read it, too");
    }
}

#[test]
fn files_and_states_keep_networks_going() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let [net, middle] = ["net.safetensors", "state.safetensors"].map(|name| folder.path().join(name));
    let network = Arc::new(network());
    network.save(&net).expect("it can be written");
    let mut whole = Reference::new(Arc::clone(&network));
    whole.run(40, &Input::default(), None).expect("it runs");
    whole.state().expect("there").save(&middle).expect("it can be written");
    whole.run(40, &Input::default(), None).expect("it runs");

    let loaded = Network::load(&net).expect("just written");
    let state = State::load(&middle, &loaded).expect("just written");
    let mut rest = Reference::new(Arc::new(loaded));
    rest.set_state(&state).expect("it is one of this network");
    rest.run(40, &Input::default(), None).expect("it runs");
    assert_eq!(rest.state().expect("there"), whole.state().expect("there"), "as if it had not been stopped");

    let error = Network::load(&middle).expect_err("it is a state").to_string();
    assert!(
        error.contains("state.safetensors: metadata `format`: expected `kvrm-spiking-network`"),
        "{error}"
    );
    let other = Builder::new(0.1).build().expect("a network");
    let error = State::load(&middle, &other).expect_err("of another network").to_string();
    assert!(error.contains("tensor `columns`: expected U32 [0], found U32 [128]"), "{error}");
    let error = Network::load(&folder.path().join("missing")).expect_err("it is not there").to_string();
    assert!(error.starts_with("cannot read ") && error.ends_with("missing"), "{error}");
}

/// The file with something in its header replaced, lengths kept right.
fn with(from: &str, to: &str) -> Vec<u8> {
    let whole = bytes(&network());
    let length = u64::from_le_bytes(whole[..8].try_into().expect("8 bytes")) as usize;
    let header = std::str::from_utf8(&whole[8..8 + length]).expect("text");
    assert!(header.contains(from), "{from} in {header}");
    let header = header.replacen(from, to, 1);
    let mut changed = (header.len() as u64).to_le_bytes().to_vec();
    changed.extend(header.bytes());
    changed.extend(&whole[8 + length..]);
    changed
}

#[test]
fn damage_is_named() {
    let refused = |bytes: &[u8], expected: &str| {
        let error = read(bytes).expect_err("it is damaged");
        assert!(
            error.starts_with("net.safetensors: ") && error.contains(expected),
            "{expected:?} in {error:?}"
        );
    };
    let whole = bytes(&network());
    refused(&[], "header: expected one of a safetensors file, found 0 bytes in all");
    refused(&whole[..100], "found a length of");
    refused(&whole[..whole.len() - 1], "data: expected");
    refused(&with("\"dt\":\"0.1\"", "\"dt\":\"x\""), "metadata `dt`: expected a number, found `x`");
    refused(&with("\"dt\":\"0.1\"", "\"dt\":\"0\""), "no network: dt is 0, expected more than 0 ms");
    refused(&with("\"seed\"", "\"need\""), "metadata `seed`: expected a value, found none");
    refused(
        &with("format_version\":\"1", "format_version\":\"2"),
        "metadata `format_version`: expected 1, found 2",
    );
    refused(&with("weight_bits\":\"", "weight_bits\":\"9"), "metadata `weight_bits`: expected 1 to 32");
    refused(
        &with("\"delay_bits\":\"4\"", "\"delay_bits\":\"17\""),
        "metadata `delay_bits`: expected 0 to 16",
    );
    refused(
        &with("lif", "elf"),
        "metadata `populations`: expected a list in JSON, found unknown variant `elf`",
    );
    refused(&with("\"tables\"", "\"cables\""), "tensor `cables`: expected only records, record_of, tables");
    refused(&with("\"neurons\\\":[0,20]", "\"neurons\\\":[0,19]"), "no network: population");
    refused(
        &with("\"dtype\":\"U32\",\"shape\":[4, 32]", "\"dtype\":\"U32\",\"shape\":[32, 4]"),
        "tensor `columns`",
    );
}

proptest! {
    #[test]
    fn damaged_files_are_refused_or_are_networks(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        length in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = bytes(&network());
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(length.map_or(bytes.len(), |length| length.index(bytes.len())));
        if let Ok(network) = read(&bytes) {
            // What passes can be run.
            let mut engine = Reference::new(Arc::new(network));
            prop_assert!(engine.run(3, &Input::default(), None).is_ok(), "it runs");
        }
    }
}
