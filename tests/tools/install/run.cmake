# SPDX-License-Identifier: Apache-2.0
#
# expect_unnamed(<folder> <file>...): stops if a file names the folder, where it was built.
function(expect_unnamed folder)
  foreach(path IN LISTS ARGN)
    file(READ "${path}" text)
    string(FIND "${text}" "${folder}" found)
    if(NOT found EQUAL -1)
      message(FATAL_ERROR "${path} names a folder of the build: ${folder}")
    endif()
  endforeach()
endfunction()

# run(<what> <command>...): stops with everything the command said if it fails.
function(run what)
  execute_process(
    COMMAND ${ARGN}
    RESULT_VARIABLE status
    OUTPUT_VARIABLE text
    ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    string(REGEX REPLACE "-- (Installing|Up-to-date):[^\n]*\n" "" text "${text}")
    message(NOTICE "${text}")
    message(FATAL_ERROR "${what} failed (${status})")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

# expect_served(<program>): stops unless its `explore` finds the server's module and prints an address.
function(expect_served program)
  run("the explorer" sh "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/explore.sh" ${program} ${work_dir}/address)
  file(READ "${work_dir}/address" address)
  if(NOT address MATCHES "^http://127.0.0.1:[0-9]+/")
    message(FATAL_ERROR "the explorer of ${program} printed `${address}`, expected its address")
  endif()
endfunction()
