//! Tests of buffers: creation, uploads, downloads and growth.

use kvrm_gpu::{Buffer, Device, Error};

use crate::support::device;

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_new_buffer_is_zero_and_has_whole_words() {
    for (asked, expected) in [(0, 4), (1, 4), (4, 4), (1001, 1004)] {
        let buffer = Buffer::zeroed(device(), "zeros", asked).expect("the buffer is small");
        assert_eq!(buffer.bytes(), expected, "{asked} bytes");
        let contents = device().download(&[(&buffer, 0..expected)]).expect("the device works");
        assert_eq!(contents, [vec![0; expected as usize]], "{asked} bytes");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_buffer_that_is_filled_in_place_has_its_contents() {
    let values: Vec<f32> = (0..10_279).map(|i| i as f32 / 64.0).collect();
    for bytes in [bytemuck::cast_slice(&values), &[1, 2, 3, 4], &[]] as [&[u8]; 3] {
        let buffer = Buffer::in_host_memory(device(), "in place", bytes).expect("the buffer is small");
        let there = device().download(&[(&buffer, 0..bytes.len() as u64)]).expect("the device works");
        assert_eq!(there, [bytes], "{} bytes", bytes.len());
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn one_download_brings_any_ranges_of_several_buffers() {
    let bytes: Vec<u8> = (0..100).collect();
    let words: Vec<u64> = (0..1000).map(|i| i * 0x0101_0101_0101).collect();
    let first = Buffer::with_contents(device(), "first", &bytes).expect("the buffer is small");
    let second = Buffer::with_contents(device(), "second", &words).expect("the buffer is small");
    let contents = device()
        .download(&[
            (&second, 8..24),
            (&first, 0..100),
            (&first, 7..7),
            (&first, 3..5),
            (&second, 7999..8000),
        ])
        .expect("all ranges are valid");
    let all: &[u8] = bytemuck::cast_slice(&words);
    let expected: [&[u8]; 5] = [&all[8..24], &bytes, &[], &[3, 4], &all[7999..]];
    assert_eq!(contents, expected, "in the order of the ranges");
    assert_eq!(device().download(&[]).expect("no range is valid"), Vec::<Vec<u8>>::new(), "no ranges");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn values_are_written_where_they_belong() {
    let buffer = Buffer::zeroed(device(), "values", 24).expect("the buffer is small");
    buffer.upload(8, &[1u32, 2]).expect("the range is valid");
    buffer.upload(12, &[3u64]).expect("the range is valid");
    buffer.upload::<u32>(24, &[]).expect("an empty write at the end is valid");
    let contents = device().download(&[(&buffer, 0..24)]).expect("the device works");
    assert_eq!(
        bytemuck::pod_collect_to_vec::<u8, u32>(&contents[0]),
        [0, 0, 1, 3, 0, 0],
        "the later write replaces the earlier one"
    );
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn an_upload_of_several_pieces_arrives_whole() {
    // Two pieces of 64 MiB. All known devices allow a buffer of this size.
    let words: Vec<u32> = (0..(128 << 20) / 4).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).collect();
    let buffer = Buffer::with_contents(device(), "large", &words).expect("the buffer is within limits");
    let contents = device().download(&[(&buffer, 0..buffer.bytes())]).expect("the device works");
    assert!(
        contents[0] == bytemuck::cast_slice::<u32, u8>(&words),
        "the downloaded words are the uploaded ones"
    );
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_buffer_grows_with_zeros_and_never_shrinks() {
    let mut buffer = Buffer::with_contents(device(), "growing", &[1u32, 2]).expect("the buffer is small");
    assert!(!buffer.grow(8).expect("the buffer is large enough"), "the buffer stays");
    assert!(buffer.grow(16).expect("the buffer is small"), "the buffer is replaced");
    assert!(!buffer.grow(4).expect("the buffer is large enough"), "the buffer does not shrink");
    let contents = device().download(&[(&buffer, 0..16)]).expect("the device works");
    assert_eq!(
        bytemuck::pod_collect_to_vec::<u8, u32>(&contents[0]),
        [1, 2, 0, 0],
        "the old contents, then zeros"
    );
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_buffer_too_large_is_refused_with_the_maximum() {
    let max = device().limits().storage_bytes();
    for bytes in [max + 1, u64::MAX] {
        let error = Buffer::zeroed(device(), "huge", bytes).expect_err("the size exceeds the limit");
        assert_eq!(error, Error::TooLarge { label: "huge".to_owned(), bytes, max }, "of {bytes} bytes");
        assert!(error.to_string().contains(&max.to_string()), "the maximum is in {error}");
    }
    let mut buffer = Buffer::with_contents(device(), "growing", &[7u32]).expect("the buffer is small");
    buffer.grow(max + 1).expect_err("the size exceeds the limit");
    let contents = device().download(&[(&buffer, 0..4)]).expect("the buffer exists");
    assert_eq!(contents, [[7, 0, 0, 0]], "a buffer that could not grow is unchanged");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn ranges_outside_a_buffer_are_refused() {
    let buffer = Buffer::zeroed(device(), "small", 16).expect("the buffer is small");
    for (offset, values) in
        [(16, vec![0u8; 4]), (12, vec![0; 8]), (2, vec![0; 4]), (0, vec![0; 3]), (u64::MAX, vec![0; 4])]
    {
        let error = buffer.upload(offset, &values).expect_err("the range is not valid");
        assert!(
            matches!(error, Error::Range { done: "written", .. }),
            "{} bytes at {offset}: {error}",
            values.len()
        );
    }
    #[expect(clippy::reversed_empty_ranges, reason = "such a range has to be refused, too")]
    for range in [0..17, 17..18, 8..4] {
        let error = device().download(&[(&buffer, range.clone())]).expect_err("the range is not valid");
        assert!(matches!(error, Error::Range { done: "read", .. }), "{range:?}: {error}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn injected_refusals_hit_the_chosen_buffers_only() {
    let device = Device::open(None).expect("the host has an adapter");
    device.refuse_buffers(1, 2);
    let made: Vec<bool> = (0..5).map(|_| Buffer::zeroed(&device, "any", 4).is_ok()).collect();
    assert_eq!((made, device.refusals()), (vec![true, false, false, true, true], 2), "the second and third");
    device.refuse_buffers(0, 1);
    let error = Buffer::zeroed(&device, "any", 4).expect_err("the next buffer is refused");
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
}
