"""Environments for learning: Dig and Level, and DigVector and LevelVector, which step many side by side.

They have the shape of Gymnasium (reset, step, observation_space, action_space). Where gymnasium is installed they are
registered as scree/Dig-v0 and scree/Level-v0; without it they work as well."""
from scree.envs.dig import Dig, DigVector
from scree.envs.level import Level, LevelVector

__all__ = ["Dig", "DigVector", "Level", "LevelVector"]

try:
    import gymnasium
except ImportError:
    pass
else:
    gymnasium.register("scree/Dig-v0", entry_point=Dig, vector_entry_point=DigVector)
    gymnasium.register("scree/Level-v0", entry_point=Level, vector_entry_point=LevelVector)
