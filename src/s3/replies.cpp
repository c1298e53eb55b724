#include "s3/replies.hpp"

#include "base/text.hpp"
#include "base/xml.hpp"
#include "sys/clock.hpp"
#include <array>
#include <fmt/core.h>

namespace quarry::s3 {

namespace {

constexpr std::string_view k_hint =
    "a proxy or captive portal answered, or it is not an S3 server: look at the endpoint";

Unexpected odd(std::string_view what, std::string_view why) {
  return fail(ErrorKind::corrupt, "K020", fmt::format("the answer to {} is not what S3 says: {}", what, why),
              std::string(k_hint));
}

/// Puts leaves where their path says; an element directly below the root that has children is a record.
class Collector {
public:
  void start(const std::string& name) {
    path_.push_back(name);
    text_.clear();
    has_children_ = false;
    if (path_.size() == 3) record(); // the element above has children: it becomes a record
  }
  void text(const std::string& piece) { text_ += piece; }
  void end() {
    if (!has_children_ && path_.size() == 2) reply_.top.values.try_emplace(path_[1], text_);
    if (!has_children_ && path_.size() > 2) record().values[leaf_name()] = text_;
    if (path_.size() == 2) open_ = nullptr;
    path_.pop_back();
    text_.clear();
    has_children_ = true;
  }
  Reply take(std::string root) {
    reply_.root = std::move(root);
    return std::move(reply_);
  }
  const std::vector<std::string>& path() const { return path_; }

private:
  Record& record() {
    if (!open_) open_ = &reply_.groups[path_[1]].emplace_back();
    return *open_;
  }
  std::string leaf_name() const {
    std::string name = path_[2];
    for (std::size_t i = 3; i < path_.size(); ++i) name += "/" + path_[i];
    return name;
  }
  Reply reply_;
  Record* open_ = nullptr;
  std::vector<std::string> path_;
  std::string text_;
  bool has_children_ = false;
};

std::string local_name(const std::string& name) { return name.substr(name.rfind(':') + 1); }

Result<std::uint64_t> number(const Record& record, const std::string& key, std::string_view what) {
  auto value = text::parse_u64(record.value(key));
  if (!value) return odd(what, fmt::format("{} is not a number", key));
  return *value;
}

Result<Reply> parse_root(std::string_view body, std::string_view what, std::string_view root) {
  TRY(auto reply, parse_reply({body, what}));
  if (reply.root != root) return odd(what, fmt::format("it is a <{}>, not a <{}>", reply.root.substr(0, 40), root));
  return reply;
}

bool is_truncated(const Reply& reply) { return reply.top.value("IsTruncated") == "true"; }

std::int64_t http_date(std::string_view text) { // "Fri, 24 May 2013 00:00:00 GMT"
  static constexpr std::array<std::string_view, 12> k_months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || text.substr(25) != " GMT") return 0;
  for (std::size_t month = 0; month < k_months.size(); ++month)
    if (text.substr(8, 3) == k_months[month]) {
      auto iso = fmt::format("{}-{:02}-{}T{}Z", text.substr(12, 4), month + 1, text.substr(5, 2), text.substr(17, 8));
      return sys::parse_rfc3339(iso).value_or(0);
    }
  return 0;
}

} // namespace

const std::vector<Record>& Reply::group(const std::string& name) const {
  static const std::vector<Record> k_none;
  auto found = groups.find(name);
  return found == groups.end() ? k_none : found->second;
}

Result<Reply> parse_reply(NamedText named) {
  auto [body, what] = named;
  // White space that keeps a connection alive may come before the document.
  while (!body.empty() && (body.front() == ' ' || body.front() == '\n' || body.front() == '\r')) body.remove_prefix(1);
  TRY(auto xml, XmlReader::open(body, {std::string(what), "K020", "an answer of S3", std::string(k_hint)}));
  Collector collector;
  std::string root;
  while (true) {
    TRY(auto token, xml.next());
    if (token.kind == XmlToken::Kind::finished) break;
    if (token.kind == XmlToken::Kind::start) {
      if (root.empty()) root = local_name(token.name);
      collector.start(local_name(token.name));
    }
    if (token.kind == XmlToken::Kind::text) collector.text(token.text);
    if (token.kind == XmlToken::Kind::end) collector.end();
  }
  return collector.take(root);
}

