/* What the files of this room share. The stages of a block are in upsample_kernels.h. */
#ifndef UPSAMPLE_INTERNAL_H
#define UPSAMPLE_INTERNAL_H

#include <stdatomic.h>

#include "geometry/distance_grid.h"
#include "neighbors/neighbors.h"
#include "upsample/fine_shared.h"
#include "upsample/upsample.h"
#include "upsample/upsample_kernels.h"

/* Lengths in radii of the coarse grains. */
#define REACH 3.0         /* of the weights (the paper's) */
#define COVERED 1.70      /* nearer to a coarse centre than this a fine grain goes with the coarse ones ... */
#define FREE 1.75         /* ... and farther than this it flies. A wide window would let it sink slowly for seconds */
#define STIR_CELL 1.5     /* side of the cells whose counts tell where it is crowded */
#define REST 0.01         /* coarse grains that moved less since they were last looked at are at rest */
#define DISTANCE_CELL 0.5 /* of the cached distance to meshes */
#define DISTANCE_BAND 6.0

/* A parcel of bulk material counts as the sphere that settles into the same volume: (4/3) pi (q r)^3 = 0.6 (2 r)^3. */
#define PARCEL_SPHERE 1.0464

/* A solid as fine grains see it: the shape with a cache of distances of our own, so that what the method touches stays
 * exact, and the poses between which it moved in the frame. */
typedef struct FineSolid {
  Shape shape;
  DistanceGrid *cache; /* NULL: exact */
  double doubt;        /* m, how far cached distances may be off where fine grains touch; 0: not enough to matter */
  bool sampled;        /* coarse samples stand for it in the paper's mode */
  Vec3 position[2];    /* of the shape's frame at the beginning and at the end of the frame */
  Quat rotation[2];
  FineAxes axes[2];
  float drift[3];   /* of the shape's origin over the frame */
  double moved;     /* m, no point of it moved farther in the frame */
  uint64_t heights; /* of ground: hash of its heights */
  double friction_static, friction_kinetic;
  BlockLists lists; /* of a mesh in doubt, for a device: its triangles, for grains of a reach up to `listed` */
  double listed;
} FineSolid;

/* mode points, see points.c. */
typedef struct RenderPoints {
  uint32_t *parent; /* per point: id of its particle */
  float *offset[3]; /* from it, m */
  float **shape[6]; /* fields of the particles: the method's ellipsoids */
  float *flow[9];   /* and how the flow stretched them in the frame, less the identity */
} RenderPoints;

typedef struct CoarseGrid {
  CellGrid *sparse;
  bool dense; /* all cells of the box round the points are in a table */
  bool wraps; /* that is asked for: cells are in a table that wraps round, for a device */
  bool folded;
  CoarseTable table; /* that */
  double inverse;
  int32_t low[3], size[3];
  int32_t *start, *order; /* of each cell, x fastest; the points in the order of the cells and of their ids */
} CoarseGrid;

/* Fields of the particles: where each coarse grain was when the fine ones last took note of it. coarse_gather reads and
 * moves them on; they are saved with the particles. */
typedef struct CoarseSeen {
  float *x, *y, *z;
  uint8_t *known; /* 0: born since */
} CoarseSeen;

typedef struct FineDevice FineDevice; /* fine_device.c */

/* The columns of the table of fine grains, and their sizes. */
enum {
#define FINE_INDEX(type, name) FIELD_##name,
  FINE_FIELDS(FINE_INDEX)
#undef FINE_INDEX
      FIELDS
};
extern const int64_t fine_field_sizes[FIELDS]; /* fine_device.c */

/* What is known about the storage of fine grains. advance_cluster fills it block by block, upsample_advance the rest;
 * births, deaths and sorting forget it (fine_forget_blocks). It may be forgotten at any time. */
