"""How fast a batch is: 64 worlds of 2,000 pbd grains with a blade, against one world on one thread.

    python batch_speed.py [WORLDS] [FRAMES]

Two ratios are printed: of world-frames per second of wall time (worth something on a quiet machine only) and of the time
that the processor spends on a frame, which says what is lost besides waiting."""
import os
import sys
import time

import numpy as np

import scree

SCENE = {
    "frame_rate": 60, "method": {"name": "pbd", "radius": 0.0194},
    "materials": {"soil": {"friction_static": 0.4, "friction_kinetic": 0.35}},
    "grains": [{"fill": {"box": {"min": [-0.6, -0.2, 0], "max": [0.6, 0.2, 0.24]}}, "start": "dense"}],
    "boundaries": [{"name": "bin", "box": {"min": [-0.6, -0.2, 0], "max": [0.6, 0.2, 1]}, "inside": True}],
    "bodies": [{"name": "blade", "box": {"size": [0.04, 0.3, 0.2]}, "motion": "fixed", "position": [-0.5, 0, 0.4]}],
}


def path(frame):
    """Lowered, then drawn."""
    return [-0.5 + 0.3 * max(frame - 20, 0) / 60, 0, 0.4 - 0.01 * min(frame, 20)]


def timed(step, frames):
    """Frames per second of wall time, and of the processor's."""
    wall, processor = time.perf_counter(), time.process_time()
    for frame in range(frames):
        step(path(frame))
    return np.array([frames / (time.perf_counter() - wall), frames / (time.process_time() - processor)])


def one(frames):
    """One world on one thread."""
    with scree.World(SCENE, threads=1) as world:
        def step(place):
            world.bodies["blade"].target = place
            world.step()
        return len(world.grains), timed(step, frames)


def many(n, frames):
    """A batch on all cores: frames per second of all worlds together, memory, and what a reset takes."""
    with scree.Batch(SCENE, n) as batch:
        def step(place):
            batch.set_target("blade", np.tile(place, (n, 1)))
            batch.step()
        rate = n * timed(step, frames)
        began = time.process_time()
        for i in range(n):
            batch.reset(i)
        return rate, batch.memory.mean(), (time.process_time() - began) / n


def main(n=64, frames=40):
    cores = len(os.sched_getaffinity(0))
    grains, before = one(frames)
    together, memory, reset = many(n, frames)
    alone = (before + one(frames)[1]) / 2
    print(f"{grains} grains; one world {alone[0]:.0f} frames/s of wall time, {alone[1]:.0f} of the processor's")
    print(f"{n} worlds on {cores} cores: {together[0]:.0f} and {together[1]:.0f} world-frames/s; of {cores} times one: "
          f"{together[0] / (cores * alone[0]):.3f} by wall time, {together[1] / alone[1]:.3f} by the processor's")
    print(f"{memory / 2**20:.2f} MB a world; a reset takes {1e3 * reset:.3f} ms; load of the machine {os.getloadavg()[0]:.1f}")
    return together[1] / alone[1], reset


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
