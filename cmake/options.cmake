# Build type, warnings, sanitizers. Presets (CMakePresets.json) set these.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
option(SCREE_TESTS "build the tests" ON)
option(SCREE_WERROR "treat warnings as errors" ON)
option(SCREE_FUZZ "build the fuzz targets (clang)" OFF)
set(SCREE_SANITIZE "" CACHE STRING "address,undefined or thread")

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # vector extensions, clock_gettime
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# -fno-math-errno and -fno-trapping-math let loops vectorise; -ffp-contract=off keeps the bits the same on every target.
add_compile_options(-Wall -Wextra -Wshadow -Wpointer-arith -Wvla -Wno-psabi
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  -fno-math-errno -fno-trapping-math -ffp-contract=off)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-string-concatenation) # suspects any list of texts that has a long one
endif()
if(SCREE_WERROR)
  add_compile_options(-Werror)
endif()
if(NOT EMSCRIPTEN) # there it is chosen for each build
  add_compile_options(-pthread)
  add_link_options(-pthread)
endif()
if(SCREE_SANITIZE)
  add_compile_options(-fsanitize=${SCREE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SCREE_SANITIZE})
endif()
if(SCREE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
