//! Numbers on the command line.

/// What the help of the commands says about numbers.
pub(crate) const HELP: &str = "\
Numbers are decimal, or hexadecimal after 0x, and may contain underscores. K, M and G after a number are powers \
of 1000 where it counts something and powers of 1024 where it is a size in bytes; addresses take none.";

/// Parses a number of things, with K, M, G for powers of 1000 after it.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    with_unit(text, 1000)
}

/// Parses a number of bytes, with K, M, G for powers of 1024 after it.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    with_unit(text, 1024)
}

/// Parses an address, which has no unit.
pub(crate) fn address(text: &str) -> Result<u64, String> {
    plain(&text.replace('_', "")).ok_or_else(|| "expected an address such as 0x10000".to_owned())
}

fn with_unit(text: &str, kilo: u64) -> Result<u64, String> {
    let text = text.replace('_', "");
    let power = match text.bytes().last() {
        Some(b'K' | b'k') => 1,
        Some(b'M' | b'm') => 2,
        Some(b'G' | b'g') => 3,
        _ => 0,
    };
    plain(if power == 0 { &text } else { &text[..text.len() - 1] })
        .and_then(|number| number.checked_mul(kilo.pow(power)))
        .ok_or_else(|| "expected a number below 2^64 such as 4096, 0x1000 or 4K".to_owned())
}

/// Parses a number without a unit. The standard library would also take a plus sign.
fn plain(digits: &str) -> Option<u64> {
    let (digits, radix) = digits.strip_prefix("0x").map_or((digits, 10), |hex| (hex, 16));
    u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::{address, bytes, count};

    #[test]
    fn numbers_have_bases() {
        for parse in [count, bytes, address] {
            assert_eq!(parse("4096"), Ok(4096));
            assert_eq!(parse("0x1_0000"), Ok(0x1_0000));
        }
    }

    #[test]
    fn units_are_powers_of_1000_for_counts_and_of_1024_for_bytes() {
        assert_eq!(count("1k"), Ok(1000));
        assert_eq!(count("16M"), Ok(16_000_000));
        assert_eq!(count("0x10G"), Ok(16_000_000_000));
        assert_eq!(bytes("0x10k"), Ok(0x10 << 10));
        assert_eq!(bytes("16M"), Ok(16 << 20));
        assert_eq!(bytes("3g"), Ok(3 << 30));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "x", "-1", "+1", "0x", "0x+1", "1.5", "K", "99999999999999999999", "20000000000G"] {
            for parse in [count, bytes, address] {
                assert!(parse(text).is_err(), "`{text}` is no number");
            }
        }
    }

    #[test]
    fn an_address_has_no_unit() {
        assert_eq!(address("0xffff_ffff_ffff_ffff"), Ok(u64::MAX));
        assert!(address("4K").is_err(), "bytes have units, addresses have not");
    }
}
