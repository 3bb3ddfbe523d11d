// A canvas with a world of its own behind it: the worker, and what pointer and wheel do on it.
import { extent, state, toolSize } from "./state.js";

export class View {
  /** `program` is a promise of the compiled module; `hear(message, view)` gets what the worker says. */
  constructor(parent, threads, program, hear, label) {
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", label || "The sand. Arrow keys turn the camera, I J K L move the tool.");
    this.figure = document.createElement("figure");
    this.caption = document.createElement("figcaption");
    this.caption.textContent = label ?? "";
    this.caption.hidden = !label;
    this.figure.append(this.canvas, this.caption);
    parent.append(this.figure);
    this.worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => hear(data, this);
    this.worker.onerror = (event) => hear({ is: "broken", message: event.message || "The worker could not be started." }, this);
    const offscreen = this.canvas.transferControlToOffscreen();
    this.worker.postMessage({ do: "start", threads, canvas: offscreen }, [offscreen]);
    program.then((compiled) => this.send("program", { program: compiled }), (error) => hear({ is: "broken", message: error.message }, this));
    this.pointers = new Map();
    this.watch();
    this.sizer = new ResizeObserver(() => this.resize());
    this.sizer.observe(this.figure);
    this.resize(); // the observer speaks a frame later: a scene that opens before it would be framed for no window
  }

  send(task, more = {}, transfer = []) {
    this.worker.postMessage({ do: task, ...more }, transfer);
  }

  close() {
    this.sizer.disconnect();
    this.worker.terminate();
    this.figure.remove();
  }

  resize() {
    const { width, height } = this.figure.getBoundingClientRect();
    // Software draws every pixel by the processor: fewer of them.
    const density = state.software ? Math.min(1, 900 / Math.max(width, height, 1)) : Math.min(window.devicePixelRatio || 1, 2);
    this.send("size", { width: Math.max(2, Math.round(width * density)), height: Math.max(2, Math.round(height * density)) });
  }

  /** A point of the picture, 0 to 1. */
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  }

  watch() {
    const canvas = this.canvas;
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.send("turn", { yaw: 0, pitch: 0, zoom: Math.exp(0.0012 * event.deltaY) });
    }, { passive: false });
  }

  down(event) {
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // A pointer that is no more, as those of tests are.
    }
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (this.pointers.size === 2) {
      // Two fingers are the camera's, whatever the first had begun.
      this.finish();
      this.doing = "pinch";
      return;
    }
    if (this.pointers.size > 2) return;
    const secondary = event.button === 2 || event.button === 1 || event.ctrlKey;
    this.doing = secondary ? "turn" : event.shiftKey ? "shift" : state.tool.split(":")[0];
    if (this.doing === "camera") this.doing = "turn";
    this.at = this.place(event);
    this.act(true);
  }

  moved(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    if (this.doing === "pinch") {
      const other = [...this.pointers.entries()].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const far = (p) => Math.hypot(p.x - other.x, p.y - other.y) || 1;
        this.send("turn", { yaw: -0.2 * dx, pitch: 0.2 * dy, zoom: far(before) / far(now) });
      }
    }
    this.pointers.set(event.pointerId, now);
    if (this.doing === "turn") this.send("turn", { yaw: -0.35 * dx, pitch: 0.35 * dy, zoom: 1 });
    if (this.doing === "shift") {
      const height = this.canvas.clientHeight || 1;
      this.send("move", { right: (-0.7 * dx) / height, up: (0.7 * dy) / height, forward: 0 });
    }
    this.at = this.place(event);
    if (this.doing === "dig" || this.doing === "pour") this.act(false);
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (this.pointers.size === 0) this.finish();
  }

  finish() {
    if (this.doing === "dig") this.send("dig", { end: true });
    if (this.doing === "pour") this.send("pour", { end: true });
    this.doing = null;
  }

  /** What the pointer does where it is. */
  act(first, doing = this.doing, at = this.at) {
    const [, which] = state.tool.split(":");
    const size = toolSize();
    if (doing === "dig") this.send("dig", { ...at, first, depth: state.toolDepth * size });
    if (doing === "pour") this.send("pour", { ...at, first, above: 0.35 * extent(), rate: this.pourRate() });
    if (doing === "blast") this.send("blast", { ...at, radius: 1.2 * size, strength: 2.5 * Math.sqrt(9.81 * size) });
    if (doing === "drop") {
      this.send("drop", { ...at, object: Number(which ?? 0), above: 0.5 * extent(), size: 1.1 * size, density: 2600 });
    }
  }

  /** kg/s: a heap as large as the tool within a second or so. */
  pourRate() {
    const size = toolSize();
    return 1600 * 0.5 * size ** 3;
  }
}
