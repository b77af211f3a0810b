"""Modules, optimizers and small programs for the area programs."""

from __future__ import annotations

from typing import Final

#: The first is the one that all networks are trained with; ``{}`` is a list of parameters.
OPTIMIZERS: Final = (
    "xp.optim.AdamW({}, lr=0.01)",
    "xp.optim.SGD({}, lr=0.1, momentum=0.9)",
    "xp.optim.SGD({}, lr=0.05)",
    "xp.optim.SGD({}, lr=0.05, momentum=0.8, weight_decay=0.01, nesterov=True)",
    "xp.optim.SGD({}, lr=0.05, momentum=0.8, dampening=0.5)",
    "xp.optim.SGD({}, lr=0.01, maximize=True)",
    "xp.optim.Adam({}, lr=0.01)",
    "xp.optim.Adam({}, lr=0.01, betas=(0.8, 0.9), eps=1e-6, weight_decay=0.01)",
    "xp.optim.AdamW({}, lr=0.01, weight_decay=0.1)",
)

WRONG_OPTIMIZERS: Final = (
    "xp.optim.SGD({}, lr=-1)",
    "xp.optim.SGD({}, momentum=-0.5)",
    "xp.optim.SGD({}, weight_decay=-1)",
    "xp.optim.SGD({}, nesterov=True)",
    "xp.optim.Adam({}, lr=-1.0)",
    "xp.optim.Adam({}, eps=-1)",
    "xp.optim.AdamW({}, betas=(1.0, 0.9))",
    "xp.optim.AdamW({}, betas=(0.9, -0.1))",
    "xp.optim.AdamW({}, weight_decay=-1)",
    "xp.optim.SGD([])",
    "xp.optim.SGD(p)",
    "xp.optim.SGD([1])",
    "xp.optim.SGD(['x'])",
    "xp.optim.SGD([p * 2])",
    "xp.optim.SGD([{{'params': p}}, {{'params': [p]}}])",
    "xp.optim.SGD([{{'params': p, 'lr': 0.5}}, {{'params': [q]}}], lr=0.1)",
    "xp.optim.SGD([{{'params': {{p}}}}])",
    *(
        f"xp.optim.{name}({{}}, {option}={value})"
        for name in ("SGD", "Adam", "AdamW")
        for option in ("lr", "weight_decay")
        for value in ("None", "'a'", "xp.tensor([0.1, 0.2])", "[0.1]")
    ),
    *(f"xp.optim.{name}({{}}, eps='a')" for name in ("Adam", "AdamW")),
    "xp.optim.AdamW({}, lr=xp.tensor([0.1, 0.2]), foreach=True)",
)

