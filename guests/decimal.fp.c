// Double precision to 17 digits of decimal, and back, exactly: printf's "%.16e" and strtod by large integers.

#include "guest.h"

const struct guest guest = {"decimal", "numbers", 60, 100000000, 1};

// 64 bits times 2^1075, 10^308 or 10^400, and some room; the lowest word first.
enum { WORDS = 48, DIGITS = 17 };
struct large {
    u32 words[WORDS];
    u32 length; // without zeros at the top
};

static void set(struct large *x, u64 value) {
    x->words[0] = (u32)value;
    x->words[1] = (u32)(value >> 32);
    x->length = value >> 32 ? 2 : value != 0;
}

static void multiply(struct large *x, u32 factor) {
    u64 carry = 0;
    for (u32 i = 0; i < x->length; i++) {
        carry += (u64)x->words[i] * factor;
        x->words[i] = (u32)carry;
        carry >>= 32;
    }
    if (carry) {
        x->words[x->length++] = (u32)carry;
    }
}

static void multiply_by_power(struct large *x, u32 base, int exponent) {
    for (; exponent >= 9; exponent -= 9) {
        u32 ninth = base * base * base;
        multiply(x, ninth * ninth * ninth);
    }
    while (exponent-- > 0) {
        multiply(x, base);
    }
}

static int compare(const struct large *x, const struct large *y) {
    if (x->length != y->length) {
        return x->length < y->length ? -1 : 1;
    }
    for (u32 i = x->length; i-- > 0;) {
        if (x->words[i] != y->words[i]) {
            return x->words[i] < y->words[i] ? -1 : 1;
        }
    }
    return 0;
}

static void subtract(struct large *x, const struct large *y) {
    u64 borrow = 0;
    for (u32 i = 0; i < x->length; i++) {
        u64 difference = (u64)x->words[i] - (i < y->length ? y->words[i] : 0) - borrow;
        x->words[i] = (u32)difference;
        borrow = difference >> 63;
    }
    while (x->length && x->words[x->length - 1] == 0) {
        x->length--;
    }
}

// How often y is contained in x, at most nine times; x keeps the rest.
static u32 divide(struct large *x, const struct large *y) {
    u32 times = 0;
    while (compare(x, y) >= 0) {
        subtract(x, y);
        times++;
    }
    return times;
}

