"""How kernels are compiled for CUDA devices and launched there."""

ENTRY = "loop_lanes"
"""The function that is launched."""
OPTIONS = ("--std=c++17", "--fmad=false", "--device-as-default-execution-space")
"""Of NVRTC. Every operation rounds as it is written: no multiplication and addition become one."""
BLOCK, BLOCKS = 128, 16
"""Threads of a block, and blocks for each multiprocessor; where there are more iterations a thread has several."""
