// MuJoCo's own module behind the calls of app/web/mujoco_bridge.c: models and data by number, arrays by their names. Knows
// nothing of pages: the worker and the tests in node use it.

/** Flags of joints and actuators: the bindings give them one by one only. */
const FLAGS = {
  jnt_limited: (model) => Array.from({ length: model.njnt }, (_, k) => model.jnt(k).limited),
  actuator_ctrllimited: (model) => Array.from({ length: model.nu }, (_, k) => model.actuator(k).ctrllimited),
  actuator_forcelimited: (model) => Array.from({ length: model.nu }, (_, k) => model.actuator(k).forcelimited),
};

/** Of a contact, in the order of mjContact in app/web/mujoco/mujoco.h: numbers, then whole numbers. */
const NUMBERS = [["dist", 1], ["includemargin", 1], ["pos", 3], ["frame", 9], ["friction", 5], ["solref", 2], ["solimp", 5]];
const WHOLE = [["dim", 1], ["efc_address", 1], ["geom1", 1], ["geom2", 1], ["geom", 2], ["flex", 2], ["elem", 2], ["vert", 2]];
/** Of rows of constraints, in the order of their block in mjData there; all but the last are changed by the simulator. */
const ROWS = ["efc_aref", "efc_R", "efc_D", "efc_vel"];
const LOOKS_FOR_CONTACTS = new Set(["mj_step", "mj_step1", "mj_makeConstraint"]);
const WHOLE_AT = 8 * 26; // bytes before the whole numbers

export class MujocoBridge {
  constructor(mujoco) {
    this.mujoco = mujoco;
    this.files = new mujoco.MjVFS();
    this.machines = new Map();
    this.made = 0;
    this.words = new Map();
  }

  addFile(name, data) {
    this.files.addBuffer(name, data);
  }

  load(name) {
    const { mujoco } = this;
    try {
      const model = mujoco.MjModel.mj_loadXML(name, this.files);
      if (!model) return { handle: 0, message: "MuJoCo could not read the model" };
      // A state that is not finite is for the simulator to see: it takes the step again.
      model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET.value;
      const numbers = (count) => new mujoco.DoubleBuffer(Math.max(1, count));
      const { nv } = model;
      this.machines.set(++this.made, { model, opt: model.opt, data: null, full: [0, 0], bound: [], there: null, here: null, names: new Map(), warning: null,
        six: numbers(6), moves: numbers(3 * nv), turns: numbers(3 * nv), inertia: numbers(nv * nv), solved: numbers(nv) });
      return { handle: this.made, message: "" };
    } catch (error) {
      return { handle: 0, message: String(error.message ?? error).replace(/^MuJoCo Error: (Loading error: )?/, "") };
    } finally {
      this.files.delete();
      this.files = new mujoco.MjVFS();
    }
  }

  /** Answers where its names are in the simulator's memory. */
  delete(handle) {
    const machine = this.machines.get(handle);
    for (const part of ["six", "moves", "turns", "inertia", "solved", "data", "model"]) machine[part]?.delete();
    this.machines.delete(handle);
    return [...machine.names.values()].filter((place) => place);
  }

  count(handle, name) {
    return this.machines.get(handle).model[name];
  }

  array(handle, name) {
    const { model, data } = this.machines.get(handle);
    if (name in FLAGS) return Uint8Array.from(FLAGS[name](model));
    return model[name] ?? data[name];
  }

  options(handle) {
    const { opt } = this.machines.get(handle).model;
    return [opt.timestep, ...opt.gravity, opt.cone, opt.integrator];
  }

  /** `arena`: bytes for contacts and constraints. */
  makeData(handle, arena) {
    const machine = this.machines.get(handle);
    try {
      machine.model.narena = arena;
      machine.data = new this.mujoco.MjData(machine.model);
    } catch {
      return false;
    }
    machine.warning = machine.data.warning;
    return true;
  }

  /** The text of a place in memory that does not change. */
  word(place, read) {
    if (!this.words.has(place)) this.words.set(place, read());
    return this.words.get(place);
  }

  /** An array of the data that has its copy at `at` in the simulator's memory. */
  bind(handle, name, at, goes) {
    this.machines.get(handle).bound.push({ name, at, goes });
  }

  /** Views of both memories: made anew when one of them has grown. */
  views(machine, heap) {
    if (machine.here !== heap.buffer || machine.there !== machine.data.qpos.buffer) {
      machine.here = heap.buffer;
      machine.there = machine.data.qpos.buffer;
      for (const one of machine.bound) {
        one.theirs = machine.data[one.name];
        one.ours = heap.subarray(one.at / 8, one.at / 8 + one.theirs.length);
      }
    }
    return machine.bound;
  }

