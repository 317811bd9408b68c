//! The templates of rows on SIMD&FP registers: functions with the same names and parameters as `semantics::simd`.

use super::Template;
use super::shapes::Shape;
use super::templates::{plain, sized};
use crate::micro_op::Handler;
use crate::vector_op::*;

/// Returns a template whose micro-op has the word as its immediate.
const fn vector(handler: Handler) -> Template {
    sized(Shape::VECTOR, handler, 32)
}

/// Returns the template of an operation on elements.
const fn elements(element: u32, form: u32, sizing: u32) -> Template {
    let template = vector(Handler::VECTOR_INTEGER);
    template.with(template.fields().element(element).form(form).sizing(sizing))
}

impl Template {
    const fn unsigned(self) -> Self {
        self.with(self.fields().unsigned(1))
    }

    const fn rounding(self) -> Self {
        self.with(self.fields().rounding(1))
    }

    const fn accumulate(self, how: u32) -> Self {
        self.with(self.fields().accumulate(how))
    }

    const fn saturating(self, how: u32) -> Self {
        self.with(self.fields().saturation(how))
    }

    const fn with_zero(self) -> Self {
        self.with(self.fields().zero(1))
    }

    const fn element(self, element: u32) -> Self {
        self.with(self.fields().element(element))
    }

    const fn mode(self, mode: u32) -> Self {
        self.with(self.fields().mode(mode))
    }

    const fn arranged(self, how: u32) -> Self {
        self.with(self.fields().arrangement(how))
    }

    const fn negate(self, what: u32) -> Self {
        self.with(self.fields().negate(what))
    }

    const fn sign(self, how: u32) -> Self {
        self.with(self.fields().sign(how))
    }
}

/// Defines functions without parameters that return a template: name and template.
macro_rules! templates { ($($name:ident = $template:expr;)*) => { $(
    pub(in super::super) const fn $name() -> Template {
        $template
    }
)* } }

pub(super) mod integer {
    use super::*;

    const fn same(element: u32) -> Template {
        elements(element, FORM_SAME, SIZING_SIZE)
    }

    const fn bits(element: u32) -> Template {
        elements(element, FORM_SAME, SIZING_DOUBLEWORDS)
    }

    templates! {
        add = same(ELEMENT_ADD).unsigned();
        sub = same(ELEMENT_SUBTRACT).unsigned();
        mul = same(ELEMENT_MULTIPLY);
        mla = mul().accumulate(ACCUMULATE_ADD);
        mls = mul().accumulate(ACCUMULATE_SUBTRACT);
        shadd = same(ELEMENT_HALVING_ADD);
        uhadd = shadd().unsigned();
        srhadd = shadd().rounding();
        urhadd = uhadd().rounding();
        shsub = same(ELEMENT_HALVING_SUBTRACT);
        uhsub = shsub().unsigned();
        smax = same(ELEMENT_MAXIMUM);
        umax = smax().unsigned();
        smin = same(ELEMENT_MINIMUM);
        umin = smin().unsigned();
        sabd = same(ELEMENT_ABSOLUTE_DIFFERENCE);
        uabd = sabd().unsigned();
        saba = sabd().accumulate(ACCUMULATE_ADD);
        uaba = uabd().accumulate(ACCUMULATE_ADD);
        cmgt = same(ELEMENT_GREATER);
        cmge = same(ELEMENT_GREATER_OR_EQUAL);
        cmhi = cmgt().unsigned();
        cmhs = cmge().unsigned();
        cmeq = same(ELEMENT_EQUAL).unsigned();
        cmtst = same(ELEMENT_TEST).unsigned();
        pmul = same(ELEMENT_POLYNOMIAL_MULTIPLY).unsigned();
        sshl = same(ELEMENT_SHIFT);
        ushl = sshl().unsigned();
        srshl = sshl().rounding();
        urshl = ushl().rounding();
        sqshl = sshl().saturating(SATURATION_SIGNED);
        uqshl = ushl().saturating(SATURATION_UNSIGNED);
        sqrshl = srshl().saturating(SATURATION_SIGNED);
        uqrshl = urshl().saturating(SATURATION_UNSIGNED);
        sqadd = same(ELEMENT_ADD).saturating(SATURATION_SIGNED);
        uqadd = add().saturating(SATURATION_UNSIGNED);
        sqsub = same(ELEMENT_SUBTRACT).saturating(SATURATION_SIGNED);
        uqsub = sub().saturating(SATURATION_UNSIGNED);
        sqdmulh = same(ELEMENT_DOUBLING_HIGH).saturating(SATURATION_SIGNED);
        sqrdmulh = sqdmulh().rounding();
        sqrdmlah = same(ELEMENT_DOUBLING_HIGH_ADD).saturating(SATURATION_SIGNED).rounding();
        sqrdmlsh = same(ELEMENT_DOUBLING_HIGH_SUBTRACT).saturating(SATURATION_SIGNED).rounding();
        and = bits(ELEMENT_AND);
        bic = bits(ELEMENT_BIC);
        orr = bits(ELEMENT_ORR);
        orn = bits(ELEMENT_ORN);
        eor = bits(ELEMENT_EOR);
        bsl = bits(ELEMENT_BSL);
        bit = bits(ELEMENT_BIT);
        bif = bits(ELEMENT_BIF);
    }
}