typedef struct FineStorage {
  uint8_t *resting;   /* per block of FINE_BLOCK grains: nothing moves in it */
  float (*bounds)[6]; /* of resting blocks: low, high */
  bool unsorted;
  /* Effort is counted per grain, in pairs of a coarse and a fine grain: */
  double effort_sorted; /* in the frame after sorting; 0: not known */
  double effort_wasted; /* beyond that, in all frames since */
  double effort;        /* in the last frame */
} FineStorage;

typedef struct Upsample {
  ScreeUpsampleDef definition;
  double coarse_radius;
  FineGrains grains;                   /* on a device the host has room for them when they come down, and not before */
  FineGrains born;                     /* of this frame, where the table is on a device */
  CoarseGrid coarse_grid, sample_grid; /* coarse_gather builds them for a frame */
  CoarseSeen seen;
  /* solids_view_create adds solids; solids_view_refresh fills the rest for a frame: */
  FineSolid *solids;
  int32_t solid_count;
  double lag;       /* m, the most that one of them moved in the frame and that its distances may be off */
  bool reshaped;    /* ground rose or sank somewhere */
  uint32_t *counts; /* fine grains per cell: the memory of Stir */
  RenderPoints points;
  FineStorage storage;
  FineDevice *device; /* NULL: fine grains are on the CPU */
  const char *off;    /* why they are not on a device that was asked for */
} Upsample;

/* Whether there is a device form, and whether grains are on a device: nowhere where the library is built without
 * devices, so that the linker leaves out what would never run. */
#ifdef SCREE_HAVE_OPENCL
#define FINE_HAS_FORM true
#else
#define FINE_HAS_FORM false
#endif
#define FINE_ON_DEVICE(up) (FINE_HAS_FORM && (up)->device != NULL)

static inline void bounds_widen(const float bounds[6], float by, float wide[6]) {
  for (int axis = 0; axis < 3; axis++) wide[axis] = bounds[axis] - by, wide[3 + axis] = bounds[3 + axis] + by;
}

/* grains.c */
Status fine_reserve(Core *core, FineGrains *grains, int64_t capacity);
Status fine_too_many(Core *core, int64_t count);
/* Room for so many more from `first` of *table on, which have ids: of all, or of the born that go to a device. */
Status fine_append(Core *core, Upsample *upsample, int64_t count, FineGrains **table, int64_t *first);
void fine_grains_drop(Core *core, FineGrains *grains);
/* New grain k is old grain order[k]; the first `same` stay where they are. */
Status fine_permute(Core *core, Upsample *upsample, Scratch *scratch, const int32_t *order, int64_t count,
                    int64_t same);
/* Nothing is known any more about the blocks from that of grain `first` on. */
Status fine_forget_blocks(Core *core, Upsample *upsample, int64_t first);

/* order.c: sorts the grains, so that those that follow each other are near each other. */
Status fine_sort(Core *core, Upsample *upsample, Scratch *scratch);
void fine_sorted(Upsample *upsample); /* it has been done */

/* births.c */
Status fine_births(Core *core, Upsample *upsample, const State *state);
Status fine_deaths(Core *core, Upsample *upsample, const State *state, const Solids *sinks, Scratch *scratch);

/* coarse_grid.c: as the functions of cell grids. Points have ids. */
Status coarse_grid_create(Core *core, CoarseGrid *grid);
void coarse_grid_destroy(Core *core, CoarseGrid *grid);
Status coarse_grid_build(Core *core, CoarseGrid *grid, Scratch *scratch, Points points, float cell);
const int32_t *coarse_grid_index(const CoarseGrid *grid);
int64_t coarse_grid_cells(const CoarseGrid *grid); /* of its table */
double coarse_grid_inverse(float cell);            /* as cell grids have it */
/* A table that wraps round, for points whose cells are in this box: as many bits for each axis as it has cells, and
 * where these are too many fewer for the longest. No axis gets less than what lies round a block of fine grains.
 * Returns whether several cells share an entry. */
bool coarse_table_choose(int64_t count, const int32_t low[3], const int32_t high[3], CoarseTable *table);
int64_t coarse_table_cells(const CoarseTable *table);
int coarse_grid_box(const CoarseGrid *grid, const float bounds[6], int capacity, int64_t (*ranges)[2]);

