#include "artifact/upload.hpp"
#include "artifact/upload_record.hpp"

#include "artifact/testing.hpp"
#include <gmock/gmock.h>

namespace quarry::artifact {
namespace {

TEST(UploadRecord, IsReadAsItWasWritten) {
  UploadRecord record{"gfx94X-dcgpu", true, false, {{"a_lib_generic.tar.zst", sha256("a")}, {"b", sha256("b")}}};
  EXPECT_EQ(*parse_upload_record(upload_record_text(record), "upload.json"), record);
  EXPECT_EQ(upload_record_text(record), upload_record_text(*parse_upload_record(upload_record_text(record), "")));
}

TEST(UploadRecord, WhatIsNoneIsRefused) {
  EXPECT_EQ(parse_upload_record("{", "x").error().code, "B002");
  EXPECT_EQ(parse_upload_record(R"({"schema": "quarry.run-upload/2"})", "x").error().code, "B004");
  EXPECT_EQ(parse_upload_record(R"({"schema": "quarry.run-upload/1", "archives": [{"file": "a", "sha256": "0"}]})", "x")
                .error()
                .code,
            "A041");
  auto bare = parse_upload_record(R"({"schema": "quarry.run-upload/1"})", "x");
  ASSERT_TRUE(bare);
  EXPECT_FALSE(bare->complete) << "what is not said is not believed";
}

TEST(Upload, TypesByName) {
  for (auto [name, type] : {std::pair{"x.log", "text/plain; charset=utf-8"},
                            {"a.tar.zst", "application/zstd"},
                            {"a.tar.zst.sha256sum", "text/plain; charset=utf-8"},
                            {"ninja_logs.tar.gz", "application/gzip"},
                            {"m.json", "application/json"},
                            {"index.html", "text/html; charset=utf-8"},
                            {"core", "application/octet-stream"}})
    EXPECT_EQ(content_type_of(name), type) << name;
}

} // namespace
} // namespace quarry::artifact