pub(super) mod dot {
    use super::*;

    const fn products(form: u32, n: bool, m: bool) -> Template {
        elements(n as u32 | (m as u32) << 1, form, SIZING_BYTES)
    }

    pub(in super::super) const fn dot<const N: bool, const M: bool>() -> Template {
        products(FORM_DOT, N, M)
    }

    pub(in super::super) const fn matrix<const N: bool, const M: bool>() -> Template {
        products(FORM_MATRIX, N, M)
    }
}

pub(super) mod misc {
    use super::*;

    const fn one(element: u32) -> Template {
        elements(element, FORM_SAME, SIZING_SIZE)
    }

    const fn of_bytes(element: u32) -> Template {
        elements(element, FORM_SAME, SIZING_BYTES).unsigned()
    }

    /// Returns the template of a reversal within containers of `container` bits.
    const fn reverse(container: u32) -> Template {
        vector(Handler::VECTOR_PERMUTE).operation(PERMUTE_REV).element(container.trailing_zeros())
    }

    templates! {
        rev16 = reverse(16);
        rev32 = reverse(32);
        rev64 = reverse(64);
        clz = one(ELEMENT_LEADING_ZEROS).unsigned();
        cls = one(ELEMENT_LEADING_SIGNS).unsigned();
        cnt = of_bytes(ELEMENT_COUNT);
        not = of_bytes(ELEMENT_NOT);
        rbit = of_bytes(ELEMENT_REVERSE_BITS);
        abs = one(ELEMENT_ABSOLUTE);
        neg = one(ELEMENT_NEGATE);
        sqabs = abs().saturating(SATURATION_SIGNED);
        sqneg = neg().saturating(SATURATION_SIGNED);
        cmgt_zero = one(ELEMENT_GREATER).with_zero();
        cmge_zero = one(ELEMENT_GREATER_OR_EQUAL).with_zero();
        cmeq_zero = one(ELEMENT_EQUAL).with_zero();
        cmle_zero = one(ELEMENT_LESS_OR_EQUAL).with_zero();
        cmlt_zero = one(ELEMENT_LESS).with_zero();
        suqadd = one(ELEMENT_MOVE).unsigned().accumulate(ACCUMULATE_ADD).saturating(SATURATION_SIGNED);
        usqadd = one(ELEMENT_MOVE).accumulate(ACCUMULATE_ADD).saturating(SATURATION_UNSIGNED);
    }
}

pub(super) mod long {
    use super::*;

    const fn long(element: u32) -> Template {
        elements(element, FORM_LONG, SIZING_SIZE)
    }

    const fn wide(element: u32) -> Template {
        elements(element, FORM_WIDE, SIZING_SIZE)
    }

    const fn high_narrow(element: u32) -> Template {
        elements(element, FORM_NARROW_HIGH, SIZING_SIZE).unsigned()
    }

