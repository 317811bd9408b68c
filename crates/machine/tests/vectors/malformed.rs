//! Tests of lines that are not valid vectors.

use kvrm_machine::vectors::parse;

const GOOD: &str = r#"{"name":"n","pc":"0x10000","code":["d503201f"],"steps":1}"#;

/// Returns the valid line with one piece replaced.
fn with(piece: &str, replacement: &str) -> String {
    assert!(GOOD.contains(piece), "the valid line contains {piece}");
    GOOD.replace(piece, replacement)
}

/// Returns the valid line with one more field.
fn and(field: &str) -> String {
    format!("{},{field}}}", &GOOD[..GOOD.len() - 1])
}

#[test]
fn the_valid_line_is_accepted() {
    assert_eq!(
        parse("file", GOOD).map(|vectors| vectors.len()).map_err(|error| error.to_string()),
        Ok(1),
        "one vector"
    );
}

#[test]
fn errors_name_file_line_and_problem() {
    let hex = "hexadecimal number of up to 64 bits";
    let register = "is not a register number from 0 to 30";
    let bytes = "is not a sequence of bytes of two hexadecimal digits each";
    let leaves = "leaves the 48-bit address space";
    let cases = [
        // Not exactly one JSON object.
        ("x".to_owned(), "expected value"),
        ("{".to_owned(), "EOF"),
        ("[]".to_owned(), "invalid length 0"),
        ("null".to_owned(), "invalid type"),
        ("17".to_owned(), "invalid type"),
        (format!("{GOOD} {GOOD}"), "trailing characters"),
        (format!("{GOOD},"), "trailing characters"),
        // Missing, unknown and duplicate fields.
        (with(r#""name":"n","#, ""), "missing field `name`"),
        (with(r#""pc":"0x10000","#, ""), "missing field `pc`"),
        (with(r#""code":["d503201f"],"#, ""), "missing field `code`"),
        (with(r#","steps":1"#, ""), "missing field `steps`"),
        (and(r#""comment":"c""#), "unknown field `comment`"),
        (and(r#""expected":{}"#), "unknown field `expected`"),
        (and(r#""init":{"r":{}}"#), "unknown field `r`"),
        (and(r#""final":{"x":{},"flags":"0"}"#), "unknown field `flags`"),
        (and(r#""init":{"mem":[{"at":"0","bytes":"00","length":1}]}"#), "unknown field `length`"),
        (and(r#""init":{"mem":[{"at":"0"}]}"#), "missing field `bytes`"),
        (and(r#""pc":"0""#), "duplicate field `pc`"),
        (and(r#""init":{"sp":"0","sp":"0"}"#), "duplicate field `sp`"),
        // Types.
        (with(r#""n""#, "1"), "invalid type"),
        (with(r#""0x10000""#, "65536"), "invalid type"),
        (with(r#"["d503201f"]"#, r#""d503201f""#), "invalid type"),
        (with(r#""steps":1"#, r#""steps":"1""#), "invalid type"),
        (with(r#""steps":1"#, r#""steps":-1"#), "invalid value"),
        (with(r#""steps":1"#, r#""steps":1.5"#), "invalid type"),
        (with(r#""steps":1"#, r#""steps":18446744073709551616"#), "invalid type"),
        (and(r#""exact":"true""#), "invalid type"),
        (and(r#""code_writable":1"#), "invalid type"),
        (and(r#""init":null"#), "invalid type"),
        // Numbers.
        (with("0x10000", ""), hex),
        (with("0x10000", "0x"), hex),
        (with("0x10000", "0x1000g"), hex),
        (with("0x10000", "+10000"), hex),
        (with("0x10000", "0x+10000"), hex),
        (with("0x10000", "-10000"), hex),
        (with("0x10000", "0x1_0000"), hex),
        (with("0x10000", " 0x10000"), hex),
        (with("0x10000", "0X10000"), hex),
        (with("0x10000", "0x0x10000"), hex),
        (with("0x10000", "0x10000000000000000"), hex),
        (with("d503201f", "1d503201f"), "up to 32 bits"),
        (and(r#""init":{"fpcr":"0x100000000"}"#), "up to 32 bits"),
        (and(r#""final":{"v":{"0":"0x100000000000000000000000000000000"}}"#), "up to 128 bits"),
        (and(r#""init":{"nzcv":"0x10"}"#), "`nzcv` is 0x10, expected at most four bits"),
        (and(r#""final":{"nzcv":"0xffffffff"}"#), "`nzcv` is 0xffffffff, expected at most four bits"),
        // Registers.
        (and(r#""init":{"x":{"31":"0"}}"#), register),
        (and(r#""final":{"x":{"x1":"0"}}"#), register),
        (and(r#""final":{"x":{"-1":"0"}}"#), register),
        (and(r#""final":{"x":{"+1":"0"}}"#), register),
        (and(r#""final":{"x":{"":"0"}}"#), register),
        (and(r#""final":{"x":{"0x1":"0"}}"#), register),
        (and(r#""final":{"x":{"1":"0","1":"1"}}"#), ""),
        (and(r#""final":{"x":{"1":"0","01":"1"}}"#), ""),
        (and(r#""final":{"v":{"32":"0"}}"#), "is not a register number from 0 to 31"),
        // Bytes.
        (and(r#""init":{"mem":[{"at":"0","bytes":"0"}]}"#), bytes),
        (and(r#""init":{"mem":[{"at":"0","bytes":"001"}]}"#), bytes),
        (and(r#""init":{"mem":[{"at":"0","bytes":"0g"}]}"#), bytes),
        (and(r#""init":{"mem":[{"at":"0","bytes":"+1"}]}"#), bytes),
        (and(r#""init":{"mem":[{"at":"0","bytes":"0x00"}]}"#), bytes),
        (and(r#""init":{"mem":[{"at":"0","bytes":"00 00"}]}"#), bytes),
        (and("\"final\":{\"mem\":[{\"at\":\"0\",\"bytes\":\"\u{e9}\"}]}"), bytes),
        // Values that are invalid, or invalid together.
        (with(r#"["d503201f"]"#, "[]"), "`code` is empty"),
        (with("0x10000", "0x10002"), "`pc` is 0x10002, expected a multiple of 4"),
        (with("0x10000", "0x1000000000000"), leaves),
        (with("0x10000", "0xfffffffffffffffc"), leaves),
        (with(r#"0x10000","code":["#, r#"0xfffffffffffc","code":["0","#), leaves),
        (and(r#""init":{"mem":[{"at":"0xffffffffffff","bytes":"0000"}]}"#), leaves),
        (and(r#""init":{"mem":[{"at":"0xffffffffffffffff","bytes":"00"}]}"#), leaves),
        (and(r#""final":{"mem":[{"at":"0xffffffffffff","bytes":"0000"}]}"#), leaves),
        (and(r#""final":{"mem":[{"at":"0xffffffffffffffff","bytes":"00"}]}"#), leaves),
        (with(r#""steps":1"#, r#""steps":16777217"#), "`steps` is 16777217, expected at most 16777216"),
        (and(r#""init":{"pc":"0"}"#), "allowed only in `final`"),
        (and(r#""init":{"stop":"budget"}"#), "allowed only in `final`"),
        (and(r#""final":{"stop":"halted"}"#), "unknown variant `halted`"),
        (and(r#""final":{"stop":"out-of-frames"}"#), "unknown variant `out-of-frames`"),
        (and(r#""features":["sve"]"#), "unknown feature `sve`"),
        (and(r#""features":["lse","LSE"]"#), "unknown feature `LSE`"),
        (and(r#""features":"lse""#), "invalid type"),
    ];
    let mut wrong = Vec::new();
    for (line, problem) in cases {
        // The bad line is the third of four; the second is blank.
        let text = format!("{GOOD}\n\n{line}\n{GOOD}\n");
        let Err(error) = parse("folder/file.jsonl", &text) else {
            wrong.push(format!("{line} is accepted"));
            continue;
        };
        assert_eq!((&*error.file, error.line), ("folder/file.jsonl", 3), "{line}");
        let message = error.to_string();
        assert!(message.starts_with("folder/file.jsonl:3: "), "{message}");
        if !message.contains(problem) {
            wrong.push(format!("{line}: `{message}` does not contain `{problem}`"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn errors_do_not_include_the_line_number_of_the_parser() {
    let text = format!("{GOOD}\n{}\n", with(r#""name":"n","#, ""));
    let message = parse("file", &text).unwrap_err().to_string();
    assert_eq!(message, "file:2: missing field `name`, at column 46", "the error message");
}

#[test]
fn the_error_is_that_of_the_first_bad_line() {
    let error = parse("file", &format!("{GOOD}\nbad\nworse\n")).unwrap_err();
    assert_eq!(error.line, 2, "{error}");
}
