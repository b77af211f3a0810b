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
from mindtorch_v2.nn.modules.pooling import MaxPool2d
from mindtorch_v2.nn.modules.sparse import Embedding

fit_to_release()

__all__ = [
    "GELU",
    "AlphaDropout",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
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
    "MaxPool2d",
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
]
