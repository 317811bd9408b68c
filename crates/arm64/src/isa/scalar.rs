//! Rows of the instruction table: Advanced SIMD, scalars.

macro_rules! scalar_rows { ($consumer:ident [$next:ident $($later:ident)*] $($before:tt)*) => { $next! { $consumer [$($later)*] $($before)*
    // Advanced SIMD scalar copy: asisdone
    DUP_asisdone_only "dup" "01011110000iiiii000001nnnnnddddd" ExtendShift Fp [Vd(IMM5), VnLane] [IMM5_NONE] compute(simd::copy::dup_element)

    // Armv8.2 FP16 (asisdsamefp16): FMULX_asisdsamefp16_only FCMEQ_asisdsamefp16_only FRECPS_asisdsamefp16_only FRSQRTS_asisdsamefp16_only
    // FCMGE_asisdsamefp16_only FACGE_asisdsamefp16_only FABD_asisdsamefp16_only FCMGT_asisdsamefp16_only FACGT_asisdsamefp16_only

    // Armv8.2 FP16 (asisdmiscfp16): FCVTNS_asisdmiscfp16_R FCVTMS_asisdmiscfp16_R FCVTAS_asisdmiscfp16_R SCVTF_asisdmiscfp16_R
    // FCMGT_asisdmiscfp16_FZ FCMEQ_asisdmiscfp16_FZ FCMLT_asisdmiscfp16_FZ FCVTPS_asisdmiscfp16_R FCVTZS_asisdmiscfp16_R
    // FRECPE_asisdmiscfp16_R FRECPX_asisdmiscfp16_R FCVTNU_asisdmiscfp16_R FCVTMU_asisdmiscfp16_R FCVTAU_asisdmiscfp16_R
    // UCVTF_asisdmiscfp16_R FCMGE_asisdmiscfp16_FZ FCMLE_asisdmiscfp16_FZ FCVTPU_asisdmiscfp16_R FCVTZU_asisdmiscfp16_R
    // FRSQRTE_asisdmiscfp16_R

    // Advanced SIMD scalar three same extra: asisdsame2
    SQRDMLAH_asisdsame2_only "sqrdmlah" "01111110zz0mmmmm100001nnnnnddddd" MulDiv Rdm [Vd(SIZE), Vn(SIZE), Vm(SIZE)] [SIZE_B, SIZE_D] compute(simd::integer::sqrdmlah)
    SQRDMLSH_asisdsame2_only "sqrdmlsh" "01111110zz0mmmmm100011nnnnnddddd" MulDiv Rdm [Vd(SIZE), Vn(SIZE), Vm(SIZE)] [SIZE_B, SIZE_D] compute(simd::integer::sqrdmlsh)

    // Advanced SIMD scalar two-register miscellaneous: asisdmisc
    SUQADD_asisdmisc_R  "suqadd"  "01011110zz100000001110nnnnnddddd" Arithmetic  Fp [Vd(SIZE), Vn(SIZE)]           []       compute(simd::misc::suqadd)
    SQABS_asisdmisc_R   "sqabs"   "01011110zz100000011110nnnnnddddd" Arithmetic  Fp [Vd(SIZE), Vn(SIZE)]           []       compute(simd::misc::sqabs)
    CMGT_asisdmisc_Z    "cmgt"    "0101111011100000100010nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Text("#0")]     []       compute(simd::misc::cmgt_zero)
    CMEQ_asisdmisc_Z    "cmeq"    "0101111011100000100110nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Text("#0")]     []       compute(simd::misc::cmeq_zero)
    CMLT_asisdmisc_Z    "cmlt"    "0101111011100000101010nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Text("#0")]     []       compute(simd::misc::cmlt_zero)
    ABS_asisdmisc_R     "abs"     "0101111011100000101110nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D)]                 []       compute(simd::misc::abs)
    SQXTN_asisdmisc_N   "sqxtn"   "01011110zz100001010010nnnnnddddd" ExtendShift Fp [Vd(SIZE), Vn(SIZE_LONG)]      [SIZE_D] compute(simd::narrow::sqxtn)
    FCVTNS_asisdmisc_R  "fcvtns"  "010111100z100001101010nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::to_integers::<false, ROUND_TIE_EVEN>)
    FCVTMS_asisdmisc_R  "fcvtms"  "010111100z100001101110nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::to_integers::<false, ROUND_NEGATIVE>)
    FCVTAS_asisdmisc_R  "fcvtas"  "010111100z100001110010nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::to_integers::<false, ROUND_TIE_AWAY>)
    SCVTF_asisdmisc_R   "scvtf"   "010111100z100001110110nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::from_integers::<false>)
    FCMGT_asisdmisc_FZ  "fcmgt"   "010111101z100000110010nnnnnddddd" Arithmetic  Fp [Vd(SZ), Vn(SZ), Text("#0.0")] []       compute(simd::compare::fcmgt_zero)
    FCMEQ_asisdmisc_FZ  "fcmeq"   "010111101z100000110110nnnnnddddd" Arithmetic  Fp [Vd(SZ), Vn(SZ), Text("#0.0")] []       compute(simd::compare::fcmeq_zero)
    FCMLT_asisdmisc_FZ  "fcmlt"   "010111101z100000111010nnnnnddddd" Arithmetic  Fp [Vd(SZ), Vn(SZ), Text("#0.0")] []       compute(simd::compare::fcmlt_zero)
    FCVTPS_asisdmisc_R  "fcvtps"  "010111101z100001101010nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::to_integers::<false, ROUND_POSITIVE>)
    FCVTZS_asisdmisc_R  "fcvtzs"  "010111101z100001101110nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::to_integers::<false, ROUND_ZERO>)
    FRECPE_asisdmisc_R  "frecpe"  "010111101z100001110110nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::float::frecpe)
    FRECPX_asisdmisc_R  "frecpx"  "010111101z100001111110nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::float::frecpx)
    USQADD_asisdmisc_R  "usqadd"  "01111110zz100000001110nnnnnddddd" Arithmetic  Fp [Vd(SIZE), Vn(SIZE)]           []       compute(simd::misc::usqadd)
    SQNEG_asisdmisc_R   "sqneg"   "01111110zz100000011110nnnnnddddd" Arithmetic  Fp [Vd(SIZE), Vn(SIZE)]           []       compute(simd::misc::sqneg)
    CMGE_asisdmisc_Z    "cmge"    "0111111011100000100010nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Text("#0")]     []       compute(simd::misc::cmge_zero)
    CMLE_asisdmisc_Z    "cmle"    "0111111011100000100110nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Text("#0")]     []       compute(simd::misc::cmle_zero)
    NEG_asisdmisc_R     "neg"     "0111111011100000101110nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D)]                 []       compute(simd::misc::neg)
    SQXTUN_asisdmisc_N  "sqxtun"  "01111110zz100001001010nnnnnddddd" ExtendShift Fp [Vd(SIZE), Vn(SIZE_LONG)]      [SIZE_D] compute(simd::narrow::sqxtun)
    UQXTN_asisdmisc_N   "uqxtn"   "01111110zz100001010010nnnnnddddd" ExtendShift Fp [Vd(SIZE), Vn(SIZE_LONG)]      [SIZE_D] compute(simd::narrow::uqxtn)
    FCVTXN_asisdmisc_N  "fcvtxn"  "0111111001100001011010nnnnnddddd" ExtendShift Fp [Vd(S), Vn(D)]                 []       compute(simd::convert::fcvtxn)
    FCVTNU_asisdmisc_R  "fcvtnu"  "011111100z100001101010nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::to_integers::<true, ROUND_TIE_EVEN>)
    FCVTMU_asisdmisc_R  "fcvtmu"  "011111100z100001101110nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::to_integers::<true, ROUND_NEGATIVE>)
    FCVTAU_asisdmisc_R  "fcvtau"  "011111100z100001110010nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::to_integers::<true, ROUND_TIE_AWAY>)
    UCVTF_asisdmisc_R   "ucvtf"   "011111100z100001110110nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::from_integers::<true>)
    FCMGE_asisdmisc_FZ  "fcmge"   "011111101z100000110010nnnnnddddd" Arithmetic  Fp [Vd(SZ), Vn(SZ), Text("#0.0")] []       compute(simd::compare::fcmge_zero)
    FCMLE_asisdmisc_FZ  "fcmle"   "011111101z100000110110nnnnnddddd" Arithmetic  Fp [Vd(SZ), Vn(SZ), Text("#0.0")] []       compute(simd::compare::fcmle_zero)
    FCVTPU_asisdmisc_R  "fcvtpu"  "011111101z100001101010nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::to_integers::<true, ROUND_POSITIVE>)
    FCVTZU_asisdmisc_R  "fcvtzu"  "011111101z100001101110nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::convert::to_integers::<true, ROUND_ZERO>)
    FRSQRTE_asisdmisc_R "frsqrte" "011111101z100001110110nnnnnddddd" ExtendShift Fp [Vd(SZ), Vn(SZ)]               []       compute(simd::float::frsqrte)

    // Advanced SIMD scalar pairwise: asisdpair
    ADDP_asisdpair_only       "addp"    "0101111011110001101110nnnnnddddd" Arithmetic Fp [Vd(D), Vn(V2D)]   [] compute(simd::pairwise::addp)
    FMAXNMP_asisdpair_only_SD "fmaxnmp" "011111100z110000110010nnnnnddddd" Arithmetic Fp [Vd(SZ), Vn(PAIR)] [] compute(simd::float::fmaxnmp)
    FADDP_asisdpair_only_SD   "faddp"   "011111100z110000110110nnnnnddddd" Arithmetic Fp [Vd(SZ), Vn(PAIR)] [] compute(simd::float::faddp)
    FMAXP_asisdpair_only_SD   "fmaxp"   "011111100z110000111110nnnnnddddd" Arithmetic Fp [Vd(SZ), Vn(PAIR)] [] compute(simd::float::fmaxp)
    FMINNMP_asisdpair_only_SD "fminnmp" "011111101z110000110010nnnnnddddd" Arithmetic Fp [Vd(SZ), Vn(PAIR)] [] compute(simd::float::fminnmp)
    FMINP_asisdpair_only_SD   "fminp"   "011111101z110000111110nnnnnddddd" Arithmetic Fp [Vd(SZ), Vn(PAIR)] [] compute(simd::float::fminp)
    // Armv8.2 FP16 (asisdpair): FMAXNMP_asisdpair_only_H FADDP_asisdpair_only_H FMAXP_asisdpair_only_H FMINNMP_asisdpair_only_H
    // FMINP_asisdpair_only_H

    // Advanced SIMD scalar three different: asisddiff
    SQDMLAL_asisddiff_only "sqdmlal" "01011110zz1mmmmm100100nnnnnddddd" MulDiv Fp [Vd(SIZE_LONG), Vn(SIZE), Vm(SIZE)] [SIZE_B, SIZE_D] compute(simd::long::sqdmlal)
    SQDMLSL_asisddiff_only "sqdmlsl" "01011110zz1mmmmm101100nnnnnddddd" MulDiv Fp [Vd(SIZE_LONG), Vn(SIZE), Vm(SIZE)] [SIZE_B, SIZE_D] compute(simd::long::sqdmlsl)
    SQDMULL_asisddiff_only "sqdmull" "01011110zz1mmmmm110100nnnnnddddd" MulDiv Fp [Vd(SIZE_LONG), Vn(SIZE), Vm(SIZE)] [SIZE_B, SIZE_D] compute(simd::long::sqdmull)

    // Advanced SIMD scalar three same: asisdsame
    SQADD_asisdsame_only    "sqadd"    "01011110zz1mmmmm000011nnnnnddddd" Arithmetic  Fp [Vd(SIZE), Vn(SIZE), Vm(SIZE)] []               compute(simd::integer::sqadd)
    SQSUB_asisdsame_only    "sqsub"    "01011110zz1mmmmm001011nnnnnddddd" Arithmetic  Fp [Vd(SIZE), Vn(SIZE), Vm(SIZE)] []               compute(simd::integer::sqsub)
    CMGT_asisdsame_only     "cmgt"     "01011110111mmmmm001101nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::cmgt)
    CMGE_asisdsame_only     "cmge"     "01011110111mmmmm001111nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::cmge)
    SSHL_asisdsame_only     "sshl"     "01011110111mmmmm010001nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::sshl)
    SQSHL_asisdsame_only    "sqshl"    "01011110zz1mmmmm010011nnnnnddddd" ExtendShift Fp [Vd(SIZE), Vn(SIZE), Vm(SIZE)] []               compute(simd::integer::sqshl)
    SRSHL_asisdsame_only    "srshl"    "01011110111mmmmm010101nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::srshl)
    SQRSHL_asisdsame_only   "sqrshl"   "01011110zz1mmmmm010111nnnnnddddd" ExtendShift Fp [Vd(SIZE), Vn(SIZE), Vm(SIZE)] []               compute(simd::integer::sqrshl)
    ADD_asisdsame_only      "add"      "01011110111mmmmm100001nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::add)
    CMTST_asisdsame_only    "cmtst"    "01011110111mmmmm100011nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::cmtst)
    SQDMULH_asisdsame_only  "sqdmulh"  "01011110zz1mmmmm101101nnnnnddddd" MulDiv      Fp [Vd(SIZE), Vn(SIZE), Vm(SIZE)] [SIZE_B, SIZE_D] compute(simd::integer::sqdmulh)
    FMULX_asisdsame_only    "fmulx"    "010111100z1mmmmm110111nnnnnddddd" MulDiv      Fp [Vd(SZ), Vn(SZ), Vm(SZ)]       []               compute(simd::float::fmulx)
    FCMEQ_asisdsame_only    "fcmeq"    "010111100z1mmmmm111001nnnnnddddd" Arithmetic  Fp [Vd(SZ), Vn(SZ), Vm(SZ)]       []               compute(simd::compare::fcmeq)
    FRECPS_asisdsame_only   "frecps"   "010111100z1mmmmm111111nnnnnddddd" MulDiv      Fp [Vd(SZ), Vn(SZ), Vm(SZ)]       []               compute(simd::float::frecps)
    FRSQRTS_asisdsame_only  "frsqrts"  "010111101z1mmmmm111111nnnnnddddd" MulDiv      Fp [Vd(SZ), Vn(SZ), Vm(SZ)]       []               compute(simd::float::frsqrts)
    UQADD_asisdsame_only    "uqadd"    "01111110zz1mmmmm000011nnnnnddddd" Arithmetic  Fp [Vd(SIZE), Vn(SIZE), Vm(SIZE)] []               compute(simd::integer::uqadd)
    UQSUB_asisdsame_only    "uqsub"    "01111110zz1mmmmm001011nnnnnddddd" Arithmetic  Fp [Vd(SIZE), Vn(SIZE), Vm(SIZE)] []               compute(simd::integer::uqsub)
    CMHI_asisdsame_only     "cmhi"     "01111110111mmmmm001101nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::cmhi)
    CMHS_asisdsame_only     "cmhs"     "01111110111mmmmm001111nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::cmhs)
    USHL_asisdsame_only     "ushl"     "01111110111mmmmm010001nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::ushl)
    UQSHL_asisdsame_only    "uqshl"    "01111110zz1mmmmm010011nnnnnddddd" ExtendShift Fp [Vd(SIZE), Vn(SIZE), Vm(SIZE)] []               compute(simd::integer::uqshl)
    URSHL_asisdsame_only    "urshl"    "01111110111mmmmm010101nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::urshl)
    UQRSHL_asisdsame_only   "uqrshl"   "01111110zz1mmmmm010111nnnnnddddd" ExtendShift Fp [Vd(SIZE), Vn(SIZE), Vm(SIZE)] []               compute(simd::integer::uqrshl)
    SUB_asisdsame_only      "sub"      "01111110111mmmmm100001nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::sub)
    CMEQ_asisdsame_only     "cmeq"     "01111110111mmmmm100011nnnnnddddd" Arithmetic  Fp [Vd(D), Vn(D), Vm(D)]          []               compute(simd::integer::cmeq)
    SQRDMULH_asisdsame_only "sqrdmulh" "01111110zz1mmmmm101101nnnnnddddd" MulDiv      Fp [Vd(SIZE), Vn(SIZE), Vm(SIZE)] [SIZE_B, SIZE_D] compute(simd::integer::sqrdmulh)
    FCMGE_asisdsame_only    "fcmge"    "011111100z1mmmmm111001nnnnnddddd" Arithmetic  Fp [Vd(SZ), Vn(SZ), Vm(SZ)]       []               compute(simd::compare::fcmge)
    FACGE_asisdsame_only    "facge"    "011111100z1mmmmm111011nnnnnddddd" Arithmetic  Fp [Vd(SZ), Vn(SZ), Vm(SZ)]       []               compute(simd::compare::facge)
    FABD_asisdsame_only     "fabd"     "011111101z1mmmmm110101nnnnnddddd" Arithmetic  Fp [Vd(SZ), Vn(SZ), Vm(SZ)]       []               compute(simd::float::fabd)
    FCMGT_asisdsame_only    "fcmgt"    "011111101z1mmmmm111001nnnnnddddd" Arithmetic  Fp [Vd(SZ), Vn(SZ), Vm(SZ)]       []               compute(simd::compare::fcmgt)
    FACGT_asisdsame_only    "facgt"    "011111101z1mmmmm111011nnnnnddddd" Arithmetic  Fp [Vd(SZ), Vn(SZ), Vm(SZ)]       []               compute(simd::compare::facgt)

    // Advanced SIMD scalar shift by immediate: asisdshf
    SSHR_asisdshf_R     "sshr"     "0101111101iiiiii000001nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      []                  compute(simd::shift::sshr)
    SSRA_asisdshf_R     "ssra"     "0101111101iiiiii000101nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      []                  compute(simd::shift::ssra)
    SRSHR_asisdshf_R    "srshr"    "0101111101iiiiii001001nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      []                  compute(simd::shift::srshr)
    SRSRA_asisdshf_R    "srsra"    "0101111101iiiiii001101nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      []                  compute(simd::shift::srsra)
    SHL_asisdshf_R      "shl"      "0101111101iiiiii010101nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftLeft]       []                  compute(simd::shift::shl)
    SQSHL_asisdshf_R    "sqshl"    "010111110iiiiiii011101nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftLeft]       [IMMH_NONE]         compute(simd::shift::sqshl)
    SQSHRN_asisdshf_N   "sqshrn"   "010111110iiiiiii100101nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH_LONG), ShiftRight] [IMMH_NONE, IMMH_D] compute(simd::narrow::sqshrn)
    SQRSHRN_asisdshf_N  "sqrshrn"  "010111110iiiiiii100111nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH_LONG), ShiftRight] [IMMH_NONE, IMMH_D] compute(simd::narrow::sqrshrn)
    SCVTF_asisdshf_C    "scvtf"    "010111110iiiiiii111001nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      [IMMH_BELOW_S]      compute(simd::convert::from_fixed::<false>)
    FCVTZS_asisdshf_C   "fcvtzs"   "010111110iiiiiii111111nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      [IMMH_BELOW_S]      compute(simd::convert::to_fixed::<false, ROUND_ZERO>)
    USHR_asisdshf_R     "ushr"     "0111111101iiiiii000001nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      []                  compute(simd::shift::ushr)
    USRA_asisdshf_R     "usra"     "0111111101iiiiii000101nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      []                  compute(simd::shift::usra)
    URSHR_asisdshf_R    "urshr"    "0111111101iiiiii001001nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      []                  compute(simd::shift::urshr)
    URSRA_asisdshf_R    "ursra"    "0111111101iiiiii001101nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      []                  compute(simd::shift::ursra)
    SRI_asisdshf_R      "sri"      "0111111101iiiiii010001nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      []                  compute(simd::shift::sri)
    SLI_asisdshf_R      "sli"      "0111111101iiiiii010101nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftLeft]       []                  compute(simd::shift::sli)
    SQSHLU_asisdshf_R   "sqshlu"   "011111110iiiiiii011001nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftLeft]       [IMMH_NONE]         compute(simd::shift::sqshlu)
    UQSHL_asisdshf_R    "uqshl"    "011111110iiiiiii011101nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftLeft]       [IMMH_NONE]         compute(simd::shift::uqshl)
    SQSHRUN_asisdshf_N  "sqshrun"  "011111110iiiiiii100001nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH_LONG), ShiftRight] [IMMH_NONE, IMMH_D] compute(simd::narrow::sqshrun)
    SQRSHRUN_asisdshf_N "sqrshrun" "011111110iiiiiii100011nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH_LONG), ShiftRight] [IMMH_NONE, IMMH_D] compute(simd::narrow::sqrshrun)
    UQSHRN_asisdshf_N   "uqshrn"   "011111110iiiiiii100101nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH_LONG), ShiftRight] [IMMH_NONE, IMMH_D] compute(simd::narrow::uqshrn)
    UQRSHRN_asisdshf_N  "uqrshrn"  "011111110iiiiiii100111nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH_LONG), ShiftRight] [IMMH_NONE, IMMH_D] compute(simd::narrow::uqrshrn)
    UCVTF_asisdshf_C    "ucvtf"    "011111110iiiiiii111001nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      [IMMH_BELOW_S]      compute(simd::convert::from_fixed::<true>)
    FCVTZU_asisdshf_C   "fcvtzu"   "011111110iiiiiii111111nnnnnddddd" ExtendShift Fp [Vd(IMMH), Vn(IMMH), ShiftRight]      [IMMH_BELOW_S]      compute(simd::convert::to_fixed::<true, ROUND_ZERO>)

    // Advanced SIMD scalar x indexed element: asisdelem
    SQDMLAL_asisdelem_L  "sqdmlal"  "01011111zzLMmmmm0011H0nnnnnddddd" MulDiv Fp [Vd(SIZE_LONG), Vn(SIZE), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::sqdmlal)
    SQDMLSL_asisdelem_L  "sqdmlsl"  "01011111zzLMmmmm0111H0nnnnnddddd" MulDiv Fp [Vd(SIZE_LONG), Vn(SIZE), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::sqdmlsl)
    SQDMULL_asisdelem_L  "sqdmull"  "01011111zzLMmmmm1011H0nnnnnddddd" MulDiv Fp [Vd(SIZE_LONG), Vn(SIZE), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::long::sqdmull)
    SQDMULH_asisdelem_R  "sqdmulh"  "01011111zzLMmmmm1100H0nnnnnddddd" MulDiv Fp [Vd(SIZE), Vn(SIZE), VmLane(Element::Size(0))]      [SIZE_B, SIZE_D] compute(simd::integer::sqdmulh)
    SQRDMULH_asisdelem_R "sqrdmulh" "01011111zzLMmmmm1101H0nnnnnddddd" MulDiv Fp [Vd(SIZE), Vn(SIZE), VmLane(Element::Size(0))]      [SIZE_B, SIZE_D] compute(simd::integer::sqrdmulh)
    FMLA_asisdelem_R_SD  "fmla"     "010111111zLMmmmm0001H0nnnnnddddd" MulDiv Fp [Vd(SZ), Vn(SZ), VmLane(Element::Sz(2))]            [SZ_L]           compute(simd::float::fmla)
    FMLS_asisdelem_R_SD  "fmls"     "010111111zLMmmmm0101H0nnnnnddddd" MulDiv Fp [Vd(SZ), Vn(SZ), VmLane(Element::Sz(2))]            [SZ_L]           compute(simd::float::fmls)
    FMUL_asisdelem_R_SD  "fmul"     "010111111zLMmmmm1001H0nnnnnddddd" MulDiv Fp [Vd(SZ), Vn(SZ), VmLane(Element::Sz(2))]            [SZ_L]           compute(simd::float::fmul)
    FMULX_asisdelem_R_SD "fmulx"    "011111111zLMmmmm1001H0nnnnnddddd" MulDiv Fp [Vd(SZ), Vn(SZ), VmLane(Element::Sz(2))]            [SZ_L]           compute(simd::float::fmulx)
    SQRDMLAH_asisdelem_R "sqrdmlah" "01111111zzLMmmmm1101H0nnnnnddddd" MulDiv Rdm [Vd(SIZE), Vn(SIZE), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::integer::sqrdmlah)
    SQRDMLSH_asisdelem_R "sqrdmlsh" "01111111zzLMmmmm1111H0nnnnnddddd" MulDiv Rdm [Vd(SIZE), Vn(SIZE), VmLane(Element::Size(0))] [SIZE_B, SIZE_D] compute(simd::integer::sqrdmlsh)
    // Armv8.2 FP16 (asisdelem): FMLA_asisdelem_RH_H FMLS_asisdelem_RH_H FMUL_asisdelem_RH_H FMULX_asisdelem_RH_H
} } }
