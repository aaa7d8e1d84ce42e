#include "collect/server/operator_token.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace telltale::collect {
namespace {

const std::string kToken = "0123456789abcdef0011223344556677";
// The same but for the last digit.
const std::string kNearly = "0123456789abcdef0011223344556678";

OperatorToken token() { return *OperatorToken::parse(kToken); }

HttpRequest with(std::string name, std::string value) {
  HttpRequest request;
  request.method = "GET";
  request.target = "/";
  request.fields.emplace_back(std::move(name), std::move(value));
  return request;
}
HttpRequest linked(std::string target) {
  HttpRequest request;
  request.target = std::move(target);
  return request;
}

std::string set_cookie(bool tls) {
  const HttpResponse response = token().redirect(tls);
  for (const auto& [name, value] : response.fields)
    if (name == "Set-Cookie") return value;
  return {};
}
// "telltale-1a2b3c4d=TOKEN"
std::string cookie() { return set_cookie(false).substr(0, set_cookie(false).find(';')); }
std::string cookie_name() { return cookie().substr(0, cookie().find('=')); }

TEST(OperatorToken, IsThirtyTwoDigits) {
  EXPECT_TRUE(OperatorToken::parse(kToken));
  EXPECT_TRUE(OperatorToken::parse(kToken + "\n"));
  for (const std::string& text :
       {std::string(), std::string("\n"), kToken.substr(1), kToken + "0", kToken + "\n\n",
        kToken + "\r\n", " " + kToken, std::string(31, '0') + "A", std::string(31, '0') + "g",
        std::string(31, '0') + "\0"})
    EXPECT_FALSE(OperatorToken::parse(text)) << text;
}

TEST(OperatorToken, IsTakenFromAuthorization) {
  EXPECT_TRUE(token().is_in(with("Authorization", "Bearer " + kToken)));
  EXPECT_TRUE(token().is_in(with("authorization", "bearer " + kToken)));
  // me:TOKEN and :TOKEN
  EXPECT_TRUE(token().is_in(
      with("Authorization", "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZjAwMTEyMjMzNDQ1NTY2Nzc=")));
  EXPECT_TRUE(
      token().is_in(with("Authorization", "Basic OjAxMjM0NTY3ODlhYmNkZWYwMDExMjIzMzQ0NTU2Njc3")));
  for (const std::string& text :
       {std::string(), std::string("Bearer"), std::string("Bearer "), kToken, "Bearer" + kToken,
        "Bearer  " + kToken, "Bearer " + kToken + " ", "Bearer " + kNearly,
        "Bearer " + kToken.substr(1), "Token " + kToken, "Basic " + kToken,
        // TOKEN without a colon
        std::string("Basic MDEyMzQ1Njc4OWFiY2RlZjAwMTEyMjMzNDQ1NTY2Nzc=")})
    EXPECT_FALSE(token().is_in(with("Authorization", text))) << text;
}

TEST(OperatorToken, IsTakenFromItsCookie) {
  const std::string name = cookie_name();
  for (const std::string& text :
       {cookie(), "a=b; " + cookie(), cookie() + "; a=b", "a=b;" + cookie() + ";c",
        "a=b;   " + cookie(), "; ;" + cookie(), "=;" + cookie(), "a;" + cookie(),
        name + "x=1; " + cookie(), "x" + name + "=1; " + cookie()})
    EXPECT_TRUE(token().is_in(with("Cookie", text))) << text;
  for (const std::string& text :
       {std::string(), std::string(";"), std::string("="), name, name + "=", name + "=" + kNearly,
        name + "==" + kToken, name + "=" + kToken + "0", name + "=" + kToken + " ",
        name + "=\"" + kToken + "\"", name + " =" + kToken, "x" + cookie(), "other=" + kToken,
        "other=" + cookie(), kToken, "a=b " + cookie(), "a=b, " + cookie(), "\t" + cookie(),
        // The first cookie of the name counts.
        name + "=" + kNearly + "; " + cookie()})
    EXPECT_FALSE(token().is_in(with("Cookie", text))) << text;
  EXPECT_FALSE(token().is_in(with("Set-Cookie", cookie())));
}

TEST(OperatorToken, TheCookieOfAnotherServerIsAnother) {
  const OperatorToken other = *OperatorToken::parse(kNearly);
  EXPECT_NE(other.redirect(false).fields, token().redirect(false).fields);
  EXPECT_FALSE(other.is_in(with("Cookie", cookie())));
  EXPECT_FALSE(other.is_in(with("Cookie", cookie_name() + "=" + kNearly)))
      << "another server's name of the cookie";
}

TEST(OperatorToken, TheLinkHasNothingElse) {
  EXPECT_EQ(token().link(), "/?token=" + kToken);
  EXPECT_TRUE(token().is_linked_by(linked("/?token=" + kToken)));
  for (const std::string& target :
       {std::string(), std::string("/"), std::string("/?token="), "/?token=" + kNearly,
        "/?token=" + kToken + "&x=1", "/?x=1&token=" + kToken, "//?token=" + kToken,
        "/metrics?token=" + kToken, "/?TOKEN=" + kToken})
    EXPECT_FALSE(token().is_linked_by(linked(target))) << target;
}

TEST(OperatorToken, TheCookieIsForThisSiteAlone) {
  const HttpResponse response = token().redirect(false);
  EXPECT_EQ(response.status, 303);
  EXPECT_EQ(response.body.find(kToken), std::string::npos);
  EXPECT_TRUE(
      std::ranges::count(response.fields, std::pair<std::string, std::string>("Location", "/")));
  EXPECT_EQ(set_cookie(false),
            cookie_name() + "=" + kToken + "; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_EQ(cookie_name().size(), std::string("telltale-12345678").size());
}

TEST(OperatorToken, TheCookieNeverLeavesTls) {
  EXPECT_EQ(set_cookie(true), set_cookie(false) + "; Secure");
}

}  // namespace
}  // namespace telltale::collect