MODULES: Final = (
    "nn.Linear(2, 3)",
    "nn.Linear(2, 3, bias=False)",
    "nn.ReLU()",
    "nn.ReLU(inplace=True)",
    "nn.GELU()",
    "nn.GELU('tanh')",
    "nn.SiLU()",
    "nn.LeakyReLU(0.2)",
    "nn.LeakyReLU(inplace=True)",
    "nn.Tanh()",
    "nn.Sigmoid()",
    "nn.Softmax(1)",
    "nn.Softmax()",
    "nn.LogSoftmax(1)",
    "nn.Identity(3, x=2)",
    "nn.Flatten()",
    "nn.Dropout()",
    "nn.Dropout(0.1, True)",
    "nn.Embedding(3, 4)",
    "nn.Embedding(3, 4, padding_idx=-1)",
    "nn.Embedding(3, 4, scale_grad_by_freq=True)",
    "nn.Embedding(3, 4, max_norm=2.0, norm_type=1.0)",
    "nn.Embedding(3, 2, _weight=xp.ones(3, 2), _freeze=True).weight",
    "nn.Embedding.from_pretrained(xp.ones(3, 2), sparse=True)",
    "nn.Embedding.from_pretrained(xp.ones(3, 2), freeze=False).weight",
    "nn.Conv2d(2, 4, (3, 2), padding='same', dilation=2)",
    "nn.Conv2d(2, 4, 3, padding='valid', bias=False)",
    "nn.Conv2d(2, 4, 3, padding=(1, 2), padding_mode='circular')",
    "nn.Embedding(3, 4, None, 1.0, 2.0, False, False, None, True)",
    "nn.Embedding(3, 4, 0, norm_type=1.0, sparse=True)",
    "nn.Embedding.from_pretrained(xp.ones(3, 2), padding_idx=-1)",
    "nn.LayerNorm(3)",
    "nn.LayerNorm((2, 3), 0.1, False)",
    "nn.LayerNorm(3, bias=False)",
    "nn.Conv2d(2, 4, 3)",
    "nn.Conv2d(2, 4, (3, 2), stride=2, padding=(1, 0), dilation=2, groups=2, bias=False)",
    "nn.BatchNorm1d(3)",
    "nn.BatchNorm2d(3, 0.1, None, False, False)",
    "nn.BatchNorm3d(3, momentum=0.5).state_dict()",
    "nn.MaxPool2d(2)",
    "nn.MaxPool2d((2, 3), 1, ceil_mode=True)",
    "nn.MSELoss()",
    "nn.CrossEntropyLoss(xp.ones(3), label_smoothing=0.1)",
    "nn.Sequential()",
    "nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 1)))",
    "nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Linear(1, 1)])",
    "nn.ModuleList([nn.Sequential(nn.ReLU())] * 2)",
    "nn.ModuleList()",
    "nn.Parameter(xp.ones(2))",
    "nn.Parameter(xp.ones(2), requires_grad=False)",
    "nn.Parameter()",
    "nn.Sequential(nn.ReLU(), nn.Tanh())[1]",
    "nn.Sequential(nn.ReLU(), nn.Tanh())[-1]",
    "nn.Sequential(nn.ReLU(), nn.Tanh())[:1]",
    "nn.Sequential(nn.ReLU()).append(nn.Tanh())",
    "len(nn.Sequential(nn.ReLU(), nn.Tanh()))",
)

#: A module, and something that it takes.
LAYERS: Final = (
    ("nn.Linear(4, 3)", "randn(2, 4)"),
    ("nn.Linear(4, 3)", "randn(2, 5, 4)"),
    ("nn.Linear(4, 3, bias=False)", "randn(4)"),
    ("nn.Embedding(5, 3)", "tensor([1, 4])"),
    ("nn.Embedding(5, 3, padding_idx=1)", "tensor([[1, 4], [0, 1]])"),
    ("nn.Embedding(5, 3, device='meta')", "tensor([1, 4])"),
    ("nn.Embedding(5, 3, max_norm=1.0)", "tensor([1, 4])"),
    ("nn.LayerNorm(4)", "arange(8.0).view(2, 4) ** 2"),
    ("nn.Conv2d(2, 3, (4, 2), padding='same')", "randn(1, 2, 5, 5)"),
    ("nn.Conv2d(2, 3, 3, padding=(2, 1), padding_mode='reflect')", "randn(1, 2, 5, 5)"),
    ("nn.Conv2d(1, 2, 2, padding='same', padding_mode='circular')", "randn(1, 1, 4, 5)"),
    ("nn.Conv2d(2, 3, 3)", "randn(2, 2, 5, 5)"),
    ("nn.Conv2d(2, 4, 2, stride=2, padding=1, groups=2)", "randn(2, 2, 5, 4)"),
    ("nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 2))", "randn(3, 4)"),
    (
        "nn.Sequential(nn.Conv2d(1, 2, 2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())",
        "randn(2, 1, 5, 5)",
    ),
    ("nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.SiLU())", "randn(3, 4)"),
    ("nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Tanh()).train(False)", "randn(3, 4)"),
)

#: Modules that normalize batches, and something that they take or refuse.
NORMALIZED: Final = (
    ("nn.BatchNorm1d(4)", "randn(3, 4)"),
    ("nn.BatchNorm1d(4, momentum=None)", "randn(3, 4, 2)"),
    ("nn.BatchNorm1d(4, track_running_stats=False).train(False)", "randn(3, 4)"),
    ("nn.BatchNorm2d(2, affine=False)", "randn(3, 2, 2, 2)"),
    ("nn.BatchNorm2d(2).train(False)", "randn(3, 2, 2, 2)"),
    ("nn.BatchNorm2d(2)", "randn(3, 2)"),
    ("nn.BatchNorm1d(2)", "randn(1, 2)"),
    ("nn.BatchNorm3d(2)", "randn(1, 2, 1, 2, 3)"),
)

