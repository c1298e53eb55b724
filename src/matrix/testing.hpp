#pragma once
// A small families file for tests of the room.
#include "matrix/families.hpp"
#include <string>

namespace quarry::matrix {

inline const std::string k_small = R"(schema = "quarry.families/1"
name = "small"
tiers = ["presubmit", "nightly"]
trigger.pull_request = ["presubmit"]
trigger.schedule = ["presubmit", "nightly"]
trigger.workflow_dispatch = []
variant.linux.release = {}
variant.linux.asan = { suffix = "asan", preset = "linux-asan", build = "sanitizer", test = ["sandbox"] }
variant.linux.tsan = { suffix = "tsan", expected_failure = true }
variant.windows.release = { preset = "windows-release" }
build_runners.linux.default = { builder = 1 }
build_runners.linux.sanitizer = { big-builder = 1 }
build_runners.windows.default = { windows-builder = 1 }

[target]
gfx942 = { product = "MI300X", groups = ["gfx94X-dcgpu", "dcgpu-all"] }
gfx1100 = { product = "RX 7900", groups = ["gfx110X-all"] }
gfx1101 = { product = "RX 7800", groups = ["gfx110X-all"] }
gfx900 = { product = "Vega" }

[family.gfx94x]
name = "gfx94X-dcgpu"
tier = "presubmit"
[family.gfx94x.linux]
fetch = ["gfx942"]
variants = ["release", "asan", "tsan"]
runners.test = { one = 5, two = 28 }
runners.sandbox = { sandbox = 1 }
runners.multi-gpu = { eight = 10 }
kernels = { oem = "oem-kernel" }

[family.gfx110x]
name = "gfx110X-all"
tier = "presubmit"
[family.gfx110x.linux]
fetch = ["gfx1100"]
variants = ["release"]
runners.test = { radeon = 1 }
tests = "sanity"
[family.gfx110x.windows]
variants = ["release"]
expected_failure = ["pytorch"]
release_untested = true
reason = "no machine yet"

[family.gfx900]
name = "gfx900"
tier = "nightly"
[family.gfx900.linux]
variants = ["release"]
)";

inline Families small_families() { return *parse_families({k_small, "small.toml"}); }

} // namespace quarry::matrix