/* coarse.c: the coarse grains of this frame, in the order of their cells. coarse_gather fills it from scratch memory;
 * it holds for the frame. */
typedef struct CoarseSets {
  CoarseSet grains, samples;
  int64_t moving;         /* grains that are not at rest */
  int64_t *moving_before; /* of them, before each row */
} CoarseSets;
Status coarse_gather(Core *core, Upsample *upsample, const State *state, Scratch *scratch, double dt, CoarseSets *sets);
/* Those of them that are samples of solids: mode paper. */
Status coarse_gather_samples(Core *core, Upsample *upsample, const State *state, Scratch *scratch, CoarseSets *sets);
CoarseRate coarse_rate(const Upsample *upsample, double dt);
/* Lowest and highest places of the grains; zero where there are none. */
void coarse_bounds(const Core *core, const CoarseSet *set, float bounds[6]);
/* Where the particles have been on a device: brings down what coarse_gather reads of their own fields, and says that it
 * has changed them. */
Status coarse_fields_fetch(Core *core, const State *state);
void coarse_fields_changed(const State *state);

/* coarse_device.c: the same of grains that are on a device. `rows` and `start` are made there as CoarseSet and
 * CoarseGrid have them; the words, which are zero, count from `word` on the box of the frame to come: it is given to
 * coarse_device_boxed when they have come down. */
typedef struct CoarseDevice CoarseDevice;
typedef struct CoarseThere {
  DeviceBuffer *rows, *start;
  const DeviceBuffer *words;
  int32_t word;
  CoarseTable table; /* coarse_device_gather fills these two */
  float bounds[6];
} CoarseThere;
Status coarse_device_create(Core *core, State *state, Device *device, CoarseDevice **coarse);
void coarse_device_destroy(Core *core, CoarseDevice *coarse);
Status coarse_device_gather(Core *core, CoarseDevice *coarse, const Upsample *upsample, const State *state, double dt,
                            CoarseThere *there);
void coarse_device_boxed(CoarseDevice *coarse, const State *state, const uint32_t words[COARSE_BOX_WORDS]);
/* Lowest and highest places of what widen_box (box.cl) has found. */
void coarse_box_floats(const uint32_t words[COARSE_BOX_WORDS], float bounds[6]);

/* Whether a coarse grain that is not at rest, or a moving solid, is within `reach` of a box. */
bool coarse_stirs(const Upsample *upsample, const CoarseSets *sets, const float bounds[6], float reach);

/* solids.c */
Status solids_view_create(Core *core, Upsample *upsample, const State *state);
void solids_view_refresh(Upsample *upsample, const State *state);
void solids_view_commit(Upsample *upsample);
/* Fills axes[when] from position and rotation. */
void solid_view_place(FineSolid *solid, int when, Vec3 origin);
/* Friction of a material with a solid. */
float solid_friction_static(const FineSolid *solid, const Material *material);
float solid_friction_kinetic(const FineSolid *solid, const Material *material);
/* From the world to the solid's frame, at the beginning (0) or end (1) of the frame, and back for directions. */
void solid_to_view(const FineSolid *solid, int when, const float world[3], float local[3]);
void solid_to_world_axes(const FineSolid *solid, int when, const float local[3], float world[3]);
/* Displacement in the frame of the point of the solid that is at `local` in its frame. */
void solid_displacement(const FineSolid *solid, const float local[3], float displacement[3]);
/* A lower bound of the distance of a box from the solid, at the beginning (0) or end (1) of the frame. */
double solid_view_gap(const FineSolid *solid, const float bounds[6], int when);
/* Two cached distances differ by at most this more than the points do that they belong to. */
static inline double solid_view_error(const FineSolid *solid) {
  return solid->shape.grid ? (double)solid->shape.grid->cell : 0;
}

