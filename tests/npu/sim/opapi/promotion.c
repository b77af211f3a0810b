/* PyTorch's promotion of tensors' dtypes, and which results may be cast to which outputs. */

#include "operator.h"

static bool is_unsigned_wide(aclDataType dtype)
{
    return dtype == ACL_UINT16 || dtype == ACL_UINT32 || dtype == ACL_UINT64;
}

static aclDataType promote_integers(aclDataType a, aclDataType b)
{
    if (a == ACL_BOOL || b == ACL_BOOL) {
        return a == ACL_BOOL ? b : a;
    }
    if (a == ACL_UINT8 && b == ACL_INT8) {
        return ACL_INT16;
    }
    if (a == ACL_INT8 && b == ACL_UINT8) {
        return ACL_INT16;
    }
    return aclDataTypeSize(a) >= aclDataTypeSize(b) ? a : b;
}

static aclDataType promote_reals(aclDataType a, aclDataType b)
{
    if (class_of(a) != class_of(b)) {
        return class_of(a) == CLASS_REAL ? a : b;
    }
    if (aclDataTypeSize(a) == aclDataTypeSize(b)) {
        return ACL_FLOAT; /* f16 with bf16 */
    }
    return aclDataTypeSize(a) > aclDataTypeSize(b) ? a : b;
}

/* The dtype in which two tensors meet, or NO_DTYPE. */
aclDataType promote(aclDataType a, aclDataType b)
{
    if (a == b) {
        return a;
    }
    if (class_of(a) == CLASS_COMPLEX || class_of(b) == CLASS_COMPLEX) {
        bool wide = a == ACL_DOUBLE || b == ACL_DOUBLE || a == ACL_COMPLEX128 ||
                    b == ACL_COMPLEX128;
        return wide ? ACL_COMPLEX128 : ACL_COMPLEX64;
    }
    if (is_unsigned_wide(a) || is_unsigned_wide(b)) {
        return NO_DTYPE;
    }
    return class_of(a) == CLASS_INTEGER && class_of(b) == CLASS_INTEGER ? promote_integers(a, b)
                                                                       : promote_reals(a, b);
}

/* Refused: complex to real, floating point to integer, anything but bool to bool. */
bool can_cast(aclDataType from, aclDataType to)
{
    return class_of(from) <= class_of(to) && (to != ACL_BOOL || from == ACL_BOOL);
}
