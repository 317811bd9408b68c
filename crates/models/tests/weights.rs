//! Tests of files of weights: saved weights load unchanged, and errors name the file and the tensor.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kvrm_models::safetensors::{self, Encoded};
use kvrm_models::{
    Architecture, Dtype, Entry, Error, MANIFEST, Manifest, Metadata, Models, NamedTensor, TensorFile,
    Weights, sha256_of,
};
use proptest::prelude::*;

/// Returns weights whose values vary and fit into an f16.
fn sample(architecture: Architecture) -> Weights {
    let values = (0..architecture.parameters()).map(|index| (index % 1_999) as f32 / 64.0 - 15.0).collect();
    let mut weights = Weights::from_flat(architecture, values).expect("finite, and as many as there are");
    weights.metadata = Metadata {
        seed: Some(u64::MAX),
        recipe: Some("cargo xtask train dispatch".to_owned()),
        data_hash: Some("00ff".to_owned()),
        verified_domain: Some("2^20 tuples".to_owned()),
        config: BTreeMap::from([("batch".to_owned(), "4096".to_owned())]),
        metrics: BTreeMap::from([("margin".to_owned(), 5.05), ("errors".to_owned(), 0.0)]),
    };
    weights
}

fn message(result: Result<Weights, Error>) -> String {
    result.expect_err("the file is wrong").to_string()
}

/// Loads a file of small-dispatch weights after `change`, without metadata unless `change` adds some.
fn changed(change: impl FnOnce(&mut TensorFile)) -> Result<Weights, Error> {
    let mut content = sample(Architecture::SmallDispatch).to_tensors();
    content.metadata.clear();
    change(&mut content);
    Weights::from_tensors("a.safetensors", None, content)
}

/// The folder of the weights that come with KVRM.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../weights");

#[test]
fn cards_state_what_the_manifest_states() {
    for entry in &Manifest::builtin().expect("it can be read").files {
        let name = entry.name.replace(".safetensors", ".md");
        let card = fs::read_to_string(Path::new(FOLDER).join(&name)).expect("each file has a card");
        let digest = entry.weights_sha256.as_ref().expect("each of our files has one");
        for fact in [&entry.sha256, digest, &entry.recipe, &entry.result] {
            assert!(card.contains(fact.as_str()), "{name} lacks {fact:?}");
        }
    }
}

#[test]
fn the_weights_that_come_with_kvrm_are_those_of_their_manifest() {
    let folder = Path::new(FOLDER);
    let manifest = Manifest::builtin().expect("it can be read");
    manifest.verify(folder).expect("it lists what is there");
    assert_eq!(manifest, Manifest::load(&folder.join(MANIFEST)).expect("it can be read"), "the same file");
    for entry in &manifest.files {
        let architecture = Architecture::from_name(&entry.architecture).expect("there is one");
        let (weights, digest) =
            Weights::builtin(architecture).expect("the file is whole").expect("the file is there");
        assert_eq!(sha256_of(weights.values()), digest, "{}", entry.name);
        assert_eq!(Some(digest), entry.weights_sha256, "{}", entry.name);
        let metadata = &weights.metadata;
        assert_eq!(
            (metadata.seed, metadata.recipe.as_ref()),
            (entry.seed, Some(&entry.recipe)),
            "{}",
            entry.name
        );
    }
    assert_eq!(manifest.files.len(), Architecture::ALL.len(), "a file for each architecture");
}

#[test]
fn every_architecture_loads_as_saved() {
    for architecture in Architecture::ALL {
        let weights = sample(architecture);
        for dtype in [Dtype::F32, Dtype::F16] {
            let bytes = weights.to_bytes(dtype).expect("all values fit");
            assert_eq!(bytes, weights.to_bytes(dtype).expect("again"), "{architecture} has one form");
            let back = Weights::from_bytes("a.safetensors", &bytes).expect("just written");
            assert_eq!(back, weights, "{architecture} as {dtype}");
        }
        for mut content in [weights.to_tensors(), weights.to_flat_tensor()] {
            content.metadata.clear();
            let back = Weights::from_tensors("a.npz", None, content).expect("the shapes say what it is");
            assert_eq!(back.architecture(), architecture, "by shape");
            assert_eq!(back.values(), weights.values(), "{architecture}");
        }
    }
}

#[test]
fn a_tensor_is_its_part_of_the_flat_form() {
    let weights = sample(Architecture::Dispatch);
    assert_eq!(weights.tensor("fc1.bias"), Some(&weights.values()[9_600..9_632]), "where the layout says");
    assert_eq!(weights.tensor("fc9.bias"), None, "there is none");
}

