-- What wrk sends in scripts/check_bench.py: the request of `weir bench`.
wrk.method = "POST"
wrk.body = '{"model":"tiny","input":"a text of some words that a client may send"}'
wrk.headers["Content-Type"] = "application/json"
