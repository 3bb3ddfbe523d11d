"""Ten minutes of play in Chromium: digging, pouring, explosions, new starts. Memory does not grow, and the page never stalls."""
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from page_window import Page, Server, check  # noqa: E402

SECONDS = float(os.environ.get("SECONDS_EACH", 600))
STALL = 100  # ms without a turn of the page's own thread

WATCH = """
  window.gaps = []; let last = performance.now();
  setInterval(() => { const now = performance.now(); window.gaps.push(now - last - 20); last = now; }, 20);"""
PLAY = """
  const canvas = document.querySelector('canvas'), box = canvas.getBoundingClientRect();
  const at = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, {pointerId: 9, button: 0, bubbles: true,
    clientX: box.left + x * box.width, clientY: box.top + y * box.height}));
  const tools = [...document.querySelectorAll('#tools button')];
  tools[arguments[0] % 7].click();
  at('pointerdown', 0.4, 0.6);
  let k = 0;
  const drag = setInterval(() => { at('pointermove', 0.4 + 0.02 * k, 0.6); if (++k > 12) { clearInterval(drag); at('pointerup', 0.6, 0.6); } }, 80);"""


def main():
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        page = Page(pathlib.Path(folder))
        try:
            page.open(server.address)
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
            gaps = sorted(page.script("return window.gaps"))
            frames = page.data("frame")
            print(f"{turn} actions; longest gaps of the page {[round(gap) for gap in gaps[-3:]]} ms; memory of the world after each "
                  f"start {[round(size / 2**20, 1) for size in after_start]} MB, of all processes {[round(size / 2**20) for size in resident]} MB")
            check(max(after_start) < 1.05 * after_start[0], "the memory of a world grows from start to start")
            # Pages that processes share are counted several times, and the browser collects its garbage when it likes.
            half = len(resident) // 2
            check(half < 2 or min(resident[half:]) < 1.1 * min(resident[:half]), "the memory of the browser grows")
            check(gaps[-1] < STALL, f"the page stalled for {gaps[-1]:.0f} ms")
            check(frames > 0, "nothing moves")
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