#[test]
fn wrong_tensors_are_named() {
    let shape = message(changed(|content| content.tensors[2].dims = vec![8, 7]));
    assert_eq!(
        shape, "a.safetensors: tensor `fc2.weight`: expected [7, 8] in small-dispatch, found [8, 7]",
        "the right number of values in the wrong shape"
    );
    let missing = message(changed(|content| drop(content.tensors.remove(1))));
    assert!(
        missing.contains("`fc1.bias`: expected [8] in small-dispatch, found no such tensor"),
        "{missing}"
    );
    let extra = message(changed(|content| {
        let mut tensor = content.tensors[0].clone();
        tensor.name = "fc9.weight".to_owned();
        content.tensors.push(tensor);
    }));
    assert!(extra.contains("a.safetensors: tensor `fc9.weight`: expected only tensors of"), "{extra}");
    let twice = message(changed(|content| content.tensors.push(content.tensors[3].clone())));
    assert!(twice.contains("tensor `fc2.bias`: expected one tensor of this name, found two"), "{twice}");
    let short = message(changed(|content| content.tensors[1].values.truncate(7)));
    assert!(short.contains("tensor `fc1.bias`: expected as many values as [8] has, found 7"), "{short}");
    let none = message(changed(|content| content.tensors.clear()));
    assert!(none.contains("expected the tensors of one of dispatch, small-dispatch"), "{none}");
}

#[test]
fn non_finite_values_are_named() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let text = message(changed(|content| content.tensors[2].values[5] = value));
        let expected = format!(
            "a.safetensors: tensor `fc2.weight`: expected finite values that an f32 can hold, found {value} at index 5"
        );
        assert_eq!(text, expected, "with tensor, value and place");

        let mut values = vec![0.0; 135];
        values[64] = value;
        let text = message(Weights::from_flat(Architecture::SmallDispatch, values));
        assert!(text.contains("`fc1.bias`") && text.contains("at index 0"), "flat: {text}");
    }
    let text = message(Weights::from_flat(Architecture::Dispatch, vec![0.0; 135]));
    assert_eq!(text, "the flat form: expected 10279 values for dispatch, found 135", "another length");

    let mut values = vec![0.0; 135];
    values[65] = 70_000.0;
    let weights = Weights::from_flat(Architecture::SmallDispatch, values).expect("an f32 can hold it");
    let text = weights.to_bytes(Dtype::F16).expect_err("an f16 cannot").to_string();
    assert!(text.contains("`fc1.bias`: expected finite values that an f16 can hold, found 70000"), "{text}");
}

#[test]
fn wrong_metadata_is_refused() {
    let with = |key: &str, value: Option<&str>| {
        let mut content = sample(Architecture::SmallDispatch).to_tensors();
        match value {
            Some(value) => content.metadata.insert(key.to_owned(), value.to_owned()),
            None => content.metadata.remove(key),
        };
        message(Weights::from_tensors("a.safetensors", None, content))
    };
    for (key, value, expected) in [
        ("format_version", Some("2"), "metadata `format_version`: expected 1, found 2"),
        ("format_version", None, "metadata `format_version`: expected 1, found none"),
        ("architecture", Some("resnet"), "metadata `architecture`: expected one of dispatch, "),
        ("architecture", None, "metadata `architecture`: expected a name, found no such key"),
        ("architecture", Some("dispatch"), "tensor `embedding.weight`: expected [256, 32] in dispatch"),
        ("seed", Some("-1"), "metadata `seed`: expected a number of 64 bits, found `-1`"),
        ("metrics.margin", Some("nan"), "metadata `metrics.margin`: expected a finite number, found nan"),
        ("colour", Some("red"), "metadata `colour`: expected a key of format version 1"),
    ] {
        let text = with(key, value);
        assert!(text.starts_with("a.safetensors: ") && text.contains(expected), "{key}={value:?}: {text}");
    }
    let content = sample(Architecture::SmallDispatch).to_tensors();
    let text = message(Weights::from_tensors("a.npz", Some(Architecture::Dispatch), content));
    assert!(text.contains("metadata `architecture`: expected dispatch, found small-dispatch"), "{text}");
}

#[test]
fn metadata_of_other_programs_is_ignored() {
    let weights = changed(|content| {
        content.metadata.insert("format".to_owned(), "pt".to_owned());
        content.metadata.insert("architecture".to_owned(), "resnet".to_owned());
    });
    assert_eq!(
        weights.expect("shapes say what it is").architecture(),
        Architecture::SmallDispatch,
        "by shape"
    );
}

