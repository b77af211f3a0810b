"""What ``torch.library`` is made of, in the order in which it is best read.

:mod:`~mindtorch_v2._library.release` (what differs between releases),
:mod:`~mindtorch_v2._library.utils` (operators by name, questions about schemas),
:mod:`~mindtorch_v2._library.fake_impl` and :mod:`~mindtorch_v2._library.simple_registry` (what an
operator has besides kernels), :mod:`~mindtorch_v2._library.infer_schema` (a schema from type
annotations), :mod:`~mindtorch_v2._library.autograd` (the kernel at Autograd) and
:mod:`~mindtorch_v2._library.custom_ops` (a function that becomes an operator).
"""
