"""The training steps of the published path on a CUDA device, written out kernel by kernel.

At batch 128 a step is bound by the number and the latency of its operations, not by their size. Here everything between
two matrix products is one kernel, products are in bfloat16 with dimensions padded to whole 16 bytes, biases are
one more column of their matrix, and one kernel updates all parameters, which stay in float32.

To do without this folder, delete it and, in `published.py`, replace the import of `STEPS` by
`STEPS: dict[str, object] = {}` below the imports. `benchmarks/cuda_steps.py` measures what the folder buys.
"""

from lnmap.methods.lnmap.cuda.steps import AutoencoderStep, JointStep, SuccessiveStep

STEPS: dict[str, object] = {
    "autoencoder_step": AutoencoderStep,
    "joint_step": JointStep,
    "successive_step": SuccessiveStep,
}
