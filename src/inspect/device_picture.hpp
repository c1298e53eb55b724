#pragma once
// Device code as a picture for a pull request: a treemap of bytes by file and target. Pure, thread-safe.
#include "inspect/device_verdict.hpp"
#include <string>

namespace quarry::inspect {

/// One SVG file: a treemap of wheels (if there are several), their files, and the targets of each; below it a legend
/// with the objects, bytes and share of each target. Each generation of GPUs has its hue; targets that were not asked
/// for are grey and hatched, and say so. Readable as an image, without a pointer: names
/// stand where they fit, and the legend has all targets. Files beyond the 40 largest share one box. Equal input gives
/// equal bytes.
std::string device_svg(const DeviceCode& code, const Judgement& judgement, const Asked& asked);

/// One HTML page with the same picture, the findings, and a table of files, targets, objects and bytes. No script, no
/// other file.
std::string device_html(const DeviceCode& code, const Judgement& judgement, const Asked& asked);

} // namespace quarry::inspect
