"""Certificates for tests: an authority, and what it signs, as PEM files."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


class TlsAuthority:
    """Signs certificates, each with a new key; `ca` is the file of its own certificate."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        certificate = _begun(self._name, self._name, self._key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.ca = folder / f"{name}.pem"
        self.ca.write_bytes(_pem(certificate.sign(self._key, hashes.SHA256())))

    def server(self, name: str = "server", *, days: int = 30) -> tuple[Path, Path]:
        """The files of a certificate for localhost and 127.0.0.1, and of its key; expired with `days` below 0."""
        return self._signed(name, [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))], days)

    def client(self, uri: str, name: str = "client") -> tuple[Path, Path]:
        """The files of a certificate that names a URI, such as a SPIFFE id, and of its key."""
        return self._signed(name, [x509.UniformResourceIdentifier(uri)], 30)

    def _signed(self, name: str, names: list[x509.GeneralName], days: int) -> tuple[Path, Path]:
        key = ec.generate_private_key(ec.SECP256R1())
        begun = _begun(_named(name), self._name, key.public_key(), days)
        certificate = begun.add_extension(x509.SubjectAlternativeName(names), critical=False)
        files = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        files[0].write_bytes(_pem(certificate.sign(self._key, hashes.SHA256())))
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        files[1].write_bytes(key.private_bytes(*form))
        return files


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, days: int = 30
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 60 * DAY)
        .not_valid_after(now + days * DAY)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
