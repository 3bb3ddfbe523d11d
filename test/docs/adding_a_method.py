"""Builds and runs the method that docs/adding_a_method.md walks through: its code blocks, and its row in a copy of the
table of methods. The new table takes the place of the library's own at link time."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("SCREE_BUILD", ROOT / "build"))
PAGE = (ROOT / "docs/adding_a_method.md").read_text()

MAIN = r"""
#include <math.h>
#include <scree/scree.h>
#include <stdio.h>

static double fall_speed(int threads, unsigned long long *hash) {
  ScreeMaterialDef dust = scree_material_default("dust");
  ScreeGrainsDef cloud = scree_grains_default("dust", scree_shape_sphere((ScreeVec3){0, 0, 0}, 0.5));
  ScreeSceneDef scene = scree_scene_default();
  scene.name = "drift";
  scene.method = scree_method_default("drift");
  scene.method.radius = 0.02;
  scene.wind = (ScreeVec3){2, 0, 0};
  scene.materials = &dust;
  scene.material_count = 1;
  scene.grains = &cloud;
  scene.grains_count = 1;
  ScreeWorldOptions options = scree_world_options_default();
  options.threads = threads;
  ScreeWorld *world = NULL;
  ScreeError error;
  if (scree_world_create(&scene, &options, &world, &error) != SCREE_OK) {
    fprintf(stderr, "%s\n", error.message);
    return NAN;
  }
  for (int frame = 0; frame < 180; frame++)
    if (scree_world_frame(world, &error) != SCREE_OK) {
      fprintf(stderr, "%s\n", error.message);
      return NAN;
    }
  ScreeParticles grains = scree_world_particles(world);
  *hash = scree_world_state_hash(world);
  printf("%lld grains, velocity (%g, %g, %g)\n", (long long)grains.count, grains.vx[0], grains.vy[0], grains.vz[0]);
  double off = fabs(grains.vx[0] - 2) + fabs(grains.vz[0] + 9.81 * 0.2);
  scree_world_destroy(world);
  return off;
}

int main(void) {
  unsigned long long one = 0, three = 1;
  double off = fall_speed(1, &one);
  return fall_speed(3, &three) == off && off < 1e-4 && one == three ? 0 : 1;
}
"""


def write_sources(folder):
    for name, text in re.findall(r"^```c\n/\* (src/\S+) \*/\n(.*?)^```", PAGE, re.M | re.S):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    table = (ROOT / "src/world/methods.c").read_text()
    diff = re.search(r"^```diff\n(.*?)^```", PAGE, re.M | re.S)[1]
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines()
        anchor = next(line[1:] for line in lines if line.startswith(" "))
        if table.count(anchor + "\n") != 1:
            sys.exit(f"src/world/methods.c has no line to anchor the row: {anchor!r}")
        table = table.replace(anchor + "\n", "".join(line[1:] + "\n" for line in lines))
    (folder / "methods.c").write_text(table)
    (folder / "main.c").write_text(MAIN)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_sources(folder)
        needs = re.search(r"^Libs\.private: (.*)$", (BUILD / "package/scree.pc").read_text(), re.M)[1].split()
        program = folder / "drift"
        subprocess.run(["cc", "-std=gnu17", "-O1", "-Wall", "-Wextra", "-Wshadow", "-Wmissing-prototypes", "-Werror",
                        f"-I{folder}/src", f"-I{ROOT}/src", f"-I{ROOT}/include", "-DSCREE_HAVE_V3",
                        folder / "main.c", folder / "methods.c", *sorted(folder.glob("src/methods/*/*.c")),
                        BUILD / "libscree_internal.a", *needs, "-o", program], check=True)
        return subprocess.run([program]).returncode


if __name__ == "__main__":
    sys.exit(main())
