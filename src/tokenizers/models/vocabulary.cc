#include "tokenizers/models/vocabulary.h"

#include <functional>

namespace weir::tokenizers {
namespace {

std::uint32_t hash_of(std::string_view token) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(token));
}

}  // namespace

Result<Vocabulary> Vocabulary::from_object(const json::Element& element, const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const json::Object object, json::Object::from(element, path));
  Vocabulary vocabulary;
  for (const auto& field : object.raw()) {
    const auto id = json::as_unsigned(field.value, path, kLargestId);
    if (!id.ok())
      return Error(id.error().kind, id.error().message + " (token \"" + std::string(field.key) + "\")", path);
    vocabulary.add(field.key, static_cast<std::int32_t>(*id));
  }
  return vocabulary;
}

void Vocabulary::add(std::string_view token, std::int32_t id) {
  if ((count_ + 1u) * 2 > slots_.size()) grow();
  const std::uint32_t hash = hash_of(token);
  Slot& slot = slots_[slot_of(token, hash)];
  if (slot.id < 0) {
    slot.token = texts_.emplace_back(token);
    slot.hash = hash;
    ++count_;
  }
  slot.id = id;
  if (static_cast<std::size_t>(id) >= by_id_.size()) by_id_.resize(id + 1u);
  by_id_[id] = slot.token;
}

std::int32_t Vocabulary::find_id(std::string_view token) const {
  return slots_.empty() ? -1 : slots_[slot_of(token, hash_of(token))].id;
}

std::size_t Vocabulary::slot_of(std::string_view token, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id >= 0 && (slots_[at].hash != hash || slots_[at].token != token)) at = (at + 1) & mask;
  return at;
}

void Vocabulary::grow() {
  std::vector<Slot> old(slots_.empty() ? 1024 : slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.id >= 0) slots_[slot_of(slot.token, slot.hash)] = slot;
  }
}

}  // namespace weir::tokenizers
