// The address of a server, as the user gives it. A value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::loadgen {

struct Url {
  std::string scheme;  ///< "http" or "grpc"
  std::string host;    ///< Without brackets.
  std::uint16_t port = 0;
  std::string path;  ///< With the query; empty when there is none.

  /// "host:port", in brackets where the host is an IPv6 address: the Host field.
  std::string authority() const;
};

/// kInvalidArgument names `flag`. A port is needed for grpc; http's is 80.
Result<Url> parse_url(std::string_view text, const std::string& flag);

/// An address to connect to, as connect() takes it.
struct SocketAddress {
  alignas(8) unsigned char bytes[128] = {};
  std::uint32_t length = 0;
};

/// The first address of the host. kInvalidArgument when there is none.
Result<SocketAddress> resolve(const Url& url);

}  // namespace weir::loadgen
