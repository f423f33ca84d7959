"""Certificate chains in Apple's profile, whose parts can be spoiled, and signed values."""

import base64
import datetime
import json

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.x509.oid import NameOID

LEAF = "1.2.840.113635.100.6.11.1"
INTERMEDIATE = "1.2.840.113635.100.6.2.1"
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def at(seconds):
    return EPOCH + datetime.timedelta(seconds=seconds)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Authority:
    """A certificate with its private key."""

    def __init__(self, name, issuer=None, marker=None, is_authority=True, curve=None, begins=0, ends=4102444800,
                 identifiers=True, critical_marker=False, hash_=None, pad=0):
        self.key = ec.generate_private_key(curve or (ec.SECP384R1() if is_authority else ec.SECP256R1()))
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        public = self.key.public_key()
        builder = (
            x509.CertificateBuilder().subject_name(subject)
            .issuer_name(issuer.certificate.subject if issuer else subject)
            .public_key(public).serial_number(x509.random_serial_number())
            .not_valid_before(at(begins)).not_valid_after(at(ends))
            .add_extension(x509.BasicConstraints(is_authority, 0 if is_authority and issuer else None), critical=True)
            .add_extension(x509.KeyUsage(
                digital_signature=not is_authority, content_commitment=False, key_encipherment=False,
                data_encipherment=False, key_agreement=False, key_cert_sign=is_authority, crl_sign=is_authority,
                encipher_only=False, decipher_only=False), critical=True))
        if identifiers:
            builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            if issuer:
                builder = builder.add_extension(
                    x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key()), critical=False)
        if pad:
            # A non-critical extension that nobody knows.
            builder = builder.add_extension(
                x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.55555.1"), b"\x04" + bytes(pad)), critical=False)
        if marker:
            builder = builder.add_extension(
                x509.UnrecognizedExtension(x509.ObjectIdentifier(marker), b"\x05\x00"), critical=critical_marker)
        self.certificate = builder.sign((issuer or self).key, hash_ or hashes.SHA384())
        self.der = self.certificate.public_bytes(serialization.Encoding.DER)


class Chain:
    def __init__(self, root=None, intermediate=None, leaf=None):
        self.root = Authority("Root", **(root or {}))
        self.intermediate = Authority(
            "Intermediate", **{"issuer": self.root, "marker": INTERMEDIATE, **(intermediate or {})})
        self.leaf = Authority(
            "Leaf", **{"issuer": self.intermediate, "marker": LEAF, "is_authority": False, **(leaf or {})})

    @classmethod
    def of_real_length(cls):
        """Certificates as long as the App Store's: a leaf of 1.4 kB, an intermediate of 1.1 kB and a root of 0.6 kB."""
        def pad(length, made):
            return {"pad": max(1, length - len(made.der) - 30)}
        short = cls()
        return cls(pad(600, short.root), pad(1_100, short.intermediate), pad(1_400, short.leaf))

    @property
    def pem(self):
        """Its root certificate."""
        return self.root.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def certificates(self):
        return [base64.b64encode(one.der).decode() for one in (self.leaf, self.intermediate, self.root)]

    def sign(self, payload, x5c=None, alg="ES256", header=None, key=None):
        """A compact JWS of a dict, or of bytes as they are."""
        fields = {"alg": alg, "x5c": self.certificates if x5c is None else x5c, **(header or {})}
        fields = {name: value for name, value in fields.items() if value is not None}
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        signed = base64url(json.dumps(fields).encode()) + "." + base64url(body)
        key = key or self.leaf.key
        size = (key.curve.key_size + 7) // 8
        r, s = utils.decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return signed + "." + base64url(r.to_bytes(size, "big") + s.to_bytes(size, "big"))
