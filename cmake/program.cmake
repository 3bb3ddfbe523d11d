# Published laws: apart from the program, so that tests can measure with it.
file(GLOB_RECURSE SCREE_VALIDATE_SOURCES CONFIGURE_DEPENDS app/validate/*.c app/validate/*.h)
add_library(scree_validate STATIC ${SCREE_VALIDATE_SOURCES})
target_include_directories(scree_validate PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(scree_validate PUBLIC scree_render)

file(GLOB_RECURSE SCREE_CLI_SOURCES CONFIGURE_DEPENDS app/cli/*.c app/cli/*.h bench/*.c bench/*.h)
add_executable(scree_program ${SCREE_CLI_SOURCES})
target_include_directories(scree_program PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(scree_program PRIVATE scree_viewer scree_validate scree_static)
set_target_properties(scree_program PROPERTIES OUTPUT_NAME scree)
