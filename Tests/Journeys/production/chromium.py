"""Chromium that trusts the certificate of a trial's server, and no other one."""
import base64
import hashlib
import pathlib

import browser
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from . import waiting


class Chromium(browser.Browser):
    def __init__(self, certificate, **options):
        public = x509.load_pem_x509_certificate(pathlib.Path(certificate).read_bytes()).public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        known = base64.b64encode(hashlib.sha256(public).digest()).decode()
        super().__init__(more=(f"--ignore-certificate-errors-spki-list={known}",), **options)

    def until(self, what, seconds=0, why=""):
        """As the browser's, with the guard of this package for a limit. An element that was replaced meanwhile is looked for again."""
        def holds():
            try:
                return what()
            except Exception:  # noqa: BLE001  The page is being built.
                return None
        return waiting.until(why or str(what), holds, lambda: f"the page says: {self.text('body')[:1500]}; {self.told()}")

    def told(self):
        """What the page's console says of scripts and requests that failed."""
        self.collect()
        return self.errors[-5:]

    def follows(self, path):
        """Opens an EventSource, and nothing else, as a page of an app would. `shown` is the last value."""
        self.run("""
            window.events = new EventSource(arguments[0]);
            window.events.onmessage = ({data}) => { const { success } = JSON.parse(data); if (success) window.shown = success; };""", path)

    @property
    def shown(self):
        return self.run("return window.shown")
