//! Tests of PyTorch's files: valid files are read, and errors of invalid ones name the file and the tensor.

use crate::support::{self, Tensor, archive, f32s, int, pickle, state_dict, text};
use kvrm_models::TensorFile;

const SIX: [f32; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];

fn read(bytes: &[u8]) -> Result<TensorFile, String> {
    kvrm_convert::read("net.pt", bytes).map_err(|error| error.to_string())
}

/// Checks that an archive of `pickle` and a storage `0` of six values is refused with the message `expected`.
#[track_caller]
fn refused(pickle: &[u8], expected: &str) {
    let error = read(&archive(pickle, &[("0", &f32s(&SIX))])).expect_err("the file is wrong");
    assert!(error.starts_with("net.pt: ") && error.contains(expected), "{expected:?} in {error:?}");
}

/// Checks that a tensor `w`, changed by `change`, is refused with the message `expected`.
#[track_caller]
fn refused_tensor(expected: &str, change: impl FnOnce(&mut Tensor)) {
    let mut tensor = Tensor::matrix("w", "0");
    change(&mut tensor);
    refused(&pickle(&state_dict(&[tensor])), &format!("tensor `w`: {expected}"));
}

#[test]
fn a_state_dict_is_read() {
    let bias = Tensor { dims: vec![6], strides: vec![1], ..Tensor::matrix("fc.bias", "1") };
    let file = archive(
        &pickle(&state_dict(&[Tensor::matrix("fc.weight", "0"), bias])),
        &[("0", &f32s(&SIX)), ("1", &f32s(&[0.5; 6]))],
    );
    let content = read(&file).expect("an honest file");
    let names: Vec<_> = content.tensors.iter().map(|t| (t.name.as_str(), t.dims.as_slice())).collect();
    assert_eq!(names, [("fc.weight", [2, 3].as_slice()), ("fc.bias", &[6])], "in the file's order");
    assert_eq!(content.tensors[0].values, SIX, "row by row");
}

#[test]
fn strided_tensors_become_contiguous() {
    let transposed = Tensor { dims: vec![3, 2], strides: vec![1, 3], ..Tensor::matrix("t", "0") };
    let column = Tensor { dims: vec![2], strides: vec![3], offset: 1, ..Tensor::matrix("c", "0") };
    let file = archive(&pickle(&state_dict(&[transposed, column])), &[("0", &f32s(&SIX))]);
    let content = read(&file).expect("an honest file");
    assert_eq!(content.tensors[0].values, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0], "the transposed matrix");
    assert_eq!(content.tensors[1].values, [1.0, 4.0], "the second column");
}

#[test]
fn all_floats_become_f32() {
    let doubles: Vec<u8> = SIX.iter().flat_map(|value| f64::from(*value).to_le_bytes()).collect();
    // One bit pattern for each of 0 to 5.
    let halves: Vec<u8> =
        [0_u16, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500].iter().flat_map(|h| h.to_le_bytes()).collect();
    let brains: Vec<u8> = SIX
        .iter()
        .flat_map(|value| value.to_be_bytes()[..2].iter().rev().copied().collect::<Vec<_>>())
        .collect();
    for (storage, bytes) in [
        ("FloatStorage", f32s(&SIX)),
        ("DoubleStorage", doubles),
        ("HalfStorage", halves),
        ("BFloat16Storage", brains),
    ] {
        let tensor = Tensor { storage, ..Tensor::matrix("w", "0") };
        let content = read(&archive(&pickle(&state_dict(&[tensor])), &[("0", &bytes)])).expect(storage);
        assert_eq!(content.tensors[0].values, SIX, "{storage}");
    }
}

