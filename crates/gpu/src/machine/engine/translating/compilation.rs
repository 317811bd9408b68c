//! The compilation of ways in the background.

use std::sync::Arc;

use super::super::compiler::{Compiler, threads};
use super::super::lanes::GpuExecutor;
use super::super::translator::{Target, Translator, Way};
use super::super::tuner::Tuner;
use crate::machine::kernels::InterpreterVariant;
use crate::machine::translation::Translation;

impl GpuExecutor {
    /// Compiles the ways again if the target is another.
    pub(super) fn follow(&mut self, target: Target) {
        let translator = &mut self.translator;
        if translator.target.replace(target).is_some_and(|old| old != target) {
            let chosen = Way { kernel: None, ..translator.ways[translator.chosen()].clone() };
            if chosen.set.is_some() {
                // It is compiled first, even if the last samples led to other ways.
                translator.plan.retain(|way| !way.is_same(&chosen));
                translator.plan.insert(0, chosen);
            }
            translator.ways.truncate(1);
            translator.tuner = Tuner::new(self.store.lanes);
            self.order();
        }
    }

    /// Orders the compilation of all planned ways that are not compiled. Drops orders that have not begun.
    pub(super) fn order(&mut self) {
        let Translator { compiler, plan, ways, target, failure, .. } = &mut self.translator;
        *failure = None;
        if let Some(compiler) = compiler {
            compiler.cancel();
        }
        let Some(target) = *target else { return };
        for (number, way) in
            plan.iter().enumerate().filter(|(_, way)| !ways.iter().any(|old| old.is_same(way)))
        {
            let compiler = match compiler {
                Some(compiler) => compiler,
                None => match Compiler::start(threads(self.store.device.info().is_software())) {
                    Ok(started) => compiler.insert(started),
                    Err(error) => {
                        *failure = Some(format!("no thread for the compiler: {error}"));
                        return;
                    }
                },
            };
            let Way { workgroup, votes, .. } = *way;
            let stages = self.store.stages(workgroup, votes);
            let variant = InterpreterVariant { workgroup, stages, ..target.variant };
            let text = way.set.as_ref().map(|set| Arc::clone(&set.text));
            let (device, kernels) = (self.store.device.clone(), Arc::clone(&self.store.kernels));
            compiler.order(number, move || {
                let kernel = match text {
                    Some(text) => kernels.run_translated(&device, variant, &text),
                    None => kernels.run_unlocked(&device, variant),
                };
                kernel.map_err(|error| error.to_string())
            });
        }
    }

    /// Adds the ways that are compiled now to those that take turns. A way that cannot be compiled is left out.
    pub(super) fn collect(&mut self) {
        let Translator { compiler: Some(compiler), plan, ways, tuner, failure, translation, .. } =
            &mut self.translator
        else {
            return;
        };
        while let Some((number, result)) = compiler.next(*translation == Translation::Always) {
            let way = &plan[number];
            match result {
                Ok(kernel) => {
                    ways.push(Way { kernel: Some(kernel), ..way.clone() });
                    tuner.add_way();
                }
                Err(reason) => {
                    let instructions = way.set.as_ref().map_or(0, |set| set.instructions);
                    let Way { workgroup, .. } = way;
                    *failure =
                        Some(format!("{instructions} instructions, {workgroup} lanes a workgroup: {reason}"));
                }
            }
        }
    }
}