#: A module, and what it compares.
LOSSES: Final = tuple(
    (made, given)
    for made, given in (
        *(
            (f"{name}(reduction='{reduction}')", ("arange(6.0).view(2, 3)", "ones(2, 3) * 7"))
            for name in ("MSELoss", "L1Loss")
            for reduction in ("mean", "sum", "none", "other")
        ),
        *(
            (f"{name}({options})", ("arange(6.0).view(2, 3)", "tensor([2, 0])"))
            for name in ("NLLLoss", "CrossEntropyLoss")
            for options in (
                *("", "reduction='sum'", "reduction='none'", "ignore_index=2", "reduction='x'"),
                *("xp.tensor([1.0, 2.0, 3.0])", "xp.ones(2)"),
            )
        ),
        ("CrossEntropyLoss(label_smoothing=0.2)", ("arange(6.0).view(2, 3)", "tensor([2, 0])")),
        ("CrossEntropyLoss()", ("arange(6.0).view(2, 3)", "tensor([[0.5, 0.5, 0], [0, 0, 1]])")),
        ("CrossEntropyLoss()", ("arange(6.0).view(2, 3)", "tensor([2, 0, 1])")),
    )
)

#: Losses of ``x`` and ``y``, and how what becomes of a batch used to be said.
REDUCED: Final = tuple(
    f"xp.nn.functional.{name}({given}, {options})"
    for name, given in (
        *((each, "x, x / 2") for each in ("mse_loss", "l1_loss", "smooth_l1_loss")),
        *((each, "x, x[:, :2]") for each in ("mse_loss", "smooth_l1_loss")),
        *((each, "x, y") for each in ("nll_loss", "cross_entropy", "kl_div")),
        *((each, "x / 9, x / 9") for each in ("binary_cross_entropy", "kl_div")),
        ("binary_cross_entropy_with_logits", "x, x"),
        ("hinge_embedding_loss", "x, x - 3"),
        ("margin_ranking_loss", "x, x, x"),
        ("poisson_nll_loss", "x, x"),
    )
    for options in (
        *("reduce=False", "reduce=True", "size_average=False", "size_average=True"),
        *("reduce=False, size_average=False, reduction='x'", "size_average=0, reduction='none'"),
        *("reduction='elementwise_mean'", "reduction='batchmean'"),
    )
) + tuple(
    f"xp.nn.{name}({options})({given})"
    for name, given in (
        *((each, "x, x / 2") for each in ("MSELoss", "L1Loss")),
        *((each, "x, y") for each in ("NLLLoss", "CrossEntropyLoss")),
    )
    for options in ("reduce=False", "size_average=False", "reduce=True, reduction='x'")
)

_NET: Final = (
    "xp.manual_seed(0)\nnn = xp.nn\n"
    "net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))\n"
    "x, y = xp.randn(6, 3), xp.randn(6, 1)\n"
    "compute = lambda: nn.functional.mse_loss(net(x), y)\n"
)

