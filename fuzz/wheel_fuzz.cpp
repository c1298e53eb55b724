// Verification of whole wheels. Even first byte: the rest is the file. Odd: the rest is METADATA, WHEEL, RECORD and
// entry points, separated by 0x1e, in a container that is sound, so that the rules behind it are reached.
#include "base/text.hpp"
#include "fuzzing.hpp"
#include "sys/file.hpp"
#include "wheel/wheel.hpp"
#include "zip/writer.hpp"

using namespace quarry;

namespace {
const std::string k_info = "pkg-1.0.dist-info/";

struct Place {
  std::string directory =
      sys::make_temporary_directory(sys::is_directory("/dev/shm") ? "/dev/shm" : "/tmp", "quarry-fuzz-").value();
  std::string wheel = directory + "/pkg-1.0-py3-none-any.whl";
  ~Place() { (void)sys::remove_tree(directory); }
};

void write_container(const sys::File& file, std::string_view texts) {
  auto parts = text::split(texts, '\x1e');
  parts.resize(4);
  std::vector<zip::Entry> entries{{"pkg/__init__.py", content::Rope::literal("x = 1\n")}};
  constexpr const char* k_names[] = {"METADATA", "WHEEL", "RECORD", "entry_points.txt"};
  for (std::size_t i : {0u, 1u, 3u, 2u}) // RECORD last
    if (i == 2 || !parts[i].empty()) entries.push_back({k_info + k_names[i], content::Rope::literal(parts[i])});
  zip::Options options;
  options.profile = codec::Profile::stored;
  auto none = [](std::span<const zip::Written>) -> Result<std::vector<zip::Entry>> {
    return std::vector<zip::Entry>{};
  };
  (void)zip::write(entries, none, options, file);
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Place place;
  if (size == 0) return 0;
  auto rest = fuzzing::as_text(data + 1, size - 1);
  {
    auto file = sys::File::create(place.wheel);
    if (data[0] % 2)
      write_container(*file, rest);
    else
      (void)file->write(rest);
  }
  auto report = wheel::verify(place.wheel);
  if (report && wheel::exit_code(*report) == 0)
    fuzzing::require(report->metadata && report->wheel_info && !report->record.empty());
  return 0;
}
