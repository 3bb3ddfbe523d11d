#!/usr/bin/python3
"""Make the meshes, machines and control files of this folder.

    make_assets.py            write every file beside this script
    make_assets.py --check    make everything in memory, compare with the files
                              on disk, check that every mesh is closed, print
                              volumes and estimated numbers of grains
    make_assets.py --list     print the table of meshes (for README.md)

Metres, kilograms, seconds, radians; z up; right-handed. Every mesh is closed
and its triangles run counter-clockwise seen from outside. Nothing here depends
on anything but Python and numpy, and the output is the same on every run.

How the shapes are made
  Complex   a planar subdivision times a list of levels: cells are filled or
            empty layer by layer, and the surface between filled and empty is
            the mesh. Cells share vertices, so the surface is closed without
            any boolean operation, and hollow things (buckets, truck beds) are
            one surface with real walls.
  revolve   a profile turned about the z axis.
  prism     a polygon extruded along y; simple machine parts.
  contour   the zero level of a distance function, by surface nets.
"""
import math
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DEG = math.pi / 180


# ---------------------------------------------------------------- meshes ----

class Mesh:
    """Vertices (n,3), triangles (m,3)."""

    def __init__(self, verts, tris):
        self.v = np.asarray(verts, float).reshape(-1, 3)
        self.t = np.asarray(tris, int).reshape(-1, 3)

    def moved(self, offset):
        return Mesh(self.v + np.asarray(offset, float), self.t)

    def scaled(self, factor):
        return Mesh(self.v * factor, self.t)

    def volume(self):
        a, b, c = (self.v[self.t[:, k]] for k in range(3))
        return float(np.einsum('ij,ij->i', a, np.cross(b, c)).sum() / 6)

    def area(self):
        a, b, c = (self.v[self.t[:, k]] for k in range(3))
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)

    def edges(self):
        """(unpaired half-edges, edges with more than two triangles)."""
        count = {}
        for t in self.t.tolist():
            for k in range(3):
                e = (t[k], t[(k + 1) % 3])
                count[e] = count.get(e, 0) + 1
        bad = sum(abs(n - count.get((b, a), 0)) for (a, b), n in count.items())
        return bad, sum(1 for n in count.values() if n > 1)

    def parts(self):
        """Number of connected components."""
        root = list(range(len(self.v)))

        def find(i):
            while root[i] != i:
                root[i] = root[root[i]]
                i = root[i]
            return i
        for a, b, c in self.t.tolist():
            root[find(a)] = find(b)
            root[find(b)] = find(c)
        return len({find(a) for a in self.t[:, 0].tolist()})


def join(*meshes):
    """Several closed parts in one mesh; where they overlap the winding number is 2."""
    verts, tris, base = [], [], 0
    for m in meshes:
        verts.append(m.v)
        tris.append(m.t + base)
        base += len(m.v)
    return Mesh(np.vstack(verts), np.vstack(tris))


def obj_text(mesh, title):
    """Wavefront OBJ; coordinates to a hundredth of a millimetre."""
    out = ['# ' + title]
    for x, y, z in mesh.v:
        out.append('v ' + ' '.join(number(c, 5) for c in (x, y, z)))
    for a, b, c in mesh.t.tolist():
        out.append('f %d %d %d' % (a + 1, b + 1, c + 1))
    return '\n'.join(out) + '\n'


def number(x, places):
    s = ('%.*f' % (places, x)).rstrip('0').rstrip('.')
    return '0' if s in ('-0', '') else s


# ------------------------------------------------------------- polygons -----

def signed_area(p):
    p = np.asarray(p, float)
    q = np.roll(p, -1, axis=0)
    return 0.5 * float((p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]).sum())


def ear_clip(p):
    """Triangulate a simple counter-clockwise polygon; returns index triples."""
    p = [tuple(map(float, q)) for q in p]
    idx, out = list(range(len(p))), []

    def cross(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    while len(idx) > 3:
        best, best_q = None, -1.0
        n = len(idx)
        for k in range(n):
            i, j, l = idx[k - 1], idx[k], idx[(k + 1) % n]
            a, b, c = p[i], p[j], p[l]
            area = cross(a, b, c)
            if area <= 1e-12:
                continue
            if any(m not in (i, j, l) and cross(a, b, p[m]) >= -1e-12 and cross(b, c, p[m]) >= -1e-12
                   and cross(c, a, p[m]) >= -1e-12 for m in idx):
                continue
            # the best-shaped ear first: area over its longest side squared
            q = area / max((a[0] - b[0])**2 + (a[1] - b[1])**2, (b[0] - c[0])**2 + (b[1] - c[1])**2,
                           (c[0] - a[0])**2 + (c[1] - a[1])**2)
            if q > best_q:
                best, best_q = k, q
        if best is None:
            raise ValueError('polygon is not simple: %r' % (p,))
        out.append((idx[best - 1], idx[best], idx[(best + 1) % n]))
        del idx[best]
    out.append(tuple(idx))
    return out


def offset_line(p, d):
    """Open polyline moved by d to its left, mitred at the corners."""
    p = np.asarray(p, float)
    t = p[1:] - p[:-1]
    t /= np.linalg.norm(t, axis=1)[:, None]
    n = np.stack([-t[:, 1], t[:, 0]], axis=1)
    out = [p[0] + d * n[0]]
    for i in range(1, len(p) - 1):
        m = n[i - 1] + n[i]
        out.append(p[i] + d * m * 2 / float(m @ m))
    out.append(p[-1] + d * n[-1])
    return np.array(out)


# -------------------------------------------------------------- Complex -----

class Complex:
    """Cells of a planar subdivision, filled between given levels.

    cell(loop, intervals) adds a polygon filled for the given [(low, high)].
    Polygons must share whole edges with their neighbours. `place(i, level)`
    says where the plan's point i lies at a level; by default (x, y, level).
    """

    def __init__(self):
        self.points, self.index, self.cells, self.anchor = [], {}, [], []

    def point(self, x, y, anchor=None):
        key = (round(x * 1e5), round(y * 1e5))
        if key not in self.index:
            self.index[key] = len(self.points)
            self.points.append((x, y))
            self.anchor.append((x, y) if anchor is None else anchor)
        return self.index[key]

    def cell(self, loop, intervals):
        loop = [i if isinstance(i, (int, np.integer)) else self.point(*i) for i in loop]
        if signed_area([self.points[i] for i in loop]) < 0:
            loop = loop[::-1]
        self.cells.append((loop, list(intervals)))

    def mesh(self, place=None):
        place = place or (lambda i, z: (self.points[i][0], self.points[i][1], z))
        levels = sorted({round(z, 6) for _, iv in self.cells for pair in iv for z in pair})
        layers = len(levels) - 1
        mid = [(levels[k] + levels[k + 1]) / 2 for k in range(layers)]
        filled = [[any(a < m < b for a, b in iv) for m in mid] for _, iv in self.cells]
        owner = {}
        for c, (loop, _) in enumerate(self.cells):
            for a, b in zip(loop, loop[1:] + loop[:1]):
                if (a, b) in owner:
                    raise ValueError('cells overlap at %r' % (self.points[a],))
                owner[a, b] = c
        verts, ids, tris = [], {}, []

        def vert(i, k):
            if (i, k) not in ids:
                ids[i, k] = len(verts)
                verts.append(place(i, levels[k]))
            return ids[i, k]
        for c, (loop, _) in enumerate(self.cells):
            ears = ear_clip([self.points[i] for i in loop])
            for k in range(layers):
                if not filled[c][k]:
                    continue
                if k == 0 or not filled[c][k - 1]:
                    tris += [[vert(loop[i], k) for i in reversed(e)] for e in ears]
                if k == layers - 1 or not filled[c][k + 1]:
                    tris += [[vert(loop[i], k + 1) for i in e] for e in ears]
                for a, b in zip(loop, loop[1:] + loop[:1]):
                    n = owner.get((b, a))
                    if n is None or not filled[n][k]:
                        p, q, r, s = vert(a, k), vert(b, k), vert(b, k + 1), vert(a, k + 1)
                        tris += [[p, q, r], [p, r, s]]
        return Mesh(verts, tris)

    def mesh_along_y(self):
        """The plan is (x, z); levels run along -y, which keeps it right-handed."""
        return self.mesh(lambda i, w: (self.points[i][0], -w, self.points[i][1]))


def prism(profile, y0, y1):
    """Polygon in (x, z), extruded from y0 to y1."""
    c = Complex()
    c.cell(profile, [(-y1, -y0)])
    return c.mesh_along_y()


def box(lo, hi):
    return prism([(lo[0], lo[2]), (hi[0], lo[2]), (hi[0], hi[2]), (lo[0], hi[2])], lo[1], hi[1])


def circle(x, z, r, n, start=0.0):
    return [(x + r * math.cos(start + 2 * math.pi * k / n), z + r * math.sin(start + 2 * math.pi * k / n))
            for k in range(n)]


def disc_y(x, z, r, y0, y1, n=24):
    """Cylinder whose axis runs along y."""
    return prism(circle(x, z, r, n, math.pi / n), y0, y1)


def tube(a, b, r, n=12):
    """Solid cylinder from a to b."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    w = (b - a) / np.linalg.norm(b - a)
    u = np.cross(w, [0, 1, 0] if abs(w[1]) < 0.9 else [1, 0, 0])
    u /= np.linalg.norm(u)
    s = np.cross(w, u)
    ring = [r * (math.cos(2 * math.pi * k / n) * u + math.sin(2 * math.pi * k / n) * s) for k in range(n)]
    verts = [a + q for q in ring] + [b + q for q in ring]
    tris = []
    for k in range(n):
        l = (k + 1) % n
        tris += [[k, l, n + l], [k, n + l, n + k]]
    for k in range(1, n - 1):
        tris += [[0, k + 1, k], [n, n + k, n + k + 1]]
    return Mesh(verts, tris)


def circles(profile, n):
    """n points round the z axis for each (radius, z)."""
    return [(r * math.cos(2 * math.pi * k / n), r * math.sin(2 * math.pi * k / n), z)
            for r, z in profile for k in range(n)]


def band(a, b, n, row, k):
    """The two triangles behind point k, between the circles whose first points are a and b."""
    l = (k + 1) % n
    # alternate the diagonal: the mesh gets no preferred twist
    if (row + k) % 2:
        return [[a + k, a + l, b + l], [a + k, b + l, b + k]]
    return [[a + k, a + l, b + k], [a + l, b + l, b + k]]


def revolve(profile, n):
    """Profile [(radius, z)] from the lower pole to the upper, both at radius 0."""
    inner = profile[1:-1]
    verts = [(0, 0, profile[0][1])] + circles(inner, n) + [(0, 0, profile[-1][1])]
    top, last, tris = len(verts) - 1, 1 + (len(inner) - 1) * n, []
    for k in range(n):
        tris.append([0, 1 + (k + 1) % n, 1 + k])
        for i in range(len(inner) - 1):
            tris += band(1 + i * n, 1 + (i + 1) * n, n, i, k)
        tris.append([last + k, last + (k + 1) % n, top])
    return Mesh(verts, tris)


def ring(profile, n):
    """Closed profile [(radius, z)], counter-clockwise with the radius to the right."""
    rows = len(profile)
    return Mesh(circles(profile, n), [t for i in range(rows) for k in range(n) for t in
                                      band(i * n, (i + 1) % rows * n, n, i, k)])


# ---------------------------------------------------- distance functions ----

def smooth_min(a, b, k):
    h = np.maximum(k - np.abs(a - b), 0) / k
    return np.minimum(a, b) - h * h * k / 4


def round_cone(p, a, b, ra, rb):
    """Distance to a capsule whose radius goes from ra at a to rb at b."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    ab = b - a
    t = np.clip(((p - a) @ ab) / float(ab @ ab), 0, 1)
    return np.linalg.norm(p - a - t[:, None] * ab, axis=1) - (ra + t * (rb - ra))


def ellipsoid(p, c, r):
    q = (p - np.asarray(c, float)) / np.asarray(r, float)
    k0 = np.linalg.norm(q, axis=1)
    k1 = np.linalg.norm(q / np.asarray(r, float), axis=1)
    return np.where(k1 > 1e-9, k0 * (k0 - 1) / np.maximum(k1, 1e-9), -min(r))


def contour(f, lo, hi, h):
    """Zero level of f by surface nets: one vertex per cube that the surface
    crosses, one quad per grid edge that it crosses; then a few rounds of
    smoothing along the surface, each followed by a projection onto it."""
    n = [int(math.ceil((hi[k] - lo[k]) / h)) + 1 for k in range(3)]
    axes = [lo[k] + h * np.arange(n[k]) for k in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing='ij'), axis=-1)
    val = f(grid.reshape(-1, 3)).reshape(n)
    neg = val < 0
    total = np.zeros([m - 1 for m in n] + [3])
    count = np.zeros([m - 1 for m in n])
    quads = []
    for ax in range(3):
        s0, s1 = [slice(None)] * 3, [slice(None)] * 3
        s0[ax], s1[ax] = slice(0, -1), slice(1, None)
        v0, v1 = val[tuple(s0)], val[tuple(s1)]
        for i in np.argwhere((v0 < 0) != (v1 < 0)):
            t = v0[tuple(i)] / (v0[tuple(i)] - v1[tuple(i)])
            x = grid[tuple(i)].copy()
            x[ax] += t * h
            b, c = (ax + 1) % 3, (ax + 2) % 3
            ring = []
            for db, dc in ((-1, -1), (0, -1), (0, 0), (-1, 0)):
                j = i.copy()
                j[b] += db
                j[c] += dc
                total[tuple(j)] += x
                count[tuple(j)] += 1
                ring.append(tuple(j))
            quads.append(ring if neg[tuple(i)] else ring[::-1])
    cells = [tuple(c) for c in np.argwhere(count > 0)]
    index = {c: k for k, c in enumerate(cells)}
    v = np.array([total[c] / count[c] for c in cells])
    q = np.array([[index[c] for c in ring] for ring in quads])

    def normals(x):
        e = 1e-4
        g = np.stack([f(x + e * d) - f(x - e * d) for d in np.eye(3)], axis=1)
        return g / np.maximum(np.linalg.norm(g, axis=1), 1e-12)[:, None]

    def project(x):
        for _ in range(3):
            x = x - np.clip(f(x), -h / 2, h / 2)[:, None] * normals(x)
        return x
    v = project(v)
    pairs = np.vstack([q[:, [0, 1]], q[:, [1, 2]], q[:, [2, 3]], q[:, [3, 0]]])
    for _ in range(4):
        acc, deg = np.zeros_like(v), np.zeros(len(v))
        for a, b in ((0, 1), (1, 0)):
            np.add.at(acc, pairs[:, a], v[pairs[:, b]])
            np.add.at(deg, pairs[:, a], 1)
        step = acc / deg[:, None] - v
        nrm = normals(v)
        v = project(v + 0.5 * (step - (step * nrm).sum(1)[:, None] * nrm))
    # split each quad along its shorter diagonal
    d02 = np.linalg.norm(v[q[:, 0]] - v[q[:, 2]], axis=1)
    d13 = np.linalg.norm(v[q[:, 1]] - v[q[:, 3]], axis=1)
    one = (d02 <= d13)[:, None]
    first = np.where(one, q[:, [0, 1, 2]], q[:, [0, 1, 3]])
    second = np.where(one, q[:, [0, 2, 3]], q[:, [1, 2, 3]])
    return Mesh(v, np.vstack([first, second]))


