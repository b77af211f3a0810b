"""The modules of :mod:`mindtorch_v2.nn`."""

from mindtorch_v2.nn.modules._released import fit_to_release
from mindtorch_v2.nn.modules.activation import (
    GELU,
    LeakyReLU,
    LogSoftmax,
    ReLU,
    RReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Tanh,
)
from mindtorch_v2.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from mindtorch_v2.nn.modules.channelshuffle import ChannelShuffle
from mindtorch_v2.nn.modules.container import ModuleDict, ModuleList, Sequential
from mindtorch_v2.nn.modules.conv import Conv2d
from mindtorch_v2.nn.modules.distance import PairwiseDistance
from mindtorch_v2.nn.modules.dropout import (
    AlphaDropout,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    FeatureAlphaDropout,
)
from mindtorch_v2.nn.modules.flatten import Flatten
from mindtorch_v2.nn.modules.instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from mindtorch_v2.nn.modules.linear import Identity, Linear
from mindtorch_v2.nn.modules.loss import (
    CosineEmbeddingLoss,
    CrossEntropyLoss,
    CTCLoss,
    GaussianNLLLoss,
    L1Loss,
    MSELoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    NLLLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from mindtorch_v2.nn.modules.module import Module
from mindtorch_v2.nn.modules.normalization import LayerNorm, LocalResponseNorm, RMSNorm
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
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "CTCLoss",
    "ChannelShuffle",
    "Conv2d",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "FeatureAlphaDropout",
    "Flatten",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GaussianNLLLoss",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LocalResponseNorm",
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
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PairwiseDistance",
    "RMSNorm",
    "RReLU",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SoftMarginLoss",
    "Softmax",
    "Tanh",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]
