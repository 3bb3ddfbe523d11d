"""Kill, interrupt and go on: the end is that of the run that was never stopped."""
import os
import shutil
import signal
import struct
import subprocess
import time
import unittest
import zlib

from support.case import PATIENCE, PROGRAM, RAIN, Case
from support.readers import read_csv

TIMINGS = ["wall_s", "ms_per_frame", "phases_ms", "memory_peak_mb", "threads"]


def png_16(width, height, value):
    """A grey picture of 16 bits, all of one value."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + struct.pack(">H", value) * width) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Resume(Case):
    def start(self, folder, *words):
        return subprocess.Popen([PROGRAM, "run", RAIN, "-o", folder, "--frames", "100000", "--quiet", *words],
                                cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def same_end(self, folder, frames):
        """A resumed run has every file of the run that was never stopped, timings aside."""
        self.run_rain(folder, frames, "--resume", "--threads", "1")
        self.run_rain("whole", frames, "--threads", "2")
        names = sorted(os.listdir(self.path("whole")))
        self.assertEqual(sorted(os.listdir(self.path(folder))), names)
        for name in names:
            if name.endswith((".ply", ".csv", ".yaml")):
                with open(self.path(folder, name), "rb") as one, open(self.path("whole", name), "rb") as two:
                    self.assertEqual(one.read(), two.read(), name)
        reports = [self.report(folder), self.report("whole")]
        for report in reports:
            for key in TIMINGS:
                del report[key]
        self.assertEqual(*reports)

    def test_kill(self):
        program = self.start("o", "--checkpoint-every", "4")
        self.wait_for_file(program, "o", "coarse_000010.ply")
        program.kill()
        program.communicate()
        self.assertEqual(program.returncode, -signal.SIGKILL)
        self.same_end("o", len(self.frame_files("o")) + 6)

    def test_kill_without_asking_for_checkpoints(self):
        program = self.start("o")
        self.wait_for_file(program, "o", "coarse_000003.ply")
        program.kill()
        program.communicate()
        self.same_end("o", len(self.frame_files("o")) + 2)

    def test_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            folder = number.name
            program = self.start(folder, "--checkpoint-every", "0")
            self.wait_for_file(program, folder, "coarse_000005.ply")
            program.send_signal(number)
            _, error = program.communicate(timeout=PATIENCE)
            self.assertEqual(program.returncode, 130, error)
            self.assertEqual(len(error.splitlines()), 1, error)
            count = len(self.frame_files(folder))
            self.assertEqual(len(read_csv(self.path(folder, "probes.csv"))[1]), count)
            self.assertEqual(self.report(folder)["frames"], count - 1)
            self.assertFalse([name for name in os.listdir(self.path(folder)) if name.endswith(".part")])
            self.same_end(folder, count + 3)

    def test_a_closed_terminal_does_not_end_what_nohup_began(self):
        program = subprocess.Popen(["nohup", PROGRAM, "run", RAIN, "-o", "o", "--frames", "100000", "--quiet"],
                                   cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.wait_for_file(program, "o", "coarse_000003.ply")
        program.send_signal(signal.SIGHUP)
        self.wait_for_file(program, "o", f"coarse_{len(self.frame_files('o')) + 5:06}.ply")
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=PATIENCE)
        self.assertEqual(program.returncode, 130)

    def test_other_files_of_the_same_names(self):
        """What a run began with is what it goes on with: a mesh, a mechanism, controls, a picture."""
        box = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1))
        faces = "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
        files = {"tool.obj": box + faces, "fill.obj": box.replace("1", "0.5") + faces,
                 "arm.xml": "<mujoco><worldbody><body name='arm' pos='3 0 1'><joint name='j' type='hinge'/>"
                            "<geom size='.1'/></body></worldbody><actuator><motor name='m' joint='j'/></actuator></mujoco>",
                 "controls.csv": "time,m\n0,0\n1,1\n", "ground.png": png_16(4, 4, 1000)}
        other = {"tool.obj": files["tool.obj"].replace("v 1 1 1", "v 1 1 1.01"),
                 "fill.obj": files["fill.obj"].replace("v 0.5 0.5 0.5", "v 0.5 0.5 0.51"),
                 "arm.xml": files["arm.xml"].replace("size='.1'", "size='.11'"),
                 "controls.csv": files["controls.csv"].replace("1,1", "1,2"), "ground.png": png_16(4, 4, 1001)}
        for name, text in files.items():
            self.write(name, text)
        self.write("scene.yaml", """scree: 1