# ------------------------------------------------------------- hourglass ----

def hourglass_profile(neck=0.225, bulb=0.838, fillet=0.45, stretch=1.2, inset=0.0, steps=28):
    """Upper half, from the neck at z = 0 to the pole: an arc that is tangent
    to the bulb's circle, everything stretched along z. Where the arcs meet the
    wall is least steep below the bulb's middle: 36 degrees. [(radius, z)]."""
    zc = math.sqrt((bulb + fillet)**2 - (neck + fillet)**2)
    phi = math.atan2(zc, neck + fillet)           # from the fillet's centre to the bulb's
    pts = []
    for k in range(steps // 2 + 1):
        a = phi * k / (steps // 2)
        pts.append((neck + fillet - (fillet + inset) * math.cos(a), (fillet + inset) * math.sin(a)))
    lo = -phi                                     # where the arcs meet, seen from the bulb's centre
    for k in range(1, steps + 1):
        a = lo + (math.pi / 2 - lo) * k / steps
        pts.append(((bulb - inset) * math.cos(a), zc + (bulb - inset) * math.sin(a)))
    pts[-1] = (0.0, pts[-1][1])
    return [(r, z * stretch) for r, z in pts]


SQUAT = dict(neck=0.1, bulb=0.5, fillet=0.2, stretch=0.88)   # fits into a box of 1 x 1 x 2


def make_hourglass(shape={}):
    up = hourglass_profile(**shape)
    return revolve([(r, -z) for r, z in reversed(up[1:])] + up, 48)


def make_hourglass_fill(level=0.85, inset=0.004, shape={}):
    """Sand in the upper bulb from the neck up to `level` of the bulb's height
    (about nine tenths of its volume), a hair away from the glass."""
    up = hourglass_profile(inset=inset, **shape)
    top = up[-1][1] * level
    body = [p for p in up if p[1] < top - 0.01]
    (r0, z0), (r1, z1) = body[-1], up[len(body)]
    body.append((r0 + (r1 - r0) * (top - z0) / (z1 - z0), top))
    return revolve([(0, 0.0)] + body + [(0, top)], 48)


def make_hourglass_squat():
    return make_hourglass(SQUAT)


def make_hourglass_squat_fill():
    return make_hourglass_fill(0.735, shape=SQUAT)


# -------------------------------------------------------- piles and hoppers ---

def make_sand_pile(base=1.40, top=0.48, height=0.64):
    """A cone without its tip."""
    return revolve([(0, 0.0), (base, 0.0), (top, height), (0, height)], 64)


# (radius, z) of a hopper's inside, from the hole up
HOPPER = [(0.10, 1.30), (0.50, 1.65), (0.50, 2.00)]
FUNNEL = [(0.16, 0.85), (0.62, 1.45), (0.62, 1.75)]


def make_hopper(inside=HOPPER, outer=0.72):
    """Everything round the inside of the hopper, as far as the corners of a box 1 m wide."""
    return ring([(outer, inside[0][1]), (outer, inside[-1][1])] + inside[::-1], 64)


def make_hopper_fill(inside=HOPPER, level=1.76, inset=0.004):
    """Sand in the hopper up to z = level, a hair away from the wall."""
    (hole, low), (wide, knee), _ = inside
    return revolve([(0, low), (hole - inset, low), (wide - inset, knee), (wide - inset, level), (0, level)], 48)


def make_funnel():
    return make_hopper(FUNNEL, 0.74)


def make_funnel_fill():
    return make_hopper_fill(FUNNEL, 1.655)


# ---------------------------------------------------------------- castles ---

# The castles are thin enough for the papers' numbers: the finer the grains, the more of a wall they fill.
CASTLE = dict(half=1.00, tower=0.165, wall=0.142, parapet=0.056, wall_h=0.48, tower_h=0.80, walk=0.09, merlon=0.10,
              taper=0.12, keep=0.28, keep_h=0.86, turret_h=0.30, court=0.0, segments=19, scale=1.008)
CASTLE_LARGE = dict(half=0.72, tower=0.19, wall=0.16, parapet=0.050, wall_h=0.50, tower_h=0.86, walk=0.05, merlon=0.08,
                    taper=0.14, keep=0.26, keep_h=0.98, turret_h=0.26, court=0.0, segments=13, scale=1.045)


def make_castle(half, tower, wall, parapet, wall_h, tower_h, walk, merlon, taper, keep, keep_h, turret_h, court,
                segments, scale):
    """Four round towers at (+-half, +-half), curtain walls with a walk and an
    outer parapet, a gate in the wall at -y, a square keep with corner turrets.
    Everything stands on z = 0. With court > 0 the yard is filled up to there."""
    c = Complex()
    a1, a2 = math.asin((wall / 2 - parapet) / tower), math.asin(wall / 2 / tower)
    quarter = [-a2, -a1, a1, a2, math.pi / 4]
    angles = [q + k * math.pi / 2 for k in range(4) for q in quarter]
    gatehouse = 0.13
    arch, arch_rise = 0.18, (0.0, 0.055, 0.075, 0.055, 0.0)
    gate_mid = segments // 2
    lift = {}                                     # extra z of a plan point at the arch's level

    towers = {}
    for sx in (-1, 1):
        for sy in (-1, 1):
            o = (sx * half, sy * half)
            outer = [c.point(o[0] + tower * math.cos(a), o[1] + tower * math.sin(a), o) for a in angles]
            r = tower - parapet * 1.04
            inner = [c.point(o[0] + r * math.cos(a), o[1] + r * math.sin(a), o) for a in angles]
            towers[sx, sy] = outer
            n = len(angles)
            for k in range(n):
                top = tower_h + walk + (merlon if k % 2 else 0)
                c.cell([outer[k], outer[(k + 1) % n], inner[(k + 1) % n], inner[k]], [(0, top)])
            c.cell(inner, [(0, tower_h)])

    # curtain walls; side k runs counter-clockwise from one tower to the next
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    yard = []
    for side in range(4):
        o = np.array(corners[side], float) * half
        e = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)][side], float)
        nrm = np.array([-e[1], e[0]])             # towards the yard
        start = [towers[corners[side]][(side * 5 + k) % 20] for k in range(4)]
        end = [towers[corners[(side + 1) % 4]][((side + 2) * 5 + 3 - k) % 20] for k in range(4)]
        offs = [-wall / 2, -wall / 2 + parapet, wall / 2 - parapet, wall / 2]
        length = 2 * half
        first = tower * math.cos(a2) + 0.001
        cuts = [first + (length - 2 * first) * k / segments for k in range(1, segments)]
        is_gate = side == 0
        if is_gate:                               # four narrow pieces in place of the middle one
            x0, x1 = length / 2 - 0.13, length / 2 + 0.13
            cuts = [x for x in cuts if x < x0 - 0.04 or x > x1 + 0.04]
            cuts = sorted(cuts + [x0 + (x1 - x0) * k / 4 for k in range(5)])
        rows = [start]
        for x in cuts:
            base = o + e * x
            rows.append([c.point(*(base + nrm * d), anchor=tuple(base)) for d in offs])
        rows.append(end)
        for k in range(len(rows) - 1):
            p, q = rows[k], rows[k + 1]
            low = [(0, wall_h)]
            up = (k % 2 == 1)
            if is_gate:
                xm = (([first] + cuts)[k] + (cuts + [length - first])[k]) / 2
                if abs(xm - length / 2) < 0.13:
                    low = [(arch, wall_h + gatehouse)]
                    up = abs(xm - length / 2) < 0.07
                else:
                    up = (k % 2 == 1) if xm < length / 2 else ((len(rows) - 2 - k) % 2 == 1)
            for s in range(3):
                lo, hi = low[0]
                if s == 2:
                    hi = hi + walk                # low parapet towards the yard
                if s == 0:
                    hi = hi + walk + (merlon if up else 0)
                c.cell([p[s], q[s], q[s + 1], p[s + 1]], [(lo, hi)])
        if is_gate:
            g0 = cuts.index(length / 2 - 0.13)
            for j in range(5):
                for i in rows[1 + g0 + j]:
                    lift[i] = arch_rise[j]
        yard.append([r[3] for r in rows])

    # keep: a grid of cells; the rim carries battlements, the corners turrets
    t = parapet * 1.04
    widths = 0.34 * keep                          # corner turrets reach this far from the corner
    u = sorted(set([-keep, -keep + widths, keep - widths, keep] +
                   [-keep + widths + (2 * keep - 2 * widths) * k / 5 for k in range(1, 5)]))
    rim = sorted(set(u + [-keep + t, keep - t]))
    g = [[c.point(x, y, (0, 0)) for y in rim] for x in rim]
    n = len(rim) - 1
    for i in range(n):
        for j in range(n):
            x, y = (rim[i] + rim[i + 1]) / 2, (rim[j] + rim[j + 1]) / 2
            edge = i in (0, n - 1) or j in (0, n - 1)
            corner = abs(x) > keep - widths and abs(y) > keep - widths
            top = keep_h
            if corner:
                top = keep_h + turret_h
            elif edge:
                k = i if j in (0, n - 1) else j   # 0, 1 | 2..6 | 7, 8
                top = keep_h + walk + (merlon if k % 2 == 1 else 0)
            c.cell([g[i][j], g[i + 1][j], g[i + 1][j + 1], g[i][j + 1]], [(0, top)])

    if court > 0:                                 # the yard, in four pieces from the keep's corners to the towers
        sides = [[g[i][0] for i in range(n + 1)], [g[n][j] for j in range(n + 1)],
                 [g[n - i][n] for i in range(n + 1)], [g[0][n - j] for j in range(n + 1)]]
        for side in range(4):
            left, right = towers[corners[side]], towers[corners[(side + 1) % 4]]
            loop = [left[(side * 5 + 4) % 20]] + yard[side] + [right[((side + 1) * 5 + 4) % 20]]
            c.cell(loop + sides[side][::-1], [(0, court)])

    def place(i, z):
        (x, y), (ax, ay) = c.points[i], c.anchor[i]
        s = 1 - taper * z
        if abs(z - arch) < 1e-9:
            z = z + lift.get(i, 0.0)
        return ax + (x - ax) * s, ay + (y - ay) * s, z
    return c.mesh(place).scaled(scale)