Result<std::string> etag_of(NamedText body, std::string_view root) {
  TRY(auto reply, parse_reply(body));
  if (reply.root == root) return reply.top.value("ETag");
  return fail(ErrorKind::corrupt, "K020", fmt::format("the answer to {} is a {}", body.name, reply.root),
              "a proxy may have answered instead of the store: run the command again");
}

Result<std::string> parse_upload_id(NamedText body) {
  TRY(auto reply, parse_reply(body));
  auto id = reply.top.value("UploadId");
  if (reply.root == "InitiateMultipartUploadResult" && !id.empty()) return id;
  return fail(ErrorKind::corrupt, "K020",
              fmt::format("the answer to {} is a {} and names no upload", body.name, reply.root),
              "a proxy may have answered instead of the store: run the command again");
}

Result<ListPage> parse_list(std::string_view body) {
  constexpr std::string_view k_what = "a listing";
  TRY(auto reply, parse_root(body, k_what, "ListBucketResult"));
  bool encoded = reply.top.value("EncodingType") == "url";
  auto decoded = [&](const std::string& key) {
    return BucketKey(encoded ? text::percent_decode(text::replace_all(key, "+", "%20")) : key);
  };
  ListPage page;
  for (const auto& record : reply.group("Contents")) {
    TRY(auto size, number(record, "Size", k_what));
    page.objects.push_back(
        {decoded(record.value("Key")), unquoted(record.value("ETag")), size, time_of(record.value("LastModified"))});
  }
  for (const auto& record : reply.group("CommonPrefixes")) page.prefixes.push_back(decoded(record.value("Prefix")));
  if (is_truncated(reply)) page.next = reply.top.value("NextContinuationToken");
  if (is_truncated(reply) && page.next.empty()) return odd(k_what, "it is cut, and does not say where it goes on");
  return page;
}

Result<PartPage> parse_parts(std::string_view body) {
  constexpr std::string_view k_what = "a list of parts";
  TRY(auto reply, parse_root(body, k_what, "ListPartsResult"));
  PartPage page;
  for (const auto& record : reply.group("Part")) {
    TRY(auto part, number(record, "PartNumber", k_what));
    TRY(auto size, number(record, "Size", k_what));
    page.parts.push_back({static_cast<unsigned>(part), size, unquoted(record.value("ETag"))});
  }
  if (is_truncated(reply)) page.next_marker = reply.top.value("NextPartNumberMarker");
  return page;
}

Result<UploadPage> parse_uploads(std::string_view body) {
  constexpr std::string_view k_what = "a list of uploads";
  TRY(auto reply, parse_root(body, k_what, "ListMultipartUploadsResult"));
  UploadPage page;
  for (const auto& record : reply.group("Upload")) {
    auto id = record.value("UploadId");
    // Whoever ends the upload sends DELETE with the id. With an empty one that would remove the object itself.
    if (id.empty()) return odd(k_what, "an upload has no id");
    page.uploads.push_back({BucketKey(record.value("Key")), std::move(id), time_of(record.value("Initiated"))});
  }
  if (is_truncated(reply)) {
    page.next_key = reply.top.value("NextKeyMarker");
    page.next_id = reply.top.value("NextUploadIdMarker");
    if (page.next_key.empty()) return odd(k_what, "it is cut, and does not say where it goes on");
  }
  return page;
}

std::string unquoted(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

std::int64_t time_of(std::string_view text) {
  auto iso = sys::parse_rfc3339(text);
  return iso ? *iso : http_date(text);
}

std::string xml_escape(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

} // namespace quarry::s3