/* What is round some blocks that lie together: the solids' distances from the box round them, or less. cluster_begin
 * fills it; it holds until the next cluster. */
typedef struct Surroundings {
  const Upsample *up;
  double (*gaps)[2]; /* of each solid at the beginning and the end of the frame */
} Surroundings;

/* The stages of a block, in the order in which they are filled. */
typedef struct FineStages {
  FineBlock block;
  FineWalls walls;
  FineSums sums;
  FineMotion motion;
} FineStages;

/* walls.c */
/* Beyond this a distance has only its sign. */
float solid_known_distance(const FineSolid *solid);
/* Distance and normal of the nearest solid within `reach`, at the beginning. */
void walls_before(const Core *core, const Surroundings *near, const float bounds[6], double reach,
                  const FineBlock *block, FineWalls *walls);
/* Mode paper: the weights of solids without samples. */
void walls_weigh(const Core *core, const Surroundings *near, const FineParameters *parameters, const float bounds[6],
                 const FineBlock *block, FineSums *sums);
/* Keeps grains out of solids: stops them, with friction, and puts out what is inside. `reach` is that of walls_before.
 */
void walls_after(const Core *core, const Surroundings *near, const State *state, const float bounds[6], double dt,
                 double reach, FineStages *stages);

/* The same for grains that a device has left to the host. */
Status walls_records(Core *core, const Upsample *up, const State *state, Scratch *scratch, double dt, double reach,
                     int64_t count, const FineRecord *records, FineResult *results);

/* Lists which of at most FINE_BLOCK grains may be in a solid at the end of the frame. Returns how many. */
int64_t walls_touching(const Core *core, const Upsample *up, int64_t count, const float *x, const float *y,
                       const float *z, const float *radius, int32_t list[FINE_BLOCK]);

/* wedge.c: whether a grain is in no solid at the end of the frame; puts it out of all and returns true where there is
 * room for it. */
bool solids_leave_room(const Upsample *up, double radius, Vec3 at);
bool solids_put_out(const Upsample *up, double radius, Vec3 *at);

/* stir.c: fine grains in moving sand go from crowded to sparse cells. stir_prepare fills it, by how many coarse grains
 * there are and the box round them, stir_count and stir_tally_end count; then it holds for the frame. */
typedef struct Stir {
  uint32_t *counts;
  CountCells cells;
} Stir;
Status stir_prepare(Core *core, Upsample *upsample, int64_t count, const float bounds[6], Stir *stir);
int64_t stir_cells(const Stir *stir); /* of the table */
/* Counts that are not yet added to those of all: blocks that follow each other lie in few cells, and adding where other
 * threads add too is costly. Begins as zero. */
typedef struct StirTally {
  int32_t cell[STIR_SLOTS];
  uint32_t count[STIR_SLOTS];
} StirTally;
void stir_count(const Core *core, const Stir *stir, int64_t count, const float *x, const float *y, const float *z,
                StirTally *tally);
void stir_tally_end(const Stir *stir, const StirTally *tally);

/* What a thread needs while it works on blocks: cluster_begin fills the first four for a cluster, each block the last
 * two for itself. */
typedef struct FineWork {
  Surroundings near;
  bool clustered;              /* the coarse grains and samples near the cluster are known */
  Candidates cluster, samples; /* they */
  Candidates block;            /* coarse grains, then samples, near the block */
  int32_t *list;               /* of them, those near some of its grains */
} FineWork;

/* One frame: upsample_advance fills it, and it ends with the frame. */
typedef struct Advance {
  Core *core;
  Upsample *up;
  const State *state;
  const Solids *sinks;
  bool paper;
  bool awake; /* coarse grains went otherwise than through a sink, or ground changed: nothing rests */
  double dt;
  FineParameters parameters;
  CoarseSets sets; /* move_grains fills these three */
  FineWork *work;  /* per thread */
  Stir stir;
  _Atomic int64_t effort;
  atomic_bool bad;
} Advance;

