//! Rows of the instruction table: branches, exceptions and system instructions.

macro_rules! control_rows { ($consumer:ident [$next:ident $($later:ident)*] $($before:tt)*) => { $next! { $consumer [$($later)*] $($before)*
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
    XPACLRI_HI_hints   "xpaclri"   "11010101000000110010000011111111" System PAuth []              [] compute(pauth::link_zero::<POINTER_STRIP, KEY_IA>)
    PACIA1716_HI_hints "pacia1716" "11010101000000110010000100011111" System PAuth []              [] compute(pauth::x17_x16::<POINTER_SIGN, KEY_IA>)
    PACIB1716_HI_hints "pacib1716" "11010101000000110010000101011111" System PAuth []              [] compute(pauth::x17_x16::<POINTER_SIGN, KEY_IB>)
    AUTIA1716_HI_hints "autia1716" "11010101000000110010000110011111" System PAuth []              [] compute(pauth::x17_x16::<POINTER_AUTHENTICATE, KEY_IA>)
    AUTIB1716_HI_hints "autib1716" "11010101000000110010000111011111" System PAuth []              [] compute(pauth::x17_x16::<POINTER_AUTHENTICATE, KEY_IB>)
    ESB_HI_hints       "esb"       "11010101000000110010001000011111" System Base []              [] compute(system::nop)
    PSB_HC_hints       "psb"       "11010101000000110010001000111111" System Base [Text("csync")] [] compute(system::nop)
    TSB_HC_hints       "tsb"       "11010101000000110010001001011111" System Base [Text("csync")] [] compute(system::nop)
    GCSB_HD_hints      "gcsb"      "11010101000000110010001001111111" System Base [Text("dsync")] [] compute(system::nop)
    CSDB_HI_hints      "csdb"      "11010101000000110010001010011111" System Base []              [] compute(system::nop)
    CLRBHB_HI_hints    "clrbhb"    "11010101000000110010001011011111" System Base []              [] compute(system::nop)
    PACIAZ_HI_hints    "paciaz"    "11010101000000110010001100011111" System PAuth []              [] compute(pauth::link_zero::<POINTER_SIGN, KEY_IA>)
    PACIASP_HI_hints   "paciasp"   "11010101000000110010001100111111" System PAuth []              [] compute(pauth::link_sp::<POINTER_SIGN, KEY_IA>)
    PACIBZ_HI_hints    "pacibz"    "11010101000000110010001101011111" System PAuth []              [] compute(pauth::link_zero::<POINTER_SIGN, KEY_IB>)
    PACIBSP_HI_hints   "pacibsp"   "11010101000000110010001101111111" System PAuth []              [] compute(pauth::link_sp::<POINTER_SIGN, KEY_IB>)
    AUTIAZ_HI_hints    "autiaz"    "11010101000000110010001110011111" System PAuth []              [] compute(pauth::link_zero::<POINTER_AUTHENTICATE, KEY_IA>)
    AUTIASP_HI_hints   "autiasp"   "11010101000000110010001110111111" System PAuth []              [] compute(pauth::link_sp::<POINTER_AUTHENTICATE, KEY_IA>)
    AUTIBZ_HI_hints    "autibz"    "11010101000000110010001111011111" System PAuth []              [] compute(pauth::link_zero::<POINTER_AUTHENTICATE, KEY_IB>)
    AUTIBSP_HI_hints   "autibsp"   "11010101000000110010001111111111" System PAuth []              [] compute(pauth::link_sp::<POINTER_AUTHENTICATE, KEY_IB>)
    BTI_HB_hints       "bti"       "110101010000001100100100qq011111" System Base [BtiTarget]     [] compute(system::nop)
    CHKFEAT_HF_hints   "chkfeat"   "11010101000000110010010100011111" System Base [Text("x16")]   [] compute(system::nop)
    HINT_HM_hints      "hint"      "11010101000000110010MMMMqqq11111" System Base [HintImm]       [] compute(system::nop)
    // Armv9.5 and later, as HINT (hints): PACM_HI STSHH_HI SHUH_HI STCPH_HI SRLS_HI SLBND_HI

    // Barriers: barriers
    CLREX_BN_barriers "clrex" "11010101000000110011MMMM01011111" System Base [CrmOption] [] compute(system::clrex)
    DSB_BO_barriers   "dsb"   "11010101000000110011MMMM10011111" System Base [Barrier]   [] compute(system::nop)
    DMB_BO_barriers   "dmb"   "11010101000000110011MMMM10111111" System Base [Barrier]   [] compute(system::nop)
    ISB_BI_barriers   "isb"   "11010101000000110011MMMM11011111" System Base [CrmOption] [] compute(system::nop)
    SB_only_barriers  "sb"    "11010101000000110011----11111111" System Sb   []          [] compute(system::nop)
    // Armv8.7 XS (barriers): DSB_BOn

    // PSTATE: pstate
    CFINV_M_pstate  "cfinv"  "11010101000000000100----00011111" System FlagM  [] [] compute(flags::cfinv)
    XAFLAG_M_pstate "xaflag" "11010101000000000100----00111111" System FlagM2 [] [] compute(flags::xaflag)
    AXFLAG_M_pstate "axflag" "11010101000000000100----01011111" System FlagM2 [] [] compute(flags::axflag)
    MSR_SI_pstate   "msr"    "1101010100000ppp0100MMMMqqq11111" System Base   [PstateField, CrmImm] [] system(system::msr_immediate)

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
    BRAAZ_64_branch_reg "braaz" "1101011000011111000010nnnnn11111" System PAuth [Xn] [] branch(pauth::branch_zero::<false, KEY_IA>)
    BRABZ_64_branch_reg "brabz" "1101011000011111000011nnnnn11111" System PAuth [Xn] [] branch(pauth::branch_zero::<false, KEY_IB>)
    BLRAAZ_64_branch_reg "blraaz" "1101011000111111000010nnnnn11111" System PAuth [Xn] [] branch(pauth::branch_zero::<true, KEY_IA>)
    BLRABZ_64_branch_reg "blrabz" "1101011000111111000011nnnnn11111" System PAuth [Xn] [] branch(pauth::branch_zero::<true, KEY_IB>)
    RETAA_64E_branch_reg "retaa" "11010110010111110000101111111111" System PAuth [] [] branch(pauth::ret::<KEY_IA>)
    RETAB_64E_branch_reg "retab" "11010110010111110000111111111111" System PAuth [] [] branch(pauth::ret::<KEY_IB>)
    ERETAA_64E_branch_reg "eretaa" "11010110100111110000101111111111" System PAuth [] [] system(system::undefined)
    ERETAB_64E_branch_reg "eretab" "11010110100111110000111111111111" System PAuth [] [] system(system::undefined)
    BRAA_64P_branch_reg "braa" "1101011100011111000010nnnnnddddd" System PAuth [Xn, XdSp] [] branch(pauth::branch_register::<false, KEY_IA>)
    BRAB_64P_branch_reg "brab" "1101011100011111000011nnnnnddddd" System PAuth [Xn, XdSp] [] branch(pauth::branch_register::<false, KEY_IB>)
    BLRAA_64P_branch_reg "blraa" "1101011100111111000010nnnnnddddd" System PAuth [Xn, XdSp] [] branch(pauth::branch_register::<true, KEY_IA>)
    BLRAB_64P_branch_reg "blrab" "1101011100111111000011nnnnnddddd" System PAuth [Xn, XdSp] [] branch(pauth::branch_register::<true, KEY_IB>)
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
} } }
