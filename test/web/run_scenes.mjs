// run_scenes.mjs WEB ROOT: reads lines `scene frames sets...` and writes lines `scene state_hash grains_hash`, or the
// error, of the compiled module.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { bringMujoco, nodeEngine } from "./node_engine.mjs";

const [web, root] = process.argv.slice(2);
const engine = await nodeEngine(web);
const assets = readdirSync(join(root, "assets"));
for await (const line of createInterface({ input: process.stdin })) {
  const [scene, frames, ...sets] = line.trim().split(" ");
  const text = readFileSync(join(root, "scenes", `${scene}.yaml`), "utf8");
  await engine.bring(text, assets, async (name) => readFileSync(join(root, "assets", name)));
  try {
    await bringMujoco(engine, web, text);
    engine.open(text, { name: scene, sets });
    for (let k = 0; k < Number(frames); k++) engine.frame();
    console.log(scene, engine.text("state_hash"), engine.text("grains_hash"));
  } catch (error) {
    console.log(scene, "error:", error.message);
  }
}
