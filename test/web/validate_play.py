"""Ten minutes of play in Chromium: digging, pouring, explosions, new starts. Memory does not grow, and the page never stalls by
what it does itself: time in which its thread was ready to run and the machine had no processor for it is not counted."""
import bisect
import os
import pathlib
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from page_window import Page, Server, check  # noqa: E402

SECONDS = float(os.environ.get("SECONDS_EACH", 600))
STALL = 100  # ms without a turn of the page's own thread

WATCH = """
  window.gaps = []; let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    if (now - last > 60) window.gaps.push([performance.timeOrigin + last, performance.timeOrigin + now]);
    last = now;
  }, 20);"""
PLAY = """
  const canvas = document.querySelector('canvas'), box = canvas.getBoundingClientRect();
  const at = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, {pointerId: 9, button: 0, bubbles: true,
    clientX: box.left + x * box.width, clientY: box.top + y * box.height}));
  const tools = [...document.querySelectorAll('#tools button')];
  tools[arguments[0] % 7].click();
  at('pointerdown', 0.4, 0.6);
  let k = 0;
  const drag = setInterval(() => { at('pointermove', 0.4 + 0.02 * k, 0.6); if (++k > 12) { clearInterval(drag); at('pointerup', 0.6, 0.6); } }, 80);"""


class Thread:
    """The page's own thread, which is the first of its process: when it ran, and when it waited for a processor (ms)."""

    def __init__(self, pid):
        self.path = pathlib.Path(f"/proc/{pid}/task/{pid}/schedstat")
        self.times, self.ran, self.waited = [], [], []
        self.ends = threading.Event()
        self.sampler = threading.Thread(target=self.sample, daemon=True)
        self.sampler.start()

    def sample(self):
        while not self.ends.wait(0.01):
            ran, waited = (int(number) / 1e6 for number in self.path.read_text().split()[:2])
            self.times.append(1000 * time.time())
            self.ran.append(ran)
            self.waited.append(waited)

    def between(self, begin, end):
        """ms that it ran and waited between two times, which samples enclose."""
        first, last = max(bisect.bisect_right(self.times, begin) - 1, 0), min(bisect.bisect_left(self.times, end), len(self.times) - 1)
        return self.ran[last] - self.ran[first], self.waited[last] - self.waited[first]


def page_process(page):
    """Of the browser's processes with a page the one that has worked most."""
    def worked(pid):
        return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))

    pages = [pid for pid in page.processes() if b"--type=renderer" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
    return max(pages, key=worked)


def main():
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        page = Page(pathlib.Path(folder))
        try:
            page.open(server.address)
            own = Thread(page_process(page))
            page.script(WATCH)
            end, turn, after_start, resident = time.time() + SECONDS, 0, [], []
            while time.time() < end:
                if turn % 20 == 0:
                    page.opened_again(page.at("reset").click)
                    page.plays(5)
                    after_start.append(page.state("report.memory"))
                    resident.append(page.used()[1])
                page.script(PLAY, turn)
                time.sleep(1.5)
                check(page.state("error") is None, page.state("error"))
                turn += 1
            gaps = page.script("return window.gaps")
            own.ends.set()
            own.sampler.join()
            frames = page.data("frame")
            stalls = []  # without its waits, the whole of it, how long it ran, waited
            for begin, last in gaps:
                ran, waited = own.between(begin, last)
                stalls.append((last - begin - waited, last - begin, ran, waited))
            stalls.sort(reverse=True)
            print(f"{turn} actions; {len(gaps)} gaps of more than 60 ms; the longest without waits for a processor (all of it, ran, waited): "
                  f"{[tuple(round(ms) for ms in stall) for stall in stalls[:4]]} ms; the longest of all {round(max((s[1] for s in stalls), default=0))} ms")
            print(f"memory of the world after each start {[round(size / 2**20, 1) for size in after_start]} MB, of all processes "
                  f"{[round(size / 2**20) for size in resident]} MB")
            check(max(after_start) < 1.05 * after_start[0], "the memory of a world grows from start to start")
            # Pages that processes share are counted several times, and the browser collects its garbage when it likes.
            half = len(resident) // 2
            check(half < 2 or min(resident[half:]) < 1.1 * min(resident[:half]), "the memory of the browser grows")
            check(not stalls or stalls[0][0] < STALL, f"the page stalled for {stalls[0][0] if stalls else 0:.0f} ms")
            check(frames > 0, "nothing moves")
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
