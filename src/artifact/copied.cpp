#include "artifact/copied.hpp"

namespace quarry::artifact {

Result<Outputs> outputs_copied(const RunCopy& copy, std::vector<SourceItem> items) {
  constexpr unsigned k_looks_at_once = 8;
  TRY_DO(look_up(items, k_looks_at_once));
  Outputs outputs;
  for (auto& item : items) {
    if (item.defect) return fail(*item.defect);
    OutputFile file{OutputFile::Kind::archive, item.file, "", {}, item.checksum, copy.store, ""};
    TRY(file.from, copy.from.artifact(item.file));
    TRY(file.key, copy.to.artifact(item.file));
    TRY(file.content, item.open());
    if (!file.sha256) {
      TRY(file.sha256, content::sha256_of(file.content), "while reading " + item.file);
    }
    outputs.files.push_back(std::move(file));
  }
  return outputs;
}

} // namespace quarry::artifact
