// Part of the statically linked program only. It replaces those functions of libc that would load
// shared libraries of the machine, which may be absent or of another libc: name services behind
// getaddrinfo(), and dlopen(), by which libdw looks for its debuginfod client (without one it
// fetches nothing).
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// One block holds both, so that one free() releases them.
struct Answer {
  addrinfo info;
  sockaddr_storage address;
};

// The address of a number such as 127.0.0.1 or ::1, or of "localhost".
bool parse_address(const char* node, const addrinfo& hints, sockaddr_storage& address) {
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
  const bool passive = (hints.ai_flags & AI_PASSIVE) != 0;
  if (node == nullptr) node = passive ? "0.0.0.0" : "127.0.0.1";
  if (std::strcmp(node, "localhost") == 0) node = hints.ai_family == AF_INET6 ? "::1" : "127.0.0.1";
  if (hints.ai_family != AF_INET6 && inet_pton(AF_INET, node, &v4.sin_addr) == 1) {
    address.ss_family = AF_INET;
    return true;
  }
  if (hints.ai_family != AF_INET && inet_pton(AF_INET6, node, &v6.sin6_addr) == 1) {
    address.ss_family = AF_INET6;
    return true;
  }
  return false;
}

// A port as a number; false for the name of a service.
bool parse_port(const char* service, in_port_t& port) {
  port = 0;
  if (service == nullptr) return true;
  char* end = nullptr;
  const unsigned long number = std::strtoul(service, &end, 10);
  if (end == service || *end != '\0' || number > 0xFFFF) return false;
  port = htons(static_cast<in_port_t>(number));
  return true;
}

}  // namespace

extern "C" {

void* dlopen(const char*, int) noexcept { return nullptr; }

int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** found) {
  const addrinfo wanted = hints == nullptr ? addrinfo{} : *hints;
  auto* answer = static_cast<Answer*>(std::calloc(1, sizeof(Answer)));
  if (answer == nullptr) return EAI_MEMORY;
  in_port_t port = 0;
  if (!parse_address(node, wanted, answer->address) || !parse_port(service, port)) {
    std::free(answer);
    return EAI_NONAME;
  }
  // The port is at the same place in both kinds of address.
  reinterpret_cast<sockaddr_in&>(answer->address).sin_port = port;
  answer->info.ai_family = answer->address.ss_family;
  answer->info.ai_socktype = wanted.ai_socktype;
  answer->info.ai_protocol = wanted.ai_protocol;
  answer->info.ai_addrlen =
      answer->address.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  answer->info.ai_addr = reinterpret_cast<sockaddr*>(&answer->address);
  *found = &answer->info;
  return 0;
}

void freeaddrinfo(addrinfo* found) noexcept { std::free(found); }

}  // extern "C"
