// The dialog with the shipped scenes.
import { state } from "./state.js";

const dialog = document.getElementById("scenes");
const list = document.getElementById("scenes-list");
const filter = document.getElementById("scenes-filter");

function card(scene, choose) {
  const button = document.createElement("button");
  button.className = "card";
  button.dataset.scene = scene.name;
  button.setAttribute("aria-current", String(scene.name === state.name));
  if (scene.picture) {
    const picture = scene.name === "sandbox" ? "thumbnails/sandbox.jpg" : `thumbnails/${scene.name.replace("/", "_")}.jpg`;
    button.append(Object.assign(new Image(224, 140), { src: picture, alt: "", loading: "lazy" }));
  }
  const title = Object.assign(document.createElement("strong"), { textContent: scene.title });
  const about = Object.assign(document.createElement("small"), { textContent: scene.mechanism ? `${scene.method}, ${state.index.mujoco ? "with" : "without"} its machine` : scene.method });
  button.title = scene.about;
  button.append(title, about);
  button.addEventListener("click", () => {
    dialog.close();
    choose(scene);
  });
  return button;
}

export function showScenes(choose) {
  const fill = () => {
    const words = filter.value.toLowerCase();
    const found = state.index.scenes.filter((s) => `${s.name} ${s.title} ${s.method} ${s.about}`.toLowerCase().includes(words));
    list.replaceChildren();
    for (const paper of new Set(found.map((scene) => scene.name.split("/")[0]))) {
      const heading = Object.assign(document.createElement("h3"), { textContent: state.index.papers[paper] ?? "To play in" });
      const grid = document.createElement("div");
      grid.className = "cards";
      grid.append(...found.filter((scene) => scene.name.split("/")[0] === paper).map((scene) => card(scene, choose)));
      list.append(heading, grid);
    }
    if (found.length === 0) list.append(Object.assign(document.createElement("p"), { textContent: "No scene has these words." }));
  };
  filter.oninput = fill;
  fill();
  dialog.showModal();
}
