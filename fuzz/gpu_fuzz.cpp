// Device code: any bytes give objects inside the file and findings with a code; a path gives a target that reads back.
// Thinned, they are as long, without a bundle's code for other targets, or they are damaged or contradict themselves.
#include "fuzzing.hpp"
#include "gpu/contents.hpp"
#include "gpu/names.hpp"
#include "gpu/thin.hpp"

using namespace quarry;

namespace {

void thin_once(const content::Rope& file) {
  auto spool = content::Spool::create("/tmp");
  fuzzing::require(spool.has_value());
  auto thinned = gpu::thin(file, "x", {{"gfx1030"}, "/tmp", *spool});
  fuzzing::require(thinned || thinned.error().code == "G101" || thinned.error().kind == ErrorKind::unsupported);
  if (!thinned) return;
  fuzzing::require(thinned->file.size() <= file.size());
  if (thinned->left.empty())
    for (const auto& object : thinned->after.objects)
      fuzzing::require(object.container == gpu::Container::elf || !gpu::is_unwanted(object.target, {"gfx1030"}));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto file = fuzzing::as_rope(data, size);
  auto contents = gpu::read_contents(file, "x");
  fuzzing::require(contents.has_value()); // these bytes can be read: what is wrong with them is a finding
  fuzzing::require(contents->objects.size() <= gpu::k_objects_max);
  for (const auto& object : contents->objects) {
    auto again = gpu::parse_target(object.target.str());
    fuzzing::require(again && *again == object.target);
    fuzzing::require(object.offset <= size);
    fuzzing::require(object.container != gpu::Container::bundle || object.bytes <= size - object.offset);
  }
  for (const auto& finding : contents->findings)
    fuzzing::require(finding.code == "G101" || finding.code == "G102" || finding.code == "G117" ||
                     finding.code == "G118");
  thin_once(file);
  if (auto named = gpu::target_of_path(fuzzing::as_text(data, size)))
    fuzzing::require(named->unit.find('*') != std::string::npos && !named->target.processor.empty());
  return 0;
}