    templates! {
        saddl = long(ELEMENT_ADD);
        uaddl = saddl().unsigned();
        ssubl = long(ELEMENT_SUBTRACT);
        usubl = ssubl().unsigned();
        saddw = wide(ELEMENT_ADD);
        uaddw = saddw().unsigned();
        ssubw = wide(ELEMENT_SUBTRACT);
        usubw = ssubw().unsigned();
        addhn = high_narrow(ELEMENT_ADD);
        raddhn = addhn().rounding();
        subhn = high_narrow(ELEMENT_SUBTRACT);
        rsubhn = subhn().rounding();
        sabdl = long(ELEMENT_ABSOLUTE_DIFFERENCE);
        uabdl = sabdl().unsigned();
        sabal = sabdl().accumulate(ACCUMULATE_ADD);
        uabal = uabdl().accumulate(ACCUMULATE_ADD);
        smull = long(ELEMENT_MULTIPLY);
        umull = smull().unsigned();
        smlal = smull().accumulate(ACCUMULATE_ADD);
        umlal = umull().accumulate(ACCUMULATE_ADD);
        smlsl = smull().accumulate(ACCUMULATE_SUBTRACT);
        umlsl = umull().accumulate(ACCUMULATE_SUBTRACT);
        sqdmull = long(ELEMENT_DOUBLING_MULTIPLY).saturating(SATURATION_SIGNED);
        sqdmlal = sqdmull().accumulate(ACCUMULATE_ADD);
        sqdmlsl = sqdmull().accumulate(ACCUMULATE_SUBTRACT);
    }
}

pub(super) mod polynomial {
    use super::*;

    templates! {
        pmull = elements(ELEMENT_POLYNOMIAL_MULTIPLY, FORM_LONG, SIZING_SIZE).unsigned();
    }
}

pub(super) mod narrow {
    use super::*;

    const fn extract() -> Template {
        elements(ELEMENT_MOVE, FORM_NARROW, SIZING_SIZE)
    }

    const fn shift() -> Template {
        elements(ELEMENT_SHIFT_RIGHT, FORM_NARROW, SIZING_IMMH)
    }

    templates! {
        xtn = extract().unsigned();
        sqxtn = extract().saturating(SATURATION_SIGNED);
        uqxtn = xtn().saturating(SATURATION_UNSIGNED);
        sqxtun = extract().saturating(SATURATION_UNSIGNED);
        shrn = shift().unsigned();
        rshrn = shrn().rounding();
        sqshrn = shift().saturating(SATURATION_SIGNED);
        sqrshrn = sqshrn().rounding();
        uqshrn = shrn().saturating(SATURATION_UNSIGNED);
        uqrshrn = uqshrn().rounding();
        sqshrun = shift().saturating(SATURATION_UNSIGNED);
        sqrshrun = sqshrun().rounding();
    }
}

pub(super) mod pairwise {
    use super::*;

    const fn paired(element: u32) -> Template {
        elements(element, FORM_PAIRED, SIZING_SIZE)
    }

    templates! {
        addp = paired(ELEMENT_ADD).unsigned();
        smaxp = paired(ELEMENT_MAXIMUM);
        umaxp = smaxp().unsigned();
        sminp = paired(ELEMENT_MINIMUM);
        uminp = sminp().unsigned();
        saddlp = elements(ELEMENT_ADD, FORM_PAIRED_LONG, SIZING_SIZE);
        uaddlp = saddlp().unsigned();
        sadalp = saddlp().accumulate(ACCUMULATE_ADD);
        uadalp = uaddlp().accumulate(ACCUMULATE_ADD);
    }
}

pub(super) mod across {
    use super::*;

    const fn across(element: u32) -> Template {
        elements(element, FORM_ACROSS, SIZING_SIZE)
    }

    templates! {
        addv = across(ELEMENT_ADD).unsigned();
        saddlv = elements(ELEMENT_ADD, FORM_ACROSS_LONG, SIZING_SIZE);
        uaddlv = saddlv().unsigned();
        smaxv = across(ELEMENT_MAXIMUM);
        umaxv = smaxv().unsigned();
        sminv = across(ELEMENT_MINIMUM);
        uminv = sminv().unsigned();
    }
}

pub(super) mod shift {
    use super::*;

    const fn shift(element: u32, form: u32) -> Template {
        elements(element, form, SIZING_IMMH)
    }

