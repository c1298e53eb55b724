#pragma once
// Archives of one run as outputs of another.
#include "artifact/outputs.hpp"

namespace quarry::artifact {

struct RunCopy {
  std::shared_ptr<store::ObjectStore> store; ///< of the run that is copied from
  run::Layout from, to;
};

/// What upload_outputs() then copies: within one service no bytes come through this machine. Reads an archive whose
/// checksum file is missing, to make one. The items are of source_of_run(copy.store, copy.from). Fails with the defect
/// of an item and the errors of the store.
Result<Outputs> outputs_copied(const RunCopy& copy, std::vector<SourceItem> items);

} // namespace quarry::artifact
