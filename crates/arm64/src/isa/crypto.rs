//! Rows of the instruction table: cryptographic instructions.

macro_rules! crypto_rows { ($consumer:ident [$next:ident $($later:ident)*] $($before:tt)*) => { $next! { $consumer [$($later)*] $($before)*
    // Data processing (scalar floating-point and Advanced SIMD)

    // Cryptographic AES: cryptoaes
    AESE_B_cryptoaes   "aese"   "0100111000101000010010nnnnnddddd" Logical Aes [Vd(V16B), Vn(V16B)] [] compute(simd::crypto::aese)
    AESD_B_cryptoaes   "aesd"   "0100111000101000010110nnnnnddddd" Logical Aes [Vd(V16B), Vn(V16B)] [] compute(simd::crypto::aesd)
    AESMC_B_cryptoaes  "aesmc"  "0100111000101000011010nnnnnddddd" Logical Aes [Vd(V16B), Vn(V16B)] [] compute(simd::crypto::aesmc)
    AESIMC_B_cryptoaes "aesimc" "0100111000101000011110nnnnnddddd" Logical Aes [Vd(V16B), Vn(V16B)] [] compute(simd::crypto::aesimc)

    // Cryptographic three-register SHA: cryptosha3
    SHA1C_QSV_cryptosha3     "sha1c"     "01011110000mmmmm000000nnnnnddddd" Logical Sha1   [Vd(Q), Vn(S), Vm(V4S)]     [] compute(simd::crypto::sha1c)
    SHA1P_QSV_cryptosha3     "sha1p"     "01011110000mmmmm000100nnnnnddddd" Logical Sha1   [Vd(Q), Vn(S), Vm(V4S)]     [] compute(simd::crypto::sha1p)
    SHA1M_QSV_cryptosha3     "sha1m"     "01011110000mmmmm001000nnnnnddddd" Logical Sha1   [Vd(Q), Vn(S), Vm(V4S)]     [] compute(simd::crypto::sha1m)
    SHA1SU0_VVV_cryptosha3   "sha1su0"   "01011110000mmmmm001100nnnnnddddd" Logical Sha1   [Vd(V4S), Vn(V4S), Vm(V4S)] [] compute(simd::crypto::sha1su0)
    SHA256H_QQV_cryptosha3   "sha256h"   "01011110000mmmmm010000nnnnnddddd" Logical Sha256 [Vd(Q), Vn(Q), Vm(V4S)]     [] compute(simd::crypto::sha256h)
    SHA256H2_QQV_cryptosha3  "sha256h2"  "01011110000mmmmm010100nnnnnddddd" Logical Sha256 [Vd(Q), Vn(Q), Vm(V4S)]     [] compute(simd::crypto::sha256h2)
    SHA256SU1_VVV_cryptosha3 "sha256su1" "01011110000mmmmm011000nnnnnddddd" Logical Sha256 [Vd(V4S), Vn(V4S), Vm(V4S)] [] compute(simd::crypto::sha256su1)

    // Cryptographic two-register SHA: cryptosha2
    SHA1H_SS_cryptosha2     "sha1h"     "0101111000101000000010nnnnnddddd" Logical Sha1   [Vd(S), Vn(S)]     [] compute(simd::crypto::sha1h)
    SHA1SU1_VV_cryptosha2   "sha1su1"   "0101111000101000000110nnnnnddddd" Logical Sha1   [Vd(V4S), Vn(V4S)] [] compute(simd::crypto::sha1su1)
    SHA256SU0_VV_cryptosha2 "sha256su0" "0101111000101000001010nnnnnddddd" Logical Sha256 [Vd(V4S), Vn(V4S)] [] compute(simd::crypto::sha256su0)

    // Cryptographic three-register, imm2: crypto3_imm2
    SM3TT1A_VVV4_crypto3_imm2 "sm3tt1a" "11001110010mmmmm10ii00nnnnnddddd" Logical Sm3 [Vd(V4S), Vn(V4S), VmWord] [] compute(simd::sm::sm3tt1a)
    SM3TT1B_VVV4_crypto3_imm2 "sm3tt1b" "11001110010mmmmm10ii01nnnnnddddd" Logical Sm3 [Vd(V4S), Vn(V4S), VmWord] [] compute(simd::sm::sm3tt1b)
    SM3TT2A_VVV4_crypto3_imm2 "sm3tt2a" "11001110010mmmmm10ii10nnnnnddddd" Logical Sm3 [Vd(V4S), Vn(V4S), VmWord] [] compute(simd::sm::sm3tt2a)
    SM3TT2B_VVV_crypto3_imm2  "sm3tt2b" "11001110010mmmmm10ii11nnnnnddddd" Logical Sm3 [Vd(V4S), Vn(V4S), VmWord] [] compute(simd::sm::sm3tt2b)

    // Cryptographic three-register SHA 512: cryptosha512_3
    SHA512H_QQV_cryptosha512_3    "sha512h"   "11001110011mmmmm100000nnnnnddddd" Logical Sha512 [Vd(Q), Vn(Q), Vm(V2D)]       [] compute(simd::hash::sha512h)
    SHA512H2_QQV_cryptosha512_3   "sha512h2"  "11001110011mmmmm100001nnnnnddddd" Logical Sha512 [Vd(Q), Vn(Q), Vm(V2D)]       [] compute(simd::hash::sha512h2)
    SHA512SU1_VVV2_cryptosha512_3 "sha512su1" "11001110011mmmmm100010nnnnnddddd" Logical Sha512 [Vd(V2D), Vn(V2D), Vm(V2D)]   [] compute(simd::hash::sha512su1)
    RAX1_VVV2_cryptosha512_3      "rax1"      "11001110011mmmmm100011nnnnnddddd" Logical Sha3   [Vd(V2D), Vn(V2D), Vm(V2D)]   [] compute(simd::hash::rax1)
    SM3PARTW1_VVV4_cryptosha512_3 "sm3partw1" "11001110011mmmmm110000nnnnnddddd" Logical Sm3    [Vd(V4S), Vn(V4S), Vm(V4S)]   [] compute(simd::sm::sm3partw1)
    SM3PARTW2_VVV4_cryptosha512_3 "sm3partw2" "11001110011mmmmm110001nnnnnddddd" Logical Sm3    [Vd(V4S), Vn(V4S), Vm(V4S)]   [] compute(simd::sm::sm3partw2)
    SM4EKEY_VVV4_cryptosha512_3   "sm4ekey"   "11001110011mmmmm110010nnnnnddddd" Logical Sm4    [Vd(V4S), Vn(V4S), Vm(V4S)]   [] compute(simd::sm::sm4ekey)

    // Cryptographic four-register: crypto4
    EOR3_VVV16_crypto4  "eor3"   "11001110000mmmmm0aaaaannnnnddddd" Logical Sha3 [Vd(V16B), Vn(V16B), Vm(V16B), Va(V16B)] [] compute(simd::hash::eor3)
    BCAX_VVV16_crypto4  "bcax"   "11001110001mmmmm0aaaaannnnnddddd" Logical Sha3 [Vd(V16B), Vn(V16B), Vm(V16B), Va(V16B)] [] compute(simd::hash::bcax)
    SM3SS1_VVV4_crypto4 "sm3ss1" "11001110010mmmmm0aaaaannnnnddddd" Logical Sm3  [Vd(V4S), Vn(V4S), Vm(V4S), Va(V4S)]     [] compute(simd::sm::sm3ss1)

    // Cryptographic three-register, imm6: crypto3_imm6
    XAR_VVV2_crypto3_imm6 "xar" "11001110100mmmmmiiiiiinnnnnddddd" Logical Sha3 [Vd(V2D), Vn(V2D), Vm(V2D), ImmS] [] compute(simd::hash::xar)

    // Cryptographic two-register SHA 512: cryptosha512_2
    SHA512SU0_VV2_cryptosha512_2 "sha512su0" "1100111011000000100000nnnnnddddd" Logical Sha512 [Vd(V2D), Vn(V2D)] [] compute(simd::hash::sha512su0)
    SM4E_VV4_cryptosha512_2      "sm4e"      "1100111011000000100001nnnnnddddd" Logical Sm4    [Vd(V4S), Vn(V4S)] [] compute(simd::sm::sm4e)
} } }
