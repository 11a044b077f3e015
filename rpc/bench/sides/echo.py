"""The other end of a bare socket: answer every request of one length with as many bytes as told.

    python echo.py PATH ASK ANSWER

It prints a line of JSON once it listens on the Unix socket PATH, serves one client and ends with it. It imports nothing
of ours, so that it starts at once and no server on this machine can be faster.
"""

import socket
import sys

BUFFER = 4 << 20  # bytes, as on the sockets of client and server


def widen(conn: socket.socket) -> None:
    """Give a socket the buffers of ours."""
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        conn.setsockopt(socket.SOL_SOCKET, option, BUFFER)


def main() -> None:
    path, ask, answer = sys.argv[1], int(sys.argv[2]), bytes(int(sys.argv[3]))
    request = bytearray(ask)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print('{"ready": true}', flush=True)
        conn, _ = listener.accept()
    widen(conn)
    with conn:
        while conn.recv_into(request, ask, socket.MSG_WAITALL) == ask:
            conn.sendall(answer)


if __name__ == "__main__":
    main()
