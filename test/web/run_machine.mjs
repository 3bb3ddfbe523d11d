// run_machine.mjs WEB ROOT: reads JSON {scene, sets, frames, steer: [[frame, motor, value]]} and writes the last report of the
// compiled module as JSON.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { bringMujoco, nodeEngine } from "./node_engine.mjs";

const [web, root] = process.argv.slice(2);
const { scene, sets, frames, steer } = JSON.parse(await readAll(process.stdin));
const engine = await nodeEngine(web);
const text = readFileSync(join(root, "scenes", `${scene}.yaml`), "utf8");
await engine.bring(text, readdirSync(join(root, "assets")), async (name) => readFileSync(join(root, "assets", name)));
await bringMujoco(engine, web, text);
engine.open(text, { name: scene, sets });
for (let k = 0; k < frames; k++) {
  for (const [frame, motor, value] of steer) if (frame === k) engine.run("control", motor, value);
  engine.frame();
}
console.log(engine.text("report"));
