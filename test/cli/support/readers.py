"""Readers of what scree writes, made from the description of the formats alone (standard library only)."""
import base64
import csv
import struct
import xml.etree.ElementTree as xml

PLY_TYPES = {"float": "f", "double": "d", "uint": "I", "int": "i", "uchar": "B"}
COLUMNS = ["x", "y", "z", "vx", "vy", "vz", "radius", "id", "material"]


def read_ply(path):
    """(list of (element, count, [(type, name)]), bytes after the header)"""
    with open(path, "rb") as file:
        data = file.read()
    end = data.index(b"end_header\n") + len(b"end_header\n")
    lines = data[:end].decode("ascii").split("\n")
    assert lines[0] == "ply" and "format binary_little_endian 1.0" in lines, lines
    elements = []
    for line in lines:
        words = line.split()
        if words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"]:
            elements[-1][2].append((words[1:-1], words[-1]))
    return elements, data[end:]


def read_frame(path):
    """Rows of a frame as tuples, after checking that the columns are exactly the promised ones."""
    elements, body = read_ply(path)
    assert len(elements) == 1 and elements[0][0] == "vertex", elements
    count, properties = elements[0][1], elements[0][2]
    assert [name for _, name in properties] == COLUMNS, properties
    assert [kind[0] for kind, _ in properties] == ["float"] * 7 + ["uint", "uchar"], properties
    row = struct.Struct("<" + "".join(PLY_TYPES[kind[0]] for kind, _ in properties))
    assert row.size == 33 and len(body) == count * row.size, (row.size, len(body), count)
    return list(row.iter_unpack(body))


def decode(array, code):
    data = base64.b64decode(array.text)
    (size,) = struct.unpack_from("<Q", data)
    assert size == len(data) - 8, (size, len(data))
    return [value for (value,) in struct.iter_unpack("<" + code, data[8:])]


def read_vtp(path):
    """The rows of a VTP frame in the order of the PLY columns."""
    root = xml.parse(path).getroot()
    assert root.attrib["type"] == "PolyData" and root.attrib["byte_order"] == "LittleEndian"
    piece = root.find("PolyData/Piece")
    count = int(piece.attrib["NumberOfPoints"])
    points = decode(piece.find("Points/DataArray"), "f")
    arrays = {array.attrib["Name"]: array for array in piece.findall("PointData/DataArray")}
    velocity = decode(arrays["velocity"], "f")
    radius, ids = decode(arrays["radius"], "f"), decode(arrays["id"], "I")
    material = decode(arrays["material"], "B")
    cells = {array.attrib["Name"]: decode(array, "q") for array in piece.findall("Verts/DataArray")}
    assert cells["connectivity"] == list(range(count)) and cells["offsets"] == ([count] if count else [])
    return [tuple(points[3 * i:3 * i + 3] + velocity[3 * i:3 * i + 3] + [radius[i], ids[i], material[i]])
            for i in range(count)]


def read_compact(path):
    """(columns that it has, rows of a compact frame in the order of the PLY columns): velocities 0 and ids None where it
    has none; positions as doubles."""
    with open(path, "rb") as file:
        data = file.read()
    magic, version, flags, count, blocks, _, step, radii, zero, size = struct.unpack_from("<8sIIQQddIIQ", data)
    assert magic == b"\x89scree\r\n" and version == 1 and zero == 0 and size == len(data), data[:64]
    radius = struct.unpack_from(f"<{radii}f", data, 64)
    table = [struct.unpack_from("<iiiI", data, 64 + 4 * radii + 16 * k) for k in range(blocks)]
    assert sorted(table, key=lambda block: block[2::-1]) == table and sum(block[3] for block in table) == count
    at = 64 + 4 * radii + 16 * blocks
    places = list(struct.iter_unpack("<HHHBB", data[at:at + 8 * count]))
    at += 8 * count
    velocities = struct.unpack_from(f"<{count}I", data, at) if flags & 1 else [0] * count
    at += 4 * count if flags & 1 else 0
    ids = struct.unpack_from(f"<{count}I", data, at) if flags & 2 else [None] * count
    assert at + (4 * count if flags & 2 else 0) == len(data)
    rows, corners = [], [block[:3] for block in table for _ in range(block[3])]
    for corner, place, packed, who in zip(corners, places, velocities, ids):
        parts = [packed >> 9 * k & 511 for k in range(3)]
        scale = 2.0 ** ((packed >> 27) - 23)
        rows.append((*[(65536 * corner[k] + place[k]) * step for k in range(3)],
                     *[(part - 512 if part > 255 else part) * scale for part in parts], radius[place[4]], who, place[3]))
    return flags, rows


def read_csv(path):
    """(header, rows)"""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]
