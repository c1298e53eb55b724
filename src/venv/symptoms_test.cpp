#include "venv/symptoms.hpp"

#include "base/text.hpp"
#include "venv/dependencies.hpp"
#include <gtest/gtest.h>

namespace quarry::venv {
namespace {

TEST(Symptoms, BuildToolsThatAreMissing) {
  for (const auto* output :
       {"  error: invalid command 'bdist_wheel'\n", "ModuleNotFoundError: No module named 'setuptools'\n",
        "pip._vendor.pyproject_hooks._impl.BackendUnavailable: Cannot import 'setuptools.build_meta'\n",
        "ERROR: No matching distribution found for setuptools>=40.8.0\n",
        "Because setuptools was not found in the provided package locations\n"})
    EXPECT_TRUE(lacks_build_tools(output)) << output;
  for (const auto* output :
       {"ERROR: No matching distribution found for rocm\n", "Successfully installed setuptools-80\n", ""})
    EXPECT_FALSE(lacks_build_tools(output)) << output;
}

TEST(Symptoms, WhenTheMachineWasTheReason) {
  struct Case {
    const char* output;
    ErrorKind kind;
    const char* reason;
  };
  for (const auto& [output, kind, reason] :
       {Case{"ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device: '/x'\n\n",
             ErrorKind::resource_exhausted, "no space left on device"},
        {"error: failed to write to file `/x`: No space left on device (os error 28)\n", ErrorKind::resource_exhausted,
         "no space left on device"},
        {"OSError: [Errno 122] Disk quota exceeded\n", ErrorKind::resource_exhausted, "disk quota exceeded"},
        {"Error: [Errno 30] Read-only file system: '/x/env'\n", ErrorKind::permission_denied, "read-only file system"},
        {"Error: [Errno 13] Permission denied: '/x/env'\n", ErrorKind::permission_denied, "permission denied"}}) {
    auto trouble = machine_trouble(output);
    ASSERT_TRUE(trouble) << output;
    EXPECT_EQ(trouble->kind, kind);
    auto error = machine_trouble_error(*trouble, "pip could not install rocm into /x");
    EXPECT_EQ(error.message, std::string("pip could not install rocm into /x: ") + reason);
    EXPECT_EQ(traits(error.kind).exit_code, 12);
    EXPECT_EQ(error.details.front(), std::string(text::trim(output)));
  }
  EXPECT_FALSE(machine_trouble("ERROR: Permission denied by the server\n"));
  EXPECT_FALSE(machine_trouble(""));
}

TEST(Dependencies, TagsOfTheEnvironment) {
  struct Case {
    const char* file;
    bool fits;
  };
  for (const auto& [file, fits] : {Case{"a-1-py3-none-any.whl", true},
                                   {"a-1-py2.py3-none-any.whl", true},
                                   {"a-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", true},
                                   {"a-1-cp310-cp310-manylinux2014_x86_64.whl", false},
                                   {"a-1-cp312-cp312-manylinux2014_x86_64.whl", false},
                                   {"a-1-cp38-abi3-manylinux2014_x86_64.whl", true},
                                   {"a-1-cp312-abi3-manylinux2014_x86_64.whl", false},
                                   {"a-1-py38-none-any.whl", true},
                                   {"a-1-cp311-cp311-win_amd64.whl", false},
                                   {"a-1-py3-none-macosx_11_0_arm64.whl", false},
                                   {"a-1-py3-none-linux_x86_64.whl", true},
                                   {"a-1-py2-none-any.whl", false},
                                   {"a-1.tar.gz", true}})
    EXPECT_EQ(fits_environment(file, "3.11"), fits) << file;
}

} // namespace
} // namespace quarry::venv