    templates! {
        sshr = shift(ELEMENT_SHIFT_RIGHT, FORM_SAME);
        ushr = sshr().unsigned();
        ssra = sshr().accumulate(ACCUMULATE_ADD);
        usra = ushr().accumulate(ACCUMULATE_ADD);
        srshr = sshr().rounding();
        urshr = ushr().rounding();
        srsra = srshr().accumulate(ACCUMULATE_ADD);
        ursra = urshr().accumulate(ACCUMULATE_ADD);
        shl = shift(ELEMENT_SHIFT_LEFT, FORM_SAME).unsigned();
        sli = shift(ELEMENT_SHIFT_LEFT_INSERT, FORM_SAME).unsigned();
        sri = shift(ELEMENT_SHIFT_RIGHT_INSERT, FORM_SAME).unsigned();
        sqshl = shift(ELEMENT_SHIFT_LEFT, FORM_SAME).saturating(SATURATION_SIGNED);
        uqshl = shl().saturating(SATURATION_UNSIGNED);
        sqshlu = shift(ELEMENT_SHIFT_LEFT, FORM_SAME).saturating(SATURATION_UNSIGNED);
        sshll = shift(ELEMENT_SHIFT_LEFT, FORM_LONG);
        ushll = sshll().unsigned();
        shll = elements(ELEMENT_SHIFT_LEFT_BY_SIZE, FORM_LONG, SIZING_SIZE).unsigned();
    }
}

pub(super) mod permute {
    use super::*;

    pub(super) const fn permute(operation: u32, element: u32) -> Template {
        vector(Handler::VECTOR_PERMUTE).operation(operation).element(element)
    }

    pub(in super::super) const fn uzp<const PART: u32>() -> Template {
        permute(PERMUTE_UZP, PART)
    }

    pub(in super::super) const fn zip<const PART: u32>() -> Template {
        permute(PERMUTE_ZIP, PART)
    }

    pub(in super::super) const fn trn<const PART: u32>() -> Template {
        permute(PERMUTE_TRN, PART)
    }

    pub(in super::super) const fn ext() -> Template {
        permute(PERMUTE_EXT, 0)
    }
}

pub(super) mod table {
    use super::permute::permute;
    use super::*;

    pub(in super::super) const fn tbl<const REGISTERS: u32>() -> Template {
        permute(PERMUTE_TBL, REGISTERS)
    }

    pub(in super::super) const fn tbx<const REGISTERS: u32>() -> Template {
        permute(PERMUTE_TBX, REGISTERS)
    }
}

/// Returns the template of a move.
const fn moving(operation: u32) -> Template {
    vector(Handler::VECTOR_MOVE).operation(operation)
}

/// Returns the template of a move to or from a general register of `datasize` bits.
const fn moving_sized(operation: u32, datasize: u32) -> Template {
    let template = moving(operation);
    template.with(template.fields().wide(datasize >> 6))
}

pub(super) mod copy {
    use super::*;

    templates! {
        dup_element = moving(MOVE_DUP_ELEMENT);
        dup_general = moving(MOVE_DUP_GENERAL);
        ins_element = moving(MOVE_INS_ELEMENT);
        ins_general = moving(MOVE_INS_GENERAL);
        umov = moving(MOVE_UMOV);
        from_general_high = moving(MOVE_FROM_GENERAL_HIGH);
        to_general_high = moving(MOVE_TO_GENERAL_HIGH);
    }

    pub(in super::super) const fn smov<const N: u32>() -> Template {
        moving_sized(MOVE_SMOV, N)
    }

    pub(in super::super) const fn from_general<const N: u32>() -> Template {
        moving_sized(if N == 16 { MOVE_FROM_GENERAL_HALF } else { MOVE_FROM_GENERAL }, N)
    }

    pub(in super::super) const fn to_general<const N: u32>() -> Template {
        moving_sized(if N == 16 { MOVE_TO_GENERAL_HALF } else { MOVE_TO_GENERAL }, N)
    }
}

pub(super) mod immediate {
    use super::*;

    templates! {
        movi = moving(MOVE_IMMEDIATE);
        mvni = moving(MOVE_IMMEDIATE_INVERTED);
        orr = moving(MOVE_IMMEDIATE_ORR);
        bic = moving(MOVE_IMMEDIATE_BIC);
        fmov_halves = moving(MOVE_HALVES_IMMEDIATE);
    }