def make_sandcastle():
    return make_castle(**CASTLE)


def make_sandcastle_large():
    return make_castle(**CASTLE_LARGE)


# ------------------------------------------------------------- excavator ----

# Lengths of the arm (m). The swing axis is the z axis. In the frame of boom,
# stick and bucket the x axis points from the joint to the next one.
ARM = dict(pivot=(0.20, 0.52), boom=0.95, stick=0.62, tip=(0.395, -0.048))


def shell(line, thickness, cheek, y, cheek_t, extra=()):
    """A bent plate with side plates: the plate follows `line` (x, z) with its
    thickness to the left, runs over the whole width, and the side plates
    (cheeks) fill the polygon made by its left side and the points `cheek` from
    its end back to its start. extra: (loop, [(y0, y1)]) more filled cells, in
    terms of points of the plate."""
    c = Complex()
    inner = offset_line(line, thickness)
    for k in range(len(line) - 1):
        c.cell([tuple(line[k]), tuple(line[k + 1]), tuple(inner[k + 1]), tuple(inner[k])], [(-y, y)])
    c.cell([tuple(p) for p in inner] + [tuple(p) for p in cheek], [(-y, -y + cheek_t), (y - cheek_t, y)])
    for loop, spans in extra:
        c.cell(loop, spans)
    return c.mesh_along_y()


def make_bucket():
    """Joint at the origin, cutting edge along +x, opening towards -z."""
    line = [(0.335, -0.035), (0.300, 0.060), (0.240, 0.122), (0.165, 0.150), (0.095, 0.132), (0.048, 0.075),
            (0.034, 0.0), (0.040, -0.080)]
    line = np.array(line)
    inner = offset_line(line, 0.020)
    w = 0.175
    teeth = [(y - 0.022, y + 0.022) for y in (-0.135, -0.045, 0.045, 0.135)]
    body = shell(line, 0.020, [], w, 0.018,
                 [([tuple(line[0]), tuple(inner[0]), ARM['tip']], teeth)])
    lug = [(-0.035, -0.02), (-0.01, -0.04), (0.045, -0.05), (0.055, 0.07), (0.02, 0.045), (-0.03, 0.02)]
    return join(body, prism(lug, 0.045, 0.075), prism(lug, -0.075, -0.045), disc_y(0, 0, 0.018, -0.085, 0.085, 16))


def make_stick():
    body = [(-0.15, 0.03), (-0.05, -0.055), (0.06, -0.06), (0.62, -0.03), (0.645, 0.0), (0.62, 0.03), (0.10, 0.075),
            (-0.12, 0.085)]
    rod = [tube((0.06, 0, 0.115), (0.34, 0, 0.10), 0.026), tube((0.34, 0, 0.10), (0.56, 0, 0.055), 0.014)]
    ears = [prism([(0.03, 0.06), (0.10, 0.06), (0.085, 0.14), (0.045, 0.14)], s - 0.008, s + 0.008)
            for s in (-0.034, 0.034)]
    return join(prism(body, -0.042, 0.042), *rod, *ears, disc_y(0, 0, 0.03, -0.065, 0.065, 16))


def make_boom():
    low = [(-0.03, -0.045), (0.06, -0.04), (0.30, 0.13), (0.45, 0.175), (0.62, 0.13), (0.94, -0.035)]
    high = [(0.975, 0.0), (0.955, 0.04), (0.66, 0.25), (0.46, 0.30), (0.26, 0.245), (-0.035, 0.045)]
    beam = prism(low + high, -0.06, 0.06)
    rod = [tube((0.42, 0, 0.335), (0.70, 0, 0.285), 0.03), tube((0.70, 0, 0.285), (0.86, 0, 0.19), 0.016)]
    ears = [prism([(0.36, 0.27), (0.47, 0.28), (0.45, 0.36), (0.39, 0.36)], s - 0.01, s + 0.01) for s in (-0.04, 0.04)]
    return join(beam, *rod, *ears, disc_y(0, 0, 0.045, -0.085, 0.085, 20), disc_y(0.95, 0, 0.04, -0.07, 0.07, 20))


def make_house():
    deck = [(-0.50, 0.36), (0.32, 0.36), (0.34, 0.40), (0.34, 0.43), (-0.52, 0.43)]
    hood = [(-0.48, 0.42), (0.02, 0.42), (0.02, 0.60), (-0.10, 0.66), (-0.44, 0.66), (-0.50, 0.60)]
    weight = [(-0.60, 0.40), (-0.46, 0.37), (-0.46, 0.62), (-0.56, 0.60), (-0.62, 0.52)]
    mast = [(0.06, 0.42), (0.30, 0.42), (0.25, 0.58), (0.14, 0.58)]
    return join(prism(deck, -0.30, 0.30), prism(hood, -0.29, 0.29), prism(weight, -0.29, 0.29),
                prism(mast, -0.125, -0.09), prism(mast, 0.09, 0.125), tube((-0.30, -0.16, 0.64), (-0.30, -0.16, 0.78), 0.022))


def make_cab():
    """Hollow cab with open windows at the sides, the front and the back."""
    c = Complex()
    # side view (x, z): frame cells round two windows; everything conforms by hand
    x = [0.0, 0.035, 0.17, 0.20, 0.285, 0.32]
    z = [0.42, 0.56, 0.80, 0.835]
    lean = {(5, 3): -0.05, (4, 3): -0.045, (4, 2): -0.04, (5, 2): -0.045}

    def p(i, j):
        return (x[i] + lean.get((i, j), 0.0), z[j])
    y0, y1, t = 0.135, 0.30, 0.018
    full, sides = [(-y1, -y0)], [(-y0 - t, -y0), (-y1, -y1 + t)]
    for i in range(5):
        for j in range(3):
            loop = [p(i, j), p(i + 1, j), p(i + 1, j + 1), p(i, j + 1)]
            if j in (0, 2):                       # closed below the windows, roof above them
                c.cell(loop, full)
            elif i in (0, 2, 4):                  # posts: only at the sides
                c.cell(loop, sides)
    return c.mesh_along_y()


