"""A minimal server around an int8 model in ONNX Runtime or OpenVINO: as little between the network and the engine as
Python allows, so that the figures are the engine's. Every text is computed alone, which costs no padding; WORKERS threads
compute side by side, each with THREADS threads of the engine's. `--direct` computes texts in this process instead, without a
server, and prints texts per second.

usage: int8_server.py ENGINE MODEL TOKENIZER PORT [--workers N] [--threads N] [--direct TEXTS SECONDS]
"""

import argparse
import asyncio
import concurrent.futures
import itertools
import json
import threading
import time

import numpy
import orjson
import tokenizers


class OnnxRuntime:
    def __init__(self, path, threads, _workers):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.names = {each.name for each in self.session.get_inputs()}

    def compute(self, feeds):
        return self.session.run(None, {name: value for name, value in feeds.items() if name in self.names})[0]


class OpenVino:
    def __init__(self, path, threads, workers):
        import openvino

        core = openvino.Core()
        settings = {"PERFORMANCE_HINT": "THROUGHPUT", "NUM_STREAMS": workers, "INFERENCE_NUM_THREADS": threads * workers}
        self.model = core.compile_model(path, "CPU", settings)
        self.names = {name for each in self.model.inputs for name in each.names}
        self.local = threading.local()

    def compute(self, feeds):
        if not hasattr(self.local, "request"):
            self.local.request = self.model.create_infer_request()
        return next(iter(self.local.request.infer({name: value for name, value in feeds.items() if name in self.names}).values()))


class Encoder:
    def __init__(self, options):
        engine = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}[options.engine]
        self.engine = engine(options.model, options.threads, options.workers)
        self.tokenizer = tokenizers.Tokenizer.from_file(options.tokenizer)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    def warm(self):
        """Every length once: engines prepare something for each shape, which is no part of a steady server."""
        for length in range(3, 257):
            self.encode(numpy.full((1, length), 100, numpy.int64))

    def __call__(self, text):
        return self.encode(numpy.array([self.tokenizer.encode(text).ids], numpy.int64))

    def encode(self, ids):
        hidden = self.engine.compute({"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)})
        vector = hidden[0].mean(axis=0, dtype=numpy.float32)
        return vector / numpy.linalg.norm(vector)


class Connection(asyncio.Protocol):
    def __init__(self, encoder, pool):
        self.encoder, self.pool, self.received = encoder, pool, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0) if end else 0
        if end and len(body) >= length:
            self.received = body[length:]
            future = asyncio.get_running_loop().run_in_executor(self.pool, self.answer, body[:length])
            future.add_done_callback(lambda done: self.transport.write(done.result()))

    def answer(self, body):
        texts = orjson.loads(body)["input"]
        texts = [texts] if isinstance(texts, str) else texts
        data = [{"object": "embedding", "index": i, "embedding": self.encoder(text)} for i, text in enumerate(texts)]
        answer = orjson.dumps({"object": "list", "data": data}, option=orjson.OPT_SERIALIZE_NUMPY)
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer


async def serve(options, encoder, pool):
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(encoder, pool), "127.0.0.1", options.port, backlog=1024)
    await server.serve_forever()


def direct(encoder, pool, path, seconds):
    texts = itertools.cycle([json.loads(line)["text"] for line in open(path, encoding="utf-8")])
    lock = threading.Lock()

    def work(end):
        count = 0
        while time.monotonic() < end:
            with lock:
                text = next(texts)
            encoder(text)
            count += 1
        return count

    def all_workers(duration):
        begin = time.monotonic()
        counts = [pool.submit(work, begin + duration) for _ in range(pool._max_workers)]
        return sum(each.result() for each in counts) / (time.monotonic() - begin)

    all_workers(2)
    print(json.dumps({"texts_per_second": all_workers(seconds)}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("engine", choices=["onnxruntime", "openvino"])
    parser.add_argument("model")
    parser.add_argument("tokenizer")
    parser.add_argument("port", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--direct", nargs=2)
    options = parser.parse_args()
    encoder = Encoder(options)
    pool = concurrent.futures.ThreadPoolExecutor(options.workers)
    barrier = threading.Barrier(options.workers)  # so that each worker warms up its own
    list(pool.map(lambda _: (barrier.wait(), encoder.warm()), range(options.workers)))
    if options.direct:
        direct(encoder, pool, options.direct[0], float(options.direct[1]))
    else:
        asyncio.run(serve(options, encoder, pool))


if __name__ == "__main__":
    main()
