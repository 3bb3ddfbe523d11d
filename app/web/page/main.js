// The page: puts state, views and controls together.
import { GRAVITIES, materialControls, restartControls, short } from "./controls.js";
import { download, Film, sceneOfMesh, watchDrops } from "./files.js";
import { pack, SCENE_MOST, unpack } from "./link.js";
import { letKeysGo, showMachine, steerKey } from "./machine.js";
import { showScenes } from "./scenes.js";
import { listen, METHODS, overrides, state, toolSize, update } from "./state.js";
import { View } from "./view.js";

const at = (id) => document.getElementById(id);
/** What the pointer does, its name, and its sign: lines in a square of 24. */
const TOOLS = [
  ["dig:0", "Blade", "M12 3v8M6 11h12l-1 8q-5 3-10 0z"],
  ["dig:1", "Rake", "M12 3v9M4 12h16M4 12v7M8 12v7M12 12v7M16 12v7M20 12v7"],
  ["dig:2", "Ball", "M12 5a7 7 0 1 0 0 14a7 7 0 1 0 0-14M9 9q1-1 3-1"],
  ["dig:3", "Hand", "M7 13V6M10.5 12V4M14 12V4.5M17.5 13V7M7 11v4q0 6 5.5 6t5.5-6v-3M7 15l-3-4"],
  ["pour", "Pour", "M4 4h12l3 4-7 2zM12 12v2M15 12v5M10 16v2M7 21q5-4 11 0"],
  ["blast", "Blow up", "M12 2v5M12 17v5M2 12h5M17 12h5M5 5l3 3M16 16l3 3M19 5l-3 3M8 16l-3 3"],
  ["drop:0", "Drop", "M12 2v7M9 6.5l3 3 3-3M7 13h10v8H7z"],
  ["camera", "Camera", "M3 8h4l2-3h6l2 3h4v11H3zM12 10a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7"],
];
const STARTS = "sandbox";

let views = [];
let shipped = ""; // text of the scene as it was loaded: a link names it as long as it is that
let film = null;
let wanted = null; // camera of a link, for the next world
let noticeTimer;
let crashed = false; // a module that has crashed is not called again: the next world gets a new one
let reached = []; // time of each world: side by side they keep in step

function notice(text, lasting = false) {
  const box = at("notice");
  box.textContent = text;
  box.hidden = !text;
  clearTimeout(noticeTimer);
  if (text && !lasting) noticeTimer = setTimeout(() => (box.hidden = true), 6000);
}

/** What to do here, until something is done. */
let hinted = false;
function showHint(wished) {
  if (wished && hinted) return;
  hinted = true;
  at("hint").hidden = !wished;
}

const all = (task, more) => views.forEach((view) => view.send(task, more));

// ---- worlds ----

/** The compiled module, once for all views, while it comes over the line. */
const programs = {};
function compiled(threads) {
  const file = `scree_${threads > 1 ? "threads" : "plain"}.wasm`;
  programs[file] ??= WebAssembly.compileStreaming(fetch(file)).catch(async () => {
    const answer = await fetch(file); // a server that does not know the type
    if (!answer.ok) throw new Error(`${file} could not be loaded.`);
    return WebAssembly.compile(await answer.arrayBuffer());
  });
  return programs[file];
}

function makeViews(count) {
  views.forEach((view) => view.close());
  const threads = state.threads > 1 && count === 1 ? state.threads : 1;
  views = Array.from({ length: count }, (_, k) => new View(at("views"), threads, compiled(threads), hear, count > 1 ? METHODS[k] : ""));
  at("views").classList.toggle("many", count > 1);
  for (const [name, data] of Object.entries(state.files)) all("file", { name, data, again: true });
}

/** Opens the scene as the state has it, in every view. */
function openWorlds() {
  if (crashed) makeViews(views.length);
  crashed = false;
  update({ opened: state.opened + 1, error: null });
  notice("");
  at("loading").hidden = false;
  views.forEach((view, k) => view.send("open", {
    id: state.opened,
    text: state.text,
    name: state.name === "own" ? "scene" : state.name,
    sets: overrides(state.compare ? METHODS[k] : state.method),
    play: state.playing,
    assets: state.index.assets,
    mujoco: state.index.mujoco,
    camera: wanted,
    until: state.compare ? 0.05 : undefined,
  }));
  reached = views.map(() => 0);
  wanted = null;
}

