#include "recognize/handlers.h"

#include <array>
#include <map>

namespace weir::recognize {
namespace {

using Table = std::map<std::string_view, const Handler*>;

void add(Table& table, std::span<const Handler> handlers) {
  for (const Handler& handler : handlers) table.emplace(handler.op, &handler);
}

Table standard_table() {
  Table table;
  for (const auto handlers : {shape_handlers(), index_handlers(), arithmetic_handlers(), logic_handlers(),
                              reduction_handlers(), product_handlers(), quantization_handlers()}) {
    add(table, handlers);
  }
  return table;
}

Table microsoft_table() {
  Table table = standard_table();
  add(table, fused_handlers());
  return table;
}

}  // namespace

const Handler* find_handler(std::string_view domain, std::string_view op) {
  static const Table standard = standard_table();
  static const Table microsoft = microsoft_table();
  if (!domain.empty() && domain != "com.microsoft") return nullptr;
  const Table& table = domain.empty() ? standard : microsoft;
  const auto position = table.find(op);
  return position == table.end() ? nullptr : position->second;
}

}  // namespace weir::recognize
