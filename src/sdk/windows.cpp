#include "sdk/windows.hpp"

#include "base/text.hpp"
#include "elf/elf.hpp"
#include "names/entry_names.hpp"
#include "names/windows_names.hpp"
#include "pe/pe.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <elf.h>
#include <fmt/core.h>

namespace quarry::sdk {

namespace {

bool ends_with_any(const std::string& path, std::initializer_list<std::string_view> endings) {
  auto name = text::lower(path::basename(path));
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return name.ends_with(e); });
}

bool is_image_name(const std::string& path) { return ends_with_any(path, {".dll", ".exe", ".pyd"}); }
// Windows has no such bit; it is for those who unpack the wheel elsewhere, and depends on nothing but the name.
bool is_executable_name(const std::string& path) { return ends_with_any(path, {".exe", ".bat", ".cmd", ".com"}); }

struct Image {
  bool found = false;
  pe::Facts facts;
};

class Checker {
public:
  Checker(const std::string& path, const SourceEntry& entry, const std::string& place, Findings& findings)
      : path_(path), entry_(entry), place_(place), findings_(findings) {}

  Result<Image> image() {
    if (ends_with_any(path_, {".lib"})) TRY_DO(import_library());
    if (!is_image_name(path_)) {
      TRY_DO(foreign());
      return Image{};
    }
    TRY(bool magic, pe::has_magic(entry_.data), "while reading " + entry_.place);
    if (!magic) {
      report("S037", Severity::error,
             fmt::format("is named like a program or DLL of Windows and is not a PE file (from {})", entry_.artifact),
             "rebuild the artifact; `file` on it tells what it is");
      return Image{};
    }
    auto facts = pe::read_facts(entry_.data, path_);
    if (!facts) {
      if (facts.error().kind != ErrorKind::corrupt) return fail(std::move(facts).error());
      report(facts.error().code, Severity::error, facts.error().message,
             "the artifact is damaged: build or fetch it again");
      return Image{};
    }
    if (facts->machine != pe::k_machine_amd64)
      report("S028", Severity::error,
             fmt::format("is for {}, and the package is for x86-64 (from {})", pe::machine_name(facts->machine),
                         entry_.artifact),
             "take the artifact that was built for x86-64");
    return Image{true, std::move(*facts)};
  }

private:
  void report(std::string code, Severity severity, std::string message, std::string fix) {
    findings_.push_back({std::move(code), severity, place_ + "!" + path_, std::move(message), std::move(fix)});
  }

  Result<void> import_library() {
    TRY(auto head, entry_.data.slice(0, std::min<std::uint64_t>(entry_.size, 8)).read_all(8));
    if (head != "!<arch>\n")
      report("S034", Severity::warning, "is named like an import or static library and is not an archive",
             "a linker cannot use it; look at how the artifact is made");
    return {};
  }

  // GPU code objects are ELF on every platform; what runs on this processor's Linux is a mixed-up artifact.
  Result<void> foreign() {
    TRY(bool magic, elf::has_magic(entry_.data), "while reading " + entry_.place);
    if (!magic) return {};
    auto facts = elf::read_facts(entry_.data, path_);
    if (!facts) return {};
    bool host = facts->machine == EM_X86_64 || facts->machine == EM_AARCH64;
    if (host && (facts->is_program() || facts->is_shared_object()))
      report("S036", Severity::error, fmt::format("is a program or library for Linux (from {})", entry_.artifact),
             "name the artifacts of a Windows build, or build with --platform linux");
    return {};
  }

  const std::string& path_;
  const SourceEntry& entry_;
  const std::string& place_;
  Findings& findings_;
};

class WindowsPopulator {
public:
  WindowsPopulator(const View& view, const PopulateOptions& options, Findings& findings)
      : view_(view), options_(options), findings_(findings) {}

  Result<Population> run() {
    check_windows_names(view_, options_.place, findings_);
    for (const auto& [path, entry] : view_.entries) {
      if (entry.type == sys::EntryType::directory) continue;
      const auto* source = &entry;
      if (entry.type == sys::EntryType::symlink) {
        auto target = view_.resolve(path);
        source = target ? view_.find(*target) : nullptr;
      }
      if (source && source->type == sys::EntryType::file)
        TRY_DO(take(path, *source));
      else
        ++out_.dropped_links;
    }
    find_dlls();
    for (const auto& [path, planned] : out_.files) out_.bytes += planned.data.size();
    return std::move(out_);
  }

private:
  Result<void> take(const std::string& path, const SourceEntry& source) {
    TRY(auto image, Checker(path, source, options_.place, findings_).image());
    out_.files[path] = {source.data, is_executable_name(path), "file", source.artifact};
    if (!image.found) return {};
    if (image.facts.is_dll) {
      out_.libraries.push_back(path);
      holds_[text::lower(path::basename(path))].push_back(path::dirname(path));
    }
    images_[path] = std::move(image.facts);
    return {};
  }

