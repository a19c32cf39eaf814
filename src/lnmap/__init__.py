"""Translate words between languages."""
