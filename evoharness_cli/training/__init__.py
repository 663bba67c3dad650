"""Demonstrations, and policies that are trained on them."""
