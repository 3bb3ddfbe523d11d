# The browser's build, by Emscripten: the library, what draws, and app/web, once for one thread and once for several.
# `make web` configures it (scripts/web.sh); nothing of the other cmake files is read besides options.cmake.
#   SCREE_WEB_KINDS    what to build: plain;threads
#   SCREE_YAML_SOURCE  folder of libyaml's source
set(SCREE_WEB_KINDS "plain;threads" CACHE STRING "builds for one thread (plain), several (threads)")
set(SCREE_YAML_SOURCE "" CACHE PATH "source of libyaml")
set(CMAKE_C_FLAGS_RELEASE "-O3")

# Two headers of the host that say nothing of its libraries. The folder that they lie in must not be looked into.
foreach(header xxhash.h GL/glcorearb.h)
  configure_file(/usr/include/${header} ${PROJECT_BINARY_DIR}/host/${header} COPYONLY)
endforeach()

set_source_files_properties(src/core/paths.c PROPERTIES COMPILE_DEFINITIONS
  "SCREE_INSTALLED_DATA=\"/scree\";SCREE_SOURCE_DATA=\"/scree\"")
set_source_files_properties(src/core/status.c PROPERTIES COMPILE_DEFINITIONS "SCREE_VERSION=\"${PROJECT_VERSION}\"")
set_source_files_properties(src/core/hash.c PROPERTIES COMPILE_DEFINITIONS XXH_INLINE_ALL)