#[test]
fn the_state_dict_of_a_checkpoint_is_read() {
    let mut code = b"}(".to_vec();
    text("epoch", &mut code);
    int(7, &mut code);
    text("model_state_dict", &mut code);
    code.extend(state_dict(&[Tensor::matrix("w", "0")]));
    text("optimizer_state_dict", &mut code);
    code.extend(b"}(");
    text("moment", &mut code);
    code.extend(Tensor::matrix("-", "0").instructions());
    code.extend(b"uu");
    let content = read(&archive(&pickle(&code), &[("0", &f32s(&SIX))])).expect("an honest file");
    let names: Vec<_> = content.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(names, ["w"], "without the optimiser's tensors");

    let mut code = b"}(".to_vec();
    text("encoder", &mut code);
    code.extend(state_dict(&[Tensor::matrix("w", "0")]));
    code.push(b'u');
    let content = read(&archive(&pickle(&code), &[("0", &f32s(&SIX))])).expect("an honest file");
    assert_eq!(content.tensors[0].name, "encoder.w", "a path of keys");
}

/// Returns a file in the legacy format: five pickles, then the storages.
fn legacy(tensors: &[Tensor], storages: &[(&str, &[f32])]) -> Vec<u8> {
    let mut bytes = pickle(b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19");
    bytes.extend(pickle(b"M\xe9\x03"));
    let mut system = b"}(".to_vec();
    text("little_endian", &mut system);
    system.extend(b"\x88u");
    bytes.extend(pickle(&system));
    bytes.extend(pickle(&state_dict(tensors)));
    let mut keys = b"](".to_vec();
    storages.iter().for_each(|(key, _)| text(key, &mut keys));
    keys.push(b'e');
    bytes.extend(pickle(&keys));
    for (_, values) in storages {
        bytes.extend((values.len() as u64).to_le_bytes());
        bytes.extend(f32s(values));
    }
    bytes
}

#[test]
fn the_legacy_format_is_read() {
    let tensors = [Tensor::matrix("a", "94"), Tensor::matrix("b", "95")];
    let bytes = legacy(&tensors, &[("94", &SIX), ("95", &[0.5; 6])]);
    let content = read(&bytes).expect("an honest file");
    assert_eq!(content.tensors[0].values, SIX, "the first storage");
    assert_eq!(content.tensors[1].values, [0.5; 6], "the second");

    let error = read(&bytes[..bytes.len() - 1]).expect_err("a byte is missing");
    assert!(error.contains("`storage 95`: expected 6 values of 4 bytes, found 23 bytes"), "{error}");
    let error = read(&legacy(&tensors, &[("94", &SIX)])).expect_err("a storage is missing");
    assert!(
        error.contains("tensor `b`: expected its storage, found ") && error.contains("storage 95"),
        "{error}"
    );
    for cut in 0..bytes.len() {
        let error = read(&bytes[..cut]).expect_err("it is cut off");
        assert!(error.starts_with("net.pt: "), "{cut}: {error}");
    }
}

#[test]
fn code_is_refused_by_name() {
    for (module, name) in [("os", "system"), ("posix", "system"), ("builtins", "eval"), ("torch", "load")] {
        let mut code = format!("c{module}\n{name}\n").into_bytes();
        text("echo hello", &mut code);
        code.extend(b"\x85R");
        refused(&pickle(&code), &format!("found the global `{module}.{name}`"));
    }
    let mut code = Vec::new();
    text("os", &mut code);
    text("system", &mut code);
    code.push(0x93);
    refused(&pickle(&code), "found the global `os.system`");
    refused(&pickle(b")\x81"), "found the instruction 0x81");
    refused(&pickle(b"cos\nsystem\n"), "before byte 13 of the pickle");
}

#[test]
fn only_known_functions_with_valid_arguments_are_accepted() {
    refused(&pickle(b"K\x01)R"), "expected one of the known functions to call");
    refused(&pickle(b"ctorch\nFloatStorage\n)R"), "expected arguments that PyTorch writes");
    refused(&pickle(b"ctorch._utils\n_rebuild_tensor_v2\n)R"), "expected arguments that PyTorch writes");
    refused(&pickle(b"ctorch._utils\n_rebuild_parameter\nN\x85R"), "expected arguments that PyTorch writes");
    refused(&pickle(b"]}b"), "expected attributes of a dict");
    refused(&pickle(b"NQ"), "expected the description of a storage");
}

#[test]
fn tensors_stay_within_their_storage() {
    refused_tensor("expected at most the 6 values of the storage, found 7", |t| t.offset = 1);
    refused_tensor("expected at most the 6 values of the storage, found 9", |t| t.strides = vec![6, 1]);
    refused_tensor("expected a storage of 7 values of f32, found 24 bytes", |t| t.len = 7);
    refused_tensor("expected a storage of 5 values of f32, found 24 bytes", |t| t.len = 5);
    refused_tensor("expected a storage of -1 values of f32", |t| t.len = -1);
    refused_tensor("expected an offset of at least 0, found [-1]", |t| t.offset = -1);
    refused_tensor("expected strides of at least 0, found [-3, 1]", |t| t.strides = vec![-3, 1]);
    refused_tensor("expected dimensions of at least 0, found [2, -3]", |t| t.dims = vec![2, -3]);
    refused_tensor("expected 2 strides, one per dimension, found 1", |t| t.strides = vec![1]);
    refused_tensor("expected at most 8 dimensions, found 9", |t| {
        (t.dims, t.strides) = (vec![1; 9], vec![1; 9]);
    });
    refused_tensor("expected its storage, found net.pt: tensor `net/data/9`", |t| t.key = "9");
    refused_tensor("expected f32, f16, bf16 or f64, found a LongStorage", |t| t.storage = "LongStorage");
    // Strides of zero give 2^62 values of one; the second tensor would need 2^93 values.
    refused_tensor("expected at most the 6 values of the storage", |t| {
        (t.dims, t.strides) = (vec![i32::MAX; 2], vec![0; 2]);
    });
    refused_tensor("expected at most the 6 values of the storage", |t| {
        (t.dims, t.strides) = (vec![i32::MAX; 3], vec![i32::MAX; 3]);
    });
}

#[test]
fn duplicate_names_and_empty_dicts_are_refused() {
    let twice = [Tensor::matrix("w", "0"), Tensor::matrix("w", "0")];
    refused(&pickle(&state_dict(&twice)), "tensor `w`: expected one tensor of this name, found two");
    refused(&pickle(b"}"), "expected a state dict with tensors, found none");
}

#[test]
fn values_that_are_not_finite_are_refused() {
    for value in [f32::NAN, f32::INFINITY] {
        let mut values = SIX;
        values[4] = value;
        let file = archive(&pickle(&state_dict(&[Tensor::matrix("w", "0")])), &[("0", &f32s(&values))]);
        let error = read(&file).expect_err("no number");
        let expected = format!(
            "net.pt: tensor `w`: expected finite values that an f32 can hold, found {value} at index 4"
        );
        assert_eq!(error, expected, "with its place");
    }
    let tensor = Tensor {
        storage: "DoubleStorage",
        len: 1,
        dims: vec![],
        strides: vec![],
        ..Tensor::matrix("w", "0")
    };
    let file = archive(&pickle(&state_dict(&[tensor])), &[("0", &1e300_f64.to_le_bytes())]);
    let error = read(&file).expect_err("too large for an f32");
    assert!(error.contains("tensor `w`: expected finite values that an f32 can hold"), "{error}");
}

#[test]
fn small_files_cannot_use_much_memory_or_time() {
    // Each tuple contains the previous one twice: 2^200 leaves.
    let mut code = b")".to_vec();
    for _ in 0..200 {
        code.extend(b"q\x00h\x00\x86");
    }
    refused(&pickle(&code), "expected a state dict with tensors");

    // Nested dicts with shared entries, which the reader visits.
    let mut code = b"}".to_vec();
    for _ in 0..200 {
        code.extend(b"q\x000}(");
        for key in 0..9 {
            code.extend([b'K', key, b'h', 0]);
        }
        code.push(b'u');
    }
    refused(&pickle(&code), "expected dicts nested at most 8 deep");
    let mut code = b"}".to_vec();
    for _ in 0..6 {
        code.extend(b"q\x000}(");
        for key in 0..20 {
            code.extend([b'K', key, b'h', 0]);
        }
        code.push(b'u');
    }
    refused(&pickle(&code), "expected at most 65536 entries");

    // A dict that contains itself, and very deep nesting.
    let mut code = b"}q\x00".to_vec();
    text("a", &mut code);
    code.extend(b"h\x00s");
    refused(&pickle(&code), "dicts nested at most 8 deep");
    refused(
        &pickle(&[b"]".repeat(100_000), b"a".repeat(99_999)].concat()),
        "expected a state dict with tensors",
    );
    refused(&pickle(&b"(".repeat(2_000_000)), "expected at most 1048576 instructions");
    // A text with a length of 4 GiB.
    refused(&pickle(b"X\xff\xff\xff\xff"), "expected 4294967295 more bytes of the pickle");
    refused(&pickle(b"h\x07"), "expected a memo that was set, found number 7");

    // Many views of one storage.
    let many: Vec<Tensor> = ["a", "b", "c", "d", "e"].map(|name| Tensor::matrix(name, "0")).to_vec();
    refused(&pickle(&state_dict(&many)), "tensor `e`: expected at most 24 values, one per byte of storage");
}

#[test]
fn stacks_do_not_underflow() {
    for code in [
        b"a".as_slice(),
        b"s",
        b"u",
        b"e",
        b"t",
        b"R",
        b"b",
        b"Q",
        b"0",
        b"1",
        b"q\x00",
        b"\x93",
        b"(0",
        b"(\x85",
    ] {
        refused(&pickle(code), " on the pickle's stack, found none");
    }
    refused(&pickle(b""), "expected a value on the pickle's stack");
    refused(b"\x80\x09.", "expected a pickle of protocol 2 to 5, found protocol 9");
    refused(b"", "expected 1 more bytes of the pickle");
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let bytes = archive(&pickle(&state_dict(&[Tensor::matrix("w", "0")])), &[("0", &f32s(&SIX))]);
    for cut in 0..bytes.len() {
        let error = read(&bytes[..cut]).expect_err("it is cut off");
        assert!(error.starts_with("net.pt: "), "{cut}: {error}");
    }
    let error = read(b"\x7fELF\x02\x01\x01\x00rest").expect_err("an unknown format");
    assert!(error.contains("found 12 bytes that begin 7f 45 4c 46 02 01 01 00"), "{error}");
}

#[test]
fn an_archive_has_one_pickle_and_each_name_once() {
    let code = pickle(&state_dict(&[Tensor::matrix("w", "0")]));
    let two = [("a/data.pkl".to_owned(), code.as_slice()), ("b/data.pkl".to_owned(), code.as_slice())];
    let error = read(&support::zip(&two)).expect_err("two pickles");
    assert!(error.contains("expected one data.pkl in the archive, found "), "{error}");

    // The zip writer refuses equal names, so one is changed afterwards.
    let values = f32s(&SIX);
    let entries = [
        ("m/data.pkl".to_owned(), code.as_slice()),
        ("m/data/0".to_owned(), &values),
        ("m/data/1".to_owned(), &values),
    ];
    let mut bytes = support::zip(&entries);
    let places: Vec<usize> = (0..bytes.len() - 8).filter(|at| &bytes[*at..*at + 8] == b"m/data/1").collect();
    places.iter().for_each(|at| bytes[at + 7] = b'0');
    let error = read(&bytes).expect_err("two of a name");
    assert!(error.starts_with("net.pt: ") && error.contains("duplicate"), "{error}");
}
