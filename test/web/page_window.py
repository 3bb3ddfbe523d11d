"""The page in Chromium without a screen: it opens, plays, digs with mouse and finger, changes method and material, shows
errors at their line, saves and loads, follows a link, shows the methods side by side; by keyboard alone, with names for screen
readers and readable contrast, light and dark; with threads and without."""
import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zlib

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

SOURCE = pathlib.Path(os.environ.get("SCREE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
SCREE = os.environ.get("SCREE", str(SOURCE / "build" / "scree"))
PATIENCE = 400  # s: what takes longer hangs; a busy machine draws slowly


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([SCREE, "serve", "--port", "0", "--folder", str(SOURCE / "web"), *options],
                                        stdout=subprocess.PIPE, text=True)
        self.address = re.search(r"http://\S+", self.process.stdout.readline())[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)


class Page:
    def __init__(self, folder):
        options = Options()
        for word in ("--headless=new", "--no-sandbox", "--window-size=900,560", "--disable-dev-shm-usage",
                     "--enable-unsafe-swiftshader", "--force-prefers-reduced-motion"):
            options.add_argument(word)
        options.binary_location = "/usr/bin/chromium"
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.driver.set_page_load_timeout(PATIENCE)
        self.driver.set_script_timeout(PATIENCE)
        self.driver.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})

    def at(self, name):
        return self.driver.find_element(By.ID, name)

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def data(self, name):
        return int(self.script(f"return document.documentElement.dataset.{name} ?? '-1'"))

    def state(self, path):
        return self.script(f"return import('./state.js').then(({{ state }}) => state.{path})")

    def until(self, what, test):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = test()
            if found:
                return found
            time.sleep(0.05)
        self.driver.save_screenshot(str(pathlib.Path(os.environ.get("SCREE_BUILD", ".")) / "page_failed.png"))
        sys.exit(f"not within {PATIENCE} s: {what}; the page says '{self.script('return document.getElementById(`notice`).textContent')}'")

    def open(self, address):
        begin = time.monotonic()
        self.driver.get(address)
        self.until("the first frame", lambda: self.data("frame") >= 1)
        return time.monotonic() - begin

    def plays(self, frames=3):
        begin = self.data("frame")
        self.until(f"{frames} frames more", lambda: self.data("frame") >= begin + frames or 0 < self.data("frame") < begin)

    def opened_again(self, action):
        """Does something that starts the scene again, and waits until it has."""
        before = self.data("opened")
        action()
        self.until("the scene starts again", lambda: self.data("opened") > before)

    def force(self):
        return self.script("const t = document.getElementById('force-size').textContent;"
                           "return document.getElementById('force').hidden ? 0 : parseFloat(t) * (t.includes('kN') ? 1000 : 1)")

    def show(self, tab):
        if self.at("panel").get_attribute("hidden"):
            self.at("panel-toggle").click()
        self.at(f"tab-{tab}").click()

    def hide(self):
        if not self.at("panel").get_attribute("hidden"):
            self.at("panel-toggle").click()

    def processes(self):
        """Of the browser: their numbers, with what the system says of them."""
        parents = {}
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                parents[int(stat.parent.name)] = stat.read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
        tree = {self.driver.service.process.pid}
        for _ in range(5):
            tree |= {pid for pid, fields in parents.items() if int(fields[1]) in tree}
        return {pid: parents[pid] for pid in tree if pid in parents}

    def used(self):
        """Processor time (s) and memory (bytes) of the browser's processes."""
        found = self.processes().values()
        return (sum(int(fields[11]) + int(fields[12]) for fields in found) / os.sysconf("SC_CLK_TCK"),
                sum(int(fields[21]) for fields in found) * os.sysconf("SC_PAGE_SIZE"))

    def canvas(self):
        return self.driver.find_element(By.TAG_NAME, "canvas")


def check(condition, what):
    if not condition:
        sys.exit(f"wrong: {what}")


