"""The local server: finding or building the program, starting it, stopping it."""
