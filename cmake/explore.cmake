# SPDX-License-Identifier: Apache-2.0
#
# The files of the explorer's page become part of its library: src/explore/page, and CodeMirror, the editor,
# where it is installed (Debian: libjs-codemirror). Without it the page has a plain text field. The server
# is warpwright-http.so.

set(root "${PROJECT_SOURCE_DIR}/src/explore/page")
file(GLOB_RECURSE names CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/*.html" "${root}/*.css" "${root}/*.js"
     "${root}/*.svg")
list(TRANSFORM names PREPEND "${root}/" OUTPUT_VARIABLE files)

find_path(WW_CODEMIRROR lib/codemirror.js PATHS /usr/share/javascript/codemirror NO_DEFAULT_PATH)
mark_as_advanced(WW_CODEMIRROR)
if(WW_CODEMIRROR)
  foreach(path IN ITEMS lib/codemirror.js lib/codemirror.css mode/python/python.js addon/hint/show-hint.js
                        addon/hint/show-hint.css addon/edit/matchbrackets.js addon/selection/active-line.js)
    get_filename_component(name "${path}" NAME)
    if(EXISTS "${WW_CODEMIRROR}/${path}")
      list(APPEND names "codemirror/${name}")
      list(APPEND files "${WW_CODEMIRROR}/${path}")
    endif()
  endforeach()
endif()

ww_embed(ww_explore explore/page_files.h page_files NAMES ${names} FILES ${files})

# The server is a module, which the program loads when `explore` starts: cpp-httplib brings OpenSSL, brotli
# and zlib, and loading them would more than double the time in which every other command starts. It has
# no code of ours but these two files.
if(WW_HTTPLIB_FITS)
  set(folder "${PROJECT_SOURCE_DIR}/src/explore")
  add_library(warpwright-http MODULE "${folder}/http_module.cpp" "${folder}/guard.cpp")
  set_source_files_properties(
    "${folder}/http_module.cpp" PROPERTIES COMPILE_DEFINITIONS "WW_VERSION=\"${PROJECT_VERSION}\"")
  set_target_properties(
    warpwright-http PROPERTIES PREFIX "" SUFFIX .so DEFINE_SYMBOL ""
                               LIBRARY_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  target_include_directories(warpwright-http PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_features(warpwright-http PRIVATE cxx_std_23)
  target_compile_options(warpwright-http PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(warpwright-http PRIVATE ww_httplib ww_flags ${WW_EXTERNAL_fmt})
  ww_fit_for_sharing(warpwright-http)
  ww_library_headers(warpwright-http explore)
endif()
