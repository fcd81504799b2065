"""The service that most teams start from: FastAPI, uvicorn and sentence-transformers, one process, fp32.

usage: MODEL=FOLDER uvicorn naive_server:app --port PORT
"""

import os

from fastapi import FastAPI
from pydantic import BaseModel
from sentence_transformers import SentenceTransformer

app = FastAPI()
model = SentenceTransformer(os.environ["MODEL"], device="cpu")


class Request(BaseModel):
    model: str = ""
    input: str | list[str]


@app.post("/v1/embeddings")
def embeddings(request: Request):
    texts = [request.input] if isinstance(request.input, str) else request.input
    vectors = model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    data = [{"object": "embedding", "index": i, "embedding": vector.tolist()} for i, vector in enumerate(vectors)]
    return {"object": "list", "model": request.model, "data": data}