  // Windows searches the directory of the program or, as the runtime loads them, of the DLL; for DLLs also `bin`, which
  // the runtime adds. Nothing in a file says more.
  void find_dlls() {
    for (const auto& [path, facts] : images_)
      for (const auto& import : facts.imports) {
        auto it = holds_.find(text::lower(import));
        if (it == holds_.end()) continue;
        auto found = [&](const std::string& directory) {
          return directory == path::dirname(path) || (facts.is_dll && directory == "bin");
        };
        if (std::any_of(it->second.begin(), it->second.end(), found)) continue;
        findings_.push_back({"S029", Severity::warning, options_.place + "!" + path,
                             fmt::format("needs {}, which this package holds in {} only: Windows does not look there",
                                         import, it->second.front()),
                             "install both into one directory where the artifact is made"});
      }
  }

  const View& view_;
  const PopulateOptions& options_;
  Findings& findings_;
  Population out_;
  std::map<std::string, pe::Facts> images_;
  std::map<std::string, std::vector<std::string>> holds_; // lower-case DLL name -> directories
};

// The longest that must be created: the file itself, or its directory, which Windows wants shorter.
std::size_t needed_length(const std::string& path) {
  auto slash = path.rfind('/');
  auto directory = slash == path.npos ? 0 : utf16_length(std::string_view(path).substr(0, slash));
  return std::max(utf16_length(path), directory + k_windows_directory_room);
}

void report_lengths(const std::vector<const std::string*>& paths, Severity severity, std::size_t limit,
                    const std::string& place, Findings& findings) {
  if (paths.empty()) return;
  const auto* longest = *std::max_element(
      paths.begin(), paths.end(), [](const auto* a, const auto* b) { return needed_length(*a) < needed_length(*b); });
  auto where = severity == Severity::error ? "at any place" : "in the site-packages of a usual user";
  findings.push_back(
      {"S032", severity, place + "!" + *longest,
       fmt::format("is too long for Windows {}: {} characters, and {} are left{}", where, needed_length(*longest),
                   limit, paths.size() == 1 ? "" : fmt::format("; {} more are too long", paths.size() - 1)),
       severity == Severity::error ? "shorten the name where the artifact is made"
                                   : "install it below a short directory, or with long paths enabled on the machine"});
}

} // namespace

Result<Population> populate_windows(const View& view, const PopulateOptions& options, Findings& findings) {
  return WindowsPopulator(view, options, findings).run();
}

Result<bool> is_windows_image(const std::string& path, const content::Rope& data) {
  if (!is_image_name(path)) return false;
  return pe::has_magic(data);
}

Result<bool> check_windows_file(const std::string& path, const SourceEntry& entry, const std::string& place,
                                Findings& findings) {
  TRY(auto image, Checker(path, entry, place, findings).image());
  return image.found;
}

void check_windows_names(const View& view, const std::string& place, Findings& findings) {
  std::map<std::string, std::pair<std::string, std::string>> seen; // folded -> path as spelt first, its artifact
  for (const auto& [path, entry] : view.entries) {
    // Each directory on the way as well: `Include/a.h` and `include/b.h` would be one directory under a changing name.
    for (auto end = path.find('/');; end = path.find('/', end + 1)) {
      auto part = path.substr(0, end);
      auto [it, fresh] = seen.try_emplace(names::folded_name(part), part, entry.artifact);
      if (!fresh && it->second.first != part)
        findings.push_back({"S033", Severity::error, place + "!" + part,
                            fmt::format("and {} are one name on Windows (from {} and {})", it->second.first,
                                        entry.artifact, it->second.second),
                            "one of the two artifacts must rename or stop claiming the path"});
      if (fresh && !names::is_windows_name(path::basename(part)))
        findings.push_back({"S035", Severity::error, place + "!" + part,
                            fmt::format("is not a name that Windows can have (from {})", entry.artifact),
                            "rename it where the artifact is made"});
      if (end == path.npos) break;
    }
  }
}

void check_windows_lengths(const std::vector<std::string>& paths, const std::string& place, Findings& findings) {
  constexpr auto k_anywhere = k_windows_path_max - k_windows_drive;
  constexpr auto k_usual = k_windows_path_max - k_windows_site_packages;
  std::vector<const std::string*> impossible, unusual;
  for (const auto& path : paths) {
    auto length = needed_length(path);
    if (length > k_anywhere)
      impossible.push_back(&path);
    else if (length > k_usual)
      unusual.push_back(&path);
  }
  report_lengths(impossible, Severity::error, k_anywhere, place, findings);
  report_lengths(unusual, Severity::warning, k_usual, place, findings);
}

std::size_t utf16_length(std::string_view text) {
  std::size_t units = 0;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    units += (byte & 0xC0) != 0x80; // the first byte of a character
    units += (byte & 0xF8) == 0xF0; // those outside the first plane take two
  }
  return units;
}

} // namespace quarry::sdk