#: Programs, and what comes out of them.
SMALL: Final = tuple(
    _NET + text
    for text in (
        "losses = []\nfor i in range(20):\n    loss = compute()\n    net.zero_grad()\n"
        "    loss.backward()\n    with xp.no_grad():\n        for p in net.parameters():\n"
        "            p.sub_(p.grad * 0.1)\n    losses.append(loss.detach())\nxp.stack(losses)",
        "losses = []\nfor i in range(20):\n    loss = compute()\n"
        "    grads = xp.autograd.grad(loss, list(net.parameters()))\n    with xp.no_grad():\n"
        "        for p, g in zip(net.parameters(), grads):\n            p -= 0.1 * g\n"
        "    losses.append(loss.detach())\nxp.stack(losses)",
        "opt = xp.optim.SGD(net.parameters(), lr=0.1)\nlosses = []\nfor i in range(10):\n"
        "    opt.zero_grad()\n    for part in range(3):\n"
        "        rows = slice(2 * part, 2 * part + 2)\n"
        "        loss = nn.functional.mse_loss(net(x[rows]), y[rows]) / 3\n"
        "        loss.backward()\n"
        "        losses.append(loss.detach())\n    opt.step()\nxp.stack(losses)",
        "opt = xp.optim.SGD(net.parameters(), lr=0.5)\nlosses = []\nfor i in range(10):\n"
        "    opt.zero_grad()\n    loss = compute()\n    loss.backward()\n"
        "    total = sum((p.grad * p.grad).sum() for p in net.parameters()).sqrt()\n"
        "    for p in net.parameters():\n"
        "        p.grad.mul_((0.3 / (total + 1e-6)).clamp(max=1.0))\n"
        "    opt.step()\n    losses.append(loss.detach())\nxp.stack(losses)",
        "opt = xp.optim.SGD(net.parameters(), lr=0.5)\nlosses = []\nfor i in range(10):\n"
        "    opt.zero_grad()\n    loss = compute()\n    loss.backward()\n"
        "    nn.utils.clip_grad_value_(net.parameters(), 0.05)\n    opt.step()\n"
        "    losses.append(loss.detach())\nxp.stack(losses)",
        "net[0].requires_grad_(False)\nbefore = net[0].weight.clone()\n"
        "opt = xp.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)\n"
        "for i in range(5):\n    opt.zero_grad()\n    compute().backward()\n    opt.step()\n"
        "(before == net[0].weight).all(), net[0].weight.grad, compute()",
        "opt = xp.optim.Adam([{'params': net[0].parameters(), 'lr': 0.1},"
        " {'params': net[2].parameters()}], lr=0.01)\n"
        "for i in range(5):\n    opt.zero_grad()\n    compute().backward()\n    opt.step()\n"
        "compute(), [g['lr'] for g in opt.param_groups]",
        "saved = {k: v.clone() for k, v in net.state_dict().items()}\n"
        "opt = xp.optim.SGD(net.parameters(), lr=0.1)\ncompute().backward()\nopt.step()\n"
        "a = compute()\nr = net.load_state_dict(saved)\na, compute(), repr(r)",
        "opt = xp.optim.AdamW(net.parameters(), lr=0.1)\nfor i in range(3):\n"
        "    opt.zero_grad()\n    compute().backward()\n    opt.step()\n"
        "s = opt.state_dict()\nother = xp.optim.AdamW(net.parameters(), lr=0.5)\n"
        "other.load_state_dict(s)\ncompute().backward()\nother.step()\n"
        "compute(), other.param_groups[0]['lr'], sorted(s), sorted(s['state'])",
        "opt = xp.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\ncompute().backward()\n"
        "opt.step()\ns = opt.state_dict()\n"
        "[list(v) for v in s['state'].values()], s['param_groups']",
        "opt = xp.optim.SGD(net.parameters(), lr=0.1)\ndef closure():\n    opt.zero_grad()\n"
        "    loss = compute()\n    loss.backward()\n    return loss\n"
        "[opt.step(closure).detach() for i in range(4)]",
        "seen = []\nh = net[1].register_forward_hook(lambda m, i, o: seen.append(o.shape))\n"
        "net(x)\nh.remove()\nnet(x)\nseen",
        "net[1].register_forward_hook(lambda m, i, o: o * 2)\nnet(x)",
        "net[1].register_forward_pre_hook(lambda m, i: (i[0] + 1,))\nnet(x)",
        "net[1].register_forward_pre_hook(lambda m, i: i[0] * 0)\nnet(x)",
        "seen = []\nnet[0].weight.register_hook(lambda g: seen.append(g.shape))\n"
        "compute().backward()\nseen",
        "net[0].weight.register_hook(lambda g: g * 0)\ncompute().backward()\n"
        "[p.grad for p in net.parameters()]",
        "compute().backward()\nnet.zero_grad()\n[p.grad for p in net.parameters()]",
        "compute().backward()\nnet.zero_grad(set_to_none=False)\n"
        "[p.grad for p in net.parameters()]",
        "compute().backward()\nopt = xp.optim.SGD(net.parameters(), lr=0.1)\n"
        "opt.zero_grad(False)\n[p.grad for p in net.parameters()]",
        "with xp.no_grad():\n    out = net(x)\nout.requires_grad, net(x).requires_grad",
        "compute().grad_fn, net(x).grad_fn",
        "compute().backward()\ncompute().backward()\nnet[2].bias.grad",
        "net.double()(x.double()).dtype",
        "net(x.double())",
        "net(xp.randn(6, 4))",
        "net[0].weight.shape, net[0].bias.shape, net[0].weight.is_leaf",
        "net.train(False).training, net[1].training",
        "opt = xp.optim.SGD(net.parameters(), lr=0.1)\nopt.param_groups[0]['lr'] = 0.0\n"
        "a = compute()\na.backward()\nopt.step()\na, compute()",
        "a = xp.randn(3)\ns = xp.get_rng_state()\nb = xp.randn(3)\nxp.set_rng_state(s)\n"
        "a, b, xp.randn(3)",
        "net.load_state_dict({})",
        "net.load_state_dict({'x': xp.ones(1), **net.state_dict()})",
        "net.load_state_dict({'0.weight': xp.ones(1)}, strict=False)",
        "net.load_state_dict({'0.bias': xp.ones(4)}, strict=False)",
        "net.load_state_dict(1)",
        "s = net.state_dict()\ns['0.bias'] = 1\nnet.load_state_dict(s)",
    )
)