async function fetchScene(name) {
  if (!state.index.scenes.some((scene) => scene.name === name)) throw new Error(`There is no scene ${name.slice(0, 80)}.`);
  const answer = await fetch(name === STARTS ? "sandbox.yaml" : `scenes/${name}.yaml`);
  if (!answer.ok) throw new Error(`There is no scene ${name}.`);
  return answer.text();
}

/** Where the page was built without MuJoCo: settings that leave a machine out, and the probes that look at it. Hands take
 * its place. */
function withoutMachine(text) {
  return !state.index.mujoco && /^mechanism:/m.test(text) ? { mechanism: "null", probes: "null" } : {};
}

async function openScene(name, more = {}) {
  try {
    const text = more.text ?? await fetchScene(name);
    shipped = more.text ? "" : text;
    update({ name, text, method: "", sets: withoutMachine(text), playing: true, ...more });
    openWorlds();
    if ("mechanism" in state.sets) notice("The machine of this scene needs MuJoCo, which this page was built without. Dig in its sand yourself.");
  } catch (error) {
    // Whatever a link says, there is something to play with.
    if (!state.text && name !== STARTS) await openScene(STARTS);
    notice(error.message, true);
  }
}

function place(error) {
  if (error.crashed) return `The simulation broke down (${error.message}). Reset starts it again.`;
  if (error.message.startsWith("--set ")) return error.message.replace(/^--set (\S+): error: /, "Setting $1: ");
  return error.line ? `Line ${error.line}, column ${error.column}: ${error.message.replace(/^\S*?:\d+:\d+: error: /, "")}` : error.message;
}

/** Side by side nobody goes farther than three frames beyond the slowest. */
function keepInStep(view, time) {
  if (!state.compare) return;
  reached[views.indexOf(view)] = time;
  all("until", { time: Math.min(...reached) + 0.05 });
}

function hear(message, view) {
  const first = view === views[0];
  if (first && ["opened", "error", "broken"].includes(message.is)) at("loading").hidden = true;
  switch (message.is) {
    case "ready":
      view.resize();
      view.send("speed", { value: state.speed });
      if (!first) break;
      update({ parameters: message.parameters, methods: message.methods, version: message.version, software: message.software });
      if (message.software) {
        update({ quality: 1 });
        setFine(false); // every pixel and grain costs the processor
      }
      view.resize();
      break;
    case "opened":
      view.send("tool", { tool: dug(), size: 0 });
      view.send("color", { mode: state.color });
      view.send("fine", { on: state.fine });
      view.send("quality", { level: state.quality });
      if (first) {
        update({ scene: message.scene, report: message.report });
        view.send("tool", { tool: dug(), size: toolSize() });
        at("editor-warnings").textContent = message.warnings;
        document.documentElement.dataset.opened = String(message.id);
        showHint(true);
      }
      view.caption.classList.remove("failed");
      break;
    case "report":
      if (first) update({ report: message.report, camera: message.camera, playing: message.playing, drawMs: message.drawMs, rate: message.rate });
      keepInStep(view, message.report.time);
      if (!view.caption.hidden) view.caption.textContent = `${message.report.method}: ${short(message.report.ms)} ms`;
      break;
    case "error":
      crashed ||= Boolean(message.crashed);
      if (state.compare) {
        view.caption.textContent += ": " + message.message;
        view.caption.classList.add("failed");
        keepInStep(view, Infinity);
      } else {
        update({ error: message, playing: false });
      }
      break;
    case "waits":
      notice(message.message);
      break;
    case "broken":
      notice(message.message, true);
      break;
    case "picture":
      download(message.blob, "scree.png");
      break;
    case "checkpoint":
      download(message.data, "checkpoint.scree", "application/octet-stream");
      break;
    case "text":
      update({ text: message.text });
      break;
    case "filed":
      notice(`${message.name} is there: a scene can name it.`);
      break;
    case "hash":
      document.documentElement.dataset.hash = `${message.frame} ${message.state}`;
      break;
  }
}

const dug = () => (state.tool.startsWith("dig:") ? Number(state.tool.split(":")[1]) : -1);

// ---- what the page shows ----

