#include "elf/elf.hpp"
#include "elf/image.hpp"
#include "elf/tables.hpp"

#include <array>
#include <fmt/core.h>
#include <set>

namespace quarry::elf {

bool Facts::is_program() const {
  if (type == ET_EXEC) return true;
  return type == ET_DYN && (pie_flag || (!interpreter.empty() && !soname));
}

bool Facts::is_shared_object() const { return type == ET_DYN && has_dynamic && !is_program(); }

Result<bool> has_magic(const content::Rope& file) {
  std::array<char, SELFMAG> magic{};
  if (file.size() < magic.size()) return false;
  TRY_DO(file.read(0, std::as_writable_bytes(std::span(magic))));
  return std::string_view(magic.data(), magic.size()) == ELFMAG;
}

namespace {
Result<std::optional<std::string>> optional_string(const Image& image, std::int64_t tag) {
  auto offset = image.value(tag);
  if (!offset) return std::nullopt;
  TRY(auto text, image.string_at(*offset));
  return std::optional(std::move(text));
}

Result<std::string> interpreter_of(const Image& image) {
  const auto* segment = image.first(PT_INTERP);
  if (!segment || segment->file_size == 0) return std::string();
  constexpr std::uint64_t k_interpreter_max = 4096; // the kernel's own bound (PATH_MAX, fs/binfmt_elf.c)
  if (segment->file_size > k_interpreter_max)
    return image.corrupt("the name of its interpreter is longer than a path can be");
  TRY(auto text, image.read_bytes(segment->offset, segment->file_size));
  return text.substr(0, text.find('\0'));
}
} // namespace

Result<Facts> read_facts(const content::Rope& file, std::string_view name) {
  TRY(auto image, Image::read(file, name));
  Facts facts;
  facts.is_64 = image.header.is_64;
  facts.type = image.header.type;
  facts.machine = image.header.machine;
  facts.os_abi = image.header.os_abi;
  facts.has_dynamic = image.dynamic_segment.has_value();
  facts.pie_flag = (image.value(DT_FLAGS_1).value_or(0) & DF_1_PIE) != 0;
  if (!facts.has_dynamic && image.first(PT_DYNAMIC))
    return facts; // a debug companion: its headers describe another file
  TRY(facts.interpreter, interpreter_of(image));
  TRY(facts.soname, optional_string(image, DT_SONAME));
  TRY(facts.rpath, optional_string(image, DT_RPATH));
  TRY(facts.runpath, optional_string(image, DT_RUNPATH));
  for (auto offset : image.values(DT_NEEDED)) {
    TRY(auto needed, image.string_at(offset));
    facts.needed.push_back(std::move(needed));
  }
  return facts;
}

Result<std::vector<std::string>> read_needed_versions(const content::Rope& file, std::string_view name) {
  TRY(auto image, Image::read(file, name));
  TRY(auto needs, read_version_needs(image));
  std::set<std::string> versions;
  for (const auto& need : needs)
    for (auto offset : need.versions) {
      TRY(auto version, image.string_at(offset));
      versions.insert(std::move(version));
    }
  return std::vector<std::string>(versions.begin(), versions.end());
}

} // namespace quarry::elf