    pub(in super::super) const fn fmov<const N: u32>() -> Template {
        moving_sized(if N == 16 { MOVE_HALF_IMMEDIATE } else { MOVE_FLOAT_IMMEDIATE }, N)
    }
}

/// Returns the template of an operation on floating-point numbers, whose results are rounded as FPCR says.
const fn numbers(form: u32, element: u32, sizing: u32) -> Template {
    let template = vector(Handler::VECTOR_FLOAT);
    template.with(template.fields().form(form).element(element).sizing(sizing).mode(MODE_FPCR))
}

pub(super) mod float {
    use super::*;
    use crate::semantics::float::arithmetic::*;
    use crate::semantics::float::control::{
        ROUND_NEGATIVE, ROUND_POSITIVE, ROUND_TIE_AWAY, ROUND_TIE_EVEN, ROUND_ZERO,
    };

    const fn same(operation: u32) -> Template {
        numbers(FLOAT_SAME, operation, SIZING_SZ)
    }

    /// Returns the template of an operation on the bits of floating-point numbers, which raises no exceptions.
    const fn bits(element: u32) -> Template {
        elements(element, FORM_SAME, SIZING_SZ).unsigned()
    }

    const fn paired(operation: u32) -> Template {
        numbers(FLOAT_PAIRED, operation, SIZING_SZ)
    }

    const fn rounded(mode: u32) -> Template {
        same(FP_ROUND_INT).mode(mode)
    }

    templates! {
        fmov = bits(ELEMENT_MOVE);
        fabs = bits(ELEMENT_FLOAT_ABSOLUTE);
        fneg = bits(ELEMENT_FLOAT_NEGATE);
        fsqrt = same(FP_SQRT);
        frecpe = same(FP_RECIP_ESTIMATE);
        frsqrte = same(FP_RSQRT_ESTIMATE);
        frecpx = same(FP_RECPX);
        urecpe = numbers(FLOAT_ESTIMATE, 0, SIZING_SZ);
        ursqrte = numbers(FLOAT_ESTIMATE, 1, SIZING_SZ);
        frintn = rounded(ROUND_TIE_EVEN);
        frintp = rounded(ROUND_POSITIVE);
        frintm = rounded(ROUND_NEGATIVE);
        frintz = rounded(ROUND_ZERO);
        frinta = rounded(ROUND_TIE_AWAY);
        frintx = same(FP_ROUND_INT_EXACT);
        frinti = same(FP_ROUND_INT);
        frint32x = same(FP_ROUND_INT_EXACT).arranged(ARRANGED_LIMITED_32);
        frint32z = frint32x().mode(ROUND_ZERO);
        frint64x = same(FP_ROUND_INT_EXACT).arranged(ARRANGED_LIMITED_64);
        frint64z = frint64x().mode(ROUND_ZERO);
        fadd = same(FP_ADD);
        fsub = same(FP_SUB);
        fmul = same(FP_MUL);
        fmulx = same(FP_MULX);
        fdiv = same(FP_DIV);
        fmax = same(FP_MAX);
        fmin = same(FP_MIN);
        fmaxnm = same(FP_MAX_NUM);
        fminnm = same(FP_MIN_NUM);
        frecps = same(FP_RECIP_STEP_FUSED);
        frsqrts = same(FP_RSQRT_STEP_FUSED);
        fnmul = same(FP_MUL).sign(SIGN_RESULT_NEGATED);
        fabd = same(FP_SUB).sign(SIGN_RESULT_ABSOLUTE);
        fmla = numbers(FLOAT_ACCUMULATE, FP_MUL_ADD, SIZING_SZ);
        fmls = fmla().negate(NEGATE_FACTOR);
        faddp = paired(FP_ADD);
        fmaxp = paired(FP_MAX);
        fminp = paired(FP_MIN);
        fmaxnmp = paired(FP_MAX_NUM);
        fminnmp = paired(FP_MIN_NUM);
    }

