/* Elements as numbers: integers and bool in 64 bits, floating point in double, complex in two.
 *
 * What a kernel computes in double and stores in f32 is what f32 arithmetic gives, to the last
 * place for + - * / and sqrt.  f16 and bf16 round to f32 first: the devices compute them so. */

#include "operator.h"

Class class_of(aclDataType dtype)
{
    switch (dtype) {
    case ACL_COMPLEX64:
    case ACL_COMPLEX128:
        return CLASS_COMPLEX;
    case ACL_FLOAT:
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_DOUBLE:
        return CLASS_REAL;
    default:
        return CLASS_INTEGER;
    }
}

/* --- half precision ---------------------------------------------------------------------- */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float float_of_half(uint16_t half)
{
    int exponent = half >> 10 & 31;
    int fraction = half & 1023;
    float magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                      : exponent == 0
                          ? ldexpf((float)fraction, -24)
                          : ldexpf((float)(fraction | 1024), exponent - 25);
    return half >> 15 ? -magnitude : magnitude;
}

static uint16_t half_of_float(float value)
{
    uint16_t sign = (uint16_t)(bits_of(value) >> 16 & 0x8000);
    float magnitude = fabsf(value);
    if (isnan(value)) {
        return sign | 0x7E00;
    }
    if (magnitude >= 65520.0f) {
        return sign | 0x7C00;
    }
    if (magnitude < ldexpf(1, -14)) { /* subnormal: multiples of 2^-24 */
        return sign | (uint16_t)rintf(ldexpf(magnitude, 24));
    }
    int exponent;
    float fraction = frexpf(magnitude, &exponent); /* in [0.5, 1) */
    /* A fraction that rounds up to 2048 carries into the exponent by itself. */
    return sign | (uint16_t)(((exponent + 13) << 10) + (int)rintf(ldexpf(fraction, 11)));
}