def make_chassis():
    """Two crawler tracks with cleats, a cross frame and the turntable."""
    parts = []
    for s in (-1, 1):
        ring = []
        for k in range(9):
            a = math.pi / 2 - math.pi * k / 8
            ring.append((0.40 + 0.12 * math.cos(a), 0.13 + 0.12 * math.sin(a)))
        for k in range(9):
            a = -math.pi / 2 - math.pi * k / 8
            ring.append((-0.40 + 0.12 * math.cos(a), 0.13 + 0.12 * math.sin(a)))
        parts.append(prism(ring, s * 0.29 - 0.085, s * 0.29 + 0.085))
        for k in range(12):                       # cleats on the straight runs
            x = -0.385 + 0.07 * k
            for z0, z1 in ((0.0, 0.02), (0.24, 0.262)):
                parts.append(box((x - 0.012, s * 0.29 - 0.085, z0), (x + 0.012, s * 0.29 + 0.085, z1)))
        for x in (-0.40, 0.40):
            parts.append(disc_y(x, 0.13, 0.075, s * 0.29 - 0.10, s * 0.29 + 0.10, 16))
    parts.append(box((-0.26, -0.24, 0.10), (0.26, 0.24, 0.28)))
    parts.append(tube((0, 0, 0.26), (0, 0, 0.37), 0.20, 28))
    return join(*parts)


EXCAVATOR_XML = '''<mujoco model="excavator">
  <!-- Model-scale excavator. %(about)s
       Angles of the arm add up: boom, boom + stick, boom + stick + bucket are the pitch of each link above
       the horizontal. Positive raises or opens, negative lowers or curls. Controls are target angles in rad.
       No geom collides inside MuJoCo: the bucket is hollow, and contact with grains uses its mesh. -->
  <compiler angle="degree" autolimits="true" meshdir="." balanceinertia="true"/>
  <option timestep="0.002" integrator="Euler"/>
  <default>
    <geom type="mesh" contype="0" conaffinity="0"/>
    <joint armature="1.0"/>
  </default>
  <asset>
    <mesh name="excavator_chassis" file="excavator_chassis.obj"/>
    <mesh name="excavator_house" file="excavator_house.obj"/>
    <mesh name="excavator_cab" file="excavator_cab.obj"/>
    <mesh name="excavator_boom" file="excavator_boom.obj"/>
    <mesh name="excavator_stick" file="excavator_stick.obj"/>
    <mesh name="excavator_bucket" file="excavator_bucket.obj"/>
  </asset>
  <worldbody>
    <body name="excavator">
%(base)s      <body name="house">
        <joint name="swing" type="hinge" axis="0 0 1" range="-180 180" damping="900" armature="4"/>
        <geom name="house" mesh="excavator_house" mass="90" rgba="0.93 0.69 0.13 1"/>
        <geom name="cab" mesh="excavator_cab" mass="10" rgba="0.25 0.27 0.30 1"/>
        <body name="boom" pos="%(px)s 0 %(pz)s">
          <joint name="boom" type="hinge" axis="0 -1 0" range="-50 70" damping="1600" armature="4"/>
          <geom name="boom" mesh="excavator_boom" mass="16" rgba="0.93 0.69 0.13 1"/>
          <body name="stick" pos="%(boom)s 0 0">
            <joint name="stick" type="hinge" axis="0 -1 0" range="-160 -15" damping="500"/>
            <geom name="stick" mesh="excavator_stick" mass="8" rgba="0.93 0.69 0.13 1"/>
            <body name="bucket" pos="%(stick)s 0 0">
              <joint name="bucket" type="hinge" axis="0 -1 0" range="-155 45" damping="120"/>
              <geom name="bucket" mesh="excavator_bucket" mass="6" rgba="0.35 0.35 0.38 1" friction="0.5"/>
              <site name="bucket_tip" pos="%(tx)s 0 %(tz)s" size="0.01"/>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="swing" joint="swing" kp="20000" ctrlrange="-3.14159 3.14159" forcerange="-3000 3000"/>
    <position name="boom" joint="boom" kp="50000" ctrlrange="-0.87266 1.22173" forcerange="-4000 4000"/>
    <position name="stick" joint="stick" kp="20000" ctrlrange="-2.79252 -0.2618" forcerange="-2000 2000"/>
    <position name="bucket" joint="bucket" kp="8000" ctrlrange="-2.70526 0.7854" forcerange="-800 800"/>
%(motors)s  <sensor>
    <framepos name="bucket_tip" objtype="site" objname="bucket_tip"/>
    <actuatorfrc name="swing_torque" actuator="swing"/>
    <actuatorfrc name="boom_torque" actuator="boom"/>
    <actuatorfrc name="stick_torque" actuator="stick"/>
    <actuatorfrc name="bucket_torque" actuator="bucket"/>
  </sensor>
</mujoco>
'''


EXCAVATOR_FIXED = dict(
    about='The chassis is fixed to the world; its tracks stand on z = 0 and it faces +x.',
    base='      <geom name="chassis" mesh="excavator_chassis" mass="120" rgba="0.22 0.22 0.24 1"/>\n',
    motors='  </actuator>\n')

TRACK = dict(radius=0.13, y=0.29, half=0.085, wheels=[(k - 3) * 0.4 / 3 for k in range(7)], under=0.022)


def excavator_tracks():
    """A free base on two tracks. A track is seven wheels that turn together, so near to each other that grains between
    them do not reach the drawn track, which is 22 mm higher."""
    r = TRACK['radius']
    base = ['      <freejoint name="excavator"/>',
            '      <geom name="chassis" mesh="excavator_chassis" pos="0 0 %g" mass="160" rgba="0.22 0.22 0.24 1"/>'
            % TRACK['under']]
    motors, equal = [], []
    for side, s in (('left', 1), ('right', -1)):
        for k, x in enumerate(TRACK['wheels']):
            name = '%s_track_%d' % (side, k + 1)
            base += ['      <body name="%s" pos="%g %g %g" euler="-90 0 0">' % (name, x, s * TRACK['y'], r),
                     '        <joint name="%s" type="hinge" axis="0 0 1" armature="0.2"/>' % name,
                     '        <geom name="%s" type="cylinder" size="%g %g" mass="4" rgba="0.12 0.12 0.13 1"/>'
                     % (name, r, TRACK['half']),
                     '      </body>']
            if k:
                equal.append('    <joint joint1="%s" joint2="%s_track_1" polycoef="0 1 0 0 0"/>' % (name, side))
        motors.append('    <velocity name="%s" joint="%s_track_1" gear="%g" kv="12000" ctrlrange="-1 1" forcerange="-2500 2500"/>'
                      % (side, side, r))
    return dict(
        about='It stands on z = 0 on two tracks, faces +x and drives: `left` and `right` are speeds\n'
              '       of the tracks in m/s. Each track is seven wheels that turn together.',
        base='\n'.join(base) + '\n',
        motors='\n'.join(motors) + '\n  </actuator>\n  <equality>\n' + '\n'.join(equal) + '\n  </equality>\n')


def excavator_xml(base=EXCAVATOR_FIXED):
    return EXCAVATOR_XML % dict(base, px=ARM['pivot'][0], pz=ARM['pivot'][1], boom=ARM['boom'], stick=ARM['stick'],
                                tx=ARM['tip'][0], tz=ARM['tip'][1])


def arm_angles(x, z, pitch):
    """Joint angles that put the teeth at radius x from the swing axis and
    height z, with the bucket (joint to teeth frame) at the given pitch."""
    c, s = math.cos(pitch), math.sin(pitch)
    px = x - (c * ARM['tip'][0] - s * ARM['tip'][1]) - ARM['pivot'][0]
    pz = z - (s * ARM['tip'][0] + c * ARM['tip'][1]) - ARM['pivot'][1]
    l1, l2 = ARM['boom'], ARM['stick']
    d2 = px * px + pz * pz
    k = (d2 - l1 * l1 - l2 * l2) / (2 * l1 * l2)
    if not -1 < k < 1:
        raise ValueError('the arm cannot reach (%g, %g) at %g deg' % (x, z, pitch / DEG))
    stick = -math.acos(k)
    boom = math.atan2(pz, px) - math.atan2(l2 * math.sin(stick), l1 + l2 * math.cos(stick))
    bucket = pitch - boom - stick
    for name, q, lo, hi in (('boom', boom, -50, 70), ('stick', stick, -160, -15), ('bucket', bucket, -155, 45)):
        if not lo < q / DEG < hi:
            raise ValueError('%s at %.1f deg is out of range for (%g, %g, %g)' % (name, q / DEG, x, z, pitch / DEG))
    return boom, stick, bucket


def arm_csv(knots, step=0.1, more=()):
    """knots: (time, swing deg, radius, height, pitch deg, ...) of the teeth.
    Eased from knot to knot in these coordinates, then turned into joint
    angles; `more` names what follows, which is written as it is."""
    rows, t = [','.join(('time', 'swing', 'boom', 'stick', 'bucket') + more)], 0.0
    knots = np.array(knots, float)
    count = int(round(knots[-1][0] / step))
    for i in range(count + 1):
        t = i * step
        k = min(max(int(np.searchsorted(knots[:, 0], t, side='right')) - 1, 0), len(knots) - 2)
        u = (t - knots[k, 0]) / (knots[k + 1, 0] - knots[k, 0])
        q = knots[k] + (knots[k + 1] - knots[k]) * u * u * (3 - 2 * u)
        boom, stick, bucket = arm_angles(q[2], q[3], q[4] * DEG)
        rows.append(','.join(number(v, 4) for v in (t, q[1] * DEG, boom, stick, bucket, *q[5:])))
    return '\n'.join(rows) + '\n'


DIG = [  # time, swing, radius, height, pitch
    (0.0, 0, 1.10, 0.75, -120),                   # carry pose
    (1.2, 0, 1.45, 0.45, -85),                    # reach out
    (2.0, 0, 1.45, 0.16, -100),                   # lower into the bed (surface at 0.25)
    (3.6, 0, 1.10, 0.10, -130),                   # drag
    (4.6, 0, 0.88, 0.16, -170),                   # curl
    (5.2, 0, 0.80, 0.34, -190),                   # break out
    (6.4, 0, 0.80, 0.80, -195),                   # lift
    (8.2, 90, 0.90, 0.85, -195),                  # swing
    (8.8, 90, 1.00, 0.85, -150),
    (9.8, 90, 1.35, 0.62, -70),                   # empty
    (10.4, 90, 1.35, 0.70, -75),
    (12.0, 0, 1.10, 0.75, -120),                  # return
]