#[test]
fn other_types_are_refused_by_name() {
    for (dtype, name) in [(Dtype::F64, "f64"), (Dtype::Bf16, "bf16")] {
        let bytes = vec![0; 8 * dtype.bytes()];
        let tensor = Encoded { name: "fc1.bias", dims: &[8], dtype, bytes };
        let bytes = safetensors::write("a", &[tensor], &BTreeMap::new()).expect("it can be written");
        let text = message(Weights::from_bytes("a.safetensors", &bytes));
        let expected = format!("a.safetensors: tensor `fc1.bias`: expected f32 or f16, found {name}");
        assert_eq!(text, expected, "readable, but no weights");
    }
    let header = br#"{"n":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}  "#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    bytes.extend([0; 8]);
    let text = message(Weights::from_bytes("a.safetensors", &bytes));
    assert_eq!(text, "a.safetensors: tensor `n`: expected f32, f16, bf16 or f64, found I64", "an integer");
}

#[test]
fn damaged_files_are_refused() {
    let bytes = sample(Architecture::SmallDispatch).to_bytes(Dtype::F32).expect("it can be written");
    let text = message(Weights::from_bytes("a.safetensors", &bytes[..bytes.len() - 1]));
    assert!(text.starts_with("a.safetensors: tensor `fc2.bias`: expected data up to byte 540"), "{text}");
    let text = message(Weights::from_bytes("a.safetensors", &bytes[..100]));
    assert!(text.contains("expected a safetensors file, found a header of"), "{text}");
    let text = message(Weights::from_bytes("a.safetensors", b"abc"));
    assert_eq!(text, "a.safetensors: expected a safetensors file, found 3 bytes", "no header");
    let mut longer = bytes.clone();
    longer.push(0);
    let text = message(Weights::from_bytes("a.safetensors", &longer));
    assert!(text.contains("a header that does not fit its data"), "{text}");

    for header in [
        r#"{"w":{"dtype":"F32","shape":[1152921504606846976,1152921504606846976],"data_offsets":[0,4]}}"#,
        r#"{"w":{"dtype":"F32","shape":[1152921504606846976],"data_offsets":[0,4611686018427387904]}}"#,
        r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,0]}}"#,
        r#"{"w":[[[[[[[["#,
    ] {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend([0; 4]);
        let text = message(Weights::from_bytes("a.safetensors", &bytes));
        assert!(text.starts_with("a.safetensors: "), "{header}: {text}");
    }
}

#[test]
fn a_folder_is_loaded_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = |name: &str| folder.path().join(name);
    for architecture in [Architecture::Dispatch, Architecture::MemoryOracle] {
        let file = path(&format!("{architecture}.safetensors"));
        sample(architecture).save(&file, Dtype::F32).expect("it can be written");
    }
    fs::write(path("notes.txt"), "no weights").expect("it can be written");
    let mut models = Models::load_dir(folder.path()).expect("two files");
    assert_eq!(models.iter().count(), 2, "and no more");
    assert_eq!(models.get(Architecture::Dispatch), Some(&sample(Architecture::Dispatch)), "in its slot");
    assert_eq!(models.get(Architecture::Decoder), None, "an empty slot");

    let mut more = Models::new();
    more.insert(sample(Architecture::Decoder));
    let loaded = more.load_folder(folder.path()).expect("two files");
    let files: Vec<_> = loaded.into_iter().collect();
    let expected = [Architecture::Dispatch, Architecture::MemoryOracle]
        .map(|architecture| (architecture, path(&format!("{architecture}.safetensors"))));
    assert_eq!(files, expected, "with their files");
    assert_eq!(more.iter().count(), 3, "other slots keep their weights");

    sample(Architecture::Dispatch).save(&path("other.safetensors"), Dtype::F16).expect("it can be written");
    let text = Models::load_dir(folder.path()).expect_err("two of dispatch").to_string();
    assert!(text.contains("other.safetensors") && text.contains("`dispatch.safetensors`"), "{text}");
    let mut empty = Models::new();
    assert!(empty.load_folder(folder.path()).is_err(), "two of dispatch");
    assert_eq!(empty, Models::new(), "nothing is loaded, not even the memory oracle");

    fs::write(path("other.safetensors"), "rubbish").expect("it can be written");
    let before = models.clone();
    assert!(models.load_file(&path("other.safetensors")).is_err(), "no weights");
    assert_eq!(models, before, "nothing has changed");
    let text = Models::load_dir(folder.path()).expect_err("one is rubbish").to_string();
    assert!(text.contains("other.safetensors: expected a safetensors file"), "{text}");
}

