"""The modules of :mod:`mindtorch_v2.nn`."""

from mindtorch_v2.nn.modules._released import fit_to_release
from mindtorch_v2.nn.modules.activation import (
    GELU,
    LeakyReLU,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Tanh,
)
from mindtorch_v2.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from mindtorch_v2.nn.modules.container import ModuleDict, ModuleList, Sequential
from mindtorch_v2.nn.modules.conv import Conv2d
from mindtorch_v2.nn.modules.dropout import Dropout
from mindtorch_v2.nn.modules.flatten import Flatten
from mindtorch_v2.nn.modules.linear import Identity, Linear
from mindtorch_v2.nn.modules.loss import CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from mindtorch_v2.nn.modules.module import Module
from mindtorch_v2.nn.modules.normalization import LayerNorm
from mindtorch_v2.nn.modules.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    FractionalMaxPool2d,
    FractionalMaxPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from mindtorch_v2.nn.modules.sparse import Embedding
from mindtorch_v2.nn.modules.upsampling import Upsample, UpsamplingBilinear2d, UpsamplingNearest2d

fit_to_release()

__all__ = [
    "GELU",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "Identity",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]
