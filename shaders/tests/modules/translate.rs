//! Naga translates every module to SPIR-V, Metal and HLSL.

use std::collections::BTreeSet;

use kvrm_shaders::interface::kernels;
use kvrm_shaders::kernel::KernelInfo;
use kvrm_shaders::variants::SimdUnit;
use kvrm_shaders::{FAMILIES, Family, Linked, MODULES, Substitution, link};
use kvrm_testkit::languages;

use crate::loops;
use crate::support::{Checked, all, is_kernel, name};

/// Translates a module to every language.
fn translate(path: &str, checked: &Checked) {
    languages::translate(path, &checked.module, &checked.info);
}

#[test]
fn every_module_is_translated() {
    for (path, checked) in all() {
        translate(path, &checked);
    }
}

/// The families whose variants differ only in the number of bindings of a buffer.
const POOLS: [&str; 2] = ["FramePools", "SynapseParts"];

/// Returns substitutions that combine every two variants of families that are not in [`POOLS`], with the first variants
/// of all other families; and each variant of a family in [`POOLS`] with the first and with the last variants of the
/// others.
fn variants_of(kernel: &KernelInfo) -> BTreeSet<Vec<Substitution>> {
    let (pools, others): (Vec<&Family>, Vec<&Family>) =
        kernel.families().partition(|family| POOLS.contains(&family.name));
    let last: Vec<Substitution> = others.iter().flat_map(|family| last_of(family)).copied().collect();
    let mut variants = BTreeSet::from([Vec::new(), last.clone()]);
    for (_, substitutions) in pools.iter().flat_map(|family| family.variants) {
        variants.extend([substitutions.to_vec(), [substitutions, &last[..]].concat()]);
    }
    for (index, family) in others.iter().enumerate() {
        for (_, first) in family.variants {
            variants.insert(first.to_vec());
            for (_, second) in others[index + 1..].iter().flat_map(|family| family.variants) {
                variants.insert([*first, *second].concat());
            }
        }
    }
    variants
}

fn last_of(family: &Family) -> &'static [Substitution] {
    family.variants.last().expect("a family has variants").1
}

/// Asserts that the linker finds the name of every buffer that an entry point uses: bind groups have just the buffers
/// whose names it finds.
fn assert_uses_are_found(what: &str, linked: &Linked, checked: &Checked) {
    for (index, entry) in checked.module.entry_points.iter().enumerate() {
        let info = checked.info.get_entry_point(index);
        for (handle, variable) in checked.module.global_variables.iter() {
            let name = variable.name.as_deref().unwrap_or_default();
            if variable.binding.is_some() && !info[handle].is_empty() {
                assert!(linked.uses(name), "`{}` of {what} uses `{name}`", entry.name);
            }
        }
    }
}

#[test]
fn every_kernel_is_translated_in_its_variants() {
    for kernel in kernels() {
        for substitutions in variants_of(kernel) {
            let linked = link(kernel.module, &substitutions).expect("all variants declare the same names");
            let what = format!("{} with {substitutions:?}", kernel.module);
            let checked = Checked::new(linked.clone());
            assert_uses_are_found(&what, &linked, &checked);
            loops::assert_counts(&what, &linked, &checked);
            translate(&what, &checked);
        }
    }
}

#[test]
fn a_kernel_is_linked_with_modules_of_its_families_and_of_no_others() {
    for kernel in kernels() {
        let mut linked = BTreeSet::new();
        for substitutions in variants_of(kernel) {
            let variant = link(kernel.module, &substitutions).expect("all variants declare the same names");
            linked.extend(variant.modules().map(name));
        }
        for family in FAMILIES {
            let is_linked =
                family.variants.iter().flat_map(|(_, all)| *all).any(|(_, to)| linked.contains(*to));
            let is_listed = kernel.families.contains(&family.name);
            assert_eq!(is_linked, is_listed, "{} and {}", kernel.module, family.name);
        }
    }
}

#[test]
fn the_simd_level_of_a_unit_is_its_index() {
    for unit in SimdUnit::ALL {
        let linked =
            link("machine::interpreter", unit.substitutions()).expect("all units declare the same names");
        let level = format!("const SIMD_LEVEL = {}u;", *unit as u32);
        assert!(linked.source.contains(&level), "the level of {unit:?} is its index");
    }
}

#[test]
fn every_module_with_an_entry_point_is_in_the_table_of_kernels() {
    let with_entries: BTreeSet<String> =
        MODULES.iter().filter(|(_, text)| is_kernel(text)).map(|(path, _)| name(path)).collect();
    let listed: BTreeSet<String> = kernels().map(|kernel| kernel.module.to_owned()).collect();
    assert_eq!(listed, with_entries, "kernels are missing or too many; run `cargo xtask codegen`");
}

#[test]
fn kernels_are_modules_with_entry_points() {
    for (path, checked) in all() {
        let text = MODULES.iter().find(|(known, _)| *known == path).expect("the module is in the table").1;
        // An entry point is never imported, so one in the source is the module's own.
        assert_eq!(is_kernel(text), !checked.module.entry_points.is_empty(), "of {path}");
    }
}
