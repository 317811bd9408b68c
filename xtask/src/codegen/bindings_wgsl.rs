//! WGSL modules for buffers that are split over several bindings, because a binding cannot be as large as the memory of
//! a GPU.

use std::fmt::Write as _;

use anyhow::Result;

use super::banner::BANNER;

/// A buffer that is split over several.
struct SplitBuffer {
    /// The number of buffers.
    count: u32,
    /// Whether they are the elements of a `binding_array`, and do not have a binding each.
    is_array: bool,
    /// The name of the bindings, without their number.
    name: &'static str,
    doc: &'static str,
    /// The WGSL type of an element.
    element: &'static str,
    /// The number of the first binding.
    first: u32,
    /// The number of the binding of an element, as an expression of the parameters.
    binding: &'static str,
    /// The index of the element in its binding.
    index: &'static str,
}

impl SplitBuffer {
    /// Appends the declarations of the bindings.
    fn declare(&self, out: &mut String) -> Result<()> {
        let Self { count, name, doc, element, first, .. } = self;
        if self.is_array {
            writeln!(out, "\n/// One of the buffers.\nstruct Part {{")?;
            writeln!(out, "    /// Its elements.\n    elements: array<{element}>,\n}}")?;
            writeln!(out, "\n/// {doc}")?;
            let ty = format!("binding_array<Part, {count}>");
            writeln!(out, "@group(0) @binding({first}) var<storage, read_write> {name}: {ty};")?;
            return Ok(());
        }
        for number in 0..*count {
            let binding = first + number;
            writeln!(out, "\n/// {doc}")?;
            writeln!(
                out,
                "@group(0) @binding({binding}) var<storage, read_write> {name}_{number}: array<{element}>;"
            )?;
        }
        Ok(())
    }

    /// Appends a function on one element, which `body` calls `ELEMENT`.
    fn function(&self, out: &mut String, doc: &str, signature: &str, body: &str) -> Result<()> {
        let Self { count, name, binding, index, .. } = self;
        write!(out, "\n/// {doc}\nfn {signature} {{\n    let index = {index};\n")?;
        if self.is_array {
            let element = format!("{name}[{binding}].elements[index]");
            write!(out, "    {}\n}}\n", body.replace("ELEMENT", &element))?;
            return Ok(());
        }
        let body = |number: u32| body.replace("ELEMENT", &format!("{name}_{number}[index]"));
        if *count == 1 {
            write!(out, "    {}\n}}\n", body(0))?;
            return Ok(());
        }
        writeln!(out, "    switch {binding} {{")?;
        for number in 1..*count {
            writeln!(out, "        case {number}u: {{ {} }}", body(number))?;
        }
        write!(out, "        default: {{ {} }}\n    }}\n}}\n", body(0))?;
        Ok(())
    }
}

/// Returns the module for the frames of a machine in `COUNT` bindings.
pub(super) fn frames<const COUNT: u32>() -> Result<String> {
    frames_in(COUNT, false)
}

/// Returns the module for the frames of a machine in a `binding_array`. It has as many elements as handles can select.
pub(super) fn frames_array() -> Result<String> {
    frames_in(128, true)
}

