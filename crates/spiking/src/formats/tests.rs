//! Files that are written can be read again, and damaged files are rejected.

use std::io::Cursor;
use std::sync::Arc;

use proptest::prelude::*;

use crate::{
    Builder, Executor, Feagi, Input, Izhikevich, Lif, ListedSynapse, Model, Network, PlasticityRule, Poisson,
    Reference, State,
};

/// Returns a network with all models and rules.
fn network() -> Network {
    let mut builder = Builder::new(0.1).seed(u64::MAX).fraction_bits(16);
    let lif = Lif { tau_in: 2.0, poisson_rate: 9000.0, poisson_weight: 0.8, ..Lif::default() };
    let cells = builder.population("cells `\"é", 20, &Model::Lif(lif)).expect("parameters are in range");
    let izhikevich = builder
        .population("", 3, &Model::Izhikevich(Izhikevich::default()))
        .expect("parameters are in range");
    let source = builder
        .population("source", 5, &Model::Poisson(Poisson { rate: 100.0 }))
        .expect("parameters are in range");
    let area =
        builder.population("area", 4, &Model::Feagi(Feagi::default())).expect("parameters are in range");
    let link = |source, target, weight, delay| ListedSynapse { source, target, weight, delay };
    let links: Vec<ListedSynapse> =
        (0..60).map(|k| link(k % 20, k * 7 % 20, 0.1 * f64::from(k) - 2.0, 1 + k % 15)).collect();
    builder.connect_list(cells, cells, &links).expect("links are in range");
    builder
        .connect_list(source, area, &[link(0, 3, 1.5, 2), link(4, 0, -1.0, 1)])
        .expect("links are in range");
    builder.connect_list(cells, izhikevich, &[link(3, 2, 3.0, 4)]).expect("parameters are in range");
    builder
        .learn(cells, cells, [-4.0, 5.0], PlasticityRule::exponential([20.0, 30.0], [10.0, 12.0]))
        .expect("parameters are in range");
    builder
        .learn(source, area, [-2.0, 3.0], PlasticityRule::Window { steps: 4, ltp: 3, ltd: 1 })
        .expect("parameters are in range");
    builder.build().expect("parameters are in range")
}

fn bytes(network: &Network) -> Vec<u8> {
    let mut bytes = Vec::new();
    network.write_to(&mut bytes).expect("memory takes the bytes");
    bytes
}

fn read(bytes: &[u8]) -> Result<Network, String> {
    Network::read_from("net.safetensors", Cursor::new(bytes)).map_err(|error| error.to_string())
}

#[test]
fn a_network_is_the_same_after_writing_and_reading() {
    for network in [network(), Builder::new(1.0 / 3.0).build().expect("an empty network is valid")] {
        let written = bytes(&network);
        let again = read(&written).expect("just written");
        assert_eq!(again, network, "the network is unchanged");
        assert_eq!(bytes(&again), written, "the bytes are unchanged");
        safetensors::SafeTensors::deserialize(&written).expect("the safetensors crate can read the file");
    }
}

#[test]
fn a_simulation_continues_from_files_of_network_and_state() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let [net, middle] = ["net.safetensors", "state.safetensors"].map(|name| folder.path().join(name));
    let network = Arc::new(network());
    network.save(&net).expect("the file can be written");
    let mut whole = Reference::new(Arc::clone(&network));
    whole.run(40, &Input::default(), None).expect("the run succeeds");
    whole.state().expect("CPU engines have states").save(&middle).expect("the file can be written");
    whole.run(40, &Input::default(), None).expect("the run succeeds");

    let loaded = Network::load(&net).expect("just written");
    let state = State::load(&middle, &loaded).expect("just written");
    let mut rest = Reference::new(Arc::new(loaded));
    rest.set_state(&state).expect("the state matches the network");
    rest.run(40, &Input::default(), None).expect("the run succeeds");
    assert_eq!(
        rest.state().expect("CPU engines have states"),
        whole.state().expect("CPU engines have states"),
        "as in an uninterrupted run"
    );

    let error = Network::load(&middle).expect_err("the file has a state, not a network").to_string();
    assert!(
        error.contains("state.safetensors: metadata `format`: expected `kvrm-spiking-network`"),
        "{error}"
    );
    let other = Builder::new(0.1).build().expect("a network");
    let error = State::load(&middle, &other).expect_err("the state is of another network").to_string();
    assert!(error.contains("tensor `columns`: expected U32 [0], found U32 [128]"), "{error}");
    let error =
        Network::load(&folder.path().join("missing")).expect_err("the file does not exist").to_string();
    assert!(error.starts_with("cannot read ") && error.ends_with("missing"), "{error}");
}

