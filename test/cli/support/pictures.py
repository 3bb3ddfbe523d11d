"""Reading PNG files, as far as scree writes them: 8-bit RGB, not interlaced (standard library only)."""
import struct
import zlib


def read_png(path):
    """(width, height, rows of bytes)"""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed, head = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        at += size + 12
    width, height, depth, color, _, _, interlace = head
    assert (depth, color, interlace) == (8, 2, 0), head
    raw, stride, rows, above = zlib.decompress(packed), 3 * width, [], bytes(3 * width)
    for y in range(height):
        kind = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left, up = row[x - 3] if x >= 3 else 0, above[x]
            corner = above[x - 3] if x >= 3 else 0
            if kind == 1:
                row[x] = (row[x] + left) & 255
            elif kind == 2:
                row[x] = (row[x] + up) & 255
            elif kind == 3:
                row[x] = (row[x] + (left + up) // 2) & 255
            elif kind == 4:
                guess = left + up - corner
                near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
                row[x] = (row[x] + near[2]) & 255
        rows.append(bytes(row))
        above = rows[-1]
    return width, height, rows


def differing(a, b, tolerance=24):
    """How many pixels of two pictures of one size differ clearly."""
    assert a[:2] == b[:2], (a[:2], b[:2])
    return sum(any(abs(one[x + c] - two[x + c]) > tolerance for c in range(3))
               for one, two in zip(a[2], b[2]) for x in range(0, 3 * a[0], 3))


def block_means(picture, side):
    """Mean red, green and blue of the blocks of side x side pixels, one after the other."""
    width, height, rows = picture
    means = []
    for top in range(0, height, side):
        band = rows[top:top + side]
        for left in range(0, width, side):
            for c in range(3):
                values = [row[x] for row in band for x in range(3 * left + c, 3 * min(left + side, width), 3)]
                means.append(sum(values) / len(values))
    return means
