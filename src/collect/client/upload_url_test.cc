#include "collect/client/upload_url.h"

#include <gtest/gtest.h>

namespace telltale::collect {
namespace {

TEST(UploadUrl, HasHostPortAndPath) {
  const auto url = parse_upload_url("https://reports.example:8443/base/");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "reports.example");
  EXPECT_EQ(url->port, "8443");
  EXPECT_EQ(url->path, "/base");
  EXPECT_EQ(url->authority(), "reports.example:8443");
  EXPECT_FALSE(url->is_loopback());
}

TEST(UploadUrl, TheUsualPortIsNotNamed) {
  EXPECT_EQ(parse_upload_url("https://a")->authority(), "a");
  EXPECT_EQ(parse_upload_url("http://a:80")->authority(), "a");
  EXPECT_EQ(parse_upload_url("http://a:443")->authority(), "a:443");
}

TEST(UploadUrl, AnAddressOfVersionSixIsInBrackets) {
  const auto url = parse_upload_url("http://[::1]:8080");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->authority(), "[::1]:8080");
  EXPECT_TRUE(url->is_loopback());
}

TEST(UploadUrl, OthersAreRefused) {
  for (const char* text : {"", "reports.example", "ftp://a", "http://", "http://a:0",
                           "http://a:70000", "http://a:80x", "http://[::1", "http://[::1]8080",
                           "http://u@a", "http://a/?q", "http://a b", "http://a/\r\nX: y"})
    EXPECT_FALSE(parse_upload_url(text)) << text;
}

}  // namespace
}  // namespace telltale::collect
