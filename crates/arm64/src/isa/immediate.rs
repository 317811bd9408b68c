//! Rows of the instruction table: Reserved and data processing (immediate).

macro_rules! immediate_rows { ($consumer:ident [$next:ident $($later:ident)*] $($before:tt)*) => { $next! { $consumer [$($later)*] $($before)*
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
} } }
