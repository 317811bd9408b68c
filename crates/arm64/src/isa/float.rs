//! Rows of the instruction table: scalar floating point.

macro_rules! float_rows { ($consumer:ident [$next:ident $($later:ident)*] $($before:tt)*) => { $next! { $consumer [$($later)*] $($before)*
    // Conversion between floating-point and fixed-point: float2fix
    SCVTF_S32_float2fix  "scvtf"  "0001111000000010iiiiiinnnnnddddd" ExtendShift Fp [Vd(S), Wn, FractionBits] [SCALE32] compute(simd::convert::from_general::<false>)
    UCVTF_S32_float2fix  "ucvtf"  "0001111000000011iiiiiinnnnnddddd" ExtendShift Fp [Vd(S), Wn, FractionBits] [SCALE32] compute(simd::convert::from_general::<true>)
    FCVTZS_32S_float2fix "fcvtzs" "0001111000011000iiiiiinnnnnddddd" ExtendShift Fp [Wd, Vn(S), FractionBits] [SCALE32] compute(simd::convert::to_general::<false, ROUND_ZERO>)
    FCVTZU_32S_float2fix "fcvtzu" "0001111000011001iiiiiinnnnnddddd" ExtendShift Fp [Wd, Vn(S), FractionBits] [SCALE32] compute(simd::convert::to_general::<true, ROUND_ZERO>)
    SCVTF_D32_float2fix  "scvtf"  "0001111001000010iiiiiinnnnnddddd" ExtendShift Fp [Vd(D), Wn, FractionBits] [SCALE32] compute(simd::convert::from_general::<false>)
    UCVTF_D32_float2fix  "ucvtf"  "0001111001000011iiiiiinnnnnddddd" ExtendShift Fp [Vd(D), Wn, FractionBits] [SCALE32] compute(simd::convert::from_general::<true>)
    FCVTZS_32D_float2fix "fcvtzs" "0001111001011000iiiiiinnnnnddddd" ExtendShift Fp [Wd, Vn(D), FractionBits] [SCALE32] compute(simd::convert::to_general::<false, ROUND_ZERO>)
    FCVTZU_32D_float2fix "fcvtzu" "0001111001011001iiiiiinnnnnddddd" ExtendShift Fp [Wd, Vn(D), FractionBits] [SCALE32] compute(simd::convert::to_general::<true, ROUND_ZERO>)
    SCVTF_S64_float2fix  "scvtf"  "1001111000000010iiiiiinnnnnddddd" ExtendShift Fp [Vd(S), Xn, FractionBits] []        compute(simd::convert::from_general::<false>)
    UCVTF_S64_float2fix  "ucvtf"  "1001111000000011iiiiiinnnnnddddd" ExtendShift Fp [Vd(S), Xn, FractionBits] []        compute(simd::convert::from_general::<true>)
    FCVTZS_64S_float2fix "fcvtzs" "1001111000011000iiiiiinnnnnddddd" ExtendShift Fp [Xd, Vn(S), FractionBits] []        compute(simd::convert::to_general::<false, ROUND_ZERO>)
    FCVTZU_64S_float2fix "fcvtzu" "1001111000011001iiiiiinnnnnddddd" ExtendShift Fp [Xd, Vn(S), FractionBits] []        compute(simd::convert::to_general::<true, ROUND_ZERO>)
    SCVTF_D64_float2fix  "scvtf"  "1001111001000010iiiiiinnnnnddddd" ExtendShift Fp [Vd(D), Xn, FractionBits] []        compute(simd::convert::from_general::<false>)
    UCVTF_D64_float2fix  "ucvtf"  "1001111001000011iiiiiinnnnnddddd" ExtendShift Fp [Vd(D), Xn, FractionBits] []        compute(simd::convert::from_general::<true>)
    FCVTZS_64D_float2fix "fcvtzs" "1001111001011000iiiiiinnnnnddddd" ExtendShift Fp [Xd, Vn(D), FractionBits] []        compute(simd::convert::to_general::<false, ROUND_ZERO>)
    FCVTZU_64D_float2fix "fcvtzu" "1001111001011001iiiiiinnnnnddddd" ExtendShift Fp [Xd, Vn(D), FractionBits] []        compute(simd::convert::to_general::<true, ROUND_ZERO>)
    // Armv8.2 FP16 (float2fix): SCVTF_H32 UCVTF_H32 FCVTZS_32H FCVTZU_32H SCVTF_H64 UCVTF_H64 FCVTZS_64H FCVTZU_64H

    // Conversion between floating-point and integer: float2int
    FCVTNS_32S_float2int "fcvtns" "0001111000100000000000nnnnnddddd" ExtendShift Fp [Wd, Vn(S)]  [] compute(simd::convert::to_general::<false, ROUND_TIE_EVEN>)
    FCVTNU_32S_float2int "fcvtnu" "0001111000100001000000nnnnnddddd" ExtendShift Fp [Wd, Vn(S)]  [] compute(simd::convert::to_general::<true, ROUND_TIE_EVEN>)
    SCVTF_S32_float2int  "scvtf"  "0001111000100010000000nnnnnddddd" ExtendShift Fp [Vd(S), Wn]  [] compute(simd::convert::from_general::<false>)
    UCVTF_S32_float2int  "ucvtf"  "0001111000100011000000nnnnnddddd" ExtendShift Fp [Vd(S), Wn]  [] compute(simd::convert::from_general::<true>)
    FCVTAS_32S_float2int "fcvtas" "0001111000100100000000nnnnnddddd" ExtendShift Fp [Wd, Vn(S)]  [] compute(simd::convert::to_general::<false, ROUND_TIE_AWAY>)
    FCVTAU_32S_float2int "fcvtau" "0001111000100101000000nnnnnddddd" ExtendShift Fp [Wd, Vn(S)]  [] compute(simd::convert::to_general::<true, ROUND_TIE_AWAY>)
    FMOV_32S_float2int   "fmov"   "0001111000100110000000nnnnnddddd" ExtendShift Fp [Wd, Vn(S)]  [] compute(simd::copy::to_general::<32>)
    FMOV_S32_float2int   "fmov"   "0001111000100111000000nnnnnddddd" ExtendShift Fp [Vd(S), Wn]  [] compute(simd::copy::from_general::<32>)
    FCVTPS_32S_float2int "fcvtps" "0001111000101000000000nnnnnddddd" ExtendShift Fp [Wd, Vn(S)]  [] compute(simd::convert::to_general::<false, ROUND_POSITIVE>)
    FCVTPU_32S_float2int "fcvtpu" "0001111000101001000000nnnnnddddd" ExtendShift Fp [Wd, Vn(S)]  [] compute(simd::convert::to_general::<true, ROUND_POSITIVE>)
    FCVTMS_32S_float2int "fcvtms" "0001111000110000000000nnnnnddddd" ExtendShift Fp [Wd, Vn(S)]  [] compute(simd::convert::to_general::<false, ROUND_NEGATIVE>)
    FCVTMU_32S_float2int "fcvtmu" "0001111000110001000000nnnnnddddd" ExtendShift Fp [Wd, Vn(S)]  [] compute(simd::convert::to_general::<true, ROUND_NEGATIVE>)
    FCVTZS_32S_float2int "fcvtzs" "0001111000111000000000nnnnnddddd" ExtendShift Fp [Wd, Vn(S)]  [] compute(simd::convert::to_general::<false, ROUND_ZERO>)
    FCVTZU_32S_float2int "fcvtzu" "0001111000111001000000nnnnnddddd" ExtendShift Fp [Wd, Vn(S)]  [] compute(simd::convert::to_general::<true, ROUND_ZERO>)
    FCVTNS_32D_float2int "fcvtns" "0001111001100000000000nnnnnddddd" ExtendShift Fp [Wd, Vn(D)]  [] compute(simd::convert::to_general::<false, ROUND_TIE_EVEN>)
    FCVTNU_32D_float2int "fcvtnu" "0001111001100001000000nnnnnddddd" ExtendShift Fp [Wd, Vn(D)]  [] compute(simd::convert::to_general::<true, ROUND_TIE_EVEN>)
    SCVTF_D32_float2int  "scvtf"  "0001111001100010000000nnnnnddddd" ExtendShift Fp [Vd(D), Wn]  [] compute(simd::convert::from_general::<false>)
    UCVTF_D32_float2int  "ucvtf"  "0001111001100011000000nnnnnddddd" ExtendShift Fp [Vd(D), Wn]  [] compute(simd::convert::from_general::<true>)
    FCVTAS_32D_float2int "fcvtas" "0001111001100100000000nnnnnddddd" ExtendShift Fp [Wd, Vn(D)]  [] compute(simd::convert::to_general::<false, ROUND_TIE_AWAY>)
    FCVTAU_32D_float2int "fcvtau" "0001111001100101000000nnnnnddddd" ExtendShift Fp [Wd, Vn(D)]  [] compute(simd::convert::to_general::<true, ROUND_TIE_AWAY>)
    FCVTPS_32D_float2int "fcvtps" "0001111001101000000000nnnnnddddd" ExtendShift Fp [Wd, Vn(D)]  [] compute(simd::convert::to_general::<false, ROUND_POSITIVE>)
    FCVTPU_32D_float2int "fcvtpu" "0001111001101001000000nnnnnddddd" ExtendShift Fp [Wd, Vn(D)]  [] compute(simd::convert::to_general::<true, ROUND_POSITIVE>)
    FCVTMS_32D_float2int "fcvtms" "0001111001110000000000nnnnnddddd" ExtendShift Fp [Wd, Vn(D)]  [] compute(simd::convert::to_general::<false, ROUND_NEGATIVE>)
    FCVTMU_32D_float2int "fcvtmu" "0001111001110001000000nnnnnddddd" ExtendShift Fp [Wd, Vn(D)]  [] compute(simd::convert::to_general::<true, ROUND_NEGATIVE>)
    FCVTZS_32D_float2int "fcvtzs" "0001111001111000000000nnnnnddddd" ExtendShift Fp [Wd, Vn(D)]  [] compute(simd::convert::to_general::<false, ROUND_ZERO>)
    FCVTZU_32D_float2int "fcvtzu" "0001111001111001000000nnnnnddddd" ExtendShift Fp [Wd, Vn(D)]  [] compute(simd::convert::to_general::<true, ROUND_ZERO>)
    FCVTNS_64S_float2int "fcvtns" "1001111000100000000000nnnnnddddd" ExtendShift Fp [Xd, Vn(S)]  [] compute(simd::convert::to_general::<false, ROUND_TIE_EVEN>)
    FCVTNU_64S_float2int "fcvtnu" "1001111000100001000000nnnnnddddd" ExtendShift Fp [Xd, Vn(S)]  [] compute(simd::convert::to_general::<true, ROUND_TIE_EVEN>)
    SCVTF_S64_float2int  "scvtf"  "1001111000100010000000nnnnnddddd" ExtendShift Fp [Vd(S), Xn]  [] compute(simd::convert::from_general::<false>)
    UCVTF_S64_float2int  "ucvtf"  "1001111000100011000000nnnnnddddd" ExtendShift Fp [Vd(S), Xn]  [] compute(simd::convert::from_general::<true>)
    FCVTAS_64S_float2int "fcvtas" "1001111000100100000000nnnnnddddd" ExtendShift Fp [Xd, Vn(S)]  [] compute(simd::convert::to_general::<false, ROUND_TIE_AWAY>)
    FCVTAU_64S_float2int "fcvtau" "1001111000100101000000nnnnnddddd" ExtendShift Fp [Xd, Vn(S)]  [] compute(simd::convert::to_general::<true, ROUND_TIE_AWAY>)
    FCVTPS_64S_float2int "fcvtps" "1001111000101000000000nnnnnddddd" ExtendShift Fp [Xd, Vn(S)]  [] compute(simd::convert::to_general::<false, ROUND_POSITIVE>)
    FCVTPU_64S_float2int "fcvtpu" "1001111000101001000000nnnnnddddd" ExtendShift Fp [Xd, Vn(S)]  [] compute(simd::convert::to_general::<true, ROUND_POSITIVE>)
    FCVTMS_64S_float2int "fcvtms" "1001111000110000000000nnnnnddddd" ExtendShift Fp [Xd, Vn(S)]  [] compute(simd::convert::to_general::<false, ROUND_NEGATIVE>)
    FCVTMU_64S_float2int "fcvtmu" "1001111000110001000000nnnnnddddd" ExtendShift Fp [Xd, Vn(S)]  [] compute(simd::convert::to_general::<true, ROUND_NEGATIVE>)
    FCVTZS_64S_float2int "fcvtzs" "1001111000111000000000nnnnnddddd" ExtendShift Fp [Xd, Vn(S)]  [] compute(simd::convert::to_general::<false, ROUND_ZERO>)
    FCVTZU_64S_float2int "fcvtzu" "1001111000111001000000nnnnnddddd" ExtendShift Fp [Xd, Vn(S)]  [] compute(simd::convert::to_general::<true, ROUND_ZERO>)
    FCVTNS_64D_float2int "fcvtns" "1001111001100000000000nnnnnddddd" ExtendShift Fp [Xd, Vn(D)]  [] compute(simd::convert::to_general::<false, ROUND_TIE_EVEN>)
    FCVTNU_64D_float2int "fcvtnu" "1001111001100001000000nnnnnddddd" ExtendShift Fp [Xd, Vn(D)]  [] compute(simd::convert::to_general::<true, ROUND_TIE_EVEN>)
    SCVTF_D64_float2int  "scvtf"  "1001111001100010000000nnnnnddddd" ExtendShift Fp [Vd(D), Xn]  [] compute(simd::convert::from_general::<false>)
    UCVTF_D64_float2int  "ucvtf"  "1001111001100011000000nnnnnddddd" ExtendShift Fp [Vd(D), Xn]  [] compute(simd::convert::from_general::<true>)
    FCVTAS_64D_float2int "fcvtas" "1001111001100100000000nnnnnddddd" ExtendShift Fp [Xd, Vn(D)]  [] compute(simd::convert::to_general::<false, ROUND_TIE_AWAY>)
    FCVTAU_64D_float2int "fcvtau" "1001111001100101000000nnnnnddddd" ExtendShift Fp [Xd, Vn(D)]  [] compute(simd::convert::to_general::<true, ROUND_TIE_AWAY>)
    FMOV_64D_float2int   "fmov"   "1001111001100110000000nnnnnddddd" ExtendShift Fp [Xd, Vn(D)]  [] compute(simd::copy::to_general::<64>)
    FMOV_D64_float2int   "fmov"   "1001111001100111000000nnnnnddddd" ExtendShift Fp [Vd(D), Xn]  [] compute(simd::copy::from_general::<64>)
    FCVTPS_64D_float2int "fcvtps" "1001111001101000000000nnnnnddddd" ExtendShift Fp [Xd, Vn(D)]  [] compute(simd::convert::to_general::<false, ROUND_POSITIVE>)
    FCVTPU_64D_float2int "fcvtpu" "1001111001101001000000nnnnnddddd" ExtendShift Fp [Xd, Vn(D)]  [] compute(simd::convert::to_general::<true, ROUND_POSITIVE>)
    FCVTMS_64D_float2int "fcvtms" "1001111001110000000000nnnnnddddd" ExtendShift Fp [Xd, Vn(D)]  [] compute(simd::convert::to_general::<false, ROUND_NEGATIVE>)
    FCVTMU_64D_float2int "fcvtmu" "1001111001110001000000nnnnnddddd" ExtendShift Fp [Xd, Vn(D)]  [] compute(simd::convert::to_general::<true, ROUND_NEGATIVE>)
    FCVTZS_64D_float2int "fcvtzs" "1001111001111000000000nnnnnddddd" ExtendShift Fp [Xd, Vn(D)]  [] compute(simd::convert::to_general::<false, ROUND_ZERO>)
    FCVTZU_64D_float2int "fcvtzu" "1001111001111001000000nnnnnddddd" ExtendShift Fp [Xd, Vn(D)]  [] compute(simd::convert::to_general::<true, ROUND_ZERO>)
    FMOV_64VX_float2int  "fmov"   "1001111010101110000000nnnnnddddd" ExtendShift Fp [Xd, VnHigh] [] compute(simd::copy::to_general_high)
    FMOV_V64I_float2int  "fmov"   "1001111010101111000000nnnnnddddd" ExtendShift Fp [VdHigh, Xn] [] compute(simd::copy::from_general_high)
    // Armv8.2 FP16 (float2int): FCVTNS_32H FCVTNU_32H SCVTF_H32 UCVTF_H32 FCVTAS_32H FCVTAU_32H FMOV_32H FMOV_H32 FCVTPS_32H FCVTPU_32H
    // FCVTMS_32H FCVTMU_32H FCVTZS_32H FCVTZU_32H FCVTNS_64H FCVTNU_64H SCVTF_H64 UCVTF_H64 FCVTAS_64H FCVTAU_64H FMOV_64H FMOV_H64
    // FCVTPS_64H FCVTPU_64H FCVTMS_64H FCVTMU_64H FCVTZS_64H FCVTZU_64H
    // Armv8.3 JSCVT (float2int): FJCVTZS_32D
    // Armv9.6 FPRCVT (float2int): FCVTNS_sisd_32D FCVTAS_sisd_32D FCVTPS_sisd_32D FCVTMS_sisd_32D FCVTZS_sisd_32D SCVTF_sisd_32D
    // FCVTNU_sisd_32D FCVTAU_sisd_32D FCVTPU_sisd_32D FCVTMU_sisd_32D FCVTZU_sisd_32D UCVTF_sisd_32D FCVTNS_sisd_32H FCVTAS_sisd_32H
    // FCVTPS_sisd_32H FCVTMS_sisd_32H FCVTZS_sisd_32H SCVTF_sisd_32H FCVTNU_sisd_32H FCVTAU_sisd_32H FCVTPU_sisd_32H FCVTMU_sisd_32H
    // FCVTZU_sisd_32H UCVTF_sisd_32H FCVTNS_sisd_64H FCVTAS_sisd_64H FCVTPS_sisd_64H FCVTMS_sisd_64H FCVTZS_sisd_64H SCVTF_sisd_64H
    // FCVTNU_sisd_64H FCVTAU_sisd_64H FCVTPU_sisd_64H FCVTMU_sisd_64H FCVTZU_sisd_64H UCVTF_sisd_64H FCVTNS_sisd_64S FCVTAS_sisd_64S
    // FCVTPS_sisd_64S FCVTMS_sisd_64S FCVTZS_sisd_64S SCVTF_sisd_64S FCVTNU_sisd_64S FCVTAU_sisd_64S FCVTPU_sisd_64S FCVTMU_sisd_64S
    // FCVTZU_sisd_64S UCVTF_sisd_64S

    // Floating-point data-processing (1 source): floatdp1
    FMOV_S_floatdp1   "fmov"   "0001111000100000010000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(S)] [] compute(simd::float::fmov)
    FABS_S_floatdp1   "fabs"   "0001111000100000110000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(S)] [] compute(simd::float::fabs)
    FNEG_S_floatdp1   "fneg"   "0001111000100001010000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(S)] [] compute(simd::float::fneg)
    FSQRT_S_floatdp1  "fsqrt"  "0001111000100001110000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(S)] [] compute(simd::float::fsqrt)
    FCVT_DS_floatdp1  "fcvt"   "0001111000100010110000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(S)] [] compute(simd::convert::fcvt::<32, 64>)
    FCVT_HS_floatdp1  "fcvt"   "0001111000100011110000nnnnnddddd" ExtendShift Fp [Vd(H), Vn(S)] [] compute(simd::convert::fcvt::<32, 16>)
    FRINTN_S_floatdp1 "frintn" "0001111000100100010000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(S)] [] compute(simd::float::frintn)
    FRINTP_S_floatdp1 "frintp" "0001111000100100110000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(S)] [] compute(simd::float::frintp)
    FRINTM_S_floatdp1 "frintm" "0001111000100101010000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(S)] [] compute(simd::float::frintm)
    FRINTZ_S_floatdp1 "frintz" "0001111000100101110000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(S)] [] compute(simd::float::frintz)
    FRINTA_S_floatdp1 "frinta" "0001111000100110010000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(S)] [] compute(simd::float::frinta)
    FRINTX_S_floatdp1 "frintx" "0001111000100111010000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(S)] [] compute(simd::float::frintx)
    FRINTI_S_floatdp1 "frinti" "0001111000100111110000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(S)] [] compute(simd::float::frinti)
    FMOV_D_floatdp1   "fmov"   "0001111001100000010000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D)] [] compute(simd::float::fmov)
    FABS_D_floatdp1   "fabs"   "0001111001100000110000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D)] [] compute(simd::float::fabs)
    FNEG_D_floatdp1   "fneg"   "0001111001100001010000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D)] [] compute(simd::float::fneg)
    FSQRT_D_floatdp1  "fsqrt"  "0001111001100001110000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D)] [] compute(simd::float::fsqrt)
    FCVT_SD_floatdp1  "fcvt"   "0001111001100010010000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(D)] [] compute(simd::convert::fcvt::<64, 32>)
    FCVT_HD_floatdp1  "fcvt"   "0001111001100011110000nnnnnddddd" ExtendShift Fp [Vd(H), Vn(D)] [] compute(simd::convert::fcvt::<64, 16>)
    FRINTN_D_floatdp1 "frintn" "0001111001100100010000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D)] [] compute(simd::float::frintn)
    FRINTP_D_floatdp1 "frintp" "0001111001100100110000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D)] [] compute(simd::float::frintp)
    FRINTM_D_floatdp1 "frintm" "0001111001100101010000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D)] [] compute(simd::float::frintm)
    FRINTZ_D_floatdp1 "frintz" "0001111001100101110000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D)] [] compute(simd::float::frintz)
    FRINTA_D_floatdp1 "frinta" "0001111001100110010000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D)] [] compute(simd::float::frinta)
    FRINTX_D_floatdp1 "frintx" "0001111001100111010000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D)] [] compute(simd::float::frintx)
    FRINTI_D_floatdp1 "frinti" "0001111001100111110000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(D)] [] compute(simd::float::frinti)
    FCVT_SH_floatdp1  "fcvt"   "0001111011100010010000nnnnnddddd" ExtendShift Fp [Vd(S), Vn(H)] [] compute(simd::convert::fcvt::<16, 32>)
    FCVT_DH_floatdp1  "fcvt"   "0001111011100010110000nnnnnddddd" ExtendShift Fp [Vd(D), Vn(H)] [] compute(simd::convert::fcvt::<16, 64>)
    // Armv8.2 FP16 (floatdp1): FMOV_H FABS_H FNEG_H FSQRT_H FRINTN_H FRINTP_H FRINTM_H FRINTZ_H FRINTA_H FRINTX_H FRINTI_H
    // Armv8.5 FRINTTS (floatdp1): FRINT32Z_S FRINT32X_S FRINT64Z_S FRINT64X_S FRINT32Z_D FRINT32X_D FRINT64Z_D FRINT64X_D
    // Armv8.6 BF16 (floatdp1): BFCVT_BS

    // Floating-point compare: floatcmp
    FCMP_S_floatcmp   "fcmp"  "00011110001mmmmm001000nnnnn00000" Arithmetic Fp [Vn(S), Vm(S)]        [] compute(simd::compare::fcmp::<false, false>)
    FCMP_SZ_floatcmp  "fcmp"  "00011110001-----001000nnnnn01000" Arithmetic Fp [Vn(S), Text("#0.0")] [] compute(simd::compare::fcmp::<true, false>)
    FCMPE_S_floatcmp  "fcmpe" "00011110001mmmmm001000nnnnn10000" Arithmetic Fp [Vn(S), Vm(S)]        [] compute(simd::compare::fcmp::<false, true>)
    FCMPE_SZ_floatcmp "fcmpe" "00011110001-----001000nnnnn11000" Arithmetic Fp [Vn(S), Text("#0.0")] [] compute(simd::compare::fcmp::<true, true>)
    FCMP_D_floatcmp   "fcmp"  "00011110011mmmmm001000nnnnn00000" Arithmetic Fp [Vn(D), Vm(D)]        [] compute(simd::compare::fcmp::<false, false>)
    FCMP_DZ_floatcmp  "fcmp"  "00011110011-----001000nnnnn01000" Arithmetic Fp [Vn(D), Text("#0.0")] [] compute(simd::compare::fcmp::<true, false>)
    FCMPE_D_floatcmp  "fcmpe" "00011110011mmmmm001000nnnnn10000" Arithmetic Fp [Vn(D), Vm(D)]        [] compute(simd::compare::fcmp::<false, true>)
    FCMPE_DZ_floatcmp "fcmpe" "00011110011-----001000nnnnn11000" Arithmetic Fp [Vn(D), Text("#0.0")] [] compute(simd::compare::fcmp::<true, true>)
    // Armv8.2 FP16 (floatcmp): FCMP_H FCMP_HZ FCMPE_H FCMPE_HZ FCMTL_H FCMTLMG_H
    // Armv9 and later (floatcmp): FCMTL_S FCMTLMG_S FCMTL_D FCMTLMG_D

    // Floating-point immediate: floatimm
    FMOV_S_floatimm "fmov" "00011110001iiiiiiii10000000ddddd" Arithmetic Fp [Vd(S), FloatImm] [] compute(simd::immediate::fmov::<32>)
    FMOV_D_floatimm "fmov" "00011110011iiiiiiii10000000ddddd" Arithmetic Fp [Vd(D), FloatImm] [] compute(simd::immediate::fmov::<64>)
    // Armv8.2 FP16 (floatimm): FMOV_H

    // Floating-point conditional compare: floatccmp
    FCCMP_S_floatccmp  "fccmp"  "00011110001mmmmmcccc01nnnnn0ffff" Arithmetic Fp [Vn(S), Vm(S), Nzcv, Cond] [] compute(simd::compare::fccmp::<false>)
    FCCMPE_S_floatccmp "fccmpe" "00011110001mmmmmcccc01nnnnn1ffff" Arithmetic Fp [Vn(S), Vm(S), Nzcv, Cond] [] compute(simd::compare::fccmp::<true>)
    FCCMP_D_floatccmp  "fccmp"  "00011110011mmmmmcccc01nnnnn0ffff" Arithmetic Fp [Vn(D), Vm(D), Nzcv, Cond] [] compute(simd::compare::fccmp::<false>)
    FCCMPE_D_floatccmp "fccmpe" "00011110011mmmmmcccc01nnnnn1ffff" Arithmetic Fp [Vn(D), Vm(D), Nzcv, Cond] [] compute(simd::compare::fccmp::<true>)
    // Armv8.2 FP16 (floatccmp): FCCMP_H FCCMPE_H

    // Floating-point data-processing (2 source): floatdp2
    FMUL_S_floatdp2   "fmul"   "00011110001mmmmm000010nnnnnddddd" MulDiv     Fp [Vd(S), Vn(S), Vm(S)] [] compute(simd::float::fmul)
    FDIV_S_floatdp2   "fdiv"   "00011110001mmmmm000110nnnnnddddd" MulDiv     Fp [Vd(S), Vn(S), Vm(S)] [] compute(simd::float::fdiv)
    FADD_S_floatdp2   "fadd"   "00011110001mmmmm001010nnnnnddddd" Arithmetic Fp [Vd(S), Vn(S), Vm(S)] [] compute(simd::float::fadd)
    FSUB_S_floatdp2   "fsub"   "00011110001mmmmm001110nnnnnddddd" Arithmetic Fp [Vd(S), Vn(S), Vm(S)] [] compute(simd::float::fsub)
    FMAX_S_floatdp2   "fmax"   "00011110001mmmmm010010nnnnnddddd" Arithmetic Fp [Vd(S), Vn(S), Vm(S)] [] compute(simd::float::fmax)
    FMIN_S_floatdp2   "fmin"   "00011110001mmmmm010110nnnnnddddd" Arithmetic Fp [Vd(S), Vn(S), Vm(S)] [] compute(simd::float::fmin)
    FMAXNM_S_floatdp2 "fmaxnm" "00011110001mmmmm011010nnnnnddddd" Arithmetic Fp [Vd(S), Vn(S), Vm(S)] [] compute(simd::float::fmaxnm)
    FMINNM_S_floatdp2 "fminnm" "00011110001mmmmm011110nnnnnddddd" Arithmetic Fp [Vd(S), Vn(S), Vm(S)] [] compute(simd::float::fminnm)
    FNMUL_S_floatdp2  "fnmul"  "00011110001mmmmm100010nnnnnddddd" MulDiv     Fp [Vd(S), Vn(S), Vm(S)] [] compute(simd::float::fnmul)
    FMUL_D_floatdp2   "fmul"   "00011110011mmmmm000010nnnnnddddd" MulDiv     Fp [Vd(D), Vn(D), Vm(D)] [] compute(simd::float::fmul)
    FDIV_D_floatdp2   "fdiv"   "00011110011mmmmm000110nnnnnddddd" MulDiv     Fp [Vd(D), Vn(D), Vm(D)] [] compute(simd::float::fdiv)
    FADD_D_floatdp2   "fadd"   "00011110011mmmmm001010nnnnnddddd" Arithmetic Fp [Vd(D), Vn(D), Vm(D)] [] compute(simd::float::fadd)
    FSUB_D_floatdp2   "fsub"   "00011110011mmmmm001110nnnnnddddd" Arithmetic Fp [Vd(D), Vn(D), Vm(D)] [] compute(simd::float::fsub)
    FMAX_D_floatdp2   "fmax"   "00011110011mmmmm010010nnnnnddddd" Arithmetic Fp [Vd(D), Vn(D), Vm(D)] [] compute(simd::float::fmax)
    FMIN_D_floatdp2   "fmin"   "00011110011mmmmm010110nnnnnddddd" Arithmetic Fp [Vd(D), Vn(D), Vm(D)] [] compute(simd::float::fmin)
    FMAXNM_D_floatdp2 "fmaxnm" "00011110011mmmmm011010nnnnnddddd" Arithmetic Fp [Vd(D), Vn(D), Vm(D)] [] compute(simd::float::fmaxnm)
    FMINNM_D_floatdp2 "fminnm" "00011110011mmmmm011110nnnnnddddd" Arithmetic Fp [Vd(D), Vn(D), Vm(D)] [] compute(simd::float::fminnm)
    FNMUL_D_floatdp2  "fnmul"  "00011110011mmmmm100010nnnnnddddd" MulDiv     Fp [Vd(D), Vn(D), Vm(D)] [] compute(simd::float::fnmul)
    // Armv8.2 FP16 (floatdp2): FMUL_H FDIV_H FADD_H FSUB_H FMAX_H FMIN_H FMAXNM_H FMINNM_H FNMUL_H FMAXINM_H FMININM_H FMAXMG_H FMINMG_H
    // FMAXMGINM_H FMINMGINM_H
    // Armv9 and later (floatdp2): FMAXINM_S FMININM_S FMAXMG_S FMINMG_S FMAXMGINM_S FMINMGINM_S FMAXINM_D FMININM_D FMAXMG_D FMINMG_D
    // FMAXMGINM_D FMINMGINM_D

    // Floating-point conditional select: floatsel
    FCSEL_S_floatsel "fcsel" "00011110001mmmmmcccc11nnnnnddddd" Arithmetic Fp [Vd(S), Vn(S), Vm(S), Cond] [] compute(simd::compare::fcsel)
    FCSEL_D_floatsel "fcsel" "00011110011mmmmmcccc11nnnnnddddd" Arithmetic Fp [Vd(D), Vn(D), Vm(D), Cond] [] compute(simd::compare::fcsel)
    // Armv8.2 FP16 (floatsel): FCSEL_H

    // Floating-point data-processing (3 source): floatdp3
    FMADD_S_floatdp3  "fmadd"  "00011111000mmmmm0aaaaannnnnddddd" MulDiv Fp [Vd(S), Vn(S), Vm(S), Va(S)] [] compute(simd::float::fmadd::<false, false>)
    FMSUB_S_floatdp3  "fmsub"  "00011111000mmmmm1aaaaannnnnddddd" MulDiv Fp [Vd(S), Vn(S), Vm(S), Va(S)] [] compute(simd::float::fmadd::<false, true>)
    FNMADD_S_floatdp3 "fnmadd" "00011111001mmmmm0aaaaannnnnddddd" MulDiv Fp [Vd(S), Vn(S), Vm(S), Va(S)] [] compute(simd::float::fmadd::<true, true>)
    FNMSUB_S_floatdp3 "fnmsub" "00011111001mmmmm1aaaaannnnnddddd" MulDiv Fp [Vd(S), Vn(S), Vm(S), Va(S)] [] compute(simd::float::fmadd::<true, false>)
    FMADD_D_floatdp3  "fmadd"  "00011111010mmmmm0aaaaannnnnddddd" MulDiv Fp [Vd(D), Vn(D), Vm(D), Va(D)] [] compute(simd::float::fmadd::<false, false>)
    FMSUB_D_floatdp3  "fmsub"  "00011111010mmmmm1aaaaannnnnddddd" MulDiv Fp [Vd(D), Vn(D), Vm(D), Va(D)] [] compute(simd::float::fmadd::<false, true>)
    FNMADD_D_floatdp3 "fnmadd" "00011111011mmmmm0aaaaannnnnddddd" MulDiv Fp [Vd(D), Vn(D), Vm(D), Va(D)] [] compute(simd::float::fmadd::<true, true>)
    FNMSUB_D_floatdp3 "fnmsub" "00011111011mmmmm1aaaaannnnnddddd" MulDiv Fp [Vd(D), Vn(D), Vm(D), Va(D)] [] compute(simd::float::fmadd::<true, false>)
    // Armv8.2 FP16 (floatdp3): FMADD_H FMSUB_H FNMADD_H FNMSUB_H
} } }