  /** Takes the state there, lets MuJoCo do something, and brings all back. `options` and `rows` are places in `heap`. */
  run(heap, handle, task, key, options, rows, room, time) {
    const machine = this.machines.get(handle);
    const { model, data } = machine;
    const [step, gx, gy, gz, cone] = heap.subarray(options / 8, options / 8 + 5);
    try {
      for (const one of this.views(machine, heap)) if (one.goes) one.theirs.set(one.ours);
      const of = (k) => heap.subarray(rows / 8 + k * room, rows / 8 + k * room + data.nefc);
      if (rows) ROWS.slice(0, -1).forEach((name, k) => data[name].set(of(k)));
      machine.opt.timestep = step;
      machine.opt.gravity.set([gx, gy, gz]);
      machine.opt.cone = cone;
      data.time = time;
      if (key < 0) this.mujoco[task](model, data);
      else this.mujoco[task](model, data, key);
      for (const one of this.views(machine, heap)) one.ours.set(one.theirs);
    } catch (error) {
      return { message: String(error.message ?? error) };
    }
    if (LOOKS_FOR_CONTACTS.has(task)) machine.full = [1, 2].map((kind) => this.warnings(machine, kind));
    return { time: data.time, counts: [data.ncon, data.nefc, ...machine.full] };
  }

  /** How often there was no room: for contacts (1), for rows of constraints (2). */
  warnings({ warning }, kind) {
    const one = warning.get(kind);
    const { number } = one;
    one.delete();
    return number;
  }

  rows(heap, handle, to, room) {
    const { data } = this.machines.get(handle);
    ROWS.forEach((name, k) => heap.set(data[name], to / 8 + k * room));
  }

  contacts(heap, whole, handle, to, size) {
    const all = this.machines.get(handle).data.contact;
    for (let k = 0; k < all.size(); k++) {
      const contact = all.get(k);
      const put = (memory, place, rows) => {
        for (const [name, length] of rows) {
          if (length > 1) memory.set(contact[name], place);
          else memory[place] = contact[name];
          place += length;
        }
      };
      put(heap, (to + k * size) / 8, NUMBERS);
      put(whole, (to + k * size + WHOLE_AT) / 4, WHOLE);
      contact.delete();
    }
    all.delete();
  }

  /** How many there are then, or -1 when there is no room. */
  addContact(heap, whole, handle, from) {
    const { model, data } = this.machines.get(handle);
    const contact = new this.mujoco.MjContact();
    const take = (memory, place, rows) => {
      for (const [name, length] of rows) {
        if (length > 1) contact[name].set(memory.subarray(place, place + length));
        else contact[name] = memory[place];
        place += length;
      }
    };
    take(heap, from / 8, NUMBERS);
    take(whole, (from + WHOLE_AT) / 4, WHOLE);
    const full = this.mujoco.mj_addContact(model, data, contact);
    contact.delete();
    return full ? -1 : data.ncon;
  }

  contactForce(handle, contact) {
    const { model, data, six } = this.machines.get(handle);
    this.mujoco.mj_contactForce(model, data, contact, six);
    return six.GetView();
  }

  pointJacobian(handle, point, body) {
    const { model, data, moves, turns } = this.machines.get(handle);
    this.mujoco.mj_jac(model, data, moves, turns, [...point], body);
    return { moves: moves.GetView(), turns: turns.GetView() };
  }

  solve(handle, right) {
    const { model, data, solved } = this.machines.get(handle);
    this.mujoco.mj_solveM(model, data, solved, [...right]);
    return solved.GetView();
  }

  id(handle, type, name) {
    return this.mujoco.mj_name2id(this.machines.get(handle).model, type, name);
  }

  /** `keep` puts a text into the simulator's memory. */
  name(handle, type, id, keep) {
    const { model, names } = this.machines.get(handle);
    const key = `${type} ${id}`;
    if (!names.has(key)) {
      const name = this.mujoco.mj_id2name(model, type, id);
      names.set(key, name ? keep(name) : 0);
    }
    return names.get(key);
  }

  velocity(handle, type, id, local) {
    const { model, data, six } = this.machines.get(handle);
    this.mujoco.mj_objectVelocity(model, data, type, id, six, local);
    return six.GetView();
  }

  jacobian(handle, body) {
    const { model, data, moves, turns } = this.machines.get(handle);
    this.mujoco.mj_jacBodyCom(model, data, moves, turns, body);
    return { moves: moves.GetView(), turns: turns.GetView() };
  }

  inertia(handle) {
    const { model, data, inertia } = this.machines.get(handle);
    this.mujoco.mj_fullM(model, data, inertia);
    return inertia.GetView();
  }
}
