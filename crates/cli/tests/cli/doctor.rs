//! `kvrm doctor`.

use serde_json::Value;

use crate::support::{kvrm, without_drivers};

/// Parses the output of `--json`.
fn json(stdout: &str) -> Value {
    serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

#[test]
fn a_host_without_drivers_is_told_what_to_install() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let run = without_drivers(&["doctor"]);
    assert_eq!((run.status, &*run.stderr), (1, ""), "nothing can be used");
    assert!(run.stdout.contains("mesa-vulkan-drivers"), "{}", run.stdout);
    assert!(run.stdout.ends_with("\nKVRM can only use the CPU.\n"), "{}", run.stdout);
    let run = without_drivers(&["doctor", "--json"]);
    assert_eq!((run.status, &*run.stderr), (1, ""), "the same");
    let json = json(&run.stdout);
    assert_eq!((&json["usable"], &json["chosen"]), (&false.into(), &Value::Null), "{json}");
    assert!(json["error"].as_str().is_some_and(|error| error.contains("mesa-vulkan-drivers")), "{json}");
}

#[test]
fn an_adapter_that_does_not_exist_is_not_usable() {
    let run = kvrm(&["doctor", "--adapter", "Voodoo"]);
    assert_eq!((run.status, &*run.stderr), (1, ""), "none is called that");
    assert!(run.stdout.contains("none can be used: "), "{}", run.stdout);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_healthy_host_is_described() {
    let run = kvrm(&["doctor"]);
    assert_eq!((run.status, &*run.stderr), (0, ""), "{}", run.stdout);
    assert!(run.stdout.ends_with("\nKVRM can use a GPU.\n"), "{}", run.stdout);
    let json = json(&kvrm(&["doctor", "--json"]).stdout);
    assert_eq!((&json["usable"], &json["error"]), (&true.into(), &Value::Null), "{json}");
    let name = json["chosen"]["name"].as_str().expect("an adapter is chosen");
    assert!(run.stdout.contains(&format!("tests of {name}")), "{}", run.stdout);
    let index = &json["chosen"]["index"];
    let adapter = &json["adapters"][index.as_u64().expect("an index") as usize];
    assert_eq!(adapter["name"], name, "the chosen adapter is listed");
    assert_eq!(&adapter["index"], index, "with its index");
    assert!(
        adapter["pci"].is_null() || adapter["pci"].as_str().is_some_and(|pci| pci.contains(':')),
        "{adapter}"
    );
    // The index chooses the adapter, too.
    let chosen = kvrm(&["doctor", "--json", "--adapter", &index.to_string()]);
    assert!(chosen.stdout.contains(&format!("\"index\":{index}")), "{}", chosen.stdout);
    assert_eq!(adapter["int64"], true, "no other is chosen");
    assert!(adapter["limits"]["storage_bytes"].as_u64() > Some(1 << 20), "{adapter}");
}
