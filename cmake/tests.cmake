# Tests are found by their place: test/<kind>/<name>.c, with test/<kind>/<name>.parts/*.c where there are some, is a
# cmocka program, test/<kind>/<name>.py or .sh a script and test/python/test_<name>.py one of pytest; ctest calls them
# <kind>/<name> and labels them <kind>. Names that begin with validate_ take long and run only in
# `make validate`. A test that cannot run here ends with 77 and counts as skipped, not as passed. Scripts learn from the
# environment where things are: SCREE (the program), SCREE_SOURCE, SCREE_BUILD.
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
find_program(PYTHON3 python3 REQUIRED)
set(SCREE_TEST_ENVIRONMENT
  SCREE_CACHE=off # what is tested is made, not read
  SCREE=${PROJECT_BINARY_DIR}/scree SCREE_SOURCE=${PROJECT_SOURCE_DIR} SCREE_BUILD=${PROJECT_BINARY_DIR}
  ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1
  UBSAN_OPTIONS=print_stacktrace=1
  LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/test/leaks.supp:print_suppressions=0
  TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/test/races.supp:halt_on_error=1)

# These run under ThreadSanitizer besides everything in test/determinism. The target tests_threads builds them.
set(SCREE_THREADED_TESTS unit/core unit/output unit/output_compact unit/viewer_simulation)
add_custom_target(tests_threads)

# scree_test(kind name command...)
function(scree_test kind name)
  set(labels ${kind})
  if(kind STREQUAL "determinism" OR "${kind}/${name}" IN_LIST SCREE_THREADED_TESTS)
    list(APPEND labels threads)
  endif()
  if(name MATCHES "^validate_")
    set(labels validate)
    add_test(NAME ${kind}/${name} COMMAND ${ARGN} CONFIGURATIONS Validate)
  else()
    add_test(NAME ${kind}/${name} COMMAND ${ARGN})
  endif()
  set(environment ${SCREE_TEST_ENVIRONMENT})
  # Physics with sanitizers: the first frames of each test, for what they touch. What would come out is not looked at,
  # and worlds are left as they are.
  if(kind STREQUAL "physics" AND SCREE_SANITIZE)
    list(TRANSFORM environment REPLACE "^ASAN_OPTIONS=" "ASAN_OPTIONS=detect_leaks=0:")
    list(APPEND environment SCREE_SHORT=2)
  endif()
  # The limit tells a test that hangs from one on a busy machine, where some take minutes.
  set_tests_properties(${kind}/${name} PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} TIMEOUT 1800 SKIP_RETURN_CODE 77
    LABELS "${labels}" ENVIRONMENT "${environment}")
endfunction()