    pub(in super::super) const fn fmadd<const ADDEND: bool, const PRODUCT: bool>() -> Template {
        let negated = (NEGATE_ADDEND * ADDEND as u32) | (NEGATE_FACTOR * PRODUCT as u32);
        numbers(FLOAT_ADDEND, FP_MUL_ADD, SIZING_SZ).negate(negated)
    }

    pub(in super::super) const fn across<const OPERATION: u32>() -> Template {
        numbers(FLOAT_ACROSS, OPERATION, SIZING_SZ)
    }
}

pub(super) mod complex {
    use super::*;
    use crate::semantics::float::arithmetic::{FP_ADD, FP_MUL_ADD};

    templates! {
        fcmla = numbers(FLOAT_ACCUMULATE, FP_MUL_ADD, SIZING_SIZE).arranged(ARRANGED_COMPLEX);
        fcadd = numbers(FLOAT_SAME, FP_ADD, SIZING_SIZE).arranged(ARRANGED_COMPLEX_ADD);
    }
}

pub(super) mod half_long {
    use super::*;
    use crate::semantics::float::arithmetic::FP_MUL_ADD;

    pub(in super::super) const fn fmlal<const UPPER: bool, const NEGATE: bool>() -> Template {
        let arrangement = if UPPER { ARRANGED_HALVES_UPPER } else { ARRANGED_HALVES };
        let template = numbers(FLOAT_ACCUMULATE, FP_MUL_ADD, SIZING_SZ).arranged(arrangement);
        template.negate(NEGATE_FACTOR * NEGATE as u32)
    }
}

pub(super) mod bfloat {
    use super::*;
    use crate::semantics::float::arithmetic::{FP_ADD, FP_CONVERT, FP_MUL_ADD};
    use crate::semantics::float::control::ROUND_ODD_INFINITY;

    const fn accumulated(operation: u32, arrangement: u32) -> Template {
        numbers(FLOAT_ACCUMULATE, operation, SIZING_SZ).arranged(arrangement)
    }

    const fn converted(form: u32) -> Template {
        numbers(form, FP_CONVERT, SIZING_SZ).arranged(ARRANGED_BFLOAT_CONVERT)
    }

    templates! {
        bfmlal = accumulated(FP_MUL_ADD, ARRANGED_BFLOAT_LONG);
        bfdot = accumulated(FP_ADD, ARRANGED_BFLOAT_DOT).mode(ROUND_ODD_INFINITY);
        bfmmla = accumulated(FP_ADD, ARRANGED_BFLOAT_MATRIX).mode(ROUND_ODD_INFINITY);
        bfcvt = converted(FLOAT_CONVERT);
        bfcvtn = converted(FLOAT_NARROW);
    }
}

pub(super) mod javascript {
    use super::*;

    templates! {
        fjcvtzs = numbers(FLOAT_TO_GENERAL, 0, SIZING_SZ).arranged(ARRANGED_JAVASCRIPT);
    }
}

pub(super) mod compare {
    use super::*;

    /// Conditions on the flags of a comparison, as in B.cond.
    const EQ: u32 = 0b0000;
    const GE: u32 = 0b1010;
    const GT: u32 = 0b1100;
    const MI: u32 = 0b0100;
    const LS: u32 = 0b1001;

    const fn lanes(condition: u32) -> Template {
        numbers(FLOAT_COMPARE, condition, SIZING_SZ)
    }

    templates! {
        fcmeq = lanes(EQ);
        fcmge = lanes(GE);
        fcmgt = lanes(GT);
        facge = lanes(GE).sign(SIGN_OPERANDS_ABSOLUTE);
        facgt = lanes(GT).sign(SIGN_OPERANDS_ABSOLUTE);
        fcmeq_zero = lanes(EQ).with_zero();
        fcmge_zero = lanes(GE).with_zero();
        fcmgt_zero = lanes(GT).with_zero();
        fcmle_zero = lanes(LS).with_zero();
        fcmlt_zero = lanes(MI).with_zero();
        fcsel = moving(MOVE_SELECT);
    }

    pub(in super::super) const fn fcmp<const ZERO: bool, const SIGNAL: bool>() -> Template {
        let template = numbers(FLOAT_FLAGS, SIGNAL as u32, SIZING_SZ);
        if ZERO { template.with_zero() } else { template }
    }

