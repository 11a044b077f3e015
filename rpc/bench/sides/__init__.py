"""Benchmarks side by side: the entrants, how they are run in turns, and the results.

What runs in a peer's own environment (``worker``, ``clock`` and the module of that peer in
``adapters``) may import only the standard library and that peer.
"""
