//! Tests of NumPy's files and safetensors: written files read back unchanged, and invalid files are refused.

use std::collections::BTreeMap;

use kvrm_convert::{Format, read, write};
use kvrm_models::{Dtype, NamedTensor, TensorFile};
use proptest::prelude::*;

use crate::support;

/// Returns an array as NumPy writes it.
fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[track_caller]
fn refused(bytes: &[u8], expected: &str) {
    let error = read("net.npy", bytes).expect_err("the file is wrong").to_string();
    assert!(
        error.starts_with("net.npy: tensor `net`: ") && error.contains(expected),
        "{expected:?} in {error:?}"
    );
}

#[test]
fn arrays_of_either_order_are_read() {
    let data: Vec<u8> = (0..6_u8).flat_map(|value| f32::from(value).to_le_bytes()).collect();
    let c = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", &data);
    let content = read("net.npy", &c).expect("an honest file");
    assert_eq!(content.tensors[0].dims, [2, 3], "its shape");
    assert_eq!(content.tensors[0].values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "row by row");
    let fortran = npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2L, 3L)}", &data);
    let content = read("net.npy", &fortran).expect("an honest file");
    assert_eq!(content.tensors[0].values, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0], "column by column");
    let big: Vec<u8> = [1.5_f64, -2.0].iter().flat_map(|value| value.to_be_bytes()).collect();
    let content = read("net.npy", &npy("{'descr': '>f8', 'fortran_order': False, 'shape': (2,)}", &big));
    assert_eq!(content.expect("an honest file").tensors[0].values, [1.5, -2.0], "another byte order");
    let content = read("net.npy", &npy("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", &data[..4]));
    assert_eq!(content.expect("an honest file").tensors[0].dims, [0; 0], "a number alone");
}

