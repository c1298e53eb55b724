#pragma once
// A tar archive as a rope: headers are literals, files are the ropes they already are. Nothing is read or copied to
// make it.
#include "archive/tar.hpp"
#include "content/rope.hpp"
#include <string>

namespace quarry::archive {

class TarRope {
public:
  TarRope();
  TarRope(const TarRope&) = delete; // the writer hands its parts to this object
  TarRope& operator=(const TarRope&) = delete;
  Result<void> file(const std::string& path, const content::Rope& data, bool executable) {
    return writer_.file(path, data, executable);
  }
  Result<void> symlink(const std::string& path, const std::string& target) { return writer_.symlink(path, target); }
  /// The whole archive. Errors as TarWriter's.
  Result<content::Rope> finish();

private:
  content::Rope rope_;
  TarWriter writer_;
};

} // namespace quarry::archive
