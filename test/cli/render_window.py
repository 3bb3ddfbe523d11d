"""scree view: the window under Xvfb, with keys pressed by xdotool."""
import os
import re
import shutil
import subprocess
import time
import unittest

from support.case import Case, HERE, PATIENCE, PROGRAM, needs
from support.pictures import differing, read_png
from support.readers import read_frame

SCENE = os.path.join(HERE, "render_scene.yaml")
TOOLS = all(shutil.which(tool) for tool in ("Xvfb", "xdotool"))
GAMEPAD = os.path.join(os.environ["SCREE_BUILD"], "libtest_gamepad.so")
WINDOW = b"without a window" not in subprocess.run([PROGRAM, "view", SCENE], stderr=subprocess.PIPE,
                                                   env={k: v for k, v in os.environ.items() if k != "DISPLAY"}).stderr


class Window(Case):
    @needs(WINDOW, "built without a window")
    def test_no_display(self):
        without = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
        self.bad(2, "no display", "view", SCENE, env=without)
        self.bad(2, "no scene", "view", "nothing", env=without)

    def try_key(self, *words):
        done = subprocess.run(["xdotool", *words], env=self.environment, capture_output=True, timeout=PATIENCE)
        return done.returncode == 0

    def key(self, *words):
        self.assertTrue(self.try_key(*words), words)

    def find_window(self):
        found = subprocess.run(["xdotool", "search", "--name", "^scree - "], env=self.environment, capture_output=True,
                               text=True)
        return found.stdout.split()[0] if found.stdout.split() else None

    def pictures(self):
        return {name for name in os.listdir(self.folder) if re.fullmatch(r"picture_\d+\.png", name)}

    def picture(self):
        """Presses P and gives the picture that appears."""
        before = self.pictures()
        self.key("key", "p")
        return read_png(self.path(self.wait_until(lambda: self.pictures() - before, "a picture").pop()))

    def picture_after(self, action, enough, what):
        """The first picture that is `enough`, with the action before each: a busy machine simulates and draws slowly."""
        def next_one():
            action()
            picture = self.picture()
            return picture if enough(picture) else None
        return self.wait_until(next_one, what)

    def hold(self, key, seconds):
        self.key("keydown", key)
        time.sleep(seconds)
        self.key("keyup", key)

    def still_picture(self):
        """Of a heap that has settled."""
        last = [self.picture()]

        def same(picture):
            before, last[0] = last[0], picture
            return differing(before, picture) < 200  # the ball rocks a little for long
        return self.picture_after(lambda: time.sleep(1), same, "a heap at rest")

    def start_server(self):
        """The name of a new display; None when another server took the number at the same moment."""
        read, write = os.pipe()
        # Without -noreset it starts again whenever its last client leaves, xdotool that looks for the window, and the program,
        # which comes in just then, finds no display.
        server = subprocess.Popen(["Xvfb", "-noreset", "-displayfd", str(write), "-screen", "0", "640x480x24"],
                                  pass_fds=[write], stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        os.close(write)
        with os.fdopen(read) as numbers:
            number = numbers.readline().strip()
        return ":" + number if number else None

    def open_window(self, *words, **variables):
        display = self.wait_until(self.start_server, "an X server")
        self.environment = dict(os.environ, DISPLAY=display)
        # The scene with an arm that sweeps through the heap.
        shutil.copy(os.path.join(HERE, "render_arm.xml"), self.folder)
        with open(SCENE) as file:
            scene = self.write("arm.yaml", file.read() + "mechanism: {mjcf: render_arm.xml}\n")
        viewer = subprocess.Popen([PROGRAM, "view", scene, "--width", "320", "--height", "240", "--fast", "--no-panel",
                                   "--close-after", str(4 * PATIENCE), *words], cwd=self.folder,
                                  env=dict(self.environment, **variables), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(viewer.communicate)
        self.addCleanup(viewer.kill)
        window = self.wait_until(lambda: viewer.poll() is not None or self.find_window(), "the window")
        if window is True:
            self.fail(viewer.communicate()[1])
        self.wait_until(lambda: self.try_key("windowfocus", "--sync", window), "the focus")
        self.key("mousemove", "--window", window, "160", "130")
        return viewer

    def close_window(self, viewer):
        self.key("key", "Escape")
        output, errors = viewer.communicate(timeout=PATIENCE)
        self.assertEqual((viewer.returncode, errors), (0, ""))
        return output

    def undriven(self, frames):
        """State hash and middle of the grains after so many frames of `scree run`, with nobody at the controls."""
        self.good("run", self.path("arm.yaml"), "-o", "plain", "--frames", str(frames))
        rows = read_frame(self.path("plain", f"coarse_{frames:06d}.ply"))
        return self.report("plain")["state_hash"], [sum(row[k] for row in rows) / len(rows) for k in range(3)]

    @needs(WINDOW and TOOLS, "needs Xvfb and xdotool")
    def test_drive_and_steer(self):
        viewer = self.open_window("--picture", "last.png")
        before = self.still_picture()
        for _ in range(4):  # however seldom it is drawn, each counts, by a fifteenth of the way or more
            self.hold("Left", 1)
            self.picture()
        # The arm, and the sand that it pushes.
        after = self.picture_after(lambda: self.hold("Left", 1), lambda seen: differing(before, seen) > 1000, "the arm")
        self.key("key", "c")  # other colours
        self.key("key", "h")  # show the panel
        time.sleep(1)
        self.key("key", "space")
        output = self.close_window(viewer)
        swing = float(re.search(r"control swing: (\S+)", output)[1])
        self.assertGreater(swing, 0.2)
        frames = int(re.search(r": (\d+) frames", output)[1])
        self.assertGreater(frames, 5)
        # The sand lies elsewhere than where it would lie had nobody touched it.
        middle = [float(v) for v in re.search(r"their middle \[(.*?)\]", output)[1].split(",")]
        _, plain = self.undriven(frames)
        self.assertGreater(sum((a - b) ** 2 for a, b in zip(middle, plain)) ** 0.5, 0.004)
        last = read_png(self.path("last.png"))
        self.assertEqual(last[:2], (320, 240))
        self.assertGreater(differing(after, last), 300)  # other colours

    @needs(WINDOW and TOOLS and os.path.exists(GAMEPAD), "needs Xvfb, xdotool and a window")
    def test_gamepad(self):
        viewer = self.open_window(LD_PRELOAD=GAMEPAD, SCREE_GAMEPAD="-0.8")
        time.sleep(6)
        for _ in range(4):  # where these were few pictures: each moves it by a hundredth of the way or more
            self.picture()
        swing = float(re.search(r"control swing: (\S+)", self.close_window(viewer))[1])
        self.assertGreater(swing, 0.1)  # the left stick to the left swings as the left arrow does

    @needs(WINDOW and TOOLS, "needs Xvfb and xdotool")
    def test_watching_changes_nothing(self):
        viewer = self.open_window("--paused")
        for _ in range(4):
            self.key("key", "n")
        self.key("key", "c", "key", "c", "key", "c")  # pressure is asked for on the way
        self.picture()
        output = self.close_window(viewer)
        frames = int(re.search(r": (\d+) frames", output)[1])
        self.assertGreater(frames, 0)
        self.assertEqual(re.search(r"state hash (\w+)", output)[1], self.undriven(frames)[0])

    @needs(WINDOW and TOOLS, "needs Xvfb and xdotool")
    def test_drop_and_blow_up(self):
        viewer = self.open_window("--paused")
        before = self.picture()
        self.key("key", "g")  # drop a ball
        self.key("key", "n")
        after = self.picture_after(lambda: None, lambda seen: differing(before, seen) > 50, "the ball")
        self.key("key", "b")  # blow the heap up
        self.picture_after(lambda: self.key("key", "n"), lambda seen: differing(after, seen) > 300, "the burst")
        output = self.close_window(viewer)
        self.assertIn("dropped bodies: 1", output)
        frames = int(re.search(r": (\d+) frames", output)[1])
        self.assertNotEqual(re.search(r"state hash (\w+)", output)[1], self.undriven(frames)[0])

    @needs(WINDOW and TOOLS, "needs Xvfb and xdotool")
    def test_pause_step_reset_and_camera(self):
        viewer = self.open_window("--paused")
        first = self.picture()
        for _ in range(3):
            self.key("key", "n")
        # The camera moves.
        self.picture_after(lambda: self.hold("w", 0.7), lambda seen: differing(first, seen) > 300, "another view")
        # Turned with the mouse.
        self.key("mousedown", "1", "mousemove_relative", "--sync", "40", "0", "mouseup", "1")
        self.key("key", "minus", "key", "plus")
        output = self.close_window(viewer)
        self.assertRegex(output, r": [1-3] frames")  # and the world only by these
        camera = [float(v) for v in re.search(r"eye: \[(.*?)\]", output)[1].split(",")]
        self.assertLess(camera[0], 1.79)

    @needs(WINDOW and TOOLS and shutil.which("ffmpeg"), "needs Xvfb, xdotool and ffmpeg")
    def test_film_and_reset(self):
        viewer = self.open_window()
        self.key("key", "v")
        self.wait_until(lambda: os.path.exists(self.path("film_001.mp4.part")), "the film")
        time.sleep(6)
        for _ in range(3):  # where these were few pictures
            self.picture()
        self.key("key", "v")
        self.wait_until(lambda: os.path.exists(self.path("film_001.mp4")), "the film's end")
        self.key("key", "r")
        self.picture()
        self.close_window(viewer)
        done = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of",
                               "csv=p=0", self.path("film_001.mp4")], capture_output=True, text=True, check=True)
        self.assertGreater(int(done.stdout), 0)


if __name__ == "__main__":
    unittest.main()
