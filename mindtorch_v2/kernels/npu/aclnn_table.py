"""The operators of ACLNN that kernels call: arguments, and the dtypes that they take.

One entry an operator, without the prefix ``aclnn``.  An argument's kind is the C type that it is
passed as (:mod:`~mindtorch_v2.kernels.npu.marshal`); ``out`` is a tensor that is written to and
never read.  Behind the colon stand the dtypes on A2 and A3 chips, for all tensors or by name:

- ``F``: float32, float16 and bfloat16; ``I``: int8, int16, int32, int64 and uint8;
  ``C``: complex64 and complex128; ``U``: uint16, uint32 and uint64; ``b``: bool
- single ones as ``f64``, ``i32``, ``u8``, ``c64``; ``I-i16`` is ``I`` without int16

Nobody has confirmed these on hardware: they were collected from CANN's headers and documents.
"""

from typing import Final

TABLE: Final = """
Add(tensor self, tensor other, scalar alpha, out out): F f64 I b C
Sub(tensor self, tensor other, scalar alpha, out out): F f64 I b C
Mul(tensor self, tensor other, out out): F f64 I b C
Div(tensor self, tensor other, out out): F f64 I b C
DivMod(tensor self, tensor other, i32 mode, out out): F f64 I b C
FloorDivide(tensor self, tensor other, out out): self, other: F f64 I b; out: F f64 I C
RemainderTensorTensor(tensor self, tensor other, out out): self, other: F f64 i32 i64; out: F f64
  I C
FmodTensor(tensor self, tensor other, out out): F f64 I-i16
PowTensorTensor(tensor self, tensor exponent, out out): F f64 I b C
Maximum(tensor self, tensor other, out out): F f64 I b
Minimum(tensor self, tensor other, out out): F f64 I b
Atan2(tensor self, tensor other, out out): self, other: F f64 I b; out: F f64
Addcmul(tensor self, tensor tensor1, tensor tensor2, scalar value, out out): F f64 I-i16
Addcdiv(tensor self, tensor tensor1, tensor tensor2, scalar value, out out): F f64 i64
Lerp(tensor self, tensor end, tensor weight, out out): F
Adds(tensor self, scalar other, scalar alpha, out out): F f64 I b C
Subs(tensor self, scalar other, scalar alpha, out out): F f64 I b C
Muls(tensor self, scalar other, out out): F f64 I b C
Divs(tensor self, scalar other, out out): F f64 I b C
PowTensorScalar(tensor self, scalar exponent, out out): F f64 I b C
Lerps(tensor self, tensor end, scalar weight, out out): F
Clamp(tensor self, scalar clipValueMin, scalar clipValueMax, out out): F I
ClampMin(tensor self, scalar clipValueMin, out out): self, out: F f64 I
ClampMax(tensor self, scalar clipValueMax, out out): self, out: F f64 I
ClampTensor(tensor self, tensor clipValueMin, tensor clipValueMax, out out): self, out: F f64 I;
  clipValueMin, clipValueMax: F f64 I b
EqTensor(tensor self, tensor other, out out): F f64 I b C
EqScalar(tensor self, scalar other, out out): F f64 I b C
NeTensor(tensor self, tensor other, out out): F f64 I b C
NeScalar(tensor self, scalar other, out out): F f64 I b C
GtTensor(tensor self, tensor other, out out): self, other: F f64 I b; out: F f64 I b C
GtScalar(tensor self, scalar other, out out): self: F f64 I b; out: F f64 I b C
GeTensor(tensor self, tensor other, out out): self, other: F f64 I b; out: F f64 I b C
GeScalar(tensor self, scalar other, out out): self: F f64 I b; out: F f64 I b C
LtTensor(tensor self, tensor other, out out): self, other: F f64 I b; out: F f64 I b C
LtScalar(tensor self, scalar other, out out): self: F f64 I b; out: F f64 I b C
LeTensor(tensor self, tensor other, out out): self, other: F f64 I b; out: F f64 I b C
LeScalar(tensor self, scalar other, out out): self: F f64 I b; out: F f64 I b C
LogicalAnd(tensor self, tensor other, out out): F f64 I b C
LogicalOr(tensor self, tensor other, out out): F f64 I b C
LogicalXor(tensor self, tensor other, out out): F f64 I b C
LogicalNot(tensor self, out out): F f64 I b
BitwiseAndTensor(tensor self, tensor other, out out): I b
BitwiseOrTensor(tensor self, tensor other, out out): I b
BitwiseXorTensor(tensor self, tensor other, out out): self, other: I b; out: F f64 I b C
BitwiseNot(tensor self, out out): I b
Abs(tensor self, out out): self: F f64 I b c64
Neg(tensor self, out out): F f64 C i32 i64 i8
Sign(tensor self, out result): F f64 b C i32 i64
Exp(tensor self, out out): self: F f64 b C i64; out: F f64 C
Exp2(tensor self, out out): self: F f64 I b; out: F f64
Expm1(tensor self, out out): self: F b i64; out: F
Log(tensor self, out out): self: F f64 I b C; out: F f64 C
Log2(tensor self, out out): self: F f64 I b C; out: F f64 C
Log10(tensor self, out out): self: F f64 I b C; out: F C
Log1p(tensor self, out out): self: F f64 I b; out: F f64
Sqrt(tensor self, out out): self: F f64 I b C; out: F f64 C
Rsqrt(tensor self, out out): self: F f64 I b C; out: F f64 C
Reciprocal(tensor self, out out): self: F f64 I b C; out: F f64 C
Sin(tensor self, out out): self: F f64 I b C; out: F f64 C
Cos(tensor input, out out): input: F f64 I b C; out: F f64 C
Tan(tensor self, out out): self: F f64 I b C; out: F f64 C
Sinh(tensor self, out out): self: F f64 I b C; out: F f64 C
Cosh(tensor self, out out): self: F f64 I b C; out: F f64 C
Asin(tensor self, out out): self: F f64 I b; out: F f64
Acos(tensor input, out out): input: F f64 I b; out: F f64
Atan(tensor input, out out): input: F f64 I b; out: F f64
Erf(tensor self, out out): self: F f64 b i64; out: F f64
Floor(tensor self, out out): F f64 I
Ceil(tensor self, out out): F f64
Round(tensor self, out out): F f64 i32 i64
Trunc(tensor self, out out): F
Relu(tensor self, out out): F i32 i64 i8
Sigmoid(tensor self, out out): F
Tanh(tensor self, out out): self: F I b; out: F
GeluV2(tensor x, i64 approximate, out y): F
Silu(tensor self, out out): F
LeakyRelu(tensor self, scalar negativeSlope, out out): self, out: F
Threshold(tensor self, scalar threshold, scalar value, out out): F I
ThresholdBackward(tensor gradOutput, tensor self, scalar threshold, out out): F i32 i8 u8
SigmoidBackward(tensor gradOutput, tensor output, out gradInput): F f64 C
TanhBackward(tensor gradOutput, tensor output, out gradInput): F f64
GeluBackwardV2(tensor gradOutput, tensor self, text approximate, out gradInput): F
SiluBackward(tensor gradOutput, tensor self, out gradInput): F
LeakyReluBackward(tensor gradOutput, tensor self, scalar negativeSlope, bool selfIsResult, out
  out): gradOutput, self, out: F f64
SoftmaxBackward(tensor gradOutput, tensor output, i64 dim, out out): F
LogSoftmaxBackward(tensor gradOutput, tensor output, i64 dim, out out): F
Mm(tensor self, tensor mat2, out out, i8 cubeMathType): F
BatchMatMul(tensor self, tensor mat2, out out, i8 cubeMathType): F
Addmm(tensor self, tensor mat1, tensor mat2, scalar beta, scalar alpha, out out, i8 cubeMathType):
  self, mat1, mat2, out: F
Addbmm(tensor self, tensor batch1, tensor batch2, scalar beta, scalar alpha, out out, i8
  cubeMathType): self, batch1, batch2, out: F
Baddbmm(tensor self, tensor batch1, tensor batch2, scalar beta, scalar alpha, out out, i8
  cubeMathType): self, batch1, batch2, out: F
Dot(tensor self, tensor tensor, out out): F i32 i8 u8
ReduceSum(tensor self, ints dims, bool keepDims, dtype dtype, out out): F f64 I b C
Mean(tensor self, ints dim, bool keepDim, dtype dtype, out out): F f64 I C
Prod(tensor self, dtype dtype, out out): F f64 I b C
ProdDim(tensor self, i64 dim, bool keepDim, dtype dtype, out out): F f64 I b C
Amax(tensor self, ints dim, bool keepDim, out out): F f64 I b
Amin(tensor self, ints dim, bool keepDim, out out): F f64 I b
Max(tensor self, out out): F f64 I b
Min(tensor self, out out): F f64 I b
MaxDim(tensor self, i64 dim, bool keepdim, out out, out indices): self, out: F b i64; indices: i64
MinDim(tensor self, i64 dim, bool keepdim, out out, out indices): self, out: F b i64; indices: i64
ArgMax(tensor self, i64 dim, bool keepdim, out out): self: F f64 I; out: i32 i64
ArgMin(tensor self, i64 dim, bool keepdim, out out): self: F f64 I; out: i32 i64
Any(tensor self, ints dim, bool keepdim, out out): self: F f64 I b; out: b
All(tensor self, ints dim, bool keepdim, out out): self: F f64 I b; out: b u8
VarCorrection(tensor self, ints dim, i64 correction, bool keepdim, out out): F
Std(tensor self, ints dim, i64 correction, bool keepdim, out out): F
VarMean(tensor self, ints dim, i64 correction, bool keepdim, out varOut, out meanOut): F
LinalgVectorNorm(tensor self, scalar ord, ints dims, bool keepDims, dtype dtype, out out): self,
  out: F
LogSumExp(tensor self, ints dim, bool keepDim, out out): self: F I b; out: F
Cumsum(tensor self, i64 dim, dtype dtype, out out): F f64 I C
Cumprod(tensor input, scalar dim, dtype dtype, out out): input, out: F f64 I
Softmax(tensor self, i64 dim, out out): F f64
LogSoftmax(tensor self, i64 dim, out out): F f64
Topk(tensor self, i64 k, i64 dim, bool largest, bool sorted, out valuesOut, out indicesOut): self,
  valuesOut: F f64 I; indicesOut: i64
Sort(tensor self, bool stable, i64 dim, bool descending, out valuesOut, out indicesOut): self: F I
  b; valuesOut: F f64 I b; indicesOut: i64
InplaceCopy(tensor selfRef, tensor src): F f64 I b C U
InplaceFillScalar(tensor selfRef, scalar value): F f64 I b C U
Cast(tensor self, dtype dtype, out out): F f64 I b C U
Repeat(tensor self, ints repeats, out out): F f64 I b C U
Cat(tensors tensors, i64 dim, out out): F f64 I b c64
Flip(tensor self, ints dims, out out): F f64 I b C
Roll(tensor x, ints shifts, ints dims, out out): F I b
ConstantPadNd(tensor self, ints pad, scalar value, out out): F f64 I b C U
Tril(tensor self, i64 diagonal, out out): F f64 I b U
Triu(tensor self, i64 diagonal, out out): F f64 I b U
SWhere(tensor condition, tensor self, tensor other, out out): condition: b u8; self, other, out: F
  f64 I b C U
IndexSelect(tensor self, i64 dim, tensor index, out out): self: F f64 I b C U; index: i32 i64
Gather(tensor self, i64 dim, tensor index, out out): self: F f64 I b U; index: i32 i64
Scatter(tensor self, i64 dim, tensor index, tensor src, i64 reduce, out out): self, src, out: F
  f64 I b C; index: i32 i64
ScatterValue(tensor self, i64 dim, tensor index, scalar value, i64 reduce, out out): self, out: F
  f64 I b C; index: i32 i64
ScatterAdd(tensor self, i64 dim, tensor index, tensor src, out out): self, src, out: F f64 I b C;
  index: i32 i64
Index(tensor self, tensors indices, out out): self, out: F f64 I b; indices: b i32 i64
IndexPutImpl(tensor selfRef, tensors indices, tensor values, bool accumulate, bool unsafe):
  selfRef: F f64 I b; indices: b i32 i64
IndexAdd(tensor self, i64 dim, tensor index, tensor source, scalar alpha, out out): self: F f64 I
  b; index: i32 i64
InplaceMaskedFillScalar(tensor selfRef, tensor mask, scalar value): selfRef: F b i32 i64 i8; mask: b
InplaceMaskedFillTensor(tensor selfRef, tensor mask, tensor value): selfRef, value: F b i32 i64 i8;
  mask: b
Embedding(tensor weight, tensor indices, out out): weight, out: F f64 I b C; indices: i32 i64
EmbeddingDenseBackward(tensor grad, tensor indices, u64 numWeights, u64 paddingIdx, bool
  scaleGradByFreq, out out): grad, out: F; indices: i32 i64
MseLoss(tensor self, tensor target, i64 reduction, out out): F
MseLossBackward(tensor gradOutput, tensor self, tensor target, i64 reduction, out out): F
NLLLoss(tensor self, tensor target, tensor weight, i64 reduction, i64 ignoreIndex, out out, out
  totalWeightOut): self, weight, out, totalWeightOut: F; target: i32 i64 u8
NLLLossBackward(tensor gradOutput, tensor self, tensor target, tensor weight, i64 reduction, i64
  ignoreIndex, tensor totalWeight, out out): gradOutput, self: F; target: i32 i64 u8
LayerNorm(tensor input, ints normalizedShape, tensor weightOptional, tensor biasOptional, f64 eps,
  out out, out meanOutOptional, out rstdOutOptional): F
LayerNormBackward(tensor gradOut, tensor input, ints normalizedShape, tensor mean, tensor rstd,
  tensor weightOptional, tensor biasOptional, bools outputMask, out gradInputOut, out
  gradWeightOut, out gradBiasOut): F
Convolution(tensor input, tensor weight, tensor bias, ints stride, ints padding, ints dilation,
  bool transposed, ints outputPadding, i64 groups, out output, i8 cubeMathType): F
ConvolutionBackward(tensor gradOutput, tensor input, tensor weight, ints biasSizes, ints stride,
  ints padding, ints dilation, bool transposed, ints outputPadding, i32 groups, bools outputMask,
  i8 cubeMathType, out gradInput, out gradWeight, out gradBias): F
"""
