// The config files of a model folder: the first byte chooses the reader, the rest is the file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "families/family.h"
#include "huggingface/json_object.h"
#include "huggingface/late_interaction.h"
#include "huggingface/modules.h"
#include "huggingface/pooling_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'a') {
    const auto modules = weir::huggingface::JsonObject::parse_array(text, "modules.json");
    if (modules.ok()) (void)weir::huggingface::read_modules(*modules, "modules.json");
    return 0;
  }
  const auto object = weir::huggingface::JsonObject::parse(text, "config.json");
  if (!object.ok()) return 0;
  if (data[0] == 'p') (void)weir::huggingface::read_pooling_config(*object);
  if (data[0] == 'c') (void)weir::families::read_architecture(*object);
  if (data[0] == 'l') {
    (void)weir::huggingface::read_stanford_late_interaction(*object);
    (void)weir::huggingface::read_pylate_late_interaction(*object);
    (void)weir::huggingface::read_late_interaction({&*object, &*object, &*object});
  }
  for (const char* key : {"prompts", "max_seq_length", "model_max_length", "default_prompt_name"}) {
    (void)object->text(key);
    (void)object->count(key, 512);
    (void)object->text_map(key);
    (void)object->texts(key);
    (void)object->object(key);
  }
  return 0;
}
