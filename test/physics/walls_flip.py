"""A bed on every kind of wall, tool and machine in flip: see test/walls_matrix.py."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import walls_matrix

sys.exit(walls_matrix.check(["flip"]) > 0)
