//! The table of modules lists exactly the files on disk.

use std::fs;
use std::path::Path;

use kvrm_shaders::MODULES;

/// Appends the paths of all files below a folder, with `/` on every system.
fn files(folder: &Path, prefix: &str, paths: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let entry = entry.expect("its entries can be read");
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().expect("entries have a type").is_dir() {
            files(&entry.path(), &format!("{path}/"), paths);
        } else {
            paths.push(path);
        }
    }
}

#[test]
fn the_table_lists_exactly_the_files_on_disk() {
    let mut on_disk = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("wgsl"), "", &mut on_disk);
    on_disk.sort_unstable();
    let listed: Vec<&str> = MODULES.iter().map(|(path, _)| *path).collect();
    assert_eq!(listed, on_disk, "shaders/src/modules.rs lists the files below shaders/wgsl, sorted");
}
