// /proc/PID/stat.
#pragma once

#include <string>
#include <vector>

namespace weir {

/// Its fields from the third on, as text: number n of proc(5), which counts from 1, is element n - 3. Empty when `path`
/// cannot be read, as of a process that is gone. Any thread.
std::vector<std::string> process_stat_fields(const std::string& path);

/// Field `number` of proc(5), at least 3; NaN when it is not there.
double process_stat_number(const std::vector<std::string>& fields, std::size_t number);

}  // namespace weir
