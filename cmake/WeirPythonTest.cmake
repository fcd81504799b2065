# Tests written in Python (unittest), run by the environment that scripts/setup.sh makes.
#
#   weir_python_test("server: openai client" openai_client_test.py [ARGS …] [LABELS slow])
#
# The file runs from the root of the checkout, with tests/ on PYTHONPATH and
#   WEIR_PROGRAM      the weir program of this build
#   WEIR_SOURCE_DIR   the checkout
set(WEIR_TEST_PYTHON ${CMAKE_SOURCE_DIR}/.deps/venv/bin/python CACHE FILEPATH "The interpreter of the Python tests")

function(weir_python_test name file)
  cmake_parse_arguments(ARG "" "" "ARGS;LABELS" ${ARGN})
  if(NOT EXISTS ${WEIR_TEST_PYTHON})
    message(FATAL_ERROR "no Python test environment at ${WEIR_TEST_PYTHON}: run scripts/setup.sh, or set -DWEIR_TESTS=OFF")
  endif()
  add_test(NAME ${name} COMMAND ${WEIR_TEST_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${ARG_ARGS}
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS "${ARG_LABELS}" ENVIRONMENT
    "WEIR_PROGRAM=$<TARGET_FILE:weir>;WEIR_SOURCE_DIR=${CMAKE_SOURCE_DIR};PYTHONPATH=${CMAKE_SOURCE_DIR}/tests")
endfunction()
