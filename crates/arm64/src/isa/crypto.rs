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

    // Armv8.2 SM3 (crypto3_imm2): SM3TT1A_VVV4 SM3TT1B_VVV4 SM3TT2A_VVV4 SM3TT2B_VVV

    // Armv8.2 SHA3 (cryptosha512_3): RAX1_VVV2
    // Armv8.2 SHA512 (cryptosha512_3): SHA512H_QQV SHA512H2_QQV SHA512SU1_VVV2
    // Armv8.2 SM3 (cryptosha512_3): SM3PARTW1_VVV4 SM3PARTW2_VVV4
    // Armv8.2 SM4 (cryptosha512_3): SM4EKEY_VVV4

    // Armv8.2 SHA3 (crypto4): EOR3_VVV16 BCAX_VVV16
    // Armv8.2 SM3 (crypto4): SM3SS1_VVV4

    // Armv8.2 SHA3 (crypto3_imm6): XAR_VVV2

    // Armv8.2 SHA512 (cryptosha512_2): SHA512SU0_VV2
    // Armv8.2 SM4 (cryptosha512_2): SM4E_VV4
} } }