set(SCREE_KERNELS ${SCREE_SOURCES})
list(FILTER SCREE_KERNELS INCLUDE REGEX "_kernels(16)?\\.c$")
list(FILTER SCREE_SOURCES EXCLUDE REGEX "_kernels(16)?\\.c$")
file(GLOB SCREE_RENDER_SOURCES CONFIGURE_DEPENDS src/render/*.c)
list(FILTER SCREE_RENDER_SOURCES EXCLUDE REGEX "/(unavailable|context|film|image_png)\\.c$")
file(GLOB SCREE_WEB_SOURCES CONFIGURE_DEPENDS app/web/*.c app/web/*.h)
list(APPEND SCREE_SOURCES ${SCREE_RENDER_SOURCES} ${SCREE_WEB_SOURCES} src/picture/scene_frame.c src/picture/scene_camera.c)
list(FILTER SCREE_SOURCES INCLUDE REGEX "\\.c$")

set(yaml_sources)
foreach(name api reader scanner parser)
  list(APPEND yaml_sources ${SCREE_YAML_SOURCE}/src/${name}.c)
endforeach()

# The objects are compiled once, with threads, and linked twice: a program that is linked without them runs the same code
# in one thread. -mnontrapping-fptoint: a conversion that is out of range must not end the program.
# What uses setjmp is compiled for each: with threads its state is a variable of the thread, which a program without them
# keeps elsewhere.
set(flags_plain -msimd128 -mnontrapping-fptoint -mbulk-memory)
set(flags_threads ${flags_plain} -pthread)
set(flags ${flags_threads})
set(setjmp_sources src/bodies/mujoco_guard.c)
list(TRANSFORM setjmp_sources PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE setjmp_paths)
list(REMOVE_ITEM SCREE_SOURCES ${setjmp_sources} ${setjmp_paths})
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set_source_files_properties(${SCREE_KERNELS} PROPERTIES COMPILE_DEFINITIONS SIMD_LEVEL=0)
# What a scene is read with, and what happens a few times a frame, is compiled for size: the download counts.
set(small_sources ${SCREE_SOURCES})
list(FILTER small_sources INCLUDE REGEX "/app/web/|/src/(scene|parameters|output|device|picture|world|terrain|methods/pbd)/|/src/render/(c|g|image|m|pass|renderer|s|text)|/src/.*(_device|mirror)|/src/core/(archive|core|files|hash|limits|paths|profile|status|text|timer)|/src/geometry/(block_lists|bvh_build|grid_cache|mesh|polygon|shape_ray|shape_touches|text|triangle_list)|/src/state/(contacts|particles|queue|solids|state|terrain)|/src/upsample/(births|grains|points)|/src/sampling/(lattice|radii|region|sizes|skin|surface|volume)|/src/bodies/")
list(FILTER small_sources EXCLUDE REGEX "/src/world/(commit|fill|near_solids)")
set_source_files_properties(${small_sources} PROPERTIES COMPILE_OPTIONS "-Oz")
# Loops that are unrolled are longer by a quarter, and faster only where they go over lanes, or over one grain's neighbours.
set(plain_loops ${SCREE_SOURCES})
list(FILTER plain_loops INCLUDE REGEX "/src/(methods/(dem|p2|sph|flip/(grid|solids|step)|common/position_(bo|impact|pressure))|sampling|geometry|core|world|render)/")
list(REMOVE_ITEM plain_loops ${small_sources})
set_source_files_properties(${plain_loops} PROPERTIES COMPILE_OPTIONS "-fno-unroll-loops")
add_library(yaml OBJECT ${yaml_sources})
target_include_directories(yaml PUBLIC ${SCREE_YAML_SOURCE}/include)
target_compile_definitions(yaml PRIVATE YAML_DECLARE_STATIC YAML_VERSION_MAJOR=0 YAML_VERSION_MINOR=2
  YAML_VERSION_PATCH=5 "YAML_VERSION_STRING=\"0.2.5\"")
target_compile_options(yaml PRIVATE ${flags} -w -Oz)
add_library(scree_objects OBJECT ${SCREE_SOURCES} ${SCREE_KERNELS})
target_include_directories(scree_objects PRIVATE include src ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/host
  ${SCREE_YAML_SOURCE}/include)
target_compile_options(scree_objects PRIVATE ${flags})
# MuJoCo is a module of its own, which the page loads when a scene has a mechanism: app/web/mujoco_bridge.c calls it.
target_compile_definitions(scree_objects PRIVATE SCREE_HAVE_MUJOCO)
target_include_directories(scree_objects PRIVATE app/web)
foreach(kind IN LISTS SCREE_WEB_KINDS)
  add_library(scree_setjmp_${kind} OBJECT ${setjmp_sources})
  target_include_directories(scree_setjmp_${kind} PRIVATE include src app/web)
  target_compile_definitions(scree_setjmp_${kind} PRIVATE SCREE_HAVE_MUJOCO)
  target_compile_options(scree_setjmp_${kind} PRIVATE ${flags_${kind}})
endforeach()

# The page makes the GL context and hands it over. It says how many threads the pool needs: those of a world.
set(link_options -Os -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=2GB -sINITIAL_MEMORY=64MB -sMODULARIZE=1 -sEXPORT_ES6=1
  -sEXPORT_NAME=makeScree -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2
  -sFORCE_FILESYSTEM=1 -sMINIFY_HTML=0 -sENVIRONMENT=web,worker,node
  "-sEXPORTED_RUNTIME_METHODS=['GL','FS','UTF8ToString','stringToUTF8','lengthBytesUTF8']"
  "-sEXPORTED_FUNCTIONS=['_malloc','_free','_main']")
foreach(kind IN LISTS SCREE_WEB_KINDS)
  add_executable(scree_${kind} $<TARGET_OBJECTS:scree_objects> $<TARGET_OBJECTS:scree_setjmp_${kind}> $<TARGET_OBJECTS:yaml>)
  target_link_options(scree_${kind} PRIVATE ${link_options})
  if(kind STREQUAL "threads")
    target_link_options(scree_${kind} PRIVATE -pthread -sPTHREAD_POOL_SIZE=Module.threadPool)
  endif()
  set_target_properties(scree_${kind} PROPERTIES LINKER_LANGUAGE C SUFFIX .js)
endforeach()