/* settle_device.c: closer looks at fine grains on a device that has doubles. */
typedef struct SettleDevice SettleDevice;
typedef struct SettleGrains {
  const DeviceBuffer *frame, *records, *x, *y, *z, *vx, *vy, *vz, *solids, *friction, *counters;
  const SolidsMirror *shapes;
} SettleGrains;
Status settle_device_create(Core *core, Device *device, SettleDevice **settle);
void settle_device_destroy(Core *core, SettleDevice *settle);
/* Lists the triangles of meshes that it asks. */
Status settle_device_list(Core *core, Upsample *upsample, const State *state);
/* Looks at `room` records at most; the device knows how many there are. What it leaves to the host is settle_left. */
Status settle_device_look(Core *core, SettleDevice *settle, const Upsample *upsample, double reach, int64_t room,
                          const SettleGrains *grains);
const DeviceBuffer *settle_left(const SettleDevice *settle);

/* table_device.c: fills become grains of the table on a device, and the table is put in order there. */
typedef struct TableDevice TableDevice;
typedef struct FinePlacing {
  int64_t first; /* of the table */
  uint32_t id;
  int32_t material;
  double radius;       /* where all are equal, and what those of a tile are over */
  Vec3 from, velocity; /* the samples' origin in the world of the grains */
} FinePlacing;
Status table_device_create(Core *core, Device *device, TableDevice **table);
void table_device_destroy(Core *core, TableDevice *table);
bool table_device_places(const TableDevice *table); /* else the host does */
Status table_device_place(Core *core, TableDevice *table, const Samples *samples, const FinePlacing *placing,
                          DeviceBuffer *fields);
/* Gives back what it took for that. */
void table_device_placed(TableDevice *table);
/* Two buffers of four bytes a grain are used up. */
Status table_device_sort(Core *core, TableDevice *table, int64_t count, double radius, DeviceBuffer *fields,
                         DeviceBuffer *who, DeviceBuffer *other_who);

/* fine_device.c: fine grains on a device. Whether a solid has a form there; the rest is for those that do. */
bool solid_has_form(const FineSolid *solid);
Status fine_device_create(Core *core, Upsample *upsample, State *state, Device *device);
void fine_device_destroy(Core *core, Upsample *upsample);
/* All fills are done: takes what memory there must be for them, and gives back what placing took. */
Status fine_device_begin(Core *core, Upsample *upsample);
/* Gathers the coarse grains and moves all. */
Status fine_device_move(Advance *advance, Scratch *scratch);
/* Whether its table is the one that counts. */
bool fine_device_holds(const Upsample *upsample);
bool fine_device_places(const Upsample *upsample);
/* Adds grains of a fill. */
Status fine_device_place(Core *core, Upsample *upsample, const Samples *samples, FinePlacing placing);
Status fine_device_sort(Core *core, Upsample *upsample);
/* Adds the born. */
Status fine_device_births(Core *core, Upsample *upsample);
Status fine_device_deaths(Core *core, Upsample *upsample, const State *state, const Solids *sinks);
/* The host's table is what counts from here on: it was loaded or changed. */
void fine_device_forget(Upsample *upsample);
/* Brings the host's table up to date. */
Status fine_device_fetch(Core *core, Upsample *upsample);

/* block.c */
enum { FINE_CLUSTER = 8 }; /* blocks that are looked round together */
typedef struct FineBounds {
  float all[6]; /* low, high */
  FineBoxes boxes;
} FineBounds;
void fine_block_bounds(const Core *core, const FineGrains *grains, int64_t block, FineBounds *bounds);
/* Looks round the blocks that move. */
void cluster_begin(const Advance *advance, FineWork *work, int64_t count, const bool *moves, FineBounds *bounds);
/* Moves grains [b, e). Returns whether every one was and is without speed and stayed where it was: with the same
 * surroundings it will do so again. */
bool advance_range(Advance *advance, FineWork *work, int64_t b, int64_t e, const FineBounds *bounds, int64_t *effort);

#endif