SWEEP = [
    (0.0, -70, 1.15, 0.75, -120),
    (0.8, -70, 1.55, 0.40, -85),                  # out, beside the castle
    (1.5, -70, 1.55, 0.12, -85),                  # down
    (4.0, 60, 1.60, 0.12, -85),                   # sweep through it
    (4.8, 60, 1.20, 0.55, -120),
    (5.6, 8, 1.55, 0.75, -75),                    # above what is left
    (6.4, 8, 1.55, 0.15, -95),                    # down into it
    (7.8, 8, 1.00, 0.12, -145),                   # pull a trench
    (8.6, 8, 0.85, 0.40, -190),
    (9.4, 8, 0.85, 0.80, -195),                   # lift
    (10.6, -50, 1.00, 0.85, -160),
    (11.4, -50, 1.40, 0.65, -70),                 # drop it on the ruins
    (12.0, -50, 1.30, 0.75, -90),
]


DRIVE = [  # and left, right in m/s
    (0.0, 0, 1.15, 0.75, -120, 0, 0),
    (1.0, 0, 1.25, 0.14, -120, 0, 0),              # bucket down
    (1.6, 0, 1.25, 0.14, -120, 0.45, 0.45),
    (5.6, 0, 1.25, 0.14, -120, 0.45, 0.45),        # through the castle
    (6.0, 0, 1.20, 0.25, -150, 0, 0),
    (6.8, 0, 0.95, 0.75, -190, 0, 0),              # lift
    (7.2, 0, 0.95, 0.75, -190, -0.6, -0.6),        # back out of the rubble
    (9.6, 0, 0.95, 0.75, -190, -0.6, -0.6),
    (10.0, 0, 0.95, 0.75, -190, -0.5, 0.5),        # turn on the spot
    (11.4, 0, 1.30, 0.70, -110, -0.5, 0.5),
    (12.0, 0, 1.35, 0.70, -70, 0, 0),              # and drop it
]


# ------------------------------------------------- blade, wheels, weights ---

def make_bulldozer_blade():
    """Concave towards +x, lower edge on z = 0 at the origin, 0.8 m wide with
    side wings."""
    line = [(0.06, 0.0), (0.020, 0.06), (0.0, 0.13), (0.0, 0.20), (0.018, 0.27), (0.055, 0.33), (0.085, 0.36)]
    line = np.array(line)[::-1]                   # thickness to the left of the way down: towards +x
    wings = [(0.22, 0.0), (0.235, 0.03), (0.20, 0.22), (0.15, 0.32)]
    return shell(line, 0.022, wings, 0.40, 0.022)


def arc_between(p, q, pieces=4):
    """Points strictly between p and q on the shorter way round the origin."""
    a, b = math.atan2(p[1], p[0]), math.atan2(q[1], q[0])
    turn = (b - a + math.pi) % (2 * math.pi) - math.pi
    rp, rq = math.hypot(*p), math.hypot(*q)
    out = []
    for k in range(1, pieces):
        u = k / pieces
        out.append(((rp + (rq - rp) * u) * math.cos(a + turn * u), (rp + (rq - rp) * u) * math.sin(a + turn * u)))
    return out


