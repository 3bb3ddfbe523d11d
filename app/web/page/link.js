// A link that holds the scene: a shipped one by its name, any other packed into the address.
import { METHODS } from "./state.js";

/** No scene is longer (bytes): a short link can hold one that would fill the memory. */
export const SCENE_MOST = 2 ** 20;

async function through(stream, data, most = Infinity) {
  const reader = new Blob([data]).stream().pipeThrough(stream).getReader();
  const pieces = [];
  for (let size = 0, piece; !(piece = await reader.read()).done; ) {
    size += piece.value.length;
    if (size > most) throw new Error("too long");
    pieces.push(piece.value);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

const toText = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
  .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const toBytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

/** The part behind # for what the page shows. */
export async function pack({ name, text, method, sets, camera, tool, changed }) {
  const parts = new URLSearchParams();
  if (changed) parts.set("yaml", toText(await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text))));
  else parts.set("scene", name);
  if (method) parts.set("method", method);
  if (Object.keys(sets).length > 0) parts.set("set", JSON.stringify(sets));
  if (camera) parts.set("camera", camera.join(","));
  if (tool && tool !== "dig:0") parts.set("tool", tool);
  return parts.toString();
}

/** The other way round; what is wrong or missing is left out. */
export async function unpack(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const found = {};
  if (parts.has("scene")) found.name = parts.get("scene");
  if (parts.has("yaml")) {
    try {
      const bytes = await through(new DecompressionStream("deflate-raw"), toBytes(parts.get("yaml")), SCENE_MOST);
      found.text = new TextDecoder().decode(bytes);
      found.name = "own";
    } catch {
      found.broken = "The scene in the link is damaged.";
    }
  }
  if (METHODS.includes(parts.get("method"))) found.method = parts.get("method");
  try {
    const sets = JSON.parse(parts.get("set") ?? "null");
    if (sets && typeof sets === "object" && !Array.isArray(sets)) found.sets = sets;
  } catch {
    found.broken = "The settings in the link are damaged.";
  }
  const camera = (parts.get("camera") ?? "").split(",").map(Number);
  if (camera.length === 7 && camera.every(Number.isFinite)) found.camera = camera;
  if (/^(camera|pour|blast|(dig|drop):\d)$/.test(parts.get("tool") ?? "")) found.tool = parts.get("tool");
  found.embedded = parts.has("embed");
  return found;
}
