// Files in and out: scenes, meshes, checkpoints, pictures, films.

export function download(data, name, type) {
  const address = URL.createObjectURL(data instanceof Blob ? data : new Blob([data], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Calls `take` with each file that is dropped on the page. */
export function watchDrops(take) {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    [...event.dataTransfer.files].forEach(take);
  });
}

/** A film of the canvas, until it is called again; hands the file to `done`. */
export class Film {
  constructor(canvas, done) {
    const kinds = ["video/webm;codecs=vp9", "video/webm", "video/mp4"];
    const type = kinds.find((kind) => window.MediaRecorder?.isTypeSupported(kind));
    if (!type) throw new Error("This browser records no films.");
    this.recorder = new MediaRecorder(canvas.captureStream(), { mimeType: type, videoBitsPerSecond: 12e6 });
    const pieces = [];
    this.recorder.ondataavailable = (event) => pieces.push(event.data);
    this.recorder.onstop = () => done(new Blob(pieces, { type }), type.startsWith("video/mp4") ? "mp4" : "webm");
    this.recorder.start(500);
  }

  end() {
    this.recorder.stop();
  }
}

/** A mesh in a scene of its own: filled with sand that falls. */
export function sceneOfMesh(name) {
  return `# ${name} filled with sand. Change scale and position as you like.
scree: 1
title: ${name.replace(/[^\w .-]/g, "_")}
duration: 600
method: {name: pbd, radius: 0.03}
grains:
  - {fill: {mesh: ${JSON.stringify(name)}, scale: 1.0, position: [0, 0, 0.5]}}
boundaries:
  - {plane: {point: [0, 0, 0], normal: [0, 0, 1]}, name: floor}
materials:
  sand: {density: 1600, friction_angle_deg: 33}
`;
}
