"""The opponents of a pool's games."""

from __future__ import annotations

from ..errors import BlockyardError
from ..formats.opponents import Opponents, OpponentStats
from ..vector.env import BlockVectorEnv


class PoolOpponents:
    """The part of BlockPool for the seats that the servers play."""

    envs: list[BlockVectorEnv]

    def _settle(self) -> None:
        """With ``heal``, receive all games in flight, so that the order of all that changes them is known."""
        raise NotImplementedError

    @property
    def opponent_specs(self) -> tuple[str, ...]:
        """The opponents so far, indexed by ``infos["opponent"]``; as :attr:`BlockVectorEnv.opponent_specs`."""
        return self.envs[0].opponent_specs

    def set_opponents(self, opponents: Opponents) -> None:
        """Replace opponents from the next episode of each game on; as :meth:`BlockVectorEnv.set_opponents`.

        It waits for the games that are being stepped, and may be called at any time.

        Raises:
            BlockyardError: one of several servers has refused what others have accepted: create a new pool.
            RequestError, LimitError, TypeError, ValueError, OSError: as in :meth:`BlockVectorEnv.set_opponents`;
                nothing has changed.
        """
        self._settle()
        for k, env in enumerate(self.envs):
            try:
                env.set_opponents(opponents)
            except Exception as error:
                if not k:
                    raise
                raise BlockyardError(
                    f"set_opponents: server {k + 1} of {len(self.envs)} refuses what those before have accepted: "
                    f"create a new pool; {error}"
                ) from error

    def opponent_stats(self, *, reset: bool = False) -> dict[str, OpponentStats]:
        """Return the results against each opponent in all games; as :meth:`BlockVectorEnv.opponent_stats`."""
        all_stats = [env.opponent_stats(reset=reset) for env in self.envs]
        return {name: sum((stats[name] for stats in all_stats), OpponentStats()) for name in all_stats[0]}
