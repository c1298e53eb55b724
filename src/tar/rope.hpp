#pragma once
// A tar archive as a rope: headers are literals, files are the ropes they already are. Nothing is read or copied to
// make it.
#include "content/rope.hpp"
#include "tar/tar.hpp"
#include <string>

namespace quarry::tar {

class RopeWriter {
public:
  RopeWriter();
  RopeWriter(const RopeWriter&) = delete; // the writer hands its parts to this object
  RopeWriter& operator=(const RopeWriter&) = delete;
  Result<void> file(const std::string& path, const content::Rope& data, bool executable) {
    return writer_.file(path, data, executable);
  }
  Result<void> symlink(const std::string& path, const std::string& target) { return writer_.symlink(path, target); }
  /// The whole archive. Errors as Writer's.
  Result<content::Rope> finish();

private:
  content::Rope rope_;
  Writer writer_;
};

} // namespace quarry::tar
