"""Renders a frame of an excavator in Blender without a screen and looks at it: `make test-blender`.

    blender -b --factory-startup --python python/blender/test_blender.py -- FOLDER PICTURE

FOLDER is the run, exported with --format vtp; FOLDER/compact has its grains in compact frames."""
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import scree_frames  # noqa: E402

FRAME = 90


def look_at(camera, eye, target):
    """Places the camera."""
    camera.location = eye
    camera.rotation_euler = (Vector(target) - Vector(eye)).to_track_quat("-Z", "Y").to_euler()


def add_light_and_floor(scene):
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    look_at(camera, (2.9, -3.4, 1.9), (0.8, 0.1, 0.4))
    camera.data.lens = 45
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.rotation_euler = 3.5, (0.7, -0.2, 0.4)
    floor = bpy.data.meshes.new("floor")
    floor.from_pydata([(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], [], [(0, 1, 2, 3)])
    floor.materials.append(scree_frames.make_material("floor", color=(0.55, 0.55, 0.55)))
    for thing in (camera, sun, bpy.data.objects.new("floor", floor)):
        scene.collection.objects.link(thing)
    scene.camera = camera
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.45, 0.55, 0.7, 1)


def check_points(folder, name):
    """The vertices of an object are the grains of the file: places, radii, velocities."""
    positions, velocities, radii, _ = scree_frames.read_grains(scree_frames.frame_files(folder, "grains")[FRAME])
    mesh = bpy.data.objects[name].data
    assert len(mesh.vertices) == len(positions), (len(mesh.vertices), len(positions))
    values = np.empty(len(positions), np.float32)
    mesh.attributes["radius"].data.foreach_get("value", values)
    assert np.array_equal(values, radii)
    vectors = np.empty(3 * len(positions), np.float32)
    mesh.attributes["velocity"].data.foreach_get("vector", vectors)
    assert np.array_equal(vectors.reshape(-1, 3), velocities)
    mesh.vertices.foreach_get("co", vectors)
    assert np.array_equal(vectors.reshape(-1, 3), np.float32(positions))


def check_bodies(folder):
    """Bodies are where bodies.csv has them in this frame."""
    for name, pose in scree_frames.body_poses(folder)[FRAME]:
        placed = bpy.data.objects[name].matrix_world
        assert max(abs(a - b) for row, other in zip(placed, pose) for a, b in zip(row, other)) < 1e-4, name


def look(path):
    """Sand and yellow paint are in the picture."""
    image = bpy.data.images.load(str(path))
    pixels = np.array(image.pixels[:]).reshape(-1, 4)[:, :3]
    sand = (pixels[:, 0] > 1.15 * pixels[:, 2]) & (pixels[:, 0] > 0.25)
    assert 0.05 < sand.mean() < 0.6, sand.mean()
    assert pixels.std() > 0.08, pixels.std()
    print(f"the picture has {100 * sand.mean():.1f} % sand and paint, deviation {pixels.std():.3f}")


def main(folder, picture):
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    scene = bpy.context.scene
    scree_frames.register()
    assert bpy.ops.import_scene.scree_run(directory=str(folder)) == {"FINISHED"}
    add_light_and_floor(scene)
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 16, False
    scene.render.use_motion_blur = True
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 640, 360, 100
    scene.frame_set(FRAME)
    check_points(folder, "grains")
    check_bodies(folder)
    scene.render.filepath = str(picture)
    bpy.ops.render.render(write_still=True)
    look(picture)
    assert bpy.ops.import_scene.scree_run(directory=str(folder / "compact")) == {"FINISHED"}
    scene.frame_set(FRAME)
    check_points(folder / "compact", "grains.001")
    centers = [np.mean(scree_frames.read_grains(scree_frames.frame_files(place, "grains")[FRAME])[0], axis=0)
               for place in (folder, folder / "compact")]
    assert np.abs(centers[0] - centers[1]).max() < 1e-5, centers
    scree_frames.unregister()
    print("blender: passed")


if __name__ == "__main__":
    words = sys.argv[sys.argv.index("--") + 1:]
    main(Path(words[0]), Path(words[1]))
