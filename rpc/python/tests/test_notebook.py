"""The notebook of examples/ runs, and shows what it says."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import start_new_kernel

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"



def test_afternoon(tmp_path, program, monkeypatch, capsys):
    """Its cells run in a shell of this process, where tests before it have imported PyTorch, which takes seconds."""
    for name, value in {"BLOCKYARD_SERVER": program, "IPYTHONDIR": tmp_path}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr("builtins.__IPYTHON__", True, raising=False)
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    shell = InteractiveShell()
    install, *code = [c.source for c in nbformat.read(EXAMPLES / "afternoon.ipynb", 4).cells if c.cell_type == "code"]
    assert install.startswith("# Install")
    shell.run_cell(install).raise_error()
    assert capsys.readouterr() == ("", ""), "nothing is installed that is there"
    shown, trainings = [], 0
    for source in code:
        if source.startswith("seconds = 60\n"):
            source, trainings = source.replace("60", "0.1", 1).replace("num_envs=64", "num_envs=8"), trainings + 1
        done = shell.run_cell(source.replace("games=200", "games=20").replace("games=100", "games=10"))
        done.raise_error()
        shown.append(shell.display_formatter.format(done.result)[0])
    assert trainings == 1
    assert "<svg" in shown[1]["text/html"]
    assert "games   20: " in shown[4]["text/plain"]
    assert "image/svg+xml" in shown[6]
    assert "<iframe" in shown[7]["text/html"]


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
