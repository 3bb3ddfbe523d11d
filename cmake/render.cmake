# The renderer, apart from the library: programs that only simulate carry nothing of it. EGL and OpenGL are opened at
# run time, so only their headers are needed here; GLFW and Dear ImGui make the window.
find_path(EGL_INCLUDE EGL/egl.h)
find_path(GL_INCLUDE GL/glcorearb.h)
set(gl_found OFF)
if(EGL_INCLUDE AND GL_INCLUDE)
  set(gl_found ON)
endif()
scree_feature(GL "pictures and films" ${gl_found})

file(GLOB SCREE_RENDER_SOURCES CONFIGURE_DEPENDS src/render/*.c src/render/*.h)
if(SCREE_HAVE_GL)
  list(FILTER SCREE_RENDER_SOURCES EXCLUDE REGEX "/unavailable\\.c$")
else()
  list(FILTER SCREE_RENDER_SOURCES INCLUDE REGEX "/(unavailable|image|text|film|camera|colors)\\.[ch]$")
endif()
add_library(scree_render STATIC ${SCREE_RENDER_SOURCES})
target_link_libraries(scree_render PUBLIC scree_static ${CMAKE_DL_LIBS})
