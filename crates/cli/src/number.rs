//! Numbers on the command line.

/// Parses a decimal or `0x` hexadecimal number, `_` allowed, with K, M, G for powers of 1024 after it.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    let (digits, shift) = match digits.as_bytes().last() {
        Some(b'K' | b'k') => (&digits[..digits.len() - 1], 10),
        Some(b'M' | b'm') => (&digits[..digits.len() - 1], 20),
        Some(b'G' | b'g') => (&digits[..digits.len() - 1], 30),
        _ => (&digits[..], 0),
    };
    let number = match digits.strip_prefix("0x") {
        Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16).ok(),
        _ => digits.parse().ok().filter(|_| !digits.starts_with('+')),
    };
    number
        .and_then(|number| number.checked_mul(1 << shift))
        .ok_or_else(|| "expected a number below 2^64 such as 4096, 0x1000 or 4K".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn numbers_have_bases_and_units() {
        assert_eq!(parse("4096"), Ok(4096));
        assert_eq!(parse("0x1_0000"), Ok(0x1_0000));
        assert_eq!(parse("16M"), Ok(16 << 20));
        assert_eq!(parse("0x10k"), Ok(0x10 << 10));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "x", "-1", "+1", "0x", "0x+1", "1.5", "K", "99999999999999999999", "20000000000G"] {
            assert!(parse(text).is_err(), "`{text}` is no number");
        }
    }
}
