"""Files of recorded games, without a server."""
