#include "registry/verdicts.hpp"

#include "registry/fields.hpp"
#include "registry/record_parts.hpp"
#include "registry/record_text.hpp"
#include <nlohmann/json.hpp>

namespace quarry::registry {

template <class V, Either<VerdictCell> R> void fields(V& v, R& r) {
  v.nested("cell", r.cell);
  v.digest("set", r.set, Need::optional);
  v.text("verdict", r.verdict);
  v.flag("waived", r.waived);
  v.digests("waivers", r.waivers);
  v.texts("files", r.files);
  v.digests("evidence", r.evidence);
}

template <class V, Either<VerdictDocument> R> void fields(V& v, R& r) {
  v.text("verdict", r.verdict, Need::optional);
  v.text("policy", r.policy, Need::optional);
  v.list("cells", r.cells, Need::optional);
  v.texts("read", r.read);
  v.text("channel", r.channel, Need::optional);
  v.digest("after", r.after, Need::optional);
}

namespace {
constexpr const char* k_verdict_schema = "quarry.verdict/1";
} // namespace

Result<VerdictRecord> parse_verdict_record(NamedText named) {
  TRY(auto object, json::parse({named.text, named.name}));
  TRY_DO(json::require_schema({object, named.name}, k_verdict_schema));
  return VerdictRecord{std::string(named.text)};
}

std::string to_json(const VerdictDocument& verdict) { return write_document(k_verdict_schema, verdict); }

Result<VerdictDocument> read_verdict(const VerdictRecord& record) {
  return read_document<VerdictDocument>(record.json, Place{"a verdict"}, k_verdict_schema);
}

} // namespace quarry::registry
