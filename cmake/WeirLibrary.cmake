# One library per folder of src/, its tests beside it.
#
#   weir_library(
#     SOURCES a.cc b.cc          # omit for a header-only folder
#     DEPS base serve/request    # other folders of src/, by path: the declared edges of the include graph
#     EXTERNAL fmt::fmt          # libraries from outside
#     TESTS a_test.cc b_test.cc  # one GoogleTest program for the folder; WEIR_TEST_DATA is tests/data
#     TEST_DEPS bundle           # folders that only the tests include
#     TEST_EXTERNAL simdjson::simdjson  # libraries that only the tests use
#     BENCHES a_bench.cc         # one Google Benchmark program each
#     BENCH_DEPS kernels/peak)   # folders that only the benchmarks include
#
# The library's name is weir_ + the folder's path with '/' as '_'. scripts/check_includes.py reads these calls and fails
# when a source includes a folder that is not declared here, or when the declared edges form a cycle.
function(_weir_target_name folder out)
  string(REPLACE "/" "_" name ${folder})
  set(${out} weir_${name} PARENT_SCOPE)
endfunction()

function(_weir_link target scope folders)
  foreach(folder IN LISTS folders)
    _weir_target_name(${folder} dependency)
    target_link_libraries(${target} ${scope} ${dependency})
  endforeach()
endfunction()

function(weir_library)
  cmake_parse_arguments(ARG "" ""
                        "SOURCES;DEPS;EXTERNAL;TESTS;TEST_DEPS;TEST_EXTERNAL;BENCHES;BENCH_DEPS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weir_library: unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  _weir_target_name(${folder} name)

  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  _weir_link(${name} ${scope} "${ARG_DEPS}")
  target_link_libraries(${name} ${scope} ${ARG_EXTERNAL} Threads::Threads)

  if(ARG_TESTS AND WEIR_TESTS)
    add_executable(${name}_test ${ARG_TESTS})
    target_link_libraries(${name}_test PRIVATE ${name} ${ARG_TEST_EXTERNAL} GTest::gtest_main)
    _weir_link(${name}_test PRIVATE "${ARG_TEST_DEPS}")
    target_compile_definitions(${name}_test PRIVATE WEIR_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
    gtest_discover_tests(${name}_test TEST_PREFIX "${folder}: " DISCOVERY_MODE PRE_TEST
                         PROPERTIES TIMEOUT 300)
  endif()
  if(ARG_BENCHES AND WEIR_BENCHMARKS)
    foreach(bench IN LISTS ARG_BENCHES)
      get_filename_component(stem ${bench} NAME_WE)
      add_executable(${name}_${stem} ${bench})
      target_link_libraries(${name}_${stem} PRIVATE ${name} benchmark::benchmark_main)
      _weir_link(${name}_${stem} PRIVATE "${ARG_BENCH_DEPS}")
    endforeach()
  endif()
endfunction()
