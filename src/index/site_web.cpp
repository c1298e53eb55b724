#include "index/site.hpp"

#include "base/text.hpp"
#include "index/read_page.hpp"
#include "index/refused.hpp"
#include "net/fetch.hpp"
#include "store/denied.hpp"
#include <fmt/core.h>
#include <map>
#include <mutex>
#include <set>

namespace quarry::index {

namespace {

using State = SiteReply::State;

constexpr std::string_view k_json_only = "application/vnd.pypi.simple.v1+json";

net::Settings settings_of(const store::Surroundings& surroundings) {
  auto settings = net::settings_from(surroundings.environment);
  settings.trace = surroundings.trace;
  return settings;
}

/// What the answers so far have told about directories. Thread-safe.
class Answers {
public:
  /// `final`: where the redirects ended. `json`: the directory answers in JSON without being asked for it.
  void add(const std::string& directory, const net::Url& final, bool json) {
    std::lock_guard lock(mutex_);
    finals_[directory] = final;
    if (json) json_.insert(directory);
  }
  bool is_json(const std::string& directory) const {
    std::lock_guard lock(mutex_);
    return json_.contains(directory);
  }
  std::optional<net::Url> final_of(const std::string& directory) const {
    std::lock_guard lock(mutex_);
    auto found = finals_.find(directory);
    return found == finals_.end() ? std::nullopt : std::optional(found->second);
  }

  // The pages at the top are asked for by several questions.
  std::optional<SiteReply> remembered(const std::string& directory) const {
    std::lock_guard lock(mutex_);
    auto found = top_.find(directory);
    return found == top_.end() ? std::nullopt : std::optional(found->second);
  }
  void remember(const std::string& directory, const SiteReply& reply) {
    std::lock_guard lock(mutex_);
    if (directory.find('/') == directory.npos && top_.size() < k_remembered_max) top_[directory] = reply;
  }

private:
  static constexpr std::size_t k_remembered_max = 8; // the top, its two trees, and what is asked besides
  mutable std::mutex mutex_;
  std::map<std::string, net::Url> finals_;
  std::set<std::string> json_;
  std::map<std::string, SiteReply> top_;
};

class WebSite final : public Site {
public:
  WebSite(net::Url base, const store::Surroundings& surroundings, std::string temporary)
      : base_(std::move(base)), surroundings_(surroundings), temporary_(std::move(temporary)),
        transport_(net::make_client(settings_of(surroundings))) {}

  std::string describe() const override { return base_.shown(); }
  std::string place_of(const std::string& directory) const override {
    return directory.empty() ? "/" : directory + "/";
  }

  /// As installers ask: the directory with a slash at its end.
  Result<SiteReply> page(const std::string& directory) override {
    if (auto known = answers_.remembered(directory)) return std::move(*known);
    TRY(auto reply, ask(url_of(directory), {}, directory));
    answers_.remember(directory, reply);
    return reply;
  }
  Result<std::optional<SiteReply>> page_by_name(const std::string& directory) override {
    auto url = url_of(directory);
    url.path += "index.html";
    TRY(auto reply, ask(url, {}, directory));
    return std::optional(std::move(reply));
  }
  Result<std::optional<SiteReply>> as_json(const std::string& directory) override {
    if (answers_.is_json(directory)) return std::optional<SiteReply>();
    TRY(auto reply, ask(url_of(directory), {{"accept", std::string(k_json_only)}}, directory));
    bool json = reply.there() && reply.content_type.starts_with(k_json_only);
    return json ? std::optional(std::move(reply)) : std::nullopt;
  }
  Result<std::optional<std::vector<std::string>>> directories(const std::string&) override {
    return std::optional<std::vector<std::string>>();
  }
  std::optional<std::string> target(const std::string& directory, const std::string& href) const override {
    auto url = net::redirected(answers_.final_of(directory).value_or(url_of(directory)), href);
    if (!url) return std::nullopt;
    return url->text();
  }
  Result<SiteReply> look(const std::string& target) override {
    TRY(auto place, place_in_store(target));
    if (!place.store) return SiteReply();
    auto found = place.store->head(place.key);
    if (!found && !store::is_denied(found.error())) return fail(std::move(found).error());
    return reply_of(found);
  }
  Result<std::optional<std::string>> read(const std::string& target, std::uint64_t max_bytes) override {
    TRY(auto place, place_in_store(target));
    if (!place.store) return std::optional<std::string>();
    auto text = place.store->get(place.key, max_bytes);
    if (!text && store::is_denied(text.error())) return std::optional<std::string>();
    return text;
  }
  Result<LocalFile> local(const std::string& target) override {
    TRY(auto place, place_in_store(target));
    return fetched(*place.store, place.key, temporary_);
  }
  bool served() const override { return true; }

private:
  struct Place {
    std::shared_ptr<store::ObjectStore> store; ///< null: not the address of a file
    std::string key;
  };

  net::Url url_of(const std::string& directory) const {
    auto url = base_;
    if (!directory.empty()) url.path += text::percent_encode(directory) + "/";
    return url;
  }

  Result<SiteReply> ask(const net::Url& url, net::Headers headers, const std::string& directory) {
    net::Request request;
    request.url = url;
    request.headers = std::move(headers);
    request.response_bytes_max = k_page_bytes_max;
    net::Places places;
    TRY(auto response, net::fetch(*transport_, request, {}, surroundings_.clock, &places));
    SiteReply reply;
    auto answer = fmt::format("{} answers with status {}", url.shown(), response.status);
    if (response.status == 401 || response.status == 403) {
      reply.state = State::denied, reply.refusal = answer, reply.status = response.status;
      reply.s3_code = s3_code_in(response.body);
    }
    if (reply.state == State::denied || response.status == 404 || response.status == 410) return reply;
    if (!response.ok()) return fail(ErrorKind::unavailable, "H011", answer, "look at the URL with curl or a browser");
    answers_.add(directory, places.final, net::header(response.headers, "content-type").starts_with(k_json_only));
    return SiteReply{State::there,
                     std::move(response.body),
                     0,
                     true,
                     net::header(response.headers, "content-type"),
                     net::header(response.headers, "cache-control"),
                     net::header(response.headers, "content-encoding")};
  }

  Result<Place> place_in_store(const std::string& target) {
    auto url = net::parse_url(target);
    if (!url || url->path.size() < 2) return Place();
    Place place{nullptr, text::percent_decode(url->path.substr(1))};
    if (!store::check_key(place.key)) return place;
    std::lock_guard lock(mutex_);
    auto& store = stores_[url->scheme + "://" + url->authority()];
    if (!store) {
      TRY(store, store::open_http_store(url->scheme + "://" + url->authority() + "/", surroundings_));
    }
    place.store = store;
    return place;
  }

  net::Url base_; ///< ends with '/'
  store::Surroundings surroundings_;
  std::string temporary_;
  std::shared_ptr<net::Transport> transport_;
  Answers answers_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<store::ObjectStore>> stores_; ///< by origin; guarded by mutex_
};

} // namespace

Result<std::unique_ptr<Site>> web_site(const std::string& url, const store::Surroundings& surroundings,
                                       std::string temporary) {
  TRY(auto base, net::parse_url(url));
  base.query.clear();
  if (base.path.ends_with("/index.html")) base.path.resize(base.path.size() - 10);
  if (!base.path.ends_with("/")) base.path += '/';
  return std::unique_ptr<Site>(std::make_unique<WebSite>(base, surroundings, std::move(temporary)));
}

} // namespace quarry::index
