"""Become the server of one game. Its settings are environment variables.

BLOCKYARD_SERVER: the program; by default blockyard-server on the path.
BLOCKYARD_GAME, BLOCKYARD_OPPONENTS: the game, and the agent in its other seats, by default hand.
BLOCKYARD_TOKEN: the token that clients send; needed, because the server listens on every network.
SPACE_HOST: the name by which clients call the server, as Hugging Face sets it.
"""

import os


def main() -> None:
    """Start the server in place of this process."""
    program = os.environ.get("BLOCKYARD_SERVER", "blockyard-server")
    command = ["serve", "--openenv=0.0.0.0:8000", f"--game={os.environ.get('BLOCKYARD_GAME', 'BlockBattle-v0')}"]
    if opponents := os.environ.get("BLOCKYARD_OPPONENTS"):
        command.append(f"--opponents={opponents}")
    command.append("--openenv-tools=observe,legal_moves,play,rules,render")  # as openenv.yaml declares
    if host := os.environ.get("SPACE_HOST"):
        command.append(f"--allowed-host={host}")
    os.execvp(program, [program, *command])


if __name__ == "__main__":
    main()
