#include "index/site.hpp"

#include "base/text.hpp"
#include "index/read_page.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"

namespace quarry::index {

namespace {

using State = SiteReply::State;

class FilesSite final : public Site {
public:
  explicit FilesSite(std::string directory) : root_(std::move(directory)) {}

  std::string describe() const override { return root_; }
  std::string place_of(const std::string& directory) const override { return path::join(directory, "index.html"); }
  Result<SiteReply> page(const std::string& directory) override {
    auto text = sys::read_file(path::join(root_, place_of(directory)), k_page_bytes_max);
    if (text) return SiteReply{State::there, std::move(*text), 0, false, {}, {}, {}};
    if (text.error().kind == ErrorKind::not_found) return SiteReply();
    return fail(std::move(text).error());
  }
  Result<std::optional<std::vector<std::string>>> directories(const std::string& directory) override {
    std::vector<std::string> names;
    if (!sys::is_directory(path::join(root_, directory))) return std::optional(names);
    TRY(auto entries, sys::list_directory(path::join(root_, directory)));
    for (const auto& entry : entries) {
      if (entry.type != sys::EntryType::directory) continue;
      // A store leaves the directory of a page that it has removed; nobody is served anything from it.
      TRY(auto below, sys::list_directory(path::join(path::join(root_, directory), entry.path)));
      if (!below.empty()) names.push_back(entry.path);
    }
    return std::optional(std::move(names));
  }
  std::optional<std::string> target(const std::string& directory, const std::string& href) const override {
    if (leads_elsewhere(href)) return std::nullopt;
    auto relative = text::percent_decode(href.substr(0, href.find('?')));
    return path::normal(path::join(path::join(root_, directory), relative));
  }
  Result<SiteReply> look(const std::string& target) override {
    if (!sys::exists(target) || sys::is_directory(target)) return SiteReply();
    TRY(auto rope, content::Rope::file(target));
    return SiteReply{State::there, {}, rope.size(), false, {}, {}, {}};
  }
  Result<std::optional<std::string>> read(const std::string& target, std::uint64_t max_bytes) override {
    auto text = sys::read_file(target, max_bytes);
    if (!text) return std::optional<std::string>();
    return std::optional(std::move(*text));
  }
  Result<LocalFile> local(const std::string& target) override { return LocalFile(target); }
  bool served() const override { return false; }

private:
  std::string root_;
};

} // namespace

LocalFile LocalFile::in_temporary(std::string directory, std::string_view name) {
  LocalFile file(path::join(directory, name));
  file.temporary_ = std::move(directory);
  return file;
}

LocalFile::LocalFile(LocalFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})) {}

LocalFile::~LocalFile() {
  if (!temporary_.empty()) static_cast<void>(sys::remove_tree(temporary_));
}

bool leads_elsewhere(std::string_view href) {
  return href.find("://") != href.npos || href.starts_with("//") || href.starts_with('/');
}

std::unique_ptr<Site> files_site(std::string directory) { return std::make_unique<FilesSite>(std::move(directory)); }

} // namespace quarry::index
