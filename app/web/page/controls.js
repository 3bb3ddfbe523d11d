// Controls that are made from the simulator's table of parameters.
import { METHODS, state } from "./state.js";

/** Rows of the table that a slider is made of, and what it does: act while it runs, or start the scene again. */
const WHILE_IT_RUNS = ["friction_angle_deg", "cohesion"];
const STARTS_AGAIN = [["method", "radius"], ["method", "iterations"], ["method", "stabilization"], ["method", "relaxation"],
  ["method", "step_safety"], ["method", "compression"], ["method", "staggered"], ["material", "radius_spread"]];
export const GRAVITIES = { Earth: 9.81, Mars: 3.71, Moon: 1.62, None: 0 };

const read = (row, method) => row.readers === "" || row.readers.split(" ").includes(method);
const find = (section, name) => state.parameters.find((row) => row.section === section && row.name === name);
const words = (name) => name.replace(/_deg$/, "").replaceAll("_", " ");

/** Angles, in degrees, that every method that is shown can have. */
function angles() {
  const shown = state.compare ? METHODS : [state.scene.method.name];
  const able = state.methods.filter((method) => shown.includes(method.name));
  return [Math.max(...able.map((method) => method.angleLow)), Math.min(...able.map((method) => method.angleHigh))];
}

/** The range of a slider: what is usual, in steps that suit it; it reaches to what the scene has. */
export function range(row, value) {
  let low = Math.max(row.low, row.usualLow);
  let high = Math.min(row.high, row.usualHigh);
  if (row.name === "cohesion" || row.name === "adhesion") high = Math.min(high, 3000);
  if (row.section === "method" && row.name === "radius") [low, high] = [0.6 * value, 2 * value];
  if (row.name === "iterations") high = Math.min(high, 40);
  if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (row.name === "friction_angle_deg") {
    // A scene with contacts of its own may have an angle that the slider cannot set. The methods' ends are tenths.
    const [least, most] = angles();
    return { low: Math.max(Math.floor(low), least), high: Math.min(Math.ceil(high), most), step: 0.1 };
  }
  const step = row.kind === "int" ? 1 : Number(((high - low) / 100).toPrecision(1));
  return { low, high, step };
}

export function short(value) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(3))) : "auto";
}

function slider(row, label, value, change) {
  const { low, high, step } = range(row, value);
  const line = document.createElement("label");
  line.className = "row";
  line.title = row.help;
  const name = document.createElement("span");
  name.textContent = label;
  const input = Object.assign(document.createElement("input"), { type: "range", min: low, max: high, step });
  input.value = Number.isFinite(value) ? value : low;
  input.dataset.key = `${row.section}.${row.name}`;
  const output = document.createElement("output");
  const unit = row.unit ? ` ${row.unit.replace("deg", "°")}` : "";
  const show = (shown) => (output.textContent = `${short(shown)}${unit}`);
  show(value);
  input.addEventListener("input", () => show(Number(input.value)));
  input.addEventListener("change", () => change(Number(input.value)));
  line.append(name, input, output);
  return line;
}

const group = (title, hint, rows) => {
  const set = document.createElement("fieldset");
  const legend = document.createElement("legend");
  legend.textContent = title;
  set.append(legend, ...rows);
  if (hint) set.append(Object.assign(document.createElement("p"), { className: "hint", textContent: hint }));
  return set;
};

/** What holds of a material: a friction angle that is not given follows from the contacts, where they are. */
function heldValue(keys, row) {
  const given = numeric(keys[row.name] ?? Number(row.default));
  if (row.name !== "friction_angle_deg" || Number.isFinite(given)) return given;
  const contact = numeric(keys.friction_static);
  return Number.isFinite(contact) ? (Math.atan(contact) * 180) / Math.PI : 33;
}

const numeric = (value) => (typeof value === "number" ? value : NaN);

/** Of the materials: act while it runs. */
export function materialControls(parent, change) {
  parent.replaceChildren();
  const materials = Object.entries(state.scene?.materials ?? {});
  materials.forEach(([name, keys], index) => {
    const rows = WHILE_IT_RUNS.map((key) => find("material", key)).filter((row) => row && read(row, state.scene.method.name))
      .map((row) => slider(row, words(row.name), heldValue(keys, row), (value) => change(index, row.name, value)));
    if (rows.length > 0) parent.append(group(materials.length > 1 ? `Material ${name}` : "Material", "acts at once", rows));
  });
}

/** Those that need a new start. */
export function restartControls(parent, change) {
  parent.replaceChildren();
  const scene = state.scene;
  if (!scene) return;
  const first = Object.keys(scene.materials ?? {})[0];
  const rows = STARTS_AGAIN.map(([section, key]) => find(section, key)).filter((row) => row && read(row, scene.method.name)).map((row) => {
    const inMaterial = row.section === "material";
    const path = inMaterial ? `materials.${first}.${row.name}` : `method.${row.name}`;
    const value = numeric((inMaterial ? scene.materials[first] : scene.method)?.[row.name] ?? Number(row.default));
    return slider(row, words(row.name), value, (wanted) => change(path, wanted));
  });
  parent.append(group("Method", "starts the scene again", rows));
}
