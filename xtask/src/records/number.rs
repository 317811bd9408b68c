//! The format of numbers in tables.

/// Formats a number with `digits` significant digits. All digits before the decimal point are shown, in groups of three
/// separated by commas. Trailing zeros of the fraction are left out.
pub(super) fn format(value: f64, digits: usize) -> String {
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let decimals = usize::try_from(digits as i32 - 1 - magnitude).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}", grouped(whole))
}

/// Inserts a comma before every group of three digits.
fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn numbers_are_grouped_and_cut() {
        for (value, digits, expected) in [
            (0.0, 3, "0"),
            (4.1, 3, "4.1"),
            (4.0871, 3, "4.09"),
            (130.14, 4, "130.1"),
            (130.14, 3, "130"),
            (999.96, 4, "1,000"),
            (3602.4, 3, "3,602"),
            (298_880_970.0, 3, "298,880,970"),
            (0.01712, 2, "0.017"),
            (-1234.5, 3, "-1,234"),
            (100.0, 3, "100"),
        ] {
            assert_eq!(format(value, digits), expected, "{value} with {digits} digits");
        }
    }
}