/// Returns the module for the frames of a machine in `count` pools.
///
/// A word is a pair of 32-bit halves; one access reads or writes both. Numbers of words of all frames would not fit 32
/// bits, so an access has the handle of a frame and a word of it. The permissions in an entry of the TLB share the word
/// with the handle.
fn frames_in(count: u32, is_array: bool) -> Result<String> {
    let pools = if is_array { "that are elements of a `binding_array`" } else { "of one binding each" };
    let mut out = format!("//! Frames, in pools {pools}. {BANNER}; do not edit.\n");
    if is_array {
        out += "\nenable wgpu_binding_array;\n";
    }
    if count > 1 {
        out += "\n/// Binary logarithm of the number of words of a pool. Only the last pool in use may have fewer.\n";
        out += "override POOL_SHIFT: u32 = 28u;\n";
    }
    out += "\n/// The handle of the frame with a number: from bit 9 on the number of the frame in its pool, and from bit 2 on the\n";
    out += "/// number of the pool. The lowest two bits are free for others.\n";
    out += "fn frame_handle(number: u32) -> u32 {\n";
    out += if count == 1 {
        "    return number << 9u;\n}\n"
    } else {
        "    let words = (number << 9u) & ((1u << POOL_SHIFT) - 1u);\n    \
         return words | ((number >> (POOL_SHIFT - 9u)) << 2u);\n}\n"
    };
    out += "\n/// The number of the frame with a handle.\nfn frame_number(frame: u32) -> u32 {\n";
    out += if count == 1 {
        "    return frame >> 9u;\n}\n"
    } else {
        "    return (frame >> 9u) | (((frame >> 2u) & 127u) << (POOL_SHIFT - 9u));\n}\n"
    };
    let pools = SplitBuffer {
        count,
        is_array,
        name: "pool",
        doc: "Words of frames: data, or two entries of a page table.",
        element: "vec2<u32>",
        // After the bindings of `machine/bindings.wgsl`.
        first: 8,
        binding: "(frame >> 2u) & 127u",
        index: "(frame & ~511u) | word",
    };
    pools.declare(&mut out)?;
    for (doc, signature, body) in [
        (
            "A word of the frame with a handle.",
            "frame_words(frame: u32, word: u32) -> vec2<u32>",
            "return ELEMENT;",
        ),
        (
            "Changes a word of a frame.",
            "frame_store_words(frame: u32, word: u32, value: vec2<u32>)",
            "ELEMENT = value;",
        ),
        (
            "A half of a word of a frame: 0 the low one, 1 the high one.",
            "frame_half(frame: u32, word: u32, half: u32) -> u32",
            "return ELEMENT[half];",
        ),
        (
            "Changes a half of a word.",
            "frame_store_half(frame: u32, word: u32, half: u32, value: u32)",
            "ELEMENT[half] = value;",
        ),
    ] {
        pools.function(&mut out, doc, signature, body)?;
    }
    out += "\n/// A word of a frame as a number.\nfn frame_load(frame: u32, word: u32) -> u64 {\n";
    out += "    let words = frame_words(frame, word);\n    return u64(words.x) | (u64(words.y) << 32u);\n}\n";
    out += "\n/// Changes a word of a frame, given as a number.\nfn frame_store(frame: u32, word: u32, value: u64) {\n";
    out += "    frame_store_words(frame, word, vec2<u32>(u32(value), u32(value >> 32u)));\n}\n";
    Ok(out)
}

/// Returns the module for the synapses of a network in `COUNT` bindings, a power of two.
pub(super) fn synapses<const COUNT: u32>() -> Result<String> {
    let mut out = format!("//! Packed synapses. A row is in one binding. {BANNER}; do not edit.\n");
    if COUNT > 1 {
        let bits = 32 - COUNT.ilog2();
        out += "\n/// The number of low bits of a place that index words in a binding. The bits above select the binding.\n";
        writeln!(out, "const PLACE_BITS = {bits}u;")?;
    }
    let synapses = SplitBuffer {
        count: COUNT,
        is_array: false,
        name: "synapses",
        doc: "Words of synapses.",
        element: "u32",
        // After the bindings of `spiking/bindings.wgsl`.
        first: 26,
        binding: "place >> PLACE_BITS",
        index: if COUNT == 1 { "place" } else { "place & ((1u << PLACE_BITS) - 1u)" },
    };
    synapses.declare(&mut out)?;
    for (doc, signature, body) in [
        ("A word of a synapse.", "synapse_word(place: u32) -> u32", "return ELEMENT;"),
        ("Changes a word of a synapse.", "set_synapse_word(place: u32, word: u32)", "ELEMENT = word;"),
    ] {
        synapses.function(&mut out, doc, signature, body)?;
    }
    Ok(out)
}
