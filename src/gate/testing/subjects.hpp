#pragma once
// What a gate judges, for tests.
#include "gate/gate.hpp"
#include <string>

namespace quarry::gate::testing {

/// A case of channel stable with one set for Linux: the libraries of gfx94X-dcgpu, which need one cell for each Python.
inline Case case_of_libraries(const registry::SetDigest& set, std::int64_t now_us) {
  registry::FileRecord file;
  file.filename = "rocm_sdk_libraries_gfx94x_dcgpu-7.2.0-py3-none-linux_x86_64.whl";
  file.project = "rocm-sdk-libraries-gfx94x-dcgpu";
  file.version = "7.2.0";
  file.sha256 = sha256("bytes");
  Subject subject;
  subject.digest = set;
  subject.set.origin.platform = Platform::linux;
  subject.set.files = {file};
  Case input;
  input.subjects = {subject};
  input.channel = "stable";
  input.now_us = now_us;
  return input;
}

} // namespace quarry::gate::testing
