#include "index/site.hpp"

#include "base/text.hpp"
#include "index/read_page.hpp"
#include "store/denied.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <set>

namespace quarry::index {

namespace {

using State = SiteReply::State;

class StoreSite final : public Site {
public:
  StoreSite(std::shared_ptr<store::ObjectStore> store, std::string directory, std::string temporary)
      : store_(std::move(store)), root_(std::move(directory)), temporary_(std::move(temporary)) {}

  std::string describe() const override { return path::join(store_->describe(), root_); }
  std::string place_of(const std::string& directory) const override { return path::join(directory, "index.html"); }

  Result<SiteReply> page(const std::string& directory) override {
    return page_at(path::normal(path::join(root_, place_of(directory))));
  }
  Result<std::optional<SiteReply>> copy_of(const std::string& directory) override {
    auto key = path::normal(path::join(root_, directory)) + "/";
    if (key == "./") return std::optional<SiteReply>(); // the bucket's root has no key
    TRY(auto reply, page_at(key));
    return std::optional(std::move(reply));
  }
  bool is_bucket() const override { return true; }
  Result<std::optional<std::vector<std::string>>> directories(const std::string& directory) override {
    auto prefix = path::normal(path::join(root_, directory)) + "/";
    if (prefix == "./") prefix.clear();
    auto objects = store_->list(prefix);
    if (!objects && store::is_denied(objects.error())) return std::optional<std::vector<std::string>>();
    if (!objects) return fail(std::move(objects).error());
    std::set<std::string> names;
    for (const auto& object : *objects) {
      auto rest = std::string_view(object.key).substr(prefix.size());
      if (auto slash = rest.find('/'); slash != rest.npos) names.emplace(rest.substr(0, slash));
    }
    return std::optional(std::vector(names.begin(), names.end()));
  }
  std::optional<std::string> target(const std::string& directory, const std::string& href) const override {
    if (leads_elsewhere(href)) return std::nullopt;
    auto relative = text::percent_decode(href.substr(0, href.find('?')));
    return path::normal(path::join(path::join(root_, directory), relative));
  }
  Result<SiteReply> look(const std::string& target) override {
    if (!store::check_key(target, store::SlashKeys::allowed)) return SiteReply(); // out of the store, for instance
    auto found = store_->head(target);
    if (!found && !store::is_denied(found.error())) return fail(std::move(found).error());
    return reply_of(found);
  }
  Result<std::optional<std::string>> read(const std::string& target, std::uint64_t max_bytes) override {
    if (!store::check_key(target, store::SlashKeys::allowed)) return std::optional<std::string>();
    auto text = store_->get(target, max_bytes);
    if (!text && store::is_denied(text.error())) return std::optional<std::string>(); // absent objects look so, too
    return text;
  }
  Result<LocalFile> local(const std::string& target) override { return fetched(*store_, target, temporary_); }
  bool served() const override { return true; }

private:
  Result<SiteReply> page_at(const std::string& key) {
    TRY(auto reply, look(key));
    if (!reply.there()) return reply;
    TRY(auto text, read(key, k_page_bytes_max));
    if (!text) return SiteReply(); // removed meanwhile
    reply.text = std::move(*text);
    return reply;
  }

  std::shared_ptr<store::ObjectStore> store_;
  std::string root_, temporary_;
};

} // namespace

SiteReply reply_of(const Result<std::optional<store::ObjectInfo>>& found) {
  SiteReply reply;
  if (!found) reply.state = State::denied, reply.refusal = found.error().message;
  if (!found || !*found) return reply;
  const auto& info = **found;
  return {State::there, {}, info.size, true, info.content_type, info.cache_control, info.content_encoding};
}

Result<LocalFile> fetched(store::ObjectReader& store, const std::string& key, const std::string& temporary) {
  TRY(auto directory, sys::make_temporary_directory(temporary, "quarry-check-"));
  auto local = LocalFile::in_temporary(directory, path::basename(key));
  TRY(auto content, store.open(key));
  TRY(auto file, sys::AtomicFile::create(local.path()));
  std::uint64_t written = 0;
  TRY_DO(content::pump(content, [&](std::span<const std::byte> bytes) -> Result<void> {
    TRY_DO(file.file().write_at(written, bytes));
    written += bytes.size();
    return sys::check_interrupted();
  }));
  TRY_DO(file.commit_new());
  return local;
}

std::unique_ptr<Site> store_site(std::string directory, std::shared_ptr<store::ObjectStore> store,
                                 std::string temporary) {
  return std::make_unique<StoreSite>(std::move(store), std::move(directory), std::move(temporary));
}

} // namespace quarry::index
