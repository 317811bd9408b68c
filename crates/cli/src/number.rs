//! Numbers on the command line.

/// The paragraph on numbers at the end of help texts.
pub(crate) const HELP: &str = "\
Numbers are decimal, or hexadecimal after 0x, and may contain underscores. The suffixes K, M and G multiply counts by \
powers of 1000 and sizes in bytes by powers of 1024. Addresses take no suffix.";

/// Parses a count. The suffixes K, M and G are powers of 1000.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    with_suffix(text, 1000)
}

/// Parses a size in bytes. The suffixes K, M and G are powers of 1024.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    with_suffix(text, 1024)
}

/// Parses a number of lanes, at least 1, with the suffixes of [`count`].
pub(crate) fn lanes(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err("a machine needs at least 1 lane".to_owned()),
        lanes => Ok(lanes),
    }
}

/// Parses an address, which takes no suffix.
pub(crate) fn address(text: &str) -> Result<u64, String> {
    plain(&text.replace('_', ""))
        .ok_or_else(|| "expected an address below 2^64 such as 0x10000, without a suffix".to_owned())
}

fn with_suffix(text: &str, kilo: u64) -> Result<u64, String> {
    let text = text.replace('_', "");
    let power = match text.bytes().last() {
        Some(b'K' | b'k') => 1,
        Some(b'M' | b'm') => 2,
        Some(b'G' | b'g') => 3,
        _ => 0,
    };
    plain(if power == 0 { &text } else { &text[..text.len() - 1] })
        .and_then(|number| number.checked_mul(kilo.pow(power)))
        .ok_or_else(|| "expected a number from 0 to 2^64 - 1 such as 4096, 0x1000 or 4K".to_owned())
}

/// Parses a number without a suffix. Refuses a plus sign, which the standard library accepts.
fn plain(digits: &str) -> Option<u64> {
    let (digits, radix) = digits.strip_prefix("0x").map_or((digits, 10), |hex| (hex, 16));
    u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::{address, bytes, count, lanes};

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        for parse in [count, bytes, address] {
            assert_eq!(parse("4096"), Ok(4096));
            assert_eq!(parse("0x1_0000"), Ok(0x1_0000));
        }
    }

    #[test]
    fn suffixes_are_powers_of_1000_for_counts_and_of_1024_for_bytes() {
        assert_eq!(count("1k"), Ok(1000));
        assert_eq!(count("16M"), Ok(16_000_000));
        assert_eq!(count("0x10G"), Ok(16_000_000_000));
        assert_eq!(bytes("0x10k"), Ok(0x10 << 10));
        assert_eq!(bytes("16M"), Ok(16 << 20));
        assert_eq!(bytes("3g"), Ok(3 << 30));
    }

    #[test]
    fn texts_that_are_not_numbers_are_refused() {
        for text in ["", "x", "-1", "+1", "0x", "0x+1", "1.5", "K", "99999999999999999999", "20000000000G"] {
            for parse in [count, bytes, address] {
                assert!(parse(text).is_err(), "`{text}` is not a number");
            }
        }
    }

    #[test]
    fn a_machine_has_at_least_one_lane() {
        assert_eq!(lanes("1K"), Ok(1000));
        assert!(lanes("0").is_err_and(|error| error.contains("at least 1 lane")), "no lanes");
    }

    #[test]
    fn addresses_take_no_suffix() {
        assert_eq!(address("0xffff_ffff_ffff_ffff"), Ok(u64::MAX));
        assert!(address("4K").is_err(), "sizes take suffixes, addresses do not");
    }
}