function showNumbers() {
  const report = state.report;
  if (!report) return;
  at("time").textContent = `${report.time.toFixed(2)} s`;
  const grains = report.grains > 0 && state.fine ? `${report.grains.toLocaleString("en")} fine, ` : "";
  at("numbers").textContent = `${grains}${report.coarse.toLocaleString("en")} grains · ${short(report.ms)} ms a frame · drawn in ${short(state.drawMs)} ms`;
  const force = report.force;
  at("force").hidden = !force || dug() < 0;
  if (force) {
    const newtons = Math.hypot(...force);
    at("force-size").textContent = newtons >= 1000 ? `${short(newtons / 1000)} kN` : `${short(newtons)} N`;
    showArrow(force, newtons);
  }
  document.documentElement.dataset.frame = String(report.frame);
}

/** The force as the camera sees it; its length grows with the logarithm. */
function showArrow(force, newtons) {
  const [ex, ey, ez, tx, ty, tz] = state.camera ?? [0, -1, 0, 0, 0, 0];
  const forward = [tx - ex, ty - ey, tz - ez];
  const far = Math.hypot(forward[0], forward[1]) || 1;
  const right = [forward[1] / far, -forward[0] / far];
  const length = newtons > 0.01 ? Math.min(42, 9 * Math.log10(1 + 10 * newtons)) / newtons : 0;
  const x = (force[0] * right[0] + force[1] * right[1]) * length;
  const tilt = far / Math.hypot(...forward);
  const along = (force[0] * forward[0] + force[1] * forward[1]) / far;
  const y = -(force[2] * tilt + along * Math.sqrt(Math.max(0, 1 - tilt * tilt))) * length;
  const size = Math.hypot(x, y) || 1;
  const [ux, uy] = [x / size, y / size];
  const head = Math.min(10, size);
  at("force-arrow").setAttribute("d", `M0 0L${x} ${y}M${x - head * (ux + 0.5 * uy)} ${y - head * (uy - 0.5 * ux)}L${x} ${y}L${x - head * (ux - 0.5 * uy)} ${y - head * (uy + 0.5 * ux)}`);
}

