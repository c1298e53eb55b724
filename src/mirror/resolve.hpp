#pragma once
// Which version of which project a target needs: the newest that everything that asks for it allows, with what it
// requires in turn. No choice is taken back: where an older version of the asker would have helped, the conflict is
// told with the names of all who ask, and one line in the requirements decides it. The same pages give the same answer.
#include "base/finding.hpp"
#include "base/result.hpp"
#include "dist/metadata.hpp"
#include "index/read_page.hpp"
#include "mirror/requirements.hpp"
#include "mirror/target.hpp"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace quarry::mirror {

/// What there is to choose from: an index, or a table in tests. Asked for the same thing several times.
class Candidates {
public:
  virtual ~Candidates() = default;
  virtual Result<const index::IndexPage*> page(const std::string& project) = 0;
  virtual Result<dist::Metadata> metadata(const index::PageFile& file) = 0;
};

/// An error for a project that may not come from this index (U005); called once for every name that is needed.
/// `by`: who asks.
using Guard = std::function<Result<void>(const std::string& project, const std::string& by)>;

struct Choice {
  std::string version;                ///< in normal form
  std::vector<index::PageFile> files; ///< the wheels of this version that fit the target best
  bool operator==(const Choice&) const = default;
};

struct Resolution {
  std::map<std::string, Choice> choices; ///< by project
  Findings notes; ///< U011: an extra that the project does not have; U013: a file that is left out
};

/// A file whose METADATA an installer could not read (dist::check_resolver_fields, whatever its metadata version) is
/// left out, and an older version is chosen where no other file of the version fits. A source distribution is never
/// chosen: what it needs is known only once it is built. failed U004: nothing fits; failed U009: the choices do not
/// settle.
Result<Resolution> resolve(Candidates& candidates, const std::vector<Asked>& asked, const Target& target,
                           const Guard& guard);

} // namespace quarry::mirror
