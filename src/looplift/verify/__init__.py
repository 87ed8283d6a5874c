"""Telling two callables apart: arguments in many forms go into both, all that a caller can see is compared."""

from looplift.verify.trials import CheckResult, Finding, check

__all__ = ["CheckResult", "Finding", "check"]
