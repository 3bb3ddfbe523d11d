"""The long form of the bed on every kind of wall, tool and machine: see test/walls_matrix.py."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import walls_matrix

sys.exit(walls_matrix.check(["pbd", "p2", "dem", "sph", "flip"], full=True) > 0)
