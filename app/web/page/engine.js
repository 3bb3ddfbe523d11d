// The compiled module as an object: texts in and out, files, failures as errors. Knows nothing of pages: the worker and the
// tests in node use it.

/** A failure of the simulator, with the place in the scene where it has one. */
export class ScreeError extends Error {
  constructor(message, line, column) {
    super(message);
    this.name = "ScreeError";
    this.line = line;
    this.column = column;
  }
}

export class Engine {
  constructor(module) {
    this.module = module;
    for (const folder of ["/scree", "/scree/assets", "/scree/scenes", "/scree/files"]) {
      try {
        module.FS.mkdir(folder);
      } catch {
        // It is there already.
      }
    }
  }

  /** Calls web_<name>; texts become UTF-8 for as long as the call takes. */
  call(name, ...values) {
    const texts = [];
    const passed = values.map((value) => {
      if (typeof value !== "string") return Number(value);
      const size = this.module.lengthBytesUTF8(value) + 1;
      const place = this.module._malloc(size);
      this.module.stringToUTF8(value, place, size);
      texts.push(place);
      return place;
    });
    try {
      return this.module[`_web_${name}`](...passed);
    } finally {
      texts.forEach((place) => this.module._free(place));
    }
  }

  /** Calls a function that returns a text. */
  text(name, ...values) {
    return this.module.UTF8ToString(this.call(name, ...values));
  }

  /** Calls a function that returns JSON. */
  json(name, ...values) {
    return JSON.parse(this.text(name, ...values) || "null");
  }

  /** Calls a function that returns a status; throws what went wrong. */
  run(name, ...values) {
    if (this.call(name, ...values) === 0) return;
    throw new ScreeError(this.text("message") || `${name} cannot be done now`, this.call("line"), this.call("column"));
  }

  write(path, data) {
    this.module.FS.writeFile(path, data);
  }

  read(path) {
    return this.module.FS.readFile(path);
  }

  has(path) {
    return this.module.FS.analyzePath(path).exists;
  }

  /** Which of the shipped assets a scene names and are not there yet. */
  missing(text, assets) {
    return assets.filter((name) => text.includes(name) && !this.has(`/scree/assets/${name}`));
  }

  /** Gets the files that a scene names, and those that their models name. `get(name)` answers a promise of bytes. */
  async bring(text, assets, get) {
    for (let texts = [text]; texts.length > 0; ) {
      const names = [...new Set(texts.flatMap((one) => this.missing(one, assets)))];
      const found = await Promise.all(names.map(get));
      names.forEach((name, k) => this.write(`/scree/assets/${name}`, found[k]));
      texts = names.flatMap((name, k) => (name.endsWith(".xml") ? new TextDecoder().decode(found[k]) : []));
    }
  }

  /** Whether a scene may have a mechanism, which needs MuJoCo's module. */
  wantsMujoco(text) {
    return !this.module.mujoco && /\bmechanism["']?\s*:/.test(text);
  }

  /** MuJoCo's module, as its package makes it. */
  async takeMujoco(mujoco) {
    const { MujocoBridge } = await import("./mujoco_bridge.js");
    this.module.mujoco = new MujocoBridge(mujoco);
  }

  open(text, { name = "scene", sets = [], threads = 1 } = {}) {
    this.run("open", text, name, "/scree/files", sets.join("\n"), threads);
  }

  frame() {
    this.run("frame");
  }
}
