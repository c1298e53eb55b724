#include "archive/tar_rope.hpp"

namespace quarry::archive {

TarRope::TarRope()
    : writer_(TarWriter::Ropes{[this](const content::Rope& part) -> Result<void> {
        rope_.append(part);
        return {};
      }}) {}

Result<content::Rope> TarRope::finish() {
  TRY_DO(writer_.finish());
  return std::move(rope_);
}

} // namespace quarry::archive
