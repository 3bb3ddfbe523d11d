// One world and its picture, away from the page: simulates, draws on the canvas that it was handed, and reports. The page
// sends messages {do, ...}; answers are {is, ...}. See state.js for what the page keeps.
import { Engine, ScreeError } from "./engine.js";

let engine;
let canvas;
let threads = 1;
let assets = [];
let opened = false;
let playing = false;
let steps = 0; // to be done although it pauses
let speed = 1;
let dirty = false; // something is to be drawn
let due = 0; // when the next frame of the world is
let time = 0; // of the world
let frameRate = 60; // its frames in a second
let until = Infinity; // so far it may go: beside others it waits for the slowest
let lastReport = 0;
let failed = false;
let drawn = { count: 0, since: 0, ms: 0 };
let size = { width: 2, height: 2 };
let motors = []; // of the machine, as the last report has them
const steered = new Map(); // motor: -1 or 1, as long as its key is down

const say = (is, more = {}, transfer = []) => self.postMessage({ is, ...more }, transfer);

function complain(error) {
  if (error instanceof ScreeError) say("error", { message: error.message, line: error.line, column: error.column });
  else say("error", { message: String(error?.message ?? error), line: 0, column: 0, crashed: error instanceof WebAssembly.RuntimeError });
}

/** WebGL hides which device draws; the renderer wants to know whether it is the processor. */
function showDevice(gl) {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  if (!info) return;
  const ask = gl.getParameter.bind(gl);
  gl.getParameter = (name) => ask(name === gl.RENDERER ? info.UNMASKED_RENDERER_WEBGL : name);
}

/** A graphics card that starts anew takes all pictures with it; the world goes on when there is one again. */
let lost = false;
let loss; // the extension by which tests lose it
function watchContext(gl) {
  loss = gl.getExtension("WEBGL_lose_context");
  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault(); // so that it comes back
    lost = true;
    say("waits", { message: "The graphics card has stopped drawing. The page waits for it." });
  });
  canvas.addEventListener("webglcontextrestored", () => {
    try {
      showDevice(gl);
      engine.run("renderer");
      lost = false;
      say("waits", { message: "" });
      act(() => {});
    } catch (error) {
      complain(error);
    }
  });
}

async function start(message) {
  const kind = message.threads > 1 ? "threads" : "plain";
  const { default: makeScree } = await import(`./scree_${kind}.js`);
  const module = await makeScree({
    instantiateWasm: (imports, done) => {
      const begun = program.then(async (compiled) => done(await WebAssembly.instantiate(compiled, imports), compiled));
      begun.catch(complain);
      return {};
    },
    threadPool: message.threads - 1, // of a world; the next one gets them when it is gone
    mainScriptUrlOrBlob: new URL(`./scree_${kind}.js`, import.meta.url).href,
    locateFile: (name) => new URL(name, import.meta.url).href,
    printErr: (line) => console.warn(line),
  });
  engine = new Engine(module);
  threads = kind === "threads" ? message.threads : 1;
  canvas = message.canvas;
  const wishes = { antialias: false, alpha: false, depth: false, preserveDrawingBuffer: true, powerPreference: "high-performance" };
  const gl = canvas.getContext("webgl2", wishes);
  if (!gl) throw new Error("This browser has no WebGL 2, which scree draws with.");
  showDevice(gl);
  watchContext(gl);
  module.GL.makeContextCurrent(module.GL.registerContext(gl, { majorVersion: 2, minorVersion: 0 }));
  engine.run("renderer");
  if (engine.call("software")) engine.call("quality", 1);
  say("ready", {
    version: engine.text("version"),
    software: engine.call("software") === 1,
    threads,
    parameters: engine.json("parameters"),
    methods: engine.json("methods"),
  });
}

