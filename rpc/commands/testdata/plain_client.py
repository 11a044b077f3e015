"""Plays one game with nothing but socket and msgpack:  python plain_client.py unix:/tmp/s.sock [game]"""
import random
import socket
import sys

import msgpack


class Server:
    def __init__(self, address):
        kind, rest = address.split(":", 1)
        host, _, port = rest.rpartition(":")
        self.socket = socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET)
        self.socket.connect(rest if kind == "unix" else (host, int(port)))
        self.unpacker, self.id = msgpack.Unpacker(), 0
        self.call("hello", {"proto": [3, 0], "client": "plain"})

    def call(self, method, *params):
        self.id += 1
        self.socket.sendall(msgpack.packb([0, self.id, method, params]))
        while True:
            for _, _, error, result in self.unpacker:
                if error is not None:
                    raise RuntimeError(f"{method}: {error['name']}: {error['msg']}")
                return result
            self.unpacker.feed(self.socket.recv(65536) or sys.exit("the server is gone"))


server, game = Server(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "blockbattle"
env = server.call("open", game, {"num_envs": 1, "autoreset": "Disabled"})
field = {f["name"]: slice(f["off"], f["off"] + f["len"]) for f in env["layout"]}
slab, steps = server.call("reset", env["h"]), 0
while not slab[field["terminated"]][0]:
    mask, actions, width = slab[field["mask"]], b"", server.call("describe", game)["mask_len"]
    for row in range(env["rows"]):
        bits = int.from_bytes(mask[row * width:(row + 1) * width], "little")
        legal = [a for a in range(8 * width) if bits >> a & 1] or [65535]
        actions += random.choice(legal).to_bytes(2, "little")
    slab, steps = server.call("step", env["h"], actions), steps + 1
print(server.call("render", env["h"], 0), f"{steps} steps", sep="\n")
