//! Rows of the instruction table: data processing (register).

macro_rules! register_rows { ($consumer:ident [$next:ident $($later:ident)*] $($before:tt)*) => { $next! { $consumer [$($later)*] $($before)*
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
    PACGA_64P_dp_2src "pacga" "10011010110mmmmm001100nnnnnddddd" System PAuth [Xd, Xn, XmSp] [] compute(pauth::pacga)

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
    PACIA_64P_dp_1src "pacia" "1101101011000001000000nnnnnddddd" ExtendShift PAuth [Xd, XnSp] [] compute(pauth::pointer::<POINTER_SIGN, KEY_IA>)
    PACIB_64P_dp_1src "pacib" "1101101011000001000001nnnnnddddd" ExtendShift PAuth [Xd, XnSp] [] compute(pauth::pointer::<POINTER_SIGN, KEY_IB>)
    PACDA_64P_dp_1src "pacda" "1101101011000001000010nnnnnddddd" ExtendShift PAuth [Xd, XnSp] [] compute(pauth::pointer::<POINTER_SIGN, KEY_DA>)
    PACDB_64P_dp_1src "pacdb" "1101101011000001000011nnnnnddddd" ExtendShift PAuth [Xd, XnSp] [] compute(pauth::pointer::<POINTER_SIGN, KEY_DB>)
    AUTIA_64P_dp_1src "autia" "1101101011000001000100nnnnnddddd" ExtendShift PAuth [Xd, XnSp] [] compute(pauth::pointer::<POINTER_AUTHENTICATE, KEY_IA>)
    AUTIB_64P_dp_1src "autib" "1101101011000001000101nnnnnddddd" ExtendShift PAuth [Xd, XnSp] [] compute(pauth::pointer::<POINTER_AUTHENTICATE, KEY_IB>)
    AUTDA_64P_dp_1src "autda" "1101101011000001000110nnnnnddddd" ExtendShift PAuth [Xd, XnSp] [] compute(pauth::pointer::<POINTER_AUTHENTICATE, KEY_DA>)
    AUTDB_64P_dp_1src "autdb" "1101101011000001000111nnnnnddddd" ExtendShift PAuth [Xd, XnSp] [] compute(pauth::pointer::<POINTER_AUTHENTICATE, KEY_DB>)
    PACIZA_64Z_dp_1src "paciza" "110110101100000100100011111ddddd" ExtendShift PAuth [Xd] [] compute(pauth::pointer_zero::<POINTER_SIGN, KEY_IA>)
    PACIZB_64Z_dp_1src "pacizb" "110110101100000100100111111ddddd" ExtendShift PAuth [Xd] [] compute(pauth::pointer_zero::<POINTER_SIGN, KEY_IB>)
    PACDZA_64Z_dp_1src "pacdza" "110110101100000100101011111ddddd" ExtendShift PAuth [Xd] [] compute(pauth::pointer_zero::<POINTER_SIGN, KEY_DA>)
    PACDZB_64Z_dp_1src "pacdzb" "110110101100000100101111111ddddd" ExtendShift PAuth [Xd] [] compute(pauth::pointer_zero::<POINTER_SIGN, KEY_DB>)
    AUTIZA_64Z_dp_1src "autiza" "110110101100000100110011111ddddd" ExtendShift PAuth [Xd] [] compute(pauth::pointer_zero::<POINTER_AUTHENTICATE, KEY_IA>)
    AUTIZB_64Z_dp_1src "autizb" "110110101100000100110111111ddddd" ExtendShift PAuth [Xd] [] compute(pauth::pointer_zero::<POINTER_AUTHENTICATE, KEY_IB>)
    AUTDZA_64Z_dp_1src "autdza" "110110101100000100111011111ddddd" ExtendShift PAuth [Xd] [] compute(pauth::pointer_zero::<POINTER_AUTHENTICATE, KEY_DA>)
    AUTDZB_64Z_dp_1src "autdzb" "110110101100000100111111111ddddd" ExtendShift PAuth [Xd] [] compute(pauth::pointer_zero::<POINTER_AUTHENTICATE, KEY_DB>)
    XPACI_64Z_dp_1src "xpaci" "110110101100000101000011111ddddd" ExtendShift PAuth [Xd] [] compute(pauth::pointer_zero::<POINTER_STRIP, KEY_IA>)
    XPACD_64Z_dp_1src "xpacd" "110110101100000101000111111ddddd" ExtendShift PAuth [Xd] [] compute(pauth::pointer_zero::<POINTER_STRIP, KEY_DA>)
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

    // Rotate right into flags: rmif
    RMIF_only_rmif "rmif" "10111010000iiiiii00001nnnnn0ffff" Arithmetic FlagM [Xn, FlagRotation, FlagMask] [] compute(flags::rmif)

    // Evaluate into flags: setf
    SETF8_only_setf  "setf8"  "0011101000000000000010nnnnn01101" Arithmetic FlagM [Wn] [] compute(flags::setf::<8>)
    SETF16_only_setf "setf16" "0011101000000000010010nnnnn01101" Arithmetic FlagM [Wn] [] compute(flags::setf::<16>)

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
} } }
