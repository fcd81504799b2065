# External libraries, each under one target name that the folders' CMakeLists use. What is missing is named together
# with the script that installs it.
set(_hint "run scripts/setup.sh, or install it yourself")

find_package(Threads REQUIRED)

foreach(package Boost simdjson spdlog fmt prometheus-cpp tomlplusplus)
  find_package(${package} CONFIG QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "weir needs ${package}: ${_hint}")
  endif()
endforeach()
find_package(boost_json CONFIG QUIET)
if(NOT boost_json_FOUND)
  message(FATAL_ERROR "weir needs Boost.JSON: ${_hint}")
endif()
find_package(OpenSSL REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(GRPC REQUIRED IMPORTED_TARGET grpc++)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)

find_path(CLI11_INCLUDE CLI/CLI.hpp)
find_path(ONNX_INCLUDE onnx/onnx-ml.pb.h)
find_library(ONNX_PROTO_LIBRARY onnx_proto)
foreach(variable CLI11_INCLUDE ONNX_INCLUDE ONNX_PROTO_LIBRARY GRPC_CPP_PLUGIN)
  if(NOT ${variable})
    message(FATAL_ERROR "weir needs ${variable} (Debian packages libcli11-dev, libonnx-dev, protobuf-compiler-grpc): ${_hint}")
  endif()
endforeach()

# The ONNX schema, as Debian builds it.
add_library(weir_external_onnx INTERFACE)
target_include_directories(weir_external_onnx SYSTEM INTERFACE ${ONNX_INCLUDE})
target_compile_definitions(weir_external_onnx INTERFACE ONNX_API= ONNX_ML=1 ONNX_NAMESPACE=onnx)
target_link_libraries(weir_external_onnx INTERFACE ${ONNX_PROTO_LIBRARY} protobuf::libprotobuf)

# ONNX Runtime: what scripts/setup.sh fetched, or the user's own.
set(_ort ${ONNXRUNTIME_ROOT})
if(NOT _ort)
  set(_ort ${CMAKE_SOURCE_DIR}/.deps/onnxruntime)
endif()
find_path(ONNXRUNTIME_INCLUDE onnxruntime_cxx_api.h NO_DEFAULT_PATH
          PATHS ${_ort}/include PATH_SUFFIXES . onnxruntime onnxruntime/core/session)
find_library(ONNXRUNTIME_LIBRARY onnxruntime NO_DEFAULT_PATH PATHS ${_ort}/lib ${_ort}/lib64)
if(NOT ONNXRUNTIME_INCLUDE OR NOT ONNXRUNTIME_LIBRARY)
  message(FATAL_ERROR "no ONNX Runtime in '${_ort}': run scripts/setup.sh, or set -DONNXRUNTIME_ROOT= to a folder with "
                      "include/onnxruntime_cxx_api.h and lib/libonnxruntime.so")
endif()
add_library(weir_external_onnxruntime INTERFACE)
target_include_directories(weir_external_onnxruntime SYSTEM INTERFACE ${ONNXRUNTIME_INCLUDE})
target_link_libraries(weir_external_onnxruntime INTERFACE ${ONNXRUNTIME_LIBRARY})

# tcmalloc takes the place of malloc in the program; the sanitizers bring their own allocator.
find_library(TCMALLOC_LIBRARY tcmalloc_minimal)
add_library(weir_external_tcmalloc INTERFACE)
if(TCMALLOC_LIBRARY AND NOT WEIR_SANITIZE)
  target_link_libraries(weir_external_tcmalloc INTERFACE -Wl,--no-as-needed ${TCMALLOC_LIBRARY} -Wl,--as-needed)
  target_compile_definitions(weir_external_tcmalloc INTERFACE WEIR_HAVE_TCMALLOC=1)
endif()

if(WEIR_TESTS)
  find_package(GTest CONFIG REQUIRED)
endif()
if(WEIR_BENCHMARKS)
  find_package(benchmark CONFIG REQUIRED)
endif()
