"""Texts per second of OpenVINO or ONNX Runtime on batches of one shape, without tokenization and pooling.

usage: fixed_batch.py openvino|onnxruntime MODEL ROWS COLUMNS SECONDS

Two arrangements, the better one counts: all cores together on one batch, and a batch for each core.
"""

import json
import os
import sys
import threading
import time

import numpy

engine, path = sys.argv[1:3]
rows, columns = map(int, sys.argv[3:5])
seconds = float(sys.argv[5])
cores = len(os.sched_getaffinity(0))
generator = numpy.random.default_rng(1)
ids = generator.integers(4, 4000, (rows, columns), dtype=numpy.int64)
feeds = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}


def openvino_calls(streams):
    import openvino

    compiled = openvino.Core().compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": cores, "NUM_STREAMS": streams})
    names = {name for each in compiled.inputs for name in each.names}
    wanted = {name: value for name, value in feeds.items() if name in names}
    requests = [compiled.create_infer_request() for _ in range(streams)]
    return [lambda request=request: request.infer(wanted, share_inputs=True, share_outputs=True) for request in requests]


def onnxruntime_calls(streams):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = cores // streams
    sessions = [onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]) for _ in range(streams)]
    names = {each.name for each in sessions[0].get_inputs()}
    wanted = {name: value for name, value in feeds.items() if name in names}
    return [lambda session=session: session.run(None, wanted) for session in sessions]


def texts_per_second(calls):
    def repeat(index):
        while time.perf_counter() < end:
            calls[index]()
            finished[index].append(time.perf_counter())

    for call in calls:
        call()
    finished = [[] for _ in calls]
    begin = time.perf_counter()
    end = begin + seconds
    threads = [threading.Thread(target=repeat, args=(index,)) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(rows * len(times) / (times[-1] - begin) for times in finished)


make = {"openvino": openvino_calls, "onnxruntime": onnxruntime_calls}[engine]
print(json.dumps({name: texts_per_second(make(streams)) for name, streams in (("together", 1), ("a batch each", cores))}))
