"""Kill, interrupt and go on: the end is that of the run that was never stopped."""
import os
import shutil
import signal
import subprocess
import time
import unittest

from support.case import PROGRAM, RAIN, Case
from support.readers import read_csv

TIMINGS = ["wall_s", "ms_per_frame", "phases_ms", "memory_peak_mb", "threads"]


class Resume(Case):
    def start(self, folder, *words):
        return subprocess.Popen([PROGRAM, "run", RAIN, "-o", folder, "--frames", "100000", "--quiet", *words],
                                cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for(self, program, *names):
        until = time.monotonic() + 60
        while not os.path.exists(self.path(*names)):
            self.assertIsNone(program.poll(), "the run ended early")
            self.assertLess(time.monotonic(), until, "no frames for a minute")
            time.sleep(0.01)

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
        self.wait_for(program, "o", "coarse_000010.ply")
        program.kill()
        program.communicate()
        self.assertEqual(program.returncode, -signal.SIGKILL)
        self.same_end("o", len(self.frame_files("o")) + 6)

    def test_kill_without_asking_for_checkpoints(self):
        program = self.start("o")
        self.wait_for(program, "o", "coarse_000003.ply")
        program.kill()
        program.communicate()
        self.same_end("o", len(self.frame_files("o")) + 2)

    def test_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            folder = number.name
            program = self.start(folder, "--checkpoint-every", "0")
            self.wait_for(program, folder, "coarse_000005.ply")
            program.send_signal(number)
            _, error = program.communicate(timeout=60)
            self.assertEqual(program.returncode, 130, error)
            self.assertEqual(len(error.splitlines()), 1, error)
            count = len(self.frame_files(folder))
            self.assertEqual(len(read_csv(self.path(folder, "probes.csv"))[1]), count)
            self.assertEqual(self.report(folder)["frames"], count - 1)
            self.assertFalse([name for name in os.listdir(self.path(folder)) if name.endswith(".part")])
            self.same_end(folder, count + 3)

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
