"""Blender add-on: opens the output folder of a scree run as an animation.

Grains become a point cloud with their radii, colours and velocities (motion blur); boundaries and bodies become meshes that
move. A frame is read when Blender shows it, so the length of a run does not matter. Tried with Blender 3.4 of Debian 12."""
import base64
import csv
import re
import struct
import xml.etree.ElementTree as xml
from pathlib import Path

import bpy
import numpy as np
from bpy.app.handlers import persistent
from mathutils import Matrix, Quaternion, Vector

bl_info = {"name": "scree frames", "author": "scree", "version": (0, 1, 0), "blender": (3, 4, 0),
           "location": "File > Import > scree run", "category": "Import-Export",
           "description": "Opens the output folder of a scree run as animated grains and bodies"}

ROW = np.dtype([(name, "<f4") for name in ("x", "y", "z", "vx", "vy", "vz", "radius")] + [("id", "<u4"), ("material", "u1")])
SAND = (0.85, 0.70, 0.45)


# ---- files

def read_ply(path):
    """The rows of a frame."""
    data = path.read_bytes()
    head, mark, body = data.partition(b"end_header\n")
    count = re.search(rb"element vertex (\d+)", head)
    if not mark or not count or b"binary_little_endian" not in head or len(body) < int(count[1]) * ROW.itemsize:
        raise ValueError(f"{path}: is no frame of scree")
    return np.frombuffer(body, ROW, int(count[1]))


def read_vtp(path):
    """Arrays of a VTP file by name."""
    kinds = {"Float32": "<f4", "Int32": "<i4", "Int64": "<i8", "UInt32": "<u4", "UInt8": "u1"}
    arrays = {}
    for array in xml.parse(path).getroot().iter("DataArray"):
        if array.get("format") != "binary":
            continue
        data = base64.b64decode(array.text)
        size = struct.unpack_from("<Q", data)[0]
        values = np.frombuffer(data, kinds[array.get("type")], offset=8, count=size // np.dtype(kinds[array.get("type")]).itemsize)
        parts = int(array.get("NumberOfComponents", 1))
        arrays[array.get("Name")] = values.reshape(-1, parts) if parts > 1 else values
    return arrays


def read_compact(path):
    """Positions, velocities, radii and materials of a compact frame: see docs/output.md."""
    data = path.read_bytes()
    if len(data) < 64 or data[:8] != b"\x89scree\r\n":
        raise ValueError(f"{path}: is no compact frame of scree")
    version, columns, count, blocks, _, step, radii, _, size = struct.unpack_from("<IIQQddIIQ", data, 8)
    extra = (4 if columns & 1 else 0) + (4 if columns & 2 else 0)
    if version != 1 or size != len(data) or size != 64 + 4 * radii + 16 * blocks + (8 + extra) * count:
        raise ValueError(f"{path}: is damaged, or of a later version")
    radius = np.frombuffer(data, "<f4", radii, 64)
    table = np.frombuffer(data, [("corner", "<i4", 3), ("count", "<u4")], blocks, 64 + 4 * radii)
    at = 64 + 4 * radii + 16 * blocks
    places = np.frombuffer(data, [("at", "<u2", 3), ("material", "u1"), ("radius", "u1")], count, at)
    if table["count"].sum(dtype=np.uint64) != count or (count and places["radius"].max() >= radii):
        raise ValueError(f"{path}: is damaged")
    corners = np.repeat(table["corner"].astype(np.float64) * 65536, table["count"], axis=0)
    velocities = np.zeros((count, 3), np.float32)
    if columns & 1:
        packed = np.frombuffer(data, "<i4", count, at + 8 * count)
        scale = np.exp2((packed >> 27 & 31).astype(np.float32) - 23)
        for k in range(3):
            velocities[:, k] = (packed << (23 - 9 * k) >> 23) * scale  # nine bits with their sign
    return (corners + places["at"]) * step, velocities, radius[places["radius"]], places["material"]


def read_grains(path):
    """Positions, velocities, radii and materials of a frame."""
    if path.suffix == ".compact":
        return read_compact(path)
    if path.suffix == ".ply":
        rows = read_ply(path)
        return (np.stack([rows["x"], rows["y"], rows["z"]], 1), np.stack([rows["vx"], rows["vy"], rows["vz"]], 1),
                rows["radius"], rows["material"])
    arrays = read_vtp(path)
    return arrays["points"], arrays["velocity"], arrays["radius"], arrays["material"]


def frame_files(folder, kind):
    """Number and file of every frame of a kind; PLY before VTP before compact ones where several are there."""
    found = {}
    for suffix in ("compact", "vtp", "ply"):
        for path in folder.glob(f"{kind}_*.{suffix}"):
            number = path.stem.rpartition("_")[2]
            if number.isdigit():
                found[int(number)] = path
    return found


def material_colors(folder):
    """Colours of the materials, in the order of their numbers, and the frame rate: from scene.yaml as scree writes it."""
    try:
        text = (folder / "scene.yaml").read_text()
    except OSError:
        return [SAND], 60.0
    block = re.search(r"^materials:\n((?:[ \t].*\n)*)", text, re.M)
    colors = [tuple(float(part) for part in match.split(",")) for match in
              re.findall(r"color: \[([^\]]*)\]", block[1] if block else "")]
    rate = re.search(r"^frame_rate: (\S+)", text, re.M)
    return colors or [SAND], float(rate[1]) if rate else 60.0


def body_poses(folder):
    """Frame to the poses of the bodies, in their order."""
    poses = {}
    path = folder / "bodies.csv"
    if path.exists():
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                place = Matrix.Translation(Vector([float(row[key]) for key in "xyz"]))
                turn = Quaternion([float(row[key]) for key in ("qw", "qx", "qy", "qz")]).to_matrix().to_4x4()
                poses.setdefault(int(row["frame"]), []).append((row["name"], place @ turn))
    return poses


# ---- objects

def to_linear(color):
    """sRGB to what Blender computes with."""
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]


