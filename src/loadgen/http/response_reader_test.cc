#include "loadgen/http/response_reader.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace weir::loadgen {
namespace {

/// Feeds `bytes` in parts of `part` bytes; the last verdict.
Reading feed(ResponseReader& reader, std::string_view bytes, std::size_t part) {
  Reading reading = Reading::kMore;
  while (!bytes.empty() && reading == Reading::kMore) {
    const std::span<char> room = reader.room();
    const std::size_t size = std::min({part, bytes.size(), room.size()});
    std::memcpy(room.data(), bytes.data(), size);
    reading = reader.received(size);
    bytes.remove_prefix(size);
  }
  return reading;
}

/// The verdict must not depend on how the bytes were cut.
Reading feed_all_ways(ResponseReader& reader, std::string_view bytes) {
  const Reading whole = feed(reader, bytes, bytes.size());
  for (const std::size_t part : {1u, 2u, 3u, 7u}) {
    reader.reset();
    EXPECT_EQ(feed(reader, bytes, part), whole) << part;
  }
  return whole;
}

TEST(ResponseReader, ContentLength) {
  ResponseReader reader;
  EXPECT_EQ(feed_all_ways(reader, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello"), Reading::kComplete);
  EXPECT_EQ(reader.status(), 200);
  EXPECT_EQ(reader.body(), "hello");
  EXPECT_TRUE(reader.keep_alive());
}

TEST(ResponseReader, ChunksWithExtensionsAndTrailers) {
  ResponseReader reader;
  EXPECT_EQ(feed_all_ways(reader,
                          "HTTP/1.1 200 OK\r\ntransfer-encoding:  Chunked \r\n\r\n"
                          "5;a=b\r\nhello\r\n1 \r\n \r\n5\r\nworld\r\n0\r\nTrailer: x\r\n\r\n"),
            Reading::kComplete);
  EXPECT_EQ(reader.body(), "hello world");
  EXPECT_TRUE(reader.keep_alive());
}

TEST(ResponseReader, UntilClosed) {
  ResponseReader reader;
  EXPECT_EQ(feed_all_ways(reader, "HTTP/1.1 200 OK\r\n\r\nhello"), Reading::kMore);
  EXPECT_EQ(reader.closed(), Reading::kComplete);
  EXPECT_EQ(reader.body(), "hello");
  EXPECT_FALSE(reader.keep_alive());
}

TEST(ResponseReader, ClosedTooEarlyIsNotComplete) {
  for (const char* bytes : {"", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}) {
    ResponseReader reader;
    EXPECT_EQ(feed_all_ways(reader, bytes), Reading::kMore);
    EXPECT_EQ(reader.closed(), Reading::kMore);
  }
}

TEST(ResponseReader, InterimResponsesArePassed) {
  ResponseReader reader;
  EXPECT_EQ(feed_all_ways(reader, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"), Reading::kComplete);
  EXPECT_EQ(reader.status(), 204);
  EXPECT_EQ(reader.body(), "");
}

TEST(ResponseReader, ConnectionFieldAndVersionDecideOnKeepAlive) {
  const auto keeps = [](const std::string& head) {
    ResponseReader reader;
    EXPECT_EQ(feed_all_ways(reader, head + "Content-Length: 0\r\n\r\n"), Reading::kComplete);
    return reader.keep_alive();
  };
  EXPECT_TRUE(keeps("HTTP/1.1 429\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1 429 Too Many\r\nConnection: Close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0 200 OK\r\n"));
  EXPECT_TRUE(keeps("HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\n"));
}

TEST(ResponseReader, WhatIsNotHttpIsBroken) {
  for (const char* bytes : {"\x01", "hello", "HTTP/2 200\r\n\r\n", "HTTP/1.7 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
                            "HTTP/1.1 999 OK\r\n\r\n", "HTTP/1.1 2000\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                            "HTTP/1.1 200 OK\r\n: empty\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n"}) {
    ResponseReader reader;
    EXPECT_EQ(feed_all_ways(reader, bytes), Reading::kBroken) << bytes;
  }
}

TEST(ResponseReader, BytesAfterTheAnswerAreBroken) {
  ResponseReader reader;
  EXPECT_EQ(feed(reader, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", 100), Reading::kBroken);
  reader.reset();
  EXPECT_EQ(feed(reader, "HTTP/1.1 204 No Content\r\n\r\nbody", 100), Reading::kBroken);
}

TEST(ResponseReader, LimitsHold) {
  ResponseReader reader(100);
  EXPECT_EQ(feed(reader, "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", 100), Reading::kTooLarge);
  reader.reset();
  EXPECT_EQ(feed(reader, "HTTP/1.1 200 OK\r\n\r\n" + std::string(101, 'x'), 1000), Reading::kTooLarge);
  reader.reset();
  EXPECT_EQ(feed(reader, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff0\r\nx", 1000),
            Reading::kTooLarge);
  reader.reset();
  EXPECT_EQ(feed(reader, "HTTP/1.1 200 OK\r\nX: " + std::string(ResponseReader::kMostHeadBytes, 'x'), 4096),
            Reading::kTooLarge);
  reader.reset();
  std::string many = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 51; ++i) many += "2\r\nab\r\n";
  EXPECT_EQ(feed(reader, many, 1000), Reading::kTooLarge);
}

TEST(ResponseReader, IsReadyForTheNextAfterReset) {
  ResponseReader reader;
  EXPECT_EQ(feed(reader, "HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", 100),
            Reading::kComplete);
  reader.reset();
  EXPECT_FALSE(reader.began());
  EXPECT_EQ(feed(reader, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 100), Reading::kComplete);
  EXPECT_EQ(reader.status(), 200);
  EXPECT_EQ(reader.body(), "");
  EXPECT_TRUE(reader.keep_alive());
}

}  // namespace
}  // namespace weir::loadgen
