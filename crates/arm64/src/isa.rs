//! The instruction table: every supported A64 encoding, once.
//!
//! Rows follow the order of the manual's "A64 instruction set encoding" chapter (DDI 0487, C4.1) and carry
//! Arm's own encoding names and bit values. Encodings of later architecture versions stay in place as
//! comments. Everything else (decoder, disassembler, assembler, generators, documentation, shader constants)
//! is derived from here.
//!
//! A row reads: encoding name, mnemonic, diagram, kernel class, feature, operands in assembly order, holes
//! (patterns inside the diagram that are UNDEFINED all the same), and the semantics, in
//! [`crate::semantics`], with the kind of thing it touches: `compute` registers only, `memory` also memory,
//! `branch` the pc, `system` ends in a stop or moves system state.
//!
//! Letters in diagrams: `d n m a` registers Rd Rn Rm Ra, `t u s` Rt Rt2 Rs, `i` immediate, `r s` immr imms,
//! `h` shift or sh or hw, `o` option (in system moves o0), `S` scaled, `c` cond, `f` nzcv, `b` bit number,
//! `p q` op1 op2, `C M` CRn CRm, `N` N.

/// Calls `$consumer!` with every hole: name, diagram, meaning.
macro_rules! for_each_hole {
    ($consumer:ident) => {
        $consumer! {
            ROR      "........11......................" "shift is '11' (ROR), which add and subtract lack"
            AMOUNT32 "................1..............." "imm6<5> is 1 in a 32-bit instruction"
            IMMR32   "..........1....................." "immr<5> is 1 in a 32-bit instruction"
            IMMS32   "................1..............." "imms<5> is 1 in a 32-bit instruction"
            EXTEND5  "...................1.1.........." "imm3 is 5 or 7, more than 4"
            EXTEND6  "...................11..........." "imm3 is 6 or 7, more than 4"
            OPTION0  ".................0.............." "option<1> is 0: not a word or doubleword index"
            RS_ODD   "...............1................" "Rs of a register pair is odd"
            RT_ODD   "...............................1" "Rt of a register pair is odd"
        }
    };
}
pub(crate) use for_each_hole;

