// The motors of a scene's machine: a slider and two keys for each.
import { state } from "./state.js";
import { short } from "./controls.js";

/** Less and more, motor by motor. */
const KEYS = ["ad", "sw", "qe", "zx", "tv", "[]"];

const box = document.getElementById("machine");
const list = document.getElementById("motors");
const down = new Set();

/** The motor that a key moves, and which way; null: none. */
function steeredBy(key) {
  const motor = KEYS.findIndex((pair) => key.length === 1 && pair.includes(key));
  if (motor < 0 || motor >= (state.report?.controls?.length ?? 0)) return null;
  return { motor, way: KEYS[motor].indexOf(key) === 0 ? -1 : 1 };
}

/** A key goes down or up; `send(task, more)` reaches the worlds. Whether it was for a motor. */
export function steerKey(key, isDown, send) {
  const found = steeredBy(key);
  if (!found || (isDown && down.has(key))) return Boolean(found);
  if (!isDown && !down.has(key)) return false;
  if (isDown) down.add(key);
  else down.delete(key);
  send("steer", { motor: found.motor, way: isDown ? found.way : 0 });
  return true;
}

/** When the page is left, no key goes up any more. */
export function letKeysGo(send) {
  [...down].forEach((key) => steerKey(key, false, send));
}

function row([name, , low, high], motor, send) {
  const line = Object.assign(document.createElement("label"), { className: "row" });
  const keys = KEYS[motor] ? `Keys ${KEYS[motor][0].toUpperCase()} and ${KEYS[motor][1].toUpperCase()}` : "";
  line.title = keys;
  const label = Object.assign(document.createElement("span"), { textContent: name || `motor ${motor + 1}` });
  if (keys) label.append(" ", ...[...KEYS[motor]].map((key) => Object.assign(document.createElement("kbd"), { textContent: key.toUpperCase() })));
  const [least, most] = [low ?? -1, high ?? 1];
  const input = Object.assign(document.createElement("input"), { type: "range", min: least, max: most, step: (most - least) / 200 });
  input.dataset.motor = motor;
  if (keys) input.setAttribute("aria-keyshortcuts", [...KEYS[motor]].map((key) => key.toUpperCase()).join(" "));
  input.addEventListener("input", () => send("motor", { motor, value: Number(input.value) }));
  line.append(label, input, document.createElement("output"));
  return line;
}

/** Shows what the report says of the motors. */
export function showMachine(send) {
  const controls = state.report?.controls ?? [];
  box.hidden = controls.length === 0;
  document.body.classList.toggle("with-machine", !box.hidden);
  const shape = JSON.stringify(controls.map(([name, , low, high]) => [name, low, high]));
  if (list.dataset.shape !== shape) {
    list.dataset.shape = shape;
    list.replaceChildren(...controls.map((control, motor) => row(control, motor, send)));
  }
  controls.forEach(([, value], motor) => {
    const [, input, output] = list.children[motor].children;
    if (!input.matches(":active")) input.value = value;
    output.textContent = short(value);
  });
}