function showProbes() {
  const rows = (state.report?.probes ?? []).map(([name, value, unit]) => {
    const row = document.createElement("tr");
    row.append(...[name, value === null ? "–" : short(value), unit].map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    return row;
  });
  at("probes").tBodies[0].replaceChildren(...rows);
  at("no-probes").hidden = rows.length > 0;
}

function showError() {
  const error = state.error;
  at("editor-error").textContent = error ? place(error) : "";
  at("editor").setAttribute("aria-invalid", String(Boolean(error)));
  showLines();
  if (!error) return;
  notice(place(error), true);
}

/** Numbers of lines beside the editor, the wrong one marked. */
function showLines() {
  const count = at("editor").value.split("\n").length;
  const lines = at("editor-lines");
  const numbers = (from, to) => Array.from({ length: Math.max(0, to - from + 1) }, (_, k) => `${from + k}\n`).join("");
  const wrong = Math.min(state.error?.line || count + 1, count + 1);
  const mark = Object.assign(document.createElement("span"), { className: "wrong", textContent: wrong <= count ? String(wrong) : "" });
  lines.replaceChildren(numbers(1, wrong - 1), mark, numbers(wrong + 1, count));
  lines.scrollTop = at("editor").scrollTop;
}

function showTools() {
  for (const button of at("tools").children) button.setAttribute("aria-pressed", String(button.dataset.tool === state.tool));
}

function showScene() {
  const scene = state.index.scenes.find((known) => known.name === state.name);
  at("scene-title").textContent = state.scene?.title || scene?.title || "Own scene";
  document.title = `${at("scene-title").textContent} · scree`;
  at("method").value = state.method || state.scene?.method?.name || "";
  const coarse = state.scene?.method?.radius;
  const fine = state.scene?.upsample?.radius;
  at("fineness").value = coarse && fine ? Math.min(5, coarse / fine) : 3;
  at("fineness-out").textContent = fine ? `1/${short(coarse / fine)}` : "none";
  materialControls(at("materials"), (index, key, value) => all("material", { index, key, value }));
  restartControls(at("restarts"), (path, value) => {
    update({ sets: { ...state.sets, [path]: value } });
    openWorlds();
  });
  const g = state.scene?.gravity?.[2];
  for (const button of at("gravity").children) button.setAttribute("aria-pressed", String(Math.abs(-g - GRAVITIES[button.textContent]) < 0.02));
}

listen((now, changed) => {
  if (changed.has("report")) showNumbers();
  if (changed.has("report")) showMachine(all);
  if (changed.has("report") && !at("page-more").hidden) showProbes();
  if (changed.has("playing")) at("play").textContent = state.playing ? "Pause" : "Play";
  if (changed.has("scene") || changed.has("method")) showScene();
  if (changed.has("text") && at("editor").value !== state.text) at("editor").value = state.text;
  if (changed.has("error") || changed.has("text")) showError();
  if (changed.has("tool")) showTools();
  if (changed.has("quality")) {
    at("quality").value = state.quality;
    all("quality", { level: state.quality });
  }
  if (changed.has("methods")) at("method").replaceChildren(...state.methods.filter((method) => METHODS.includes(method.name))
    .map((method) => Object.assign(new Option(method.name, method.name), { title: method.summary })));
  if (changed.has("methods")) at("method").value = state.method || state.scene?.method?.name || "";
  if (changed.has("version")) at("version").textContent = state.version;
  if (changed.has("threads") || changed.has("software") || changed.has("version")) {
    at("build").textContent = `${state.threads > 1 ? `${state.threads} threads` : "one thread"}, ${state.software ? "drawn by the processor" : "drawn by the graphics card"}`;
  }
});

// ---- what people do ----

function setTool(tool) {
  update({ tool });
  all("tool", { tool: dug(), size: toolSize() });
}

function play(on) {
  update({ playing: on });
  all("play", { on });
}

function restart() {
  update({ playing: true });
  openWorlds();
}

function setMethod(method) {
  update({ method: method === state.scene?.method?.name && !state.method ? "" : method });
  openWorlds();
}

function runText() {
  update({ text: at("editor").value, name: at("editor").value === shipped ? state.name : "own", method: "",
    sets: withoutMachine(at("editor").value), playing: true });
  openWorlds();
}

async function copyLink() {
  const hash = await pack({ ...state, changed: state.text !== shipped });
  history.replaceState(null, "", `#${hash}`);
  try {
    await navigator.clipboard.writeText(location.href);
    notice("The link to this scene is copied.");
  } catch {
    notice("The link to this scene is in the address bar.");
  }
}

async function takeFile(file) {
  if (/\.ya?ml$/i.test(file.name) && file.size > SCENE_MOST) notice(`${file.name} is too long for a scene.`);
  else if (/\.ya?ml$/i.test(file.name)) openScene("own", { text: await file.text() });
  else if (/\.scree$/i.test(file.name)) all("load", { data: new Uint8Array(await file.arrayBuffer()) });
  else if (/\.(obj|ply|stl|xml|csv)$/i.test(file.name)) {
    const data = new Uint8Array(await file.arrayBuffer());
    update({ files: { ...state.files, [file.name]: data } });
    all("file", { name: file.name, data });
    if (/\.(xml|csv)$/i.test(file.name) && !state.text.includes(file.name)) return;
    if (!state.text.includes(file.name)) openScene("own", { text: sceneOfMesh(file.name) });
    else openWorlds();
  } else notice(`${file.name} is no scene, mesh, machine or checkpoint.`);
}

function toggleFilm() {
  try {
    if (film) {
      film.end();
      film = null;
    } else {
      film = new Film(views[0].canvas, (blob, ending) => download(blob, `scree.${ending}`));
    }
  } catch (error) {
    notice(error.message);
  }
  update({ filming: Boolean(film) });
  at("film").setAttribute("aria-pressed", String(Boolean(film)));
  at("film").textContent = film ? "End the film" : "Film";
}

function toggleCompare() {
  update({ compare: !state.compare, method: "" });
  at("compare").setAttribute("aria-pressed", String(state.compare));
  document.body.classList.toggle("comparing", state.compare);
  wanted = state.camera;
  makeViews(state.compare ? METHODS.length : 1);
  openWorlds();
}

function togglePanel(open = at("panel").hidden) {
  at("panel").hidden = !open;
  at("panel-toggle").setAttribute("aria-expanded", String(open));
  document.body.classList.toggle("with-panel", open);
}

function showTab(tab) {
  for (const other of tab.parentElement.children) {
    other.setAttribute("aria-selected", String(other === tab));
    other.tabIndex = other === tab ? 0 : -1;
    at(other.getAttribute("aria-controls")).hidden = other !== tab;
  }
  showProbes();
  showLines();
}

/** Arrows walk through a row of tabs or tools. */
function walk(event) {
  const ways = { ArrowRight: "nextElementSibling", ArrowDown: "nextElementSibling", ArrowLeft: "previousElementSibling", ArrowUp: "previousElementSibling" };
  const next = event.target.matches("button") && event.target[ways[event.key]];
  if (!next || !next.matches("button")) return;
  if (next.matches("[role=tab]")) showTab(next);
  next.focus();
}

const colors = () => [...at("color").options].map((option) => option.value);
function setColor(mode) {
  update({ color: mode });
  at("color").value = mode;
  all("color", { mode });
}

function setFine(on) {
  update({ fine: on });
  at("fine").checked = on;
  all("fine", { on });
  showNumbers();
}

function onKey(event) {
  const typing = event.target.closest("textarea, select, dialog, input:not([type=range], [type=checkbox])");
  if (typing || event.altKey || event.metaKey || event.ctrlKey) return;
  if (event.key === " " && event.target.closest("button, [type=checkbox]")) return;
  if (event.key.length > 1 && event.target.closest("[type=range]")) return; // arrows are the slider's
  if (steerKey(event.key.toLowerCase(), true, all)) return event.preventDefault();
  const step = 0.25 * toolSize();
  const depth = state.toolDepth * toolSize();
  const turn = (yaw, pitch, zoom = 1) => all("turn", { yaw, pitch, zoom });
  const move = (right, up) => all("move", { right, up, forward: 0 });
  const tool = (forward, right, up) => {
    if (dug() < 0) setTool("dig:0");
    all("toolBy", { forward: forward * step, right: right * step, up: up * step, depth });
  };
  const middle = { x: 0.5, y: 0.5 };
  const keys = {
    " ": () => play(!state.playing),
    n: () => all("step"),
    r: restart,
    ArrowLeft: () => (event.shiftKey ? move(-0.03, 0) : turn(-4, 0)),
    ArrowRight: () => (event.shiftKey ? move(0.03, 0) : turn(4, 0)),
    ArrowUp: () => (event.shiftKey ? move(0, 0.03) : turn(0, 4)),
    ArrowDown: () => (event.shiftKey ? move(0, -0.03) : turn(0, -4)),
    "+": () => turn(0, 0, 0.92),
    "=": () => turn(0, 0, 0.92),
    "-": () => turn(0, 0, 1.09),
    Home: () => all("home"),
    i: () => tool(1, 0, 0),
    k: () => tool(-1, 0, 0),
    j: () => tool(0, -1, 0),
    l: () => tool(0, 1, 0),
    u: () => tool(0, 0, 1),
    o: () => tool(0, 0, -1),
    Escape: () => all("dig", { end: true }),
    b: () => views.forEach((view) => view.act(true, "blast", middle)),
    g: () => views.forEach((view) => view.act(true, "drop", middle)),
    h: () => views[0].send("hash"), // for tests: the state as a number, in the attributes of the page
    c: () => setColor(colors()[(colors().indexOf(state.color) + 1) % colors().length]),
    f: () => setFine(!state.fine),
  };
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const action = /^[1-8]$/.test(key) ? () => setTool(TOOLS[Number(key) - 1][0]) : keys[key];
  if (!action || (event.target.closest("[role=tablist], [role=toolbar]") && key.startsWith("Arrow"))) return;
  event.preventDefault();
  showHint(false);
  action();
}

function wire() {
  at("tools").append(...TOOLS.map(([tool, label, sign], k) => {
    const button = Object.assign(document.createElement("button"), { title: `${label} (${k + 1})` });
    button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${sign}"/></svg>`;
    button.append(label);
    button.dataset.tool = tool;
    button.addEventListener("click", () => setTool(tool));
    return button;
  }));
  showTools();
  at("gravity").append(...Object.entries(GRAVITIES).map(([name, g]) => {
    const button = Object.assign(document.createElement("button"), { textContent: name, title: `${g} m/s²` });
    button.addEventListener("click", () => {
      all("gravity", { value: [0, 0, -g] });
      for (const other of at("gravity").children) other.setAttribute("aria-pressed", String(other === button));
    });
    return button;
  }));
  at("scenes-open").addEventListener("click", () => showScenes((scene) => openScene(scene.name)));
  at("method").addEventListener("change", (event) => setMethod(event.target.value));
  at("play").addEventListener("click", () => play(!state.playing));
  at("step").addEventListener("click", () => {
    play(false);
    all("step");
  });
  at("reset").addEventListener("click", restart);
  at("speed").addEventListener("change", (event) => {
    update({ speed: Number(event.target.value) });
    all("speed", { value: state.speed });
  });
  at("link").addEventListener("click", copyLink);
  at("link-too").addEventListener("click", copyLink);
  at("panel-toggle").addEventListener("click", () => togglePanel());
  document.querySelectorAll("[role=tab]").forEach((tab) => tab.addEventListener("click", () => showTab(tab)));
  document.querySelectorAll("[role=tablist], [role=toolbar]").forEach((row) => row.addEventListener("keydown", walk));
  at("color").addEventListener("change", (event) => setColor(event.target.value));
  at("fine").addEventListener("change", (event) => setFine(event.target.checked));
  at("fineness").addEventListener("change", (event) => {
    const radius = state.scene.method.radius / Number(event.target.value);
    update({ sets: { ...state.sets, "upsample.radius": radius.toPrecision(4) } });
    openWorlds();
  });
  at("quality").addEventListener("change", (event) => update({ quality: Number(event.target.value) }));
  const showSizes = () => {
    at("tool-size-out").textContent = `× ${short(state.toolSize)}`;
    at("tool-depth-out").textContent = `${short(state.toolDepth)} of it`;
  };
  showSizes();
  at("tool-size").addEventListener("input", (event) => {
    update({ toolSize: Number(event.target.value) });
    showSizes();
  });
  at("tool-size").addEventListener("change", () => setTool(state.tool));
  at("tool-depth").addEventListener("input", (event) => {
    update({ toolDepth: Number(event.target.value) });
    showSizes();
  });
  at("home").addEventListener("click", () => all("home"));
  at("run").addEventListener("click", runText);
  at("editor").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) runText();
  });
  at("editor").addEventListener("input", showLines);
  at("editor").addEventListener("scroll", () => (at("editor-lines").scrollTop = at("editor").scrollTop));
  at("understood").addEventListener("click", () => views[0].send("text"));
  at("save-scene").addEventListener("click", () => download(at("editor").value, `${state.name.replace("/", "_")}.yaml`, "application/yaml"));
  at("load-scene").addEventListener("click", () => at("file").click());
  at("file").addEventListener("change", (event) => {
    [...event.target.files].forEach(takeFile);
    event.target.value = "";
  });
  at("picture").addEventListener("click", () => views[0].send("picture"));
  at("film").addEventListener("click", toggleFilm);
  at("checkpoint").addEventListener("click", () => views[0].send("save"));
  at("compare").addEventListener("click", toggleCompare);
  watchDrops(takeFile);
  at("views").addEventListener("pointerdown", () => showHint(false));
  addEventListener("keydown", onKey);
  addEventListener("keyup", (event) => steerKey(event.key.toLowerCase(), false, all));
  addEventListener("blur", () => letKeysGo(all));
  at("release").addEventListener("click", () => all("release"));
  addEventListener("hashchange", () => follow());
  addEventListener("error", (event) => notice(event.message));
}