def make_paddle_wheel(blades=8, hub=0.09, radius=0.32, half_width=0.15, sweep=0.0, thickness=0.9, rings=0.0):
    """Blades round a hub whose axis is the y axis. sweep turns the outer end of
    the blades (rad); rings > 0 closes the outer half of the
    sides with rings of that thickness."""
    c = Complex()
    n = blades * 3                                # one hub side in three carries a blade
    a = [2 * math.pi * ((k // 3) * 3 - 0.5 * thickness) / n if k % 3 == 0 else
         2 * math.pi * ((k // 3) * 3 + 0.5 * thickness) / n if k % 3 == 1 else
         2 * math.pi * ((k // 3) * 3 + 1.5) / n for k in range(n)]
    ring = [(hub * math.cos(q), hub * math.sin(q)) for q in a]
    w = half_width
    c.cell(ring, [(-w, w)])
    steps, outer = 4, []
    for b in range(blades):
        d0 = 2 * math.pi * b / blades
        left, right = [ring[3 * b]], [ring[3 * b + 1]]
        th = math.dist(left[0], right[0])
        for s in range(1, steps + 1):
            r = hub + (radius - hub) * s / steps
            d = d0 + sweep * (s / steps)**1.5
            e, f = (math.cos(d), math.sin(d)), (-math.sin(d), math.cos(d))
            lean = sweep * 1.5 * (s / steps)**0.5 * r / (radius - hub)
            f = (f[0] - lean * e[0] * 0.5, f[1] - lean * e[1] * 0.5)
            m = th / 2 / math.hypot(*f)
            left.append((r * e[0] - m * f[0], r * e[1] - m * f[1]))
            right.append((r * e[0] + m * f[0], r * e[1] + m * f[1]))
        for s in range(steps):
            c.cell([left[s], left[s + 1], right[s + 1], right[s]], [(-w, w)])
        outer.append((left, right))
    if rings > 0:                                 # the gaps between blades, closed at both sides
        for b in range(blades):
            right, left = outer[b][1][2:], outer[(b + 1) % blades][0][2:]
            loop = right + arc_between(right[-1], left[-1]) + left[::-1] + arc_between(left[0], right[0])
            c.cell(loop, [(-w, -w + rings), (w - rings, w)])
    return c.mesh_along_y()


def make_mill_wheel():
    """Water-mill wheel: ten swept blades between two side rings."""
    return make_paddle_wheel(blades=10, hub=0.13, radius=0.40, half_width=0.20, sweep=0.35, thickness=0.75, rings=0.022)


def make_paddles():
    """A wheel with six thick paddles for the cascade of paddles.xml."""
    return make_paddle_wheel(blades=6, hub=0.08, radius=0.19, half_width=0.20, thickness=1.6)


# name, x and z of the axles, below the hole of the hopper
PADDLES = [('upper', 0.10, 1.05), ('middle', -0.18, 0.72), ('lower', 0.12, 0.45)]


def paddles_xml():
    bodies = ''.join('''    <body name="%s" pos="%g 0 %g">
      <joint name="%s" type="hinge" axis="0 1 0" damping="0.05" frictionloss="0.02" armature="0.005"/>
      <geom name="%s" type="mesh" mesh="paddles" mass="8" contype="0" conaffinity="0" rgba="0.45 0.32 0.20 1"/>
    </body>
''' % (name, x, z, name, name) for name, x, z in PADDLES)
    sensors = ''.join('''    <jointvel name="%s_speed" joint="%s"/>
''' % (name, name) for name, _, _ in PADDLES)
    return '''<mujoco model="paddles">
  <!-- Three paddle wheels on hinges along y, one below the other: sand that falls at x = 0 turns them in turn. -->
  <compiler angle="degree" autolimits="true" meshdir="." balanceinertia="true"/>
  <option timestep="0.002" integrator="Euler"/>
  <asset>
    <mesh name="paddles" file="paddles.obj"/>
  </asset>
  <worldbody>
%s  </worldbody>
  <sensor>
%s  </sensor>
</mujoco>
''' % (bodies, sensors)


PADDLE_XML = '''<mujoco model="paddle_wheel">
  <!-- A paddle wheel on one hinge along y, held at z = 0.45; falling grains turn it. -->
  <compiler angle="degree" autolimits="true" meshdir="." balanceinertia="true"/>
  <option timestep="0.002" integrator="Euler"/>
  <asset>
    <mesh name="paddle_wheel" file="paddle_wheel.obj"/>
  </asset>
  <worldbody>
    <body name="wheel" pos="0 0 0.45">
      <joint name="wheel" type="hinge" axis="0 1 0" damping="0.05" frictionloss="0.02" armature="0.005"/>
      <geom name="wheel" type="mesh" mesh="paddle_wheel" mass="6" contype="0" conaffinity="0" rgba="0.45 0.32 0.20 1"/>
    </body>
  </worldbody>
  <sensor>
    <jointpos name="wheel_angle" joint="wheel"/>
    <jointvel name="wheel_speed" joint="wheel"/>
  </sensor>
</mujoco>
'''

WHEEL_AND_PLANK_XML = '''<mujoco model="wheel_and_plank">
  <!-- Grains fall on the mill wheel's blades (pour at x = 0.25, z = 1.9), turn it and drop onto the +x end of
       the plank. The weights on its other end hold the plank against its stop at 0; when the grains outweigh
       them it tilts to 32 degrees and the weights slide down over the +x end onto the floor.
       Group 1 collides inside MuJoCo: plank, weights, floor. Wheel and stand meet grains only. -->
  <compiler angle="degree" autolimits="true" meshdir="." balanceinertia="true"/>
  <option timestep="0.002" integrator="Euler"/>
  <asset>
    <mesh name="mill_wheel" file="mill_wheel.obj"/>
    <mesh name="plank_stand" file="plank_stand.obj"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 0.1" contype="1" conaffinity="1" friction="0.6" rgba="0.6 0.6 0.6 1"/>
    <body name="wheel" pos="0.05 0 1.30">
      <joint name="wheel" type="hinge" axis="0 1 0" damping="0.2" frictionloss="0.05" armature="0.02"/>
      <geom name="wheel" type="mesh" mesh="mill_wheel" mass="12" contype="0" conaffinity="0" rgba="0.45 0.32 0.20 1"/>
    </body>
    <body name="stand">
      <geom name="stand" type="mesh" mesh="plank_stand" mass="20" contype="0" conaffinity="0" rgba="0.4 0.4 0.42 1"/>
    </body>
    <body name="plank" pos="0 0 0.52">
      <joint name="plank" type="hinge" axis="0 1 0" range="0 32" damping="3" armature="0.05"/>
      <geom name="plank" type="box" size="0.85 0.25 0.02" pos="0 0 0.02" mass="9" friction="0.3" contype="1" conaffinity="1" rgba="0.62 0.47 0.30 1"/>
      <geom name="rim_left" type="box" size="0.85 0.012 0.03" pos="0 0.238 0.07" mass="1" friction="0.2" contype="1" conaffinity="1" rgba="0.55 0.40 0.25 1"/>
      <geom name="rim_right" type="box" size="0.85 0.012 0.03" pos="0 -0.238 0.07" mass="1" friction="0.2" contype="1" conaffinity="1" rgba="0.55 0.40 0.25 1"/>
    </body>
    <body name="weight_1" pos="-0.30 0.09 0.6205">
      <freejoint name="weight_1"/>
      <geom name="weight_1" type="box" size="0.06 0.06 0.06" mass="4" friction="0.3" contype="1" conaffinity="1" rgba="0.70 0.22 0.18 1"/>
    </body>
    <body name="weight_2" pos="-0.50 -0.08 0.6205">
      <freejoint name="weight_2"/>
      <geom name="weight_2" type="box" size="0.06 0.06 0.06" mass="4" friction="0.3" contype="1" conaffinity="1" rgba="0.20 0.35 0.65 1"/>
    </body>
    <body name="weight_3" pos="-0.68 0.07 0.6005">
      <freejoint name="weight_3"/>
      <geom name="weight_3" type="box" size="0.04 0.06 0.04" mass="2" friction="0.3" contype="1" conaffinity="1" rgba="0.25 0.55 0.30 1"/>
    </body>
  </worldbody>
  <sensor>
    <jointpos name="wheel_angle" joint="wheel"/>
    <jointvel name="wheel_speed" joint="wheel"/>
    <jointpos name="plank_angle" joint="plank"/>
  </sensor>
</mujoco>
'''


def make_plank_stand():
    """Two trestles outside the plank, joined by the axle under it and a foot."""
    leg = [(-0.16, 0.0), (0.16, 0.0), (0.035, 0.54), (-0.035, 0.54)]
    return join(prism(leg, 0.265, 0.295), prism(leg, -0.295, -0.265), disc_y(0, 0.50, 0.018, -0.31, 0.31, 16),
                box((-0.02, -0.28, 0.03), (0.02, 0.28, 0.08)))


# ------------------------------------------------------------ dump truck ----

TRUCK = dict(hinge=(-0.62, 0.32), axles=(-0.38, 0.66))


def make_truck_bed():
    """Hinge at the origin at the rear; the floor runs to +x and rises a little
    at the tail; open at the tail and above."""
    line = np.array([(-0.10, 0.075), (0.02, 0.030), (0.80, 0.030), (0.84, 0.070), (0.86, 0.40)])
    body = shell(line, 0.022, [(0.83, 0.38), (0.60, 0.37), (0.05, 0.34), (-0.08, 0.22)], 0.34, 0.022)
    shield = prism([(0.845, 0.37), (1.12, 0.42), (1.12, 0.44), (0.835, 0.395)], -0.34, 0.34)
    ribs = [box((x, s * 0.345 - 0.015, 0.05), (x + 0.03, s * 0.345 + 0.015, 0.33)) for x in (0.15, 0.38, 0.61)
            for s in (-1, 1)]
    lug = [(-0.03, -0.02), (0.03, -0.02), (0.05, 0.04), (-0.04, 0.055)]
    return join(body, shield, *ribs, prism(lug, 0.13, 0.17), prism(lug, -0.17, -0.13), disc_y(0, 0, 0.018, -0.19, 0.19, 16))


def make_truck_chassis():
    """With its wheels, for a truck that stands."""
    parts = [make_truck_frame()]
    for x in TRUCK['axles']:
        parts.append(disc_y(x, 0.17, 0.03, -0.30, 0.30, 12))
        for s in (-1, 1):
            y0, y1 = sorted((s * 0.20, s * 0.34))
            parts.append(disc_y(x, 0.17, 0.17, y0, y1, 28))
            parts.append(disc_y(x, 0.17, 0.08, y0 - 0.01, y1 + 0.01, 16))
    return join(*parts)


def make_truck_frame():
    frame = [(-0.70, 0.23), (0.92, 0.23), (0.92, 0.30), (-0.60, 0.30), (-0.70, 0.27)]
    hood = [(0.62, 0.22), (0.94, 0.22), (0.94, 0.42), (0.88, 0.46), (0.62, 0.46)]
    bumper = [(0.90, 0.14), (0.97, 0.16), (0.97, 0.26), (0.90, 0.28)]
    parts = [prism(frame, -0.14, -0.08), prism(frame, 0.08, 0.14), box((-0.5, -0.09, 0.24), (-0.44, 0.09, 0.29)),
             box((0.0, -0.09, 0.24), (0.06, 0.09, 0.29)), prism(hood, -0.29, 0.29), prism(bumper, -0.31, 0.31)]
    bracket = [(-0.68, 0.26), (-0.56, 0.26), (-0.59, 0.345), (-0.65, 0.345)]
    parts += [prism(bracket, 0.085, 0.125), prism(bracket, -0.125, -0.085)]
    return join(*parts)


def make_truck_cab():
    """Driver's cab in front of the bed, hollow, with open windows."""
    c = Complex()
    x, z = [0.64, 0.67, 0.86, 0.89], [0.45, 0.52, 0.66, 0.69]
    lean = {(3, 2): -0.02, (3, 3): -0.03, (2, 2): -0.02, (2, 3): -0.03}

    def p(i, j):
        return (x[i] + lean.get((i, j), 0.0), z[j])
    y0, y1, t = -0.02, 0.27, 0.02
    for i in range(3):
        for j in range(3):
            if (i, j) != (1, 1):
                c.cell([p(i, j), p(i + 1, j), p(i + 1, j + 1), p(i, j + 1)],
                       [(-y1, -y0)] if j != 1 else [(-y1, -y1 + t), (-y0 - t, -y0)])
    return c.mesh_along_y()


TRUCK_XML = '''<mujoco model="dump_truck">
  <!-- Dump truck, facing +x, wheels on z = 0, %(about)s. The bed turns about a hinge at its tail;
       the control is its target angle in rad (0 = down). No geom collides inside MuJoCo: the bed is hollow,
       and contact with grains uses its mesh. -->
  <compiler angle="degree" autolimits="true" meshdir="." balanceinertia="true"/>
  <option timestep="0.002" integrator="Euler"/>
  <default>
    <geom type="mesh" contype="0" conaffinity="0"/>
  </default>
  <asset>
    <mesh name="%(chassis)s" file="%(chassis)s.obj"/>
    <mesh name="truck_cab" file="truck_cab.obj"/>
    <mesh name="truck_bed" file="truck_bed.obj"/>
  </asset>
  <worldbody>
    <body name="truck">
%(base)s      <geom name="truck_chassis" mesh="%(chassis)s" mass="%(mass)s" rgba="0.22 0.22 0.24 1"/>
      <geom name="truck_cab" mesh="truck_cab" mass="15" rgba="0.75 0.20 0.14 1"/>
      <body name="bed" pos="%(hx)s 0 %(hz)s">
        <joint name="bed" type="hinge" axis="0 -1 0" range="-1 65" damping="2500" armature="5"/>
        <geom name="bed" mesh="truck_bed" mass="30" friction="0.4" rgba="0.85 0.55 0.12 1"/>
        <site name="bed_front" pos="0.86 0 0.40" size="0.01"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="bed" joint="bed" kp="60000" ctrlrange="-0.01 1.1" forcerange="-6000 6000"/>
%(motors)s  <sensor>
    <jointpos name="bed_angle" joint="bed"/>
    <actuatorfrc name="bed_torque" actuator="bed"/>
  </sensor>
</mujoco>
'''


TRUCK_FIXED = dict(about='fixed to the world', chassis='truck_chassis', mass=150, base='', motors='  </actuator>\n')

TRUCK_WHEEL = '''      <body name="%(name)s" pos="%(x)g %(y)g %(z)g">
%(steer)s        <joint name="%(name)s" type="hinge" axis="0 1 0" armature="0.2" damping="0.2"/>
        <geom name="%(name)s" type="cylinder" size="0.17 0.07" euler="90 0 0" mass="12" rgba="0.12 0.12 0.13 1"/>
        <geom name="%(name)s_hub" type="cylinder" size="0.08 0.08" euler="90 0 0" mass="3" rgba="0.6 0.6 0.62 1"/>
      </body>
'''
TRUCK_STEER = '''        <joint name="%s_steer" type="hinge" axis="0 0 1" range="-32 32" damping="60" armature="2"/>
'''
TRUCK_BASE = '''      <freejoint name="truck"/>
      <geom name="rear_axle" type="cylinder" size="0.03 0.25" pos="%(rear)g 0 0.17" euler="90 0 0" mass="6"/>
%(rear_wheels)s      <body name="front_wheel_axle" pos="%(front)g 0 0.17">
      <joint name="front_axle" type="hinge" axis="1 0 0" range="-12 12" damping="20"/>
      <geom name="front_axle" type="cylinder" size="0.03 0.18" euler="90 0 0" mass="8"/>
%(front_wheels)s      </body>
'''
TRUCK_MOTORS = '''    <velocity name="drive" tendon="wheels" kv="12000" ctrlrange="-1.5 1.5" forcerange="-2500 2500"/>
    <position name="steer" joint="front_left_wheel_steer" kp="3000" ctrlrange="-0.5 0.5" forcerange="-800 800"/>
  </actuator>
  <tendon>
    <fixed name="wheels">
%s
    </fixed>
  </tendon>
  <equality>
    <joint joint1="front_right_wheel_steer" joint2="front_left_wheel_steer" polycoef="0 1 0 0 0"/>
  </equality>
'''


def truck_wheels():
    """A free base on four driven wheels; the front axle rocks, so that all four bear, and its wheels are steered."""
    rear, front = TRUCK['axles']
    wheels = {'rear': '', 'front': ''}
    for side, y in (('left', 0.27), ('right', -0.27)):
        name = 'front_%s_wheel' % side
        wheels['rear'] += TRUCK_WHEEL % dict(name='rear_%s_wheel' % side, x=rear, y=y, z=0.17, steer='')
        wheels['front'] += TRUCK_WHEEL % dict(name=name, x=0, y=y, z=0, steer=TRUCK_STEER % name)
    names = ['%s_%s_wheel' % (end, side) for end in wheels for side in ('left', 'right')]
    return dict(
        about='on four driven wheels: `drive` is its\n'
              '       speed in m/s, `steer` the angle of the front wheels in rad',
        chassis='truck_frame', mass=110,
        base=TRUCK_BASE % dict(rear=rear, front=front, rear_wheels=wheels['rear'], front_wheels=wheels['front']),
        motors=TRUCK_MOTORS % '\n'.join('      <joint joint="%s" coef="%g"/>' % (name, 0.17 / 4) for name in names))


def truck_xml(base=TRUCK_FIXED):
    return TRUCK_XML % dict(base, hx=TRUCK['hinge'][0], hz=TRUCK['hinge'][1])


def eased(header, knots, step=0.1):
    """A control file: from knot to knot, eased."""
    knots, rows = np.array(knots, float), [header]
    for i in range(int(round(knots[-1][0] / step)) + 1):
        t = i * step
        k = min(max(int(np.searchsorted(knots[:, 0], t + 1e-9, side='right')) - 1, 0), len(knots) - 2)
        u = (t - knots[k, 0]) / (knots[k + 1, 0] - knots[k, 0])
        q = knots[k] + (knots[k + 1] - knots[k]) * u * u * (3 - 2 * u)
        rows.append(','.join([number(t, 4)] + [number(v, 4) for v in q[1:]]))
    return '\n'.join(rows) + '\n'


TIP = [(0, 0), (1.0, 0), (4.5, 55), (5.5, 55), (5.8, 50), (6.1, 56), (6.4, 50), (6.7, 55), (7.5, 55), (10.0, 0)]

TRUCK_ROUND = [  # time, drive m/s, steer rad
    (0.0, 0, 0),
    (0.8, 0, 0),                                   # it sinks until the ground bears it
    (1.6, 0.6, 0),
    (3.2, 0.6, 0.1),
    (4.2, 0.6, 0.35),
    (8.0, 0.6, 0.35),
]

TRUCK_DRIVE = [  # time, drive m/s, steer rad, bed deg
    (0.0, 0, 0, 0),
    (0.4, 0, 0, 0),
    (1.0, -0.6, 0, 0),                             # back to where the load goes
    (2.2, -0.6, 0, 0),
    (2.8, 0, 0, 0),
    (3.0, 0, 0, 0),
    (5.0, 0, 0, 55),                               # tip
    (6.0, 0.05, 0, 55),
    (6.8, 0.5, 0, 50),                             # off, the bed coming down
    (7.8, 0.8, 0.25, 20),
    (9.0, 0.8, 0.25, 0),
]


# --------------------------------------------------------------- squirrel ---

SQUIRREL_SCALE = 0.965


def squirrel_distance(p):
    """A sitting squirrel that faces +x; about one unit tall before scaling."""
    q = np.stack([p[:, 0], np.abs(p[:, 1]) * 0.92, p[:, 2]], axis=1)     # left and right alike
    d = ellipsoid(q, (-0.02, 0, 0.26), (0.21, 0.19, 0.25))                          # belly
    d = smooth_min(d, ellipsoid(q, (0.05, 0, 0.46), (0.145, 0.135, 0.17)), 0.12)    # chest
    d = smooth_min(d, ellipsoid(q, (-0.03, 0.13, 0.16), (0.18, 0.09, 0.16)), 0.05)  # thighs
    d = smooth_min(d, round_cone(q, (0.0, 0.13, 0.045), (0.21, 0.14, 0.038), 0.05, 0.036), 0.04)   # feet
    d = smooth_min(d, ellipsoid(q, (0.12, 0, 0.68), (0.142, 0.128, 0.122)), 0.06)   # head
    d = smooth_min(d, round_cone(q, (0.20, 0, 0.66), (0.285, 0, 0.635), 0.075, 0.035), 0.05)       # muzzle
    d = smooth_min(d, ellipsoid(q, (0.17, 0.07, 0.645), (0.07, 0.05, 0.055)), 0.04)  # cheeks
    d = smooth_min(d, round_cone(q, (0.08, 0.080, 0.76), (0.035, 0.100, 0.895), 0.056, 0.034), 0.02)  # ears
    d = smooth_min(d, round_cone(q, (0.10, 0.12, 0.50), (0.17, 0.125, 0.38), 0.060, 0.050), 0.03)  # upper arms
    d = smooth_min(d, round_cone(q, (0.17, 0.125, 0.38), (0.27, 0.05, 0.44), 0.050, 0.042), 0.03)  # forearms
    d = smooth_min(d, ellipsoid(q, (0.295, 0, 0.455), (0.05, 0.045, 0.055)), 0.015)  # the nut in its paws
    # the tail: an S, thick and wider than deep, its tip rolled backwards
    tail = np.array([(-0.15, 0.09, 0.070), (-0.31, 0.10, 0.095), (-0.42, 0.24, 0.125), (-0.41, 0.44, 0.145),
                     (-0.345, 0.63, 0.150), (-0.335, 0.80, 0.140), (-0.43, 0.93, 0.115), (-0.555, 0.93, 0.090),
                     (-0.60, 0.84, 0.068)])
    path = catmull_rom(tail, 5)
    q = q * (1, 0.88, 1)
    t = round_cone(q, (path[0][0], 0, path[0][1]), (path[1][0], 0, path[1][1]), path[0][2], path[1][2])
    for (x0, z0, r0), (x1, z1, r1) in zip(path[1:], path[2:]):
        t = np.minimum(t, round_cone(q, (x0, 0, z0), (x1, 0, z1), r0, r1))
    return smooth_min(d, t, 0.03)


def catmull_rom(p, pieces):
    """Smooth curve through the points, `pieces` steps between two of them."""
    p = np.vstack([2 * p[0] - p[1], p, 2 * p[-1] - p[-2]])
    out = []
    for i in range(1, len(p) - 2):
        for k in range(pieces):
            u = k / pieces
            out.append(0.5 * (2 * p[i] + (p[i + 1] - p[i - 1]) * u + (2 * p[i - 1] - 5 * p[i] + 4 * p[i + 1] - p[i + 2]) * u**2
                              + (3 * p[i] - p[i - 1] - 3 * p[i + 1] + p[i + 2]) * u**3))
    return out + [p[-2]]


def make_squirrel():
    m = contour(squirrel_distance, (-0.76, -0.36, -0.06), (0.42, 0.36, 1.12), 0.0348)
    m = m.moved((0, 0, -m.v[:, 2].min()))
    return m.scaled(SQUIRREL_SCALE)


# ------------------------------------------------------------------ rocks ---

def icosphere(levels):
    g = (1 + math.sqrt(5)) / 2
    v = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g), (g, 0, -1),
         (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
    v = [np.array(p) / math.sqrt(1 + g * g) for p in v]
    t = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
         (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7),
         (9, 8, 1)]
    for _ in range(levels):
        mid, out = {}, []

        def half(a, b):
            key = (min(a, b), max(a, b))
            if key not in mid:
                m = v[a] + v[b]
                mid[key] = len(v)
                v.append(m / np.linalg.norm(m))
            return mid[key]
        for a, b, c in t:
            ab, bc, ca = half(a, b), half(b, c), half(c, a)
            out += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        t = out
    return Mesh(v, t)


def make_rock(seed, stretch, planes, size):
    """A ball cut by random planes with rounded edges, then stretched. `size`
    is the radius before cutting. The origin is the centre of volume."""
    rng = np.random.RandomState(seed)
    m = icosphere(3)
    n = rng.normal(size=(planes, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    h = rng.uniform(0.62, 0.92, planes)
    c = m.v @ n.T
    # soft minimum over the planes and the ball: the sharper, the larger the exponent
    inv = np.where(c > 0.05, c / h, 0.0)**14
    r = (inv.sum(axis=1) + 1.0)**(-1 / 14)
    freq, phase = rng.normal(size=(6, 3)) * 4.5, rng.uniform(0, 2 * math.pi, 6)
    r = r * (1 + 0.012 * np.sin(m.v @ freq.T + phase).sum(axis=1))
    v = m.v * r[:, None] * size * np.asarray(stretch)
    a, b, d = (v[m.t[:, k]] for k in range(3))
    w = np.einsum('ij,ij->i', a, np.cross(b, d))
    return Mesh(v - ((a + b + d) * w[:, None]).sum(axis=0) / (4 * w.sum()), m.t)


# ------------------------------------------------------------- the list -----

# file: (maker, what it is, what it is for)
MESHES = {
    'hourglass.obj': (make_hourglass, 'inside of an hourglass, neck at z = 0, 0.45 m across', 'boundary with `inside: true`'),
    'hourglass_fill.obj': (make_hourglass_fill, 'sand in the upper bulb, a hair off the glass', 'fill'),
    'hourglass_squat.obj': (make_hourglass_squat, 'inside of an hourglass twice as high as wide', 'boundary with `inside: true`'),
    'hourglass_squat_fill.obj': (make_hourglass_squat_fill, 'sand in its upper bulb', 'fill'),
    'sand_pile.obj': (make_sand_pile, 'a cone without its tip, slope 35 degrees', 'fill'),
    'hopper.obj': (make_hopper, 'funnel under a cylinder, hole 0.2 m across at z = 1.3', 'boundary'),
    'hopper_fill.obj': (make_hopper_fill, 'sand in the hopper', 'fill'),
    'funnel.obj': (make_funnel, 'steep funnel, hole 0.32 m across at z = 0.85', 'boundary'),
    'funnel_fill.obj': (make_funnel_fill, 'sand in the funnel', 'fill'),
    'paddles.obj': (make_paddles, 'six thick paddles round a hub, axis y', 'paddles.xml'),
    'sandcastle.obj': (make_sandcastle, 'castle: walls, four towers, gate, keep', 'fill; radius 0.03 and 0.01'),
    'sandcastle_large.obj': (make_sandcastle_large, 'castle with larger towers', 'fill; radius 0.02 and 0.0075'),
    'excavator_chassis.obj': (make_chassis, 'tracks, frame, turntable', 'excavator.xml'),
    'excavator_house.obj': (make_house, 'deck, engine hood, counterweight, boom foot', 'excavator.xml'),
    'excavator_cab.obj': (make_cab, 'hollow cab with open windows', 'excavator.xml'),
    'excavator_boom.obj': (make_boom, 'bent boom with its cylinder', 'excavator.xml'),
    'excavator_stick.obj': (make_stick, 'stick with its cylinder', 'excavator.xml'),
    'excavator_bucket.obj': (make_bucket, 'hollow bucket, walls 0.02 m, four teeth', 'excavator.xml'),
    'bulldozer_blade.obj': (make_bulldozer_blade, 'curved blade with wings, concave towards +x', 'keyframed body'),
    'paddle_wheel.obj': (make_paddle_wheel, 'eight paddles round a hub, axis y', 'paddle_wheel.xml, keyframed body'),
    'mill_wheel.obj': (make_mill_wheel, 'ten swept blades between two rings, axis y', 'wheel_and_plank.xml'),
    'plank_stand.obj': (make_plank_stand, 'trestles of the plank', 'wheel_and_plank.xml'),
    'truck_chassis.obj': (make_truck_chassis, 'frame, hood, wheels', 'dump_truck.xml'),
    'truck_frame.obj': (make_truck_frame, 'frame and hood, without wheels', 'dump_truck_drive.xml'),
    'truck_cab.obj': (make_truck_cab, 'hollow cab with open windows', 'dump_truck.xml'),
    'truck_bed.obj': (make_truck_bed, 'hollow bed, open tail, hinge at the origin', 'dump_truck.xml'),
    'squirrel.obj': (make_squirrel, 'sitting squirrel, faces +x', 'free body; radius 0.02'),
    'rock_1.obj': (lambda: make_rock(11, (1.15, 0.95, 0.80), 14, 0.16), 'rock', 'free body, obstacle'),
    'rock_2.obj': (lambda: make_rock(23, (1.30, 0.85, 0.70), 11, 0.20), 'rock, flat', 'free body, obstacle'),
    'rock_3.obj': (lambda: make_rock(37, (0.95, 0.90, 1.15), 18, 0.12), 'rock, small', 'free body, obstacle'),
}

TEXTS = {
    'excavator.xml': excavator_xml,
    'excavator_dig.csv': lambda: arm_csv(DIG),
    'excavator_castle.csv': lambda: arm_csv(SWEEP),
    'paddle_wheel.xml': lambda: PADDLE_XML,
    'paddles.xml': paddles_xml,
    'wheel_and_plank.xml': lambda: WHEEL_AND_PLANK_XML,
    'dump_truck.xml': truck_xml,
    'dump_truck_tip.csv': lambda: eased('time,bed', [(t, q * DEG) for t, q in TIP]),
    'excavator_drive.xml': lambda: excavator_xml(excavator_tracks()),
    'excavator_castle_drive.csv': lambda: arm_csv(DRIVE, more=('left', 'right')),
    'dump_truck_drive.xml': lambda: truck_xml(truck_wheels()),
    'dump_truck_round.csv': lambda: eased('time,drive,steer', TRUCK_ROUND),
    'dump_truck_drive.csv': lambda: eased('time,drive,steer,bed', [(*q, b * DEG) for *q, b in TRUCK_DRIVE]),
}

# mesh: [(radius, wanted grains)]
COUNTS = {
    'hourglass_fill.obj': [(0.028, 10000), (0.008, 460000)],
    'sandcastle.obj': [(0.030, 2400), (0.010, 90000)],
    'sandcastle_large.obj': [(0.020, 10000), (0.0075, 207000)],
    'squirrel.obj': [(0.020, 1400)],
}


def make_all():
    """{file name: (text, mesh or None)}"""
    out = {}
    for name, (maker, what, _) in MESHES.items():
        m = maker()
        # what is checked is what is written: coordinates as rounded in the file
        text = obj_text(m, what)
        out[name] = (text, Mesh([l.split()[1:] for l in text.splitlines() if l.startswith('v ')], m.t))
    for name, maker in TEXTS.items():
        out[name] = (maker(), None)
    return out


# ----------------------------------------------------------------- checks ---

def eroded_volumes(mesh, depths, h):
    """Volume of the points inside the mesh whose distance from its surface is
    at least d, for each d of depths: one jittered sample per voxel of side h,
    exact distances to the triangles near it."""
    far = max(depths)
    lo = mesh.v.min(axis=0) - 0.5 * h
    n = np.ceil((mesh.v.max(axis=0) - lo) / h).astype(int) + 1
    rng = np.random.RandomState(5)
    jx, jy = rng.uniform(size=(2, n[0], n[1]))
    jz = rng.uniform(size=n)
    wind = np.zeros((n[0], n[1], n[2] + 1), np.int32)
    dist = np.full(n, far * 1.0001)
    ix, iy, iz = np.arange(n[0]), np.arange(n[1]), np.arange(n[2])
    cx = lo[0] + (ix[:, None] + jx) * h           # x, y of each column; z of each sample
    cy = lo[1] + (iy[None, :] + jy) * h
    cz = lo[2] + (iz[None, None, :] + jz) * h
    for tri in mesh.v[mesh.t]:
        a, b, c = tri
        tmin, tmax = tri.min(axis=0), tri.max(axis=0)
        # winding number: crossings of the vertical ray upwards from each sample
        i0 = np.maximum(((tmin - lo) / h).astype(int) - 1, 0)
        i1 = np.minimum(((tmax - lo) / h).astype(int) + 2, n)
        det = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if abs(det) > 1e-14:
            x, y = cx[i0[0]:i1[0], i0[1]:i1[1]], cy[i0[0]:i1[0], i0[1]:i1[1]]
            u = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / det
            v = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / det
            hit = np.argwhere((u >= 0) & (v >= 0) & (u + v <= 1))
            if len(hit):
                gi, gj = hit[:, 0] + i0[0], hit[:, 1] + i0[1]
                z = a[2] + u[hit[:, 0], hit[:, 1]] * (b[2] - a[2]) + v[hit[:, 0], hit[:, 1]] * (c[2] - a[2])
                k = np.clip(((z - lo[2]) / h).astype(int), 0, n[2] - 1)
                k = k - (cz[gi, gj, k] >= z)      # last sample below the crossing
                np.add.at(wind, (gi, gj, k + 1), 1 if det > 0 else -1)
        # distance, for the samples in the triangle's box grown by `far`
        j0 = np.maximum(((tmin - far - lo) / h).astype(int) - 1, 0)
        j1 = np.minimum(((tmax + far - lo) / h).astype(int) + 2, n)
        s = tuple(slice(p, q) for p, q in zip(j0, j1))
        shape = dist[s].shape
        p = np.empty(shape + (3,))
        p[..., 0] = cx[s[:2]][:, :, None]
        p[..., 1] = cy[s[:2]][:, :, None]
        p[..., 2] = cz[s]
        p = p.reshape(-1, 3)
        near = np.flatnonzero(plane_near(p, a, b, c, far))
        if len(near):
            d = dist[s].reshape(-1)
            d[near] = np.minimum(d[near], triangle_distance(p[near], a, b, c))
            dist[s] = d.reshape(shape)
    # crossings strictly above sample k are those stored at an index > k
    inside = np.flip(np.cumsum(np.flip(wind[:, :, 1:], axis=2), axis=2), axis=2) > 0
    return [float(np.count_nonzero(inside & (dist >= d))) * h**3 for d in depths]


def plane_near(p, a, b, c, far):
    n = np.cross(b - a, c - a)
    return np.abs((p - a) @ n) <= far * np.linalg.norm(n)


def triangle_distance(p, a, b, c):
    """Distance of points from one triangle: to its plane where the foot lies
    inside, otherwise to the nearest side."""
    n = np.cross(b - a, c - a)
    n = n / max(np.linalg.norm(n), 1e-30)
    d = np.full(len(p), np.inf)
    inside = np.ones(len(p), bool)
    for q, r in ((a, b), (b, c), (c, a)):
        e = r - q
        t = np.clip(((p - q) @ e) / float(e @ e), 0, 1)
        d = np.minimum(d, np.linalg.norm(p - q - t[:, None] * e, axis=1))
        inside &= (p - q) @ np.cross(n, e) >= 0
    return np.where(inside, np.abs((p - a) @ n), d)


def grain_estimates(mesh, radius):
    """(plain, with edges): numbers of grains of that radius, by random placing.

    plain: 0.35 of the volume in which centres may lie, over a grain's volume.
    with edges: random placing puts more centres at the edge of that volume
    than in its middle, because nothing outside it is in the way. Placing in
    boxes and slabs (200 darts per cell of side 2r/sqrt(3)) gives the fraction
    0.353 when the volume is taken to end 0.66 r further out on every side."""
    h = max(radius * 0.45, 0.0085)
    step = 0.25 * radius
    v0, v1 = eroded_volumes(mesh, [radius, radius + step], h)
    grain = 4 / 3 * math.pi * radius**3
    return 0.35 * v0 / grain, 0.353 * (v0 + 0.66 * radius * (v0 - v1) / step) / grain


def check(made, counts=True):
    faults = 0
    for name, (text, mesh) in made.items():
        path, notes = os.path.join(HERE, name), []
        try:
            with open(path, encoding='utf-8', newline='') as f:
                if f.read() != text:
                    notes.append('DIFFERS from the file on disk')
        except OSError:
            notes.append('MISSING on disk')
        if mesh is not None:
            open_edges, crowded = mesh.edges()
            if open_edges:
                notes.append('NOT CLOSED: %d unpaired half-edges' % open_edges)
            if crowded:
                notes.append('%d EDGES with more than two triangles' % crowded)
            if mesh.volume() <= 0:
                notes.append('INSIDE OUT')
            size = mesh.v.max(axis=0) - mesh.v.min(axis=0)
            print('%-24s %5d triangles %2d parts  %.2f x %.2f x %.2f m  volume %.5f m3  area %.3f m2' % (
                (name, len(mesh.t), mesh.parts()) + tuple(size) + (mesh.volume(), mesh.area())))
            for radius, wanted in COUNTS.get(name, []) if counts else []:
                plain, edges = grain_estimates(mesh, radius)
                print('    radius %-7g wanted %-7d expected %-7.0f (%+.1f %%; 0.35 of the room for centres: %.0f)' % (
                    radius, wanted, edges, 100 * (edges / wanted - 1), plain))
                if abs(edges / wanted - 1) > 0.10:
                    notes.append('number of grains for radius %g is OFF by more than 10 %%' % radius)
        else:
            print('%-24s %d lines' % (name, text.count('\n')))
        for note in notes:
            print('    ' + note)
        faults += len(notes)
    print('%d files, %d faults' % (len(made), faults))
    return faults


def table(made):
    print('| file | what | size (m) | triangles | volume (m3) | made by | for |')
    print('|---|---|---|---|---|---|---|')
    for name, (maker, what, use) in MESHES.items():
        m = made[name][1]
        s = m.v.max(axis=0) - m.v.min(axis=0)
        by = maker.__name__ if maker.__name__ != '<lambda>' else 'make_rock'
        print('| `%s` | %s | %.2f x %.2f x %.2f | %d | %.4f | `%s` | %s |' % (
            name, what, s[0], s[1], s[2], len(m.t), m.volume(), by, use))


def main(args):
    if args == ['--check']:
        return 1 if check(make_all()) else 0
    if args == ['--list']:
        table(make_all())
        return 0
    if args:
        print(__doc__.strip())
        return 0 if args == ['--help'] else 2
    for name, (text, _) in make_all().items():
        with open(os.path.join(HERE, name), 'w', encoding='utf-8', newline='') as f:
            f.write(text)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
