// Loads the compiled module for one thread into node, as the worker of the page does it.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export async function nodeEngine(web) {
  // What Emscripten 3.1 takes for granted in node, also where the module is an ES module.
  globalThis.require = createRequire(join(web, "node.js"));
  globalThis.__dirname = web;
  globalThis.__filename = join(web, "scree_plain.js");
  const { Engine } = await import(pathToFileURL(join(web, "engine.js")));
  const { default: makeScree } = await import(pathToFileURL(join(web, "scree_plain.js")));
  const module = await makeScree({ wasmBinary: readFileSync(join(web, "scree_plain.wasm")) });
  return new Engine(module);
}

/** MuJoCo where a scene wants it and `make web` has it. */
export async function bringMujoco(engine, web, text) {
  const path = join(web, "mujoco", "mujoco.js");
  if (!engine.wantsMujoco(text) || !existsSync(path)) return;
  const { default: loadMujoco } = await import(pathToFileURL(path));
  await engine.takeMujoco(await loadMujoco({ wasmBinary: readFileSync(join(web, "mujoco", "mujoco.wasm")) }));
}
