"""Granular material: sand, gravel, grain, soil.

    import scree
    world = scree.World("sommer2022/excavator", threads=2)
    world.mechanism.controls["boom"] = 0.4
    world.step(frames=1)
    print(world.grains.position.mean(axis=0), world.bodies["bucket"].force)

World is where to begin; Scene and the classes of scree.sections make scenes; Batch steps many worlds;
scree.envs has environments for learning. docs/python.md is the manual."""
from __future__ import annotations

from scree import sections
from scree.batch import Batch
from scree.bodies import Body, Pose
from scree.errors import (ArgumentError, BusyError, ClosedError, Error, InputError, OutOfMemoryError, OutputError,
                          SimulationError, StaleViewError)
from scree.frames import Frame, Frames
from scree.pictures import save_png
from scree.scene import Parameter, Scene, methods, parameters, scenes
from scree.views import View
from scree.world import Start, World, load, version

__version__ = version()
__all__ = ["ArgumentError", "Batch", "Body", "BusyError", "ClosedError", "Error", "Frame", "Frames", "InputError",
           "OutOfMemoryError", "OutputError", "Parameter", "Pose", "Scene", "SimulationError", "StaleViewError", "Start",
           "View", "World", "load", "methods", "parameters", "save_png", "scenes", "sections", "version"]
