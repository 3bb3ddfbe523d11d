# The Python package in python/: libscree_python.so holds the library and what draws, for the module that
# python/setup.py compiles against it. build/python/ is the package as a wheel would hold it; tests import it from there.
if(SCREE_SANITIZE)
  return()
endif()
set(python_found OFF)
foreach(candidate python3 /usr/bin/python3)
  if(NOT python_found)
    execute_process(COMMAND ${candidate} -c "import cffi, numpy, setuptools, sys; print(sys.executable)"
      RESULT_VARIABLE missing OUTPUT_VARIABLE SCREE_PYTHON ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(missing EQUAL 0)
      set(python_found ON)
    endif()
  endif()
endforeach()
scree_feature(PYTHON "the Python package" ${python_found})

file(GLOB SCREE_GLUE_SOURCES CONFIGURE_DEPENDS python/glue/*.c python/glue/*.h)
add_library(scree_python SHARED EXCLUDE_FROM_ALL ${SCREE_GLUE_SOURCES} ${SCREE_OBJECTS})
target_include_directories(scree_python PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(scree_python PRIVATE scree_picture scree_flags)
target_link_options(scree_python PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map -Wl,--no-undefined)

if(SCREE_HAVE_PYTHON)
  file(GLOB_RECURSE package_sources CONFIGURE_DEPENDS python/scree/*.py python/*.py include/scree/*.h python/glue/*.h)
  set(package_stamp ${PROJECT_BINARY_DIR}/python/built)
  add_custom_command(OUTPUT ${package_stamp}
    COMMAND ${CMAKE_COMMAND} -E env SCREE_BUILD=${PROJECT_BINARY_DIR} ${SCREE_PYTHON} setup.py -q
      build --build-base ${PROJECT_BINARY_DIR}/python/base --build-lib ${PROJECT_BINARY_DIR}/python
    COMMAND ${CMAKE_COMMAND} -E touch ${package_stamp}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/python DEPENDS scree_python ${package_sources}
    COMMENT "Building the Python package" VERBATIM)
  add_custom_target(scree_package ALL DEPENDS ${package_stamp})
endif()
