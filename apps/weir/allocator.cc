#include "apps/weir/allocator.h"

#ifdef WEIR_HAVE_TCMALLOC
#include <gperftools/malloc_extension.h>
#include <gperftools/tcmalloc.h>
#else
#include <malloc.h>
#endif

namespace weir::cli {

#ifdef WEIR_HAVE_TCMALLOC
std::string allocator_name() { return "tcmalloc (" + std::string(TC_VERSION_STRING) + ")"; }
void set_memory_release_rate(double rate) { MallocExtension::instance()->SetMemoryReleaseRate(rate); }
void release_free_memory() { MallocExtension::instance()->ReleaseFreeMemory(); }
#else
std::string allocator_name() { return "system"; }
void set_memory_release_rate(double /*rate*/) {}
void release_free_memory() { malloc_trim(0); }
#endif

}  // namespace weir::cli
