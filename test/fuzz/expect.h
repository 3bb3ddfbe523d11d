/* For what a target claims: where it is not so, the fuzzer keeps the input. */
#ifndef TEST_FUZZ_EXPECT_H
#define TEST_FUZZ_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#define expect(good)                                                                                                   \
  do {                                                                                                                 \
    if (!(good)) {                                                                                                     \
      fprintf(stderr, "not so: %s\n", #good);                                                                          \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

#endif
