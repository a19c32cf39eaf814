"""The fault harness: kill, starve, fuzz and overload lnmap, and count what goes wrong.

A scenario is a function `(lab, budget) -> Figures`. `test_soak.py` runs a few attempts of each, `make soak`
(`python -m tests.soak`) as many as an hour allows.
"""