def picture_shows_sand(page, path):
    """Coarse features: most of the middle is warm and bright, as sand is, and it is no plain area."""
    page.driver.save_screenshot(path)
    pixels = page.script("""
      const canvas = document.querySelector('canvas');
      const copy = new OffscreenCanvas(76, 56);
      const context = copy.getContext('2d');
      context.drawImage(canvas, 0, 0, 76, 56);
      return [...context.getImageData(26, 20, 22, 18).data];""")
    triples = [pixels[k:k + 3] for k in range(0, len(pixels), 4)]
    warm = sum(red > blue + 25 and red > 70 for red, green, blue in triples) / len(triples)
    shades = len({tuple(c // 24 for c in triple) for triple in triples})
    check(warm > 0.5 and shades > 12, f"the picture shows little sand: warm {warm:.2f}, shades {shades}")


def paused_at(page):
    """Pauses, and answers the frame that the world is at then: pictures and reports of earlier ones may still be on their way,
    the answer to a question that is asked behind the pause is not."""
    page.script("delete document.documentElement.dataset.hash")
    page.canvas().send_keys(Keys.SPACE, "h")
    said = page.until("the hash", lambda: page.script("return document.documentElement.dataset.hash"))
    frame, state = said.split()
    return int(frame), state


def dig_by_mouse(page):
    canvas = page.canvas()
    page.driver.find_element(By.CSS_SELECTOR, "[data-tool='dig:0']").click()
    ActionChains(page.driver).move_to_element_with_offset(canvas, -60, 40).click_and_hold().perform()
    check(page.at("hint").get_attribute("hidden"), "what is done need not be said")
    page.until("a force on the blade", lambda: page.force() > 0.5)
    forces = []
    for _ in range(4):
        ActionChains(page.driver).move_by_offset(25, -4).perform()
        page.plays(2)
        forces.append(page.force())
    check(max(forces) > 0.5, f"the blade moves through the sand without a force: {forces}")
    check(page.state("report.tool") is not None, "no tool in the report")
    ActionChains(page.driver).release().perform()
    # It is lifted out: the force goes.
    page.until("the force goes when the tool is lifted", lambda: page.force() < 0.5)


def dig_by_finger(page):
    page.driver.find_element(By.CSS_SELECTOR, "[data-tool='dig:2']").click()
    box = page.canvas().rect
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 + 40

    def touch(kind, dx):
        points = [] if kind == "touchEnd" else [{"x": x + dx, "y": y}]
        page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 0)
    page.until("a force on the ball", lambda: page.force() > 0.5)
    touch("touchMove", 30)
    page.plays(2)
    touch("touchEnd", 0)


def turn_angle(page, wanted):
    """Drags the slider of the friction angle as near to `wanted` as it goes; answers where it is then."""
    return page.script("""const input = document.querySelector("#materials input[data-key='material.friction_angle_deg']");
      input.value = arguments[0]; input.dispatchEvent(new Event('input')); input.dispatchEvent(new Event('change'));
      return input.value;""", wanted)


def angle_acts(page):
    """From end to end of the slider: the world takes it, at once. The scene's text stays as it was."""
    plain = page.at("editor").get_attribute("value")
    page.show("scene")
    for wanted in (0, 90, 36.5):
        angle = turn_angle(page, wanted)
        page.at("understood").click()
        page.until(f"the friction angle {angle} in the scene",
                   lambda: re.search(rf"friction_angle_deg: {angle}(?![\d.])", page.at("editor").get_attribute("value")))
        check(page.state("error") is None, f"the friction angle {angle} is refused")
    check(angle == "36.5", f"the slider is at {angle} instead of 36.5")
    page.script("return import('./state.js').then(({ update }) => update({ text: arguments[0] }))", plain)
    page.hide()


def changes(page):
    page.show("sand")
    page.script("[...document.querySelectorAll('#gravity button')].find((b) => b.textContent === 'Moon').click()")
    turn_angle(page, 45)
    page.plays(2)
    check(page.state("error") is None, "a change of gravity and friction is refused")
    angle_acts(page)
    page.show("look")
    page.script("const s = document.getElementById('color'); s.value = 'speed'; s.dispatchEvent(new Event('change'))")
    page.hide()
    for method in ("flip", "sph", "dem", "p2", "pbd"):
        page.opened_again(lambda: page.script(
            "const s = document.getElementById('method'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", method))
        page.plays(1)
        check(page.state("report.method") == method, f"the method is not {method}")
        angle_acts(page)
    page.show("look")
    page.hide()


def keys(page):
    frame, _ = paused_at(page)
    page.until("a pause by key", lambda: page.at("play").text == "Play")
    page.canvas().send_keys("n")
    page.until("one frame by key", lambda: page.data("frame") == frame + 1)
    before = page.state("camera")
    page.canvas().send_keys(Keys.ARROW_LEFT)
    page.until("a turn by key", lambda: page.state("camera") != before)
    page.canvas().send_keys(Keys.SPACE)
    page.plays(1)


def scene_text(page, folder):
    page.show("scene")
    editor = page.at("editor")
    right = editor.get_attribute("value")
    wrong = right.replace("frame_rate: 60", "frame_rat: 60")
    line = 1 + wrong[:wrong.index("frame_rat:")].count("\n")
    page.script("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", editor, wrong)
    page.at("run").click()
    page.until("the error of the scene", lambda: f"Line {line}, column 1" in page.at("editor-error").text)
    check("did you mean 'frame_rate'" in page.at("editor-error").text, page.at("editor-error").text)
    check(page.script("return document.querySelector('#editor-lines .wrong').textContent").strip() == str(line), "the line is not marked")
    mine = right.replace("title: Sandbox", "title: Mine").replace("[1, 1, 0.42]", "[1, 1, 0.1]")
    page.script("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", editor, mine)
    page.opened_again(page.at("run").click)
    check(page.at("scene-title").text == "Mine" and page.at("editor-error").text == "", "the mended scene does not run")
    page.at("save-scene").click()
    saved = page.until("the saved scene", lambda: next(iter(folder.glob("*.yaml")), None))
    page.until("all of it", lambda: saved.read_text() == mine)
    saved.write_text(mine.replace("title: Mine", "title: Loaded"))
    page.opened_again(lambda: page.at("file").send_keys(str(saved)))
    page.until("the loaded scene", lambda: page.at("scene-title").text == "Loaded")
    mesh = folder / "wedge.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    page.opened_again(lambda: page.at("file").send_keys(str(mesh)))
    check(page.state("report.coarse") > 50, "a mesh is not filled")
    page.plays(1)
    page.show("more")
    page.at("checkpoint").click()
    page.until("the checkpoint", lambda: next(iter(folder.glob("*.scree")), None))
    page.hide()


# Everything that can be reached by Tab has a name and can be seen to have the focus.
NAMELESS = """
const name = (e) => e.getAttribute('aria-label') || e.getAttribute('title') || e.textContent.trim() || (e.labels ?? [])[0]?.textContent.trim()
  || document.getElementById(e.getAttribute('aria-labelledby') ?? '')?.textContent;
return [...document.querySelectorAll('button, input, select, textarea, canvas, [role=tabpanel], dialog, nav, aside')]
  .filter((e) => e.type !== 'file' && !name(e)).map((e) => e.outerHTML.slice(0, 80));"""
# Text against the colour behind it, which for bars over the picture is the picture: they are nearly opaque, and the darkest and
# the brightest picture are tried. WCAG asks for 4.5.
FAINT = """
const numbers = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return c.startsWith('color(') ? [...m.slice(0, 3).map((v) => 255 * v), m[3] ?? 1] : [m[0], m[1], m[2], m[3] ?? 1]; };
const over = (top, below) => [0, 1, 2].map((k) => top[3] * top[k] + (1 - top[3]) * below[k]);
const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255, v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const bad = [];
for (const e of document.querySelectorAll('button, label, legend, output, h2, h3, p, dt, dd, td, strong, small, figcaption, .numbers, select, textarea')) {
  if (!e.checkVisibility() || !e.textContent.trim() || e.closest('[hidden]')) continue;
  for (const picture of [[0, 0, 0], [255, 255, 255]]) {
    const chain = [];
    for (let at = e; at && at !== document.body; at = at.parentElement) chain.unshift(numbers(getComputedStyle(at).backgroundColor));
    const behind = chain.reduce((below, top) => over(top, below), picture);
    const ink = over(numbers(getComputedStyle(e).color), behind);
    const [a, b] = [light(ink), light(behind)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${e.tagName} ${e.id} '${e.textContent.trim().slice(0, 30)}' ${ratio.toFixed(2)}`);
  }
}
return [...new Set(bad)];"""


def can_be_read(page):
    """With the settings open, tab by tab, light and dark."""
    page.show("look")
    check(not page.script(NAMELESS), f"no name for {page.script(NAMELESS)}")
    for scheme in ("light", "dark"):
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        for tab in ("look", "sand", "scene", "more"):
            page.show(tab)
            check(not page.script(FAINT), f"hard to read, {scheme}: {page.script(FAINT)}")
    page.hide()


def keyboard_alone(page):
    """From the top of the page by Tab: opens the settings, chooses a tab and a colour, closes; digs and lifts; opens a scene."""
    def focus(name, most=40):
        for _ in range(most):
            if page.script("return document.activeElement.id") == name:
                return
            ActionChains(page.driver).send_keys(Keys.TAB).perform()
        sys.exit(f"wrong: {name} is not reached by Tab")

    def press(*keys):
        ActionChains(page.driver).send_keys(*keys).perform()

    page.script("document.activeElement.blur()")
    focus("panel-toggle")
    press(Keys.ENTER)
    page.until("the settings by key", lambda: not page.at("panel").get_attribute("hidden"))
    focus("tab-look", 60)
    press(Keys.ARROW_RIGHT)
    check(page.script("return document.activeElement.id") == "tab-sand", "arrows do not walk through the tabs")
    press(Keys.ARROW_LEFT)
    focus("color")
    press("h")  # height, as in any list
    page.until("colours by key", lambda: page.state("color") == "height")
    focus("panel-toggle", 60)
    press(Keys.ENTER)
    page.canvas().send_keys("1", "k", "k")
    page.until("a force on the blade that keys move", lambda: page.force() > 0.5)
    page.canvas().send_keys(Keys.ESCAPE)
    focus("scenes-open", 60)
    press(Keys.ENTER)
    focus("scenes-filter")
    press("collapse of a column")
    page.until("the scenes that are searched for", lambda: len(page.driver.find_elements(By.CSS_SELECTOR, ".card")) < 5)
    press(Keys.ESCAPE, Keys.ESCAPE)  # the first empties the search
    page.until("the list is closed", lambda: not page.at("scenes").get_attribute("open"))


def side_by_side(page):
    """The five methods on one scene, each with its canvas, none more than three frames ahead; and back."""
    page.show("more")
    page.at("compare").click()
    page.hide()
    times = "return [...document.querySelectorAll('figcaption')].map((c) => c.textContent)"
    page.until("five pictures", lambda: len([c for c in page.script(times) if re.match(r"(pbd|p2|dem|sph|flip): [\d.]+ ms$", c)]) == 5)
    check(len(page.driver.find_elements(By.TAG_NAME, "canvas")) == 5, "not five canvases")
    for wanted in (0, 90):
        turn_angle(page, wanted)
        page.plays(4)  # so all of them have heard of it
        check(not page.driver.find_elements(By.CSS_SELECTOR, "figcaption.failed"), f"a method refuses the angle: {page.script(times)}")
    page.driver.save_screenshot(str(pathlib.Path(os.environ.get("SCREE_BUILD", ".")) / "page_methods.png"))
    page.show("more")
    page.opened_again(page.at("compare").click)
    page.hide()
    check(len(page.driver.find_elements(By.TAG_NAME, "canvas")) == 1, "not one canvas again")


def steers_a_machine(page, address):
    if not page.script("return import('./state.js').then(({ state }) => state.index.mujoco)"):
        return
    page.driver.get("about:blank")
    page.open(address + "#scene=sommer2022%2Fexcavator&set=" + '{"method.radius":0.04,"upsample":"null"}')
    page.until("four motors", lambda: len(page.driver.find_elements(By.CSS_SELECTOR, "#motors input")) == 4)
    before = page.state("report.controls")[0][1]
    ActionChains(page.driver).key_down("d").perform()
    page.until("the house swings by key", lambda: page.state("report.controls")[0][1] > before + 0.1)
    ActionChains(page.driver).key_up("d").perform()
    page.script("const m = document.querySelector('#motors input'); m.value = -1; m.dispatchEvent(new Event('input'))")
    page.until("the house swings by slider", lambda: page.state("report.controls")[0][1] < -0.9)
    page.at("release").click()
    page.until("the machine works by itself", lambda: abs(page.state("report.controls")[0][1] - before) < 0.2)


def threads_give_the_same_bits(page, address, folder):
    """A run on several threads, wherever it is when it is asked, has the state of the program's."""
    page.driver.get("about:blank")
    page.open(address + "#scene=side_by_side%2Fcollapse&method=pbd")
    check(page.state("report.threads") > 1 or len(os.sched_getaffinity(0)) == 1, "one thread although the page is isolated")
    page.plays(3)
    frame, state = paused_at(page)
    report = folder / "report.json"
    subprocess.run([SCREE, "run", "side_by_side/collapse", "--method", "pbd", "--frames", str(frame), "-o", str(folder / "native"), "--quiet",
                    "--frames-format", "none", "--report", str(report)], check=True, capture_output=True)
    check(json.loads(report.read_text())["state_hash"] == state, f"frame {frame} of the page has other bits than the program's")


# Keeps the worker where a test can send to it.
KEEP_WORKER = "window.Worker = class extends Worker { constructor(...all) { super(...all); window.kept = this; } };"


def picture_comes_back(page, address):
    """A graphics card that starts anew: the world goes on, and is drawn again."""
    page.driver.get("about:blank")
    kept = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": KEEP_WORKER})
    page.open(address)
    page.script("""window.words = []; const box = document.getElementById('notice');
      new MutationObserver(() => words.push(box.textContent)).observe(box, { childList: true }); kept.postMessage({ do: 'lose' })""")
    page.until("a word about it, and the card again", lambda: page.script(
        "const k = words.findIndex((word) => word.includes('graphics card')); return k >= 0 && words.indexOf('', k) > k"))
    page.plays(3)
    picture_shows_sand(page, str(pathlib.Path(os.environ.get("SCREE_BUILD", ".")) / "page_again.png"))
    page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": kept["identifier"]})


def links_that_lie(page, address):
    """Whatever stands behind the #, there is sand to play in, and a word about what was wrong."""
    raw = zlib.compressobj(9, wbits=-15)
    bomb = base64.urlsafe_b64encode(raw.compress(bytes(2**26)) + raw.flush()).decode().rstrip("=")
    for link, said in (("scene=../../etc/passwd", "no scene"), (f"yaml={bomb}&method=nobody&camera=1,nan&tool=<b>", "damaged")):
        page.driver.get("about:blank")
        page.open(f"{address}#{link}")
        page.until(f"a notice about {link[:20]}", lambda said=said: said in page.at("notice").text)
        check(page.state("name") == "sandbox", f"{link[:20]} opens something else")


def console_is_clean(page):
    lines = [line for line in page.driver.get_log("browser") if line["level"] == "SEVERE"]
    check(not lines, f"the console says {lines}")


def main():
    check((SOURCE / "web" / "index.html").exists(), "there is no web/: `make web` builds it")
    with tempfile.TemporaryDirectory() as name, Server() as shared, Server("--one-thread") as alone:
        folder = pathlib.Path(name)
        page = Page(folder)
        try:
            before = page.used()[0]
            seconds = page.open(shared.address)
            print(f"first frame after {seconds:.2f} s, {page.used()[0] - before:.2f} s of the processor")
            check(page.script("return crossOriginIsolated"), "the page is not isolated: no threads")
            check(not page.at("hint").get_attribute("hidden"), "nobody says what to do")
            page.plays(5)
            picture_shows_sand(page, str(pathlib.Path(os.environ.get("SCREE_BUILD", ".")) / "page.png"))
            dig_by_mouse(page)
            dig_by_finger(page)
            keys(page)
            changes(page)
            keyboard_alone(page)
            can_be_read(page)
            scene_text(page, folder)
            side_by_side(page)
            console_is_clean(page)
            steers_a_machine(page, shared.address)
            console_is_clean(page)
            threads_give_the_same_bits(page, shared.address, folder)
            console_is_clean(page)
            links_that_lie(page, shared.address)
            picture_comes_back(page, shared.address)
            console_is_clean(page)
            page.driver.get("about:blank")
            page.open(alone.address + "#scene=side_by_side%2Fcollapse&method=pbd")
            check(page.state("report.threads") == 1, "threads without the headers that they need")
            check(page.state("report.method") == "pbd" and page.state("name") == "side_by_side/collapse", "the link is not followed")
            page.at("link").click()
            page.until("the link", lambda: "camera=" in page.driver.current_url)
            console_is_clean(page)
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