/// Returns the file of [`network`] with a text in its header replaced and the length of the header adjusted.
fn with_replaced_header(from: &str, to: &str) -> Vec<u8> {
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

/// A file of which only the beginning can be read, but which claims to be of any length.
struct Endless {
    begin: Cursor<Vec<u8>>,
    length: u64,
}

impl std::io::Read for Endless {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.begin.read(bytes)
    }
}

impl std::io::Seek for Endless {
    fn seek(&mut self, place: std::io::SeekFrom) -> std::io::Result<u64> {
        match place {
            std::io::SeekFrom::End(0) => Ok(self.length),
            place => self.begin.seek(place),
        }
    }
}

#[test]
fn a_file_larger_than_the_memory_is_rejected_by_its_header() {
    const NEURONS: u64 = 3_000_000_000;
    const SYNAPSES: u64 = 4_000_000_000_000;
    let (records, end) = (4 * NEURONS, 4 * NEURONS + 4 * SYNAPSES);
    let header = format!(
        "{{\"__metadata__\":{{\"format\":\"kvrm-spiking-network\",\"format_version\":\"1\"}},\
         \"record_of\":{{\"dtype\":\"U32\",\"shape\":[{NEURONS}],\"data_offsets\":[0,{records}]}},\
         \"words\":{{\"dtype\":\"U32\",\"shape\":[{SYNAPSES},1],\"data_offsets\":[{records},{end}]}}}}"
    );
    let mut begin = (header.len() as u64).to_le_bytes().to_vec();
    begin.extend(header.bytes());
    let length = begin.len() as u64 + end;
    let error = Network::read_from("huge.safetensors", Endless { begin: Cursor::new(begin), length })
        .expect_err("16 TB do not fit in memory")
        .to_string();
    let expected = format!(
        "huge.safetensors: network: a network of {NEURONS} neurons and {SYNAPSES} synapses does not fit in memory: it \
         takes at least {end} bytes"
    );
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn errors_name_the_damaged_part() {
    let assert_rejected = |bytes: &[u8], expected: &str| {
        let error = read(bytes).expect_err("the file is damaged");
        assert!(
            error.starts_with("net.safetensors: ") && error.contains(expected),
            "{expected:?} in {error:?}"
        );
    };
    let whole = bytes(&network());
    assert_rejected(&[], "header: expected a safetensors header, found a file of 0 bytes");
    assert_rejected(&whole[..100], "found a header length of");
    assert_rejected(&whole[..whole.len() - 1], "data: expected");
    assert_rejected(
        &with_replaced_header("\"dt\":\"0.1\"", "\"dt\":\"x\""),
        "metadata `dt`: expected a number, found `x`",
    );
    assert_rejected(
        &with_replaced_header("\"dt\":\"0.1\"", "\"dt\":\"0\""),
        "network: dt is 0, expected more than 0 ms",
    );
    assert_rejected(
        &with_replaced_header("\"seed\"", "\"need\""),
        "metadata `seed`: expected a value, found none",
    );
    assert_rejected(
        &with_replaced_header("format_version\":\"1", "format_version\":\"2"),
        "metadata `format_version`: expected 1, found 2",
    );
    assert_rejected(
        &with_replaced_header("weight_bits\":\"", "weight_bits\":\"9"),
        "metadata `weight_bits`: expected 1 to 32",
    );
    assert_rejected(
        &with_replaced_header("\"delay_bits\":\"4\"", "\"delay_bits\":\"17\""),
        "metadata `delay_bits`: expected 0 to 16",
    );
    assert_rejected(
        &with_replaced_header("lif", "elf"),
        "metadata `populations`: expected a list in JSON, found unknown variant `elf`",
    );
    assert_rejected(
        &with_replaced_header("\"tables\"", "\"cables\""),
        "tensor `cables`: expected only records, record_of, tables",
    );
    assert_rejected(
        &with_replaced_header("\"neurons\\\":[0,20]", "\"neurons\\\":[0,19]"),
        "network: inconsistent parts: population",
    );
    assert_rejected(
        &with_replaced_header("\"dtype\":\"U32\",\"shape\":[4, 32]", "\"dtype\":\"U32\",\"shape\":[32, 4]"),
        "tensor `columns`",
    );
}

proptest! {
    #[test]
    fn damaged_files_are_rejected_or_are_valid_networks(
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
            // An accepted network can run.
            let mut engine = Reference::new(Arc::new(network));
            prop_assert!(engine.run(3, &Input::default(), None).is_ok(), "the run succeeds");
        }
    }
}