method: {name: pbd, radius: 0.08}
materials: {sand: {density: 1600}}
grains: [{material: sand, fill: {mesh: fill.obj, position: [0.2, 0.2, 1.2]}}]
terrain: {size: [4, 4], cell: 1, png: ground.png, height_range: [0, 0.1]}
boundaries: [{mesh: tool.obj, name: tool, position: [2, 2, 0.5]}]
mechanism: {mjcf: arm.xml, controls: controls.csv}
""")
        self.good("run", "scene.yaml", "-o", "o", "--frames", "2")
        resume = ("run", "scene.yaml", "-o", "o", "--frames", "3", "--resume")
        said = {"tool.obj": "'tool'", "fill.obj": "fill", "arm.xml": "mechanism", "controls.csv": "controls",
                "ground.png": "heights"}
        for name, text in other.items():
            self.write(name, text)
            self.bad(2, rf"written with another file: the .*{said[name]}.* has changed since", *resume)
            self.write(name, files[name])
        self.good(*resume)

    def test_contacts_that_follow_from_the_angle(self):
        """Keys that are auto, an angle, and contact friction alone, which is the older way to say both."""
        for method in ("pbd", "p2", "dem, time_step: 2e-4", "sph", "flip"):  # dem chooses its step by what happens
            self.write("scene.yaml", f"""scree: 1
method: {{radius: 0.03, name: {method}}}
materials:
  plain: {{density: 1600}}
  steep: {{density: 1600, friction_angle_deg: 36, friction_static: auto}}
  older: {{density: 1600, friction_static: 0.5, friction_kinetic: 0.4}}
grains:
  - {{material: plain, fill: {{box: {{min: [0, 0, 0], max: [0.3, 0.3, 0.3]}}}}}}
  - {{material: steep, fill: {{box: {{min: [0.3, 0, 0], max: [0.6, 0.3, 0.3]}}}}}}
  - {{material: older, fill: {{box: {{min: [0.6, 0, 0], max: [0.9, 0.3, 0.3]}}}}}}
boundaries: [{{plane: {{point: [0, 0, 0], normal: [0, 0, 1]}}}}]
""")
            words = ("--frames-format", "none", "--quiet")
            self.good("run", "scene.yaml", "-o", "whole", "--frames", "6", *words)
            self.good("run", "scene.yaml", "-o", "o", "--frames", "3", *words)
            shutil.copy(self.path("o", "scene.yaml"), self.path("understood.yaml"))
            self.bad(2, "another scene", "run", "scene.yaml", "-o", "o", "--frames", "6", "--resume", *words,
                     "--set", "materials.steep.friction_angle_deg=35")
            self.good("run", "understood.yaml", "-o", "o", "--frames", "6", "--resume", *words)
            self.assertEqual(self.report("o")["state_hash"], self.report("whole")["state_hash"], method)

    def test_every_method_with_fine_grains(self):
        """Killed, and interrupted, at whatever point it is: the end is that of a run that was never stopped."""
        self.write("scene.yaml", """scree: 1
frame_rate: 60
method: {name: pbd, radius: 0.03}
materials: {sand: {density: 1600, friction_angle_deg: 35}, loam: {density: 1700}}
grains:
  - {material: sand, fill: {box: {min: [-0.2, -0.2, 0.03], max: [0, 0.2, 0.3]}}}
  - {material: loam, fill: {box: {min: [0, -0.2, 0.03], max: [0.2, 0.2, 0.3]}}}
