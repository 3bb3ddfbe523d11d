"""Folders and disks that cannot be written: exit code 3."""
import ctypes
import os
import resource
import signal
import subprocess
import unittest

from support.case import PATIENCE, PROGRAM, RAIN, Case


class CannotWrite(Case):
    def test_folder_is_a_file(self):
        self.write("file", "mine")
        self.bad(3, "it is a file", "run", RAIN, "-o", "file")
        self.bad(3, "Not a directory", "run", RAIN, "-o", "file/deeper")
        with open(self.path("file")) as file:
            self.assertEqual(file.read(), "mine")

    def test_folder_that_cannot_be_made(self):
        self.bad(3, "cannot be used", "run", RAIN, "-o", "/proc/none/there")
        self.bad(3, "too long", "run", RAIN, "-o", "a" * 2000)
        self.bad(3, "no name", "run", RAIN, "-o", "")

    def test_folder_that_may_not_be_written(self):
        """Root may write everywhere: there the program is begun without that right."""
        def drop_the_right():
            PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)
        os.mkdir(self.path("locked"), 0o555)
        self.bad(3, "ermission", "run", RAIN, "-o", "locked", preexec_fn=drop_the_right)

    def test_report(self):
        self.bad(3, "No such file", "run", RAIN, "-o", "o", "--frames", "1", "--report", "none/there.json")
        self.bad(3, "is a directory|Is a directory", "run", RAIN, "-o", "o", "--frames", "1", "--report", self.folder)
        self.bad(3, "space", "run", RAIN, "-o", "o", "--frames", "1", "--report", "/dev/full")

    def test_report_and_picture_are_tried_first(self):
        self.bad(3, "No such file", "bench", "geometry", "--report", "none/there.json")
        self.bad(3, "No such file", "compare", RAIN, "-o", "none/there.png", "--seconds", "1e6")
        self.bad(2, "ends in .png", "compare", RAIN, "-o", "there.jpg", "--seconds", "1e6")

    def test_two_runs_in_one_folder(self):
        """The first goes on until it is told to end; the second leaves all as it was."""
        first = subprocess.Popen([PROGRAM, "run", RAIN, "-o", "o", "--seconds", "1e6", "--frames-format", "none"],
                                 cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.wait_until(lambda: os.path.exists(self.path("o/checkpoint.scree")), "a checkpoint")
            for words in ((), ("--resume",)):
                self.bad(3, "another run is writing there", "run", RAIN, "-o", "o", "--seconds", "1e6", *words)
        finally:
            first.send_signal(signal.SIGINT)
            code = first.wait(PATIENCE)
        self.assertEqual(code, 130)
        frames = [int(line.split(",")[0]) for line in open(self.path("o/probes.csv")).read().splitlines()[1:]]
        self.assertEqual(frames, list(range(len(frames))))

    def test_full_disk(self):
        """A limit on the size of files stands for the disk: it needs no rights."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        self.bad(3, r"coarse_000000\.ply: error: cannot be written", "run", RAIN, "-o", "o", preexec_fn=limit)
        self.assertEqual(self.frame_files("o"), [])
        self.assertFalse([name for name in os.listdir(self.path("o")) if name.endswith(".part")])

    def test_disk_that_fills_up_later(self):
        """Small frames, no checkpoints on the way: the table of probes reaches the limit."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        self.bad(3, "cannot be written", "run", RAIN, "-o", "o", "--frames", "1000", "--frames-format", "none",
                 "--checkpoint-every", "0", preexec_fn=limit)

    def test_small_file_system(self):
        mount = self.path("small")
        os.mkdir(mount)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", mount], capture_output=True).returncode:
            self.skipTest("mounting is not allowed here; test_full_disk covers it")
        self.addCleanup(subprocess.run, ["umount", mount])
        self.bad(3, "No space left", "run", RAIN, "-o", "small/o")
        self.assertFalse([name for name in os.listdir(self.path("small/o")) if name.endswith(".part")])


if __name__ == "__main__":
    unittest.main()
