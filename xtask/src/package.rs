//! `cargo xtask package`: makes the packages that would be published, as `cargo publish` does, and lists them.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::metadata;
use crate::root::root;
use crate::steps::cargo;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also compile each package from what it contains, which takes minutes.
    #[arg(long)]
    verify: bool,
    /// Use the network, for dependencies that were never downloaded.
    #[arg(long)]
    online: bool,
}

/// The names of the packages of the workspace.
#[derive(Debug, PartialEq, Eq)]
struct Packages {
    published: Vec<String>,
    /// Those with `publish = false`.
    others: Vec<String>,
}

/// Packs all published packages, in their order of dependency. Changes that are not committed are packed, too.
pub(crate) fn run(args: &Args) -> Result<()> {
    let packages = packages(&metadata::read(&root().join("Cargo.toml"), &["--no-deps"])?)?;
    let arguments = arguments(args, &packages);
    println!("==> packages: cargo {}", arguments.join(" "));
    let status = cargo().current_dir(root()).args(&arguments).status().context("cannot run cargo package")?;
    ensure!(status.success(), "a package cannot be made; the message above names it");
    println!("published: {}", packages.published.join(", "));
    println!("not published: {}", packages.others.join(", "));
    Ok(())
}

/// Reads the packages from the output of `cargo metadata`.
fn packages(metadata: &Value) -> Result<Packages> {
    let mut packages = Packages { published: Vec::new(), others: Vec::new() };
    for package in metadata::list(metadata, "packages")? {
        let name = metadata::string(package, "name")?;
        // `null` means every registry, a list the named ones, and an empty list none.
        let is_published = package["publish"].as_array().is_none_or(|registries| !registries.is_empty());
        let list = if is_published { &mut packages.published } else { &mut packages.others };
        list.push(name.to_owned());
    }
    Ok(packages)
}

/// Returns the arguments with which cargo packs the published packages.
fn arguments(args: &Args, packages: &Packages) -> Vec<String> {
    let mut arguments: Vec<String> = ["package", "--workspace", "--allow-dirty"].map(str::to_owned).into();
    if !args.verify {
        arguments.push("--no-verify".to_owned());
    }
    if !args.online {
        arguments.push("--offline".to_owned());
    }
    for other in &packages.others {
        arguments.extend(["--exclude".to_owned(), other.clone()]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_that_are_not_published_are_left_out() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "a", "publish": null },
            { "name": "b", "publish": [] },
            { "name": "c", "publish": ["registry"] },
        ] });
        let packages = packages(&metadata).expect("the metadata is complete");
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        assert_eq!(
            packages,
            Packages { published: names(["a", "c"]), others: vec!["b".to_owned()] },
            "only an empty list of registries forbids publishing"
        );
        let args = Args { verify: false, online: false };
        assert_eq!(
            arguments(&args, &packages).join(" "),
            "package --workspace --allow-dirty --no-verify --offline --exclude b",
            "quick and without the network by default"
        );
        let args = Args { verify: true, online: true };
        assert_eq!(
            arguments(&args, &packages).join(" "),
            "package --workspace --allow-dirty --exclude b",
            "compiled, and with the network if asked for"
        );
    }
}
