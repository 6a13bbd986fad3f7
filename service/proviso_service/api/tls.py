"""The server's side of TLS. Certificate and key are read again when their files change, so that a new certificate needs
no restart; connections that are open keep theirs."""

from pathlib import Path
from threading import Lock

import grpc
import structlog

from proviso_service.settings import ServerSettings

_log = structlog.get_logger(__name__)


class UnusableCertificate(Exception):
    """The files of the certificate cannot be used; the message is for the operator."""


def server_credentials(settings: ServerSettings) -> grpc.ServerCredentials | None:
    """TLS as the settings have it; None without. With `tls_client_ca` every client has to show a certificate. Raises
    UnusableCertificate."""
    if settings.tls_cert is None and settings.tls_key is None and settings.tls_client_ca is None:
        return None
    if settings.tls_cert is None or settings.tls_key is None:
        raise UnusableCertificate("TLS needs both a certificate and its key: set server.tls_cert and server.tls_key")
    files = _CertificateFiles(settings.tls_cert, settings.tls_key, settings.tls_client_ca)
    return grpc.dynamic_ssl_server_credentials(
        files.read(),
        files.changed,  # type: ignore[arg-type]  # the stubs lack None, which says that nothing has changed
        require_client_authentication=settings.tls_client_ca is not None,
    )


class _CertificateFiles:
    """Reads the files; gRPC asks `changed` in threads of its own, at each handshake."""

    def __init__(self, certificate: Path, key: Path, client_ca: Path | None) -> None:
        self._certificate = certificate
        self._key = key
        self._client_ca = client_ca
        self._lock = Lock()
        self._stamps: tuple[tuple[int, int, int], ...] = ()

    def read(self) -> grpc.ServerCertificateConfiguration:
        """Raises UnusableCertificate; then the certificate before stays in use."""
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from cryptography.x509 import load_pem_x509_certificates

        self._stamps = self._stamps_now()
        chain, key = _bytes(self._certificate), _bytes(self._key)
        client_ca = _bytes(self._client_ca) if self._client_ca else None
        try:
            is_pair = load_pem_x509_certificates(chain)[0].public_key() == load_pem_private_key(key, None).public_key()
            if client_ca is not None:
                load_pem_x509_certificates(client_ca)
        except (ValueError, TypeError) as error:
            raise UnusableCertificate(
                f"The certificate {self._certificate}, its key or the client CA is no PEM file "
                "of that kind, or the key has a password"
            ) from error
        if not is_pair:
            raise UnusableCertificate(f"{self._key} is not the key of the certificate {self._certificate}")
        return grpc.ssl_server_certificate_configuration([(key, chain)], root_certificates=client_ca)

    def changed(self) -> grpc.ServerCertificateConfiguration | None:
        """The new configuration; None where nothing has changed, and where the new files cannot be used yet: a
        certificate and its key are seldom replaced at the same moment."""
        with self._lock:
            try:
                if self._stamps_now() == self._stamps:
                    return None
                found = self.read()
            except UnusableCertificate as error:
                _log.warning("certificate_not_reloaded", error=str(error))
                return None
            _log.info("certificate_reloaded", file=str(self._certificate))
            return found

    def _stamps_now(self) -> tuple[tuple[int, int, int], ...]:
        return tuple(_stamp(file) for file in (self._certificate, self._key, self._client_ca) if file)


def _stamp(file: Path) -> tuple[int, int, int]:
    try:
        found = file.stat()
    except OSError as error:
        raise UnusableCertificate(f"{file} cannot be read: {error.strerror}") from error
    return found.st_mtime_ns, found.st_ino, found.st_size


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UnusableCertificate(f"{file} cannot be read: {error.strerror}") from error
