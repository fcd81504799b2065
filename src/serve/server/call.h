// One inference request from its body to its answer: parse, submit to the pipeline, render. Large bodies are parsed and
// large answers written by the workers, so that a network thread is never held up.
//
// Kept alive by whoever has the next step: the exchange (until answered), the pipeline (through Request::done), a
// worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "serve/front/http/dialects.h"
#include "serve/front/http/exchange.h"
#include "serve/request/request.h"
#include "serve/server/routes.h"
#include "serve/server/service.h"

namespace weir::serve::server {

class Call : public std::enable_shared_from_this<Call> {
 public:
  /// On the exchange's network thread, inside Handler::on_request.
  static void start(Service& service, const std::shared_ptr<front::http::Exchange>& exchange, const Route& route);

  Call(Service& service, std::shared_ptr<front::http::Exchange> exchange, const Route& route);

 private:
  void parse_and_submit();
  Status prepare();
  void submit();
  void abandon();
  void on_done();
  void answer();
  void respond_error(const Error& error);
  front::http::Response render() const;
  void add_tei_fields(front::http::Response& response) const;
  Outcome outcome() const;

  Service& service_;
  const std::shared_ptr<front::http::Exchange> exchange_;
  const Route& route_;
  const RequestPtr request_;
  ModelViewPtr view_;
  front::http::ParsedBody form_;  ///< Its inputs and options are in the request.
  std::atomic<bool> abandoned_{false};
  std::atomic<bool> submitted_{false};
};

}  // namespace weir::serve::server
