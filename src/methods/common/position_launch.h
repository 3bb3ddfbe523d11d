/* What the files of the position-based family on a device share: position_device.c has its step, and
 * position_boundary_device.c contacts with solids. */
#ifndef METHODS_COMMON_POSITION_LAUNCH_H
#define METHODS_COMMON_POSITION_LAUNCH_H

#include "methods/common/position_contacts.h"
#include "methods/common/position_device.h"
#include "neighbors/bins_device.h"

#define POSITION_KERNELS(X)                                                                                            \
  X(position_predict, "device predict")                                                                                \
  X(position_begin, "device contacts")                                                                                 \
  X(position_count, "device contacts")                                                                                 \
  X(position_ask, "device contacts")                                                                                   \
  X(position_find_samples, "device contacts")                                                                          \
  X(position_touch_samples, "device contacts")                                                                         \
  X(position_count_boundary, "device contacts")                                                                        \
  X(position_find_boundary, "device contacts")                                                                         \
  X(position_fill_boundary, "device contacts")                                                                         \
  X(position_partners, "device contacts")                                                                              \
  X(position_fill, "device contacts")                                                                                  \
  X(position_lowest, "device contacts")                                                                                \
  X(position_load, "device contacts")                                                                                  \
  X(position_shift, "device stabilize")                                                                                \
  X(position_warm, "device solve")                                                                                     \
  X(position_carry, "device solve")                                                                                    \
  X(position_average_pass, "device solve")                                                                             \
  X(position_sum_walls, "device solve")                                                                                \
  X(position_batch_pass, "device solve")                                                                               \
  X(position_flag_pushed, "device contacts")                                                                           \
  X(position_list_pushed, "device contacts")                                                                           \
  X(position_pin, "device contacts")                                                                                   \
  X(position_push_parts, "device bodies")                                                                              \
  X(position_push_matched, "device bodies")                                                                            \
  X(position_sum_pushed, "device bodies")                                                                              \
  X(position_move_bodies, "device bodies")                                                                             \
  X(position_push_boundary, "device finish")                                                                           \
  X(position_fall, "device finish")                                                                                    \
  X(position_finish, "device finish")                                                                                  \
  X(position_overlap, "device overlap")

/* Rows of a float4 for every grain. */
#define POSITION_ROWS(X) X(ahead) X(now) X(next) X(last) X(last_next) X(turn) X(turn_next)
/* Those that lie in one piece, in the order of OWN_PUSH and so on. */
#define POSITION_OWN_ROWS(X) X(push) X(total) X(left) X(before) X(torque)
/* The same for every contact with a solid. */
#define POSITION_WALL_ROWS(X) X(lever) X(sums)
#define POSITION_WALL_PARTS(X) X(wall_now) X(wall_last) X(wall_rim)
/* Others. */
#define POSITION_BUFFERS(X)                                                                                            \
  X(batch_key)                                                                                                         \
  X(pairs)                                                                                                             \
  X(walls)                                                                                                             \
  X(begin)                                                                                                             \
  X(rows)                                                                                                              \
  X(boundary)                                                                                                          \
  X(bodies)                                                                                                            \
  X(wrenches)                                                                                                          \
  X(lowest)                                                                                                            \
  X(inverse)                                                                                                           \
  X(falls)                                                                                                             \
  X(touched)                                                                                                           \
  X(sample_x)                                                                                                          \
  X(sample_y)                                                                                                          \
  X(sample_z)                                                                                                          \
  X(sample_of)                                                                                                         \
  X(sample_at)                                                                                                         \
  X(sampled)                                                                                                           \
  X(faced)                                                                                                             \
  X(asked_count)                                                                                                       \
  X(asked_at)                                                                                                          \
  X(asked)                                                                                                             \
  X(answers)                                                                                                           \
  X(answered)                                                                                                          \
  X(touching)                                                                                                          \
  X(pushed_before)                                                                                                     \
  X(pushed)                                                                                                            \
  X(push_parts)                                                                                                        \
  X(body_sums)                                                                                                         \
  X(rides)                                                                                                             \
  X(slots)                                                                                                             \
  X(pose)                                                                                                              \
  X(kind) X(mu) X(tension) X(rolling) X(turns) X(motions) X(deepest) X(key) X(kept) X(last_key) X(last_kept) X(nothing)
/* Fields of the particles; those of methods may be missing. */
#define POSITION_FIELDS(X)                                                                                             \
  X(x)                                                                                                                 \
  X(y)                                                                                                                 \
  X(z)                                                                                                                 \
  X(low_x)                                                                                                             \
  X(low_y)                                                                                                             \
  X(low_z)                                                                                                             \
  X(dx)                                                                                                                \
  X(dy)                                                                                                                \
  X(dz)                                                                                                                \
  X(vx)                                                                                                                \
  X(vy)                                                                                                                \
  X(vz)                                                                                                                \
  X(radius)                                                                                                            \
  X(mass) X(material) X(spin_x) X(spin_y) X(spin_z) X(contact_row) X(contacts_held) X(contact_number) X(near_solids)

/* Tables that the host makes in every step, mostly the same. */
#define POSITION_TABLES(X)                                                                                             \
  X(sent_mu)                                                                                                           \
  X(sent_tension)                                                                                                      \
  X(sent_rolling)                                                                                                      \
  X(sent_turns) X(sent_motions) X(sent_bodies) X(sent_sample_x) X(sent_sample_y) X(sent_sample_z) X(sent_sample_of)
