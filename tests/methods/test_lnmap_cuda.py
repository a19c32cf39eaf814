"""LNMap's training steps on CUDA against automatic differentiation; skipped where there is no such device."""

import pytest
import torch

from lnmap.methods.lnmap.networks import Networks
from lnmap.methods.lnmap.optim import SGD, Adam
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.lnmap.steps import Batches, autoencoder_step, joint_step, successive_step

pytest.importorskip("lnmap.methods.lnmap.cuda", reason="the folder was deleted")

from lnmap.methods.lnmap.cuda.kernels import available
from lnmap.methods.lnmap.cuda.steps import AutoencoderStep, JointStep, SuccessiveStep

pytestmark = pytest.mark.skipif(
    not (torch.cuda.is_available() and available(torch.device("cuda"))), reason="no CUDA device that compiles kernels"
)
ROWS, SIZE, STEPS = 300, 64, 8


def networks(spec):
    torch.manual_seed(1)
    return Networks((300, 200), spec).cuda()


def coders(nets, rate):
    return Adam((nets.encoder_x,), rate), Adam((nets.decoder_x,), rate)


def vectors(*shape):
    return torch.nn.functional.normalize(torch.randn(*shape, device="cuda"), dim=1)


def batches():
    found = Batches(ROWS, SIZE, torch.device("cuda"))
    found.begin(torch.randperm(ROWS, generator=torch.Generator().manual_seed(4)).cuda())
    return found


def assert_moved_alike(start, one, other):
    """Two trainings moved each parameter the same way, within the rounding of bfloat16."""
    for (name, before), a, b in zip(start.named_parameters(), one.parameters(), other.parameters(), strict=True):
        moved, wanted = (a - before).detach(), (b - before).detach()
        if float(wanted.abs().max()) == 0:
            assert float(moved.abs().max()) == 0, name
        else:
            assert float((moved - wanted).norm() / wanted.norm()) < 0.25, name  # Adam makes small gradients large


@pytest.mark.parametrize("autoencoder", ["nonlinear", "linear"])
@pytest.mark.parametrize("mapper", ["nonlinear", "linear"])
@pytest.mark.parametrize("optimizer", [SGD, Adam])
@pytest.mark.parametrize("weights", [(1.0, 1.0), (2.0, 0.0), (0.0, 0.5), (0.0, 0.0)])
@pytest.mark.parametrize("makes", [(JointStep, joint_step), (SuccessiveStep, successive_step)])
def test_mapping_step_is_that_of_automatic_differentiation(autoencoder, mapper, optimizer, weights, makes):
    if optimizer is Adam and makes[0] is SuccessiveStep:
        pytest.skip("the mappers share one optimiser, whose momentum would move N in every update")
    spec = LNMapOptions(
        autoencoder=autoencoder, mapper=mapper, back_translation=weights[0], reconstruction=weights[1], reduction="sum"
    )
    x, codes = vectors(ROWS, 300), vectors(ROWS, 350)
    found = []
    for make in makes:
        nets = networks(spec)
        adams = coders(nets, 1e-3)
        other = optimizer((nets.mapper_m, nets.mapper_n), 1e-3 if optimizer is Adam else 0.02)
        step = make(nets, (*adams, other), x, codes.clone(), batches(), spec)
        for _ in range(ROWS // SIZE):
            step.run()
        step.run(whole=False)
        step.finish()
        found.append((nets, adams, step.batches.place.clone()))
    (mine, adams, place), (theirs, wanted, expected) = found
    assert torch.equal(place, expected)
    assert_moved_alike(networks(spec), mine, theirs)
    for one, other in zip(adams, wanted, strict=True):
        for name, tensor in other.tensors().items():
            if name.endswith("step"):
                assert torch.equal(one.tensors()[name], tensor)


@pytest.mark.parametrize("kind", ["nonlinear", "linear"])
def test_autoencoder_step_is_that_of_automatic_differentiation(kind):
    spec = LNMapOptions(autoencoder=kind, reduction="mean")
    x = vectors(ROWS, 300)
    found = []
    for make in (AutoencoderStep, autoencoder_step):
        nets = networks(spec)
        step = make(nets.encoder_x, nets.decoder_x, coders(nets, 1e-4), x, batches(), spec)
        for _ in range(ROWS // SIZE):
            step.run()
        step.finish()
        found.append(nets)
    assert_moved_alike(networks(spec), *found)


def test_dropout_is_drawn_anew_and_found_again_by_the_derivative():
    spec = LNMapOptions(autoencoder="nonlinear", dropout=0.25, mapper_dropout=0.1)
    nets = networks(spec)
    optimizers = *coders(nets, 1e-3), SGD((nets.mapper_m, nets.mapper_n), 1e-4)
    step = JointStep(nets, optimizers, vectors(ROWS, 300), vectors(ROWS, 350), batches(), spec)
    step.run()
    first = step.encoder.hidden[0].clone()[:, :400]
    dead = first == 0
    assert 0.22 < float(dead.float().mean()) < 0.28
    assert bool((step.encoder.slopes[0][:, :400][dead] == 0).all())  # no gradient through what was dropped
    step.run()
    again = step.encoder.hidden[0][:, :400] == 0
    assert 0.5 < float((again == dead).float().mean()) < 0.75  # independent masks agree in 0.625 of the places
    assert not torch.equal(step.decoder.hidden[0][:, :400] == 0, again)
