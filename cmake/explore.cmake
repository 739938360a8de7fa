# SPDX-License-Identifier: Apache-2.0
#
# The files of the explorer's page become part of its library: src/explore/page, and CodeMirror, the editor,
# where it is installed (Debian: libjs-codemirror). Without it the page has a plain text field.

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

set(embedded "${PROJECT_BINARY_DIR}/generated/page_files.cpp")
add_custom_command(
  OUTPUT "${embedded}"
  COMMAND ${CMAKE_COMMAND} -D "output=${embedded}" -D "names=${names}" -D "files=${files}" -P
          "${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake"
  DEPENDS ${files} "${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake"
  VERBATIM)
add_custom_target(embedded_page DEPENDS "${embedded}")
add_dependencies(ww_explore embedded_page)
target_sources(ww_explore PRIVATE "${embedded}")
# The server's library is large: one file includes it, alone.
set_source_files_properties("${PROJECT_SOURCE_DIR}/src/explore/http.cpp" "${embedded}"
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
