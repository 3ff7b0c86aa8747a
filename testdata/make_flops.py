# SPDX-License-Identifier: MIT
"""The traces of this folder whose FLOPs and MFU can be checked by hand; README.md does it. make.py
prints them. Times are microseconds, after the data loader's wait where a step is described."""

MAIN, AUTOGRAD, STREAM = 101, 102, 7
BF16, HALF, FLOAT = "c10::BFloat16", "c10::Half", "float"

CONV = "sm80_xmma_%s_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_cudnn"
LINEAR = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_%s"
FLASH = "void flash::flash_%s_kernel<Flash_kernel_traits<256, 64, 64, 8> >(flash::Flash_params)"
GELU = "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(int)"
CUTLASS = "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x5_nn_align8"
PLAIN = "ampere_sgemm_128x64_nn"


def tensors(dtype, *dims):
    """Operands that are tensors, all of one type."""
    return {"Input Dims": [list(one) for one in dims], "Input type": [dtype] * len(dims)}


def mixed(dtype, dims, concrete):
    """Operands of which some are no tensors: those have no dims, and a concrete value instead."""
    rest = len(concrete) - len(dims)
    return {"Concrete Inputs": concrete,
            "Input type": [dtype] * len(dims) + ["ScalarList" if "[" in value else "Scalar"
                                                 if value else "" for value in concrete[-rest:]],
            "Input Dims": [list(one) for one in dims] + [[]] * rest}


def recorded(number):
    """Autograd records this call, to run its node in the backward pass."""
    return {"Sequence number": number, "Fwd thread id": 0}


def node(number):
    return {"Sequence number": number, "Fwd thread id": 1}


IMAGE, FILTERS, FEATURES = (10, 40, 100, 100), (200, 40, 5, 5), (10, 200, 100, 100)
CONVOLUTION = mixed(BF16, [IMAGE, FILTERS],
                    ["", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "False", "[0, 0]", "1"])
CUDNN = mixed(BF16, [IMAGE, FILTERS],
              ["", "", "[2, 2]", "[1, 1]", "[1, 1]", "1", "False", "False", "True"])
CONVOLUTION_BACKWARD = mixed(BF16, [FEATURES, IMAGE, FILTERS],
                             ["", "", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "False", "[0, 0]", "1",
                              "[True, True, False]"])
LAYER = tensors(BF16, (4000, 1000), (2000, 1000), (2000,))
ADDMM = mixed(BF16, [(2000,), (4000, 1000), (1000, 2000)], ["", "", "", "1", "1"])
HEADS, ROWS = (4, 5, 1000, 200), (4, 1000, 5, 200)
SDPA = mixed(BF16, [HEADS] * 3, ["", "", "", "", "0.", "True", "", "False"])
SDPA_FLASH = mixed(BF16, [HEADS] * 3, ["", "", "", "0.", "True", "False", ""])
FLASH_FORWARD = mixed(BF16, [ROWS] * 3, ["", "", "", "", "", "1000", "1000", "0.", "True", "False"])
BACKWARD = ["", "", "", "", "", "", "", "", "1000", "1000", "0.", "True"]
SDPA_BACKWARD = mixed(BF16, [HEADS] * 5, BACKWARD)
FLASH_BACKWARD = mixed(BF16, [ROWS] * 5, BACKWARD)

