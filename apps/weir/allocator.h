// The memory allocator of the program: tcmalloc, or the system's where a build has none (the sanitizers bring their
// own). Any thread.
#pragma once

#include <string>

namespace weir::cli {

/// "tcmalloc (gperftools 2.10)" or "system".
std::string allocator_name();

/// How eagerly free memory goes back to the system while the program works: 0 never, 10 at once. Does nothing with the
/// system's allocator.
void set_memory_release_rate(double rate);

/// Gives all free memory back now. Costs page faults later: for moments of idleness.
void release_free_memory();

}  // namespace weir::cli