async function follow() {
  const { embedded, broken, camera, ...found } = await unpack(location.hash);
  document.body.classList.toggle("embedded", Boolean(embedded));
  wanted = camera ?? null;
  await openScene(found.name ?? STARTS, found);
  if (broken) notice(broken, true);
}

/** What the browser lacks, in a sentence; "" when it has all. */
function lacking() {
  if (typeof WebAssembly !== "object") return "This browser has no WebAssembly, which scree runs on.";
  const simd = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);
  if (!WebAssembly.validate(simd)) return "This browser's WebAssembly has no SIMD, which scree computes with: a newer one does.";
  if (!HTMLCanvasElement.prototype.transferControlToOffscreen) return "This browser cannot draw beside the page (OffscreenCanvas): a newer one can.";
  return "";
}

async function begin() {
  const lack = lacking();
  if (lack) return notice(lack, true);
  // Threads share memory, which browsers allow only to pages that are served with two headers.
  const cores = Math.min(navigator.hardwareConcurrency || 1, 4);
  const forced = new URLSearchParams(location.search).get("threads");
  update({ threads: self.crossOriginIsolated ? Math.min(Number(forced) || cores, 4) : 1 });
  const index = fetch("scenes.json").then((answer) => answer.json());
  at("loading").hidden = false;
  makeViews(1);
  wire();
  const known = await index;
  known.scenes.unshift({ name: STARTS, title: "Sandbox", method: "pbd", about: "A box of sand to play in.", mechanism: false, picture: known.sandbox });
  update({ index: known });
  await follow();
}

begin();
