//! The text of simple values in the trace of system calls.

use super::trace_flags as flags;

/// The number of bytes of a string that are shown, and of the elements of an array, as in strace.
pub(super) const SHOWN: usize = 32;

/// Returns bytes as a string in quotation marks. Dots follow if there were more.
pub(super) fn quoted(bytes: &[u8], is_cut: bool) -> String {
    let mut text = String::from("\"");
    for (place, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\r' => text.push_str("\\r"),
            0x0b => text.push_str("\\v"),
            0x0c => text.push_str("\\f"),
            b' '..=b'~' => text.push(char::from(*byte)),
            byte => {
                // A digit that follows would belong to the number.
                let is_digit_next = bytes.get(place + 1).is_some_and(u8::is_ascii_digit);
                text.push_str(&if is_digit_next { format!("\\{byte:03o}") } else { format!("\\{byte:o}") });
            }
        }
    }
    text.push('"');
    if is_cut {
        text.push_str("...");
    }
    text
}

pub(super) fn pointer(address: u64) -> String {
    if address == 0 { "NULL".to_owned() } else { format!("{address:#x}") }
}

/// Returns a limit, in units of 1024 where that is shorter.
pub(super) fn limit(value: u64) -> String {
    match value {
        u64::MAX => "RLIM64_INFINITY".to_owned(),
        value if value > 1024 && value.is_multiple_of(1024) => format!("{}*1024", value / 1024),
        value => value.to_string(),
    }
}

/// Returns the mode of a file: its type and its permissions.
pub(super) fn file_mode(mode: u32) -> String {
    let kind = flags::one(flags::FILE_TYPE, (mode & 0o170_000).into());
    format!("{kind}|0{:03o}", mode & 0o7777)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_as_in_c() {
        assert_eq!(quoted(b"a\"\\\n\t", false), r#""a\"\\\n\t""#, "characters with a letter");
        assert_eq!(
            quoted(b"\x01\x7f\x001", true),
            r#""\1\177\0001"..."#,
            "numbers, of three digits before a digit"
        );
        assert_eq!(
            [limit(8 << 20), limit(1024), limit(u64::MAX)],
            ["8192*1024", "1024", "RLIM64_INFINITY"],
            "limits"
        );
        assert_eq!(file_mode(0o100_644), "S_IFREG|0644", "a file");
    }
}
