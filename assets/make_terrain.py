#!/usr/bin/env python3
"""Writes the heightfields of the shipped scenes as grey PNG pictures of 16 bits. Needs Python 3 alone.

python3 make_terrain.py
"""
import math
import os
import struct
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))


def png16(width, height, value):
    """A picture whose pixel (column, row from the top) is value(column, row) in 0 .. 1."""
    rows = b''
    for row in range(height):
        rows += b'\0' + b''.join(struct.pack('>H', round(65535 * min(max(value(column, row), 0), 1)))
                                 for column in range(width))

    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 16, 0, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(rows, 9)) + chunk(b'IEND', b''))


def loam_mound(width=16, height=20, cell=0.08, top=0.3):
    """A flat mound with uneven slopes of about 32 degrees, 0.28 m high, level ground along its border."""
    def value(column, row):
        border = min(column, row, width - 1 - column, height - 1 - row) * cell
        uneven = 0.02 * math.sin(1.7 * column + 0.6) * math.cos(1.3 * row)
        return (min(0.62 * border, 0.27) + (uneven if border > cell else 0)) / top
    return png16(width, height, value)


if __name__ == '__main__':
    with open(os.path.join(HERE, 'loam_mound.png'), 'wb') as f:
        f.write(loam_mound())