async function fetchAsset(name) {
  const answer = await fetch(new URL(`./assets/${name}`, import.meta.url));
  if (!answer.ok) throw new Error(`The file ${name} could not be loaded.`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Only scenes with a mechanism need it: it is larger than all the rest. */
async function fetchMujoco(text) {
  if (!engine.wantsMujoco(text)) return;
  say("waits", { message: "The machine comes with MuJoCo: 2.6 MB." });
  try {
    const { default: loadMujoco } = await import("./mujoco/mujoco.js");
    await engine.takeMujoco(await loadMujoco({ printErr: (line) => console.warn(line) }));
  } catch (error) {
    throw new Error(`MuJoCo could not be loaded: ${error.message ?? error}`);
  }
}

/** The scene's camera is meant for a wide picture: a narrow one sees it from so many times farther away. */
const farther = () => Math.max(1, (1.45 * size.height) / size.width);

function resize(width, height) {
  const before = farther();
  size = { width, height };
  act(() => farther() !== before && engine.call("camera_turn", 0, 0, farther() / before));
}

async function open(message) {
  playing = false;
  assets = message.assets;
  await Promise.all([engine.bring(message.text, assets, fetchAsset), message.mujoco && fetchMujoco(message.text)]);
  opened = false;
  failed = false;
  engine.open(message.text, { name: message.name, sets: message.sets, threads });
  opened = true;
  time = 0;
  until = message.until ?? Infinity;
  if (message.camera) engine.call("camera_set", ...message.camera);
  else engine.call("camera_turn", 0, 0, farther());
  playing = message.play;
  due = performance.now();
  dirty = true;
  const first = engine.json("report");
  frameRate = first.rate;
  motors = first.controls;
  steered.clear();
  say("opened", {
    id: message.id,
    report: first,
    scene: engine.json("scene_json"),
    warnings: engine.text("warnings").trim(),
  });
  loop();
}

function report(force) {
  const now = performance.now();
  if (!force && now - lastReport < 60) return;
  lastReport = now;
  const rate = drawn.count > 0 ? (1000 * drawn.count) / Math.max(now - drawn.since, 1) : 0;
  if (now - drawn.since > 1000) drawn = { count: 0, since: now, ms: drawn.ms };
  say("report", { report: engine.json("report"), camera: engine.json("camera"), playing, drawMs: drawn.ms, rate });
}

/** In step with the clock: several frames to a picture where drawing is slow, for as long as one may wait for them. What is
 * lost beyond that is not caught up on. */
const PATIENCE = 50;
const SWEEP = 3; // s that a motor takes from end to end by a key
function simulate() {
  const begin = performance.now();
  while (steps > 0 || (playing && time < until && begin >= due)) {
    if (steps > 0) steps--;
    steer(1 / frameRate);
    engine.frame();
    const report = engine.json("report");
    time = report.time;
    motors = report.controls;
    const now = performance.now();
    due = speed > 0 ? Math.max(due + 1000 / (frameRate * speed), now - 200) : now;
    dirty = true;
    if (speed === 0 || now - begin > PATIENCE) break;
  }
}

function steer(seconds) {
  for (const [motor, way] of steered) {
    const [, value, low, high] = motors[motor] ?? [];
    if (value !== undefined) engine.run("control", motor, value + (way * seconds * ((high ?? 1) - (low ?? -1))) / SWEEP);
  }
}

function draw() {
  if (canvas.width !== size.width || canvas.height !== size.height) Object.assign(canvas, size);
  const begin = performance.now();
  engine.run("draw", size.width, size.height);
  drawn.ms = performance.now() - begin;
  drawn.count++;
  dirty = false;
}

let asked = false;
function loop() {
  if (asked || !opened || failed) return;
  asked = true;
  self.requestAnimationFrame(() => {
    asked = false;
    if (!opened || failed || lost) return;
    try {
      simulate();
      const moved = dirty;
      if (dirty) draw();
      if (moved) report(!playing);
    } catch (error) {
      failed = true;
      playing = false;
      complain(error);
      return;
    }
    if (playing || steps > 0 || dirty) loop();
  });
}

/** Does something to the world and shows it, also while it pauses. */
function act(action) {
  if (!opened) return;
  try {
    action();
  } catch (error) {
    complain(error);
  }
  dirty = true;
  loop();
}

const tasks = {
  start,
  open,
  play: (m) => act(() => ((playing = m.on), (due = performance.now()))),
  step: () => act(() => steps++),
  speed: (m) => (speed = m.value),
  until: (m) => ((until = m.time), loop()),
  size: (m) => resize(m.width, m.height),
  turn: (m) => act(() => engine.call("camera_turn", m.yaw, m.pitch, m.zoom)),
  move: (m) => act(() => engine.call("camera_move", m.right, m.up, m.forward)),
  home: () => act(() => (engine.call("camera_home"), engine.call("camera_turn", 0, 0, farther()))),
  camera: (m) => act(() => engine.call("camera_set", ...m.camera)),
  color: (m) => act(() => (engine.call("color", m.mode), engine.call("legend", m.mode !== "material"))),
  fine: (m) => act(() => engine.call("fine", m.on)),
  quality: (m) => act(() => engine.call("quality", m.level)),
  gravity: (m) => act(() => engine.run("set_gravity", ...m.value)),
  material: (m) => act(() => engine.run("set_material", m.index, m.key, m.value)),
  tool: (m) => act(() => engine.call("tool", m.tool, m.size)),
  motor: (m) => act(() => engine.run("control", m.motor, m.value)),
  steer: (m) => (m.way === 0 ? steered.delete(m.motor) : steered.set(m.motor, m.way)),
  release: () => act(() => (steered.clear(), engine.call("control_release"))),
  dig: (m) => act(() => dig(m)),
  toolBy: (m) => act(() => toolBy(m)),
  pour: (m) => act(() => pour(m)),
  blast: (m) => act(() => blast(m)),
  drop: (m) => act(() => drop(m)),
  save: () => act(save),
  load: (m) => act(() => (engine.write("/scree/checkpoint", m.data), engine.run("load", "/scree/checkpoint"), report(true))),
  file: (m) => {
    engine.write(`/scree/files/${m.name}`, m.data);
    if (!m.again) say("filed", { name: m.name });
  },
  text: () => act(() => say("text", { text: engine.text("scene_text") })),
  // For tests: the graphics card goes, and comes back when that is known.
  lose: () => {
    canvas.addEventListener("webglcontextlost", () => setTimeout(() => loss.restoreContext(), 50), { once: true });
    loss.loseContext();
  },
  picture: async () => {
    if (!opened || lost) return;
    draw();
    say("picture", { blob: await canvas.convertToBlob({ type: "image/png" }) });
  },
  hash: () => act(() => say("hash", { state: engine.text("state_hash"), frame: engine.json("report").frame })),
};

/** Where the pointer is: on what it shows, or on the level where it went down. */
let level = null;
function pointed(m) {
  const hit = m.first || level === null ? engine.call("pick", m.x, m.y) : engine.call("pick_level", m.x, m.y, level);
  if (!hit) return null;
  const at = [engine.call("at_x"), engine.call("at_y"), engine.call("at_z")];
  if (m.first) level = at[2];
  return at;
}

let tip = null; // of the tool, while it digs
function dig(m) {
  if (m.end) {
    engine.call("tool_to", 0, 0, 0, 0);
    level = tip = null;
    return;
  }
  const at = pointed(m);
  if (!at) return;
  tip = [at[0], at[1], at[2] - m.depth];
  engine.call("tool_to", ...tip, 1);
}

/** By keys: relative to where it is, as the camera sees it. */
function toolBy(m) {
  const [ex, ey, , tx, ty, tz] = engine.json("camera");
  const far = Math.hypot(tx - ex, ty - ey) || 1;
  const [fx, fy] = [(tx - ex) / far, (ty - ey) / far];
  if (!tip) {
    const hit = engine.call("pick", 0.5, 0.5);
    tip = hit ? [engine.call("at_x"), engine.call("at_y"), engine.call("at_z") - m.depth] : [tx, ty, tz];
  }
  tip = [tip[0] + m.forward * fx + m.right * fy, tip[1] + m.forward * fy - m.right * fx, tip[2] + m.up];
  engine.call("tool_to", ...tip, 1);
}

function pour(m) {
  if (m.end) {
    engine.run("pour", 0, 0, 0, 0, 0);
    level = null;
    return;
  }
  const at = pointed({ ...m, first: m.first });
  if (at) engine.run("pour", at[0], at[1], at[2] + m.above, m.rate, m.material ?? 0);
}

function blast(m) {
  if (engine.call("pick", m.x, m.y)) {
    engine.run("blast", engine.call("at_x"), engine.call("at_y"), engine.call("at_z") - 0.5 * m.radius, m.radius, m.strength);
  }
}

function drop(m) {
  if (engine.call("pick", m.x, m.y)) {
    engine.run("drop", m.object, engine.call("at_x"), engine.call("at_y"), engine.call("at_z") + m.above, m.size, m.density);
  }
}

function save() {
  engine.run("save", "/scree/checkpoint");
  const data = engine.read("/scree/checkpoint");
  say("checkpoint", { data }, [data.buffer]);
}

// The compiled program comes from the page, which has begun with it before this worker was there.
let takeProgram;
const program = new Promise((resolve) => (takeProgram = resolve));

// One after the other: opening waits for files.
let line = Promise.resolve();
self.onmessage = ({ data }) => {
  if (data.do === "program") takeProgram(data.program);
  else line = line.then(() => tasks[data.do](data)).catch(complain);
};