#[test]
fn a_manifest_names_every_difference() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = |name: &str| folder.path().join(name);
    let mut manifest = Manifest::default();
    for name in ["a.safetensors", "b.safetensors"] {
        let weights = sample(Architecture::SmallDispatch);
        let bytes = weights.to_bytes(Dtype::F32).expect("it can be written");
        fs::write(path(name), &bytes).expect("it can be written");
        let entry = Entry::new(name, weights.architecture(), &bytes);
        manifest.files.push(Entry { seed: Some(7), result: "exact".to_owned(), ..entry });
    }
    let text = manifest.to_toml().expect("it can be written");
    fs::write(path(MANIFEST), &text).expect("it can be written");
    assert_eq!(Manifest::load(&path(MANIFEST)).expect("just written"), manifest, "{text}");
    manifest.verify(folder.path()).expect("all is as listed");

    fs::write(path("a.safetensors"), "changed").expect("it can be written");
    fs::rename(path("b.safetensors"), path("c.safetensors")).expect("it can be renamed");
    let text = manifest.verify(folder.path()).expect_err("nothing is as listed").to_string();
    for expected in [
        "`a.safetensors`: expected sha256 ",
        "`b.safetensors` is listed and missing",
        "`c.safetensors` is there and not listed",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn manifests_are_checked() {
    let good = Entry::new("a.safetensors", Architecture::Decoder, b"");
    for (entry, expected) in [
        (Entry { name: "../a.safetensors".to_owned(), ..good.clone() }, "`../a.safetensors.name`"),
        (
            Entry { sha256: "ABC".to_owned(), ..good.clone() },
            "`a.safetensors.sha256`: expected 64 lower-case",
        ),
        (
            Entry { architecture: "x".to_owned(), ..good.clone() },
            "`a.safetensors.architecture`: expected one of",
        ),
    ] {
        let text = Manifest { files: vec![entry] }.to_toml().expect("it can be written");
        let error = Manifest::parse("manifest.toml", &text).expect_err("it is wrong").to_string();
        assert!(error.starts_with("manifest.toml: ") && error.contains(expected), "{error}");
    }
    let text = Manifest { files: vec![good.clone(), good] }.to_toml().expect("it can be written");
    let error = Manifest::parse("manifest.toml", &text).expect_err("listed twice").to_string();
    assert!(error.contains("`a.safetensors`: expected one entry, found two"), "{error}");
    assert!(Manifest::parse("manifest.toml", "[[file]]\nnam = 1\n").is_err(), "an unknown key");
}

proptest! {
    /// Damaged or truncated files never panic, and every error names the file.
    #[test]
    fn damaged_bytes_never_panic(at in 0_usize..1_400, byte: u8, cut in 0_usize..1_400) {
        let mut bytes = sample(Architecture::SmallDispatch).to_bytes(Dtype::F32).expect("it can be written");
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        bytes.truncate(cut);
        if let Err(error) = Weights::from_bytes("a.safetensors", &bytes) {
            prop_assert!(error.to_string().starts_with("a.safetensors: "), "{}", error);
        }
    }

    /// Any finite weights load bit for bit if saved as f32. Weights saved as f16 are rounded once only.
    #[test]
    fn any_weights_load_as_saved(values in proptest::collection::vec(-60_000.0_f32..60_000.0, 135)) {
        let weights = Weights::from_flat(Architecture::SmallDispatch, values).expect("finite");
        let bytes = weights.to_bytes(Dtype::F32).expect("they fit");
        prop_assert_eq!(&Weights::from_bytes("a", &bytes).expect("just written"), &weights);
        let bytes = weights.to_bytes(Dtype::F16).expect("they fit");
        let rounded = Weights::from_bytes("a", &bytes).expect("just written");
        let again = rounded.to_bytes(Dtype::F16).expect("they fit");
        prop_assert_eq!(bytes, again);
    }
}

#[test]
fn named_tensors_encode_as_little_endian() {
    let tensor =
        NamedTensor { name: "w".to_owned(), dims: vec![2], dtype: Dtype::F32, values: vec![0.0, 1.0] };
    assert_eq!(tensor.encode("a", Dtype::F16).expect("they fit"), [0, 0, 0, 0x3c], "little-endian");
}
