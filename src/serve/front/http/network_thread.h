// A thread that runs the connections given to it. Internal to this folder.
#pragma once

#include <memory>
#include <thread>
#include <unordered_set>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "serve/front/http/refusal_pace.h"

namespace weir::serve::front::http {

class Connection;

struct NetworkThread {
  boost::asio::io_context io{1};  // One thread runs it.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work = make_work_guard(io);
  std::thread thread;
  std::unordered_set<Connection*> connections;  ///< Used on `thread` alone.
  RefusalPace refusal_pace;                     ///< Likewise.
};

}  // namespace weir::serve::front::http
