"""What a network module may hold that runs beside its ``forward``."""

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
"""The tables of hooks of one module."""
GLOBAL_HOOKS = tuple(f"_global{name}" for name in HOOKS)
"""Those in ``torch.nn.modules.module`` that are for all modules."""