#[test]
fn wrong_arrays_are_refused() {
    let with = |descr: &str, shape: &str| {
        npy(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}"), &[0; 24])
    };
    refused(&with("<f4", "(2, 4)"), "expected 32 bytes of data for [2, 4] of f32, found 24");
    refused(&with("<f4", "(5,)"), "expected 20 bytes of data for [5] of f32, found 24");
    refused(&with("<f4", "(1152921504606846976,)"), "found 24");
    refused(
        &with("<f4", "(1152921504606846976, 1152921504606846976)"),
        "expected a size of less than 2^64 bytes",
    );
    refused(&with("<f4", "(0, 18446744073709551615, 18446744073709551615)"), "found");
    refused(&with("<f4", "(-1,)"), "found the dimension \"-1\"");
    refused(&with("<i8", "(3,)"), "expected values of type f2, f4 or f8, found `<i8`");
    refused(&with("|O", "(3,)"), "found `|O`");
    refused(&with("é4", "(3,)"), "expected values of type f2, f4 or f8");
    refused(&with("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 6)"), "expected at most 8 dimensions, found 9");
    refused(
        &npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", &[]),
        "an array of records",
    );
    refused(&npy("{'descr': '<f4', 'shape': (1,)}", &[0; 4]), "not all of them");
    refused(&npy("{'descr': '<f4', 'descr': '<f4'}", &[]), "the duplicate key \"descr\"");
    refused(&npy("{'colour': 'red'}", &[]), "the key \"colour\"");
    refused(&npy("__import__('os').system('true')", &[]), "no `{`");
    refused(b"\x93NUMPY\x09\x00", "expected version 1.0, 2.0 or 3.0, found 9.0");
    refused(
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
        "expected a header of at most 65536 bytes, found 4294967295",
    );
    let nan = f32::NAN.to_le_bytes();
    refused(&npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", &nan), "found NaN at index 0");
    let whole = with("<f4", "(6,)");
    for cut in 6..whole.len() {
        refused(&whole[..cut], "found ");
    }
}

#[test]
fn errors_of_archives_name_the_wrong_array() {
    let good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", &[0; 4]);
    let zip = support::zip(&[("a.npy".to_owned(), &good), ("b.npy".to_owned(), &good[..20])]);
    let error = read("net.npz", &zip).expect_err("the second is cut off").to_string();
    assert!(error.starts_with("net.npz: tensor `b`: expected a NumPy header"), "{error}");
    let zip = support::zip(&[("notes.txt".to_owned(), b"no array")]);
    let error = read("net.npz", &zip).expect_err("no array").to_string();
    assert_eq!(
        error, "net.npz: tensor `notes.txt`: expected a .npy file in the archive, found another one",
        "why"
    );
}

#[test]
fn a_zip_bomb_is_refused_before_it_is_inflated() {
    use std::io::{Cursor, Write};
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    zip.start_file("bomb.npy", options).expect("a name");
    for _ in 0..65 {
        zip.write_all(&vec![0; 1 << 20]).expect("memory");
    }
    let bytes = zip.finish().expect("memory").into_inner();
    assert!(bytes.len() < 1 << 20, "it is small");
    let error = read("net.npz", &bytes).expect_err("it is large").to_string();
    let expected =
        "net.npz: tensor `bomb.npy`: expected at most 67108864 more bytes when inflated, found 68157440";
    assert_eq!(error, expected, "the message states the limit");
}

#[test]
fn errors_of_write_name_the_tensor() {
    let content = |names: &[&str]| {
        let tensor = |name: &&str| {
            let name = (*name).to_owned();
            NamedTensor { name, dims: vec![1], dtype: Dtype::F32, values: vec![70_000.0] }
        };
        TensorFile { tensors: names.iter().map(tensor).collect(), metadata: BTreeMap::new() }
    };
    let wrong =
        |format, content, dtype| write("out", format, &content, dtype).expect_err("it is wrong").to_string();
    let error = wrong(Format::Npy, content(&["a", "b"]), Dtype::F32);
    assert_eq!(
        error, "out: expected one tensor for .npy, found 2; use --flat to join them, or write .npz",
        "how"
    );
    for format in [Format::Npy, Format::Npz, Format::Safetensors] {
        let error = wrong(format, content(&["a"]), Dtype::F16);
        assert_eq!(
            error, "out: tensor `a`: expected finite values that an f16 can hold, found 70000 at index 0",
            "why"
        );
    }
    for format in [Format::Npz, Format::Safetensors] {
        let error = wrong(format, content(&["a", "a"]), Dtype::F32);
        assert!(error.starts_with("out: tensor `a"), "{error}");
    }
}

/// Generates tensors of any shape, with values that fit into an f16.
fn tensors() -> impl Strategy<Value = Vec<NamedTensor>> {
    let dims = proptest::collection::vec(0_usize..5, 0..4);
    let tensor = (dims, any::<u16>()).prop_map(|(dims, seed)| {
        let len = dims.iter().product();
        let values = (0..len).map(|index| ((index * 37 + usize::from(seed)) % 2_048) as f32 / 8.0 - 100.0);
        NamedTensor { name: String::new(), values: values.collect(), dims, dtype: Dtype::F32 }
    });
    proptest::collection::vec(tensor, 1..6).prop_map(|mut tensors| {
        for (index, tensor) in tensors.iter_mut().enumerate() {
            tensor.name = format!("layer.{index}.weight");
        }
        tensors
    })
}

fn same(left: &TensorFile, right: &TensorFile) -> bool {
    let plain = |content: &TensorFile| -> Vec<(String, Vec<usize>, Vec<f32>)> {
        content.tensors.iter().map(|t| (t.name.clone(), t.dims.clone(), t.values.clone())).collect()
    };
    let (mut left, mut right) = (plain(left), plain(right));
    // Empty tensors have the same offset in a safetensors file, so their order is undefined.
    left.sort_by(|a, b| a.0.cmp(&b.0));
    right.sort_by(|a, b| a.0.cmp(&b.0));
    left == right
}

proptest! {
    #[test]
    fn tensors_survive_every_format(tensors in tensors(), half: bool) {
        let dtype = if half { Dtype::F16 } else { Dtype::F32 };
        let original = TensorFile { tensors, metadata: BTreeMap::new() };
        let npz = write("a.npz", Format::Npz, &original, dtype).expect("they fit");
        let from_npz = read("a.npz", &npz).expect("just written");
        let safetensors = write("a.safetensors", Format::Safetensors, &from_npz, dtype).expect("they fit");
        let from_safetensors = read("a.safetensors", &safetensors).expect("just written");
        let npz_again = write("a.npz", Format::Npz, &from_safetensors, dtype).expect("they fit");
        prop_assert!(same(&original, &from_npz), "npz");
        prop_assert!(same(&original, &from_safetensors), "safetensors");
        prop_assert!(same(&original, &read("a.npz", &npz_again).expect("just written")), "npz again");
        for tensor in &original.tensors {
            let one = TensorFile { tensors: vec![tensor.clone()], metadata: BTreeMap::new() };
            let npy = write("a.npy", Format::Npy, &one, dtype).expect("they fit");
            let back = read("a.npy", &npy).expect("just written");
            prop_assert_eq!(&back.tensors[0].values, &tensor.values);
            prop_assert_eq!(&back.tensors[0].dims, &tensor.dims);
        }
    }

    /// A changed byte never causes a panic, and every error names the file.
    #[test]
    fn changed_bytes_never_panic(at: u16, byte: u8, kind in 0..4) {
        let tensor = NamedTensor { name: "w".to_owned(), dims: vec![2, 3], dtype: Dtype::F32, values: vec![1.0; 6] };
        let content = TensorFile { tensors: vec![tensor], metadata: BTreeMap::new() };
        let torch = support::pickle(&support::state_dict(&[support::Tensor::matrix("w", "0")]));
        let mut bytes = match kind {
            0 => write("a", Format::Npy, &content, Dtype::F32).expect("they fit"),
            1 => write("a", Format::Npz, &content, Dtype::F32).expect("they fit"),
            2 => write("a", Format::Safetensors, &content, Dtype::F32).expect("they fit"),
            _ => support::archive(&torch, &[("0", &support::f32s(&[1.0; 6]))]),
        };
        let place = usize::from(at) % bytes.len();
        bytes[place] = byte;
        if let Err(error) = read("a", &bytes) {
            prop_assert!(error.to_string().starts_with("a: "), "{}", error);
        }
    }
}