REFUSED: Final = (
    "xp.nn.Module()(1)",
    "xp.nn.Linear(2, 3).nosuch",
    "xp.nn.Linear('x', 3)",
    "xp.nn.Sequential(1)",
    "xp.nn.Sequential(xp.nn.ReLU())[1]",
    "xp.nn.Dropout(2)",
    "xp.nn.Dropout(-0.1)",
    "xp.nn.Embedding(3, 2, padding_idx=3)",
    "xp.nn.Embedding.from_pretrained(xp.ones(3))",
    "xp.nn.Embedding(3, 2, _weight=xp.ones(2, 3))",
    "xp.nn.Conv2d(3, 4, 2, stride=2, padding='same')",
    "xp.nn.Embedding(3, 2, _weight=xp.ones(2, 2))",
    "xp.nn.Embedding.from_pretrained(xp.ones(3))",
    "e = xp.nn.Embedding.from_pretrained(xp.ones(3, 2))\n"
    "e.weight, e.weight.requires_grad, e(xp.tensor([1, 2]))",
    "e = xp.nn.Embedding.from_pretrained(xp.ones(3, 2), False, 1)\n"
    "e(xp.tensor([1, 2])).sum().backward()\ne.weight.grad, e",
    "xp.nn.Conv2d(3, 4, 2, groups=2)",
    "xp.nn.Conv2d(2, 3, 2, groups=2)",
    "xp.nn.Conv2d(2, 3, 2, groups=0)",
    "xp.nn.Linear(2, 3).train(1)",
    "m = xp.nn.Linear(2, 3)\nm.get_submodule('x')",
    "m = xp.nn.Sequential(xp.nn.ReLU())\nm.get_submodule('0')",
    "xp.nn.functional.dropout(xp.ones(2), 1.5)",
    "xp.nn.functional.cross_entropy(xp.ones(2, 3), xp.ones(2))",
    "xp.nn.functional.mse_loss(xp.ones(2, 3), xp.ones(3))",
    "xp.nn.functional.mse_loss(xp.ones(2), xp.zeros(2), weight=xp.arange(2.0))",
    "xp.nn.functional.mse_loss(xp.ones(2), xp.zeros(2), reduction='none', weight=xp.arange(2.0))",
    "xp.nn.functional.mse_loss(xp.ones(2), xp.zeros(2), weight=xp.ones(3))",
    "xp.nn.functional.l1_loss(xp.ones(2), xp.zeros(2), weight=xp.arange(2.0), reduction='sum')",
    "xp.nn.functional.l1_loss(xp.ones(2), xp.zeros(2), weight=xp.ones(2), reduction='x')",
    "xp.nn.functional.l1_loss(xp.ones(2), xp.zeros(2), reduce=False)",
    "xp.nn.functional.mse_loss(xp.ones(2), xp.zeros(2), False)",
    "xp.nn.utils.clip_grad_norm_((p for p in []), 1.0)",
    "xp.nn.functional.softmax(xp.ones(2, 3))",
    "xp.nn.functional.relu('x')",
    "xp.nn.functional.linear(xp.ones(2), xp.ones(3, 4))",
    "class Net(xp.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.inner = xp.nn.Linear(2, 2)\n    def forward(self, x):\n"
    "        return self.inner(x) * 2\nxp.manual_seed(1)\nn = Net()\nrepr(n), n(xp.ones(1, 2))",
    "class Net(xp.nn.Module):\n    def __init__(self):\n        self.inner = xp.nn.Linear(2, 2)\n"
    "Net()",
    "class Net(xp.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.inner = xp.nn.Parameter(xp.ones(2))\nn = Net()\nn.inner = xp.ones(2)",
    "class Net(xp.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.inner = xp.nn.ReLU()\nn = Net()\nn.inner = 1",
    "class Net(xp.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.register_buffer('inner', xp.ones(2))\nn = Net()\n"
    "list(n.state_dict()), list(n.buffers()), list(n.parameters())",
)