    pub(in super::super) const fn fccmp<const SIGNAL: bool>() -> Template {
        numbers(FLOAT_CONDITIONAL_FLAGS, SIGNAL as u32, SIZING_SZ)
    }
}

pub(super) mod convert {
    use super::*;
    use crate::semantics::float::arithmetic::FP_CONVERT;
    use crate::semantics::float::control::ROUND_ODD;

    /// Returns the template of a conversion to or from integers.
    const fn integers<const U: bool>(form: u32, sizing: u32) -> Template {
        let template = vector(Handler::VECTOR_FLOAT);
        template.with(template.fields().form(form).sizing(sizing).unsigned(U as u32))
    }

    pub(in super::super) const fn to_integers<const U: bool, const ROUNDING: u32>() -> Template {
        integers::<U>(FLOAT_TO_INTEGERS, SIZING_SZ).mode(ROUNDING)
    }

    pub(in super::super) const fn to_fixed<const U: bool, const ROUNDING: u32>() -> Template {
        integers::<U>(FLOAT_TO_INTEGERS, SIZING_IMMH).mode(ROUNDING)
    }

    pub(in super::super) const fn from_integers<const U: bool>() -> Template {
        integers::<U>(FLOAT_FROM_INTEGERS, SIZING_SZ).mode(MODE_FPCR)
    }

    pub(in super::super) const fn from_fixed<const U: bool>() -> Template {
        integers::<U>(FLOAT_FROM_INTEGERS, SIZING_IMMH).mode(MODE_FPCR)
    }

    pub(in super::super) const fn to_general<const U: bool, const ROUNDING: u32>() -> Template {
        integers::<U>(FLOAT_TO_GENERAL, SIZING_SZ).mode(ROUNDING)
    }

    pub(in super::super) const fn from_general<const U: bool>() -> Template {
        integers::<U>(FLOAT_FROM_GENERAL, SIZING_SZ).mode(MODE_FPCR)
    }

    /// Ignores the formats, because they also follow from the word.
    pub(in super::super) const fn fcvt<const FROM: u32, const TO: u32>() -> Template {
        numbers(FLOAT_CONVERT, FP_CONVERT, SIZING_SZ)
    }

    templates! {
        fcvtl = numbers(FLOAT_LONG, FP_CONVERT, SIZING_SZ);
        fcvtn = numbers(FLOAT_NARROW, FP_CONVERT, SIZING_SZ);
        fcvtxn = fcvtn().mode(ROUND_ODD);
    }
}

pub(super) mod crypto {
    use super::*;

    pub(super) const fn crypto(operation: u32) -> Template {
        vector(Handler::VECTOR_CRYPTO).operation(operation)
    }

    templates! {
        aese = crypto(CRYPTO_AESE);
        aesd = crypto(CRYPTO_AESD);
        aesmc = crypto(CRYPTO_AESMC);
        aesimc = crypto(CRYPTO_AESIMC);
        sha1c = crypto(CRYPTO_SHA1C);
        sha1p = crypto(CRYPTO_SHA1P);
        sha1m = crypto(CRYPTO_SHA1M);
        sha1su0 = crypto(CRYPTO_SHA1SU0);
        sha1h = crypto(CRYPTO_SHA1H);
        sha1su1 = crypto(CRYPTO_SHA1SU1);
        sha256h = crypto(CRYPTO_SHA256H);
        sha256h2 = crypto(CRYPTO_SHA256H2);
        sha256su0 = crypto(CRYPTO_SHA256SU0);
        sha256su1 = crypto(CRYPTO_SHA256SU1);
    }
}

pub(super) mod hash {
    use super::crypto::crypto;
    use super::*;

    templates! {
        sha512h = crypto(CRYPTO_SHA512H);
        sha512h2 = crypto(CRYPTO_SHA512H2);
        sha512su0 = crypto(CRYPTO_SHA512SU0);
        sha512su1 = crypto(CRYPTO_SHA512SU1);
        eor3 = crypto(CRYPTO_EOR3);
        bcax = crypto(CRYPTO_BCAX);
        rax1 = crypto(CRYPTO_RAX1);
        xar = crypto(CRYPTO_XAR);
    }
}