typedef struct SentTable {
  char *data;
  int64_t bytes;
} SentTable;

/* What of a step the host has not been told of yet, whether. */
typedef struct PositionTold {
  bool overlap, wrenches;
} PositionTold;

struct PositionDevice {
  Device *device;
  DeviceProgram *program;
  ScanDevice scan;
  BinsDevice bins;
  POSITION_KERNELS(DEVICE_KERNEL_MEMBER)
  POSITION_ROWS(DEVICE_BUFFER_MEMBER)
  POSITION_OWN_ROWS(DEVICE_BUFFER_MEMBER)
  POSITION_WALL_ROWS(DEVICE_BUFFER_MEMBER)
  POSITION_WALL_PARTS(DEVICE_BUFFER_MEMBER)
  DeviceBuffer own, wall; /* which these are parts of */
  int64_t own_rows, wall_rows;
  POSITION_BUFFERS(DEVICE_BUFFER_MEMBER)
#define POSITION_MEMBER(name) SentTable name;
  POSITION_TABLES(POSITION_MEMBER)
#undef POSITION_MEMBER
  bool here;          /* the device has what contacts remember; else the host's counts */
  bool fetched;       /* the host has it as well */
  int64_t places;     /* of it */
  int64_t numbered;   /* how often grains may have changed places when their numbers were written here */
  int64_t slot_count; /* of the step */
  PositionTold to_tell;
  float deepest_read;
  BoundaryBody *bodies_shared; /* on their way */
  int32_t wrench_solids;       /* whose wrenches there are */
  uint32_t *wrenches_read;
  double (*sums_read)[BODY_SUMS];
  PositionRide *rides_here;
  float (*host_rows)[4]; /* on their way */
};

/* What a step has at hand. */
typedef struct Launcher {
  Core *core;
  PositionDevice *d;
  PositionShared step;
  PositionStep *work;
  const PositionExtra *extra; /* NULL: the family's own contacts are all there is */
  int stabilization;          /* passes of it */
  const DeviceBuffer *soft;   /* overlap that slots bear, where step.soft says so */
  POSITION_FIELDS(DEVICE_BUFFER_POINTER)
} Launcher;

/* What a method does besides, or in the family's stead; each may be NULL. */
struct PositionExtra {
  void *data;
  Status (*lay_out)(Launcher *l, void *data); /* slots are filled, rows loaded */
  Status (*solve_batch)(const Launcher *l, void *data, int32_t batch, int32_t last);
  Status (*average)(const Launcher *l, void *data); /* an iteration of the papers */
  Status (*solved)(const Launcher *l, void *data);  /* before the results are taken */
};

#define LAUNCH(l, name, items, ...) position_launch((l), (l)->d->name, (items), DEVICE_ARGUMENTS(__VA_ARGS__))
#define HERE(name) DEVICE_BUFFER(&l->d->name)
#define FIELD(name) DEVICE_BUFFER(l->name)
#define BINS DEVICE_VALUE(l->d->bins.shared), HERE(bins.unit), HERE(bins.start), HERE(bins.point)
#define FIELD3(x, y, z) FIELD(x), FIELD(y), FIELD(z)

Status position_launch(const Launcher *l, DeviceKernel *kernel, int64_t items, const DeviceArgument *arguments,
                       int count);
/* A table that the device has already is not sent again. */
Status position_send_table(const Launcher *l, SentTable *sent, DeviceBuffer *buffer, const void *table, int64_t bytes);

/* Rows that lie in one piece: `count` of each and some to spare. */
Status position_reserve_parts(const Launcher *l, DeviceBuffer *whole, DeviceBuffer *const *parts, int part_count,
                              int64_t count, int64_t *rows);

/* Contacts with solids: how solids go in the step; how many contacts each grain has; room for them all; then, when the
 * slots are laid out, what stands in theirs. */
Status position_send_bodies(Launcher *l);
Status position_count_boundary(Launcher *l);
/* Whether the host has to be asked about some solids; asks it. */
bool position_asks(const Launcher *l);
Status position_ask_host(const Launcher *l, BoundarySearch search);
Status position_reserve_boundary(Launcher *l);
Status position_fill_boundary_device(const Launcher *l);
/* Solids in every substep: they go their way whatever the grains do. Whether any moves. Then, before the batch of
 * contacts with them, rows follow. */
Status position_send_motions(Launcher *l, bool *moving);
Status position_carry_boundary(const Launcher *l, int32_t substep);
/* Bodies that grains can move: which contacts are theirs, and whom they press against something fixed, once there are
 * slots; before the first substep, and after each, when they are moved, by the host where there are matched ones.
 * Nothing where there are none. */
Status position_count_bodies(Launcher *l);
Status position_begin_bodies(Launcher *l);
Status position_follow_bodies(Launcher *l); /* between two iterations of the papers */
Status position_move_bodies_device(Launcher *l, int32_t substep);
/* What pushed the solids, when all substeps are over; it comes down at once, or with the step's counters where nothing
 * on the host needs it before. */
Status position_push_solids_device(Launcher *l);
DeviceRead position_wrenches_wanted(PositionDevice *d);
void position_take_wrenches(PositionDevice *d, Solids *solids);

#endif
