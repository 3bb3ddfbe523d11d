/* The hand-written part of docs/scene.md; the tables are made from the parameter table. */
#ifndef SCENE_REFERENCE_PAGE_H
#define SCENE_REFERENCE_PAGE_H

#include "scene/reader.h"

static const char page_head[] =
    "# Scene files\n"
    "\n"
    "<!-- Made from the parameter table by `make docs`; a test compares the two. The words are in\n"
    "src/scene/reference_page.h, the tables in include/scree/parameters.h. -->\n"
    "\n"
    "A scene is one YAML document in UTF-8, at most 64 MB. Units are SI (m, kg, s, N, Pa), angles are in degrees and\n"
    "their keys end in `_deg`. Axes are right-handed, z up. `scree check SCENE` reads a scene and says what is wrong\n"
    "with it, without simulating.\n"
    "\n"
    "```yaml\n"
    "scree: 1                       # version of the format\n"
    "title: A pile on a plate\n"
    "duration: 4\n"
    "method: {name: pbd, radius: 0.01}\n"
    "materials:\n"
    "  sand: {density: 1600, friction_static: 0.6, friction_kinetic: 0.5}\n"
    "grains:\n"
    "  - {material: sand, fill: {cylinder: {base: [0, 0, 0], radius: 0.15, height: 0.4}}}\n"
    "boundaries:\n"
    "  - {name: plate, plane: {point: [0, 0, 0], normal: [0, 0, 1]}}\n"
    "bodies:\n"
    "  - {name: ball, sphere: {radius: 0.05}, density: 5000, position: [0, 0, 0.8]}\n"
    "probes:\n"
    "  - {name: angle, kind: repose_angle}\n"
    "  - {name: load, kind: force_on, target: plate}\n"
    "```\n"
    "\n"
    "## What must be there\n"
    "`scree: 1`, `method: {name: ...}` and at least one source of grains: an entry of `grains` with its `fill`, an\n"
    "entry of `emitters`, or a `terrain`. Everything else has a default, except where something would have no meaning\n"
    "without it: the shape of a boundary, body or sink, the `kind` of a probe and the `target` of those that have "
    "one,\n"
    "the `keys` of a body that follows them, the `mjcf` of a mechanism, the `impulse` of an event. Where no materials\n"
    "are given there is one, `sand`; where no material is named, the first one is meant.\n"
    "\n"
    "## Rules\n"
    "- Unknown keys, keys given twice, wrong types, numbers with letters behind them (`16oo`), hexadecimal numbers, "
    "NaN\n"
    "  and infinities are errors with line and column. So are numbers outside the legal range of a key.\n"
    "- Numbers that are legal but odd, and keys that the chosen method (or the kind of a probe) does not read, get a\n"
    "  warning.\n"
    "- `auto` may be written where it is the default: the value follows from others.\n"
    "- Names have 1 to 63 letters, digits, `_` or `-`. Boundaries and bodies share one set of names; probes must not\n"
    "  make two columns of one name.\n"
    "- Files are looked up beside the scene, then in the shipped assets; a name that is absolute, climbs with `..` or "
    "is\n"
    "  a link to elsewhere is refused. A run copies those beside the scene into its folder, for the scene.yaml there.\n"
    "- YAML anchors and aliases work. Tags, several documents in one file and merge keys (`<<`) do not.\n"
    "- An empty section (`bodies:` with nothing behind it) is the same as none.\n"
    "\n"
    "## Changing a scene from the command line\n"
    "`--set path=value` changes the scene before it is read; the value is YAML. Entries of lists go by number from 0 "
    "or\n"
    "by name:\n"
    "```\n"
    "--set method.iterations=8\n"
    "--set materials.sand.density=1800\n"
    "--set bodies.ball.position='[0, 0, 1]'\n"
    "--set 'bodies[0].density=900'\n"
    "--set boundaries.plate.friction_static=0.2\n"
    "--set upsample.radius=0.004\n"
    "--set upsample=null\n"
    "```\n"
    "\n"
    "## Shapes\n";

/* How a shape is placed, by where it stands. */
static const struct {
  ShapePlace place;
  const char *where, *placed_by;
} page_places[] = {
    {SHAPE_OF_FILL, "`fill` of grains", "the shape itself; meshes by `position`, `rotation`, `scale`"},
    {SHAPE_OF_EMITTER, "emitters", "the disc itself"},
    {SHAPE_OF_SINK, "sinks", "as fills; a plane takes what is behind it"},
    {SHAPE_OF_BOUNDARY, "boundaries", "`position`, `rotation`; meshes also `scale`"},
    {SHAPE_OF_BODY, "bodies", "`position`, `rotation`; meshes also `scale`"},
    {SHAPE_OF_PROBE, "probes", "the box itself"},
};

static const char page_rest[] =
    "\n"
    "The shapes of bodies are centred on the body's origin unless corners, centre or base are given:\n"
    "`box: {size: [x, y, z]}`, `sphere: {radius: r}`, `cylinder: {radius: r, height: h}` along z.\n"
    "`inside: true` makes a boundary a container that grains live in.\n"
    "\n"
    "## Motion\n"
    "A body is `free` (moved by grains and gravity), `fixed`, or follows `keys`: positions are interpolated linearly,\n"
    "rotations by slerp, both are held before the first and after the last key, and grains feel the velocity that\n"
    "follows. Boundaries may have `keys` too. Times ascend.\n"
    "```yaml\n"
    "bodies:\n"
    "  - name: gate\n"
    "    box: {size: [1, 0.1, 1]}\n"
    "    motion: keyframes\n"
    "    keys: [{t: 0, position: [0, 0, 0]}, {t: 1, position: [0, 0, 2], rotation: [0.707, 0, 0, 0.707]}]\n"
    "```\n"
    "A `mechanism` is a MuJoCo model; the names of its bodies and geoms are targets for probes, and its `controls` are "
    "a\n"
    "csv with the header `time,<actuator>,...`, interpolated and held at both ends. The scene's gravity wins.\n"
    "\n"
    "## Meaning across methods\n"
    "`density` is the bulk density of the settled material for every method, so that the same settled sand weighs the\n"
    "same on all of them; a grain's own density is density / 0.6 unless `grain_density` is given. sph and flip fill a\n"
    "volume with settled sand. Grains of `start: dense` are nearly that (0.93 of its weight in a box 30 radii wide, "
    "where\n"
    "the layer at the faces counts); those of `start: random` fill 0.35 of it, weigh 0.58 and then settle lower: for\n"
    "comparisons across methods, start dense. A `time_step` written for one method is left out, with a warning, when\n"
    "`--method` asks for another that cannot bear it. Friction coefficients act\n"
    "between grains (pbd, p2, dem) and are combined as sqrt(mu_i mu_j), with boundaries and bodies too;\n"
    "`friction_angle_deg` is the internal angle of sph and flip.\n"
    "\n";

static const char page_keys[] =
    "\n"
    "## Keys\n"
    "\"Read by\" is empty where every method reads the key; for probes it names the kinds.\n";

#endif
