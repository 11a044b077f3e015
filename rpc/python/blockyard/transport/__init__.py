"""The way to a server: addresses, connections, messages, shared memory, several servers.

Nothing here knows environments: a transport moves the bytes of a step between the server and
arrays on this side. ``blockyard.vector`` builds the environment on top of it.
"""
