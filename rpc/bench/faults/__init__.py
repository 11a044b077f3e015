"""The parts of the chaos test: clients of three kinds, a proxy that delays and cuts, and a server's resources."""
