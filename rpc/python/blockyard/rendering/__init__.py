"""Displays positions, which the server draws, in notebooks and terminals."""
