"""The vector environment and its parts: steps, observations, opponents, search, texts, records, checkpoints."""
