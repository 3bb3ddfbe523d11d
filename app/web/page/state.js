// All that the page knows, in one place. Who changes something calls update(); who shows something listens.

/** Methods that the page offers; side by side, in this order. */
export const METHODS = ["pbd", "p2", "dem", "sph", "flip"];

export const state = {
  index: { scenes: [], papers: {}, assets: [] }, // what scenes.json says
  parameters: [], // the simulator's table of parameters
  methods: [], // the simulator's: name, summary, angleLow, angleHigh
  version: "",
  threads: 1,
  software: false, // pictures are drawn by the processor

  name: "sandbox", // of the scene: paper/name, or "own"
  text: "", // its YAML
  files: {}, // name: bytes, of meshes and machines that were dropped on the page
  method: "", // instead of the scene's; "": as it says
  sets: {}, // path: value, as of --set
  scene: null, // as the simulator understood it
  opened: 0, // worlds so far
  error: null, // {message, line, column} of the scene

  playing: true,
  speed: 1,
  report: null, // of the last frame
  camera: null,
  drawMs: 0,
  rate: 0,

  tool: "dig:0", // what the pointer does: camera, dig:<tool>, pour, blast, drop:<object>
  toolSize: 1,
  toolDepth: 0.5,
  color: "material",
  fine: true,
  quality: 2,
  compare: false,
  filming: false,
};

const listeners = [];

/** Calls `listener(state, changed)` after every change; `changed` has the names of what did. */
export function listen(listener) {
  listeners.push(listener);
}

export function update(changes) {
  const changed = new Set(Object.keys(changes).filter((key) => state[key] !== changes[key]));
  Object.assign(state, changes);
  if (changed.size > 0) listeners.forEach((listener) => listener(state, changed));
}

/** Extent of the sand: what sizes of tools and heights are measured by. */
export function extent() {
  const { low, high } = state.report ?? { low: [-1, -1, 0], high: [1, 1, 1] };
  return Math.max(0.05, Math.min(Math.max(high[0] - low[0], high[1] - low[1]), 4 * Math.max(high[2] - low[2], 0.1)));
}

/** Size of the tool in m: a share of the sand, and never less than a few grains. */
export function toolSize() {
  const radius = state.scene?.method?.radius ?? 0.02;
  return Math.max(6 * radius, 0.2 * extent()) * state.toolSize;
}

/** The overrides of the scene that a world is opened with. */
export function overrides(method = state.method) {
  const sets = Object.entries(state.sets).map(([path, value]) => `${path}=${value}`);
  return method ? [...sets, `method.name=${method}`] : sets;
}
