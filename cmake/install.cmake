# What `make install` installs: headers, libscree.so, libscree.a, pkg-config files, the CMake package, the program, and
# the shipped scenes and assets.
if(SCREE_SANITIZE)
  return() # only clean builds are installed
endif()

# libscree.a holds one object in which everything but the public functions has become local: a program that links it
# may have functions of its own named like ours.
set(single ${PROJECT_BINARY_DIR}/scree_single.o)
set(SCREE_ARCHIVE ${PROJECT_BINARY_DIR}/libscree.a)
add_custom_command(OUTPUT ${SCREE_ARCHIVE}
  COMMAND ${CMAKE_LINKER} -r -o ${single} ${SCREE_OBJECTS}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${single}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${SCREE_ARCHIVE}
  COMMAND ${CMAKE_AR} rcs ${SCREE_ARCHIVE} ${single}
  DEPENDS ${SCREE_OBJECTS} COMMENT "Making libscree.a from one object" COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(scree_archive ALL DEPENDS ${SCREE_ARCHIVE})

# Libraries that a static link needs besides, as words for -l.
set(SCREE_NEEDS yaml xxhash png16)
if(SCREE_HAVE_MUJOCO)
  list(APPEND SCREE_NEEDS mujoco)
endif()
if(SCREE_HAVE_ASSIMP)
  list(APPEND SCREE_NEEDS assimp)
endif()
if(SCREE_HAVE_OPENCL)
  list(APPEND SCREE_NEEDS OpenCL)
endif()
list(APPEND SCREE_NEEDS m)
list(TRANSFORM SCREE_NEEDS PREPEND -l OUTPUT_VARIABLE SCREE_NEEDS_FLAGS)
list(JOIN SCREE_NEEDS_FLAGS " " SCREE_NEEDS_FLAGS)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/scree)
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/scree-config.cmake.in ${PROJECT_BINARY_DIR}/package/scree-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/scree-config-version.cmake
  COMPATIBILITY SameMinorVersion)
# The prefix of a .pc file is given relative to the file, so that an installed tree may be moved.
file(RELATIVE_PATH SCREE_PC_TO_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/scree.pc.in ${PROJECT_BINARY_DIR}/package/scree.pc @ONLY)
configure_file(cmake/scree-static.pc.in ${PROJECT_BINARY_DIR}/package/scree-static.pc @ONLY)

install(DIRECTORY include/scree DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS scree_shared EXPORT scree-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${SCREE_ARCHIVE} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT scree-targets NAMESPACE scree:: DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/package/scree-config.cmake ${PROJECT_BINARY_DIR}/package/scree-config-version.cmake
  DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/package/scree.pc ${PROJECT_BINARY_DIR}/package/scree-static.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET scree_program)
  install(TARGETS scree_program DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(folder scenes assets)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder})
    install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/scree PATTERN "*.py" EXCLUDE
      PATTERN "__pycache__" EXCLUDE)
  endif()
endforeach()