static u64 bits_of(double x) {
    u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(u64 bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// digits times 10^exponent.
struct decimal {
    u64 digits;
    int exponent;
};

// significand times 2^power.
struct binary {
    u64 significand;
    int power;
};

static struct binary unpack(u64 bits) {
    u64 field = bits >> 52;
    u64 fraction = bits & ((1UL << 52) - 1);
    return (struct binary){fraction | (u64)(field != 0) << 52, (int)(field ? field : 1) - 1075};
}

// The ratio of a decimal to a binary number, as that of two integers.
static void ratio(struct decimal decimal, struct binary binary, struct large *above, struct large *below) {
    set(above, decimal.digits);
    set(below, binary.significand);
    multiply_by_power(decimal.exponent < 0 ? below : above, 10, __builtin_abs(decimal.exponent));
    multiply_by_power(binary.power < 0 ? above : below, 2, __builtin_abs(binary.power));
}

// A positive finite number, rounded to DIGITS digits, and of two that are as near to the even one.
static struct decimal to_decimal(double number) {
    struct binary binary = unpack(bits_of(number));
    // The exponent of the first digit, or one less, as the top bit stands for all.
    int top = binary.power + 63 - __builtin_clzl(binary.significand);
    int first = (int)__builtin_floor(top * 0.30102999566398120);

    struct large unit, rest;
    ratio((struct decimal){1, first}, binary, &unit, &rest);
    struct large tenfold = unit;
    multiply(&tenfold, 10);
    if (compare(&rest, &tenfold) >= 0) {
        unit = tenfold;
        first++;
    }
    u64 digits = divide(&rest, &unit);
    for (int i = 1; i < DIGITS; i++) {
        multiply(&rest, 10);
        digits = digits * 10 + divide(&rest, &unit);
    }
    multiply(&rest, 2);
    int side = compare(&rest, &unit);
    digits += side > 0 || (side == 0 && digits % 2);
    return (struct decimal){digits, first - (DIGITS - 1)};
}

// On which side of the middle between a positive number and the next one a decimal is.
static int side_of_middle(struct decimal decimal, u64 bits) {
    struct binary binary = unpack(bits);
    struct large above, below;
    ratio(decimal, (struct binary){2 * binary.significand + 1, binary.power - 1}, &above, &below);
    return compare(&above, &below);
}

// What floating point makes of digits and powers of ten. It is exact if both are numbers of double precision.
static double estimate(struct decimal decimal) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double number = (double)decimal.digits;
    int exponent = decimal.exponent;
    for (; exponent > 22; exponent -= 22) {
        number *= 1e22;
    }
    for (; exponent < -22; exponent += 22) {
        number /= 1e22;
    }
    return exponent < 0 ? number / powers[-exponent] : number * powers[exponent];
}

// The nearest number, and of two that are as near the even one.
static double to_double(struct decimal decimal) {
    u64 infinity = 0x7ffUL << 52;
    u64 bits = bits_of(estimate(decimal));
    for (; bits < infinity; bits++) {
        int side = side_of_middle(decimal, bits);
        if (side < 0 || (side == 0 && bits % 2 == 0)) {
            break;
        }
    }
    for (; bits; bits--) {
        int side = side_of_middle(decimal, bits - 1);
        if (side > 0 || (side == 0 && bits % 2 == 0)) {
            break;
        }
    }
    return of_bits(bits);
}

struct example {
    u64 digits;
    int exponent;
    u64 bits;
};

// At both ends of the range, in the middle between two numbers, and close to it.
static const struct example read[] = {
    {9007199254740992U, 0, 0x4340000000000000},
    {9007199254740993U, 0, 0x4340000000000000},
    {9007199254740995U, 0, 0x4340000000000002},
    {9007199254740991U, 0, 0x433fffffffffffff},
    {17976931348623157U, 292, 0x7fefffffffffffff},
    {17976931348623158079U, 289, 0x7fefffffffffffff},
    {17976931348623158080U, 289, 0x7ff0000000000000},
    {18446744073709551615U, 292, 0x7ff0000000000000},
    {24703282292062327U, -340, 0x0000000000000000},
    {24703282292062328U, -340, 0x0000000000000001},
    {5U, -324, 0x0000000000000001},
    {74109846876186981U, -340, 0x0000000000000001},
    {74109846876186982U, -340, 0x0000000000000002},
    {22250738585072011U, -324, 0x000fffffffffffff},
    {22250738585072014U, -324, 0x0010000000000000},
    {22250738585072012U, -324, 0x0010000000000000},
    {1U, 23, 0x44b52d02c7e14af6},
    {8U, -1, 0x3fe999999999999a},
    {6929495644600919U, 19, 0x472ab102a04fb0c5},
    {3U, -324, 0x0000000000000001},
    {1U, -400, 0x0000000000000000},
    {1U, 300, 0x7e37e43c8800759c},
    {9214843084008499U, 0, 0x43405e6cec57761a},
    {500000000000000166U, -9, 0x41bdcd6500000003},
    {0U, 5, 0x0000000000000000},
};
static const struct example written[] = {
    {49406564584124654U, -340, 0x0000000000000001},
    {22250738585072014U, -324, 0x0010000000000000},
    {22250738585072009U, -324, 0x000fffffffffffff},
    {17976931348623157U, 292, 0x7fefffffffffffff},
    {10000000000000000U, -16, 0x3ff0000000000000},
    {10000000000000001U, -17, 0x3fb999999999999a},
    {29999999999999999U, -17, 0x3fd3333333333333},
    {99999999999999992U, 6, 0x44b52d02c7e14af6},
    {90071992547409920U, -1, 0x4340000000000000},
    {90071992547409940U, -1, 0x4340000000000001},
    {99999999999999992U, 6, 0x44b52d02c7e14af6},
    {12345678901234568U, 1, 0x437b69b4ba630f35},
    {14821969375237396U, -339, 0x0000000000000003},
    {95367431640625000U, -23, 0x3eb0000000000000},
    {99999999999999989U, -17, 0x3fefffffffffffff},
    {53169119831396635U, 20, 0x4790000000000000},
    {14411518807585587U, 1, 0x4380000000000000},
    {34587645138205409U, 2, 0x43c8000000000000},
    {14411518807585590U, 1, 0x4380000000000001},
    {99999999999999992U, 6, 0x44b52d02c7e14af6},
};

static bool is_written_and_read(double number, u64 *hash) {
    struct decimal decimal = to_decimal(number);
    *hash = fold(fold(*hash, decimal.digits), (u64)decimal.exponent);
    return bits_of(to_double(decimal)) == bits_of(number);
}

bool run(u64 size, u64 seed) {
    bool agrees = true;
    u64 hash = 0;
    for (u64 i = 0; i < size; i++) {
        if (i < LENGTH(read)) {
            const struct example *example = &read[i];
            double number = to_double((struct decimal){example->digits, example->exponent});
            hash = fold(hash, bits_of(number));
            agrees &= bits_of(number) == example->bits;
        }
        if (i < LENGTH(written)) {
            const struct example *example = &written[i];
            struct decimal decimal = to_decimal(of_bits(example->bits));
            agrees &= decimal.digits == example->digits && decimal.exponent == example->exponent;
        }
        // Any positive number but infinity.
        agrees &= is_written_and_read(of_bits(1 + random(&seed) % ((0x7ffUL << 52) - 1)), &hash);
        // Where floating point is exact but for one rounding, nothing is left to correct.
        struct decimal exact = {random(&seed) >> 11, (int)(random(&seed) % 45) - 22};
        agrees &= bits_of(estimate(exact)) == bits_of(to_double(exact));
    }
    put_hex("hash", hash);
    return agrees;
}
