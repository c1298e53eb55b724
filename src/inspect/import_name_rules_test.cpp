#include "inspect/import_name_rules.hpp"

#include "dist/metadata.hpp"
#include <gmock/gmock.h>

namespace quarry::inspect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The messages about a wheel with foo/__init__.py, foo/bar/x.py and baz.cpython-312-x86_64-linux-gnu.so.
std::vector<std::string> said_of(const std::string& fields) {
  WheelContents wheel;
  wheel.file = "foo-1-py3-none-any.whl";
  wheel.report.name = dist::WheelName::parse(wheel.file).value();
  wheel.report.metadata =
      dist::Metadata::parse("Metadata-Version: 2.5\nName: foo\nVersion: 1\n" + fields + "\n").value();
  wheel.installed = {"foo/__init__.py", "foo/bar/x.py", "baz.cpython-312-x86_64-linux-gnu.so"};
  std::vector<std::string> messages;
  for (const auto& finding : check_import_names(wheel)) messages.push_back(finding.code + " " + finding.message);
  return messages;
}

TEST(ImportNames, ModulesPackagesAndNamespaces) {
  EXPECT_THAT(said_of(""), IsEmpty());
  EXPECT_THAT(said_of("Import-Name: foo\nImport-Name: baz; private\nImport-Name: foo.bar.x\n"
                      "Import-Namespace: foo.bar\n"),
              IsEmpty());
  EXPECT_THAT(said_of("Import-Name: \n"), IsEmpty()) << "nothing can be imported";
}

TEST(ImportNames, NamesThatTheWheelDoesNotHave) {
  EXPECT_THAT(said_of("Import-Name: fooo\nImport-Namespace: foo.x\n"),
              ElementsAre("Q259 Import-Name says fooo, and no file of the wheel can be imported so",
                          "Q259 Import-Namespace says foo.x, and no file of the wheel can be imported so"));
}

TEST(ImportNames, ValuesThatAreNone) {
  for (const std::string value : {"foo-bar", "foo..bar", "foo; public", "import", "foo.class", "1foo", "; private"})
    EXPECT_THAT(said_of("Import-Name: " + value + "\n"), ElementsAre(HasSubstr("is not the name of a module")))
        << value;
  EXPECT_THAT(said_of("Import-Name: foo\nImport-Namespace: foo; private\n"),
              ElementsAre("Q213 foo is in Import-Name and in Import-Namespace"));
}

} // namespace
} // namespace quarry::inspect