emitters: [{material: sand, disc: {center: [0, 0, 0.7], radius: 0.1, direction: [0, 0, -1]}, rate: 20, speed: 1}]
sinks: [{box: {min: [0.1, 0.1, -1], max: [1, 1, 0.05]}}]
boundaries: [{box: {min: [-0.25, -0.25, 0], max: [0.25, 0.25, 2]}, inside: true, name: tank}]
bodies: [{name: ball, sphere: {radius: 0.06}, position: [0, 0, 0.5]}]
upsample: {radius: 0.012}
""")
        words = ("--quiet", "--checkpoint-every", "2")
        for number, method in enumerate(("pbd", "p2", "dem", "sph", "flip", "none")):
            run = ("run", "scene.yaml", "--method", method, *words)
            for signal_number in (signal.SIGKILL, signal.SIGINT):
                folder = f"{method}_{signal_number.name}"
                program = subprocess.Popen([PROGRAM, *run, "-o", folder, "--frames", "100000"], cwd=self.folder,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                self.wait_for_file(program, folder, "checkpoint.scree")
                time.sleep(0.03 * number)
                program.send_signal(signal_number)
                program.wait(PATIENCE)
                frames = len(self.frame_files(folder)) + 3
                self.good(*run, "-o", folder, "--frames", str(frames), "--resume", "--threads", "2")
                self.good(*run, "-o", "whole", "--frames", str(frames), "--threads", "1")
                for name in (f"coarse_{frames:06}.ply", f"grains_{frames:06}.ply", "bodies.csv"):
                    with open(self.path(folder, name), "rb") as one, open(self.path("whole", name), "rb") as two:
                        self.assertEqual(one.read(), two.read(), (folder, name))

    def test_going_on_after_the_end(self):
        self.run_rain("o", 4)
        self.same_end("o", 9)
        self.run_rain("o", 9, "--resume")
        self.assertEqual(self.report("o")["frames"], 9)
        self.bad(2, "at frame 9, past the last frame 5", "run", RAIN, "-o", "o", "--frames", "5", "--resume")
        self.assertEqual(len(self.frame_files("o")), 10)

    def test_later_results_are_cut(self):
        self.run_rain("o", 4)
        shutil.copy(self.path("o", "checkpoint.scree"), self.path("four"))
        self.run_rain("o", 12)
        shutil.copy(self.path("four"), self.path("o", "checkpoint.scree"))
        self.write("o/coarse_000011.ply.part", "half")
        with open(self.path("o", "probes.csv"), "a") as file:
            file.write("13,0.2")
        self.same_end("o", 7)

    def test_bad_checkpoints(self):
        self.bad(2, "no checkpoint", "run", RAIN, "-o", "nowhere", "--resume")
        self.assertFalse(os.path.exists(self.path("nowhere")))
        self.run_rain("o", 3)
        resume = ("run", RAIN, "-o", "o", "--frames", "6", "--resume")
        checkpoint = self.path("o", "checkpoint.scree")
        with open(checkpoint, "rb") as file:
            data = file.read()
        before = sorted(os.listdir(self.path("o")))
        for wrong in (b"", data[:1], data[:40], data[:len(data) // 2], data[:-1], b"rubbish" * 100,
                      bytes([data[0] ^ 1]) + data[1:]):
            self.write("o/checkpoint.scree", wrong)
            self.bad(2, "checkpoint", *resume)
        self.write("o/checkpoint.scree", data)
        self.bad(2, "checkpoint", *resume, "--set", "method.radius=0.05")
        self.assertEqual(sorted(os.listdir(self.path("o"))), before)
        os.rename(self.path("o", "probes.csv"), self.path("probes.csv"))
        self.bad(2, r"probes\.csv", *resume)
        with open(self.path("probes.csv")) as file:
            rows = file.readlines()
        self.write("o/probes.csv", "".join(rows[:3]))
        self.bad(2, "rows are missing", *resume)
        self.write("o/probes.csv", "".join(rows))
        self.good(*resume)


if __name__ == "__main__":
    unittest.main()
