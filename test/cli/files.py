"""What a run writes, read back by independent readers."""
import json
import math
import os
import shutil
import unittest

from support.case import RAIN, Case
from support.readers import read_compact, read_csv, read_frame, read_vtp


class Files(Case):
    def test_frames_and_rows(self):
        frames = 12
        self.run_rain("o", frames)
        names = self.frame_files("o")
        self.assertEqual(names, ["coarse_%06d.ply" % k for k in range(frames + 1)])
        self.assertEqual(sorted(set(os.listdir(self.path("o"))) - set(names)),
                         ["bodies.csv", "checkpoint.scree", "probes.csv", "report.json", "scene.yaml"])
        header, rows = read_csv(self.path("o", "probes.csv"))
        self.assertEqual(",".join(header),
                         "frame,time,falling,pile,spread,load_x,load_y,load_z,solid,mass,ball_x,ball_y,ball_z,ball_qw,"
                         "ball_qx,ball_qy,ball_qz,ball_vx,ball_vy,ball_vz,ball_wx,ball_wy,ball_wz,creep,"
                         "energy_kinetic,energy_potential")
        self.assertEqual([int(row[0]) for row in rows], list(range(frames + 1)))
        for row in rows:
            self.assertEqual(len(row), len(header))
            self.assertAlmostEqual(float(row[1]), int(row[0]) / 60, places=9)
        header, rows = read_csv(self.path("o", "bodies.csv"))
        self.assertEqual(",".join(header), "frame,time,name,x,y,z,qw,qx,qy,qz,fx,fy,fz,tx,ty,tz")
        self.assertEqual([row[2] for row in rows], ["ball", "lid"] * (frames + 1))
        self.assertAlmostEqual(float(rows[1][5]), 5, places=6)
        self.assertAlmostEqual(float(rows[-1][5]), 5 + frames / 60, places=6)

    def test_columns_and_free_fall(self):
        self.run_rain("o", 3, "--set", "emitters=[]")
        start = {row[7]: row for row in read_frame(self.path("o", "coarse_000000.ply"))}
        later = {row[7]: row for row in read_frame(self.path("o", "coarse_000003.ply"))}
        self.assertGreater(len(start), 100)
        self.assertEqual({row[8] for row in start.values()}, {0, 1})
        for x, y, z, vx, vy, vz, radius, _, material in start.values():
            self.assertTrue(999.99 <= x <= 1000.91 and -2000.01 <= y <= -1999.59 and 4.99 <= z <= 5.41)
            self.assertEqual((vx, vy, vz), (0, 0, -2 if material == 0 else 0))
            self.assertAlmostEqual(radius, 0.02, delta=0.005)
        fallen = [(row, later[i]) for i, row in start.items() if i in later]
        self.assertGreater(len(fallen), 100)
        for before, after in fallen:
            self.assertAlmostEqual(after[5], before[5] - 9.81 * 3 / 60, delta=1e-3)
            self.assertAlmostEqual(after[2], before[2] + before[5] * 3 / 60, delta=0.5 * 9.81 * (3 / 60) ** 2 * 1.6)

    def test_report(self):
        self.run_rain("o", 12, "--threads", "2")
        report = self.report("o")
        self.assertEqual(list(report), [
            "scree", "scene", "method", "device", "threads", "simd", "frames", "steps", "simulated_s", "wall_s",
            "particles", "ms_per_frame", "phases_ms", "memory_peak_mb", "mass", "max_overlap", "max_speed", "warnings",
            "state_hash", "grains_hash", "probes"])
        self.assertEqual((report["scene"], report["method"], report["device"], report["threads"], report["frames"]),
                         ("rain", "none", "cpu", 2, 12))
        self.assertIn(report["simd"], ("avx2", "baseline"))
        self.assertAlmostEqual(report["simulated_s"], 0.2)
        self.assertGreaterEqual(report["steps"], 12)
        self.assertEqual(list(report["particles"]), ["coarse", "grains", "boundary", "body"])
        self.assertEqual(list(report["ms_per_frame"]), ["total", "coarse", "upsample", "bodies", "output"])
        self.assertGreater(report["ms_per_frame"]["total"], report["ms_per_frame"]["output"])
        self.assertGreater(report["memory_peak_mb"], 0)
        mass = report["mass"]
        self.assertGreater(mass["emitted"], 0)
        self.assertGreater(mass["removed"], 0)
        self.assertAlmostEqual(mass["initial"] + mass["emitted"] - mass["removed"], mass["final"],
                               delta=1e-6 * mass["initial"])
        self.assertIn("cfl_limited_steps", report["warnings"])
        for key in ("state_hash", "grains_hash"):
            self.assertRegex(report[key], r"^[0-9a-f]{16}$")
        self.assertEqual(report["particles"]["coarse"], len(read_frame(self.path("o", "coarse_000012.ply"))))
        header, rows = read_csv(self.path("o", "probes.csv"))
        column = [float(row[header.index("falling")]) for row in rows]
        falling = report["probes"]["falling"]
        self.assertEqual((falling["last"], falling["unit"]), (column[-1], "kg/s"))
        finite = [value for value in column if math.isfinite(value)]
        self.assertAlmostEqual(falling["mean"], sum(finite) / len(finite), places=9)
        self.assertEqual(set(report["probes"]["energy"]["last"]), {"kinetic", "potential"})
        self.assertEqual(set(report["probes"]["load"]["mean"]), {"x", "y", "z"})

    def test_report_elsewhere(self):
        self.run_rain("o", 1, "--report", "r.json")
        for place in (self.path("r.json"), self.path("o", "report.json")):
            with open(place) as file:
                self.assertEqual(json.load(file)["frames"], 1)
        done = self.run_rain("o", 1, "--report", "/dev/stdout", "--quiet")
        self.assertEqual(json.loads(done.stdout)["frames"], 1)

    def test_start_alone(self):
        self.run_rain("o", 0)
        self.assertEqual(self.frame_files("o"), ["coarse_000000.ply"])
        self.assertEqual(len(read_csv(self.path("o", "probes.csv"))[1]), 1)
        self.assertEqual(self.report("o")["frames"], 0)

    def test_lengths_of_a_run(self):
        self.good("run", RAIN, "-o", "o", "--seconds", "0.1")
        self.assertEqual(self.report("o")["frames"], 6)
        self.good("run", RAIN)
        self.assertEqual(self.report("out/rain")["frames"], 12)
        self.good("run", RAIN, "--set", "duration=0.05")
        self.assertEqual(len(self.frame_files("out/rain")), 4)

    def test_formats(self):
        self.run_rain("ply", 2)
        self.run_rain("vtp", 2, "--frames-format", "vtp")
        self.run_rain("none", 2, "--frames-format=none")
        self.assertEqual(self.frame_files("none") + self.frame_files("none", ending="vtp"), [])
        self.assertEqual(len(self.frame_files("vtp", ending="vtp")), 3)
        for k in range(3):
            self.assertEqual(read_frame(self.path("ply", "coarse_%06d.ply" % k)),
                             read_vtp(self.path("vtp", "coarse_%06d.vtp" % k)))

    def test_compact_frames(self):
        """Positions within 2 % of the radius, at most 8 and 12 bytes a grain and the same bytes on any number of threads;
        the scene lies 2 km from zero, where a float has steps of 0.1 mm."""
        self.run_rain("ply", 2)
        columns = {"none": 8, "velocity": 12, "id": 12, "velocity,id": 16}
        for words, bytes_each in columns.items():
            self.run_rain(words, 2, "--frames-format", "compact", "--frames-columns", words)
            self.assertEqual(self.frame_files(words), [])
            for name in self.frame_files(words, ending="compact"):
                flags, rows = read_compact(self.path(words, name))
                self.assertEqual(flags, ("velocity" in words) + 2 * ("id" in words))
                self.assertLess(os.path.getsize(self.path(words, name)) - bytes_each * len(rows), 64 + 4 * 256 + 16 * 8)
        self.run_rain("three", 2, "--frames-format", "compact", "--frames-columns", "velocity,id", "--threads", "3")
        for k in range(3):
            name = "coarse_%06d.compact" % k
            with open(self.path("velocity,id", name), "rb") as one, open(self.path("three", name), "rb") as two:
                self.assertEqual(one.read(), two.read())
            exact = {row[7]: row for row in read_frame(self.path("ply", "coarse_%06d.ply" % k))}
            _, rows = read_compact(self.path("three", name))
            self.assertEqual({row[7] for row in rows}, set(exact))
            for row in rows:
                there = exact[row[7]]
                self.assertLess(math.dist(row[:3], there[:3]), 0.02 * there[6])
                self.assertLess(math.dist(row[3:6], there[3:6]), 0.01 * math.hypot(*there[3:6]) + 1e-6)
                self.assertAlmostEqual(row[6], there[6], delta=0.002 * there[6])
                self.assertEqual(row[8], there[8])
        self.bad(2, "for compact frames", "run", RAIN, "--frames-columns", "id")

    def test_scene_as_understood(self):
        self.run_rain("o", 2, "--set", "method.radius=0.03", "--seed", "9")
        with open(self.path("o", "scene.yaml")) as file:
            text = file.read()
        self.assertRegex(text, r"radius: 0\.03\b")
        self.assertRegex(text, r"(?m)^seed: 9$")
        self.good("run", self.path("o", "scene.yaml"), "-o", "again", "--frames", "2")
        self.assertEqual(self.report("o")["state_hash"], self.report("again")["state_hash"])

    def test_earlier_results_go(self):
        self.run_rain("o", 5)
        self.write("o/notes.txt", "mine")
        self.run_rain("o", 2)
        self.assertEqual(len(self.frame_files("o")), 3)
        self.assertIn("notes.txt", os.listdir(self.path("o")))
        self.assertEqual(len(read_csv(self.path("o", "probes.csv"))[1]), 3)

    def test_what_is_read_is_not_written_over(self):
        shutil.copy(RAIN, self.path("scene.yaml"))
        with open(RAIN) as file:
            text = file.read()
        self.bad(2, "write over its scene", "run", self.path("scene.yaml"), "-o", self.folder, "--frames", "1")
        self.bad(2, "report would be written over the scene", "run", self.path("scene.yaml"), "-o", "o", "--report", self.path("scene.yaml"))
        with open(self.path("scene.yaml")) as file:
            self.assertEqual(file.read(), text)
        self.assertEqual(os.listdir(self.folder), ["scene.yaml"])
        # What a run has written itself may be run there again, as long as it says the same.
        self.run_rain("o", 1)
        again = self.path("o", "scene.yaml")
        self.good("run", again, "-o", "o", "--frames", "1")
        self.bad(2, "write over its scene", "run", again, "-o", "o", "--frames", "1", "--seed", "9")
        self.assertIn("report.json", os.listdir(self.path("o")))
        mesh = os.path.join(os.environ["SCREE_SOURCE"], "assets", "rock_1.obj")
        shutil.copy(mesh, self.path("rock.obj"))
        self.bad(2, "is the mesh that is read", "sample", self.path("rock.obj"), "--radius", "0.1", "-o", self.path("rock.obj"))

    def test_same_hash_for_any_threads_and_other_for_other_seed(self):
        for threads in ("1", "2", "3"):
            self.run_rain(threads, 5, "--threads", threads)
        self.run_rain("seed", 5, "--seed", "77")
        hashes = [self.report(folder)["state_hash"] for folder in ("1", "2", "3", "seed")]
        self.assertEqual(len(set(hashes[:3])), 1)
        self.assertNotEqual(hashes[0], hashes[3])


if __name__ == "__main__":
    unittest.main()
