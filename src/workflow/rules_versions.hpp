#pragma once
// Private to the room.
// Versions that several files write down under one name: `ARG ROCM_VERSION=7.0` in Dockerfiles, `ROCM_VERSION: 7.0`
// in the `env` of workflows.
#include "workflow/rules.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

/// One place where a version is written.
struct WrittenVersion {
  std::string name, value;
  std::string file;
  Position at;
};

/// Adds the constants of `ARG` and `ENV` instructions whose name says that they are versions. Linear in the text.
void add_dockerfile_versions(const std::string& file, std::string_view text, std::vector<WrittenVersion>& found);

/// Y145: a name whose values differ between files. `found` holds what the Dockerfiles of this repository write.
void check_versions(const Rules& rules, std::vector<WrittenVersion> found);

} // namespace quarry::workflow
