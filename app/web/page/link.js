// A link that holds the scene: a shipped one by its name, any other packed into the address.

async function through(stream, data) {
  const answer = new Response(new Blob([data]).stream().pipeThrough(stream));
  return new Uint8Array(await answer.arrayBuffer());
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
    found.name = "own";
    try {
      found.text = new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), toBytes(parts.get("yaml"))));
    } catch {
      found.broken = "The scene in the link is damaged.";
    }
  }
  if (/^\w+$/.test(parts.get("method") ?? "")) found.method = parts.get("method");
  try {
    const sets = JSON.parse(parts.get("set") ?? "null");
    if (sets && typeof sets === "object") found.sets = sets;
  } catch {
    found.broken = "The settings in the link are damaged.";
  }
  const camera = (parts.get("camera") ?? "").split(",").map(Number);
  if (camera.length === 7 && camera.every(Number.isFinite)) found.camera = camera;
  if (/^(camera|pour|blast|(dig|drop):\d)$/.test(parts.get("tool") ?? "")) found.tool = parts.get("tool");
  found.embedded = parts.has("embed");
  return found;
}
