"""The notebook of examples/ runs, and shows what it says."""

from __future__ import annotations

from typing import Any

import nbclient
import nbformat
from conftest import ROOT
from jupyter_client.manager import start_new_kernel


def test_afternoon(tmp_path, program, monkeypatch):
    monkeypatch.setenv("BLOCKYARD_SERVER", str(program))
    notebook = nbformat.read(ROOT / "rpc/python/examples/afternoon.ipynb", as_version=4)
    training = [cell for cell in notebook.cells if cell.source.startswith("seconds = 60\n")]
    assert len(training) == 1
    training[0].source = training[0].source.replace("60", "0.1", 1).replace("num_envs=64", "num_envs=8")
    for cell in notebook.cells:
        cell.source = cell.source.replace("games=200", "games=20").replace("games=100", "games=10")
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    install, *code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert install.source.startswith("# Install") and not install.outputs, "nothing is installed that is there"
    shown = [[out.get("data", {}) for out in cell.outputs] for cell in code]
    assert "<svg" in shown[1][-1]["text/html"]
    assert "games   20: " in shown[4][-1]["text/plain"]
    assert "image/svg+xml" in shown[6][-1]
    assert "<iframe" in shown[7][-1]["text/html"]


def test_kernel_is_restarted(program, monkeypatch):
    """An environment in the kernel's process ends with it, is there again after a restart, and can be interrupted."""
    monkeypatch.setenv("BLOCKYARD_SERVER", str(program))
    manager, client = start_new_kernel(startup_timeout=300)
    steps = """
import blockyard
env = blockyard.make_vec("WinTetris-v0", 4, transport="inproc", seed=1)
env.reset()
for _ in range(20):
    env.step([0] * 4)
print(env.transport, env.scores.sum())
"""

    def run(code: str) -> str:
        said: list[str] = []

        def hear(message: dict[str, Any]) -> None:
            if message["msg_type"] == "stream":
                said.append(message["content"]["text"])
                if "begun" in said[-1]:
                    manager.interrupt_kernel()

        reply = client.execute_interactive(code, timeout=300, output_hook=hear)["content"]
        return "".join(said) + reply.get("ename", "")

    try:
        first = run(steps)
        assert first.startswith("inproc")
        manager.restart_kernel(now=False)
        client.wait_for_ready(timeout=300)
        assert run(steps) == first
        manager.restart_kernel(now=True)
        client.wait_for_ready(timeout=300)
        assert run(steps) == first
        endless = "print('begun', flush=True)\nwhile True:\n    env.rollout(50, keep='last')"
        assert run(endless) == "begun\nKeyboardInterrupt"
        assert run("env.step([0] * 4); print('goes on')") == "goes on\n"
        assert run(steps.replace("inproc", "process")).split()[1:] == first.split()[1:]
        assert run(endless) == "begun\nKeyboardInterrupt"
        assert run("env.checkpoint(); env.step([0] * 4); print('goes on')") == "goes on\n"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
