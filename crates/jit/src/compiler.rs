//! Compiles functions to code of the host.

use cranelift_codegen::Context as FunctionContext;
use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, Signature, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, default_libcall_names};

use crate::frame::{Helpers, helper_signature, region_signature};
use crate::function::translate;
use crate::native::{Code, helpers};
use crate::region::Region;

/// The compiler of a machine, which owns the code.
pub(crate) struct Compiler {
    code: Code,
    context: FunctionContext,
    builder_context: FunctionBuilderContext,
    helpers: Helpers,
    /// The address of the function that calls regions: context, registers, memory, fuel and the region.
    pub(crate) enter: u64,
    /// The bytes of code.
    pub(crate) bytes: usize,
}

/// A failure of the compiler. Lanes are then interpreted.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

impl Compiler {
    /// Creates a compiler for the host.
    pub(crate) fn new() -> Result<Self, Failure> {
        if cfg!(target_endian = "big") {
            return Err("the host is big-endian".into());
        }
        let mut flags = settings::builder();
        // Code is as fast as with "speed", because the micro-ops leave little to simplify, and compiled in less time.
        flags.set("opt_level", "none")?;
        flags.set("use_colocated_libcalls", "false")?;
        flags.set("is_pic", "false")?;
        // Tail calls need them.
        flags.set("preserve_frame_pointers", "true")?;
        flags.set("unwind_info", "false")?;
        flags.set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" })?;
        let isa = cranelift_native::builder()?.finish(settings::Flags::new(flags))?;
        let module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let context = module.make_context();
        let none = Helpers { read: 0, write: 0, execute: 0, flags: 0 };
        let mut compiler = Self {
            code: Code::new(module),
            context,
            builder_context: FunctionBuilderContext::new(),
            helpers: none,
            enter: 0,
            bytes: 0,
        };
        let [read, write, execute, flags] = helpers().map(|helper| compiler.helper(helper));
        compiler.helpers = Helpers { read: read?, write: write?, execute: execute?, flags: flags? };
        compiler.enter = compiler.enter()?;
        Ok(compiler)
    }

    /// Compiles a region and returns the address of its code.
    pub(crate) fn compile(&mut self, region: &Region) -> Result<u64, Failure> {
        self.context.func = Function::new();
        self.context.func.signature = region_signature();
        let builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        let frame = translate(builder, self.helpers, region);
        let config = self.code.module().target_config();
        frame.b.finalize(config);
        self.define()
    }

    /// Generates the function by which translated code calls a helper.
    fn helper(&mut self, helper: u64) -> Result<u64, Failure> {
        let module = self.code.module();
        let (config, host) = (module.target_config(), module.isa().default_call_conv());
        self.context.func = Function::new();
        self.context.func.signature = helper_signature();
        let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        let start = b.create_block();
        b.append_block_params_for_function_params(start);
        b.switch_to_block(start);
        let parameters = b.block_params(start).to_vec();
        let mut signature = Signature::new(host);
        signature.params.extend([AbiParam::new(types::I64); 4]);
        let signature = b.import_signature(signature);
        let callee = b.ins().iconst(types::I64, helper.cast_signed());
        b.ins().call_indirect(signature, callee, &parameters);
        b.ins().return_(&[]);
        b.seal_all_blocks();
        b.finalize(config);
        self.define()
    }

    /// Generates the function that calls regions.
    fn enter(&mut self) -> Result<u64, Failure> {
        let module = self.code.module();
        let (config, host) = (module.target_config(), module.isa().default_call_conv());
        self.context.func = Function::new();
        let mut signature = Signature::new(host);
        signature.params.extend([AbiParam::new(types::I64); 5]);
        signature.returns.push(AbiParam::new(types::I64));
        self.context.func.signature = signature;
        let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        let start = b.create_block();
        b.append_block_params_for_function_params(start);
        b.switch_to_block(start);
        let parameters = b.block_params(start).to_vec();
        let signature = b.import_signature(region_signature());
        let call = b.ins().call_indirect(signature, parameters[4], &parameters[..4]);
        let left = b.inst_results(call).to_vec();
        b.ins().return_(&left);
        b.seal_all_blocks();
        b.finalize(config);
        self.define()
    }

    /// Compiles the function in the context and returns its address.
    fn define(&mut self) -> Result<u64, Failure> {
        let module = self.code.module();
        let function = module.declare_anonymous_function(&self.context.func.signature)?;
        module.define_function(function, &mut self.context)?;
        self.bytes += self.context.compiled_code().map_or(0, |code| code.code_buffer().len());
        module.clear_context(&mut self.context);
        module.finalize_definitions()?;
        Ok(module.get_finalized_function(function).expose_provenance() as u64)
    }
}