/// Calls `$consumer!` with every encoding.
macro_rules! for_each_encoding { ($consumer:ident) => { $consumer! {
    // Reserved

    // Reserved: perm_undef
    UDF_only_perm_undef "udf" "0000000000000000iiiiiiiiiiiiiiii" System Base [UdfImm] [] system(system::undefined)

    // Data processing (immediate)

    // PC-rel. addressing: pcreladdr
    ADR_only_pcreladdr  "adr"  "0ii10000iiiiiiiiiiiiiiiiiiiddddd" Arithmetic Base [Xd, PcRel]     [] compute(pc_rel::adr)
    ADRP_only_pcreladdr "adrp" "1ii10000iiiiiiiiiiiiiiiiiiiddddd" Arithmetic Base [Xd, PcRelPage] [] compute(pc_rel::adrp)

    // Add/subtract (immediate): addsub_imm
    ADD_32_addsub_imm   "add"  "000100010hiiiiiiiiiiiinnnnnddddd" Arithmetic Base [WdSp, WnSp, AddSubImm] [] compute(add_sub::immediate::<32, ADD, KEEP_FLAGS>)
    ADDS_32S_addsub_imm "adds" "001100010hiiiiiiiiiiiinnnnnddddd" Arithmetic Base [Wd, WnSp, AddSubImm]   [] compute(add_sub::immediate::<32, ADD, SET_FLAGS>)
    SUB_32_addsub_imm   "sub"  "010100010hiiiiiiiiiiiinnnnnddddd" Arithmetic Base [WdSp, WnSp, AddSubImm] [] compute(add_sub::immediate::<32, SUB, KEEP_FLAGS>)
    SUBS_32S_addsub_imm "subs" "011100010hiiiiiiiiiiiinnnnnddddd" Arithmetic Base [Wd, WnSp, AddSubImm]   [] compute(add_sub::immediate::<32, SUB, SET_FLAGS>)
    ADD_64_addsub_imm   "add"  "100100010hiiiiiiiiiiiinnnnnddddd" Arithmetic Base [XdSp, XnSp, AddSubImm] [] compute(add_sub::immediate::<64, ADD, KEEP_FLAGS>)
    ADDS_64S_addsub_imm "adds" "101100010hiiiiiiiiiiiinnnnnddddd" Arithmetic Base [Xd, XnSp, AddSubImm]   [] compute(add_sub::immediate::<64, ADD, SET_FLAGS>)
    SUB_64_addsub_imm   "sub"  "110100010hiiiiiiiiiiiinnnnnddddd" Arithmetic Base [XdSp, XnSp, AddSubImm] [] compute(add_sub::immediate::<64, SUB, KEEP_FLAGS>)
    SUBS_64S_addsub_imm "subs" "111100010hiiiiiiiiiiiinnnnnddddd" Arithmetic Base [Xd, XnSp, AddSubImm]   [] compute(add_sub::immediate::<64, SUB, SET_FLAGS>)

    // Armv8.5 MTE (addsub_immtags): ADDG_64 SUBG_64

    // Armv9.5 PAuth_LR (dp_1src_imm): AUTIASPPC_only AUTIBSPPC_only

    // Logical (immediate): log_imm
    AND_32_log_imm   "and"  "0001001000rrrrrrssssssnnnnnddddd" Logical Base [WdSp, Wn, LogicalImm(32)] [BITMASK] compute(logical::immediate::<32, AND>)
    ORR_32_log_imm   "orr"  "0011001000rrrrrrssssssnnnnnddddd" Logical Base [WdSp, Wn, LogicalImm(32)] [BITMASK] compute(logical::immediate::<32, ORR>)
    EOR_32_log_imm   "eor"  "0101001000rrrrrrssssssnnnnnddddd" Logical Base [WdSp, Wn, LogicalImm(32)] [BITMASK] compute(logical::immediate::<32, EOR>)
    ANDS_32S_log_imm "ands" "0111001000rrrrrrssssssnnnnnddddd" Logical Base [Wd, Wn, LogicalImm(32)]   [BITMASK] compute(logical::immediate::<32, ANDS>)
    AND_64_log_imm   "and"  "100100100Nrrrrrrssssssnnnnnddddd" Logical Base [XdSp, Xn, LogicalImm(64)] [BITMASK] compute(logical::immediate::<64, AND>)
    ORR_64_log_imm   "orr"  "101100100Nrrrrrrssssssnnnnnddddd" Logical Base [XdSp, Xn, LogicalImm(64)] [BITMASK] compute(logical::immediate::<64, ORR>)
    EOR_64_log_imm   "eor"  "110100100Nrrrrrrssssssnnnnnddddd" Logical Base [XdSp, Xn, LogicalImm(64)] [BITMASK] compute(logical::immediate::<64, EOR>)
    ANDS_64S_log_imm "ands" "111100100Nrrrrrrssssssnnnnnddddd" Logical Base [Xd, Xn, LogicalImm(64)]   [BITMASK] compute(logical::immediate::<64, ANDS>)

    // Armv8.9 CSSC (minmax_imm): SMAX_32 UMAX_32U SMIN_32 UMIN_32U SMAX_64 UMAX_64U SMIN_64 UMIN_64U

    // Move wide (immediate): movewide
    MOVN_32_movewide "movn" "0001001010hiiiiiiiiiiiiiiiiddddd" Arithmetic Base [Wd, MoveWideImm] [] compute(move_wide::movn::<32>)
    MOVZ_32_movewide "movz" "0101001010hiiiiiiiiiiiiiiiiddddd" Arithmetic Base [Wd, MoveWideImm] [] compute(move_wide::movz::<32>)
    MOVK_32_movewide "movk" "0111001010hiiiiiiiiiiiiiiiiddddd" Arithmetic Base [Wd, MoveWideImm] [] compute(move_wide::movk::<32>)
    MOVN_64_movewide "movn" "100100101hhiiiiiiiiiiiiiiiiddddd" Arithmetic Base [Xd, MoveWideImm] [] compute(move_wide::movn::<64>)
    MOVZ_64_movewide "movz" "110100101hhiiiiiiiiiiiiiiiiddddd" Arithmetic Base [Xd, MoveWideImm] [] compute(move_wide::movz::<64>)
    MOVK_64_movewide "movk" "111100101hhiiiiiiiiiiiiiiiiddddd" Arithmetic Base [Xd, MoveWideImm] [] compute(move_wide::movk::<64>)

    // Bitfield: bitfield
    SBFM_32M_bitfield "sbfm" "0001001100rrrrrrssssssnnnnnddddd" ExtendShift Base [Wd, Wn, ImmR, ImmS] [IMMR32, IMMS32] compute(bitfield::sbfm::<32>)
    BFM_32M_bitfield  "bfm"  "0011001100rrrrrrssssssnnnnnddddd" ExtendShift Base [Wd, Wn, ImmR, ImmS] [IMMR32, IMMS32] compute(bitfield::bfm::<32>)
    UBFM_32M_bitfield "ubfm" "0101001100rrrrrrssssssnnnnnddddd" ExtendShift Base [Wd, Wn, ImmR, ImmS] [IMMR32, IMMS32] compute(bitfield::ubfm::<32>)
    SBFM_64M_bitfield "sbfm" "1001001101rrrrrrssssssnnnnnddddd" ExtendShift Base [Xd, Xn, ImmR, ImmS] []               compute(bitfield::sbfm::<64>)
    BFM_64M_bitfield  "bfm"  "1011001101rrrrrrssssssnnnnnddddd" ExtendShift Base [Xd, Xn, ImmR, ImmS] []               compute(bitfield::bfm::<64>)
    UBFM_64M_bitfield "ubfm" "1101001101rrrrrrssssssnnnnnddddd" ExtendShift Base [Xd, Xn, ImmR, ImmS] []               compute(bitfield::ubfm::<64>)

    // Extract: extract
    EXTR_32_extract "extr" "00010011100mmmmm0sssssnnnnnddddd" ExtendShift Base [Wd, Wn, Wm, ImmS] [] compute(bitfield::extr::<32>)
    EXTR_64_extract "extr" "10010011110mmmmmssssssnnnnnddddd" ExtendShift Base [Xd, Xn, Xm, ImmS] [] compute(bitfield::extr::<64>)

    // Branches, exception generation and system instructions

    // Conditional branch (immediate): condbranch
    B_only_condbranch "b." "01010100iiiiiiiiiiiiiiiiiii0cccc" Branch Base [BranchCond, Label19] [] branch(branch::b_cond)
    // Armv8.8 HBC (condbranch): BC_only

    // Armv9.5 PAuth_LR (miscbranch): RETAASPPC_only RETABSPPC_only

    // Exception generation: exception
    SVC_EX_exception   "svc"   "11010100000iiiiiiiiiiiiiiii00001" System Base [Imm16] [] system(system::svc)
    HVC_EX_exception   "hvc"   "11010100000iiiiiiiiiiiiiiii00010" System Base [Imm16] [] system(system::undefined)
    SMC_EX_exception   "smc"   "11010100000iiiiiiiiiiiiiiii00011" System Base [Imm16] [] system(system::undefined)
    BRK_EX_exception   "brk"   "11010100001iiiiiiiiiiiiiiii00000" System Base [Imm16] [] system(system::brk)
    HLT_EX_exception   "hlt"   "11010100010iiiiiiiiiiiiiiii00000" System Base [Imm16] [] system(system::hlt)
    DCPS1_DC_exception "dcps1" "11010100101iiiiiiiiiiiiiiii00001" System Base [Imm16] [] system(system::undefined)
    DCPS2_DC_exception "dcps2" "11010100101iiiiiiiiiiiiiiii00010" System Base [Imm16] [] system(system::undefined)
    DCPS3_DC_exception "dcps3" "11010100101iiiiiiiiiiiiiiii00011" System Base [Imm16] [] system(system::undefined)
    // Armv9.7 CMPFLT (exception): FLT_EX
    // Armv9.7 TEV (exception): TENTER_te

    // Armv8.7 WFxT (systeminstrswithreg): WFET_only WFIT_only

    // Hints: hints
    NOP_HI_hints       "nop"       "11010101000000110010000000011111" System Base []              [] compute(system::nop)
    YIELD_HI_hints     "yield"     "11010101000000110010000000111111" System Base []              [] compute(system::nop)
    WFE_HI_hints       "wfe"       "11010101000000110010000001011111" System Base []              [] compute(system::nop)
    WFI_HI_hints       "wfi"       "11010101000000110010000001111111" System Base []              [] compute(system::nop)
    SEV_HI_hints       "sev"       "11010101000000110010000010011111" System Base []              [] compute(system::nop)
    SEVL_HI_hints      "sevl"      "11010101000000110010000010111111" System Base []              [] compute(system::nop)
    DGH_HI_hints       "dgh"       "11010101000000110010000011011111" System Base []              [] compute(system::nop)
    XPACLRI_HI_hints   "xpaclri"   "11010101000000110010000011111111" System Base []              [] compute(system::nop)
    PACIA1716_HI_hints "pacia1716" "11010101000000110010000100011111" System Base []              [] compute(system::nop)
    PACIB1716_HI_hints "pacib1716" "11010101000000110010000101011111" System Base []              [] compute(system::nop)
    AUTIA1716_HI_hints "autia1716" "11010101000000110010000110011111" System Base []              [] compute(system::nop)
    AUTIB1716_HI_hints "autib1716" "11010101000000110010000111011111" System Base []              [] compute(system::nop)
    ESB_HI_hints       "esb"       "11010101000000110010001000011111" System Base []              [] compute(system::nop)
    PSB_HC_hints       "psb"       "11010101000000110010001000111111" System Base [Text("csync")] [] compute(system::nop)
    TSB_HC_hints       "tsb"       "11010101000000110010001001011111" System Base [Text("csync")] [] compute(system::nop)
    GCSB_HD_hints      "gcsb"      "11010101000000110010001001111111" System Base [Text("dsync")] [] compute(system::nop)
    CSDB_HI_hints      "csdb"      "11010101000000110010001010011111" System Base []              [] compute(system::nop)
    CLRBHB_HI_hints    "clrbhb"    "11010101000000110010001011011111" System Base []              [] compute(system::nop)
    PACIAZ_HI_hints    "paciaz"    "11010101000000110010001100011111" System Base []              [] compute(system::nop)
    PACIASP_HI_hints   "paciasp"   "11010101000000110010001100111111" System Base []              [] compute(system::nop)
    PACIBZ_HI_hints    "pacibz"    "11010101000000110010001101011111" System Base []              [] compute(system::nop)
    PACIBSP_HI_hints   "pacibsp"   "11010101000000110010001101111111" System Base []              [] compute(system::nop)
    AUTIAZ_HI_hints    "autiaz"    "11010101000000110010001110011111" System Base []              [] compute(system::nop)
    AUTIASP_HI_hints   "autiasp"   "11010101000000110010001110111111" System Base []              [] compute(system::nop)
    AUTIBZ_HI_hints    "autibz"    "11010101000000110010001111011111" System Base []              [] compute(system::nop)
    AUTIBSP_HI_hints   "autibsp"   "11010101000000110010001111111111" System Base []              [] compute(system::nop)
    BTI_HB_hints       "bti"       "110101010000001100100100qq011111" System Base [BtiTarget]     [] compute(system::nop)
    CHKFEAT_HF_hints   "chkfeat"   "11010101000000110010010100011111" System Base [Text("x16")]   [] compute(system::nop)
    HINT_HM_hints      "hint"      "11010101000000110010MMMMqqq11111" System Base [HintImm]       [] compute(system::nop)
    // Armv9.5 and later, as HINT (hints): PACM_HI STSHH_HI SHUH_HI STCPH_HI SRLS_HI SLBND_HI

    // Barriers: barriers
    CLREX_BN_barriers "clrex" "11010101000000110011MMMM01011111" System Base [CrmOption] [] compute(system::clrex)
    DSB_BO_barriers   "dsb"   "11010101000000110011MMMM10011111" System Base [Barrier]   [] compute(system::nop)
    DMB_BO_barriers   "dmb"   "11010101000000110011MMMM10111111" System Base [Barrier]   [] compute(system::nop)
    ISB_BI_barriers   "isb"   "11010101000000110011MMMM11011111" System Base [CrmOption] [] compute(system::nop)
    // Armv8.5 SB (barriers): SB_only
    // Armv8.7 XS (barriers): DSB_BOn

    // PSTATE: pstate
    MSR_SI_pstate "msr" "1101010100000ppp0100MMMMqqq11111" System Base [PstateField, CrmImm] [] system(system::undefined)
    // Armv8.4 FlagM (pstate): CFINV_M
    // Armv8.5 FlagM2 (pstate): XAFLAG_M AXFLAG_M

    // Armv9.0 TME (systemresult): TSTART_BR TTEST_BR

    // System instructions: systeminstrs
    SYS_CR_systeminstrs  "sys"  "1101010100001pppCCCCMMMMqqqttttt" System Base [SysOp, Xt] [] memory(system::sys)
    SYSL_RC_systeminstrs "sysl" "1101010100101pppCCCCMMMMqqqttttt" System Base [Xt, SysOp] [] system(system::undefined)

    // System register move: systemmove
    MSR_SR_systemmove "msr" "110101010001opppCCCCMMMMqqqttttt" System Base [SysReg, Xt] [] system(system::msr)
    MRS_RS_systemmove "mrs" "110101010011opppCCCCMMMMqqqttttt" System Base [Xt, SysReg] [] system(system::mrs)

    // Armv9.4 D128 (syspairinstrs): SYSP_CR

    // Armv9.4 D128 (systemmovepr): MSRR_SR MRRS_RS

    // Armv9.7 HINTE (extendedhints): HINTE_extendedhint

    // Unconditional branch (register): branch_reg
    BR_64_branch_reg    "br"   "1101011000011111000000nnnnn00000" Branch Base [Xn] [] branch(branch::br)
    BLR_64_branch_reg   "blr"  "1101011000111111000000nnnnn00000" Branch Base [Xn] [] branch(branch::blr)
    RET_64R_branch_reg  "ret"  "1101011001011111000000nnnnn00000" Branch Base [Xn] [] branch(branch::ret)
    ERET_64E_branch_reg "eret" "11010110100111110000001111100000" Branch Base []   [] system(system::undefined)
    DRPS_64E_branch_reg "drps" "11010110101111110000001111100000" Branch Base []   [] system(system::undefined)
    // Armv8.3 PAuth (branch_reg): BRAAZ_64 BRABZ_64 BLRAAZ_64 BLRABZ_64 RETAA_64E RETAB_64E ERETAA_64E ERETAB_64E BRAA_64P BRAB_64P BLRAA_64P
    // BLRAB_64P
    // Armv9.5 PAuth_LR (branch_reg): RETAASPPCR_64M RETABSPPCR_64M
    // Armv9.7 TEV (branch_reg): TEXIT_te

    // Unconditional branch (immediate): branch_imm
    B_only_branch_imm  "b"  "000101iiiiiiiiiiiiiiiiiiiiiiiiii" Branch Base [Label26] [] branch(branch::b)
    BL_only_branch_imm "bl" "100101iiiiiiiiiiiiiiiiiiiiiiiiii" Branch Base [Label26] [] branch(branch::bl)

    // Compare and branch (immediate): compbranch
    CBZ_32_compbranch  "cbz"  "00110100iiiiiiiiiiiiiiiiiiittttt" Branch Base [Wt, Label19] [] branch(branch::cbz::<32>)
    CBNZ_32_compbranch "cbnz" "00110101iiiiiiiiiiiiiiiiiiittttt" Branch Base [Wt, Label19] [] branch(branch::cbnz::<32>)
    CBZ_64_compbranch  "cbz"  "10110100iiiiiiiiiiiiiiiiiiittttt" Branch Base [Xt, Label19] [] branch(branch::cbz::<64>)
    CBNZ_64_compbranch "cbnz" "10110101iiiiiiiiiiiiiiiiiiittttt" Branch Base [Xt, Label19] [] branch(branch::cbnz::<64>)

    // Test and branch (immediate): testbranch
    TBZ_only_testbranch  "tbz"  "b0110110bbbbbiiiiiiiiiiiiiittttt" Branch Base [Rt, TestBit, Label14] [] branch(branch::tbz)
    TBNZ_only_testbranch "tbnz" "b0110111bbbbbiiiiiiiiiiiiiittttt" Branch Base [Rt, TestBit, Label14] [] branch(branch::tbnz)

    // Armv9.6 CMPBR (compbranch_regs): CBGT_32_regs CBGE_32_regs CBHI_32_regs CBHS_32_regs CBEQ_32_regs CBNE_32_regs CBGT_64_regs CBGE_64_regs
    // CBHI_64_regs CBHS_64_regs CBEQ_64_regs CBNE_64_regs

    // Armv9.6 CMPBR (compbranch_regs2): CBBGT_8_regs CBHGT_16_regs CBBGE_8_regs CBHGE_16_regs CBBHI_8_regs CBHHI_16_regs CBBHS_8_regs
    // CBHHS_16_regs CBBEQ_8_regs CBHEQ_16_regs CBBNE_8_regs CBHNE_16_regs

    // Armv9.6 CMPBR (compbranch_imm): CBGT_32_imm CBLT_32_imm CBHI_32_imm CBLO_32_imm CBEQ_32_imm CBNE_32_imm CBGT_64_imm CBLT_64_imm
    // CBHI_64_imm CBLO_64_imm CBEQ_64_imm CBNE_64_imm

    // Armv9.7 CMPFLT (compfault_imm): CFLTGT_32_imm CFLTLT_32_imm CFLTHI_32_imm CFLTLO_32_imm CFLTEQ_32_imm CFLTNE_32_imm CFLTGT_64_imm
    // CFLTLT_64_imm CFLTHI_64_imm CFLTLO_64_imm CFLTEQ_64_imm CFLTNE_64_imm

    // Armv9.7 CMPFLT (compfault_regs): CFLTGT_32_regs CFLTGE_32_regs CFLTHI_32_regs CFLTHS_32_regs CFLTEQ_32_regs CFLTNE_32_regs
    // CFLTGT_64_regs CFLTGE_64_regs CFLTHI_64_regs CFLTHS_64_regs CFLTEQ_64_regs CFLTNE_64_regs

    // Armv9.7 CMPFLT (testfault): TFLTZ TFLTNZ

    // Armv9.7 TEV (tchange_imm): TCHANGEF_tc_imm TCHANGEB_tc_imm

    // Armv9.7 TEV (tchange_reg): TCHANGEF_tc_reg TCHANGEB_tc_reg

    // Loads and stores

    // Armv8.8 MOPS (memcms): 120 encodings CPYFP_CPY to SETGETN_SET

    // Armv9.7 MOPS_GO (memset_go): SETGOP SETGOPT SETGOPN SETGOPTN SETGOM SETGOMT SETGOMN SETGOMTN SETGOE SETGOET SETGOEN SETGOETN

    // Armv8.5 MTE (ldsttags): STZGM_64bulk STG_64Spost STG_64Soffset STG_64Spre LDG_64Loffset STZG_64Spost STZG_64Soffset STZG_64Spre
    // STGM_64bulk ST2G_64Spost ST2G_64Soffset ST2G_64Spre LDGM_64bulk STZ2G_64Spost STZ2G_64Soffset STZ2G_64Spre

    // Load/store exclusive pair: ldstexclp
    STXP_SP32_ldstexclp  "stxp"  "10001000001sssss0uuuuunnnnnttttt" LoadStore Base [Ws, Wt, Wt2, Base] [] memory(exclusive::store_pair::<4>)
    STLXP_SP32_ldstexclp "stlxp" "10001000001sssss1uuuuunnnnnttttt" LoadStore Base [Ws, Wt, Wt2, Base] [] memory(exclusive::store_pair::<4>)
    LDXP_LP32_ldstexclp  "ldxp"  "10001000011+++++0uuuuunnnnnttttt" LoadStore Base [Wt, Wt2, Base]     [] memory(exclusive::load_pair::<4>)
    LDAXP_LP32_ldstexclp "ldaxp" "10001000011+++++1uuuuunnnnnttttt" LoadStore Base [Wt, Wt2, Base]     [] memory(exclusive::load_pair::<4>)
    STXP_SP64_ldstexclp  "stxp"  "11001000001sssss0uuuuunnnnnttttt" LoadStore Base [Ws, Xt, Xt2, Base] [] memory(exclusive::store_pair::<8>)
    STLXP_SP64_ldstexclp "stlxp" "11001000001sssss1uuuuunnnnnttttt" LoadStore Base [Ws, Xt, Xt2, Base] [] memory(exclusive::store_pair::<8>)
    LDXP_LP64_ldstexclp  "ldxp"  "11001000011+++++0uuuuunnnnnttttt" LoadStore Base [Xt, Xt2, Base]     [] memory(exclusive::load_pair::<8>)
    LDAXP_LP64_ldstexclp "ldaxp" "11001000011+++++1uuuuunnnnnttttt" LoadStore Base [Xt, Xt2, Base]     [] memory(exclusive::load_pair::<8>)

    // Load/store exclusive register: ldstexclr
    STXRB_SR32_ldstexclr  "stxrb"  "00001000000sssss0+++++nnnnnttttt" LoadStore Base [Ws, Wt, Base] [] memory(exclusive::store::<1>)
    STLXRB_SR32_ldstexclr "stlxrb" "00001000000sssss1+++++nnnnnttttt" LoadStore Base [Ws, Wt, Base] [] memory(exclusive::store::<1>)
    LDXRB_LR32_ldstexclr  "ldxrb"  "00001000010+++++0+++++nnnnnttttt" LoadStore Base [Wt, Base]     [] memory(exclusive::load::<1>)
    LDAXRB_LR32_ldstexclr "ldaxrb" "00001000010+++++1+++++nnnnnttttt" LoadStore Base [Wt, Base]     [] memory(exclusive::load::<1>)
    STXRH_SR32_ldstexclr  "stxrh"  "01001000000sssss0+++++nnnnnttttt" LoadStore Base [Ws, Wt, Base] [] memory(exclusive::store::<2>)
    STLXRH_SR32_ldstexclr "stlxrh" "01001000000sssss1+++++nnnnnttttt" LoadStore Base [Ws, Wt, Base] [] memory(exclusive::store::<2>)
    LDXRH_LR32_ldstexclr  "ldxrh"  "01001000010+++++0+++++nnnnnttttt" LoadStore Base [Wt, Base]     [] memory(exclusive::load::<2>)
    LDAXRH_LR32_ldstexclr "ldaxrh" "01001000010+++++1+++++nnnnnttttt" LoadStore Base [Wt, Base]     [] memory(exclusive::load::<2>)
    STXR_SR32_ldstexclr   "stxr"   "10001000000sssss0+++++nnnnnttttt" LoadStore Base [Ws, Wt, Base] [] memory(exclusive::store::<4>)
    STLXR_SR32_ldstexclr  "stlxr"  "10001000000sssss1+++++nnnnnttttt" LoadStore Base [Ws, Wt, Base] [] memory(exclusive::store::<4>)
    LDXR_LR32_ldstexclr   "ldxr"   "10001000010+++++0+++++nnnnnttttt" LoadStore Base [Wt, Base]     [] memory(exclusive::load::<4>)
    LDAXR_LR32_ldstexclr  "ldaxr"  "10001000010+++++1+++++nnnnnttttt" LoadStore Base [Wt, Base]     [] memory(exclusive::load::<4>)
    STXR_SR64_ldstexclr   "stxr"   "11001000000sssss0+++++nnnnnttttt" LoadStore Base [Ws, Xt, Base] [] memory(exclusive::store::<8>)
    STLXR_SR64_ldstexclr  "stlxr"  "11001000000sssss1+++++nnnnnttttt" LoadStore Base [Ws, Xt, Base] [] memory(exclusive::store::<8>)
    LDXR_LR64_ldstexclr   "ldxr"   "11001000010+++++0+++++nnnnnttttt" LoadStore Base [Xt, Base]     [] memory(exclusive::load::<8>)
    LDAXR_LR64_ldstexclr  "ldaxr"  "11001000010+++++1+++++nnnnnttttt" LoadStore Base [Xt, Base]     [] memory(exclusive::load::<8>)

    // Load/store ordered: ldstord
    STLRB_SL32_ldstord "stlrb" "00001000100+++++1+++++nnnnnttttt" LoadStore Base [Wt, Base] [] memory(ordered::store::<1>)
    LDARB_LR32_ldstord "ldarb" "00001000110+++++1+++++nnnnnttttt" LoadStore Base [Wt, Base] [] memory(ordered::load::<1>)
    STLRH_SL32_ldstord "stlrh" "01001000100+++++1+++++nnnnnttttt" LoadStore Base [Wt, Base] [] memory(ordered::store::<2>)
    LDARH_LR32_ldstord "ldarh" "01001000110+++++1+++++nnnnnttttt" LoadStore Base [Wt, Base] [] memory(ordered::load::<2>)
    STLR_SL32_ldstord  "stlr"  "10001000100+++++1+++++nnnnnttttt" LoadStore Base [Wt, Base] [] memory(ordered::store::<4>)
    LDAR_LR32_ldstord  "ldar"  "10001000110+++++1+++++nnnnnttttt" LoadStore Base [Wt, Base] [] memory(ordered::load::<4>)
    STLR_SL64_ldstord  "stlr"  "11001000100+++++1+++++nnnnnttttt" LoadStore Base [Xt, Base] [] memory(ordered::store::<8>)
    LDAR_LR64_ldstord  "ldar"  "11001000110+++++1+++++nnnnnttttt" LoadStore Base [Xt, Base] [] memory(ordered::load::<8>)
    // Armv8.1 LOR (ldstord): STLLRB_SL32 LDLARB_LR32 STLLRH_SL32 LDLARH_LR32 STLLR_SL32 LDLAR_LR32 STLLR_SL64 LDLAR_LR64

    // Compare and swap: comswap
    CASB_C32_comswap   "casb"   "00001000101sssss011111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<1>)
    CASLB_C32_comswap  "caslb"  "00001000101sssss111111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<1>)
    CASAB_C32_comswap  "casab"  "00001000111sssss011111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<1>)
    CASALB_C32_comswap "casalb" "00001000111sssss111111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<1>)
    CASH_C32_comswap   "cash"   "01001000101sssss011111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<2>)
    CASLH_C32_comswap  "caslh"  "01001000101sssss111111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<2>)
    CASAH_C32_comswap  "casah"  "01001000111sssss011111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<2>)
    CASALH_C32_comswap "casalh" "01001000111sssss111111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<2>)
    CAS_C32_comswap    "cas"    "10001000101sssss011111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<4>)
    CASL_C32_comswap   "casl"   "10001000101sssss111111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<4>)
    CASA_C32_comswap   "casa"   "10001000111sssss011111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<4>)
    CASAL_C32_comswap  "casal"  "10001000111sssss111111nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::compare_and_swap::<4>)
    CAS_C64_comswap    "cas"    "11001000101sssss011111nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::compare_and_swap::<8>)
    CASL_C64_comswap   "casl"   "11001000101sssss111111nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::compare_and_swap::<8>)
    CASA_C64_comswap   "casa"   "11001000111sssss011111nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::compare_and_swap::<8>)
    CASAL_C64_comswap  "casal"  "11001000111sssss111111nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::compare_and_swap::<8>)

    // Compare and swap pair: comswappr
    CASP_CP32_comswappr   "casp"   "00001000001sssss011111nnnnnttttt" LoadStore Lse [WsPair, WtPair, Base] [RS_ODD, RT_ODD] memory(atomic::compare_and_swap_pair::<4>)
    CASPL_CP32_comswappr  "caspl"  "00001000001sssss111111nnnnnttttt" LoadStore Lse [WsPair, WtPair, Base] [RS_ODD, RT_ODD] memory(atomic::compare_and_swap_pair::<4>)
    CASPA_CP32_comswappr  "caspa"  "00001000011sssss011111nnnnnttttt" LoadStore Lse [WsPair, WtPair, Base] [RS_ODD, RT_ODD] memory(atomic::compare_and_swap_pair::<4>)
    CASPAL_CP32_comswappr "caspal" "00001000011sssss111111nnnnnttttt" LoadStore Lse [WsPair, WtPair, Base] [RS_ODD, RT_ODD] memory(atomic::compare_and_swap_pair::<4>)
    CASP_CP64_comswappr   "casp"   "01001000001sssss011111nnnnnttttt" LoadStore Lse [XsPair, XtPair, Base] [RS_ODD, RT_ODD] memory(atomic::compare_and_swap_pair::<8>)
    CASPL_CP64_comswappr  "caspl"  "01001000001sssss111111nnnnnttttt" LoadStore Lse [XsPair, XtPair, Base] [RS_ODD, RT_ODD] memory(atomic::compare_and_swap_pair::<8>)
    CASPA_CP64_comswappr  "caspa"  "01001000011sssss011111nnnnnttttt" LoadStore Lse [XsPair, XtPair, Base] [RS_ODD, RT_ODD] memory(atomic::compare_and_swap_pair::<8>)
    CASPAL_CP64_comswappr "caspal" "01001000011sssss111111nnnnnttttt" LoadStore Lse [XsPair, XtPair, Base] [RS_ODD, RT_ODD] memory(atomic::compare_and_swap_pair::<8>)

    // Armv9.6 LSUI (ldstexclr_unpriv): STTXR_SR32 STLTXR_SR32 LDTXR_LR32 LDATXR_LR32 STTXR_SR64 STLTXR_SR64 LDTXR_LR64 LDATXR_LR64

    // Armv9.6 LSUI (comswap_unpriv): CAST_C64 CASLT_C64 CASAT_C64 CASALT_C64

    // Armv9.6 LSUI (comswappr_unpriv): CASPT_CP64 CASPLT_CP64 CASPAT_CP64 CASPALT_CP64

    // Armv8.9 THE (rcwcomswap): RCWCAS_C64 RCWCASL_C64 RCWCASA_C64 RCWCASAL_C64 RCWSCAS_C64 RCWSCASL_C64 RCWSCASA_C64 RCWSCASAL_C64

    // Armv9.4 D128 (rcwcomswappr): RCWCASP_C64 RCWCASPL_C64 RCWCASPA_C64 RCWCASPAL_C64 RCWSCASP_C64 RCWSCASPL_C64 RCWSCASPA_C64 RCWSCASPAL_C64

    // Armv9.4 LSE128 (memop_128): 36 encodings LDCLRP_128 to RCWSSETPAL_128

    // Armv9.4 GCS (ldst_gcs): GCSSTR_64 GCSSTTR_64

    // Armv8.9 LRCPC3 (ldiappstilp): STILP_32SE STILP_32S LDIAPP_32LE LDIAPP_32L STILP_64SS STILP_64S STLP_64 LDIAPP_64LS LDIAPP_64L LDAP_64
    // LDAPP_64

    // Armv8.9 LRCPC3 (ldapstl_writeback): STLR_32S LDAPR_32L STLR_64S LDAPR_64L

    // Armv8.4 LRCPC2 (ldapstl_unscaled): STLURB_32 LDAPURB_32 LDAPURSB_64 LDAPURSB_32 STLURH_32 LDAPURH_32 LDAPURSH_64 LDAPURSH_32 STLUR_32
    // LDAPUR_32 LDAPURSW_64 STLUR_64 LDAPUR_64

    // Armv8.9 LRCPC3 (ldapstl_simd): STLUR_B LDAPUR_B STLUR_Q LDAPUR_Q STLUR_H LDAPUR_H STLUR_S LDAPUR_S STLUR_D LDAPUR_D

    // Armv8.0 AdvSIMD (asisdlse): ST4_asisdlse_R4 ST1_asisdlse_R4_4v ST3_asisdlse_R3 ST1_asisdlse_R3_3v ST1_asisdlse_R1_1v ST2_asisdlse_R2
    // ST1_asisdlse_R2_2v LD4_asisdlse_R4 LD1_asisdlse_R4_4v LD3_asisdlse_R3 LD1_asisdlse_R3_3v LD1_asisdlse_R1_1v LD2_asisdlse_R2
    // LD1_asisdlse_R2_2v

    // Armv8.0 AdvSIMD (asisdlsep): 28 encodings ST4_asisdlsep_R4_r to LD1_asisdlsep_I2_i2

    // Armv8.0 AdvSIMD (asisdlso): 36 encodings ST1_asisdlso_B1_1b to LD4R_asisdlso_R4
    // Armv8.9 LRCPC3 (asisdlso): STL1_asisdlso_D1 LDAP1_asisdlso_D1

    // Armv8.0 AdvSIMD (asisdlsop): 72 encodings ST1_asisdlsop_BX1_r1b to LD4R_asisdlsop_R4_i

    // Load register (literal): loadlit
    LDR_32_loadlit   "ldr"   "00011000iiiiiiiiiiiiiiiiiiittttt" LoadStore Base [Wt, Label19]    [] memory(load_store::literal::<4, UNSIGNED>)
    LDR_64_loadlit   "ldr"   "01011000iiiiiiiiiiiiiiiiiiittttt" LoadStore Base [Xt, Label19]    [] memory(load_store::literal::<8, UNSIGNED>)
    LDRSW_64_loadlit "ldrsw" "10011000iiiiiiiiiiiiiiiiiiittttt" LoadStore Base [Xt, Label19]    [] memory(load_store::literal::<4, SIGNED64>)
    PRFM_P_loadlit   "prfm"  "11011000iiiiiiiiiiiiiiiiiiittttt" LoadStore Base [Prfop, Label19] [] compute(load_store::prefetch)
    // Armv8.0 FP (loadlit): LDR_S LDR_D LDR_Q

    // Load/store no-allocate pair (offset): ldstnapair_offs
    STNP_32_ldstnapair_offs "stnp" "0010100000iiiiiiiuuuuunnnnnttttt" LoadStore Base [Wt, Wt2, PairOffset(2)] [] memory(pair::store::<4, OFFSET>)
    LDNP_32_ldstnapair_offs "ldnp" "0010100001iiiiiiiuuuuunnnnnttttt" LoadStore Base [Wt, Wt2, PairOffset(2)] [] memory(pair::load::<4, UNSIGNED, OFFSET>)
    STNP_64_ldstnapair_offs "stnp" "1010100000iiiiiiiuuuuunnnnnttttt" LoadStore Base [Xt, Xt2, PairOffset(3)] [] memory(pair::store::<8, OFFSET>)
    LDNP_64_ldstnapair_offs "ldnp" "1010100001iiiiiiiuuuuunnnnnttttt" LoadStore Base [Xt, Xt2, PairOffset(3)] [] memory(pair::load::<8, UNSIGNED, OFFSET>)
    // Armv8.0 FP (ldstnapair_offs): STNP_S LDNP_S STNP_D LDNP_D STNP_Q LDNP_Q
    // Armv9.6 LSUI (ldstnapair_offs): STTNP_64 LDTNP_64 STTNP_Q LDTNP_Q

    // Load/store register pair (post-indexed): ldstpair_post
    STP_32_ldstpair_post   "stp"   "0010100010iiiiiiiuuuuunnnnnttttt" LoadStore Base [Wt, Wt2, PairPostIndex(2)] [] memory(pair::store::<4, POST_INDEX>)
    LDP_32_ldstpair_post   "ldp"   "0010100011iiiiiiiuuuuunnnnnttttt" LoadStore Base [Wt, Wt2, PairPostIndex(2)] [] memory(pair::load::<4, UNSIGNED, POST_INDEX>)
    LDPSW_64_ldstpair_post "ldpsw" "0110100011iiiiiiiuuuuunnnnnttttt" LoadStore Base [Xt, Xt2, PairPostIndex(2)] [] memory(pair::load::<4, SIGNED64, POST_INDEX>)
    STP_64_ldstpair_post   "stp"   "1010100010iiiiiiiuuuuunnnnnttttt" LoadStore Base [Xt, Xt2, PairPostIndex(3)] [] memory(pair::store::<8, POST_INDEX>)
    LDP_64_ldstpair_post   "ldp"   "1010100011iiiiiiiuuuuunnnnnttttt" LoadStore Base [Xt, Xt2, PairPostIndex(3)] [] memory(pair::load::<8, UNSIGNED, POST_INDEX>)
    // Armv8.0 FP (ldstpair_post): STP_S LDP_S STP_D LDP_D STP_Q LDP_Q
    // Armv8.5 MTE (ldstpair_post): STGP_64
    // Armv9.6 LSUI (ldstpair_post): STTP_64 LDTP_64 STTP_Q LDTP_Q

    // Load/store register pair (offset): ldstpair_off
    STP_32_ldstpair_off   "stp"   "0010100100iiiiiiiuuuuunnnnnttttt" LoadStore Base [Wt, Wt2, PairOffset(2)] [] memory(pair::store::<4, OFFSET>)
    LDP_32_ldstpair_off   "ldp"   "0010100101iiiiiiiuuuuunnnnnttttt" LoadStore Base [Wt, Wt2, PairOffset(2)] [] memory(pair::load::<4, UNSIGNED, OFFSET>)
    LDPSW_64_ldstpair_off "ldpsw" "0110100101iiiiiiiuuuuunnnnnttttt" LoadStore Base [Xt, Xt2, PairOffset(2)] [] memory(pair::load::<4, SIGNED64, OFFSET>)
    STP_64_ldstpair_off   "stp"   "1010100100iiiiiiiuuuuunnnnnttttt" LoadStore Base [Xt, Xt2, PairOffset(3)] [] memory(pair::store::<8, OFFSET>)
    LDP_64_ldstpair_off   "ldp"   "1010100101iiiiiiiuuuuunnnnnttttt" LoadStore Base [Xt, Xt2, PairOffset(3)] [] memory(pair::load::<8, UNSIGNED, OFFSET>)
    // Armv8.0 FP (ldstpair_off): STP_S LDP_S STP_D LDP_D STP_Q LDP_Q
    // Armv8.5 MTE (ldstpair_off): STGP_64
    // Armv9.6 LSUI (ldstpair_off): STTP_64 LDTP_64 STTP_Q LDTP_Q

    // Load/store register pair (pre-indexed): ldstpair_pre
    STP_32_ldstpair_pre   "stp"   "0010100110iiiiiiiuuuuunnnnnttttt" LoadStore Base [Wt, Wt2, PairPreIndex(2)] [] memory(pair::store::<4, PRE_INDEX>)
    LDP_32_ldstpair_pre   "ldp"   "0010100111iiiiiiiuuuuunnnnnttttt" LoadStore Base [Wt, Wt2, PairPreIndex(2)] [] memory(pair::load::<4, UNSIGNED, PRE_INDEX>)
    LDPSW_64_ldstpair_pre "ldpsw" "0110100111iiiiiiiuuuuunnnnnttttt" LoadStore Base [Xt, Xt2, PairPreIndex(2)] [] memory(pair::load::<4, SIGNED64, PRE_INDEX>)
    STP_64_ldstpair_pre   "stp"   "1010100110iiiiiiiuuuuunnnnnttttt" LoadStore Base [Xt, Xt2, PairPreIndex(3)] [] memory(pair::store::<8, PRE_INDEX>)
    LDP_64_ldstpair_pre   "ldp"   "1010100111iiiiiiiuuuuunnnnnttttt" LoadStore Base [Xt, Xt2, PairPreIndex(3)] [] memory(pair::load::<8, UNSIGNED, PRE_INDEX>)
    // Armv8.0 FP (ldstpair_pre): STP_S LDP_S STP_D LDP_D STP_Q LDP_Q
    // Armv8.5 MTE (ldstpair_pre): STGP_64
    // Armv9.6 LSUI (ldstpair_pre): STTP_64 LDTP_64 STTP_Q LDTP_Q

    // Load/store register (unscaled immediate): ldst_unscaled
    STURB_32_ldst_unscaled  "sturb"  "00111000000iiiiiiiii00nnnnnttttt" LoadStore Base [Wt, Offset]    [] memory(load_store::store::<1, OFFSET>)
    LDURB_32_ldst_unscaled  "ldurb"  "00111000010iiiiiiiii00nnnnnttttt" LoadStore Base [Wt, Offset]    [] memory(load_store::load::<1, UNSIGNED, OFFSET>)
    LDURSB_64_ldst_unscaled "ldursb" "00111000100iiiiiiiii00nnnnnttttt" LoadStore Base [Xt, Offset]    [] memory(load_store::load::<1, SIGNED64, OFFSET>)
    LDURSB_32_ldst_unscaled "ldursb" "00111000110iiiiiiiii00nnnnnttttt" LoadStore Base [Wt, Offset]    [] memory(load_store::load::<1, SIGNED32, OFFSET>)
    STURH_32_ldst_unscaled  "sturh"  "01111000000iiiiiiiii00nnnnnttttt" LoadStore Base [Wt, Offset]    [] memory(load_store::store::<2, OFFSET>)
    LDURH_32_ldst_unscaled  "ldurh"  "01111000010iiiiiiiii00nnnnnttttt" LoadStore Base [Wt, Offset]    [] memory(load_store::load::<2, UNSIGNED, OFFSET>)
    LDURSH_64_ldst_unscaled "ldursh" "01111000100iiiiiiiii00nnnnnttttt" LoadStore Base [Xt, Offset]    [] memory(load_store::load::<2, SIGNED64, OFFSET>)
    LDURSH_32_ldst_unscaled "ldursh" "01111000110iiiiiiiii00nnnnnttttt" LoadStore Base [Wt, Offset]    [] memory(load_store::load::<2, SIGNED32, OFFSET>)
    STUR_32_ldst_unscaled   "stur"   "10111000000iiiiiiiii00nnnnnttttt" LoadStore Base [Wt, Offset]    [] memory(load_store::store::<4, OFFSET>)
    LDUR_32_ldst_unscaled   "ldur"   "10111000010iiiiiiiii00nnnnnttttt" LoadStore Base [Wt, Offset]    [] memory(load_store::load::<4, UNSIGNED, OFFSET>)
    LDURSW_64_ldst_unscaled "ldursw" "10111000100iiiiiiiii00nnnnnttttt" LoadStore Base [Xt, Offset]    [] memory(load_store::load::<4, SIGNED64, OFFSET>)
    STUR_64_ldst_unscaled   "stur"   "11111000000iiiiiiiii00nnnnnttttt" LoadStore Base [Xt, Offset]    [] memory(load_store::store::<8, OFFSET>)
    LDUR_64_ldst_unscaled   "ldur"   "11111000010iiiiiiiii00nnnnnttttt" LoadStore Base [Xt, Offset]    [] memory(load_store::load::<8, UNSIGNED, OFFSET>)
    PRFUM_P_ldst_unscaled   "prfum"  "11111000100iiiiiiiii00nnnnnttttt" LoadStore Base [Prfop, Offset] [] compute(load_store::prefetch)
    // Armv8.0 FP (ldst_unscaled): STUR_B LDUR_B STUR_Q LDUR_Q STUR_H LDUR_H STUR_S LDUR_S STUR_D LDUR_D

    // Load/store register (immediate post-indexed): ldst_immpost
    STRB_32_ldst_immpost  "strb"  "00111000000iiiiiiiii01nnnnnttttt" LoadStore Base [Wt, PostIndex] [] memory(load_store::store::<1, POST_INDEX>)
    LDRB_32_ldst_immpost  "ldrb"  "00111000010iiiiiiiii01nnnnnttttt" LoadStore Base [Wt, PostIndex] [] memory(load_store::load::<1, UNSIGNED, POST_INDEX>)
    LDRSB_64_ldst_immpost "ldrsb" "00111000100iiiiiiiii01nnnnnttttt" LoadStore Base [Xt, PostIndex] [] memory(load_store::load::<1, SIGNED64, POST_INDEX>)
    LDRSB_32_ldst_immpost "ldrsb" "00111000110iiiiiiiii01nnnnnttttt" LoadStore Base [Wt, PostIndex] [] memory(load_store::load::<1, SIGNED32, POST_INDEX>)
    STRH_32_ldst_immpost  "strh"  "01111000000iiiiiiiii01nnnnnttttt" LoadStore Base [Wt, PostIndex] [] memory(load_store::store::<2, POST_INDEX>)
    LDRH_32_ldst_immpost  "ldrh"  "01111000010iiiiiiiii01nnnnnttttt" LoadStore Base [Wt, PostIndex] [] memory(load_store::load::<2, UNSIGNED, POST_INDEX>)
    LDRSH_64_ldst_immpost "ldrsh" "01111000100iiiiiiiii01nnnnnttttt" LoadStore Base [Xt, PostIndex] [] memory(load_store::load::<2, SIGNED64, POST_INDEX>)
    LDRSH_32_ldst_immpost "ldrsh" "01111000110iiiiiiiii01nnnnnttttt" LoadStore Base [Wt, PostIndex] [] memory(load_store::load::<2, SIGNED32, POST_INDEX>)
    STR_32_ldst_immpost   "str"   "10111000000iiiiiiiii01nnnnnttttt" LoadStore Base [Wt, PostIndex] [] memory(load_store::store::<4, POST_INDEX>)
    LDR_32_ldst_immpost   "ldr"   "10111000010iiiiiiiii01nnnnnttttt" LoadStore Base [Wt, PostIndex] [] memory(load_store::load::<4, UNSIGNED, POST_INDEX>)
    LDRSW_64_ldst_immpost "ldrsw" "10111000100iiiiiiiii01nnnnnttttt" LoadStore Base [Xt, PostIndex] [] memory(load_store::load::<4, SIGNED64, POST_INDEX>)
    STR_64_ldst_immpost   "str"   "11111000000iiiiiiiii01nnnnnttttt" LoadStore Base [Xt, PostIndex] [] memory(load_store::store::<8, POST_INDEX>)
    LDR_64_ldst_immpost   "ldr"   "11111000010iiiiiiiii01nnnnnttttt" LoadStore Base [Xt, PostIndex] [] memory(load_store::load::<8, UNSIGNED, POST_INDEX>)
    // Armv8.0 FP (ldst_immpost): STR_B LDR_B STR_Q LDR_Q STR_H LDR_H STR_S LDR_S STR_D LDR_D

    // Load/store register (unprivileged): ldst_unpriv
    STTRB_32_ldst_unpriv  "sttrb"  "00111000000iiiiiiiii10nnnnnttttt" LoadStore Base [Wt, Offset] [] memory(load_store::store::<1, OFFSET>)
    LDTRB_32_ldst_unpriv  "ldtrb"  "00111000010iiiiiiiii10nnnnnttttt" LoadStore Base [Wt, Offset] [] memory(load_store::load::<1, UNSIGNED, OFFSET>)
    LDTRSB_64_ldst_unpriv "ldtrsb" "00111000100iiiiiiiii10nnnnnttttt" LoadStore Base [Xt, Offset] [] memory(load_store::load::<1, SIGNED64, OFFSET>)
    LDTRSB_32_ldst_unpriv "ldtrsb" "00111000110iiiiiiiii10nnnnnttttt" LoadStore Base [Wt, Offset] [] memory(load_store::load::<1, SIGNED32, OFFSET>)
    STTRH_32_ldst_unpriv  "sttrh"  "01111000000iiiiiiiii10nnnnnttttt" LoadStore Base [Wt, Offset] [] memory(load_store::store::<2, OFFSET>)
    LDTRH_32_ldst_unpriv  "ldtrh"  "01111000010iiiiiiiii10nnnnnttttt" LoadStore Base [Wt, Offset] [] memory(load_store::load::<2, UNSIGNED, OFFSET>)
    LDTRSH_64_ldst_unpriv "ldtrsh" "01111000100iiiiiiiii10nnnnnttttt" LoadStore Base [Xt, Offset] [] memory(load_store::load::<2, SIGNED64, OFFSET>)
    LDTRSH_32_ldst_unpriv "ldtrsh" "01111000110iiiiiiiii10nnnnnttttt" LoadStore Base [Wt, Offset] [] memory(load_store::load::<2, SIGNED32, OFFSET>)
    STTR_32_ldst_unpriv   "sttr"   "10111000000iiiiiiiii10nnnnnttttt" LoadStore Base [Wt, Offset] [] memory(load_store::store::<4, OFFSET>)
    LDTR_32_ldst_unpriv   "ldtr"   "10111000010iiiiiiiii10nnnnnttttt" LoadStore Base [Wt, Offset] [] memory(load_store::load::<4, UNSIGNED, OFFSET>)
    LDTRSW_64_ldst_unpriv "ldtrsw" "10111000100iiiiiiiii10nnnnnttttt" LoadStore Base [Xt, Offset] [] memory(load_store::load::<4, SIGNED64, OFFSET>)
    STTR_64_ldst_unpriv   "sttr"   "11111000000iiiiiiiii10nnnnnttttt" LoadStore Base [Xt, Offset] [] memory(load_store::store::<8, OFFSET>)
    LDTR_64_ldst_unpriv   "ldtr"   "11111000010iiiiiiiii10nnnnnttttt" LoadStore Base [Xt, Offset] [] memory(load_store::load::<8, UNSIGNED, OFFSET>)

    // Load/store register (immediate pre-indexed): ldst_immpre
    STRB_32_ldst_immpre  "strb"  "00111000000iiiiiiiii11nnnnnttttt" LoadStore Base [Wt, PreIndex] [] memory(load_store::store::<1, PRE_INDEX>)
    LDRB_32_ldst_immpre  "ldrb"  "00111000010iiiiiiiii11nnnnnttttt" LoadStore Base [Wt, PreIndex] [] memory(load_store::load::<1, UNSIGNED, PRE_INDEX>)
    LDRSB_64_ldst_immpre "ldrsb" "00111000100iiiiiiiii11nnnnnttttt" LoadStore Base [Xt, PreIndex] [] memory(load_store::load::<1, SIGNED64, PRE_INDEX>)
    LDRSB_32_ldst_immpre "ldrsb" "00111000110iiiiiiiii11nnnnnttttt" LoadStore Base [Wt, PreIndex] [] memory(load_store::load::<1, SIGNED32, PRE_INDEX>)
    STRH_32_ldst_immpre  "strh"  "01111000000iiiiiiiii11nnnnnttttt" LoadStore Base [Wt, PreIndex] [] memory(load_store::store::<2, PRE_INDEX>)
    LDRH_32_ldst_immpre  "ldrh"  "01111000010iiiiiiiii11nnnnnttttt" LoadStore Base [Wt, PreIndex] [] memory(load_store::load::<2, UNSIGNED, PRE_INDEX>)
    LDRSH_64_ldst_immpre "ldrsh" "01111000100iiiiiiiii11nnnnnttttt" LoadStore Base [Xt, PreIndex] [] memory(load_store::load::<2, SIGNED64, PRE_INDEX>)
    LDRSH_32_ldst_immpre "ldrsh" "01111000110iiiiiiiii11nnnnnttttt" LoadStore Base [Wt, PreIndex] [] memory(load_store::load::<2, SIGNED32, PRE_INDEX>)
    STR_32_ldst_immpre   "str"   "10111000000iiiiiiiii11nnnnnttttt" LoadStore Base [Wt, PreIndex] [] memory(load_store::store::<4, PRE_INDEX>)
    LDR_32_ldst_immpre   "ldr"   "10111000010iiiiiiiii11nnnnnttttt" LoadStore Base [Wt, PreIndex] [] memory(load_store::load::<4, UNSIGNED, PRE_INDEX>)
    LDRSW_64_ldst_immpre "ldrsw" "10111000100iiiiiiiii11nnnnnttttt" LoadStore Base [Xt, PreIndex] [] memory(load_store::load::<4, SIGNED64, PRE_INDEX>)
    STR_64_ldst_immpre   "str"   "11111000000iiiiiiiii11nnnnnttttt" LoadStore Base [Xt, PreIndex] [] memory(load_store::store::<8, PRE_INDEX>)
    LDR_64_ldst_immpre   "ldr"   "11111000010iiiiiiiii11nnnnnttttt" LoadStore Base [Xt, PreIndex] [] memory(load_store::load::<8, UNSIGNED, PRE_INDEX>)
    // Armv8.0 FP (ldst_immpre): STR_B LDR_B STR_Q LDR_Q STR_H LDR_H STR_S LDR_S STR_D LDR_D

    // Atomic memory operations: memop
    LDADDB_32_memop    "ldaddb"    "00111000001sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_ADD>)
    LDCLRB_32_memop    "ldclrb"    "00111000001sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_BIC>)
    LDEORB_32_memop    "ldeorb"    "00111000001sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_EOR>)
    LDSETB_32_memop    "ldsetb"    "00111000001sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_ORR>)
    LDSMAXB_32_memop   "ldsmaxb"   "00111000001sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SMAX>)
    LDSMINB_32_memop   "ldsminb"   "00111000001sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SMIN>)
    LDUMAXB_32_memop   "ldumaxb"   "00111000001sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_UMAX>)
    LDUMINB_32_memop   "lduminb"   "00111000001sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_UMIN>)
    SWPB_32_memop      "swpb"      "00111000001sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SWP>)
    LDADDLB_32_memop   "ldaddlb"   "00111000011sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_ADD>)
    LDCLRLB_32_memop   "ldclrlb"   "00111000011sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_BIC>)
    LDEORLB_32_memop   "ldeorlb"   "00111000011sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_EOR>)
    LDSETLB_32_memop   "ldsetlb"   "00111000011sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_ORR>)
    LDSMAXLB_32_memop  "ldsmaxlb"  "00111000011sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SMAX>)
    LDSMINLB_32_memop  "ldsminlb"  "00111000011sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SMIN>)
    LDUMAXLB_32_memop  "ldumaxlb"  "00111000011sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_UMAX>)
    LDUMINLB_32_memop  "lduminlb"  "00111000011sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_UMIN>)
    SWPLB_32_memop     "swplb"     "00111000011sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SWP>)
    LDADDAB_32_memop   "ldaddab"   "00111000101sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_ADD>)
    LDCLRAB_32_memop   "ldclrab"   "00111000101sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_BIC>)
    LDEORAB_32_memop   "ldeorab"   "00111000101sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_EOR>)
    LDSETAB_32_memop   "ldsetab"   "00111000101sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_ORR>)
    LDSMAXAB_32_memop  "ldsmaxab"  "00111000101sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SMAX>)
    LDSMINAB_32_memop  "ldsminab"  "00111000101sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SMIN>)
    LDUMAXAB_32_memop  "ldumaxab"  "00111000101sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_UMAX>)
    LDUMINAB_32_memop  "lduminab"  "00111000101sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_UMIN>)
    SWPAB_32_memop     "swpab"     "00111000101sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SWP>)
    LDADDALB_32_memop  "ldaddalb"  "00111000111sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_ADD>)
    LDCLRALB_32_memop  "ldclralb"  "00111000111sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_BIC>)
    LDEORALB_32_memop  "ldeoralb"  "00111000111sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_EOR>)
    LDSETALB_32_memop  "ldsetalb"  "00111000111sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_ORR>)
    LDSMAXALB_32_memop "ldsmaxalb" "00111000111sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SMAX>)
    LDSMINALB_32_memop "ldsminalb" "00111000111sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SMIN>)
    LDUMAXALB_32_memop "ldumaxalb" "00111000111sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_UMAX>)
    LDUMINALB_32_memop "lduminalb" "00111000111sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_UMIN>)
    SWPALB_32_memop    "swpalb"    "00111000111sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<1, MEM_SWP>)
    LDADDH_32_memop    "ldaddh"    "01111000001sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_ADD>)
    LDCLRH_32_memop    "ldclrh"    "01111000001sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_BIC>)
    LDEORH_32_memop    "ldeorh"    "01111000001sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_EOR>)
    LDSETH_32_memop    "ldseth"    "01111000001sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_ORR>)
    LDSMAXH_32_memop   "ldsmaxh"   "01111000001sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SMAX>)
    LDSMINH_32_memop   "ldsminh"   "01111000001sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SMIN>)
    LDUMAXH_32_memop   "ldumaxh"   "01111000001sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_UMAX>)
    LDUMINH_32_memop   "lduminh"   "01111000001sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_UMIN>)
    SWPH_32_memop      "swph"      "01111000001sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SWP>)
    LDADDLH_32_memop   "ldaddlh"   "01111000011sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_ADD>)
    LDCLRLH_32_memop   "ldclrlh"   "01111000011sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_BIC>)
    LDEORLH_32_memop   "ldeorlh"   "01111000011sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_EOR>)
    LDSETLH_32_memop   "ldsetlh"   "01111000011sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_ORR>)
    LDSMAXLH_32_memop  "ldsmaxlh"  "01111000011sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SMAX>)
    LDSMINLH_32_memop  "ldsminlh"  "01111000011sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SMIN>)
    LDUMAXLH_32_memop  "ldumaxlh"  "01111000011sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_UMAX>)
    LDUMINLH_32_memop  "lduminlh"  "01111000011sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_UMIN>)
    SWPLH_32_memop     "swplh"     "01111000011sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SWP>)
    LDADDAH_32_memop   "ldaddah"   "01111000101sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_ADD>)
    LDCLRAH_32_memop   "ldclrah"   "01111000101sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_BIC>)
    LDEORAH_32_memop   "ldeorah"   "01111000101sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_EOR>)
    LDSETAH_32_memop   "ldsetah"   "01111000101sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_ORR>)
    LDSMAXAH_32_memop  "ldsmaxah"  "01111000101sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SMAX>)
    LDSMINAH_32_memop  "ldsminah"  "01111000101sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SMIN>)
    LDUMAXAH_32_memop  "ldumaxah"  "01111000101sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_UMAX>)
    LDUMINAH_32_memop  "lduminah"  "01111000101sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_UMIN>)
    SWPAH_32_memop     "swpah"     "01111000101sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SWP>)
    LDADDALH_32_memop  "ldaddalh"  "01111000111sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_ADD>)
    LDCLRALH_32_memop  "ldclralh"  "01111000111sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_BIC>)
    LDEORALH_32_memop  "ldeoralh"  "01111000111sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_EOR>)
    LDSETALH_32_memop  "ldsetalh"  "01111000111sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_ORR>)
    LDSMAXALH_32_memop "ldsmaxalh" "01111000111sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SMAX>)
    LDSMINALH_32_memop "ldsminalh" "01111000111sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SMIN>)
    LDUMAXALH_32_memop "ldumaxalh" "01111000111sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_UMAX>)
    LDUMINALH_32_memop "lduminalh" "01111000111sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_UMIN>)
    SWPALH_32_memop    "swpalh"    "01111000111sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<2, MEM_SWP>)
    LDADD_32_memop     "ldadd"     "10111000001sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_ADD>)
    LDCLR_32_memop     "ldclr"     "10111000001sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_BIC>)
    LDEOR_32_memop     "ldeor"     "10111000001sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_EOR>)
    LDSET_32_memop     "ldset"     "10111000001sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_ORR>)
    LDSMAX_32_memop    "ldsmax"    "10111000001sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SMAX>)
    LDSMIN_32_memop    "ldsmin"    "10111000001sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SMIN>)
    LDUMAX_32_memop    "ldumax"    "10111000001sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_UMAX>)
    LDUMIN_32_memop    "ldumin"    "10111000001sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_UMIN>)
    SWP_32_memop       "swp"       "10111000001sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SWP>)
    LDADDL_32_memop    "ldaddl"    "10111000011sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_ADD>)
    LDCLRL_32_memop    "ldclrl"    "10111000011sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_BIC>)
    LDEORL_32_memop    "ldeorl"    "10111000011sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_EOR>)
    LDSETL_32_memop    "ldsetl"    "10111000011sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_ORR>)
    LDSMAXL_32_memop   "ldsmaxl"   "10111000011sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SMAX>)
    LDSMINL_32_memop   "ldsminl"   "10111000011sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SMIN>)
    LDUMAXL_32_memop   "ldumaxl"   "10111000011sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_UMAX>)
    LDUMINL_32_memop   "lduminl"   "10111000011sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_UMIN>)
    SWPL_32_memop      "swpl"      "10111000011sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SWP>)
    LDADDA_32_memop    "ldadda"    "10111000101sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_ADD>)
    LDCLRA_32_memop    "ldclra"    "10111000101sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_BIC>)
    LDEORA_32_memop    "ldeora"    "10111000101sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_EOR>)
    LDSETA_32_memop    "ldseta"    "10111000101sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_ORR>)
    LDSMAXA_32_memop   "ldsmaxa"   "10111000101sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SMAX>)
    LDSMINA_32_memop   "ldsmina"   "10111000101sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SMIN>)
    LDUMAXA_32_memop   "ldumaxa"   "10111000101sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_UMAX>)
    LDUMINA_32_memop   "ldumina"   "10111000101sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_UMIN>)
    SWPA_32_memop      "swpa"      "10111000101sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SWP>)
    LDADDAL_32_memop   "ldaddal"   "10111000111sssss000000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_ADD>)
    LDCLRAL_32_memop   "ldclral"   "10111000111sssss000100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_BIC>)
    LDEORAL_32_memop   "ldeoral"   "10111000111sssss001000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_EOR>)
    LDSETAL_32_memop   "ldsetal"   "10111000111sssss001100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_ORR>)
    LDSMAXAL_32_memop  "ldsmaxal"  "10111000111sssss010000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SMAX>)
    LDSMINAL_32_memop  "ldsminal"  "10111000111sssss010100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SMIN>)
    LDUMAXAL_32_memop  "ldumaxal"  "10111000111sssss011000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_UMAX>)
    LDUMINAL_32_memop  "lduminal"  "10111000111sssss011100nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_UMIN>)
    SWPAL_32_memop     "swpal"     "10111000111sssss100000nnnnnttttt" LoadStore Lse [Ws, Wt, Base] [] memory(atomic::memop::<4, MEM_SWP>)
    LDADD_64_memop     "ldadd"     "11111000001sssss000000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_ADD>)
    LDCLR_64_memop     "ldclr"     "11111000001sssss000100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_BIC>)
    LDEOR_64_memop     "ldeor"     "11111000001sssss001000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_EOR>)
    LDSET_64_memop     "ldset"     "11111000001sssss001100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_ORR>)
    LDSMAX_64_memop    "ldsmax"    "11111000001sssss010000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SMAX>)
    LDSMIN_64_memop    "ldsmin"    "11111000001sssss010100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SMIN>)
    LDUMAX_64_memop    "ldumax"    "11111000001sssss011000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_UMAX>)
    LDUMIN_64_memop    "ldumin"    "11111000001sssss011100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_UMIN>)
    SWP_64_memop       "swp"       "11111000001sssss100000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SWP>)
    LDADDL_64_memop    "ldaddl"    "11111000011sssss000000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_ADD>)
    LDCLRL_64_memop    "ldclrl"    "11111000011sssss000100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_BIC>)
    LDEORL_64_memop    "ldeorl"    "11111000011sssss001000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_EOR>)
    LDSETL_64_memop    "ldsetl"    "11111000011sssss001100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_ORR>)
    LDSMAXL_64_memop   "ldsmaxl"   "11111000011sssss010000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SMAX>)
    LDSMINL_64_memop   "ldsminl"   "11111000011sssss010100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SMIN>)
    LDUMAXL_64_memop   "ldumaxl"   "11111000011sssss011000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_UMAX>)
    LDUMINL_64_memop   "lduminl"   "11111000011sssss011100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_UMIN>)
    SWPL_64_memop      "swpl"      "11111000011sssss100000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SWP>)
    LDADDA_64_memop    "ldadda"    "11111000101sssss000000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_ADD>)
    LDCLRA_64_memop    "ldclra"    "11111000101sssss000100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_BIC>)
    LDEORA_64_memop    "ldeora"    "11111000101sssss001000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_EOR>)
    LDSETA_64_memop    "ldseta"    "11111000101sssss001100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_ORR>)
    LDSMAXA_64_memop   "ldsmaxa"   "11111000101sssss010000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SMAX>)
    LDSMINA_64_memop   "ldsmina"   "11111000101sssss010100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SMIN>)
    LDUMAXA_64_memop   "ldumaxa"   "11111000101sssss011000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_UMAX>)
    LDUMINA_64_memop   "ldumina"   "11111000101sssss011100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_UMIN>)
    SWPA_64_memop      "swpa"      "11111000101sssss100000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SWP>)
    LDADDAL_64_memop   "ldaddal"   "11111000111sssss000000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_ADD>)
    LDCLRAL_64_memop   "ldclral"   "11111000111sssss000100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_BIC>)
    LDEORAL_64_memop   "ldeoral"   "11111000111sssss001000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_EOR>)
    LDSETAL_64_memop   "ldsetal"   "11111000111sssss001100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_ORR>)
    LDSMAXAL_64_memop  "ldsmaxal"  "11111000111sssss010000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SMAX>)
    LDSMINAL_64_memop  "ldsminal"  "11111000111sssss010100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SMIN>)
    LDUMAXAL_64_memop  "ldumaxal"  "11111000111sssss011000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_UMAX>)
    LDUMINAL_64_memop  "lduminal"  "11111000111sssss011100nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_UMIN>)
    SWPAL_64_memop     "swpal"     "11111000111sssss100000nnnnnttttt" LoadStore Lse [Xs, Xt, Base] [] memory(atomic::memop::<8, MEM_SWP>)
    // Armv8.9 THE (memop): 24 encodings RCWCLR_64 to RCWSSETAL_64
    // Armv8.3 LRCPC (memop): LDAPRB_32L LDAPRH_32L LDAPR_32L LDAPR_64L
    // Armv8.7 LS64 (memop): LDA64B_64L ST64BV0_64 ST64BV_64 ST64B_64L LD64B_64L STL64BV0_64 STL64BV_64 STL64B_64L
    // Armv9.6 LSFE (memop): 120 encodings LDBFADD_16 to LDFMINNMAL_64

    // Armv9.6 LSUI (memop_unpriv): 32 encodings LDTADD_32 to SWPTAL_64

    // Armv8.3 PAuth (ldst_pac): LDRAA_64 LDRAA_64W LDRAB_64 LDRAB_64W

    // Load/store register (register offset): ldst_regoff
    STRB_32BL_ldst_regoff  "strb"  "00111000001mmmmm011S10nnnnnttttt" LoadStore Base [Wt, RegisterOffset(0)]    []        memory(load_store::store::<1, REGISTER_OFFSET>)
    STRB_32B_ldst_regoff   "strb"  "00111000001mmmmmoooS10nnnnnttttt" LoadStore Base [Wt, RegisterOffset(0)]    [OPTION0] memory(load_store::store::<1, REGISTER_OFFSET>)
    LDRB_32BL_ldst_regoff  "ldrb"  "00111000011mmmmm011S10nnnnnttttt" LoadStore Base [Wt, RegisterOffset(0)]    []        memory(load_store::load::<1, UNSIGNED, REGISTER_OFFSET>)
    LDRB_32B_ldst_regoff   "ldrb"  "00111000011mmmmmoooS10nnnnnttttt" LoadStore Base [Wt, RegisterOffset(0)]    [OPTION0] memory(load_store::load::<1, UNSIGNED, REGISTER_OFFSET>)
    LDRSB_64BL_ldst_regoff "ldrsb" "00111000101mmmmm011S10nnnnnttttt" LoadStore Base [Xt, RegisterOffset(0)]    []        memory(load_store::load::<1, SIGNED64, REGISTER_OFFSET>)
    LDRSB_64B_ldst_regoff  "ldrsb" "00111000101mmmmmoooS10nnnnnttttt" LoadStore Base [Xt, RegisterOffset(0)]    [OPTION0] memory(load_store::load::<1, SIGNED64, REGISTER_OFFSET>)
    LDRSB_32BL_ldst_regoff "ldrsb" "00111000111mmmmm011S10nnnnnttttt" LoadStore Base [Wt, RegisterOffset(0)]    []        memory(load_store::load::<1, SIGNED32, REGISTER_OFFSET>)
    LDRSB_32B_ldst_regoff  "ldrsb" "00111000111mmmmmoooS10nnnnnttttt" LoadStore Base [Wt, RegisterOffset(0)]    [OPTION0] memory(load_store::load::<1, SIGNED32, REGISTER_OFFSET>)
    STRH_32_ldst_regoff    "strh"  "01111000001mmmmmoooS10nnnnnttttt" LoadStore Base [Wt, RegisterOffset(1)]    [OPTION0] memory(load_store::store::<2, REGISTER_OFFSET>)
    LDRH_32_ldst_regoff    "ldrh"  "01111000011mmmmmoooS10nnnnnttttt" LoadStore Base [Wt, RegisterOffset(1)]    [OPTION0] memory(load_store::load::<2, UNSIGNED, REGISTER_OFFSET>)
    LDRSH_64_ldst_regoff   "ldrsh" "01111000101mmmmmoooS10nnnnnttttt" LoadStore Base [Xt, RegisterOffset(1)]    [OPTION0] memory(load_store::load::<2, SIGNED64, REGISTER_OFFSET>)
    LDRSH_32_ldst_regoff   "ldrsh" "01111000111mmmmmoooS10nnnnnttttt" LoadStore Base [Wt, RegisterOffset(1)]    [OPTION0] memory(load_store::load::<2, SIGNED32, REGISTER_OFFSET>)
    STR_32_ldst_regoff     "str"   "10111000001mmmmmoooS10nnnnnttttt" LoadStore Base [Wt, RegisterOffset(2)]    [OPTION0] memory(load_store::store::<4, REGISTER_OFFSET>)
    LDR_32_ldst_regoff     "ldr"   "10111000011mmmmmoooS10nnnnnttttt" LoadStore Base [Wt, RegisterOffset(2)]    [OPTION0] memory(load_store::load::<4, UNSIGNED, REGISTER_OFFSET>)
    LDRSW_64_ldst_regoff   "ldrsw" "10111000101mmmmmoooS10nnnnnttttt" LoadStore Base [Xt, RegisterOffset(2)]    [OPTION0] memory(load_store::load::<4, SIGNED64, REGISTER_OFFSET>)
    STR_64_ldst_regoff     "str"   "11111000001mmmmmoooS10nnnnnttttt" LoadStore Base [Xt, RegisterOffset(3)]    [OPTION0] memory(load_store::store::<8, REGISTER_OFFSET>)
    LDR_64_ldst_regoff     "ldr"   "11111000011mmmmmoooS10nnnnnttttt" LoadStore Base [Xt, RegisterOffset(3)]    [OPTION0] memory(load_store::load::<8, UNSIGNED, REGISTER_OFFSET>)
    PRFM_P_ldst_regoff     "prfm"  "11111000101mmmmmo1oS10nnnnnttttt" LoadStore Base [Prfop, RegisterOffset(3)] []        compute(load_store::prefetch)
    // Armv8.0 FP (ldst_regoff): STR_B STR_BL LDR_B LDR_BL STR_Q LDR_Q STR_H LDR_H STR_S LDR_S STR_D LDR_D
    // Armv8.9 RPRFM (ldst_regoff): RPRFM_R

    // Load/store register (unsigned immediate): ldst_pos
    STRB_32_ldst_pos  "strb"  "0011100100iiiiiiiiiiiinnnnnttttt" LoadStore Base [Wt, ScaledOffset(0)]    [] memory(load_store::store::<1, SCALED_OFFSET>)
    LDRB_32_ldst_pos  "ldrb"  "0011100101iiiiiiiiiiiinnnnnttttt" LoadStore Base [Wt, ScaledOffset(0)]    [] memory(load_store::load::<1, UNSIGNED, SCALED_OFFSET>)
    LDRSB_64_ldst_pos "ldrsb" "0011100110iiiiiiiiiiiinnnnnttttt" LoadStore Base [Xt, ScaledOffset(0)]    [] memory(load_store::load::<1, SIGNED64, SCALED_OFFSET>)
    LDRSB_32_ldst_pos "ldrsb" "0011100111iiiiiiiiiiiinnnnnttttt" LoadStore Base [Wt, ScaledOffset(0)]    [] memory(load_store::load::<1, SIGNED32, SCALED_OFFSET>)
    STRH_32_ldst_pos  "strh"  "0111100100iiiiiiiiiiiinnnnnttttt" LoadStore Base [Wt, ScaledOffset(1)]    [] memory(load_store::store::<2, SCALED_OFFSET>)
    LDRH_32_ldst_pos  "ldrh"  "0111100101iiiiiiiiiiiinnnnnttttt" LoadStore Base [Wt, ScaledOffset(1)]    [] memory(load_store::load::<2, UNSIGNED, SCALED_OFFSET>)
    LDRSH_64_ldst_pos "ldrsh" "0111100110iiiiiiiiiiiinnnnnttttt" LoadStore Base [Xt, ScaledOffset(1)]    [] memory(load_store::load::<2, SIGNED64, SCALED_OFFSET>)
    LDRSH_32_ldst_pos "ldrsh" "0111100111iiiiiiiiiiiinnnnnttttt" LoadStore Base [Wt, ScaledOffset(1)]    [] memory(load_store::load::<2, SIGNED32, SCALED_OFFSET>)
    STR_32_ldst_pos   "str"   "1011100100iiiiiiiiiiiinnnnnttttt" LoadStore Base [Wt, ScaledOffset(2)]    [] memory(load_store::store::<4, SCALED_OFFSET>)
    LDR_32_ldst_pos   "ldr"   "1011100101iiiiiiiiiiiinnnnnttttt" LoadStore Base [Wt, ScaledOffset(2)]    [] memory(load_store::load::<4, UNSIGNED, SCALED_OFFSET>)
    LDRSW_64_ldst_pos "ldrsw" "1011100110iiiiiiiiiiiinnnnnttttt" LoadStore Base [Xt, ScaledOffset(2)]    [] memory(load_store::load::<4, SIGNED64, SCALED_OFFSET>)
    STR_64_ldst_pos   "str"   "1111100100iiiiiiiiiiiinnnnnttttt" LoadStore Base [Xt, ScaledOffset(3)]    [] memory(load_store::store::<8, SCALED_OFFSET>)
    LDR_64_ldst_pos   "ldr"   "1111100101iiiiiiiiiiiinnnnnttttt" LoadStore Base [Xt, ScaledOffset(3)]    [] memory(load_store::load::<8, UNSIGNED, SCALED_OFFSET>)
    PRFM_P_ldst_pos   "prfm"  "1111100110iiiiiiiiiiiinnnnnttttt" LoadStore Base [Prfop, ScaledOffset(3)] [] compute(load_store::prefetch)
    // Armv8.0 FP (ldst_pos): STR_B LDR_B STR_Q LDR_Q STR_H LDR_H STR_S LDR_S STR_D LDR_D

    // Data processing (register)

    // Data-processing (2 source): dp_2src
    UDIV_32_dp_2src     "udiv"    "00011010110mmmmm000010nnnnnddddd" MulDiv      Base  [Wd, Wn, Wm] [] compute(divide::udiv::<32>)
    UDIV_64_dp_2src     "udiv"    "10011010110mmmmm000010nnnnnddddd" MulDiv      Base  [Xd, Xn, Xm] [] compute(divide::udiv::<64>)
    SDIV_32_dp_2src     "sdiv"    "00011010110mmmmm000011nnnnnddddd" MulDiv      Base  [Wd, Wn, Wm] [] compute(divide::sdiv::<32>)
    SDIV_64_dp_2src     "sdiv"    "10011010110mmmmm000011nnnnnddddd" MulDiv      Base  [Xd, Xn, Xm] [] compute(divide::sdiv::<64>)
    LSLV_32_dp_2src     "lsl"     "00011010110mmmmm001000nnnnnddddd" ExtendShift Base  [Wd, Wn, Wm] [] compute(shift::variable::<32, LSL>)
    LSLV_64_dp_2src     "lsl"     "10011010110mmmmm001000nnnnnddddd" ExtendShift Base  [Xd, Xn, Xm] [] compute(shift::variable::<64, LSL>)
    LSRV_32_dp_2src     "lsr"     "00011010110mmmmm001001nnnnnddddd" ExtendShift Base  [Wd, Wn, Wm] [] compute(shift::variable::<32, LSR>)
    LSRV_64_dp_2src     "lsr"     "10011010110mmmmm001001nnnnnddddd" ExtendShift Base  [Xd, Xn, Xm] [] compute(shift::variable::<64, LSR>)
    ASRV_32_dp_2src     "asr"     "00011010110mmmmm001010nnnnnddddd" ExtendShift Base  [Wd, Wn, Wm] [] compute(shift::variable::<32, ASR>)
    ASRV_64_dp_2src     "asr"     "10011010110mmmmm001010nnnnnddddd" ExtendShift Base  [Xd, Xn, Xm] [] compute(shift::variable::<64, ASR>)
    RORV_32_dp_2src     "ror"     "00011010110mmmmm001011nnnnnddddd" ExtendShift Base  [Wd, Wn, Wm] [] compute(shift::variable::<32, ROR>)
    RORV_64_dp_2src     "ror"     "10011010110mmmmm001011nnnnnddddd" ExtendShift Base  [Xd, Xn, Xm] [] compute(shift::variable::<64, ROR>)
    CRC32B_32C_dp_2src  "crc32b"  "00011010110mmmmm010000nnnnnddddd" MulDiv      Crc32 [Wd, Wn, Wm] [] compute(crc::crc32::<8>)
    CRC32H_32C_dp_2src  "crc32h"  "00011010110mmmmm010001nnnnnddddd" MulDiv      Crc32 [Wd, Wn, Wm] [] compute(crc::crc32::<16>)
    CRC32W_32C_dp_2src  "crc32w"  "00011010110mmmmm010010nnnnnddddd" MulDiv      Crc32 [Wd, Wn, Wm] [] compute(crc::crc32::<32>)
    CRC32X_64C_dp_2src  "crc32x"  "10011010110mmmmm010011nnnnnddddd" MulDiv      Crc32 [Wd, Wn, Xm] [] compute(crc::crc32::<64>)
    CRC32CB_32C_dp_2src "crc32cb" "00011010110mmmmm010100nnnnnddddd" MulDiv      Crc32 [Wd, Wn, Wm] [] compute(crc::crc32c::<8>)
    CRC32CH_32C_dp_2src "crc32ch" "00011010110mmmmm010101nnnnnddddd" MulDiv      Crc32 [Wd, Wn, Wm] [] compute(crc::crc32c::<16>)
    CRC32CW_32C_dp_2src "crc32cw" "00011010110mmmmm010110nnnnnddddd" MulDiv      Crc32 [Wd, Wn, Wm] [] compute(crc::crc32c::<32>)
    CRC32CX_64C_dp_2src "crc32cx" "10011010110mmmmm010111nnnnnddddd" MulDiv      Crc32 [Wd, Wn, Xm] [] compute(crc::crc32c::<64>)
    // Armv8.9 CSSC (dp_2src): SMAX_32 UMAX_32 SMIN_32 UMIN_32 SMAX_64 UMAX_64 SMIN_64 UMIN_64
    // Armv8.5 MTE (dp_2src): SUBP_64S IRG_64I GMI_64G SUBPS_64S
    // Armv8.3 PAuth (dp_2src): PACGA_64P

    // Data-processing (1 source): dp_1src
    RBIT_32_dp_1src  "rbit"  "0101101011000000000000nnnnnddddd" ExtendShift Base [Wd, Wn] [] compute(bits::rbit::<32>)
    RBIT_64_dp_1src  "rbit"  "1101101011000000000000nnnnnddddd" ExtendShift Base [Xd, Xn] [] compute(bits::rbit::<64>)
    REV16_32_dp_1src "rev16" "0101101011000000000001nnnnnddddd" ExtendShift Base [Wd, Wn] [] compute(bits::rev::<32, 16>)
    REV16_64_dp_1src "rev16" "1101101011000000000001nnnnnddddd" ExtendShift Base [Xd, Xn] [] compute(bits::rev::<64, 16>)
    REV_32_dp_1src   "rev"   "0101101011000000000010nnnnnddddd" ExtendShift Base [Wd, Wn] [] compute(bits::rev::<32, 32>)
    REV32_64_dp_1src "rev32" "1101101011000000000010nnnnnddddd" ExtendShift Base [Xd, Xn] [] compute(bits::rev::<64, 32>)
    REV_64_dp_1src   "rev"   "1101101011000000000011nnnnnddddd" ExtendShift Base [Xd, Xn] [] compute(bits::rev::<64, 64>)
    CLZ_32_dp_1src   "clz"   "0101101011000000000100nnnnnddddd" ExtendShift Base [Wd, Wn] [] compute(bits::clz::<32>)
    CLZ_64_dp_1src   "clz"   "1101101011000000000100nnnnnddddd" ExtendShift Base [Xd, Xn] [] compute(bits::clz::<64>)
    CLS_32_dp_1src   "cls"   "0101101011000000000101nnnnnddddd" ExtendShift Base [Wd, Wn] [] compute(bits::cls::<32>)
    CLS_64_dp_1src   "cls"   "1101101011000000000101nnnnnddddd" ExtendShift Base [Xd, Xn] [] compute(bits::cls::<64>)
    // Armv8.9 CSSC (dp_1src): CTZ_32 CNT_32 ABS_32 CTZ_64 CNT_64 ABS_64
    // Armv8.3 PAuth (dp_1src): 18 encodings PACIA_64P to XPACD_64Z
    // Armv9.5 PAuth_LR (dp_1src): PACNBIASPPC_64LR PACNBIBSPPC_64LR PACIA171615_64LR PACIB171615_64LR AUTIASPPCR_64LRR AUTIBSPPCR_64LRR
    // PACIASPPC_64LR PACIBSPPC_64LR AUTIA171615_64LR AUTIB171615_64LR

    // Logical (shifted register): log_shift
    AND_32_log_shift  "and"  "00001010hh0mmmmmiiiiiinnnnnddddd" Logical Base [Wd, Wn, ShiftedWm] [AMOUNT32] compute(logical::shifted_register::<32, AND, PLAIN>)
    BIC_32_log_shift  "bic"  "00001010hh1mmmmmiiiiiinnnnnddddd" Logical Base [Wd, Wn, ShiftedWm] [AMOUNT32] compute(logical::shifted_register::<32, AND, INVERT>)
    ORR_32_log_shift  "orr"  "00101010hh0mmmmmiiiiiinnnnnddddd" Logical Base [Wd, Wn, ShiftedWm] [AMOUNT32] compute(logical::shifted_register::<32, ORR, PLAIN>)
    ORN_32_log_shift  "orn"  "00101010hh1mmmmmiiiiiinnnnnddddd" Logical Base [Wd, Wn, ShiftedWm] [AMOUNT32] compute(logical::shifted_register::<32, ORR, INVERT>)
    EOR_32_log_shift  "eor"  "01001010hh0mmmmmiiiiiinnnnnddddd" Logical Base [Wd, Wn, ShiftedWm] [AMOUNT32] compute(logical::shifted_register::<32, EOR, PLAIN>)
    EON_32_log_shift  "eon"  "01001010hh1mmmmmiiiiiinnnnnddddd" Logical Base [Wd, Wn, ShiftedWm] [AMOUNT32] compute(logical::shifted_register::<32, EOR, INVERT>)
    ANDS_32_log_shift "ands" "01101010hh0mmmmmiiiiiinnnnnddddd" Logical Base [Wd, Wn, ShiftedWm] [AMOUNT32] compute(logical::shifted_register::<32, ANDS, PLAIN>)
    BICS_32_log_shift "bics" "01101010hh1mmmmmiiiiiinnnnnddddd" Logical Base [Wd, Wn, ShiftedWm] [AMOUNT32] compute(logical::shifted_register::<32, ANDS, INVERT>)
    AND_64_log_shift  "and"  "10001010hh0mmmmmiiiiiinnnnnddddd" Logical Base [Xd, Xn, ShiftedXm] []         compute(logical::shifted_register::<64, AND, PLAIN>)
    BIC_64_log_shift  "bic"  "10001010hh1mmmmmiiiiiinnnnnddddd" Logical Base [Xd, Xn, ShiftedXm] []         compute(logical::shifted_register::<64, AND, INVERT>)
    ORR_64_log_shift  "orr"  "10101010hh0mmmmmiiiiiinnnnnddddd" Logical Base [Xd, Xn, ShiftedXm] []         compute(logical::shifted_register::<64, ORR, PLAIN>)
    ORN_64_log_shift  "orn"  "10101010hh1mmmmmiiiiiinnnnnddddd" Logical Base [Xd, Xn, ShiftedXm] []         compute(logical::shifted_register::<64, ORR, INVERT>)
    EOR_64_log_shift  "eor"  "11001010hh0mmmmmiiiiiinnnnnddddd" Logical Base [Xd, Xn, ShiftedXm] []         compute(logical::shifted_register::<64, EOR, PLAIN>)
    EON_64_log_shift  "eon"  "11001010hh1mmmmmiiiiiinnnnnddddd" Logical Base [Xd, Xn, ShiftedXm] []         compute(logical::shifted_register::<64, EOR, INVERT>)
    ANDS_64_log_shift "ands" "11101010hh0mmmmmiiiiiinnnnnddddd" Logical Base [Xd, Xn, ShiftedXm] []         compute(logical::shifted_register::<64, ANDS, PLAIN>)
    BICS_64_log_shift "bics" "11101010hh1mmmmmiiiiiinnnnnddddd" Logical Base [Xd, Xn, ShiftedXm] []         compute(logical::shifted_register::<64, ANDS, INVERT>)

    // Add/subtract (shifted register): addsub_shift
    ADD_32_addsub_shift  "add"  "00001011hh0mmmmmiiiiiinnnnnddddd" Arithmetic Base [Wd, Wn, ShiftedWm] [ROR, AMOUNT32] compute(add_sub::shifted_register::<32, ADD, KEEP_FLAGS>)
    ADDS_32_addsub_shift "adds" "00101011hh0mmmmmiiiiiinnnnnddddd" Arithmetic Base [Wd, Wn, ShiftedWm] [ROR, AMOUNT32] compute(add_sub::shifted_register::<32, ADD, SET_FLAGS>)
    SUB_32_addsub_shift  "sub"  "01001011hh0mmmmmiiiiiinnnnnddddd" Arithmetic Base [Wd, Wn, ShiftedWm] [ROR, AMOUNT32] compute(add_sub::shifted_register::<32, SUB, KEEP_FLAGS>)
    SUBS_32_addsub_shift "subs" "01101011hh0mmmmmiiiiiinnnnnddddd" Arithmetic Base [Wd, Wn, ShiftedWm] [ROR, AMOUNT32] compute(add_sub::shifted_register::<32, SUB, SET_FLAGS>)
    ADD_64_addsub_shift  "add"  "10001011hh0mmmmmiiiiiinnnnnddddd" Arithmetic Base [Xd, Xn, ShiftedXm] [ROR]           compute(add_sub::shifted_register::<64, ADD, KEEP_FLAGS>)
    ADDS_64_addsub_shift "adds" "10101011hh0mmmmmiiiiiinnnnnddddd" Arithmetic Base [Xd, Xn, ShiftedXm] [ROR]           compute(add_sub::shifted_register::<64, ADD, SET_FLAGS>)
    SUB_64_addsub_shift  "sub"  "11001011hh0mmmmmiiiiiinnnnnddddd" Arithmetic Base [Xd, Xn, ShiftedXm] [ROR]           compute(add_sub::shifted_register::<64, SUB, KEEP_FLAGS>)
    SUBS_64_addsub_shift "subs" "11101011hh0mmmmmiiiiiinnnnnddddd" Arithmetic Base [Xd, Xn, ShiftedXm] [ROR]           compute(add_sub::shifted_register::<64, SUB, SET_FLAGS>)

    // Add/subtract (extended register): addsub_ext
    ADD_32_addsub_ext   "add"  "00001011001mmmmmoooiiinnnnnddddd" Arithmetic Base [WdSp, WnSp, ExtendedWm] [EXTEND5, EXTEND6] compute(add_sub::extended_register::<32, ADD, KEEP_FLAGS>)
    ADDS_32S_addsub_ext "adds" "00101011001mmmmmoooiiinnnnnddddd" Arithmetic Base [Wd, WnSp, ExtendedWm]   [EXTEND5, EXTEND6] compute(add_sub::extended_register::<32, ADD, SET_FLAGS>)
    SUB_32_addsub_ext   "sub"  "01001011001mmmmmoooiiinnnnnddddd" Arithmetic Base [WdSp, WnSp, ExtendedWm] [EXTEND5, EXTEND6] compute(add_sub::extended_register::<32, SUB, KEEP_FLAGS>)
    SUBS_32S_addsub_ext "subs" "01101011001mmmmmoooiiinnnnnddddd" Arithmetic Base [Wd, WnSp, ExtendedWm]   [EXTEND5, EXTEND6] compute(add_sub::extended_register::<32, SUB, SET_FLAGS>)
    ADD_64_addsub_ext   "add"  "10001011001mmmmmoooiiinnnnnddddd" Arithmetic Base [XdSp, XnSp, ExtendedXm] [EXTEND5, EXTEND6] compute(add_sub::extended_register::<64, ADD, KEEP_FLAGS>)
    ADDS_64S_addsub_ext "adds" "10101011001mmmmmoooiiinnnnnddddd" Arithmetic Base [Xd, XnSp, ExtendedXm]   [EXTEND5, EXTEND6] compute(add_sub::extended_register::<64, ADD, SET_FLAGS>)
    SUB_64_addsub_ext   "sub"  "11001011001mmmmmoooiiinnnnnddddd" Arithmetic Base [XdSp, XnSp, ExtendedXm] [EXTEND5, EXTEND6] compute(add_sub::extended_register::<64, SUB, KEEP_FLAGS>)
    SUBS_64S_addsub_ext "subs" "11101011001mmmmmoooiiinnnnnddddd" Arithmetic Base [Xd, XnSp, ExtendedXm]   [EXTEND5, EXTEND6] compute(add_sub::extended_register::<64, SUB, SET_FLAGS>)

    // Add/subtract (with carry): addsub_carry
    ADC_32_addsub_carry  "adc"  "00011010000mmmmm000000nnnnnddddd" Arithmetic Base [Wd, Wn, Wm] [] compute(add_sub::with_carry::<32, ADD, KEEP_FLAGS>)
    ADCS_32_addsub_carry "adcs" "00111010000mmmmm000000nnnnnddddd" Arithmetic Base [Wd, Wn, Wm] [] compute(add_sub::with_carry::<32, ADD, SET_FLAGS>)
    SBC_32_addsub_carry  "sbc"  "01011010000mmmmm000000nnnnnddddd" Arithmetic Base [Wd, Wn, Wm] [] compute(add_sub::with_carry::<32, SUB, KEEP_FLAGS>)
    SBCS_32_addsub_carry "sbcs" "01111010000mmmmm000000nnnnnddddd" Arithmetic Base [Wd, Wn, Wm] [] compute(add_sub::with_carry::<32, SUB, SET_FLAGS>)
    ADC_64_addsub_carry  "adc"  "10011010000mmmmm000000nnnnnddddd" Arithmetic Base [Xd, Xn, Xm] [] compute(add_sub::with_carry::<64, ADD, KEEP_FLAGS>)
    ADCS_64_addsub_carry "adcs" "10111010000mmmmm000000nnnnnddddd" Arithmetic Base [Xd, Xn, Xm] [] compute(add_sub::with_carry::<64, ADD, SET_FLAGS>)
    SBC_64_addsub_carry  "sbc"  "11011010000mmmmm000000nnnnnddddd" Arithmetic Base [Xd, Xn, Xm] [] compute(add_sub::with_carry::<64, SUB, KEEP_FLAGS>)
    SBCS_64_addsub_carry "sbcs" "11111010000mmmmm000000nnnnnddddd" Arithmetic Base [Xd, Xn, Xm] [] compute(add_sub::with_carry::<64, SUB, SET_FLAGS>)

    // Armv9.5 CPA (addsub_pt): ADDPT_64 SUBPT_64

    // Armv8.4 FlagM (rmif): RMIF_only

    // Armv8.4 FlagM (setf): SETF8_only SETF16_only

    // Conditional compare (register): condcmp_reg
    CCMN_32_condcmp_reg "ccmn" "00111010010mmmmmcccc00nnnnn0ffff" Arithmetic Base [Wn, Wm, Nzcv, Cond] [] compute(conditional::compare_register::<32, ADD>)
    CCMP_32_condcmp_reg "ccmp" "01111010010mmmmmcccc00nnnnn0ffff" Arithmetic Base [Wn, Wm, Nzcv, Cond] [] compute(conditional::compare_register::<32, SUB>)
    CCMN_64_condcmp_reg "ccmn" "10111010010mmmmmcccc00nnnnn0ffff" Arithmetic Base [Xn, Xm, Nzcv, Cond] [] compute(conditional::compare_register::<64, ADD>)
    CCMP_64_condcmp_reg "ccmp" "11111010010mmmmmcccc00nnnnn0ffff" Arithmetic Base [Xn, Xm, Nzcv, Cond] [] compute(conditional::compare_register::<64, SUB>)

    // Conditional compare (immediate): condcmp_imm
    CCMN_32_condcmp_imm "ccmn" "00111010010iiiiicccc10nnnnn0ffff" Arithmetic Base [Wn, Imm5, Nzcv, Cond] [] compute(conditional::compare_immediate::<32, ADD>)
    CCMP_32_condcmp_imm "ccmp" "01111010010iiiiicccc10nnnnn0ffff" Arithmetic Base [Wn, Imm5, Nzcv, Cond] [] compute(conditional::compare_immediate::<32, SUB>)
    CCMN_64_condcmp_imm "ccmn" "10111010010iiiiicccc10nnnnn0ffff" Arithmetic Base [Xn, Imm5, Nzcv, Cond] [] compute(conditional::compare_immediate::<64, ADD>)
    CCMP_64_condcmp_imm "ccmp" "11111010010iiiiicccc10nnnnn0ffff" Arithmetic Base [Xn, Imm5, Nzcv, Cond] [] compute(conditional::compare_immediate::<64, SUB>)

    // Conditional select: condsel
    CSEL_32_condsel  "csel"  "00011010100mmmmmcccc00nnnnnddddd" Arithmetic Base [Wd, Wn, Wm, Cond] [] compute(conditional::csel::<32>)
    CSINC_32_condsel "csinc" "00011010100mmmmmcccc01nnnnnddddd" Arithmetic Base [Wd, Wn, Wm, Cond] [] compute(conditional::csinc::<32>)
    CSINV_32_condsel "csinv" "01011010100mmmmmcccc00nnnnnddddd" Arithmetic Base [Wd, Wn, Wm, Cond] [] compute(conditional::csinv::<32>)
    CSNEG_32_condsel "csneg" "01011010100mmmmmcccc01nnnnnddddd" Arithmetic Base [Wd, Wn, Wm, Cond] [] compute(conditional::csneg::<32>)
    CSEL_64_condsel  "csel"  "10011010100mmmmmcccc00nnnnnddddd" Arithmetic Base [Xd, Xn, Xm, Cond] [] compute(conditional::csel::<64>)
    CSINC_64_condsel "csinc" "10011010100mmmmmcccc01nnnnnddddd" Arithmetic Base [Xd, Xn, Xm, Cond] [] compute(conditional::csinc::<64>)
    CSINV_64_condsel "csinv" "11011010100mmmmmcccc00nnnnnddddd" Arithmetic Base [Xd, Xn, Xm, Cond] [] compute(conditional::csinv::<64>)
    CSNEG_64_condsel "csneg" "11011010100mmmmmcccc01nnnnnddddd" Arithmetic Base [Xd, Xn, Xm, Cond] [] compute(conditional::csneg::<64>)

    // Data-processing (3 source): dp_3src
    MADD_32A_dp_3src    "madd"   "00011011000mmmmm0aaaaannnnnddddd" MulDiv Base [Wd, Wn, Wm, Wa] [] compute(multiply::madd::<32>)
    MSUB_32A_dp_3src    "msub"   "00011011000mmmmm1aaaaannnnnddddd" MulDiv Base [Wd, Wn, Wm, Wa] [] compute(multiply::msub::<32>)
    MADD_64A_dp_3src    "madd"   "10011011000mmmmm0aaaaannnnnddddd" MulDiv Base [Xd, Xn, Xm, Xa] [] compute(multiply::madd::<64>)
    MSUB_64A_dp_3src    "msub"   "10011011000mmmmm1aaaaannnnnddddd" MulDiv Base [Xd, Xn, Xm, Xa] [] compute(multiply::msub::<64>)
    SMADDL_64WA_dp_3src "smaddl" "10011011001mmmmm0aaaaannnnnddddd" MulDiv Base [Xd, Wn, Wm, Xa] [] compute(multiply::smaddl)
    SMSUBL_64WA_dp_3src "smsubl" "10011011001mmmmm1aaaaannnnnddddd" MulDiv Base [Xd, Wn, Wm, Xa] [] compute(multiply::smsubl)
    SMULH_64_dp_3src    "smulh"  "10011011010mmmmm0+++++nnnnnddddd" MulDiv Base [Xd, Xn, Xm]     [] compute(multiply::smulh)
    UMADDL_64WA_dp_3src "umaddl" "10011011101mmmmm0aaaaannnnnddddd" MulDiv Base [Xd, Wn, Wm, Xa] [] compute(multiply::umaddl)
    UMSUBL_64WA_dp_3src "umsubl" "10011011101mmmmm1aaaaannnnnddddd" MulDiv Base [Xd, Wn, Wm, Xa] [] compute(multiply::umsubl)
    UMULH_64_dp_3src    "umulh"  "10011011110mmmmm0+++++nnnnnddddd" MulDiv Base [Xd, Xn, Xm]     [] compute(multiply::umulh)
    // Armv9.5 CPA (dp_3src): MADDPT_64A MSUBPT_64A

    // Data processing (scalar floating-point and Advanced SIMD)

    // Armv8.0 FP and AdvSIMD, with later extensions (simd_dp): 867 encodings

} } }
pub(crate) use for_each_encoding;
