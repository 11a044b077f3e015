"""Benchmarks side by side: who takes part, how they are run in turns, and what comes out.

What runs in a peer's own environment (``worker``, ``clock`` and the module of that peer in
``adapters``) needs the standard library and that peer alone.
"""
