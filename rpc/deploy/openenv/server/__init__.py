"""The server as an OpenEnv environment."""