def make_material(name, attribute=None, color=SAND, glass=False):
    """A rough surface, coloured by an attribute or one colour; or thin glass."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = nodes["Principled BSDF"]
    shader.inputs["Roughness"].default_value = 0.8 if not glass else 0.1
    if glass:
        shader.inputs["Alpha"].default_value = 0.08
        material.blend_method = "BLEND"
    if attribute:
        node = nodes.new("ShaderNodeAttribute")
        node.attribute_name = attribute
        links.new(node.outputs["Color"], shader.inputs["Base Color"])
    else:
        shader.inputs["Base Color"].default_value = (*to_linear(color), 1)
    return material


def point_nodes(material):
    """Geometry nodes that turn the vertices into points of their radius."""
    group = bpy.data.node_groups.new("scree points", "GeometryNodeTree")
    group.inputs.new("NodeSocketGeometry", "Geometry")
    group.outputs.new("NodeSocketGeometry", "Geometry")
    nodes, links = group.nodes, group.links
    source, sink = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    points, radius = nodes.new("GeometryNodeMeshToPoints"), nodes.new("GeometryNodeInputNamedAttribute")
    radius.data_type = "FLOAT"
    radius.inputs["Name"].default_value = "radius"
    paint = nodes.new("GeometryNodeSetMaterial")
    paint.inputs["Material"].default_value = material
    links.new(source.outputs[0], points.inputs["Mesh"])
    links.new(next(output for output in radius.outputs if output.enabled), points.inputs["Radius"])
    links.new(points.outputs[0], paint.inputs["Geometry"])
    links.new(paint.outputs[0], sink.inputs[0])
    return group


def fill_mesh(mesh, folder, kind, frame):
    """Puts the grains of a frame into the mesh: vertices with radius, velocity and colour."""
    files = frame_files(folder, kind)
    if not files:
        return 0
    number = max((n for n in files if n <= frame), default=min(files))
    positions, velocities, radii, materials = read_grains(files[number])
    colors, _ = material_colors(folder)
    table = np.array([[*to_linear(color), 1] for color in colors], np.float32)
    mesh.clear_geometry()
    mesh.vertices.add(len(positions))
    mesh.vertices.foreach_set("co", np.ascontiguousarray(positions, np.float32).ravel())
    for name, kind_of, values in [("radius", "FLOAT", radii), ("velocity", "FLOAT_VECTOR", velocities),
                                  ("tint", "FLOAT_COLOR", table[np.minimum(materials, len(table) - 1)])]:
        attribute = mesh.attributes.get(name) or mesh.attributes.new(name, kind_of, "POINT")
        field = {"FLOAT": "value", "FLOAT_VECTOR": "vector", "FLOAT_COLOR": "color"}[kind_of]
        attribute.data.foreach_set(field, np.ascontiguousarray(values, np.float32).ravel())
    mesh.update()
    return len(positions)


def add_solids(folder, collection):
    """Boundaries and bodies of bodies_000000.vtp, bodies with keyframes from bodies.csv. Returns how many."""
    files = frame_files(folder, "bodies")
    if not files:
        return 0
    first = min(files)
    arrays, poses = read_vtp(files[first]), body_poses(folder)
    triangles, owners = arrays["connectivity"].reshape(-1, 3), arrays["body"]
    rows = poses.get(first, [])
    numbers = sorted(set(owners.tolist()))
    boundaries = max(numbers[-1] - len(rows), 0) if numbers else 0
    painted = make_material("scree bodies", color=(0.9, 0.65, 0.15))
    glass = make_material("scree boundaries", glass=True)
    for number in numbers:
        corners = triangles[owners == number]
        used, faces = np.unique(corners, return_inverse=True)
        points = arrays["points"][used].astype(float)
        body = number - boundaries - 1
        is_body = 0 <= body < len(rows)
        name, pose = rows[body] if is_body else (f"boundary {number}" if number else "terrain", Matrix())
        inverse = np.array(pose.inverted())
        local = points @ inverse[:3, :3].T + inverse[:3, 3]
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(local.tolist(), [], faces.reshape(-1, 3).tolist())
        mesh.materials.append(painted if is_body else glass)
        shape = bpy.data.objects.new(name, mesh)
        shape.rotation_mode = "QUATERNION"
        collection.objects.link(shape)
        if is_body:
            for frame in sorted(poses):
                shape.matrix_world = poses[frame][body][1]
                for path in ("location", "rotation_quaternion"):
                    shape.keyframe_insert(path, frame=frame)
            for curve in shape.animation_data.action.fcurves:
                for key in curve.keyframe_points:
                    key.interpolation = "LINEAR"
    return len(numbers)


def load_run(folder):
    """Makes a collection of the run in the scene, and returns it."""
    folder = Path(bpy.path.abspath(str(folder))).resolve()
    kind = "grains" if frame_files(folder, "grains") else "coarse"
    files = frame_files(folder, kind)
    if not files:
        raise ValueError(f"{folder}: there are no frames (coarse_000000.ply, .vtp or .compact ...)")
    collection = bpy.data.collections.new(folder.name)
    bpy.context.scene.collection.children.link(collection)
    mesh = bpy.data.meshes.new("grains")
    mesh["scree_folder"], mesh["scree_kind"] = str(folder), kind
    fill_mesh(mesh, folder, kind, min(files))
    grains = bpy.data.objects.new("grains", mesh)
    modifier = grains.modifiers.new("scree points", "NODES")
    modifier.node_group = point_nodes(make_material("scree grains", "tint"))
    collection.objects.link(grains)
    add_solids(folder, collection)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = min(files), max(files)
    rate = material_colors(folder)[1]
    scene.render.fps, scene.render.fps_base = max(round(rate), 1), max(round(rate), 1) / rate
    if show_frame not in bpy.app.handlers.frame_change_pre:
        bpy.app.handlers.frame_change_pre.append(show_frame)
    scene.frame_set(scene.frame_start)
    return collection


@persistent
def show_frame(scene, _=None):
    """Reads the frame that is shown now, for every run that is open."""
    for mesh in bpy.data.meshes:
        if "scree_folder" in mesh:
            fill_mesh(mesh, Path(mesh["scree_folder"]), mesh["scree_kind"], scene.frame_current)


# ---- menu

class ImportScreeRun(bpy.types.Operator):
    """Open the output folder of a scree run"""
    bl_idname = "import_scene.scree_run"
    bl_label = "scree run"
    bl_options = {"REGISTER", "UNDO"}
    directory: bpy.props.StringProperty(subtype="DIR_PATH")

    def invoke(self, context, event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        try:
            load_run(self.directory)
        except (OSError, ValueError) as trouble:
            self.report({"ERROR"}, str(trouble))
            return {"CANCELLED"}
        return {"FINISHED"}


def menu_entry(menu, _):
    """In File > Import."""
    menu.layout.operator(ImportScreeRun.bl_idname, text="scree run (folder)")


def register():
    bpy.utils.register_class(ImportScreeRun)
    bpy.types.TOPBAR_MT_file_import.append(menu_entry)
    if show_frame not in bpy.app.handlers.frame_change_pre:
        bpy.app.handlers.frame_change_pre.append(show_frame)


def unregister():
    bpy.types.TOPBAR_MT_file_import.remove(menu_entry)
    bpy.utils.unregister_class(ImportScreeRun)
    if show_frame in bpy.app.handlers.frame_change_pre:
        bpy.app.handlers.frame_change_pre.remove(show_frame)


if __name__ == "__main__":
    register()