pub(super) mod sm {
    use super::crypto::crypto;
    use super::*;

    templates! {
        sm3ss1 = crypto(CRYPTO_SM3SS1);
        sm3tt1a = crypto(CRYPTO_SM3TT1A);
        sm3tt1b = crypto(CRYPTO_SM3TT1B);
        sm3tt2a = crypto(CRYPTO_SM3TT2A);
        sm3tt2b = crypto(CRYPTO_SM3TT2B);
        sm3partw1 = crypto(CRYPTO_SM3PARTW1);
        sm3partw2 = crypto(CRYPTO_SM3PARTW2);
        sm4e = crypto(CRYPTO_SM4E);
        sm4ekey = crypto(CRYPTO_SM4EKEY);
    }
}

pub(super) mod load_store {
    use super::*;
    use crate::lowering::templates::{load_store, pair};
    use crate::micro_op::INDEX_LITERAL;

    pub(in super::super) const fn load<const BYTES: usize, const MODE: u32>() -> Template {
        load_store::transfer(Handler::VECTOR_LOAD, BYTES, MODE)
    }

    pub(in super::super) const fn store<const BYTES: usize, const MODE: u32>() -> Template {
        load_store::transfer(Handler::VECTOR_STORE, BYTES, MODE)
    }

    pub(in super::super) const fn literal<const BYTES: usize>() -> Template {
        let template = plain(Shape::VECTOR_LITERAL, Handler::VECTOR_LOAD).size(BYTES);
        template.with(template.fields().index(INDEX_LITERAL))
    }

    pub(in super::super) const fn load_pair<const BYTES: usize, const MODE: u32>() -> Template {
        pair::transfer(Handler::VECTOR_LOAD, BYTES, MODE)
    }

    pub(in super::super) const fn store_pair<const BYTES: usize, const MODE: u32>() -> Template {
        pair::transfer(Handler::VECTOR_STORE, BYTES, MODE)
    }
}

pub(super) mod structure {
    use super::*;
    use crate::micro_op::{INDEX_OFFSET, INDEX_POST, INDEX_POST_REGISTER};
    use crate::semantics::load_store::POST_INDEX;
    use crate::semantics::simd::structure::POST_REGISTER;

    const fn structures(
        handler: Handler,
        transfer: u32,
        registers: u32,
        members: u32,
        mode: u32,
    ) -> Template {
        let template = plain(Shape::STRUCTURES, handler);
        let index = match mode {
            POST_INDEX => INDEX_POST,
            POST_REGISTER => INDEX_POST_REGISTER,
            _ => INDEX_OFFSET,
        };
        let fields = template.fields().transfer(transfer).registers(registers).members(members);
        template.with(fields.index(index))
    }

    pub(in super::super) const fn load_multiple<const R: u32, const MEMBERS: u32, const MODE: u32>()
    -> Template {
        structures(Handler::VECTOR_LOAD_STRUCTURES, TRANSFER_MULTIPLE, R, MEMBERS, MODE)
    }

    pub(in super::super) const fn store_multiple<const R: u32, const MEMBERS: u32, const MODE: u32>()
    -> Template {
        structures(Handler::VECTOR_STORE_STRUCTURES, TRANSFER_MULTIPLE, R, MEMBERS, MODE)
    }

    pub(in super::super) const fn load_lane<const MEMBERS: u32, const EBYTES: usize, const MODE: u32>()
    -> Template {
        structures(Handler::VECTOR_LOAD_STRUCTURES, TRANSFER_LANE, MEMBERS, MEMBERS, MODE).size(EBYTES)
    }

    pub(in super::super) const fn store_lane<const MEMBERS: u32, const EBYTES: usize, const MODE: u32>()
    -> Template {
        structures(Handler::VECTOR_STORE_STRUCTURES, TRANSFER_LANE, MEMBERS, MEMBERS, MODE).size(EBYTES)
    }

    pub(in super::super) const fn load_replicate<const MEMBERS: u32, const MODE: u32>() -> Template {
        structures(Handler::VECTOR_LOAD_STRUCTURES, TRANSFER_REPLICATE, MEMBERS, MEMBERS, MODE)
    }
}