static uint16_t bfloat_of_float(float value)
{
    uint32_t bits = bits_of(value);
    if (isnan(value)) {
        return 0x7FC0;
    }
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* --- loading ----------------------------------------------------------------------------- */

#define LOAD(type, place) load_##type##_(place)
#define LOADER(type)                            \
    static type load_##type##_(const void *place) \
    {                                           \
        type value;                             \
        memcpy(&value, place, sizeof value);    \
        return value;                           \
    }
LOADER(int8_t)
LOADER(uint8_t)
LOADER(int16_t)
LOADER(uint16_t)
LOADER(int32_t)
LOADER(uint32_t)
LOADER(int64_t)
LOADER(float)
LOADER(double)

static bool is_unsigned(aclDataType dtype)
{
    return dtype == ACL_UINT8 || dtype == ACL_UINT16 || dtype == ACL_UINT32 || dtype == ACL_UINT64;
}

/* Whether an integer can be the number, less what is behind the point. */
static bool can_be(aclDataType dtype, double value)
{
    int bits = 8 * (int)aclDataTypeSize(dtype);
    double past = ldexp(1, is_unsigned(dtype) ? bits : bits - 1);
    return trunc(value) >= (is_unsigned(dtype) ? 0 : -past) && trunc(value) < past;
}

/* What is usual for what no integer can be: nothing for NaN, else the nearest of 64 bits. */
static int64_t nearest(double value)
{
    return isnan(value) ? 0 : value > 0 ? INT64_MAX : INT64_MIN;
}

static int64_t integer_of_real(aclDataType dtype, double value)
{
    if (can_be(dtype, value)) {
        return dtype == ACL_UINT64 ? (int64_t)(uint64_t)value : (int64_t)value;
    }
    int64_t usual = can_be(ACL_INT64, value) ? (int64_t)value : nearest(value);
    return (int64_t)sim_choose_bits(SIM_OPEN_INTEGER, (uint64_t)usual);
}

int64_t load_integer(aclDataType dtype, const void *place)
{
    switch (dtype) {
    case ACL_BOOL:
        return LOAD(uint8_t, place) != 0;
    case ACL_INT8:
        return LOAD(int8_t, place);
    case ACL_UINT8:
        return LOAD(uint8_t, place);
    case ACL_INT16:
        return LOAD(int16_t, place);
    case ACL_UINT16:
        return LOAD(uint16_t, place);
    case ACL_INT32:
        return LOAD(int32_t, place);
    case ACL_UINT32:
        return LOAD(uint32_t, place);
    case ACL_INT64:
    case ACL_UINT64:
        return LOAD(int64_t, place);
    default:
        return integer_of_real(ACL_INT64, load_real(dtype, place));
    }
}

double load_real(aclDataType dtype, const void *place)
{
    switch (dtype) {
    case ACL_FLOAT:
    case ACL_COMPLEX64:
        return (double)LOAD(float, place);
    case ACL_FLOAT16:
        return (double)float_of_half(LOAD(uint16_t, place));
    case ACL_BF16:
        return (double)float_of((uint32_t)LOAD(uint16_t, place) << 16);
    case ACL_DOUBLE:
    case ACL_COMPLEX128:
        return LOAD(double, place);
    case ACL_UINT64:
        return (double)(uint64_t)load_integer(dtype, place);
    default:
        return (double)load_integer(dtype, place);
    }
}

double complex load_complex(aclDataType dtype, const void *place)
{
    if (class_of(dtype) != CLASS_COMPLEX) {
        return load_real(dtype, place);
    }
    size_t half = aclDataTypeSize(dtype) / 2;
    double imaginary = load_real(dtype, (const unsigned char *)place + half);
    return CMPLX(load_real(dtype, place), imaginary);
}

/* --- storing ----------------------------------------------------------------------------- */

double round_real(aclDataType dtype, double value)
{
    switch (dtype) {
    case ACL_FLOAT:
    case ACL_COMPLEX64:
        return (double)(float)value;
    case ACL_FLOAT16:
        return (double)float_of_half(half_of_float((float)value));
    case ACL_BF16:
        return (double)float_of((uint32_t)bfloat_of_float((float)value) << 16);
    default:
        return value;
    }
}

int64_t wrap_integer(aclDataType dtype, int64_t value)
{
    int64_t wrapped = 0;
    store_integer(dtype, &wrapped, value);
    return load_integer(dtype, &wrapped);
}

void store_integer(aclDataType dtype, void *place, int64_t value)
{
    if (dtype == ACL_BOOL) {
        *(uint8_t *)place = value != 0;
    } else if (class_of(dtype) != CLASS_INTEGER) {
        store_real(dtype, place, (double)value);
    } else { /* little-endian: the low bytes come first */
        memcpy(place, &value, aclDataTypeSize(dtype));
    }
}

void store_real(aclDataType dtype, void *place, double value)
{
    float single = (float)value;
    uint16_t half;
    switch (dtype) {
    case ACL_FLOAT:
        memcpy(place, &single, sizeof single);
        break;
    case ACL_FLOAT16:
        half = half_of_float(single);
        memcpy(place, &half, sizeof half);
        break;
    case ACL_BF16:
        half = bfloat_of_float(single);
        memcpy(place, &half, sizeof half);
        break;
    case ACL_DOUBLE:
        memcpy(place, &value, sizeof value);
        break;
    case ACL_COMPLEX64:
    case ACL_COMPLEX128:
        store_complex(dtype, place, value);
        break;
    case ACL_BOOL:
        *(uint8_t *)place = value != 0;
        break;
    default:
        store_integer(dtype, place, integer_of_real(dtype, value));
    }
}

void store_complex(aclDataType dtype, void *place, double complex value)
{
    float singles[2] = {(float)creal(value), (float)cimag(value)};
    double doubles[2] = {creal(value), cimag(value)};
    if (dtype == ACL_COMPLEX64) {
        memcpy(place, singles, sizeof singles);
    } else if (dtype == ACL_COMPLEX128) {
        memcpy(place, doubles, sizeof doubles);
    } else if (dtype == ACL_BOOL) {
        *(uint8_t *)place = value != 0;
    } else {
        store_real(dtype, place, creal(value));
    }
}

void convert(aclDataType to, void *target, aclDataType from, const void *source)
{
    switch (class_of(from)) {
    case CLASS_INTEGER:
        if (from == ACL_UINT64 && class_of(to) != CLASS_INTEGER) {
            store_real(to, target, load_real(from, source));
        } else {
            store_integer(to, target, load_integer(from, source));
        }
        break;
    case CLASS_REAL:
        store_real(to, target, load_real(from, source));
        break;
    case CLASS_COMPLEX:
        store_complex(to, target, load_complex(from, source));
        break;
    }
}
