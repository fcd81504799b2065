# The one table of ISA flags. A kernel source named x86_<isa>.cc gets the flags of <isa> and no other source gets any.
#
#   weir_kernel_sources(<variable> x86_avx2.cc x86_avx512.cc ...)
#
# sets <variable> to the sources that this target architecture can compile (none of the x86 ones elsewhere).
set(_weir_avx2 -mavx2 -mfma)
set(_weir_avx512 ${_weir_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl)

set(WEIR_ISA_FLAGS_avx2 ${_weir_avx2})
set(WEIR_ISA_FLAGS_avx_vnni ${_weir_avx2} -mavxvnni)
set(WEIR_ISA_FLAGS_avx512 ${_weir_avx512})
set(WEIR_ISA_FLAGS_avx512_vnni ${_weir_avx512} -mavx512vnni)
set(WEIR_ISA_FLAGS_avx512_bf16 ${_weir_avx512} -mavx512bf16)
set(WEIR_ISA_FLAGS_amx_int8 ${_weir_avx512} -mavx512vnni -mamx-tile -mamx-int8)
set(WEIR_ISA_FLAGS_amx_bf16 ${_weir_avx512} -mavx512bf16 -mamx-tile -mamx-bf16)

# Every kernel source, portable ones included:
# - no contraction of a*b+c by the compiler: the bits of a result are part of the kernels' contract;
# - optimized in debug builds too, or the tests of a variant take minutes;
# - g++ 12's partial redundancy elimination spills the accumulators of the hot loops to the stack.
set(WEIR_KERNEL_FLAGS -ffp-contract=off $<$<CONFIG:Debug>:-O2>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Its own intrinsic headers also trip its warning on uninitialized values.
  list(APPEND WEIR_KERNEL_FLAGS -fno-tree-pre -Wno-maybe-uninitialized -Wno-uninitialized)
endif()

function(weir_kernel_sources variable)
  set(sources)
  foreach(source IN LISTS ARGN)
    set(flags ${WEIR_KERNEL_FLAGS})
    if(source MATCHES "^x86_(.*)\\.cc$")
      set(isa ${CMAKE_MATCH_1})
      if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        continue()
      endif()
      if(NOT DEFINED WEIR_ISA_FLAGS_${isa})
        message(FATAL_ERROR "${source}: cmake/WeirIsa.cmake has no flags for '${isa}'")
      endif()
      list(APPEND flags ${WEIR_ISA_FLAGS_${isa}})
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${flags})
    list(APPEND sources ${source})
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