#: Calls of ``F`` with an ``o`` that overrides functions, and tensors ``t``.
OVERRIDDEN: Final = (
    *("F.relu(o)", "F.relu(o, True)", "F.relu(inplace=True, input=o)", "F.silu(o)"),
    *("F.leaky_relu(o)", "F.leaky_relu(o, 0.5)", "F.softmax(o)", "F.softmax(o, 1)"),
    *("F.log_softmax(o, dtype=xp.float64)", "F.dropout(o)", "F.dropout(o, 7.0)"),
    *("F.embedding(o, t)", "F.embedding(t, o, 1)", "F.embedding(t.long(), t, sparse=o)"),
    *("F.layer_norm(o, [2])", "F.layer_norm(t, [2], o)", "F.layer_norm(t, [2], None, o)"),
    *("F.layer_norm(t, o)", "F.max_pool2d(o, 2)", "F.max_pool2d(o, 2, return_indices=True)"),
    *("F.max_pool2d_with_indices(o, 2)", "F.max_pool2d(o, 2, 1, 0, 1, False, True)"),
    *("F.nll_loss(o, t)", "F.nll_loss(t, o)", "F.nll_loss(t, t, o)", "F.cross_entropy(o, t)"),
    *("F.cross_entropy(t, t, weight=o, label_smoothing=0.5)", "F.batch_norm(o, t, t)"),
    *("F.batch_norm(t, o, t, training=True)", "F.batch_norm(t, t, t, None, o)"),
    *("F.conv1d(o, t)", "F.linear(t, o)", "F.gelu(o)", "F.conv_transpose2d(t, o)", "F.relu(o, o)"),
    *("F.relu()", "F.relu(o, x=1)", "F.embedding(o)", "F.relu(t)", "F.relu(t, o)"),
)

#: What clips the gradients of ``p``, ``q`` and ``r``, of which the last has none.
CLIPPED: Final = (
    *("[p, q, r], 1.0", "[p, q, r], 100", "p, 0.5", "[p, q], 1.0, 1", "[p, q], 1, float('inf')"),
    *(
        "[r], 1.0",
        "[], 1.0",
        "iter([p, q]), 2",
        "[p, q], 1.0, 2, True",
        "[p, q], 1.0, foreach=True",
    ),
    *("[p, q], 1.0, foreach=False", "[p, q], 'x'", "[p, q], 1.0, 3.5", "[p, 1], 1.0"),
)

#: What limits the elements of the same, and devices that they are made on.
LIMITED: Final = tuple(
    (given, device)
    for device in ("cpu", "meta")
    for given in (
        *("[p, q, r], 2.0", "p, 1", "[p, q], 2, foreach=True", "[p, q], 2, foreach=False"),
        *("[], 1.0", "[r], 'x'", "iter([p, r, q]), -1", "[p, 1], 1", "[q], float('nan')"),
    )
)
