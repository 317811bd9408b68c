//! Rows of the instruction table: Advanced SIMD, vectors.

macro_rules! vector_rows { ($consumer:ident [$next:ident $($later:ident)*] $($before:tt)*) => { $next! { $consumer [$($later)*] $($before)*
    // Advanced SIMD table lookup: asimdtbl
    TBL_asimdtbl_L1_1 "tbl" "0Q001110000mmmmm000000nnnnnddddd" ExtendShift Fp [Vd(BYTES), VnTable(1), Vm(BYTES)] [] compute(simd::table::tbl::<1>)
    TBX_asimdtbl_L1_1 "tbx" "0Q001110000mmmmm000100nnnnnddddd" ExtendShift Fp [Vd(BYTES), VnTable(1), Vm(BYTES)] [] compute(simd::table::tbx::<1>)
    TBL_asimdtbl_L2_2 "tbl" "0Q001110000mmmmm001000nnnnnddddd" ExtendShift Fp [Vd(BYTES), VnTable(2), Vm(BYTES)] [] compute(simd::table::tbl::<2>)
    TBX_asimdtbl_L2_2 "tbx" "0Q001110000mmmmm001100nnnnnddddd" ExtendShift Fp [Vd(BYTES), VnTable(2), Vm(BYTES)] [] compute(simd::table::tbx::<2>)
    TBL_asimdtbl_L3_3 "tbl" "0Q001110000mmmmm010000nnnnnddddd" ExtendShift Fp [Vd(BYTES), VnTable(3), Vm(BYTES)] [] compute(simd::table::tbl::<3>)
    TBX_asimdtbl_L3_3 "tbx" "0Q001110000mmmmm010100nnnnnddddd" ExtendShift Fp [Vd(BYTES), VnTable(3), Vm(BYTES)] [] compute(simd::table::tbx::<3>)
    TBL_asimdtbl_L4_4 "tbl" "0Q001110000mmmmm011000nnnnnddddd" ExtendShift Fp [Vd(BYTES), VnTable(4), Vm(BYTES)] [] compute(simd::table::tbl::<4>)
    TBX_asimdtbl_L4_4 "tbx" "0Q001110000mmmmm011100nnnnnddddd" ExtendShift Fp [Vd(BYTES), VnTable(4), Vm(BYTES)] [] compute(simd::table::tbx::<4>)
    // Armv9.5 LUT (asimdtbl): LUTI4_asimdtbl_L7 LUTI4_asimdtbl_L5 LUTI2_asimdtbl_L5 LUTI2_asimdtbl_L6

    // Advanced SIMD permute: asimdperm
    UZP1_asimdperm_only "uzp1" "0Q001110zz0mmmmm000110nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)] [SIZE_D_NO_Q] compute(simd::permute::uzp::<0>)
    TRN1_asimdperm_only "trn1" "0Q001110zz0mmmmm001010nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)] [SIZE_D_NO_Q] compute(simd::permute::trn::<0>)
    ZIP1_asimdperm_only "zip1" "0Q001110zz0mmmmm001110nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)] [SIZE_D_NO_Q] compute(simd::permute::zip::<0>)
    UZP2_asimdperm_only "uzp2" "0Q001110zz0mmmmm010110nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)] [SIZE_D_NO_Q] compute(simd::permute::uzp::<1>)
    TRN2_asimdperm_only "trn2" "0Q001110zz0mmmmm011010nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)] [SIZE_D_NO_Q] compute(simd::permute::trn::<1>)
    ZIP2_asimdperm_only "zip2" "0Q001110zz0mmmmm011110nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)] [SIZE_D_NO_Q] compute(simd::permute::zip::<1>)

    // Advanced SIMD extract: asimdext
    EXT_asimdext_only "ext" "0Q101110000mmmmm0iiii0nnnnnddddd" ExtendShift Fp [Vd(BYTES), Vn(BYTES), Vm(BYTES), ExtIndex] [EXT_BEYOND] compute(simd::permute::ext)

    // Advanced SIMD copy: asimdins
    DUP_asimdins_DV_v "dup"  "0Q001110000iiiii000001nnnnnddddd" ExtendShift Fp [Vd(T5), VnLane]               [IMM5_NONE, IMM5_D_NO_Q] compute(simd::copy::dup_element)
    DUP_asimdins_DR_r "dup"  "0Q001110000iiiii000011nnnnnddddd" ExtendShift Fp [Vd(T5), RnImm5, Imm5Ignored]  [IMM5_NONE, IMM5_D_NO_Q] compute(simd::copy::dup_general)
    SMOV_asimdins_W_w "smov" "00001110000iiiii001011nnnnnddddd" ExtendShift Fp [Wd, VnLane]                   [IMM5_ABOVE_H]           compute(simd::copy::smov::<32>)
    UMOV_asimdins_W_w "umov" "00001110000iiiii001111nnnnnddddd" ExtendShift Fp [Wd, VnLane]                   [IMM5_ABOVE_S]           compute(simd::copy::umov)
    INS_asimdins_IR_r "ins"  "01001110000iiiii000111nnnnnddddd" ExtendShift Fp [VdLane, RnImm5]               [IMM5_NONE]              compute(simd::copy::ins_general)
    SMOV_asimdins_X_x "smov" "01001110000iiiii001011nnnnnddddd" ExtendShift Fp [Xd, VnLane]                   [IMM5_ABOVE_S]           compute(simd::copy::smov::<64>)
    UMOV_asimdins_X_x "umov" "01001110000i1000001111nnnnnddddd" ExtendShift Fp [Xd, VnLane]                   []                       compute(simd::copy::umov)
    INS_asimdins_IV_v "ins"  "01101110000iiiii0iiii1nnnnnddddd" ExtendShift Fp [VdLane, VnLane4, Imm4Ignored] [IMM5_NONE]              compute(simd::copy::ins_element)

    // Armv8.2 FP16 (asimdsamefp16): FMAXNM_asimdsamefp16_only FMLA_asimdsamefp16_only FADD_asimdsamefp16_only FMULX_asimdsamefp16_only
    // FCMEQ_asimdsamefp16_only FMAX_asimdsamefp16_only FRECPS_asimdsamefp16_only FMINNM_asimdsamefp16_only FMLS_asimdsamefp16_only
    // FSUB_asimdsamefp16_only FAMAX_asimdsamefp16_only FMIN_asimdsamefp16_only FRSQRTS_asimdsamefp16_only FMAXNMP_asimdsamefp16_only
    // FADDP_asimdsamefp16_only FMUL_asimdsamefp16_only FCMGE_asimdsamefp16_only FACGE_asimdsamefp16_only FMAXP_asimdsamefp16_only
    // FDIV_asimdsamefp16_only FMINNMP_asimdsamefp16_only FABD_asimdsamefp16_only FAMIN_asimdsamefp16_only FCMGT_asimdsamefp16_only
    // FACGT_asimdsamefp16_only FMINP_asimdsamefp16_only FSCALE_asimdsamefp16_only

    // Armv8.2 FP16 (asimdmiscfp16): FRINTN_asimdmiscfp16_R FRINTM_asimdmiscfp16_R FCVTNS_asimdmiscfp16_R FCVTMS_asimdmiscfp16_R
    // FCVTAS_asimdmiscfp16_R SCVTF_asimdmiscfp16_R FCMGT_asimdmiscfp16_FZ FCMEQ_asimdmiscfp16_FZ FCMLT_asimdmiscfp16_FZ
    // FABS_asimdmiscfp16_R FRINTP_asimdmiscfp16_R FRINTZ_asimdmiscfp16_R FCVTPS_asimdmiscfp16_R FCVTZS_asimdmiscfp16_R
    // FRECPE_asimdmiscfp16_R FRINTA_asimdmiscfp16_R FRINTX_asimdmiscfp16_R FCVTNU_asimdmiscfp16_R FCVTMU_asimdmiscfp16_R
    // FCVTAU_asimdmiscfp16_R UCVTF_asimdmiscfp16_R FCMGE_asimdmiscfp16_FZ FCMLE_asimdmiscfp16_FZ FNEG_asimdmiscfp16_R
    // FRINTI_asimdmiscfp16_R FCVTPU_asimdmiscfp16_R FCVTZU_asimdmiscfp16_R FRSQRTE_asimdmiscfp16_R FSQRT_asimdmiscfp16_R

    // Armv8.1 RDM (asimdsame2): SQRDMLAH_asimdsame2_only SQRDMLSH_asimdsame2_only
    // Armv8.2 DotProd (asimdsame2): SDOT_asimdsame2_D UDOT_asimdsame2_D
    // Armv8.3 FCMA (asimdsame2): FCMLA_asimdsame2_C FCADD_asimdsame2_C
    // Armv8.6 BF16 (asimdsame2): BFDOT_asimdsame2_D BFMLAL_asimdsame2_F_ BFMMLA_asimdsame2_E
    // Armv8.6 I8MM (asimdsame2): USDOT_asimdsame2_D SMMLA_asimdsame2_G USMMLA_asimdsame2_G UMMLA_asimdsame2_G
    // Armv9.5 FP8 (asimdsame2): FCVTN_asimdsame2_H FDOT_asimdsame2_DD FCVTN_asimdsame2_D FDOT_asimdsame2_D FDOT_asimdsame2_FP16FP32
    // FMLALLBB_asimdsame2_G FMLALLBT_asimdsame2_G FMLALB_asimdsame2_J FMLALLTB_asimdsame2_G FMLALLTT_asimdsame2_G FMMLA_asimd_FP16FP16
    // FMLALT_asimdsame2_J FMMLA_asimd_FP8FP16 FMMLA_asimd_FP16FP32 FMMLA_asimd_FP8FP32

    // Advanced SIMD two-register miscellaneous: asimdmisc
    REV64_asimdmisc_R   "rev64"     "0Q001110zz100000000010nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T)]                 [SIZE_D]                compute(simd::misc::rev64)
    REV16_asimdmisc_R   "rev16"     "0Q001110zz100000000110nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T)]                 [NOT_B_HIGH, NOT_B_LOW] compute(simd::misc::rev16)
    SADDLP_asimdmisc_P  "saddlp"    "0Q001110zz100000001010nnnnnddddd" Arithmetic  Fp [Vd(PAIRED), Vn(T)]            [SIZE_D]                compute(simd::pairwise::saddlp)
    SUQADD_asimdmisc_R  "suqadd"    "0Q001110zz100000001110nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T)]                 [SIZE_D_NO_Q]           compute(simd::misc::suqadd)
    CLS_asimdmisc_R     "cls"       "0Q001110zz100000010010nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T)]                 [SIZE_D]                compute(simd::misc::cls)
    CNT_asimdmisc_R     "cnt"       "0Q001110zz100000010110nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T)]                 [NOT_B_HIGH, NOT_B_LOW] compute(simd::misc::cnt)
    SADALP_asimdmisc_P  "sadalp"    "0Q001110zz100000011010nnnnnddddd" Arithmetic  Fp [Vd(PAIRED), Vn(T)]            [SIZE_D]                compute(simd::pairwise::sadalp)
    SQABS_asimdmisc_R   "sqabs"     "0Q001110zz100000011110nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T)]                 [SIZE_D_NO_Q]           compute(simd::misc::sqabs)
    CMGT_asimdmisc_Z    "cmgt"      "0Q001110zz100000100010nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Text("#0")]     [SIZE_D_NO_Q]           compute(simd::misc::cmgt_zero)
    CMEQ_asimdmisc_Z    "cmeq"      "0Q001110zz100000100110nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Text("#0")]     [SIZE_D_NO_Q]           compute(simd::misc::cmeq_zero)
    CMLT_asimdmisc_Z    "cmlt"      "0Q001110zz100000101010nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Text("#0")]     [SIZE_D_NO_Q]           compute(simd::misc::cmlt_zero)
    ABS_asimdmisc_R     "abs"       "0Q001110zz100000101110nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T)]                 [SIZE_D_NO_Q]           compute(simd::misc::abs)
    XTN_asimdmisc_N     "xtn{2}"    "0Q001110zz100001001010nnnnnddddd" ExtendShift Fp [Vd(T), Vn(LONG)]              [SIZE_D]                compute(simd::narrow::xtn)
    SQXTN_asimdmisc_N   "sqxtn{2}"  "0Q001110zz100001010010nnnnnddddd" ExtendShift Fp [Vd(T), Vn(LONG)]              [SIZE_D]                compute(simd::narrow::sqxtn)
    FCVTN_asimdmisc_N   "fcvtn{2}"  "0Q0011100z100001011010nnnnnddddd" ExtendShift Fp [Vd(TF_NARROW), Vn(TF_LONG)]   []                      compute(simd::convert::fcvtn)
    FCVTL_asimdmisc_L   "fcvtl{2}"  "0Q0011100z100001011110nnnnnddddd" ExtendShift Fp [Vd(TF_LONG), Vn(TF_NARROW)]   []                      compute(simd::convert::fcvtl)
    FRINTN_asimdmisc_R  "frintn"    "0Q0011100z100001100010nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::frintn)
    FRINTM_asimdmisc_R  "frintm"    "0Q0011100z100001100110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::frintm)
    FCVTNS_asimdmisc_R  "fcvtns"    "0Q0011100z100001101010nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::to_integers::<false, ROUND_TIE_EVEN>)
    FCVTMS_asimdmisc_R  "fcvtms"    "0Q0011100z100001101110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::to_integers::<false, ROUND_NEGATIVE>)
    FCVTAS_asimdmisc_R  "fcvtas"    "0Q0011100z100001110010nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::to_integers::<false, ROUND_TIE_AWAY>)
    SCVTF_asimdmisc_R   "scvtf"     "0Q0011100z100001110110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::from_integers::<false>)
    FCMGT_asimdmisc_FZ  "fcmgt"     "0Q0011101z100000110010nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Text("#0.0")] [D_NO_Q]                compute(simd::compare::fcmgt_zero)
    FCMEQ_asimdmisc_FZ  "fcmeq"     "0Q0011101z100000110110nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Text("#0.0")] [D_NO_Q]                compute(simd::compare::fcmeq_zero)
    FCMLT_asimdmisc_FZ  "fcmlt"     "0Q0011101z100000111010nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Text("#0.0")] [D_NO_Q]                compute(simd::compare::fcmlt_zero)
    FABS_asimdmisc_R    "fabs"      "0Q0011101z100000111110nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::fabs)
    FRINTP_asimdmisc_R  "frintp"    "0Q0011101z100001100010nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::frintp)
    FRINTZ_asimdmisc_R  "frintz"    "0Q0011101z100001100110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::frintz)
    FCVTPS_asimdmisc_R  "fcvtps"    "0Q0011101z100001101010nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::to_integers::<false, ROUND_POSITIVE>)
    FCVTZS_asimdmisc_R  "fcvtzs"    "0Q0011101z100001101110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::to_integers::<false, ROUND_ZERO>)
    URECPE_asimdmisc_R  "urecpe"    "0Q0011101z100001110010nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [SZ_D]                  compute(simd::float::urecpe)
    FRECPE_asimdmisc_R  "frecpe"    "0Q0011101z100001110110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::frecpe)
    REV32_asimdmisc_R   "rev32"     "0Q101110zz100000000010nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T)]                 [NOT_B_HIGH]            compute(simd::misc::rev32)
    UADDLP_asimdmisc_P  "uaddlp"    "0Q101110zz100000001010nnnnnddddd" Arithmetic  Fp [Vd(PAIRED), Vn(T)]            [SIZE_D]                compute(simd::pairwise::uaddlp)
    USQADD_asimdmisc_R  "usqadd"    "0Q101110zz100000001110nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T)]                 [SIZE_D_NO_Q]           compute(simd::misc::usqadd)
    CLZ_asimdmisc_R     "clz"       "0Q101110zz100000010010nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T)]                 [SIZE_D]                compute(simd::misc::clz)
    UADALP_asimdmisc_P  "uadalp"    "0Q101110zz100000011010nnnnnddddd" Arithmetic  Fp [Vd(PAIRED), Vn(T)]            [SIZE_D]                compute(simd::pairwise::uadalp)
    SQNEG_asimdmisc_R   "sqneg"     "0Q101110zz100000011110nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T)]                 [SIZE_D_NO_Q]           compute(simd::misc::sqneg)
    CMGE_asimdmisc_Z    "cmge"      "0Q101110zz100000100010nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Text("#0")]     [SIZE_D_NO_Q]           compute(simd::misc::cmge_zero)
    CMLE_asimdmisc_Z    "cmle"      "0Q101110zz100000100110nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Text("#0")]     [SIZE_D_NO_Q]           compute(simd::misc::cmle_zero)
    NEG_asimdmisc_R     "neg"       "0Q101110zz100000101110nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T)]                 [SIZE_D_NO_Q]           compute(simd::misc::neg)
    SQXTUN_asimdmisc_N  "sqxtun{2}" "0Q101110zz100001001010nnnnnddddd" ExtendShift Fp [Vd(T), Vn(LONG)]              [SIZE_D]                compute(simd::narrow::sqxtun)
    SHLL_asimdmisc_S    "shll{2}"   "0Q101110zz100001001110nnnnnddddd" ExtendShift Fp [Vd(LONG), Vn(T), ShiftSize]   [SIZE_D]                compute(simd::shift::shll)
    UQXTN_asimdmisc_N   "uqxtn{2}"  "0Q101110zz100001010010nnnnnddddd" ExtendShift Fp [Vd(T), Vn(LONG)]              [SIZE_D]                compute(simd::narrow::uqxtn)
    FCVTXN_asimdmisc_N  "fcvtxn{2}" "0Q10111001100001011010nnnnnddddd" ExtendShift Fp [Vd(WORDS), Vn(V2D)]           []                      compute(simd::convert::fcvtxn)
    FRINTA_asimdmisc_R  "frinta"    "0Q1011100z100001100010nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::frinta)
    FRINTX_asimdmisc_R  "frintx"    "0Q1011100z100001100110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::frintx)
    FCVTNU_asimdmisc_R  "fcvtnu"    "0Q1011100z100001101010nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::to_integers::<true, ROUND_TIE_EVEN>)
    FCVTMU_asimdmisc_R  "fcvtmu"    "0Q1011100z100001101110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::to_integers::<true, ROUND_NEGATIVE>)
    FCVTAU_asimdmisc_R  "fcvtau"    "0Q1011100z100001110010nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::to_integers::<true, ROUND_TIE_AWAY>)
    UCVTF_asimdmisc_R   "ucvtf"     "0Q1011100z100001110110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::from_integers::<true>)
    NOT_asimdmisc_R     "not"       "0Q10111000100000010110nnnnnddddd" Logical     Fp [Vd(BYTES), Vn(BYTES)]         []                      compute(simd::misc::not)
    RBIT_asimdmisc_R    "rbit"      "0Q10111001100000010110nnnnnddddd" Logical     Fp [Vd(BYTES), Vn(BYTES)]         []                      compute(simd::misc::rbit)
    FCMGE_asimdmisc_FZ  "fcmge"     "0Q1011101z100000110010nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Text("#0.0")] [D_NO_Q]                compute(simd::compare::fcmge_zero)
    FCMLE_asimdmisc_FZ  "fcmle"     "0Q1011101z100000110110nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Text("#0.0")] [D_NO_Q]                compute(simd::compare::fcmle_zero)
    FNEG_asimdmisc_R    "fneg"      "0Q1011101z100000111110nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::fneg)
    FRINTI_asimdmisc_R  "frinti"    "0Q1011101z100001100110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::frinti)
    FCVTPU_asimdmisc_R  "fcvtpu"    "0Q1011101z100001101010nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::to_integers::<true, ROUND_POSITIVE>)
    FCVTZU_asimdmisc_R  "fcvtzu"    "0Q1011101z100001101110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::convert::to_integers::<true, ROUND_ZERO>)
    URSQRTE_asimdmisc_R "ursqrte"   "0Q1011101z100001110010nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [SZ_D]                  compute(simd::float::ursqrte)
    FRSQRTE_asimdmisc_R "frsqrte"   "0Q1011101z100001110110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::frsqrte)
    FSQRT_asimdmisc_R   "fsqrt"     "0Q1011101z100001111110nnnnnddddd" ExtendShift Fp [Vd(TF), Vn(TF)]               [D_NO_Q]                compute(simd::float::fsqrt)
    // Armv8.5 FRINTTS (asimdmisc): FRINT32Z_asimdmisc_R FRINT64Z_asimdmisc_R FRINT32X_asimdmisc_R FRINT64X_asimdmisc_R
    // Armv8.6 BF16 (asimdmisc): BFCVTN_asimdmisc_4S
    // Armv9.5 FP8 (asimdmisc): F1CVTL_asimdmisc_V F2CVTL_asimdmisc_V BF1CVTL_asimdmisc_V BF2CVTL_asimdmisc_V

    // Advanced SIMD across lanes: asimdall
    SADDLV_asimdall_only     "saddlv"  "0Q001110zz110000001110nnnnnddddd" Arithmetic Fp [Vd(SIZE_LONG), Vn(T)] [SIZE_D, SIZE_S_NO_Q] compute(simd::across::saddlv)
    SMAXV_asimdall_only      "smaxv"   "0Q001110zz110000101010nnnnnddddd" Arithmetic Fp [Vd(SIZE), Vn(T)]      [SIZE_D, SIZE_S_NO_Q] compute(simd::across::smaxv)
    SMINV_asimdall_only      "sminv"   "0Q001110zz110001101010nnnnnddddd" Arithmetic Fp [Vd(SIZE), Vn(T)]      [SIZE_D, SIZE_S_NO_Q] compute(simd::across::sminv)
    ADDV_asimdall_only       "addv"    "0Q001110zz110001101110nnnnnddddd" Arithmetic Fp [Vd(SIZE), Vn(T)]      [SIZE_D, SIZE_S_NO_Q] compute(simd::across::addv)
    UADDLV_asimdall_only     "uaddlv"  "0Q101110zz110000001110nnnnnddddd" Arithmetic Fp [Vd(SIZE_LONG), Vn(T)] [SIZE_D, SIZE_S_NO_Q] compute(simd::across::uaddlv)
    UMAXV_asimdall_only      "umaxv"   "0Q101110zz110000101010nnnnnddddd" Arithmetic Fp [Vd(SIZE), Vn(T)]      [SIZE_D, SIZE_S_NO_Q] compute(simd::across::umaxv)
    UMINV_asimdall_only      "uminv"   "0Q101110zz110001101010nnnnnddddd" Arithmetic Fp [Vd(SIZE), Vn(T)]      [SIZE_D, SIZE_S_NO_Q] compute(simd::across::uminv)
    FMAXNMV_asimdall_only_SD "fmaxnmv" "0110111000110000110010nnnnnddddd" Arithmetic Fp [Vd(S), Vn(V4S)]       []                    compute(simd::float::across::<FP_MAX_NUM>)
    FMAXV_asimdall_only_SD   "fmaxv"   "0110111000110000111110nnnnnddddd" Arithmetic Fp [Vd(S), Vn(V4S)]       []                    compute(simd::float::across::<FP_MAX>)
    FMINNMV_asimdall_only_SD "fminnmv" "0110111010110000110010nnnnnddddd" Arithmetic Fp [Vd(S), Vn(V4S)]       []                    compute(simd::float::across::<FP_MIN_NUM>)
    FMINV_asimdall_only_SD   "fminv"   "0110111010110000111110nnnnnddddd" Arithmetic Fp [Vd(S), Vn(V4S)]       []                    compute(simd::float::across::<FP_MIN>)
    // Armv8.2 FP16 (asimdall): FMAXNMV_asimdall_only_H FMAXV_asimdall_only_H FMINNMV_asimdall_only_H FMINV_asimdall_only_H

    // Advanced SIMD three different: asimddiff
    SADDL_asimddiff_L   "saddl{2}"   "0Q001110zz1mmmmm000000nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::saddl)
    SADDW_asimddiff_W   "saddw{2}"   "0Q001110zz1mmmmm000100nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(LONG), Vm(T)] [SIZE_D]         compute(simd::long::saddw)
    SSUBL_asimddiff_L   "ssubl{2}"   "0Q001110zz1mmmmm001000nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::ssubl)
    SSUBW_asimddiff_W   "ssubw{2}"   "0Q001110zz1mmmmm001100nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(LONG), Vm(T)] [SIZE_D]         compute(simd::long::ssubw)
    ADDHN_asimddiff_N   "addhn{2}"   "0Q001110zz1mmmmm010000nnnnnddddd" Arithmetic Fp [Vd(T), Vn(LONG), Vm(LONG)] [SIZE_D]         compute(simd::long::addhn)
    SABAL_asimddiff_L   "sabal{2}"   "0Q001110zz1mmmmm010100nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::sabal)
    SUBHN_asimddiff_N   "subhn{2}"   "0Q001110zz1mmmmm011000nnnnnddddd" Arithmetic Fp [Vd(T), Vn(LONG), Vm(LONG)] [SIZE_D]         compute(simd::long::subhn)
    SABDL_asimddiff_L   "sabdl{2}"   "0Q001110zz1mmmmm011100nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::sabdl)
    SMLAL_asimddiff_L   "smlal{2}"   "0Q001110zz1mmmmm100000nnnnnddddd" MulDiv     Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::smlal)
    SQDMLAL_asimddiff_L "sqdmlal{2}" "0Q001110zz1mmmmm100100nnnnnddddd" MulDiv     Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_B, SIZE_D] compute(simd::long::sqdmlal)
    SMLSL_asimddiff_L   "smlsl{2}"   "0Q001110zz1mmmmm101000nnnnnddddd" MulDiv     Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::smlsl)
    SQDMLSL_asimddiff_L "sqdmlsl{2}" "0Q001110zz1mmmmm101100nnnnnddddd" MulDiv     Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_B, SIZE_D] compute(simd::long::sqdmlsl)
    SMULL_asimddiff_L   "smull{2}"   "0Q001110zz1mmmmm110000nnnnnddddd" MulDiv     Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::smull)
    SQDMULL_asimddiff_L "sqdmull{2}" "0Q001110zz1mmmmm110100nnnnnddddd" MulDiv     Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_B, SIZE_D] compute(simd::long::sqdmull)
    PMULL_asimddiff_L   "pmull{2}"   "0Q001110zz1mmmmm111000nnnnnddddd" MulDiv     Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_H, SIZE_S] compute(simd::polynomial::pmull)
    UADDL_asimddiff_L   "uaddl{2}"   "0Q101110zz1mmmmm000000nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::uaddl)
    UADDW_asimddiff_W   "uaddw{2}"   "0Q101110zz1mmmmm000100nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(LONG), Vm(T)] [SIZE_D]         compute(simd::long::uaddw)
    USUBL_asimddiff_L   "usubl{2}"   "0Q101110zz1mmmmm001000nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::usubl)
    USUBW_asimddiff_W   "usubw{2}"   "0Q101110zz1mmmmm001100nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(LONG), Vm(T)] [SIZE_D]         compute(simd::long::usubw)
    RADDHN_asimddiff_N  "raddhn{2}"  "0Q101110zz1mmmmm010000nnnnnddddd" Arithmetic Fp [Vd(T), Vn(LONG), Vm(LONG)] [SIZE_D]         compute(simd::long::raddhn)
    UABAL_asimddiff_L   "uabal{2}"   "0Q101110zz1mmmmm010100nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::uabal)
    RSUBHN_asimddiff_N  "rsubhn{2}"  "0Q101110zz1mmmmm011000nnnnnddddd" Arithmetic Fp [Vd(T), Vn(LONG), Vm(LONG)] [SIZE_D]         compute(simd::long::rsubhn)
    UABDL_asimddiff_L   "uabdl{2}"   "0Q101110zz1mmmmm011100nnnnnddddd" Arithmetic Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::uabdl)
    UMLAL_asimddiff_L   "umlal{2}"   "0Q101110zz1mmmmm100000nnnnnddddd" MulDiv     Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::umlal)
    UMLSL_asimddiff_L   "umlsl{2}"   "0Q101110zz1mmmmm101000nnnnnddddd" MulDiv     Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::umlsl)
    UMULL_asimddiff_L   "umull{2}"   "0Q101110zz1mmmmm110000nnnnnddddd" MulDiv     Fp [Vd(LONG), Vn(T), Vm(T)]    [SIZE_D]         compute(simd::long::umull)

    // Advanced SIMD three same: asimdsame
    SHADD_asimdsame_only    "shadd"    "0Q001110zz1mmmmm000001nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::shadd)
    SQADD_asimdsame_only    "sqadd"    "0Q001110zz1mmmmm000011nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::sqadd)
    SRHADD_asimdsame_only   "srhadd"   "0Q001110zz1mmmmm000101nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::srhadd)
    SHSUB_asimdsame_only    "shsub"    "0Q001110zz1mmmmm001001nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::shsub)
    SQSUB_asimdsame_only    "sqsub"    "0Q001110zz1mmmmm001011nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::sqsub)
    CMGT_asimdsame_only     "cmgt"     "0Q001110zz1mmmmm001101nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::cmgt)
    CMGE_asimdsame_only     "cmge"     "0Q001110zz1mmmmm001111nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::cmge)
    SSHL_asimdsame_only     "sshl"     "0Q001110zz1mmmmm010001nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::sshl)
    SQSHL_asimdsame_only    "sqshl"    "0Q001110zz1mmmmm010011nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::sqshl)
    SRSHL_asimdsame_only    "srshl"    "0Q001110zz1mmmmm010101nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::srshl)
    SQRSHL_asimdsame_only   "sqrshl"   "0Q001110zz1mmmmm010111nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::sqrshl)
    SMAX_asimdsame_only     "smax"     "0Q001110zz1mmmmm011001nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::smax)
    SMIN_asimdsame_only     "smin"     "0Q001110zz1mmmmm011011nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::smin)
    SABD_asimdsame_only     "sabd"     "0Q001110zz1mmmmm011101nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::sabd)
    SABA_asimdsame_only     "saba"     "0Q001110zz1mmmmm011111nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::saba)
    ADD_asimdsame_only      "add"      "0Q001110zz1mmmmm100001nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::add)
    CMTST_asimdsame_only    "cmtst"    "0Q001110zz1mmmmm100011nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::cmtst)
    MLA_asimdsame_only      "mla"      "0Q001110zz1mmmmm100101nnnnnddddd" MulDiv      Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::mla)
    MUL_asimdsame_only      "mul"      "0Q001110zz1mmmmm100111nnnnnddddd" MulDiv      Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::mul)
    SMAXP_asimdsame_only    "smaxp"    "0Q001110zz1mmmmm101001nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::pairwise::smaxp)
    SMINP_asimdsame_only    "sminp"    "0Q001110zz1mmmmm101011nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::pairwise::sminp)
    SQDMULH_asimdsame_only  "sqdmulh"  "0Q001110zz1mmmmm101101nnnnnddddd" MulDiv      Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_B, SIZE_D]        compute(simd::integer::sqdmulh)
    ADDP_asimdsame_only     "addp"     "0Q001110zz1mmmmm101111nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::pairwise::addp)
    FMAXNM_asimdsame_only   "fmaxnm"   "0Q0011100z1mmmmm110001nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fmaxnm)
    FMLA_asimdsame_only     "fmla"     "0Q0011100z1mmmmm110011nnnnnddddd" MulDiv      Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fmla)
    FADD_asimdsame_only     "fadd"     "0Q0011100z1mmmmm110101nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fadd)
    FMULX_asimdsame_only    "fmulx"    "0Q0011100z1mmmmm110111nnnnnddddd" MulDiv      Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fmulx)
    FCMEQ_asimdsame_only    "fcmeq"    "0Q0011100z1mmmmm111001nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::compare::fcmeq)
    FMAX_asimdsame_only     "fmax"     "0Q0011100z1mmmmm111101nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fmax)
    FRECPS_asimdsame_only   "frecps"   "0Q0011100z1mmmmm111111nnnnnddddd" MulDiv      Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::frecps)
    AND_asimdsame_only      "and"      "0Q001110001mmmmm000111nnnnnddddd" Logical     Fp [Vd(BYTES), Vn(BYTES), Vm(BYTES)] []                      compute(simd::integer::and)
    BIC_asimdsame_only      "bic"      "0Q001110011mmmmm000111nnnnnddddd" Logical     Fp [Vd(BYTES), Vn(BYTES), Vm(BYTES)] []                      compute(simd::integer::bic)
    FMINNM_asimdsame_only   "fminnm"   "0Q0011101z1mmmmm110001nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fminnm)
    FMLS_asimdsame_only     "fmls"     "0Q0011101z1mmmmm110011nnnnnddddd" MulDiv      Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fmls)
    FSUB_asimdsame_only     "fsub"     "0Q0011101z1mmmmm110101nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fsub)
    FMIN_asimdsame_only     "fmin"     "0Q0011101z1mmmmm111101nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fmin)
    FRSQRTS_asimdsame_only  "frsqrts"  "0Q0011101z1mmmmm111111nnnnnddddd" MulDiv      Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::frsqrts)
    ORR_asimdsame_only      "orr"      "0Q001110101mmmmm000111nnnnnddddd" Logical     Fp [Vd(BYTES), Vn(BYTES), Vm(BYTES)] []                      compute(simd::integer::orr)
    ORN_asimdsame_only      "orn"      "0Q001110111mmmmm000111nnnnnddddd" Logical     Fp [Vd(BYTES), Vn(BYTES), Vm(BYTES)] []                      compute(simd::integer::orn)
    UHADD_asimdsame_only    "uhadd"    "0Q101110zz1mmmmm000001nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::uhadd)
    UQADD_asimdsame_only    "uqadd"    "0Q101110zz1mmmmm000011nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::uqadd)
    URHADD_asimdsame_only   "urhadd"   "0Q101110zz1mmmmm000101nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::urhadd)
    UHSUB_asimdsame_only    "uhsub"    "0Q101110zz1mmmmm001001nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::uhsub)
    UQSUB_asimdsame_only    "uqsub"    "0Q101110zz1mmmmm001011nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::uqsub)
    CMHI_asimdsame_only     "cmhi"     "0Q101110zz1mmmmm001101nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::cmhi)
    CMHS_asimdsame_only     "cmhs"     "0Q101110zz1mmmmm001111nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::cmhs)
    USHL_asimdsame_only     "ushl"     "0Q101110zz1mmmmm010001nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::ushl)
    UQSHL_asimdsame_only    "uqshl"    "0Q101110zz1mmmmm010011nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::uqshl)
    URSHL_asimdsame_only    "urshl"    "0Q101110zz1mmmmm010101nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::urshl)
    UQRSHL_asimdsame_only   "uqrshl"   "0Q101110zz1mmmmm010111nnnnnddddd" ExtendShift Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::uqrshl)
    UMAX_asimdsame_only     "umax"     "0Q101110zz1mmmmm011001nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::umax)
    UMIN_asimdsame_only     "umin"     "0Q101110zz1mmmmm011011nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::umin)
    UABD_asimdsame_only     "uabd"     "0Q101110zz1mmmmm011101nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::uabd)
    UABA_asimdsame_only     "uaba"     "0Q101110zz1mmmmm011111nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::uaba)
    SUB_asimdsame_only      "sub"      "0Q101110zz1mmmmm100001nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::sub)
    CMEQ_asimdsame_only     "cmeq"     "0Q101110zz1mmmmm100011nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D_NO_Q]           compute(simd::integer::cmeq)
    MLS_asimdsame_only      "mls"      "0Q101110zz1mmmmm100101nnnnnddddd" MulDiv      Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::integer::mls)
    PMUL_asimdsame_only     "pmul"     "0Q101110zz1mmmmm100111nnnnnddddd" MulDiv      Fp [Vd(T), Vn(T), Vm(T)]             [NOT_B_HIGH, NOT_B_LOW] compute(simd::integer::pmul)
    UMAXP_asimdsame_only    "umaxp"    "0Q101110zz1mmmmm101001nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::pairwise::umaxp)
    UMINP_asimdsame_only    "uminp"    "0Q101110zz1mmmmm101011nnnnnddddd" Arithmetic  Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_D]                compute(simd::pairwise::uminp)
    SQRDMULH_asimdsame_only "sqrdmulh" "0Q101110zz1mmmmm101101nnnnnddddd" MulDiv      Fp [Vd(T), Vn(T), Vm(T)]             [SIZE_B, SIZE_D]        compute(simd::integer::sqrdmulh)
    FMAXNMP_asimdsame_only  "fmaxnmp"  "0Q1011100z1mmmmm110001nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fmaxnmp)
    FADDP_asimdsame_only    "faddp"    "0Q1011100z1mmmmm110101nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::faddp)
    FMUL_asimdsame_only     "fmul"     "0Q1011100z1mmmmm110111nnnnnddddd" MulDiv      Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fmul)
    FCMGE_asimdsame_only    "fcmge"    "0Q1011100z1mmmmm111001nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::compare::fcmge)
    FACGE_asimdsame_only    "facge"    "0Q1011100z1mmmmm111011nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::compare::facge)
    FMAXP_asimdsame_only    "fmaxp"    "0Q1011100z1mmmmm111101nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fmaxp)
    FDIV_asimdsame_only     "fdiv"     "0Q1011100z1mmmmm111111nnnnnddddd" MulDiv      Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fdiv)
    EOR_asimdsame_only      "eor"      "0Q101110001mmmmm000111nnnnnddddd" Logical     Fp [Vd(BYTES), Vn(BYTES), Vm(BYTES)] []                      compute(simd::integer::eor)
    BSL_asimdsame_only      "bsl"      "0Q101110011mmmmm000111nnnnnddddd" Logical     Fp [Vd(BYTES), Vn(BYTES), Vm(BYTES)] []                      compute(simd::integer::bsl)
    FMINNMP_asimdsame_only  "fminnmp"  "0Q1011101z1mmmmm110001nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fminnmp)
    FABD_asimdsame_only     "fabd"     "0Q1011101z1mmmmm110101nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fabd)
    FCMGT_asimdsame_only    "fcmgt"    "0Q1011101z1mmmmm111001nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::compare::fcmgt)
    FACGT_asimdsame_only    "facgt"    "0Q1011101z1mmmmm111011nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::compare::facgt)
    FMINP_asimdsame_only    "fminp"    "0Q1011101z1mmmmm111101nnnnnddddd" Arithmetic  Fp [Vd(TF), Vn(TF), Vm(TF)]          [D_NO_Q]                compute(simd::float::fminp)
    BIT_asimdsame_only      "bit"      "0Q101110101mmmmm000111nnnnnddddd" Logical     Fp [Vd(BYTES), Vn(BYTES), Vm(BYTES)] []                      compute(simd::integer::bit)
    BIF_asimdsame_only      "bif"      "0Q101110111mmmmm000111nnnnnddddd" Logical     Fp [Vd(BYTES), Vn(BYTES), Vm(BYTES)] []                      compute(simd::integer::bif)
    // Armv8.2 FHM (asimdsame): FMLAL_asimdsame_F FMLSL_asimdsame_F FMLAL2_asimdsame_F FMLSL2_asimdsame_F
    // Armv9.5 FAMINMAX (asimdsame): FAMAX_asimdsame_only FAMIN_asimdsame_only
    // Armv9.5 FP8 (asimdsame): FSCALE_asimdsame_only

    // Advanced SIMD modified immediate: asimdimm
    MOVI_asimdimm_L_sl "movi" "0Q00111100000iii0hh001iiiiiddddd" Arithmetic Fp [Vd(WORDS), Imm8Shifted(2)]  [] compute(simd::immediate::movi)
    ORR_asimdimm_L_sl  "orr"  "0Q00111100000iii0hh101iiiiiddddd" Logical    Fp [Vd(WORDS), Imm8Shifted(2)]  [] compute(simd::immediate::orr)
    MOVI_asimdimm_L_hl "movi" "0Q00111100000iii10h001iiiiiddddd" Arithmetic Fp [Vd(HALVES), Imm8Shifted(1)] [] compute(simd::immediate::movi)
    ORR_asimdimm_L_hl  "orr"  "0Q00111100000iii10h101iiiiiddddd" Logical    Fp [Vd(HALVES), Imm8Shifted(1)] [] compute(simd::immediate::orr)
    MOVI_asimdimm_M_sm "movi" "0Q00111100000iii110h01iiiiiddddd" Arithmetic Fp [Vd(WORDS), Imm8Ones]        [] compute(simd::immediate::movi)
    MOVI_asimdimm_N_b  "movi" "0Q00111100000iii111001iiiiiddddd" Arithmetic Fp [Vd(BYTES), Imm8]            [] compute(simd::immediate::movi)
    FMOV_asimdimm_S_s  "fmov" "0Q00111100000iii111101iiiiiddddd" Arithmetic Fp [Vd(WORDS), Imm8Float]       [] compute(simd::immediate::movi)
    MVNI_asimdimm_L_sl "mvni" "0Q10111100000iii0hh001iiiiiddddd" Arithmetic Fp [Vd(WORDS), Imm8Shifted(2)]  [] compute(simd::immediate::mvni)
    BIC_asimdimm_L_sl  "bic"  "0Q10111100000iii0hh101iiiiiddddd" Logical    Fp [Vd(WORDS), Imm8Shifted(2)]  [] compute(simd::immediate::bic)
    MVNI_asimdimm_L_hl "mvni" "0Q10111100000iii10h001iiiiiddddd" Arithmetic Fp [Vd(HALVES), Imm8Shifted(1)] [] compute(simd::immediate::mvni)
    BIC_asimdimm_L_hl  "bic"  "0Q10111100000iii10h101iiiiiddddd" Logical    Fp [Vd(HALVES), Imm8Shifted(1)] [] compute(simd::immediate::bic)
    MVNI_asimdimm_M_sm "mvni" "0Q10111100000iii110h01iiiiiddddd" Arithmetic Fp [Vd(WORDS), Imm8Ones]        [] compute(simd::immediate::mvni)
    MOVI_asimdimm_D_ds "movi" "0010111100000iii111001iiiiiddddd" Arithmetic Fp [Vd(D), Imm8Bytes]           [] compute(simd::immediate::movi)
    MOVI_asimdimm_D2_d "movi" "0110111100000iii111001iiiiiddddd" Arithmetic Fp [Vd(V2D), Imm8Bytes]         [] compute(simd::immediate::movi)
    FMOV_asimdimm_D2_d "fmov" "0110111100000iii111101iiiiiddddd" Arithmetic Fp [Vd(V2D), Imm8Float]         [] compute(simd::immediate::movi)
    // Armv8.2 FP16 (asimdimm): FMOV_asimdimm_H_h

    // Advanced SIMD shift by immediate: asimdshf
    SSHR_asimdshf_R     "sshr"        "0Q0011110iiiiiii000001nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_NONE, D_NO_Q]    compute(simd::shift::sshr)
    SSRA_asimdshf_R     "ssra"        "0Q0011110iiiiiii000101nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_NONE, D_NO_Q]    compute(simd::shift::ssra)
    SRSHR_asimdshf_R    "srshr"       "0Q0011110iiiiiii001001nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_NONE, D_NO_Q]    compute(simd::shift::srshr)
    SRSRA_asimdshf_R    "srsra"       "0Q0011110iiiiiii001101nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_NONE, D_NO_Q]    compute(simd::shift::srsra)
    SHL_asimdshf_R      "shl"         "0Q0011110iiiiiii010101nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftLeft]       [IMMH_NONE, D_NO_Q]    compute(simd::shift::shl)
    SQSHL_asimdshf_R    "sqshl"       "0Q0011110iiiiiii011101nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftLeft]       [IMMH_NONE, D_NO_Q]    compute(simd::shift::sqshl)
    SHRN_asimdshf_N     "shrn{2}"     "0Q0011110iiiiiii100001nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI_LONG), ShiftRight] [IMMH_NONE, IMMH_D]    compute(simd::narrow::shrn)
    RSHRN_asimdshf_N    "rshrn{2}"    "0Q0011110iiiiiii100011nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI_LONG), ShiftRight] [IMMH_NONE, IMMH_D]    compute(simd::narrow::rshrn)
    SQSHRN_asimdshf_N   "sqshrn{2}"   "0Q0011110iiiiiii100101nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI_LONG), ShiftRight] [IMMH_NONE, IMMH_D]    compute(simd::narrow::sqshrn)
    SQRSHRN_asimdshf_N  "sqrshrn{2}"  "0Q0011110iiiiiii100111nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI_LONG), ShiftRight] [IMMH_NONE, IMMH_D]    compute(simd::narrow::sqrshrn)
    SSHLL_asimdshf_L    "sshll{2}"    "0Q0011110iiiiiii101001nnnnnddddd" ExtendShift Fp [Vd(TI_LONG), Vn(TI), ShiftLeft]  [IMMH_NONE, IMMH_D]    compute(simd::shift::sshll)
    SCVTF_asimdshf_C    "scvtf"       "0Q0011110iiiiiii111001nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_BELOW_S, D_NO_Q] compute(simd::convert::from_fixed::<false>)
    FCVTZS_asimdshf_C   "fcvtzs"      "0Q0011110iiiiiii111111nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_BELOW_S, D_NO_Q] compute(simd::convert::to_fixed::<false, ROUND_ZERO>)
    USHR_asimdshf_R     "ushr"        "0Q1011110iiiiiii000001nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_NONE, D_NO_Q]    compute(simd::shift::ushr)
    USRA_asimdshf_R     "usra"        "0Q1011110iiiiiii000101nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_NONE, D_NO_Q]    compute(simd::shift::usra)
    URSHR_asimdshf_R    "urshr"       "0Q1011110iiiiiii001001nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_NONE, D_NO_Q]    compute(simd::shift::urshr)
    URSRA_asimdshf_R    "ursra"       "0Q1011110iiiiiii001101nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_NONE, D_NO_Q]    compute(simd::shift::ursra)
    SRI_asimdshf_R      "sri"         "0Q1011110iiiiiii010001nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_NONE, D_NO_Q]    compute(simd::shift::sri)
    SLI_asimdshf_R      "sli"         "0Q1011110iiiiiii010101nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftLeft]       [IMMH_NONE, D_NO_Q]    compute(simd::shift::sli)
    SQSHLU_asimdshf_R   "sqshlu"      "0Q1011110iiiiiii011001nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftLeft]       [IMMH_NONE, D_NO_Q]    compute(simd::shift::sqshlu)
    UQSHL_asimdshf_R    "uqshl"       "0Q1011110iiiiiii011101nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftLeft]       [IMMH_NONE, D_NO_Q]    compute(simd::shift::uqshl)
    SQSHRUN_asimdshf_N  "sqshrun{2}"  "0Q1011110iiiiiii100001nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI_LONG), ShiftRight] [IMMH_NONE, IMMH_D]    compute(simd::narrow::sqshrun)
    SQRSHRUN_asimdshf_N "sqrshrun{2}" "0Q1011110iiiiiii100011nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI_LONG), ShiftRight] [IMMH_NONE, IMMH_D]    compute(simd::narrow::sqrshrun)
    UQSHRN_asimdshf_N   "uqshrn{2}"   "0Q1011110iiiiiii100101nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI_LONG), ShiftRight] [IMMH_NONE, IMMH_D]    compute(simd::narrow::uqshrn)
    UQRSHRN_asimdshf_N  "uqrshrn{2}"  "0Q1011110iiiiiii100111nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI_LONG), ShiftRight] [IMMH_NONE, IMMH_D]    compute(simd::narrow::uqrshrn)
    USHLL_asimdshf_L    "ushll{2}"    "0Q1011110iiiiiii101001nnnnnddddd" ExtendShift Fp [Vd(TI_LONG), Vn(TI), ShiftLeft]  [IMMH_NONE, IMMH_D]    compute(simd::shift::ushll)
    UCVTF_asimdshf_C    "ucvtf"       "0Q1011110iiiiiii111001nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_BELOW_S, D_NO_Q] compute(simd::convert::from_fixed::<true>)
    FCVTZU_asimdshf_C   "fcvtzu"      "0Q1011110iiiiiii111111nnnnnddddd" ExtendShift Fp [Vd(TI), Vn(TI), ShiftRight]      [IMMH_BELOW_S, D_NO_Q] compute(simd::convert::to_fixed::<true, ROUND_ZERO>)

    // Advanced SIMD vector x indexed element: asimdelem
    SMLAL_asimdelem_L    "smlal{2}"   "0Q001111zzLMmmmm0010H0nnnnnddddd" MulDiv Fp [Vd(LONG), Vn(T), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::smlal)
    SQDMLAL_asimdelem_L  "sqdmlal{2}" "0Q001111zzLMmmmm0011H0nnnnnddddd" MulDiv Fp [Vd(LONG), Vn(T), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::sqdmlal)
    SMLSL_asimdelem_L    "smlsl{2}"   "0Q001111zzLMmmmm0110H0nnnnnddddd" MulDiv Fp [Vd(LONG), Vn(T), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::smlsl)
    SQDMLSL_asimdelem_L  "sqdmlsl{2}" "0Q001111zzLMmmmm0111H0nnnnnddddd" MulDiv Fp [Vd(LONG), Vn(T), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::sqdmlsl)
    MUL_asimdelem_R      "mul"        "0Q001111zzLMmmmm1000H0nnnnnddddd" MulDiv Fp [Vd(T), Vn(T), VmLane(Element::Size(0))]    [SIZE_B, SIZE_D] compute(simd::integer::mul)
    SMULL_asimdelem_L    "smull{2}"   "0Q001111zzLMmmmm1010H0nnnnnddddd" MulDiv Fp [Vd(LONG), Vn(T), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::smull)
    SQDMULL_asimdelem_L  "sqdmull{2}" "0Q001111zzLMmmmm1011H0nnnnnddddd" MulDiv Fp [Vd(LONG), Vn(T), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::sqdmull)
    SQDMULH_asimdelem_R  "sqdmulh"    "0Q001111zzLMmmmm1100H0nnnnnddddd" MulDiv Fp [Vd(T), Vn(T), VmLane(Element::Size(0))]    [SIZE_B, SIZE_D] compute(simd::integer::sqdmulh)
    SQRDMULH_asimdelem_R "sqrdmulh"   "0Q001111zzLMmmmm1101H0nnnnnddddd" MulDiv Fp [Vd(T), Vn(T), VmLane(Element::Size(0))]    [SIZE_B, SIZE_D] compute(simd::integer::sqrdmulh)
    FMLA_asimdelem_R_SD  "fmla"       "0Q0011111zLMmmmm0001H0nnnnnddddd" MulDiv Fp [Vd(TF), Vn(TF), VmLane(Element::Sz(2))]    [SZ_L, D_NO_Q]   compute(simd::float::fmla)
    FMLS_asimdelem_R_SD  "fmls"       "0Q0011111zLMmmmm0101H0nnnnnddddd" MulDiv Fp [Vd(TF), Vn(TF), VmLane(Element::Sz(2))]    [SZ_L, D_NO_Q]   compute(simd::float::fmls)
    FMUL_asimdelem_R_SD  "fmul"       "0Q0011111zLMmmmm1001H0nnnnnddddd" MulDiv Fp [Vd(TF), Vn(TF), VmLane(Element::Sz(2))]    [SZ_L, D_NO_Q]   compute(simd::float::fmul)
    MLA_asimdelem_R      "mla"        "0Q101111zzLMmmmm0000H0nnnnnddddd" MulDiv Fp [Vd(T), Vn(T), VmLane(Element::Size(0))]    [SIZE_B, SIZE_D] compute(simd::integer::mla)
    UMLAL_asimdelem_L    "umlal{2}"   "0Q101111zzLMmmmm0010H0nnnnnddddd" MulDiv Fp [Vd(LONG), Vn(T), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::umlal)
    MLS_asimdelem_R      "mls"        "0Q101111zzLMmmmm0100H0nnnnnddddd" MulDiv Fp [Vd(T), Vn(T), VmLane(Element::Size(0))]    [SIZE_B, SIZE_D] compute(simd::integer::mls)
    UMLSL_asimdelem_L    "umlsl{2}"   "0Q101111zzLMmmmm0110H0nnnnnddddd" MulDiv Fp [Vd(LONG), Vn(T), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::umlsl)
    UMULL_asimdelem_L    "umull{2}"   "0Q101111zzLMmmmm1010H0nnnnnddddd" MulDiv Fp [Vd(LONG), Vn(T), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::umull)
    FMULX_asimdelem_R_SD "fmulx"      "0Q1011111zLMmmmm1001H0nnnnnddddd" MulDiv Fp [Vd(TF), Vn(TF), VmLane(Element::Sz(2))]    [SZ_L, D_NO_Q]   compute(simd::float::fmulx)
    // Armv8.1 RDM (asimdelem): SQRDMLAH_asimdelem_R SQRDMLSH_asimdelem_R
    // Armv8.2 DotProd (asimdelem): SDOT_asimdelem_D UDOT_asimdelem_D
    // Armv8.2 FHM (asimdelem): FMLAL_asimdelem_LH FMLSL_asimdelem_LH FMLAL2_asimdelem_LH FMLSL2_asimdelem_LH
    // Armv8.2 FP16 (asimdelem): FMLA_asimdelem_RH_H FMLS_asimdelem_RH_H FMUL_asimdelem_RH_H FMULX_asimdelem_RH_H
    // Armv8.3 FCMA (asimdelem): FCMLA_advsimd_elt
    // Armv8.6 BF16 (asimdelem): BFDOT_asimdelem_E BFMLAL_asimdelem_F
    // Armv8.6 I8MM (asimdelem): SUDOT_asimdelem_D USDOT_asimdelem_D
    // Armv9.5 FP8 (asimdelem): FDOT_asimdelem_D FDOT_asimdelem_G FDOT_asimdelem_FP16FP32 FMLALB_asimdelem_H FMLALLBB_asimdelem_J
    // FMLALLBT_asimdelem_J FMLALT_asimdelem_H FMLALLTB_asimdelem_J FMLALLTT_asimdelem_J
} } }
