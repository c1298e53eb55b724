#include "cli/base_index.hpp"

#include "cli/records.hpp"
#include "cli/scratch.hpp"
#include "mirror/stored.hpp"
#include "mirror/sync.hpp"
#include "mirror/upstream.hpp"
#include <fmt/core.h>
#include <utility>

namespace quarry::cli {

namespace {
class FarIndex final : public BaseIndex {
public:
  FarIndex(const Context& context, net::Url url, Scratch scratch)
      : name_(mirror::without_query(url.text())), scratch_(std::move(scratch)),
        upstream_(net::make_client(settings_of(context)), context.clock,
                  {std::move(url), scratch_.path(), context.jobs},
                  [](const index::PageFile&) { return Result<std::optional<std::string>>(std::nullopt); }) {}
  mirror::Candidates& candidates() override { return upstream_; }
  const std::string& name() const override { return name_; }

private:
  static net::Settings settings_of(const Context& context) {
    auto settings = net::settings_from(context.environment);
    settings.trace = tracer(context);
    settings.allow_plain_http = context.variable("QUARRY_ALLOW_PLAIN_HTTP") == "1";
    return settings;
  }
  std::string name_;
  Scratch scratch_; ///< for wheels of indexes that do not serve METADATA
  mirror::Upstream upstream_;
};

class NearIndex final : public BaseIndex {
public:
  NearIndex(std::unique_ptr<store::ObjectStore> store, std::map<std::string, registry::FileRecord> known)
      : name_("the base index of " + store->describe()), store_(std::move(store)), stored_(*store_, std::move(known)) {}
  mirror::Candidates& candidates() override { return stored_; }
  const std::string& name() const override { return name_; }

private:
  std::string name_;
  std::unique_ptr<store::ObjectStore> store_;
  mirror::StoredIndex stored_;
};
} // namespace

Flag base_index_flag() {
  return {.name = "--base-index",
          .value = "URL|STORE",
          .help =
              "where dependencies come from: a simple index, or a store that `mirror sync` filled (default: that of "
              "--store)"};
}

Result<std::unique_ptr<BaseIndex>> open_base_index(const Context& context, const std::string& said,
                                                   const std::string& place) {
  using Opened = std::unique_ptr<BaseIndex>;
  if (said.starts_with("https://") || said.starts_with("http://")) {
    TRY(auto url, net::parse_url(said), "while reading --base-index");
    TRY(auto scratch, Scratch::make(context));
    return Opened(std::make_unique<FarIndex>(context, std::move(url), std::move(scratch)));
  }
  auto where = said.empty() ? place : said;
  if (where.empty()) return Opened();
  TRY(auto store, open_store(context, where));
  auto listed = mirror::mirrored_files(*store);
  // A web server cannot be listed (R030): its base index has to be named by the URL of its pages.
  if (!listed && said.empty() && listed.error().kind == ErrorKind::invalid_argument) return Opened();
  TRY(auto known, std::move(listed), "while reading the base index");
  if (!known.empty()) return Opened(std::make_unique<NearIndex>(std::move(store), std::move(known)));
  if (said.empty()) return Opened();
  return fail(ErrorKind::not_found, "U003", fmt::format("{} has no base index", where),
              "fill one with `quarry mirror sync`, or name another with --base-index");
}

} // namespace quarry::cli