foreach(kind unit oracle determinism physics cli)
  file(GLOB test_sources CONFIGURE_DEPENDS test/${kind}/*.c)
  foreach(source IN LISTS test_sources)
    get_filename_component(name ${source} NAME_WE)
    if(name MATCHES "^render" AND NOT SCREE_HAVE_GL)
      continue()
    endif()
    if(name MATCHES "^viewer" AND NOT (SCREE_HAVE_GL AND SCREE_HAVE_GLFW AND SCREE_HAVE_IMGUI))
      continue()
    endif()
    if(name MATCHES "^laws" AND NOT TARGET scree_validate)
      continue()
    endif()
    # Drivers of devices hold compilers that sanitizers know nothing of.
    if(name MATCHES "^device" AND (SCREE_SANITIZE OR NOT SCREE_HAVE_OPENCL))
      continue()
    endif()
    set(target test_${kind}_${name})
    file(GLOB parts CONFIGURE_DEPENDS test/${kind}/${name}.parts/*.c)
    add_executable(${target} ${source} ${parts})
    target_link_libraries(${target} PRIVATE scree_static PkgConfig::CMOCKA)
    if(name MATCHES "^render")
      target_link_libraries(${target} PRIVATE scree_render)
    endif()
    if(name MATCHES "^viewer")
      target_link_libraries(${target} PRIVATE scree_viewer)
    endif()
    if(name MATCHES "^laws")
      target_link_libraries(${target} PRIVATE scree_validate)
    endif()
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/test)
    if(kind STREQUAL "determinism" OR "${kind}/${name}" IN_LIST SCREE_THREADED_TESTS)
      add_dependencies(tests_threads ${target})
    endif()
    scree_test(${kind} ${name} ${target})
  endforeach()
endforeach()

# A long run of everything (`make soak`); as a test, a minute of it. With sanitizers it would only take longer.
add_executable(soak test/soak/soak.c)
target_link_libraries(soak PRIVATE scree_static)
target_include_directories(soak PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/test)
if(NOT SCREE_SANITIZE)
  scree_test(soak short soak --seconds 50 --kills 11)
endif()

# What the window's test loads in front of GLFW.
if(SCREE_HAVE_GLFW)
  add_library(test_gamepad MODULE test/gamepad.c)
  target_include_directories(test_gamepad PRIVATE ${GLFW_INCLUDE_DIRS})
endif()

# Scripts of the kinds that look at the program run only where there is one.
set(script_kinds layers docs)
if(TARGET scree_program)
  list(APPEND script_kinds cli determinism physics)
  add_dependencies(tests_threads scree_program)
endif()
if(NOT SCREE_SANITIZE)
  list(APPEND script_kinds install golden web) # web: of the page that `make web` builds
endif()
# The tests of the page drive a browser by a package of Debian's Python, which need not be the first on the path.
set(web_python ${PYTHON3})
foreach(candidate /usr/bin/python3 ${PYTHON3})
  execute_process(COMMAND ${candidate} -c "import selenium" RESULT_VARIABLE missing ERROR_QUIET)
  if(missing EQUAL 0)
    set(web_python ${candidate})
  endif()
endforeach()
foreach(kind IN LISTS script_kinds)
  file(GLOB test_scripts CONFIGURE_DEPENDS test/${kind}/*.py test/${kind}/*.sh)
  foreach(script IN LISTS test_scripts)
    get_filename_component(name ${script} NAME_WE)
    get_filename_component(extension ${script} LAST_EXT)
    # The window is driven at a person's pace, and with sanitizers a software picture takes seconds: there the renderer
    # itself is looked at by unit/render and cli/render. Suites of benchmarks and laws measure what other tests look at, and
    # fifty scenes would take as long as all else. Drivers of devices hold compilers that sanitizers know nothing of.
    if(SCREE_SANITIZE AND name MATCHES "_window$|^bench$|^scenes$|^laws$|^device_scenes$")
      continue()
    endif()
    if(extension STREQUAL ".py" AND kind STREQUAL "web")
      scree_test(${kind} ${name} ${web_python} ${script})
    elseif(extension STREQUAL ".py")
      scree_test(${kind} ${name} ${PYTHON3} ${script})
    else()
      scree_test(${kind} ${name} bash ${script})
    endif()
    if(name MATCHES "_window$")
      set_tests_properties(${kind}/${name} PROPERTIES RUN_SERIAL ON)
    endif()
  endforeach()
endforeach()

# test/python/test_<name>.py is run by pytest with the package of build/python/.
if(SCREE_HAVE_PYTHON AND TARGET scree_program)
  file(GLOB test_modules CONFIGURE_DEPENDS test/python/test_*.py)
  foreach(module IN LISTS test_modules)
    get_filename_component(name ${module} NAME_WE)
    string(REGEX REPLACE "^test_" "" name ${name})
    scree_test(python ${name} ${SCREE_PYTHON} -m pytest -q -p no:cacheprovider ${module})
  endforeach()
endif()

# test/fuzz/fuzz_<name>.c is a libFuzzer target; test/fuzz/<name>/ may hold inputs to start from. The tests run a short
# fixed count; `make fuzz` runs long and keeps what it finds in the build folder.
if(SCREE_FUZZ)
  set(SCREE_FUZZ_RUNS 5000 CACHE STRING "inputs that a fuzz test tries")
  file(GLOB fuzz_sources CONFIGURE_DEPENDS test/fuzz/fuzz_*.c)
  foreach(source IN LISTS fuzz_sources)
    get_filename_component(target ${source} NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" name ${target})
    add_executable(${target} ${source})
    target_compile_options(${target} PRIVATE -Wno-missing-prototypes)
    target_link_libraries(${target} PRIVATE scree_static)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/test)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/corpus/${name} ${PROJECT_BINARY_DIR}/crashes)
    set(seeds)
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/test/fuzz/${name})
      set(seeds ${PROJECT_SOURCE_DIR}/test/fuzz/${name})
    endif()
    set(runs ${SCREE_FUZZ_RUNS})
    if(name STREQUAL "checkpoint") # worlds step: a hundred times slower than a parser
      math(EXPR runs "${runs} / 12")
    endif()
    # The limit of an input is wall time too: a world of a checkpoint steps for a third of a second of the processor.
    scree_test(fuzz ${name} ${target} -runs=${runs} -seed=1 -timeout=300 -rss_limit_mb=2048 -verbosity=0
      -print_final_stats=1 -artifact_prefix=${PROJECT_BINARY_DIR}/crashes/${name}_ ${PROJECT_BINARY_DIR}/corpus/${name} ${seeds})
  endforeach()
endif()
