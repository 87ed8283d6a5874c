"""Scheduled programs in, source text out."""
