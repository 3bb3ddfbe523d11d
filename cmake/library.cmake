# libscree. Files named *_kernels.c are compiled for the plain target and again for x86-64-v3, files named *_kernels16.c
# a third time for x86-64-v4 (see src/core/simd.h).
set(SCREE_KERNELS ${SCREE_SOURCES})
list(FILTER SCREE_KERNELS INCLUDE REGEX "_kernels(16)?\\.c$")
list(FILTER SCREE_SOURCES EXCLUDE REGEX "_kernels(16)?\\.c$")
set(SCREE_KERNELS16 ${SCREE_KERNELS})
list(FILTER SCREE_KERNELS16 INCLUDE REGEX "_kernels16\\.c$")

# What kernels of devices (*.cl) are made of is embedded; without OpenCL there are none.
if(SCREE_HAVE_OPENCL)
  list(FILTER SCREE_SOURCES EXCLUDE REGEX "/src/device/unavailable\\.c$")
  file(GLOB_RECURSE embedded RELATIVE ${PROJECT_SOURCE_DIR}/src CONFIGURE_DEPENDS src/*.cl src/*_law.h src/*_shared.h
    src/geometry/shapes/*_distance.h)
  list(APPEND embedded core/lane.h core/rng.h geometry/shape_plain.h)
  list(TRANSFORM embedded PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE embedded_files)
  list(JOIN embedded "," embedded_names)
  set(device_sources ${PROJECT_BINARY_DIR}/device_sources.c)
  add_custom_command(OUTPUT ${device_sources}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${device_sources} -DROOT=${PROJECT_SOURCE_DIR}/src -DNAMES=${embedded_names}
      -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${embedded_files} cmake/embed.cmake COMMENT "Embedding the kernels of devices" VERBATIM)
  list(APPEND SCREE_SOURCES ${device_sources})
else()
  list(FILTER SCREE_SOURCES EXCLUDE REGEX "/src/device/(device|memory|launch|program)\\.c$")
endif()

add_library(scree_flags INTERFACE)
target_include_directories(scree_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(scree_flags INTERFACE PkgConfig::YAML PkgConfig::XXHASH PkgConfig::PNG Threads::Threads m)
target_compile_definitions(scree_flags INTERFACE SCREE_HAVE_PNG)
if(SCREE_HAVE_MUJOCO)
  target_compile_definitions(scree_flags INTERFACE SCREE_HAVE_MUJOCO)
  target_include_directories(scree_flags SYSTEM INTERFACE ${MUJOCO_INCLUDE})
  target_link_libraries(scree_flags INTERFACE ${MUJOCO_LIBRARY})
endif()
if(SCREE_HAVE_ASSIMP)
  target_compile_definitions(scree_flags INTERFACE SCREE_HAVE_ASSIMP)
  target_link_libraries(scree_flags INTERFACE PkgConfig::ASSIMP)
endif()
if(SCREE_HAVE_OPENCL)
  target_compile_definitions(scree_flags INTERFACE SCREE_HAVE_OPENCL)
  target_include_directories(scree_flags SYSTEM INTERFACE ${OPENCL_INCLUDE})
  target_link_libraries(scree_flags INTERFACE ${OPENCL_LIBRARY})
endif()

include(CheckCCompilerFlag)
check_c_compiler_flag(-march=x86-64-v3 SCREE_COMPILES_V3)
if(SCREE_COMPILES_V3)
  target_compile_definitions(scree_flags INTERFACE SCREE_HAVE_V3)
endif()
check_c_compiler_flag(-march=x86-64-v4 SCREE_COMPILES_V4)
if(SCREE_COMPILES_V4)
  target_compile_definitions(scree_flags INTERFACE SCREE_HAVE_V4)
endif()

# Only the two files that need them are told paths and version, so that a compiler cache serves every checkout.
set_source_files_properties(src/core/paths.c PROPERTIES COMPILE_DEFINITIONS
  "SCREE_INSTALLED_DATA=\"${CMAKE_INSTALL_FULL_DATADIR}/scree\";SCREE_SOURCE_DATA=\"${PROJECT_SOURCE_DIR}\"")
set_source_files_properties(src/core/status.c PROPERTIES COMPILE_DEFINITIONS "SCREE_VERSION=\"${PROJECT_VERSION}\"")

# A fuzzer learns from comparisons what a file has to say. What computes says nothing about files, and calls at each of
# its comparisons would be half of the time of a step.
if(SCREE_FUZZ)
  set(computing ${SCREE_SOURCES} ${SCREE_KERNELS})
  list(FILTER computing INCLUDE REGEX
    "_kernels(16)?\\.c$|/src/(methods|neighbors|sampling|terrain|upsample)/|/src/geometry/(bvh|grid|heightfield|shape|sides)")
  set_property(SOURCE ${computing} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize-coverage=trace-cmp)
endif()

add_library(scree_objects OBJECT ${SCREE_SOURCES})
target_link_libraries(scree_objects PUBLIC scree_flags)
set(SCREE_OBJECTS $<TARGET_OBJECTS:scree_objects>)

# kernels(name level options files...): the files, compiled for one level.
function(kernels name level options)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PUBLIC scree_flags)
  target_compile_definitions(${name} PRIVATE SIMD_LEVEL=${level})
  target_compile_options(${name} PRIVATE ${options})
  set(SCREE_OBJECTS ${SCREE_OBJECTS} $<TARGET_OBJECTS:${name}> PARENT_SCOPE)
endfunction()
kernels(scree_kernels_base 0 "" ${SCREE_KERNELS})
if(SCREE_COMPILES_V3)
  kernels(scree_kernels_v3 1 -march=x86-64-v3 ${SCREE_KERNELS})
endif()
if(SCREE_COMPILES_V4)
  kernels(scree_kernels_v4 2 -march=x86-64-v4 ${SCREE_KERNELS16})
endif()

# For the program and the tests, which may call what the public headers do not show. What is installed as libscree.a is
# made from the same objects by install.cmake.
add_library(scree_static STATIC ${SCREE_OBJECTS})
target_link_libraries(scree_static PUBLIC scree_flags)
set_target_properties(scree_static PROPERTIES OUTPUT_NAME scree_internal)
add_library(scree_shared SHARED ${SCREE_OBJECTS})
target_link_libraries(scree_shared PRIVATE scree_flags)
target_link_options(scree_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
if(NOT SCREE_SANITIZE) # the run-time part of a sanitizer comes with the program
  target_link_options(scree_shared PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(scree_shared PROPERTIES OUTPUT_NAME scree EXPORT_NAME scree
  VERSION ${PROJECT_VERSION} SOVERSION 0)
target_include_directories(scree_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
