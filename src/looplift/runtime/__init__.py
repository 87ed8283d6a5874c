"""Calls of compiled regions: guards and variants, comparison on the first call, roll back and fallback."""
