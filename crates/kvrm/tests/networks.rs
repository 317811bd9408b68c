//! The networks that are loaded together.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use kvrm::Networks;
use kvrm::models::{Architecture, Dtype, Weights, dispatch_layout};
use kvrm::networks::{Network, ProofState, Source};

fn builtin() -> Networks {
    Networks::builtin().expect("all weights are valid")
}

fn get(networks: &Networks, architecture: Architecture) -> Network<'_> {
    networks.get(architecture).expect("it is loaded")
}

/// Saves weights that are all the same.
fn save(architecture: Architecture, value: f32, path: &Path) {
    Weights::from_flat(architecture, vec![value; architecture.parameters()])
        .and_then(|weights| weights.save(path, Dtype::F32))
        .expect("the folder can be written");
}

#[test]
fn all_networks_come_with_kvrm() {
    let networks = builtin();
    let architectures: Vec<_> = networks.iter().map(Network::architecture).collect();
    assert_eq!(architectures, Architecture::ALL, "one of each");
    assert_eq!(
        networks.parameters(),
        1_872_961 + 135 + 10_799 + 25_473,
        "the four large ones, and the others"
    );
    // Two bytes for each weight, and two more for those of the exact ones.
    assert_eq!(networks.device_bytes(), 2 * networks.parameters() + 2 * (10_279 + 135 + 10_799), "of all");
    for network in networks.iter() {
        let architecture = network.architecture();
        let builtin = Weights::builtin(architecture).expect("they are valid").expect("they exist");
        assert_eq!((network.weights(), network.sha256()), (&builtin.0, &*builtin.1), "{architecture}");
        let is_provable = matches!(architecture, Architecture::Dispatch | Architecture::Decoder);
        assert_eq!(network.proof() == &ProofState::Unproved, is_provable, "{architecture}");
        assert_eq!(network.proof().name() == "checked", !is_provable, "{architecture}");
    }
}

#[test]
fn files_replace_the_networks_of_their_architectures() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let [oracle, decoder] =
        ["oracle.safetensors", "decoder.safetensors"].map(|name| folder.path().join(name));
    save(Architecture::MemoryOracle, 0.5, &oracle);
    let mut networks = builtin();
    let before = get(&networks, Architecture::MemoryOracle).sha256().to_owned();
    assert_eq!(networks.load_file(&oracle).ok(), Some(Architecture::MemoryOracle), "its architecture");
    let loaded = get(&networks, Architecture::MemoryOracle);
    assert_eq!(loaded.source(), &Source::File(oracle.clone()), "the file");
    assert_eq!(loaded.weights().values()[7], 0.5, "its weights");
    assert_ne!(loaded.sha256(), before, "others");
    assert_eq!(get(&networks, Architecture::Decoder).source(), &Source::BuiltIn, "not replaced");

    save(Architecture::Decoder, 0.25, &decoder);
    let mut networks = builtin();
    networks.load(folder.path()).expect("two files");
    for (architecture, file) in [(Architecture::MemoryOracle, &oracle), (Architecture::Decoder, &decoder)] {
        assert_eq!(get(&networks, architecture).source(), &Source::File(file.clone()), "{architecture}");
    }
    assert_eq!(get(&networks, Architecture::Dispatch).source(), &Source::BuiltIn, "not replaced");
}

#[test]
fn a_file_or_folder_that_cannot_be_loaded_replaces_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut networks = builtin();
    let error = networks.load(folder.path()).expect_err("the folder is empty").to_string();
    let expected = format!("{}: expected a folder with .safetensors files", folder.path().display());
    assert!(error.starts_with(&expected), "{error}");

    save(Architecture::Decoder, 0.25, &folder.path().join("decoder.safetensors"));
    let rubbish = folder.path().join("rubbish.safetensors");
    std::fs::write(&rubbish, "no weights").expect("the folder can be written");
    for path in [folder.path(), &rubbish] {
        let error = networks.load(path).expect_err("one is no file of weights").to_string();
        assert!(error.starts_with(&rubbish.display().to_string()), "{error}");
    }
    assert!(networks.iter().all(|network| network.source() == &Source::BuiltIn), "nothing was replaced");
}

#[test]
fn a_proof_is_made_once_and_forgotten_with_its_weights() {
    let (good, _) = Weights::builtin(Architecture::Dispatch).expect("they are valid").expect("they exist");
    let mut values = good.values().to_vec();
    values[dispatch_layout::FC3_BIAS] = 256.0; // ARITHMETIC is always the answer.
    let wrong = Weights::from_flat(Architecture::Dispatch, values).expect("the number is right");

    let mut networks = Networks::new();
    networks.insert(wrong);
    assert_eq!(get(&networks, Architecture::Dispatch).source(), &Source::Memory, "of this test");
    let calls = AtomicU32::new(0);
    let count = |architecture: Architecture, _: u32| {
        assert_eq!(architecture, Architecture::Dispatch, "the only one");
        calls.fetch_add(1, Ordering::Relaxed);
    };
    for _ in 0..2 {
        assert_eq!(networks.prove(&count), Ok(false), "the proof fails");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 256, "the second time nothing is left to prove");
    let ProofState::Failed(reason) = get(&networks, Architecture::Dispatch).proof() else {
        panic!("it failed");
    };
    assert!(reason.contains("0x00000000 is SYSTEM; the network says ARITHMETIC"), "{reason}");
    networks.insert(good);
    assert_eq!(get(&networks, Architecture::Dispatch).proof(), &ProofState::Unproved, "of these weights");
}