ENGINE = "autograd::engine::evaluate_function: "
# Name, thread, start, end, arguments. Sequence numbers are those of step 1; each step adds 10.
TRAINING_OPS = (
    ("aten::convolution", MAIN, 10, 60, {**CONVOLUTION, **recorded(1)}),
    ("aten::cudnn_convolution", MAIN, 15, 55, CUDNN),
    ("CheckpointFunction", MAIN, 65, 125, recorded(2)),
    ("aten::linear", MAIN, 70, 120, LAYER),  # not recorded: the backward pass runs it again
    ("aten::addmm", MAIN, 75, 115, ADDMM),
    ("aten::gelu", MAIN, 130, 160, {**tensors(BF16, (4000, 2000)), **recorded(3)}),
    ("aten::scaled_dot_product_attention", MAIN, 170, 240, {**SDPA, **recorded(4)}),
    ("aten::_scaled_dot_product_flash_attention", MAIN, 175, 235, {**SDPA_FLASH, **recorded(4)}),
    ("aten::_flash_attention_forward", MAIN, 180, 230, FLASH_FORWARD),
    ("mylib::fused_mlp", MAIN, 250, 290, tensors(BF16, (4000, 1000), (1000, 1000))),
    (ENGINE + "CheckpointFunctionBackward", AUTOGRAD, 310, 490, node(2)),
    ("CheckpointFunctionBackward", AUTOGRAD, 315, 485, node(2)),
    ("aten::linear", AUTOGRAD, 320, 370, {**LAYER, **recorded(5)}),
    ("aten::addmm", AUTOGRAD, 325, 365, {**ADDMM, **recorded(5)}),
    (ENGINE + "AddmmBackward0", AUTOGRAD, 380, 480, node(5)),
    ("AddmmBackward0", AUTOGRAD, 385, 475, node(5)),
    ("aten::mm", AUTOGRAD, 390, 425, tensors(BF16, (4000, 2000), (2000, 1000))),
    ("aten::mm", AUTOGRAD, 430, 465, tensors(BF16, (2000, 4000), (4000, 1000))),
    (ENGINE + "ScaledDotProductFlashAttentionBackward0", AUTOGRAD, 500, 590, node(4)),
    ("ScaledDotProductFlashAttentionBackward0", AUTOGRAD, 505, 585, node(4)),
    ("aten::_scaled_dot_product_flash_attention_backward", AUTOGRAD, 510, 580, SDPA_BACKWARD),
    ("aten::_flash_attention_backward", AUTOGRAD, 515, 575, FLASH_BACKWARD),
    (ENGINE + "ConvolutionBackward0", AUTOGRAD, 600, 690, node(1)),
    ("ConvolutionBackward0", AUTOGRAD, 605, 685, node(1)),
    ("aten::convolution_backward", AUTOGRAD, 610, 680, CONVOLUTION_BACKWARD),
    ("Optimizer.step#Muon.step", MAIN, 700, 760, {}),
    ("aten::mm", MAIN, 710, 750, tensors(FLOAT, (1000, 500), (500, 1000))),
)
# Name, thread and start of the launch (it takes 10), start and end of the kernel.
TRAINING_KERNELS = (
    (CONV % "fprop", MAIN, 20, 40, 240),
    (LINEAR % "tn", MAIN, 80, 240, 320),
    (GELU, MAIN, 135, 320, 360),
    (FLASH % "fwd", MAIN, 200, 360, 480),
    (CUTLASS, MAIN, 260, 480, 560),
    (LINEAR % "tn", AUTOGRAD, 330, 560, 640),
    (LINEAR % "nn", AUTOGRAD, 400, 640, 720),
    (LINEAR % "nt", AUTOGRAD, 440, 720, 800),
    (FLASH % "bwd", AUTOGRAD, 530, 800, 1100),
    (CONV % "dgrad", AUTOGRAD, 620, 1100, 1300),
    (CONV % "wgrad", AUTOGRAD, 650, 1300, 1500),
    (PLAIN, MAIN, 720, 1500, 1600),
)
PART_OPS = (
    ("aten::mm", MAIN, 10, 60, tensors(HALF, (8000, 4000), (4000, 2000))),
    ("triton_tem_fused_mm_3", MAIN, 70, 120, tensors(HALF, (8000, 4000), (4000, 1000))),
    ("aten::bmm", MAIN, 130, 180, {}),
)
PART_KERNELS = (
    ("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT", MAIN, 20, 40, 340),
    ("triton_tem_fused_mm_3", MAIN, 80, 340, 540),
    ("nvjet_hsh_192x192_64x4_2x1_v_bz_coopB_NNT", MAIN, 140, 540, 590),
    ("nvjet_hsh_64x64_64x8_4x1_v_bz_NNT", None, None, 590, 640),  # nobody is known to launch it
)


def event(kind, name, tid, start, end, args, link=None):
    return {"kind": kind, "name": name, "tid": tid, "start": start, "end": end, "args": args,
            "link": link}


def numbered(args, number):
    if "Sequence number" not in args:
        return args
    return {**args, "Sequence number": args["Sequence number"] + 10 * (number - 1)}


def step(number, at, wait, wall, ops, kernels):
    """A step: the data loader lets it wait, then its operators and kernels run."""
    begin = at + wait
    yield event("user_annotation", f"ProfilerStep#{number}", MAIN, at, at + wall, {})
    yield event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                MAIN, at, begin, {})
    for name, thread, start, end, args in ops:
        kind = "user_annotation" if name.startswith("Optimizer.step#") else "cpu_op"
        yield event(kind, name, thread, begin + start, begin + end, numbered(args, number))
    for index, (name, thread, launch, start, end) in enumerate(kernels):
        link = number * 100 + index
        if thread:
            yield event("cuda_runtime", "cudaLaunchKernel", thread, begin + launch,
                        begin + launch + 10, {}, link)
        yield event("kernel", name, STREAM, begin + start, begin + end,
                    {"grid": [432, 1, 1], "block": [256, 1, 1]}, link)


def with_ids(events):
    """Operators and annotations are numbered in the order of the file."""
    named = [one for one in events if one["kind"] in ("cpu_op", "user_annotation")]
    for number, one in enumerate(named, 1):
        del one["link"]
        one["id"] = number
    return events


def training():
    return with_ids([*step(1, 1000, 100, 2000, TRAINING_OPS, TRAINING_KERNELS),
                     *step(2, 3000, 600, 2500, TRAINING_OPS, TRAINING_KERNELS)])


def slow_loader():
    """Five steps of 2.5 ms that wait for 800 us in the mean."""
    waits = (700, 900, 800, 850, 750)
    return with_ids([one for number, wait in enumerate(waits, 1)
                     for one in step(number, 2500 * number, wait, 2500, TRAINING_OPS,
                                     TRAINING_KERNELS)])


def part():
    return with_ids([*step(1, 1000, 100, 1000, PART_OPS, PART_KERNELS),
                     *step(2, 2000, 100, 1000, PART_OPS, PART_KERNELS)])


def throttled():
    """Five steps of 1 ms; their five products take 3 % longer in the third, then 6 %."""
    ops = [("aten::mm", MAIN, 30 * index, 30 * index + 20, tensors(HALF, (4000, 1000), (1000, size)))
           for index, size in enumerate((1000, 2000, 3000, 4000, 5000))]
    for number, percent in enumerate((100, 100, 103, 106, 106), 1):
        kernels, at = [], 40
        for index, length in enumerate((1, 1, 2, 2, 3)):
            end = at + length * percent
            kernels.append((LINEAR % "nn", MAIN, 30 * index + 5, at, end))
            at = end
        yield from step(number, 1000 * number, 20, 1000, ops, kernels)
