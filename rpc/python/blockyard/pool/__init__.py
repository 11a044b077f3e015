"""Many games that are stepped as soon as their opponents have moved, without waiting for the others."""
