#include "tar/rope.hpp"

namespace quarry::tar {

RopeWriter::RopeWriter()
    : writer_(Writer::Ropes{[this](const content::Rope& part) -> Result<void> {
        rope_.append(part);
        return {};
      }}) {}

Result<content::Rope> RopeWriter::finish() {
  TRY_DO(writer_.finish());
  return std::move(rope_);
}

} // namespace quarry::tar
